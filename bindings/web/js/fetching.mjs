// Bytes of models: fetched with progress, on from where a download was cut, and kept for the next visit.
//
// A model is kept in parts, each in the browser's Cache under the SHA-256 of its bytes, so that equal parts are there once. Beside them
// there is a note for each address: its parts, and what the server calls the version. Parts are kept while a download goes on: one that was
// cut, or whose tab was closed, goes on behind them, in this visit or the next.
import { HologramError, aborted } from "./errors.mjs";

const waits = [300, 1000, 3000]; // milliseconds before the next try
const partBytes = 8 << 20;
const store = "hologram-1";
const nameOf = (hash) => `https://hologram.invalid/sha256/${hash}`;
const noteOf = (url) => `https://hologram.invalid/address/${encodeURIComponent(url)}`;

const versionOf = (response) => response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";

function memoryOf(size) {
  try {
    return new Uint8Array(size);
  } catch (error) {
    throw Object.assign(new HologramError(`there is no memory for a model of ${size} bytes`, "NO_MEMORY", { cause: error }), { isFinal: true });
  }
}

const earlyBytes = 32 << 20; // so many wait for their place, and no more

/**
 * Bytes that come in pieces: into a place where they can stay, {data, close()}, or into memory of their own. Pieces that come before it is known
 * whether there is a place are copied, since most of a small model has come before its module is compiled.
 */
class Bytes {
  #data;
  #place;
  #early = [];

  /** `asked` is a promise of a place, or of none. */
  constructor(expected, asked) {
    this.size = 0;
    this.isReady = false;
    this.ready = asked.then((place) => {
      this.#place = place;
      if (!place) this.#data = memoryOf(expected || 1 << 16);
      this.isReady = true;
      this.size = 0;
      for (const piece of this.#early.splice(0)) this.add(piece);
    });
    this.ready.catch(() => {}); // who waits for it hears it
  }

  /** It is time to wait. */
  get isFull() {
    return !this.isReady && this.size >= earlyBytes;
  }

  get data() {
    return this.#place?.data ?? this.#data;
  }

  add(piece) {
    if (!this.isReady) this.#early.push(piece.slice());
    else {
      if (this.size + piece.length > this.data.length) {
        const more = memoryOf(Math.max(this.size + piece.length, 2 * this.data.length));
        more.set(this.data.subarray(0, this.size));
        this.drop();
        this.#data = more;
      }
      this.data.set(piece, this.size);
    }
    this.size += piece.length;
  }

  /** The place, if they fill one; else the bytes. */
  get whole() {
    const { data, size } = this;
    if (this.#place && data.length === size) return this.#place;
    return data.length === size ? data : data.slice(0, size);
  }

  drop() {
    if (!this.isReady) {
      this.#early = [];
      this.ready.then(() => this.drop()).catch(() => {});
    }
    this.#place?.close();
    this.#place = undefined;
  }
}

/** Memory for a download of so many bytes that begins with these. */
const bytesFor = (total, first, { placeFor }) => new Bytes(total, Promise.resolve(total && first ? placeFor?.(total, first) : undefined));

const wait = (time, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, time);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(aborted(signal))), { once: true });
  });

// ---- what is kept

/** The parts of a model that are kept. Where pages may keep nothing, or the disk is full, it keeps none. */
class Kept {
  #cache;
  #url;
  #note = { version: "", total: 0, parts: [] };
  #size = 0; // bytes of the parts
  #last = Promise.resolve();

  constructor(url, cache) {
    this.#url = url;
    this.#cache = cache;
  }

  static async open(url, options) {
    const keeps = options.cache !== false && globalThis.caches && globalThis.crypto?.subtle;
    return new Kept(url, keeps ? await caches.open(store).catch(() => undefined) : undefined);
  }

