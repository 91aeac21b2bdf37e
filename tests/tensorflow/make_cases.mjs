#!/usr/bin/env node
// Makes cases.txt: one small TensorFlow graph for each operator, with inputs and the answers that TensorFlow.js gives.
// usage: make_cases.mjs FOLDER > cases.txt      FOLDER/node_modules has @tensorflow/tfjs (npm install @tensorflow/tfjs@4.22.0)
//
// A case is a name, a graph as model.json has it (one line), inputs and outputs: "in|out NAME TYPE SIZES : NUMBERS".
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { random, round, size, F, P, I, N, B, C, K, fixed, b64, attr, i, f, b, s, is, ss, t, types, window, mask, cases, add, int, hand, chain, node, quint, clip, sigmoid, boxes, scores, real } from "./case_kit.mjs";

console.warn = () => {}; // it says that a model could have been run otherwise
const tf = createRequire(join(resolve(process.argv[2] ?? "."), "x"))("@tensorflow/tfjs");
await tf.setBackend("cpu"); await tf.ready();

for (const op of "Abs Ceil Floor Cos Sin Tan Exp Neg Relu Relu6 Elu Selu Sigmoid Sign Square Tanh Cosh Sinh Softplus Erf Expm1 Round Atan Asinh IsNan IsFinite IsInf".split(" ")) add(op, [F(2, 3)]);
for (const op of "Acos Asin Atanh Sqrt Rsqrt Log Log1p Reciprocal".split(" ")) add(op, [P(5)]);
add("Acosh", [{ type: "float32", shape: [3], data: [1.5, 2, 7] }]);
add("LeakyRelu", [F(6)], { alpha: f(0.1) }); add("Prelu", [F(2, 3), fixed(P(3))]);
for (const op of "Add AddV2 Sub Mul RealDiv Div Maximum Minimum SquaredDifference Atan2 DivNoNan FloorMod".split(" ")) add(op, [F(2, 3), F(3)]);
add("Pow", [P(2, 3), F(3)]);
for (const op of "Add Sub Mul Maximum Minimum FloorDiv FloorMod".split(" ")) add(op, [I(9, 2, 3), { type: "int32", shape: [3], data: [3, -2, 4] }]);
add("DivNoNan", [F(3), { type: "float32", shape: [3], data: [0, 2, -1] }]);
for (const op of "Equal NotEqual Greater GreaterEqual Less LessEqual".split(" ")) add(op, [N(3, 2, 4), N(3, 4)]);
for (const op of "LogicalAnd LogicalOr".split(" ")) add(op, [B(2, 3), B(3)]);
add("LogicalNot", [B(4)]);
add("AddN", [F(2, 2), F(2, 2), F(2, 2)], { N: i(3) }); add("BiasAdd", [F(2, 3, 4), fixed(F(4))]);
for (const op of "Sum Mean Max Min Prod".split(" ")) { add(op, [F(2, 3, 4), C([1])]); add(op, [F(2, 3), C([0, -1])], { keep_dims: b(true) }); }
for (const op of "All Any".split(" ")) add(op, [B(3, 4), C([1])]);
add("EuclideanNorm", [F(2, 3), C([1])]);
for (const op of "ArgMax ArgMin".split(" ")) add(op, [F(3, 4), C(1)]);
for (const op of "Cumsum Cumprod".split(" ")) { add(op, [F(2, 4), C(1)]); add(op, [F(2, 4), C(1)], { exclusive: b(true), reverse: b(true) }); }
add("Softmax", [F(2, 5)]); add("LogSoftmax", [F(2, 5)]);
add("MatMul", [F(3, 4), F(4, 2)]); add("MatMul", [F(4, 3), F(2, 4)], { transpose_a: b(true), transpose_b: b(true) });
add("BatchMatMulV2", [F(2, 3, 4), F(2, 5, 4)], { adj_y: b(true) }); add("BatchMatMul", [F(2, 3, 4), F(2, 4, 5)]);
add("_FusedMatMul", [F(3, 4), fixed(F(4, 2)), fixed(F(2))], { fused_ops: ss("BiasAdd", "Relu"), num_args: i(1) });
add("Einsum", [F(2, 3, 4), F(4, 5)], { equation: s("abc,cd->abd") });

for (const padding of ["SAME", "VALID"]) {
  add("Conv2D", [F(1, 6, 5, 2), fixed(F(3, 3, 2, 4))], window([2, 2], padding));
  add("Conv2D", [F(1, 7, 7, 2), fixed(F(3, 3, 2, 3))], window([1, 1], padding, { dilations: is(1, 2, 2, 1) }));
  add("DepthwiseConv2dNative", [F(2, 6, 6, 3), fixed(F(3, 3, 3, 2))], window([2, 2], padding));
  add("MaxPool", [F(1, 5, 6, 2)], window([2, 2], padding, { ksize: is(1, 3, 3, 1) }));
  add("AvgPool", [F(1, 5, 6, 2)], window([2, 2], padding, { ksize: is(1, 3, 3, 1) }));
  add("MaxPool3D", [F(1, 4, 5, 4, 2)], { strides: is(1, 2, 2, 2, 1), ksize: is(1, 2, 2, 2, 1), padding: s(padding) });
  add("AvgPool3D", [F(1, 4, 5, 4, 2)], { strides: is(1, 2, 2, 2, 1), ksize: is(1, 2, 2, 2, 1), padding: s(padding) });
  add("Conv3D", [F(1, 4, 5, 4, 2), fixed(F(2, 2, 2, 2, 3))], { strides: is(1, 1, 1, 1, 1), padding: s(padding), dilations: is(1, 1, 1, 1, 1), data_format: s("NDHWC") });
}
add("Conv2D", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 2))], window([1, 1], "EXPLICIT", { explicit_paddings: is(0, 0, 1, 2, 2, 0, 0, 0) }));
add("Conv2DBackpropInput", [C([1, 8, 8, 3]), fixed(F(3, 3, 3, 2)), F(1, 4, 4, 2)], window([2, 2], "SAME"));
add("Conv2DBackpropInput", [C([1, 9, 9, 3]), fixed(F(3, 3, 3, 2)), F(1, 4, 4, 2)], window([2, 2], "VALID"));
add("_FusedConv2D", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 3)), fixed(F(3))], window([1, 1], "SAME", { fused_ops: ss("BiasAdd", "Relu6"), num_args: i(1) }));
add("_FusedConv2D", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 3)), fixed(F(3)), fixed(P(3))], window([1, 1], "SAME", { fused_ops: ss("BiasAdd", "Prelu"), num_args: i(2) }));
add("_FusedConv2D", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 3)), fixed(F(3))], window([1, 1], "SAME", { fused_ops: ss("BiasAdd", "LeakyRelu"), num_args: i(1), leakyrelu_alpha: f(0.3) }));
add("FusedDepthwiseConv2dNative", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 1)), fixed(F(2))], window([1, 1], "SAME", { dilations: is(1, 1, 1, 1), fused_ops: ss("BiasAdd", "Elu"), num_args: i(1) }));
for (const op of ["FusedBatchNorm", "FusedBatchNormV3"]) add(op, [F(2, 3, 3, 4), fixed(P(4)), fixed(F(4)), fixed(F(4)), fixed(P(4))], { epsilon: f(0.001), is_training: b(false) });
add("LRN", [F(1, 3, 3, 6)], { depth_radius: i(2), bias: f(1.5), alpha: f(0.3), beta: f(0.7) });
add("MaxPoolWithArgmax", [F(1, 4, 4, 2)], window([2, 2], "VALID", { ksize: is(1, 2, 2, 1), include_batch_in_index: b(false) }), 2);
for (const how of [{}, { align_corners: b(true) }, { half_pixel_centers: b(true) }]) {
  add("ResizeBilinear", [F(1, 3, 4, 2), C([5, 7])], how);
  add("ResizeNearestNeighbor", [F(1, 3, 4, 2), C([5, 7])], how);
  add("ResizeBilinear", [F(1, 6, 6, 2), C([4, 3])], how);
}
add("CropAndResize", [F(2, 5, 6, 3), K([0, 0, 1, 1, 0.1, 0.2, 0.7, 0.9, -0.2, 0.3, 0.5, 1.3], [3, 4]), C([0, 1, 1]), C([3, 4])], { method: s("bilinear"), extrapolation_value: f(0.5) });
add("CropAndResize", [F(1, 5, 6, 3), K([0.1, 0.2, 0.7, 0.9], [1, 4]), C([0]), C([1, 1])], { method: s("bilinear"), extrapolation_value: f(0) });
add("NonMaxSuppressionV2", [boxes, scores, C(3), K(0.5)]); add("NonMaxSuppressionV3", [boxes, scores, C(3), K(0.5), K(0.7)]);
add("NonMaxSuppressionV4", [boxes, scores, C(4), K(0.5), K(0.1)], { pad_to_max_output_size: b(true) }, 2);
add("NonMaxSuppressionV5", [boxes, scores, C(4), K(0.5), K(0.1), K(0)], {}, 2);

