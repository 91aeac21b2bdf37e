// Several texts at once, and beams.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { file, hologram, opened, rejects, relu, root } from "./package.mjs";

const folder = file("language");
execFileSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), folder]);
const model = await hologram.open(folder);
const prompts = ["fox", "a red fox", "blue", "abc".repeat(20), "x", "0123"],
  options = { maxTokens: 20, temperature: 1, keepEnds: true },
  alone = await Promise.all(prompts.map((prompt, seed) => model.generateText(prompt, { ...options, seed })));
const begin = (batch, more = {}) => prompts.map((prompt, seed) => batch.generate(prompt, { ...options, seed, ...more }));

async function text(tokens) {
  let all = "";
  for await (const token of tokens) all += token.text;
  return all;
}

test("each text is as alone", async () => {
  for (const places of [1, 2, 8]) {
    const batch = model.batch({ places });
    assert.ok(batch instanceof hologram.Batch);
    assert.deepEqual(await Promise.all(begin(batch).map(text)), alone);
    const state = await batch.state();
    assert.deepEqual([state.places, state.waiting, state.generating, state.tokens], [places, 0, 0, 20 * prompts.length]);
    assert.ok(state.rows / state.runs > Math.min(places, 4) * 0.9); // together, indeed
    batch.close();
  }
  const likely = { maxTokens: 12, temperature: 0, keepEnds: true };
  assert.deepEqual(
    await model.generateTexts(prompts.slice(0, 3), likely),
    await Promise.all(prompts.slice(0, 3).map((prompt) => model.generateText(prompt, likely))),
  );
  assert.deepEqual(await model.generateTexts([]), []);
});

test("tokens, counts, chat, stop strings and grammars", async () => {
  const batch = model.batch({ places: 2, threads: 1 }),
    tokens = batch.generate("fox", { ...options, seed: 0, logprobs: true }),
    first = await tokens.next();
  assert.ok(first.value.logprob < 0 && Object.keys(first.value).length === 3);
  assert.deepEqual(Object.keys((await batch.generate("a").next()).value), ["id", "text"]);
  let last = first;
  while (!last.done) last = await tokens.next();
  assert.deepEqual([last.value.tokens, last.value.finish], [20, "length"]);
  const stop = alone[0].slice(5, 7),
    schema = { type: "integer", minimum: 0, maximum: 9 };
  const [stopped, matched, number, ids] = await Promise.all([
    text(batch.chat([{ role: "user", content: "fox" }], { ...options, seed: 0, stop })),
    batch.generateText("fox", { regex: "[a-c]{5}x" }),
    batch.generateText("fox", { jsonSchema: schema }),
    batch.generateText([4, 5], options),
  ]);
  assert.equal(stopped, alone[0].slice(0, alone[0].indexOf(stop)));
  assert.match(matched, /^[a-c]{5}x$/);
  assert.match(number, /^[0-9]$/);
  assert.equal(ids, await model.generateText([4, 5], options));
  batch.close();
});

test("texts leave in the middle", async () => {
  const batch = model.batch({ places: 2 }),
    texts = begin(batch),
    stopper = new AbortController();
  await texts[0].next();
  await texts[0].return();
  for await (const token of batch.generate("fox", { keepEnds: true, regex: "[a-z]{30,}" })) {
    assert.equal(typeof token.id, "number");
    break;
  }
  const signalled = batch.generate("fox", { keepEnds: true, signal: stopper.signal });
  await signalled.next();
  stopper.abort();
  await rejects(async () => {
    for (;;) if ((await signalled.next()).done) return;
  }, "CANCELLED");
  await rejects(() => batch.generate("fox", { signal: AbortSignal.abort() }).next(), "CANCELLED");
  assert.deepEqual(await Promise.all(texts.slice(1).map(text)), alone.slice(1));
  const state = await batch.state();
  assert.equal(state.waiting + state.generating + state.reading, 0);
  batch.close();
});

test("a batch that is closed, and one that nobody has", async () => {
  const batch = model.batch({ places: 4 }),
    texts = begin(batch, { regex: "[a-z]{30,}", maxTokens: 200 });
  await Promise.all(texts.slice(0, 3).map((one) => one.next()));
  const late = texts[0].next();
  batch.close();
  await late.catch(() => {});
  await rejects(async () => {
    for (;;) if ((await texts[1].next()).done) return;
  }, "BAD_ARGUMENT", /the batch is closed/);
  await rejects(() => texts[4].next(), "BAD_ARGUMENT", /the batch is closed/);
  const once = await hologram.open(folder),
    left = begin(once.batch());
  await left[0].next();
  once.close();
  assert.equal(await text(left[2]), alone[2]);
});

test("wrong use", async () => {
  const batch = model.batch({ waiting: 1, places: 1 }),
    wrong = [
      ["a", { heat: 1 }, "BAD_ARGUMENT"],
      [[], {}, "BAD_ARGUMENT"],
      [[4, 1e6], {}, "BAD_INPUT"],
      [[-1], {}, "BAD_ARGUMENT"],
      ["a", { beams: 2 }, "UNSUPPORTED"],
      ["a", { stop: [""] }, "BAD_ARGUMENT"],
      ["a".repeat(500), {}, "BAD_INPUT"],
      ["a", { maxTokens: -1 }, "BAD_ARGUMENT"],
      ["a", { maxTokens: 2 ** 40 }, "BAD_ARGUMENT"],
      ["a", { regex: "a", grammar: "b" }, "BAD_ARGUMENT"],
      [null, {}, "BAD_ARGUMENT"],
    ];
  for (const [prompt, given, code] of wrong) await rejects(() => batch.generate(prompt, given).next(), code);
  const some = ["a", "b", "c"].map((prompt) => batch.generate(prompt, options).next());
  await rejects(() => Promise.all(some), "BUSY");
  await Promise.allSettled(some);
  batch.close();
  for (const [given, code] of [
    [{ places: -1 }, "BAD_ARGUMENT"],
    [{ places: 5000 }, "BAD_ARGUMENT"],
    [{ memory: 10 }, "BAD_ARGUMENT"],
    [{ places: "x" }, "BAD_ARGUMENT"],
    [{ chunks: 1 }, "BAD_ARGUMENT"],
  ])
    await rejects(async () => model.batch(given), code);
  await rejects(async () => (await opened(relu)).batch(), "UNSUPPORTED");
});

test("beams find texts that are likelier", async () => {
  const of = async (more) => {
    let ids = [],
      score = 0;
    for await (const { id, logprob } of model.generate("fox", { maxTokens: 8, temperature: 0, keepEnds: true, logprobs: true, ...more }))
      if (id !== null) ids.push(id), (score += logprob);
    return { ids, score };
  };
  const greedy = await of({}),
    found = await of({ beams: 4 });
  assert.deepEqual((await of({ beams: 1 })).ids, greedy.ids);
  assert.ok(found.score > greedy.score);
  assert.equal((await of({ beams: 3, beamStop: "first", lengthPenalty: 0.5 })).ids.length, 8);
  for (const more of [{ beamStop: "soon" }, { beams: -1 }, { beams: 2, lookup: 3 }, { beams: 2, regex: "a" }, { beams: "x" }])
    await rejects(() => of(more), "BAD_ARGUMENT");
});
