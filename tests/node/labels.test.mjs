// Vectors and labels, by small models with random weights.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { file, hologram, rejects, root } from "./package.mjs";

const made = file("made");
execFileSync("python3", [join(root, "tests/support/text_models.py"), made]);
const open = (name) => hologram.open(join(made, name));

/** What the model gives for the tokens of a text. */
async function rowsOf(model, text, output) {
  const ids = model.tokenizer.encode(text),
    result = await model.run({ input_ids: new hologram.Tensor("int64", BigInt64Array.from(ids, BigInt), [1, ids.length]) }),
    { data, shape } = result[output],
    size = shape.at(-1);
  return Array.from({ length: data.length / size }, (_, i) => data.slice(i * size, (i + 1) * size));
}

function near(have, want) {
  assert.equal(have.length, want.length);
  have.forEach((x, i) => assert.ok(Math.abs(x - want[i]) < 1e-5, `${x} and ${want[i]}`));
}

test("vectors are those of tokens, pooled", async () => {
  const model = await open("plain"),
    rows = await rowsOf(model, "the cats sat", "last_hidden_state"),
    mean = rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  near(await model.embed("the cats sat"), mean);
  near(await model.embed("the cats sat", { pooling: "cls" }), rows[0]);
  const length = Math.hypot(...mean);
  near(await model.embed("the cats sat", { normalize: true }), mean.map((x) => x / length));
  const several = await model.embed(["the cats sat", "the"], { threads: 1 });
  near(several[0], mean);
  assert.deepEqual(several[1], await model.embed("the"));
  await rejects(() => model.embed("x", { pooling: "median" }), "BAD_ARGUMENT", /median/);
  await rejects(() => model.embed("x", { pool: 1 }), "BAD_ARGUMENT", /pool/);
  await rejects(() => model.embed(5), "BAD_ARGUMENT", /strings/);
  const stopper = new AbortController();
  stopper.abort();
  await rejects(() => model.embed("x", { signal: stopper.signal }), "CANCELLED");
  await rejects(async () => (await open("silent")).embed("x"), "UNSUPPORTED", /no tokenizer/);
});

test("labels of texts, of tokens and of pictures", async () => {
  const mood = await open("mood"),
    [logits] = await rowsOf(mood, "the cats flew", "logits"),
    sum = logits.reduce((all, x) => all + Math.exp(x), 0),
    labels = await mood.classify("the cats flew");
  assert.deepEqual(labels.map((one) => one.label).sort(), ["bad", "mixed", "very good"]);
  for (const { id, score } of labels) assert.ok(Math.abs(score - Math.exp(logits[id]) / sum) < 1e-5);
  assert.deepEqual(await mood.classify(["the cats flew"], { top: 1 }), [labels.slice(0, 1)]);
  const tags = await (await open("tags")).classify("the cats sat.");
  assert.equal(tags.length, 5);
  assert.ok(tags.every((one) => one.token && ["O", "NOUN", "VERB"].includes(one.label)));
  const picture = file("wide.ppm"),
    seeing = await open("seeing_crop");
  writeFileSync(picture, Buffer.concat([Buffer.from("P6 20 13 255\n"), Buffer.from(Array.from({ length: 780 }, (_, i) => (i * 7) % 256))]));
  const seen = await seeing.classify(picture);
  assert.ok(Math.abs(seen.reduce((all, one) => all + one.score, 0) - 1) < 1e-5);
  assert.deepEqual(await seeing.classify([pathToFileURL(picture)]), [seen]);
  await rejects(() => seeing.classify(file("nobody.png")), "NO_FILE", /nobody/);
  await rejects(() => mood.classify("x", { top: 0 }), "BAD_ARGUMENT", /top/);
  await rejects(async () => (await open("plain")).classify("x"), "UNSUPPORTED", /no scores/);
});
