// ONNX's suite in WebAssembly: each case is compiled by the Node package, and its archive must give in WebAssembly what it gives there.
//
//   HOLOGRAM_WEB=folder HOLOGRAM_NODE=folder node onnx.mjs [--exact] FOLDER...     folders of cases
//
// In class exact the bits must be equal; otherwise values within 1e-7 + 1e-3 * |value|, as ONNX's own runner has it.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";

await import("./node_host.mjs");
const web = await import(`${process.env.HOLOGRAM_WEB}/index.mjs`);
const native = await import(`${process.env.HOLOGRAM_NODE}/index.mjs`);

const args = process.argv.slice(2),
  isExact = args[0] === "--exact",
  numeric = isExact ? "exact" : "fused";
if (isExact) args.shift();

const folder = mkdtempSync(join(os.tmpdir(), "hologram-web-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const numbersOf = (tensor) => (tensor.dtype === "float16" || tensor.dtype === "string" ? [tensor.toArray()].flat(Infinity) : tensor.data);

function isNear(got, want) {
  if (got === want || (Number.isNaN(got) && Number.isNaN(want))) return true;
  return !isExact && typeof got === "number" && Math.abs(got - want) <= 1e-7 + 1e-3 * Math.abs(want);
}

/** Where two values differ; undefined: nowhere. */
function difference(got, want) {
  if (Array.isArray(want) || want instanceof Map) {
    const [a, b] = [[...got], [...want]];
    if (a.length !== b.length) return `${a.length} items, not ${b.length}`;
    return b.map((one, i) => (one?.dtype || Array.isArray(one) ? difference(a[i], one) : String(a[i]) === String(one) ? undefined : `item ${i}`)).find(Boolean);
  }
  if (want === null || got === null) return want === got ? undefined : "nothing";
  if (got.dtype !== want.dtype || String(got.shape) !== String(want.shape)) return `${got.dtype}[${got.shape}], not ${want.dtype}[${want.shape}]`;
  const [a, b] = [numbersOf(got), numbersOf(want)];
  for (let i = 0; i < b.length; i++) if (!isNear(a[i], b[i])) return `element ${i} is ${a[i]}, not ${b[i]}`;
  return undefined;
}

/** The fields of a protobuf message that have bytes: [number, bytes]. */
function* fieldsOf(bytes) {
  let at = 0;
  const number = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = number();
    if (key % 8 === 0) number();
    else {
      const size = number();
      yield [key >> 3, bytes.subarray(at, at + size)];
      at += size;
    }
  }
}

const aTensor = 3,
  aSequence = 5; // as fields of ONNX's SequenceProto and OptionalProto

function tensorOf(bytes, dtype) {
  const file = join(folder, "part.pb");
  writeFileSync(file, bytes);
  const tensor = native.readTensor(file);
  return dtype === "bfloat16" && tensor.dtype === "uint16" ? new native.Tensor(dtype, tensor.data, tensor.shape) : tensor; // NumPy has no bfloat16
}

/** A value of a kind, as model.run() takes it. */
function valueOf(bytes, kind, dtype) {
  if (kind === "tensor") return tensorOf(bytes, dtype);
  const items = [...fieldsOf(bytes)]
    .filter(([field]) => field === aTensor || field === aSequence)
    .map(([field, part]) => valueOf(part, field === aTensor ? "tensor" : "sequence", dtype));
  return kind === "sequence" ? items : (items[0] ?? null);
}

/** Inputs of a case: those of its data set; made-up ones where it has none. */
function feedsOf(model, path) {
  const feeds = {};
  model.inputs.forEach(({ name, kind, dtype }, i) => {
    const file = join(path, "test_data_set_0", `input_${i}.pb`);
    if (existsSync(file)) feeds[name] = valueOf(readFileSync(file), kind, dtype);
  });
  return feeds;
}

const asWeb = (value) => (Array.isArray(value) ? value.map(asWeb) : value && new web.Tensor(value.dtype, value.data, value.shape));

async function check(path) {
  const archive = join(folder, "case.holo");
  try {
    await native.compile(join(path, "model.onnx"), archive, { numeric, threads: 1 });
  } catch (error) {
    return { skipped: `it cannot be compiled: ${error.message.split("\n")[0]}` };
  }
  const here = native.openSync(archive, { threads: 1 });
  let feeds, want;
  try {
    feeds = feedsOf(here, path);
    want = here.runSync(feeds);
  } catch (error) {
    return { skipped: `it is not run: ${path.split("/").pop()}: ${error.message.split("\n")[0]}` };
  }
  const there = await web.open(readFileSync(archive), { threads: 1 });
  try {
    const got = await there.run(Object.fromEntries(Object.entries(feeds).map(([name, value]) => [name, asWeb(value)])));
    const wrong = Object.keys(want).find((name) => difference(got[name], want[name]));
    return wrong ? { failed: `${wrong}: ${difference(got[wrong], want[wrong])}` } : {};
  } finally {
    there.close();
    here.close();
  }
}

let [passed, failed, skipped] = [0, 0, 0];
const reasons = new Map();
for (const suite of args)
  for (const name of readdirSync(suite).sort()) {
    if (!existsSync(join(suite, name, "model.onnx"))) continue;
    const result = await check(join(suite, name)).catch((error) =>
      /Debian package/.test(error.message) ? { skipped: "images are decoded by libraries of the system" } : { failed: error.message },
    );
    if (result.failed) {
      failed++;
      console.log(`${name}: FAILED: ${result.failed}`);
    } else if (result.skipped) {
      skipped++;
      reasons.set(result.skipped.slice(0, 80), (reasons.get(result.skipped.slice(0, 80)) ?? 0) + 1);
    } else passed++;
  }
for (const [reason, count] of reasons) console.log(`${count} not compared: ${reason}`);
console.log(`WebAssembly, class ${numeric}: ${passed} as native, ${failed} failed, ${skipped} not compared`);
process.exit(failed ? 1 : 0);
