// Models in a worker of their own: the page stays smooth while they run. What models do at once here takes a promise.
import { startWorker } from "./engine.mjs";
import { HologramError, aborted } from "./errors.mjs";
import "./index.mjs"; // what is loaded by need stands on all that is there already: so esbuild keeps that in one file
import { packed, unpacked } from "./messages.mjs";

/** Calls that wait for their answers. */
class Line {
  #worker = startWorker("worker.mjs");
  #waiting = new Map();
  #next = 1;
  #broken;

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      const call = this.#waiting.get(data.id);
      if (!call) return;
      if (data.progress) return call.onprogress?.(data.progress);
      this.#waiting.delete(data.id);
      if (data.error) call.reject(new HologramError(data.error.message, data.error.code));
      else call.resolve(unpacked(data.result));
    };
    this.#worker.onerror = (event) => this.end(new HologramError(`the worker of the model failed: ${event.message ?? "its script cannot be loaded"}`, "INTERNAL"));
  }

  ask(method, args, { onprogress, signal } = {}) {
    if (this.#broken) return Promise.reject(this.#broken);
    if (signal?.aborted) return Promise.reject(aborted(signal));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const stop = () => this.#waiting.delete(id) && reject(aborted(signal));
      signal?.addEventListener("abort", stop, { once: true });
      const settle = (end) => (value) => (signal?.removeEventListener("abort", stop), end(value));
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject), onprogress });
      this.#worker.postMessage({ id, method, args: packed(args) });
    });
  }

  end(why) {
    this.#broken = why;
    this.#worker.terminate();
    for (const call of this.#waiting.values()) call.reject(why);
    this.#waiting.clear();
  }
}

const told = ["inspect", "explain", "constants", "verify", "bench", "sample", "generateText", "generateTexts"];

export class RemoteModel {
  #line;
  #stopper;

  constructor(line, { inputs, outputs, report, pictures, stopper }) {
    this.#line = line;
    this.#stopper = stopper;
    this.inputs = inputs;
    this.outputs = outputs;
    this.report = report;
    this.pictures = pictures;
    for (const name of told) this[name] = (...args) => line.ask("call", [name, args]);
    this.tokenizer = {
      encode: (text, options) => line.ask("encode", [text, options]),
      decode: (ids, options) => line.ask("decode", [ids, options]),
    };
  }

  /** A signal ends the run, where memory can be shared; elsewhere it ends the wait, and what runs already runs to its end. */
  async run(feeds, { signal, ...options } = {}) {
    if (!signal || !this.#stopper) return this.#line.ask("call", ["run", [feeds, options]], { signal });
    if (signal.aborted) throw aborted(signal);
    const { buffer, at } = this.#stopper,
      stop = new SharedArrayBuffer(4),
      abort = () => {
        Atomics.store(new Int32Array(stop), 0, 1);
        Atomics.store(new Int32Array(buffer), at, 1);
      };
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await this.#line.ask("run", [[feeds, options], stop]);
    } catch (error) {
      throw error.code === "CANCELLED" && signal.aborted ? aborted(signal) : error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async *#written(name, first, { signal, ...options } = {}) {
    const text = await this.#line.ask("make", [name, [first, options]], { signal });
    try {
      for (;;) {
        const { value, done } = await this.#line.ask("use", [text, "next", []], { signal });
        if (done) return value;
        yield value;
      }
    } finally {
      this.#line.ask("drop", [text]).catch(() => {});
    }
  }

  generate(prompt, options) {
    return this.#written("generate", prompt, options);
  }

  chat(messages, options) {
    return this.#written("chat", messages, options);
  }

  transcribe(sound, { signal, ...options } = {}) {
    return this.#line.ask("call", ["transcribe", [sound, options]], { signal });
  }

  rate() {
    return this.#line.ask("rate", []);
  }

  imagine(prompt, options) {
    return this.#written("imagine", prompt, options);
  }

  close() {
    this.#line.end(new HologramError("the model is closed"));
  }
}

export async function open(given, { onprogress, signal, worker, ...options }) {
  const line = new Line(),
    source = typeof given === "string" || given instanceof URL ? new URL(given, document.baseURI).href : given instanceof Response ? await given.blob() : given;
  try {
    return new RemoteModel(line, await line.ask("open", [source, options], { onprogress, signal }));
  } catch (error) {
    line.end(error);
    throw error;
  }
}
