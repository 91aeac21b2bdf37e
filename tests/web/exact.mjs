// Class exact: full-size models of the corpus give the same bits in WebAssembly as native code, on one thread and on two.
//
//   HOLOGRAM_WEB=folder HOLOGRAM_NODE=folder node exact.mjs FOLDER [NAME...]     models are made in FOLDER, where they are not there yet
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { make, names } from "../../bench/corpus.mjs";
import { readNpy } from "../../bench/npy.mjs";

await import("./node_host.mjs");
const web = await import(`${process.env.HOLOGRAM_WEB}/index.mjs`),
  native = await import(`${process.env.HOLOGRAM_NODE}/index.mjs`),
  [folder, ...wanted] = process.argv.slice(2),
  work = mkdtempSync(join(tmpdir(), "hologram-exact-")),
  bytesOf = ({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
if (!folder) throw new Error("usage: exact.mjs FOLDER [NAME...]");

function feedsOf({ inputs }, Tensor) {
  const feeds = {};
  for (const file of readdirSync(inputs)) {
    const { type, dims, data } = readNpy(join(inputs, file));
    feeds[file.slice(0, -4)] = new Tensor(type, data, dims);
  }
  return feeds;
}

/** How many outputs differ. */
async function compare(name) {
  const made = make(resolve(folder), name),
    archive = join(work, "model.holo");
  await native.compile(made.model, archive, { numeric: "exact" });
  const here = await native.open(archive),
    want = await here.run(feedsOf(made, native.Tensor));
  here.close();
  let wrong = 0;
  for (const threads of [1, 2]) {
    const there = await web.open(readFileSync(archive), { threads }),
      got = await there.run(feedsOf(made, web.Tensor));
    for (const output of Object.keys(want)) wrong += bytesOf(got[output]).equals(bytesOf(want[output])) ? 0 : 1;
    there.close();
  }
  return wrong;
}

let failed = 0;
for (const name of wanted.length ? wanted : names) {
  const wrong = await compare(name).catch((error) => error.message);
  console.log(`${name}: ${wrong === 0 ? "the bits of native code" : `FAILED: ${wrong}${typeof wrong === "number" ? " outputs differ" : ""}`}`);
  failed += wrong === 0 ? 0 : 1;
}
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
