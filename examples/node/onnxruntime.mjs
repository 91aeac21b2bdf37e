// onnxruntime.mjs - a program written for onnxruntime-node: only its import differs. usage: node onnxruntime.mjs MODEL.onnx
import * as ort from "hologram/onnxruntime";

const session = await ort.InferenceSession.create(process.argv[2]);
const image = new ort.Tensor("float32", new Float32Array(64).fill(0.5), [1, 1, 8, 8]);
const results = await session.run({ [session.inputNames[0]]: image });
const { dims, data } = results[session.outputNames[0]];
console.log(dims, Array.from(data, (value) => value.toFixed(3)).join(" "));
await session.release();
