/** Starts the page: a trace where data are in it, else live. */
import { readBlocks } from "./trace.ts";

async function start(): Promise<void> {
  const blocks = await readBlocks();
  document.body.dataset.ready = blocks.size ? "trace" : "live";
}

start().catch((error: unknown) => {
  document.body.dataset.error = error instanceof Error ? error.message : String(error);
});
