/** What all parts of the page share: runs, time, what is chosen; and who is told when it changes. */
import { Clock } from "./clock.ts";
import type { Run } from "./run.ts";

type Topic = "time" | "data" | "run" | "select";

export class App {
  readonly clock = new Clock();
  runs: Run[] = [];
  /** The run whose panels are shown. */
  active = 0;
  selected: number | null = null;
  isLive = false;
  private readonly listeners = new Map<Topic, (() => void)[]>();

  constructor() {
    this.clock.onChange(() => this.tell("time"));
  }

  get run(): Run | null {
    return this.runs[this.active] ?? null;
  }

  on(topic: Topic, listener: () => void): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  tell(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  select(body: number | null): void {
    this.selected = body;
    this.tell("select");
  }

  choose(run: number): void {
    this.active = run;
    this.tell("run");
    this.tell("data");
  }

  /** Takes the range of time from all runs. */
  measure(): void {
    if (!this.runs.length) return;
    const start_s = Math.min(...this.runs.map((run) => run.start_s));
    this.clock.setRange(start_s, Math.max(...this.runs.map((run) => run.end_s)));
  }
}
