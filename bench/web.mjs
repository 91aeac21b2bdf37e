#!/usr/bin/env node
// Hologram beside onnxruntime-web in one browser: the same models and inputs, in turns, and from nothing to the first answer.
// usage: web.mjs HOLOGRAM SITE [NAME...]      SITE: the folder of make web-site
//
//   THREADS="1 2" ROUNDS=5 SECONDS_EACH=1.5
//   SIZE=balanced        of archives: small makes downloads shorter
//   WORK=build/bench     where models and archives go
//   HOLO_CORPUS=DIR      models already made;  REAL_FOLDER=DIR  trained models already fetched
//   PLAYWRIGHT=DIR       the folder of playwright-core
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { argv, env } from "node:process";
import { fileURLToPath } from "node:url";
import { isolated, serve } from "../tests/web/server.mjs";
import { fetchModel } from "../tools/real/fetch.mjs";
import { make } from "./corpus.mjs";
import { readNpy } from "./npy.mjs";

const here = dirname(fileURLToPath(import.meta.url)),
  [hologram, site, ...wanted] = argv.slice(2),
  work = resolve(env.WORK ?? "build/bench"),
  folder = join(work, "web"),
  rounds = Number(env.ROUNDS ?? 5),
  seconds = Number(env.SECONDS_EACH ?? 1.5),
  trained = JSON.parse(readFileSync(join(here, "../tools/real/models.json"), "utf8"));

/** A trained model, with inputs of other sizes than the list has. */
const real = (name, pattern, dims) => {
  const model = structuredClone(trained.find((one) => pattern.test(`${one.package}/${one.file}`)));
  if (dims) for (const input of Object.values(model.inputs)) input[1] = dims;
  const place = join(env.REAL_FOLDER ? resolve(env.REAL_FOLDER) : join(work, "real"), `web-${name}`);
  fetchModel(model, place);
  return { model: join(place, "model.onnx"), inputs: join(place, "inputs") };
};
const corpus = (name) => make(resolve(env.HOLO_CORPUS ?? join(work, "corpus")), name);
const models = {
  mobilenet_v2: () => corpus("mobilenet_v2"),
  resnet50: () => corpus("resnet50"),
  minilm: () => real("minilm", /all-MiniLM-L6-v2\/onnx\/model\.onnx/, [1, 128]),
  yolo11n: () => real("yolo11n", /yolo11n\.onnx/),
  "whisper-tiny": () => real("whisper-tiny", /whisper-tiny\/onnx\/encoder/),
};

function link(from, to) {
  if (existsSync(to)) return;
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // another disk
  }
}

/** Files of a model for both: NAME.onnx with its weights, NAME.holo, NAME.json with the types of the inputs, and NAME.INPUT.bin with their numbers. */
function prepare(name) {
  mkdirSync(folder, { recursive: true });
  const { model, inputs } = models[name](),
    weights = model.replace(/onnx$/, "weights.bin"),
    feeds = {};
  link(model, join(folder, `${name}.onnx`));
  if (existsSync(weights)) link(weights, join(folder, basename(weights)));
  for (const file of readdirSync(inputs)) {
    const { type, dims, data } = readNpy(join(inputs, file));
    feeds[file.slice(0, -4)] = { type, dims };
    writeFileSync(join(folder, `${name}.${file.slice(0, -4)}.bin`), data);
  }
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ feeds, weights: existsSync(weights) ? basename(weights) : undefined }));
  execFileSync(resolve(hologram), ["compile", "-q", "--size", env.SIZE ?? "balanced", model, "-o", join(folder, `${name}.holo`)]);
}

/**
 * What a page answers, of a browser that has seen nothing. Nobody looks into the page meanwhile: one that playwright drives reports all that it loads,
 * at several milliseconds for each megabyte.
 */
async function asked({ browser, address }, what, ...given) {
  const { browserContextId } = await browser.send("Target.createBrowserContext"),
    url = `${address}bench.html#${encodeURIComponent(JSON.stringify([what, given]))}`,
    { targetId } = await browser.send("Target.createTarget", { url, browserContextId });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { title } = (await browser.send("Target.getTargetInfo", { targetId })).targetInfo;
    if (!title.startsWith("{")) continue;
    await browser.send("Target.disposeBrowserContext", { browserContextId });
    const answer = JSON.parse(title);
    if (answer.error) throw new Error(`${what}(${given.join(", ")}): ${answer.error}`);
    return answer;
  }
}

