// Cases of the operators that make_cases.mjs has none of: other names of its operators, lists, branches, loops, texts, tables.
// `like` takes the answer of one operator of TensorFlow.js for another name; `run` asks TensorFlow.js about several nodes; `hand`
// and `chain` have answers from the documentation of TensorFlow.
import { size, F, P, N, C, K, fixed, i, f, b, s, is, ss, t, window, cases, add, int, hand, chain, node, quint, clip, boxes, scores, real } from "./case_kit.mjs";

const like = (op, of, inputs, attrs = {}, outs = 1) => cases.push({ op: of, name: op, inputs, attrs, outs });
const run = (name, inputs, nodes, outs, library) => cases.push({ op: name, inputs, nodes, outs, library: library && { function: library } });
const whole = (shape, ...data) => ({ type: "int32", shape, data }), one = (n) => whole([], n), bool = (shape, ...data) => ({ type: "bool", shape, data });
const words = (shape, ...data) => ({ type: "string", shape, data }), T = (...data) => ({ fixed: true, ...words([data.length], ...data) }), W = (data) => ({ fixed: true, ...words([], data) });
const reals = { T: t("DT_FLOAT") };

// ---- other names
like("BatchMatMulV3", "BatchMatMulV2", [F(2, 3, 4), F(2, 4, 5)]); like("SparseMatMul", "MatMul", [F(3, 4), F(2, 4)], { transpose_b: b(true) });
like("BiasAddV1", "BiasAdd", [F(2, 3, 4), fixed(F(4))]); like("XlaEinsum", "Einsum", [F(2, 3, 4), F(4, 5)], { equation: s("abc,cd->adb") });
const norm = [F(2, 3, 3, 4), fixed(P(4)), fixed(F(4)), fixed(F(4)), fixed(P(4))];
for (const op of ["FusedBatchNormV2", "_FusedBatchNormEx"]) like(op, "FusedBatchNormV3", norm, { epsilon: f(0.01), is_training: b(false) });
like("_FusedDepthwiseConv2dNative", "FusedDepthwiseConv2dNative", [F(1, 5, 5, 2), fixed(F(3, 3, 2, 1)), fixed(F(2))], window([1, 1], "SAME", { fused_ops: ss("BiasAdd", "Relu6"), num_args: i(1) }));
add("DepthwiseConv2d", [F(1, 6, 5, 3), fixed(F(3, 2, 3, 2))], window([1, 1], "VALID"));
add("Conv1D", [F(2, 7, 3), fixed(F(3, 3, 4))], { stride: i(2), padding: s("SAME"), data_format: s("NWC") });
for (const op of "Snapshot PreventGradient CheckNumerics CheckNumericsV2 Print CopyHost Copy DebugIdentity DeepCopy RefIdentity".split(" ")) hand(op, [real([2], 1, -2)], {}, real([2], 1, -2));
hand("EnsureShape", [real([2, 1], 1, -2)], { shape: { shape: { dim: [{ size: "-1" }, { size: "1" }] } } }, real([2, 1], 1, -2));
for (const op of ["IdentityN", "OptimizationBarrier"]) hand(op, [real([2], 1, -2), int(3)], { T: { list: { type: ["DT_FLOAT", "DT_INT32"] } } }, real([2], 1, -2), int(3));
for (const op of ["NoOp", "Assert", "PrintV2"]) chain(op, [real([2], 1, 2), { fixed: true, type: "bool", shape: [], data: [1] }], [node("e", op, op === "NoOp" ? [] : ["b"]), node("y", "Neg", ["a", "^e"])], ["y"], real([2], -1, -2));
hand("Concat", [C(1), real([2, 1], 1, 2), real([2, 2], 3, 4, 5, 6)], { N: i(2) }, real([2, 3], 1, 3, 4, 2, 5, 6));
hand("ConjugateTranspose", [real([2, 3], 1, 2, 3, 4, 5, 6), C([1, 0])], {}, real([3, 2], 1, 4, 2, 5, 3, 6));
hand("BroadcastArgs", [C([2, 1, 5]), C([3, 1])], {}, int(2, 3, 5));
hand("ShapeN", [real([2, 1], 1, 2), int(1, 2, 3)], { N: i(2), T: t("DT_FLOAT") }, int(2, 1), int(3));
hand("Zeros", [C([2])], { dtype: t("DT_FLOAT") }, real([2], 0, 0));
hand("Ones", [C([1, 2])], { dtype: t("DT_FLOAT") }, real([1, 2], 1, 1));
hand("Reverse", [real([2, 2], 1, 2, 3, 4), { fixed: true, ...bool([2], 0, 1) }], {}, real([2, 2], 2, 1, 4, 3));
hand("ReverseSequence", [real([2, 4], 1, 2, 3, 4, 5, 6, 7, 8), C([3, 2])], { seq_dim: i(1), batch_dim: i(0) }, real([2, 4], 3, 2, 1, 4, 6, 5, 7, 8));
hand("ReverseSequence", [real([3, 2], 1, 2, 3, 4, 5, 6), int(2, 3)], { seq_dim: i(0), batch_dim: i(1) }, real([3, 2], 3, 6, 1, 4, 5, 2));
hand("Roll", [real([2, 3], 1, 2, 3, 4, 5, 6), C([1, -1]), C([0, 1])], {}, real([2, 3], 5, 6, 4, 2, 3, 1));
hand("Roll", [real([3], 1, 2, 3), C(4), C(0)], {}, real([3], 3, 1, 2));
hand("InvertPermutation", [int(3, 4, 0, 2, 1)], {}, int(2, 4, 3, 0, 1));
hand("PlaceholderV2", [real([2], 4, 5)], {}, real([2], 4, 5)); cases.at(-1).placeholder = "PlaceholderV2"; cases.at(-1).nodes = [node("y", "Identity", ["a"])]; cases.at(-1).outs = ["y"];
chain("PlaceholderWithDefault", [K([4, 5])], [node("x", "PlaceholderWithDefault", ["a"], { dtype: t("DT_FLOAT"), shape: { shape: { dim: [{ size: "2" }] } } }), node("y", "Neg", ["x"])], ["y"], real([2], -4, -5));

