// What threads.test.mjs runs in processes and worker threads of their own: life.mjs WHAT ARCHIVE.
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { hologram } from "./package.mjs";

const [what, path] = process.argv.slice(2);
const shapeOf = (model) => model.inputs[0].shape.reduce((a, b) => a * b, 1);

async function worker({ path: archive, shared, endless }) {
  const model = await hologram.open(archive, { threads: 2 });
  if (endless) {
    const x = new Float32Array(shapeOf(model));
    for (let i = 0; i < 8; i++) model.run(x).catch(() => {});
    parentPort.postMessage("running");
    return;
  }
  const { y } = await model.run({ x: new Float32Array(shared) });
  parentPort.postMessage(y.data.reduce((a, b) => a + b, 0));
}

const lives = {
  async exit(model) {
    for (let i = 0; i < 8; i++) model.run(new Float32Array(shapeOf(model)));
    setTimeout(() => process.exit(7), 20);
  },
  async throw(model) {
    for (let i = 0; i < 8; i++) model.session().run(new Float32Array(shapeOf(model)));
    setTimeout(() => {
      throw new Error("on purpose");
    }, 20);
  },
  async garbage(model) {
    let closed = 0;
    const registry = new FinalizationRegistry(() => closed++),
      x = new Float32Array(8).fill(1);
    for (let round = 0; round < 20; round++) {
      const sessions = Array.from({ length: 20 }, () => model.session({ threads: 1 + (round % 2) }));
      const copies = await Promise.all(Array.from({ length: 5 }, () => hologram.open(path)));
      const orphans = copies.map((copy) => copy.session());
      for (const one of [...sessions, ...copies, ...orphans]) registry.register(one);
      await Promise.all([...sessions, ...orphans].map((session) => session.run(x)));
      for (const one of [...orphans, ...copies].sort(() => Math.random() - 0.5).slice(0, 3)) one.close();
      sessions.map((session) => session.run(x)); // in progress while their sessions become garbage
      sessions.length = copies.length = orphans.length = 0;
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (closed < 100) throw new Error(`only ${closed} objects were collected`);
    console.log(`${closed} closed by the collector`);
  },
  async leak(model) {
    const session = model.session(),
      x = new Float32Array(8),
      rss = () => (globalThis.gc(), globalThis.gc(), process.memoryUsage.rss());
    const many = async (count) => {
      for (let i = 0; i < count; i++) {
        (i % 2 ? model : session).runSync({ x });
        if (i % 20 === 0)
          await Promise.all([model.run({ x }), session.run({ x }), model.run({ x }, { signal: new AbortController().signal })]);
        if (i % 1000 === 0)
          try {
            model.runSync({ x: new Float32Array(7) });
          } catch {
            /* as it should */
          }
      }
    };
    await many(20_000);
    const before = rss();
    await many(100_000);
    console.log(`grew by ${Math.round((rss() - before) / 1024)} KiB`);
  },
};

if (!isMainThread) {
  await worker(workerData);
} else if (what === "compile") {
  hologram.compile(path, `${path}.holo`);
  setTimeout(() => process.exit(7), 20);
} else {
  await lives[what](await hologram.open(path));
}
