// The same model by Hologram and by onnxruntime-web, with a bar for each of four numbers.
import { bars, bytes, failed, find, listed, make, time } from "./common.mjs";

listed.then((models) => {
  for (const { name, hasOnnx } of models) if (hasOnnx) find("model").append(make("option", { value: name, textContent: name }));
});

/** Bytes that came over the network for a folder since a moment, packed as they came. */
function loaded(since, pattern) {
  return performance
    .getEntriesByType("resource")
    .filter((entry) => entry.startTime >= since && pattern.test(entry.name))
    .reduce((sum, entry) => sum + (entry.encodedBodySize || entry.decodedBodySize), 0);
}

async function steady(run) {
  const times = [],
    end = performance.now() + 1500;
  while (times.length < 5 || performance.now() < end) {
    const begin = performance.now();
    await run();
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function ours(name, threads) {
  const begin = performance.now(),
    { open } = await import("./hologram/index.mjs"),
    model = await open(`${name}.holo`, { threads, cache: false }),
    started = performance.now(),
    feeds = model.sample();
  await model.run(feeds);
  const first = performance.now();
  return {
    download: loaded(begin - 5, /\/hologram\//),
    start: started - begin,
    first: first - begin,
    steady: await steady(() => model.run(feeds)),
    feeds,
    close: () => model.close(),
  };
}

async function theirs(name, threads, feeds) {
  const begin = performance.now(),
    ort = await import("./onnxruntime-web/ort.wasm.min.mjs");
  ort.env.wasm.numThreads = threads;
  const session = await ort.InferenceSession.create(`${name}.onnx`, { executionProviders: ["wasm"] }),
    started = performance.now(),
    given = Object.fromEntries(Object.entries(feeds).map(([key, tensor]) => [key, new ort.Tensor(tensor.dtype, tensor.data, tensor.shape)]));
  await session.run(given);
  const first = performance.now();
  return {
    download: loaded(begin - 5, /\/onnxruntime-web\//),
    start: started - begin,
    first: first - begin,
    steady: await steady(() => session.run(given)),
  };
}

const rows = [
  ["download", "Download of the runtime", bytes],
  ["start", "Until the model is open", time],
  ["first", "Until the first answer", time],
  ["steady", "Each answer then", time],
];

find("go").onclick = async () => {
  const [name, threads] = [find("model").value, Number(find("threads").value)];
  find("go").disabled = true;
  document.body.removeAttribute("data-ready");
  try {
    find("state").textContent = "Hologram runs ...";
    const here = await ours(name, threads);
    find("state").textContent = "onnxruntime-web runs ...";
    const there = await theirs(name, threads, here.feeds).catch((error) => ({ error }));
    here.close();
    find("results").replaceChildren(
      ...rows.map(([key, title, text]) => {
        const list = make("dl"),
          most = Math.max(here[key], there[key] ?? 0);
        bars(list)([
          { name: "Hologram", part: here[key] / most, text: here[key] ? text(here[key]) : "there already" },
          ...(there.error ? [] : [{ name: "onnxruntime-web", part: there[key] / most, text: there[key] ? text(there[key]) : "there already", isPeer: true }]),
        ]);
        return make("section", { className: "card" }, make("h2", { className: "first", textContent: title }), list);
      }),
    );
    find("state").textContent = there.error
      ? `onnxruntime-web is not beside this page (${there.error.message}): "make web" fetches it by npm.`
      : `${(there.first / here.first).toFixed(1)} times as fast to the first answer, ${(there.steady / here.steady).toFixed(1)} times as fast then.`;
    document.body.dataset.ready = "true";
  } catch (error) {
    failed(find("state"), error);
  }
  find("go").disabled = false;
};
