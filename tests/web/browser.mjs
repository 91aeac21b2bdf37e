// The package in Chromium, as pages use it: node browser.mjs SITE SCREENSHOTS. See chromium.mjs for the environment.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin } from "./chromium.mjs";
import { isolated, serve } from "./server.mjs";

const [site, pictures] = process.argv.slice(2).map((path) => resolve(path)),
  root = fileURLToPath(new URL("../..", import.meta.url)),
  work = mkdtempSync(join(tmpdir(), "hologram-browser-")),
  { visit, end } = await begin(pictures);

// A folder with the package, an empty page, and models.
const strict = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";
cpSync(join(site, "hologram"), join(work, "hologram"), { recursive: true });
for (const name of ["digits.onnx", "digits.holo", "emoji.holo"]) cpSync(join(site, name), join(work, name));
writeFileSync(join(work, "index.html"), '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Empty</title><p>Empty</p>');
const slow = Array.from({ length: 60 }, (_, i) => ["node", "MatMul", `${i ? `t${i}` : "x"},x`, i === 59 ? "y" : `t${i + 1}`]).flat();
execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "slow.onnx"), ..."in x f32 512,512 out y f32 512,512".split(" "), ...slow]);
execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "room.onnx"), ..."in s i64 1 out y f32 n node ConstantOfShape s y".split(" ")]);
execFileSync(process.env.HOLOGRAM, ["compile", "-q", join(work, "room.onnx"), "-o", join(work, "room.holo")]);
execFileSync(process.env.HOLOGRAM, ["compile", "-q", "--no-verify", join(work, "slow.onnx"), "-o", join(work, "slow.holo")]);

const bytes = "in a u8 5,67 in b i8 67,19 out y f32 5,19 node MatMulInteger a,b t node Cast t y to=1".split(" ");
execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "bytes.onnx"), ...bytes]);
execFileSync(process.env.HOLOGRAM, ["compile", "-q", join(work, "bytes.onnx"), "-o", join(work, "bytes.holo")]);

const servers = [];
async function served(headers, folder = work) {
  const server = await serve(folder, headers);
  servers.push(server);
  return server;
}
const plain = await served(isolated),
  icon = { "Content-Security-Policy": `${strict}; img-src data:` };

// ---- where it may run

await visit("a strict policy", (await served({ ...isolated, ...icon })).address, async (page) => {
  const answer = await page.evaluate(async () => {
    const { compile, open } = await import("./hologram/index.mjs"),
      ort = await import("./hologram/onnxruntime.mjs"),
      here = await open("digits.holo"),
      there = await open("digits.holo", { worker: true }),
      image = new Float32Array(64).fill(3),
      runs = [await here.run({ image }), await there.run({ image })].map(({ probabilities }) => String(probabilities.data)),
      session = await ort.InferenceSession.create("digits.onnx"),
      { probabilities } = await session.run({ image: new ort.Tensor("float32", image, [1, 1, 8, 8]) }),
      { archive } = await compile("digits.onnx");
    return { isIsolated: crossOriginIsolated, same: runs[0] === runs[1], near: Math.abs(probabilities.data[3] - here.runSync({ image }).probabilities.data[3]) < 1e-5, bytes: archive.length > 10000 };
  });
  assert.deepEqual(answer, { isIsolated: true, same: true, near: true, bytes: true });
});

await visit("from another host", (await served({})).address, async (page) => {
  const other = await served({ "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" });
  const answer = await page.evaluate(async (address) => {
    const { open } = await import(`${address}hologram/index.mjs`),
      here = await open("digits.holo"),
      there = await open(`${address}digits.holo`, { worker: true }),
      image = new Float32Array(64).fill(3),
      runs = [await here.run({ image }), await there.run({ image })].map(({ probabilities }) => String(probabilities.data));
    return runs[0] === runs[1];
  }, other.address);
  assert.equal(answer, true);
});

