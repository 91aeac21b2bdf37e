// An engine: a WebAssembly module at work, with its memory, its threads, and calls of its functions.
import { HologramError } from "./errors.mjs";
import { imports } from "./imports.mjs";

const utf8 = new TextEncoder(),
  text = new TextDecoder();
const pageBytes = 65536,
  firstPages = 256; // as the modules are linked
const stackBytes = 1 << 20;

let base = import.meta.url;

/** Says where the files of the package are, for programs that a bundler has put elsewhere: a URL of its folder. */
export function setBase(url) {
  base = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href ?? base).href;
}

/** {worker, answer}: a worker that runs thread.mjs with the message that it gets, and a promise of it, when it is ready. */
function startThread() {
  const worker = startWorker("thread.mjs"),
    answer = new Promise((resolve, reject) => {
      worker.onmessage = () => resolve(worker);
      worker.onerror = (event) => reject(new HologramError(`a thread cannot start: ${event.message ?? "its script cannot be loaded"}`));
    });
  answer.catch(() => {}); // who asks for it hears it
  return { worker, answer };
}
const spare = []; // have started, and got no message yet

const hostHere = () => ({
  /** Models that are opened in a worker can be stopped by their page, where memory can be shared. */
  isWorker: false,
  cores: globalThis.navigator?.hardwareConcurrency ?? 1,
  /** Memory can be shared with workers: in pages that are isolated from other origins. */
  canShare: globalThis.crossOriginIsolated === true,
  /** A thread of a page may not wait. */
  mayWait: typeof document === "undefined",

  async compile(name) {
    const response = await fetch(new URL(name, base));
    if (!response.ok) throw new HologramError(`${response.url} cannot be fetched: ${response.status} ${response.statusText}`, "NO_FILE");
    if (response.headers.get("content-type")?.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
  },

  /** Starts so many threads before there is a module for them: a start takes longer than all that follows. */
  prepare(count) {
    while (spare.length < count) spare.push(startThread());
  },

  /** A thread with a message: a promise of its worker, when it is ready. */
  thread(message) {
    const { worker, answer } = spare.pop() ?? startThread();
    worker.postMessage(message);
    return answer;
  },
});

/** What differs between places to run: tests in Node replace it. */
export const host = /* @__PURE__ */ hostHere(); // bundlers may leave it out

/** A worker with a module of this package. Where that comes from another origin, a worker of this one imports it. */
export function startWorker(name) {
  const url = new URL(name, base);
  if (!globalThis.location || url.origin === location.origin) return new Worker(url, { type: "module" });
  const blob = new Blob([`import ${JSON.stringify(url.href)}`], { type: "text/javascript" }),
    own = URL.createObjectURL(blob);
  setTimeout(() => URL.revokeObjectURL(own), 60000);
  return new Worker(own, { type: "module" });
}

// A function that swizzles as relaxed SIMD does: an engine that has that accepts it.
const relaxed = "0061736d0100000001050160 00017b030201000a0f010d00 4101fd0f4102fd0ffd80020b";
let best;
const level = () => (best ??= WebAssembly.validate(Uint8Array.from(relaxed.match(/[0-9a-f]{2}/g), (byte) => parseInt(byte, 16))) ? "relaxed" : "simd128");

const modules = new Map();

/** Promises of the backends of engines that models are using, by their kind. */
export const engines = new Map();

/** The compiled module of a kind: each is fetched once. */
function moduleOf(kind, isShared) {
  const name = kind === "compiler" ? "hologram-compiler-simd128.wasm" : `hologram-${kind}-${level()}${isShared ? "-threads" : ""}.wasm`;
  if (!modules.has(name)) {
    const module = host.compile(name);
    modules.set(name, module);
    module.catch(() => modules.delete(name)); // the next one tries again
  }
  return modules.get(name);
}

function sharedMemory(isWide) {
  for (let maximum = isWide ? 262144 : 65535; ; maximum >>= 1)
    try {
      if (isWide) return new WebAssembly.Memory({ address: "i64", initial: BigInt(firstPages), maximum: BigInt(maximum), shared: true });
      return new WebAssembly.Memory({ initial: firstPages, maximum, shared: true });
    } catch (error) {
      if (maximum < 8192) throw new HologramError(`there is no memory that threads can share: ${error.message}`, "NO_MEMORY");
    }
}

const layoutNames = "pointer tensor tensorShape tensorData input inputIndex inputTensor output outputIndex outputTensor".split(" ");

/** Functions of a module with 64-bit memory, that take and give numbers as the others do. */
async function narrowed(exports) {
  const { default: wide } = await import("./wide.mjs"),
    made = { ...exports };
  for (const [name, which] of Object.entries(wide))
    made[name] = (...args) => {
      for (let i = 0; i < which.length; i++) args[i] = which[i] === "1" ? BigInt(args[i] ?? 0) : args[i];
      const result = exports[name](...args);
      return typeof result === "bigint" ? Number(result) : result;
    };
  return made;
}

/** Whether the engine has 64-bit memory, and such tables: a module that is nothing but both. */
export const hasWide = () => WebAssembly.validate(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 4, 4, 1, 0x70, 4, 0, 5, 3, 1, 4, 1));

export class Engine {
  #memory;
  #module;
  #bytes;
  #view;
  #workers = [];
  #starting;

