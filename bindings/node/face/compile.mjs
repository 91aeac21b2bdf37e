// Compiling: the options, each a row that tells the compiler of the library.
import { dtypeOf } from "./dtype.mjs";
import { HoloActivations, HoloNumeric, HoloQuantizeKind, HoloRanges, HoloSize } from "./enums.mjs";
import { HologramError, aborted } from "./errors.mjs";
import { portOf, valueFor } from "./ports.mjs";
import { Tensor } from "./tensor.mjs";

function chosen(what, enumeration, name) {
  const value = enumeration[String(name).toUpperCase()];
  if (value === undefined)
    throw new HologramError(
      `${what} is one of ${Object.keys(enumeration)
        .map((one) => JSON.stringify(one.toLowerCase()))
        .join(", ")}, not ${JSON.stringify(name)}`,
    );
  return value;
}
/** 0 is one thread a core. */
export function threadsOf(value) {
  if (!(Number.isInteger(value) && value >= 0 && value <= 256))
    throw new HologramError(`threads is a whole number from 0 to 256, not ${String(value)}`);
  return value;
}
/** A size to fix; what is no number leaves it open. */
function sizeOf(name, size) {
  if (typeof size !== "number") return -1;
  if (!Number.isSafeInteger(size)) throw new HologramError(`inputShapes: a size of ${name} is a whole number, not ${size}`);
  return size;
}
const list = (value) => (Array.isArray(value) ? value : [value]);

/** A tensor as functions of the library take it. */
function view(given) {
  const tensor = given instanceof Tensor ? given : ArrayBuffer.isView(given) ? new Tensor(given) : Tensor.from(given);
  return { dtype: dtypeOf(tensor.dtype).number, shape: tensor.shape, data: tensor.data };
}

const quantizing = {
  kind: (c, value) => c.set_quantize(chosen("quantize", HoloQuantizeKind, value)),
  layers: (c, value) =>
    Object.entries(value).forEach(([pattern, kind]) => c.add_quantize(pattern, chosen("a layer's kind", HoloQuantizeKind, kind))),
  activations: (c, value, all) =>
    c.set_activations(chosen("activations", HoloActivations, value), chosen("ranges", HoloRanges, all.ranges ?? "mse")),
  ranges: (c, value, all) =>
    c.set_activations(chosen("activations", HoloActivations, all.activations ?? "default"), chosen("ranges", HoloRanges, value)),
  percentile: (c, value) => c.set_percentile(value),
  centroids: (c, value) => c.set_centroids(value),
  accuracy: (c, value) => c.set_accuracy(value),
  onlyIfFaster: (c, value) => c.set_only_if_faster(value),
};
const verifying = {
  inputs: (c, value) => list(value).forEach((path) => c.add_verify_inputs(c.path(path))),
  relative: (c, value, all) => c.set_tolerance(value, all.absolute ?? -1),
  absolute: (c, value, all) => c.set_tolerance(all.relative ?? -1, value),
  strict: (c, value) => c.set_strict(value),
};

const rows = {
  inputShapes: (c, value) =>
    Object.entries(value).forEach(([name, shape]) =>
      c.set_shape(
        name,
        shape.map((size) => sizeOf(name, size)),
      ),
    ),
  constants: (c, value) => Object.entries(value).forEach(([name, given]) => c.set_constant(name, view(given))),
  domains: (c, value) => Object.entries(value).forEach(([name, given]) => c.set_domain(name, view(given))),
  symbolic: (c, value) => c.set_symbolic(value),
  numeric: (c, value) => c.set_numeric(chosen("numeric", HoloNumeric, value === "bf16" ? "numeric_bf16" : value)),
  size: (c, value) => c.set_size(chosen("size", HoloSize, value)),
  targets: (c, value) => c.set_targets(list(value).join(",")),
  tune: (c, value) => c.set_tune(value),
  tables: (c, value) => c.set_tables(value !== false, typeof value === "number" ? value : 0),
  threads: (c, value) => c.set_threads(threadsOf(value)),
  memoryLimit: (c, value) => c.set_memory_limit(value),
  patterns: (c, value) => list(value).forEach((path) => c.add_patterns(c.path(path))),
  kernels: (c, value) => list(value).forEach((path) => c.add_kernel(c.path(path))),
  disable: (c, value) => list(value).forEach((pass) => c.disable_pass(pass)),
  verify: (c, value) => (typeof value === "object" ? apply(c, "verify", verifying, value) : c.set_verify(value)),
  quantize: (c, value) => apply(c, "quantize", quantizing, typeof value === "string" ? { kind: value } : value, ["judge", "maxDrop"]),
};
/** Said elsewhere: to the compile itself. */
const others = ["progress", "dump", "signal", "calibration"];

