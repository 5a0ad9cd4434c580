/** The column beside the cell: tabs, of which one is shown and kept up to date; its width is the user's. */
import type { App } from "./app.ts";
import { fill, h } from "./dom.ts";
import type { Panel } from "./panels/panel.ts";

const EVERY_MS = 100;

export class Sidebar {
  readonly element: HTMLElement;
  readonly divider: HTMLElement;
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  private readonly content = h("div", { class: "content", role: "tabpanel", tabIndex: 0 });
  private readonly runs = h("div", { class: "runs", role: "group", "aria-label": "Run" });
  private buttons: HTMLButtonElement[] = [];
  private shown = "";
  private chosen = 0;
  private isDue = false;
  private last_ms = 0;

  constructor(
    private readonly app: App,
    private readonly panels: Panel[],
    private readonly leave: (panel: Panel) => void,
  ) {
    this.buttons = panels.map((panel, index) =>
      h("button", { type: "button", role: "tab", id: `tab-${panel.title.toLowerCase()}`, onclick: () => this.open(index), onkeydown: (event: KeyboardEvent) => this.arrow(event, index) }, panel.title),
    );
    this.tabs.append(...this.buttons);
    this.element = h("aside", { class: "side", "aria-label": "Panels" }, this.runs, this.tabs, this.content);
    this.divider = h("div", { class: "divider", role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the panels", tabIndex: 0 });
    this.divider.addEventListener("pointerdown", (event) => this.drag(event));
    this.divider.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.stopPropagation();
      event.preventDefault();
      this.setWidth(this.element.offsetWidth + (event.key === "ArrowLeft" ? 20 : -20));
    });
    app.on("time", () => this.update());
    app.on("data", () => this.update());
    app.on("run", () => this.listRuns());
    this.open(0);
  }

  open(index: number): void {
    const panel = this.panels[index];
    if (!panel) return;
    if (index !== this.chosen) this.leave(this.panels[this.chosen]!);
    this.chosen = index;
    this.buttons.forEach((button, place) => {
      button.setAttribute("aria-selected", String(place === index));
      button.tabIndex = place === index ? 0 : -1;
    });
    this.content.setAttribute("aria-labelledby", this.buttons[index]!.id);
    fill(this.content, panel.element);
    this.content.scrollTop = 0;
    this.shown = "";
    this.now();
  }

  openNamed(title: string): void {
    this.open(this.panels.findIndex((panel) => panel.title === title));
  }

  /** Shows the panel anew, as another filter or theme needs. */
  again(): void {
    this.shown = "";
    this.now();
  }

  private listRuns(): void {
    const { runs } = this.app;
    this.runs.hidden = runs.length < 2;
    fill(
      this.runs,
      ...runs.map((run, index) =>
        h("button", { type: "button", "aria-pressed": String(index === this.app.active), onclick: () => this.app.choose(index) }, `Run ${run.name}`, h("small", null, `${run.document.about.status} · seed ${run.document.about.seed ?? "–"}`)),
      ),
    );
  }

  /** Follows at most ten times a second: tables need no more, and leave the time to the picture. */
  private update(): void {
    if (this.isDue) return;
    this.isDue = true;
    const wait_ms = Math.max(0, this.last_ms + EVERY_MS - performance.now());
    setTimeout(() => this.now(), wait_ms);
  }

  private now(): void {
    this.isDue = false;
    this.last_ms = performance.now();
    const { run } = this.app;
    const panel = this.panels[this.chosen];
    if (!run || !panel) return;
    const key = `${this.chosen} ${this.app.active} ${this.app.runs.map((one) => one.version).join()}`;
    if (key !== this.shown) {
      this.shown = key;
      panel.show(run);
      this.panels.forEach((one, index) => {
        const badge = one.badge?.(run) ?? "";
        fill(this.buttons[index]!, one.title, badge ? h("small", null, badge) : null);
      });
    }
    panel.follow(run, this.app.clock.time_s);
  }

  private arrow(event: KeyboardEvent, index: number): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (index + step + this.panels.length) % this.panels.length;
    this.open(next);
    this.buttons[next]!.focus();
  }

  private drag(event: PointerEvent): void {
    event.preventDefault();
    this.divider.setPointerCapture(event.pointerId);
    this.divider.onpointermove = (moved) => this.setWidth(window.innerWidth - moved.clientX);
    this.divider.onpointerup = this.divider.onpointercancel = () => (this.divider.onpointermove = null);
  }

  private setWidth(width: number): void {
    const fit = Math.min(window.innerWidth - 320, Math.max(300, width));
    document.body.style.setProperty("--side", `${fit}px`);
  }
}
