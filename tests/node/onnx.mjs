// Small ONNX models for tests: model({inputs, outputs, nodes, weights}) gives the bytes of one.
//
//   inputs, outputs: { x: ["float32", [2, "n"]] }; a type may be "seq(float32)", "optional(float32)", and shapes have symbols
//   nodes: [["Add", ["x", "y"], ["z"], { axis: 1 }, "domain"]]; weights: { w: ["float32", [2], [1, 2]] }
import { writeFileSync } from "node:fs";

const types = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  complex64: 14,
  complex128: 15,
  bfloat16: 16,
  int4: 22,
};
const utf8 = new TextEncoder();

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const out = [];
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return [...out, Number(rest)];
}
const number = (field, value) => [...varint(field << 3), ...varint(value)];
const part = (field, bytes) => {
  const data = typeof bytes === "string" ? utf8.encode(bytes) : bytes;
  return [...varint((field << 3) | 2), ...varint(data.length), ...data];
};

function type(name, shape) {
  const inside = /^(seq|optional)\((.*)\)$/.exec(name);
  if (inside) return part(inside[1] === "seq" ? 4 : 9, part(1, type(inside[2], shape)));
  const dims =
    shape &&
    part(
      2,
      shape.flatMap((size) => part(1, typeof size === "number" ? number(1, size) : part(2, size))),
    );
  return part(1, [...number(1, types[name]), ...(dims ?? [])]);
}
const port = (name, [dtype, shape]) => [...part(1, name), ...part(2, type(dtype, shape))];

function attribute(name, value) {
  if (typeof value === "string") return [...part(1, name), ...part(4, value), ...number(20, 3)];
  if (Array.isArray(value)) return [...part(1, name), ...value.flatMap((v) => number(8, v)), ...number(20, 7)];
  if (Number.isInteger(value)) return [...part(1, name), ...number(3, value), ...number(20, 2)];
  return [...part(1, name), ...varint((2 << 3) | 5), ...new Uint8Array(new Float32Array([value]).buffer), ...number(20, 1)];
}

function weight(name, [dtype, shape, values]) {
  const array = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array }[dtype];
  const data = new Uint8Array(array.from(values, dtype === "int64" ? BigInt : Number).buffer);
  return [...shape.flatMap((size) => number(1, size)), ...number(2, types[dtype]), ...part(8, name), ...part(9, data)];
}

export function model({ inputs, outputs, nodes, weights = {}, opset = 18 }) {
  const graph = [
    ...nodes.flatMap(([op, ins, outs, attributes = {}, domain = ""], i) =>
      part(1, [
        ...ins.flatMap((one) => part(1, one)),
        ...outs.flatMap((one) => part(2, one)),
        ...part(3, `${op}_${i}`),
        ...part(4, op),
        ...Object.entries(attributes).flatMap(([name, value]) => part(5, attribute(name, value))),
        ...(domain ? part(7, domain) : []),
      ]),
    ),
    ...part(2, "test"),
    ...Object.entries(weights).flatMap(([name, of]) => part(5, weight(name, of))),
    ...Object.entries(inputs).flatMap(([name, of]) => part(11, port(name, of))),
    ...Object.entries(outputs).flatMap(([name, of]) => part(12, port(name, of))),
  ];
  const domains = [...new Set(nodes.map((node) => node[4] ?? ""))];
  if (!domains.includes("")) domains.push("");
  return new Uint8Array([
    ...number(1, 8),
    ...part(7, graph),
    ...domains.flatMap((domain) => part(8, [...part(1, domain), ...number(2, domain ? 1 : opset)])),
  ]);
}

export function write(path, description) {
  writeFileSync(path, model(description));
  return path;
}
