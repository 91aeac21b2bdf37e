// hologram/onnxruntime behaves as onnxruntime-node does, whose own rules these are.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { file, load, onnx, open, relu } from "./package.mjs";

const ort = await load("onnxruntime.mjs");
const { InferenceSession, Tensor, env } = ort;

test("the first program of its manual", async () => {
  const path = onnx({
    inputs: { a: ["float32", [3, 4]], b: ["float32", [4, 3]] },
    outputs: { c: ["float32", [3, 3]] },
    nodes: [["MatMul", ["a", "b"], ["c"]]],
  });
  const session = await InferenceSession.create(path);
  const a = new Tensor("float32", Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), [3, 4]);
  const b = new Tensor("float32", Float32Array.from([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]), [4, 3]);
  const results = await session.run({ a, b });
  assert.deepEqual([...results.c.data], [700, 800, 900, 1580, 1840, 2100, 2460, 2880, 3300]);
  assert.ok(results.c instanceof Tensor && results.c.type === "float32" && results.c.size === 9 && results.c.location === "cpu");
  assert.deepEqual(results.c.dims, [3, 3]);
  assert.deepEqual(session.inputNames, ["a", "b"]);
  assert.deepEqual(session.outputNames, ["c"]);
  assert.deepEqual(session.inputMetadata[0], { name: "a", isTensor: true, type: "float32", shape: [3, 4] });
  await session.release();
  await assert.rejects(session.run({ a, b }), /closed/);
});

test("sessions are created from paths and all kinds of buffers", async () => {
  const path = onnx(relu),
    bytes = readFileSync(path),
    padded = new Uint8Array(bytes.length + 20);
  padded.set(bytes, 10);
  const x = new Tensor(new Float32Array(8).fill(-1), [2, 4]);
  const ways = [
    [path],
    [bytes],
    [new Uint8Array(bytes).buffer],
    [padded.buffer, 10, bytes.length],
    [path, {}],
    [padded.buffer, 10, bytes.length, {}],
  ];
  for (const way of ways) assert.equal((await (await InferenceSession.create(...way)).run({ x })).y.data[0], 0);
  for (const way of [[5], [null], [path, 5], [padded.buffer, -1], [padded.buffer, 1000], [padded.buffer, 10, 1e9]])
    await assert.rejects(InferenceSession.create(...way), (error) => error instanceof TypeError || error instanceof RangeError);
});

test("fetches are names, tensors to fill, or options", async () => {
  const path = onnx({
    inputs: { x: ["float32", [2]] },
    outputs: { a: ["float32", [2]], b: ["float32", [2]] },
    nodes: [
      ["Neg", ["x"], ["a"]],
      ["Abs", ["x"], ["b"]],
    ],
  });
  const session = await InferenceSession.create(path),
    x = new Tensor(new Float32Array([-1, 2])),
    mine = new Tensor(new Float32Array(2));
  assert.deepEqual(Object.keys(await session.run({ x }, ["b"])), ["b"]);
  assert.deepEqual(Object.keys(await session.run({ x }, { a: null })), ["a"]);
  assert.deepEqual(Object.keys(await session.run({ x }, { tag: "t" })), ["a", "b"]);
  const results = await session.run({ x }, { b: mine }, { tag: "t" });
  assert.equal(results.b, mine);
  assert.deepEqual([...mine.data], [1, 2]);
  for (const wrong of [["c"], [1], []]) await assert.rejects(session.run({ x }, wrong));
  await assert.rejects(session.run({ x }, ["a"], 5), TypeError);
  await assert.rejects(session.run({ x }, null), TypeError);
  await assert.rejects(session.run({}), /input 'x' is missing in 'feeds'/);
  await assert.rejects(session.run(x), TypeError);
  await assert.rejects(session.run({ x: 5 }), TypeError);
  await assert.rejects(session.run({ x: new Tensor(new Int32Array(2)) }));
  await assert.rejects(session.run({ x }, { terminate: true }), /terminated/);
});

