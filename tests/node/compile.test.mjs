// Compiling: options, reports, what is called back; and kernels.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import test from "node:test";
import { file, hologram, onnx, opened, relu, rejects, root, slow } from "./package.mjs";

const { Tensor, compile } = hologram;
const dense = {
  inputs: { x: ["float32", ["n", 32]] },
  outputs: { y: ["float32", ["n", 16]] },
  nodes: [
    ["MatMul", ["x", "w"], ["h"]],
    ["Relu", ["h"], ["y"]],
  ],
  weights: { w: ["float32", [32, 16], Array.from({ length: 512 }, (_, i) => Math.sin(i * i))] },
};

test("a report says what was done", async () => {
  const target = file("digits.holo"),
    report = await compile(`${root}/demo/digits.onnx`, target);
  assert.ok(existsSync(target) && report.verified && report.steps > 0 && report.archiveBytes > report.arenaBytes);
  assert.ok(report.passes.some((pass) => pass.name === "fuse" && pass.runs > 0));
  assert.equal(report.quantization.kind, null);
});

test("choices reach the compiler", async () => {
  const path = `${root}/demo/digits.onnx`;
  const fixed = await hologram.open(path, {
    inputShapes: { image: [2, 1, 8, 8] },
    numeric: "exact",
    size: "small",
    threads: 1,
    tables: false,
  });
  assert.deepEqual(fixed.inputs[0].shape, [2, 1, 8, 8]);
  assert.ok(fixed.inspect().exact && fixed.inspect().isStatic);
  const symbolic = await opened(relu, { symbolic: true });
  assert.ok(symbolic.inputs[0].shape.every((size) => typeof size === "string"));
  const constant = await opened(
    { inputs: { a: ["float32", [2]], b: ["float32", [2]] }, outputs: { c: ["float32", [2]] }, nodes: [["Add", ["a", "b"], ["c"]]] },
    { constants: { b: new Float32Array([10, 20]) } },
  );
  assert.deepEqual(
    constant.inputs.map((port) => port.name),
    ["a"],
  );
  assert.deepEqual(constant.runSync([1, 2]).c.toArray(), [11, 22]);
  const plain = await opened(relu, { verify: false, disable: ["fuse"] });
  assert.equal(plain.report.verified, false);
  assert.ok(!plain.report.passes.some((pass) => pass.name === "fuse" && pass.runs));
});

test("wrong choices say what there is", async () => {
  const path = onnx(relu),
    wrong = [
      [{ numeric: "fast" }, /"fused", "exact"/],
      [{ quantise: "int8" }, /no option "quantise"/],
      [{ quantize: "int9" }, /"int8"/],
      [{ quantize: { kind: "int8", layer: 1 } }, /no option "layer"/],
      [{ disable: "nothing" }, /nothing/],
      [{ inputShapes: { q: [1] } }, /q/],
      [{ inputShapes: { x: [1, 1, 1] } }, /x/],
      [{ calibration: 5 }, /path, or an iterable/],
      [{ targets: "tpu" }, /tpu/],
      [{ threads: 1.5 }, /threads/],
      [{ progress: 5 }, /function/],
      [{ threads: 257 }, /from 0 to 256/],
      [{ inputShapes: { x: [1.5] } }, /whole number, not 1.5/],
      [{ quantize: "int8", calibration: [] }, /no samples/],
      [{ quantize: { kind: "int8", maxDrop: 0.5 } }, /give judge, too/],
      [{ calibration: "samples.npz" }, /nothing is quantized/],
      [{ quantize: { kind: "f16", activations: "static" } }, /only int8/],
    ];
  for (const [options, pattern] of wrong)
    await assert.rejects(
      compile(path, file("no.holo"), options),
      (error) => error instanceof hologram.HologramError && pattern.test(error.message),
      JSON.stringify(options),
    );
  assert.ok(!existsSync(file("no.holo")));
  await rejects(compile(path, 5), "BAD_ARGUMENT", /second argument/);
  assert.ok((await compile(path)).archive instanceof Uint8Array); // without a target: its bytes
  await rejects(compile(path, "/nowhere/at/all.holo"), "NO_FILE", /nowhere/);
});

test("progress and texts of passes are heard, in order", async () => {
  const stages = [],
    texts = [];
  await compile(`${root}/demo/digits.onnx`, file("heard.holo"), {
    progress: (stage, fraction) => stages.push([stage, fraction]),
    dump: { pass: "import", text: (pass, text) => texts.push([pass, text]) },
  });
  await new Promise(setImmediate);
  assert.ok(stages.length > 2 && stages.every(([stage, fraction]) => stage && fraction >= 0 && fraction <= 1));
  assert.equal(texts[0][0], "import");
  assert.match(texts[0][1], /Conv/);
});

test("what a listener throws ends the compile, as it is", async () => {
  const mine = new RangeError("mine");
  const fails = () => {
    throw mine;
  };
  for (const options of [{ progress: fails }, { dump: fails }, { quantize: { kind: "int8", judge: fails } }])
    await assert.rejects(compile(`${root}/demo/digits.onnx`, file("thrown.holo"), options), (error) => error === mine);
  assert.ok(!existsSync(file("thrown.holo")));
});

