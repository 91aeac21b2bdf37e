// Drop any model: what it is, its graph, what the compiler decided, a run, and its time.
import { bytes, failed, files, find, make, time } from "./common.mjs";
import { compile, open } from "./hologram/index.mjs";
import { drawingOf, graphOf } from "./hologram/compiling.mjs";
import { draw, none } from "./graph.mjs";

let model, archive, name, source; // source: {file, beside} of what was compiled here
const isArchive = (data) => data[0] === 0x89 && data[1] === 0x48;
const table = (head, rows) =>
  make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { textContent: text, scope: "col" })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { textContent: text }))))),
  );
const shapeOf = (port) => `${port.dtype}[${port.shape?.join(", ") ?? "?"}]`;

function facts(report) {
  const info = model.inspect();
  const rows = [
    ["archive", bytes(info.fileBytes)],
    ["constants", bytes(info.constantBytes)],
    ["memory of a run", info.arenaBytes ? bytes(info.arenaBytes) : "depends on its sizes"],
    ["steps", String(info.steps)],
    ["numeric class", info.exact ? "exact" : "fused"],
    ...model.inputs.map((port) => [`input ${port.name}`, shapeOf(port)]),
    ...model.outputs.map((port) => [`output ${port.name}`, shapeOf(port)]),
  ];
  if (report) rows.push(["nodes", `${report.nodesBefore} became ${report.nodesAfter}`]);
  find("facts").replaceChildren(table(["", ""], rows));
  find("notes").replaceChildren(
    table(
      ["by", "where", "what", "verdict", "why"],
      model.explain().map((note) => [note.pass, note.place, note.what, note.verdict, note.why]),
    ),
  );
}

const drawings = new Map(); // of stages, as SVG

async function drawn(stage) {
  for (const one of ["planned", "imported"]) find(one).ariaPressed = String(one === stage);
  try {
    if (!drawings.has(stage)) {
      const text =
        stage === "planned"
          ? await drawingOf(archive, `${name}.holo`, stage)
          : await drawingOf(new Uint8Array(await source.file.arrayBuffer()), source.file, stage, { files: source.beside });
      drawings.set(stage, text);
    }
    document.body.dataset.boxes = String(draw(drawings.get(stage)));
  } catch (error) {
    none(error);
  }
}
for (const stage of ["planned", "imported"]) find(stage).onclick = () => drawn(stage);

async function graph() {
  drawings.clear();
  find("imported").disabled = !source;
  await drawn("planned");
  try {
    const listing = await graphOf(archive, `${name}.holo`, "planned"),
      shown = (at) => (at < 0 ? "" : `${listing.values[at].name} ${listing.values[at].shape}`);
    find("graph").replaceChildren(
      table(
        ["step", "operator", "runs by", "from", "to"],
        listing.nodes.map((node, i) => [
          `${i}`,
          node.op,
          node.runs,
          node.in.filter((at) => at >= 0 && !listing.values[at].isConstant).map(shown).join("; "),
          node.out.map(shown).join("; "),
        ]),
      ),
    );
  } catch (error) {
    failed(find("graph"), error);
  }
}

async function take(chosen) {
  const main = chosen.find((file) => /\.(holo|onnx|gguf|safetensors|pb|tflite|pt|npz)$/i.test(file.name)) ?? chosen[0];
  if (!main) return;
  const state = find("state"),
    progress = find("progress");
  find("result").hidden = true;
  document.body.removeAttribute("data-ready");
  state.textContent = `Reading ${main.name} ...`;
  model?.close();
  model = source = undefined;
  try {
    let data = new Uint8Array(await main.arrayBuffer()),
      report;
    const begin = performance.now();
    if (!isArchive(data)) {
      const beside = {};
      for (const file of chosen) if (file !== main) beside[file.name] = await file.arrayBuffer();
      progress.hidden = false;
      state.textContent = `Compiling ${main.name} ...`;
      await new Promise((resolve) => setTimeout(resolve, 30)); // the page shows it first
      source = { file: main, beside };
      ({ archive: data, report } = await compile(main, { files: beside, progress: (_, part) => (progress.value = part) }));
    }
    archive = data;
    name = main.name.replace(/\.\w+$/, "");
    model = await open(archive);
    state.textContent = `${main.name} is ready, after ${time(performance.now() - begin)}.`;
    facts(report);
    find("answers").replaceChildren();
    find("result").hidden = false;
    document.body.dataset.ready = "true";
    await graph();
  } catch (error) {
    failed(state, error);
  }
  progress.hidden = true;
}

find("run").onclick = async () => {
  try {
    const begin = performance.now(),
      results = await model.run(model.sample()),
      took = performance.now() - begin;
    find("answers").replaceChildren(
      make("p", { className: "soft", textContent: `on made-up inputs, in ${time(took)}` }),
      ...Object.entries(results).map(([output, tensor]) =>
        make("pre", { textContent: `${output} ${tensor.dtype ?? ""}[${tensor.shape ?? ""}]\n${Array.from(tensor.data?.slice(0, 12) ?? [], (x) => (typeof x === "number" ? Number(x.toPrecision(5)) : x)).join(", ")} ...` }),
      ),
    );
  } catch (error) {
    failed(find("answers"), error);
  }
};
find("bench").onclick = () => {
  try {
    const { runs, least, median, p99 } = model.bench(undefined, { seconds: 1 });
    find("answers").replaceChildren(
      table(["runs", "least", "median", "p99"], [[String(runs), time(1000 * least), time(1000 * median), time(1000 * p99)]]),
    );
  } catch (error) {
    failed(find("answers"), error);
  }
};
find("save").onclick = () => {
  const url = URL.createObjectURL(new Blob([archive]));
  make("a", { href: url, download: `${name}.holo` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
find("example").onclick = async () => take([new File([await (await fetch("digits.onnx")).blob()], "digits.onnx")]);
files(find("area"), find("file"), take);