test("tensors are constructed in every way", async () => {
  assert.equal(new Tensor([true, false]).type, "bool");
  assert.equal(new Tensor(["a"]).type, "string");
  assert.equal(new Tensor("int64", [1, 2]).data[1], 2n);
  assert.equal(new Tensor(new Uint8ClampedArray(2)).type, "uint8");
  assert.deepEqual(new Tensor(new Float64Array(6), [2, 3]).reshape([3, 2]).dims, [3, 2]);
  assert.equal(new Tensor("int4", new Uint8Array(2), [3]).size, 3);
  assert.equal(Tensor.fromPinnedBuffer("float32", new Float32Array(1), [1]).type, "float32");
  assert.equal(new Tensor({ location: "cpu-pinned", type: "int8", data: new Int8Array(1), dims: [1] }).type, "int8");
  for (const wrong of [
    ["float99", []],
    ["float32", new Int8Array(1)],
    ["string", new Int8Array(1)],
    [[]],
    [[1]],
    [new DataView(new ArrayBuffer(1))],
    [new Float32Array(1), "x"],
    [new Float32Array(1), [1.5]],
  ])
    assert.throws(() => new Tensor(...wrong), TypeError, JSON.stringify(wrong));
  assert.throws(() => new Tensor(new Float32Array(1), [-1]), RangeError);
  assert.throws(() => new Tensor(new Float32Array(1), [2]), /need 2 elements/);
  const gone = new Tensor(new Float32Array(1));
  assert.equal((await gone.getData()).length, 1);
  gone.dispose();
  assert.throws(() => gone.data, /disposed/);
  for (const missing of [
    () => gone.texture,
    () => gone.gpuBuffer,
    () => gone.toDataURL(),
    () => Tensor.fromTexture(),
    () => ort.registerBackend(),
  ])
    assert.throws(missing, /no /);
  await assert.rejects(Tensor.fromImage(), /no fromImage/);
});

test("4-bit tensors are packed, as there", async () => {
  const path = onnx({
    inputs: { x: ["int8", [3]] },
    outputs: { y: ["int4", [3]] },
    nodes: [["Cast", ["x"], ["y"], { to: 22 }]],
    opset: 21,
  });
  const { y } = await (await InferenceSession.create(path)).run({ x: new Tensor(new Int8Array([-3, 5, 7])) });
  assert.deepEqual([y.type, y.dims, [...y.data]], ["int4", [3], [0x5d, 0x07]]);
});

test("options mean what they can, and what has no counterpart says so", async () => {
  const path = onnx(open);
  const session = await InferenceSession.create(path, {
    intraOpNumThreads: 1,
    freeDimensionOverrides: { n: 5 },
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    enableCpuMemArena: true,
    logSeverityLevel: 0,
  });
  assert.deepEqual(session.inputMetadata[0].shape, [5, 3]);
  for (const options of [
    { optimizedModelFilePath: "x" },
    { externalData: [{ path: "a", data: "b" }] },
    { enableGraphCapture: true },
    { preferredOutputLocation: "gpu-buffer" },
  ])
    await assert.rejects(InferenceSession.create(path, options), /hologram\/onnxruntime has no/);
  const said = [],
    { warn } = console;
  console.warn = (text) => said.push(text);
  try {
    await InferenceSession.create(path, { executionProviders: ["cuda", { name: "cpu" }] });
    assert.match(said[0], /cuda is not there/);
  } finally {
    console.warn = warn;
  }
  env.logLevel = "error";
  assert.equal(env.logLevel, "error");
  assert.throws(() => (env.logLevel = "loud"));
  assert.ok(env.versions.node);
  assert.deepEqual(ort.listSupportedBackends(), [{ name: "cpu", bundled: true }]);
  const exact = await InferenceSession.create(path, { extra: { hologram: { numeric: "exact" } } });
  assert.ok(exact);
});

test("profiling writes a file", async () => {
  const session = await InferenceSession.create(onnx(relu), { enableProfiling: true, profileFilePrefix: file("profile_") });
  session.startProfiling();
  await session.run({ x: new Tensor(new Float32Array(8), [2, 4]) });
  session.endProfiling();
  const name = readdirSync(file(".")).find((one) => one.startsWith("profile_"));
  assert.ok(JSON.parse(readFileSync(file(name), "utf8")));
});
