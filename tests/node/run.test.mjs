// Models are opened and run: every type, every kind of value, sync and async.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { file, hologram, load, onnx, open, opened, relu, rejects, root, slow } from "./package.mjs";

const { Tensor, compile, openSync } = hologram;

test("a model is opened by path, URL and bytes, as model and as archive", async () => {
  const path = onnx(relu),
    archive = file("relu.holo"),
    x = new Float32Array([-1, 2, -3, 4, -5, 6, -7, 8]);
  await compile(path, archive);
  for (const source of [
    path,
    pathToFileURL(path),
    readFileSync(path),
    archive,
    readFileSync(archive),
    new Uint8Array(readFileSync(archive)).buffer,
  ]) {
    const model = await hologram.open(source);
    assert.deepEqual([...model.runSync({ x }).y.data], [0, 2, 0, 4, 0, 6, 0, 8]);
    model.close();
  }
  assert.deepEqual([...openSync(archive).runSync(x).y.data], [0, 2, 0, 4, 0, 6, 0, 8]);
  await rejects(() => openSync(path), "BAD_ARCHIVE", /compile it first/);
});

test("inputs and outputs say what they are", async () => {
  const model = await hologram.open(`${root}/demo/digits.onnx`);
  assert.deepEqual(model.inputs, [{ name: "image", dtype: "float32", shape: ["batch", 1, 8, 8], kind: "tensor", optional: false }]);
  assert.deepEqual(model.outputs[0].shape, ["batch", 10]);
  assert.throws(() => model.inputs.push(1), TypeError);
});

test("options of a run that cannot be used are errors", async () => {
  const model = await opened(open),
    x = new Float32Array(3);
  for (const options of [{ output: ["y"] }, { outputs: "y" }, { into: { q: x } }, { signal: 5 }]) {
    assert.throws(() => model.runSync(x, options), hologram.HologramError);
    await assert.rejects(model.run(x, options), hologram.HologramError);
  }
  const endless = [];
  endless.push(endless);
  assert.throws(() => Tensor.from(endless), /at most 16 dimensions/);
});

test("inputs are tensors, typed arrays, nested arrays, or alone", async () => {
  const model = await opened(open),
    want = [
      [2, 4, 6],
      [8, 10, 12],
    ];
  const typed = new Float32Array([1, 2, 3, 4, 5, 6]);
  for (const x of [
    typed,
    new Tensor(typed, [2, 3]),
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    { dtype: "float32", shape: [2, 3], data: typed },
    [1, 2, 3, 4, 5, 6],
  ]) {
    assert.deepEqual(model.runSync({ x }).y.toArray(), want);
    assert.deepEqual((await model.run({ x })).y.toArray(), want);
  }
  assert.deepEqual(model.runSync(typed).y.toArray(), want);
  assert.deepEqual((await model.run([[1, 2, 3]])).y.toArray(), [[2, 4, 6]]);
});

test("every type of numbers goes in and comes out", async () => {
  const arrays = {
    float32: [1.5],
    float64: [2.5],
    float16: [1.5],
    int8: [-3],
    int16: [-4],
    int32: [-5],
    int64: [-(2n ** 62n)],
    uint8: [200],
    uint16: [60000],
    uint32: [4e9],
    uint64: [2n ** 63n],
    bool: [true],
  };
  for (const [dtype, [value]] of Object.entries(arrays)) {
    const model = await opened({ inputs: { x: [dtype, [2]] }, outputs: { y: [dtype, [2]] }, nodes: [["Identity", ["x"], ["y"]]] });
    const x = Tensor.from([value, value], dtype),
      { y } = model.runSync({ x });
    assert.equal(y.dtype, dtype);
    assert.equal(y.data.constructor, x.data.constructor);
    assert.deepEqual(y.toArray(), [value, value]);
    assert.deepEqual((await model.run({ x })).y.toArray(), [value, value]);
  }
});

test("halves are the nearest, ties to even", () => {
  const cases = [
    [1, 0x3c00],
    [-0, 0x8000],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [2 ** -24, 1],
    [2 ** -25, 0],
    [2 ** -25 * 1.01, 1],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2047.9999, 0x6800],
    [Infinity, 0x7c00],
    [-Infinity, 0xfc00],
    [6.097e-5, 0x03ff],
  ];
  for (const [number, bits] of cases) {
    const { data } = Tensor.from([number], "float16");
    assert.equal(new Uint16Array(data.buffer, data.byteOffset, 1)[0], bits, String(number));
  }
  assert.ok(Number.isNaN(Tensor.from([NaN], "float16").toArray()[0]));
});

