/** Short words for what controllers write at length. */
import type { Action } from "./model.ts";
import type { Run } from "./run.ts";

/** Returns an action's text without brackets and without the robot, which its lane or column names. */
export function shortAction(text: string, robot: string): string {
  const words = text.replace(/[()]/g, " ").replace(/,/g, " ").split(/\s+/).filter(Boolean);
  const kept = words.filter((word, index) => index === 0 || word !== robot);
  const [first = "", ...rest] = kept;
  return [first.replace(/[_-]/g, " "), ...rest].join(" ");
}

/** Returns how an action ended, for lists. */
export function phaseWord(action: Action, time_s: number): { word: string; kind: string } {
  if (action.start_s > time_s + 1e-9) return { word: "to come", kind: "later" };
  if (action.end_s !== null && action.end_s <= time_s + 1e-9) {
    if (action.phase === "failed") return { word: "failed", kind: "failed" };
    return action.phase === "running" ? { word: "under way", kind: "running" } : { word: "done", kind: "done" };
  }
  return { word: "under way", kind: "running" };
}

export const SIGNS: Record<string, string> = { done: "✓", failed: "✗", running: "▶", later: "·" };

/** Returns the sign and the word of a predicate's value. */
export function valueSign(value: boolean | null): { sign: string; word: string; kind: string } {
  if (value === null) return { sign: "?", word: "unknown", kind: "unknown" };
  return value ? { sign: "✓", word: "true", kind: "done" } : { sign: "✗", word: "false", kind: "failed" };
}

export function isRunning(run: Run): boolean {
  return run.document.about.status === "running";
}

/** Says why there are no actions to show. */
export function noActions(run: Run): string {
  return isRunning(run) ? "No action has begun yet." : "No actions were told: the robots were driven without a controller that has them.";
}
