// Outputs of a model beside those of ONNX Runtime.
//
// An element agrees when |got - want| <= atol * max(1, largest |want|) + rtol * |want|; whole numbers when they are equal.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readNpy } from "../../bench/npy.mjs";

const rtol = 1e-3, atol = 1e-4;

function half(h) {
  const e = (h >> 10) & 31, f = h & 1023, s = h & 0x8000 ? -1 : 1;
  return s * (e === 0 ? f * 2 ** -24 : e === 31 ? (f ? NaN : Infinity) : (1 + f / 1024) * 2 ** (e - 15));
}
const number = (a) => (a.type === "float16" ? (i) => half(a.data[i]) : (i) => Number(a.data[i]));

// { count, worst, bad }: elements, the worst difference in parts of the largest element, and what is wrong, in words.
export function compareOutput(want, got) {
  if (want.type !== got.type) return { bad: `is ${got.type}, not ${want.type}` };
  if (String(want.dims) !== String(got.dims)) return { bad: `has shape [${got.dims}], not [${want.dims}]` };
  const x = number(want), y = number(got), count = want.data.length, isFloat = want.type.startsWith("float");
  let top = 1, wrong = 0, worst = 0;
  for (let i = 0; i < count; i++) if (Math.abs(x(i)) > top && Math.abs(x(i)) < Infinity) top = Math.abs(x(i));
  for (let i = 0; i < count; i++) {
    const a = x(i), b = y(i), off = Math.abs(a - b);
    if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue;
    if (!isFloat || !(off <= atol * top + rtol * Math.abs(a))) wrong++;
    if (!(off / top <= worst)) worst = off / top;
  }
  return { count, worst, bad: wrong ? `differs in ${wrong} of ${count} elements` : undefined };
}

// { outputs, elements, worst, bad: [{ name, what, worst }] } of all .npy files of the folder `want`.
export function compare(want, got) {
  const result = { outputs: 0, elements: 0, worst: 0, bad: [] };
  for (const file of readdirSync(want).filter((n) => n.endsWith(".npy")).sort()) {
    const path = join(got, file), r = existsSync(path) ? compareOutput(readNpy(join(want, file)), readNpy(path)) : { bad: "is missing" };
    result.outputs++;
    result.elements += r.count ?? 0;
    if (!((r.worst ?? 0) <= result.worst)) result.worst = r.worst;
    if (r.bad) result.bad.push({ name: file.slice(0, -4), what: r.bad, worst: r.worst ?? Infinity });
  }
  if (!result.outputs) result.bad.push({ name: "the model", what: "has no outputs to compare", worst: Infinity });
  return result;
}
