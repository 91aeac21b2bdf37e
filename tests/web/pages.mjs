// Uses the demo pages in Chromium as a person would: node pages.mjs SITE SCREENSHOTS. See chromium.mjs for the environment.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, phone, ready } from "./chromium.mjs";

const [site, pictures] = process.argv.slice(2).map((path) => resolve(path)),
  root = fileURLToPath(new URL("../..", import.meta.url)),
  work = mkdtempSync(join(tmpdir(), "hologram-pages-")),
  chromium = await begin(pictures),
  server = spawn("python3", ["-B", join(root, "web/serve.py"), site]),
  address = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));

/** One visit of a page of the site. */
const visit = (name, file, use, options) => chromium.visit(name, address + file, use, options);
async function drawSeven(page) {
  const { x, y, width } = await page.locator("#pad").boundingBox(),
    at = ([a, b]) => [x + (a * width) / 280, y + (b * width) / 280];
  await page.mouse.move(...at([80, 60]));
  await page.mouse.down();
  await page.mouse.move(...at([200, 60]), { steps: 8 });
  await page.mouse.move(...at([130, 225]), { steps: 8 });
  await page.mouse.up();
  await page.waitForFunction(() => document.getElementById("answer").textContent === "7");
}

await visit("digits", "", async (page) => {
  await ready(page);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  await drawSeven(page);
  await page.click("#clear");
  await page.waitForFunction(() => document.getElementById("answer").textContent.trim() === "");
  await page.click("#example");
  await page.waitForFunction(() => document.getElementById("answer").textContent === "7");
});
await visit("digits by keyboard", "", async (page) => {
  await ready(page);
  while (!(await page.evaluate(() => document.activeElement.id === "pad"))) await page.keyboard.press("Tab");
  assert.equal(await page.isVisible("#pen:not(.down)"), true); // where it will draw
  await page.keyboard.press(" ");
  assert.equal(await page.isVisible("#pen.down"), true);
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => /^\d$/.test(document.getElementById("answer").textContent));
});
await visit("digits dark on a phone", "", async (page) => {
  await ready(page);
  await drawSeven(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
}, phone);
await visit("any model", "model.html", async (page) => {
  await page.setInputFiles("#file", join(root, "demo/digits.onnx"));
  await ready(page);
  await page.click("#run");
  await page.waitForSelector("#answers pre");
  await page.waitForSelector("#graph tbody tr", { state: "attached" });
  assert.ok((await page.locator("#graph tbody tr").count()) > 3 && (await page.locator("#notes tbody tr").count()) > 0);
  await page.click("#bench");
  await page.waitForSelector("#answers table");
});
await visit("the graph of a model is a drawing", "model.html", async (page) => {
  const box = () => page.locator("#drawing svg").getAttribute("viewBox"),
    changes = async (work) => {
      const before = await box();
      await work();
      assert.notEqual(await box(), before);
    };
  await page.setInputFiles("#file", join(root, "demo/digits.onnx"));
  await ready(page);
  await page.waitForSelector("#drawing .b");
  await page.click("#drawing .b >> nth=1");
  assert.match(await page.textContent("#about"), /\w/);
  for (const key of ["ArrowDown", "+", "-", "0"]) await changes(() => page.keyboard.press(key));
  await changes(() => page.mouse.wheel(0, 300));
  await page.keyboard.press("n");
  assert.equal(await page.locator("#drawing .at").count(), 1);
  await page.keyboard.press("/");
  await page.keyboard.type("conv");
  assert.match(await page.textContent("#found"), /^[1-9]\d* found$/);
  await page.keyboard.press("Escape");
  const planned = await page.locator("#drawing .b").count();
  await page.click("#imported");
  await page.waitForFunction((count) => document.querySelectorAll("#drawing .b").length > count, planned);
  assert.equal(await page.getAttribute("#imported", "aria-pressed"), "true");
});
await visit("a graph, dark on a phone", "model.html", async (page) => {
  await page.click("#example");
  await ready(page);
  await page.waitForSelector("#drawing .b");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
}, phone);
await visit("a broken model", "model.html", async (page) => {
  writeFileSync(join(work, "broken.onnx"), "this is no model at all, but a text");
  await page.click("#example");
  await page.waitForSelector("#drawing .b");
  await page.setInputFiles("#file", join(work, "broken.onnx"));
  await page.waitForSelector("[role=alert]");
  assert.equal(await page.isVisible("#result"), false);
  await page.click("#example"); // and the page goes on
  await ready(page);
});
await visit("files of a folder", "model.html", async (page) => {
  const folder = join(work, "folder");
  execFileSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), folder]);
  await page.setInputFiles("#file", join(folder, "model.safetensors"));
  await page.waitForSelector("[role=alert]:has-text('config.json')"); // it says what is missing
  await page.setInputFiles("#file", readdirSync(folder).map((name) => join(folder, name)));
  await ready(page);
  await page.waitForSelector("#drawing .b");
});
await visit("a page that compiles stays responsive", "model.html", async (page) => {
  const layers = Array.from({ length: 400 }, (_, i) => ["node", "Sin", i ? `t${i}` : "x", i === 399 ? "y" : `t${i + 1}`]).flat();
  execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "long.onnx"), ..."in x f32 64,64 out y f32 64,64".split(" "), ...layers]);
  await page.evaluate(() => {
    let last = performance.now();
    globalThis.longest = 0;
    setInterval(() => {
      globalThis.longest = Math.max(globalThis.longest, performance.now() - last);
      last = performance.now();
    }, 10);
  });
  const begin = performance.now();
  await page.setInputFiles("#file", join(work, "long.onnx"));
  await ready(page);
  const took = performance.now() - begin,
    longest = await page.evaluate(() => globalThis.longest);
  assert.ok(longest < Math.max(200, took / 2), `it did nothing for ${longest} of ${took} ms`);
});
await visit("images", "vision.html", async (page) => {
  // The mean of each channel: a classifier of colors.
  const words = "in x f32 1,3,8,8 out y f32 1,3 node ReduceMean x y axes=2,3 keepdims=0".split(" ");
  execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "brightest.onnx"), ...words]);
  execFileSync("python3", ["-B", join(root, "tests/web/picture.py"), work]);
  writeFileSync(join(work, "labels.txt"), "red\ngreen\nblue");
  await page.setInputFiles("#file", join(work, "brightest.onnx"));
  await ready(page);
  await page.selectOption("#scale", "unit");
  await page.setInputFiles("#labels", join(work, "labels.txt"));
  await page.setInputFiles("#picture", join(work, "green.png"));
  await page.waitForFunction(() => document.querySelector("#bars dt")?.textContent === "green");
  await page.click("#camera");
  await page.waitForFunction(() => Number(document.body.dataset.seen) > 4);
  await page.click("#camera");
  await page.waitForFunction(() => document.getElementById("camera").textContent === "Use the camera");
  writeFileSync(join(work, "text.png"), "no image");
  await page.setInputFiles("#picture", join(work, "text.png"));
  await page.waitForSelector("[role=alert]");
});
await visit("a detector, dark on a phone", "vision.html", async (page) => {
  // Two boxes of four numbers, and the scores of two classes: what YOLO gives, from the mean of the image.
  const words = "in x f32 1,3,8,8 out y f32 1,6,2 weight w 8,2 5 node Abs w v node ReduceMean x m axes=[3] keepdims=0 node Concat m,m c axis=1 node MatMul c,v t node Sigmoid t y".split(" ");
  execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, "boxes.onnx"), ...words]);
  execFileSync("python3", ["-B", join(root, "tests/web/picture.py"), work]);
  await page.setInputFiles("#file", join(work, "boxes.onnx"));
  await ready(page);
  await page.setInputFiles("#picture", join(work, "green.png"));
  await page.waitForFunction(() => /^class [01]$/.test(document.querySelector("#bars dt")?.textContent));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
}, phone);
await visit("chat", "chat.html", async (page) => {
  execFileSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), join(work, "language")]);
  execFileSync(process.env.HOLOGRAM, ["compile", "-q", join(work, "language"), "-o", join(work, "language.holo")]);
  await page.setInputFiles("#file", join(work, "language.holo"));
  await ready(page);
  await page.fill("#text", "a red fox");
  await page.keyboard.press("Enter");
  await page.waitForSelector("body[data-answers='1']");
  assert.match(await page.textContent("#speed"), /tokens\/s/);
});
await visit("speech", "speech.html", async (page) => {
  execFileSync("python3", [
    "-Bc",
    "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import speech_check as s\n" +
      "s.model(pathlib.Path(sys.argv[2] + '/speech')); s.wav(pathlib.Path(sys.argv[2] + '/sound.wav'), s.sound(0.1), kind='<f', form=3)",
    join(root, "tests/support"),
    work,
  ]);
  execFileSync(process.env.HOLOGRAM, ["compile", "-q", join(work, "speech"), "-o", join(work, "speech.holo")]);
  await page.setInputFiles("#file", join(work, "speech.holo"));
  await ready(page);
  await page.setInputFiles("#sound", join(work, "sound.wav"));
  await page.waitForSelector("body[data-heard='1']");
  assert.match(await page.textContent("#took"), /0\.1 s of sound/);
  await page.click("#record");
  await page.waitForFunction(() => document.getElementById("state").textContent === "Speak now.");
  await page.waitForTimeout(500);
  await page.click("#record");
  await page.waitForSelector("body[data-heard='2']");
  await page.setInputFiles("#file", join(site, "digits.holo")); // which hears nothing: the one before is still there
  await page.waitForSelector("[role=alert]:has-text('is not a model of speech')");
  await page.setInputFiles("#sound", []);
  await page.setInputFiles("#sound", join(work, "sound.wav"));
  await page.waitForSelector("body[data-heard='3']");
  await page.setInputFiles("#sound", join(root, "demo/digits.onnx"));
  await page.waitForSelector("[role=alert]");
});
await visit("models beside the pages", "vision.html", async (page) => {
  const words = "in x f32 1,3,8,8 out y f32 1,3 node ReduceMean x y axes=2,3 keepdims=0".split(" "),
    name = "brightest.onnx";
  execFileSync("python3", ["-B", join(root, "tests/support/onnx_model.py"), join(work, name), ...words]);
  execFileSync("python3", ["-B", join(root, "tests/web/picture.py"), work]);
  execFileSync(process.env.HOLOGRAM, ["compile", "-q", join(work, name), "-o", join(work, "brightest.holo")]);
  const listed = [{ name: "brightest", page: "images", about: "tells colors", bytes: 5000, values: "unit", labels: ["red", "green", "blue"] }];
  await page.route("**/models.json", (route) => route.fulfill({ json: listed }));
  await page.route("**/brightest.holo", (route) => route.fulfill({ path: join(work, "brightest.holo") }));
  await page.goto(`${address}vision.html`);
  await ready(page);
  await page.setInputFiles("#picture", join(work, "green.png"));
  await page.waitForFunction(() => document.querySelector("#bars dt")?.textContent === "green");
  await page.route("**/models.json", (route) => route.fulfill({ json: [] }));
  await page.goto(`${address}chat.html`);
  await page.waitForFunction(() => document.getElementById("area").textContent.includes("make web-models"));
});
await visit("text to image", "imagine.html", async (page) => {
  await ready(page);
  await page.click("#go");
  await page.waitForSelector("body[data-drawn='1']");
  assert.equal(await page.locator("#strip li").count(), 20);
  // An apple of this seed is red in the middle.
  const [red, green, blue] = await page.evaluate(() => document.getElementById("view").getContext("2d").getImageData(32, 36, 1, 1).data);
  assert.ok(red > 150 && green < 120 && blue < 120, `${red} ${green} ${blue}`);
  await page.click("#ideas button:nth-child(3)");
  await page.waitForFunction(() => document.getElementById("strip").children.length > 2);
  await page.click("#stop");
  await page.waitForFunction(() => document.getElementById("state").textContent === "Stopped.");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  assert.equal(saved.suggestedFilename(), "blue-whale.png");
});
await visit("text to image by keyboard, dark on a phone", "imagine.html", async (page) => {
  await ready(page);
  await page.focus("#prompt");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("green tree");
  await page.focus("summary");
  await page.keyboard.press("Enter");
  await page.focus("#steps");
  for (let i = 0; i < 14; i++) await page.keyboard.press("ArrowLeft");
  await page.selectOption("#scheduler", "euler-ancestral");
  await page.fill("#negative", "red");
  await page.fill("#seed", "7");
  await page.focus("#prompt");
  await page.keyboard.press("Enter");
  await page.waitForSelector("body[data-drawn='1']");
  assert.match(await page.textContent("#step"), /^step 6 of 6/);
  assert.equal(await page.getAttribute("#view", "aria-label"), "A picture of: green tree");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
}, phone);
await visit("side by side", "compare.html", async (page) => {
  await page.click("#go");
  await ready(page);
  assert.equal(await page.locator("#results section").count(), 4);
});
await visit("one thread where the page is not isolated", "", async (page) => {
  const plain = spawn("python3", ["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", site, "0"]),
    port = await new Promise((done) => plain.stdout.on("data", (data) => /port (\d+)/.test(data) && done(/port (\d+)/.exec(data)[1])));
  await page.goto(`http://127.0.0.1:${port}/`);
  await ready(page);
  assert.equal(await page.evaluate(() => crossOriginIsolated), false);
  const answer = await page.evaluate(async () => {
    const { open } = await import("./hologram/index.mjs");
    const model = await open("digits.holo");
    const remote = await open("digits.holo", { worker: true, cache: false });
    const [a, b] = [await model.run(new Float32Array(64)), await remote.run(new Float32Array(64))];
    remote.close();
    return { same: String(a.probabilities.data) === String(b.probabilities.data), closed: await remote.run(new Float32Array(64)).catch((error) => error.code) };
  });
  plain.kill();
  assert.deepEqual(answer, { same: true, closed: "BAD_ARGUMENT" });
});

const failed = await chromium.end("pages");
server.kill();
rmSync(work, { recursive: true, force: true });
console.log(`screenshots are in ${pictures}`);
process.exit(failed ? 1 : 0);