  constructor(module, memory, isShared, isWide) {
    this.#module = module;
    this.isWide = isWide;
    this.isShared = isShared;
    this.users = 0;
    this.isOver = false;
    this.#memory = memory;
  }

  static async create(kind, isShared, progress) {
    const module = await moduleOf(kind, isShared),
      isWide = kind.endsWith("64"),
      memory = isShared ? sharedMemory(isWide) : undefined,
      engine = new Engine(module, memory, isShared, isWide),
      { exports } = await WebAssembly.instantiate(module, imports(memory, host.cores, progress && ((...args) => progress(engine, ...args))));
    engine.exports = isWide ? await narrowed(exports) : exports;
    engine.#memory ??= engine.exports.memory;
    engine.#learn();
    if (isShared && !host.mayWait) engine.exports.web_restless();
    return engine;
  }

  /** Sizes and places of what C and JavaScript share, in the order of web_layout; and where runs are stopped. */
  #learn() {
    const at = this.exports.web_layout() >> 2,
      numbers = new Int32Array(this.#memory.buffer);
    this.layout = Object.fromEntries(layoutNames.map((name, i) => [name, numbers[at + i]]));
    this.stopAt = this.exports.web_stop();
  }

  /** What lets another thread stop runs: {buffer, at}; undefined: none can. */
  get stopper() {
    return this.isShared ? { buffer: this.#memory.buffer, at: this.stopAt >> 2 } : undefined;
  }

  /** The memory as bytes: anew for each use, since it may have grown. */
  get bytes() {
    const { buffer } = this.#memory;
    if (this.#bytes?.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
    }
    return this.#bytes;
  }

  get view() {
    void this.bytes;
    return this.#view;
  }

  /** An address that a function gave. Those of 32 bits come with a sign. */
  address(given) {
    return this.isWide ? given : given >>> 0;
  }

  /** An address, or a size, in memory. */
  pointerAt(at) {
    return this.isWide ? Number(this.view.getBigUint64(at, true)) : this.view.getUint32(at, true);
  }

  setPointer(at, value) {
    if (this.isWide) this.view.setBigUint64(at, BigInt(value), true);
    else this.view.setUint32(at, value, true);
  }

  /** Bytes of memory, aligned to 64. */
  take(size) {
    const at = this.address(this.exports.web_take(size));
    if (!at)
      throw new HologramError(
        `there is no memory for ${size} more bytes: ${this.memoryBytes} are in use. Close models that are no longer needed, or take a smaller model`,
        "NO_MEMORY",
      );
    return at;
  }

  /** A copy of a typed array in memory. */
  put(data) {
    const at = this.take(data.byteLength);
    this.bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    return at;
  }

  /** A text in memory, with a 0 behind it. */
  putText(string) {
    return this.put(utf8.encode(`${string}\0`));
  }

  free(at) {
    this.exports.web_free(at);
  }

  /** A copy of bytes of the memory. */
  copy(at, size) {
    return this.bytes.slice(this.address(at), this.address(at) + size);
  }

  textAt(at, size = this.bytes.indexOf(0, this.address(at)) - this.address(at)) {
    return text.decode(this.copy(at, size));
  }

  #fail() {
    const at = this.address(this.exports.web_error()),
      status = this.view.getInt32(at, true);
    throw new HologramError(this.textAt(at + 4), status);
  }

  /** Calls a function. One that breaks down takes the engine along: the next model gets another. */
  #call(name, args) {
    if (this.isOver) throw new HologramError("the engine of the model is gone: open the model again", "INTERNAL");
    try {
      return this.exports[name](...args);
    } catch (error) {
      this.isOver = true;
      throw new HologramError(`the module broke down: ${error.message}`, "INTERNAL", { cause: error });
    }
  }

  /** Calls a function that gives a status. */
  do(name, ...args) {
    if (this.#call(name, args) !== 0) this.#fail();
  }

  /** Calls one that gives an object; 0 is a failure. */
  make(name, ...args) {
    const made = this.address(this.#call(name, args));
    if (!made) this.#fail();
    return made;
  }

  /** Calls one that gives a number; -1 is a failure. */
  count(name, ...args) {
    const number = this.#call(name, args);
    if (number < 0) this.#fail();
    return number;
  }

  /** Calls one that gives JSON. */
  json(name, ...args) {
    const at = this.make(name, ...args);
    try {
      return JSON.parse(this.textAt(at));
    } finally {
      this.free(at);
    }
  }

  /** Has so many threads, this one among them, before a pool asks for them. */
  async threads(count) {
    const before = this.#starting;
    return (this.#starting = (async () => {
      await before;
      const wanted = count - 1 - this.#workers.length,
        more = Array.from({ length: Math.max(0, wanted) }, () => {
          const { __tls_size: size } = this.exports;
          return host.thread({ module: this.#module, memory: this.#memory, cores: host.cores, stack: this.take(stackBytes) + stackBytes, tls: this.take(Number(size.value) + 64) });
        });
      this.#workers.push(...(await Promise.all(more)));
      while (this.exports.web_servants() < count - 1) await new Promise((resolve) => setTimeout(resolve, 1));
    })());
  }

  /** Ends its threads. What it has in memory goes with it. */
  end() {
    this.isOver = true;
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
  }

  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }
}
