// Threads, memory and ends: worker threads, many sessions at once, exit in the middle of a run, garbage in any order.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { file, folder, hologram, onnx, opened, relu, slow } from "./package.mjs";

const run = promisify(execFile);
const script = fileURLToPath(new URL("life.mjs", import.meta.url));
const life = (what, path, flags = []) =>
  run(process.execPath, [...flags, script, what, path], { env: { ...process.env, HOLOGRAM_NODE: folder }, timeout: 60_000 });

async function archive(description) {
  const path = file(`${Math.random()}.holo`);
  await hologram.compile(onnx(description), path, { verify: false });
  return path;
}

test("many runs at once, of a model and of sessions", async () => {
  const model = await opened(relu),
    sessions = Array.from({ length: 20 }, () => model.session({ threads: 1 }));
  const runs = Array.from({ length: 400 }, (_, i) => (i % 2 ? model : sessions[i % 20]).run(new Float32Array(8).fill(i)));
  (await Promise.all(runs)).forEach(({ y }, i) => assert.ok(y.data.every((v) => v === i)));
});

test("worker threads have the package to themselves", async () => {
  const path = await archive(relu),
    shared = new SharedArrayBuffer(32);
  new Float32Array(shared).fill(5);
  const workers = Array.from(
    { length: 4 },
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker(script, { workerData: { path, shared }, env: { ...process.env, HOLOGRAM_NODE: folder } });
        worker.once("message", resolve).once("error", reject);
      }),
  );
  for (const sum of await Promise.all(workers)) assert.equal(sum, 40);
});

test("a worker that is terminated in the middle of runs", async () => {
  const path = await archive(slow(60));
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(script, { workerData: { path, endless: true }, env: { ...process.env, HOLOGRAM_NODE: folder } });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await worker.terminate();
  }
});

test("a process that ends in the middle of runs and compiles", async () => {
  const path = await archive(slow(60));
  for (const what of ["exit", "throw"]) {
    const ended = await life(what, path).catch((error) => error);
    assert.equal(ended.signal ?? null, null, `${what}: ${ended.stderr}`);
    assert.equal(ended.code ?? 0, what === "exit" ? 7 : 1);
  }
  const long = await archive(slow(4000)),
    begin = performance.now();
  await life("exit", long).then(
    () => assert.fail("it ended well"),
    (error) => assert.equal(error.code, 7),
  );
  assert.ok(performance.now() - begin < 10_000, "a process that ends does not wait for its runs");
  await life("compile", onnx(slow(60, 512))).then(
    () => assert.fail("it ended well"),
    (error) => assert.equal(error.code, 7),
  );
});

test("garbage is collected in any order", async () => {
  const { stdout } = await life("garbage", await archive(relu), ["--expose-gc"]);
  assert.match(stdout, /closed by the collector/);
});

const skip = process.env.HOLOGRAM_SANITIZED ? "a sanitizer keeps what is freed" : false;
test("100,000 runs leave nothing behind", { skip }, async () => {
  const { stdout } = await life("leak", await archive(relu), ["--expose-gc", "--max-semi-space-size=1"]),
    grown = Number(/grew by (-?\d+) KiB/.exec(stdout)[1]);
  assert.ok(grown < 4096, stdout);
});
