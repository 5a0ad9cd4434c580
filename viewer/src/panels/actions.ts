/** All actions in a table. */
import { isUnderWay } from "../document.ts";
import { copyButton, fill, fixed, h, reveal, tableText } from "../dom.ts";
import type { Action } from "../model.ts";
import type { Run } from "../run.ts";
import { noActions, phaseWord, shortAction, SIGNS } from "../words.ts";
import type { Panel } from "./panel.ts";

export class ActionsPanel implements Panel {
  readonly title = "Actions";
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly empty = h("p", { class: "empty" });
  private readonly whole: HTMLElement;
  private rows: { row: HTMLElement; action: Action }[] = [];
  private current = "";

  constructor(private readonly seek: (time_s: number) => void) {
    const heads = ["", "Start", "Takes", "Robot", "Action"];
    const table = h("table", { class: "lines" }, h("thead", null, h("tr", null, ...heads.map((head) => h("th", { scope: "col" }, head)))), this.body);
    this.whole = h("div", null, h("div", { class: "tools" }, copyButton(() => tableText(table), "Copy table")), table);
    this.element = h("div", null, this.empty, this.whole);
  }

  show(run: Run): void {
    this.rows = run.document.actions.map((action) => {
      const { word, kind } = action.end_s === null ? { word: "under way", kind: "running" } : phaseWord(action, Infinity);
      const row = h(
        "tr",
        { class: `link ${kind}`, tabIndex: 0, onclick: () => this.seek(action.start_s), onkeydown: (event: KeyboardEvent) => event.key === "Enter" && this.seek(action.start_s) },
        h("td", null, h("span", { class: `sign ${kind}`, title: word, "aria-label": word }, SIGNS[kind] ?? "")),
        h("td", { class: "number" }, fixed(action.start_s, 2)),
        h("td", { class: "number" }, action.end_s === null ? "…" : fixed(action.end_s - action.start_s, 2)),
        h("td", null, action.robot),
        h("td", null, shortAction(action.text, action.robot), action.reason && kind === "failed" ? h("small", null, action.reason) : null),
      );
      return { row, action };
    });
    fill(this.body, ...this.rows.map(({ row }) => row));
    this.whole.hidden = !this.rows.length;
    this.empty.hidden = !this.whole.hidden;
    this.empty.textContent = noActions(run);
    this.current = "";
  }

  follow(_run: Run, time_s: number): void {
    const now = this.rows.filter(({ action }) => isUnderWay(action, time_s));
    const key = now.map(({ action }) => action.id).join();
    if (key === this.current) return;
    this.current = key;
    for (const { row } of this.rows) row.classList.toggle("current", now.some((one) => one.row === row));
    const box = this.element.parentElement;
    if (now[0] && box) reveal(box, now[0].row);
  }
}
