// What both benches say of the machine and of what they compare.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// Of ONNX Runtime; null: it is not installed.
export function peerVersion() {
  try { return JSON.parse(readFileSync(join(process.env.ORT_NODE_MODULES, "onnxruntime-node", "package.json"), "utf8")).version; } catch { return null; }
}

export function commit() {
  const git = (...args) => spawnSync("git", args, { cwd: dirname(fileURLToPath(import.meta.url)), encoding: "utf8" }).stdout?.trim();
  const head = git("rev-parse", "--short", "HEAD");
  return head ? head + (git("status", "--porcelain", "--", "../src", "../include", "../cli", "../Makefile") ? " and changes" : "") : "unknown";
}