await visit("images of all kinds", plain.address, async (page) => {
  const answers = await page.evaluate(async () => {
    const { imageData, imageTensor } = await import("./hologram/index.mjs"),
      data = new ImageData(4, 4).data.fill(255),
      pixels = new ImageData(data, 4, 4),
      canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 4 });
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    const off = new OffscreenCanvas(4, 4);
    off.getContext("2d").putImageData(pixels, 0, 0);
    const kinds = [pixels, canvas, off, await createImageBitmap(canvas), new VideoFrame(canvas, { timestamp: 0 })],
      tensors = kinds.map((image) => imageTensor(image, { width: 2, height: 2, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] }));
    kinds.at(-1).close();
    return { tensors: tensors.map(({ shape, data: numbers }) => `${shape}: ${numbers}`), back: String(imageData(imageTensor(pixels, { dtype: "uint8", layout: "nhwc" }).reshape([4, 4, 3])).data) === String(data) };
  });
  assert.deepEqual([...new Set(answers.tensors)], [`1,3,2,2: ${Array(12).fill(1)}`]);
  assert.ok(answers.back);
});

await visit("64-bit memory", plain.address, async (page) => {
  const answers = await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs"),
      image = new Float32Array(64).fill(3),
      seen = [];
    for (const options of [{ memory: 32, threads: 1 }, { memory: 64, threads: 1 }, { memory: 64, threads: 2 }, { memory: 64, threads: 2, worker: true }]) {
      const model = await open("digits.holo", options);
      seen.push(String((await model.run({ image })).probabilities.data));
      model.close();
    }
    const room = await open("room.holo", { memory: 64, threads: 1 }),
      pictures = [];
    for (const memory of [32, 64]) {
      const model = await open("emoji.holo", { memory });
      for await (const { image: one } of model.imagine("a cat", { steps: 2 })) if (one) pictures.push(String(one.data));
      model.close();
    }
    return { same: new Set(seen).size, pictures: new Set(pictures).size, room: (await room.run({ s: [9n] })).y.data.length };
  });
  assert.deepEqual(answers, { same: 1, pictures: 1, room: 9 });
});

// Engines may limit sums of two products to 16 bits, or take bytes for signed: these are the largest.
await visit("products of bytes are exact", plain.address, async (page) => {
  const wrong = await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs"),
      model = await open("bytes.holo", { threads: 1 }),
      a = Uint8Array.from({ length: 5 * 67 }, (_, i) => (i % 7 ? 255 : i)),
      b = Int8Array.from({ length: 67 * 19 }, (_, i) => (i % 19 < 6 ? 127 : i % 19 < 12 ? -128 : 37 * i)),
      { y } = await model.run({ a, b }),
      right = (row, column) => Array.from({ length: 67 }, (_, k) => a[67 * row + k] * b[19 * k + column]).reduce((x, z) => x + z);
    return Array.from(y.data).filter((one, i) => one !== right(Math.floor(i / 19), i % 19)).length;
  });
  assert.equal(wrong, 0);
});

// ---- programs for onnxruntime-web: what its documentation shows, by both, with the same answers

