// The backend of an engine: what the face calls, as node's backend has it. Handles are addresses of objects.
import { dtypeAt } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { putStrings, putValue, seeded, takeValue } from "./values.mjs";

const utf8 = new TextEncoder();

/** Lets the page do what it waits for. */
const pause = () =>
  globalThis.scheduler?.yield
    ? scheduler.yield()
    : new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(port1.close());
        port2.postMessage(0);
      });

/** Objects of an engine: each is freed when nobody uses it, and nothing that needs it. */
class Objects {
  #holders = new Map();

  constructor(engine) {
    this.engine = engine;
    this.close = (handle) => {
      const holder = this.#holders.get(handle);
      if (!holder || --holder.refs || engine.isOver) return;
      this.#holders.delete(handle);
      holder.end(handle);
      holder.needs.forEach(this.close);
    };
  }

  hold(handle, end, needs = []) {
    for (const need of needs) this.find(need).refs++;
    this.#holders.set(handle, { refs: 1, end, needs });
    return handle;
  }

  find(handle) {
    const holder = this.#holders.get(handle);
    if (!holder) throw new HologramError("it is closed");
    return holder;
  }

  /** Facts of a model, which are asked for once. */
  described(model) {
    const holder = this.find(model);
    return (holder.described ??= this.engine.json("web_describe", model));
  }

  /** Bytes for one call. */
  using(data, call) {
    const at = this.engine.put(data);
    try {
      return call(at, data.byteLength);
    } finally {
      this.engine.free(at);
    }
  }

  /** Texts in memory, which `taken` has until somebody frees them. */
  strings(list, taken) {
    return putStrings(this.engine, list, taken);
  }

  /** What a call gave beside its result, by the elements of so many bytes. */
  given(free, bytes) {
    const { engine } = this,
      at = engine.address(engine.exports.web_given()),
      data = engine.pointerAt(at),
      copy = engine.copy(data, engine.pointerAt(at + engine.layout.pointer) * bytes);
    if (free) engine.exports[free](data);
    return copy;
  }
}

function run(objects, handle, { values, wanted, memory, timeLimit }) {
  const { engine } = objects,
    { model } = objects.find(handle),
    taken = [],
    given = values.map((_, i) => i).filter((i) => values[i] !== undefined),
    { layout } = engine,
    inputs = engine.take(layout.input * given.length + 1),
    outputs = engine.take(layout.output * wanted.length + 1);
  taken.push(inputs, outputs);
  let lent; // the session that has the outputs
  try {
    engine.bytes.fill(0, outputs, outputs + layout.output * wanted.length);
    given.forEach((index, i) => {
      const at = inputs + layout.input * i;
      putValue(engine, at + layout.inputTensor, values[index], taken);
      engine.setPointer(at, 0);
      engine.view.setInt32(at + layout.inputIndex, index, true);
    });
    wanted.forEach((index, i) => engine.view.setInt32(outputs + layout.output * i + layout.outputIndex, index, true));
    if (model) engine.do("web_session_run", handle, model, inputs, given.length, outputs, wanted.length, timeLimit);
    else lent = engine.make("web_run", handle, inputs, given.length, outputs, wanted.length, timeLimit);
    return wanted.map((_, i) => takeValue(engine, outputs + layout.output * i + layout.outputTensor, memory[i]));
  } finally {
    if (lent) engine.exports.web_run_end(handle, lent);
    taken.forEach((at) => engine.free(at));
  }
}

