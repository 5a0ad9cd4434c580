/** Packets: a JSON header that points into a blob of bytes. */

export interface Packet<Header = Record<string, unknown>> {
  kind: string;
  header: Header & { kind: string };
  blob: Uint8Array;
}

/** Returns the header and the blob of a packet; says what is wrong with one that was cut or is none. */
export function readPacket<Header>(bytes: Uint8Array): Packet<Header> {
  if (bytes.byteLength < 4) throw new Error("a packet was cut off");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  if (4 + length > bytes.byteLength) throw new Error("a packet was cut off");
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  let header: Header & { kind: string };
  try {
    header = JSON.parse(text) as Header & { kind: string };
  } catch {
    throw new Error("the header of a packet is not JSON");
  }
  // A copy, so that arrays of numbers in it begin where their numbers may.
  return { kind: header.kind, header, blob: bytes.slice(4 + length) };
}

const KINDS = { i2: Int16Array, i1: Int8Array, u4: Uint32Array, f4: Float32Array } as const;
type Kinds = typeof KINDS;

/** Returns numbers of the blob, by the kind they have there, their offset in bytes and how many they are. */
export function numbers<K extends keyof Kinds>(
  blob: Uint8Array,
  kind: K,
  offset: number,
  count: number,
): InstanceType<Kinds[K]> {
  const Kind = KINDS[kind];
  const size = count * Kind.BYTES_PER_ELEMENT;
  if (!(offset >= 0) || !(count >= 0) || offset + size > blob.byteLength) throw new Error("a packet was cut off");
  const bytes = blob.slice(offset, offset + size);
  return new Kind(bytes.buffer, 0, count) as InstanceType<Kinds[K]>;
}
