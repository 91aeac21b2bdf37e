#!/usr/bin/env node
// Hologram beside ONNX Runtime: each model compiled, run by both alternately, outputs compared. Called by run.sh, which
// says what the environment may set. usage: bench.mjs HOLOGRAM [MODEL.onnx ...]
// Two sets of models: the corpus, full-size graphs with made weights; and trained models as people have them (SET=real).
//
// Of all rounds the least time counts: other work on the machine can only make it longer. A model or a peer that is
// missing is named in the results; exit status 1 when anything is missing, fails or disagrees.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { agree } from "./agree.mjs";
import { fetchModel, nameOf, titleOf } from "../tools/real/fetch.mjs";
import { make, names as corpusNames } from "./corpus.mjs";
import { commit, peerVersion } from "./machine.mjs";
import { pageOf, report } from "./report.mjs";

const here = dirname(fileURLToPath(import.meta.url)), env = process.env;
const hologram = resolve(process.argv[2]), paths = process.argv.slice(3);
const work = resolve(env.WORK || "build/bench"), corpus = resolve(env.HOLO_CORPUS || join(work, "corpus"));
const real = resolve(env.REAL_FOLDER || join(work, "real"));
const trained = JSON.parse(readFileSync(join(here, "../tools/real/models.json"), "utf8"));
const rounds = Number(env.ROUNDS || 3), seconds = env.SECONDS_EACH || "2";
const cores = availableParallelism?.() ?? cpus().length;
const say = (text) => process.stderr.write(text + "\n");
const ms = (us) => (us === undefined ? "-" : us < 1e4 ? `${(us / 1e3).toPrecision(3)} ms` : `${(us / 1e3).toFixed(1)} ms`);

// ---- processes

function run(command, args, folder) {
  const r = spawnSync(command, args, { encoding: "utf8", cwd: folder, maxBuffer: 1 << 26, timeout: 30 * 60 * 1000 });
  if (r.status === 0) return r.stdout;
  const why = (r.stderr || "").trim().split("\n").filter((l) => !/^\s+at |^node:|^Node\.js/.test(l)).slice(0, 3).join(" ");
  throw new Error(r.error?.message ?? (why || `ended with ${r.signal ?? "status " + r.status}`));
}
const holo = (...args) => run(hologram, args);
const holoJson = (...args) => JSON.parse(holo(...args, "--json"));
const peer = (model, inputs, threads, ...more) =>
  JSON.parse(run(process.execPath, [join(here, "ort.mjs"), model, "--inputs", inputs, "--threads", String(threads), ...more]));

// ---- one model

function inputArgs(archive, folder) {
  return holoJson("inspect", archive).inputs.flatMap(({ name }) => {
    const file = join(folder, name.replaceAll("/", "_") + ".npy");
    return existsSync(file) ? ["--input", `${name}=${file}`] : [];
  });
}

const least = (a, b) => (a === undefined ? b : Math.min(a, b));
// The least of all times, the most of all memory.
function merge(sum, one) {
  for (const key of ["min_us", "open_us", "first_us"]) sum[key] = least(sum[key], one[key]);
  sum.rss_mb = Math.max(sum.rss_mb ?? 0, one.rss_mb);
  sum.gflops = Math.max(sum.gflops ?? 0, one.gflops ?? 0) || undefined;
  sum.version = one.version;
  sum.cpu = one.cpu;
}

// Both alternately. A side that fails once is not tried again.
function measure(model, archive, threads, args) {
  const sides = {
    ort: { go: () => peer(model.model, model.inputs, threads, "--seconds", seconds), sum: {} },
    hologram: { go: () => holoJson("bench", archive, "--threads", String(threads), "--seconds", seconds, ...args), sum: {} },
  };
  for (let round = 1; round <= rounds; round++) {
    for (const [name, side] of Object.entries(sides)) {
      if (side.sum.error || (name === "ort" && model.noPeer)) continue;
      try { merge(side.sum, side.go()); } catch (e) { side.sum.error = e.message; }
    }
    const told = Object.entries(sides).map(([name, s]) => `${name} ${s.sum.error ? "failed" : ms(s.sum.min_us)}`);
    say(`  ${threads} thread${threads > 1 ? "s" : ""}, round ${round}/${rounds}: ${told.join(", ")}`);
  }
  return { threads, ort: sides.ort.sum, hologram: sides.hologram.sum };
}

function sameBytes(a, b) {
  return readdirSync(a).every((n) => existsSync(join(b, n)) && readFileSync(join(a, n)).equals(readFileSync(join(b, n))));
}

// How far two folders of answers are from those of the reference implementations, which compute in f64.
function fromExact(model, args, ...folders) {
  return folders.map((folder) => {
    const r = spawnSync(hologram, ["compare", folder, model.model, ...args, "--json"], { encoding: "utf8", maxBuffer: 1 << 26 }); // status 1: they differ
    return Math.max(...JSON.parse(r.stdout).outputs.map((o) => o.worst_relative));
  });
}

