// byte_cases.h - the graphs of cuda_kernels_test.c with numbers of 8 bits: what quantized models are made of. Integers must have the
// same bits as those of `eval`, and real numbers too in class fused.
#ifndef TESTS_CUDA_BYTE_CASES_H
#define TESTS_CUDA_BYTE_CASES_H

#include "cuda/kernel_cases.h"

// Scales and zero points of two operands and a result.
#define SCALES                         \
    "const as: f32[] = {0.0173}\n    " \
    "const bs: f32[] = {0.0031}\n    " \
    "const ys: f32[] = {0.0447}\n    "
#define ZEROS "const az: u8[] = {131}\n    const bz: i8[] = {0}\n    const yz: u8[] = {117}\n    "

static const KernelCase byte_cases[] = {
    // products: signed or not, with and without zero points, which are constants or not
    {.inputs = "a: u8[$,37], b: i8[37,21]", .body = "y = MatMulInteger@10(a, b)"},
    {.inputs = "a: i8[$,37], b: u8[37,21]", .body = "y = MatMulInteger@10(a, b)"},
    {.inputs = "a: u8[5,$], b: u8[$,33], az: u8[], bz: u8[]", .body = "y = MatMulInteger@10(a, b, az, bz)"},
    {.inputs = "a: i8[2,$], b: i8[$,70], az: i8[1], bz: i8[70]", .body = "y = MatMulInteger@10(a, b, az, bz)"},
    {.inputs = "a: u8[3,2,4,$], b: i8[2,$,6], az: u8[], bz: i8[]", .body = "y = MatMulInteger@10(a, b, az, bz)"},
    {.inputs = "a: u8[2,1,4,16], b: i8[1,$,16,6]", .body = "y = MatMulInteger@10(a, b)", .most = 17},
    {.inputs = "a: u8[$,40], b: i8[40,24]", .body = SCALES ZEROS "y = QLinearMatMul@10(a, as, az, b, bs, bz, ys, yz)"},
    {.inputs = "a: i8[$,40], b: u8[40,24], az: i8[], bz: u8[]",
     .body   = SCALES "const yz: i8[] = {-5}\n    y = QLinearMatMul@10(a, as, az, b, bs, bz, ys, yz)"},
    {.inputs = "a: u8[3,$], b: i8[$,17], az: u8[], bz: i8[17]",
     .body =
         "const as: f32[] = {0.25}\n    const bs: f32[17] = {0.5, 1, 2, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6}\n    "
         "const ys: f32[] = {9.3}\n    const yz: u8[] = {128}\n    y = QLinearMatMul@10(a, as, az, b, bs, bz, ys, yz)"},
    {.inputs = "a: u8[4,2,7,$], b: u8[4,2,$,9], az: u8[], bz: u8[]",
     .body   = SCALES "const yz: u8[] = {3}\n    y = QLinearMatMul@10(a, as, az, b, bs, bz, ys, yz)"},
    {.inputs = "a: u8[$,40], b: i8[40,24], s: f32[1], az: u8[1]",
     .body   = "const bs: f32[] = {0.01}\n    y = com.microsoft::MatMulIntegerToFloat@1(a, b, s, bs, az)"},
    {.inputs = "a: u8[7,$], b: i8[$,3], c: f32[3]",
     .body   = "const as: f32[] = {0.7}\n    const bs: f32[3] = {0.01, 0.02, 0.03}\n    const az: u8[] = {12}\n    "
               "const bz: i8[3] = {1, 0, -7}\n    y = com.microsoft::MatMulIntegerToFloat@1(a, b, as, bs, az, bz, c)"},
    {.inputs = "a: u8[$,5], b: i8[6,5]",
     .body   = SCALES ZEROS "const c: i32[6] = {1, -2000, 3, 40000, -5, 6}\n    "
                            "y = com.microsoft::QGemm@1(a, as, az, b, bs, bz, c, ys, yz) {transB=1}"},
    {.inputs = "a: i8[$,5]",
     .body   = "const b: i8[5,3] = {1, 2, 3, 4, 5, 6, 7, 8, -9, 10, -11, 12, 127, -128, 0}\n    "
               "const as: f32[] = {0.5}\n    const bs: f32[3] = {1, 0.1, 0.01}\n    const az: i8[] = {-3}\n    "
               "const bz: i8[] = {2}\n    y = com.microsoft::QGemm@1(a, as, az, b, bs, bz)"},
    {.inputs = "a: u8[$,4]",
     .body   = "const b: u8[4,3] = {1, 2, 3, 4, 5, 255, 7, 128, 9, 10, 0, 12}\n    const az: u8[] = {200}\n    "
               "const bz: u8[3] = {128, 128, 128}\n    y = MatMulInteger@10(a, b, az, bz)"},
    {.inputs = "a: u8[17,1024], b: i8[1024,$]", .body = "y = MatMulInteger@10(a, b)", .most = 17}, // k in parts
    // convolutions: as they are written, and with channels last
    {.inputs = "x: u8[2,3,9,$], w: i8[5,3,3,2], xz: u8[], wz: i8[5]",
     .body   = "y = ConvInteger@10(x, w, xz, wz) {pads=[1,0,2,1], strides=[2,1]}",
     .least  = 15,
     .most   = 17},
    {.inputs = "x: i8[1,4,$], w: i8[4,1,3]", .body = "y = ConvInteger@10(x, w) {group=4, dilations=[2]}", .least = 15},
    {.inputs = "x: u8[1,2,3,4,$], w: u8[3,2,2,2,2]", .body = "y = ConvInteger@10(x, w)", .least = 15, .most = 17},
    {.inputs = "x: u8[1,6,$,5], w: i8[6,1,3,3]",
     .body   = SCALES ZEROS "const c: i32[6] = {1, -2000, 3, 4000, -5, 6}\n    "
                            "y = QLinearConv@10(x, as, az, w, bs, bz, ys, yz, c) {group=6, pads=[1,1,1,1]}",
     .least  = 15,
     .most   = 17},
    {.inputs = "x: u8[2,$,7,5]",
     .body   = SCALES ZEROS
     "const w: i8[3,5,2,2] = {$W60}\n    "
     "y = com.microsoft::QLinearConv@1(x, as, az, w, bs, bz, ys, yz) {channels_last=1, pads=[1,0,1,1]}",
     .least = 1,
     .most  = 17},
    {.inputs = "x: i8[1,$,6,2]",
     .body =
         "const w: i8[5,2,3,3] = {$W90}\n    const xs: f32[] = {0.1}\n    const ws: f32[5] = {0.1, 0.2, 0.3, 0.4, 0.5}\n    "
         "const xz: i8[] = {0}\n    const wz: i8[5] = {1, 2, 3, 0, -4}\n    const ys: f32[] = {2.5}\n    const yz: i8[] = {7}\n    "
         "const c: i32[5] = {100, -100, 0, 5, 9}\n    "
         "y = com.microsoft::QLinearConv@1(x, xs, xz, w, ws, wz, ys, yz, c) {channels_last=1, pads=[1,1,1,1], strides=[1,2]}",
     .least = 1,
     .most  = 17},
    {.inputs = "x: u8[1,$,6,16], xz: u8[], xs: f32[], b: f32[3]",
     .body =
         "const w: u8[3,16,1,1] = {$U48}\n    const ws: f32[3] = {0.01, 0.02, 0.03}\n    const wz: u8[3] = {128, 5, 255}\n    "
         "y = hologram::ConvIntegerToFloat@1(x, w, xs, ws, xz, wz, b) {channels_last=1}",
     .least = 1,
     .most  = 300},
    {.inputs = "x: u8[1,$,3,32], xz: u8[]",
     .body =
         "const w: i8[4,16,2,1] = {$W128}\n    const xs: f32[] = {0.1}\n    const ws: f32[] = {0.02}\n    "
         "y = hologram::ConvIntegerToFloat@1(x, w, xs, ws, xz) {channels_last=1, group=2, pads=[1,0,0,0], dilations=[2,1]}",
     .least = 15,
     .most  = 17},
    {.inputs = "x: i8[2,$,3]",
     .body =
         "const w: i8[2,3,3] = {$W18}\n    const xs: f32[] = {0.1}\n    const ws: f32[] = {0.02}\n    const xz: i8[] = {-3}\n    "
         "y = hologram::ConvIntegerToFloat@1(x, w, xs, ws, xz) {channels_last=1, pads=[2,1]}",
     .least = 1,
     .most  = 17},
    // to bytes and back
    {.inputs = "x: f32[3,$]", .body = SCALES ZEROS "y = QuantizeLinear@13(x, as, az)", .is_hard = true},
    {.inputs = "x: f32[3,$]", .body = "const s: f32[] = {0.3}\n    y = QuantizeLinear@13(x, s)"},
    {.inputs = "x: f32[2,3,$]",
     .body =
         "const s: f32[3] = {0.01, 0.2, 3}\n    const z: i8[3] = {0, -100, 9}\n    y = QuantizeLinear@13(x, s, z) {axis=1}"},
    {.inputs = "x: f32[4,$], s: f32[2,$]",
     .body   = "y = QuantizeLinear@21(x, s) {axis=0, block_size=2, output_dtype=3}"},
    {.inputs = "x: f32[$]",
     .body   = "const s: f32[] = {0.0001}\n    const z: i16[] = {-12}\n    y = QuantizeLinear@21(x, s, z)"},
    {.inputs = "x: u8[$,7], z: u8[]", .body = "const s: f32[] = {0.0173}\n    y = DequantizeLinear@13(x, s, z)"},
    {.inputs = "x: i8[5,$]",
     .body   = "const s: f32[5] = {0.1, 0.2, 0.3, 0.4, 0.5}\n    y = DequantizeLinear@13(x, s) {axis=0}"},
    {.inputs = "x: i16[$]", .body = "const s: f32[] = {0.01}\n    y = DequantizeLinear@21(x, s)"},
    {.inputs = "x: f32[7,$]", .body = "y, s, z = DynamicQuantizeLinear@11(x)", .outputs = "y, s, z", .most = 4096},
    {.inputs  = "x: f32[$]",
     .body    = "y, s, z = DynamicQuantizeLinear@11(x)",
     .outputs = "y, s, z",
     .least   = 4096,
     .most    = 4096},
    // floats of 8 bits
    {.inputs = "x: f32[$]", .body = "y = Cast@19(x) {to=17}", .is_hard = true},
    {.inputs = "x: f32[$]", .body = "y = Cast@19(x) {to=18, saturate=0}", .is_hard = true},
    {.inputs = "x: f32[$]", .body = "y = Cast@19(x) {to=19, saturate=0}", .is_hard = true},
    {.inputs = "x: f32[$]", .body = "y = Cast@19(x) {to=20}", .is_hard = true},
    {.inputs = "x: f16[$]", .body = "y = Cast@19(x) {to=17}", .is_hard = true},
    {.inputs = "x: f8e4m3fn[$]", .body = "y = Cast@19(x) {to=1}"},
    {.inputs = "x: f8e5m2[$]", .body = "y = Cast@19(x) {to=10}"},
    {.inputs = "x: f8e5m2fnuz[$]", .body = "y = Cast@19(x) {to=1}"},
    {.inputs = "x: f8e4m3fnuz[$]", .body = "y = Cast@19(x) {to=16}"},
    {.inputs  = "x: f32[$]",
     .body    = "const s: f32[] = {0.07}\n    y = QuantizeLinear@21(x, s) {output_dtype=17}",
     .is_hard = true},
    {.inputs = "x: f8e5m2[3,$]",
     .body   = "const s: f32[3] = {0.5, 3, 0.01}\n    y = DequantizeLinear@21(x, s) {axis=0}"},
    // their products: scales of rows and columns, which are constants or not
    {.inputs = "a: f8e4m3fn[$,21]",
     .body   = "const b: f8e4m3fn[21,3] = {$W63}\n    const s: f32[] = {0.5}\n    const w: f32[] = {0.25}\n    "
               "y = hologram::MatMulFloat8@1(a, b, s, w)",
     .within = 1e-4},
    {.inputs = "a: f8e5m2[2,$,16], s: f32[2,$,1]",
     .body   = "const b: f8e4m3fn[5,16] = {$W80}\n    const w: f32[5] = {0.5, 1, -2, 0.125, 0.0001}\n    "
               "const c: f32[5] = {0.5, -7, 100, 0, 1}\n    y = hologram::MatMulFloat8@1(a, b, s, w, c) {transB=1}",
     .within = 1e-4},
    {.inputs = "a: f8e4m3fn[$,4], w: f32[4], s: f32[1]",
     .body =
         "const b: f8e5m2[4,4] = {0.0000152587890625, nan, 57344, -0.00006103515625, 1, inf, -1, 0, 3, -2, 0.25, -0.0, 5, 1, 1, 1}\n    "
         "y = hologram::MatMulFloat8@1(a, b, s, w)",
     .within  = 1e-4,
     .is_hard = true},
    {.inputs  = "a: f8e5m2[$,12]",
     .body    = "const b: f8e4m3fn[12,1] = {1, -2, 0.25, 448, nan, -0.001953125, 0, 3.5, -0.0, 240, -448, 0.0625}\n    "
                "const s: f32[] = {1}\n    y = hologram::MatMulFloat8@1(a, b, s, s)",
     .within  = 1e-4,
     .is_hard = true},
    {.inputs = "a: f8e4m3fn[$,200]",
     .body =
         "const b: f8e5m2[200,2] = {$W400}\n    const s: f32[] = {0.01}\n    y = hologram::MatMulFloat8@1(a, b, s, s)",
     .within = 1e-3,
     .most   = 17},
    {.inputs = "a: f8e5m2[$,16]",
     .body =
         "const b: f8e5m2[16,2] = {$W32}\n    const s: f32[] = {0.01}\n    y = hologram::MatMulFloat8@1(a, b, s, s)",
     .within = 1e-3},
    {.inputs = "a: f8e4m3fn[$,16], c: f8e4m3fn[3,16]", // one matrix of two products is not packed
     .body =
         "const b: f8e4m3fn[16,7] = {$W112}\n    const s: f32[] = {0.01}\n    y = hologram::MatMulFloat8@1(a, b, s, s)\n    "
         "z = hologram::MatMulFloat8@1(c, b, s, s)",
     .within  = 1e-3,
     .outputs = "y, z"},
    // two operands, tables, windows
    {.inputs = "a: u8[2,$,5], b: u8[$,1]",
     .body   = SCALES "const z: u8[] = {99}\n    y = com.microsoft::QLinearAdd@1(a, as, z, b, bs, z, ys, z)"},
    {.inputs = "a: i8[$], b: i8[$]",
     .body   = SCALES "const z: i8[] = {-9}\n    y = com.microsoft::QLinearAdd@1(a, as, z, b, as, _, bs, z)"},
    {.inputs = "a: u8[2,$,5], b: u8[2,1,5], az: u8[], s: f32[]",
     .body   = SCALES "y = com.microsoft::QLinearMul@1(a, s, az, b, bs, _, ys)"},
    {.inputs = "x: i8[3,$], t: f32[256]", .body = "y = hologram::Lookup@1(x, t)"},
    {.inputs = "x: u8[3,$], t: u8[256]", .body = "y = hologram::Lookup@1(x, t)"},
    {.inputs = "x: f16[3,$], t: f16[65536]", .body = "y = hologram::Lookup@1(x, t)"},
    {.inputs = "x: i8[3,$], z: u8[3,$], t: i8[65536]", .body = "y = hologram::LookupPair@1(x, z, t)"},
    {.inputs = "x: u8[2,3,9,$]",
     .body   = "y = MaxPool@12(x) {kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,1]}",
     .least  = 15},
    {.inputs = "x: i8[2,9,$,5]",
     .body   = "y = com.microsoft::NhwcMaxPool@1(x) {kernel_shape=[3,2], pads=[1,0,1,1]}",
     .least  = 15},
    {.inputs = "x: u8[2,9,$,5]",
     .body   = SCALES ZEROS
     "y = com.microsoft::QLinearAveragePool@1(x, as, az, bs, yz) {kernel_shape=[3,2], pads=[1,0,1,1], channels_last=1}",
     .least = 15},
    {.inputs = "x: i8[2,5,9,$]",
     .body   = SCALES
     "const z: i8[] = {4}\n    y = com.microsoft::QLinearAveragePool@1(x, as, z, ys) {kernel_shape=[3,2], pads=[1,0,1,1], count_include_pad=1}",
     .least = 15},
    {.inputs = "x: u8[2,5,9,$]",
     .body   = SCALES ZEROS "y = com.microsoft::QLinearGlobalAveragePool@1(x, as, az, as, yz)",
     .least  = 1},
    {.inputs = "x: i8[2,9,$,5]",
     .body   = SCALES
     "const z: i8[] = {4}\n    y = com.microsoft::QLinearGlobalAveragePool@1(x, as, z, bs, z) {channels_last=1}",
     .least = 1},
};

