// The package for browsers, in Node: the same archives and answers as native, threads, texts, errors, and no leak.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";

await import("./node_host.mjs");
const web = await import(`${process.env.HOLOGRAM_WEB}/index.mjs`);
const native = await import(`${process.env.HOLOGRAM_NODE}/index.mjs`);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hologram-web-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
  setTimeout(() => process.exit(), 100).unref(); // threads of engines never end by themselves
});

const digits = join(root, "demo/digits.onnx"),
  seven = native.readTensor(join(root, "demo/digits/01_is_7.npy")).data;
const archiveOf = async (path, name, options) => {
  await native.compile(path, join(folder, name), options);
  return readFileSync(join(folder, name));
};
const exact = await archiveOf(digits, "exact.holo", { numeric: "exact" }),
  fused = await archiveOf(digits, "fused.holo");

async function fails(promise, code, pattern) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof web.HologramError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, pattern);
    return true;
  });
}

test("a model runs, in one thread and in two, with the same bits", async () => {
  const answers = [];
  for (const threads of [1, 2]) {
    const model = await web.open(fused, { threads });
    assert.deepEqual(model.inputs, native.openSync(fused).inputs);
    const { probabilities } = await model.run({ image: seven });
    assert.equal(probabilities.data.indexOf(Math.max(...probabilities.data)), 7);
    assert.deepEqual(model.runSync(seven).probabilities, probabilities);
    answers.push(probabilities.data);
    model.close();
  }
  assert.deepEqual(answers[0], answers[1]);
});

test("class exact has the bits of native", async () => {
  const model = await web.open(exact);
  assert.deepEqual((await model.run(seven)).probabilities.data, native.openSync(exact).runSync(seven).probabilities.data);
  assert.equal(model.inspect().exact, true);
  model.close();
});

test("the compiler writes the bytes that native writes", async () => {
  const stages = [];
  const { archive, report } = await web.compile(readFileSync(digits), { numeric: "exact", progress: (stage) => stages.push(stage) });
  assert.deepEqual(Buffer.from(archive), exact);
  assert.equal(report.archiveBytes, exact.length);
  assert.ok(stages.length > 0);
  const model = await web.open(readFileSync(digits), { inputShapes: { image: [2, 1, 8, 8] } });
  assert.deepEqual(model.inputs[0].shape, [2, 1, 8, 8]);
  model.close();
  await fails(web.compile(new Uint8Array(100)), "BAD_MODEL", /./);
});

test("sessions remember and are timed", async () => {
  const model = await web.open(fused),
    session = model.session();
  session.setMemo(1 << 20);
  session.runSync(seven);
  session.runSync(seven);
  assert.deepEqual(session.memo(), { hits: 1, misses: 1, keptSteps: 0 });
  const steps = await session.profile((one) => one.run(new Float32Array(64)));
  assert.ok(steps.length > 0 && steps[0].seconds > 0 && steps[0].kernel);
  assert.ok(model.explain().length > 0 && model.constants().length > 0 && model.bench(undefined, { runs: 3 }).runs === 3);
  session.close();
  model.close();
});

test("a model that needs more than the small runtime gets it", async () => {
  const archive = await archiveOf(join(root, "demo/digits.onnx"), "int8.holo", { quantize: "int8", calibration: undefined });
  const model = await web.open(archive);
  assert.deepEqual((await model.run(seven)).probabilities.data, native.openSync(archive).runSync(seven).probabilities.data);
  model.close();
});

