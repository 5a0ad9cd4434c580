import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMesh } from "../src/geometry.ts";
import type { MeshData } from "../src/model.ts";

const zigzag = (values: number[]): number[] => values.map((value) => (value < 0 ? -2 * value - 1 : 2 * value));

/** Two triangles over four corners of a box of 2 x 1 x 0 m. */
function square(indices: number[]): { mesh: MeshData; blob: Uint8Array } {
  const positions = new Int16Array([-32768, -32768, -32768, 32767, -32768, -32768, 32767, 32767, -32768, -32768, 32767, -32768]);
  const deltas = indices.map((index, place) => index - (indices[place - 1] ?? 0));
  const blob = new Uint8Array(24 + 12 + 24);
  blob.set(new Uint8Array(positions.buffer));
  blob.set(new Uint8Array(new Int8Array([0, 0, 127, 0, 0, 127, 0, 0, 127, 0, 0, 127]).buffer), 24);
  blob.set(new Uint8Array(new Uint32Array(zigzag(deltas)).buffer), 36);
  return { mesh: { vertices: 4, triangles: 2, low: [-1, 0, 0.5], high: [1, 1, 0.5], positions: 0, normals: 24, indices: 36 }, blob };
}

test("positions are spread over the box of the mesh and indices summed up", () => {
  const { mesh, blob } = square([0, 1, 2, 2, 3, 0]);
  const made = decodeMesh(mesh, blob);
  assert.deepEqual([...made.positions].map((value) => Math.round(value * 1e4) / 1e4), [-1, 0, 0.5, 1, 0, 0.5, 1, 1, 0.5, -1, 1, 0.5]);
  assert.deepEqual([...made.indices], [0, 1, 2, 2, 3, 0]);
  assert.equal(made.uvs, null);
});

test("an index beyond the vertices is told as damage", () => {
  const { mesh, blob } = square([0, 1, 2, 2, 3, 9]);
  assert.throws(() => decodeMesh(mesh, blob), /damaged/);
});
