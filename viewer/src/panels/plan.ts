/** The plan with its steps, what is under way, and the predicates of it with their evidence. */
import { actionAt, isUnderWay, planAt, stepActions } from "../document.ts";
import { fill, fixed, h } from "../dom.ts";
import type { Action, Predicate } from "../model.ts";
import type { Run } from "../run.ts";
import { isRunning, noActions, phaseWord, shortAction, SIGNS, valueSign } from "../words.ts";
import type { Panel } from "./panel.ts";

export class PlanPanel implements Panel {
  readonly title = "Plan";
  readonly element: HTMLElement;
  private readonly failed = h("div");
  private readonly current = h("div", { class: "current-actions" });
  private readonly steps = h("div");
  private shownPlan = "";
  private shownActions = "";

  constructor(private readonly seek: (time_s: number) => void) {
    this.element = h("div", null, this.failed, this.current, this.steps);
  }

  badge(run: Run): string {
    return run.document.actions.some((action) => action.phase === "failed") ? "●" : "";
  }

  show(run: Run): void {
    this.shownPlan = this.shownActions = "";
    const failed = run.document.actions.filter((action) => action.phase === "failed");
    fill(this.failed);
    if (!failed.length) return;
    fill(
      this.failed,
      h("h3", null, failed.length === 1 ? "One action failed" : `${failed.length} actions failed`),
      ...failed.map((action) =>
        h(
          "button",
          { type: "button", class: "row-button failed", onclick: () => this.seek(action.end_s ?? action.start_s) },
          h("span", { class: "time" }, fixed(action.end_s ?? action.start_s, 2)),
          h("span", { class: "sign failed" }, "✗"),
          h("span", null, h("b", null, shortAction(action.text, action.robot)), ` ${action.robot}`, action.reason ? h("small", null, action.reason) : null),
        ),
      ),
    );
  }

  follow(run: Run, time_s: number): void {
    this.followActions(run, time_s);
    this.followPlan(run, time_s);
  }

  private followActions(run: Run, time_s: number): void {
    const { actions, robots } = run.document;
    const names = robots.length ? robots : [...new Set(actions.map((action) => action.robot))];
    const now = names.map((robot) => actionAt(actions, time_s, robot)).filter((action): action is Action => action !== null);
    const key = now.map((action) => `${action.id} ${action.phase} ${phaseWord(action, time_s).kind}`).join() + run.version;
    if (key === this.shownActions) return;
    this.shownActions = key;
    // A single failure that is shown below need not be told twice.
    const failed = actions.filter((action) => action.phase === "failed");
    this.failed.hidden = failed.length === 1 && now.some((action) => action === failed[0] && phaseWord(action, time_s).kind === "failed");
    now.sort((one, other) => Number(other.phase === "failed") - Number(one.phase === "failed"));
    fill(this.current, ...now.map((action) => this.card(action, time_s)));
    if (!now.length) fill(this.current, h("p", { class: "empty" }, run.document.actions.length ? "No action has begun yet." : noActions(run)));
  }

  private card(action: Action, time_s: number): HTMLElement {
    const { word, kind } = phaseWord(action, time_s);
    const hasEnded = kind === "done" || kind === "failed";
    const seen = action.predicates.filter((predicate) => predicate.when !== "after" || hasEnded || isUnderWay(action, time_s));
    const order = (predicate: Predicate): number => (predicate.value === false ? 0 : predicate.value === null ? 1 : 2);
    const group = (when: string, title: string): HTMLElement | null => {
      const own = seen.filter((predicate) => predicate.when === when).sort((one, other) => order(one) - order(other));
      if (!own.length) return null;
      // What will come true is not told before it has; of an action that has not ended yet it is known so far.
      const isAwaited = when === "after" && !hasEnded && action.end_s !== null;
      const count = (value: boolean | null): number => own.filter((one) => one.value === value).length;
      const counts = isAwaited ? `${own.length} awaited` : [`${count(true)} ✓`, count(false) ? `${count(false)} ✗` : "", count(null) ? `${count(null)} ?` : ""].filter(Boolean).join("  ");
      // What is known and new is open: conditions while it is under way, effects when it is done, all when it failed.
      const isOpen = kind === "failed" || (when === "after") === hasEnded || own.some((one) => !isAwaited && one.value !== true);
      return h("details", { class: "predicates", open: isOpen }, h("summary", null, title, h("small", null, counts)), ...own.map((one) => this.predicate(one, isAwaited)));
    };
    return h(
      "article",
      { class: `card ${kind}` },
      h("header", null, h("span", { class: `sign ${kind}` }, SIGNS[kind] ?? ""), h("b", null, shortAction(action.text, action.robot)), h("span", { class: "robot" }, action.robot)),
      h("p", { class: "facts" }, `${word}, ${fixed(action.start_s, 2)} to ${action.end_s === null ? "…" : `${fixed(action.end_s, 2)} s`}`),
      hasEnded && action.reason ? h("p", { class: "reason" }, action.reason) : null,
      group("before", "Before"),
      group("after", "After"),
    );
  }

  private predicate(predicate: Predicate, isAwaited: boolean): HTMLElement {
    const { sign, word, kind } = isAwaited ? { sign: "·", word: "awaited", kind: "later" } : valueSign(predicate.value);
    const evidence = isAwaited ? null : predicate.evidence;
    const name = [h("span", { class: `sign ${kind}`, title: word, "aria-label": word }, sign), h("span", { class: "words" }, predicate.text)];
    if (!evidence) return h("div", { class: "predicate" }, ...name);
    return h("details", { class: "predicate", open: predicate.value !== true }, h("summary", { title: evidence }, ...name), h("small", null, evidence));
  }

  private followPlan(run: Run, time_s: number): void {
    const plan = planAt(run.document.plans, time_s) ?? run.document.plans[0] ?? null;
    if (!plan) {
      fill(this.steps, h("p", { class: "empty" }, isRunning(run) ? "No plan has been told yet." : "No plan was told: orders to build kits have one."));
      return;
    }
    const states = stepActions(plan, run.document.actions).map((action) => (action ? phaseWord(action, time_s) : { word: "to come", kind: "later" }));
    const key = `${run.document.plans.indexOf(plan)} ${run.version} ${states.map((state) => state.kind).join()}`;
    if (key === this.shownPlan) return;
    this.shownPlan = key;
    const actions = stepActions(plan, run.document.actions);
    const done = states.filter((state) => state.kind === "done").length;
    const number = run.document.plans.indexOf(plan) + 1;
    fill(
      this.steps,
      h("h3", null, `Plan ${number} of ${run.document.plans.length}`, plan.steps.length ? h("small", null, `${done} of ${plan.steps.length} steps done`) : null),
      plan.steps.length ? null : h("p", { class: "empty" }, "Nothing is left to do."),
      h("p", { class: "facts" }, `by ${plan.planner} at ${fixed(plan.time_s, 2)} s${plan.reason ? `: ${plan.reason}` : ""}`),
      ...plan.steps.map((step, index) => {
        const { word, kind } = states[index]!;
        const action = actions[index];
        return h(
          "button",
          { type: "button", class: `row-button step ${kind}`, disabled: !action, title: word, onclick: () => action && this.seek(action.start_s) },
          h("span", { class: "time" }, fixed(action?.start_s ?? step.start_s, 1)),
          h("span", { class: `sign ${kind}`, "aria-label": word }, SIGNS[kind] ?? ""),
          h("span", null, shortAction(action?.text ?? step.text, step.robot)),
          h("span", { class: "robot" }, step.robot),
        );
      }),
    );
  }
}
