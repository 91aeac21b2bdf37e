// Node's backend: the addon. What a call says beside its arrays stands in the block, memory that the addon shares: see src/addon.h.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadsOf } from "./compile.mjs";
import { dtypeAt, dtypeOf } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { native } from "./native.cjs";
import { Tensor, fits } from "./tensor.mjs";

native.begin(HologramError);

const kinds = ["tensor", "sequence", "optional", "map"];
const utf8 = new TextEncoder(),
  text = new TextDecoder();
const valueRoom = 24; // numbers that a tensor takes in the block, at most

// ---- writing

let block = new Float64Array(native.block(0)),
  at = 0;

function room(count) {
  if (at + count > block.length) block = new Float64Array(native.block(at + count));
}

function putStrings(strings, arrays) {
  const parts = strings.map((one) => utf8.encode(one)),
    ends = new Float64Array(parts.length);
  const bytes = new Uint8Array(parts.reduce((size, part, i) => (ends[i] = size + part.length), 0));
  parts.forEach((part, i) => bytes.set(part, ends[i] - part.length));
  arrays.push(bytes, ends);
}

/** A typed array of a kind that every Node-API knows. */
const plain = (data) =>
  globalThis.Float16Array && data instanceof Float16Array ? new Uint16Array(data.buffer, data.byteOffset, data.length) : data;

function putTensor(tensor, arrays) {
  const { dtype, shape, data } = tensor,
    rank = shape.length;
  if (rank > 16) throw new HologramError("a tensor has at most 16 dimensions");
  room(valueRoom);
  block[at] = 0;
  block[at + 1] = dtypeOf(dtype).number;
  block[at + 2] = rank;
  for (let i = 0; i < rank; i++) block[at + 3 + i] = shape[i];
  at += 3 + rank;
  if (dtype === "string") putStrings(data, arrays);
  else arrays.push(plain(data));
}

function putValue(value, arrays) {
  if (value instanceof Tensor) return putTensor(value, arrays);
  room(valueRoom);
  block[at++] = kinds.indexOf(value.kind);
  block[at++] = dtypeOf(value.dtype).number;
  if (value.kind !== "map") {
    block[at++] = kinds.indexOf(value.inner);
    block[at++] = value.items.length;
  }
  for (const item of value.items) putValue(item, arrays);
}

/** A run in the block, and its arrays. */
function putRun({ values, wanted, memory, timeLimit }, flag = undefined) {
  const arrays = flag ? [flag] : [];
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] !== undefined) count++;
  at = 0;
  room(valueRoom);
  block[0] = timeLimit;
  block[1] = flag ? 1 : 0;
  block[2] = count;
  block[3] = wanted.length;
  at = 4;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === undefined) continue;
    room(valueRoom);
    block[at++] = i;
    putValue(values[i], arrays);
  }
  for (let i = 0; i < wanted.length; i++) {
    room(valueRoom);
    block[at++] = wanted[i];
    block[at++] = memory[i] ? 1 : 0;
    if (memory[i]) arrays.push(plain(memory[i]));
  }
  return arrays;
}

// ---- reading

function takeStrings(arrays) {
  const bytes = new Uint8Array(arrays.shift()),
    ends = new Float64Array(arrays.shift());
  return Array.from(ends, (end, i) => text.decode(bytes.subarray(i ? ends[i - 1] : 0, end)));
}

/** `memory`: the array that the caller had for it. */
function takeTensor(arrays, memory) {
  const dtype = dtypeAt(block[at]),
    rank = block[at + 1],
    shape = new Array(rank);
  let count = dtype.entries;
  for (let i = 0; i < rank; i++) count *= shape[i] = block[at + 2 + i];
  at += 2 + rank;
  if (dtype.name === "string") return new Tensor("string", takeStrings(arrays), shape);
  const data = memory ? (memory.length === count ? memory : memory.subarray(0, count)) : new dtype.array(arrays.shift());
  return new Tensor(dtype.name, data, shape, fits);
}

function takeValue(arrays, memory) {
  const kind = kinds[block[at++]];
  if (kind === "tensor") return takeTensor(arrays, memory);
  const dtype = dtypeAt(block[at++])?.name,
    inner = kind === "map" ? "tensor" : kinds[block[at++]],
    count = kind === "map" ? 2 : block[at++];
  return { kind, dtype, inner, items: Array.from({ length: count }, () => takeValue(arrays)) };
}

function takeValues(count, arrays, memory) {
  if (block[0] === -1) block = new Float64Array(native.block(0)); // it has grown
  at = 1;
  const values = new Array(count);
  for (let i = 0; i < count; i++) values[i] = takeValue(arrays, memory[i]);
  return values;
}

/** [name, Tensor] of each of a set of the library's, which ends. */
function takeTensors(handle) {
  try {
    return Array.from({ length: native.holo_tensors_count(handle) }, (_, i) => {
      const { value, name } = native.holo_tensors_get(handle, i),
        { name: dtype, array } = dtypeAt(value.dtype);
      return [name, new Tensor(dtype, dtype === "string" ? (value.data ?? []) : new array(value.data ?? 0), value.shape)];
    });
  } finally {
    native.close(handle);
  }
}