// ---- arithmetic
const erfc = [1.842700792949715, 1, 0.15729920705028513, 0.004677734981063144];
hand("Erfc", [real([4], -1, 0, 1, 2)], {}, real([4], ...erfc)); hand("L2Loss", [real([2, 2], 1, 2, 3, 4)], {}, real([], 15));
hand("Softsign", [real([3], -3, 0, 1)], {}, real([3], -0.75, 0, 0.5)); hand("Rint", [real([5], -1.5, 0.5, 1.5, 2.5, 2.6)], {}, real([5], -2, 0, 2, 2, 3));
hand("Invert", [int(0, 5, -8)], { T: t("DT_INT32") }, int(-1, -6, 7)); hand("LogicalXor", [bool([4], 0, 0, 1, 1), bool([4], 0, 1, 0, 1)], {}, bool([4], 0, 1, 1, 0));
for (const [op, want] of [["BitwiseAnd", [8, -8]], ["BitwiseOr", [14, -1]], ["BitwiseXor", [6, 7]]]) hand(op, [int(12, -8), int(10, -1)], { T: t("DT_INT32") }, int(...want));
hand("LeftShift", [int(1, -3, 5), int(4, 1, 0)], { T: t("DT_INT32") }, int(16, -6, 5)); hand("RightShift", [int(17, -8, -1), int(2, 1, 5)], { T: t("DT_INT32") }, int(4, -4, -1));
for (const op of ["Mod", "TruncateMod"]) { hand(op, [int(7, -7, 7, -7), int(3, 3, -3, -3)], { T: t("DT_INT32") }, int(1, -1, 1, -1)); hand(op, [real([2], 5.5, -5.5), real([2], 2, 2)], {}, real([2], 1.5, -1.5)); }
hand("Xdivy", [real([3], 0, 3, -1), real([3], 0, 2, 4)], {}, real([3], 0, 1.5, -0.25)); hand("Xlogy", [real([3], 0, 3, -1), real([3], 0, 2, 4)], {}, real([3], 0, 3 * Math.log(2), -Math.log(4)));
hand("MulNoNan", [real([3], Infinity, 3, -1), real([3], 0, 2, 4)], {}, real([3], 0, 6, -4)); hand("ApproximateEqual", [real([3], 1, 2, 3), real([3], 1.05, 2.5, 3)], { tolerance: f(0.1) }, bool([3], 1, 0, 1));
hand("ClipByValue", [real([2, 2], -3, 0.5, 2, 9), K(-1), K(2)], {}, real([2, 2], -1, 0.5, 2, 2)); hand("ClipByValue", [real([2, 2], -3, 0.5, 2, 9), real([2], -1, 1), real([2], 1, 3)], {}, real([2, 2], -1, 1, 1, 3));
hand("AccumulateNV2", [real([2], 1, 2), real([2], 3, 4), real([2], 5, 6)], { N: i(3), shape: { shape: { dim: [{ size: "2" }] } } }, real([2], 9, 12));

// ---- networks
hand("BatchNormWithGlobalNormalization", [real([1, 1, 2, 2], 1, 2, 3, 4), K([1, 0]), K([4, 0.99]), K([0.5, 1]), K([3, 9])], { variance_epsilon: f(0.01), scale_after_normalization: b(false) },
  real([1, 1, 2, 2], 0.5, 2 / Math.sqrt(1) + 1, 2 / Math.sqrt(4.01) + 0.5, 5));
hand("BatchNormWithGlobalNormalization", [real([1, 1, 1, 2], 3, 4), K([1, 0]), K([4, 0.99]), K([0.5, 1]), K([3, 9])], { variance_epsilon: f(0.01), scale_after_normalization: b(true) }, real([1, 1, 1, 2], 6 / Math.sqrt(4.01) + 0.5, 37));
hand("Conv3DBackpropInputV2", [C([1, 2, 2, 4, 1]), K([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2, 1, 1]), real([1, 1, 1, 2, 1], 10, -1)], { strides: is(1, 2, 2, 2, 1), padding: s("VALID") },
  real([1, 2, 2, 4, 1], 10, 20, -1, -2, 30, 40, -3, -4, 50, 60, -5, -6, 70, 80, -7, -8));
