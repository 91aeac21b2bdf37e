#!/usr/bin/env node
// The matrix product and the convolution beside OpenBLAS, oneDNN and ONNX Runtime: all in turn, KERNELS.md in the end.
// Called by run.sh, which says what the environment may set. usage: kernels.mjs KERNELS [CASE ...]
//
// Of all rounds the least time counts. Exit status 1 when a peer is missing, or when anything fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { commit, peerVersion } from "./machine.mjs";
import { caseOf } from "./kernels/models.mjs";

const products = [
  ["1024x1024x1024", "a large one"], ["128x768x768", "BERT, projections"], ["128x3072x768", "BERT, feed forward"], ["128x768x3072", "BERT, and back"],
  ["197x2304x768", "ViT, three projections"], ["49x2048x512", "few rows"], ["3136x64x576", "tall and narrow"], ["12544x24x144", "24 columns"],
  ["1x2304x768", "decoding"], ["1x50257x768", "decoding, vocabulary"], ["64x64x64", "a small one"], ["13x513x100", "odd sizes"],
];
const convs = [
  ["3x224x224x64x7x2x1x1", "ResNet, first"], ["64x56x56x64x3x1x1x1", "ResNet, 3x3"], ["128x56x56x128x3x2x1x1", "ResNet, stride 2"],
  ["256x14x14x1024x1x1x1x1", "ResNet, 1x1"], ["128x56x56x128x3x1x1x32", "ResNeXt, 32 groups"], ["256x56x56x256x3x1x1x1", "VGG, 3x3"],
  ["3x224x224x32x3x2x1x1", "MobileNet, first"], ["144x56x56x144x3x1x1x144", "MobileNet, depthwise"], ["96x56x56x24x1x1x1x1", "MobileNet, 1x1"],
  ["672x14x14x672x5x1x1x672", "EfficientNet, depthwise"], ["320x64x64x320x3x1x1x1", "U-Net, 3x3"], ["512x28x28x512x3x1x2x1", "DeepLab, dilation 2"],
];
const peers = { onednn: "oneDNN", openblas: "OpenBLAS", ort: "ONNX Runtime" };

const here = dirname(fileURLToPath(import.meta.url)), env = process.env, program = resolve(process.argv[2]), wanted = process.argv.slice(3);
const known = new Map([...products, ...convs]), names = wanted.length ? wanted : [...known.keys()];
const work = resolve(env.WORK || "build/bench"), rounds = Number(env.ROUNDS || 3), seconds = env.SECONDS_EACH || "1";
const cores = availableParallelism?.() ?? cpus().length;
const say = (text) => process.stderr.write(text + "\n");
const results = { missing: {}, level: "", peak: 0, times: new Map() };

// ---- measuring

function lines(command, args, threads) {
  const r = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26, env: { ...env, OMP_NUM_THREADS: String(threads), OPENBLAS_NUM_THREADS: String(threads) } });
  if (r.status !== 0) throw new Error((r.stderr || r.error?.message || `ended with ${r.signal ?? r.status}`).trim().split("\n").slice(0, 3).join(" "));
  return r.stdout.trim().split("\n").map((line) => JSON.parse(line));
}

function note(threads, row) {
  const key = `${row.case} ${threads}`, best = results.times.get(key) ?? {};
  for (const who of ["hologram", ...Object.keys(peers)]) if (row[who]) best[who] = Math.min(best[who] ?? Infinity, row[who]);
  results.times.set(key, best);
}

function round(threads) {
  for (const row of lines(program, [String(threads), seconds, ...names], threads)) {
    if (row.case) { note(threads, row); continue; }
    results.level = row.level;
    results.peak = Math.max(results.peak, row.peak);
    for (const who of Object.keys(peers)) if (row[`no ${who}`]) results.missing[who] = row[`no ${who}`];
  }
  if (results.missing.ort) return;
  const share = String(Number(seconds) / 3);
  for (const row of lines(process.execPath, [join(here, "kernels", "ort.mjs"), work, String(threads), share, ...names], threads)) note(threads, row);
}

// ---- the report

const cell = (us) => (us === undefined ? "-" : us >= 1000 ? (us / 1000).toPrecision(4) + " ms" : us.toPrecision(3) + " us");
const head = (list) => `| ${list.join(" | ")} |\n| ${list.map((_, i) => (i < 2 ? "---" : "---:")).join(" | ")} |\n`;

function table(cases, threads, columns) {
  const titles = ["case", "", "Hologram", "of the peak", ...columns.flatMap((who) => [peers[who], "ratio"])];
  return head(titles) + cases.map((name) => {
    const t = results.times.get(`${name} ${threads}`) ?? {}, rate = caseOf(name).gflop / (t.hologram * 1e-6);
    const ratio = (who) => { const r = t[who] / t.hologram; return !(r > 0) ? "-" : r < 1 ? `**${r.toFixed(2)}**` : r.toFixed(2); };
    return `| ${name} | ${known.get(name) ?? ""} | ${cell(t.hologram)} | ${Math.round((100 * rate) / results.peak / threads)} % | ${columns.map((who) => `${cell(t[who])} | ${ratio(who)}`).join(" | ")} |\n`;
  }).join("");
}

function text(threadCounts) {
  const isProduct = (name) => name.split("x").length === 3, missing = Object.entries(results.missing);
  const some = (list, title, note_, columns) => (list.length ? [`## ${title}`, "", note_, "", ...threadCounts.flatMap((t) => [`${t} thread${t > 1 ? "s" : ""}:`, "", table(list, t, columns)])] : []);
  return ["# The kernels beside their peers", "",
    "Written by `make bench-kernels`; [README.md](README.md) says how to repeat it. f32, operands in the caches where they fit, each contender with the weights " +
    `in the form that it likes best, all in turn: ${rounds} rounds, of which the least time counts. A ratio is the peer's time by Hologram's: above 1 Hologram is faster. ` +
    "The peak is that of multiply-adds which never leave the registers.", "",
    `- machine: ${cpus()[0].model.trim()}, ${cores} cores, level ${results.level}, peak ${results.peak.toFixed(0)} GFLOP/s a core`, `- Hologram: commit ${commit()}`,
    `- peers: ${Object.keys(peers).filter((who) => !results.missing[who]).map((who) => peers[who]).join(", ") || "none"}`,
    ...missing.map(([who, why]) => `- **missing: ${peers[who]}**: ${why}`), "",
    ...some(names.filter(isProduct), "Matrix product, MxNxK", "OpenBLAS packs in every call, the others before.", ["onednn", "openblas", "ort"]),
    ...some(names.filter((n) => !isProduct(n)), "Convolution, channels x height x width x filters x kernel x stride x dilation x groups",
      "Each in the layout that it chooses; the share is of the plain sum, so transformed tiles may show more than the peak.", ["onednn", "ort"])].join("\n");
}

const threadCounts = (env.THREADS || "1 2").split(/[\s,]+/).map(Number).filter((t) => t <= cores);
mkdirSync(work, { recursive: true });
if (!peerVersion()) results.missing.ort = "onnxruntime-node is not installed";
for (const threads of threadCounts)
  for (let i = 1; i <= rounds; i++) {
    round(threads);
    say(`${threads} thread${threads > 1 ? "s" : ""}, round ${i}/${rounds}`);
  }
const path = join(resolve(env.RESULTS || here), "KERNELS.md");
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, text(threadCounts));
for (const [who, why] of Object.entries(results.missing)) say(`missing: ${peers[who]}: ${why}`);
say(`${path} is written`);
process.exit(Object.keys(results.missing).length ? 1 : 0);
