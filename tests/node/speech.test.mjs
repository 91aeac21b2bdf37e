// Speech to text, by a small model with random weights.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { file, hologram, rejects, root } from "./package.mjs";

const sound = file("sound.wav");
execFileSync("python3", [
  "-c",
  "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import speech_check as s\n" +
    "s.model(pathlib.Path(sys.argv[2])); s.wav(pathlib.Path(sys.argv[3]), [round(x * 32767) / 32768 for x in s.sound(0.1)], kind='<f', form=3)",
  join(root, "tests/support"),
  file("speech"),
  sound,
]);
const model = await hologram.open(file("speech"));

test("the parts of a model are models", async () => {
  assert.ok(model.entries.includes("encoder"));
  assert.equal(model.entry(model.entries[0]), model);
  const other = await hologram.open(file("speech")),
    encoder = other.entry("encoder");
  other.close(); // the part keeps it
  const feeds = encoder.sample({});
  assert.ok(encoder.inputs.length > 0 && Object.keys(feeds).length > 0);
  const first = Object.values(await encoder.run(feeds))[0];
  assert.deepEqual(first, Object.values(model.entry("encoder").runSync(feeds))[0]);
  encoder.close();
  await rejects(async () => model.entry("nobody"), "BAD_ARGUMENT", /no entry "nobody"; it has/);
});

test("a file, its bytes and its samples are heard alike", async () => {
  const heard = await model.transcribe(sound, { language: "de", timestamps: true });
  assert.equal(heard.language, "de");
  assert.ok(Math.abs(heard.seconds - 0.1) < 1e-6);
  assert.ok(heard.text);
  assert.equal(heard.text, heard.pieces.map((piece) => piece.text).join("").trim());
  assert.ok(heard.pieces[0].begin <= heard.pieces[0].end);
  assert.deepEqual(await model.transcribe(readFileSync(sound), { language: "de", timestamps: true, threads: 1 }), heard);
  const language = model.language();
  const samples = Float32Array.from({ length: language.rate }, (_, i) => (i % 2 ? -0.5 : 0.5));
  assert.equal((await language.transcribe(samples)).seconds, 1);
  language.close();
});

test("what is wrong is said", async () => {
  await rejects(() => model.transcribe(sound, { language: "xx" }), "BAD_ARGUMENT", /language 'xx'/);
  await rejects(() => model.transcribe(sound, { voice: 1 }), "BAD_ARGUMENT", /voice/);
  await rejects(() => model.transcribe(5), "BAD_ARGUMENT", /WAV/);
  await rejects(() => model.transcribe(file("nobody.wav")), "NO_FILE", /nobody/);
  await rejects(() => model.transcribe(new Uint8Array(8)), "BAD_INPUT", /WAV/);
  const stopper = new AbortController();
  stopper.abort();
  await rejects(() => model.transcribe(sound, { signal: stopper.signal }), "CANCELLED");
});