// Answers of both, compared, and Hologram's for all thread counts. If they differ, the reference says who is right.
function compareAnswers(model, archive, threadCounts, args, row) {
  const out = (kind) => join(work, "answers", model.name, kind);
  rmSync(out(""), { recursive: true, force: true });
  mkdirSync(out(""), { recursive: true });
  for (const t of threadCounts) holo("run", archive, ...args, "--threads", String(t), "--output", out(`hologram-${t}`), "--quiet");
  row.sameBits = threadCounts.every((t) => sameBytes(out(`hologram-${threadCounts[0]}`), out(`hologram-${t}`)));
  if (model.noPeer) return;
  try { peer(model.model, model.inputs, threadCounts[0], "--seconds", "0", "--outputs", out("ort")); } catch (e) {
    row.peerError = e.message;
    model.noPeer = true;
    return;
  }
  const own = out(`hologram-${threadCounts[0]}`);
  row.agree = agree(out("ort"), own);
  if (!row.agree.bad.length) return say(`  answers agree, to ${row.agree.worst.toExponential(1)} of the largest`);
  say(`  answers DIFFER: ${row.agree.bad.join("; ")}`);
  const [ort, ours] = fromExact(model, args, out("ort"), own);
  say(`  from the exact ones ONNX Runtime's differ by ${ort.toExponential(1)}, Hologram's by ${ours.toExponential(1)}`);
  if (ours <= 1e-4) row.agree = { ...row.agree, bad: [], exact: { ort, ours } };
}

function benchModel(model, threadCounts, hasPeer) {
  const row = { name: model.name, title: model.title, runs: [] }, archive = join(work, model.name + ".holo");
  model.noPeer = !hasPeer;
  try {
    const compiled = holoJson("compile", model.model, "-o", archive);
    row.compile_s = compiled.seconds;
    row.verified = compiled.verified;
    say(`  compiled in ${compiled.seconds.toFixed(1)} s${compiled.verified ? ", verified" : ", NOT verified"}`);
    if (hasPeer && !existsSync(model.inputs)) peer(model.model, model.inputs, 1, "--seconds", "0"); // makes them
    const args = existsSync(model.inputs) ? inputArgs(archive, model.inputs) : [];
    compareAnswers(model, archive, threadCounts, args, row);
    for (const t of threadCounts) row.runs.push(measure(model, archive, t, args));
  } catch (e) {
    row.error = e.message;
    say(`  FAILED: ${e.message}`);
  }
  rmSync(archive, { force: true });
  return row;
}

// ---- the whole

// A model of the list, and inputs that it can take.
function makeTrained(name) {
  const model = trained.find((m, i) => nameOf(m, i) === name), folder = join(real, name);
  fetchModel(model, folder);
  return { name, title: titleOf(model), model: join(folder, "model.onnx"), inputs: join(folder, "inputs") };
}
const sets = {
  corpus: { names: corpusNames, make: (name) => make(corpus, name) },
  real: { names: trained.map(nameOf), make: makeTrained },
};
const set = env.SET || "corpus";
if (!sets[set]) throw new Error(`SET=${set}: the sets are ${Object.keys(sets).join(", ")}`);
const { names } = sets[set];

function models(missing) {
  const wanted = env.MODELS ? env.MODELS.split(/[\s,]+/).filter(Boolean) : paths.length ? [] : names;
  for (const name of wanted.filter((n) => !names.includes(n))) missing.push(`${name}: not in the set ${set} (${names.join(", ")})`);
  const own = paths.map((path) => {
    const name = basename(path).replace(/\.onnx$/, ""), beside = path.replace(/\.onnx$/, "") + ".inputs";
    return { name, model: resolve(path), inputs: resolve(existsSync(beside) ? beside : join(work, name + ".inputs")) };
  });
  for (const m of own.filter((m) => !existsSync(m.model))) missing.push(`${m.name}: there is no file ${m.model}`);
  return [...wanted.filter((n) => names.includes(n)).map((name) => ({ name, make: () => sets[set].make(name) })), ...own.filter((m) => existsSync(m.model))];
}

function threadCounts(missing) {
  const wanted = (env.THREADS || "1 2").split(/[\s,]+/).map(Number);
  for (const t of wanted.filter((t) => t > cores)) missing.push(`${t} threads: this machine has ${cores} core${cores > 1 ? "s" : ""}`);
  return wanted.filter((t) => t <= cores);
}

// A core's peak, as the bench of kernels measures it; undefined where that is not built.
function peak() {
  const kernels = join(dirname(hologram), "bench", "kernels");
  return existsSync(kernels) ? JSON.parse(run(kernels, ["1", "1"]).split("\n")[0]).peak : undefined;
}

mkdirSync(set === "real" ? real : corpus, { recursive: true });
const missing = [], list = models(missing), threads = threadCounts(missing), ort = peerVersion();
if (!ort) missing.push("ONNX Runtime: onnxruntime-node is not installed; there is nothing to compare with");
for (const m of missing) say(`missing: ${m}`);
const results = { set, commit: commit(), ort, rounds, seconds: Number(seconds), missing, whole: names.every((n) => list.some((m) => m.name === n)),
  machine: { cpu: cpus()[0].model.trim(), cores, memory_gb: Math.round(totalmem() / 2 ** 30), peak: peak() }, names, models: [] };
list.forEach((entry, i) => {
  say(`${entry.name} (${i + 1} of ${list.length})`);
  let model = entry;
  try { model = entry.make ? entry.make() : entry; } catch (e) {
    missing.push(`${entry.name}: ${e.message.split("\n")[0]}`);
    return;
  }
  results.models.push({ ...benchModel(model, threads, ort !== null), model_bytes: model.bytes ?? statSync(model.model).size });
  writeFileSync(join(work, "results.json"), JSON.stringify(results, null, 1));
});
results.machine.level = results.models.flatMap((m) => m.runs).map((r) => r.hologram.cpu).find(Boolean);
writeFileSync(join(work, "results.json"), JSON.stringify(results, null, 1));
const folder = resolve(env.RESULTS || here);
mkdirSync(folder, { recursive: true });
const ok = report(results, folder, folder === here && results.whole ? join(here, "..", "README.md") : null);
say(`${join(folder, pageOf(results))} is written`);
process.exit(ok ? 0 : 1);
