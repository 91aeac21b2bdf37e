#!/usr/bin/env node
// Hologram beside onnxruntime-web in one browser: the same models and inputs, in turns, and from nothing to the first answer.
// usage: web.mjs HOLOGRAM SITE [NAME...]      SITE: the folder of make web-site
//
//   THREADS="1 2" ROUNDS=5 SECONDS_EACH=1.5
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

/** Files of a model for both: NAME.onnx with its weights, NAME.holo, and NAME.json with the inputs. */
function prepare(name) {
  mkdirSync(folder, { recursive: true });
  const { model, inputs } = models[name](),
    weights = model.replace(/onnx$/, "weights.bin"),
    feeds = {};
  link(model, join(folder, `${name}.onnx`));
  if (existsSync(weights)) link(weights, join(folder, basename(weights)));
  for (const file of readdirSync(inputs)) {
    const { type, dims, data } = readNpy(join(inputs, file));
    feeds[file.slice(0, -4)] = { type, dims, data: Array.from(data, String) };
  }
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ feeds, weights: existsSync(weights) ? basename(weights) : undefined }));
  execFileSync(resolve(hologram), ["compile", "-q", model, "-o", join(folder, `${name}.holo`)]);
}

async function measure(browser, server, name, threads) {
  const open = async () => {
    const context = await browser.newContext(),
      page = await context.newPage();
    page.setDefaultTimeout(600000);
    await page.goto(`${server.address}bench.html`);
    return { context, page };
  };
  const result = { name, threads, fetched: Infinity, hologramFirst: Infinity, peerFirst: Infinity };
  const once = async (key, work, ...args) => {
    const { context, page } = await open(); // a browser that has seen nothing
    result[key] = Math.min(result[key], await page.evaluate(([what, given]) => globalThis[what](...given), [work, args]));
    await context.close();
  };
  for (let i = 0; i < 3; i++) {
    await once("fetched", "fetched", name);
    for (const side of ["hologram", "peer"]) await once(`${side}First`, "first", side, name, threads);
  }
  const { context, page } = await open(),
    steady = await page.evaluate((given) => globalThis.turns(...given), [name, threads, rounds, seconds]);
  await context.close();
  return { ...result, ...steady };
}

const show = (ms) => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0));
const geometric = (list) => Math.exp(list.reduce((sum, one) => sum + Math.log(one), 0) / list.length);

function report(rows) {
  const lines = [
    "| model | threads | Hologram, ms | onnxruntime-web, ms | ratio | fetching the archive alone, ms | first answer, ms | onnxruntime-web, ms | ratio | largest difference |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...rows.map(
      (r) =>
        `| ${r.name} | ${r.threads} | ${show(r.hologram)} | ${show(r.peer)} | ${(r.peer / r.hologram).toFixed(2)} | ${show(r.fetched)} | ${show(r.hologramFirst)} | ${show(r.peerFirst)} | ${(r.peerFirst / r.hologramFirst).toFixed(1)} | ${r.difference.toExponential(1)} |`,
    ),
  ];
  const ratios = rows.map((r) => r.peer / r.hologram);
  lines.push("", `Geometric mean ${geometric(ratios).toFixed(2)}, least ${Math.min(...ratios).toFixed(2)}; first answer ${geometric(rows.map((r) => r.peerFirst / r.hologramFirst)).toFixed(1)}.`);
  return lines.join("\n");
}

if (!hologram || !site) {
  console.error(readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n").slice(1, 8).join("\n").replaceAll("// ", ""));
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
  rows = [];
for (const name of names)
  for (const threads of (env.THREADS ?? "1 2").split(" ").map(Number)) {
    rows.push(await measure(browser, server, name, threads));
    console.error(JSON.stringify(rows.at(-1)));
  }
await browser.close();
server.close();
console.log(report(rows));
