#!/usr/bin/env node
// Compares the .npy files of two folders, name by name. usage: agree.mjs REFERENCE_DIR GOT_DIR [TOLERANCE]
// Floats agree when they differ by no more than the tolerance (1e-4) times the largest magnitude of the reference, and
// whole numbers when they are equal. Exit status 1 when something differs.
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { readNpy } from "./npy.mjs";

function half(h) {
  const e = (h >> 10) & 31, f = h & 1023, s = h & 0x8000 ? -1 : 1;
  return s * (e === 0 ? f * 2 ** -24 : e === 31 ? (f ? NaN : Infinity) : (1 + f / 1024) * 2 ** (e - 15));
}
const number = (a) => (a.type === "float16" ? (i) => half(a.data[i]) : (i) => Number(a.data[i]));

function compare(want, got, tolerance) {
  if (want.type !== got.type) return { bad: `is ${got.type}, not ${want.type}` };
  if (String(want.dims) !== String(got.dims)) return { bad: `has shape [${got.dims}], not [${want.dims}]` };
  const x = number(want), y = number(got), count = want.data.length;
  let top = 0, wrong = 0, worst = 0;
  for (let i = 0; i < count; i++) if (Math.abs(x(i)) > top && Math.abs(x(i)) < Infinity) top = Math.abs(x(i));
  const limit = want.type.startsWith("float") ? tolerance : 0;
  for (let i = 0; i < count; i++) {
    if (x(i) === y(i) || (Number.isNaN(x(i)) && Number.isNaN(y(i)))) continue;
    const off = Math.abs(x(i) - y(i)) / (top || 1);
    if (!(off <= limit)) wrong++;
    if (!(off <= worst)) worst = off;
  }
  return { worst, bad: wrong ? `differs in ${wrong} of ${count} elements, by ${worst.toExponential(1)} of the largest at worst` : undefined };
}

// { files, worst, bad: ["output.npy: ..."] }
export function agree(reference, got, tolerance = 1e-4) {
  const result = { files: 0, worst: 0, bad: [] };
  for (const name of readdirSync(reference).filter((n) => n.endsWith(".npy")).sort()) {
    result.files++;
    const path = join(got, name);
    const r = existsSync(path) ? compare(readNpy(join(reference, name)), readNpy(path), tolerance) : { bad: "is missing" };
    if (!(r.worst <= result.worst)) result.worst = r.worst ?? result.worst;
    if (r.bad) result.bad.push(`${name} ${r.bad}`);
  }
  if (!result.files) result.bad.push("there are no outputs to compare with");
  return result;
}

if (argv[1] && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  const result = agree(argv[2], argv[3], Number(argv[4] ?? 1e-4));
  console.log(JSON.stringify(result));
  process.exit(result.bad.length ? 1 : 0);
}
