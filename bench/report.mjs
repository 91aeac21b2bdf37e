#!/usr/bin/env node
// The results of a bench as pages: RESULTS.md and results.svg for the corpus, REAL.md for trained models, and their tables in README.md.
// usage: report.mjs RESULTS.json OUT_DIR [README.md]
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const digits = (x, unit = "") => (x === undefined || !Number.isFinite(x) ? "-" : (x >= 1000 ? Math.round(x).toLocaleString("en-US") : x.toPrecision(3)) + unit);
const times = (x) => (x === undefined || !Number.isFinite(x) ? "-" : x >= 100 ? `${Math.round(x).toLocaleString("en-US")}x` : `${x.toFixed(2)}x`);
const ratio = (a, b) => (a > 0 && b > 0 ? a / b : undefined);
const mean = (list) => (list.length ? Math.exp(list.reduce((s, x) => s + Math.log(x), 0) / list.length) : undefined);
const table = (head, rows) =>
  [head, head.map((_, i) => (i ? "---:" : "---")), ...rows].map((r) => `| ${r.join(" | ")} |`).join("\n") + "\n";
const speedup = (run) => (run ? ratio(run.ort.min_us, run.hologram.min_us) : undefined);
const present = (list) => list.filter((x) => x !== undefined);
const title = (m) => m.title ?? m.name;
const named = (m) => (m.error || m.agree?.bad.length ? `**${title(m)}**` : title(m));

// ---- tables

function speedTable(models, threads) {
  const head = ["model", ...threads.flatMap((t) => [`ORT, ${t} thread${t > 1 ? "s" : ""}, ms`, "Hologram, ms", "ratio"])];
  const rows = models.map((m) => [named(m), ...threads.flatMap((t) => {
    const run = m.runs.find((r) => r.threads === t);
    return [digits(run?.ort.min_us / 1e3), digits(run?.hologram.min_us / 1e3), times(speedup(run))];
  })]);
  const means = threads.flatMap((t) => ["", "", `**${times(mean(present(models.map((m) => speedup(m.runs.find((r) => r.threads === t))))))}**`]);
  return table(head, [...rows, ["geometric mean", ...means]]);
}

function answersOf(agree) {
  if (!agree) return "not compared";
  if (agree.bad.length) return "**disagree**";
  const exact = agree.exact, short = (x) => (x ? x.toExponential(1) : "0");
  return short(agree.worst) + (exact ? ` (from the exact ones: ORT ${short(exact.ort)}, Hologram ${short(exact.ours)})` : "");
}

// Opening and memory of the runs with most threads.
function openTable(models) {
  const head = ["model", "ORT opens, ms", "Hologram, ms", "ratio", "ORT first answer, ms", "Hologram, ms", "ORT memory, MB", "Hologram, MB", "share", "answers differ by"];
  return table(head, models.map((m) => {
    const { ort = {}, hologram = {} } = m.runs.at(-1) ?? {};
    const answers = answersOf(m.agree);
    return [named(m), digits(ort.open_us / 1e3), digits(hologram.open_us / 1e3), times(ratio(ort.open_us, hologram.open_us)),
      digits(ort.first_us / 1e3), digits(hologram.first_us / 1e3), digits(ort.rss_mb), digits(hologram.rss_mb),
      digits(ratio(hologram.rss_mb, ort.rss_mb)), answers];
  }));
}

function rateTable(models, peak) {
  const counted = models.filter((m) => m.runs.some((r) => r.hologram.gflops));
  if (!counted.length) return "";
  const share = (rate, threads) => (peak && rate ? `${Math.round((100 * rate) / peak / threads)} %` : "-");
  const head = (r) => [`${r.threads} thread${r.threads > 1 ? "s" : ""}`, "of the peak"];
  return "\n## Rate of arithmetic, GFLOP/s\n\n" +
    (peak ? `A core's peak is ${peak.toFixed(0)} GFLOP/s: multiply-adds that never leave the registers. ` : "The peak was not measured. ") +
    "Winograd's transformation takes fewer multiplications than are counted, so a share may be above 100 %.\n\n" +
    table(["model", ...counted[0].runs.flatMap(head)],
      counted.map((m) => [title(m), ...m.runs.flatMap((r) => [digits(r.hologram.gflops), share(r.hologram.gflops, r.threads)])]));
}

