/** Meshes of a scene: numbers as they are stored to numbers as they are drawn. */
import type { MeshData } from "./model.ts";
import { numbers } from "./packet.ts";

export interface MeshArrays {
  positions: Float32Array;
  normals: Int8Array;
  indices: Uint32Array;
  uvs: Float32Array | null;
}

/** Returns the arrays of a mesh: its positions spread over its box, its indices summed up from their differences. */
export function decodeMesh(mesh: MeshData, blob: Uint8Array): MeshArrays {
  const packed = numbers(blob, "i2", mesh.positions, mesh.vertices * 3);
  const positions = new Float32Array(packed.length);
  for (let axis = 0; axis < 3; axis++) {
    const low = mesh.low[axis]!;
    const step = (mesh.high[axis]! - low) / 65535;
    for (let i = axis; i < packed.length; i += 3) positions[i] = low + (packed[i]! + 32768) * step;
  }
  const deltas = numbers(blob, "u4", mesh.indices, mesh.triangles * 3);
  const indices = new Uint32Array(deltas.length);
  let index = 0;
  for (let i = 0; i < deltas.length; i++) {
    const zigzag = deltas[i]!;
    index += (zigzag >>> 1) ^ -(zigzag & 1);
    if (index < 0 || index >= mesh.vertices) throw new Error("a mesh of the scene is damaged");
    indices[i] = index;
  }
  return {
    positions,
    normals: numbers(blob, "i1", mesh.normals, mesh.vertices * 3),
    indices,
    uvs: mesh.uvs == null ? null : numbers(blob, "f4", mesh.uvs, mesh.vertices * 2),
  };
}
