// Several texts that one language model continues at once.
import { HologramError, aborted } from "./errors.mjs";
import { Held, Turns } from "./held.mjs";
import { batchOptions } from "./options.mjs";
import { Prompts } from "./text.mjs";

/** A promise, or the error of a signal that comes before. */
async function unless(signal, promise) {
  if (!signal) return promise;
  let abort;
  const stopped = new Promise((_, reject) => {
    abort = () => reject(aborted(signal));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  promise.catch(() => {}); // where nobody waits for it any more
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Texts that are continued together. They come and go at any time; waiting for a token of one continues all. */
export class Batch extends Held {
  #backend;
  #prompts;
  #turns = new Turns();
  /** By id: what each has got, and how it ended. */
  #texts = new Map();
  #stepping = null;

  constructor(backend, model, pool, given) {
    const { native } = backend;
    for (const name of Object.keys(given))
      if (!batchOptions.includes(name)) throw new HologramError(`a batch has no option ${JSON.stringify(name)}; it has ${batchOptions.join(", ")}, threads`);
    super(backend, native.batch_open(model, pool, given));
    this.#backend = backend;
    this.#prompts = new Prompts(backend, model);
  }

  /** Of the model; null: it has none. */
  get tokenizer() {
    return this.#prompts.tokenizer;
  }

  /** Texts, by what becomes of them, and tokens so far. */
  async state() {
    return this.#between((batch) => this.#backend.native.batch_state(batch));
  }

  /** Continues a prompt, and yields {id, text, logprob} for each token; at the end it returns counts and times. */
  async *generate(prompt, given = {}) {
    Prompts.check(given);
    const { signal, logprobs } = given,
      ids = this.#prompts.ids(prompt, given.chat);
    if (signal?.aborted) throw aborted(signal);
    const text = await this.#between((batch) => this.#join(batch, ids, given));
    try {
      for (;;) {
        for (const { id, text: shown, logprob } of text.tokens.splice(0)) yield logprobs ? { id, text: shown, logprob } : { id, text: shown };
        if (text.tokens.length) continue;
        if (text.error) throw text.error;
        if (text.counts) return text.counts;
        await unless(signal, this.#advance());
      }
    } finally {
      this.#leave(text);
    }
  }

  /** Continues a prompt, and gives all of the text. */
  async generateText(prompt, given = {}) {
    let text = "";
    for await (const token of this.generate(prompt, given)) text += token.text;
    return text;
  }

  /** Continues several prompts, and gives the texts. */
  async generateTexts(prompts, given = {}) {
    const texts = Array.from(prompts, (prompt) => this.generateText(prompt, given)),
      failed = (await Promise.allSettled(texts)).find(({ status }) => status === "rejected");
    if (failed) throw failed.reason;
    return Promise.all(texts);
  }

  /** Answers messages, {role, content} each, by the chat template of the model; yields tokens. */
  async *chat(messages, given = {}) {
    return yield* this.generate(this.#prompts.rendered(messages), given);
  }

  /** Work that cannot be done in the middle of a step. */
  #between(work) {
    return this.keep((batch) => this.#turns.take(() => work(batch)));
  }

  #join(batch, ids, given) {
    const text = { id: 0, tokens: [], counts: null, error: null };
    text.id = this.#prompts.using(given, (...chosen) => this.#backend.native.batch_add(batch, ids, ...chosen));
    this.#texts.set(text.id, text);
    return text;
  }

  #leave(text) {
    if (this.#texts.delete(text.id) && !this.closed) this.#between((batch) => this.#backend.native.batch_leave(batch, text.id)).catch(() => {});
  }

  /** One step, for all that wait. */
  #advance() {
    this.#stepping ??= this.#step().finally(() => (this.#stepping = null));
    return this.#stepping;
  }

  async #step() {
    const { native, startText } = this.#backend,
      { tokens, ends, left } = await this.#between((batch) => startText(batch, (done) => native.batch_step(batch, done)));
    for (const token of tokens) this.#texts.get(token.of)?.tokens.push(token);
    for (const { of, status, message, counts } of ends) {
      const text = this.#texts.get(of);
      this.#texts.delete(of);
      if (text) Object.assign(text, status ? { error: new HologramError(message, status) } : { counts });
    }
    if (left) return;
    for (const text of this.#texts.values()) text.error = new HologramError("out of memory", "NO_MEMORY"); // there was none to tell all
    this.#texts.clear();
  }
}
