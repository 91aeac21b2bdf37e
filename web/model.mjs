// Drop any model: what it is, its graph, what the compiler decided, a run, and its time.
import { bytes, failed, files, find, make, time } from "./common.mjs";
import { open } from "./hologram/index.mjs";
import { draw, none } from "./graph.mjs";

let model, archive, name, source; // source: {bytes, name, beside} of what was compiled here

// ---- what a worker does: compiling and drawing

let worker;
const calls = [];

/** Ends what goes on for the model before. */
function renew() {
  worker?.terminate();
  for (const { reject } of calls.splice(0)) reject(new Error("another model was chosen"));
  worker = new Worker("model_worker.mjs", { type: "module" });
  worker.onmessage = ({ data: { id, part, result, error } }) => {
    const call = calls.find((one) => one.id === id);
    if (part !== undefined) return call?.progress?.(part);
    calls.splice(calls.indexOf(call), 1);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error));
  };
  worker.onerror = (event) => {
    for (const { reject } of calls.splice(0)) reject(new Error(`The compiler stopped: ${event.message ?? "its script cannot be loaded"}`));
  };
}
let next = 0;
const ask = (what, ...args) =>
  new Promise((resolve, reject) => {
    const { progress, ...options } = args.pop();
    calls.push({ id: next, resolve, reject, progress });
    worker.postMessage({ id: next++, name: what, args: [...args, options] });
  });

// ---- the page

const isArchive = (data) => data[0] === 0x89 && data[1] === 0x48;
const table = (head, rows) =>
  make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { textContent: text, scope: "col" })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { textContent: text }))))),
  );
const shapeOf = (port) => `${port.dtype}[${port.shape?.join(", ") ?? "?"}]`;

async function facts(report) {
  const info = await model.inspect(),
    notes = await model.explain();
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
      notes.map((note) => [note.pass, note.place, note.what, note.verdict, note.why]),
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
          ? await ask("drawingOf", archive, `${name}.holo`, stage, {})
          : await ask("drawingOf", source.bytes, source.name, stage, { files: source.beside });
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
    const listing = await ask("graphOf", archive, `${name}.holo`, "planned", {}),
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

let turns = 0;
/** What is read of the chosen files: {bytes, name, beside}. */
async function contents(chosen, main) {
  const beside = {},
    bytes = new Uint8Array(await main.arrayBuffer());
  if (!isArchive(bytes)) for (const file of chosen) if (file !== main) beside[file.name] = await file.arrayBuffer();
  return { bytes, name: main.name, beside };
}

async function take(chosen) {
  const main = chosen.find((file) => /\.(holo|onnx|gguf|safetensors|pb|tflite|pt|npz)$/i.test(file.name)) ?? chosen[0];
  if (!main) return;
  const turn = ++turns, // the last one that was chosen counts
    state = find("state"),
    progress = find("progress");
  find("result").hidden = true;
  document.body.removeAttribute("data-ready");
  state.textContent = `Reading ${main.name} ...`;
  model?.close();
  model = source = undefined;
  renew();
  try {
    const read = await contents(chosen, main),
      begin = performance.now();
    if (turn !== turns) return; // another one was chosen meanwhile
    let made = { archive: read.bytes };
    if (!isArchive(read.bytes)) {
      progress.hidden = false;
      progress.value = 0;
      state.textContent = `Compiling ${main.name} ...`;
      source = read;
      made = await ask("compileBytes", read.bytes, main.name, { files: read.beside, progress: (part) => (progress.value = part) });
    }
    const opened = await open(made.archive, { worker: true });
    if (turn !== turns) return opened.close();
    archive = made.archive;
    name = main.name.replace(/\.\w+$/, "");
    model = opened;
    state.textContent = `${main.name} is ready, after ${time(performance.now() - begin)}.`;
    await facts(made.report);
    find("answers").replaceChildren();
    find("result").hidden = false;
    document.body.dataset.ready = "true";
    await graph();
  } catch (error) {
    if (turn === turns) failed(state, error);
  }
  if (turn === turns) progress.hidden = true;
}

/** Says what goes on, and lets nobody ask for it twice. */
async function busy(words, work) {
  for (const id of ["run", "bench"]) find(id).disabled = true;
  find("answers").replaceChildren(make("p", { className: "soft", textContent: words }));
  try {
    await work();
  } catch (error) {
    failed(find("answers"), error);
  }
  for (const id of ["run", "bench"]) find(id).disabled = false;
}

find("run").onclick = () =>
  busy("Running ...", async () => {
    const feeds = await model.sample(),
      begin = performance.now(),
      results = await model.run(feeds),
      took = performance.now() - begin;
    find("answers").replaceChildren(
      make("p", { className: "soft", textContent: `on made-up inputs, in ${time(took)}` }),
      ...Object.entries(results).map(([output, tensor]) =>
        make("pre", { textContent: `${output} ${tensor.dtype ?? ""}[${tensor.shape ?? ""}]\n${Array.from(tensor.data?.slice(0, 12) ?? [], (x) => (typeof x === "number" ? Number(x.toPrecision(5)) : x)).join(", ")} ...` }),
      ),
    );
  });
find("bench").onclick = () =>
  busy("Measuring ...", async () => {
    const { runs, least, median, p99 } = await model.bench(undefined, { seconds: 1 });
    find("answers").replaceChildren(
      table(["runs", "least", "median", "p99"], [[String(runs), time(1000 * least), time(1000 * median), time(1000 * p99)]]),
    );
  });
find("save").onclick = () => {
  const url = URL.createObjectURL(new Blob([archive]));
  make("a", { href: url, download: `${name}.holo` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
find("example").onclick = async () => take([new File([await (await fetch("digits.onnx")).blob()], "digits.onnx")]);
files(find("area"), find("file"), take);
