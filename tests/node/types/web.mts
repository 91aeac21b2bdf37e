// A program for browsers that must compile.
import { HologramError, Model, Tensor, clearCache, compile, imageData, imageTensor, open, setBase } from "hologram";
import type { RemoteModel } from "hologram";
import * as ort from "hologram/onnxruntime";

const model: Model = await open(new URL("https://example.org/m.holo"), { threads: 2, onprogress: ({ loaded, total }) => console.log(loaded, total) });
const remote: RemoteModel = await open(new Blob([]), { worker: true, signal: new AbortController().signal });
const canvas = document.createElement("canvas");
const { y } = await remote.run({ x: imageTensor(canvas, { width: 8 }) }, { signal: AbortSignal.timeout(5) });
const shape: readonly number[] = y.shape;
for await (const token of remote.generate("a", { maxTokens: 5 })) console.log(token.text);
for await (const { image } of model.imagine("a", { seed: 1 })) if (image) canvas.getContext("2d")?.putImageData(imageData(image), 0, 0);
const { archive } = await compile(new Uint8Array(4), { numeric: "exact" });
const session = await ort.InferenceSession.create(archive);
const { data } = (await session.run({ x: new ort.Tensor("float32", new Float32Array(4), [4]) }))["y"]!;
setBase("/assets/hologram/");
console.log(shape, data, await clearCache(), new HologramError("a").code, Tensor.from([1]).data);
const pixels = (await ort.Tensor.fromImage(new ImageData(2, 2), { tensorFormat: "BGR", norm: { mean: [1, 2, 3] } })).toImageData({ format: "BGR" });
await ort.InferenceSession.create("m.onnx", { externalData: ["m.data", { path: "n.data", data: new Uint8Array(4) }] });
console.log(pixels.width);