hand("MaxPoolV2", [real([1, 2, 4, 1], 1, 2, 3, 4, 8, 7, 6, 5), C([1, 2, 2, 1]), C([1, 2, 2, 1])], { padding: s("VALID") }, real([1, 1, 2, 1], 8, 6));
hand("SpaceToDepth", [real([1, 2, 4, 1], 1, 2, 3, 4, 5, 6, 7, 8)], { block_size: i(2) }, real([1, 1, 2, 4], 1, 2, 5, 6, 3, 4, 7, 8));
hand("SpaceToDepth", [real([1, 2, 2, 2], 1, 2, 3, 4, 5, 6, 7, 8)], { block_size: i(2), data_format: s("NCHW") }, real([1, 8, 1, 1], 1, 5, 2, 6, 3, 7, 4, 8));
// TensorFlow.js leaves numbers as they are; tests/cli/tensorflow_test.sh has what TensorFlow makes of them.
add("FakeQuantWithMinMaxVars", [F(4), K(-1), K(1)], { num_bits: i(8) }); hand("FakeQuantWithMinMaxArgs", [real([2], 0.123, 9)], { min: f(-1), max: f(1) }, real([2], 0.123, 9));
{ // Keys' cubics: -0.75 at the corners, -0.5 with weights of the inside alone at the centres of pixels
  const cubic = (v, a) => v <= 1 ? ((a + 2) * v - (a + 3)) * v * v + 1 : v < 2 ? ((a * v - 5 * a) * v + 8 * a) * v - 4 * a : 0, x = [1, 5, 2, 8, 3];
  const rows = (to, at, a, inside) => Array.from({ length: to }, (_, k) => {
    const c = at(k), from = Math.floor(c); let sum = 0, all = 0;
    for (let n = from - 1; n <= from + 2; n++) { const w = inside && (n < 0 || n >= x.length) ? 0 : cubic(Math.abs(c - n), a); sum += w * x[clip(n, 0, x.length - 1)]; all += w; }
    return sum / (inside ? all : 1);
  });
  for (const to of [8, 3]) {
    hand("ResizeBicubic", [real([1, 5, 1, 1], ...x), C([to, 1])], {}, real([1, to, 1, 1], ...rows(to, (k) => k * 5 / to, -0.75, false)));
    hand("ResizeBicubic", [real([1, 5, 1, 1], ...x), C([to, 1])], { align_corners: b(true) }, real([1, to, 1, 1], ...rows(to, (k) => k * 4 / (to - 1), -0.75, false)));
    hand("ResizeBicubic", [real([1, 5, 1, 1], ...x), C([to, 1])], { half_pixel_centers: b(true) }, real([1, to, 1, 1], ...rows(to, (k) => (k + 0.5) * 5 / to - 0.5, -0.5, true)));
  }
}
like("NonMaxSuppression", "NonMaxSuppressionV2", [boxes, scores, C(3), K(0.5)]); cases.at(-1).drop = [3]; cases.at(-1).more = { iou_threshold: f(0.5) };
like("ImageProjectiveTransformV2", "ImageProjectiveTransformV3", [F(1, 4, 5, 2), K([0.9, 0.21, 0.33, -0.17, 1.12, -0.4, 0.01, 0.02], [1, 8]), C([4, 6]), K(0)], { interpolation: s("BILINEAR"), fill_mode: s("CONSTANT") }); cases.at(-1).drop = [3];

// ---- matrices
hand("BatchMatrixInverse", [real([1, 2, 2], 1, 2, 3, 5)], {}, real([1, 2, 2], -5, 2, 3, -1)); hand("BatchMatrixSolve", [real([1, 2, 2], 0, 2, 4, 0), real([1, 2, 1], 6, 8)], {}, real([1, 2, 1], 2, 3));
hand("BatchMatrixTriangularSolve", [real([1, 2, 2], 2, 99, 3, 4), real([1, 2, 1], 4, 14)], { lower: b(true) }, real([1, 2, 1], 2, 2)); hand("BatchCholesky", [real([1, 2, 2], 4, 2, 2, 10)], {}, real([1, 2, 2], 2, 0, 1, 3));
hand("BatchMatrixDeterminant", [real([2, 2, 2], 1, 2, 3, 4, 2, 0, 0, 5)], {}, real([2], -2, 10)); hand("BatchMatrixSetDiag", [real([1, 2, 2], 7, 7, 7, 7), real([1, 2], 1, 2)], {}, real([1, 2, 2], 1, 7, 7, 2));
hand("MatrixSetDiagV2", [real([2, 3], 7, 7, 7, 7, 7, 7), real([2], 1, 2), C(1)], {}, real([2, 3], 7, 1, 7, 7, 7, 2));
hand("MatrixSetDiagV3", [real([3, 3], 7, 7, 7, 7, 7, 7, 7, 7, 7), real([2, 3], 1, 2, 3, 4, 5, 0), C([-1, 0])], { align: s("LEFT_LEFT") }, real([3, 3], 1, 7, 7, 4, 2, 7, 7, 5, 3));
hand("MatrixDiagPart", [real([2, 3], 1, 2, 3, 4, 5, 6)], {}, real([2], 1, 5));
hand("MatrixDiagPartV2", [real([3, 4], 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6), C(1), K(0)], {}, real([3], 2, 7, 6));
// From the documentation: the diagonals 1 to -1 or 0 to 2 of a matrix, those that are shorter filled up.
hand("MatrixDiagPartV3", [real([2, 3, 4], 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8), C([-1, 2]), K(0)], { align: s("RIGHT_LEFT") }, real([2, 4, 3], 0, 3, 8, 2, 7, 6, 1, 6, 7, 5, 8, 0, 0, 3, 4, 4, 3, 8, 5, 2, 7, 1, 6, 0));
hand("MatrixDiagPartV3", [real([2, 3, 4], 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8), C([-1, 2]), K(0)], { align: s("LEFT_RIGHT") }, real([2, 4, 3], 3, 8, 0, 2, 7, 6, 1, 6, 7, 0, 5, 8, 3, 4, 0, 4, 3, 8, 5, 2, 7, 0, 1, 6));
hand("MatrixDiagPartV3", [real([3, 4], 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6), C([1, 3]), K(9)], { align: s("RIGHT_LEFT") }, real([3, 3], 9, 9, 4, 9, 3, 8, 2, 7, 6));
hand("MatrixDiagV2", [real([2], 1, 2), C(0), C(-1), C(-1), K(0)], {}, real([2, 2], 1, 0, 0, 2));
hand("MatrixDiagV3", [real([2, 3], 1, 2, 3, 4, 5, 6), C(1), C(-1), C(-1), K(0)], { align: s("RIGHT_LEFT") }, real([2, 4, 4], 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6, 0, 0, 0, 0));
hand("MatrixDiagV3", [real([2], 1, 2), C(-1), C(3), C(4), K(9)], { align: s("RIGHT_LEFT") }, real([3, 4], 9, 9, 9, 9, 1, 9, 9, 9, 9, 2, 9, 9));
hand("MatrixDiagV3", [real([3, 3], 8, 9, 0, 1, 2, 3, 0, 4, 5), C([-1, 1]), C(-1), C(-1), K(0)], { align: s("LEFT_RIGHT") }, real([3, 3], 1, 8, 0, 4, 2, 9, 0, 5, 3));