// Models as exporters write them, for x alone, and how many products of bytes, and of floats of 8 bits, become of them.
typedef struct QuantizedCase {
    KernelCase graph;
    int        products, float8;
} QuantizedCase;

static const QuantizedCase quantized_cases[] = {
    // two convolutions, one of them of each channel by itself, a residual, a pool and a product
    {.products = 3,
     .graph =
         {
             .inputs = "x: f32[2,3,10,8]",
             .body =
                 "const s: f32[] = {0.01}\n    const z: u8[] = {120}\n    const t: f32[] = {0.2}\n    const u: u8[] = {90}\n    "
                 "const ws: f32[] = {0.004}\n    const w: i8[4,3,3,3] = {$W108}\n    const v: i8[4,1,3,3] = {$W36}\n    "
                 "const m: i8[4,5] = {$W20}\n    const wz: i8[] = {0}\n    const bs: f32[] = {0.00004}\n    "
                 "const b: i32[4] = {100, -2000, 3, 4000}\n    const bz: i32[] = {0}\n    const shape: i64[2] = {2, 4}\n    "
                 "xq = QuantizeLinear@13(x, s, z)\n    xd = DequantizeLinear@13(xq, s, z)\n    "
                 "wd = DequantizeLinear@13(w, ws, wz)\n    vd = DequantizeLinear@13(v, ws, wz)\n    "
                 "md = DequantizeLinear@13(m, ws, wz)\n    bd = DequantizeLinear@13(b, bs, bz)\n    "
                 "c1 = Conv@11(xd, wd, bd) {pads=[1,1,1,1]}\n    q1 = QuantizeLinear@13(c1, t, u)\n    "
                 "d1 = DequantizeLinear@13(q1, t, u)\n    c2 = Conv@11(d1, vd) {group=4, pads=[1,1,1,1]}\n    "
                 "q2 = QuantizeLinear@13(c2, t, u)\n    d2 = DequantizeLinear@13(q2, t, u)\n    a = Add@13(d1, d2)\n    "
                 "q3 = QuantizeLinear@13(a, t, u)\n    d3 = DequantizeLinear@13(q3, t, u)\n    p = GlobalAveragePool@1(d3)\n    "
                 "q4 = QuantizeLinear@13(p, t, u)\n    d4 = DequantizeLinear@13(q4, t, u)\n    r = Reshape@13(d4, shape)\n    "
                 "y = MatMul@13(r, md)",
         }},
    // products of floats of 8 bits: a scale for each column; turned weights, a bias that is added, scales of rows
    {.float8 = 1,
     .graph =
         {.inputs = "x: f32[9,4]",
          .within = 1e-5,
          .body =
              "const s: f32[] = {0.0625}\n    const w: f8e4m3fn[4,5] = {$W20}\n    const ws: f32[5] = {0.125, 0.25, 0.5, 1, 2}\n    "
              "q = QuantizeLinear@21(x, s) {output_dtype=17}\n    d = DequantizeLinear@21(q, s)\n    "
              "wd = DequantizeLinear@21(w, ws) {axis=1}\n    y = MatMul@13(d, wd)"}},
    {.float8 = 2,
     .graph =
         {.inputs = "x: f32[9,4]",
          .within = 1e-4,
          .body =
              "const s: f32[9] = {0.5, 1, 2, 0.25, 0.125, 0.0625, 1, 1, 3}\n    const w: f8e4m3fn[5,4] = {$W20}\n    "
              "const v: f8e5m2[3,4] = {$W12}\n    const ws: f32[5] = {0.125, 0.25, 0.5, 1, 2}\n    const vs: f32[3] = {1, 0.01, 2}\n    "
              "const b: f32[5] = {100, -200, 0, 1, 2}\n    const c: f32[3] = {1, 2, 3}\n    const z: f8e4m3fn[5] = {0, 0, 0, 0, 0}\n    "
              "q = QuantizeLinear@21(x, s) {output_dtype=17, axis=0}\n    d = DequantizeLinear@21(q, s) {axis=0}\n    "
              "wd = DequantizeLinear@21(w, ws, z) {axis=0}\n    wt = Transpose@13(wd) {perm=[1, 0]}\n    m = MatMul@13(d, wt)\n    "
              "r = Add@14(b, m)\n    p = Cast@19(x) {to=19}\n    e = Cast@19(p) {to=1}\n    "
              "vd = DequantizeLinear@21(v, vs) {axis=0}\n    g = Gemm@13(e, vd, c) {transB=1}\n    y = Concat@13(r, g) {axis=1}"}},
    // those of other forms stay products of the class
    {.graph =
         {.inputs = "x: f32[9,4]",
          .within = 1e-4,
          .body =
              "const s: f32[] = {0.5}\n    const w: f8e4m3fnuz[4,5] = {$W20}\n    q = QuantizeLinear@21(x, s) {output_dtype=18}\n    "
              "d = DequantizeLinear@21(q, s)\n    wd = DequantizeLinear@21(w, s)\n    y = MatMul@13(d, wd)"}},
    // scales of each run
    {.products = 1,
     .graph =
         {.inputs = "x: f32[3,4]",
          .body =
              "const w: i8[4,5] = {$W20}\n    const ws: f32[] = {0.03}\n    q, s, z = DynamicQuantizeLinear@11(x)\n    "
              "y = com.microsoft::MatMulIntegerToFloat@1(q, w, s, ws, z)"}},
};

#undef SCALES
#undef ZEROS

#endif
