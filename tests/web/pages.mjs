// Uses the demo pages in Chromium as a person would: node pages.mjs SITE SCREENSHOTS. PLAYWRIGHT is the folder of playwright-core.
//
// A page that says anything on the console, or fails to load anything, fails.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [site, pictures] = process.argv.slice(2).map((path) => resolve(path)),
  root = fileURLToPath(new URL("../..", import.meta.url)),
  { chromium } = await import(join(process.env.PLAYWRIGHT, "index.mjs")),
  work = mkdtempSync(join(tmpdir(), "hologram-pages-"));
mkdirSync(pictures, { recursive: true });

const server = spawn("python3", ["-B", join(root, "web/serve.py"), site]),
  address = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim()))),
  flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });

let passed = 0,
  failed = 0;
/** One visit: `use` gets a page that is open. */
async function visit(name, file, use, options = {}) {
  const context = await browser.newContext({ viewport: { width: 900, height: 700 }, ...options }),
    page = await context.newPage(),
    said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.setDefaultTimeout(30000);
  try {
    await page.goto(address + file);
    await use(page, context);
    await page.screenshot({ path: join(pictures, `${name.replace(/\W+/g, "-")}.png`), fullPage: true });
    assert.deepEqual(said, []);
    passed++;
  } catch (error) {
    failed++;
    await page.screenshot({ path: join(pictures, `${name.replace(/\W+/g, "-")}.png`) }).catch(() => {});
    console.log(`${name}: FAILED: ${error.message.split("\n").slice(0, 6).join("\n  ")}${said.length ? `\n  the page said: ${said.join("; ")}` : ""}`);
  }
  await context.close();
}
const ready = (page) => page.waitForSelector("body[data-ready]");
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
  await page.focus("#pad");
  await page.keyboard.press(" ");
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => /^\d$/.test(document.getElementById("answer").textContent));
});
await visit("digits dark on a phone", "", async (page) => {
  await ready(page);
  await drawSeven(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide`);
}, { viewport: { width: 360, height: 780 }, colorScheme: "dark" });
await visit("a second visit fetches no model", "", async (page, context) => {
  await ready(page);
  const second = await context.newPage(),
    fetched = [];
  second.on("request", (request) => request.url().endsWith("digits.holo") && fetched.push(request.method()));
  await second.goto(address);
  await ready(second);
  assert.ok(!fetched.includes("GET"), `it was fetched by ${fetched}`);
});
await visit("any model", "model.html", async (page) => {
  await page.setInputFiles("#file", join(root, "demo/digits.onnx"));
  await ready(page);
  await page.click("#run");
  await page.waitForSelector("#answers pre");
  await page.waitForSelector("#graph tbody tr");
  assert.ok((await page.locator("#graph tbody tr").count()) > 3 && (await page.locator("#notes tbody tr").count()) > 0);
  await page.click("#bench");
  await page.waitForSelector("#answers table");
});
await visit("a broken model", "model.html", async (page) => {
  writeFileSync(join(work, "broken.onnx"), "this is no model at all, but a text");
  await page.setInputFiles("#file", join(work, "broken.onnx"));
  await page.waitForSelector("[role=alert]");
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
});
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

await browser.close();
server.kill();
rmSync(work, { recursive: true, force: true });
console.log(`pages: ${passed} passed, ${failed} failed; screenshots are in ${pictures}`);
process.exit(failed ? 1 : 0);
