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
// ---- each layer of TensorFlow.js, with settings that are not the usual ones
for (const name of "elu hardSigmoid linear relu relu6 selu sigmoid softmax softplus softsign tanh logSoftmax swish mish gelu gelu_new".split(" "))
  await chain(`activation_${name}`, [[2, 3]], [L.activation({ activation: name, ...I(3) })]);
await chain("dense_of_steps", [[2, 3, 4]], [L.dense({ units: 2, useBias: false, activation: "selu", ...I(3, 4) })]);
await chain("dense_of_images", [[1, 2, 2, 3]], [L.dense({ units: 2, activation: "softmax", ...I(2, 2, 3) })]);
for (const [name, layer] of Object.entries({ elu: () => L.elu({}), leaky: () => L.leakyReLU({ alpha: 0.4 }), leaky_usual: () => L.leakyReLU({}), relu_most: () => L.reLU({ maxValue: 0.7 }), relu: () => L.reLU({}), softmax_axis: () => L.softmax({ axis: -1 }), thresholded: () => L.thresholdedReLU({ theta: 0.6 }), prelu: () => L.prelu({}),
  dropout: () => L.dropout({ rate: 0.5 }), alpha_dropout: () => L.alphaDropout({ rate: 0.5 }), gaussian_dropout: () => L.gaussianDropout({ rate: 0.5 }), gaussian_noise: () => L.gaussianNoise({ stddev: 1 }), spatial_dropout: () => L.spatialDropout1d({ rate: 0.5 }),
  flatten: () => L.flatten(), permute: () => L.permute({ dims: [2, 1] }), reshape: () => L.reshape({ targetShape: [2, -1] }), rescaling: () => L.rescaling({ scale: 0.5, offset: -1 }), norm: () => L.batchNormalization({ epsilon: 0.1, scale: false }), norm_center: () => L.batchNormalization({ center: false }),
  layer_norm: () => L.layerNormalization({ axis: [1, 2], epsilon: 0.1 }), layer_norm_plain: () => L.layerNormalization({ center: false, scale: false }), time_dense: () => L.timeDistributed({ layer: L.dense({ units: 2, activation: "tanh" }) }) })) {
  const first = tf.input({ shape: [3, 4] }); await put(name, tf.model({ inputs: first, outputs: layer().apply(first) }), [[2, 3, 4]]);
}
await chain("flatten_first", [[1, 2, 2, 3]], [L.flatten({ dataFormat: "channelsFirst", ...I(2, 2, 3) })]);
await chain("repeat", [[2, 3]], [L.repeatVector({ n: 4, ...I(3) })]);
await chain("embedding", [[2, 3]], [L.embedding({ inputDim: 5, outputDim: 2, inputLength: 3 })], { ints: 5 });
for (const format of ["channelsLast", "channelsFirst"]) {
  const more = { dataFormat: format, ...I(4, 6, 5) }, tag = format === "channelsLast" ? "" : "_first", shapes = [[1, 4, 6, 5]];
  await chain(`max_pool${tag}`, shapes, [L.maxPooling2d({ poolSize: [3, 2], strides: [2, 1], padding: "same", ...more })]);
  await chain(`average_pool${tag}`, shapes, [L.averagePooling2d({ poolSize: 3, strides: 2, padding: "same", ...more })]);
  await chain(`global_max${tag}`, shapes, [L.globalMaxPooling2d(more)]); await chain(`global_average${tag}`, shapes, [L.globalAveragePooling2d(more)]);
  await chain(`padding${tag}`, shapes, [L.zeroPadding2d({ padding: [[1, 2], [0, 3]], ...more })]); await chain(`cropping${tag}`, shapes, [L.cropping2D({ cropping: [[1, 1], [0, 2]], ...more })]);
  await chain(`up_sampling${tag}`, shapes, [L.upSampling2d({ size: [2, 3], ...more })]);
  await chain(`conv2d${tag}`, shapes, [L.conv2d({ filters: 3, kernelSize: [3, 2], strides: [1, 1], dilationRate: [1, 2], padding: "same", activation: "relu6", ...more })]);
  await chain(`conv2d_valid${tag}`, shapes, [L.conv2d({ filters: 2, kernelSize: 2, strides: 2, useBias: false, ...more })]);
  await chain(`max_pool_3d${tag}`, [[1, 3, 4, 5, 2]], [L.maxPooling3d({ poolSize: 2, padding: "same", dataFormat: format, ...I(3, 4, 5, 2) })]);
}
await chain("transposed_valid", [[1, 3, 2, 2]], [L.conv2dTranspose({ filters: 3, kernelSize: 3, strides: [2, 1], useBias: false, activation: "elu", ...I(3, 2, 2) })]);
await chain("depthwise", [[1, 5, 4, 3]], [L.depthwiseConv2d({ kernelSize: [3, 2], depthMultiplier: 2, strides: 2, padding: "same", activation: "relu", ...I(5, 4, 3) })]);
await chain("depthwise_dilated", [[1, 6, 6, 2]], [L.depthwiseConv2d({ kernelSize: 2, dilationRate: 2, useBias: false, ...I(6, 6, 2) })]);
await chain("separable_strided", [[1, 6, 5, 2]], [L.separableConv2d({ filters: 3, kernelSize: [2, 3], strides: 2, useBias: false, activation: "tanh", ...I(6, 5, 2) })]);
await chain("conv1d_dilated", [[1, 6, 2]], [L.conv1d({ filters: 2, kernelSize: 3, dilationRate: 2, padding: "same", ...I(6, 2) })]);
await chain("conv3d_same", [[1, 3, 4, 3, 2]], [L.conv3d({ filters: 2, kernelSize: [2, 3, 1], strides: [1, 2, 1], padding: "same", activation: "relu", ...I(3, 4, 3, 2) }), L.averagePooling3d({ poolSize: [2, 1, 2], strides: 1 })]);
for (const [name, layer] of Object.entries({ max_1d: L.maxPooling1d({ poolSize: 2, strides: 2, padding: "same", ...I(5, 3) }), average_1d: L.averagePooling1d({ poolSize: 3, strides: 2, padding: "same", ...I(5, 3) }), global_max_1d: L.globalMaxPooling1d(I(5, 3)), global_average_1d: L.globalAveragePooling1d(I(5, 3)) }))
  await chain(name, [[2, 5, 3]], [layer]);