/** The best of several answers, number by number. */
function keep(best, answer) {
  for (const [key, value] of Object.entries(answer)) best[key] = Math.min(best[key] ?? Infinity, value);
}

async function measure(place, name, threads) {
  const best = {};
  for (let i = 0; i < rounds; i++) {
    keep(best, await asked(place, "fetched", name));
    for (const side of ["hologram", "peer"]) keep(best, await asked(place, "first", side, name, threads));
  }
  return { name, threads, ...best, ...(await asked(place, "turns", name, threads, rounds, seconds)) };
}

const show = (ms) => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0));
const geometric = (list) => Math.exp(list.reduce((sum, one) => sum + Math.log(one), 0) / list.length);

/**
 * [head, what a row has there]. "Most": of the ratio, if nothing but the fetch and a run took time. The last two are differences from the peer's
 * outputs: ours, and the peer's own when it rounds otherwise.
 */
const columns = [
  ["model", (r) => r.name],
  ["threads", (r) => r.threads],
  ["Hologram, ms", (r) => show(r.hologram)],
  ["onnxruntime-web, ms", (r) => show(r.peer)],
  ["ratio", (r) => (r.peer / r.hologram).toFixed(2)],
  ["fetching the archive alone, ms", (r) => show(r.fetched)],
  ["open, ms", (r) => show(r.hologramOpen)],
  ["onnxruntime-web, ms", (r) => show(r.peerOpen)],
  ["first answer, ms", (r) => show(r.hologramFirst)],
  ["onnxruntime-web, ms", (r) => show(r.peerFirst)],
  ["ratio", (r) => (r.peerFirst / r.hologramFirst).toFixed(1)],
  ["most", (r) => (r.peerFirst / (r.fetched + r.hologram)).toFixed(1)],
  ["largest difference", (r) => r.difference.toExponential(1)],
  ["of onnxruntime-web without its optimizations", (r) => r.ownDifference.toExponential(1)],
];

function report(rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`,
    ratios = rows.map((r) => r.peer / r.hologram),
    first = rows.map((r) => r.peerFirst / r.hologramFirst);
  return [
    line(columns.map(([head]) => head)),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map(([, cell]) => cell(row)))),
    "",
    `Geometric mean ${geometric(ratios).toFixed(2)}, least ${Math.min(...ratios).toFixed(2)}; first answer ${geometric(first).toFixed(1)}, least ${Math.min(...first).toFixed(1)}.`,
  ].join("\n");
}

if (!hologram || !site) {
  console.error(readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n").slice(1, 9).join("\n").replaceAll("// ", ""));
  process.exit(2);
}
const names = wanted.length ? wanted : Object.keys(models),
  unknown = names.find((name) => !models[name]);
if (unknown) throw new Error(`there is no model ${unknown}; there are ${Object.keys(models).join(", ")}`);
names.forEach(prepare);
for (const file of ["web_bench.html", "web_bench.mjs"]) copyFileSync(join(here, file), join(folder, file.replace("web_", "")));
for (const part of ["hologram", "onnxruntime-web"]) {
  if (!existsSync(join(site, part))) throw new Error(`${site} has no folder ${part}: make web-site`);
  execFileSync("cp", ["-r", join(site, part), folder]);
}
const { chromium } = await import(join(resolve(env.PLAYWRIGHT), "index.mjs")),
  server = await serve(folder, isolated),
  browser = await chromium.launch({ executablePath: env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] }),
  place = { browser: await browser.newBrowserCDPSession(), address: server.address },
  rows = [];
for (const name of names)
  for (const threads of (env.THREADS ?? "1 2").split(" ").map(Number)) {
    rows.push(await measure(place, name, threads));
    console.error(JSON.stringify(rows.at(-1)));
  }
await browser.close();
server.close();
console.log(report(rows));