const programs = {
  async fromAddress(ort) {
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = "error";
    const session = await ort.InferenceSession.create("./digits.onnx", { executionProviders: ["wasm"], graphOptimizationLevel: "all" }),
      feeds = { [session.inputNames[0]]: new ort.Tensor("float32", Float32Array.from({ length: 64 }, (_, i) => i % 17), [1, 1, 8, 8]) },
      results = await session.run(feeds),
      output = results[session.outputNames[0]];
    await session.release();
    return { names: [session.constructor === ort.InferenceSession, Object.keys(results)], type: output.type, dims: output.dims, size: output.size, data: Array.from(output.data) };
  },
  async fromBuffer(ort) {
    const buffer = await (await fetch("words.onnx")).arrayBuffer(),
      session = await ort.InferenceSession.create(buffer),
      second = await ort.InferenceSession.create(new Uint8Array(buffer)),
      ids = new ort.Tensor("int64", BigInt64Array.from([1n, 5n, 2n]), [1, 3]),
      feeds = { ids, mask: new ort.Tensor("bool", [true, false, true], [1, 3]) },
      one = await session.run(feeds, ["doubled"]),
      all = await second.run(feeds, { doubled: null, kept: null }),
      wrong = [() => session.run({ ids }), () => session.run(feeds, ["nothing"]), () => new ort.Tensor("float32", [1, 2, 3], [2, 2])],
      errors = await Promise.all(wrong.map(async (call) => (await call(), "none")).map((call) => call.catch(() => "error")));
    await Promise.all([session.release(), second.release()]);
    const shown = Object.entries(all).map(([name, { type, dims, data }]) => [name, type, dims, Array.from(data, Number)]);
    return { inputs: session.inputNames, outputs: session.outputNames, one: Object.keys(one), shown, big: typeof one.doubled.data[0], errors };
  },
  async images(ort) {
    const pixels = new ImageData(Uint8ClampedArray.from({ length: 4 * 6 }, (_, i) => (i % 4 === 3 ? 255 : 9 * i)), 3, 2),
      told = ({ type, dims, data }) => [type, dims, Array.from(data, (x) => Math.round(1e4 * x))],
      plain = await ort.Tensor.fromImage(pixels),
      turned = await ort.Tensor.fromImage(await createImageBitmap(pixels), { tensorFormat: "BGR", norm: { mean: [100, 110, 120], bias: [-1, -2, -3] }, resizedWidth: 3, resizedHeight: 2 }),
      whole = await ort.Tensor.fromImage(pixels, { tensorFormat: "RGBA" });
    return { plain: told(plain), turned: told(turned), whole: told(whole), back: Array.from(plain.toImageData({ format: "RGB" }).data) };
  },
  async outside(ort) {
    const session = await ort.InferenceSession.create("outside.onnx", { externalData: [{ path: "outside.bin", data: "outside.bin" }] }),
      { y } = await session.run({ x: new ort.Tensor("float32", [1, 2, 3, 4], [4]) });
    await session.release();
    return Array.from(y.data);
  },
};
await visit("programs for onnxruntime-web", plain.address, async (page) => {
  const write = (name, words) => execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, name), ...words.split(" ")]);
  write("words.onnx", "in ids i64 1,3 in mask bool 1,3 out doubled i64 1,3 out kept bool 1,3 node Add ids,ids doubled node Not mask kept");
  write("outside.onnx", "in x f32 4 outside w 5,6,7,8 outside.bin out y f32 4 node Add x,w y"); // a weight in a file beside it
  const peer = existsSync(join(site, "onnxruntime-web"));
  if (peer) cpSync(join(site, "onnxruntime-web"), join(work, "onnxruntime-web"), { recursive: true });
  else console.log("programs for onnxruntime-web: not compared with it, since it is not beside the pages (make web-peers)");
  for (const [name, program] of Object.entries(programs)) {
    const by = (module) => page.evaluate(`(async () => (${String(program).replace(/^async \w+/, "async function ")})(await import("${module}")))()`),
      ours = await by("./hologram/onnxruntime.mjs");
    assert.ok(JSON.stringify(ours).length > 10, name);
    if (!peer) continue;
    const theirs = await by("./onnxruntime-web/ort.wasm.min.mjs"),
      rounded = (value) => JSON.stringify(value, (_, one) => (typeof one === "number" ? Number(one.toPrecision(4)) : one));
    assert.equal(rounded(ours), rounded(theirs), name);
  }
}, { expected: /Unknown CPU vendor|onnxruntime/ });

// ---- archives

const gets = (server, path) => server.log.filter((row) => row.method === "GET" && row.path === path);
const openEmoji = (page, options = {}) =>
  page.evaluate(async (given) => {
    const { open } = await import("./hologram/index.mjs"),
      progress = [];
    try {
      const model = await open("emoji.holo", { ...given, onprogress: (one) => progress.push(one) });
      await model.verify(); // all bytes are those that were compiled
      model.close();
      return { last: progress.at(-1), cached: progress.filter((one) => one.cached).length, progress };
    } catch (error) {
      return { code: error.code, message: error.message, progress };
    }
  }, options);