for (const kind of ["add", "average", "maximum", "minimum", "multiply"]) {
  const ins = [tf.input({ shape: [2, 3] }), tf.input({ shape: [2, 3] }), tf.input({ shape: [1, 3] })]; await put(`merge_${kind}`, tf.model({ inputs: ins, outputs: L[kind]().apply(ins) }), [[2, 2, 3], [2, 2, 3], [2, 1, 3]]);
}
{ const ins = [tf.input({ shape: [2, 3] }), tf.input({ shape: [4, 3] })]; await put("concatenate_axis", tf.model({ inputs: ins, outputs: L.concatenate({ axis: 1 }).apply(ins) }), [[2, 2, 3], [2, 4, 3]]); }
for (const [name, axes, normalize] of [["dot", 1, false], ["dot_normal", -1, true]]) { const ins = [tf.input({ shape: [3] }), tf.input({ shape: [3] })]; await put(name, tf.model({ inputs: ins, outputs: L.dot({ axes, normalize }).apply(ins) }), [[2, 3], [2, 3]]); }
{ const ins = [tf.input({ shape: [2, 3] }), tf.input({ shape: [3, 4] })]; await put("dot_axes", tf.model({ inputs: ins, outputs: L.dot({ axes: [2, 1] }).apply(ins) }), [[2, 2, 3], [2, 3, 4]]); }
for (const mode of ["concat", "mul", "ave", "sum"]) await chain(`both_ways_${mode}`, [[2, 4, 2]], [L.bidirectional({ layer: L.lstm({ units: 3, returnSequences: true }), mergeMode: mode, ...I(4, 2) })]);
await chain("both_ways_last", [[2, 4, 2]], [L.bidirectional({ layer: L.gru({ units: 2 }), mergeMode: "concat", ...I(4, 2) })]);
await chain("lstm_backwards", [[2, 4, 2]], [L.lstm({ units: 3, goBackwards: true, returnSequences: true, recurrentActivation: "sigmoid", activation: "relu", useBias: false, ...I(4, 2) })]);
await chain("gru_sigmoid", [[2, 4, 2]], [L.gru({ units: 3, recurrentActivation: "sigmoid", returnSequences: true, ...I(4, 2) }), L.simpleRNN({ units: 2, activation: "relu", goBackwards: true })]);
await chain("time_conv", [[1, 3, 4, 4, 1]], [L.timeDistributed({ layer: L.conv2d({ filters: 2, kernelSize: 2, activation: "relu" }), ...I(3, 4, 4, 1) }), L.timeDistributed({ layer: L.maxPooling2d({ poolSize: 2 }) }), L.timeDistributed({ layer: L.flatten() }), L.lstm({ units: 2 })]);
await chain("mask_through", [[2, 5, 2]], [L.masking({ maskValue: 0.5, ...I(5, 2) }), L.dense({ units: 3 }), L.activation({ activation: "tanh" }), L.dropout({ rate: 0.1 }), L.lstm({ units: 2 })], { masked: true });
{ const x = tf.input({ shape: [6, 6, 2] }), y = L.conv2d({ filters: 2, kernelSize: 3, padding: "same" }).apply(x), n = L.batchNormalization().apply(y), r = L.add().apply([L.activation({ activation: "relu" }).apply(n), x]); // a layer that is used twice
  const shared = L.dense({ units: 3 }), g = L.globalAveragePooling2d({}).apply(r); await put("residual_shared", tf.model({ inputs: x, outputs: L.concatenate().apply([shared.apply(g), shared.apply(L.globalMaxPooling2d({}).apply(r))]) }), [[2, 6, 6, 2]]); }
for (const activation of ["linear", "softsign", "elu"]) await chain(`lstm_${activation}`, [[1, 3, 2]], [L.lstm({ units: 2, activation, returnSequences: true, ...I(3, 2) }), L.gru({ units: 2, activation }), L.reshape({ targetShape: [1, 2] }), L.simpleRNN({ units: 2, activation })]);
{ const x = tf.input({ shape: [3, 2] }); await put("both_ways_apart", tf.model({ inputs: x, outputs: L.bidirectional({ layer: L.lstm({ units: 2, returnSequences: true }), mergeMode: null }).apply(x) }), [[1, 3, 2]]); }
await chain("model_in_model", [[2, 3]], [tf.sequential({ layers: [L.dense({ units: 4, activation: "relu", ...I(3) }), L.batchNormalization({})] }), L.dense({ units: 2 })]);
say("{\n" + Object.entries(cases).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n") + "\n}");
