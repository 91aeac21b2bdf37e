// Tokenizers, and language models that continue texts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { file, hologram, opened, rejects, relu, root } from "./package.mjs";

const folder = file("language");
execFileSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), folder]);
await hologram.compile(folder, file("language.holo"));
const model = await hologram.open(file("language.holo"));
const { tokenizer } = model;

async function all(tokens) {
  const list = [];
  for await (const token of tokens) list.push(token);
  return list;
}

/** The most likely tokens behind ids, found by reading alone. */
async function likely(ids, count) {
  const language = model.language({ threads: 1 }),
    text = [...ids];
  for (let i = 0; i < count; i++) {
    const logits = await language.read(text);
    text.push(logits.indexOf(Math.max(...logits)));
  }
  return text.slice(-count);
}

test("a tokenizer gives ids and text", async () => {
  for (const one of [tokenizer, hologram.openTokenizer(folder), hologram.openTokenizer(file("language.holo"))]) {
    assert.ok(one instanceof hologram.Tokenizer);
    assert.deepEqual(one.encode("abc"), [4, 5, 6]);
  }
  const ids = tokenizer.encode("<user>a red fox");
  assert.equal(tokenizer.decode(ids), "a red fox");
  assert.equal(tokenizer.decode(Uint32Array.from(ids), { special: true }), "<user>a red fox");
  assert.deepEqual([tokenizer.size, tokenizer.token(0), tokenizer.id("a"), tokenizer.token(1e6), tokenizer.id("nothing")], [48, "<end>", 4, null, null]);
  assert.deepEqual([tokenizer.isSpecial(0), tokenizer.isSpecial(4)], [true, false]);
  assert.deepEqual(tokenizer.encode(""), []);
  assert.equal((await opened(relu)).tokenizer, null);
  for (const wrong of [[-1], [2 ** 32], ["a"], [1.5], 7, null]) await rejects(async () => tokenizer.decode(wrong), "BAD_ARGUMENT");
  await rejects(async () => tokenizer.encode(5), "BAD_ARGUMENT");
  await rejects(async () => hologram.openTokenizer(file("nothing.json")), "NO_FILE");
});

test("it takes the most likely tokens", async () => {
  const ids = tokenizer.encode("a red fox"),
    tokens = await all(model.generate(ids, { maxTokens: 12, temperature: 0, keepEnds: true, logprobs: true })),
    wanted = await likely(ids, 12);
  assert.deepEqual(tokens.filter((token) => token.id !== null).map((token) => token.id), wanted);
  assert.ok(tokens.every((token) => token.id === null || token.logprob < 0));
  assert.equal(tokens.map((token) => token.text).join(""), tokenizer.decode(wanted));
});

test("a text is a question where there is a chat template", async () => {
  const options = { maxTokens: 6, temperature: 0, keepEnds: true },
    of = async (tokens) => (await all(tokens)).map((token) => token.id);
  const asked = await likely(tokenizer.encode("<user>fox<model>"), 6);
  assert.deepEqual(await of(model.generate("fox", options)), asked);
  assert.deepEqual(await of(model.chat([{ role: "user", content: "fox" }], options)), asked);
  assert.deepEqual(await of(model.generate("fox", { ...options, chat: false })), await likely(tokenizer.encode("fox"), 6));
});

test("seeds, stop strings, grammars", async () => {
  const of = (options) => model.generateText("fox", { maxTokens: 40, temperature: 1, keepEnds: true, ...options });
  const text = await of({ seed: 1 });
  assert.equal(text, await of({ seed: 1n, threads: 1 }));
  assert.equal(text, await of({ seed: 1, lookup: 4 }));
  assert.notEqual(text, await of({ seed: 2 }));
  const stop = text.slice(5, 7);
  assert.equal(await of({ seed: 1, stop }), text.slice(0, text.indexOf(stop)));
  const jsonSchema = { type: "object", properties: { age: { type: "integer", minimum: 0, maximum: 99 } }, required: ["age"] };
  assert.ok(JSON.parse(await model.generateText("fox", { jsonSchema })).age <= 99);
  assert.match(await model.generateText("fox", { regex: "[a-c]{5}x" }), /^[a-c]{5}x$/);
  assert.match(await model.generateText("fox", { grammar: 'root ::= "yes" | "no"' }), /^(yes|no)$/);
});

