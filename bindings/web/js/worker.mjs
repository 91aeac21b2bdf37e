// The worker of remote.mjs: has one model, and does what the page asks for, in the order in which it asks.
import { host } from "./engine.mjs";
import { open } from "./index.mjs";
import { HologramError } from "./errors.mjs";
import { packed, unpacked } from "./messages.mjs";
import { engineOf } from "./opening.mjs";

host.isWorker = true;
let model, stopper;
const objects = new Map(); // texts that are being written, sessions
let next = 1;

function keep(object) {
  objects.set(next, object);
  return next++;
}

const methods = {
  async open({ id }, source, options) {
    model = await open(source, { ...options, onprogress: (progress) => self.postMessage({ id, progress }) });
    ({ stopper } = engineOf.get(model));
    return { stopper, inputs: model.inputs, outputs: model.outputs, report: model.report, pictures: model.pictures };
  },
  call: (_, name, args) => model[name](...args),
  /** A run that the page may stop: it writes into `stop`, and then where the engine looks. */
  async run(_, args, stop) {
    for (const flag = new Int32Array(stop); ; )
      try {
        Atomics.store(new Int32Array(stopper.buffer), stopper.at, 0);
        if (Atomics.load(flag, 0)) throw new HologramError("the run was stopped", "CANCELLED");
        return await model.run(...args);
      } catch (error) {
        if (error.code !== "CANCELLED" || Atomics.load(flag, 0)) throw error; // else the page meant the run before, which was over
      }
  },
  make: (_, name, args) => keep(model[name](...args)),
  use: (_, object, name, args) => objects.get(object)[name](...args),
  async drop(_, object) {
    const one = objects.get(object);
    objects.delete(object);
    if (one?.return) await one.return();
    else one?.close?.();
  },
  rate() {
    const language = model.language();
    try {
      return language.rate;
    } finally {
      language.close();
    }
  },
  encode: (_, text, options) => model.tokenizer?.encode(text, options) ?? null,
  decode: (_, ids, options) => model.tokenizer?.decode(ids, options) ?? null,
};

async function answer(message) {
  const { id, method, args } = message;
  try {
    self.postMessage({ id, result: packed(await methods[method](message, ...unpacked(args))) });
  } catch (error) {
    self.postMessage({ id, error: { message: error.message, code: error.code ?? "INTERNAL" } });
  }
}

self.onmessage = ({ data }) => answer(data);
