// Handles that are closed one day, and work that comes one after another.
import { HologramError } from "./errors.mjs";

/** Has the handle of an object of the library, which it closes one day: after what was begun with it. */
export class Held {
  #handle;
  #registry;
  #users = 0;
  #closed = false;

  constructor(backend, handle) {
    this.#handle = handle;
    this.#registry = backend.registry;
    backend.registry.register(this, handle, this);
  }

  /** For functions of hologram/c. */
  get handle() {
    if (this.#closed) throw new HologramError(`the ${this.constructor.name.toLowerCase()} is closed`);
    return this.#handle;
  }

  get closed() {
    return this.#closed;
  }

  /** Work that waits for others, and needs the handle then, even where it was closed since. */
  async keep(work) {
    const { handle } = this;
    this.#users++;
    try {
      return await work(handle);
    } finally {
      if (--this.#users === 0 && this.#closed) this.#registry.close(handle);
    }
  }

  /** Frees what it holds, after runs in progress. Not needed: what nobody uses is freed one day. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#registry.unregister(this);
    if (this.#users === 0) this.#registry.close(this.#handle);
  }
}
if (Symbol.dispose) Held.prototype[Symbol.dispose] = Held.prototype.close;

/** Has one piece of work done at a time, in the order in which they were asked for. */
export class Turns {
  #last = Promise.resolve();

  async take(work) {
    const before = this.#last;
    let done;
    this.#last = new Promise((resolve) => (done = resolve));
    await before;
    try {
      return await work();
    } finally {
      done();
    }
  }
}