test("an archive takes no options of compiling", async () => {
  await compile(`${root}/demo/digits.onnx`, file("plain.holo"));
  await rejects(hologram.open(file("plain.holo"), { quantize: "int8" }), "BAD_ARGUMENT", /compiled already/);
  (await hologram.open(file("plain.holo"), { quantize: undefined, threads: 1 })).close();
});

test("quantizing with samples that come one by one", async () => {
  async function* samples() {
    for (let i = 0; i < 20; i++) yield { x: Float32Array.from({ length: 32 }, (_, k) => Math.cos(i + k)) };
  }
  const { report } = await opened(dense, { quantize: { kind: "int8", activations: "static", accuracy: 0.9 }, calibration: samples() });
  assert.equal(report.quantization.kind, "int8");
  assert.equal(report.quantization.isSeeded, false);
  assert.equal(report.quantization.samples, 20);
  assert.ok(report.quantization.accuracy > 0.9);
  const failing = (async function* () {
    throw new Error("my own");
  })();
  await assert.rejects(opened(dense, { quantize: "int8", calibration: failing }), /my own/);
  await rejects(opened(dense, { quantize: "int8", calibration: [{ z: new Float32Array(32) }] }), "BAD_INPUT", /no input z/);
});

test("a judge decides, and may be wrong", async () => {
  const seen = [],
    judge = (samples) => seen.push(samples) && samples.length;
  const { report } = await opened(dense, { quantize: { kind: "int8", judge, maxDrop: 0.5 } });
  assert.ok(seen.length >= 2 && seen[0][0][0] instanceof Tensor && seen[0][0][0].shape[1] === 16);
  assert.equal(report.quantization.scoreBefore, seen[0].length);
  await rejects(opened(dense, { quantize: { kind: "int8", judge: async () => 1, maxDrop: 0 } }), "BAD_ARGUMENT", /not a promise/);
});

test("a signal stops a compile", async () => {
  const path = onnx(slow(60, 512)),
    controller = new AbortController(),
    begin = performance.now();
  await rejects(compile(path, file("never.holo"), { signal: AbortSignal.abort() }), "CANCELLED");
  setTimeout(() => controller.abort(), 30);
  await rejects(compile(path, file("never.holo"), { signal: controller.signal }), "CANCELLED");
  assert.ok(!existsSync(file("never.holo")) && performance.now() - begin < 10_000);
});

test("kernels run on typed arrays", async () => {
  const { kernels } = hologram,
    path = file("axpy.py");
  writeFileSync(
    path,
    `@kernel(lanes=n)
def axpy(a: f32, x: DeviceArray[f32], y: DeviceArray[f32], n: i64):
    i = get_global_id()
    if i < n:
        y[i] = a * x[i] + y[i]
`,
  );
  const k = await kernels.open(path),
    x = new Float32Array([1, 2, 3]),
    y = new Float32Array([10, 20, 30]);
  assert.deepEqual(
    k.list.map((one) => one.name),
    ["axpy"],
  );
  k.runSync("axpy", { a: 2, x, y, n: 3 });
  assert.deepEqual([...y], [12, 24, 36]);
  await Promise.all([k.run("axpy", { a: 1, x, y, n: 3 }), k.run("axpy", { a: 1, x, y, n: 3 })]);
  assert.deepEqual([...y], [14, 28, 42]);
  await rejects(() => k.runSync("axpy", { a: 2, x: new Float64Array(3), y, n: 3 }), "BAD_ARGUMENT", /Float32Array|these types/);
  await rejects(() => k.runSync("axpy", { a: 2, x, n: 3 }), "BAD_ARGUMENT", /y/);
  await rejects(() => k.runSync("axpy", { a: 2, x, y, n: 3, z: 1 }), "BAD_ARGUMENT", /no argument z/);
  await rejects(() => k.runSync("other", {}), "BAD_ARGUMENT", /no kernel "other"; there are axpy/);
  await rejects(() => k.runSync("axpy", { a: 2, x, y, n: 300 }), "BAD_INPUT");
  const library = kernels.open(`${root}/kernels/stdlib/vector`),
    c = new Float64Array(2);
  library.runSync("vector_add", { a: new Float64Array([1, 2]), b: new Float64Array([3, 4]), c, n: 2 });
  assert.deepEqual([...c], [4, 6]);
  k.write(file("axpy.holo"));
  kernels.open(file("axpy.holo")).runSync("axpy", { a: 1, x, y, n: 3 });
  assert.deepEqual([...y], [15, 30, 45]);
  k.close();
  await rejects(() => k.runSync("axpy", {}), "BAD_ARGUMENT", /closed/);
  writeFileSync(file("wrong.py"), "def f(:\n");
  assert.throws(() => kernels.open(file("wrong.py")), hologram.HologramError);
});
