// Inputs and outputs of a model, and what a caller gives for them.
import { dtypeAt, dtypeOf } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { sizeFunction } from "./sizes.mjs";
import { Tensor, fits } from "./tensor.mjs";

const kinds = ["tensor", "sequence", "optional", "map"];

/** An input or an output as the library describes it: {name, dtype, shape, kind, optional}. */
export function portOf({ name, type, symbol, optional, anyShape }) {
  const port = {
    name,
    dtype: dtypeAt(type.dtype)?.name ?? "unknown",
    shape: type.shape && Object.freeze(type.shape.map((size, i) => (size < 0 ? (symbol[i] ?? -1) : size))),
    kind: kinds[type.kind],
    optional,
  };
  if (type.kind !== 0) port.inner = kinds[type.inner];
  if (anyShape) port.anyShape = true;
  return Object.freeze(port);
}

function say({ name, kind, dtype, shape }) {
  return `input ${name} (${kind === "tensor" ? `${dtype}${shape ? `[${shape.join(", ")}]` : ""}` : `${kind} of ${dtype}`})`;
}

/** What something is, in a message. */
const whatIs = (given) => (given === null ? "null" : typeof given === "object" ? (given.constructor?.name ?? "an object") : typeof given);

/** The shape of so many elements: that of the port, where at most one size is open. */
function shapeFor(port, count) {
  const { shape } = port;
  let open = -1,
    known = 1;
  for (let i = 0; shape && i < shape.length; i++) {
    if (typeof shape[i] === "number" && shape[i] >= 0) known *= shape[i];
    else if (open < 0) open = i;
    else open = shape.length;
  }
  if (!shape || open === shape.length)
    throw new HologramError(
      `${say(port)}: several sizes are open, so that ${count} elements may have many shapes: give new Tensor(data, shape)`,
      "BAD_INPUT",
    );
  if (open < 0) {
    if (known !== count) throw new HologramError(`${say(port)} needs ${known} elements, not ${count}`, "BAD_INPUT");
    return shape;
  }
  if (known === 0 || count % known !== 0)
    throw new HologramError(`${say(port)}: ${count} elements are no multiple of ${known}`, "BAD_INPUT");
  return shape.map((size, i) => (i === open ? count / known : size));
}

function tensorFor(port, given) {
  if (given instanceof Tensor) {
    if (given.dtype !== port.dtype) throw new HologramError(`${say(port)} cannot be a tensor of ${given.dtype}`, "BAD_INPUT");
    return given;
  }
  const type = dtypeOf(port.dtype);
  if (ArrayBuffer.isView(given)) {
    if (!type.holds(given)) throw new HologramError(`${say(port)} is a ${type.array.name}, not a ${given.constructor.name}`, "BAD_INPUT");
    if (given.length > 0) return new Tensor(port.dtype, given, shapeFor(port, given.length / type.entries), fits);
    return new Tensor(port.dtype, given, shapeFor(port, 0));
  }
  if (Array.isArray(given) || ["number", "bigint", "boolean", "string"].includes(typeof given)) {
    const tensor = Tensor.from(given, port.dtype);
    return Array.isArray(given) && !Array.isArray(given[0]) && !ArrayBuffer.isView(given[0]) && port.shape && port.shape.length !== 1
      ? tensor.reshape(shapeFor(port, tensor.size))
      : tensor;
  }
  if (given && typeof given === "object" && typeof given.dtype === "string" && given.shape)
    return tensorFor(port, new Tensor(given.dtype, given.data, given.shape));
  throw new HologramError(`${say(port)} is a Tensor, a ${type.array.name} or nested arrays, not ${whatIs(given)}`, "BAD_INPUT");
}

/** A dictionary as two tensors, keys and values. */
function mapFor(port, given) {
  const entries = given instanceof Map ? [...given] : Object.entries(given);
  const keys = Tensor.from(entries.map(([key]) => key));
  return {
    kind: "map",
    dtype: port.dtype,
    items: [
      keys,
      Tensor.from(
        entries.map(([, value]) => value),
        port.dtype,
      ),
    ],
  };
}

/** What is given for a port, as the backend takes it: a Tensor, or {kind, dtype, inner, items}. */
export function valueFor(port, given) {
  if (port.kind === "tensor") return tensorFor(port, given);
  const inside = { ...port, kind: port.inner, inner: "tensor", shape: null };
  if (port.kind === "map") return mapFor(port, given);
  if (port.kind === "optional")
    return {
      kind: "optional",
      dtype: port.dtype,
      inner: port.inner,
      items: given === null || given === undefined ? [] : [valueFor(inside, given)],
    };
  if (!Array.isArray(given)) throw new HologramError(`${say(port)} is an array`, "BAD_INPUT");
  return { kind: "sequence", dtype: port.dtype, inner: port.inner, items: given.map((item) => valueFor(inside, item)) };
}

/** A value of the backend as callers see it: a Tensor, an array, null or what is inside, a Map. */
export function shown(value) {
  if (value instanceof Tensor) return value;
  if (value.kind === "sequence") return value.items.map(shown);
  if (value.kind === "optional") return value.items.length ? shown(value.items[0]) : null;
  const [keys, values] = value.items;
  return new Map(Array.from(keys.data, (key, i) => [key, values.data[i]]));
}

// ---- memory for outputs, before a run

/** Sizes of an output: numbers, and functions of the values of inputs; null: only the run knows. */
export function sizesOf(port, inputs) {
  if (port.kind !== "tensor" || !port.shape || port.dtype === "string" || !dtypeOf(port.dtype)) return null;
  const symbol = (name) => {
    for (let i = 0; i < inputs.length; i++) {
      const at = inputs[i].kind === "tensor" ? (inputs[i].shape?.indexOf(name) ?? -1) : -1;
      if (at >= 0) return (values) => values[i].shape[at];
    }
    return undefined;
  };
  const sizes = port.shape.map((size) =>
    typeof size === "string" ? (symbol(size) ?? sizeFunction(size, symbol)) : size >= 0 ? size : null,
  );
  return sizes.includes(null) ? null : sizes;
}
