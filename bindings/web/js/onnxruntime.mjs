// hologram/onnxruntime: pages written for onnxruntime-web run when they import this instead.
import { HologramError } from "./errors.mjs";
import { open } from "./index.mjs";
import { InferenceSession, setHost } from "./ort_session.mjs";
import { NoCounterpart, Tensor } from "./ort_tensor.mjs";

export const env = { wasm: { numThreads: 0 }, webgl: {}, webgpu: {}, logLevel: "warning", versions: Object.freeze({ hologram: "VERSION" }) };

const said = new Set();
function warn(text) {
  if (["error", "fatal"].includes(env.logLevel) || said.has(text)) return;
  said.add(text);
  console.warn(`hologram/onnxruntime: ${text}`);
}

/** External data that is given as bytes. */
function filesOf(list) {
  const files = {};
  for (const one of list) {
    if (typeof one === "string" || typeof one.data === "string")
      throw new HologramError("externalData is { path, data } with the bytes in data: fetch them first", "UNSUPPORTED");
    files[one.path] = one.data;
  }
  return files;
}

setHost({
  open: (source, options) => open(source, { ...options, threads: options.threads || env.wasm.numThreads || 0 }),
  warn,
  provider: "wasm",
  files: filesOf,
  profile() {
    throw new NoCounterpart("enableProfiling", "model.session().profile() of the package gives times");
  },
});
export const listSupportedBackends = () => [{ name: "wasm", bundled: true }];
export function registerBackend() {
  throw new NoCounterpart("registerBackend", "it is one backend itself");
}
export { InferenceSession, Tensor };
