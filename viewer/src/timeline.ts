/** The timeline: playing, speed, zoom, a slider, a lane of actions for each robot, marks of faults and verdicts. */
import type { App } from "./app.ts";
import { SPEEDS } from "./clock.ts";
import { marks, neighbour } from "./document.ts";
import { add, fill, fixed, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { Run } from "./run.ts";
import { phaseWord, shortAction } from "./words.ts";

const SHORTEST_S = 0.5; // that all the width may show
const TICK_PX = 90;
const NAMES_PX = 96; // as the style sheet has it

export class Timeline {
  readonly element: HTMLElement;
  private readonly play = h("button", { type: "button", class: "round", onclick: () => this.app.clock.toggle() });
  private readonly now = h("output", { class: "now" });
  private readonly slider = h("input", { type: "range", step: "0.01", "aria-label": "Time" });
  private readonly lanes = h("div", { class: "lanes" });
  private readonly cursor = h("div", { class: "cursor" });
  private readonly ticks = h("div", { class: "ticks" });
  private readonly span = h("div", { class: "span" });
  private readonly tracks = h("div", { class: "tracks", tabIndex: -1 }, this.span);
  private readonly fit = h("button", { type: "button", class: "small", title: "The whole time", hidden: true, onclick: () => this.setZoom(1) }, "Fit");
  private readonly live = h("button", { type: "button", class: "small live-button", onclick: () => this.app.clock.follow() }, "● Now");
  private blocks: { element: HTMLElement; start_s: number; end_s: number }[] = [];
  private shown = "";
  private isShownPlaying: boolean | null = null;
  private range: [number, number] = [0, 1];
  private zoom = 1;

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
        h(
          "span",
          { class: "zoom", role: "group", "aria-label": "Zoom of the timeline" },
          this.fit,
          h("button", { type: "button", class: "small", title: "Longer span  (wheel on the timeline)", "aria-label": "Zoom out", onclick: () => this.setZoom(this.zoom / 1.6) }, "−"),
          h("button", { type: "button", class: "small", title: "Shorter span  (wheel on the timeline)", "aria-label": "Zoom in", onclick: () => this.setZoom(this.zoom * 1.6) }, "+"),
        ),
      ),
      this.tracks,
    );
    add(this.span, [
      h("div", { class: "slider-row" }, h("span", { class: "lane-name" }, "Time"), this.slider),
      h("div", { class: "lane" }, h("span", { class: "lane-name" }), this.ticks),
      this.lanes,
      this.cursor,
    ]);
    this.tracks.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.drawTicks()).observe(this.tracks);
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

  /** Shows so many times less than the whole time; what is at a place of the page, else the cursor, stays where it is. */
  private setZoom(zoom: number, clientX?: number): void {
    const before = this.ticks.getBoundingClientRect();
    const cursor = this.cursor.getBoundingClientRect().left;
    const box = this.tracks.getBoundingClientRect();
    const x = clientX ?? (cursor > box.left && cursor < box.right ? cursor : box.left + box.width / 2);
    const share = (x - before.left) / before.width;
    this.zoom = Math.min(Math.max(1, (this.range[1] - this.range[0]) / SHORTEST_S), Math.max(1, zoom));
    this.span.style.setProperty("--zoom", String(this.zoom));
    this.fit.hidden = this.zoom === 1;
    const after = this.ticks.getBoundingClientRect();
    this.tracks.scrollLeft += after.left + share * after.width - x;
    this.drawTicks();
  }

  private wheel(event: WheelEvent): void {
    const isScroll = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const hasMore = this.tracks.scrollHeight > this.tracks.clientHeight + 1;
    if (isScroll || (hasMore && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    this.setZoom(this.zoom * Math.exp(-event.deltaY * 0.002), event.clientX);
  }

  private drawTicks(): void {
    const [from, to] = this.range;
    const least = ((to - from) * TICK_PX) / Math.max(TICK_PX, this.ticks.clientWidth);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const ticks: HTMLElement[] = [];
    for (let n = Math.ceil(from / step - 1e-9); n * step <= to - least * 0.4; n++) {
      ticks.push(h("span", { style: { left: this.percent(n * step) } }, fixed(n * step, decimals)));
    }
    fill(this.ticks, ...ticks);
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
    this.drawTicks();
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
    const track = this.ticks.getBoundingClientRect();
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

  /** Scrolls so that the cursor is seen. */
  private reveal(): void {
    const box = this.tracks.getBoundingClientRect();
    const x = this.cursor.getBoundingClientRect().left - box.left;
    if (x < NAMES_PX || x > box.width - 4) this.tracks.scrollLeft += x - NAMES_PX - (box.width - NAMES_PX) / 5;
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
    if (this.zoom > 1) this.reveal();
    for (const { element, start_s, end_s } of this.blocks) {
      element.classList.toggle("current", start_s <= clock.time_s + 1e-9 && clock.time_s < end_s);
    }
  }
}

/** Returns the robots that have lanes; none while no robot has an action, as of programs that tell none. */
function robotsOf(run: Run): string[] {
  const { robots, actions } = run.document;
  if (!actions.length) return [];
  return robots.length ? robots : [...new Set(actions.map((action) => action.robot))];
}
