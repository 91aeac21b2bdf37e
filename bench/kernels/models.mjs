// A case of the kernel bench as an ONNX model of one operator, written without any library.

// Protocol buffers: numbers as varints, all else with its length before it.
function varint(n) {
  const list = [];
  for (; n > 127; n = Math.floor(n / 128)) list.push((n % 128) | 128);
  return Buffer.from([...list, n]);
}
const number = (field, n) => Buffer.concat([varint(field << 3), varint(n)]);
const bytes = (field, data) => { const b = Buffer.from(data); return Buffer.concat([varint((field << 3) | 2), varint(b.length), b]); };
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

const FLOAT = 1, INT = 2, INTS = 7;
const port = (field, name, dims) => message(field, bytes(1, name), message(2, message(1, number(1, FLOAT), message(2, ...dims.map((d) => message(1, number(1, d)))))));
const ints = (name, list) => message(5, bytes(1, name), ...list.map((n) => number(8, n)), number(20, INTS));
const int = (name, n) => message(5, bytes(1, name), number(3, n), number(20, INT));

// What a case says: MxNxK, or CHANNELSxHEIGHTxWIDTHxFILTERSxKERNELxSTRIDExDILATIONxGROUPS; see main.c.
export function caseOf(text) {
  const n = text.split("x").map(Number);
  if (n.length === 3) return { op: "MatMul", in: [n[0], n[2]], weights: [n[2], n[1]], out: [n[0], n[1]], attributes: [], gflop: 2e-9 * n[0] * n[1] * n[2] };
  const [channels, height, width, filters, kernel, stride, dilation, groups] = n, pad = Math.floor(kernel / 2) * dilation;
  const size = (x) => Math.floor((x + 2 * pad - (kernel - 1) * dilation - 1) / stride) + 1;
  const out = [1, filters, size(height), size(width)], weights = [filters, channels / groups, kernel, kernel];
  return { op: "Conv", in: [1, channels, height, width], weights, out, gflop: 2e-9 * out[2] * out[3] * weights.reduce((a, b) => a * b, 1),
    attributes: [ints("strides", [stride, stride]), ints("dilations", [dilation, dilation]), ints("pads", [pad, pad, pad, pad]), int("group", groups)] };
}

// `copies` nodes, each from an input of its own and all with the same weights.
export function model(c, weights, copies) {
  const each = (f) => Array.from({ length: copies }, (_, i) => f(i));
  const graph = message(7,
    ...each((i) => message(1, bytes(1, `in${i}`), bytes(1, "weights"), bytes(2, `out${i}`), bytes(4, c.op), ...c.attributes)),
    bytes(2, "layer"),
    message(5, ...c.weights.map((d) => number(1, d)), number(2, FLOAT), bytes(8, "weights"), bytes(9, Buffer.from(weights.buffer))),
    ...each((i) => port(11, `in${i}`, c.in)), ...each((i) => port(12, `out${i}`, c.out)));
  return Buffer.concat([number(1, 8), graph, message(8, bytes(1, ""), number(2, 17))]);
}
