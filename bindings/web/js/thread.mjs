// A helper of an engine: a worker that gives itself to the threads of the module. It runs until it is terminated.
import { imports } from "./engine.mjs";

export async function serve({ module, memory, stack, tls }, ready) {
  const { exports } = await WebAssembly.instantiate(module, imports(memory));
  exports.__stack_pointer.value = stack;
  exports.__wasm_init_tls(tls);
  ready();
  exports.web_serve();
}

if (globalThis.WorkerGlobalScope && self instanceof WorkerGlobalScope)
  self.onmessage = ({ data }) => serve(data, () => self.postMessage("ready"));
