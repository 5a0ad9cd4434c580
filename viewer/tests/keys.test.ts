import assert from "node:assert/strict";
import { test } from "node:test";
import { between, Keys, lastBefore, Ring } from "../src/keys.ts";
import type { Pose, Scene } from "../src/model.ts";

const START: Pose = [1, 2, 3, 1, 0, 0, 0];
const scene = { header: { bodies: [{ pose: START }] } } as unknown as Scene;
const near = (one: number, other: number, by = 1e-4): void => assert.ok(Math.abs(one - other) < by, `${one} is not ${other}`);

/** Three keys at 0, 1 and 3 s: along x by 0.1 m, then still; a quarter turn about z meanwhile. */
function threeKeys(): Keys {
  const half = Math.round(Math.SQRT1_2 * 32767);
  const columns = [[0, 1000, 0], [0, 0, 0], [0, 0, 0], [32767, half - 32767, 0], [0, 0, 0], [0, 0, 0], [0, half, 0]];
  const blob = new Uint8Array(12 + 42);
  blob.set(new Uint8Array(new Float32Array([0, 1, 3]).buffer));
  blob.set(new Uint8Array(new Int16Array(columns.flat()).buffer), 12);
  return new Keys({ hz: 10, times: 0, count: 3, columns: [{ body: 0, offset: 12 }] }, blob, scene);
}

test("keys begin at the scene's pose and sum up their differences", () => {
  const keys = threeKeys();
  const at = keys.poseAt(0, 0, [...START]);
  [1, 2, 3, 1, 0, 0, 0].forEach((value, index) => near(at[index]!, value));
  near(keys.poseAt(0, 2, [...START])[0], 1.1);
  assert.equal(keys.end_s, 3);
});

test("between keys the way is straight and the turn is even", () => {
  const at = threeKeys().poseAt(0, 0.5, [...START]);
  near(at[0], 1.05);
  near((2 * Math.atan2(at[6], at[3]) * 180) / Math.PI, 45, 0.05);
  near(Math.hypot(...at.slice(3)), 1);
});

test("before the first and after the last key a body stays; one without keys stays where it is", () => {
  const keys = threeKeys();
  near(keys.poseAt(0, -5, [...START])[0], 1);
  near(keys.poseAt(0, 99, [...START])[0], 1.1);
  assert.deepEqual(keys.poseAt(7, 1, [...START]), START);
});

test("the turn between two poses is the shorter one, whatever the sign of the quaternion", () => {
  const values = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0];
  const at = between(values, 0, 7, 0.5, [...START]);
  near(Math.abs(at[3]), 1);
});

test("the last entry before a time is found", () => {
  assert.equal(lastBefore([1, 2, 3], 0), -1);
  assert.equal(lastBefore([1, 2, 3], 2), 1);
  assert.equal(lastBefore([1, 2, 3], 9), 2);
});

test("a ring keeps the newest poses and gives the oldest up", () => {
  const ring = new Ring([4], 0.3);
  for (let i = 0; i <= 40; i++) ring.push(i * 0.1, Float32Array.from([i, 0, 0, 1, 0, 0, 0]));
  near(ring.end_s, 4);
  assert.ok(ring.start_s > 2.5 && ring.start_s < 4);
  near(ring.poseAt(4, 3.95, [...START])[0], 39.5, 1e-3);
  near(ring.poseAt(4, 0, [...START])[0], ring.start_s * 10, 1e-3);
});

test("frames that come faster than they can be seen do not fill a ring", () => {
  const ring = new Ring([0], 1);
  for (let i = 0; i < 1000; i++) ring.push(i * 0.001, Float32Array.from([i, 0, 0, 1, 0, 0, 0]));
  near(ring.end_s, 0.999);
  assert.ok(ring.start_s < 0.01);
});

test("poses that do not fit the scene are told", () => {
  assert.throws(() => new Ring([0, 1]).push(0, new Float32Array(7)), /do not fit/);
});
