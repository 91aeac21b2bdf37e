// Wrong use is an error with a message, never a crash.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { file, folder, hologram, load, onnx, open, opened, relu, rejects, slow } from "./package.mjs";

const { Tensor } = hologram;

test("types and shapes that do not fit", async () => {
  const model = await opened(relu),
    wrong = [
      [{ x: new Float64Array(8) }, /Float32Array, not a Float64Array/],
      [{ x: new Tensor(new Int32Array(8), [2, 4]) }, /cannot be a tensor of int32/],
      [{ x: new Float32Array(7) }, /needs 8 elements, not 7/],
      [{ x: new Tensor(new Float32Array(8), [4, 2]) }, /x/],
      [{ x: new Tensor(new Float32Array(8), [8]) }, /x/],
      [
        {
          x: [
            ["a", 1, 2, 3],
            [1, 2, 3, 4],
          ],
        },
        /no element of float32/,
      ],
      [
        {
          x: [
            [1, 2, 3, 4],
            [1, 2, 3],
          ],
        },
        /of one length/,
      ],
      [{ x: null }, /null/],
      [{ x: () => 1 }, /function/],
      [{ x: Symbol("x") }, /symbol/],
      [{ x: new DataView(new ArrayBuffer(32)) }, /DataView/],
      [{ x: new ArrayBuffer(32) }, /ArrayBuffer/],
      [{}, /input x is missing/],
      [undefined, /x/],
      [null, /names as keys|x/],
    ];
  for (const runs of [model, model.session()])
    for (const [feeds, pattern] of wrong) {
      await rejects(() => runs.runSync(feeds), "BAD_INPUT", pattern).catch((error) =>
        rejects(() => runs.runSync(feeds), "BAD_ARGUMENT", pattern).catch(() => assert.fail(`${String(pattern)}: ${error.message}`)),
      );
      await assert.rejects(runs.run(feeds), hologram.HologramError);
    }
  await rejects(model.run({ x: new Float32Array(8), y: 1 }), "BAD_ARGUMENT", /no input "y"; it has x/);
  assert.deepEqual([...model.runSync(new Float32Array(8).fill(1)).y.data], Array(8).fill(1));
});

