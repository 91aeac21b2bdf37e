// Tensors, sequences, optionals and maps in the memory of an engine: HoloTensors, as hologram.h has them.
import { dtypeAt, dtypeOf } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { Tensor, fits } from "./tensor.mjs";

const kinds = ["tensor", "sequence", "optional", "map"];
const utf8 = new TextEncoder();

/** Bytes that `taken` has until somebody frees them. */
function put(engine, data, taken) {
  const at = engine.put(data);
  taken.push(at);
  return at;
}

export function putStrings(engine, strings, taken) {
  const parts = strings.map((one) => utf8.encode(one)),
    { pointer } = engine.layout,
    at = engine.take(2 * pointer * parts.length + 8);
  taken.push(at);
  parts.forEach((part, i) => {
    const where = put(engine, part, taken);
    engine.setPointer(at + 2 * pointer * i, where);
    engine.setPointer(at + 2 * pointer * i + pointer, part.length);
  });
  return at;
}

function putData(engine, value, taken) {
  if (value instanceof Tensor) return value.dtype === "string" ? putStrings(engine, value.data, taken) : put(engine, value.data, taken);
  const { tensor } = engine.layout,
    at = engine.take(tensor * value.items.length + 1);
  taken.push(at);
  value.items.forEach((item, i) => putValue(engine, at + tensor * i, item, taken));
  return at;
}

export function putValue(engine, at, value, taken) {
  const isTensor = value instanceof Tensor,
    shape = isTensor ? value.shape : value.kind === "map" ? [] : [value.items.length];
  if (shape.length > 16) throw new HologramError("a tensor has at most 16 dimensions");
  const data = putData(engine, value, taken),
    { view, layout } = engine;
  view.setUint8(at, dtypeOf(value.dtype).number);
  view.setUint8(at + 1, isTensor ? 0 : kinds.indexOf(value.kind));
  view.setUint8(at + 2, isTensor ? 0 : Math.max(0, kinds.indexOf(value.inner)));
  view.setInt8(at + 3, shape.length);
  shape.forEach((size, i) => view.setBigInt64(at + layout.tensorShape + 8 * i, BigInt(size), true));
  engine.setPointer(at + layout.tensorData, data);
}

function takeStrings(engine, at, count) {
  const { pointer } = engine.layout,
    word = (i) => engine.pointerAt(at + pointer * i);
  return Array.from({ length: count }, (_, i) => engine.textAt(word(2 * i), word(2 * i + 1)));
}

/** A copy; `memory`: the array that the caller had for it. */
export function takeValue(engine, at, memory) {
  const { view, layout } = engine,
    type = dtypeAt(view.getUint8(at)),
    kind = kinds[view.getUint8(at + 1)],
    inner = kind === "map" ? "tensor" : kinds[view.getUint8(at + 2)],
    shape = Array.from({ length: Math.max(0, view.getInt8(at + 3)) }, (_, i) => Number(view.getBigInt64(at + layout.tensorShape + 8 * i, true))),
    data = engine.pointerAt(at + layout.tensorData);
  if (kind !== "tensor") {
    const length = kind === "map" ? 2 : shape[0];
    return { kind, dtype: type?.name, inner, items: Array.from({ length }, (_, i) => takeValue(engine, data + layout.tensor * i)) };
  }
  const count = shape.reduce((product, size) => product * size, type.entries);
  if (type.name === "string") return new Tensor("string", takeStrings(engine, data, count), shape);
  const bytes = count * type.array.BYTES_PER_ELEMENT;
  let array = memory ?? new type.array(count);
  if (array.byteLength < bytes) throw new HologramError(`an output has ${count} elements, and the array for it ${array.length}`, "BAD_INPUT");
  if (array.length !== count) array = array.subarray(0, count);
  new Uint8Array(array.buffer, array.byteOffset, bytes).set(engine.bytes.subarray(data, data + bytes));
  return new Tensor(type.name, array, shape, fits);
}

/** Numbers that look random, the same each time, for an input. */
export function seeded(port, sizes) {
  const shape = port.shape?.map((size) => (typeof size === "number" && size >= 0 ? size : (sizes[size] ?? 1))) ?? [],
    type = dtypeOf(port.dtype),
    count = shape.reduce((product, size) => product * size, type.entries);
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
    isReal = /^(float32|float64|complex)/.test(port.dtype),
    entry = isReal ? () => next() * 2 - 1 : type.isBig ? () => BigInt(Math.floor(next() * 2)) : () => Math.floor(next() * 2);
  if (port.dtype === "string") return new Tensor("string", new Array(count).fill("a"), shape);
  return new Tensor(port.dtype, new type.array(count).map(entry), shape);
}