add("Reshape", [F(2, 6), C([3, -1])]); add("Squeeze", [F(1, 3, 1, 2)], { squeeze_dims: is(0) }); add("Squeeze", [F(1, 3, 1, 2)]);
add("ExpandDims", [F(2, 3), C(-1)]); add("Transpose", [F(2, 3, 4), C([2, 0, 1])]); add("Tile", [F(2, 3), C([2, 2])]);
add("ConcatV2", [F(2, 3), F(2, 1), C(1)], { N: i(2) }); add("Pack", [F(2, 3), F(2, 3)], { N: i(2), axis: i(1) });
add("Unpack", [F(2, 3)], { num: i(3), axis: i(1) }, 3); add("Split", [C(1), F(2, 6)], { num_split: i(3) }, 3);
add("SplitV", [F(2, 6), C([1, 2, 3]), C(1)], { num_split: i(3) }, 3); add("Slice", [F(3, 5), C([1, 2]), C([2, -1])]);
add("StridedSlice", [F(4, 5, 6), C([1, 0, -1]), C([3, 4, 0]), C([1, 2, -2])], mask(0, 0, 0, 0, 0));
add("StridedSlice", [F(4, 5, 6), C([1, 0, 2]), C([3, 4, 3]), C([1, 2, 1])], mask(2, 2, 0, 0, 0));
add("StridedSlice", [F(4, 5, 6), C([0, 1, 0]), C([0, 3, 0]), C([1, 1, 1])], mask(0, 0, 1, 4, 0));
add("StridedSlice", [F(4, 5), C([-1]), C([0]), C([1])], mask(0, 0, 0, 0, 1));
add("Fill", [C([2, 3]), K(1.5)]); add("ZerosLike", [F(2, 2)]); add("OnesLike", [F(2, 2)]);
add("Range", [C(2), C(11), C(3)]); add("LinSpace", [K(0), K(1), C(5)]);
add("OneHot", [{ type: "int32", shape: [4], data: [0, 2, -1, 5] }, C(3), K(5), K(-1)], { axis: i(-1) });
add("Pad", [F(2, 3), C([1, 0, 0, 2], [2, 2])]); add("PadV2", [F(2, 3), C([1, 0, 0, 2], [2, 2]), K(7)]);
add("MirrorPad", [F(3, 4), C([1, 1, 2, 0], [2, 2])], { mode: s("REFLECT") }); add("MirrorPad", [F(3, 4), C([1, 1, 2, 0], [2, 2])], { mode: s("SYMMETRIC") });
add("ReverseV2", [F(3, 4), C([1])]); add("BroadcastTo", [F(3), C([2, 3])]); add("Cast", [F(5)], { DstT: t("DT_INT32"), SrcT: t("DT_FLOAT") });
add("Cast", [I(2, 5)], { DstT: t("DT_FLOAT") }); add("Shape", [F(2, 3)]); add("Size", [F(2, 3)]); add("Rank", [F(2, 3)]);
add("GatherV2", [F(4, 3), N(4, 2, 2), C(0)]); add("GatherV2", [F(2, 4, 3), N(4, 2, 2), C(1)], { batch_dims: i(1) }); add("Gather", [F(4, 3), N(4, 3)]);
add("GatherNd", [F(3, 4, 2), { type: "int32", shape: [2, 2], data: [0, 1, 2, 3] }]);
add("ScatterNd", [{ type: "int32", shape: [3, 1], data: [1, 3, 1] }, F(3, 2), C([4, 2])]);
add("TensorScatterUpdate", [F(5), { type: "int32", shape: [2, 1], data: [3, 0] }, F(2)]);
add("SparseToDense", [{ type: "int32", shape: [2, 2], data: [0, 1, 2, 0] }, C([3, 3]), F(2), K(-1)]);
add("Where", [B(3, 4)]); add("Select", [B(3, 2), F(3, 2), F(3, 2)]); add("SelectV2", [B(3, 1), F(3, 2), F(2)]);
add("TopKV2", [F(2, 6), C(3)], { sorted: b(true) }, 2); add("Unique", [{ type: "int32", shape: [6], data: [3, 1, 3, 2, 1, 9] }], {}, 2);
add("ListDiff", [{ type: "int32", shape: [6], data: [1, 2, 3, 4, 5, 2] }, { type: "int32", shape: [2], data: [2, 5] }], {}, 2);
add("LowerBound", [K([0, 3, 3, 9, 10], [1, 5]), K([1, 3, 11], [1, 3])]); add("UpperBound", [K([0, 3, 3, 9, 10], [1, 5]), K([1, 3, 11], [1, 3])]);
add("DenseBincount", [{ type: "int32", shape: [6], data: [1, 1, 3, 0, 3, 1] }, C(5), K([], [0])]);
add("DepthToSpace", [F(1, 2, 3, 8)], { block_size: i(2), data_format: s("NHWC") });
add("SpaceToBatchND", [F(1, 4, 6, 2), C([2, 3]), C([0, 0, 0, 0], [2, 2])]); add("SpaceToBatchND", [F(1, 3, 4, 1), C([2, 2]), C([1, 0, 0, 0], [2, 2])]);
add("BatchToSpaceND", [F(4, 2, 2, 1), C([2, 2]), C([1, 0, 0, 1], [2, 2])]); add("MatrixBandPart", [F(2, 4, 5), C(1), C(1)]); add("MatrixBandPart", [F(4, 4), C(0), C(0)]); // it takes one for both
add("SparseSegmentMean", [F(5, 3), C([0, 2, 4, 1]), C([0, 0, 1, 3])]); add("SparseSegmentSum", [F(5, 3), C([0, 2, 4, 1]), C([0, 0, 1, 3])]);
add("SparseReshape", [C([0, 0, 1, 2, 2, 1], [3, 2]), C([3, 4]), C([2, -1])], {}, 2);
add("SparseFillEmptyRows", [C([0, 1, 2, 0, 2, 2], [3, 2]), F(3), C([4, 3]), K(9)], {}, 4);
for (const padding of ["SAME", "VALID"]) for (const stride of [1, 2]) add("Dilation2D", [F(1, 5, 6, 2), fixed(F(3, 2, 2))], { strides: is(1, stride, stride, 1), rates: is(1, 1, 1, 1), padding: s(padding) });
for (const how of ["BILINEAR", "NEAREST"]) for (const fill of ["CONSTANT", "NEAREST", "REFLECT"])
  add("ImageProjectiveTransformV3", [F(1, 4, 5, 2), K([0.9, 0.21, 0.33, -0.17, 1.12, -0.4, 0.01, 0.02], [1, 8]), C([4, 6]), K(0.5)], { interpolation: s(how), fill_mode: s(fill) });
