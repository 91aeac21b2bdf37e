// The backend of an engine: what the face calls, as node's backend has it. Handles are addresses of objects.
import { dtypeAt } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { batchOptions, generateOptions, imagineOptions } from "./options.mjs";
import { putStrings, putValue, seeded, takeValue } from "./values.mjs";

const utf8 = new TextEncoder(),
  text = new TextDecoder();
/** Numbers as the tables of the library have them; NaN: not given. */
const numbersOf = (names, given) => Float64Array.from(names, (name) => (given[name] === undefined ? NaN : Number(given[name])));

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

  /** What a call gave beside its result, by the elements of so many bytes. */
  given(free, bytes) {
    const { engine } = this,
      at = engine.address(engine.exports.web_given()),
      data = engine.pointerAt(at),
      copy = engine.copy(data, engine.pointerAt(at + engine.layout.pointer) * bytes);
    if (free) engine.exports[free](data);
    return copy;
  }

  /** The name of a function that only the whole runtime has. */
  asked(name, what) {
    if (!this.engine.exports[name]) throw new HologramError(`${what} needs the whole runtime: open the model with { text: true }`, "UNSUPPORTED");
    return name;
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
  let isDone = false;
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
    else {
      engine.do("web_run", handle, inputs, given.length, outputs, wanted.length, timeLimit);
      isDone = true;
    }
    return wanted.map((_, i) => takeValue(engine, outputs + layout.output * i + layout.outputTensor, memory[i]));
  } finally {
    if (isDone) engine.exports.web_outputs_free(outputs, wanted.length);
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

function tokenizerFunctions(objects) {
  const { engine } = objects,
    { exports } = engine,
    opened = (kind, block) => {
      const handle = objects.using(block, (at, size) => engine.make(objects.asked(`web_${kind}`, "text"), at, size));
      return objects.hold(handle, exports[`web_${kind}_close`]);
    };
  return {
    holo_tokenizer_open_memory: (block) => opened("tokenizer", block),
    holo_tokenizer_count: (tokenizer) => exports.web_tokenizer_count(tokenizer),
    tokenizer_encode(tokenizer, bytes, flags) {
      objects.using(bytes, (at, size) => engine.do("web_encode", tokenizer, at, size, flags));
      return objects.given("web_ids_free", 4).buffer;
    },
    tokenizer_decode(tokenizer, ids, flags) {
      objects.using(ids, (at) => engine.do("web_decode", tokenizer, at, ids.length, flags));
      return text.decode(objects.given("web_text_free", 1));
    },
    tokenizer_token: (tokenizer, id) => (exports.web_token(tokenizer, id) ? text.decode(objects.given(null, 1)) : null),
    holo_tokenizer_find(tokenizer, bytes) {
      const id = objects.using(bytes, (at, size) => exports.web_token_find(tokenizer, at, size));
      return id < 0 ? null : id;
    },
    holo_tokenizer_is_special: (tokenizer, id) => exports.web_token_special(tokenizer, id) !== 0,
    holo_template_open_memory: (block) => opened("template", block),
    template_render(template, json) {
      objects.using(json, (at, size) => engine.do("web_render", template, at, size));
      return text.decode(objects.given("web_text_free", 1));
    },
  };
}

/** What a callback hears. */
function tell(done, work) {
  let result;
  try {
    result = work();
  } catch (error) {
    return done(error);
  }
  done(null, result);
}

/** An answer, which reads its stop strings until it is closed. */
function answer(objects, language, ids, chosen, stops) {
  const { engine } = objects,
    kept = [],
    list = putStrings(engine, stops, kept),
    options = numbersOf(generateOptions, chosen),
    handle = objects.using(ids, (at) =>
      objects.using(options, (where) => engine.make("web_answer", language, at, ids.length, where, list, stops.length)),
    );
  const end = (one) => {
    engine.exports.web_answer_close(one);
    kept.forEach((at) => engine.free(at));
  };
  return objects.hold(handle, end, [language]);
}

function languageFunctions(objects) {
  const { engine } = objects,
    { exports } = engine;
  return {
    language_open(model, pool, texts, context) {
      objects.find(model);
      const handle = engine.make(objects.asked("web_language", "a language model"), model, pool, texts, context);
      return objects.hold(handle, exports.web_language_close, [model]);
    },
    holo_language_context: (language) => exports.web_language_context(language),
    language_read: (language, ids, number, done) =>
      tell(done, () => {
        objects.using(ids, (at) => engine.do("web_language_read", language, number, at, ids.length));
        return objects.given(null, 4).buffer;
      }),
    language_cancel() {},
    holo_grammar_compile() {
      throw new HologramError("grammars are compiled outside of browsers: see docs/browser.md", "UNSUPPORTED");
    },
    generation_create: (language, ids, chosen, stops) => answer(objects, language, ids, chosen, stops ?? []),
    generation_step: (generation, done) => tell(done, () => engine.json("web_answer_step", objects.find(generation) && generation)),
  };
}

function batchFunctions(objects) {
  const { engine } = objects,
    { exports } = engine,
    there = (batch) => objects.find(batch) && batch;
  return {
    batch_open(model, pool, given) {
      const name = objects.asked("web_batch", "several texts at once"),
        handle = objects.using(numbersOf(batchOptions, given), (at) => engine.make(name, objects.find(model) && model, pool, at));
      return objects.hold(handle, exports.web_batch_close, [model]);
    },
    batch_add(batch, ids, chosen, stops = []) {
      const taken = [];
      try {
        const list = putStrings(engine, stops, taken);
        return objects.using(ids, (at) =>
          objects.using(numbersOf(generateOptions, chosen), (where) =>
            engine.count("web_batch_add", there(batch), at, ids.length, where, list, stops.length),
          ),
        );
      } finally {
        taken.forEach((one) => engine.free(one));
      }
    },
    batch_leave: (batch, id) => exports.web_batch_leave(there(batch), id) !== 0,
    batch_state: (batch) => engine.json("web_batch_state", there(batch)),
    batch_step: (batch, done) => tell(done, () => engine.json("web_batch_step", there(batch))),
  };
}

function pictureFunctions(objects) {
  const { engine } = objects,
    { exports } = engine;
  return {
    imagine_defaults: (model) => (objects.find(model) && exports.web_imagine_can?.(model) ? engine.json("web_imagine_defaults", model) : null),
    picture_create(model, pool, given) {
      const taken = [],
        at = (text) => (text === undefined ? 0 : taken[taken.push(engine.putText(text)) - 1]),
        numbers = numbersOf(imagineOptions, given);
      objects.find(model);
      try {
        const texts = [given.prompt, given.negative, given.scheduler].map(at),
          name = objects.asked("web_picture", "a picture of a text"),
          handle = objects.using(numbers, (where) => engine.make(name, model, pool, ...texts, where));
        return objects.hold(handle, exports.web_picture_close, [model]);
      } finally {
        taken.forEach((one) => engine.free(one));
      }
    },
    picture_step: (picture, done) => tell(done, () => engine.count("web_picture_step", objects.find(picture) && picture) === 1),
    picture_see: (picture, done) =>
      tell(done, () => ({ ...engine.json("web_picture_see", objects.find(picture) && picture), data: objects.given("web_picture_free", 1).buffer })),
  };
}

function speechFunctions(objects) {
  const { engine } = objects,
    { exports } = engine;
  return {
    holo_language_rate: (language) => exports.web_language_rate(language),
    sound_read_memory(bytes, rate) {
      objects.using(bytes, (at, size) => engine.do("web_sound", at, size, rate));
      return objects.given("web_samples_free", 4).buffer;
    },
    transcribe: (handle, samples, { language, translate, timestamps }, done) =>
      tell(done, () => {
        const spoken = language === undefined ? 0 : engine.putText(language),
          hear = (at) => engine.json("web_transcribe", objects.find(handle) && handle, at, samples.length, spoken, Boolean(translate), Boolean(timestamps));
        try {
          return objects.using(samples, hear);
        } finally {
          if (spoken) engine.free(spoken);
        }
      }),
  };
}

export function createBackend(engine) {
  const objects = new Objects(engine),
    { exports } = engine,
    pools = new Map(),
    registry = new FinalizationRegistry(objects.close),
    parts = [modelFunctions, sessionFunctions, tokenizerFunctions, languageFunctions, batchFunctions, speechFunctions, pictureFunctions].map((part) => part(objects));
  return {
    engine,
    native: Object.assign({ close: objects.close, cancel() {} }, ...parts),
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