// ---- indices
const table = (width, ...data) => whole([data.length / width, width], ...data);
for (const [op, want] of [["Add", [1, 22, 3, 14]], ["Sub", [1, -18, 3, -6]], ["Max", [1, 12, 3, 10]], ["Min", [1, 2, 3, 4]]]) hand(`TensorScatter${op}`, [real([4], 1, 2, 3, 4), table(1, 1, 3, 1), real([3], 8, 10, 12)], {}, real([4], ...want));
hand("TopK", [real([2, 4], 1, 4, 2, 3, 9, 5, 7, 9)], { k: i(2), sorted: b(true) }, real([2, 2], 4, 3, 9, 9), whole([2, 2], 1, 3, 0, 3));
add("UniqueV2", [whole([6], 3, 1, 3, 2, 1, 9), C([0])], {}, 2);
hand("UniqueV2", [whole([3, 2], 1, 2, 3, 4, 1, 2), C([0])], { T: t("DT_INT32") }, whole([2, 2], 1, 2, 3, 4), int(0, 1, 0));
hand("UniqueWithCounts", [int(3, 1, 3, 2, 1, 3)], { T: t("DT_INT32") }, int(3, 1, 2), int(0, 1, 0, 2, 1, 0), int(3, 2, 1));
hand("UniqueWithCountsV2", [int(3, 1, 3, 2, 1, 3), C([0])], { T: t("DT_INT32") }, int(3, 1, 2), int(0, 1, 0, 2, 1, 0), int(3, 2, 1));
add("Bincount", [whole([6], 1, 1, 3, 0, 3, 1), C(5), K([0.5, 1, 2, 4, 8, 16])]); add("DenseBincount", [whole([2, 3], 1, 1, 3, 0, 3, 1), C(4), K([], [0])]); add("DenseBincount", [whole([2, 3], 1, 1, 3, 0, 3, 1), C(4), K([], [0])], { binary_output: b(true) });
const rows = real([4, 2], 1, 2, 3, 4, 5, 6, 7, 8), low = -3.4028234663852886e38;
hand("SegmentSum", [rows, C([0, 0, 1, 3])], {}, real([4, 2], 4, 6, 5, 6, 0, 0, 7, 8)); hand("SegmentMean", [rows, C([0, 0, 1, 3])], {}, real([4, 2], 2, 3, 5, 6, 0, 0, 7, 8)); hand("SegmentProd", [rows, C([0, 0, 1, 3])], {}, real([4, 2], 3, 8, 5, 6, 1, 1, 7, 8));
hand("UnsortedSegmentSum", [rows, int(2, 0, 2, -1), C(3)], {}, real([3, 2], 3, 4, 0, 0, 6, 8)); hand("UnsortedSegmentMax", [rows, int(2, 0, 2, -1), C(3)], {}, real([3, 2], 3, 4, low, low, 5, 6)); hand("UnsortedSegmentMin", [rows, int(2, 0, 2, 0), C(3)], {}, real([3, 2], 3, 4, -low, -low, 1, 2));
hand("UnsortedSegmentSum", [rows, whole([4, 2], 0, 1, 1, 0, 0, 0, 1, 1), C(2)], {}, real([2], 1 + 4 + 5 + 6, 2 + 3 + 7 + 8));
hand("SparseSegmentSqrtN", [rows, C([0, 1, 3]), C([0, 0, 1])], {}, real([2, 2], 4 / Math.SQRT2, 6 / Math.SQRT2, 7, 8));
for (const [op, by] of [["Sum", 1], ["Mean", 2], ["SqrtN", Math.SQRT2]]) hand(`SparseSegment${op}WithNumSegments`, [rows, C([0, 1, 3]), C([0, 0, 2]), C(4)], {}, real([4, 2], 4 / by, 6 / by, 0, 0, 7, 8, 0, 0));
hand("ParallelDynamicStitch", [C([3, 0]), C([1, 2]), real([2, 1], 1, 2), real([2, 1], 3, 4)], { N: i(2) }, real([4, 1], 2, 3, 4, 1));

// ---- random numbers: what is true of all of them
const range = (op, ins, nodes, ...answers) => chain(op, ins, nodes, ["y"], ...answers), random = (op, more) => node("r", op, ["a"], { dtype: t("DT_FLOAT"), T: t("DT_INT32"), ...more });
range("RandomUniform", [C([4, 300])], [random("RandomUniform"), node("y", "Floor", ["r"])], real([4, 300], ...Array(1200).fill(0)));
range("TruncatedNormal", [C([3000]), K(2)], [random("TruncatedNormal"), node("m", "Abs", ["r"]), node("v", "LessEqual", ["m", "b"]), node("y", "All", ["v", "z"]), node("z", "Const", [], { dtype: t("DT_INT32"), value: { tensor: { dtype: "DT_INT32", tensorShape: { dim: [{ size: "1" }] }, intVal: [0] } } })], bool([], 1));
range("RandomStandardNormal", [C([2000]), C([0]), K(2000)], [random("RandomStandardNormal"), node("q", "Square", ["r"]), node("u", "Sum", ["q", "b"]), node("v", "RealDiv", ["u", "c"]), node("y", "Round", ["v"])], real([], 1));
range("RandomUniformInt", [C([400]), C(3), C(5), C([0])], [node("r", "RandomUniformInt", ["a", "b", "c"], { Tout: t("DT_INT32") }), node("p", "Max", ["r", "d"]), node("q", "Min", ["r", "d"]), node("y", "Pack", ["q", "p"], { N: i(2) })], int(3, 4));
range("Multinomial", [real([2, 3], -1000, 1000, -1000, 0, -1000, -1000), C(3)], [node("y", "Multinomial", ["a", "b"], { output_dtype: t("DT_INT32"), T: t("DT_FLOAT") })], whole([2, 3], 1, 1, 1, 0, 0, 0));

