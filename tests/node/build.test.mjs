// How the addon is made: what it declares is what Node declares, it needs nothing but libc, and no function of C is forgotten.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { file, folder, root } from "./package.mjs";

const addon = join(
  folder,
  "prebuilt",
  readdirSync(join(folder, "prebuilt")).find((name) => name.startsWith(`${process.platform}-${process.arch}`)),
);
const places = [join(dirname(process.execPath), "../include/node"), "/usr/include/node", "/usr/include/nodejs/src"];
const headers = places.find((place) => existsSync(join(place, "node_api.h")));

test("the declarations are those of Node's header", { skip: headers ? false : `node_api.h is in none of ${places.join(", ")}` }, () => {
  const source = file("both.c");
  writeFileSync(source, '#define NAPI_VERSION 8\n#include <node_api.h>\n#include "napi.h"\n');
  const { status, stderr } = spawnSync(
    "cc",
    ["-std=c11", "-Wall", "-Werror", "-fsyntax-only", `-I${headers}`, `-I${join(root, "bindings/node/src")}`, source],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
});

test(
  "the addon needs libc alone, and shows only what Node calls",
  { skip: process.env.HOLOGRAM_SANITIZED ? "with a sanitizer it needs that" : false },
  () => {
    const said = execFileSync("readelf", ["-dW", "--dyn-syms", addon], { encoding: "utf8" });
    const needed = [...said.matchAll(/NEEDED.*\[(.*)\]/g)].map((match) => match[1]);
    assert.deepEqual(
      needed.filter((name) => !/^(libc|libm|libpthread|libdl|ld-linux.*)\.so/.test(name)),
      [],
    );
    const shown = [...said.matchAll(/(?:FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ (\S+)/g)].map((match) => match[1]).sort();
    assert.deepEqual(shown, ["napi_register_module_v1", "node_api_module_get_api_version_v1"]);
  },
);

test("a function of C that no rule makes must be in the table of those written by hand", () => {
  const description = JSON.parse(readFileSync(join(root, "include/hologram.json"), "utf8")),
    path = file("more.json");
  const make = (change) => {
    const changed = structuredClone(description);
    change(changed);
    writeFileSync(path, JSON.stringify(changed));
    return spawnSync("python3", [join(root, "bindings/node/make.py"), file("made"), path], { encoding: "utf8" });
  };
  const plain = {
    name: "holo_model_new",
    header: "hologram.h",
    library: "runtime",
    doc: "",
    must_check: false,
    returns: "int",
    params: [{ name: "model", type: "const HoloModel *", role: "in" }],
  };
  assert.equal(make((one) => one.functions.push(plain)).status, 0);
  assert.match(readFileSync(file("made/made.c"), "utf8"), /holo_model_new\(model \? model->object : NULL\)/);
  const odd = make((one) => one.functions.push({ ...plain, params: [...plain.params, { name: "state", type: "void *", role: "in" }] }));
  assert.match(odd.stderr, /holo_model_new: no rule makes it/);
  const gone = make((one) => (one.functions = one.functions.filter((f) => f.name !== "holo_model_run")));
  assert.match(gone.stderr, /holo_model_run: is in by_hand.py, and not in the description/);
});
