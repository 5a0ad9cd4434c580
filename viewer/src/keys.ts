/** Where bodies are at any time: keys of a trace, or what a live page has received of the last minutes. */
import type { Pose, Scene } from "./model.ts";
import { numbers } from "./packet.ts";

export interface KeysHeader {
  hz: number;
  times: number;
  count: number;
  columns: { body: number; offset: number }[];
}

/** Poses of moving bodies over time. */
export interface Motion {
  readonly start_s: number;
  readonly end_s: number;
  /** Writes where a body is at a time; leaves the pose as it is where nothing is known. */
  poseAt(body: number, time_s: number, out: Pose): Pose;
}

/** Returns the number of the last entry that is not after the time; -1 before the first. */
export function lastBefore(times: ArrayLike<number>, time: number, count = times.length): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Writes the pose between two of an array of poses (7 numbers each), by a straight line and the shorter turn. */
export function between(values: ArrayLike<number>, first: number, second: number, share: number, out: Pose): Pose {
  let dot = 0;
  for (let i = 3; i < 7; i++) dot += values[first + i]! * values[second + i]!;
  const sign = dot < 0 ? -1 : 1;
  let length = 0;
  for (let i = 0; i < 7; i++) {
    const end = i < 3 ? values[second + i]! : sign * values[second + i]!;
    const value = values[first + i]! + (end - values[first + i]!) * share;
    out[i] = value;
    if (i >= 3) length += value * value;
  }
  const scale = length > 0 ? 1 / Math.sqrt(length) : 1;
  for (let i = 3; i < 7; i++) out[i] = out[i]! * scale;
  return out;
}

/** Keys of a trace: one row of times, and poses of each moving body. */
export class Keys implements Motion {
  readonly times: Float32Array;
  private readonly poses = new Map<number, Float32Array>();

  constructor(header: KeysHeader, blob: Uint8Array, scene: Scene) {
    this.times = numbers(blob, "f4", header.times, header.count);
    for (const { body, offset } of header.columns) {
      const start = scene.header.bodies[body]?.pose;
      if (start === undefined) throw new Error("the keys of this page belong to another scene");
      const deltas = numbers(blob, "i2", offset, header.count * 7);
      const poses = new Float32Array(header.count * 7);
      for (let column = 0; column < 7; column++) {
        let sum = 0;
        for (let key = 0; key < header.count; key++) {
          sum += deltas[column * header.count + key]!;
          poses[key * 7 + column] = column < 3 ? (start?.[column] ?? 0) + sum * 1e-4 : sum / 32767;
        }
      }
      this.poses.set(body, poses);
    }
  }

  get start_s(): number {
    return this.times[0] ?? 0;
  }

  get end_s(): number {
    return this.times[this.times.length - 1] ?? 0;
  }

  poseAt(body: number, time_s: number, out: Pose): Pose {
    const poses = this.poses.get(body);
    const count = this.times.length;
    if (!poses || !count) return out;
    const key = Math.max(0, lastBefore(this.times, time_s));
    const next = Math.min(key + 1, count - 1);
    const span = this.times[next]! - this.times[key]!;
    const share = span > 0 ? Math.min(1, Math.max(0, (time_s - this.times[key]!) / span)) : 0;
    return between(poses, key * 7, next * 7, share, out);
  }
}

const RING_BYTES = 16e6;
const RING_STEP_S = 0.03;

/** The poses that a live page has received, the oldest given up for the newest: memory does not grow with the run. */
export class Ring implements Motion {
  private readonly frames: Float32Array;
  private readonly times: Float64Array;
  private readonly rows: Map<number, number>;
  private readonly width: number;
  private readonly room: number;
  private next = 0;
  private count = 0;

  constructor(moving: number[], seconds = 300) {
    this.width = moving.length * 7;
    this.room = Math.max(2, Math.min(Math.ceil(seconds / RING_STEP_S) + 2, Math.floor(RING_BYTES / (this.width * 4 || 4))));
    this.frames = new Float32Array(this.room * this.width);
    this.times = new Float64Array(this.room);
    this.rows = new Map(moving.map((body, row) => [body, row]));
  }

  get start_s(): number {
    return this.count ? this.times[this.at(0)]! : 0;
  }

  get end_s(): number {
    return this.count ? this.times[this.at(this.count - 1)]! : 0;
  }

  /** Keeps a frame; one that comes soon after the last replaces it, so that fast frames do not fill the ring. */
  push(time_s: number, poses: Float32Array): void {
    if (poses.length !== this.width) throw new Error("poses do not fit the scene");
    if (this.count && time_s < this.end_s) this.count = 0;
    const before = this.count > 1 ? this.times[this.at(this.count - 2)]! : -Infinity;
    if (this.count > 1 && time_s - before < RING_STEP_S) this.next = (this.next - 1 + this.room) % this.room;
    else this.count = Math.min(this.count + 1, this.room);
    this.frames.set(poses, this.next * this.width);
    this.times[this.next] = time_s;
    this.next = (this.next + 1) % this.room;
  }

  poseAt(body: number, time_s: number, out: Pose): Pose {
    const row = this.rows.get(body);
    if (row === undefined || !this.count) return out;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[this.at(middle)]! <= time_s) low = middle + 1;
      else high = middle;
    }
    const first = this.at(Math.max(0, low - 1));
    const second = this.at(Math.min(this.count - 1, Math.max(0, low)));
    const span = this.times[second]! - this.times[first]!;
    const share = span > 0 ? Math.min(1, Math.max(0, (time_s - this.times[first]!) / span)) : 0;
    return between(this.frames, first * this.width + row * 7, second * this.width + row * 7, share, out);
  }

  private at(place: number): number {
    return (this.next - this.count + place + this.room) % this.room;
  }
}
