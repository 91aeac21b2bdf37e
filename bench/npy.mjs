// .npy files: dense arrays in row-major order, as both sides read and write them.
import { readFileSync, writeFileSync } from "node:fs";

// NumPy's name of a type: ONNX Runtime's, and the array that holds it. Node has no f16: its bits.
const types = {
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array], "<f2": ["float16", Uint16Array],
  "<i8": ["int64", BigInt64Array], "<i4": ["int32", Int32Array], "<i2": ["int16", Int16Array], "|i1": ["int8", Int8Array],
  "<u8": ["uint64", BigUint64Array], "<u4": ["uint32", Uint32Array], "<u2": ["uint16", Uint16Array], "|u1": ["uint8", Uint8Array],
  "|b1": ["bool", Uint8Array],
};

export function arrayOf(type) {
  return Object.values(types).find(([name]) => name === type)?.[1];
}

export function readNpy(path) {
  const bytes = readFileSync(path), start = bytes[6] >= 2 ? 12 : 10;
  const length = bytes[6] >= 2 ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const head = bytes.subarray(start, start + length).toString("latin1");
  const descr = /'descr': '([^']+)'/.exec(head)[1];
  if (!types[descr]) throw new Error(`${path}: elements of type ${descr} are not known here`);
  const dims = (/'shape': \(([^)]*)\)/.exec(head)[1].match(/\d+/g) ?? []).map(Number);
  const [type, Array_] = types[descr];
  return { type, dims, data: new Array_(bytes.buffer.slice(bytes.byteOffset + start + length, bytes.byteOffset + bytes.byteLength)) };
}

export function writeNpy(path, { type, dims, data }) {
  const descr = Object.keys(types).find((k) => types[k][0] === type);
  if (!descr) throw new Error(`${path}: NumPy has no type ${type}`);
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims.join(", ")}${dims.length === 1 ? "," : ""}), }`;
  const text = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11) + "\n", head = Buffer.alloc(10 + text.length);
  head.write("\x93NUMPY\x01\x00", 0, "latin1");
  head.writeUInt16LE(text.length, 8);
  head.write(text, 10, "latin1");
  writeFileSync(path, Buffer.concat([head, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}