// ---- the backend

const registry = new FinalizationRegistry((handle) => native.close(handle));
const pools = new Map();

/** What stops each run and compile on another thread: a process that ends does not wait for them. */
const running = new Set();
process.on("exit", () => running.forEach((stop) => stop()));

/** Other threads may not see memory that JavaScript can take away: that of buffers that can be resized is copied. */
function unresizable(arrays) {
  for (let i = 0; i < arrays.length; i++) if (arrays[i].buffer.resizable) arrays[i] = arrays[i].slice();
  return arrays;
}

function putKernel({ numbers, args }) {
  const arrays = [];
  at = 0;
  room(valueRoom);
  for (const number of numbers) block[at++] = number;
  block[at++] = args.length;
  for (const arg of args) putValue(arg, arrays);
  return arrays;
}

export const backend = {
  native,

  registry: {
    register: (object, handle, token) => registry.register(object, handle, token),
    unregister: (token) => registry.unregister(token),
    close: (handle) => native.close(handle),
  },

  path(given) {
    if (given instanceof URL) return fileURLToPath(given);
    return typeof given === "string" ? given : undefined;
  },

  /** Pools are shared: of one size there is one. */
  pool(threads) {
    if (threadsOf(threads) === 1) return 0;
    if (!pools.has(threads)) pools.set(threads, native.holo_pool_create(threads));
    return pools.get(threads);
  },

  run(handle, request) {
    return takeValues(request.wanted.length, native.run(handle, putRun(request)), request.memory);
  },

  start(handle, request) {
    return new Promise((resolve, reject) => {
      const given = request.memory,
        flag = new Int32Array(1);
      if (given.some((array) => array?.buffer.resizable))
        throw new HologramError("outputs of run() cannot be written into a buffer that can be resized: call runSync()");
      request.stop = () => {
        flag[0] = 1;
        native.cancel(handle);
      };
      native.start(handle, unresizable(putRun(request, flag)), (error, arrays) => {
        running.delete(request.stop);
        if (error) return reject(error);
        try {
          resolve(takeValues(request.wanted.length, arrays, given));
        } catch (wrong) {
          reject(wrong);
        }
      });
      running.add(request.stop);
    });
  },

  compile(compiler, source, target, listeners) {
    return new Promise((resolve, reject) => {
      const stop = () => native.holo_compiler_cancel(compiler);
      native.compile(compiler, source, target, listeners, (error, result) => {
        running.delete(stop);
        if (error) reject(error);
        else resolve(result);
      });
      running.add(stop);
    });
  },

  async written(work) {
    const folder = await mkdtemp(join(tmpdir(), "hologram-"));
    try {
      const report = await work(join(folder, "out.holo"));
      return { archive: new Uint8Array(await readFile(join(folder, "out.holo"))), report };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },

  addSample(compiler, entries) {
    const arrays = [],
      names = entries.map(([name]) => name);
    at = 0;
    for (const [, value] of entries) putValue(value, arrays);
    native.add_sample(compiler, names, arrays);
  },

  samples(count, outputs, arrays) {
    const values = takeValues(count * outputs, arrays, []);
    return Array.from({ length: count }, (_, i) => values.slice(i * outputs, (i + 1) * outputs));
  },

  seeded(port, sizes) {
    const shape = port.shape?.map((size) => (typeof size === "number" && size >= 0 ? size : (sizes[size] ?? 1))) ?? [];
    return takeTensors(native.holo_tensors_seeded({ dtype: dtypeOf(port.dtype).number, shape }, 1))[0][1];
  },

  readTensors: (path) => takeTensors(native.holo_tensors_read(path, null)),
  writeTensor: (path, { dtype, shape, data }) =>
    native.holo_tensor_write_npy(path, { dtype: dtypeOf(dtype).number, shape, data: plain(data) }),

  runKernel(handle, request) {
    native.kernels_run(handle, putKernel(request), request.pool);
  },

  startKernel(handle, request) {
    const arrays = putKernel(request);
    if (arrays.some((array) => array.buffer.resizable))
      throw new HologramError("a kernel cannot run on another thread on a buffer that can be resized: call runSync()");
    return new Promise((resolve, reject) =>
      native.kernels_run(handle, arrays, request.pool, (error) => (error ? reject(error) : resolve())),
    );
  },

  /** A step of a language model on another thread: call(done) begins it. */
  startText(language, call) {
    return new Promise((resolve, reject) => {
      const stop = () => native.language_cancel(language);
      call((error, result) => {
        running.delete(stop);
        if (error) reject(error);
        else resolve(result);
      });
      running.add(stop);
    });
  },

  dtypeName: (number) => dtypeAt(number)?.name ?? null,
  openBytes: (bytes) => native.holo_model_open_memory(bytes),
};
