/** The line at the top: what run this is, how it went; of a live one also its time, speed and buttons. */
import type { App } from "./app.ts";
import { add, fill, fixed, h } from "./dom.ts";
import { icon } from "./icons.ts";
import type { LiveLine } from "./live.ts";
import type { LiveState } from "./model.ts";

const WORDS: Record<string, [string, string]> = {
  running: ["running", "▶ running"],
  done: ["done", "✓ done"],
  failed: ["failed", "✗ failed"],
  ended: ["ended", "■ ended"],
};
const SPEEDS: [string, number | null][] = [["0.1×", 0.1], ["0.25×", 0.25], ["1×", 1], ["Fast", null]];

export class Header {
  readonly element: HTMLElement;
  line: LiveLine | null = null;
  private readonly what = h("div", { class: "what" });
  private readonly live = h("div", { class: "live", hidden: true });
  private readonly facts = h("output", { class: "facts" });
  private readonly hold = h("button", { type: "button", class: "small", id: "hold", onclick: () => this.line?.say({ do: this.state?.paused ? "resume" : "pause" }) });
  private readonly speeds: HTMLButtonElement[];
  private state: LiveState | null = null;

  constructor(
    private readonly app: App,
    turnTheme: () => void,
  ) {
    this.speeds = SPEEDS.map(([name, value]) =>
      h("button", { type: "button", class: "small", title: value === null ? "As fast as possible" : `${value} simulated seconds per second`, onclick: () => this.line?.say({ do: "speed", value }) }, name),
    );
    add(this.live, [
      this.hold,
      h("button", { type: "button", class: "small", id: "step", title: "To the end of the next action", onclick: () => this.line?.say({ do: "step" }) }, icon("next"), " Next action"),
      h("span", { class: "segment", role: "group", "aria-label": "Speed of the simulation" }, ...this.speeds),
      this.facts,
    ]);
    this.element = h(
      "header",
      { class: "top" },
      h("span", { class: "brand" }, "Cellwright"),
      this.what,
      this.live,
      h("button", { type: "button", class: "small theme", title: "Light or dark", "aria-label": "Light or dark", onclick: turnTheme }, icon("theme")),
    );
    app.on("data", () => this.show());
  }

  setState(state: LiveState): void {
    this.state = state;
    this.live.hidden = false;
    fill(this.hold, icon(state.paused ? "play" : "pause"), state.paused ? " Resume" : " Pause");
    this.speeds.forEach((button, index) => button.setAttribute("aria-pressed", String(SPEEDS[index]![1] === state.speed)));
    const lag = state.lag === null || state.lag === undefined ? "" : `, lag ${fixed(state.lag, 2)} s`;
    this.facts.textContent = `${state.paused ? "paused at" : "now"} ${fixed(state.time_s, 2)} s${lag}`;
  }

  /** Takes the buttons away when nobody listens to them any more. */
  setOpen(isOpen: boolean): void {
    this.live.hidden = !isOpen;
  }

  private show(): void {
    const { runs } = this.app;
    if (!runs.length) return;
    const first = runs[0]!.document.about;
    const name = [first.cell, first.order].filter(Boolean).join(" · ");
    fill(this.what, h("b", null, name || "run"));
    for (const run of runs) {
      const { about } = run.document;
      const [kind, word] = WORDS[about.status] ?? ["ended", about.status];
      const facts = [about.seed === null ? "" : `seed ${about.seed}`, about.score === null ? "" : `score ${fixed(100 * about.score, 0)} of 100`].filter(Boolean);
      add(this.what, [
        runs.length > 1 ? h("span", { class: "run-letter" }, run.name) : null,
        h("span", { class: `pill ${kind}`, title: about.reason ?? "" }, word),
        h("span", { class: "quiet" }, facts.join(" · ")),
      ]);
    }
    document.title = `${WORDS[first.status]?.[1].slice(0, 1) ?? ""} ${name || "run"} · Cellwright`;
  }
}
