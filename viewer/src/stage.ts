/** The canvas with the cell: camera, controls, one or two scenes side by side; drawn only when something changed. */
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { type CellScene, setPose } from "./cell.ts";
import type { SceneCamera } from "./model.ts";

/** A picture that is drawn from another place into a canvas of its own. */
export interface Shot {
  cell: CellScene;
  camera: SceneCamera;
  canvas: HTMLCanvasElement;
}

const SLOW_MS = 120;
const SLOW_SHADOWS_MS = 1000;

/** Returns whether this browser draws in three dimensions. */
export function hasWebGl(): boolean {
  try {
    const context = document.createElement("canvas").getContext("webgl2");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

export class Stage {
  readonly canvas = document.createElement("canvas");
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.02, 60);
  readonly controls: OrbitControls;
  cells: CellScene[] = [];
  drawn = 0;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly raycaster = new THREE.Raycaster();
  private isDirty = false;
  private areShadowsOld = true;
  private isSlow = false;
  private isResting = false;
  private last_ms = 0;
  private shadowed_ms = -Infinity;
  private slowFrames = 0;
  private rest = 0;
  private shots: Shot[] = [];

  constructor(
    private readonly box: HTMLElement,
    private readonly before: () => void,
    private readonly after: (camera: THREE.PerspectiveCamera) => void,
  ) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The cell. Arrow keys turn the view, plus and minus zoom.");
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.toneMapping = THREE.CustomToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.autoClear = false;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.minDistance = 0.05;
    this.controls.maxDistance = 15;
    this.controls.addEventListener("change", () => this.redraw());
    this.canvas.addEventListener("keydown", (event) => this.turnByKey(event));
    new ResizeObserver(() => this.resize()).observe(box);
    box.prepend(this.canvas);
    this.resize();
  }

  /** Asks for one frame; `moved` when shadows are no longer where they were. */
  redraw(moved = false): void {
    if (moved) this.areShadowsOld = true;
    if (this.isDirty) return;
    this.isDirty = true;
    requestAnimationFrame((now) => this.draw(now));
  }

  /** Sets which cameras' pictures are drawn with the next frames. */
  take(shots: Shot[]): void {
    this.shots = shots;
    this.redraw();
  }

  /** Draws at once, and returns the picture: paper gets nothing of a canvas that is drawn later. */
  picture(): string {
    this.isResting = this.areShadowsOld = true;
    this.draw(performance.now());
    return this.canvas.toDataURL("image/jpeg", 0.92);
  }

  setShadows(isOn: boolean): void {
    this.renderer.shadowMap.enabled = isOn;
    for (const cell of this.cells) cell.renewMaterials();
    this.redraw(true);
  }

  look(eye: THREE.Vector3, target: THREE.Vector3, fovy_rad?: number): void {
    if (fovy_rad) this.camera.fov = (fovy_rad * 180) / Math.PI;
    this.controls.target.copy(target);
    this.camera.position.copy(eye);
    this.controls.update();
    this.resize();
  }

  /** Returns the body that is seen at a place of the canvas, with the cell that it is in. */
  pick(clientX: number, clientY: number): { cell: CellScene; body: number } | null {
    const rect = this.canvas.getBoundingClientRect();
    const count = Math.max(1, this.cells.length);
    const along = ((clientX - rect.left) / rect.width) * count;
    const cell = this.cells[Math.min(count - 1, Math.floor(along))];
    if (!cell) return null;
    const at = new THREE.Vector2((along - Math.floor(along)) * 2 - 1, 1 - ((clientY - rect.top) / rect.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    for (const hit of this.raycaster.intersectObjects(cell.groups, true)) {
      const body = hit.object.parent?.userData.body as number | undefined;
      if (hit.object.userData.geom !== undefined && body !== undefined) return { cell, body };
    }
    return null;
  }

  /** Returns the size in which one cell is drawn, in pixels of the page. */
  get size(): { width: number; height: number } {
    return { width: this.box.clientWidth / Math.max(1, this.cells.length), height: this.box.clientHeight };
  }

  resize(): void {
    const { width, height } = this.size;
    if (!width || !height) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const full = this.box.clientWidth;
    if (this.canvas.width !== Math.floor(full * ratio) || this.canvas.height !== Math.floor(height * ratio)) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(full, height);
    }
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  private draw(now_ms: number): void {
    this.isDirty = false;
    if (!this.cells.length) return;
    this.before();
    this.judgeSpeed(now_ms);
    const isTime = !this.isSlow || this.isResting || now_ms - this.shadowed_ms > SLOW_SHADOWS_MS;
    const areShadowsDue = this.areShadowsOld && isTime;
    if (areShadowsDue) this.shadowed_ms = now_ms;
    this.isResting = false;
    this.renderer.shadowMap.needsUpdate = areShadowsDue;
    if (areShadowsDue) this.areShadowsOld = false;
    for (const shot of this.shots) this.drawShot(shot);
    this.renderer.setScissorTest(true);
    const { width, height } = this.size;
    this.cells.forEach((cell, index) => {
      this.renderer.shadowMap.needsUpdate ||= areShadowsDue && index > 0;
      this.renderer.setViewport(index * width, 0, width, height);
      this.renderer.setScissor(index * width, 0, width, height);
      this.renderer.clear();
      cell.lights.follow(this.camera);
      this.renderer.render(cell.three, this.camera);
    });
    this.drawn++;
    this.after(this.camera);
    // Where frames are slow, shadows are drawn again as soon as things are at rest.
    if (this.areShadowsOld) {
      clearTimeout(this.rest);
      this.rest = window.setTimeout(() => {
        this.isResting = true;
        this.redraw();
      }, 300);
    }
  }

  /** Finds out by frames that follow each other whether they come too slowly for shadows. */
  private judgeSpeed(now_ms: number): void {
    const passed_ms = now_ms - this.last_ms;
    this.last_ms = now_ms;
    if (passed_ms > 2000 || !this.drawn) return;
    this.slowFrames = passed_ms > SLOW_MS ? this.slowFrames + 1 : 0;
    if (this.slowFrames >= 3) this.isSlow = true;
    else if (passed_ms < SLOW_MS / 3) this.isSlow = false;
  }

  private drawShot({ cell, camera, canvas }: Shot): void {
    const context = canvas.getContext("2d");
    const ratio = this.renderer.getPixelRatio();
    const width = Math.min(canvas.width / ratio, this.canvas.width / ratio);
    const height = Math.min(canvas.height / ratio, this.canvas.height / ratio);
    const eye = new THREE.PerspectiveCamera((camera.fovy_rad * 180) / Math.PI, camera.width / camera.height, 0.02, 60);
    poseCamera(eye, cell, camera);
    this.renderer.setScissorTest(true);
    this.renderer.setViewport(0, 0, width, height);
    this.renderer.setScissor(0, 0, width, height);
    this.renderer.clear();
    const hidden = cell.three.children.filter((child) => child.userData.isOverlay && child.visible);
    for (const child of hidden) child.visible = false;
    cell.lights.follow(eye);
    this.renderer.render(cell.three, eye);
    for (const child of hidden) child.visible = true;
    const [w, h] = [width * ratio, height * ratio];
    context?.drawImage(this.canvas, 0, this.canvas.height - h, w, h, 0, 0, canvas.width, canvas.height);
  }

  private turnByKey(event: KeyboardEvent): void {
    const away = new THREE.Vector3().subVectors(this.camera.position, this.controls.target);
    const ball = new THREE.Spherical().setFromVector3(new THREE.Vector3(away.x, away.z, -away.y));
    const step = 0.08;
    if (event.key === "ArrowLeft") ball.theta -= step;
    else if (event.key === "ArrowRight") ball.theta += step;
    else if (event.key === "ArrowUp") ball.phi -= step;
    else if (event.key === "ArrowDown") ball.phi += step;
    else if (event.key === "+" || event.key === "=") ball.radius /= 1.1;
    else if (event.key === "-") ball.radius *= 1.1;
    else return;
    event.preventDefault();
    event.stopPropagation();
    ball.makeSafe();
    const turned = new THREE.Vector3().setFromSpherical(ball);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(turned.x, -turned.z, turned.y));
    this.controls.update();
    this.redraw();
  }
}

const TURN = new THREE.Matrix4().makeBasis(
  new THREE.Vector3(0, -1, 0),
  new THREE.Vector3(0, 0, 1),
  new THREE.Vector3(-1, 0, 0),
); // from a camera that looks along x, with z up, to three.js's, which look along -z, with y up

/** Poses a camera of three.js as one of the scene. */
export function poseCamera(eye: THREE.Camera, cell: CellScene, camera: SceneCamera): void {
  const own = new THREE.Object3D();
  setPose(own, camera.pose);
  const world = (cell.groups[camera.body ?? 0]?.matrix ?? new THREE.Matrix4()).clone().multiply(own.matrix).multiply(TURN);
  world.decompose(eye.position, eye.quaternion, eye.scale);
  eye.updateMatrixWorld(true);
}
