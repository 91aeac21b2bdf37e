// Compiles and draws for the page that looks into models, so that it stays responsive: {id, name, args} becomes {id, result} or {id, error}.
import * as compiling from "./hologram/compiling.mjs";

self.onmessage = async ({ data: { id, name, args } }) => {
  const progress = (_, part) => self.postMessage({ id, part });
  try {
    self.postMessage({ id, result: await compiling[name](...args.slice(0, -1), { ...args.at(-1), progress }) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
