/** One run: its scene, where things were, what happened. */
import { Keys, type KeysHeader, type Motion, Ring } from "./keys.ts";
import { addRows, beliefAt, emptyDocument, rowIndex, type RowsPart } from "./document.ts";
import { type Match, matchBelief } from "./matching.ts";
import type { Pose, RunDocument, Scene, SceneHeader } from "./model.ts";
import { readPacket } from "./packet.ts";

export class Run {
  readonly document: RunDocument = emptyDocument();
  /** Grows with each change of the document. */
  version = 0;
  private readonly still: (Pose | null)[];
  private readonly moving: Set<number>;
  private matched: { time_s: number; version: number; rows: Match[] } | null = null;

  constructor(
    readonly name: string,
    readonly scene: Scene,
    readonly motion: Motion,
    readonly isLive: boolean,
  ) {
    this.still = scene.header.bodies.map((body) => body.pose);
    this.moving = new Set(scene.header.moving);
  }

  add(rows: RowsPart): void {
    addRows(this.document, rows, this.isLive);
    this.version++;
  }

  get start_s(): number {
    const { start_s } = this.document.about;
    return this.isLive ? start_s : Math.min(start_s, this.motion.start_s);
  }

  get end_s(): number {
    return Math.max(this.document.about.end_s ?? 0, this.motion.end_s);
  }

  /** Returns where a body is at a time. */
  poseAt(body: number, time_s: number, out: Pose = [0, 0, 0, 1, 0, 0, 0]): Pose {
    const still = this.still[body];
    if (still) for (let i = 0; i < 7; i++) out[i] = still[i]!;
    return this.moving.has(body) ? this.motion.poseAt(body, time_s, out) : out;
  }

  /** Returns whether it is known where a body is. */
  isPlaced(body: number): boolean {
    return Boolean(this.still[body]) || this.moving.has(body);
  }

  /** Returns the number of a body by its name or label. */
  bodyNamed(name: string): number | null {
    const { bodies } = this.scene.header;
    const index = bodies.findIndex((body) => body.name === name);
    const found = index >= 0 ? index : bodies.findIndex((body) => body.label === name);
    return found >= 0 ? found : null;
  }

  /** Returns what is believed at a time beside what is. */
  belief(time_s: number): Match[] {
    const known = this.matched;
    if (known && known.time_s === time_s && known.version === this.version) return known.rows;
    const rows = beliefAt(this.document.belief, time_s);
    const { bodies: all } = this.scene.header;
    const bodies = this.document.about.is_truth_shown ? all.map((body, index) => (this.isPlaced(index) ? body : { ...body, sku: null })) : [];
    const matched = matchBelief(rows, bodies, (body) => this.poseAt(body, time_s));
    this.matched = { time_s, version: this.version, rows: matched };
    return matched;
  }

  /** Returns how many rows of the belief there are until a time: it changes only where that does. */
  beliefCount(time_s: number): number {
    return rowIndex(this.document.belief, time_s);
  }
}

/** Returns the scene in a packet. */
export function readScene(bytes: Uint8Array): Scene {
  const packet = readPacket<SceneHeader>(bytes);
  if (packet.kind !== "scene") throw new Error(`a packet is a '${packet.kind}', not a scene`);
  return { header: packet.header, blob: packet.blob };
}

/** Returns the runs of a trace: one, or two of a comparison. */
export function readRuns(blocks: Map<string, Uint8Array>): Run[] {
  const runs: Run[] = [];
  let scene: Scene | null = null;
  for (const suffix of ["", "-2"]) {
    const place = `scene${suffix}`;
    const own = blocks.get(place);
    if (own) scene = told(place, () => readScene(own));
    const keys = blocks.get(`keys${suffix}`);
    const rows = blocks.get(`run${suffix}`);
    if (!keys && !rows && suffix) continue;
    if (!scene || !keys || !rows) throw new Error("a part of this trace is missing; make the trace again");
    const motion = told(`keys${suffix}`, () => {
      const packet = readPacket<KeysHeader>(keys);
      return new Keys(packet.header, packet.blob, scene as Scene);
    });
    const run = new Run(suffix ? "B" : "A", scene, motion, false);
    told(`run${suffix}`, () => run.add(JSON.parse(new TextDecoder().decode(rows)) as RowsPart));
    runs.push(run);
  }
  return runs;
}

/** Returns a run that a live server will fill. */
export function liveRun(scene: Scene): Run & { readonly motion: Ring } {
  return new Run("A", scene, new Ring(scene.header.moving), true) as Run & { readonly motion: Ring };
}

function told<Result>(id: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the data block '${id}' of this page is damaged (${why}); make the trace again`);
  }
}
