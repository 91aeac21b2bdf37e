// Opens archives in engines: in the small one first, and in the one that has everything where a model needs it.
import { Engine, engines, hasWide, host } from "./engine.mjs";
import { HologramError } from "./errors.mjs";
import { fetched } from "./fetching.mjs";
import { Model } from "./model.mjs";
import { createBackend } from "./wasm_backend.mjs";

/** The engines of models. */
export const engineOf = new WeakMap();

const magic = [0x89, 0x48, 0x4f, 0x4c, 0x4f, 0x0d, 0x0a, 0x1a];
export const isArchive = (bytes) => magic.every((byte, i) => bytes[i] === byte);

/** The bytes of what a user gave: a URL, bytes, a Blob or a Response. */
export async function bytesOf(given, options = {}) {
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  if (given instanceof ArrayBuffer || (globalThis.SharedArrayBuffer && given instanceof SharedArrayBuffer)) return new Uint8Array(given);
  if (globalThis.Blob && given instanceof Blob) return new Uint8Array(await given.arrayBuffer());
  if (globalThis.Response && given instanceof Response) return new Uint8Array(await given.arrayBuffer());
  if (typeof given === "string" || given instanceof URL) return fetched(new URL(given, globalThis.document?.baseURI ?? globalThis.location?.href).href, options);
  throw new HologramError("a model is a URL, a Blob, a Response, or its bytes in an ArrayBuffer or typed array");
}

/** The backend of a kind, with so many threads. */
async function backendOf(kind, threads) {
  const isShared = threads > 1 || (host.isWorker && host.canShare),
    key = `${kind} ${isShared}`;
  if (!engines.has(key)) {
    host.prepare(threads - 1);
    const more = kind === "core" ? undefined : import("./text_backend.mjs"),
      made = Engine.create(kind, isShared).then(async (engine) => createBackend(engine, (await more)?.textFunctions));
    engines.set(key, made);
    made.catch(() => engines.delete(key));
  }
  const backend = await engines.get(key);
  if (backend.engine.isOver) {
    engines.delete(key);
    return backendOf(kind, threads);
  }
  return backend;
}

/** The same for a model, which releases it one day. */
async function taken(kind, threads) {
  const backend = await backendOf(kind, threads);
  backend.engine.users++;
  try {
    if (threads > 1) await backend.engine.threads(threads);
  } catch (error) {
    release(backend);
    throw error;
  }
  return backend;
}

/** The last model of an engine takes it along: memory of WebAssembly never shrinks. */
function release(backend) {
  if (--backend.engine.users === 0) backend.engine.end();
}

/** Room for an archive in the memory of the engine that will run it: a download goes there at once. */
export class Place {
  #backend;
  #at;

  constructor(backend, size) {
    this.#at = backend.engine.take(size);
    this.#backend = backend;
    backend.engine.users++;
    this.size = size;
  }

  get data() {
    return this.#backend.engine.bytes.subarray(this.#at, this.#at + this.size);
  }

  /** Where it is, if it is in this engine. */
  in(engine) {
    return this.#backend.engine === engine ? this.#at : 0;
  }

  /** A model takes it over. */
  give() {
    this.#at = 0;
  }

  close() {
    const { engine } = this.#backend;
    if (this.#at && !engine.isOver) engine.free(this.#at);
    release(this.#backend);
  }
}

/** Gives such room for downloads that are archives, where there is some. */
export const placeFor = (options) => async (size, first) => {
  if (!isArchive(first)) return undefined;
  try {
    return new Place(await backendOf(kindsFor(size, options)[0], threadsFor(options)), size);
  } catch {
    return undefined; // openBytes tells why, or finds another engine
  }
};

async function openIn(kind, threads, given, options, report) {
  const backend = await taken(kind, threads),
    { engine } = backend,
    place = given instanceof Place ? given : undefined,
    bytes = place?.data ?? given;
  let at = 0,
    isOwn = false, // the memory is the model's
    handle;
  try {
    const pool = backend.pool(threads);
    at = place?.in(engine) || engine.put(bytes);
    isOwn = at !== place?.in(engine);
    handle = backend.open(at, bytes.length, pool, options.sessions ?? 1, () => {
      if (isOwn) engine.free(at);
      release(backend);
    });
    const model = new Model(backend, handle, pool, report);
    engineOf.set(model, engine);
    if (kind === "core" && ["tokenizer", "template"].some((name) => backend.native.text_asset(handle, name))) {
      model.close();
      return openIn("full", threads, given, options, report);
    }
    if (!isOwn) place.give();
    isOwn = true;
    return model;
  } catch (error) {
    if (!handle) {
      if (isOwn) engine.free(at);
      release(backend);
    }
    throw error;
  }
}

function threadsOf(value) {
  if (Number.isInteger(value) && value >= 0 && value <= 256) return value;
  throw new HologramError(`threads is a whole number from 0 to 256, not ${String(value)}`);
}

/** How many threads a model gets: one where memory cannot be shared. */
export function threadsFor(options) {
  const wanted = threadsOf(options.threads ?? 0) || host.cores;
  return host.canShare ? wanted : 1;
}

// What 32 bits address, less room for the work of a run.
const narrowBytes = 3e9;

/** The kinds of engines for a model of so many bytes, the first to be tried first. */
function kindsFor(size, { memory, text }) {
  if (![undefined, 32, 64].includes(memory)) throw new HologramError(`memory is 32 or 64, the bits of an address, not ${String(memory)}`);
  if (memory === 64 && !hasWide()) throw new HologramError("this engine has no WebAssembly with 64-bit memory", "UNSUPPORTED");
  const wide = memory !== 32 && hasWide() ? ["full64"] : [],
    narrow = text ? ["full"] : ["core", "full"];
  if (memory === 64 || (wide.length && size > narrowBytes)) return wide;
  return [...narrow, ...wide];
}

/** A Model of the bytes of an archive, or of a place that has them. Where one kind of engine cannot run it, or has no memory for it, the next one may. */
export async function openBytes(bytes, options, report) {
  const threads = threadsFor(options),
    kinds = kindsFor(bytes.size ?? bytes.length, options);
  try {
    for (const [i, kind] of kinds.entries())
      try {
        return await openIn(kind, threads, bytes, options, report);
      } catch (error) {
        const isLast = i + 1 === kinds.length || (kinds[i + 1] === "full64" && error.code !== "NO_MEMORY");
        if (isLast || !["UNSUPPORTED", "NO_MEMORY"].includes(error.code)) throw error;
      }
  } finally {
    if (bytes instanceof Place) bytes.close();
  }
}

/** Begins to fetch the module that a model will need, and to start its threads, while the model itself is fetched. */
export function warm(options) {
  const threads = threadsFor(options);
  backendOf(kindsFor(0, options)[0], threads)
    .then(({ engine }) => threads > 1 && engine.threads(threads))
    .catch(() => {});
}
