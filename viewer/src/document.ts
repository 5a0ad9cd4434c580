/** The run document: what happened, in lists that grow, and the questions that the page asks it. */
import { lastBefore } from "./keys.ts";
import type { Action, BeliefRow, Colours, Detections, Path, Plan, RunDocument, RunEvent, Series } from "./model.ts";

const LISTS = ["plans", "events", "messages", "belief", "detections", "paths", "pictures", "colours"] as const;
/** A live page keeps so many rows of a list; a trace has what it has. */
const MOST = { plans: 500, events: 5000, messages: 5000, belief: 40000, detections: 3000, paths: 3000, pictures: 60, colours: 20000 };
const MOST_ACTIONS = 2000;
const MOST_NUMBERS = 30000;

export type RowsPart = Partial<RunDocument>;

/** Returns a document in which nothing has happened. */
export function emptyDocument(): RunDocument {
  return {
    about: {
      cell: "",
      seed: null,
      fidelity: null,
      order: null,
      controller: null,
      status: "running",
      reason: null,
      score: null,
      start_s: 0,
      end_s: 0,
      failure_s: null,
      command: null,
      log: null,
      versions: {},
      configuration: {},
      is_truth_shown: true,
      notes: [],
    },
    robots: [],
    actions: [],
    plans: [],
    events: [],
    messages: [],
    belief: [],
    detections: [],
    paths: [],
    series: [],
    pictures: [],
    colours: [],
    score: [],
  };
}

/** Adds rows that are new; actions with a known id and what is said about the run replace what was there. */
export function addRows(document: RunDocument, rows: RowsPart, is_bounded = false): RunDocument {
  if (rows.about) Object.assign(document.about, rows.about);
  if (rows.robots) document.robots = [...new Set([...document.robots, ...rows.robots])];
  for (const item of rows.score ?? []) {
    const known = document.score.findIndex((one) => one.name === item.name);
    if (known >= 0) document.score[known] = item;
    else document.score.push(item);
  }
  for (const name of LISTS) {
    const list = document[name] as unknown[];
    for (const row of (rows[name] ?? []) as unknown[]) list.push(row);
    if (!is_bounded || list.length <= MOST[name] * 1.2) continue;
    const gone = list.splice(0, list.length - MOST[name]);
    if (name === "colours") keepPaint(gone as Colours[], document.colours);
  }
  if (rows.actions?.length) {
    const known = new Map(document.actions.map((action, index) => [action.id, index]));
    for (const action of rows.actions) {
      const index = known.get(action.id);
      if (index === undefined) known.set(action.id, document.actions.push(action) - 1);
      else document.actions[index] = action;
    }
    document.actions.sort((one, other) => one.start_s - other.start_s);
    if (is_bounded && document.actions.length > MOST_ACTIONS * 1.2) document.actions.splice(0, document.actions.length - MOST_ACTIONS);
  }
  for (const series of rows.series ?? []) appendSeries(document.series, series, is_bounded);
  return document;
}

/** What was painted before is so still. */
function keepPaint(gone: Colours[], kept: Colours[]): void {
  const first = kept[0]!;
  kept[0] = { ...first, colours: Object.assign({}, ...gone.map((row) => row.colours), first.colours) as Colours["colours"] };
}

function appendSeries(all: Series[], more: Series, is_bounded: boolean): void {
  const known = all.find((series) => series.name === more.name);
  if (!known) {
    all.push({ ...more, times: [...more.times], values: more.values.map((list) => [...list]) });
    return;
  }
  for (const time of more.times) known.times.push(time);
  more.values.forEach((list, row) => {
    for (const value of list) known.values[row]?.push(value);
  });
  const most = MOST_NUMBERS / Math.max(1, known.values.length);
  if (is_bounded && known.times.length > most * 1.2) {
    const extra = known.times.length - most;
    known.times.splice(0, extra);
    for (const list of known.values) list.splice(0, extra);
  }
}

/** Returns the last row of a list that is not after the time. */
export function rowAt<Row extends { time_s: number }>(rows: Row[], time_s: number): Row | null {
  return rows[rowIndex(rows, time_s)] ?? null;
}

/** Returns the number of the last row that is not after the time; -1 before the first. */
export function rowIndex(rows: { time_s: number }[], time_s: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.time_s <= time_s + 1e-9) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns whether an action is under way at the time. */
export function isUnderWay(action: Action, time_s: number): boolean {
  return action.start_s <= time_s + 1e-9 && (action.end_s === null || time_s <= action.end_s + 1e-9);
}