// ---- steps of a range
const steps = (x, from, to) => x.map((v) => Math.floor((clip(v, from, to) - from) * 255 / (to - from) + 0.5) * (to - from) / 255 + from);
const away = (v) => Math.sign(v) * Math.floor(Math.abs(v) + 0.5), to8 = (v, from, to) => { const k = 255 / (to - from), least = away(from * k); return clip(away(v * k), least, least + 255) / k; };
const x = real([1, 2, 2, 1], -1, 0.31, 0.77, 2), back = steps(x.data, -1, 2), valid = { strides: is(1, 1, 1, 1), padding: s("VALID") }, real8 = node("y", "Dequantize", ["m", "m:1", "m:2"], quint);
const both = [node("q", "QuantizeV2", ["a", "b", "c"], quint), node("p", "QuantizeV2", ["d", "e", "f"], quint)];
const names = "Conv2DAndRelu Conv2DAndRequantize Conv2DAndReluAndRequantize Conv2DWithBias Conv2DWithBiasAndRequantize Conv2DWithBiasAndReluAndRequantize DepthwiseConv2D DepthwiseConv2DWithBias DepthwiseConv2DWithBiasAndRelu DepthwiseConv2DWithBiasAndReluAndRequantize MatMulWithBias MatMulWithBiasAndRelu MatMulWithBiasAndReluAndRequantize";
for (const op of names.split(" ")) for (const sign of /Relu/.test(op) ? [1, -1] : [1]) { // of both signs: one of them is cut off
  const bias = /Bias/.test(op), again = /Requantize/.test(op), w = [-0.5, 0.25, 0.1, 1].map((v) => v * sign), ends = sign > 0 ? [-0.5, 1] : [-1, 0.5], wide = steps(w, ...ends), product = /MatMul/.test(op);
  const dot = back.reduce((a, v, n) => a + v * wide[n], bias ? 0.25 : 0), cut = /Relu/.test(op) ? Math.max(0, dot) : dot, shape = product ? [1, 1] : [1, 1, 1, 1];
  chain(`Quantized${op}`, [product ? { ...x, shape: [1, 4] } : x, K(-1), K(2), real(product ? [4, 1] : [2, 2, 1, 1], ...w), K(ends[0]), K(ends[1]), ...(bias ? [K([0.25])] : []), ...(again ? [K(-1), K(4)] : [])],
    [...both, node("m", `Quantized${op}`, ["q", "p", ...(bias ? ["g"] : []), "q:1", "q:2", "p:1", "p:2", ...(again ? bias ? ["h", "i"] : ["g", "h"] : [])], { ...valid, ...(again && { out_type: t("DT_QUINT8") }) }), real8], ["y"], real(shape, again ? to8(cut, -1, 4) : cut));
}
chain("QuantizedRelu6", [real([4], -1, 3, 5, 9), K(-1), K(9)], [both[0], node("m", "QuantizedRelu6", ["q", "q:1", "q:2"]), real8], ["y"], real([4], ...steps([-1, 3, 5, 9], -1, 9).map((v) => clip(v, 0, 6))));
chain("Quantize", [real([3], -1, 0.31, 2), K(-1), K(2)], [node("m", "Quantize", ["a", "b", "c"], quint), real8], ["y"], real([3], ...steps([-1, 0.31, 2], -1, 2)));
for (const op of ["QuantizedConcat", "QuantizedConcatV2"]) {
  const joined = [...steps([-1, 0.5], -1, 2), ...steps([0.1, 4], 0, 4)].map((v) => to8(v, -1, 4)), two = [node("q", "QuantizeV2", ["a", "b", "c"], quint), node("p", "QuantizeV2", ["d", "e", "f"], quint)];
  chain(op, [real([1, 2], -1, 0.5), K(-1), K(2), real([1, 2], 0.1, 4), K(0), K(4), C(1)], [...two, node("m", op, op.endsWith("V2") ? ["q", "p", "g", "q:1", "p:1", "q:2", "p:2"] : ["g", "q", "p", "q:1", "p:1", "q:2", "p:2"], { N: i(2), ...quint }), real8], ["y"], real([1, 4], ...joined));
}
hand("QuantizeAndDequantize", [real([3], -2, 0.51, 1)], { num_bits: i(8), signed_input: b(true) }, real([3], -2, Math.round(0.51 * 64) / 64, 1));
hand("QuantizeAndDequantizeV4", [real([3], -1, 0.3, 0.9), K(-1), K(1)], { num_bits: i(8), range_given: b(true) }, real([3], -1, Math.round(0.3 * 127) / 127, Math.round(0.9 * 127) / 127));