test("tensors that cannot be", () => {
  for (const make of [
    () => new Tensor("float33", new Float32Array(1)),
    () => new Tensor("float32", new Float64Array(1)),
    () => new Tensor(new Float32Array(3), [2]),
    () => new Tensor(new Float32Array(2), [-2]),
    () => new Tensor(new Float32Array(2), [1.5]),
    () => new Tensor(),
    () => new Tensor(null),
    () => new Tensor("int64", [1.5]),
    () => Tensor.from([1, "a"], "float32"),
    () => new Tensor(new DataView(new ArrayBuffer(4))),
    () => Tensor.from([[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]),
  ])
    assert.throws(make, hologram.HologramError, String(make));
  const shape = Array(17).fill(1);
  assert.equal(new Tensor(new Float32Array(1), shape).size, 1);
});

test("buffers that are detached, shared, resizable, empty, or not aligned at 0", async () => {
  const model = await opened(open),
    gone = new Float32Array(3);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  await rejects(() => model.runSync({ x: gone }), "BAD_ARGUMENT", /transferred/);
  const late = new Tensor(new Float32Array(3), [1, 3]);
  structuredClone(late.data.buffer, { transfer: [late.data.buffer] });
  await rejects(() => model.runSync({ x: late }), "BAD_ARGUMENT", /0 bytes, but its type and shape need 12/);
  await rejects(model.run({ x: late }), "BAD_ARGUMENT", /0 bytes/);
  const shared = new Float32Array(new SharedArrayBuffer(12)).fill(2);
  assert.deepEqual([...model.runSync({ x: shared }).y.data], [4, 4, 4]);
  assert.deepEqual([...(await model.run({ x: shared })).y.data], [4, 4, 4]);
  const view = new Float32Array(new ArrayBuffer(64), 4, 3).fill(3);
  assert.deepEqual([...model.runSync({ x: view }).y.data], [6, 6, 6]);
  if (ArrayBuffer.prototype.resize) {
    const buffer = new ArrayBuffer(3 << 20, { maxByteLength: 1 << 24 }),
      resizable = new Float32Array(buffer).fill(1);
    assert.equal(model.runSync({ x: resizable }).y.data[5], 2);
    const run = model.run({ x: resizable });
    buffer.resize(0);
    assert.equal((await run).y.data[(3 << 18) - 1], 2);
    const into = new Float32Array(new ArrayBuffer(12, { maxByteLength: 64 }));
    await rejects(model.run({ x: view }, { into: { y: into } }), "BAD_ARGUMENT", /resized/);
    assert.deepEqual([...model.runSync({ x: view }, { into: { y: into } }).y.data], [6, 6, 6]);
  }
});

test("changing a small input while it runs changes nothing", async () => {
  const model = await opened(open),
    x = new Float32Array(300).fill(1),
    run = model.run({ x });
  x.fill(9);
  assert.ok((await run).y.data.every((v) => v === 2));
});

test("a model closed while it runs, and after", async () => {
  const model = await opened(slow(20), { verify: false }),
    session = model.session(),
    x = new Float32Array(384 * 384);
  const runs = [model.run(x), session.run(x), model.run(x)];
  model.close();
  session.close();
  model.close();
  assert.equal((await Promise.all(runs)).length, 3);
  await rejects(model.run(x), "BAD_ARGUMENT", /the model is closed/);
  await rejects(session.run(x), "BAD_ARGUMENT", /the session is closed/);
  await rejects(() => model.session(), "BAD_ARGUMENT", /the model is closed/);
  await rejects(() => model.inspect(), "BAD_ARGUMENT", /the model is closed/);
  const other = await opened(relu),
    later = other.session();
  other.close();
  assert.ok(later.runSync(new Float32Array(8)).y); // a session keeps its model
  if (Symbol.dispose) {
    later[Symbol.dispose]();
    assert.ok(later.closed);
  }
});

test("a session in the middle of a run is busy", async () => {
  const session = (await opened(slow(20), { verify: false })).session(),
    x = new Float32Array(384 * 384),
    run = session.run(x);
  await new Promise(setImmediate);
  await rejects(() => session.runSync(x), "BUSY");
  await run;
});

test("files that are no models", async () => {
  writeFileSync(file("bad.onnx"), "not a model");
  writeFileSync(file("bad.holo"), Buffer.from("\x89HOLO\r\n\x1a and then nothing", "latin1"));
  await assert.rejects(hologram.open(file("bad.onnx")), hologram.HologramError);
  await rejects(hologram.open(file("bad.holo")), "BAD_ARCHIVE");
  await rejects(hologram.open(Buffer.from("\x89HOLO\r\n\x1a", "latin1")), "BAD_ARCHIVE");
  await rejects(hologram.open(file("none.holo")), "NO_FILE", /none.holo/);
  await rejects(hologram.open("a\0b"), "BAD_ARGUMENT");
  for (const source of [undefined, null, 1, {}, Symbol("m")]) await assert.rejects(hologram.open(source), hologram.HologramError);
  await rejects(hologram.open(onnx(relu), { thread: 1 }), "BAD_ARGUMENT", /no option "thread"; there are threads/);
  await rejects(hologram.open(onnx(relu), { threads: -1 }), "BAD_ARGUMENT", /threads/);
  await rejects(hologram.open(onnx(relu), { sessions: 1000 }), "BAD_ARGUMENT", /256/);
  await rejects(hologram.open(onnx(relu), { device: "cuda" }), "UNSUPPORTED", /no steps for cuda/);
});

test("handles of the C functions are checked", async () => {
  const c = await load("c.mjs"),
    model = await opened(relu);
  for (const handle of [0, -1, 1.5, NaN, 2 ** 60, undefined, null, "x", {}, 123456789])
    assert.throws(() => c.holo_model_input_count(handle), hologram.HologramError);
  assert.throws(() => c.holo_session_memory(model.handle), /this is a model, not a session/);
  assert.throws(() => c.holo_model_open(), hologram.HologramError);
  assert.throws(() => c.holo_tensors_seeded({ dtype: 99, shape: [1] }, 0), hologram.HologramError);
  assert.throws(() => c.holo_tensors_seeded(null, 0), /must be a tensor/);
  assert.throws(() => c.holo_transform({}, 1, 2, 3), hologram.HologramError);
  const pool = c.holo_pool_create(2);
  c.holo_pool_destroy(pool);
  c.holo_pool_destroy(null);
  assert.throws(() => c.holo_pool_threads(pool), /the pool is closed/);
});

test("every function of C, called with nonsense, throws or answers", async () => {
  const script = fileURLToPath(new URL("nonsense.mjs", import.meta.url));
  const said = execFileSync(process.execPath, [script], { env: { ...process.env, HOLOGRAM_NODE: folder }, encoding: "utf8" });
  assert.match(said, /survived \d{4,} calls/);
});
