// Pictures of texts, made step by step.
import { HologramError, aborted } from "./errors.mjs";
import { Held } from "./held.mjs";
import { Tensor } from "./tensor.mjs";

const texts = ["negative", "scheduler"],
  numbers = ["steps", "guidance", "seed", "width", "height"];
const options = [...texts, ...numbers, "preview", "signal"];

function check(prompt, given) {
  if (typeof prompt !== "string") throw new HologramError(`a prompt is a string, not ${prompt === null ? "null" : typeof prompt}`);
  for (const [name, value] of Object.entries(given)) {
    if (!options.includes(name)) throw new HologramError(`a picture has no option ${JSON.stringify(name)}; it has ${options.join(", ")}`);
    if (value === undefined) continue;
    if (texts.includes(name) && typeof value !== "string") throw new HologramError(`${name} is a string, not ${typeof value}`);
    if (numbers.includes(name) && !(typeof value === "number" && value >= 0)) throw new HologramError(`${name} is a number from 0 on, not ${String(value)}`);
    if (numbers.includes(name) && name !== "guidance" && !Number.isSafeInteger(value)) throw new HologramError(`${name} is a whole number, not ${value}`);
  }
}

/** What a model says of its pictures: {scheduler, schedulers, steps, guidance, width, height}; null: it makes none. */
export const settingsOf = (backend, model) => backend.native.imagine_defaults(model);

/**
 * Makes a picture, and yields {step, steps} behind each step; with {preview: true} also {image}, the picture so far, and in any case at the
 * end: a Tensor of uint8, [height, width, 3].
 */
export async function* imagine(backend, model, pool, prompt, given) {
  check(prompt, given);
  const { native } = backend,
    { signal, preview } = given,
    steps = given.steps ?? settingsOf(backend, model)?.steps,
    picture = new Held(backend, native.picture_create(model, pool, { prompt, ...given })),
    work = (name) => {
      if (signal?.aborted) throw aborted(signal);
      return picture.keep((handle) => backend.startText(handle, (done) => native[name](handle, done)));
    };
  try {
    for (let step = 1; ; step++) {
      const isDone = await work("picture_step");
      if (!preview && !isDone) yield { step, steps };
      else {
        const { width, height, data } = await work("picture_see");
        yield { step, steps, image: new Tensor("uint8", new Uint8Array(data), [height, width, 3]) };
      }
      if (isDone) return;
    }
  } finally {
    picture.close();
  }
}