test("strings, sequences and optionals", async () => {
  const text = await opened({ inputs: { x: ["string", ["n"]] }, outputs: { y: ["string", ["n"]] }, nodes: [["Identity", ["x"], ["y"]]] });
  const words = ["", "häß", "日本", "a\0b", "x".repeat(1000)];
  assert.deepEqual(text.runSync({ x: words }).y.data, words);
  assert.deepEqual((await text.run({ x: new Tensor("string", words, [5]) })).y.data, words);
  const many = Array.from({ length: 5000 }, (_, i) => `word ${i}`);
  assert.deepEqual(text.runSync({ x: many }).y.data, many);
  const sequence = await opened({
    inputs: { s: ["seq(float32)", [2]] },
    outputs: { z: ["seq(float32)", [2]] },
    nodes: [["Identity", ["s"], ["z"]]],
  });
  const items = Array.from({ length: 1500 }, (_, i) => new Float32Array([i, -i]));
  const { z } = await sequence.run({ s: items.map((data) => new Tensor(data, [2])) });
  assert.equal(z.length, 1500);
  assert.deepEqual(z[1499].toArray(), [1499, -1499]);
  assert.deepEqual(sequence.runSync({ s: [] }).z, []);
  const maybe = await opened({
    inputs: { o: ["optional(float32)", [2]] },
    outputs: { y: ["bool", []] },
    nodes: [["OptionalHasElement", ["o"], ["y"]]],
  });
  assert.equal(maybe.runSync({ o: [1, 2] }).y.toArray(), true);
  for (const runs of [maybe, maybe.session()]) {
    assert.equal(runs.runSync({ o: new Tensor(new Float32Array(2)) }).y.toArray(), true);
    assert.equal(runs.runSync({ o: null }).y.toArray(), false);
    assert.equal(runs.runSync({}).y.toArray(), false);
  }
});

test("dynamic sizes are bound by each run, known to it alone where data decides", async () => {
  const model = await opened(open);
  for (const n of [1, 5, 1000, 0, 7]) {
    const { y } = model.runSync({ x: new Tensor(new Float32Array(3 * n).fill(1), [n, 3]) });
    assert.deepEqual(y.shape, [n, 3]);
    assert.ok(y.data.length === 3 * n && y.data.every((v) => v === 2));
  }
  const nonzero = await opened({
    inputs: { x: ["float32", ["n"]] },
    outputs: { y: ["int64", [1, "m"]] },
    nodes: [["NonZero", ["x"], ["y"]]],
  });
  assert.deepEqual(nonzero.runSync({ x: [0, 1, 0, 2] }).y.data, new BigInt64Array([1n, 3n]));
  const large = (await nonzero.run({ x: new Float32Array(100_000).fill(1) })).y;
  assert.deepEqual(large.shape, [1, 100_000]);
  assert.equal(large.data[99_999], 99_999n);
  assert.deepEqual(nonzero.runSync({ x: new Float32Array(0) }).y.shape, [1, 0]);
});

test("sizes that follow from those of inputs are known before the run", async () => {
  const pool = await opened({
    inputs: { x: ["float32", [1, 1, "h", "w"]] },
    outputs: { y: ["float32", null] },
    nodes: [["MaxPool", ["x"], ["y"], { kernel_shape: [3, 3], strides: [2, 2] }]],
  });
  assert.ok(pool.outputs[0].shape.every((size, i) => i < 2 || typeof size === "string"));
  for (const [h, w] of [
    [3, 3],
    [9, 4],
    [128, 255],
  ]) {
    const { y } = pool.runSync({ x: new Tensor(new Float32Array(h * w).fill(1), [1, 1, h, w]) });
    assert.deepEqual(y.shape, [1, 1, (h - 1) >> 1, (w - 1) >> 1]);
    assert.ok(y.data.length === y.data.buffer.byteLength / 4 && y.data.every((v) => v === 1));
  }
  const { sizeFunction } = (await load("lib/sizes.cjs")).default,
    symbol = (name) => ({ n: () => 7, "a b": () => 2 })[name];
  const cases = {
    "2*n+1": 15,
    "(n+1)//(2)+-1": 3,
    "3*((n+1)//2)-1": 11,
    "-n+10": 3,
    "max(n,9)-min(2,n)": 7,
    '"a b"*n': 14,
    "n//2//2": 1,
    u0: null,
    "2*": null,
    "n)": null,
    "?": null,
    "": null,
  };
  for (const [text, want] of Object.entries(cases)) assert.equal(sizeFunction(text, symbol)?.() ?? null, want, text);
});

