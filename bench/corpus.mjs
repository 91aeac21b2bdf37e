#!/usr/bin/env node
// Makes the full-size models of bench/corpus: NAME.onnx refers to NAME.weights.bin (ONNX external data), which is filled
// here from seeds, the same everywhere; NAME.inputs/INPUT.npy are inputs to run it with.
// usage: corpus.mjs OUT_DIR [NAME...]
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, statSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { arrayOf, writeNpy } from "./npy.mjs";
import { normal, uniform } from "./seeds.mjs";

const from = join(dirname(fileURLToPath(import.meta.url)), "corpus");
const json = (name) => JSON.parse(readFileSync(join(from, name), "utf8"));

export const names = readdirSync(from).filter((n) => n.endsWith(".weights.json")).map((n) => n.slice(0, -".weights.json".length)).sort();

function makeWeights(path, spec) {
  const fd = openSync(path, "w");
  spec.tensors.forEach((t, i) => {
    const values = normal(new Float32Array(t.count), i + 1, t.mean, t.std);
    if (t.positive) for (let k = 0; k < values.length; k++) values[k] = Math.abs(values[k]) + 1e-3;
    writeSync(fd, new Uint8Array(values.buffer), 0, values.byteLength, t.offset);
  });
  closeSync(fd);
}

function makeInput(path, input, i) {
  const count = input.shape.reduce((a, b) => a * b, 1), data = new (arrayOf(input.dtype))(count);
  if (input.dtype === "float32") normal(data, 1000 + i, input.mean, input.std);
  else {
    const next = uniform(1000 + i), span = input.max - input.min + 1;
    for (let k = 0; k < count; k++) {
      const v = input.min + Math.floor(next() * span);
      data[k] = input.dtype === "int64" ? BigInt(v) : v;
    }
  }
  writeNpy(path, { type: input.dtype, dims: input.shape, data });
}

// The model's path and its inputs' folder; made only where they are not there yet.
export function make(out, name) {
  const spec = json(name + ".weights.json"), model = join(out, name + ".onnx"), inputs = join(out, name + ".inputs");
  const weights = join(out, spec.file);
  mkdirSync(inputs, { recursive: true });
  if (!existsSync(model)) copyFileSync(join(from, name + ".onnx"), model);
  if (!existsSync(weights) || statSync(weights).size !== spec.size) makeWeights(weights, spec);
  json(name + ".inputs.json").forEach((input, i) => {
    const path = join(inputs, input.name.replaceAll("/", "_") + ".npy");
    if (!existsSync(path)) makeInput(path, input, i);
  });
  return { name, model, inputs, bytes: spec.size };
}

if (argv[1] && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  const [out, ...wanted] = argv.slice(2);
  const unknown = wanted.filter((n) => !names.includes(n));
  if (!out || unknown.length) {
    console.error(out ? `no such model: ${unknown.join(", ")}` : `usage: corpus.mjs OUT_DIR [NAME...]`, `\nmodels: ${names.join(" ")}`);
    process.exit(2);
  }
  for (const name of wanted.length ? wanted : names) console.log(`${name}: ${(make(resolve(out), name).bytes / 1e6).toFixed(1)} MB`);
}
