// Models and sessions: what runs.
import { dtypeOf } from "./dtype.mjs";
import { HologramError, aborted, only } from "./errors.mjs";
import { Held, Turns } from "./held.mjs";
import { portOf, shown, sizesOf, valueFor } from "./ports.mjs";
import { imagine, settingsOf } from "./pictures.mjs";
import { classify, embed } from "./reader.mjs";
import { Tensor } from "./tensor.mjs";
import { Batch } from "./batch.mjs";
import { Language, Tokenizer } from "./text.mjs";

const nothing = Object.freeze({});

const runOptions = ["outputs", "into", "timeLimit", "signal"];

/** What a model is to its sessions: the backend, ports, and plans for the memory of outputs. */
class Shape {
  constructor(backend, model) {
    const { native } = backend;
    const ports = (count, get) => Object.freeze(Array.from({ length: native[count](model) }, (_, i) => portOf(native[get](model, i))));
    this.backend = backend;
    this.inputs = ports("holo_model_input_count", "holo_model_input");
    this.outputs = ports("holo_model_output_count", "holo_model_output");
    this.sizes = this.outputs.map((port) => sizesOf(port, this.inputs));
    this.types = this.outputs.map((port) => dtypeOf(port.dtype));
    this.inputAt = new Map(this.inputs.map((port, i) => [port.name, i]));
    this.outputAt = new Map(this.outputs.map((port, i) => [port.name, i]));
    this.all = this.outputs.map((_, i) => i);
  }

  /** Feeds as values, by index. A model of one input takes its value alone, too. */
  values(feeds) {
    const { inputs } = this,
      values = new Array(inputs.length);
    if (
      inputs.length === 1 &&
      (feeds instanceof Tensor || ArrayBuffer.isView(feeds) || Array.isArray(feeds) || typeof feeds !== "object")
    ) {
      values[0] = valueFor(inputs[0], feeds);
      return values;
    }
    if (typeof feeds !== "object" || feeds === null) throw new HologramError("inputs are an object with their names as keys", "BAD_INPUT");
    for (const name in feeds) {
      const at = this.inputAt.get(name),
        given = feeds[name];
      if (at === undefined)
        throw new HologramError(`the model has no input ${JSON.stringify(name)}; it has ${inputs.map((port) => port.name).join(", ")}`);
      if (given !== undefined) values[at] = valueFor(inputs[at], given);
    }
    for (let i = 0; i < inputs.length; i++)
      if (values[i] === undefined && !inputs[i].optional) throw new HologramError(`input ${inputs[i].name} is missing`, "BAD_INPUT");
    return values;
  }

  /** Indexes of the outputs that are wanted. */
  wanted(names) {
    if (names === undefined) return this.all;
    if (!Array.isArray(names)) throw new HologramError(`outputs is an array of names, not ${JSON.stringify(names)}`);
    return names.map((name) => {
      const at = this.outputAt.get(name);
      if (at === undefined)
        throw new HologramError(
          `the model has no output ${JSON.stringify(name)}; it has ${this.outputs.map((port) => port.name).join(", ")}`,
        );
      return at;
    });
  }

  /** An array for an output, where its size is known before the run. */
  memoryFor(at, values) {
    const sizes = this.sizes[at];
    if (!sizes) return undefined;
    let count = this.types[at].entries;
    for (const size of sizes) count *= typeof size === "number" ? size : size(values);
    return Number.isSafeInteger(count) && count > 0 ? new this.types[at].array(count) : undefined;
  }

  /** What a caller gave to be filled. */
  intoFor(at, into) {
    const { name } = this.outputs[at],
      given = into[name],
      data = given instanceof Tensor ? given.data : given;
    if (data === undefined || data === null) return undefined;
    const type = this.types[at];
    if (!ArrayBuffer.isView(data) || !type?.holds(data))
      throw new HologramError(`output ${name} is written into a ${type?.array.name}, not into ${data.constructor?.name ?? typeof data}`);
    return data.length ? data : undefined;
  }

