// What make_cases.mjs and more_cases.mjs write cases with: tensors of seeded numbers, attributes, nodes.
let seed = 1;
export const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
export const round = (x) => Math.round(x * 1000) / 1000;
export const size = (shape) => shape.reduce((a, b) => a * b, 1);
export const F = (...shape) => ({ type: "float32", shape, data: Array.from({ length: size(shape) }, () => round(random() * 4 - 2)) });
export const P = (...shape) => ({ type: "float32", shape, data: Array.from({ length: size(shape) }, () => round(random() * 0.9 + 0.05)) }); // 0 to 1
export const I = (most, ...shape) => ({ type: "int32", shape, data: Array.from({ length: size(shape) }, () => Math.floor(random() * (2 * most + 1)) - most) });
export const N = (most, ...shape) => ({ type: "int32", shape, data: Array.from({ length: size(shape) }, () => Math.floor(random() * most)) }); // 0 to most - 1
export const B = (...shape) => ({ type: "bool", shape, data: Array.from({ length: size(shape) }, () => random() < 0.5 ? 1 : 0) });
export const C = (data, shape = Array.isArray(data) ? [data.length] : []) => ({ fixed: true, type: "int32", shape, data: [data].flat() }); // constants
export const K = (data, shape = Array.isArray(data) ? [data.length] : []) => ({ fixed: true, type: "float32", shape, data: [data].flat() });
export const fixed = (v) => ({ ...v, fixed: true });

export const b64 = (s) => Buffer.from(s).toString("base64");
export const attr = { // shorthands of attributes
  i: (n) => ({ i: String(n) }), f: (n) => ({ f: n }), b: (v) => ({ b: v }), s: (t) => ({ s: b64(t) }),
  is: (...n) => ({ list: { i: n.map(String) } }), ss: (...t) => ({ list: { s: t.map(b64) } }), t: (t) => ({ type: t }),
};
export const { i, f, b, s, is, ss, t } = attr;
export const types = { float32: "DT_FLOAT", int32: "DT_INT32", bool: "DT_BOOL", string: "DT_STRING" };
export const window = (strides, padding, more = {}) => ({ strides: is(1, ...strides, 1), padding: s(padding), data_format: s("NHWC"), dilations: is(1, 1, 1, 1), ...more });
export const mask = (begin, end, ellipsis, axis, shrink) => ({ begin_mask: i(begin), end_mask: i(end), ellipsis_mask: i(ellipsis), new_axis_mask: i(axis), shrink_axis_mask: i(shrink) });

export const cases = [];
export const add = (op, inputs, attrs = {}, outs = 1) => cases.push({ op, inputs, attrs, outs });
export const int = (...data) => ({ type: "int32", shape: [data.length], data }), real = (shape, ...data) => ({ type: "float32", shape, data });
// Operators that TensorFlow.js lacks: the answers are written by hand, from the documentation of TensorFlow.
export const hand = (op, inputs, attrs, ...answers) => cases.push({ op, inputs, attrs, outs: answers.length, answers });

export const chain = (name, inputs, nodes, outs, ...answers) => cases.push({ op: name, inputs, nodes, outs, answers });
export const node = (name, op, input, attrs = {}) => ({ name, op, input, attr: attrs });
export const quint = { T: t("DT_QUINT8") };
export const clip = (x, low, high) => Math.min(Math.max(x, low), high);
export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
export const boxes = { type: "float32", shape: [5, 4], data: [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1] };
export const scores = { type: "float32", shape: [5], data: [0.9, 0.75, 0.6, 0.95, 0.5] };