hand("RaggedRange", [int(0, 5, 8), int(3, 5, 12), int(1, 1, 2)], { T: t("DT_INT32"), Tsplits: t("DT_INT32") }, int(0, 3, 3, 5), int(0, 1, 2, 8, 10));
hand("RaggedGather", [int(0, 3, 3, 7), real([7], 0, 1, 2, 3, 4, 5, 6), int(2, 1, 0)], { PARAMS_RAGGED_RANK: i(1), Tsplits: t("DT_INT32") }, int(0, 4, 4, 7), real([7], 3, 4, 5, 6, 0, 1, 2));
hand("RaggedTensorToTensor", [C([3, 3]), real([6], 1, 2, 3, 4, 5, 6), K(9), int(0, 1, 1, 6)], { row_partition_types: ss("ROW_SPLITS") }, real([3, 3], 1, 9, 9, 9, 9, 9, 2, 3, 4));
hand("RaggedTensorToTensor", [C([-1, -1]), real([4], 1, 2, 3, 4), K(0.5), C(3), int(0, 0, 2, 2)], { row_partition_types: ss("FIRST_DIM_SIZE", "VALUE_ROWIDS") }, real([3, 2], 1, 2, 0.5, 0.5, 3, 4));
hand("DynamicStitch", [C([3, 0]), C([1, 2]), real([2, 2], 1, 2, 3, 4), real([2, 2], 5, 6, 7, 8)], { N: i(2) }, real([4, 2], 3, 4, 5, 6, 7, 8, 1, 2));
hand("DynamicPartition", [real([4], 1, 2, 3, 4), C([1, 0, 1, 1])], { num_partitions: i(2) }, real([1], 2), real([3], 1, 3, 4));
hand("SegmentMax", [real([3, 2], 1, 5, 4, 2, -1, -2), C([0, 0, 1])], {}, real([2, 2], 4, 5, -1, -2));
hand("SegmentMin", [real([3, 2], 1, 5, 4, 2, -1, -2), C([0, 0, 1])], {}, real([2, 2], 1, 2, -1, -2));
hand("UnsortedSegmentProd", [real([3], 2, 5, 4), C([2, 0, 2]), C(3)], {}, real([3], 5, 1, 8));
hand("ExtractImagePatches", [real([1, 3, 3, 1], 1, 2, 3, 4, 5, 6, 7, 8, 9)], { ksizes: is(1, 2, 2, 1), strides: is(1, 1, 1, 1), rates: is(1, 1, 1, 1), padding: s("VALID") }, real([1, 2, 2, 4], 1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9));
hand("ExtractImagePatches", [real([1, 3, 2, 1], 1, 2, 3, 4, 5, 6)], { ksizes: is(1, 2, 1, 1), strides: is(1, 2, 1, 1), rates: is(1, 1, 1, 1), padding: s("SAME") }, real([1, 2, 2, 2], 1, 3, 2, 4, 5, 0, 6, 0));
hand("Bitcast", [real([2], 1, -2)], { type: t("DT_INT32") }, int(1065353216, -1073741824));
hand("CombinedNonMaxSuppression", [real([1, 3, 1, 4], 0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 0, 0.5, 0.2), real([1, 3, 2], 0.9, 0.2, 0.8, 0.7, 0.3, 0.1), C(2), C(4), K(0.5), K(0.15)], {},
  real([1, 4, 4], 0, 0, 1, 1, 0, 0.1, 1, 1, 0, 0, 0.5, 0.2, 0, 0, 0, 0), real([1, 4], 0.9, 0.7, 0.3, 0), real([1, 4], 0, 1, 0, 0), int(3));
add("NonMaxSuppressionV5", [boxes, scores, C(4), K(0.9), K(0.1), K(0.5)], {}, 2);
const edges = (...data) => ({ type: "int32", shape: [2, 2], data }); // found out while running
add("SpaceToBatchND", [F(1, 3, 4, 2), C([2, 3]), edges(1, 0, 0, 2)]); add("BatchToSpaceND", [F(4, 2, 2, 3), C([2, 2]), edges(1, 0, 0, 1)]);
add("Identity", [F(3)]); add("StopGradient", [F(3)]);

// ---- more by hand, from the documentation of TensorFlow

