// What web.mjs measures, in the page: the address says what, [function, arguments] behind #, and the title becomes the answer, in milliseconds.
const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, bool: Uint8Array, uint8: Uint8Array };

async function inputsOf(name) {
  const { feeds, weights } = await (await fetch(`${name}.json`)).json();
  for (const [input, one] of Object.entries(feeds)) one.data = new arrays[one.type](await (await fetch(`${name}.${input}.bin`)).arrayBuffer());
  return { feeds, weights };
}

/** A function that runs the model once: {name: data} of its outputs. */
const sides = {
  async hologram(name, threads, { feeds }) {
    const { Tensor, open } = await import("./hologram/index.mjs"),
      model = await open(`${name}.holo`, { threads, cache: false }),
      given = Object.fromEntries(Object.entries(feeds).map(([key, { type, dims, data }]) => [key, new Tensor(type, data, dims)]));
    return () => model.run(given);
  },
  async peer(name, threads, { feeds, weights }, optimized = "all") {
    const ort = await import("./onnxruntime-web/ort.wasm.min.mjs");
    ort.env.wasm.numThreads = threads;
    const session = await ort.InferenceSession.create(`${name}.onnx`, {
        executionProviders: ["wasm"],
        intraOpNumThreads: threads,
        graphOptimizationLevel: optimized,
        ...(weights && { externalData: [{ path: weights, data: weights }] }),
      }),
      given = Object.fromEntries(Object.entries(feeds).map(([key, { type, dims, data }]) => [key, new ort.Tensor(type, data, dims)]));
    return () => session.run(given);
  },
};

/** The bytes of the archive alone, each read into the same memory: nothing that needs them all can be faster. arrayBuffer() is slower. */
async function fetched(name) {
  const begin = performance.now(),
    reader = (await fetch(`${name}.holo`)).body.getReader({ mode: "byob" });
  for (let buffer = new ArrayBuffer(1 << 20); ; ) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return { fetched: performance.now() - begin };
    buffer = value.buffer;
  }
}

/** From nothing to the first answer: the runtime, the model, a run. */
async function first(side, name, threads) {
  const inputs = await inputsOf(name),
    begin = performance.now(),
    run = await sides[side](name, threads, inputs),
    opened = performance.now();
  await run();
  return { [`${side}Open`]: opened - begin, [`${side}First`]: performance.now() - begin };
}

/** The largest difference of all outputs, relative to the largest value. */
function differenceOf(here, there) {
  let worst = 0;
  for (const name of Object.keys(there)) {
    const [a, b] = [here[name].data, there[name].data];
    if (typeof b[0] === "bigint") continue;
    let most = 1e-30,
      off = 0;
    for (let i = 0; i < b.length; i++) {
      most = Math.max(most, Math.abs(b[i]));
      off = Math.max(off, Math.abs(a[i] - b[i]));
    }
    worst = Math.max(worst, off / most);
  }
  return worst;
}

/** The best time of each, measured in turns. */
async function turns(name, threads, rounds, seconds) {
  const inputs = await inputsOf(name),
    runs = { hologram: await sides.hologram(name, threads, inputs), peer: await sides.peer(name, threads, inputs) },
    best = { hologram: Infinity, peer: Infinity },
    answer = await runs.peer(),
    difference = differenceOf(await runs.hologram(), answer),
    ownDifference = differenceOf(await (await sides.peer(name, threads, inputs, "disabled"))(), answer);
  for (let round = 0; round < rounds; round++)
    for (const side of ["hologram", "peer"]) {
      const end = performance.now() + 1000 * seconds;
      do {
        const begin = performance.now();
        await runs[side]();
        best[side] = Math.min(best[side], performance.now() - begin);
      } while (performance.now() < end);
    }
  return { ...best, difference, ownDifference };
}

await new Promise((resolve) => setTimeout(resolve, 200)); // the page itself is done
const [what, given] = JSON.parse(decodeURIComponent(location.hash.slice(1))),
  answer = await { fetched, first, turns }[what](...given).catch((error) => ({ error: error.message.slice(0, 1000) }));
document.title = JSON.stringify(answer);
