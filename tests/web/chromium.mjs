// Visits in Chromium: a page that says anything on its console, or fails to load anything, fails. PLAYWRIGHT is the folder of playwright-core; ONLY=WORDS: visits whose names have these.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const { chromium } = await import(join(process.env.PLAYWRIGHT, "index.mjs"));
const flags = ["--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc", "--disable-background-networking", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

export const phone = { viewport: { width: 360, height: 780 }, colorScheme: "dark" };
export const ready = (page) => page.waitForSelector("body[data-ready]");

export async function begin(pictures) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  let passed = 0,
    failed = 0;
  mkdirSync(pictures, { recursive: true });
  return {
    /** One visit of an address: `use` gets a page that is open. {expected}: what the console may say. */
    async visit(name, address, use, { expected = /^$/, ...options } = {}) {
      if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
      const context = await browser.newContext({ viewport: { width: 900, height: 700 }, ...options }),
        page = await context.newPage(),
        said = [],
        picture = join(pictures, `${name.replace(/\W+/g, "-")}.png`);
      const hear = (text) => expected.test(text) || said.push(text);
      context.on("console", (message) => ["error", "warning"].includes(message.type()) && hear(message.text()));
      context.on("weberror", (error) => hear(error.error().message));
      const began = performance.now();
      page.setDefaultTimeout(30000);
      try {
        await page.goto(address);
        await use(page, context);
        if (!page.isClosed()) await page.screenshot({ path: picture, fullPage: true });
        assert.deepEqual(said, []);
        passed++;
      } catch (error) {
        failed++;
        if (!page.isClosed()) await page.screenshot({ path: picture }).catch(() => {});
        console.log(`${name}: FAILED: ${error.message.split("\n").slice(0, 8).join("\n  ")}${said.length ? `\n  the page said: ${said.join("; ")}` : ""}`);
      }
      await context.close();
      if (process.env.TIMES) console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    },
    async end(what) {
      await browser.close();
      console.log(`${what}: ${passed} passed, ${failed} failed`);
      return failed;
    },
  };
}
