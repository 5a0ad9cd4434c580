/** The cell in three dimensions with its buttons, layers, labels and the card of what is selected. */
import * as THREE from "three";
import type { App } from "./app.ts";
import { CellScene } from "./cell.ts";
import { fill, fixed, h } from "./dom.ts";
import { type Layer, LAYERS, Overlays } from "./layers.ts";
import { loadTextures } from "./looks.ts";
import { yaw } from "./matching.ts";
import type { SceneCamera } from "./model.ts";
import type { Eyes } from "./panels/cameras.ts";
import type { Run } from "./run.ts";
import { hasWebGl, poseCamera, Stage } from "./stage.ts";

const FIRST_LAYERS: Layer[] = ["belief", "path", "shadows"];
const LETTER_PX = 6.3;
const LINE_PX = 15;
const RANKS = ["off", "old", "tray", "robot", "mobile", "camera", "zone", "part", "frame"];
const KEEP = "cellwright-layers";

export class View implements Eyes {
  readonly element: HTMLElement;
  readonly stage: Stage | null;
  private readonly labels = h("div", { class: "labels", "aria-hidden": "true" });
  private readonly card = h("div", { class: "card-box" });
  private readonly views = h("div", { class: "views", role: "toolbar", "aria-label": "Views" });
  private readonly paper = h("img", { class: "paper", alt: "The cell" });
  private readonly layers: Set<Layer>;
  private cells: { run: Run; cell: CellScene; overlays: Overlays }[] = [];
  private isDark = false;
  private wasDown: [number, number] | null = null;

