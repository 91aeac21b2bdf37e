// Values on their way between a page and its worker: tensors keep their class.
import { Tensor } from "./tensor.mjs";

const tag = "hologram tensor";

/** A value as messages carry it. */
export function packed(value) {
  if (value instanceof Tensor) return { tag, dtype: value.dtype, shape: [...value.shape], data: value.data };
  if (Array.isArray(value)) return value.map(packed);
  if (value && Object.getPrototypeOf(value) === Object.prototype)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, one]) => typeof one !== "function")
        .map(([name, one]) => [name, packed(one)]),
    );
  return value;
}

export function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (!value || Object.getPrototypeOf(value) !== Object.prototype) return value;
  if (value.tag === tag) return new Tensor(value.dtype, value.data, value.shape);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpacked(one)]));
}