const seeded = (shape, low, high) => ({ type: "float32", shape, data: Array.from({ length: size(shape) }, () => round(low + random() * (high - low))) });
function hsvOf([r, g, b]) {
  const v = Math.max(r, g, b), c = v - Math.min(r, g, b), s = v > 0 ? c / v : 0;
  let h = c === 0 ? 0 : r === v ? (g - b) / c / 6 : g === v ? (b - r) / c / 6 + 2 / 6 : (r - g) / c / 6 + 4 / 6;
  if (h < 0) h += 1;
  return [h, s, v];
}
function rgbOf([h, s, v]) { // by sectors of the circle
  const k = Math.floor(h * 6) % 6, p = h * 6 - Math.floor(h * 6), low = v * (1 - s), down = v * (1 - s * p), up = v * (1 - s * (1 - p));
  return [[v, up, low], [down, v, low], [low, v, up], [low, down, v], [up, low, v], [v, low, down]][k];
}
const pixels = (v, each) => ({ ...v, data: Array.from({ length: v.data.length / 3 }, (_, n) => each(v.data.slice(3 * n, 3 * n + 3))).flat() });
const image = seeded([2, 2, 3], 0, 1); image.data.splice(0, 3, 0.5, 0.5, 0.5);
hand("RGBToHSV", [image], {}, pixels(image, hsvOf));
hand("HSVToRGB", [image], {}, pixels(image, rgbOf));
hand("AdjustHue", [image, K(0.3)], {}, pixels(image, (p) => { const [h, s, v] = hsvOf(p); return rgbOf([(h + 0.3) % 1, s, v]); }));
hand("AdjustSaturation", [image, K(1.5)], {}, pixels(image, (p) => { const [h, s, v] = hsvOf(p); return rgbOf([h, Math.min(1.5 * s, 1), v]); }));
hand("AdjustContrastv2", [real([1, 2, 2, 1], 1, 2, 3, 6), K(2)], {}, real([1, 2, 2, 1], -1, 1, 3, 9));
hand("ResizeArea", [real([1, 2, 4, 1], 1, 2, 3, 4, 5, 6, 7, 8), C([1, 2])], {}, real([1, 1, 2, 1], 3.5, 5.5));
hand("ResizeArea", [real([1, 1, 3, 1], 1, 4, 9), C([1, 2])], {}, real([1, 1, 2, 1], 2, 22 / 3));
hand("MatrixInverse", [real([2, 2, 2], 0, 2, 4, 1, 1, 2, 3, 5)], {}, real([2, 2, 2], -0.125, 0.25, 0.5, 0, -5, 2, 3, -1));
hand("MatrixInverse", [real([2, 2], 1, 2, 3, 5)], { adjoint: b(true) }, real([2, 2], -5, 3, 2, -1));
hand("MatrixSolve", [real([3, 3], 0, 2, 1, 1, 0, 0, 3, 1, 2), real([3, 1], 7, 1, 11)], {}, real([3, 1], 1, 2, 3));
hand("MatrixTriangularSolve", [real([2, 2], 2, 99, 3, 4), real([2, 2], 4, 2, 14, 11)], { lower: b(true) }, real([2, 2], 2, 1, 2, 2));
hand("MatrixTriangularSolve", [real([2, 2], 2, 3, 99, 4), real([2, 1], 4, 14)], { lower: b(false), adjoint: b(true) }, real([2, 1], 2, 2));
hand("Cholesky", [real([3, 3], 4, 12, -16, 12, 37, -43, -16, -43, 98)], {}, real([3, 3], 2, 0, 0, 6, 1, 0, -8, 5, 3));
hand("MatrixDeterminant", [real([2, 2, 2], 1, 2, 3, 4, 2, 0, 0, 5)], {}, real([2], -2, 10));
hand("LogMatrixDeterminant", [real([2, 2], 1, 2, 3, 4)], {}, real([], -1), real([], Math.log(2)));
hand("MatrixSetDiag", [real([2, 2, 3], 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7), real([2, 2], 1, 2, 4, 5)], {}, real([2, 2, 3], 1, 7, 7, 7, 2, 7, 4, 7, 7, 7, 5, 7));
hand("MatrixSetDiagV3", [real([3, 2], 7, 7, 7, 7, 7, 7), real([2], 1, 2), C(0)], { align: s("RIGHT_LEFT") }, real([3, 2], 1, 7, 7, 2, 7, 7));
hand("Cross", [real([2, 3], 1, 0, 0, 1, 2, 3), real([2, 3], 0, 1, 0, 4, 5, 6)], {}, real([2, 3], 0, 0, 1, -3, 6, -3));
hand("Inv", [real([2], 2, -4)], {}, real([2], 0.5, -0.25));
hand("TruncateDiv", [int(7, -7, 9), int(2, 2, -4)], { T: t("DT_INT32") }, int(3, -3, -2));
hand("GuaranteeConst", [real([2], 1, 2)], {}, real([2], 1, 2));
hand("Bucketize", [real([2, 3], -5, 10000, 150, 10, 5, 100)], { boundaries: { list: { f: [0, 10, 100] } } }, { type: "int32", shape: [2, 3], data: [0, 3, 3, 2, 1, 3] });
hand("SpaceToBatch", [real([1, 2, 2, 1], 1, 2, 3, 4), C([0, 0, 0, 0], [2, 2])], { block_size: i(2) }, real([4, 1, 1, 1], 1, 2, 3, 4));
hand("BatchToSpace", [real([4, 1, 1, 1], 1, 2, 3, 4), C([0, 0, 0, 0], [2, 2])], { block_size: i(2) }, real([1, 2, 2, 1], 1, 2, 3, 4));
hand("InTopK", [real([2, 4], 1, 5, 3, 4, 9, 2, 3, 4), int(3, 1)], { k: i(2) }, { type: "bool", shape: [2], data: [1, 0] });
hand("InTopKV2", [real([2, 3], 1, 5, 3, 2, 2, 4), int(2, 0), C(2)], {}, { type: "bool", shape: [2], data: [1, 1] });
hand("NthElement", [real([2, 4], 4, 1, 3, 2, 8, 6, 7, 5), C(1)], {}, real([2], 2, 6));
hand("NthElement", [real([4], 4, 1, 3, 2), C(1)], { reverse: b(true) }, real([], 3));
hand("DataFormatVecPermute", [int(1, 2, 3, 4)], { src_format: s("NHWC"), dst_format: s("NCHW") }, int(1, 4, 2, 3));
hand("DataFormatVecPermute", [int(5, 6)], { src_format: s("NHWC"), dst_format: s("NCHW") }, int(5, 6));
hand("DataFormatDimMap", [int(0, 1, 2, 3, -1)], { src_format: s("NHWC"), dst_format: s("NCHW") }, int(0, 2, 3, 1, 1));
hand("FusedPadConv2D", [real([1, 1, 3, 1], 1, 2, 3), C([0, 0, 0, 0, 1, 1, 0, 0], [4, 2]), K([1, 10, 100], [1, 3, 1, 1])], { mode: s("REFLECT"), strides: is(1, 1, 1, 1), padding: s("VALID") }, real([1, 1, 3, 1], 212, 321, 232));
hand("_FusedBatchMatMulV2", [real([1, 1, 2], 1, 2), real([1, 2, 1], 3, 4), K(2), K([1])], { fused_ops: ss("Mul", "Add"), num_args: i(2) }, real([1, 1, 1], 23));
hand("SparseTensorDenseMatMul", [C([0, 1, 1, 0], [2, 2]), real([2], 2, 3), C([2, 2]), real([2, 2], 1, 2, 3, 4)], {}, real([2, 2], 6, 8, 3, 6));
hand("SparseReduceSum", [C([0, 1, 1, 0, 1, 2], [3, 2]), real([3], 2, 3, 4), C([2, 3]), C([1])], {}, real([2], 2, 7));
hand("SparseTensorDenseAdd", [C([0, 1], [1, 2]), real([1], 2), C([2, 2]), real([2, 2], 1, 2, 3, 4)], {}, real([2, 2], 1, 4, 3, 4));
{ // gates i, c, f, o; peepholes; a bias of 1 for f
  const [x, c, h, w, bi] = [[0.5, -1], [0.2, 0.4], [0.1, -0.3], seeded([4, 8], -1, 1), seeded([8], -1, 1)], peep = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]];
  const all = bi.data.map((v, n) => v + [...x, ...h].reduce((a, u, r) => a + u * w.data[r * 8 + n], 0)), each = (k, f) => [0, 1].map((n) => f(all[2 * k + n], n));
  const ig = each(0, (v, n) => sigmoid(v + peep[0][n] * c[n])), ci = each(1, (v) => Math.tanh(v)), fg = each(2, (v, n) => sigmoid(v + 1 + peep[1][n] * c[n]));
  const now = [0, 1].map((n) => fg[n] * c[n] + ig[n] * ci[n]), o = each(3, (v, n) => sigmoid(v + peep[2][n] * now[n])), co = now.map(Math.tanh);
  const row = (d) => real([1, 2], ...d);
  hand("LSTMBlockCell", [row(x), row(c), row(h), fixed(w), K(peep[0]), K(peep[1]), K(peep[2]), fixed(bi)], { forget_bias: f(1), use_peephole: b(true) },
    row(ig), row(now), row(fg), row(o), row(ci), row(co), row(co.map((v, n) => v * o[n])));
  const wg = seeded([4, 4], -1, 1), wc = seeded([4, 2], -1, 1), bg = seeded([4], -1, 1), bc = seeded([2], -1, 1);
  const gates = bg.data.map((v, n) => sigmoid(v + [...x, ...c].reduce((a, u, r) => a + u * wg.data[r * 4 + n], 0))), r = gates.slice(0, 2), u = gates.slice(2);
  const fresh = bc.data.map((v, n) => Math.tanh(v + [...x, ...c.map((q, k) => q * r[k])].reduce((a, q, m) => a + q * wc.data[m * 2 + n], 0)));
  hand("GRUBlockCell", [row(x), row(c), fixed(wg), fixed(wc), fixed(bg), fixed(bc)], {}, row(r), row(u), row(fresh), row(fresh.map((v, n) => u[n] * c[n] + (1 - u[n]) * v)));
}
// Steps of a range. The answers are computed with whole numbers.
const steps = (x, low, high) => { const scale = 255 / (high - low); return x.map((v) => clip(Math.floor((clip(v, low, high) - low) * scale + 0.5), 0, 255)); };
{
  const x = real([2, 2], -1, 0.31, 0.77, 2), w = real([2, 2], 0.5, -0.25, 0.1, 1), q = steps(x.data, -1, 2), p = steps(w.data, -0.5, 1), back = q.map((v) => v * 3 / 255 - 1), wide = p.map((v) => v * 1.5 / 255 - 0.5);
  chain("QuantizeV2", [x, K(-1), K(2)], [node("q", "QuantizeV2", ["a", "b", "c"], quint), node("y", "Dequantize", ["q", "q:1", "q:2"], quint)], ["y", "q:1", "q:2"], real([2, 2], ...back), real([], -1), real([], 2));
  const dot = [0, 1].flatMap((r) => [0, 1].map((n) => back[2 * r] * wide[n] + back[2 * r + 1] * wide[2 + n]));
  const both = [node("q", "QuantizeV2", ["a", "b", "c"], quint), node("p", "QuantizeV2", ["d", "e", "f"], quint)], ins = [x, K(-1), K(2), w, K(-0.5), K(1)], of = ["q", "p", "q:1", "q:2", "p:1", "p:2"];
  chain("QuantizedMatMul", ins, [...both, node("m", "QuantizedMatMul", of), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([2, 2], ...dot));
  chain("QuantizedMul", ins, [...both, node("m", "QuantizedMul", of), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([2, 2], ...back.map((v, n) => v * wide[n])));
  chain("QuantizedAdd", ins, [...both, node("m", "QuantizedAdd", of), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([2, 2], ...back.map((v, n) => v + wide[n])));
  const low = Math.min(...dot, 0), high = Math.max(...dot), scale = 255 / (high - low), away = (v) => Math.sign(v) * Math.floor(Math.abs(v) + 0.5);
  const again = dot.map((v) => clip(away(v * scale), away(low * scale), away(low * scale) + 255) / scale), u8 = { ...quint, out_type: t("DT_QUINT8") };
  chain("Requantize", ins, [...both, node("m", "QuantizedMatMul", of), node("r", "RequantizationRange", ["m", "m:1", "m:2"]), node("n", "Requantize", ["m", "m:1", "m:2", "r", "r:1"], u8), node("y", "Dequantize", ["n", "n:1", "n:2"], quint)], ["y", "r", "r:1"], real([2, 2], ...again), real([], low), real([], high));
  chain("QuantizeDownAndShrinkRange", ins, [...both, node("m", "QuantizedMatMul", of), node("n", "QuantizeDownAndShrinkRange", ["m", "m:1", "m:2"], u8), node("s", "QuantizedRelu", ["n", "n:1", "n:2"]), node("y", "Dequantize", ["s", "s:1", "s:2"], quint)], ["y"], real([2, 2], ...again.map((v) => Math.max(v, 0))));
  chain("QuantizedReshape", [x, K(-1), K(2), C([4])], [both[0], node("m", "QuantizedReshape", ["q", "d", "q:1", "q:2"]), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([4], ...back));
  const picture = real([1, 2, 2, 1], -1, 0.31, 0.77, 2), seen = [node("q", "QuantizeV2", ["a", "b", "c"], quint)], win = { ksize: is(1, 2, 2, 1), strides: is(1, 2, 2, 1), padding: s("VALID") };
  for (const [op, answer] of [["QuantizedMaxPool", Math.max(...back)], ["QuantizedAvgPool", back.reduce((a, v) => a + v) / 4]])
    chain(op, [picture, K(-1), K(2)], [...seen, node("m", op, ["q", "q:1", "q:2"], win), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([1, 1, 1, 1], answer));
  chain("QuantizedConv2D", [picture, K(-1), K(2), { ...w, shape: [2, 2, 1, 1] }, K(-0.5), K(1)], [...both, node("m", "QuantizedConv2D", of, { strides: is(1, 1, 1, 1), padding: s("VALID") }), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"],
    real([1, 1, 1, 1], back.reduce((a, v, n) => a + v * wide[n], 0)));
  chain("QuantizedConv2DWithBiasAndRelu", [picture, K(-1), K(2), { ...w, shape: [2, 2, 1, 1] }, K(-0.5), K(1), K([0.25])], [...both, node("m", "QuantizedConv2DWithBiasAndRelu", ["q", "p", "g", ...of.slice(2)], { strides: is(1, 1, 1, 1), padding: s("VALID") }), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"],
    real([1, 1, 1, 1], Math.max(0, 0.25 + back.reduce((a, v, n) => a + v * wide[n], 0))));
  chain("QuantizedBiasAdd", [x, K(-1), K(2), real([2], 0.5, -0.25), K(-0.5), K(1)], [...both, node("m", "QuantizedBiasAdd", of), node("y", "Dequantize", ["m", "m:1", "m:2"], quint)], ["y"], real([2, 2], ...back.map((v, n) => v + wide[n % 2])));
}
hand("QuantizeAndDequantizeV2", [real([4], -1, 0.3, 0.77, 0.9), K(-1), K(1)], { num_bits: i(8), range_given: b(true) }, real([4], -1, Math.round(0.3 * 127) / 127, Math.round(0.77 * 127) / 127, Math.round(0.9 * 127) / 127));
hand("QuantizeAndDequantizeV3", [real([3], -2, 0.5, 1), K(0), K(0), C(4)], { range_given: b(false), signed_input: b(true) }, real([3], -2, 0.5, 1));
hand("FakeQuantWithMinMaxVarsPerChannel", [real([2, 2], 0.1, 7, -0.4, 3.3), K([-0.5, 0]), K([0.5, 6])], { num_bits: i(8) },
  real([2, 2], ...[[0.1, 0], [7, 1], [-0.4, 0], [3.3, 1]].map(([v, k]) => { const [low, high] = [[-0.5, 0.5], [0, 6]][k], scale = (high - low) / 255, zero = Math.floor(-low / scale + 0.5), from = -zero * scale; return Math.floor((clip(v, from, from + 255 * scale) - from) / scale + 0.5) * scale + from; })));

// ---- what is written in several operators

hand("Xlog1py", [real([3], 0, 2, 3), real([3], -1, 1, 0.5)], {}, real([3], 0, 2 * Math.log(2), 3 * Math.log(1.5)));
const logsum = (...v) => Math.log(v.reduce((a, x) => a + Math.exp(x), 0));
hand("CumulativeLogsumexp", [real([2, 3], 1, 2, 3, -100, 0, 200), C(1)], {}, real([2, 3], 1, logsum(1, 2), logsum(1, 2, 3), -100, 0, 200));
hand("CumulativeLogsumexp", [real([3, 1], 1, 2, 3), C(0)], { reverse: b(true), exclusive: b(true) }, real([3, 1], logsum(2, 3), 3, -3.4028234663852886e38));
{
  const logits = [[1, 2, 3], [0.5, -1, 0]], soft = logits.map((r) => r.map((v) => Math.exp(v - logsum(...r)))), labels = [[0.2, 0.3, 0.5], [1, 0, 0]];
  const loss = (l) => real([2], ...l.map((r, n) => -r.reduce((a, v, k) => a + v * Math.log(soft[n][k]), 0))), back = (l) => real([2, 3], ...soft.flatMap((r, n) => r.map((v, k) => v - l[n][k])));
  hand("SoftmaxCrossEntropyWithLogits", [real([2, 3], ...logits.flat()), real([2, 3], ...labels.flat())], {}, loss(labels), back(labels));
  const one = [[0, 0, 1], [1, 0, 0]];
  hand("SparseSoftmaxCrossEntropyWithLogits", [real([2, 3], ...logits.flat()), int(2, 0)], {}, loss(one), back(one));
}
hand("HistogramFixedWidth", [real([6], -1, 0, 1.5, 2, 5, 15), K([0, 5]), C(5)], { dtype: t("DT_INT32") }, int(2, 1, 1, 0, 2));
hand("UnravelIndex", [int(2, 5, 7), C([3, 3])], {}, { type: "int32", shape: [2, 3], data: [0, 1, 2, 2, 2, 1] });
hand("InplaceUpdate", [real([3, 2], 1, 2, 3, 4, 5, 6), C([2, 0]), real([2, 2], 7, 8, 9, 10)], {}, real([3, 2], 9, 10, 3, 4, 7, 8));
hand("InplaceAdd", [real([3, 2], 1, 2, 3, 4, 5, 6), C(1), real([2], 7, 8)], {}, real([3, 2], 1, 2, 10, 12, 5, 6));
hand("InplaceSub", [real([2, 1], 1, 2), C([1]), real([1, 1], 5)], {}, real([2, 1], 1, -3));
hand("TensorStridedSliceUpdate", [real([3, 3], 1, 2, 3, 4, 5, 6, 7, 8, 9), C([0, 1]), C([3, 3]), C([2, 1]), real([2, 2], 10, 20, 30, 40)], mask(0, 0, 0, 0, 0), real([3, 3], 1, 10, 20, 4, 5, 6, 7, 30, 40));
hand("TensorStridedSliceUpdate", [real([2, 2], 1, 2, 3, 4), C([1]), C([2]), C([1]), real([1], 9)], mask(0, 0, 0, 0, 1), real([2, 2], 1, 2, 9, 9));
hand("Empty", [C([2, 1])], { dtype: t("DT_FLOAT"), init: b(true) }, real([2, 1], 0, 0));
hand("ParallelConcat", [real([1, 2], 1, 2), real([1, 2], 3, 4)], { N: i(2) }, real([2, 2], 1, 2, 3, 4));
hand("ApproxTopK", [real([2, 3], 1, 3, 2, 9, 7, 8)], { k: i(2), reduction_dimension: i(-1), is_max_k: b(false) }, real([2, 2], 1, 2, 7, 8), { type: "int32", shape: [2, 2], data: [0, 2, 1, 2] });
{ // five steps of a batch of 2, classes a, b and blank; the second is 3 steps long
  const best = [[0, 0, 2, 0, 1], [1, 1, 0, 2, 0]], x = [0, 1, 2, 3, 4].flatMap((s) => [0, 1].flatMap((n) => [0, 1, 2].map((k) => k === best[n][s] ? 2 + s : -k)));
  const table = (width, ...data) => ({ type: "int32", shape: [data.length / width, width], data });
  hand("CTCGreedyDecoder", [real([5, 2, 3], ...x), C([5, 3])], { merge_repeated: b(true) }, table(2, 0, 0, 0, 1, 0, 2, 1, 0, 1, 1), int(0, 0, 1, 1, 0), int(2, 3), real([2, 1], -20, -9));
  hand("CTCGreedyDecoder", [real([5, 2, 3], ...x), C([5, 3])], { merge_repeated: b(false), blank_index: i(0) }, table(2, 0, 0, 0, 1, 1, 0, 1, 1), int(2, 1, 1, 1), int(2, 2), real([2, 1], -20, -9));
}
hand("Diag", [real([2, 2], 1, 2, 3, 4)], {}, real([2, 2, 2, 2], 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4));
hand("DiagPart", [real([2, 2, 2, 2], 1, 9, 9, 9, 9, 2, 9, 9, 9, 9, 3, 9, 9, 9, 9, 4)], {}, real([2, 2], 1, 2, 3, 4));
hand("DiagPart", [real([2, 2], 1, 9, 9, 2)], {}, real([2], 1, 2));
hand("BatchMatrixDiag", [real([2], 1, 2)], {}, real([2, 2], 1, 0, 0, 2));
hand("BatchMatrixDiagPart", [real([1, 2, 2], 1, 9, 9, 2)], {}, real([1, 2], 1, 2));
hand("BatchMatrixBandPart", [real([2, 2], 1, 2, 3, 4), C(0), C(-1)], {}, real([2, 2], 1, 2, 0, 4));
hand("GatherV2", [real([2, 2, 3], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), { type: "int32", shape: [2, 2], data: [2, 0, 1, 1] }, C(2)], { batch_dims: i(1) }, real([2, 2, 2], 2, 0, 5, 3, 7, 7, 10, 10));
hand("ScatterNdNonAliasingAdd", [real([3], 1, 2, 3), C([0, 0], [2, 1]), real([2], 5, 6)], {}, real([3], 12, 2, 3));
hand("XlaSharding", [real([2], 1, 2)], {}, real([2], 1, 2));
hand("FusedPadConv2D", [real([1, 1, 3, 1], 1, 2, 3), C([0, 0, 0, 0, 1, 1, 0, 0], [4, 2]), K([1, 10, 100], [1, 3, 1, 1])], { mode: s("SYMMETRIC"), strides: is(1, 1, 1, 1), padding: s("VALID") }, real([1, 1, 3, 1], 211, 321, 332));
hand("FusedResizeAndPadConv2D", [real([1, 1, 2, 1], 1, 3), C([1, 4]), C([0, 0, 0, 0, 1, 0, 0, 0], [4, 2]), K([1, 10], [1, 2, 1, 1])], { resize_align_corners: b(false), mode: s("SYMMETRIC"), strides: is(1, 1, 1, 1), padding: s("VALID") }, real([1, 1, 4, 1], 11, 21, 32, 33));
hand("DepthwiseConv2dNativeBackpropInput", [C([1, 2, 2, 2]), K([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2, 1]), real([1, 1, 1, 2], 10, 100)], { strides: is(1, 2, 2, 1), padding: s("VALID") }, real([1, 2, 2, 2], 10, 200, 30, 400, 50, 600, 70, 800));
{ // tf.image.resize with antialias
  const scale = (name, x, to, by, move, more = {}, radius = 1, at = (v) => Math.max(0, 1 - v)) => {
    const wide = more.antialias?.b === false ? 1 : Math.max(1, 1 / by), rows = Array.from({ length: to }, (_, k) => {
      const c = (k + 0.5 - move) / by; if (c < 0 || c > x.length) return 0;
      const w = x.map((_, n) => n + 0.5 >= c - radius * wide && n + 0.5 <= c + radius * wide ? at(Math.abs(n + 0.5 - c) / wide) : 0), sum = w.reduce((a, v) => a + v);
      return w.reduce((a, v, n) => a + v * x[n], 0) / sum;
    });
    hand("ScaleAndTranslate", [real([1, x.length, 1, 1], ...x), C([to, 1]), K([by, 1]), K([move, 0])], { kernel_type: s(name), ...more }, real([1, to, 1, 1], ...rows));
  };
  const x = [1, 5, 2, 8, 3, 9, 4];
  scale("triangle", x, 3, 3 / 7, 0); scale("triangle", x, 3, 3 / 7, 0, { antialias: b(false) }); scale("triangle", x, 6, 0.5, 1.25);
  scale("keyscubic", x, 10, 10 / 7, 0, {}, 2, (v) => v >= 2 ? 0 : v >= 1 ? ((-0.5 * v + 2.5) * v - 4) * v + 2 : (1.5 * v - 2.5) * v * v + 1);
  scale("lanczos3", x, 4, 4 / 7, 0, {}, 3, (v) => v < 1e-3 ? 1 : v >= 3 ? 0 : 3 * Math.sin(Math.PI * v) * Math.sin(Math.PI * v / 3) / (Math.PI * v) ** 2);
  scale("gaussian", x, 5, 5 / 7, 0, {}, 1.5, (v) => v >= 1.5 ? 0 : Math.exp(-2 * v * v));
}
hand("SparseReorder", [C([1, 0, 0, 2, 0, 1], [3, 2]), real([3], 1, 2, 3), C([2, 3])], {}, { type: "int32", shape: [3, 2], data: [0, 1, 0, 2, 1, 0] }, real([3], 3, 2, 1));
hand("SparseConcat", [C([0, 2, 1, 0], [2, 2]), C([0, 1], [1, 2]), real([2], 1, 2), real([1], 3), C([2, 3]), C([2, 4])], { concat_dim: i(1), N: i(2) }, { type: "int32", shape: [3, 2], data: [0, 2, 0, 4, 1, 0] }, real([3], 1, 3, 2), int(2, 7));
hand("SparseSlice", [C([0, 2, 1, 0, 1, 3], [3, 2]), real([3], 1, 2, 3), C([2, 4]), C([0, 2]), C([2, 9])], {}, { type: "int32", shape: [2, 2], data: [0, 0, 1, 1] }, real([2], 1, 3), int(2, 2));
for (const [op, want] of [["Mul", [4, 3]], ["Div", [1, 1 / 3]], ["Add", [4, 4]]]) hand(`SparseDenseCwise${op}`, [C([0, 1, 1, 0], [2, 2]), real([2], 2, 1), C([2, 2]), real([2], 3, 2)], {}, real([2], ...want));
hand("SparseSoftmax", [C([0, 0, 0, 2, 1, 1], [3, 2]), real([3], 1, 2, 7), C([2, 3])], {}, real([3], sigmoid(-1), sigmoid(1), 1));
hand("RaggedTensorToSparse", [int(0, 2, 2, 3), real([3], 5, 6, 7)], { RAGGED_RANK: i(1) }, { type: "int32", shape: [3, 2], data: [0, 0, 0, 1, 2, 0] }, real([3], 5, 6, 7), int(3, 2));
hand("RaggedBincount", [int(0, 2, 2, 5), int(1, 1, 0, 3, 1), C(3), real([5], 1, 2, 3, 4, 5)], {}, real([3, 3], 0, 3, 0, 0, 0, 0, 3, 5, 0));
hand("RaggedBincount", [int(0, 2, 2, 5), int(1, 1, 0, 3, 1), C(3), K([])], { binary_output: b(true) }, real([3, 3], 0, 1, 0, 0, 0, 0, 1, 1, 0));
chain("Angle", [real([2], 1, -1), real([2], 1, 0.5)], [node("z", "Complex", ["a", "b"]), node("y", "Angle", ["z"])], ["y"], real([2], Math.PI / 4, Math.PI - Math.atan(0.5)));
// How many elements there are, only a run knows.
chain("MatrixDiag", [real([4], 5, 0, 7, 9)], [node("w", "Where", ["a"], { T: t("DT_FLOAT") }), node("s", "Squeeze", ["w"], { squeeze_dims: is(1) }), node("y", "MatrixDiag", ["s"])], ["y"], { type: "int32", shape: [3, 3], data: [0, 0, 0, 0, 2, 0, 0, 0, 3] });
{ // (a + bi) and (c + di)
  const [p, q, r, u] = [[1, -2], [3, 0.5], [-1, 2], [2, 4]].map((d) => real([2], ...d)), z = [node("z", "Complex", ["a", "b"]), node("w", "Complex", ["c", "d"])];
  const parts = (op, input, attrs) => [...z, node("v", op, input, attrs), node("re", "Real", ["v"]), node("im", "Imag", ["v"])], each = (f) => [0, 1].map((n) => f(p.data[n], q.data[n], r.data[n], u.data[n]));
  const both = (f) => [0, 1].map((k) => real([2], ...each((...v) => f(...v)[k])));
  const product = (a, b, c, d) => [a * c - b * d, a * d + b * c], quotient = (a, b, c, d) => product(a / (c * c + d * d), b / (c * c + d * d), c, -d);
  for (const [op, f] of [["Mul", product], ["RealDiv", quotient], ["AddV2", (a, b, c, d) => [a + c, b + d]], ["Sub", (a, b, c, d) => [a - c, b - d]]])
    chain(op, [p, q, r, u], parts(op, ["z", "w"], { T: t("DT_COMPLEX64") }), ["re", "im"], ...both(f));
  chain("Exp", [p, q, r, u], parts("Exp", ["z"]), ["re", "im"], ...both((a, b) => [Math.exp(a) * Math.cos(b), Math.exp(a) * Math.sin(b)]));
  chain("Cast", [p], [node("z", "Cast", ["a"], { DstT: t("DT_COMPLEX64") }), node("re", "Real", ["z"]), node("im", "Imag", ["z"]), node("y", "Cast", ["z"], { DstT: t("DT_FLOAT") })], ["re", "im", "y"], p, real([2], 0, 0), p);
  chain("Reshape", [p, q, r, u, C([1, 4]), C(0)], [...z, node("j", "ConcatV2", ["z", "w", "f"], { N: i(2) }), node("v", "Reshape", ["j", "e"]), node("im", "Imag", ["v"]), node("s", "Shape", ["v"])], ["im", "s"], real([1, 4], 3, 0.5, 2, 4), int(1, 4));
}
{ // two steps of an LSTM that is given as one node; clip 3 and a forget bias of 1 are what a node without them has
  const width = 1, x = [[0.5], [-1]], w = [[0.3, -0.6, 0.2, 9], [0.7, 0.1, -0.4, 0.5]], bias = [0.1, 8, -0.2, 0.3];
  const run = (order, forget, clip) => {
    let cs = 2.5, h = 0.1; const out = { cs: [], h: [] };
    for (const [v] of x) {
      const g = [0, 1, 2, 3].map((k) => w[0][k] * v + w[1][k] * h + bias[k]), [ig, ci, fg, o] = order.map((k) => g[k]);
      cs = sigmoid(fg + forget) * cs + sigmoid(ig) * Math.tanh(ci); if (clip) cs = clip_(cs, clip);
      h = sigmoid(o) * Math.tanh(cs); out.cs.push(cs); out.h.push(h);
    }
    return out;
  }, clip_ = (v, m) => Math.min(Math.max(v, -m), m), state = (v) => real([1, 1], v), steps = (d) => real([2, 1, 1], ...d);
  const ins = (n) => [C(n), real([2, 1, 1], ...x.flat()), state(2.5), state(0.1), K(w.flat(), [2, 4]), K([0]), K([0]), K([0]), K(bias)];
  for (const [op, order, forget, clip] of [["BlockLSTM", [0, 1, 2, 3], 1, 3], ["BlockLSTMV2", [0, 2, 1, 3], 0, 0]]) {
    const want = run(order, forget, clip);
    chain(op, ins(2), [node("y", op, [..."abcdefghi"])], ["y:1", "y:6"], steps(want.cs), steps(want.h));
    chain(op, ins(1), [node("y", op, [..."abcdefghi"])], ["y:1", "y:6"], steps([want.cs[0], 0]), steps([want.h[0], 0]));
  }
}
{ // sounds: frames under a Hann window, bands between frequencies that are equally far from each other in mel, and their cosines
  const spectrum = (x, window, stride, squared) => {
    const size = 2 ** Math.ceil(Math.log2(window)), out = [];
    for (let at = 0; at + window <= x.length; at += stride)
      for (let k = 0; k <= size / 2; k++) {
        let re = 0, im = 0;
        for (let n = 0; n < window; n++) { const v = x[at + n] * (0.5 - 0.5 * Math.cos(2 * Math.PI * n / window)); re += v * Math.cos(2 * Math.PI * k * n / size); im -= v * Math.sin(2 * Math.PI * k * n / size); }
        out.push(squared ? re * re + im * im : Math.hypot(re, im));
      }
    return out;
  };
  const x = seeded([14, 2], -1, 1), channel = (k) => x.data.filter((_, n) => n % 2 === k);
  hand("AudioSpectrogram", [x], { window_size: i(6), stride: i(3), magnitude_squared: b(true) }, real([2, 3, 5], ...[0, 1].flatMap((k) => spectrum(channel(k), 6, 3, true))));
  hand("AudioSpectrogram", [x], { window_size: i(4), stride: i(5) }, real([2, 3, 3], ...[0, 1].flatMap((k) => spectrum(channel(k), 4, 5, false))));
  const mel = (f) => 1127 * Math.log1p(f / 700), [rate, bands, count, low, high, bins] = [16000, 6, 4, 300, 6000, 17], loud = seeded([1, 2, bins], 0, 3);
  const hz = rate / 2 / (bins - 1), first = Math.floor(1.5 + low / hz), end = Math.floor(high / hz), step = (mel(high) - mel(low)) / (bands + 1), center = Array.from({ length: bands + 1 }, (_, k) => mel(low) + step * (k + 1));
  const rows = [0, 1].flatMap((row) => {
    const sum = Array(bands).fill(0);
    for (let n = first; n <= end; n++) {
      let k = 0; while (k < bands && center[k] < mel(n * hz)) k++;
      const v = Math.sqrt(Math.fround(loud.data[row * bins + n])), w = (center[k] - mel(n * hz)) / step;
      if (k > 0) sum[k - 1] += v * w;
      if (k < bands) sum[k] += v - v * w;
    }
    const logs = sum.map((v) => Math.log(Math.max(v, 1e-12)));
    return Array.from({ length: count }, (_, k) => Math.sqrt(2 / bands) * logs.reduce((a, v, n) => a + v * Math.cos(k * Math.PI / bands * (n + 0.5)), 0));
  });
  for (const r of [C(rate), { type: "int32", shape: [], data: [rate] }]) hand("Mfcc", [loud, r], { upper_frequency_limit: f(high), lower_frequency_limit: f(low), filterbank_channel_count: i(bands), dct_coefficient_count: i(count) }, real([1, 2, count], ...rows));
}
// Lists that grow, and functions that are chosen by a number.
const list = { element_dtype: t("DT_FLOAT") };
chain("TensorListSetItem", [C([2]), C(0), C(3), real([2], 1, 2), C([2])], [node("l", "TensorListReserve", ["a", "b"], list), node("m", "TensorListSetItem", ["l", "c", "d"], { ...list, resize_if_index_out_of_bounds: b(true) }),
  node("y", "TensorListStack", ["m", "e"], list), node("z", "TensorListLength", ["m"]), node("w", "TensorListElementShape", ["m"], { shape_type: t("DT_INT32") })], ["y", "z", "w"], real([4, 2], 0, 0, 0, 0, 0, 0, 1, 2), { type: "int32", shape: [], data: [4] }, int(2));
for (const [to, want] of [[2, [1, 2]], [4, [1, 2, 3, 0]]])
  chain("TensorListResize", [real([3], 1, 2, 3), C([]), C(to)], [node("l", "TensorListFromTensor", ["a", "b"], list), node("m", "TensorListResize", ["l", "c"]), node("y", "TensorListStack", ["m", "b"], list)], ["y"], real([to], ...want));
chain("TensorListConcatLists", [real([2], 1, 2), real([1], 3), C([])], [node("l", "TensorListFromTensor", ["a", "c"], list), node("m", "TensorListFromTensor", ["b", "c"], list), node("n", "TensorListConcatLists", ["l", "m"], list), node("y", "TensorListStack", ["n", "c"], list)], ["y"], real([3], 1, 2, 3));
chain("TensorArrayV2", [C(2), C(1), real([2], 5, 6), C([0, 1])], [node("l", "TensorArrayV2", ["a"], { dtype: t("DT_FLOAT") }), node("m", "TensorArrayWriteV2", ["l", "b", "c", "l:1"]), node("y", "TensorArrayGatherV2", ["l", "d", "m"])], ["y"], real([2, 2], 0, 0, 5, 6));
const twice = (name, op) => ({ signature: { name, inputArg: [{ name: "x", type: "DT_FLOAT" }], outputArg: [{ name: "y", type: "DT_FLOAT" }] }, nodeDef: [node("r", op, ["x", "x"], { T: t("DT_FLOAT") })], ret: { y: "r:z:0" } });
for (const at of [0, 1, 2, -1, 7])
  cases.push({ op: "StatelessCase", inputs: [{ type: "int32", shape: [], data: [at] }, real([2], 3, 4)], outs: ["y"], answers: [real([2], ...[[6, 8], [0, 0], [9, 16]][at === 0 || at === 1 ? at : 2])],
    nodes: [node("y", "StatelessCase", ["a", "b"], { branches: { list: { func: ["add", "sub", "mul"].map((name) => ({ name })) } } })], library: { function: [twice("add", "AddV2"), twice("sub", "Sub"), twice("mul", "Mul")] } });
chain("Case", [C(1), real([2], 3, 4)], [node("y", "Case", ["a", "b"], { branches: { list: { func: [{ name: "add" }, { name: "mul" }] } } })], ["y"], real([2], 9, 16));
cases.at(-1).library = { function: [twice("add", "AddV2"), twice("mul", "Mul")] };

await import("./more_cases.mjs");

const text = (n) => typeof n === "string" ? `'${encodeURIComponent(n)}` : Number.isInteger(n) ? String(n) : Number.isNaN(n) ? "nan" : n === Infinity ? "inf" : n === -Infinity ? "-inf" : String(Math.fround(n));
const line = (side, name, v) => `${side} ${name} ${v.type} ${v.shape.join(",") || "-"} : ${Array.from(v.data, text).join(" ")}`;
const bytes = (v) => Buffer.from((v.type === "float32" ? Float32Array : v.type === "bool" ? Uint8Array : Int32Array).from(v.data).buffer).toString("base64");
const lines = ["# Made by make_cases.mjs with TensorFlow.js 4.22.0; see there."];
let failed = 0;
for (const c of cases) {
  const dims = (shape) => ({ dim: shape.map((n) => ({ size: String(n) })) }), nodes = [], weights = [], data = [], feeds = {}, letters = "abcdefghi";
  c.inputs.forEach((v, n) => {
    const name = letters[n], content = v.type === "string" ? { stringVal: v.data.map(b64) } : { tensorContent: bytes(v) };
    if (v.fixed) {
      nodes.push({ name, op: "Const", attr: { dtype: t(types[v.type]), value: { tensor: { dtype: types[v.type], tensorShape: dims(v.shape), ...content } } } });
      weights.push({ name, shape: v.shape, dtype: v.type }); data.push(v.type === "string" ? Buffer.concat(v.data.map((x) => Buffer.concat([Buffer.from(Uint32Array.of(Buffer.byteLength(x)).buffer), Buffer.from(x)]))) : Buffer.from(bytes(v), "base64"));
    } else {
      nodes.push({ name, op: c.placeholder ?? "Placeholder", attr: { dtype: t(types[v.type]), shape: { shape: dims(c.open ? v.shape.map(() => -1) : v.shape) } } });
      feeds[name] = tf.tensor(v.data, v.shape, v.type);
    }
  });
  if (c.nodes) nodes.push(...c.nodes);
  else nodes.push({ name: "y", op: c.op, input: c.inputs.map((_, n) => letters[n]), attr: { T: t("DT_FLOAT"), ...c.attrs } });
  const all = Buffer.concat(data), outs = c.nodes ? c.outs : Array.from({ length: c.outs }, (_, n) => n ? `y:${n}` : "y"), library = c.library && { library: c.library };
  const written = c.name ? nodes.filter((n) => !c.drop?.includes(letters.indexOf(n.name))).map((n) => n.name !== "y" ? n : { ...n, op: c.name, input: n.input.filter((x) => !c.drop?.includes(letters.indexOf(x))), attr: { ...n.attr, ...c.more } }) : nodes;
  try {
    let answers = c.answers;
    if (!answers) {
      const model = await tf.loadGraphModel({ load: async () => ({ modelTopology: { node: nodes, versions: {}, ...library }, weightSpecs: weights, weightData: all.buffer.slice(all.byteOffset, all.byteOffset + all.length) }) });
      answers = await Promise.all([await model.executeAsync(feeds, outs)].flat().map(async (r) => ({ type: r.dtype, shape: r.shape, data: await r.data() })));
    }
    lines.push(`case ${c.name ?? c.op}`, `graph ${JSON.stringify({ node: written, ...library })}`);
    c.inputs.forEach((v, n) => { if (!v.fixed) lines.push(line("in", letters[n], v)); });
    answers.forEach((v, n) => lines.push(line("out", outs[n], v)));
  } catch (e) { failed++; console.error(`${c.name ?? c.op}: ${String(e.message).split("\n")[0]}`); }
}
console.log(lines.join("\n"));
console.error(`${cases.length - failed} of ${cases.length} cases`);
