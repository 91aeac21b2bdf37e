// Errors: one class, with the status of the C library as a word.
import { HoloStatus } from "./enums.mjs";

const codes = new Map(Object.entries(HoloStatus).map(([name, value]) => [value, name]));

/** What went wrong: `code` is the status of the C library, as "BAD_INPUT", and the message is the library's. */
export class HologramError extends Error {
  constructor(message, status = "BAD_ARGUMENT", options = undefined) {
    super(message, options);
    this.code = typeof status === "number" ? (codes.get(status) ?? "INTERNAL") : status;
  }
}
Object.defineProperty(HologramError.prototype, "name", { value: "HologramError", configurable: true, writable: true });

/** The error of a run or a compile that an AbortSignal has stopped. */
export function aborted(signal) {
  return new HologramError("it was stopped by its signal", "CANCELLED", { cause: signal.reason });
}

/** A function that only Node's library has. */
export function only(native, name, what) {
  if (native[name]) return native[name];
  throw new HologramError(`${what} not in the package for browsers yet: use Node`, "UNSUPPORTED");
}
