/** Belief against truth: which thing each belief is about, and how far it is off. */
import type { BeliefRow, Body, Pose } from "./model.ts";

export interface Match {
  row: BeliefRow;
  body: number | null;
  /** Distance in the plane, and height, in millimetres. */
  off_mm: number | null;
  /** Turn about the vertical, in degrees. */
  turn_deg: number | null;
}

const FAR_M = 0.25;

/** Pairs beliefs with bodies of their SKU, the nearest first, each body once. */
export function matchBelief(rows: BeliefRow[], bodies: Body[], poseOf: (body: number) => Pose): Match[] {
  const pairs: { row: number; body: number; distance: number }[] = [];
  rows.forEach((row, index) => {
    bodies.forEach((body, number) => {
      if (!body.sku || body.sku !== row.sku) return;
      const distance = away(row.pose, poseOf(number));
      if (distance < FAR_M) pairs.push({ row: index, body: number, distance });
    });
  });
  pairs.sort((one, other) => one.distance - other.distance);
  const bodyOf = new Map<number, number>();
  const taken = new Set<number>();
  for (const { row, body } of pairs) {
    if (bodyOf.has(row) || taken.has(body)) continue;
    bodyOf.set(row, body);
    taken.add(body);
  }
  // What was carried further since it was seen is known by its name, where the controller has that of the drawings.
  rows.forEach((row, index) => {
    const named = bodyOf.has(index) ? -1 : bodies.findIndex((body) => body.name === row.id && body.sku === row.sku);
    if (named < 0 || taken.has(named)) return;
    bodyOf.set(index, named);
    taken.add(named);
  });
  return rows.map((row, index) => {
    const body = bodyOf.get(index) ?? null;
    if (body === null) return { row, body, off_mm: null, turn_deg: null };
    const truth = poseOf(body);
    return { row, body, off_mm: away(row.pose, truth) * 1000, turn_deg: turned(yaw(row.pose), yaw(truth)) };
  });
}

function away(one: Pose, other: Pose): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

/** Returns the turn about the vertical in degrees. */
export function yaw(pose: Pose): number {
  const [, , , w, x, y, z] = pose;
  return (Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * 180) / Math.PI;
}

/** Returns the smaller angle between two directions in degrees. */
function turned(one: number, other: number): number {
  const angle = Math.abs(((one - other + 540) % 360) - 180);
  return angle;
}
