/** The score with its reasons, and what is to be said about the run. */
import { copyButton, fill, fixed, h, table } from "../dom.ts";
import type { Run } from "../run.ts";
import { isRunning } from "../words.ts";
import type { Panel } from "./panel.ts";

export class ScorePanel implements Panel {
  readonly title = "Score";
  readonly element = h("div");

  constructor(private readonly runs: () => Run[]) {}

  show(): void {
    const runs = this.runs();
    fill(this.element, ...runs.flatMap((run) => this.of(run, runs.length > 1)));
  }

  follow(): void {}

  private of(run: Run, isNamed: boolean): HTMLElement[] {
    const { about, score } = run.document;
    const hasPoints = score.some((item) => item.points !== null);
    const points = score.reduce((sum, item) => sum + (item.points ?? 0), 0);
    const most = score.reduce((sum, item) => sum + (item.most ?? 0), 0);
    const total = about.score === null ? (most ? `${fixed(points, 1)} of ${fixed(most, 1)}` : "") : `Score ${fixed(100 * about.score, 0)} of 100`;
    const parts: HTMLElement[] = [h("h3", null, isNamed ? `Run ${run.name}: ` : "", total || (isRunning(run) ? "Not judged yet" : "No points"), h("small", null, about.status))];
    if (!score.length) parts.push(h("p", { class: "empty" }, isRunning(run) ? "The judge speaks at the end." : about.order ? "This order was not judged by points." : "Nothing was ordered, so there was nothing to judge."));
    if (about.reason) parts.push(...about.reason.split("; ").map((reason) => h("p", { class: "reason" }, reason)));
    if (score.length) {
      parts.push(
        table(
          ["", "Item", ...(hasPoints ? ["Points", "Of"] : []), "Reason"],
          score.map((item) => [
            h(
              "span",
              { class: `sign ${item.passed === null ? "unknown" : item.passed ? "done" : "failed"}`, "aria-label": item.passed ? "passed" : item.passed === null ? "unknown" : "not passed" },
              item.passed === null ? "?" : item.passed ? "✓" : "✗",
            ),
            item.name,
            ...(hasPoints ? [short(item.points), short(item.most)] : []),
            item.reason ?? "",
          ]),
          hasPoints ? "score" : "",
        ),
      );
    }
    return parts;
  }
}

function short(value: number | null): string {
  return value === null ? "–" : String(Number(value.toFixed(2))).replace("-", "−");
}

export class AboutPanel implements Panel {
  readonly title = "About";
  readonly element = h("div");

  show(run: Run): void {
    const { about } = run.document;
    const facts: [string, string | number | null][] = [
      ["Cell", about.cell],
      ["Order", about.order],
      ["Controller", about.controller],
      ["Seed", about.seed],
      ["Fidelity", about.fidelity],
      ["Simulated", `${fixed(about.start_s, 2)} to ${fixed(run.end_s, 2)} s`],
      ["Log", about.log],
    ];
    fill(
      this.element,
      h("h3", null, "This run"),
      pairs(facts.filter(([, value]) => value !== null && value !== "")),
      about.command ? h("h3", null, "Repeat it", copyButton(() => about.command ?? "")) : null,
      about.command ? h("pre", { class: "repeat" }, ...about.command.split(" ").flatMap((word, index) => [index ? " " : null, h("span", null, word)])) : null,
      ...about.notes.map((note) => h("p", { class: "note" }, note)),
      Object.keys(about.configuration).length ? h("h3", null, "Configuration") : null,
      pairs(Object.entries(about.configuration)),
      Object.keys(about.versions).length ? h("h3", null, "Versions") : null,
      pairs(Object.entries(about.versions)),
      h("h3", null, "Keys"),
      pairs([
        ["Space", "play, pause"],
        ["← →", "0.1 s back, on; with Shift 1 s"],
        [", .", "action before, next action"],
        ["Home End", "beginning, end"],
        ["1 to 9", "tabs"],
        ["S T", "view at the start, from the top"],
        ["Arrows on the picture", "turn the view"],
      ]),
      h("p", { class: "facts" }, "Drawn with three.js, plotted with uPlot (both MIT licence)."),
    );
  }

  follow(): void {}
}

function pairs(entries: [string, string | number | null][]): HTMLElement | null {
  return entries.length ? h("dl", null, ...entries.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, String(value))])) : null;
}
