// The package `hologram` in Node.
import { backend } from "./backend.mjs";
import { Batch } from "./batch.mjs";
import { HologramError } from "./errors.mjs";
import { createFace } from "./face.mjs";
import { imageData, imageTensor } from "./images.mjs";
import { Model, Session } from "./model.mjs";
import { Kernels } from "./kernels.mjs";
import { Tensor } from "./tensor.mjs";
import { Language, Tokenizer } from "./text.mjs";

const face = createFace(backend);

export const { open, openSync, compile, readTensor, readTensors, writeTensor, openTokenizer, kernels, version, cpuLevel } = face;
/** Nothing is kept here: models are files. */
export const clearCache = async () => false;
export { Batch, HologramError, Kernels, Language, Model, Session, Tensor, Tokenizer, imageData, imageTensor };
