// The face of the package: what users import, over a backend. Node's backend is the addon; a browser's will be WebAssembly.
//
// A backend has
//   native                          functions of the C library by their names, with handles that are numbers; and close, cancel
//   registry                        {register, unregister, close}: closes handles of objects that nobody has any more
//   path(given)                     a path or URL as the library takes it; undefined where it is neither
//   pool(threads)                   the handle of a pool: 0 one thread a core, 1 no pool (0 is returned)
//   run(handle, request)            values of outputs; start: the same as a promise, on another thread.
//                                   A request: {values, wanted, memory, timeLimit}, see model.mjs; start adds stop()
//   compile(compiler, source, target, listeners)   a promise of {model, report}
//   written(work)                   {archive, report}: the bytes that work(path) writes to a path, and what it gives
//   addSample(compiler, entries)    [name, value] of each input of a calibration sample
//   samples(count, outputs, arrays) what a judge is given
//   seeded(port, sizes)             a made-up input
//   readTensors(path)               [name, Tensor] of each of a file; writeTensor(path, tensor)
//   runKernel(handle, request), startKernel
//   startText(language, call)       a promise of what call(done) gives to done(error, result), on another thread
//   dtypeName(number), openBytes(bytes)
// A value is a Tensor, or {kind, dtype, inner, items}.
import { compileModel, compileOptions } from "./compile.mjs";
import { HoloFileKind } from "./enums.mjs";
import { HologramError, aborted } from "./errors.mjs";
import { openKernels } from "./kernels.mjs";
import { Model } from "./model.mjs";
import { Tokenizer } from "./text.mjs";

const magic = [0x89, 0x48, 0x4f, 0x4c, 0x4f, 0x0d, 0x0a, 0x1a];
const prefault = 1,
  huge = 2; // HOLO_OPEN_...
const openOptions = ["threads", "sessions", "device", "prefault", "hugePages"];
/** What programs for browsers and Node say: here an archive opens at once, and runs are on other threads anyway. */
const elsewhere = ["onprogress", "cache", "text", "worker", "signal"];

/** A path or bytes, of what a user gave. */
function sourceOf(backend, source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer || (globalThis.SharedArrayBuffer && source instanceof SharedArrayBuffer)) return new Uint8Array(source);
  const path = backend.path(source);
  if (path === undefined) throw new HologramError("a model is a path, a file: URL, or its bytes in an ArrayBuffer or typed array");
  return path;
}

function pathOf(backend, given, what = "the first argument") {
  const path = backend.path(given);
  if (path === undefined) throw new HologramError(`${what} is a path or a file: URL, not ${given === null ? "null" : typeof given}`);
  return path;
}

const isArchive = (native, source) =>
  typeof source === "string" ? native.holo_file_kind(source) === HoloFileKind.ARCHIVE : magic.every((byte, i) => source[i] === byte);

function openArchive(backend, source, options) {
  const flags = (options.prefault ? prefault : 0) | (options.hugePages ? huge : 0);
  return typeof source === "string" ? backend.native.holo_model_open_with(source, flags) : backend.openBytes(source);
}

/** A Model of a handle, that runs on the threads of the options. */
function modelOf(backend, handle, options, report) {
  const pool = backend.pool(options.threads ?? 0);
  try {
    if (options.device !== undefined) backend.native.holo_model_set_device(handle, options.device);
    backend.native.holo_model_set_runs(handle, pool, options.sessions ?? 0);
    return new Model(backend, handle, pool, report);
  } catch (error) {
    backend.native.close(handle);
    throw error;
  }
}

function tokenizerOf(backend, path) {
  const { native } = backend;
  if (native.holo_file_kind(path) !== HoloFileKind.ARCHIVE) return new Tokenizer(backend, native.holo_tokenizer_compile(path));
  const model = native.holo_model_open_with(path, 0);
  try {
    const tokenizer = Tokenizer.ofModel(backend, model);
    if (!tokenizer) throw new HologramError("the model has no tokenizer: compile a folder that has a tokenizer.json", "UNSUPPORTED");
    return tokenizer;
  } finally {
    native.close(model);
  }
}

function check(options, known) {
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new HologramError(`there is no option ${JSON.stringify(name)}; there are ${known.join(", ")}`);
}

export function createFace(backend) {
  const { native } = backend;
  return {
    /** Opens an archive; a model of another format is compiled in memory first. */
    async open(given, options = {}) {
      const source = sourceOf(backend, given);
      check(options, [...openOptions, ...compileOptions, ...elsewhere]);
      if (options.signal?.aborted) throw aborted(options.signal);
      backend.pool(options.threads ?? 0);
      const isCompiled = isArchive(native, source),
        unused = isCompiled && Object.keys(options).find((name) => options[name] !== undefined && ![...openOptions, ...elsewhere].includes(name));
      if (unused) throw new HologramError(`${JSON.stringify(unused)} is an option of compiling: an archive is compiled already`);
      if (isCompiled) return modelOf(backend, openArchive(backend, source, options), options);
      const compiling = Object.fromEntries(Object.entries(options).filter(([name]) => compileOptions.includes(name)));
      const { model, report } = await compileModel(backend, source, null, compiling);
      return modelOf(backend, model, options, report);
    },

    /** Opens an archive at once: it takes microseconds. */
    openSync(given, options = {}) {
      const source = sourceOf(backend, given);
      check(options, openOptions);
      if (!isArchive(native, source)) throw new HologramError("this is no archive: compile it first, or call open()", "BAD_ARCHIVE");
      return modelOf(backend, openArchive(backend, source, options), options);
    },

    /** Compiles a model into the archive `target`, and gives a report of what was done; without a target {archive, report}, with its bytes. */
    async compile(given, target, options = {}) {
      if (target === undefined || (target && Object.getPrototypeOf(target) === Object.prototype)) {
        check(target ?? {}, compileOptions);
        return backend.written(async (path) => (await compileModel(backend, sourceOf(backend, given), path, target ?? {})).report);
      }
      const path = pathOf(backend, target, "the second argument of compile()");
      check(options, compileOptions);
      return (await compileModel(backend, sourceOf(backend, given), path, options)).report;
    },

    /** The tensor of a file that has one: .npy, ONNX's .pb, numbers as text. */
    readTensor(path) {
      const all = backend.readTensors(pathOf(backend, path));
      if (all.length !== 1) throw new HologramError(`${path} has ${all.length} tensors: call readTensors()`);
      return all[0][1];
    },

    /** {name: Tensor} of a file, such as a .npz. */
    readTensors: (path) => Object.fromEntries(backend.readTensors(pathOf(backend, path))),

    /** Writes a .npy. */
    writeTensor: (path, tensor) => backend.writeTensor(pathOf(backend, path), tensor),

    /** The tokenizer of a file, a folder or an archive. */
    openTokenizer: (path) => tokenizerOf(backend, pathOf(backend, path)),

    kernels: { open: (path, options) => openKernels(backend, path, options) },

    /** The version of the C library, and the level of CPU whose kernels are in use. */
    version: native.holo_version(),
    cpuLevel: native.holo_cpu_level(),
  };
}
