// The package that is tested: that of HOLOGRAM_NODE, or build/node. And a folder for files, which goes when the tests end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { write } from "./onnx.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const folder = resolve(process.env.HOLOGRAM_NODE ?? join(root, "build/node"));
export const load = (entry) => import(pathToFileURL(join(folder, entry)));
export const hologram = await load("index.mjs");

const files = mkdtempSync(join(tmpdir(), "hologram-node-"));
process.on("exit", () => rmSync(files, { recursive: true, force: true }));
let made = 0;
export const file = (name) => join(files, name);
export const onnx = (description) => write(file(`model${made++}.onnx`), description);
export const opened = (description, options) => hologram.open(onnx(description), options);

/** Relu of [2, 4]. */
export const relu = { inputs: { x: ["float32", [2, 4]] }, outputs: { y: ["float32", [2, 4]] }, nodes: [["Relu", ["x"], ["y"]]] };
/** x + x of [n, 3]. */
export const open = { inputs: { x: ["float32", ["n", 3]] }, outputs: { y: ["float32", ["n", 3]] }, nodes: [["Add", ["x", "x"], ["y"]]] };
/** A model that takes long: products of matrices, one after another; fewer where a sanitizer makes them slow. */
export function slow(products = 40, size = 384) {
  const count = Math.ceil(products / (process.env.HOLOGRAM_SANITIZED ? 20 : 1));
  const nodes = Array.from({ length: count }, (_, i) => ["MatMul", [`x${i}`, "x0"], [`x${i + 1}`]]);
  return { inputs: { x0: ["float32", [size, size]] }, outputs: { [`x${count}`]: ["float32", [size, size]] }, nodes };
}

export async function rejects(promise, code, pattern = /./) {
  let error;
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (e) {
    error = e;
  }
  if (!(error instanceof hologram.HologramError)) throw error ?? new Error("nothing was thrown");
  if (error.code !== code || !pattern.test(error.message)) throw new Error(`${error.code}: ${error.message}, not ${code} ${pattern}`);
}
