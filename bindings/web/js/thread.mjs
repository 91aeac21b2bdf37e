// A helper of an engine: a worker that gives itself to the threads of the module. It runs until it is terminated.
import { imports } from "./imports.mjs";

export async function serve({ module, memory, cores, stack, tls }, ready) {
  const { exports } = await WebAssembly.instantiate(module, imports(memory, cores));
  const address = typeof exports.__stack_pointer.value === "bigint" ? BigInt : Number;
  exports.__stack_pointer.value = address(stack);
  exports.__wasm_init_tls(address(tls));
  ready();
  exports.web_serve();
}

if (globalThis.WorkerGlobalScope && self instanceof WorkerGlobalScope)
  self.onmessage = ({ data }) => serve(data, () => self.postMessage("ready"));
