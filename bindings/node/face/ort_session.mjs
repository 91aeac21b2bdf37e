// The InferenceSession of hologram/onnxruntime: onnxruntime-node's, over a model of the package.
import { NoCounterpart, Tensor, ortOf, plainOf } from "./ort_tensor.mjs";

const short = 0.3; // milliseconds
const isObject = (given) => typeof given === "object" && given !== null;

/** Options of a session that mean something here become those of open(); those that would change answers or files are errors. */
async function openOptions(options) {
  const { executionProviders = [], intraOpNumThreads, extra } = options;
  for (const provider of executionProviders) {
    const name = typeof provider === "string" ? provider : provider.name;
    if (name !== "cpu" && name !== host.provider) host.warn(`the execution provider ${name} is not there: the model runs on the CPU`);
  }
  if (options.optimizedModelFilePath !== undefined)
    throw new NoCounterpart("optimizedModelFilePath", "compile() of the package writes an archive, which opens at once");
  const files = options.externalData?.length ? await host.files?.(options.externalData) : undefined;
  if (options.externalData?.length && !files)
    throw new NoCounterpart("externalData", "give the path of a model, and its other files are found beside it");
  if (options.enableGraphCapture) throw new NoCounterpart("enableGraphCapture", "there is no GPU");
  const location = options.preferredOutputLocation;
  for (const one of isObject(location) ? Object.values(location) : [location ?? "cpu"])
    if (one !== "cpu") throw new NoCounterpart(`output location ${one}`, "outputs are in the memory of JavaScript");
  return { threads: intraOpNumThreads ?? 0, ...(files && { files }), ...extra?.hologram };
}

/** Sizes by the names of open dimensions, as shapes of inputs; undefined: none of them is meant. */
function overridden(inputs, overrides) {
  const shapes = {};
  for (const { name, shape } of inputs)
    if (shape?.some((size) => Object.hasOwn(overrides, size))) shapes[name] = shape.map((size) => overrides[size] ?? size);
  return Object.keys(shapes).length ? shapes : undefined;
}

function metadataOf(ports) {
  return ports.map(({ name, kind, dtype, shape }) =>
    kind === "tensor" ? { name, isTensor: true, type: dtype, shape: [...(shape ?? [])] } : { name, isTensor: false },
  );
}

/** The bytes or the path of create()'s arguments, and what follows them. */
function sourceOf(given, rest) {
  const isBuffer = given instanceof ArrayBuffer || (globalThis.SharedArrayBuffer && given instanceof SharedArrayBuffer);
  if (typeof given === "string" || given instanceof URL || given instanceof Uint8Array) return [given, rest[0]];
  if (!isBuffer) throw new TypeError("the first argument is the path of a model, or a buffer that holds one");
  if (typeof rest[0] !== "number") return [new Uint8Array(given), rest[0]];
  const [offset, length = given.byteLength - offset] = typeof rest[1] === "number" ? rest : [rest[0]];
  if (!Number.isSafeInteger(offset) || offset < 0 || offset >= given.byteLength)
    throw new RangeError(`byteOffset is out of range [0, ${given.byteLength})`);
  if (!Number.isSafeInteger(length) || length <= 0 || offset + length > given.byteLength)
    throw new RangeError(`byteLength is out of range (0, ${given.byteLength - offset}]`);
  return [new Uint8Array(given, offset, length), typeof rest[1] === "number" ? rest[2] : rest[1]];
}

