#!/usr/bin/env node
// Real trained models, in Hologram and in ONNX Runtime, their outputs compared. usage: real.mjs HOLOGRAM FOLDER [PATTERN]
// Each model has a folder below FOLDER: model.onnx, inputs/, and what both sides make of it, ort/ and out/. What is there
// already is not made again, but for our own part. The last line is `N passed, N failed, N skipped`.
//
// The model's own precision decides. Outputs of f32 agree as compare.mjs says. A model that rounds on the way, by quantizing or by
// computing in f16, makes a whole step of one bit: how far that goes shows in the peer, which without its optimizations rounds
// otherwise. Outputs that differ from the peer's by at most twice as much as these do agree, too.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { compare } from "./compare.mjs";
import { fetchModel, nameOf } from "./fetch.mjs";

const [hologram, work, pattern = "."] = argv.slice(2).map((a, i) => (i < 2 ? resolve(a) : a));
const here = dirname(fileURLToPath(import.meta.url)), minutes = 60_000;

// Runs a program; when it fails, its last words are the message.
function run(program, args) {
  try {
    return execFileSync(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 10 * minutes }).toString();
  } catch (e) {
    const said = `${e.stdout ?? ""}${e.stderr ?? ""}`.trim().split("\n").at(-1);
    throw new Error(said || e.message.split("\n")[0]);
  }
}

// The folder of what the peer gives.
function runPeer(folder, optimize) {
  const outputs = join(folder, optimize === "all" ? "ort" : `ort-${optimize}`);
  if (!existsSync(outputs) || !readdirSync(outputs).length)
    run("node", [join(here, "../../bench/ort.mjs"), join(folder, "model.onnx"), "--inputs", join(folder, "inputs"), "--outputs", outputs,
      "--threads", "2", "--seconds", "0", "--optimize", optimize]);
  return outputs;
}

function runOurs(folder) {
  const outputs = join(folder, "out"), archive = join(folder, "model.holo"), inputs = join(folder, "inputs");
  rmSync(outputs, { recursive: true, force: true });
  mkdirSync(outputs);
  run(hologram, ["compile", join(folder, "model.onnx"), "-o", archive]);
  const given = readdirSync(inputs).flatMap((f) => ["--input", `${basename(f, ".npy")}=${join(inputs, f)}`]);
  run(hologram, ["run", archive, ...given, "--output", outputs, "--threads", "2"]);
  rmSync(archive);
}

// Does the peer, without its optimizations, differ from itself wherever we differ, by at least half as much?
function peerDiffers(folder, want, bad) {
  const own = compare(want, runPeer(folder, "disabled")).bad;
  return bad.every((b) => own.some((o) => o.name === b.name && b.worst <= 2 * o.worst));
}

// "passed", "failed" or "skipped", and what there is to say.
function check(model, folder) {
  let want;
  try {
    fetchModel(model, folder);
    want = runPeer(folder, "all");
  } catch (e) {
    return ["skipped", e.message.split("\n")[0]];
  }
  try {
    runOurs(folder);
  } catch (e) {
    return ["failed", e.message];
  }
  const r = compare(want, join(folder, "out"));
  const what = `${r.outputs} output${r.outputs === 1 ? "" : "s"}, ${r.elements} elements, worst ${r.worst.toExponential(1)} of the largest`;
  if (!r.bad.length) return ["passed", what];
  const differ = r.bad.map((b) => `${b.name} ${b.what}`).join("; ");
  if (peerDiffers(folder, want, r.bad)) return ["passed", `${what}; within what other roundings do: ${differ}`];
  return ["failed", `${what}; ${differ}`];
}

const counts = { passed: 0, failed: 0, skipped: 0 };
JSON.parse(readFileSync(join(here, "models.json"), "utf8")).forEach((model, i) => {
  const name = nameOf(model, i);
  if (!new RegExp(pattern).test(`${name} ${model.package}/${model.file}`)) return;
  const [verdict, what] = check(model, join(work, name));
  counts[verdict]++;
  console.log(`${verdict.padEnd(8)}${name.padEnd(36)} ${what}`);
});
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
exit(counts.failed ? 1 : 0);
