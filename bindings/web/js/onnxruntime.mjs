// hologram/onnxruntime: pages written for onnxruntime-web run when they import this instead.
import { open } from "./index.mjs";
import { bytesOf } from "./opening.mjs";
import { fromImage, toDataURL, toImageData } from "./ort_images.mjs";
import { InferenceSession, setHost } from "./ort_session.mjs";
import { NoCounterpart, Tensor, setImages } from "./ort_tensor.mjs";

export const env = { wasm: { numThreads: 0 }, webgl: {}, webgpu: {}, logLevel: "warning", versions: Object.freeze({ hologram: "VERSION" }) };

const said = new Set();
function warn(text) {
  if (["error", "fatal"].includes(env.logLevel) || said.has(text)) return;
  said.add(text);
  console.warn(`hologram/onnxruntime: ${text}`);
}

/** External data: addresses, or {path, data} with bytes, a Blob or an address. */
async function filesOf(list) {
  const files = {};
  for (const one of list) {
    const { path, data } = typeof one === "string" ? { path: one.split(/[?#]/)[0].split("/").pop(), data: one } : one;
    files[path.replace(/^(\.\/)+/, "")] = await bytesOf(data);
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
setImages({ fromImage, toDataURL, toImageData });
export const listSupportedBackends = () => [{ name: "wasm", bundled: true }];
export function registerBackend() {
  throw new NoCounterpart("registerBackend", "it is one backend itself");
}
export { InferenceSession, Tensor };
