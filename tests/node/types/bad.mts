// A program that must not compile: each line that says so is wrong, and no other.
import { Tensor, compile, open } from "hologram";
import * as ort from "hologram/onnxruntime";

const model = await open("m.holo", { thread: 1 }); // wrong
await open(5); // wrong
await compile("m.onnx", 5); // wrong
await compile("m.onnx", "m.holo", { numeric: "fast" }); // wrong
await compile("m.onnx", "m.holo", { quantize: { kind: "int9" } }); // wrong
new Tensor("float33", new Float32Array(1)); // wrong
const data: Float32Array = Tensor.from([1n], "int64").data; // wrong
model.inputs[0].shape = [1]; // wrong
await model.run({ x: new Date() }); // wrong
model.runSync({ x: 1 }, { signal: new AbortController().signal }); // wrong
new ort.Tensor("float99", new Int8Array(1)); // wrong
await model.generateText(5); // wrong
await model.generateText("a", { beams: 2, beamStop: "soon" }); // wrong
model.batch({ place: 2 }); // wrong
console.log(data, model.outputs[0].name);
