// Makes layers.json, the answers of TensorFlow.js to small models of its layers: node make_layers.mjs FOLDER > layers.json
// FOLDER has node_modules/@tensorflow/tfjs (npm install @tensorflow/tfjs@4.22.0). layers.py runs them.
import { createRequire } from "node:module";
import { resolve } from "node:path";

const say = console.log; console.log = console.warn = () => {};
const tf = createRequire(resolve(process.argv[2], "x.js"))("@tensorflow/tfjs"), L = tf.layers;
await tf.setBackend("cpu"); await tf.ready();
let seed = 7;
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const round = (x) => Math.fround(Number(x.toPrecision(3)));
const dropped = /_(initializer|regularizer|constraint)$|^(trainable|dropout|recurrent_dropout|implementation|unroll|dtype)$/;
const lean = (x) => Array.isArray(x) ? x.map(lean) : x && typeof x === "object" ? Object.fromEntries(Object.entries(x).filter(([k]) => !dropped.test(k)).map(([k, v]) => [k, lean(v)])) : x;
const cases = {};

async function put(name, model, shapes, how = {}) {
  model.setWeights(model.getWeights().map((w, i) => tf.tensor(Float32Array.from({ length: w.size }, () => round(/variance/.test(model.weights[i].originalName) ? 0.5 + random() : random() * 1.2 - 0.6)), w.shape)));
  let saved; await model.save({ save: async (a) => { saved = a; return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: "JSON" } }; } });
  const values = shapes.map((s) => Float32Array.from({ length: s.reduce((a, b) => a * b, 1) }, (_, k) =>
    how.masked && Math.floor(k / s[s.length - 1]) % 3 === 2 ? 0.5 : how.ints ? Math.floor(random() * how.ints) : round(random() * 4 - 2)));
  const out = [model.predict(values.map((v, i) => tf.tensor(v, shapes[i])))].flat(), names = model.getWeights();
  cases[name] = { topology: lean(saved.modelTopology), weights: await Promise.all(saved.weightSpecs.map(async (w, i) => [w.name, w.shape, [...await names[i].data()].map((x) => Number(x.toPrecision(9)))])),
    inputs: model.inputs.map((t, i) => [t.sourceLayer.name, shapes[i], [...values[i]].map((x) => Number(x.toPrecision(9)))]),
    outputs: await Promise.all(out.map(async (t, i) => [model.outputs[i].sourceLayer.name, t.shape, [...await t.data()].map((x) => Number(x.toPrecision(8)))])) };
}
const chain = (name, shapes, layers, how) => put(name, tf.sequential({ layers }), shapes, how);
const I = (...inputShape) => ({ inputShape });

await chain("dense_gelu_new", [[2, 3]], [L.dense({ units: 2, activation: "gelu_new", ...I(3) }), L.layerNormalization({})]);
await chain("prelu_shared", [[1, 2, 3, 2]], [L.prelu({ sharedAxes: [1, 2], ...I(2, 3, 2) })]);
await chain("conv1d", [[1, 7, 2]], [L.conv1d({ filters: 2, kernelSize: 3, strides: 2, padding: "same", ...I(7, 2) }), L.batchNormalization({})]);
await chain("conv3d", [[1, 3, 4, 3, 1]], [L.conv3d({ filters: 2, kernelSize: 2, ...I(3, 4, 3, 1) }), L.maxPooling3d({ poolSize: [2, 1, 2], strides: 1 })]);
await chain("separable", [[1, 5, 4, 2]], [L.separableConv2d({ filters: 2, kernelSize: 3, depthMultiplier: 2, padding: "same", ...I(5, 4, 2) })]);
await chain("transposed", [[1, 2, 3, 2]], [L.conv2dTranspose({ filters: 2, kernelSize: [3, 2], strides: 2, padding: "same", ...I(2, 3, 2) })]);
await chain("transposed_3d", [[1, 2, 2, 2, 1]], [L.conv3dTranspose({ filters: 1, kernelSize: 2, strides: 2, ...I(2, 2, 2, 1) })]);
await chain("bilinear", [[1, 2, 3, 1]], [L.upSampling2d({ size: [2, 2], interpolation: "bilinear", ...I(2, 3, 1) })]);
await chain("stacked_cells", [[1, 3, 2]], [L.rnn({ cell: [L.lstmCell({ units: 2 }), L.gruCell({ units: 2 })], ...I(3, 2) })]);
await chain("one_cell", [[1, 3, 2]], [L.rnn({ cell: L.gruCell({ units: 2 }), returnSequences: true, goBackwards: true, ...I(3, 2) })]);
for (const [name, more] of [["same", { returnSequences: true }], ["strided", { strides: 2, useBias: false, recurrentActivation: "sigmoid", returnState: false }]])
  await chain(`conv_lstm_${name}`, [[1, 3, 4, 3, 1]], [L.convLstm2d({ filters: 2, kernelSize: 2, padding: "same", ...more, ...I(3, 4, 3, 1) })]);
for (const kind of ["simpleRNN", "gru", "lstm"]) {
  await chain(`masked_${kind}`, [[2, 5, 2]], [L.masking({ maskValue: 0.5, ...I(5, 2) }), L[kind]({ units: 2, returnSequences: true }), L[kind]({ units: 2 })], { masked: true });
  await chain(`masked_words_${kind}`, [[2, 5]], [L.embedding({ inputDim: 4, outputDim: 2, maskZero: true, inputLength: 5 }), L.bidirectional({ layer: L[kind]({ units: 2 }), mergeMode: "sum" })], { ints: 4 });
  const x = tf.input({ shape: [3, 2] }), h = tf.input({ shape: [2] }), c = tf.input({ shape: [2] }), first = kind === "lstm" ? [h, c] : [h];
  await put(`states_${kind}`, tf.model({ inputs: [x, ...first], outputs: L[kind]({ units: 2, returnState: true }).apply(x, { initialState: first }) }), [[1, 3, 2], [1, 2], [1, 2]].slice(0, 1 + first.length));
}
{ const i = tf.input({ shape: [3] }), inner = tf.model({ inputs: i, outputs: [L.dense({ units: 2 }).apply(i), L.dense({ units: 1 }).apply(i)], name: "two" });
  const x = tf.input({ shape: [3] }), [a, b] = inner.apply(x); await put("model_of_two_outputs", tf.model({ inputs: x, outputs: L.concatenate().apply([a, b]) }), [[2, 3]]); }
say("{\n" + Object.entries(cases).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n") + "\n}");
