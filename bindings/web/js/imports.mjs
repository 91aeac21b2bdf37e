// What modules import. Threads load this alone.

/** Seconds since 1970, as clocks here show them. */
const localSeconds = () => Date.now() / 1000 - 60 * new Date().getTimezoneOffset();

export function imports(memory, cores, progress = () => {}) {
  const none = () => 8; // EBADF: there are no files
  return {
    env: { memory },
    hologram: { now: () => performance.now() / 1000, cores: () => cores, date: localSeconds, progress },
    wasi_snapshot_preview1: new Proxy({}, { get: () => none }),
  };
}
