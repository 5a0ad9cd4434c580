/** The timeline: playing, speed, a slider, a lane of actions for each robot, marks of faults and verdicts. */
import type { App } from "./app.ts";
import { SPEEDS } from "./clock.ts";
import { marks, neighbour } from "./document.ts";
import { add, fill, fixed, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { Run } from "./run.ts";
import { phaseWord, shortAction } from "./words.ts";

export class Timeline {
  readonly element: HTMLElement;
  private readonly play = h("button", { type: "button", class: "round", onclick: () => this.app.clock.toggle() });
  private readonly now = h("output", { class: "now" });
  private readonly slider = h("input", { type: "range", step: "0.01", "aria-label": "Time" });
  private readonly lanes = h("div", { class: "lanes" });
  private readonly cursor = h("div", { class: "cursor" });
  private readonly live = h("button", { type: "button", class: "small live-button", onclick: () => this.app.clock.follow() }, "● Now");
  private blocks: { element: HTMLElement; start_s: number; end_s: number }[] = [];
  private shown = "";
  private isShownPlaying: boolean | null = null;
  private range: [number, number] = [0, 1];

  constructor(private readonly app: App) {
    const speeds = h(
      "select",
      { "aria-label": "Speed of playing", title: "Speed of playing", onchange: (event: Event) => this.setSpeed(event) },
      ...SPEEDS.map((speed) => h("option", { value: String(speed), selected: speed === 1 }, `${speed}×`)),
    );
    this.slider.addEventListener("input", () => app.clock.seek(Number(this.slider.value)));
    this.element = h(
      "section",
      { class: "timeline", "aria-label": "Timeline" },
      h(
        "div",
        { class: "transport" },
        h("button", { type: "button", class: "round", title: "Action before  ,", "aria-label": "Action before", onclick: () => this.step(-1) }, icon("previous")),
        this.play,
        h("button", { type: "button", class: "round", title: "Next action  .", "aria-label": "Next action", onclick: () => this.step(1) }, icon("next")),
        speeds,
        this.live,
        this.now,
      ),
      h("div", { class: "tracks" }, h("div", { class: "slider-row" }, h("span", { class: "lane-name" }, "Time"), this.slider), this.lanes, this.cursor),
    );
    this.lanes.addEventListener("pointerdown", (event) => this.drag(event));
    app.on("time", () => this.follow());
    app.on("data", () => this.build());
  }

  /** Goes to the next or the previous action. */
  step(direction: 1 | -1): void {
    const times = this.app.runs.map((run) => neighbour(run.document.actions, this.app.clock.time_s, direction));
    const known = times.filter((time): time is number => time !== null);
    if (known.length) this.app.clock.seek(direction > 0 ? Math.min(...known) : Math.max(...known));
    else if (direction < 0) this.app.clock.seek(this.app.clock.start_s);
  }

  private setSpeed(event: Event): void {
    this.app.clock.speed = Number((event.target as HTMLSelectElement).value);
  }

  private build(): void {
    const { clock, runs } = this.app;
    this.range = [clock.start_s, Math.max(clock.end_s, clock.start_s + 0.1)];
    this.live.hidden = !this.app.isLive;
    const shown = `${runs.map((run) => run.version).join()} ${this.range.join()}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.blocks = [];
    fill(this.lanes);
    runs.forEach((run, index) => {
      if (runs.length > 1) this.lanes.append(h("div", { class: "lane-run" }, `Run ${run.name} · ${run.document.about.status}`));
      for (const robot of robotsOf(run)) this.lanes.append(this.lane(run, robot));
      this.lanes.append(this.markRow(run, index));
    });
    this.slider.min = String(this.range[0]);
    this.slider.max = String(this.range[1]);
    this.follow();
  }

  private lane(run: Run, robot: string): HTMLElement {
    const track = h("div", { class: "track" });
    const own = run.document.actions.filter((action) => action.robot === robot);
    const rows: number[] = [];
    for (const action of own) {
      const end_s = action.end_s ?? this.range[1];
      let row = rows.findIndex((until) => until <= action.start_s + 1e-6);
      if (row < 0) row = rows.length < 2 ? rows.length : 0;
      rows[row] = end_s;
      const { word, kind } = phaseWord(action, Infinity);
      const block = h("div", {
        class: `block ${action.end_s === null ? "running" : kind}`,
        title: `${action.text}\n${fixed(action.start_s, 2)} to ${action.end_s === null ? "now" : `${fixed(action.end_s, 2)} s`}, ${word}${action.reason ? `: ${action.reason}` : ""}`,
        style: { left: this.percent(action.start_s), width: `${((end_s - action.start_s) / (this.range[1] - this.range[0])) * 100}%`, top: `${row * 18 + 2}px` },
      });
      block.textContent = shortAction(action.text, robot);
      this.blocks.push({ element: block, start_s: action.start_s, end_s });
      track.append(block);
    }
    track.style.height = `${Math.max(1, Math.min(2, rows.length)) * 18 + 2}px`;
    return h("div", { class: "lane" }, h("span", { class: "lane-name", title: robot }, robot), track);
  }

  private markRow(run: Run, index: number): HTMLElement {
    const track = h("div", { class: "track marks" });
    for (const event of marks(run.document.events)) {
      add(track, [
        h(
          "button",
          {
            type: "button",
            tabIndex: -1,
            class: `mark ${event.kind}`,
            title: `${fixed(event.time_s, 2)} s, ${event.kind}: ${event.text}`,
            style: { left: this.percent(event.time_s) },
            onclick: () => {
              if (index !== this.app.active) this.app.choose(index);
              this.app.clock.seek(event.time_s);
            },
          },
          icon(event.kind),
        ),
      ]);
    }
    return h("div", { class: "lane" }, h("span", { class: "lane-name" }, "events"), track);
  }

  private percent(time_s: number): string {
    return `${(((time_s - this.range[0]) / (this.range[1] - this.range[0])) * 100).toFixed(3)}%`;
  }

  private drag(event: PointerEvent): void {
    const track = this.slider.getBoundingClientRect();
    if (event.clientX < track.left - 4 || (event.target as HTMLElement).classList.contains("mark")) return;
    event.preventDefault();
    const to = (moved: PointerEvent): void => {
      const share = (moved.clientX - track.left) / track.width;
      this.app.clock.seek(this.range[0] + share * (this.range[1] - this.range[0]));
    };
    to(event);
    this.lanes.setPointerCapture(event.pointerId);
    this.lanes.onpointermove = to;
    this.lanes.onpointerup = this.lanes.onpointercancel = () => (this.lanes.onpointermove = null);
  }

  private follow(): void {
    const { clock } = this.app;
    if (this.isShownPlaying !== clock.isPlaying) fill(this.play, icon(clock.isPlaying ? "pause" : "play"));
    this.isShownPlaying = clock.isPlaying;
    this.play.title = clock.isPlaying ? "Pause  space" : "Play  space";
    this.play.setAttribute("aria-label", clock.isPlaying ? "Pause" : "Play");
    this.now.textContent = `${fixed(clock.time_s, 2)} / ${fixed(clock.end_s, 2)} s`;
    this.slider.value = String(clock.time_s);
    this.live.classList.toggle("on", clock.isFollowing);
    const share = (clock.time_s - this.range[0]) / (this.range[1] - this.range[0]);
    this.cursor.style.setProperty("--share", String(Math.min(1, Math.max(0, share))));
    for (const { element, start_s, end_s } of this.blocks) {
      element.classList.toggle("current", start_s <= clock.time_s + 1e-9 && clock.time_s < end_s);
    }
  }
}

function robotsOf(run: Run): string[] {
  const { robots, actions } = run.document;
  return robots.length ? robots : [...new Set(actions.map((action) => action.robot))];
}