test("a language model continues texts as native does", async () => {
  const path = join(folder, "language");
  execFileSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), path]);
  const archive = await archiveOf(path, "language.holo", { numeric: "exact" }),
    [here, there] = [await native.open(archive), await web.open(archive)];
  const beside = Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name))])),
    made = await web.compile(new File([beside["model.safetensors"]], "model.safetensors"), { files: beside, numeric: "exact" });
  assert.deepEqual(Buffer.from(made.archive), archive); // weights and what describes them, as a folder has them
  const ids = there.tokenizer.encode("a red fox");
  assert.deepEqual(ids, here.tokenizer.encode("a red fox"));
  assert.equal(there.tokenizer.decode(ids), here.tokenizer.decode(ids));
  const options = { maxTokens: 12, temperature: 0.8, seed: 7, chat: false };
  assert.equal(await there.generateText("a red fox", options), await here.generateText("a red fox", options));
  const prompts = ["a red fox", "fox", "blue", "x"],
    [batch, ours] = [there.batch({ places: 2 }), here.batch({ places: 2 })],
    stopping = { ...options, stop: ["zzz"] };
  assert.deepEqual(await batch.generateTexts(prompts, stopping), await ours.generateTexts(prompts, stopping));
  const { tokens: written } = await batch.state();
  assert.equal(written, (await ours.state()).tokens);
  assert.ok(written > 2 * 12 && written <= 4 * 12, String(written)); // a text may end before
  ours.close();
  await fails(batch.generateText("a", { maxTokens: -1 }), "BAD_ARGUMENT", /maxTokens/);
  batch.close();
  assert.equal(await there.generateText("fox", { ...options, beams: 3 }), await here.generateText("fox", { ...options, beams: 3 }));
  const tokens = there.generate("a red fox", { ...options, stop: ["zzz"] });
  assert.equal(typeof (await tokens.next()).value.text, "string");
  await tokens.return();
  await fails(there.generateText("a", { regex: "a+" }), "UNSUPPORTED", /grammars/);
  there.close();
});

test("pictures of texts have native's bits in class exact, and can be stopped", async () => {
  const archive = await archiveOf(join(root, "demo/imagine/model"), "emoji.holo", { numeric: "exact" }),
    [here, there] = [await native.open(archive), await web.open(archive)],
    options = { steps: 3, seed: 3, scheduler: "dpm++", negative: "a dog", preview: true },
    seen = [];
  for (const model of [here, there]) {
    const images = [];
    for await (const { image } of model.imagine("a red apple", options)) images.push(image.data);
    seen.push(images);
  }
  assert.deepEqual(seen[1], seen[0]);
  assert.deepEqual(there.pictures, here.pictures);
  const stopper = new AbortController(),
    steps = there.imagine("a cat", { signal: stopper.signal });
  await steps.next();
  stopper.abort();
  await fails(steps.next(), "CANCELLED", /./);
  await fails(there.imagine("a cat", { scheduler: "other" }).next(), "BAD_INPUT", /dpm/);
  there.close();
});

test("speech is heard as native hears it", async () => {
  const [path, sound] = [join(folder, "speech"), join(folder, "sound.wav")];
  execFileSync("python3", [
    "-Bc",
    "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import speech_check as s\n" +
      "s.model(pathlib.Path(sys.argv[2])); s.wav(pathlib.Path(sys.argv[3]), s.sound(0.1), kind='<f', form=3)",
    join(root, "tests/support"),
    path,
    sound,
  ]);
  const archive = await archiveOf(path, "speech.holo", { numeric: "exact" }),
    [here, there] = [await native.open(archive), await web.open(archive)],
    options = { language: "de", timestamps: true, translate: true },
    wav = new Uint8Array(readFileSync(sound)),
    heard = await here.transcribe(wav, options);
  assert.ok(heard.pieces.length > 0 && heard.text);
  assert.deepEqual(await there.transcribe(wav, options), heard);
  const language = there.language();
  assert.equal(language.rate, here.language().rate);
  assert.equal((await language.transcribe(new Float32Array(language.rate))).seconds, 1);
  language.close();
  await fails(there.transcribe(wav, { language: "xx" }), "BAD_ARGUMENT", /language 'xx'/);
  await fails(there.transcribe(new Uint8Array(8)), "BAD_INPUT", /WAV/);
  await fails(there.transcribe("sound.wav"), "BAD_ARGUMENT", /bytes/);
  there.close();
});

