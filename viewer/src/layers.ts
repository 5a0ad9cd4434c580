/** What is drawn over the cell: frames, zones, belief, lines of sight, paths, trails, and what is selected. */
import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { cameraOf } from "./cameras.ts";
import { type CellScene, setPose } from "./cell.ts";
import { detectionsAt, isUnderWay, pathsAt } from "./document.ts";
import type { Match } from "./matching.ts";
import type { Pose, Vec3 } from "./model.ts";

export const LAYERS = {
  labels: "Labels",
  belief: "Belief",
  path: "Path",
  trail: "Trail",
  sight: "Lines of sight",
  zones: "Zones",
  frames: "Frames",
  shadows: "Shadows",
} as const;
export type Layer = keyof typeof LAYERS;

export interface Label {
  at: THREE.Vector3;
  text: string;
  kind: string;
}

const COLOURS = { belief: 0x2f7fd6, off: 0xd1495b, path: 0x1f9d8a, ahead: 0x1f9d8a, trail: 0xe0912f, sight: 0x8a63d2, zone: 0xd9822b };
const TRAIL_S = 4;
const TRAIL_STEPS = 80;
const ELLIPSOID_SD = 3;
const OFF_MM = 3;
const FRAME_M = 0.12;

/** Everything of one cell that is drawn over it; each kind is made anew only when what it shows has changed. */
export class Overlays {
  readonly labels: Label[] = [];
  private readonly root = new THREE.Group();
  private readonly parts = new Map<Layer | "selected", THREE.Group>();
  private readonly made = new Map<string, string>();
  private readonly ball = new THREE.SphereGeometry(1, 20, 12);
  private readonly ghost = new THREE.MeshLambertMaterial({
    color: COLOURS.belief,
    transparent: true,
    opacity: 0.55,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -2,
    polygonOffsetUnits: -2,
  });
  private readonly cloud = new THREE.MeshBasicMaterial({ color: COLOURS.belief, transparent: true, opacity: 0.22, depthWrite: false });
  private readonly templates = new Map<string, number>();

  constructor(private readonly cell: CellScene) {
    this.root.userData.isOverlay = true;
    cell.three.add(this.root);
    for (const name of [...Object.keys(LAYERS), "selected"] as (Layer | "selected")[]) {
      const group = new THREE.Group();
      this.parts.set(name, group);
      this.root.add(group);
    }
    cell.run.scene.header.bodies.forEach((body, index) => {
      if (body.sku && !this.templates.has(body.sku)) this.templates.set(body.sku, index);
    });
  }

  /** Shows what holds at the time, of the layers that are on. */
  update(time_s: number, layers: Set<Layer>, selected: number | null): void {
    const { run } = this.cell;
    for (const [name, group] of this.parts) group.visible = name === "selected" || layers.has(name);
    this.labels.length = 0;
    const matches = layers.has("belief") || layers.has("labels") ? run.belief(time_s) : [];
    if (layers.has("zones")) this.once("zones", "", (group) => this.zones(group));
    if (layers.has("frames")) this.frames();
    if (layers.has("belief")) this.belief(matches, run.beliefCount(time_s));
    if (layers.has("sight")) this.sight(time_s);
    if (layers.has("path")) this.paths(time_s);
    if (layers.has("trail")) this.trail(time_s);
    this.select(selected);
    if (layers.has("labels")) this.nameThings(matches);
    if (layers.has("zones")) {
      for (const zone of run.scene.header.zones) this.labels.push({ at: corner(zone), text: zone.name, kind: "zone" });
    }
    if (layers.has("frames")) {
      for (const frame of run.scene.header.frames) {
        const group = this.cell.groups[frame.body];
        if (group) this.labels.push({ at: new THREE.Vector3(...head(frame.pose)).applyMatrix4(group.matrix), text: frame.name, kind: "frame" });
      }
    }
  }

  private once(name: Layer | "selected", key: string, make: (group: THREE.Group) => void): void {
    if (this.made.get(name) === key) return;
    this.made.set(name, key);
    const group = this.parts.get(name)!;
    for (const child of [...group.children]) {
      group.remove(child);
      child.traverse((object) => {
        if (object instanceof LineSegments2) object.geometry.dispose();
      });
    }
    make(group);
  }

  private label(at: Vec3, text: string, kind: string): void {
    this.labels.push({ at: new THREE.Vector3(...at), text, kind });
  }

