#!/usr/bin/env node
// The peer's side of the kernel bench: each case as a model of one operator in ONNX Runtime, timed by its own profiler,
// so that what its bindings add does not count. Prints a line of JSON for each, as kernels does.
// usage: ort.mjs WORK_DIR THREADS SECONDS CASE...
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { normal } from "../seeds.mjs";
import { caseOf, model } from "./models.mjs";

const [work, threads, seconds, ...cases] = process.argv.slice(2);
const ort = createRequire(join(process.env.ORT_NODE_MODULES, "x"))("onnxruntime-node");
const floats = (dims, seed) => normal(new Float32Array(dims.reduce((a, b) => a * b, 1)), seed, 0, 0.3);

const profiles = () => readdirSync(work).filter((n) => /^ort.*\.json$/.test(n)).map((n) => join(work, n));

// The profiler counts whole microseconds: what takes few of them is there several times, each with an input of its own.
const copiesOf = (gflop) => Math.min(16, Math.max(1, Math.ceil(2e-3 / gflop)));

async function measure(text) {
  const c = caseOf(text), copies = copiesOf(c.gflop), feeds = {};
  const session = await ort.InferenceSession.create(model(c, floats(c.weights, 2), copies), { intraOpNumThreads: Number(threads), interOpNumThreads: 1,
    executionMode: "sequential", graphOptimizationLevel: "all", executionProviders: ["cpu"], logSeverityLevel: 3,
    enableProfiling: true, profileFilePrefix: join(work, "ort") });
  for (let i = 0; i < copies; i++) feeds[`in${i}`] = new ort.Tensor("float32", floats(c.in, 3 + i), c.in);
  const start = performance.now();
  for (let runs = 0; runs < 3 || performance.now() - start < seconds * 1000; runs++) await session.run(feeds);
  session.endProfiling();
  return { case: text, ort: fastest(copies) };
}

// Reads and removes what the profiler wrote: the least time of a run's operators, without changes of layout around them.
function fastest(copies) {
  const [file] = profiles();
  const events = JSON.parse(readFileSync(file, "utf8"));
  rmSync(file);
  const times = events.filter((e) => e.cat === "Node" && /_kernel_time$/.test(e.name) && /^(Conv|MatMul|Gemm|FusedMatMul)$/.test(e.args.op_name)).map((e) => e.dur);
  let best = Infinity;
  for (let i = 0; i + copies <= times.length; i += copies) best = Math.min(best, times.slice(i, i + copies).reduce((a, b) => a + b, 0) / copies);
  return best;
}

for (const old of profiles()) rmSync(old);
for (const text of cases) console.log(JSON.stringify(await measure(text)));
