// What models say of texts and pictures as a whole: vectors and labels.
import { HologramError, aborted, only } from "./errors.mjs";
import { Held } from "./held.mjs";

const check = (given, known) => {
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw new HologramError(`there is no option ${JSON.stringify(name)}; there are ${known.join(", ")}`);
};

/** A model that is run on one text or picture at a time. */
class Reader extends Held {
  #backend;

  constructor(backend, model, pool, { maxLength = 0, pooling, normalize }) {
    const wish = normalize === undefined ? 0 : normalize ? 1 : -1;
    super(backend, only(backend.native, "reader_create", "vectors and labels are")(model, pool, maxLength, pooling, wish));
    this.#backend = backend;
  }

  get sees() {
    return this.#backend.native.holo_reader_sees(this.handle);
  }

  /** Asks for each item, one after the other. */
  async each(call, items, signal) {
    const answers = [];
    await this.keep(async (reader) => {
      const abort = () => this.#backend.native.language_cancel(reader);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        for (const item of items) {
          if (signal?.aborted) throw aborted(signal);
          answers.push(await this.#backend.startText(reader, (done) => call(reader, item, done)));
        }
      } catch (error) {
        throw error.code === "CANCELLED" && signal?.aborted ? aborted(signal) : error;
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    });
    return answers;
  }
}

const list = (given, what) => {
  if (typeof given === "string" || given instanceof URL) return [given];
  if (given === null || typeof given !== "object" || typeof given[Symbol.iterator] !== "function") throw new HologramError(`${what} are strings`);
  return [...given];
};

async function using(reader, work) {
  try {
    return await work();
  } finally {
    reader.close();
  }
}

/** The vectors of texts: a Float32Array for each; or of one text. */
export async function embed(backend, model, pool, texts, given) {
  check(given, ["pooling", "normalize", "maxLength", "signal", "threads"]);
  const items = list(texts, "texts");
  for (const text of items) if (typeof text !== "string") throw new HologramError("texts are strings");
  const reader = new Reader(backend, model, pool, given),
    vectors = await using(reader, () => reader.each(backend.native.reader_embed, items, given.signal)),
    numbers = vectors.map((bytes) => new Float32Array(bytes));
  return typeof texts === "string" ? numbers[0] : numbers;
}

/** The labels of texts, or of pictures by their paths: [{label, id, score}] for each; or of one. */
export async function classify(backend, model, pool, items, given) {
  check(given, ["top", "maxLength", "signal", "threads"]);
  const top = given.top ?? Infinity;
  if (!(top >= 1)) throw new HologramError("top is how many labels are given, from 1 on");
  const all = list(items, "texts, or paths of pictures,"),
    reader = new Reader(backend, model, pool, given),
    labels = await using(reader, () => {
      const { native } = backend,
        { sees } = reader;
      for (const item of all)
        if (sees ? backend.path(item) === undefined : typeof item !== "string") throw new HologramError(sees ? "pictures are paths" : "texts are strings");
      return reader.each(sees ? native.reader_classify_picture : native.reader_classify, sees ? all.map((one) => backend.path(one)) : all, given.signal);
    }),
    best = labels.map((one) => (one.length && "token" in one[0] ? one : one.slice(0, top)));
  return typeof items === "string" || items instanceof URL ? best[0] : best;
}
