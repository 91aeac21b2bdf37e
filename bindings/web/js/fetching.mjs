// Bytes of models: fetched with progress and again where a download is cut, and kept for the next visit.
//
// What is kept lies in the browser's Cache under the SHA-256 of its bytes, so that equal models are there once; beside it, for each
// address, which bytes it had and what the server calls them.
import { HologramError, aborted } from "./errors.mjs";

const waits = [300, 1000, 3000]; // milliseconds before the next try
const store = "hologram-1";
const nameOf = (hash) => `https://hologram.invalid/sha256/${hash}`;
const noteOf = (url) => `https://hologram.invalid/address/${encodeURIComponent(url)}`;

const versionOf = (response) => response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";

/** Bytes that come in pieces. */
class Bytes {
  constructor(expected) {
    this.data = new Uint8Array(expected || 1 << 16);
    this.size = 0;
  }

  add(piece) {
    if (this.size + piece.length > this.data.length) {
      const more = new Uint8Array(Math.max(this.size + piece.length, 2 * this.data.length));
      more.set(this.data.subarray(0, this.size));
      this.data = more;
    }
    this.data.set(piece, this.size);
    this.size += piece.length;
  }

  get whole() {
    return this.data.length === this.size ? this.data : this.data.subarray(0, this.size);
  }
}

const wait = (time, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, time);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(aborted(signal))), { once: true });
  });

/** One try: goes on behind the bytes that are there, where the server can. */
async function attempt(url, state, { signal, onprogress }) {
  const headers = state.bytes?.size && state.version ? { Range: `bytes=${state.bytes.size}-`, "If-Range": state.version } : {},
    response = await fetch(url, { signal, headers });
  if (response.status >= 400 && response.status < 500)
    throw Object.assign(new HologramError(`${url} cannot be fetched: ${response.status} ${response.statusText}`, "NO_FILE"), { isFinal: true });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  if (response.status !== 206) {
    // What is encoded on its way has another length than the header says.
    state.total = response.headers.get("content-encoding") ? 0 : Number(response.headers.get("content-length") ?? 0);
    state.bytes = new Bytes(state.total);
    state.version = versionOf(response);
  }
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    state.bytes.add(value);
    onprogress?.({ loaded: state.bytes.size, total: state.total || undefined });
  }
  if (state.total && state.bytes.size !== state.total) throw new Error("the download ended too early");
}

export async function download(url, options) {
  const state = {};
  for (let tries = 0; ; tries++)
    try {
      await attempt(url, state, options);
      return { bytes: state.bytes.whole, version: state.version };
    } catch (error) {
      if (options.signal?.aborted) throw aborted(options.signal);
      if (error.isFinal) throw error;
      if (tries === waits.length)
        throw new HologramError(
          `the download of ${url} stopped${state.bytes ? ` at byte ${state.bytes.size}${state.total ? ` of ${state.total}` : ""}` : ""}: ${error.message}. Call open() again`,
          "NO_FILE",
          { cause: error },
        );
      await wait(waits[tries], options.signal);
    }
}

// ---- what is kept

async function kept(url, signal) {
  const cache = await caches.open(store),
    note = await (await cache.match(noteOf(url)))?.json();
  if (!note) return undefined;
  // Offline, or without a name for its version, what is there counts.
  const head = note.version ? await fetch(url, { method: "HEAD", signal }).catch(() => undefined) : undefined;
  if (head?.ok && versionOf(head) !== note.version) return undefined;
  const found = await cache.match(nameOf(note.hash));
  return found && new Uint8Array(await found.arrayBuffer());
}

async function keep(url, bytes, version) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)),
    hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    cache = await caches.open(store);
  if (!(await cache.match(nameOf(hash)))) await cache.put(nameOf(hash), new Response(bytes));
  await cache.put(noteOf(url), new Response(JSON.stringify({ hash, version })));
}

/** The bytes of a model at a URL. Pages that may keep nothing fetch it each time. */
export async function fetched(url, options) {
  const keeps = options.cache !== false && globalThis.caches && globalThis.crypto?.subtle;
  if (keeps && options.cache !== "reload") {
    const there = await kept(url, options.signal).catch(() => undefined);
    if (there) {
      options.onprogress?.({ loaded: there.length, total: there.length, cached: true });
      return there;
    }
  }
  const { bytes, version } = await download(url, options);
  if (keeps) await keep(url, bytes, version).catch(() => {}); // a full disk is no reason to fail
  return bytes;
}

/** Forgets all models that are kept. */
export const clearCache = async () => globalThis.caches?.delete(store) ?? false;
