/** Starts the page: a trace where data are in it, else live. */
import { App } from "./app.ts";
import { failedAction } from "./document.ts";
import { fill, fixed, h } from "./dom.ts";
import { Header } from "./header.ts";
import type { Ring } from "./keys.ts";
import { LiveLine } from "./live.ts";
import type { LiveState, Pose, Scene } from "./model.ts";
import { ActionsPanel } from "./panels/actions.ts";
import { BeliefPanel } from "./panels/belief.ts";
import { CamerasPanel } from "./panels/cameras.ts";
import { EventsPanel, MessagesPanel } from "./panels/lists.ts";
import { PlanPanel } from "./panels/plan.ts";
import { PlotsPanel } from "./panels/plots.ts";
import { AboutPanel, ScorePanel } from "./panels/summary.ts";
import { liveRun, readRuns, type Run } from "./run.ts";
import { Sidebar } from "./sidebar.ts";
import { Timeline } from "./timeline.ts";
import { readBlocks } from "./trace.ts";
import { View } from "./view.ts";
import { shortAction } from "./words.ts";

const app = new App();
const root = document.getElementById("app")!;
const banner = h("div", { class: "banner", hidden: true, role: "status" });
const seek = (time_s: number): void => app.clock.seek(time_s);
const plots = new PlotsPanel(seek);
const header = new Header(app, turnTheme);
const timeline = new Timeline(app);
let view: View | null = null;
const cameras = new CamerasPanel(() => (view?.stage ? view : null));
const sidebar: Sidebar = new Sidebar(
  app,
  [
    new PlanPanel(seek),
    new ActionsPanel(seek),
    new BeliefPanel((body) => app.select(body)),
    cameras,
    plots,
    new MessagesPanel(seek, () => sidebar.again()),
    new EventsPanel(seek),
    new ScorePanel(() => app.runs),
    new AboutPanel(),
  ],
  (panel) => panel === cameras && cameras.leave(),
);
let theme: string | null = null;
let live: LiveState | null = null;

function fail(error: unknown): void {
  const words = error instanceof Error ? error.message : String(error);
  document.body.dataset.error = words;
  fill(banner, h("b", null, words));
  banner.className = "banner failed";
  banner.hidden = false;
}

/** Takes the colours that the user chose, else those of the system; paper is always light. */
function setTheme(wish: unknown = null): void {
  const isWished = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = wish === false ? false : isWished;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  view?.setDark(isDark);
  plots.redraw();
}

function turnTheme(): void {
  theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme();
}

function layOut(): void {
  fill(root, header.element, banner, h("div", { class: "work" }, view!.element, sidebar.divider, sidebar.element), timeline.element);
}

