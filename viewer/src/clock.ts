/** The time that the page shows: moved by hand, by playing, or by a live run that it follows. */

export const SPEEDS = [0.25, 0.5, 1, 2, 5];

export class Clock {
  time_s = 0;
  start_s = 0;
  end_s = 0;
  speed = 1;
  isPlaying = false;
  /** Whether the time is that of the live run. */
  isFollowing = false;
  private readonly listeners: (() => void)[] = [];
  private last_ms = 0;

  /** Calls back whenever the time, the range or the playing has changed. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  setRange(start_s: number, end_s: number): void {
    this.start_s = start_s;
    this.end_s = Math.max(start_s, end_s);
    if (this.isFollowing) this.time_s = this.end_s;
    this.changed();
  }

  /** Goes to a time; a live page stops following unless it is the newest. */
  seek(time_s: number): void {
    this.isFollowing = false;
    this.time_s = Math.min(this.end_s, Math.max(this.start_s, time_s));
    this.changed();
  }

  /** Follows the newest of a live run. */
  follow(): void {
    this.isFollowing = true;
    this.isPlaying = false;
    this.time_s = this.end_s;
    this.changed();
  }

  play(): void {
    if (this.time_s >= this.end_s - 1e-6) this.time_s = this.start_s;
    this.isFollowing = false;
    this.isPlaying = true;
    this.last_ms = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.changed();
  }

  pause(): void {
    this.isPlaying = false;
    this.changed();
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  private tick(now_ms: number): void {
    if (!this.isPlaying) return;
    // A tab that was in the background goes on where it was, not where it would have been.
    const passed_s = Math.min(1, Math.max(0, (now_ms - this.last_ms) / 1000));
    this.last_ms = now_ms;
    this.time_s = Math.min(this.end_s, this.time_s + passed_s * this.speed);
    if (this.time_s >= this.end_s) this.isPlaying = false;
    else requestAnimationFrame((now) => this.tick(now));
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