// What bounds the figures, by hand: a page beside this program.
function bounds() {
  const path = join(dirname(fileURLToPath(import.meta.url)), "bounds.md");
  return existsSync(path) ? "\n" + readFileSync(path, "utf8") : "";
}

// Everything that is missing, failed or not as it should be, each with its reason.
function faults(results) {
  const list = [...results.missing];
  const absent = results.names.filter((n) => !results.models.some((m) => m.name === n) && !results.missing.some((x) => x.startsWith(n + ":")));
  for (const m of results.models) {
    if (m.error) list.push(`${m.name}: Hologram: ${m.error}`);
    if (m.peerError) list.push(`${m.name}: ONNX Runtime: ${m.peerError}`);
    for (const run of m.runs)
      for (const side of ["ort", "hologram"])
        if (run[side].error) list.push(`${m.name}, ${run.threads} threads: ${side}: ${run[side].error}`);
    for (const bad of m.agree?.bad ?? []) list.push(`${m.name}: output ${bad}`);
    if (m.sameBits === false) list.push(`${m.name}: the answers' bits differ with the number of threads`);
    if (m.verified === false) list.push(`${m.name}: compiled, but not verified`);
  }
  return { list, absent };
}

// ---- the chart

const xml = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

function chart(models, threads) {
  const rows = models.filter((m) => m.runs.some((r) => speedup(r))), bar = 11, gap = 10, left = 150, width = 720;
  const step = threads.length * bar + gap, height = 64 + rows.length * step;
  const top = Math.max(1.5, ...rows.flatMap((m) => present(m.runs.map(speedup)))) * 1.08;
  const x = (v) => left + ((width - left - 60) * v) / top;
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>Speed of Hologram relative to ONNX Runtime, by model; longer is faster</title>",
    "<style>text{font:12px system-ui,sans-serif;fill:#24292f}.r{text-anchor:end}.t0{fill:#0a7d6c}.t1{fill:#57b8a8}.t2{fill:#a9dcd3}" +
    ".one{stroke:#cf222e;stroke-dasharray:3 3}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>",
    `<text x="${left}" y="18">times the speed of ONNX Runtime: the line is 1, longer is faster</text>`];
  threads.forEach((t, i) => parts.push(`<rect class="t${i}" x="${left + 110 * i}" y="28" width="10" height="10"/>`,
    `<text x="${left + 16 + 110 * i}" y="37">${t} thread${t > 1 ? "s" : ""}</text>`));
  rows.forEach((m, k) => {
    const y = 50 + k * step;
    parts.push(`<text class="r" x="${left - 8}" y="${y + (threads.length * bar) / 2 + 4}">${xml(m.name)}</text>`);
    threads.forEach((t, i) => {
      const v = speedup(m.runs.find((r) => r.threads === t));
      if (v) parts.push(`<rect class="t${i}" x="${left}" y="${y + i * bar}" width="${(x(v) - left).toFixed(1)}" height="${bar - 1}"/>`,
        `<text x="${(x(v) + 4).toFixed(1)}" y="${y + i * bar + 9}" style="font-size:10px">${v.toFixed(2)}</text>`);
    });
  });
  parts.push(`<line class="one" x1="${x(1).toFixed(1)}" x2="${x(1).toFixed(1)}" y1="44" y2="${height - 8}"/>`, "</svg>");
  return parts.join("\n") + "\n";
}

// ---- writing