// ---- lists and arrays of tensors
const items = { element_dtype: t("DT_FLOAT") }, from = (name, of) => node(name, "TensorListFromTensor", [of, "s"], items), shapeOf = (...d) => ({ name: "s", op: "Const", attr: { dtype: t("DT_INT32"), value: { tensor: { dtype: "DT_INT32", tensorShape: { dim: [{ size: String(d.length) }] }, intVal: d } } } });
const three = real([3, 2], 1, 2, 3, 4, 5, 6);
chain("TensorListGetItem", [three, one(1)], [shapeOf(2), from("l", "a"), node("y", "TensorListGetItem", ["l", "b", "s"], items)], ["y"], real([2], 3, 4));
chain("TensorListGather", [three, C([2, 0])], [shapeOf(2), from("l", "a"), node("y", "TensorListGather", ["l", "b", "s"], items)], ["y"], real([2, 2], 5, 6, 1, 2));
chain("TensorListScatter", [real([2, 2], 1, 2, 3, 4), C([2, 0])], [shapeOf(2), node("l", "TensorListScatter", ["a", "b", "s"], items), node("y", "TensorListStack", ["l", "s"], items)], ["y"], real([3, 2], 3, 4, 0, 0, 1, 2));
chain("TensorListScatterV2", [real([2, 2], 1, 2, 3, 4), C([1, 0]), C(3)], [shapeOf(2), node("l", "TensorListScatterV2", ["a", "b", "s", "c"], items), node("y", "TensorListStack", ["l", "s"], items)], ["y"], real([3, 2], 3, 4, 1, 2, 0, 0));
chain("TensorListConcat", [real([2, 2, 1], 1, 2, 3, 4)], [shapeOf(2, 1), from("l", "a"), node("y", "TensorListConcat", ["l"], { ...items, element_shape: { shape: { dim: [{ size: "2" }, { size: "1" }] } } })], ["y", "y:1"], real([4, 1], 1, 2, 3, 4), int(2, 2));
chain("TensorListConcatV2", [real([2, 2, 1], 1, 2, 3, 4), C([])], [shapeOf(2, 1), from("l", "a"), node("y", "TensorListConcatV2", ["l", "s", "b"], items)], ["y", "y:1"], real([4, 1], 1, 2, 3, 4), int(2, 2));
chain("TensorListSplit", [real([4, 1], 1, 2, 3, 4), C([2, 2])], [shapeOf(2, 1), node("l", "TensorListSplit", ["a", "s", "b"], items), node("y", "TensorListStack", ["l", "s"], items)], ["y"], real([2, 2, 1], 1, 2, 3, 4));
chain("EmptyTensorList", [real([2], 1, 2), real([2], 3, 4), C(9)], [shapeOf(2), node("e", "EmptyTensorList", ["s", "c"], items), node("l", "TensorListPushBack", ["e", "a"], items), node("m", "TensorListPushBack", ["l", "b"], items), node("y", "TensorListStack", ["m", "s"], items)], ["y"], real([2, 2], 1, 2, 3, 4));
chain("TensorListPopBack", [three], [shapeOf(2), from("l", "a"), node("p", "TensorListPopBack", ["l", "s"], items), node("z", "TensorListStack", ["p", "s"], items), node("y", "Identity", ["p:1"])], ["y", "z"], real([2], 5, 6), real([2, 2], 1, 2, 3, 4));
for (const v of ["V2", "V3"]) {
  const make = [node("r", `TensorArray${v}`, ["n"], { dtype: t("DT_FLOAT") }), { ...shapeOf(3), name: "n" }]; make[1].attr.value.tensor.tensorShape = {};
  chain(`TensorArrayRead${v}`, [real([2], 1, 2), C(1)], [...make, node("w", `TensorArrayWrite${v}`, ["r", "b", "a", "r:1"]), node("y", `TensorArrayRead${v}`, ["r", "b", "w"], { dtype: t("DT_FLOAT") })], ["y"], real([2], 1, 2));
  chain(`TensorArrayScatter${v}`, [three, C([2, 0, 1]), C([0, 2])], [...make, node("w", `TensorArrayScatter${v}`, ["r", "b", "a", "r:1"]), node("y", `TensorArrayGather${v}`, ["r", "c", "w"], { dtype: t("DT_FLOAT") }), node("z", `TensorArraySize${v}`, ["r", "w"]), node("x", `TensorArrayClose${v}`, ["r"])], ["y", "z"], real([2, 2], 3, 4, 1, 2), one(3));
  chain(`TensorArraySplit${v}`, [real([6, 1], 1, 2, 3, 4, 5, 6), C([2, 2, 2]), C([1])], [...make, node("w", `TensorArraySplit${v}`, ["r", "a", "b", "r:1"]), node("y", `TensorArrayConcat${v}`, ["r", "w"], { dtype: t("DT_FLOAT") }), node("z", `TensorArrayGather${v}`, ["r", "c", "w"], { dtype: t("DT_FLOAT") })], ["y", "y:1", "z"], real([6, 1], 1, 2, 3, 4, 5, 6), int(2, 2, 2), real([1, 2, 1], 3, 4));
}