function apply(c, what, table, options, elsewhere = []) {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || elsewhere.includes(name)) continue;
    if (!Object.hasOwn(table, name))
      throw new HologramError(`${what} has no option ${JSON.stringify(name)}; it has ${[...Object.keys(table), ...elsewhere].join(", ")}`);
    table[name](c, value, options);
  }
}

/** The functions of one compiler: c.set_tune(true) is holo_compiler_set_tune(compiler, true). */
function compilerOf(backend, handle) {
  return new Proxy(
    { path: backend.path },
    {
      get: (target, name) => target[name] ?? ((...args) => backend.native[`holo_compiler_${String(name)}`](handle, ...args)),
    },
  );
}

/** Calls of functions that the caller gave: the first error that one throws is kept, and stops the compile. */
class Calls {
  error = undefined;
  constructor(stop) {
    this.stop = stop;
  }
  of(given) {
    return (...args) => {
      try {
        return this.error ? undefined : given(...args);
      } catch (error) {
        this.error = { thrown: error };
        this.stop();
        return undefined;
      }
    };
  }
}

/** What the compile calls back: progress(stage, fraction), dump(pass, text), and judge(samples), each an array of outputs. */
function listenersOf(backend, { progress, dump, quantize }, calls) {
  const [dumped, text] = typeof dump === "function" ? ["all", dump] : dump ? [dump.pass, dump.text] : [null, null];
  for (const [name, given] of Object.entries({ progress, "dump.text": text, judge: quantize?.judge }))
    if (given && typeof given !== "function") throw new HologramError(`${name} is a function, not ${typeof given}`);
  const hear = progress || text ? (what, fraction, said) => (said === null ? progress?.(what, fraction) : text(what, said)) : null;
  if (quantize?.maxDrop !== undefined && !quantize.judge)
    throw new HologramError("maxDrop says how far the score of a judge may drop: give judge, too");
  const judge = quantize?.judge && ((samples, outputs, arrays) => quantize.judge(backend.samples(samples, outputs, arrays)));
  return { hear: hear && calls.of(hear), hasProgress: Boolean(progress), dumped, judge: judge ? calls.of(judge) : null, maxDrop: quantize?.maxDrop ?? 0.01 };
}

/** Names of options that are about compiling. */
export const compileOptions = [...Object.keys(rows), ...others];

/** Compiles a model: {model, report}; where there is a `target`, the archive is written there, and model is 0. */
export async function compileModel(backend, source, target, options = {}) {
  const { native } = backend,
    { signal, calibration } = options;
  if (signal?.aborted) throw aborted(signal);
  const compiler = native.holo_compiler_create(),
    c = compilerOf(backend, compiler);
  let asking;
  const cancel = () => native.holo_compiler_cancel(compiler);
  const abort = () => {
    cancel();
    asking = setInterval(cancel, 20); // again: a compile that waits for a thread hears it only when it has begun
  };
  const calls = new Calls(cancel);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    apply(c, "compile", rows, options, others);
    if (calibration !== undefined) await calibrate(backend, c, compiler, calibration, source);
    const made = await backend.compile(compiler, source, target, listenersOf(backend, options, calls));
    if (calls.error) throw calls.error.thrown;
    return made;
  } catch (error) {
    if (calls.error) throw calls.error.thrown;
    throw error.code === "CANCELLED" && signal?.aborted ? aborted(signal) : error;
  } finally {
    signal?.removeEventListener("abort", abort);
    clearInterval(asking);
    native.close(compiler);
  }
}

/** The inputs of a model that is a file; none of one in memory. */
function inputsOf(backend, source) {
  if (typeof source !== "string") return [];
  const { native } = backend,
    handle = native.holo_source_open(source);
  try {
    return Array.from({ length: native.holo_source_input_count(handle) }, (_, i) => portOf(native.holo_source_input(handle, i)));
  } finally {
    native.close(handle);
  }
}

/** Samples are a path, or come one by one, each an object of tensors by names of inputs. */
async function calibrate(backend, c, compiler, calibration, source) {
  if (typeof calibration === "string" || calibration instanceof URL) {
    c.set_calibration(c.path(calibration));
    return;
  }
  if (!calibration?.[Symbol.asyncIterator] && !calibration?.[Symbol.iterator])
    throw new HologramError("calibration is a path, or an iterable of inputs");
  const ports = new Map(inputsOf(backend, source).map((port) => [port.name, port]));
  const valueOf = (name, given) =>
    ports.has(name) ? valueFor(ports.get(name), given) : given instanceof Tensor ? given : new Tensor(given);
  let count = 0;
  for await (const feeds of calibration) {
    count++;
    backend.addSample(
      compiler,
      Object.entries(feeds).map(([name, given]) => [name, valueOf(name, given)]),
    );
  }
  if (!count) throw new HologramError("calibration has no samples: give some, or leave it out to calibrate with made-up ones");
}