  /** Options that cannot be used are errors. */
  check(options) {
    for (const name of Object.keys(options))
      if (!runOptions.includes(name))
        throw new HologramError(`a run has no option ${JSON.stringify(name)}; it has ${runOptions.join(", ")}`);
    if (options.into) this.wanted(Object.keys(options.into));
    if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) throw new HologramError("signal is an AbortSignal");
  }

  request(feeds, options) {
    const values = this.values(feeds),
      wanted = this.wanted(options.outputs),
      memory = new Array(wanted.length);
    const { into, timeLimit = 0 } = options;
    if (options !== nothing) this.check(options);
    for (let i = 0; i < wanted.length; i++) memory[i] = (into && this.intoFor(wanted[i], into)) ?? this.memoryFor(wanted[i], values);
    return { values, wanted, memory, timeLimit, stop: undefined };
  }

  results(request, values) {
    const results = {};
    for (let i = 0; i < request.wanted.length; i++) results[this.outputs[request.wanted[i]].name] = shown(values[i]);
    return results;
  }
}

/** A run on another thread, that a signal may stop. */
async function startRun(shape, handle, feeds, options) {
  const { signal } = options,
    request = shape.request(feeds, options);
  if (!signal) return shape.results(request, await shape.backend.start(handle, request));
  if (signal.aborted) throw aborted(signal);
  const abort = () => request.stop?.();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return shape.results(request, await shape.backend.start(handle, request));
  } catch (error) {
    throw error.code === "CANCELLED" && signal.aborted ? aborted(signal) : error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

export class Session extends Held {
  #shape;
  #turns = new Turns();

  constructor(shape, handle) {
    super(shape.backend, handle);
    this.#shape = shape;
  }

  get inputs() {
    return this.#shape.inputs;
  }

  get outputs() {
    return this.#shape.outputs;
  }

  /** What runs it: "cpu", "cuda:0". */
  get device() {
    return this.#shape.backend.native.holo_session_device(this.handle);
  }

  runSync(feeds, options = nothing) {
    const request = this.#shape.request(feeds, options);
    return this.#shape.results(request, this.#shape.backend.run(this.handle, request));
  }

  /** Runs of one session come one after another, in the order in which they were asked for. */
  async run(feeds, options = nothing) {
    return this.keep((handle) => this.#turns.take(() => startRun(this.#shape, handle, feeds, options)));
  }

  /** Keeps answers in so many bytes, and looks inputs up there before it runs; 0: no longer. */
  setMemo(bytes) {
    this.#shape.backend.native.holo_session_set_memo(this.handle, bytes);
  }

  /** Runs that found their inputs in a memo, and that did not; and steps that the last run left out. */
  memo() {
    const { native } = this.#shape.backend;
    return { ...native.holo_session_memo_counts(this.handle), keptSteps: native.holo_session_kept_steps(this.handle) };
  }

  /** Writes the archive once more, with the answers that it had and those kept here. */
  saveMemo(path) {
    const { native } = this.#shape.backend;
    native.holo_session_save_memo(this.handle, this.#shape.backend.path(path));
  }

  /** Bytes of working memory that it holds. */
  get memory() {
    return this.#shape.backend.native.holo_session_memory(this.handle);
  }

  setMemoryLimit(bytes) {
    this.#shape.backend.native.holo_session_set_memory_limit(this.handle, bytes);
  }

  /** Times each step of the runs that `work` makes with the session; gives the steps, the slowest first. */
  async profile(work, { trace } = nothing) {
    const { native, path } = this.#shape.backend;
    native.holo_session_profile(this.handle, true);
    try {
      await work(this);
    } finally {
      native.holo_session_profile(this.handle, false);
    }
    if (trace !== undefined) native.holo_session_profile_write(this.handle, path(trace));
    const steps = Array.from({ length: native.holo_session_profile_steps(this.handle) }, (_, i) =>
      native.holo_session_profile_step(this.handle, i),
    );
    return steps.sort((a, b) => b.seconds - a.seconds);
  }
}

export class Model extends Held {
  #shape;
  #pool;

  constructor(backend, handle, pool, report) {
    super(backend, handle);
    this.#shape = new Shape(backend, handle);
    this.#pool = pool;
    /** What compiling did; undefined for an archive that was opened. */
    this.report = report;
  }

  get inputs() {
    return this.#shape.inputs;
  }

  get outputs() {
    return this.#shape.outputs;
  }

  /** On this thread; returns {name: Tensor}. */
  runSync(feeds, options = nothing) {
    const request = this.#shape.request(feeds, options);
    return this.#shape.results(request, this.#shape.backend.run(this.handle, request));
  }

  /** On another thread; any number of runs at once. Arrays must stay as they are until the promise settles. */
  async run(feeds, options = nothing) {
    return startRun(this.#shape, this.handle, feeds, options);
  }

  /** A place of its own to run the model: with its own threads, memory, memo and profile. */
  session({ threads } = nothing) {
    const { backend } = this.#shape,
      pool = threads === undefined ? this.#pool : backend.pool(threads);
    return new Session(this.#shape, backend.native.holo_session_create(this.handle, pool));
  }

  /** The names of its entries: parts that run by themselves and share weights. Most models have one, called "". */
  get entries() {
    const { native } = this.#shape.backend;
    return Array.from({ length: only(native, "holo_model_entry_count", "entries are")(this.handle) }, (_, i) => native.holo_model_entry_name(this.handle, i));
  }

  /** An entry by name, as a Model: such as the encoder of a translator. The model itself is its first. */
  entry(name) {
    const { backend } = this.#shape,
      { entries } = this,
      at = entries.indexOf(name);
    if (at < 0) throw new HologramError(`the model has no entry ${JSON.stringify(name)}; it has ${entries.map((one) => JSON.stringify(one)).join(", ")}`);
    return at === 0 ? this : new Model(backend, backend.native.model_entry(this.handle, name), this.#pool);
  }

  /** The tokenizer of the archive; null: it has none. */
  get tokenizer() {
    return Tokenizer.ofModel(this.#shape.backend, this.handle);
  }

  /** The model as a language model, which keeps what it has read. */
  language({ threads, ...options } = nothing) {
    const { backend } = this.#shape,
      pool = threads === undefined ? this.#pool : backend.pool(threads);
    return new Language(backend, this.handle, pool, options);
  }

  /** Continues several texts at once. */
  batch({ threads, ...options } = nothing) {
    const { backend } = this.#shape,
      pool = threads === undefined ? this.#pool : backend.pool(threads);
    return new Batch(backend, this.handle, pool, options);
  }

  /** Continues several prompts at once, in a batch, and gives the texts. */
  async generateTexts(prompts, { threads, context, ...options } = nothing) {
    const batch = this.batch({ threads, context });
    try {
      return await batch.generateTexts(prompts, options);
    } finally {
      batch.close();
    }
  }

  /** Continues a prompt, and yields {id, text} for each token, as soon as it is known. */
  async *generate(prompt, { threads, context, ...options } = nothing) {
    const language = this.language({ threads, context, texts: options.beams || 1 });
    try {
      return yield* language.generate(prompt, options);
    } finally {
      language.close();
    }
  }

  /** Continues a prompt, and gives all of the text. */
  async generateText(prompt, options = nothing) {
    let text = "";
    for await (const token of this.generate(prompt, options)) text += token.text;
    return text;
  }

  /** Answers messages, {role, content} each, by the chat template of the model; yields tokens. */
  async *chat(messages, { threads, context, ...options } = nothing) {
    const language = this.language({ threads, context, texts: options.beams || 1 });
    try {
      return yield* language.chat(messages, options);
    } finally {
      language.close();
    }
  }

  /** Writes down what is said in a sound, with a speech model. */
  async transcribe(sound, { threads, ...options } = nothing) {
    const language = this.language({ threads });
    try {
      return await language.transcribe(sound, options);
    } finally {
      language.close();
    }
  }

  /** The vectors of texts, a Float32Array for each; or that of one text. */
  embed(texts, options = nothing) {
    const { backend } = this.#shape,
      pool = options.threads === undefined ? this.#pool : backend.pool(options.threads);
    return embed(backend, this.handle, pool, texts, options);
  }

  /** The labels of texts, or of pictures by their paths: [{label, id, score}] for each, the best first; or of one. */
  classify(items, options = nothing) {
    const { backend } = this.#shape,
      pool = options.threads === undefined ? this.#pool : backend.pool(options.threads);
    return classify(backend, this.handle, pool, items, options);
  }

  /** What imagine() does where nothing is said, and the schedulers that there are; null: the model makes no pictures. */
  get pictures() {
    return settingsOf(this.#shape.backend, this.handle);
  }

  /** Makes a picture of a text: yields {step, steps}, and {image} at the end; with {preview: true}, behind each step. */
  async *imagine(prompt, { threads, ...options } = nothing) {
    const { backend } = this.#shape,
      pool = threads === undefined ? this.#pool : backend.pool(threads);
    yield* imagine(backend, this.handle, pool, prompt, options);
  }

  /** Sizes and facts: bytes, steps, whether it is exact and static, metadata of the compiler, answers that the archive holds. */
  inspect() {
    const { native } = this.#shape.backend,
      info = native.holo_model_info(this.handle),
      meta = {};
    for (let i = 0; i < native.holo_model_meta_count(this.handle); i++) {
      const { value, key } = native.holo_model_meta(this.handle, i);
      meta[key] = value;
    }
    return {
      ...info,
      exact: info.exact !== 0,
      isStatic: info.isStatic !== 0,
      memo: native.holo_model_memo_count(this.handle),
      inputs: this.inputs,
      outputs: this.outputs,
      meta,
    };
  }

  /** The constants, weights among them: names, types, shapes, bytes. */
  constants() {
    const { native } = this.#shape.backend,
      { constants } = native.holo_model_info(this.handle);
    return Array.from({ length: constants }, (_, i) => {
      const { tensor, dtype, ...rest } = native.holo_model_constant(this.handle, i);
      return { ...rest, dtype: this.#shape.backend.dtypeName(dtype), shape: tensor.shape };
    });
  }

  /** What was computed in advance and what was not, and why. */
  explain() {
    const { native } = this.#shape.backend;
    return Array.from({ length: native.holo_model_note_count(this.handle) }, (_, i) => {
      const note = native.holo_model_note(this.handle, i);
      return { ...note, verdict: native.holo_verdict_text(note.verdict) };
    });
  }

  /** The planned graph: nodes in the order in which they run, and values. */
  graph() {
    const listing = this.#shape.backend.native.holo_listing_model(this.handle);
    const typed = ({ type, ...value }) => ({ ...value, dtype: this.#shape.backend.dtypeName(type.dtype), sizes: type.shape });
    return { ...listing, values: listing.values.map(typed) };
  }

  /** Steps as portable programs, where they can be said so. */
  programs() {
    return this.#shape.backend.native.holo_step_programs_open(this.handle).programs;
  }

  /** Reads every byte and compares every checksum, which opening does not. */
  verify() {
    this.#shape.backend.native.holo_model_verify(this.handle);
  }

  /** Times of runs on made-up or given inputs, in seconds. */
  bench(feeds = this.sample(), { seconds = 1, runs = Infinity } = nothing) {
    const times = [],
      end = performance.now() + 1000 * seconds;
    this.runSync(feeds);
    do {
      const begin = performance.now();
      this.runSync(feeds);
      times.push((performance.now() - begin) / 1000);
    } while (times.length < runs && performance.now() < end);
    times.sort((a, b) => a - b);
    const part = (p) => times[Math.min(times.length - 1, Math.floor(p * times.length))];
    return {
      runs: times.length,
      least: times[0],
      median: part(0.5),
      mean: times.reduce((a, b) => a + b, 0) / times.length,
      p99: part(0.99),
    };
  }

  /** Made-up inputs; dynamic sizes are 1, or as `sizes` says by symbol. */
  sample(sizes = nothing) {
    const feeds = {};
    for (const port of this.inputs)
      if (port.kind === "tensor" && !port.optional) feeds[port.name] = this.#shape.backend.seeded(port, sizes);
    return feeds;
  }
}
