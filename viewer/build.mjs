// Makes one file of everything: script, style, licences of the libraries. Usage: node build.mjs [OUT]
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../src/cellwright/viewing/built/viewer.html");

async function bundle(entry) {
  const made = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome110", "firefox115", "safari16.4"],
    legalComments: "none",
    logLevel: "error",
  });
  return made.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const licences = ["three", "uplot"]
  .map((name) => `${name}\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`)
  .join("\n\n")
  .replaceAll("--", "- -");
const script = (await bundle("main.ts")).replaceAll("</script", "<\\/script");
const style = await bundle("style.css");
// The page may run its own script, be styled by its own style, and talk to the server that it came from: nothing else.
const policy =
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
  "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'";

const slots = { policy, licences, script, style };
const page = readFileSync(join(here, "src/page.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => slots[name]);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
