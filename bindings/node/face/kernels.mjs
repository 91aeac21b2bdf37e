// Kernels of the kernel language, run on typed arrays: what they write is written there.
import { dtypeOf } from "./dtype.mjs";
import { HoloNumeric } from "./enums.mjs";
import { HologramError } from "./errors.mjs";
import { Held, Turns } from "./held.mjs";
import { Tensor } from "./tensor.mjs";

const say = (kernel) =>
  `${kernel.name}(${kernel.params.map((param) => `${param.name}: ${param.dtype}${param.isArray ? "[]" : ""}`).join(", ")})`;

function argumentFor(kernel, param, given) {
  const type = dtypeOf(param.dtype);
  if (given === undefined) throw new HologramError(`${say(kernel)}: argument ${param.name} is missing`);
  if (given instanceof Tensor || ArrayBuffer.isView(given)) {
    const data = given instanceof Tensor ? given.data : given;
    if (!type.holds(data) || (given instanceof Tensor && given.dtype !== param.dtype))
      throw new HologramError(`${say(kernel)}: argument ${param.name} is a ${type.array.name}, not a ${data.constructor.name}`);
    return given instanceof Tensor ? given : new Tensor(param.dtype, given);
  }
  if (param.isArray)
    throw new HologramError(`${say(kernel)}: argument ${param.name} is a ${type.array.name}${param.isWritten ? ", which is written" : ""}`);
  return Tensor.from(given, param.dtype);
}

/** A file of kernels that is open. */
export class Kernels extends Held {
  #backend;
  #pool;
  #turns = new Turns();

  constructor(backend, handle, pool) {
    super(backend, handle);
    const { native } = backend;
    this.#backend = backend;
    this.#pool = pool;
    /** Each with name, function, doc, type, params and its program as text. */
    this.list = Object.freeze(
      Array.from({ length: native.holo_kernels_count(handle) }, (_, i) => {
        const { params, type, ...rest } = native.holo_kernels_info(handle, i),
          named = (number) => (number ? backend.dtypeName(number) : null);
        return Object.freeze({
          ...rest,
          type: named(type),
          params: params.map(({ type: of, ...param }) => ({ ...param, dtype: named(of) })),
        });
      }),
    );
  }

  /** The kernel of a name, or of a function, by the types of its arguments. */
  #find(name, args) {
    const named = this.list.findIndex((kernel) => kernel.name === name);
    if (named >= 0) return named;
    const fits = (kernel) =>
      kernel.function === name &&
      kernel.params.every((param) => {
        const given = args[param.name],
          data = given instanceof Tensor ? given.data : given;
        return !param.isArray || dtypeOf(param.dtype).holds(data);
      });
    const at = this.list.findIndex(fits);
    if (at >= 0) return at;
    const alike = this.list.filter((kernel) => kernel.function === name);
    throw new HologramError(
      alike.length
        ? `no ${name} has arguments of these types: there are ${alike.map(say).join(", ")}`
        : `there is no kernel ${JSON.stringify(name)}; there are ${this.list.map((kernel) => kernel.name).join(", ")}`,
    );
  }

  #request(name, args, { lanes = 0, block = [0, 0, 0], turns = 0 } = {}) {
    const index = this.#find(name, args),
      kernel = this.list[index];
    for (const given in args)
      if (!kernel.params.some((param) => param.name === given)) throw new HologramError(`${say(kernel)} has no argument ${given}`);
    return {
      numbers: [index, lanes, block[0] ?? 0, block[1] ?? 0, block[2] ?? 0, turns],
      args: kernel.params.map((param) => argumentFor(kernel, param, args[param.name])),
      pool: this.#pool,
    };
  }

  /** Runs a kernel on this thread. Arguments are typed arrays, tensors and numbers, by name. */
  runSync(name, args, options) {
    this.#backend.runKernel(this.handle, this.#request(name, args, options));
  }

  /** The same on another thread. Kernels of one file run one after another. */
  async run(name, args, options) {
    return this.keep((handle) => this.#turns.take(() => this.#backend.startKernel(handle, this.#request(name, args, options))));
  }

  /** Writes them all as an archive. */
  write(path) {
    this.#backend.native.holo_kernels_write(this.handle, this.#backend.path(path));
  }
}

/** Compiles a file of kernels, or all below a folder; or opens an archive that holds kernels. */
export function openKernels(backend, path, { numeric = "fused", threads = 1 } = {}) {
  const value = HoloNumeric[String(numeric).toUpperCase()];
  if (value === undefined) throw new HologramError(`numeric is "fused" or "exact", not ${JSON.stringify(numeric)}`);
  return new Kernels(backend, backend.native.holo_kernels_open(backend.path(path), value), backend.pool(threads));
}
