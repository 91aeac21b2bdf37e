// What models of texts, speech and pictures call, of the whole runtime: it is fetched together with that. See wasm_backend.mjs.
import "./index.mjs"; // as in remote.mjs
import { batchOptions, generateOptions, imagineOptions } from "./options.mjs";

const text = new TextDecoder();
/** Numbers as the tables of the library have them; NaN: not given. */
const numbersOf = (names, given) => Float64Array.from(names, (name) => (given[name] === undefined ? NaN : Number(given[name])));

function tokenizerFunctions(objects) {
  const { engine } = objects,
    { exports } = engine,
    opened = (kind, block) => {
      const handle = objects.using(block, (at, size) => engine.make(`web_${kind}`, at, size));
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
    end = () => kept.forEach((at) => engine.free(at));
  try {
    const list = objects.strings(stops, kept),
      handle = objects.using(ids, (at) =>
        objects.using(numbersOf(generateOptions, chosen), (where) => engine.make("web_answer", language, at, ids.length, where, list, stops.length)),
      );
    return objects.hold(handle, (one) => (engine.exports.web_answer_close(one), end()), [language]);
  } catch (error) {
    end();
    throw error;
  }
}

function languageFunctions(objects) {
  const { engine } = objects,
    { exports } = engine;
  return {
    language_open(model, pool, texts, context) {
      objects.find(model);
      const handle = engine.make("web_language", model, pool, texts, context);
      return objects.hold(handle, exports.web_language_close, [model]);
    },
    holo_language_context: (language) => exports.web_language_context(language),
    language_read: (language, ids, number, done) =>
      tell(done, () => {
        objects.using(ids, (at) => engine.do("web_language_read", language, number, at, ids.length));
        return objects.given(null, 4).buffer;
      }),
    language_cancel() {},
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
      const handle = objects.using(numbersOf(batchOptions, given), (at) => engine.make("web_batch", objects.find(model) && model, pool, at));
      return objects.hold(handle, exports.web_batch_close, [model]);
    },
    batch_add(batch, ids, chosen, stops = []) {
      const taken = [];
      try {
        const list = objects.strings(stops, taken);
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
    imagine_defaults: (model) => (objects.find(model) && exports.web_imagine_can(model) ? engine.json("web_imagine_defaults", model) : null),
    picture_create(model, pool, given) {
      const taken = [],
        at = (text) => (text === undefined ? 0 : taken[taken.push(engine.putText(text)) - 1]),
        numbers = numbersOf(imagineOptions, given);
      objects.find(model);
      try {
        const texts = [given.prompt, given.negative, given.scheduler].map(at),
          handle = objects.using(numbers, (where) => engine.make("web_picture", model, pool, ...texts, where));
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

/** All of them, for the objects of an engine. */
export const textFunctions = (objects) =>
  [tokenizerFunctions, languageFunctions, batchFunctions, speechFunctions, pictureFunctions].map((part) => part(objects));
