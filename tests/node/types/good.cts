// The same for CommonJS.
import hologram = require("hologram");
import ort = require("hologram/onnxruntime");

async function main(): Promise<void> {
  const model: hologram.Model = await hologram.open("m.holo");
  const { y } = await model.run(new Float32Array(4));
  console.log(y.dtype, (await ort.InferenceSession.create("m.onnx")).inputNames);
}
void main();
