// Pictures of texts, by the pipeline of the demo.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { file, hologram, opened, rejects, relu, root } from "./package.mjs";

await hologram.compile(join(root, "demo/imagine/model"), file("emoji.holo"));
const model = await hologram.open(file("emoji.holo"));

async function all(steps) {
  const list = [];
  for await (const step of steps) list.push(step);
  return list;
}

test("a picture comes step by step", async () => {
  assert.deepEqual([model.pictures.steps, model.pictures.width, model.pictures.schedulers.length], [25, 64, 5]);
  const options = { steps: 3, seed: 5, scheduler: "euler", guidance: 3, negative: "a dog" },
    plain = await all(model.imagine("a red apple", options)),
    seen = await all(model.imagine("a red apple", { ...options, preview: true, threads: 1 }));
  assert.deepEqual(plain.map(({ step, steps, image }) => [step, steps, image?.shape]), [[1, 3, undefined], [2, 3, undefined], [3, 3, [64, 64, 3]]]);
  assert.ok(seen.every(({ image }) => image.data.length === 64 * 64 * 3));
  assert.deepEqual(seen[2].image, plain[2].image); // looking at it changes nothing
  assert.notDeepEqual(seen[0].image, seen[2].image);
  assert.notDeepEqual((await all(model.imagine("a red apple", { ...options, seed: 6 })))[2].image, plain[2].image);
});

test("a picture can be stopped, and what is wrong is said", async () => {
  const stopper = new AbortController(),
    steps = model.imagine("a cat", { signal: stopper.signal });
  await steps.next();
  stopper.abort();
  await rejects(() => steps.next(), "CANCELLED");
  const first = (...args) => model.imagine(...args).next();
  await rejects(() => first(5), "BAD_ARGUMENT", /prompt/);
  await rejects(() => first("a", { colour: 1 }), "BAD_ARGUMENT", /colour/);
  await rejects(() => first("a", { steps: 1.5 }), "BAD_ARGUMENT", /whole/);
  await rejects(() => first("a", { steps: 0 }), "BAD_INPUT", /steps/);
  await rejects(() => first("a", { scheduler: "other" }), "BAD_INPUT", /dpm\+\+/);
  await rejects(() => first("a", { width: 66 }), "BAD_INPUT", /multiples of 4/);
  const other = await opened(relu);
  assert.equal(other.pictures, null);
  await rejects(() => other.imagine("a").next(), "BAD_INPUT", /no pictures/);
});
