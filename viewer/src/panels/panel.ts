/** A tab beside the cell. */
import type { Run } from "../run.ts";

export interface Panel {
  readonly title: string;
  readonly element: HTMLElement;
  /** Shows a run anew: another one, or one with new rows. */
  show(run: Run): void;
  /** Follows the time; called after `show`, and whenever the time has changed. */
  follow(run: Run, time_s: number): void;
  /** Returns a short remark on the tab, such as how many have failed. */
  badge?(run: Run): string;
}
