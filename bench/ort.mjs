#!/usr/bin/env node
// The peer's side: a model in ONNX Runtime (CPU, all optimizations or those named), measured; prints one line of JSON.
// usage: ort.mjs MODEL.onnx --inputs DIR [--outputs DIR] [--threads 1] [--seconds 3] [--optimize all]
// DIR holds NAME.npy for each input; what is missing there is made (floats normal, integers 1, open sizes 1).
// onnxruntime-node is looked for in ORT_NODE_MODULES, then beside this file.
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { arrayOf, readNpy, writeNpy } from "./npy.mjs";
import { normal } from "./seeds.mjs";

const { values: options, positionals: [model] } = parseArgs({ allowPositionals: true, options: {
  inputs: { type: "string" }, outputs: { type: "string" }, threads: { type: "string", default: "1" }, seconds: { type: "string", default: "3" },
  optimize: { type: "string", default: "all" },
} });
if (!model || !options.inputs) {
  console.error("usage: ort.mjs MODEL.onnx --inputs DIR [--outputs DIR] [--threads N] [--seconds S] [--optimize LEVEL]");
  process.exit(2);
}
const modules = process.env.ORT_NODE_MODULES, require_ = createRequire(modules ? join(modules, "x") : import.meta.url);
const ort = require_("onnxruntime-node"), { version } = require_("onnxruntime-node/package.json");
const threads = Number(options.threads), seconds = Number(options.seconds);
const now = () => Number(process.hrtime.bigint()) / 1e6, file = (folder, name) => join(folder, name.replaceAll("/", "_") + ".npy");

const rssBefore = process.memoryUsage().rss, t0 = now();
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential",
  graphOptimizationLevel: options.optimize, executionProviders: ["cpu"], logSeverityLevel: 3 });
const open = now() - t0;

function makeInput(path, { name, type, shape }, i) {
  const dims = shape.map((d) => (typeof d === "number" && d >= 0 ? d : 1)), Array_ = arrayOf(type);
  if (!Array_) throw new Error(`input ${name}: no values of type ${type} can be made`);
  const data = new Array_(dims.reduce((a, b) => a * b, 1));
  if (type === "float32" || type === "float64") normal(data, 1000 + i, 0, 1);
  else data.fill(type.endsWith("64") ? 1n : type === "float16" ? 0x3c00 : 1);
  mkdirSync(options.inputs, { recursive: true });
  writeNpy(path, { type, dims, data });
}
const feeds = {};
session.inputMetadata.forEach((meta, i) => {
  const path = file(options.inputs, meta.name);
  if (!existsSync(path)) makeInput(path, meta, i);
  const a = readNpy(path);
  feeds[meta.name] = new ort.Tensor(a.type, a.data, a.dims);
});

const t1 = now(), outputs = await session.run(feeds), first = now() - t1;
if (options.outputs) {
  mkdirSync(options.outputs, { recursive: true });
  for (const name of session.outputNames) writeNpy(file(options.outputs, name), outputs[name]);
}
const times = [], start = now();
while (times.length < 3 || now() - start < seconds * 1000) {
  const t = now();
  await session.run(feeds);
  times.push(now() - t);
}
times.sort((a, b) => a - b);
const us = (ms) => Math.round(ms * 1e4) / 10;
console.log(JSON.stringify({ version, threads, runs: times.length, min_us: us(times[0]), median_us: us(times[times.length >> 1]),
  open_us: us(open), first_us: us(open + first), rss_mb: Math.round((process.resourceUsage().maxRSS * 1024 - rssBefore) / 1e5) / 10 }));