function modelFunctions(objects) {
  const { engine } = objects,
    { exports } = engine,
    of = (model) => objects.described(model);
  return {
    holo_version: () => engine.textAt(exports.web_version()),
    holo_cpu_level: () => engine.textAt(exports.web_level()),
    holo_model_input_count: (model) => of(model).inputs.length,
    holo_model_input: (model, i) => of(model).inputs[i],
    holo_model_output_count: (model) => of(model).outputs.length,
    holo_model_output: (model, i) => of(model).outputs[i],
    holo_model_info: (model) => of(model).info,
    holo_model_meta_count: (model) => of(model).meta.length,
    holo_model_meta: (model, i) => of(model).meta[i],
    holo_model_memo_count: (model) => of(model).memo,
    holo_model_note_count: (model) => (of(model).notes ??= engine.json("web_notes", model)).length,
    holo_model_note: (model, i) => of(model).notes[i],
    holo_verdict_text: (verdict) => verdict,
    holo_model_constant: (model, i) => (of(model).constants ??= engine.json("web_constants", model))[i],
    holo_model_verify: (model) => engine.do("web_verify", objects.find(model) && model),
    text_asset(model, name) {
      const found = objects.using(utf8.encode(`${name}\0`), (at) => exports.web_asset(objects.find(model) && model, at));
      return found ? objects.given(null, 1).buffer : null;
    },
  };
}

function sessionFunctions(objects) {
  const { engine } = objects,
    { exports } = engine,
    facts = (session) => engine.json("web_session_facts", objects.find(session) && session);
  return {
    holo_session_create(model, pool) {
      objects.find(model);
      const session = objects.hold(engine.make("web_session", model, pool), exports.web_session_close, [model]);
      objects.find(session).model = model;
      return session;
    },
    holo_session_set_memo: (session, bytes) => engine.do("web_session_memo", session, bytes),
    holo_session_memo_counts(session) {
      const { hits, misses } = facts(session);
      return { hits, misses };
    },
    holo_session_kept_steps: (session) => facts(session).keptSteps,
    holo_session_memory: (session) => facts(session).memory,
    holo_session_set_memory_limit: (session, bytes) => engine.do("web_session_limit", session, bytes),
    holo_session_profile: (session, on) => exports.web_session_profile(session, on),
    holo_session_profile_steps: (session) => facts(session).steps.length,
    holo_session_profile_step: (session, i) => facts(session).steps[i],
  };
}

const refuse = (why) => () => {
  throw new HologramError(why, "UNSUPPORTED");
};

/** What the small runtime says instead of the functions of text_backend.mjs. */
function noText() {
  const none = refuse("texts and pictures need the whole runtime: open the model with { text: true }");
  return [{ imagine_defaults: () => null, holo_tokenizer_open_memory: none, holo_template_open_memory: none, language_open: none, batch_open: none, picture_create: none }];
}

/** The backend of an engine; `more` are the textFunctions of the whole runtime. */
export function createBackend(engine, more = noText) {
  const objects = new Objects(engine),
    { exports } = engine,
    pools = new Map(),
    registry = new FinalizationRegistry(objects.close),
    parts = [modelFunctions, sessionFunctions, more].flatMap((part) => part(objects));
  return {
    engine,
    native: Object.assign({ close: objects.close, cancel() {}, holo_grammar_compile: refuse("grammars are compiled outside of browsers: see docs/browser.md") }, ...parts),
    registry: {
      register: (object, handle, token) => registry.register(object, handle, token),
      unregister: (token) => registry.unregister(token),
      close: objects.close,
    },
    path: () => undefined,

    /** The pool of so many threads, which the engine has already. */
    pool(threads) {
      const count = Math.min(threads || Infinity, exports.web_servants() + 1);
      if (count <= 1) return 0;
      if (!pools.has(count)) pools.set(count, engine.make("web_pool", count));
      return pools.get(count);
    },

    /** An archive that lies at an address of the engine's memory, and stays there until it is closed. */
    open(at, size, pool, sessions, whenClosed) {
      return objects.hold(engine.make("web_open", at, size, pool, sessions), (model) => {
        exports.web_close(model);
        whenClosed();
      });
    },

    run: (handle, request) => run(objects, handle, request),
    async start(handle, request) {
      await null;
      return run(objects, handle, request);
    },
    async startText(language, call) {
      await pause();
      return new Promise((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result))));
    },
    seeded,
    dtypeName: (number) => dtypeAt(number)?.name ?? null,
  };
}