  constructor(private readonly app: App) {
    this.layers = new Set(remembered() ?? FIRST_LAYERS);
    this.element = h("section", { class: "view", "aria-label": "The cell" });
    this.stage = hasWebGl() ? new Stage(this.element, () => this.pose(), (camera) => this.draw(camera)) : null;
    if (!this.stage) {
      this.element.append(
        h("p", { class: "no-webgl" }, "This browser does not draw in 3-D (WebGL 2): switch on graphics acceleration in its settings, or open the page in another. The rest of the page works."),
      );
      return;
    }
    const { canvas } = this.stage;
    canvas.addEventListener("pointerdown", (event) => (this.wasDown = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => this.click(event));
    this.element.append(this.paper, this.labels, this.views, this.layerList(), this.card);
    app.on("time", () => this.stage?.redraw(true));
    app.on("select", () => this.stage?.redraw());
    app.on("data", () => this.stage?.redraw(true));
  }

  /** Builds the cells of the runs; runs of one scene share its textures. */
  async show(runs: Run[]): Promise<void> {
    if (!this.stage) return;
    const textures = new Map<Run["scene"], Awaited<ReturnType<typeof loadTextures>>>();
    for (const { scene } of runs) if (!textures.has(scene)) textures.set(scene, await loadTextures(scene));
    const isFirst = !this.cells.length; // a page that connects again looks from where it looked
    for (const { cell } of this.cells) cell.dispose();
    this.cells = runs.map((run) => {
      const cell = new CellScene(run, textures.get(run.scene) ?? []);
      cell.setDark(this.isDark);
      return { run, cell, overlays: new Overlays(cell) };
    });
    this.stage.cells = this.cells.map(({ cell }) => cell);
    this.element.classList.toggle("two", runs.length > 1);
    if (!this.layers.has("shadows")) this.stage.setShadows(false);
    this.listViews(runs[0]!);
    if (isFirst) this.home();
    else this.stage.resize();
  }

  /** Puts the picture of the cell onto the paper. */
  print(): void {
    if (this.stage?.cells.length) this.paper.src = this.stage.picture();
  }

  setDark(isDark: boolean): void {
    this.isDark = isDark;
    for (const { cell } of this.cells) cell.setDark(isDark);
    this.stage?.redraw();
  }

  /** Looks from where the cell's own picture is taken. */
  home(): void {
    const view = this.app.runs[0]?.scene.header.view;
    if (!view || !this.stage) return;
    const { width, height } = this.stage.size;
    // The picture's height is right for a wide window; a narrow one needs more of it to hold the same width.
    const widen = Math.max(1, 1.6 / (width / Math.max(1, height)));
    const fovy_rad = 2 * Math.atan(Math.tan(view.fovy_rad / 2) * Math.min(widen, 1.6));
    this.stage.look(new THREE.Vector3(...view.eye), new THREE.Vector3(...view.target), fovy_rad);
  }

  top(): void {
    const view = this.app.runs[0]?.scene.header.view;
    if (!view || !this.stage) return;
    const target = new THREE.Vector3(...view.target);
    const away = target.distanceTo(new THREE.Vector3(...view.eye));
    this.stage.look(target.clone().add(new THREE.Vector3(0, -0.002, away)), target, view.fovy_rad);
  }

  lookFrom(camera: SceneCamera): void {
    const cell = this.cells[0]?.cell;
    if (!cell || !this.stage) return;
    const eye = new THREE.PerspectiveCamera();
    poseCamera(eye, cell, camera);
    const forward = new THREE.Vector3(0, 0, -1).applyQuaternion(eye.quaternion);
    const away = Math.min(3, Math.max(0.4, eye.position.distanceTo(cell.middle)));
    const target = eye.position.clone().addScaledVector(forward, away);
    if (Math.hypot(forward.x, forward.y) < 0.02) target.y += 0.003; // straight down: keeps north up
    this.stage.look(eye.position, target, camera.fovy_rad);
  }

  /** Returns the colour of a named material as it is drawn now, and what it gives off. */
  colourOf(name: string): number[] | null {
    return this.cells[0]?.cell.colourOf(name) ?? null;
  }

  take(shots: { run: Run; camera: SceneCamera; canvas: HTMLCanvasElement }[]): void {
    this.stage?.take(
      shots.flatMap(({ run, camera, canvas }) => {
        const cell = this.cells.find((one) => one.run === run)?.cell;
        return cell ? [{ cell, camera, canvas }] : [];
      }),
    );
  }

  project(run: Run, camera: SceneCamera, point: ArrayLike<number>): { x: number; y: number } | null {
    const cell = this.cells.find((one) => one.run === run)?.cell;
    if (!cell) return null;
    const eye = new THREE.PerspectiveCamera((camera.fovy_rad * 180) / Math.PI, camera.width / camera.height, 0.02, 60);
    poseCamera(eye, cell, camera);
    const at = new THREE.Vector3(point[0], point[1], point[2]).project(eye);
    if (at.z > 1 || Math.abs(at.x) > 1 || Math.abs(at.y) > 1) return null;
    return { x: (at.x + 1) / 2, y: (1 - at.y) / 2 };
  }

  private pose(): void {
    const { time_s } = this.app.clock;
    this.cells.forEach(({ run, cell, overlays }) => {
      const at = Math.min(time_s, run.end_s);
      cell.setTime(at, run.isLive);
      overlays.update(at, this.layers, this.app.run === run ? this.app.selected : null);
    });
  }

  private draw(camera: THREE.PerspectiveCamera): void {
    const { width, height } = this.stage!.size;
    const spans: HTMLElement[] = [];
    this.cells.forEach(({ run, overlays }, index) => {
      if (this.cells.length > 1) {
        spans.push(h("span", { class: "run-name", style: { left: `${index * width + 10}px`, bottom: "8px" } }, `Run ${run.name} · ${run.document.about.status}`));
      }
      const taken: [number, number, number][] = [];
      const inOrder = [...overlays.labels].sort((one, other) => rank(one.kind) - rank(other.kind));
      for (const { at, text, kind } of inOrder) {
        const seen = at.clone().project(camera);
        if (seen.z > 1 || Math.abs(seen.x) > 1 || Math.abs(seen.y) > 1) continue;
        const left = index * width + ((seen.x + 1) / 2) * width;
        // What would lie on another label is left out until there is room: closer, it comes.
        const top = ((1 - seen.y) / 2) * height;
        const right = left + text.length * LETTER_PX + 10;
        if (taken.some(([from, to, level]) => left < to && right > from && Math.abs(level - top) < LINE_PX)) continue;
        taken.push([left, right, top]);
        spans.push(h("span", { class: `label ${kind}`, style: { transform: `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)` } }, text));
      }
    });
    fill(this.labels, ...spans);
    this.showCard();
  }

  private showCard(): void {
    const { run, selected } = this.app;
    const body = selected === null ? undefined : run?.scene.header.bodies[selected];
    if (!run || !body || selected === null) {
      if (this.card.childElementCount) fill(this.card);
      return;
    }
    const time_s = Math.min(this.app.clock.time_s, run.end_s);
    const pose = run.poseAt(selected, time_s);
    const match = run.belief(time_s).find((one) => one.body === selected);
    const millimetres = (values: ArrayLike<number>): string => [0, 1, 2].map((axis) => fixed(values[axis]! * 1000, 1)).join(", ");
    const rows: [string, string][] = [["Position", `${millimetres(pose)} mm`], ["Yaw", `${fixed(yaw(pose), 1)}°`]];
    if (match) {
      rows.push(["Believed", `${millimetres(match.row.pose)} mm`], ["Off", `${fixed(match.off_mm, 1)} mm, ${fixed(match.turn_deg, 1)}°`]);
      if (match.row.sd) rows.push(["SD", `${match.row.sd.slice(0, 2).map((sd) => fixed(sd === null ? null : sd * 1000, 1)).join(", ")} mm`]);
      rows.push(["State", [match.row.state, match.row.slot].filter(Boolean).join(", ")]);
    } else if (body.sku) rows.push(["Believed", "nothing"]);
    fill(
      this.card,
      h(
        "div",
        { class: "selection", role: "status" },
        h("header", null, h("b", null, body.label), h("span", { class: "quiet" }, ` ${body.sku && body.sku !== body.label ? body.sku : body.kind}`), h("button", { type: "button", class: "close", "aria-label": "Nothing selected", onclick: () => this.app.select(null) }, "×")),
        h("dl", null, ...rows.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
      ),
    );
  }

  private click(event: PointerEvent): void {
    const [x, y] = this.wasDown ?? [0, 0];
    this.wasDown = null;
    if (Math.hypot(event.clientX - x, event.clientY - y) > 4 || event.button !== 0) return;
    const hit = this.stage?.pick(event.clientX, event.clientY);
    const run = this.cells.find(({ cell }) => cell === hit?.cell)?.run;
    if (run && run !== this.app.run) this.app.choose(this.app.runs.indexOf(run));
    const kind = hit && run ? run.scene.header.bodies[hit.body]?.kind : undefined;
    this.app.select(hit && kind !== "world" ? hit.body : null);
  }

  private listViews(run: Run): void {
    const button = (text: string, title: string, onclick: () => void): HTMLElement => h("button", { type: "button", class: "small", title, onclick }, text);
    const { cameras } = run.scene.header;
    const choice = h(
      "select",
      {
        class: "small",
        "aria-label": "View of a camera",
        onchange: () => {
          const camera = cameras[Number(choice.value)];
          if (camera) this.lookFrom(camera);
          choice.value = "";
        },
      },
      h("option", { value: "" }, "Camera…"),
      ...cameras.map((camera, index) => h("option", { value: String(index) }, camera.name)),
    );
    fill(this.views, button("Start", "View at the start  S", () => this.home()), button("Top", "View from the top  T", () => this.top()), cameras.length ? choice : null);
  }

  private layerList(): HTMLElement {
    return h(
      "details",
      { class: "layers" },
      h("summary", null, "Layers"),
      ...(Object.entries(LAYERS) as [Layer, string][]).map(([layer, name]) =>
        h(
          "label",
          null,
          h("input", { type: "checkbox", checked: this.layers.has(layer), "data-layer": layer, onchange: (event: Event) => this.setLayer(layer, (event.target as HTMLInputElement).checked) }),
          h("i", { class: `swatch of-${layer}` }),
          name,
        ),
      ),
      h("p", { class: "quiet" }, "Blue: what is believed, as clouds of 3 SD, and as ghosts where it is 3 mm off or more."),
    );
  }

  private setLayer(layer: Layer, isOn: boolean): void {
    if (isOn) this.layers.add(layer);
    else this.layers.delete(layer);
    try {
      localStorage.setItem(KEEP, JSON.stringify([...this.layers]));
    } catch {
      // A page from disk may be refused it; the choice then ends with the page.
    }
    if (layer === "shadows") this.stage?.setShadows(isOn);
    this.stage?.redraw(true);
  }
}

function rank(kind: string): number {
  return (RANKS.indexOf(kind) + RANKS.length + 1) % (RANKS.length + 1);
}

function remembered(): Layer[] | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEEP) ?? "null") as unknown;
    return Array.isArray(kept) ? (kept as Layer[]).filter((layer) => layer in LAYERS) : null;
  } catch {
    return null;
  }
}
