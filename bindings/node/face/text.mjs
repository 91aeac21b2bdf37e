// Tokenizers, language models, and the texts that they continue.
import { HoloGrammarSource } from "./enums.mjs";
import { HologramError, aborted, only } from "./errors.mjs";
import { Held, Turns } from "./held.mjs";
import { generateOptions, generateOptionsChoices } from "./options.mjs";

const utf8 = new TextEncoder();
const special = 1; // HOLO_TEXT_SPECIAL
const spaces = 0; // HOLO_SPACES_SOME
const grammars = { grammar: HoloGrammarSource.GBNF, regex: HoloGrammarSource.REGEX, jsonSchema: HoloGrammarSource.JSON_SCHEMA };
const options = [...generateOptions, ...Object.keys(grammars), "stop", "chat", "signal"];

/** Ids as the library takes them. */
function idsOf(given) {
  if (given instanceof Uint32Array) return given;
  if (typeof given !== "object" || given === null || typeof given[Symbol.iterator] !== "function")
    throw new HologramError("ids are an array of numbers");
  return Uint32Array.from(given, (id) => {
    if (!(Number.isInteger(id) && id >= 0 && id < 2 ** 32)) throw new HologramError(`${String(id)} is no id: ids are whole numbers from 0 on`);
    return id;
  });
}

function textOf(given, what) {
  if (typeof given !== "string") throw new HologramError(`${what} is a string, not ${given === null ? "null" : typeof given}`);
  return utf8.encode(given);
}

/** Turns text into the ids that a language model reads, and back. */
export class Tokenizer extends Held {
  #native;

  constructor(backend, handle) {
    super(backend, handle);
    this.#native = backend.native;
  }

  /** The tokenizer of a model's archive; null: it has none. */
  static ofModel(backend, model) {
    const block = backend.native.text_asset(model, "tokenizer");
    return block && new Tokenizer(backend, backend.native.holo_tokenizer_open_memory(new Uint8Array(block)));
  }

  /** How many ids there are. */
  get size() {
    return this.#native.holo_tokenizer_count(this.handle);
  }

