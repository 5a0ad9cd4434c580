/** Packets as Python makes them. */
export function makePacket(header: object, blob: ArrayLike<number>): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 4) * 4;
  const bytes = new Uint8Array(4 + length + blob.length).fill(32);
  new DataView(bytes.buffer).setUint32(0, length, true);
  bytes.set(text, 4);
  bytes.set(Uint8Array.from(blob), 4 + length);
  return bytes;
}
