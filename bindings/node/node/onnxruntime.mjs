// hologram/onnxruntime: programs written for onnxruntime-node run when they import this instead.
import { backend } from "./backend.mjs";
import { open, version } from "./index.mjs";
import { InferenceSession, setHost } from "./ort_session.mjs";
import { NoCounterpart, Tensor } from "./ort_tensor.mjs";

const levels = ["verbose", "info", "warning", "error", "fatal"];
let logLevel = "warning";

export const env = {
  wasm: {},
  webgl: {},
  webgpu: {},
  versions: Object.freeze({ common: version, node: version, hologram: version }),
  get logLevel() {
    return logLevel;
  },
  set logLevel(level) {
    if (level === undefined) return;
    if (!levels.includes(level)) throw new Error(`the levels of logging are ${levels.join(", ")}, not ${String(level)}`);
    logLevel = level;
  },
};

const said = new Set();
function warn(text) {
  if (levels.indexOf(logLevel) > levels.indexOf("warning") || said.has(text)) return;
  said.add(text);
  console.warn(`hologram/onnxruntime: ${text}`);
}

/** Times the runs of a session; what is returned writes them. */
function profile(session, prefix) {
  const { native } = backend,
    { handle } = session;
  native.holo_session_profile(handle, true);
  return () => {
    native.holo_session_profile(handle, false);
    native.holo_session_profile_write(handle, `${prefix}${new Date().toISOString().replace(/[^0-9T]/g, "")}.json`);
  };
}

setHost({ open, warn, profile });
export const listSupportedBackends = () => [{ name: "cpu", bundled: true }];
export function registerBackend() {
  throw new NoCounterpart("registerBackend", "it is one backend itself");
}
export { InferenceSession, Tensor };
