/** Types of a scene and a run document, as docs/viewer-data.md has them. */

export type Vec3 = [number, number, number];
/** x, y, z, qw, qx, qy, qz in the world. */
export type Pose = [number, number, number, number, number, number, number];

export interface Body {
  name: string;
  label: string;
  kind: string;
  /** Null where the truth is left out. */
  pose: Pose | null;
  sku?: string | null;
}
export interface Geom {
  body: number;
  type: string;
  mesh?: number | null;
  size: Vec3;
  pose: Pose;
  material: number;
}
export interface MeshData {
  vertices: number;
  triangles: number;
  low: Vec3;
  high: Vec3;
  positions: number;
  normals: number;
  indices: number;
  uvs?: number | null;
}
export interface Material {
  /** Of one whose colours may change. */
  name?: string;
  rgba: [number, number, number, number];
  specular: number;
  shininess: number;
  emission: number;
  reflectance: number;
  texture?: number | null;
  repeat?: [number, number] | null;
}
export interface Light {
  position: Vec3;
  direction: Vec3;
  diffuse: Vec3;
  ambient: Vec3;
  specular: Vec3;
  directional: boolean;
  shadow: boolean;
}
export interface SceneCamera {
  name: string;
  body?: number;
  /** In the body: x the way it looks, z the top of its picture. */
  pose: Pose;
  fovy_rad: number;
  width: number;
  height: number;
  /** Names of the sensors that look through it. */
  sensors?: string[];
}
export interface SceneHeader {
  bodies: Body[];
  geoms: Geom[];
  meshes: MeshData[];
  materials: Material[];
  textures: { mime: string; offset: number; length: number }[];
  lights: Light[];
  headlight: { diffuse: Vec3; ambient: Vec3; specular: Vec3 };
  cameras: SceneCamera[];
  view: { eye: Vec3; target: Vec3; fovy_rad: number };
  sky: { top: Vec3; horizon: Vec3; floor: Vec3 };
  zones: { name: string; kind: string; low: Vec3; high: Vec3; pose?: Pose | null }[];
  frames: { name: string; body: number; pose: Pose }[];
  moving: number[];
}
export interface Scene {
  header: SceneHeader;
  blob: Uint8Array;
}

export interface About {
  cell: string;
  seed: number | null;
  fidelity: string | null;
  order: string | null;
  controller: string | null;
  status: string;
  reason: string | null;
  score: number | null;
  start_s: number;
  end_s: number;
  failure_s: number | null;
  command: string | null;
  log: string | null;
  versions: Record<string, string>;
  configuration: Record<string, string>;
  is_truth_shown: boolean;
  notes: string[];
}
export interface Predicate {
  text: string;
  value: boolean | null;
  evidence: string | null;
  when: string;
}
export interface Action {
  id: string | number;
  robot: string;
  text: string;
  /** The step of a plan that it carries out, where a plan is told; the text besides names the part. */
  step?: string;
  start_s: number;
  end_s: number | null;
  phase: string;
  reason: string | null;
  predicates: Predicate[];
}
export interface Plan {
  time_s: number;
  planner: string;
  reason: string | null;
  steps: { robot: string; text: string; start_s: number | null; end_s: number | null }[];
}
export interface RunEvent {
  time_s: number;
  kind: string;
  text: string;
  subject: string | null;
}
export interface Message {
  time_s: number;
  robot: string;
  direction: string;
  name: string;
  id: string | number | null;
  text: string;
}
export interface BeliefRow {
  time_s: number;
  id: string | number;
  sku: string;
  pose: Pose;
  sd: (number | null)[] | null;
  slot: string | null;
  state: string;
}
export interface DetectionItem {
  sku: string;
  pose: Pose;
  sd: (number | null)[] | null;
}
export interface Detections {
  time_s: number;
  source: string;
  items: DetectionItem[];
}
export interface Path {
  time_s: number;
  robot: string;
  points: Vec3[];
}
export interface Series {
  name: string;
  unit: string;
  labels: string[];
  times: number[];
  values: (number | null)[][];
}
export interface Picture {
  time_s: number;
  camera: string;
  src: string;
  boxes: { x: number; y: number; w: number; h: number; text: string }[];
}
export interface Colours {
  time_s: number;
  /** Of each material by its name: red, green, blue, and how much of that it gives off itself. */
  colours: Record<string, [number, number, number, number]>;
}
export interface ScoreItem {
  name: string;
  points: number | null;
  most: number | null;
  reason: string | null;
  passed: boolean | null;
}
export interface RunDocument {
  about: About;
  robots: string[];
  actions: Action[];
  plans: Plan[];
  events: RunEvent[];
  messages: Message[];
  belief: BeliefRow[];
  detections: Detections[];
  paths: Path[];
  series: Series[];
  pictures: Picture[];
  colours: Colours[];
  score: ScoreItem[];
}

/** What a live server tells of itself. */
export interface LiveState {
  paused: boolean;
  speed: number | null;
  time_s: number;
  lag: number | null;
}
