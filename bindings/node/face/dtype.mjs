// Element types: their names here, their numbers in the C library, and the typed arrays that hold them.
import { HoloDtype } from "./enums.mjs";

const Half = globalThis.Float16Array ?? Uint16Array;

// name, the C library's, array, entries of the array for one element. Types narrower than a byte have one entry an element.
const rows = [
  ["float32", "F32", Float32Array, 1],
  ["uint8", "U8", Uint8Array, 1],
  ["int8", "I8", Int8Array, 1],
  ["uint16", "U16", Uint16Array, 1],
  ["int16", "I16", Int16Array, 1],
  ["int32", "I32", Int32Array, 1],
  ["int64", "I64", BigInt64Array, 1],
  ["string", "STRING", Array, 1],
  ["bool", "BOOL", Uint8Array, 1],
  ["float16", "F16", Half, 1],
  ["float64", "F64", Float64Array, 1],
  ["uint32", "U32", Uint32Array, 1],
  ["uint64", "U64", BigUint64Array, 1],
  ["complex64", "C64", Float32Array, 2],
  ["complex128", "C128", Float64Array, 2],
  ["bfloat16", "BF16", Uint16Array, 1],
  ["float8e4m3fn", "F8E4M3FN", Uint8Array, 1],
  ["float8e4m3fnuz", "F8E4M3FNUZ", Uint8Array, 1],
  ["float8e5m2", "F8E5M2", Uint8Array, 1],
  ["float8e5m2fnuz", "F8E5M2FNUZ", Uint8Array, 1],
  ["uint4", "U4", Uint8Array, 1],
  ["int4", "I4", Int8Array, 1],
  ["float4e2m1", "F4E2M1", Uint8Array, 1],
  ["float8e8m0", "F8E8M0", Uint8Array, 1],
  ["uint2", "U2", Uint8Array, 1],
  ["int2", "I2", Int8Array, 1],
  ["float6e2m3", "F6E2M3", Uint8Array, 1],
  ["float6e3m2", "F6E3M2", Uint8Array, 1],
];

class Dtype {
  constructor([name, c, array, entries]) {
    this.name = name;
    this.number = HoloDtype[c];
    this.array = array;
    this.entries = entries;
    this.isBig = array === BigInt64Array || array === BigUint64Array;
  }

  /** Whether a typed array can hold such elements: of two bytes in a Uint16Array as well, of one byte in either kind. */
  holds(data) {
    if (this.array === Array) return Array.isArray(data);
    if (data instanceof this.array) return true;
    if (data instanceof Uint8ClampedArray) return this.array === Uint8Array;
    return this.name === "float16" && data instanceof Uint16Array;
  }
}

const byName = new Map(rows.map((row) => [row[0], new Dtype(row)]));
const byNumber = [];
for (const dtype of byName.values()) byNumber[dtype.number] = dtype;

/** The Dtype of a name; undefined: there is none. */
export const dtypeOf = (name) => byName.get(name);
export const dtypeAt = (number) => byNumber[number];
export const dtypeNames = [...byName.keys()];

/** The name of the type that a typed array holds by itself; undefined: it is none. */
export function dtypeOfArray(data) {
  if (data instanceof Uint8ClampedArray) return "uint8";
  for (const dtype of byName.values()) if (dtype.array !== Array && data.constructor === dtype.array) return dtype.name;
  if (data instanceof Uint8Array) return "uint8"; // a Buffer of Node's
  return undefined;
}

// ---- halves, where the engine has no Float16Array

const scratch = new DataView(new ArrayBuffer(8));

/** The bits of the half nearest to a number, ties to even. */
export function toHalf(number) {
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0,
    size = Math.abs(number);
  if (Number.isNaN(number)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  scratch.setFloat64(0, size);
  const exponent = Math.max(((scratch.getUint16(0) >> 4) & 0x7ff) - 1023, -14),
    unit = 2 ** (exponent - 10),
    steps = size / unit;
  const low = Math.floor(steps),
    rest = steps - low,
    rounded = low + (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? 1 : 0);
  return sign | ((exponent + 14) * 1024 + rounded); // a carry goes into the exponent, as it should
}

export function fromHalf(bits) {
  const exponent = (bits >> 10) & 31,
    part = bits & 1023,
    sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? part * 2 ** -24 : (1024 + part) * 2 ** (exponent - 25));
}