test("graphs are drawn", async () => {
  const { drawingOf } = await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`);
  for (const [bytes, name, stage] of [[readFileSync(digits), "digits.onnx", "imported"], [fused, "digits.holo", "planned"]]) {
    const svg = await drawingOf(bytes, { name }, stage);
    assert.match(svg, /^<svg [^>]*viewBox/);
    assert.ok(svg.includes(name) && svg.match(/class="b /g).length > 3 && svg.endsWith("</svg>\n"));
  }
  await fails(drawingOf(new Uint8Array(100), { name: "nothing.onnx" }, "imported"), "BAD_MODEL", /./);
});

const { hasWide } = await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`);
test("64-bit memory has the same bits", { skip: hasWide() ? false : "this Node has no 64-bit memory" }, async () => {
  for (const archive of [exact, fused]) {
    const [narrow, wide] = [await web.open(archive, { memory: 32, threads: 1 }), await web.open(archive, { memory: 64, threads: 1 })];
    assert.deepEqual((await wide.run(seven)).probabilities, (await narrow.run(seven)).probabilities);
    assert.deepEqual([wide.inspect(), wide.explain()], [narrow.inspect(), narrow.explain()]);
    narrow.close();
    wide.close();
  }
  await fails(web.open(fused, { memory: 16 }), "BAD_ARGUMENT", /32 or 64/);
});

test("what is wrong is said", async () => {
  await fails(web.open(new Uint8Array([...fused].map((byte, i) => (i > 8 && i < 40 ? 0xff : byte)))), "BAD_ARCHIVE", /./);
  await fails(web.open(fused.subarray(0, 1000)), "BAD_ARCHIVE", /./);
  await fails(web.open(fused, { colour: "red" }), "BAD_ARGUMENT", /no option "colour"/);
  await fails(web.open(fused, { numeric: "exact" }), "BAD_ARGUMENT", /option of compiling/);
  const model = await web.open(fused);
  await fails(model.run(new Float32Array(63)), "BAD_INPUT", /multiple of 64/);
  model.close();
  await fails(model.run(seven), "BAD_ARGUMENT", /closed/);
});

test("200 models are opened, run and closed in the same memory", async () => {
  const kept = await web.open(fused, { threads: 1 }),
    { engine } = await (await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`)).engines.get("core false");
  let before;
  for (let i = 0; i < 200; i++) {
    const model = await web.open(fused, { threads: 1 });
    const session = model.session();
    await model.run(seven);
    await session.run(seven);
    model.close();
    session.close();
    if (i === 20) before = [engine.memoryBytes, engine.exports.web_held()];
  }
  assert.deepEqual([engine.memoryBytes, engine.exports.web_held()], before);
  kept.close();
});

test("outputs are copied once, to JavaScript", async () => {
  const file = join(folder, "large.onnx"),
    count = 1 << 23; // 32 MB
  execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), file, ...`in x f32 ${count} out y f32 ${count} node Neg x y`.split(" ")]);
  const model = await web.open(await archiveOf(file, "large.holo"), { threads: 1 }),
    { engine } = await (await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`)).engines.get("core false"),
    x = Float32Array.from({ length: count }, (_, i) => i % 1000);
  for (let i = 0; i < 3; i++) {
    const { y } = await model.run({ x });
    assert.deepEqual([y.data[1], y.data[count - 1]], [-1, -((count - 1) % 1000)]);
  }
  assert.ok(engine.memoryBytes < 3.5 * 4 * count, `${engine.memoryBytes} bytes`); // the input, the output, and a gap
  model.close();
});