// ---- branches and loops
const body = (name, ins, nodeDef, ret) => ({ signature: { name, inputArg: ins.map((n) => ({ name: n, type: "DT_FLOAT" })), outputArg: Object.keys(ret).map((n) => ({ name: n, type: "DT_FLOAT" })) }, nodeDef, ret });
const call = (name) => ({ func: { name } });
const minus = body("minus", ["x"], [node("r", "Neg", ["x"], reals)], { y: "r:y:0" }), square = body("square", ["x"], [node("r", "Square", ["x"], reals)], { y: "r:y:0" });
for (const op of ["If", "StatelessIf"]) for (const yes of [1, 0]) run(op, [bool([], yes), real([2], 3, -4)], [node("y", op, ["a", "b"], { then_branch: call("minus"), else_branch: call("square"), Tin: { list: { type: ["DT_FLOAT"] } }, Tout: { list: { type: ["DT_FLOAT"] } } })], ["y"], [minus, square]);
const less = body("less", ["x", "most"], [node("r", "Less", ["x", "most"], reals)], { y: "r:z:0" }), twice = body("twice", ["x", "most"], [node("r", "AddV2", ["x", "x"], reals)], { y: "r:z:0", z: "most" });
less.signature.outputArg[0].type = "DT_BOOL";
for (const op of ["While", "StatelessWhile"]) for (const first of [3, 100]) run(op, [real([], first), K(100)], [node("y", op, ["a", "b"], { cond: call("less"), body: call("twice"), T: { list: { type: ["DT_FLOAT", "DT_FLOAT"] } } })], ["y"], [less, twice]);
for (const op of ["PartitionedCall", "TPUPartitionedCall"]) chain(op, [real([2], 3, -4)], [node("y", op, op === "PartitionedCall" ? ["a"] : ["a", "b"], { f: call("square") })], ["y"], real([2], 9, 16)), cases.at(-1).library = { function: [square] };
cases.at(-1).inputs.push(C(0));
for (const ref of ["", "Ref"]) {
  const frame = { frame_name: s("loop") }, axes = { ...shapeOf(0), name: "s" };
  chain(`${ref}Enter`, [real([2], 1, 2), K(100)], [axes, node("e", `${ref}Enter`, ["a"], frame), node("g", `${ref}Enter`, ["b"], { ...frame, is_constant: b(true) }), node("k", `${ref}Enter`, ["s"], { ...frame, is_constant: b(true) }), node("m", `${ref}Merge`, ["e", "n"]), node("t", "Sum", ["m", "k"]), node("l", "Less", ["t", "g"]), node("c", "LoopCond", ["l"]),
    node("w", ref ? "RefSwitch" : "Switch", ["m", "c"]), node("d", "AddV2", ["w:1", "w:1"]), node("n", `${ref}NextIteration`, ["d"]), node("x", `${ref}Exit`, ["w"]), node("y", "Identity", ["x"])], ["y"], real([2], 64, 128));
  for (const yes of [1, 0]) chain(`${ref}Switch`, [bool([], yes), real([2], 3, -4)], [node("w", `${ref}Switch`, ["b", "a"]), node("m", "Neg", ["w:1"]), node("q", "Square", ["w"]), node("y", "Merge", ["q", "m"])], ["y", "y:1"], real([2], ...(yes ? [-3, 4] : [9, 16])), one(yes));
}

// ---- complex numbers
const parts = (...of) => [...of, node("re", "Real", ["v"]), node("im", "Imag", ["v"])], z = node("z", "Complex", ["a", "b"]), pq = [F(2, 4), F(2, 4)];
for (const op of ["FFT", "IFFT"]) run(op, pq, parts(z, node("v", op, ["z"], { Tcomplex: t("DT_COMPLEX64") })), ["re", "im"]);
run("RFFT", [F(2, 6), C([6])], parts(node("v", "RFFT", ["a", "b"])), ["re", "im"]); run("RFFT", [F(2, 5), C([5])], parts(node("v", "RFFT", ["a", "b"])), ["re", "im"]);
run("IRFFT", [F(2, 4), F(2, 4), C([6])], [z, node("y", "IRFFT", ["z", "c"])], ["y"]); run("ComplexAbs", pq, [z, node("y", "ComplexAbs", ["z"])], ["y"]);
const fft2 = (re, im, rows, columns, sign) => { const out = [[], []]; for (let u = 0; u < rows; u++) for (let v = 0; v < columns; v++) { let [a, c] = [0, 0]; for (let m = 0; m < rows; m++) for (let n = 0; n < columns; n++) { const w = sign * 2 * Math.PI * (u * m / rows + v * n / columns), k = m * columns + n; a += re[k] * Math.cos(w) - im[k] * Math.sin(w); c += re[k] * Math.sin(w) + im[k] * Math.cos(w); } out[0].push(a); out[1].push(c); } return out; };
{ const [p, q] = [F(3, 4), F(3, 4)], flat = Array(12).fill(0), scaled = (d) => real([3, 4], ...d.map((v) => v / 12)), forth = fft2(p.data, q.data, 3, 4, -1), inverse = fft2(p.data, q.data, 3, 4, 1), half = (d) => real([3, 3], ...d.filter((_, n) => n % 4 < 3));
  chain("FFT2D", [p, q], parts(z, node("v", "FFT2D", ["z"])), ["re", "im"], ...forth.map((d) => real([3, 4], ...d))); chain("IFFT2D", [p, q], parts(z, node("v", "IFFT2D", ["z"])), ["re", "im"], ...inverse.map(scaled));
  chain("RFFT2D", [p, C([3, 4])], parts(node("v", "RFFT2D", ["a", "b"])), ["re", "im"], ...fft2(p.data, flat, 3, 4, -1).map(half));
  chain("IRFFT2D", [p, C([3, 4])], [node("v", "RFFT2D", ["a", "b"]), node("y", "IRFFT2D", ["v", "b"])], ["y"], p); chain("Conj", [p, q], parts(z, node("v", "Conj", ["z"])), ["re", "im"], p, real([3, 4], ...q.data.map((v) => -v)));
  chain("ConjugateTranspose", [real([1, 2], 1, 2), real([1, 2], 3, 4), C([1, 0])], parts(z, node("v", "ConjugateTranspose", ["z", "c"])), ["re", "im"], real([2, 1], 1, 2), real([2, 1], -3, -4)); }

