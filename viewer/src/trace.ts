/** Reading of the data blocks that a trace carries in script elements: base64 of zlib of bytes. */

const IDS = ["scene", "scene-2", "keys", "keys-2", "run", "run-2"];

/** Returns the bytes of each block of data in the page, by its id; none in a live page. */
export async function readBlocks(): Promise<Map<string, Uint8Array>> {
  const blocks = new Map<string, Uint8Array>();
  for (const id of IDS) {
    const element = document.getElementById(id);
    if (element instanceof HTMLScriptElement) {
      try {
        blocks.set(id, await inflate(element.textContent ?? ""));
      } catch {
        throw new Error(`the data block '${id}' of this page is damaged; make the trace again`);
      }
    }
  }
  return blocks;
}

/** Returns the bytes behind base64 of zlib. */
export async function inflate(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