test("outputs are chosen, and written where the caller says", async () => {
  const model = await opened({
    inputs: { x: ["float32", ["n"]] },
    outputs: { a: ["float32", ["n"]], b: ["float32", ["n"]] },
    nodes: [
      ["Neg", ["x"], ["a"]],
      ["Abs", ["x"], ["b"]],
    ],
  });
  const x = new Float32Array([-1, 2]),
    mine = new Float32Array(4);
  assert.deepEqual(Object.keys(model.runSync({ x }, { outputs: ["b"] })), ["b"]);
  const { a, b } = await model.run({ x }, { outputs: ["b", "a"], into: { b: mine } });
  assert.deepEqual([...mine], [1, 2, 0, 0]);
  assert.equal(b.data.buffer, mine.buffer);
  assert.deepEqual(a.toArray(), [1, -2]);
  const exact = new Tensor(new Float32Array(2), [2]);
  assert.equal(model.runSync({ x }, { into: { a: exact } }).a.data, exact.data);
  await rejects(model.run({ x }, { outputs: ["c"] }), "BAD_ARGUMENT", /no output "c"; it has a, b/);
  await rejects(model.run({ x }, { into: { a: new Float32Array(1) } }), "BAD_ARGUMENT");
  await rejects(model.run({ x }, { into: { a: new Int32Array(2) } }), "BAD_ARGUMENT", /Float32Array/);
});

test("sessions run one after another, with threads, memo and profile of their own", async () => {
  const model = await opened(relu),
    session = model.session({ threads: 2 });
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => session.run(new Float32Array(8).fill(i))));
  results.forEach(({ y }, i) => assert.ok(y.data.every((v) => v === i)));
  session.setMemo(1 << 20);
  for (let i = 0; i < 3; i++) session.runSync(new Float32Array(8).fill(3));
  assert.deepEqual(session.memo(), { hits: 2, misses: 1, keptSteps: 0 });
  const known = file("known.holo");
  session.saveMemo(known);
  assert.equal((await hologram.open(known)).inspect().memo, 1);
  const steps = await session.profile((s) => s.run(new Float32Array(8).fill(4)), { trace: file("trace.json") });
  assert.equal(steps[0].op, "Relu");
  assert.ok(JSON.parse(readFileSync(file("trace.json"), "utf8")));
  assert.ok(session.memory > 0);
  assert.equal(session.device, "cpu");
});

test("a signal stops a run, before and in the middle; a time limit, too", async () => {
  const model = await opened(slow(400), { verify: false }),
    x = new Float32Array(384 * 384);
  for (const runs of [model, model.session({ threads: 1 })]) {
    await rejects(runs.run(x, { signal: AbortSignal.abort() }), "CANCELLED");
    const controller = new AbortController(),
      begin = performance.now();
    const run = runs.run(x, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await rejects(run, "CANCELLED");
    await rejects(runs.run(x, { timeLimit: 0.01 }), "TIMEOUT");
    await rejects(() => runs.runSync(x, { timeLimit: 0.01 }), "TIMEOUT");
    assert.ok(performance.now() - begin < 5000);
  }
  const controller = new AbortController(),
    small = await opened(relu),
    session = small.session();
  for (let i = 0; i < 200; i++) {
    // a signal after the end does not stop the next run
    const own = new AbortController(),
      run = session.run(new Float32Array(8), { signal: own.signal });
    setImmediate(() => own.abort());
    await run.catch((error) => assert.equal(error.code, "CANCELLED"));
    assert.ok((await session.run(new Float32Array(8), { signal: controller.signal })).y);
  }
});

test("what the model says of itself", async () => {
  const model = await hologram.open(`${root}/demo/digits.onnx`);
  assert.equal(model.inspect().meta["source.format"], "ONNX");
  assert.ok(model.report.verified && model.report.passes.length > 10 && model.report.archiveBytes > 1000);
  assert.ok(model.explain().every((note) => typeof note.verdict === "string"));
  assert.ok(model.graph().nodes.length > 0 && model.graph().values.every((value) => typeof value.dtype === "string"));
  assert.ok(model.constants().some((constant) => constant.bytes > 1000));
  assert.ok(Array.isArray(model.programs()));
  model.verify();
  const { runs, median } = model.bench(undefined, { runs: 5 });
  assert.ok(runs === 5 && median > 0);
  assert.deepEqual(model.sample({ batch: 3 }).image.shape, [3, 1, 8, 8]);
});

test("large arrays are not copied: outputs that the caller gave lie where they lay", async () => {
  const count = 4 << 20;
  const model = await opened({ inputs: { x: ["float32", [count]] }, outputs: { y: ["float32", [count]] }, nodes: [["Neg", ["x"], ["y"]]] });
  const x = new Float32Array(count).fill(2),
    mine = new Float32Array(count);
  assert.equal((await model.run({ x }, { into: { y: mine } })).y.data, mine);
  assert.ok(mine[count - 1] === -2 && x.buffer.byteLength === 4 * count);
});

test("a file of a tensor without strings is read", () => {
  const path = file("none.pb");
  writeFileSync(path, Uint8Array.of(0x08, 0, 0x10, 8)); // dims [0], of strings
  const { dtype, shape, data } = hologram.readTensor(path);
  assert.deepEqual([dtype, shape, data], ["string", [0], []]);
});