  private zones(group: THREE.Group): void {
    for (const { low, high, pose } of this.cell.run.scene.header.zones) {
      const place = new THREE.Group();
      place.matrixAutoUpdate = false;
      if (pose) setPose(place, pose);
      const box = new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high));
      // Only the ground is tinted: a box round the eye would colour everything.
      const size = box.getSize(new THREE.Vector3());
      const tint = new THREE.MeshBasicMaterial({ color: COLOURS.zone, transparent: true, opacity: 0.16, depthWrite: false, side: THREE.DoubleSide });
      const ground = new THREE.Mesh(new THREE.PlaneGeometry(size.x, size.y), tint);
      ground.position.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2] + 0.003);
      place.add(ground, lines(edges(box), COLOURS.zone, 2));
      group.add(place);
    }
  }

  private frames(): void {
    this.once("frames", "", (group) => {
      for (const frame of this.cell.run.scene.header.frames) {
        const axes = lines([0, 0, 0, FRAME_M, 0, 0, 0, 0, 0, 0, FRAME_M, 0, 0, 0, 0, 0, 0, FRAME_M], 0xffffff, 2.5, {
          colours: [0.85, 0.2, 0.2, 0.85, 0.2, 0.2, 0.15, 0.62, 0.2, 0.15, 0.62, 0.2, 0.2, 0.4, 0.95, 0.2, 0.4, 0.95],
        });
        axes.matrixAutoUpdate = false;
        axes.userData.frame = frame;
        group.add(axes);
      }
    });
    const own = new THREE.Object3D();
    for (const axes of this.parts.get("frames")!.children) {
      const frame = axes.userData.frame as { body: number; pose: Pose };
      setPose(own, frame.pose);
      axes.matrix.multiplyMatrices(this.cell.groups[frame.body]?.matrix ?? new THREE.Matrix4(), own.matrix);
      axes.matrixWorldNeedsUpdate = true;
    }
  }

  private belief(matches: Match[], count: number): void {
    const { run } = this.cell;
    const isOff = ({ off_mm }: Match): boolean => off_mm === null || off_mm >= OFF_MM;
    const ghosts = matches.map((match) => Number(isOff(match))).join("");
    this.once("belief", `${count} ${run.version} ${ghosts}`, (group) => {
      for (const match of matches) {
        const { row } = match;
        const template = this.templates.get(row.sku);
        // Where belief is right, a ghost would only hide the colours of the thing.
        if (template !== undefined && isOff(match)) {
          // Without the truth, what is believed is all there is to see, and looks like the thing.
          const copy = this.cell.copyOf(template, run.isPlaced(template) ? this.ghost : null);
          copy.matrixAutoUpdate = false;
          setPose(copy, row.pose);
          group.add(copy);
        }
        const sd = row.sd ?? [];
        const radii = [0, 1, 2].map((axis) => Math.min(0.3, Math.max(0.002, ELLIPSOID_SD * (sd[axis] ?? 0))));
        const cloud = new THREE.Mesh(this.ball, this.cloud);
        cloud.position.set(...head(row.pose));
        cloud.scale.set(radii[0]!, radii[1]!, radii[2]!);
        group.add(cloud);
      }
    });
    if (!run.document.about.is_truth_shown) return;
    const points: number[] = [];
    const old: number[] = [];
    for (const { row, body, off_mm } of matches) {
      if (body === null || off_mm === null || off_mm < OFF_MM) continue;
      const truth = this.cell.groups[body]!.matrix.elements;
      const isSeen = row.state === "seen";
      (isSeen ? points : old).push(...head(row.pose), truth[12]!, truth[13]!, truth[14]!);
      const middle: Vec3 = [0, 1, 2].map((axis) => (row.pose[axis]! + truth[12 + axis]!) / 2) as Vec3;
      const off = `${off_mm.toFixed(0)} mm off`;
      if (off_mm >= 5) this.label(isSeen ? middle : head(row.pose), isSeen ? off : `last seen here, ${off}`, isSeen ? "off" : "old");
    }
    const group = this.parts.get("belief")!;
    for (const child of group.children.filter((one) => one.userData.isOff)) {
      child.removeFromParent();
      (child as LineSegments2).geometry.dispose();
    }
    for (const [ends, colour] of [[points, COLOURS.off], [old, COLOURS.belief]] as const) {
      if (!ends.length) continue;
      const made = lines(ends, colour, 2, { isOnTop: true });
      made.userData.isOff = true;
      group.add(made);
    }
  }

  private sight(time_s: number): void {
    const { run } = this.cell;
    const reports = detectionsAt(run.document.detections, time_s);
    this.once("sight", reports.map((report) => `${report.source} ${report.time_s}`).join() + "!", (group) => {
      const points: number[] = [];
      for (const report of reports) {
        const camera = cameraOf(report.source, run.scene.header.cameras);
        const eye = camera && new THREE.Vector3(...head(camera.pose)).applyMatrix4(this.cell.groups[camera.body ?? 0]!.matrix);
        if (eye) for (const item of report.items) points.push(eye.x, eye.y, eye.z, ...head(item.pose));
      }
      if (points.length) group.add(lines(points, COLOURS.sight, 1, { opacity: 0.55 }));
    });
  }

  private paths(time_s: number): void {
    const { actions, paths: all } = this.cell.run.document;
    // A robot that has ended what it did goes nowhere any more.
    const isGoing = (robot: string): boolean => !actions.length || actions.some((action) => action.robot === robot && isUnderWay(action, time_s));
    const paths = pathsAt(all, time_s).filter(({ robot }) => isGoing(robot));
    this.once("path", paths.map((path) => `${path.robot} ${path.time_s}`).join() + "!", (group) => {
      for (const { points } of paths) {
        const ends: number[] = [];
        for (let i = 1; i < points.length; i++) ends.push(...points[i - 1]!, ...points[i]!);
        if (!ends.length) continue;
        group.add(lines(ends, COLOURS.path, 3, { isOnTop: true, opacity: 0.85 }));
        const goal = new THREE.Mesh(this.ball, new THREE.MeshBasicMaterial({ color: COLOURS.path, depthTest: false }));
        goal.position.set(...points[points.length - 1]!);
        goal.scale.setScalar(0.012);
        goal.renderOrder = 5;
        group.add(goal);
      }
    });
  }

  private trail(time_s: number): void {
    const { run } = this.cell;
    this.once("trail", `${time_s} ${run.isLive ? run.end_s : ""}`, (group) => {
      const from = Math.max(run.start_s, time_s - TRAIL_S);
      const own = new THREE.Object3D();
      const ends: number[] = [];
      for (const frame of run.scene.header.frames) {
        if (!isToolFrame(frame.name)) continue;
        setPose(own, frame.pose);
        let before: number[] | null = null;
        for (let step = 0; step <= TRAIL_STEPS; step++) {
          const at = from + ((time_s - from) * step) / TRAIL_STEPS;
          const body = new THREE.Object3D();
          setPose(body, run.poseAt(frame.body, at));
          const tip = body.matrix.multiply(own.matrix).elements.slice(12, 15);
          if (before && Math.hypot(tip[0]! - before[0]!, tip[1]! - before[1]!, tip[2]! - before[2]!) < 5e-4) continue;
          if (before) ends.push(...before, ...tip);
          before = tip;
        }
      }
      if (ends.length) group.add(lines(ends, COLOURS.trail, 3));
    });
  }

  private select(body: number | null): void {
    this.once("selected", String(body), (group) => {
      if (body === null) return;
      const box = this.cell.boxOf(body);
      if (box.isEmpty()) return;
      box.expandByScalar(0.004);
      const made = lines(edges(box), 0xffb000, 2.5, { isOnTop: true });
      made.matrixAutoUpdate = false;
      group.add(made);
    });
    const made = this.parts.get("selected")!.children[0];
    const group = body === null ? undefined : this.cell.groups[body];
    if (made && group) {
      made.matrix.copy(group.matrix);
      made.matrixWorldNeedsUpdate = true;
    }
  }

  private nameThings(matches: Match[]): void {
    const { bodies } = this.cell.run.scene.header;
    const believed = new Map(matches.filter((match) => match.body !== null).map((match) => [match.body, match]));
    const named = new Set<string>();
    bodies.forEach((body, index) => {
      let text = body.label;
      if (body.kind === "robot" || body.kind === "mobile") {
        // Of a robot with many bodies, the first is named.
        text = body.name.split("/")[0]!;
        if (named.has(text)) return;
        named.add(text);
      } else if (!["part", "tray", "camera"].includes(body.kind)) return;
      const group = this.cell.groups[index];
      if (!group?.visible) return;
      const match = believed.get(index);
      const off = match?.off_mm == null ? "" : ` · ${match.off_mm.toFixed(1)} mm`;
      const [x, y, z] = group.matrix.elements.slice(12, 15) as Vec3;
      this.label([x, y, z + 0.01], text + off, body.kind);
    });
  }
}