  /** What is there becomes the beginning of a download; true: it is all. */
  async restore(state, options) {
    const { cache, signal, onprogress } = options;
    if (!this.#cache || cache === "reload") return false;
    const note = await (await this.#cache.match(noteOf(this.#url)))?.json();
    if (!note) return false;
    // Offline, or without a name for its version, what is there counts.
    const head = note.isWhole && note.version ? await fetch(this.#url, { method: "HEAD", signal }).catch(() => undefined) : undefined;
    if (signal?.aborted) throw aborted(signal);
    if (head?.ok && versionOf(head) !== note.version) return false;
    for (const [i, hash] of note.parts.entries()) {
      const found = await this.#cache.match(nameOf(hash));
      if (!found) {
        note.parts.length = i; // the browser needed the room
        note.isWhole = false;
        break;
      }
      const part = new Uint8Array(await found.arrayBuffer());
      state.bytes ??= bytesFor(note.total, part, options);
      await state.bytes.ready;
      state.bytes.add(part);
      onprogress?.({ loaded: state.bytes.size, total: note.total || undefined, cached: true });
    }
    if (!state.bytes) return false;
    this.#note = note;
    this.#size = state.bytes.size;
    Object.assign(state, { version: note.version, total: note.total });
    return note.isWhole === true;
  }

  forget({ version, total }) {
    this.#note = { version, total, parts: [] };
    this.#size = 0;
  }

  /** Keeps what has come since, as one more part; `isWhole`: there is no more. Each waits for those before it. */
  add(state, isWhole = false) {
    const [from, to] = [this.#size, state.bytes?.size ?? 0];
    if (!this.#cache || (from === to && !isWhole)) return this.#last;
    this.#size = to;
    const part = state.bytes?.data.slice(from, to); // now: the model may be closed before it is kept
    const work = async () => {
      if (from < to) {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", part)),
          hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
        if (!(await this.#cache.match(nameOf(hash)))) await this.#cache.put(nameOf(hash), new Response(part));
        this.#note.parts.push(hash);
      }
      this.#note.isWhole = isWhole;
      await this.#cache.put(noteOf(this.#url), new Response(JSON.stringify(this.#note)));
    };
    // A full disk is no reason to fail, but then there is nothing to go on from either.
    return (this.#last = this.#last.then(work).catch(() => (this.#cache = undefined)));
  }

  /** Whether enough has come for a part. */
  isDue(state) {
    return state.bytes.isReady && state.bytes.size - this.#size >= partBytes;
  }
}

// ---- fetching

/** Whether the server answers with other bytes than those asked for. */
function isElsewhere({ status, headers }, { bytes }) {
  const from = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "")?.[1];
  return status === 416 || (status === 206 && from !== undefined && Number(from) !== bytes?.size);
}

/** A function that gives the next piece of a body, as readers do. Where it can, it reads into the same memory again and again. */
function readerOf(body) {
  let reader,
    buffer = new ArrayBuffer(1 << 20);
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    reader = body.getReader();
    return () => reader.read();
  }
  return async () => {
    const piece = await reader.read(new Uint8Array(buffer));
    buffer = piece.value?.buffer;
    return piece;
  };
}

/** One try: goes on behind the bytes that are there, where the server can. */
async function attempt(url, state, kept, options) {
  const { signal, onprogress } = options;
  const headers = state.bytes?.size && state.version ? { Range: `bytes=${state.bytes.size}-`, "If-Range": state.version } : {},
    response = await fetch(url, { signal, headers });
  if (isElsewhere(response, state)) {
    state.bytes.drop();
    state.bytes = undefined;
    throw new Error("the server does not go on where the download was cut");
  }
  if (response.status >= 400 && response.status < 500)
    throw Object.assign(new HologramError(`${url} cannot be fetched: ${response.status} ${response.statusText}`, "NO_FILE"), { isFinal: true });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  if (response.status !== 206) {
    // What is encoded on its way has another length than the header says.
    state.total = response.headers.get("content-encoding") ? 0 : Number(response.headers.get("content-length") ?? 0);
    state.bytes?.drop();
    state.bytes = undefined;
    state.version = versionOf(response);
    kept.forget(state);
  }
  for (const read = readerOf(response.body); ; ) {
    const { done, value } = await read();
    state.bytes ??= bytesFor(state.total, value, options);
    if (done) break;
    state.bytes.add(value);
    if (state.bytes.isFull) await state.bytes.ready;
    onprogress?.({ loaded: state.bytes.size, total: state.total || undefined });
    if (kept.isDue(state)) kept.add(state);
  }
  await state.bytes.ready;
  if (state.total && state.bytes.size !== state.total) throw new Error("the download ended too early");
}

async function download(url, state, kept, options) {
  for (let tries = 0; ; tries++)
    try {
      return await attempt(url, state, kept, options);
    } catch (error) {
      if (options.signal?.aborted) throw aborted(options.signal);
      if (error.isFinal) throw error;
      if (tries === waits.length) {
        const at = state.bytes?.size ? ` at byte ${state.bytes.size}${state.total ? ` of ${state.total}` : ""}` : "";
        throw new HologramError(`the download of ${url} stopped${at}: ${error.message}. Call open() again, and it goes on from there`, "NO_FILE", { cause: error });
      }
      await wait(waits[tries], options.signal);
    }
}

/**
 * The bytes of a model at a URL: a Uint8Array, or a place that the option placeFor(size, first bytes) gave, if it is full. It may give none, and
 * promises are fine, too.
 */
export async function fetched(url, options) {
  const state = {},
    kept = await Kept.open(url, options),
    isWhole = await kept.restore(state, options).catch((error) => {
      state.bytes?.drop();
      state.bytes = undefined;
      if (error.code) throw error;
      return false; // what is kept cannot be read: it is fetched
    });
  if (isWhole) return state.bytes.whole;
  try {
    await download(url, state, kept, options);
  } catch (error) {
    if (state.version && state.bytes?.isReady) await kept.add(state);
    state.bytes?.drop();
    throw error;
  }
  kept.add(state, true); // the model can run meanwhile
  return state.bytes.whole;
}

/** Forgets all models that are kept. */
export const clearCache = async () => globalThis.caches?.delete(store) ?? false;
