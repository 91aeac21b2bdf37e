// first_run.mjs - compile a model, open it, read a digit. usage: node first_run.mjs MODEL.onnx IMAGE.npy
import { compile, open, readTensor } from "hologram";

const [path, picture] = process.argv.slice(2);
const report = await compile(path, "digits.holo");
console.log(`compiled in ${report.seconds.toFixed(2)} s: ${report.steps} steps, ${report.archiveBytes} bytes`);
const model = await open("digits.holo");
for (const { name, dtype, shape } of model.inputs) console.log(`input ${name}: ${dtype}[${shape?.join(", ")}]`);
const { probabilities } = await model.run({ image: readTensor(picture) });
const best = probabilities.data.indexOf(Math.max(...probabilities.data));
console.log(`it is a ${best}, by ${(100 * probabilities.data[best]).toFixed(1)} %`);
