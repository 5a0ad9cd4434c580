/** Belief against truth. */
import { copyButton, fill, fixed, h, tableText } from "../dom.ts";
import { yaw } from "../matching.ts";
import type { Run } from "../run.ts";
import { isRunning } from "../words.ts";
import type { Panel } from "./panel.ts";

export class BeliefPanel implements Panel {
  readonly title = "Belief";
  readonly element: HTMLElement;
  private readonly note = h("p", { class: "facts" });
  private readonly table = h("table", { class: "lines dense" });
  private readonly empty = h("p", { class: "empty" });
  private readonly whole: HTMLElement;
  private shown = "";

  constructor(private readonly select: (body: number) => void) {
    this.whole = h("div", null, h("div", { class: "tools" }, copyButton(() => tableText(this.table), "Copy table")), this.note, this.table);
    this.element = h("div", null, this.empty, this.whole);
  }

  show(): void {
    this.shown = "";
  }

  follow(run: Run, time_s: number): void {
    const isTruthShown = run.document.about.is_truth_shown;
    const rows = run.belief(time_s);
    const key = rows.map(({ row, off_mm }) => `${row.id} ${row.time_s} ${off_mm?.toFixed(1)}`).join() + run.version;
    if (key === this.shown) return;
    this.shown = key;
    this.note.textContent = isTruthShown
      ? "What the controller believes, in mm; beside it how many mm off and how many degrees turned that is from the nearest thing of the same kind."
      : "What the controller believes, in mm. The truth is not in this page.";
    this.whole.hidden = !rows.length;
    this.empty.hidden = Boolean(rows.length);
    this.empty.textContent = run.document.belief.length || isRunning(run) ? "Nothing is believed yet." : "No controller has told what it believes.";
    if (!rows.length) return;
    const heads = ["Thing", "x", "y", "z", "Yaw", "SD", ...(isTruthShown ? ["Off", "Turn"] : [])];
    fill(
      this.table,
      h("thead", null, h("tr", null, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h(
        "tbody",
        null,
        ...rows.map(({ row, body, off_mm, turn_deg }) =>
          h(
            "tr",
            { class: body === null ? "" : "link", onclick: () => body !== null && this.select(body) },
            h("td", null, h("b", null, String(row.id)), h("small", null, [kindOf(row.sku, String(row.id)), row.state, row.slot].filter(Boolean).join(", "))),
            ...[0, 1, 2].map((axis) => h("td", { class: "number" }, fixed(row.pose[axis]! * 1000, 1))),
            h("td", { class: "number" }, `${fixed(yaw(row.pose), 1)}°`),
            h("td", { class: "number" }, row.sd ? fixed(Math.max(...row.sd.slice(0, 2).map((sd) => sd ?? 0)) * 1000, 1) : "–"),
            isTruthShown ? h("td", { class: `number ${off_mm !== null && off_mm > 10 && row.state === "seen" ? "bad" : ""}` }, fixed(off_mm, 1)) : null,
            isTruthShown ? h("td", { class: "number" }, fixed(turn_deg, 1)) : null,
          ),
        ),
      ),
    );
  }
}

/** Returns the kind of a thing, unless its name says it. */
function kindOf(sku: string, id: string): string | null {
  const plain = sku.replace(/^sku_/, "").replace(/^part_/, "");
  return id.startsWith(plain) ? null : plain;
}