// What differs between the two sets of models.
const sets = {
  corpus: { page: "RESULTS.md", title: "Hologram beside ONNX Runtime", command: "make bench", models: "Float32, batch 1", picture: "results.svg", mark: "the table of `make bench`" },
  real: { page: "REAL.md", title: "Trained models beside ONNX Runtime", command: "make bench-real",
    models: "Trained models that npm packages ship, f32 and int8, batch 1", mark: "the table of `make bench-real`" },
};
const setOf = (results) => sets[results.set];
export const pageOf = (results) => setOf(results).page;

function text(results, threads, problems) {
  const m = results.machine, models = results.models, set = setOf(results);
  const lines = [`# ${set.title}`, "",
    `Written by \`${set.command}\`; [README.md](README.md) says how to repeat it. ${set.models}, the same inputs, the same machine, ` +
    `both alternately: ${results.rounds} rounds of ${results.seconds} seconds each, of which the least time counts. A ratio above 1 means that Hologram is faster.`, "",
    `- machine: ${m.cpu}, ${m.cores} cores, ${m.memory_gb} GB, level ${m.level ?? "unknown"}`,
    `- Hologram: commit ${results.commit}`,
    `- ONNX Runtime: ${results.ort ? `onnxruntime-node ${results.ort}, CPU, all optimizations` : "missing"}`, "",
    "## Time of a run", "", ...(set.picture ? [`![ratios](${set.picture})`, ""] : []), speedTable(models, threads),
    "## Opening, memory, agreement", "",
    "To open is, for ONNX Runtime, to create a session from the model, and for Hologram to open the archive that `hologram compile` made of " +
    "it. The first answer is counted from before opening. Memory is the peak: of the whole process for Hologram, and what is above the process " +
    "before the model was opened for ONNX Runtime. Answers are compared element by element, in parts of the output's largest magnitude; 1e-4 is allowed. " +
    "Where they differ by more, both are compared with what the reference implementations compute in f64, and 1e-4 is allowed from that.", "",
    openTable(models) + rateTable(models, m.peak) + (set.picture ? bounds() : "")];
  if (problems.list.length) lines.push("## Missing or wrong", "", ...problems.list.map((p) => `- ${p.replaceAll("\n", " ")}`));
  if (problems.absent.length) lines.push(`${problems.list.length ? "\n" : ""}Not part of this run: ${problems.absent.join(", ")}.`);
  return lines.join("\n") + "\n";
}

// The part between the two marks.
function updateReadme(path, results, threads) {
  const set = setOf(results), begin = `<!-- ${set.mark} -->`, end = "<!-- end of the table -->", page = readFileSync(path, "utf8");
  const from = page.indexOf(begin), to = page.indexOf(end, from);
  if (from < 0 || to < from) throw new Error(`${path} lacks the marks ${begin} and ${end}`);
  const picture = set.picture ? `![Speed relative to ONNX Runtime](bench/${set.picture})\n\n` : "";
  const body = `\n${picture}${speedTable(results.models, threads)}\n` +
    `${results.machine.cpu}, ${results.machine.cores} cores, batch 1, beside ONNX Runtime ${results.ort}; more in [bench/${set.page}](bench/${set.page}).\n`;
  writeFileSync(path, page.slice(0, from + begin.length) + "\n" + body + page.slice(to));
}

// True when nothing is missing or wrong.
export function report(results, folder, readme) {
  const threads = [...new Set(results.models.flatMap((m) => m.runs.map((r) => r.threads)))].sort((a, b) => a - b);
  const problems = faults(results);
  const { page, picture } = setOf(results);
  writeFileSync(join(folder, page), text(results, threads, problems));
  if (picture) writeFileSync(join(folder, picture), chart(results.models, threads));
  if (readme && results.ort) updateReadme(readme, results, threads);
  return !problems.list.length;
}

if (argv[1] && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  const [json, folder, readme] = argv.slice(2);
  process.exit(report(JSON.parse(readFileSync(json, "utf8")), folder, readme) ? 0 : 1);
}
