// Tensors: a type, a shape, and a typed array that holds the elements in row-major order.
import { dtypeNames, dtypeOf, dtypeOfArray, fromHalf, toHalf } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";

function countOf(shape) {
  let count = 1;
  for (let i = 0; i < shape.length; i++) {
    const size = shape[i];
    if (!(Number.isSafeInteger(size) && size >= 0)) throw new HologramError(`a shape has whole numbers from 0 on, not ${String(size)}`);
    count *= size;
  }
  return count;
}

/** A number, a bigint, a boolean or a string as an entry of an array of that type. */
function entryOf(dtype, value) {
  if (dtype.name === "string") {
    if (typeof value === "string") return value;
  } else if (dtype.name === "bool") {
    if (typeof value === "boolean" || typeof value === "number") return value ? 1 : 0;
  } else if (dtype.isBig) {
    if (typeof value === "bigint") return value;
    if (Number.isSafeInteger(value)) return BigInt(value);
  } else if (typeof value === "number") {
    return dtype.name === "float16" && dtype.array === Uint16Array ? toHalf(value) : value;
  }
  throw new HologramError(
    `${typeof value === "string" ? JSON.stringify(value) : String(value)} (${typeof value}) is no element of ${dtype.name}`,
  );
}

const RANK_MAX = 16; // HOLO_MAX_RANK

/** The shape of nested arrays, by the first element of each. */
function nestedShape(nested) {
  const shape = [];
  for (let at = nested; Array.isArray(at) || ArrayBuffer.isView(at); at = at[0]) {
    shape.push(at.length);
    if (shape.length > RANK_MAX) throw new HologramError(`a tensor has at most ${RANK_MAX} dimensions`);
  }
  return shape;
}

function fill(dtype, nested, shape, depth, data, at) {
  if (depth === shape.length) {
    data[at] = entryOf(dtype, nested);
    return at + 1;
  }
  if (nested?.length !== shape[depth])
    throw new HologramError(
      `nested arrays must be of one length: dimension ${depth} has ${shape[depth]} elements, and here ${nested?.length ?? "none"}`,
    );
  for (const item of nested) at = fill(dtype, item, shape, depth + 1, data, at);
  return at;
}

/** The type that elements suggest: numbers are float32, as models have them most. */
function guess(nested) {
  let at = nested;
  for (let depth = 0; Array.isArray(at) && depth <= RANK_MAX; depth++) at = at[0]; // an array may contain itself
  if (ArrayBuffer.isView(at)) return dtypeOfArray(at);
  return { bigint: "int64", boolean: "bool", string: "string" }[typeof at] ?? "float32";
}

/** Whether the memory of a buffer went elsewhere, as by postMessage. */
function isDetached(buffer) {
  try {
    return buffer !== undefined && new Uint8Array(buffer) === undefined;
  } catch {
    return true;
  }
}

/** For the package itself: the type, the shape and the data fit each other. */
export const fits = Symbol("fits");

export class Tensor {
  /** new Tensor("float32", data, shape), or new Tensor(data, shape): the type is then that of the typed array. */
  constructor(dtype, data, shape, known = undefined) {
    if (known === fits) {
      this.dtype = dtype;
      this.shape = shape;
      this.data = data;
      return;
    }
    if (typeof dtype !== "string") [dtype, data, shape] = [undefined, dtype, data];
    const type = dtypeOf(dtype ?? (Array.isArray(data) ? guess(data) : data && dtypeOfArray(data)));
    if (!type)
      throw new HologramError(
        dtype === undefined
          ? "a tensor is made of a typed array"
          : `there is no dtype ${JSON.stringify(dtype)}; there are ${dtypeNames.join(", ")}`,
      );
    if (Array.isArray(data) && type.name !== "string") data = Tensor.from(data, type.name).data;
    if (!type.holds(data))
      throw new HologramError(`the data of a ${type.name} tensor is a ${type.array.name}, not ${data?.constructor?.name ?? String(data)}`);
    if (data.length === 0 && isDetached(data.buffer))
      throw new HologramError("the buffer of the data was transferred to somebody else: it is empty now");
    shape = shape === undefined ? [data.length / type.entries] : [...shape];
    if (countOf(shape) * type.entries !== data.length)
      throw new HologramError(
        `the shape [${shape}] of ${type.name} needs ${countOf(shape) * type.entries} entries, and the data has ${data.length}`,
      );
    this.dtype = type.name;
    this.shape = shape;
    this.data = data;
  }

  /** A tensor of nested arrays, or of one number. */
  static from(nested, dtype = guess(nested)) {
    const type = dtypeOf(dtype);
    if (!type) throw new HologramError(`there is no dtype ${JSON.stringify(dtype)}; there are ${dtypeNames.join(", ")}`);
    if (type.entries !== 1) throw new HologramError(`a ${dtype} tensor is made of a ${type.array.name}`);
    const shape = nestedShape(nested),
      data = new type.array(countOf(shape));
    fill(type, nested, shape, 0, data, 0);
    return new Tensor(dtype, data, shape);
  }

  /** How many elements there are. */
  get size() {
    return this.data.length / dtypeOf(this.dtype).entries;
  }

  /** The same elements in another shape, without a copy; one size may be -1. */
  reshape(shape) {
    const open = shape.indexOf(-1),
      rest = shape.reduce((count, size) => (size === -1 ? count : count * size), 1);
    return new Tensor(
      this.dtype,
      this.data,
      open < 0 ? shape : (shape.with?.(open, this.size / rest) ?? shape.map((s) => (s === -1 ? this.size / rest : s))),
    );
  }

  /** Nested arrays of numbers, bigints, booleans or strings; of a tensor without dimensions the element itself. */
  toArray() {
    const { data, shape, dtype } = this;
    const halves = dtype === "float16" && data instanceof Uint16Array,
      entries = dtypeOf(dtype).entries;
    const element = (i) =>
      halves ? fromHalf(data[i]) : dtype === "bool" ? data[i] !== 0 : entries === 2 ? [data[2 * i], data[2 * i + 1]] : data[i];
    let at = 0;
    const build = (depth) => (depth === shape.length ? element(at++) : Array.from({ length: shape[depth] }, () => build(depth + 1)));
    return build(0);
  }
}
