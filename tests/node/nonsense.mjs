// Calls every function of hologram/c, and the hand-written ones of the addon, with arguments that make no sense.
import { createRequire } from "node:module";
import { join } from "node:path";
import { folder, load } from "./package.mjs";

const c = await load("c.mjs"),
  { native } = createRequire(import.meta.url)(join(folder, "lib/native.cjs"));
const detached = new Uint8Array(8);
structuredClone(detached.buffer, { transfer: [detached.buffer] });
const hostile = {
  get dtype() {
    throw new Error("no");
  },
};
const values = [
  undefined,
  null,
  0,
  -1,
  1,
  2 ** 24 + 1,
  1e300,
  NaN,
  "",
  "x",
  "a\0b",
  true,
  {},
  [],
  [1],
  [undefined, {}],
  new Uint8Array(3),
  detached,
  1n,
  -1n,
  2n ** 70n,
  Symbol("s"),
  () => 1,
  { dtype: 1, shape: [-1, 2 ** 52], data: new Uint8Array(1) },
  hostile,
  new Proxy(
    {},
    {
      get() {
        throw new Error("no");
      },
    },
  ),
];
let seed = 1,
  calls = 0;
const pick = () => values[(seed = (seed * 1103515245 + 12345) % 2 ** 31) % values.length];
// A limit of memory of 1 byte would be taken at its word, and pools of any size are threads.
const left = new Set(["holo_memory_set_limit", "begin", "holo_pool_create", "holo_pool_create_on", "holo_pool_create_in"]);
process.on("uncaughtException", () => {});
for (const [name, call] of [...Object.entries(c), ...Object.entries(native)]) {
  if (typeof call !== "function" || left.has(name)) continue;
  for (let i = 0; i < 40; i++) {
    try {
      call(...Array.from({ length: i % 7 }, pick));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    calls++;
  }
}
console.log(`survived ${calls} calls`);
