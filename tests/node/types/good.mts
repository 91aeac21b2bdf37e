// A program that must compile: everything in it is right.
import {
  Batch,
  HologramError,
  Kernels,
  Language,
  Model,
  Session,
  Tensor,
  Tokenizer,
  compile,
  cpuLevel,
  kernels,
  open,
  openSync,
  openTokenizer,
  readTensor,
  readTensors,
  version,
  writeTensor,
} from "hologram";
import type { Port, Report } from "hologram";
import * as c from "hologram/c";
import * as ort from "hologram/onnxruntime";

const report: Report = await compile("m.onnx", new URL("file:///m.holo"), {
  inputShapes: { x: [1, "n", null] },
  quantize: { kind: "int8", layers: { "/head/*": "none" }, judge: (samples) => samples[0]?.[0]?.size ?? 0, maxDrop: 0.1 },
  calibration: (async function* () {
    yield { x: new Float32Array(4) };
  })(),
  progress: (stage: string, fraction: number) => console.log(stage, fraction),
  signal: new AbortController().signal,
});
const accuracy: number = report.quantization.accuracy;
const model: Model = await open(new Uint8Array(4), { threads: 2, numeric: "exact" });
const ports: readonly Port[] = model.inputs;
const { y } = await model.run(
  {
    x: [
      [1, 2],
      [3, 4],
    ],
    z: Tensor.from([1n], "int64"),
    w: null,
  },
  { outputs: ["y"], into: { y: new Float32Array(4) }, timeLimit: 1 },
);
const shape: readonly number[] = y.shape;
const typed: Float32Array = new Tensor("float32", [1, 2, 3]).data;
const big: BigInt64Array = Tensor.from([1n], "int64").data;
const { items } = model.runSync<{ items: Tensor[] }>({ s: [new Float32Array(2)] });
const session: Session = model.session({ threads: 1 });
using second = openSync("m.holo");
const steps = await session.profile((s) => s.run(new Float32Array(4)), { trace: "t.json" });
const seconds: number = steps[0]!.seconds;
const tokenizer: Tokenizer = openTokenizer(new URL("file:///m"));
const ids: number[] = tokenizer.encode("a", { special: false });
for await (const token of model.generate(ids, { maxTokens: 5, stop: "x", jsonSchema: { type: "object" }, threads: 1 })) console.log(token.text);
for await (const { step, image } of model.imagine("a", { steps: 5, scheduler: "euler", preview: true })) console.log(step, image?.data.length);
const language: Language = model.language({ texts: 2 });
const said: string = await language.generateText("a", { seed: 1n });
const logits: Float32Array = await language.read(ids);
for await (const { id } of language.chat([{ role: "user", content: said }])) console.log(id ?? logits[0]);
const batch: Batch = model.batch({ places: 4, memory: 1 << 20, threads: 1 });
for await (const token of batch.generate("a", { maxTokens: 5, minTokens: 1 })) console.log(token.text);
const several: string[] = await model.generateTexts(["a", [1, 2]], { beams: 2, beamStop: "first", context: 5 });
console.log(several, (await batch.state()).generating);
const k: Kernels = kernels.open("k.py");
await k.run("add", { a: new Float32Array(2), n: 2n });
const one: Tensor = readTensor("x.npy");
writeTensor("y.npy", readTensors("x.npz")["x"]!);
try {
  model.close();
} catch (error) {
  if (error instanceof HologramError && error.code === "BUSY") console.log(error.message);
}
const ran = await (
  await ort.InferenceSession.create("m.onnx", { executionProviders: ["cpu"] })
).run({ x: new ort.Tensor(new Float32Array(1), [1]) }, ["y"]);
const size: number = ran["y"]!.size + c.holo_op_count() + c.HoloDtype.F32;
console.log(accuracy, ports, shape, typed, big, items, second.closed, seconds, one, size, version, cpuLevel);
