/** Messages, and events: long lists that scroll along with the time. */
import { rowIndex } from "../document.ts";
import { fill, fixed, h, reveal } from "../dom.ts";
import { icon } from "../icons.ts";
import type { Message, RunEvent } from "../model.ts";
import type { Run } from "../run.ts";
import { isRunning } from "../words.ts";
import type { Panel } from "./panel.ts";

const MOST = 3000;

/** A list whose rows belong to times; rows after the time are paler, the newest is seen. */
abstract class TimedList<Row extends { time_s: number }> implements Panel {
  abstract readonly title: string;
  readonly element = h("div", { class: "timed" });
  protected readonly list = h("div", { class: "list" });
  protected rows: { row: Row; element: HTMLElement }[] = [];
  private current = -2;
  private run: Run | null = null;

  constructor(protected readonly seek: (time_s: number) => void) {
    this.element.append(this.list);
  }

  protected abstract all(run: Run): Row[];
  protected abstract draw(row: Row): HTMLElement;
  protected abstract none(run: Run): string;

  show(run: Run): void {
    const wanted = this.all(run).slice(-MOST);
    const isLonger = this.run === run && this.rows.length <= wanted.length && this.rows.every(({ row }, index) => row === wanted[index]);
    if (!isLonger) {
      this.rows = [];
      fill(this.list);
    }
    this.run = run;
    for (const row of wanted.slice(this.rows.length)) {
      const element = this.draw(row);
      this.rows.push({ row, element });
      this.list.append(element);
    }
    if (!this.rows.length) fill(this.list, h("p", { class: "empty" }, this.none(run)));
    else this.list.querySelector(".empty")?.remove();
    this.current = -2;
  }

  follow(_run: Run, time_s: number): void {
    const index = rowIndex(
      this.rows.map(({ row }) => row),
      time_s,
    );
    if (index === this.current) return;
    this.current = index;
    this.rows.forEach(({ element }, place) => {
      element.classList.toggle("later", place > index);
      element.classList.toggle("current", place === index);
    });
    const box = this.element.parentElement;
    const newest = this.rows[index]?.element;
    if (newest && box) reveal(box, newest);
  }
}

export class MessagesPanel extends TimedList<Message> {
  readonly title = "Messages";
  private readonly robot = h("select", { "aria-label": "Robot" });
  private readonly words = h("input", { type: "search", placeholder: "Filter by text", "aria-label": "Filter by text" });
  private readonly tools: HTMLElement;
  private known: string | null = null;

  constructor(seek: (time_s: number) => void, again: () => void) {
    super(seek);
    this.robot.addEventListener("change", again);
    this.words.addEventListener("input", again);
    this.tools = h("div", { class: "tools sticky" }, this.robot, this.words);
    this.element.prepend(this.tools);
  }

  override show(run: Run): void {
    const robots = [...new Set(run.document.messages.map((message) => message.robot))];
    if (robots.join() !== this.known) {
      this.known = robots.join();
      const chosen = this.robot.value;
      fill(this.robot, h("option", { value: "" }, "All robots"), ...robots.map((name) => h("option", { value: name, selected: name === chosen }, name)));
    }
    this.tools.hidden = !run.document.messages.length;
    super.show(run);
  }

  protected none(run: Run): string {
    if (run.document.messages.length) return "No message has this text.";
    return isRunning(run) ? "No message over CRCL yet." : "No message went over CRCL in this run.";
  }

  protected all(run: Run): Message[] {
    const words = this.words.value.trim().toLowerCase();
    const robot = this.robot.value;
    return run.document.messages.filter(
      (message) => (!robot || message.robot === robot) && (!words || `${message.name} ${message.text} ${message.id}`.toLowerCase().includes(words)),
    );
  }

  protected draw(message: Message): HTMLElement {
    const isCommand = message.direction === "command";
    return h(
      "details",
      { class: `message ${message.direction}`, onclick: (event: Event) => event.stopPropagation() },
      h(
        "summary",
        { onclick: () => this.seek(message.time_s) },
        h("span", { class: "time" }, fixed(message.time_s, 2)),
        h("span", { class: "sign", title: message.direction }, isCommand ? "→" : "←"),
        h("span", null, h("b", null, message.name), message.id === null || message.id === "" ? null : h("span", { class: "quiet" }, ` #${message.id}`)),
        h("span", { class: "robot" }, message.robot),
      ),
      h("pre", null, message.text),
    );
  }
}

export class EventsPanel extends TimedList<RunEvent> {
  readonly title = "Events";

  badge(run: Run): string {
    return run.document.events.some((event) => ["fault", "hit", "drop"].includes(event.kind)) ? "●" : "";
  }

  protected none(run: Run): string {
    return isRunning(run) ? "Nothing has happened yet." : "Nothing happened: no fault, collision or drop.";
  }

  protected all(run: Run): RunEvent[] {
    return run.document.events;
  }

  protected draw(event: RunEvent): HTMLElement {
    return h(
      "button",
      { type: "button", class: `row-button event ${event.kind}`, onclick: () => this.seek(event.time_s) },
      h("span", { class: "time" }, fixed(event.time_s, 2)),
      h("span", { class: `sign ${event.kind}` }, icon(event.kind)),
      h("span", null, event.text, event.subject && !event.text.includes(event.subject) ? h("small", null, event.subject) : null),
      h("span", { class: "robot" }, event.kind),
    );
  }
}
