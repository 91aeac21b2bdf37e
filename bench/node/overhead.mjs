#!/usr/bin/env node
// What a call from JavaScript costs beside one from C, and beside onnxruntime-node: a model with one small input, the least of many
// rounds. And 100 MB in and out: by address, by time. usage: overhead.mjs PROGRAM, with overhead.c as the program.
//
//   HOLOGRAM_NODE=build/node  the package;  ORT_NODE_MODULES=DIR  where onnxruntime-node is, if anywhere
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { file, hologram, load, onnx } from "../../tests/node/package.mjs";

const small = { inputs: { x: ["float32", [1, 8]] }, outputs: { y: ["float32", [1, 8]] }, nodes: [["Relu", ["x"], ["y"]]] };
const path = onnx(small),
  archive = file("small.holo"),
  x = new Float32Array(8);
await hologram.compile(path, archive);

/** Nanoseconds of a call. */
async function least(call, runs = 5000, rounds = 40) {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < runs; i++) {
      const result = call();
      if (result instanceof Promise) await result;
    }
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / runs);
  }
  return best;
}
const say = (what, ns, base) =>
  console.log(`${what.padEnd(52)} ${ns.toFixed(0).padStart(7)} ns${base ? `   ${(ns - base).toFixed(0)} above C` : ""}`);

const model = await hologram.open(archive, { threads: 1 }),
  session = model.session({ threads: 1 }),
  tensor = new hologram.Tensor(x, [1, 8]),
  into = { into: { y: new Float32Array(8) } };
const c = Number(execFileSync(process.argv[2], [archive], { encoding: "utf8" }));
say("C: holo_model_run", c);
say("model.runSync({ x: Float32Array })", await least(() => model.runSync({ x })), c);
say("model.runSync({ x: Tensor })", await least(() => model.runSync({ x: tensor })), c);
say("model.runSync({ x: Tensor }, { into })", await least(() => model.runSync({ x: tensor }, into)), c);
say("session.runSync({ x: Tensor })", await least(() => session.runSync({ x: tensor })), c);
say("await model.run({ x: Tensor })", await least(() => model.run({ x: tensor }), 500), c);

const ours = await load("onnxruntime.mjs"),
  peers = [["hologram/onnxruntime", ours]];
if (process.env.ORT_NODE_MODULES)
  peers.push(["onnxruntime-node", createRequire(join(process.env.ORT_NODE_MODULES, "x"))("onnxruntime-node")]);
else console.log("onnxruntime-node: skipped: ORT_NODE_MODULES does not say where it is");
for (const [name, ort] of peers) {
  const run = await ort.InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 }),
    feeds = { x: new ort.Tensor("float32", x, [1, 8]) };
  say(`${name}: await session.run()`, await least(() => run.run(feeds), 500), c);
}

// ---- 100 MB, in and out

const count = 25_000_000,
  shape = ["float32", [count]],
  large = await hologram.open(onnx({ inputs: { x: shape }, outputs: { y: shape }, nodes: [["Neg", ["x"], ["y"]]] }), { verify: false }),
  input = new Float32Array(count).fill(1),
  output = new Float32Array(count).fill(1),
  copy = await least(() => output.set(input), 1, 10),
  sync = await least(() => large.runSync({ x: input }, { into: { y: output } }), 1, 10),
  async_ = await least(() => large.run({ x: input }, { into: { y: output } }), 1, 10),
  { y } = await large.run({ x: input }, { into: { y: output } });
console.log(
  `100 MB: a copy takes ${(copy / 1e6).toFixed(1)} ms; Neg by runSync ${(sync / 1e6).toFixed(1)} ms, by run ${(async_ / 1e6).toFixed(1)} ms`,
);
console.log(
  `100 MB: the output lies where the caller said: ${y.data === output && y.data.buffer === output.buffer && output[count - 1] === -1}`,
);