/** Models are kept in the background: waits until so many parts of this one are; 0: all of them. */
async function kept(page, count = 0) {
  for (let i = 0; i < 200; i++) {
    const note = await page.evaluate(async () => {
      const cache = await caches.open("hologram-1"),
        [found] = (await cache.keys()).filter(({ url }) => url.includes("/address/"));
      return found && (await cache.match(found)).json();
    });
    if (note && (count ? note.parts.length >= count : note.isWhole)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the model is not kept");
}

await visit("a second visit downloads nothing", plain.address, async (page, context) => {
  const before = gets(plain, "/emoji.holo").length,
    first = await openEmoji(page);
  assert.deepEqual([first.last.loaded === first.last.total, first.cached, gets(plain, "/emoji.holo").length - before], [true, 0, 1]);
  await kept(page);
  await page.close();
  const second = await context.newPage();
  await second.goto(plain.address);
  assert.equal((await openEmoji(second, { worker: true })).last.cached, true);
  assert.equal(gets(plain, "/emoji.holo").length - before, 1);
  const names = await second.evaluate(async () => (await (await caches.open("hologram-1")).keys()).map(({ url }) => url));
  assert.ok(names.filter((name) => /\/sha256\/[0-9a-f]{64}$/.test(name)).length >= 2, String(names));
});

await visit("a download that is cut", plain.address, async (page) => {
  const server = await served({ ...isolated, "Cache-Control": "no-store" }); // else Chromium keeps parts itself, and changes ranges
  await page.goto(server.address);
  server.cut.set("/emoji.holo", 1 << 20);
  const { code, message, progress } = await openEmoji(page);
  assert.equal(code, "NO_FILE");
  const [, at, total] = /emoji\.holo stopped at byte (\d+) of (\d+): .*\. Call open\(\) again/.exec(message).map(Number);
  server.cut.clear();
  const second = await openEmoji(page),
    here = [...progress, ...second.progress.filter(({ cached }) => !cached)].map(({ loaded }) => loaded),
    froms = gets(server, "/emoji.holo").map(({ range = "bytes=0-" }) => Number(/^bytes=(\d+)-$/.exec(range)[1]));
  assert.deepEqual([second.last.loaded, second.last.total, second.cached > 0], [total, total, true]);
  // No byte that the page has got is asked for again: each of four tries begins where the page is, and the next visit behind them all. (Of what
  // was sent before a cut, a browser may drop some, or all.)
  assert.deepEqual([froms.length, froms[0], froms[4]], [5, 0, at]);
  assert.ok(here.every((loaded, i) => i === 0 || loaded > here[i - 1]), String(here));
  froms.forEach((from, i) => assert.ok((from === 0 || here.includes(from)) && from >= (froms[i - 1] ?? 0) && from <= i << 20, String(froms)));
}, { expected: /ERR_INCOMPLETE_CHUNKED|ERR_CONTENT_LENGTH_MISMATCH|ERR_FAILED|ERR_CONNECTION|ERR_EMPTY/ });

await visit("a download that is cancelled", plain.address, async (page) => {
  const server = await served(isolated);
  await page.goto(server.address);
  for (const worker of [false, true]) {
    server.cut.set("/emoji.holo", 1 << 20);
    const code = await page.evaluate(async (isRemote) => {
      const { open } = await import("./hologram/index.mjs"),
        stopper = new AbortController();
      return open("emoji.holo", { signal: stopper.signal, worker: isRemote, cache: false, onprogress: () => stopper.abort() }).catch((error) => error.code);
    }, worker);
    assert.equal(code, "CANCELLED");
    server.cut.clear();
  }
  assert.equal((await openEmoji(page)).last.loaded > 1e6, true);
}, { expected: /ERR_/ });

await visit("a tab that is closed during a download", plain.address, async (page, context) => {
  const server = await served(isolated);
  const second = await context.newPage();
  await second.goto(server.address);
  server.cut.set("/emoji.holo", 9 << 20);
  await second.evaluate(() => void import("./hologram/index.mjs").then(({ open }) => open("emoji.holo")).catch(() => {}));
  await kept(second, 1);
  await second.close();
  server.cut.clear();
  await page.goto(server.address);
  const { last, cached } = await openEmoji(page);
  assert.deepEqual([last.loaded, cached > 0], [last.total, true]);
  assert.match(gets(server, "/emoji.holo").at(-1).range, /^bytes=\d{7}/);
}, { expected: /ERR_/ });

// ---- runs

await visit("a run is stopped", plain.address, async (page) => {
  const answer = await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs"),
      model = await open("slow.holo", { worker: true, threads: 1 }),
      feeds = { x: new Float32Array(512 * 512).fill(0.001) },
      timed = async (signal) => {
        const begin = performance.now(),
          code = await model.run(feeds, { signal }).then(
            () => "done",
            (error) => error.code,
          );
        return [code, performance.now() - begin];
      };
    await timed();
    const [, whole] = await timed(),
      stopper = new AbortController();
    setTimeout(() => stopper.abort(), whole / 5);
    const stopped = await timed(stopper.signal),
      next = await timed(new AbortController().signal);
    model.close();
    return { whole, stopped, next };
  });
  assert.equal(answer.stopped[0], "CANCELLED");
  assert.ok(answer.stopped[1] < 0.8 * answer.whole, `it took ${answer.stopped[1]} of ${answer.whole} ms`);
  assert.equal(answer.next[0], "done"); // and the worker is free for it
});

