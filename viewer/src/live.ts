/** The live server: packets in, words out; connects again by itself until the run has ended. */
import type { LiveState, Scene } from "./model.ts";
import type { RowsPart } from "./document.ts";
import { readPacket, numbers } from "./packet.ts";
import { readScene } from "./run.ts";

export interface LiveHandlers {
  scene(scene: Scene): void;
  rows(rows: RowsPart): void;
  poses(time_s: number, poses: Float32Array): void;
  state(state: LiveState): void;
  /** The line to the server: open, lost (tries again) or ended. */
  line(line: "open" | "lost" | "ended", words: string): void;
  failed(error: unknown): void;
  hasEnded(): boolean;
}

const ENDED = "the run has ended"; // what the server says when it closes for good
const WAITS_S = [0.5, 1, 2, 4, 8];

export class LiveLine {
  private socket: WebSocket | null = null;
  private tries = 0;
  private wasOpen = false;

  constructor(private readonly handlers: LiveHandlers) {
    this.connect();
  }

  /** Tells the server what to do. */
  say(words: { do: "pause" | "resume" | "step" } | { do: "speed"; value: number | null }): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  private connect(): void {
    const address = new URL("live", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.search = location.search;
    address.hash = "";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.tries = 0;
      this.wasOpen = true;
      this.handlers.line("open", "");
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data === "string") return;
      try {
        this.take(new Uint8Array(event.data));
      } catch (error) {
        this.handlers.failed(error);
      }
    };
    socket.onclose = (event) => this.closed(event.reason);
  }

  private take(bytes: Uint8Array): void {
    const packet = readPacket<Record<string, unknown>>(bytes);
    const { kind, header, blob } = packet;
    if (kind === "scene") this.handlers.scene(readScene(bytes));
    else if (kind === "rows") this.handlers.rows(header as RowsPart);
    else if (kind === "picture") this.handlers.rows(pictureRow(header, blob));
    else if (kind === "state") this.handlers.state(header as unknown as LiveState);
    else if (kind === "poses") {
      this.handlers.poses(Number(header.time_s), numbers(blob, "f4", 0, Number(header.count) * 7));
    }
  }

  private closed(reason: string): void {
    if (this.handlers.hasEnded() || reason === ENDED) {
      this.handlers.line("ended", "The run has ended. Everything stays on this page.");
      return;
    }
    const wait_s = WAITS_S[Math.min(this.tries, WAITS_S.length - 1)]!;
    this.tries++;
    const words = this.wasOpen ? "The server is gone; what came is kept. Trying again." : "No server answers yet. Trying again.";
    this.handlers.line("lost", words);
    setTimeout(() => this.connect(), wait_s * 1000);
  }
}

/** Returns the row of a picture whose bytes came in the blob. */
function pictureRow(header: Record<string, unknown>, blob: Uint8Array): RowsPart {
  let src = typeof header.src === "string" ? header.src : "";
  if (!src && blob.length) {
    let text = "";
    for (let i = 0; i < blob.length; i += 8192) text += String.fromCharCode(...blob.subarray(i, i + 8192));
    src = `data:${String(header.mime ?? "image/png")};base64,${btoa(text)}`;
  }
  return { pictures: [{ time_s: Number(header.time_s), camera: String(header.camera), src, boxes: (header.boxes as never) ?? [] }] };
}