function corner({ low, high, pose }: { low: Vec3; high: Vec3; pose?: Pose | null }): THREE.Vector3 {
  const at = new THREE.Vector3(low[0], low[1], high[2]);
  return pose ? at.applyQuaternion(new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3])).add(new THREE.Vector3(...head(pose))) : at;
}

function isToolFrame(name: string): boolean {
  return /tool|tcp|tip|gripper/i.test(name);
}

function head(pose: Pose): Vec3 {
  return [pose[0], pose[1], pose[2]];
}

function edges({ min, max }: THREE.Box3): number[] {
  const points: number[] = [];
  const corner = (i: number): number[] => [i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z];
  for (let i = 0; i < 8; i++) for (const bit of [1, 2, 4]) if (!(i & bit)) points.push(...corner(i), ...corner(i | bit));
  return points;
}

interface Style {
  isOnTop?: boolean;
  opacity?: number;
  colours?: number[];
}

function lines(points: number[], colour: number, width: number, style: Style = {}): LineSegments2 {
  const geometry = new LineSegmentsGeometry();
  geometry.setPositions(points);
  if (style.colours) geometry.setColors(style.colours);
  const opacity = style.opacity ?? 1;
  const material = new LineMaterial({
    color: colour,
    linewidth: width,
    vertexColors: Boolean(style.colours),
    transparent: opacity < 1 || Boolean(style.isOnTop),
    opacity,
    depthTest: !style.isOnTop,
  });
  const made = new LineSegments2(geometry, material);
  made.frustumCulled = false;
  if (style.isOnTop) made.renderOrder = 4;
  return made;
}
