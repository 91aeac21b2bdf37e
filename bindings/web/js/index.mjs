// The package `hologram` in browsers.
import { Batch } from "./batch.mjs";
import { setBase } from "./engine.mjs";
import { HologramError } from "./errors.mjs";
import { clearCache } from "./fetching.mjs";
import { imageData, imageTensor } from "./images.mjs";
import { Model, Session } from "./model.mjs";
import { Place, bytesOf, isArchive, openBytes, placeFor, warm } from "./opening.mjs";
import { Tensor } from "./tensor.mjs";
import { Language, Tokenizer } from "./text.mjs";

const openOptions = ["threads", "sessions", "onprogress", "signal", "cache", "text", "memory", "worker", "files"];
const compileOptions = ["inputShapes", "numeric", "quantize", "accuracy", "size", "symbolic", "tables", "verify", "progress"];

function check(options) {
  const known = [...openOptions, ...compileOptions];
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new HologramError(`there is no option ${JSON.stringify(name)}; there are ${known.join(", ")}`);
}

/** Opens a model: a URL, a Blob, a Response or bytes. What is no archive is compiled first, by a module that is fetched then. */
export async function open(given, options = {}) {
  check(options);
  if (options.worker) return (await import("./remote.mjs")).open(given, options);
  warm(options);
  const bytes = await bytesOf(given, { ...options, placeFor: placeFor(options) });
  if (bytes instanceof Place || isArchive(bytes)) {
    const unused = Object.keys(options).find((name) => options[name] !== undefined && compileOptions.includes(name));
    if (unused) {
      bytes.close?.();
      throw new HologramError(`${JSON.stringify(unused)} is an option of compiling: an archive is compiled already`);
    }
    return openBytes(bytes, options);
  }
  const { archive, report } = await (await import("./compiling.mjs")).compileBytes(bytes, given, options);
  return openBytes(archive, options, report);
}

/** Compiles a model into the bytes of an archive. */
export async function compile(given, options = {}) {
  check(options);
  return (await import("./compiling.mjs")).compileBytes(await bytesOf(given, options), given, options);
}

export { Batch, HologramError, Language, Model, Session, Tensor, Tokenizer, clearCache, imageData, imageTensor, setBase };
