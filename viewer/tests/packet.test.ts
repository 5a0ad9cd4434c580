import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, readPacket } from "../src/packet.ts";
import { makePacket } from "./made.ts";

test("a packet gives its header and the numbers that it points to", () => {
  const bytes = makePacket({ kind: "poses", count: 2, at: 3 }, [1, 2, 3, ...new Uint8Array(new Float32Array([0.5, -2]).buffer)]);
  const packet = readPacket<{ count: number; at: number }>(bytes);
  assert.equal(packet.kind, "poses");
  assert.deepEqual([...numbers(packet.blob, "f4", packet.header.at, packet.header.count)], [0.5, -2]);
});

test("a packet inside a larger buffer is read from its own beginning", () => {
  const bytes = makePacket({ kind: "state" }, [7]);
  const larger = new Uint8Array(bytes.length + 3);
  larger.set(bytes, 3);
  assert.deepEqual([...readPacket(larger.subarray(3)).blob], [7]);
});

test("what was cut is told", () => {
  const bytes = makePacket({ kind: "scene" }, [1, 2]);
  assert.throws(() => readPacket(bytes.subarray(0, 2)), /cut off/);
  assert.throws(() => readPacket(bytes.subarray(0, 9)), /cut off/);
  assert.throws(() => numbers(readPacket(bytes).blob, "i2", 0, 2), /cut off/);
});
