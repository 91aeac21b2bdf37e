// The .tgz, installed into an empty folder: the examples and the code of docs/javascript.md run there, and types are checked.
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { file, root } from "./package.mjs";

const run = promisify(execFile);
const tgz = process.env.HOLOGRAM_TGZ;
const skip = tgz ? false : "HOLOGRAM_TGZ does not name a package: make node-test does";
const empty = file("empty");
const env = { ...process.env, HOME: empty, npm_config_cache: join(empty, ".npm"), npm_config_update_notifier: "false" };
const hasNpm = spawnSync("npm", ["--version"]).status === 0;

function installed() {
  if (existsSync(join(empty, "node_modules/hologram"))) return;
  mkdirSync(join(empty, "node_modules"), { recursive: true });
  writeFileSync(join(empty, "package.json"), '{ "private": true }');
  for (const part of ["demo", "kernels"]) symlinkSync(join(root, part), join(empty, part));
  spawnSync("python3", ["-B", join(root, "tests/support/tiny_language.py"), join(empty, "SmolLM2")]);
  if (hasNpm) {
    const npm = spawnSync("npm", ["install", "--offline", "--no-audit", "--no-fund", tgz], { cwd: empty, env, encoding: "utf8" });
    assert.equal(npm.status, 0, npm.stderr);
  } else {
    const target = join(empty, "node_modules/hologram");
    mkdirSync(target);
    assert.equal(spawnSync("tar", ["xzf", tgz, "-C", target, "--strip-components=1"]).status, 0);
  }
}

test("the package is installed offline, without scripts", { skip }, (context) => {
  installed();
  if (!hasNpm) context.diagnostic("npm is not there: the package was unpacked by tar");
  const { scripts, dependencies } = JSON.parse(readFileSync(join(empty, "node_modules/hologram/package.json"), "utf8"));
  assert.equal(scripts ?? dependencies, undefined);
});

test("import and require give the same classes", { skip }, async () => {
  installed();
  const lines = ['import { createRequire } from "node:module";', 'import { Tensor } from "hologram";'];
  lines.push('console.log(createRequire(import.meta.url)("hologram").Tensor === Tensor);');
  writeFileSync(join(empty, "both.mjs"), lines.join("\n"));
  assert.match((await run(process.execPath, ["both.mjs"], { cwd: empty })).stdout, /true/);
});

test("examples run", { skip }, async () => {
  installed();
  for (const name of readdirSync(join(root, "examples/node"))) copyFileSync(join(root, "examples/node", name), join(empty, name));
  const first = await run(process.execPath, ["first_run.mjs", "demo/digits.onnx", "demo/digits/01_is_7.npy"], { cwd: empty });
  assert.match(first.stdout, /it is a 7/);
  const ort = await run(process.execPath, ["onnxruntime.mjs", "demo/digits.onnx"], { cwd: empty });
  assert.match(ort.stdout, /^\[ 1, 10 \] (0\.\d{3} ?){10}/);
  const server = spawn(process.execPath, ["server.mjs", "demo/digits.onnx"], { cwd: empty });
  try {
    const said = await new Promise((resolve, reject) => server.stdout.once("data", resolve) && server.once("error", reject));
    const url = `http://127.0.0.1:${/\d+/.exec(String(said))[0]}`;
    const post = async (body) => fetch(url, { method: "POST", body: JSON.stringify(body) });
    assert.equal((await (await post(Array(64).fill(0))).json())[0].length, 10);
    assert.equal((await post(Array(63).fill(0))).status, 400);
    await assert.rejects(fetch(url, { method: "POST", body: "[", signal: AbortSignal.timeout(1) }));
  } finally {
    server.kill();
  }
});

test("the code of docs/javascript.md runs", { skip }, async () => {
  installed();
  const page = readFileSync(join(root, "docs/javascript.md"), "utf8");
  const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  assert.ok(blocks.length > 8);
  const all = 'import { HologramError, Tensor, compile, kernels, open, readTensor } from "hologram";\n';
  await Promise.all(
    blocks.map(async (block, i) => {
      const isRequired = block.includes("require("),
        name = `docs${i}.${isRequired ? "cjs" : "mjs"}`;
      writeFileSync(join(empty, name), isRequired || block.startsWith("import") ? block : all + block);
      const { stdout } = await run(process.execPath, [name], { cwd: empty }).catch((error) => assert.fail(`${block}\n${error.stderr}`));
      for (const [, said] of block.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)) assert.ok(stdout.includes(said), `${block}\n${stdout}`);
    }),
  );
});

// ---- types

/** A folder with TypeScript's compiler, which npm fetches; undefined: it cannot. */
function typescript() {
  const place = process.env.TYPESCRIPT_FOLDER ?? join(root, "build/typescript");
  const compiler = join(place, "node_modules/typescript/bin/tsc");
  if (!existsSync(compiler) && hasNpm) {
    mkdirSync(place, { recursive: true });
    const args = [
      "install",
      "--prefix",
      place,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--fetch-retries=0",
      "typescript@5",
      "@types/node@20",
    ];
    spawnSync("npm", args, { cwd: place, timeout: 60_000 });
  }
  return existsSync(compiler) ? { compiler, place } : undefined;
}

const ofNode = (place) => ["--module", "nodenext", "--typeRoots", join(place, "node_modules/@types"), "--types", "node"];
const ofBrowsers = () => ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom,dom.asynciterable", "--typeRoots", join(empty, "none")];
function check(names, { compiler, place }, how = ofNode(place)) {
  for (const name of names) copyFileSync(join(root, "tests/node/types", name), join(empty, name));
  const args = [compiler, "--noEmit", "--strict", "--target", "es2022", ...how, ...names];
  return spawnSync(process.execPath, args, { cwd: empty, encoding: "utf8" });
}

test("types are what they say, and wrong programs do not compile", { skip }, (context) => {
  installed();
  const tsc = typescript();
  if (!tsc) return context.skip("npm cannot fetch typescript here: types are not checked");
  const { stdout } = check(["good.mts", "good.cts", "bad.mts"], tsc);
  const lines = readFileSync(join(root, "tests/node/types/bad.mts"), "utf8").split("\n");
  const wanted = lines.flatMap((line, i) => (/\/\/ wrong/.test(line) ? [`bad.mts ${i + 1}`] : []));
  const found = [...new Set([...stdout.matchAll(/^(\S+)\((\d+),/gm)].map(([, name, line]) => `${name} ${line}`))];
  assert.deepEqual(found, wanted, stdout);
});

const isWhole = tgz && spawnSync("tar", ["tzf", tgz, "package/web/index.mjs"]).status === 0;
test("types of browsers", { skip: isWhole ? false : "the package has no part for browsers: make npm" }, (context) => {
  installed();
  const tsc = typescript();
  if (!tsc) return context.skip("npm cannot fetch typescript here: types are not checked");
  const { status, stdout } = check(["web.mts"], tsc, ofBrowsers());
  assert.equal(status, 0, stdout);
});