test("a language model keeps what it has read", async () => {
  const language = model.language({ context: 100 });
  const counts = async () => {
    const tokens = language.generate("a red fox", { maxTokens: 5 });
    for (;;) {
      const { done, value } = await tokens.next();
      if (done) return value;
    }
  };
  assert.equal((await counts()).cachedTokens, 0);
  const again = await counts();
  assert.ok(again.cachedTokens > 5);
  assert.deepEqual([again.tokens, again.finish, language.context], [5, "length", 100]);
  const texts = await Promise.all(["a", "b"].map((prompt) => language.generateText(prompt, { maxTokens: 20, temperature: 1, keepEnds: true })));
  assert.deepEqual(texts, [
    await model.generateText("a", { maxTokens: 20, temperature: 1, keepEnds: true }),
    await model.generateText("b", { maxTokens: 20, temperature: 1, keepEnds: true }),
  ]);
  language.close();
  await rejects(() => language.read([1]), "BAD_ARGUMENT", /closed/);
});

test("what is kept of texts is copied and forgotten", async () => {
  const language = model.language({ texts: 2 }),
    ids = tokenizer.encode("a red fox"),
    wanted = await language.read(ids);
  assert.deepEqual(language.ends, [0]);
  const during = language.read([...ids, 4]); // what comes now waits
  await language.copy(0, 1);
  await during;
  assert.deepEqual(await language.read(ids, { text: 1 }), wanted);
  await language.save(file("kept.bin"), { text: 1 });
  await language.forget(1);
  await language.load(file("kept.bin"), { text: 1 });
  assert.deepEqual(await language.read(ids, { text: 1 }), wanted);
  await rejects(() => language.load(file("nothing.bin")), "NO_FILE");
  await rejects(() => language.load(file("language.holo")), "BAD_INPUT");
  await rejects(() => language.copy(0, 2), "BAD_ARGUMENT");
  await rejects(() => language.forget("x"), "BAD_ARGUMENT");
  language.close();
  await rejects(() => language.forget(), "BAD_ARGUMENT", /closed/);
});

test("it can be ended", async () => {
  for await (const token of model.generate("fox", { keepEnds: true })) {
    assert.equal(typeof token.id, "number");
    break;
  }
  const controller = new AbortController(),
    tokens = model.generate("fox", { keepEnds: true, signal: controller.signal });
  await tokens.next();
  controller.abort();
  await rejects(async () => {
    for (;;) if ((await tokens.next()).done) return;
  }, "CANCELLED");
  const once = await hologram.open(folder),
    rest = once.generate("fox", { maxTokens: 5, keepEnds: true });
  await rest.next();
  once.close();
  assert.equal((await all(rest)).length, 4);
});

test("errors say what is wrong", async () => {
  const wrong = [
    [[], {}, "BAD_ARGUMENT"],
    ["a", { heat: 1 }, "BAD_ARGUMENT"],
    ["a", { maxTokens: -1 }, "BAD_ARGUMENT"],
    ["a", { temperature: "x" }, "BAD_ARGUMENT"],
    ["a", { regex: "a", grammar: "b" }, "BAD_ARGUMENT"],
    ["a", { stop: [""] }, "BAD_ARGUMENT"],
    ["a", { context: -1 }, "BAD_ARGUMENT"],
    [[4, 1e6], {}, "BAD_INPUT"],
    [null, {}, "BAD_ARGUMENT"],
  ];
  for (const [prompt, options, code] of wrong) await rejects(() => all(model.generate(prompt, options)), code);
  await rejects(async () => all((await opened(relu)).generate([1])), "UNSUPPORTED");
});