/** What run() was given behind the feeds: names of outputs, or tensors for them, and options. */
function fetchesOf(outputNames, second, third) {
  if (second === undefined) return { fetches: undefined, options: {} };
  if (!isObject(second) || second instanceof Tensor)
    throw new TypeError("the second argument of run() is an array of output names, an object of them, or options");
  if (third !== undefined && !isObject(third)) throw new TypeError("the options of run() are an object");
  if (Array.isArray(second)) {
    if (second.length === 0) throw new TypeError("the array of output names is empty");
    for (const name of second) {
      if (typeof name !== "string") throw new TypeError("output names are strings");
      if (!outputNames.includes(name))
        throw new RangeError(`the model has no output ${JSON.stringify(name)}; it has ${outputNames.join(", ")}`);
    }
    return { fetches: Object.fromEntries(second.map((name) => [name, null])), options: third ?? {} };
  }
  const named = outputNames.filter((name) => Object.hasOwn(second, name) && (second[name] === null || isObject(second[name])));
  if (!named.length) return { fetches: undefined, options: second };
  return { fetches: Object.fromEntries(named.map((name) => [name, second[name]])), options: third ?? {} };
}

/**
 * {open, warn, profile}: open() of the face, who hears notes, and what times the runs of a session. Of browsers also {provider}, the name
 * of the execution provider that it is there, and {files}: a promise of {name: bytes} of external data.
 */
let host;
export function setHost(given) {
  host = given;
}

export class InferenceSession {
  #model;
  #runs;
  #profiling;
  #last = Infinity; // milliseconds of the last run

  constructor(model, options) {
    this.#model = model;
    this.#runs = options.enableProfiling ? model.session() : model;
    if (options.enableProfiling) this.#profiling = host.profile(this.#runs, options.profileFilePrefix ?? "onnxruntime_profile_");
  }

  /** create(path, options?), create(bytes, options?), create(buffer, byteOffset?, byteLength?, options?). */
  static async create(given, ...rest) {
    const [source, options = {}] = sourceOf(given, rest);
    if (!isObject(options)) throw new TypeError("the options of a session are an object");
    const choices = await openOptions(options);
    let model = await host.open(source, choices);
    const inputShapes = options.freeDimensionOverrides && overridden(model.inputs, options.freeDimensionOverrides);
    if (inputShapes && model.report) {
      model.close();
      model = await host.open(source, { ...choices, inputShapes });
    }
    return new InferenceSession(model, options);
  }

  async run(feeds, second, third) {
    if (!isObject(feeds) || feeds instanceof Tensor || Array.isArray(feeds))
      throw new TypeError("feeds are an object with names of inputs as keys, and tensors");
    const { fetches, options } = fetchesOf(this.outputNames, second, third),
      inputs = {},
      into = {};
    if (options.terminate) throw new Error("the run was terminated by its options");
    for (const { name, optional } of this.#model.inputs) {
      if (feeds[name] === undefined && !optional) throw new Error(`input '${name}' is missing in 'feeds'`);
      if (feeds[name] !== undefined) inputs[name] = this.#given(name, feeds[name]);
    }
    for (const [name, tensor] of Object.entries(fetches ?? {})) if (tensor) into[name] = tensor.data;
    const results = await this.#timed(inputs, { outputs: fetches && Object.keys(fetches), into });
    for (const [name, value] of Object.entries(results))
      results[name] = fetches?.[name] && fetches[name].data === value.data ? fetches[name] : ortOf(value);
    return results;
  }

  /** A run that takes less than the way to another thread and back is done here; onnxruntime-node does all of them here. */
  async #timed(inputs, options) {
    const begin = performance.now(),
      isShort = this.#last < short,
      results = isShort ? this.#runs.runSync(inputs, options) : await this.#runs.run(inputs, options);
    this.#last = performance.now() - begin;
    return results;
  }

  /** Inputs that are no tensors have no counterpart there, and are as in the package. */
  #given(name, given) {
    return this.#model.inputs.find((port) => port.name === name).kind === "tensor" ? plainOf(name, given) : given;
  }

  async release() {
    this.#runs.close();
    this.#model.close();
  }

  startProfiling() {}

  endProfiling() {
    this.#profiling?.();
    this.#profiling = undefined;
  }

  get inputNames() {
    return this.#model.inputs.map(({ name }) => name);
  }

  get outputNames() {
    return this.#model.outputs.map(({ name }) => name);
  }

  get inputMetadata() {
    return metadataOf(this.#model.inputs);
  }

  get outputMetadata() {
    return metadataOf(this.#model.outputs);
  }
}