  /** The ids of a text; `special`: with the tokens that the model expects around it. */
  encode(text, { special: isSpecial = true } = {}) {
    return Array.from(new Uint32Array(this.#native.tokenizer_encode(this.handle, textOf(text, "a text"), isSpecial ? special : 0)));
  }

  /** The text of ids; `special`: special tokens are written, too. */
  decode(ids, { special: isSpecial = false } = {}) {
    return this.#native.tokenizer_decode(this.handle, idsOf(ids), isSpecial ? special : 0);
  }

  /** The text of a token as the vocabulary has it; null: there is none. */
  token(id) {
    return this.#native.tokenizer_token(this.handle, id);
  }

  /** The id of a token by its text in the vocabulary; null: there is none. */
  id(text) {
    return this.#native.holo_tokenizer_find(this.handle, textOf(text, "a token"));
  }

  isSpecial(id) {
    return this.#native.holo_tokenizer_is_special(this.handle, id);
  }
}

/** What is given to language models, as the library takes it. */
export class Prompts {
  #backend;
  #template;

  constructor(backend, model) {
    const block = backend.native.text_asset(model, "template");
    this.#backend = backend;
    this.tokenizer = Tokenizer.ofModel(backend, model);
    this.#template = block && new Held(backend, backend.native.holo_template_open_memory(new Uint8Array(block)));
  }

  #tokens() {
    if (this.tokenizer) return this.tokenizer;
    throw new HologramError("the model has no tokenizer: give the prompt as ids, or compile a folder that has a tokenizer.json", "UNSUPPORTED");
  }

  /** The ids of messages, by the chat template. */
  rendered(messages) {
    if (!this.#template) throw new HologramError("the model has no chat template: give a prompt to generate()", "UNSUPPORTED");
    const json = JSON.stringify({ messages, add_generation_prompt: true });
    return this.#tokens().encode(this.#backend.native.template_render(this.#template.handle, utf8.encode(json)), { special: false });
  }

  /** A text is a question where the model has a chat template. */
  ids(prompt, chat = this.#template !== null) {
    if (typeof prompt !== "string") return idsOf(prompt);
    return idsOf(chat ? this.rendered([{ role: "user", content: prompt }]) : this.#tokens().encode(prompt));
  }

  /** Options that cannot be used are errors. */
  static check(given) {
    for (const name of Object.keys(given))
      if (!options.includes(name)) throw new HologramError(`there is no option ${JSON.stringify(name)}; there are ${options.join(", ")}`);
  }

  /** Calls use(numbers, stop strings, the handle of a grammar or 0) with what the options say. What is made keeps the grammar. */
  using(given, use) {
    const { native } = this.#backend,
      asked = Object.keys(grammars).filter((name) => given[name] !== undefined),
      stops = typeof given.stop === "string" ? [given.stop] : given.stop;
    if (asked.length > 1) throw new HologramError(`${asked[0]} and ${asked[1]} are both given: a text can have one of them`);
    const chosen = Object.fromEntries(generateOptions.map((name) => [name, numberOf(name, given[name])]));
    let grammar = 0;
    for (const name of asked) {
      const text = typeof given[name] === "string" ? given[name] : JSON.stringify(given[name]);
      grammar = native.holo_grammar_compile(grammars[name], textOf(text, name), spaces);
    }
    try {
      return use(chosen, stops, grammar);
    } finally {
      if (grammar) native.close(grammar);
    }
  }
}

/** A choice as its number; numbers as they are. */
function numberOf(name, given) {
  const words = generateOptionsChoices[name];
  if (!words || given === undefined) return given;
  if (!words.includes(given)) throw new HologramError(`${name} is ${JSON.stringify(given)}, but must be one of ${words.join(", ")}`);
  return words.indexOf(given);
}

const speechOptions = ["language", "translate", "timestamps", "signal"];

/** A language model at work. It keeps what it has read of texts; what it does comes one after another. */
export class Language extends Held {
  #backend;
  #turns = new Turns();
  #prompts;

  constructor(backend, model, pool, { texts = 1, context = 0 }) {
    super(backend, backend.native.language_open(model, pool, texts, context));
    this.#backend = backend;
    this.#prompts = new Prompts(backend, model);
  }

  /** Of the model; null: it has none. */
  get tokenizer() {
    return this.#prompts.tokenizer;
  }

  /** The most tokens of a text; 0: there is no limit. */
  get context() {
    return this.#backend.native.holo_language_context(this.handle);
  }

  /** The ids that end a text. */
  get ends() {
    return only(this.#backend.native, "language_ends", "the ends of texts are")(this.handle);
  }

  /** Makes text `to` a copy of what was read of text `from`. */
  async copy(from, to) {
    await this.#between("holo_language_copy", from, to);
  }

  /** Forgets what was read of a text. */
  async forget(text = 0) {
    await this.#between("holo_language_forget", text);
  }

  /** Writes what was read of a text to a file. */
  async save(path, { text = 0 } = {}) {
    await this.#between("holo_language_save", text, this.#backend.path(path));
  }

  /** Reads it back, so that the text need not be read again. */
  async load(path, { text = 0 } = {}) {
    await this.#between("holo_language_load", text, this.#backend.path(path));
  }

  /** Work on what is kept, that cannot be done in the middle of a step. */
  #between(name, ...args) {
    const call = only(this.#backend.native, name, "work on what is kept of texts is");
    return this.keep((language) => this.#turns.take(() => call(language, ...args)));
  }

  /** The logits behind ids: a number for each token of the vocabulary. */
  async read(ids, { text = 0, signal } = {}) {
    const given = idsOf(ids),
      { native } = this.#backend;
    return new Float32Array(await this.#start(signal, (language, done) => native.language_read(language, given, text, done)));
  }

  /** Continues a prompt, and yields {id, text, logprob} for each token; at the end it returns counts and times. */
  async *generate(prompt, given = {}) {
    Prompts.check(given);
    const ids = this.#prompts.ids(prompt, given.chat),
      generation = await this.keep((language) => this.#turns.take(() => this.#begin(language, ids, given)));
    try {
      for (;;) {
        const { tokens, done, counts } = await this.#step(generation, given.signal);
        for (const token of tokens) yield given.logprobs ? token : { id: token.id, text: token.text };
        if (done) return counts;
      }
    } finally {
      generation.close();
    }
  }

  /** Continues a prompt, and gives all of the text. */
  async generateText(prompt, given = {}) {
    let text = "";
    for await (const token of this.generate(prompt, given)) text += token.text;
    return text;
  }

  /** Answers messages, {role, content} each, by the chat template of the model; yields tokens. */
  async *chat(messages, given = {}) {
    return yield* this.generate(this.#prompts.rendered(messages), given);
  }

  /**
   * Writes down what is said: {language, seconds, text, pieces}, of a WAV file (its path, or its bytes) or of samples, a Float32Array at the
   * rate of the model.
   */
  async transcribe(sound, given = {}) {
    for (const name of Object.keys(given))
      if (!speechOptions.includes(name))
        throw new HologramError(`there is no option ${JSON.stringify(name)}; there are ${speechOptions.join(", ")}`);
    const { native } = this.#backend,
      { signal, ...options } = given;
    const samples = this.#samples(sound),
      heard = await this.#start(signal, (language, done) => native.transcribe(language, samples, options, done));
    return { ...heard, text: heard.pieces.map((piece) => piece.text).join("").trim() };
  }

  /** Samples per second that a speech model hears; 0: it is no speech model. */
  get rate() {
    return this.#backend.native.holo_language_rate(this.handle);
  }

  #samples(sound) {
    if (sound instanceof Float32Array) return sound;
    const { native } = this.#backend,
      read = ArrayBuffer.isView(sound) ? native.sound_read_memory : native.sound_read,
      given = ArrayBuffer.isView(sound) ? sound : this.#backend.path(sound);
    if (given === undefined) throw new HologramError("a sound is the path of a WAV file, its bytes, or samples in a Float32Array");
    return new Float32Array(read(given, this.rate));
  }

  #begin(language, ids, given) {
    const { native } = this.#backend;
    return this.#prompts.using(given, (...chosen) => new Held(this.#backend, native.generation_create(language, ids, ...chosen)));
  }

  #step(generation, signal) {
    return this.#start(signal, (_, done) => this.#backend.native.generation_step(generation.handle, done));
  }

  /** Work on another thread, that a signal may stop. */
  async #start(signal, call) {
    return this.keep((language) =>
      this.#turns.take(async () => {
        if (signal?.aborted) throw aborted(signal);
        const abort = () => this.#backend.native.language_cancel(language);
        signal?.addEventListener("abort", abort, { once: true });
        try {
          return await this.#backend.startText(language, (done) => call(language, done));
        } catch (error) {
          throw error.code === "CANCELLED" && signal?.aborted ? aborted(signal) : error;
        } finally {
          signal?.removeEventListener("abort", abort);
        }
      }),
    );
  }
}