// ---- texts
const said = words([4], "a b  c", "", " x,y;z", "Ab1");
for (const skip of [true, false]) run("StringSplit", [said, W(" ")], [node("y", "StringSplit", ["a", "b"], { skip_empty: b(skip) })], ["y", "y:1", "y:2"]);
chain("StringSplitV2", [words([3], "a<>b<><>c", "", "d"), W("<>")], [node("y", "StringSplitV2", ["a", "b"])], ["y", "y:1", "y:2"], table(2, 0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 2, 0), words([6], "a", "b", "", "c", "", "d"), int(3, 4));
chain("StringSplitV2", [words([3], " a  b ", "", "d"), W("")], [node("y", "StringSplitV2", ["a", "b"])], ["y", "y:1", "y:2"], table(2, 0, 0, 0, 1, 2, 0), words([3], "a", "b", "d"), int(3, 2));
chain("StringSplitV2", [words([1], "a b c d"), W(" ")], [node("y", "StringSplitV2", ["a", "b"], { maxsplit: i(2) })], ["y:1"], words([3], "a", "b", "c d"));
run("StringNGrams", [words([6], "a", "bb", "c", "d", "e", "f"), C([0, 4, 4, 6])], [node("y", "StringNGrams", ["a", "b"], { separator: s("|"), ngram_widths: is(1, 3), left_pad: s("l"), right_pad: s("r"), pad_width: i(1), preserve_short_sequences: b(true) })], ["y", "y:1"]);
run("StringToHashBucketFast", [said], [node("y", "StringToHashBucketFast", ["a"], { num_buckets: i(100003) })], ["y"]);
for (const all of [true, false]) chain("StaticRegexReplace", [words([3], "a,;b,", "", ";x")], [node("y", "StaticRegexReplace", ["a"], { pattern: s("[,;]+"), rewrite: s("-"), replace_global: b(all) })], ["y"], words([3], all ? "a-b-" : "a-b,", "", "-x"));
chain("RegexReplace", [words([2], "ab12", "7"), W("[0-9]"), W("<>")], [node("y", "RegexReplace", ["a", "b", "c"], { replace_global: b(true) })], ["y"], words([2], "ab<><>", "<>"));
chain("StaticRegexFullMatch", [words([3], "ab12", "7", "")], [node("y", "StaticRegexFullMatch", ["a"], { pattern: s("[a-z]*[0-9]+") })], ["y"], bool([3], 1, 1, 0)); chain("RegexFullMatch", [words([2], "ab", "abc"), W("a.")], [node("y", "RegexFullMatch", ["a", "b"])], ["y"], bool([2], 1, 0));
chain("StringLower", [words([2], "Ab1", "ÄB")], [node("y", "StringLower", ["a"])], ["y"], words([2], "ab1", "Äb")); chain("StringUpper", [words([2], "Ab1", "äb")], [node("y", "StringUpper", ["a"])], ["y"], words([2], "AB1", "äB"));
chain("StringLower", [words([1], "ÄB")], [node("y", "StringLower", ["a"], { encoding: s("utf-8") })], ["y"], words([1], "äb"));
chain("StringStrip", [words([3], " a b\t\n", "", "c")], [node("y", "StringStrip", ["a"])], ["y"], words([3], "a b", "", "c")); chain("StringJoin", [words([2], "a", "b"), words([2], "c", ""), W("!")], [node("y", "StringJoin", ["a", "b", "c"], { separator: s("-"), N: i(3) })], ["y"], words([2], "a-c-!", "b--!"));
chain("ReduceJoin", [words([2, 2], "a", "b", "c", "d"), C([1])], [node("y", "ReduceJoin", ["a", "b"], { separator: s("+") })], ["y"], words([2], "a+b", "c+d")); chain("ReduceJoin", [words([2, 2], "a", "b", "c", "d"), C([0])], [node("y", "ReduceJoin", ["a", "b"], { keep_dims: b(true) })], ["y"], words([1, 2], "ac", "bd"));
chain("AsString", [int(7, -12)], [node("y", "AsString", ["a"], { T: t("DT_INT32") })], ["y"], words([2], "7", "-12")); chain("StringToNumber", [words([3], "1.5", "-2e3", "7")], [node("y", "StringToNumber", ["a"], { out_type: t("DT_FLOAT") })], ["y"], real([3], 1.5, -2000, 7));

// ---- tables
const kinds = { key_dtype: t("DT_STRING"), value_dtype: t("DT_FLOAT") }, filled = [T("cat", "dog"), K([5, 7])], asked = [...filled, words([3], "dog", "hen", "cat"), K(-1)];
for (const [make, fill, find, size, give] of [["HashTable", "InitializeTable", "LookupTableFind", "LookupTableSize", "LookupTableExport"], ["HashTableV2", "InitializeTableV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2"], ["MutableHashTable", "LookupTableImport", "LookupTableFind", "LookupTableSize", "LookupTableExport"],
  ["MutableHashTableV2", "LookupTableImportV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2"], ["AnonymousHashTable", "InitializeTableV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2"], ["AnonymousMutableHashTable", "LookupTableImportV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2"]])
  chain(make, asked, [node("t", make, [], kinds), node("u", fill, ["t", "a", "b"]), node("y", find, ["t", "c", "d"]), node("n", size, ["t"]), node("x", give, ["t"])], ["y", "n", "x:1"], real([3], 7, -1, 5), one(2), real([2], 5, 7));

// ---- sizes that are open: those of lists are their own
for (const c of cases.filter((c) => ["Roll", "DenseBincount", "SegmentSum", "UnsortedSegmentMax", "SpaceToDepth", "ReverseSequence", "ClipByValue", "LeakyRelu", "Gather", "AddV2", "ResizeBilinear", "DynamicStitch", "OneHot", "Unique", "SparseSegmentMean", "CumulativeLogsumexp", "TensorScatterMax", "MatrixDiag"].includes(c.name ?? c.op) && !c.library && !c.nodes).filter((c, n, all) => all.findIndex((d) => d.op === c.op) === n))
  cases.push({ ...c, open: true, inputs: c.op === "AddV2" ? [F(4), F(1)] : c.inputs });