/** Returns what a robot does at the time, else what it did last. */
export function actionAt(actions: Action[], time_s: number, robot?: string): Action | null {
  let found: Action | null = null;
  for (const action of actions) {
    if (action.start_s > time_s + 1e-9) break;
    if (robot !== undefined && action.robot !== robot) continue;
    if (!found || isUnderWay(action, time_s) || !isUnderWay(found, time_s)) found = action;
  }
  return found;
}

/** Returns when the next action begins (1) or the one before (-1) began, seen from a time; null beyond the ends. */
export function neighbour(actions: Action[], time_s: number, direction: 1 | -1): number | null {
  const starts = [...new Set(actions.map((action) => action.start_s))].sort((one, other) => one - other);
  const index = lastBefore(starts, time_s + 1e-6);
  const at = direction > 0 ? index + 1 : starts[index]! > time_s - 1e-3 ? index - 1 : index;
  return starts[at] ?? null;
}

/** Returns what is believed at the time: the newest row of each identity that has not gone. */
export function beliefAt(rows: BeliefRow[], time_s: number): BeliefRow[] {
  const newest = new Map<string | number, BeliefRow>();
  for (let i = 0; i <= rowIndex(rows, time_s); i++) newest.set(rows[i]!.id, rows[i]!);
  return [...newest.values()].filter((row) => row.state !== "gone");
}

/** Returns what each detector reported last, not longer ago than given. */
export function detectionsAt(rows: Detections[], time_s: number, age_s = 0.5): Detections[] {
  const newest = new Map<string, Detections>();
  for (let i = rowIndex(rows, time_s); i >= 0 && rows[i]!.time_s >= time_s - age_s; i--) {
    if (!newest.has(rows[i]!.source)) newest.set(rows[i]!.source, rows[i]!);
  }
  return [...newest.values()];
}

/** Returns the newest path of each robot. */
export function pathsAt(rows: Path[], time_s: number): Path[] {
  const newest = new Map<string, Path>();
  for (let i = rowIndex(rows, time_s); i >= 0; i--) {
    if (!newest.has(rows[i]!.robot)) newest.set(rows[i]!.robot, rows[i]!);
  }
  return [...newest.values()];
}

/** Returns the plan that holds at the time. */
export function planAt(plans: Plan[], time_s: number): Plan | null {
  return rowAt(plans, time_s) ?? null;
}

/**
 * Returns for each step of a plan the action that carried it out, in order. An action may differ from its step in where
 * the part was, which is then known by the steps before and after it.
 */
export function stepActions(plan: Plan, actions: Action[]): (Action | null)[] {
  const taken = new Set<Action>();
  const find = (robot: string, is: (action: Action) => boolean): Action | null => {
    const found = actions.find((action) => !taken.has(action) && action.robot === robot && action.start_s >= plan.time_s - 1e-6 && is(action));
    if (found) taken.add(found);
    return found ?? null;
  };
  const exact = plan.steps.map((step) => find(step.robot, (action) => (action.step ?? action.text) === step.text));
  const verb = (text: string): string => text.split(" ", 1)[0]!;
  const last_s = new Map<string, number>();
  return plan.steps.map((step, index) => {
    const after_s = last_s.get(step.robot) ?? plan.time_s;
    const before_s = exact.find((action, other) => action?.robot === step.robot && other > index)?.start_s ?? Infinity;
    const found = exact[index] ?? find(step.robot, ({ text, start_s }) => verb(text) === verb(step.text) && start_s >= after_s - 1e-6 && start_s <= before_s + 1e-6);
    if (found) last_s.set(step.robot, found.start_s);
    return found;
  });
}

/** Returns the failed action at which a trace opens; none where it opens at something else, as at the end of a test. */
export function failedAction(document: RunDocument): Action | null {
  const at = document.about.failure_s;
  if (at === null) return null;
  const failed = document.actions.filter((action) => action.phase === "failed" && Math.abs((action.end_s ?? action.start_s) - at) <= 0.05);
  return failed[failed.length - 1] ?? null;
}

/** Returns events that are worth a mark on the timeline. */
export function marks(events: RunEvent[]): RunEvent[] {
  return events.filter((event) => ["fault", "hit", "drop", "verdict", "safety"].includes(event.kind));
}
