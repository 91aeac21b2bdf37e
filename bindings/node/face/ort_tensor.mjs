// The Tensor of hologram/onnxruntime: type, data and dims, as onnxruntime-common has it.
import { dtypeOf, dtypeOfArray } from "./dtype.mjs";
import { Tensor as Plain } from "./tensor.mjs";

const types = "float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32 uint64 uint4 int4".split(" ");
/** Two elements a byte there; in Hologram each has a byte. */
const nibbles = ["uint4", "int4"];
const arrayOf = (type) => (nibbles.includes(type) ? Uint8Array : dtypeOf(type).array);

export class NoCounterpart extends Error {
  constructor(what, instead) {
    super(`hologram/onnxruntime has no ${what}: ${instead}`);
  }
}

function sizeOf(dims) {
  if (!Array.isArray(dims)) throw new TypeError("the dims of a tensor are an array of numbers");
  dims.forEach((dim, i) => {
    if (!Number.isSafeInteger(dim)) throw new TypeError(`dims[${i}] is a whole number, not ${String(dim)}`);
    if (dim < 0) throw new RangeError(`dims[${i}] is 0 or more, not ${dim}`);
  });
  return dims.reduce((size, dim) => size * dim, 1);
}

/** The data of a tensor of a type, from what a constructor was given. */
function dataOf(type, given) {
  if (!types.includes(type)) throw new TypeError(`there is no tensor type ${JSON.stringify(type)}; there are ${types.join(", ")}`);
  const array = arrayOf(type);
  if (type === "string") {
    if (!Array.isArray(given)) throw new TypeError("the data of a string tensor is an array of strings");
    return given;
  }
  if (Array.isArray(given)) {
    if (nibbles.includes(type) || (array === Uint16Array && type === "float16"))
      throw new TypeError(`the data of a ${type} tensor is a ${array.name}`);
    return array === BigInt64Array || array === BigUint64Array ? array.from(given, BigInt) : array.from(given);
  }
  if (given instanceof array) return given;
  if (given instanceof Uint8ClampedArray && type === "uint8") return Uint8Array.from(given);
  if (given instanceof Uint16Array && type === "float16") return new array(given.buffer, given.byteOffset, given.length);
  throw new TypeError(`the data of a ${type} tensor is a ${array.name}, not ${given?.constructor?.name ?? String(given)}`);
}

/** The type of data that comes without one. */
function typeFor(data) {
  if (!Array.isArray(data)) {
    const type = data && ArrayBuffer.isView(data) ? dtypeOfArray(data) : undefined;
    if (!type) throw new TypeError(`a tensor cannot be made of ${data?.constructor?.name ?? String(data)}`);
    return type;
  }
  if (data.length === 0) throw new TypeError("an empty array does not say the type of a tensor");
  const type = { string: "string", boolean: "bool" }[typeof data[0]];
  if (!type) throw new TypeError(`an array of ${typeof data[0]} does not say the type of a tensor`);
  return type;
}

const elsewhere = (what) => {
  throw new NoCounterpart(what, "tensors are in the memory of JavaScript");
};

/** {fromImage, toDataURL, toImageData}: what browsers can do with images. */
let images;
export function setImages(given) {
  images = given;
}

export class Tensor {
  #data;

  /** (type, data, dims?), (data, dims?), or ({ location: "cpu-pinned", type, data, dims }). */
  constructor(first, second, third) {
    let type = first,
      data = second,
      dims = third;
    if (first && typeof first === "object" && "location" in first) {
      if (!["cpu", "cpu-pinned"].includes(first.location)) elsewhere(`location ${first.location}`);
      ({ type, data, dims } = first);
    } else if (typeof first !== "string") {
      [type, data, dims] = [typeFor(first), first, second];
    }
    this.#data = dataOf(type, data);
    this.type = type;
    this.dims = dims === undefined ? [this.#data.length] : dims;
    this.size = sizeOf(this.dims);
    if (this.#data.length !== (nibbles.includes(type) ? Math.ceil(this.size / 2) : this.size))
      throw new Error(`the dims [${this.dims}] need ${this.size} elements, and the data has ${this.#data.length}`);
  }

  get data() {
    if (!this.#data) throw new Error("the tensor is disposed");
    return this.#data;
  }

  get location() {
    return this.#data ? "cpu" : "none";
  }

  async getData() {
    return this.data;
  }

  dispose() {
    this.#data = undefined;
  }

  reshape(dims) {
    return new Tensor(this.type, this.data, dims);
  }

  get texture() {
    return elsewhere("textures");
  }

  get gpuBuffer() {
    return elsewhere("buffers of GPUs");
  }

  get mlTensor() {
    return elsewhere("MLTensor");
  }

  toDataURL(options) {
    if (!images) throw new NoCounterpart("toDataURL", "make the picture of tensor.data");
    return images.toDataURL(this, options);
  }

  toImageData(options) {
    if (!images) throw new NoCounterpart("toImageData", "make the picture of tensor.data");
    return images.toImageData(this, options);
  }

  static fromPinnedBuffer(type, data, dims) {
    return new Tensor(type, data, dims);
  }

  static async fromImage(image, options) {
    if (!images) throw new NoCounterpart("fromImage", "decode the picture, and make a tensor of its numbers");
    return images.fromImage(image, options);
  }

  static fromTexture() {
    return elsewhere("textures");
  }

  static fromGpuBuffer() {
    return elsewhere("buffers of GPUs");
  }

  static fromMLTensor() {
    return elsewhere("MLTensor");
  }
}

// ---- to and from the tensors of the package

function unpacked(type, data, size) {
  const out = new (dtypeOf(type).array)(size);
  for (let i = 0; i < size; i++) {
    const bits = (data[i >> 1] >> (4 * (i & 1))) & 15;
    out[i] = type === "int4" && bits > 7 ? bits - 16 : bits;
  }
  return out;
}

function packed(data) {
  const out = new Uint8Array(Math.ceil(data.length / 2));
  for (let i = 0; i < data.length; i++) out[i >> 1] |= (data[i] & 15) << (4 * (i & 1));
  return out;
}

/** What a feed is to Hologram. Tensors of onnxruntime-common are taken, too. */
export function plainOf(name, tensor) {
  if (!tensor || typeof tensor.type !== "string" || !Array.isArray(tensor.dims)) throw new TypeError(`input '${name}' must be a tensor`);
  const { type, dims, data } = tensor;
  return new Plain(type, nibbles.includes(type) ? unpacked(type, data, sizeOf([...dims])) : data, dims);
}

/** A result as programs for ONNX Runtime know it; what is no tensor comes as it is. */
export function ortOf(value) {
  if (!(value instanceof Plain)) return value;
  if (!types.includes(value.dtype)) throw new NoCounterpart(`type ${value.dtype}`, "run the model with open() and run() of the package");
  return new Tensor(value.dtype, nibbles.includes(value.dtype) ? packed(value.data) : value.data, value.shape);
}