test("a download that is cut goes on where it was cut", async () => {
  const { fetch: real } = globalThis,
    ranges = [],
    progress = [];
  globalThis.fetch = async (url, { headers }) => {
    const from = Number(/\d+/.exec(headers.Range ?? "0")[0]);
    ranges.push(from);
    const part = fused.subarray(from, ranges.length < 3 ? from + 40000 : undefined);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(part));
        if (ranges.length < 3) setTimeout(() => controller.error(new Error("cut")), 5);
        else controller.close();
      },
    });
    return new Response(body, { status: from ? 206 : 200, headers: { "content-length": fused.length - from, etag: '"1"' } });
  };
  try {
    const model = await web.open("https://example.org/digits.holo", { onprogress: (one) => progress.push(one) });
    assert.deepEqual(ranges, [0, 40000, 80000]);
    assert.deepEqual(progress.at(-1), { loaded: fused.length, total: fused.length });
    model.close();
  } finally {
    globalThis.fetch = real;
  }
});

test("a download lies where it runs, and leaves nothing if it fails", async () => {
  const { fetch: real } = globalThis,
    kept = await web.open(fused, { threads: 1 }),
    { engine } = await (await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`)).engines.get("core false"),
    { take, put, free } = engine,
    live = new Set(),
    copied = [],
    url = "https://example.org/digits.holo";
  let bytes;
  engine.take = (size) => (live.add(take.call(engine, size)), [...live].at(-1));
  engine.put = (data) => (copied.push(data.byteLength), put.call(engine, data));
  engine.free = (at) => (live.delete(at), free.call(engine, at));
  globalThis.fetch = async () => new Response(bytes, { headers: { "content-length": bytes.length } });
  try {
    bytes = fused.map((byte, i) => (i > 8 && i < 40 ? 0xff : byte));
    await fails(web.open(url, { threads: 1 }), "BAD_ARCHIVE", /./);
    bytes = fused;
    await fails(web.open(url, { threads: 1, numeric: "exact" }), "BAD_ARGUMENT", /option of compiling/);
    const model = await web.open(url, { threads: 1 });
    assert.deepEqual(copied.filter((size) => size === fused.length), []);
    assert.equal(live.size, 1);
    assert.equal((await model.run(seven)).probabilities.data.length, 10);
    model.close();
    bytes = exact; // of class exact: another engine runs it
    const other = await web.open(url, { threads: 1 });
    assert.equal(other.inspect().exact, true);
    other.close();
    assert.equal(live.size, 0);
  } finally {
    globalThis.fetch = real;
    Object.assign(engine, { take, put, free });
    kept.close();
  }
});

test("a download goes on while its module is made ready", async () => {
  const { fetch: real } = globalThis,
    { instantiate } = WebAssembly;
  let ready,
    sent = 0;
  const gate = new Promise((resolve) => (ready = resolve)),
    timer = setTimeout(ready, 5000, "late");
  const pull = (controller) => {
    if (sent < fused.length) controller.enqueue(new Uint8Array(fused.subarray(sent, (sent += 10000))));
    else {
      controller.close();
      ready("in time");
    }
  };
  globalThis.fetch = async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { "content-length": fused.length } });
  WebAssembly.instantiate = async (...args) => (await gate, instantiate(...args));
  try {
    const model = await web.open("https://example.org/digits.holo", { threads: 1 });
    assert.equal(await gate, "in time");
    model.verify();
    model.close();
    [sent, WebAssembly.instantiate] = [0, async () => Promise.reject(new Error("no instance"))];
    await assert.rejects(web.open("https://example.org/digits.holo", { threads: 1 }), /no instance/);
  } finally {
    clearTimeout(timer);
    globalThis.fetch = real;
    WebAssembly.instantiate = instantiate;
  }
});

test("a program for onnxruntime-web runs", async () => {
  const ort = await import(`${process.env.HOLOGRAM_WEB}/onnxruntime.mjs`),
    session = await ort.InferenceSession.create(new Uint8Array(readFileSync(digits)), { executionProviders: ["wasm"] }),
    results = await session.run({ image: new ort.Tensor("float32", seven, [1, 1, 8, 8]) });
  assert.deepEqual([session.inputNames, results.probabilities.dims], [["image"], [1, 10]]);
  await session.release();
});

test("what a page loads is small", () => {
  const { status, stdout, stderr } = spawnSync("python3", ["-B", join(root, "bindings/web/size.py"), process.env.HOLOGRAM_WEB], { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  for (const [what, limit] of [["index.mjs and what it imports", 20 << 10], ["hologram-core-relaxed-threads.wasm", 600 << 10], ["hologram-compiler-simd128.wasm", 1536 << 10]])
    assert.ok(stdout.includes(`${what}: `) && stdout.includes(`at most ${limit}`), `${what}: ${stdout}`);
});

test("a page waits for one file, and threads start before their module has come", async () => {
  assert.doesNotMatch(readFileSync(join(process.env.HOLOGRAM_WEB, "index.mjs"), "utf8"), /(from|import)"\.\//);
  const { host } = await import(`${process.env.HOLOGRAM_WEB}/compiling.mjs`),
    { prepare, thread } = host,
    said = [];
  host.prepare = (count) => said.push(count);
  host.thread = (message) => (said.push("thread"), thread(message));
  try {
    const model = await web.open(fused, { threads: 3 });
    assert.deepEqual(said, [2, "thread", "thread"]);
    model.close();
  } finally {
    Object.assign(host, { prepare, thread });
  }
});

// ---- one package, for Node and browsers

const hasEsbuild = spawnSync("esbuild", ["--version"]).status === 0;
function bundled(code, ...options) {
  const place = join(folder, "app");
  mkdirSync(join(place, "node_modules"), { recursive: true });
  if (!existsSync(join(place, "node_modules/hologram"))) symlinkSync(process.env.HOLOGRAM_NODE, join(place, "node_modules/hologram"));
  writeFileSync(join(place, "app.mjs"), code);
  return execFileSync("esbuild", ["app.mjs", "--bundle", "--format=esm", "--minify", ...options], { cwd: place, encoding: "utf8" });
}

test("Node and browsers have the same names", () => {
  assert.deepEqual(Object.keys(web).filter((name) => !(name in native) && !name.startsWith("$")), ["setBase"]); // $: for files of the package
  assert.equal(native.cpuLevel.length > 0, true);
});

test("a bundler takes the part for browsers, and of it what is used", { skip: hasEsbuild ? false : "esbuild is not there" }, () => {
  const all = bundled('import { open } from "hologram"; import * as ort from "hologram/onnxruntime"; globalThis.app = { open, ort };');
  assert.ok(all.includes("WebAssembly") && all.includes("InferenceSession") && !all.includes("prebuilt"));
  const part = bundled('import { Tensor } from "hologram"; globalThis.Tensor = Tensor;');
  assert.ok(part.length < all.length / 3 && !part.includes("generateText"), `${part.length} of ${all.length} characters`);
});

test("bytes of an archive, and pixels, are the same in Node and browsers", async () => {
  const { archive, report } = await native.compile(digits, { numeric: "exact" });
  assert.deepEqual(Buffer.from(archive), exact);
  assert.equal(report.archiveBytes, exact.length);
  const pixels = { width: 3, height: 2, data: Uint8Array.from({ length: 24 }, (_, i) => 10 * i) },
    options = { width: 5, height: 4, channels: 1, mean: [0.5], std: [0.25] };
  assert.deepEqual({ ...web.imageTensor(pixels, options) }, { ...native.imageTensor(pixels, options) });
  assert.deepEqual([...native.imageTensor(pixels, { dtype: "uint8", layout: "nhwc" }).data], [0, 10, 20, 40, 50, 60, 80, 90, 100, 120, 130, 140, 160, 170, 180, 200, 210, 220]);
  const model = await native.open(archive, { onprogress() {}, cache: false, worker: true, signal: new AbortController().signal });
  model.close();
});