/** Says on top why a run failed, and where. */
function showFailure(run: Run, isOneOfMore = false): void {
  const { about } = run.document;
  const action = failedAction(run.document);
  if (about.failure_s === null) return;
  const reason = action?.reason ?? about.reason ?? "";
  fill(
    banner,
    h("b", null, `✗ ${isOneOfMore ? `Run ${run.name} failed` : "Failed"} at ${fixed(about.failure_s, 2)} s`),
    action ? h("span", null, `${shortAction(action.text, action.robot)} (${action.robot})`) : null,
    h("span", { class: "reason" }, reason),
    h("button", { type: "button", class: "small", onclick: () => seek(about.failure_s!) }, "Go there"),
    h("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => (banner.hidden = true) }, "×"),
  );
  banner.className = "banner failed";
  banner.hidden = false;
}

async function openTrace(runs: Run[]): Promise<void> {
  app.runs = runs;
  app.measure();
  // One moment, as a notebook shows it, has no timeline, and nothing has happened: all room is for the cell.
  document.body.classList.toggle("still", app.clock.end_s - app.clock.start_s < 1e-3);
  const failed = runs.findIndex((run) => run.document.about.failure_s !== null);
  app.active = Math.max(0, failed);
  app.tell("run");
  app.tell("data");
  const about = runs[app.active]!.document.about;
  app.clock.seek(about.failure_s ?? app.clock.start_s);
  if (failed >= 0) showFailure(runs[failed]!, runs.length > 1);
  await view!.show(runs);
  setTheme();
  await drawn();
  document.body.dataset.ready = "trace";
}

/** Waits until the picture was drawn once, where there is one. */
async function drawn(): Promise<void> {
  const { stage } = view!;
  if (!stage) return;
  stage.redraw(true);
  while (!stage.drawn && !document.hidden) await new Promise((resolve) => requestAnimationFrame(resolve));
}

function openLive(): void {
  app.isLive = true;
  let scene: Scene | null = null;
  let isDirty = false;
  const run = (): Run | null => app.run;
  // Rows come many times a second: the page shows them a few times a second, and a page in the background not at all.
  setInterval(() => {
    if (!isDirty || document.hidden || !run()) return;
    isDirty = false;
    app.measure();
    app.tell("data");
  }, 250);
  fill(banner, "Waiting for the server.");
  banner.hidden = false;
  header.line = new LiveLine({
    scene: (next) => {
      const isSame = scene !== null && JSON.stringify(scene.header) === JSON.stringify(next.header);
      if (!isSame) scene = next;
      const fresh = liveRun(scene!);
      app.runs = [fresh];
      app.tell("run");
      app.clock.follow();
      void view!.show([fresh]).then(() => setTheme(), fail);
    },
    rows: (rows) => {
      run()?.add(rows);
      isDirty = true;
      const about = run()?.document.about;
      if (about && about.failure_s !== null && rows.about) showFailure(run()!);
    },
    poses: (time_s, poses) => {
      const ring = run()?.motion as Ring | undefined;
      ring?.push(time_s, poses);
      if (!document.hidden && app.clock.isFollowing) app.clock.setRange(run()!.start_s, run()!.end_s);
      isDirty = true; // the timeline grows, also while nothing is told
      document.body.dataset.ready = "live";
    },
    state: (state) => {
      live = state;
      header.setState(state);
    },
    line: (line, words) => {
      document.body.dataset.line = line;
      header.setOpen(line === "open");
      if (line !== "open") fill(banner, h("b", null, words));
      banner.className = "banner";
      banner.hidden = line === "open";
    },
    failed: fail,
    hasEnded: () => {
      const status = run()?.document.about.status;
      return status !== undefined && status !== "running";
    },
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !run()) return;
    app.measure();
    app.tell("data");
  });
}

function useKeys(): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=range]), select, textarea")) return;
    const { clock } = app;
    const step_s = event.shiftKey ? 1 : 0.1;
    const actions: Record<string, () => void> = {
      " ": () => clock.toggle(),
      ArrowLeft: () => seek(clock.time_s - step_s),
      ArrowRight: () => seek(clock.time_s + step_s),
      ",": () => timeline.step(-1),
      ".": () => timeline.step(1),
      Home: () => seek(clock.start_s),
      End: () => (app.isLive ? clock.follow() : seek(clock.end_s)),
      s: () => view?.home(),
      t: () => view?.top(),
      Escape: () => app.select(null),
    };
    for (let tab = 1; tab <= 9; tab++) actions[String(tab)] = () => sidebar.open(tab - 1);
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (event.key === " " && target.closest("button, summary"))) return;
    event.preventDefault();
    action();
  });
}

async function start(): Promise<void> {
  view = new View(app);
  layOut();
  setTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", setTheme);
  window.addEventListener("beforeprint", () => {
    setTheme(false);
    view?.print();
  });
  window.addEventListener("afterprint", () => setTheme());
  useKeys();
  const blocks = await readBlocks();
  if (blocks.size) await openTrace(readRuns(blocks));
  else openLive();
}

/** What tests, and people in the console, may ask and do. */
const hooks = {
  seek,
  play: () => app.clock.play(),
  pause: () => app.clock.pause(),
  open: (title: string) => sidebar.openNamed(title),
  select: (name: string) => app.select(app.run?.bodyNamed(name) ?? null),
  get time(): number {
    return app.clock.time_s;
  },
  get state(): object {
    const { clock } = app;
    return { playing: clock.isPlaying, following: clock.isFollowing, start: clock.start_s, end: clock.end_s, speed: clock.speed, drawn: view?.stage?.drawn ?? 0, live };
  },
  get document(): object | null {
    return app.run?.document ?? null;
  },
  colourOf: (material: string): number[] | null => view?.colourOf(material) ?? null,
  bodyPose(name: string, run = app.active): Pose | null {
    const one = app.runs[run];
    const body = one?.bodyNamed(name) ?? null;
    return one && body !== null ? one.poseAt(body, Math.min(app.clock.time_s, one.end_s)) : null;
  },
};
(window as unknown as { cellwright: typeof hooks }).cellwright = hooks;

start().catch(fail);
