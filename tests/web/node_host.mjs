// Lets the package of browsers run in Node, for tests: modules are files, and threads are those of Node.
import { readFile } from "node:fs/promises";
import os from "node:os";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const folder = process.env.HOLOGRAM_WEB;
const { host } = await import(`${folder}/compiling.mjs`);

host.cores = os.availableParallelism?.() ?? os.cpus().length;
host.canShare = true;
host.mayWait = true;
host.compile = async (name) => WebAssembly.compile(await readFile(`${folder}/${name}`));
host.prepare = () => {};
host.thread = (message) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: message });
    worker.once("message", () => {
      worker.unref();
      resolve(worker);
    });
    worker.once("error", reject);
  });

if (!isMainThread && workerData?.memory) {
  const { serve } = await import(`${folder}/thread.mjs`);
  await serve(workerData, () => parentPort.postMessage("ready"));
}
