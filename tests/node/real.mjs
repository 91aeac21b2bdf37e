#!/usr/bin/env node
// Real models through hologram/onnxruntime and through onnxruntime-node, by one program that differs in its import alone.
//
//   REAL_FOLDER=DIR           folders with model.onnx and inputs/NAME.npy, as `make real` makes them
//   ORT_NODE_MODULES=DIR      where onnxruntime-node is installed
//   HOLOGRAM_NODE=build/node  the package
//
// Outputs agree as tools/real/compare.mjs says; where they do not, by at most twice what onnxruntime-node without its optimizations
// differs from itself. The last line is `N agree, N differ`.
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { readNpy } from "../../bench/npy.mjs";
import { compareOutput } from "../../tools/real/compare.mjs";
import { load } from "./package.mjs";

const { REAL_FOLDER: top, ORT_NODE_MODULES: modules } = process.env;
if (!top || !modules) {
  console.log("real: skipped: REAL_FOLDER and ORT_NODE_MODULES say where the models and onnxruntime-node are");
  process.exit(0);
}

/** The program: written for onnxruntime-node. */
async function program(ort, folder, options) {
  const session = await ort.InferenceSession.create(join(folder, "model.onnx"), { logSeverityLevel: 3, ...options });
  const feeds = {};
  for (const file of readdirSync(join(folder, "inputs"))) {
    const { type, data, dims } = readNpy(join(folder, "inputs", file));
    const name = session.inputNames.find((one) => one.replaceAll("/", "_") === basename(file, ".npy"));
    feeds[name] = new ort.Tensor(type, data, dims);
  }
  const results = await session.run(feeds),
    times = [];
  for (let i = 0; i < 3; i++) {
    const begin = performance.now();
    await session.run(feeds);
    times.push(performance.now() - begin);
  }
  await session.release();
  return { results, ms: Math.min(...times) };
}

/** What differs between two results: {name: worst}. */
function differences(want, got) {
  const all = {};
  let worst = 0;
  for (const [name, tensor] of Object.entries(want)) {
    const compared = got[name] ? compareOutput(tensor, got[name]) : { bad: "is missing" };
    if (compared.bad) all[name] = { what: compared.bad, worst: compared.worst ?? Infinity };
    worst = Math.max(worst, compared.worst ?? 0);
  }
  return { all, worst };
}

const theirs = createRequire(join(modules, "x"))("onnxruntime-node"),
  ours = await load("onnxruntime.mjs"),
  counts = { agree: 0, differ: 0 };
const pattern = new RegExp(process.argv[2] ?? ".");
for (const name of readdirSync(top).sort()) {
  const folder = join(top, name);
  if (!pattern.test(name) || !existsSync(join(folder, "model.onnx")) || !existsSync(join(folder, "inputs"))) continue;
  const want = await program(theirs, folder),
    got = await program(ours, folder),
    { all, worst } = differences(want.results, got.results);
  let agree = Object.keys(all).length === 0;
  if (!agree) {
    const plain = differences(want.results, (await program(theirs, folder, { graphOptimizationLevel: "disabled" })).results).all;
    agree = Object.entries(all).every(([output, { worst: off }]) => plain[output] && off <= 2 * plain[output].worst);
  }
  counts[agree ? "agree" : "differ"]++;
  const what = Object.entries(all).map(([output, { what: why }]) => `${output} ${why}`);
  const times = `${got.ms.toPrecision(3)} ms, onnxruntime-node ${want.ms.toPrecision(3)} ms`;
  const line = [`worst ${worst.toExponential(1)}`, times, ...what].join("; ");
  console.log(`${agree ? "agree " : "differ"} ${name.padEnd(36)} ${line}`);
}
console.log(`${counts.agree} agree, ${counts.differ} differ`);
process.exit(counts.differ ? 1 : 0);
