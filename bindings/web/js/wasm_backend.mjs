// The backend of an engine: what the face calls, as node's backend has it. Handles are addresses of objects.
import { dtypeAt, dtypeOf } from "./dtype.mjs";
import { HologramError } from "./errors.mjs";
import { Tensor, fits } from "./tensor.mjs";

const kinds = ["tensor", "sequence", "optional", "map"];
const tensorBytes = 144,
  inputBytes = 152,
  outputBytes = 168; // web.c asserts them
const utf8 = new TextEncoder(),
  text = new TextDecoder();
// In the order of web_text.c.
const numbers =
  "maxTokens temperature topK topP minP typicalP repetitionPenalty presencePenalty frequencyPenalty seed lookup keepEnds logprobs text".split(" ");

/** Lets the page do what it waits for. */
const pause = () =>
  globalThis.scheduler?.yield
    ? scheduler.yield()
    : new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(port1.close());
        port2.postMessage(0);
      });

export function createBackend(engine) {
  const { exports } = engine,
    holders = new Map(),
    described = new Map(),
    pools = new Map();

  // ---- objects: each is freed when nobody uses it, and nothing that needs it

  function unref(handle) {
    const holder = holders.get(handle);
    if (!holder || --holder.refs || engine.isOver) return;
    holders.delete(handle);
    described.delete(handle);
    holder.end(handle);
    holder.needs.forEach(unref);
  }

  function hold(handle, end, needs = []) {
    for (const need of needs) holders.get(need).refs++;
    holders.set(handle, { refs: 1, end, needs });
    return handle;
  }

  function find(handle) {
    const holder = holders.get(handle);
    if (!holder) throw new HologramError("it is closed");
    return holder;
  }

  const described_ = (model) => {
    if (!described.has(model)) described.set(model, engine.json("web_describe", find(model) && model));
    return described.get(model);
  };

  // ---- values

  /** Bytes for the length of a call. */
  function put(data, taken) {
    const at = engine.put(data);
    taken.push(at);
    return at;
  }

  function putStrings(strings, taken) {
    const parts = strings.map((one) => utf8.encode(one)),
      at = engine.take(8 * parts.length + 8);
    taken.push(at);
    parts.forEach((part, i) => {
      const where = put(part, taken);
      engine.view.setUint32(at + 8 * i, where, true);
      engine.view.setUint32(at + 8 * i + 4, part.length, true);
    });
    return at;
  }

  function putValue(at, value, taken) {
    const isTensor = value instanceof Tensor,
      items = isTensor ? undefined : value.items,
      shape = isTensor ? value.shape : value.kind === "map" ? [] : [items.length];
    if (shape.length > 16) throw new HologramError("a tensor has at most 16 dimensions");
    let data;
    if (!isTensor) {
      data = engine.take(tensorBytes * items.length + 1);
      taken.push(data);
      items.forEach((item, i) => putValue(data + tensorBytes * i, item, taken));
    } else if (value.dtype === "string") data = putStrings(value.data, taken);
    else data = put(value.data, taken);
    const { view } = engine;
    view.setUint8(at, dtypeOf(value.dtype).number);
    view.setUint8(at + 1, isTensor ? 0 : kinds.indexOf(value.kind));
    view.setUint8(at + 2, isTensor ? 0 : Math.max(0, kinds.indexOf(value.inner)));
    view.setInt8(at + 3, shape.length);
    shape.forEach((size, i) => view.setBigInt64(at + 8 + 8 * i, BigInt(size), true));
    view.setUint32(at + 136, data, true);
  }

  function takeValue(at, memory) {
    const { view } = engine,
      type = dtypeAt(view.getUint8(at)),
      kind = kinds[view.getUint8(at + 1)],
      inner = kinds[view.getUint8(at + 2)],
      shape = Array.from({ length: Math.max(0, view.getInt8(at + 3)) }, (_, i) => Number(view.getBigInt64(at + 8 + 8 * i, true))),
      data = view.getUint32(at + 136, true);
    if (kind !== "tensor")
      return {
        kind,
        dtype: type?.name,
        inner: kind === "map" ? "tensor" : inner,
        items: Array.from({ length: kind === "map" ? 2 : shape[0] }, (_, i) => takeValue(data + tensorBytes * i)),
      };
    const count = shape.reduce((product, size) => product * size, type.entries);
    if (type.name === "string")
      return new Tensor(
        "string",
        Array.from({ length: count }, (_, i) => engine.textAt(view.getUint32(data + 8 * i, true), view.getUint32(data + 8 * i + 4, true))),
        shape,
      );
    let array = memory;
    const bytes = count * type.array.BYTES_PER_ELEMENT;
    if (!array) array = new type.array(count);
    else if (array.byteLength < bytes) throw new HologramError(`an output has ${count} elements, and the array for it ${array.length}`, "BAD_INPUT");
    else if (array.length !== count) array = array.subarray(0, count);
    new Uint8Array(array.buffer, array.byteOffset, bytes).set(engine.bytes.subarray(data, data + bytes));
    return new Tensor(type.name, array, shape, fits);
  }

  function run(handle, { values, wanted, memory, timeLimit }) {
    const { model } = find(handle),
      taken = [],
      given = values.map((_, i) => i).filter((i) => values[i] !== undefined),
      inputs = engine.take(inputBytes * given.length + 1),
      outputs = engine.take(outputBytes * wanted.length + 1);
    taken.push(inputs, outputs);
    let isDone = false;
    try {
      engine.bytes.fill(0, outputs, outputs + outputBytes * wanted.length);
      given.forEach((index, i) => {
        const at = inputs + inputBytes * i;
        putValue(at + 8, values[index], taken);
        engine.view.setUint32(at, 0, true);
        engine.view.setInt32(at + 4, index, true);
      });
      wanted.forEach((index, i) => engine.view.setInt32(outputs + outputBytes * i + 4, index, true));
      if (model) engine.do("web_session_run", handle, model, inputs, given.length, outputs, wanted.length, timeLimit);
      else {
        engine.do("web_run", handle, inputs, given.length, outputs, wanted.length, timeLimit, 0);
        isDone = true;
      }
      return wanted.map((_, i) => takeValue(outputs + outputBytes * i + 16, memory[i]));
    } finally {
      if (isDone) exports.web_outputs_free(outputs, wanted.length);
      taken.forEach((at) => engine.free(at));
    }
  }

  // ---- texts

  const asked = (name, what) => {
    if (!exports[name]) throw new HologramError(`${what} needs the whole runtime: open the model with { text: true }`, "UNSUPPORTED");
    return name;
  };
  /** Bytes for one call. */
  function using(data, call) {
    const at = engine.put(data);
    try {
      return call(at, data.byteLength);
    } finally {
      engine.free(at);
    }
  }
  function given(free, count) {
    const at = exports.web_given() >>> 0,
      data = engine.view.getUint32(at, true),
      size = engine.view.getUint32(at + 4, true),
      bytes = engine.copy(data, size * count);
    if (free) exports[free](data);
    return bytes;
  }
  const opened = (kind, block) => {
    const handle = using(block, (at, size) => engine.make(asked(`web_${kind}`, "text"), at, size));
    return hold(handle, exports[`web_${kind}_close`]);
  };
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
  function answer(language, ids, chosen, stops = []) {
    const kept = [],
      list = putStrings(stops, kept),
      options = Float64Array.from(numbers, (name) => (chosen[name] === undefined ? NaN : Number(chosen[name])));
    const handle = using(ids, (at) => using(options, (numbersAt) => engine.make("web_answer", language, at, ids.length, numbersAt, list, stops.length)));
    return hold(
      handle,
      (one) => {
        exports.web_answer_close(one);
        kept.forEach((at) => engine.free(at));
      },
      [language],
    );
  }

  const facts = (session) => engine.json("web_session_facts", find(session) && session);
  const native = {
    close: unref,
    cancel() {},
    holo_version: () => engine.textAt(exports.web_version()),
    holo_cpu_level: () => engine.textAt(exports.web_level()),
    holo_model_input_count: (model) => described_(model).inputs.length,
    holo_model_input: (model, i) => described_(model).inputs[i],
    holo_model_output_count: (model) => described_(model).outputs.length,
    holo_model_output: (model, i) => described_(model).outputs[i],
    holo_model_info: (model) => described_(model).info,
    holo_model_meta_count: (model) => described_(model).meta.length,
    holo_model_meta: (model, i) => described_(model).meta[i],
    holo_model_memo_count: (model) => described_(model).memo,
    holo_model_note_count: (model) => (described_(model).notes ??= engine.json("web_notes", model)).length,
    holo_model_note: (model, i) => described_(model).notes[i],
    holo_verdict_text: (verdict) => verdict,
    holo_model_constant: (model, i) => (described_(model).constants ??= engine.json("web_constants", model))[i],
    holo_model_verify: (model) => engine.do("web_verify", find(model) && model),
    holo_session_create(model, pool) {
      find(model);
      const session = hold(engine.make("web_session", model, pool), exports.web_session_close, [model]);
      holders.get(session).model = model;
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

    text_asset(model, name) {
      const found = using(utf8.encode(`${name}\0`), (at) => exports[asked("web_asset", "text")](model, at));
      return found ? given(null, 1).buffer : null;
    },
    holo_tokenizer_open_memory: (block) => opened("tokenizer", block),
    holo_tokenizer_count: (tokenizer) => exports.web_tokenizer_count(tokenizer),
    tokenizer_encode(tokenizer, bytes, flags) {
      using(bytes, (at, size) => engine.do("web_encode", tokenizer, at, size, flags));
      return given("web_ids_free", 4).buffer;
    },
    tokenizer_decode(tokenizer, ids, flags) {
      using(ids, (at) => engine.do("web_decode", tokenizer, at, ids.length, flags));
      return text.decode(given("web_text_free", 1));
    },
    tokenizer_token: (tokenizer, id) => (exports.web_token(tokenizer, id) ? text.decode(given(null, 1)) : null),
    holo_tokenizer_find(tokenizer, bytes) {
      const id = using(bytes, (at, size) => exports.web_token_find(tokenizer, at, size));
      return id < 0 ? null : id;
    },
    holo_tokenizer_is_special: (tokenizer, id) => exports.web_token_special(tokenizer, id) !== 0,
    holo_template_open_memory: (block) => opened("template", block),
    template_render(template, json) {
      using(json, (at, size) => engine.do("web_render", template, at, size));
      return text.decode(given("web_text_free", 1));
    },
    language_open(model, pool, texts, context) {
      find(model);
      return hold(engine.make(asked("web_language", "a language model"), model, pool, texts, context), exports.web_language_close, [model]);
    },
    holo_language_context: (language) => exports.web_language_context(language),
    language_read: (language, ids, number, done) =>
      tell(done, () => {
        using(ids, (at) => engine.do("web_language_read", language, number, at, ids.length));
        return given(null, 4).buffer;
      }),
    language_cancel() {},
    holo_grammar_compile() {
      throw new HologramError("grammars are compiled outside of browsers: see docs/browser.md", "UNSUPPORTED");
    },
    generation_create: (language, ids, chosen, stops) => answer(language, ids, chosen, stops ?? []),
    generation_step: (generation, done) => tell(done, () => engine.json("web_answer_step", find(generation) && generation)),
  };

  const registry = new FinalizationRegistry(unref);
  return {
    native,
    engine,
    registry: { register: (object, handle, token) => registry.register(object, handle, token), unregister: (token) => registry.unregister(token), close: unref },
    path: () => undefined,

    /** The pool of so many threads, which the engine has already. */
    pool(threads) {
      const count = Math.min(threads || Infinity, exports.web_servants() + 1);
      if (count <= 1) return 0;
      if (!pools.has(count)) pools.set(count, engine.make("web_pool", count));
      return pools.get(count);
    },

    /** An archive that lies at an address of the engine's memory, which it takes over. */
    open(at, size, pool, sessions, whenClosed) {
      const handle = engine.make("web_open", at, size, pool, sessions);
      return hold(handle, (model) => {
        exports.web_close(model);
        engine.free(at);
        whenClosed();
      });
    },

    run,
    async start(handle, request) {
      await null;
      return run(handle, request);
    },
    async startText(language, call) {
      await pause();
      return new Promise((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result))));
    },

    /** Numbers that look random, the same each time. */
    seeded(port, sizes) {
      const shape = port.shape?.map((size) => (typeof size === "number" && size >= 0 ? size : (sizes[size] ?? 1))) ?? [],
        type = dtypeOf(port.dtype),
        count = shape.reduce((product, size) => product * size, type.entries);
      let state = 1;
      const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
      const entry = /^(float32|float64|complex)/.test(port.dtype) ? () => next() * 2 - 1 : type.isBig ? () => BigInt(Math.floor(next() * 2)) : () => Math.floor(next() * 2);
      const data = port.dtype === "string" ? Array.from({ length: count }, () => "a") : Object.assign(new type.array(count)).map(entry);
      return new Tensor(port.dtype, data, shape);
    },

    dtypeName: (number) => dtypeAt(number)?.name ?? null,
  };
}