await visit("a tab that is hidden and frozen in the middle of a run", plain.address, async (page, context) => {
  await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs"),
      model = await open("emoji.holo", { worker: true });
    globalThis.seen = 0;
    globalThis.picture = (async () => {
      for await (const step of model.imagine("a cat", { steps: 30 })) globalThis.seen = step.step;
    })();
  });
  const session = await context.newCDPSession(page);
  await page.waitForFunction(() => globalThis.seen > 2);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await page.evaluate(() => globalThis.picture);
  assert.equal(await page.evaluate(() => globalThis.seen), 30);
});

await visit("a tab that is closed in the middle of a run", plain.address, async (page, context) => {
  await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs");
    globalThis.model = await open("slow.holo", { worker: true });
    globalThis.model.run(globalThis.model.inputs.length && { x: new Float32Array(512 * 512) });
  });
  await page.close();
  const second = await context.newPage();
  await second.goto(plain.address);
  assert.ok((await openEmoji(second)).last.loaded);
});

await visit("memory that is not there", plain.address, async (page) => {
  const answer = await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs"),
      model = await open("room.holo", { threads: 1 }),
      errors = [];
    for (const size of [975000000n, 2n ** 31n]) await model.run({ s: [size] }).catch((error) => errors.push(error.code, /memory|too large/.test(error.message) || error.message));
    const { y } = await model.run({ s: [5n] });
    return { errors, after: y.data.length };
  });
  assert.deepEqual(answer, { errors: ["NO_MEMORY", true, "NO_MEMORY", true], after: 5 });
});

/** Bytes of memory of all processes that show pages. */
async function residents(browser) {
  const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo"),
    renderers = processInfo.filter(({ type }) => type === "renderer");
  return renderers.reduce((sum, { id }) => sum + 4096 * Number(readFileSync(`/proc/${id}/statm`, "utf8").split(" ")[1]), 0);
}
await visit("200 models in workers and without", plain.address, async (page, context) => {
  const cycles = async (count) => {
    await page.evaluate(async (wanted) => {
      const { open } = await import("./hologram/index.mjs"),
        bytes = new Uint8Array(await (await fetch("emoji.holo")).arrayBuffer());
      for (let i = 0; i < wanted; i++) {
        const model = await open(bytes, { worker: i % 10 === 0, threads: i % 5 ? 1 : 2 });
        if (i % 10 === 0) await model.inspect();
        model.close();
      }
    }, count);
    // Chromium ends workers one by one, and their memory goes with the last of them: only then is what is left a leak.
    for (let i = 0; i < 300 && page.workers().length; i++) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(page.workers().length, 0);
    for (let i = 0; i < 3; i++) {
      await page.evaluate(() => globalThis.gc());
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    return residents(context.browser());
  };
  const before = await cycles(40),
    more = (await cycles(160)) - before;
  assert.ok(more < 150e6, `160 models of 14 MB left ${more} bytes behind`);
});

const failed = await end("browser");
servers.forEach((server) => server.close());
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
