// Compiles models by the compiler's module, which is fetched with the first of them and gone behind each: a compile takes much memory.
import { Engine, engines, hasWide, host } from "./engine.mjs";
import { HoloNumeric, HoloQuantizeKind, HoloSize } from "./enums.mjs";
import { HologramError } from "./errors.mjs";
import "./index.mjs"; // as in remote.mjs

const chosen = (what, values) => (name) => {
  const value = values[String(name).toUpperCase()];
  if (value === undefined) throw new HologramError(`${what} is one of ${Object.keys(values).join(", ").toLowerCase()}, not ${JSON.stringify(name)}`);
  return value;
};
// In the order of web_compiler_set.
const rows = [
  ["numeric", chosen("numeric", HoloNumeric)],
  ["quantize", chosen("quantize", HoloQuantizeKind)],
  ["verify", Number],
  ["symbolic", Number],
  ["size", chosen("size", HoloSize)],
  ["tables", Number],
  ["accuracy", Number],
];

function set(engine, compiler, options) {
  rows.forEach(([name, number], i) => {
    if (options[name] !== undefined) engine.do("web_compiler_set", compiler, i, number(options[name]));
  });
  for (const [name, shape] of Object.entries(options.inputShapes ?? {})) {
    const sizes = BigInt64Array.from(shape, (size) => BigInt(typeof size === "number" ? size : -1)),
      [text, at] = [engine.putText(name), engine.put(sizes)];
    try {
      engine.do("web_compiler_shape", compiler, text, shape.length, at);
    } finally {
      engine.free(text);
      engine.free(at);
    }
  }
}

/** The last part of an address. */
const nameOf = (given) => (typeof given === "string" || given instanceof URL ? String(given).split(/[?#]/)[0].split("/").pop() : given?.name) || "model";

function putFile(engine, name, bytes) {
  const text = engine.putText(name),
    at = engine.address(engine.exports.web_file_put(text, bytes.length));
  engine.free(text);
  if (!at) throw new HologramError(`there is no memory for ${bytes.length} bytes`, "NO_MEMORY");
  engine.bytes.set(bytes, at);
}

/** Weights with their configuration are read as the folder that has both. */
const pathOf = (name, files) =>
  /\.(safetensors|bin|json)$/.test(name) && ["config.json", "model_index.json"].some((one) => one === name || files[one]) ? "." : name;

/** An engine with the files of a model: its own, and {name: bytes} of those beside it; `name` is what it reads. */
async function engineFor(bytes, given, { files = {}, progress }) {
  const engine = await Engine.create("compiler", false, (self, stage, part) => progress?.(self.textAt(stage), part));
  for (const [name, one] of Object.entries(files)) putFile(engine, name, new Uint8Array(one.buffer ?? one, one.byteOffset ?? 0, one.byteLength));
  const name = nameOf(given);
  putFile(engine, name, bytes);
  return { engine, name: pathOf(name, files) };
}

/** {archive, report}: the bytes of an archive, and what was done. */
export async function compileBytes(bytes, given, options = {}) {
  const { engine, name } = await engineFor(bytes, given, options),
    compiler = engine.make("web_compiler");
  set(engine, compiler, options);
  const from = engine.putText(name),
    to = engine.putText("out.holo"),
    report = engine.json("web_compile", compiler, from, to),
    size = engine.exports.web_file_find(to);
  return { archive: engine.copy(engine.exports.web_file(), size), report };
}

/** The graph of a model's file: "imported", as the file has it, or "planned", as it runs. */
export async function graphOf(bytes, given, stage = "planned", options = {}) {
  const { engine, name } = await engineFor(bytes, given, options);
  return engine.json("web_listing", engine.putText(name), stage === "imported" ? 0 : 1);
}

/** A drawing of that graph: SVG. */
export async function drawingOf(bytes, given, stage = "planned", options = {}) {
  const { engine, name } = await engineFor(bytes, given, options),
    words = stage === "imported" ? "as imported" : "as planned";
  return engine.textAt(engine.make("web_drawing", engine.putText(name), stage === "imported" ? 0 : 1, engine.putText(`${name}, ${words}`)));
}

export { engines, hasWide, host }; // for tests
