// int8_test.c - kernels of 8-bit integers: as the compiler chooses them, on every table, against the operators'
// own eval, to the bit; packed weights against plain ones.
#include "unit/kernels/int8_case.h"

// ---- values

static const int64_t sizes[][3] = {{1, 1, 1},   {3, 17, 5},    {8, 16, 2},    {13, 33, 1030}, {100, 150, 64},
                                   {5, 4, 0},   {1, 300, 513}, {25, 65, 3},   {2, 16, 2051},  {800, 270, 12},
                                   {12, 32, 8}, {9, 40, 1100}, {3, 33, 2048}, {1, 250, 2048}, {1, 139, 68}};

static void matmul_integer(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int v = 0; v < 8; v++) {
            int64_t   m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            HoloDtype a = v & 1 ? HOLO_I8 : HOLO_U8, b = v & 2 ? HOLO_I8 : HOLO_U8;
            Case      c = {.op = "MatMulInteger", .version = 10, .in_count = v & 4 ? 4 : 2};
            c.in[0]     = v & 1 ? bytes(a, 2, (int64_t[]){m, k}) : bytes(a, 3, (int64_t[]){2, m, k});
            c.in[1]     = bytes(b, 2, (int64_t[]){k, n});
            if (v & 4) c.in[2] = bytes(a, 0, NULL), c.in[3] = bytes(b, v & 1, (int64_t[]){n});
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
        }
}

// Matrices times matrices: as many of both, or those of one for each of the other.
static const struct {
    int     a_rank, b_rank;
    int64_t a[5], b[5];
} batches[] = {
    {3, 3, {3, 5, 17}, {3, 17, 9}},
    {4, 4, {2, 3, 33, 16}, {2, 3, 16, 33}},
    {4, 3, {2, 3, 4, 5}, {1, 5, 6}},
    {4, 4, {2, 1, 4, 5}, {1, 3, 5, 70}},
    {2, 3, {7, 8}, {4, 8, 3}},
    {3, 4, {4, 1, 9}, {2, 1, 9, 16}},
    {3, 3, {2, 100, 1030}, {2, 1030, 65}},
    {3, 3, {0, 4, 5}, {0, 5, 6}},
    {3, 3, {2, 0, 5}, {2, 5, 6}},
    {4, 3, {2, 2, 3, 0}, {2, 0, 4}},
    {5, 5, {2, 1, 2, 3, 4}, {1, 3, 1, 4, 5}},
    {3, 3, {1, 1, 1}, {1, 1, 1}},
};

static void batched(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(batches); i++)
        for (int v = 0; v < 4; v++) {
            HoloDtype a = v & 1 ? HOLO_I8 : HOLO_U8, b = v & 2 ? HOLO_I8 : HOLO_U8;
            Case      c = {.op = "MatMulInteger", .version = 10, .in_count = 4};
            c.in[0]     = bytes(a, batches[i].a_rank, batches[i].a);
            c.in[1]     = bytes(b, batches[i].b_rank, batches[i].b);
            c.in[2] = bytes(a, 0, NULL), c.in[3] = bytes(b, 0, NULL);
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
            c       = (Case){.op = "QLinearMatMul", .version = 10, .in_count = 8};
            c.in[0] = bytes(a, batches[i].a_rank, batches[i].a);
            c.in[1] = scales(0, 0, 0.01f);
            c.in[2] = bytes(a, 0, NULL);
            c.in[3] = bytes(b, batches[i].b_rank, batches[i].b);
            c.in[4] = scales(0, 0, 0.01f);
            c.in[5] = bytes(b, 0, NULL);
            c.in[6] = scales(0, 0, 0.01f * (float)(1 + batches[i].b[batches[i].b_rank - 2]));
            c.in[7] = bytes(a, 0, NULL);
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
        }
}

// Sums as large as they get: nothing may saturate on the way, and beyond 32 bits they wrap, at every level alike.
static void extremes(void **state)
{
    const int64_t shapes[][3] = {{14, 200, 40}, {3, 32768, 17}, {7, 33026, 16}, {2, 100003, 3}};
    (void)state;
    for (int v = 0; v < 16 * HOLO_COUNT(shapes); v++) {
        const int64_t *s = shapes[v / 16];
        HoloDtype      a = v & 1 ? HOLO_I8 : HOLO_U8, b = v & 2 ? HOLO_I8 : HOLO_U8;
        Case           c = {.op = "MatMulInteger", .version = 10, .in_count = 4};
        c.in[0]          = bytes(a, 2, (int64_t[]){s[0], s[1]});
        c.in[1]          = bytes(b, 2, (int64_t[]){s[1], s[2]});
        c.in[2]          = bytes(a, 0, NULL);
        c.in[3]          = bytes(b, 0, NULL);
        memset(c.in[0].data, v & 4 ? 0x80 : v & 1 ? 0x7F : 0xFF, (size_t)(s[0] * s[1]));
        memset(c.in[1].data, v & 8 ? 0x80 : v & 2 ? 0x7F : 0xFF, (size_t)(s[1] * s[2]));
        *(uint8_t *)c.in[2].data = v & 4 ? (v & 1 ? 0x7F : 0xFF) : (v & 1 ? 0x80 : 0);
        *(uint8_t *)c.in[3].data = v & 8 ? (v & 2 ? 0x7F : 0xFF) : (v & 2 ? 0x80 : 0);
        check_lowered(&c, HOLO_KERNEL_matmul_i8);
    }
}

// Where sums are scaled they must not wrap: the longest product that cannot is the longest that the kernel takes, by
// the types or, of constants, by what they are.
static const struct {
    HoloDtype dtype;
    uint8_t   byte;
    int64_t   k;
    bool      constant, fits;
} bounds[] = {
    {HOLO_U8, 0xFF, 33025, false, true},  {HOLO_U8, 0xFF, 33026, false, false},   {HOLO_I8, 0x80, 65793, false, true},
    {HOLO_I8, 0x80, 65794, false, false}, {HOLO_I8, 0x81, 50176, true, true},     {HOLO_I8, 0x81, 66311, true, true},
    {HOLO_I8, 0x81, 66312, true, false},  {HOLO_U8, 0x10, 33026 * 8, true, true},
};

static void scaled_bound(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(bounds); i++) {
        int64_t k = bounds[i].k;
        Case    c = {.op = "MatMulIntegerToFloat", .domain = "com.microsoft", .version = 1, .in_count = 4};
        c.in[0]   = bytes(HOLO_U8, 2, (int64_t[]){1, k});
        c.in[1]   = bytes(bounds[i].dtype, 2, (int64_t[]){k, 17});
        c.in[2]   = scales(0, 0, 0.001f);
        c.in[3]   = scales(0, 0, 0.001f);
        memset(c.in[0].data, 0xFF, (size_t)k);
        memset(c.in[1].data, bounds[i].byte, (size_t)k * 17);
        HoloLowering lowering = case_lowering(&c, bounds[i].constant);
        if ((lowering.kernel == HOLO_KERNEL_matmul_i8) != bounds[i].fits) fail_msg("case %d: k %lld", i, (long long)k);
        // Where it is not chosen, k may be known only when it runs: then eval does it.
        c.kernel = HOLO_KERNEL_matmul_i8;
        if (bounds[i].fits) memcpy(&c.params, lowering.params, sizeof lowering.params);
        ((HoloMatmulI8Params *)(void *)&c.params)->flags &= HOLO_MATMUL_I8_FITS; // B lies as it is
        check_case(&c);
    }
}

static void qlinear_matmul(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int v = 0; v < 4; v++) {
            int64_t   m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            HoloDtype a = v & 1 ? HOLO_I8 : HOLO_U8, b = v & 2 ? HOLO_I8 : HOLO_U8;
            Case      c = {.op = "QLinearMatMul", .version = 10, .in_count = 8};
            c.in[0]     = bytes(a, 2, (int64_t[]){m, k});
            c.in[1]     = scales(0, 0, 0.1f);
            c.in[2]     = bytes(a, 0, NULL);
            c.in[3]     = bytes(b, 2, (int64_t[]){k, n});
            c.in[4]     = scales(v & 1, n, 0.01f);
            c.in[5]     = bytes(b, v & 1, &n);
            c.in[6]     = scales(0, 0, 0.05f * (float)(k + 1));
            c.in[7]     = bytes(v & 1 ? HOLO_U8 : HOLO_I8, 0, NULL);
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
        }
}

static void integer_to_float(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int v = 0; v < 4; v++) {
            int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            Case c = {.op = "MatMulIntegerToFloat", .domain = "com.microsoft", .version = 1, .in_count = v & 2 ? 7 : 4};
            c.in[0] = bytes(HOLO_U8, 3, (int64_t[]){2, m, k});
            c.in[1] = bytes(HOLO_I8, 2, (int64_t[]){k, n});
            c.in[2] = scales(0, 0, 0.001f);
            c.in[3] = scales(v & 1, n, 0.001f);
            if (v & 2) c.in[4] = bytes(HOLO_U8, 0, NULL), c.in[5] = bytes(HOLO_I8, 0, NULL), c.in[6] = TENSOR(n);
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
        }
}

static void qgemm(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int v = 0; v < 8; v++) {
            int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            Case    c = {.op = "QGemm", .domain = "com.microsoft", .version = 1, .in_count = v & 4 ? 9 : 6};
            c.in[0]   = bytes(HOLO_U8, 2, (int64_t[]){m, k});
            c.in[1]   = scales(0, 0, 0.1f);
            c.in[2]   = bytes(HOLO_U8, 0, NULL);
            c.in[3]   = v & 1 ? bytes(HOLO_I8, 2, (int64_t[]){n, k}) : bytes(HOLO_I8, 2, (int64_t[]){k, n});
            c.in[4]   = scales(1, v & 2 ? n : 1, 0.01f);
            c.in[5]   = bytes(HOLO_I8, 1, (int64_t[]){v & 2 ? n : 1});
            if (v & 4) c.in[6] = integers(n);
            if (v & 4) c.in[7] = scales(0, 0, 0.1f * (float)(k + 1)), c.in[8] = bytes(HOLO_U8, 0, NULL);
            if (v & 1) attr_int(&c, "transB", 1);
            check_lowered(&c, HOLO_KERNEL_matmul_i8);
        }
}

// ---- packed weights

// From 2 on of v: unsigned rows, and columns whose zero point is 0.
static void packed(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int v = 0; v < 4; v++) {
            int64_t   n = sizes[i][1], k = sizes[i][2], m = v & 2 ? 130 : 7;
            int       transposed = v & 1;
            HoloDtype a          = v & 2 ? HOLO_U8 : HOLO_I8;
            if (!k) continue;
            HoloTensor   b = transposed ? bytes(HOLO_I8, 2, (int64_t[]){n, k}) : bytes(HOLO_I8, 2, (int64_t[]){k, n});
            HoloLowering lowering = {.kernel = HOLO_KERNEL_matmul_i8, .pack_input = 3, .pack_transposed = transposed};
            uint8_t     *form     = packed_weights(&lowering, &b);
            const HoloKernelTable *kernels;
            Case                   c = {
                                  .op = "QGemm", .domain = "com.microsoft", .version = 1, .in_count = 6, .kernel = HOLO_KERNEL_matmul_i8};
            c.in[0] = bytes(a, 2, (int64_t[]){m, k});
            c.in[1] = scales(0, 0, 0.1f);
            c.in[2] = bytes(a, 0, NULL);
            c.in[3] = b;
            c.in[4] = scales(0, 0, 0.01f);
            c.in[5] = bytes(HOLO_I8, 0, NULL);
            if (v & 2) *(int8_t *)c.in[5].data = 0;
            attr_int(&c, "transB", transposed);
            HoloMatmulI8Params params = {.size = sizeof params, .flags = HOLO_MATMUL_I8_PACKED_B};
            memcpy(&c.params, &params, sizeof params);
            float *want  = run_eval(&c);
            c.in[3].data = form;
            for (int t = 0; (kernels = holo_kernels_at(t / 2)); t++) {
                float *got = run_kernel(&c, kernels, t % 2 ? 3 : 1);
                expect_same(got, want, m * n);
                free(got);
            }
            c.in[3].data = b.data;
            free(want), free(form);
            for (int j = 0; j < c.in_count; j++) free(c.in[j].data);
        }
}

// ---- pool_i8 and pair_i8

static void pools(void **state)
{
    (void)state;
    static const int64_t shapes[][5] = {{1, 1, 1, 1}, {2, 9, 7, 17}, {1, 5, 40, 1}, {1, 4, 4, 1030}, {0, 4, 4, 3}};
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        for (int t = 0; t < 8; t++) {
            HoloDtype x         = t & 1 ? HOLO_I8 : HOLO_U8;
            int64_t   kernel[2] = {3, 2}, pads[4] = {1, 1, 2, 0}, strides[2] = {2, 1};
            Case      c = {.op       = t & 2 ? "QLinearAveragePool" : "NhwcMaxPool",
                           .domain   = "com.microsoft",
                           .version  = 1,
                           .in_count = t & 2 ? 5 : 1};
            c.in[0]     = bytes(x, 4, shapes[i]);
            if (t & 2) {
                c.in[1] = scales(0, 0, 0.1f), c.in[2] = bytes(x, 0, NULL);
                c.in[3] = scales(0, 0, 0.07f), c.in[4] = bytes(x, 0, NULL);
                attr_int(&c, "channels_last", 1);
                attr_int(&c, "count_include_pad", t >> 2);
            }
            attr_ints(&c, "kernel_shape", 2, kernel);
            attr_ints(&c, "strides", 2, strides);
            attr_ints(&c, "pads", 4, pads);
            check_lowered(&c, HOLO_KERNEL_pool_i8);
        }
}

static void pools_of_all(void **state)
{
    (void)state;
    static const struct {
        int     rank;
        int64_t x[5];
    } shapes[] = {{4, {1, 1, 1, 1}},     {4, {2, 7, 7, 300}}, {3, {1, 40, 17}},
                  {5, {2, 3, 4, 5, 16}}, {4, {0, 4, 4, 3}},   {4, {1, 100, 100, 3}}};
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        for (int t = 0; t < 2; t++) {
            HoloDtype x = t ? HOLO_I8 : HOLO_U8;
            Case      c = {.op = "QLinearGlobalAveragePool", .domain = "com.microsoft", .version = 1, .in_count = 5};
            c.in[0]     = bytes(x, shapes[i].rank, shapes[i].x);
            c.in[1] = scales(0, 0, 0.1f), c.in[2] = bytes(x, 0, NULL);
            c.in[3] = scales(0, 0, 0.03f), c.in[4] = bytes(x, 0, NULL);
            attr_int(&c, "channels_last", 1);
            check_lowered(&c, HOLO_KERNEL_pool_i8);
        }
}

static void pairs(void **state)
{
    (void)state;
    static const struct {
        int     a_rank, b_rank;
        int64_t a[3], b[3];
    } shapes[] = {
        {1, 1, {1}, {1}},
        {1, 1, {15}, {15}},
        {3, 3, {2, 3, 17}, {2, 3, 17}},
        {3, 0, {2, 3, 16}, {0}},
        {0, 2, {0}, {5, 7}},
        {3, 1, {4, 3, 16}, {16}},
        {2, 3, {3, 7}, {5, 3, 7}},
        {2, 2, {1, 7}, {90, 7}},
        {2, 2, {70000, 1}, {70000, 1}},
        {2, 2, {0, 4}, {0, 4}},
        {1, 2, {4}, {0, 4}},
        {3, 3, {3, 1, 17}, {3, 9, 17}},
        {3, 3, {3, 9, 1}, {3, 9, 40}},
        {3, 3, {2, 1, 33}, {1, 5, 1}},
        {2, 2, {20000, 7}, {1, 7}}, // a short operand, over and over
        {1, 2, {256}, {300, 256}},
        {2, 1, {5, 257}, {257}},
        {3, 3, {2, 1, 4}, {2, 3000, 4}},
    };
    for (int i = 0; i < HOLO_COUNT(shapes); i++)
        for (int t = 0; t < 12; t++) { // from 4 on, with steps that are tiny, and next to nothing
            HoloDtype x = t & 1 ? HOLO_I8 : HOLO_U8;
            Case      c = {
                     .op = t & 2 ? "QLinearAdd" : "QLinearMul", .domain = "com.microsoft", .version = 1, .in_count = 8};
            c.in[0] = bytes(x, shapes[i].a_rank, shapes[i].a);
            c.in[3] = bytes(x, shapes[i].b_rank, shapes[i].b);
            for (int k = 0; k < 2; k++) c.in[3 * k + 1] = scales(0, 0, 0.5f), c.in[3 * k + 2] = bytes(x, 0, NULL);
            c.in[6] = scales(0, 0, t & 2 ? 0.5f : 30.0f), c.in[7] = bytes(x, 0, NULL);
            if (t > 3) *(float *)c.in[6].data = t < 8 ? 1e-9f : 1e-44f;
            check_lowered(&c, HOLO_KERNEL_pair_i8);
        }
}

// ---- quantize_i8 and cast_f32

static void quantize_linear(void **state)
{
    (void)state;
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.5f, 1.5f, -0.5f, -2.5f, 1e30f, -1e30f, -0.0f};
    for (int v = 0; v < 16; v++) {
        bool    by_axis  = v & 4;
        Case    c        = {.op = "QuantizeLinear", .version = 13, .in_count = v & 2 ? 3 : 2};
        int64_t channels = 3;
        c.in[0]          = v & 8 ? TENSOR(7, 3, 5000) : TENSOR(2, 3, 17);
        for (int64_t i = 0; i < holo_tensor_count(&c.in[0]); i++) ((float *)c.in[0].data)[i] *= 3;
        memcpy(c.in[0].data, special, sizeof special);
        c.in[1] = v & 8 ? scales(by_axis, channels, 0.01f) : scales(by_axis, channels, 0.5f);
        if (!by_axis && v & 1) *(float *)c.in[1].data = 1;
        if (v & 2) c.in[2] = bytes(v & 1 ? HOLO_I8 : HOLO_U8, by_axis, &channels);
        check_lowered(&c, HOLO_KERNEL_quantize_i8);
    }
}

static void dequantize_linear(void **state)
{
    (void)state;
    for (int v = 0; v < 16; v++) {
        bool      by_axis  = v & 4;
        int64_t   channels = 3;
        HoloDtype type     = v & 1 ? HOLO_I8 : HOLO_U8;
        Case      c        = {.op = "DequantizeLinear", .version = 13, .in_count = v & 2 ? 3 : 2};
        c.in[0]            = v & 8 ? bytes(type, 3, (int64_t[]){7, 3, 5000}) : bytes(type, 3, (int64_t[]){2, 3, 17});
        c.in[1]            = scales(by_axis, channels, 0.013f);
        if (v & 2) c.in[2] = bytes(type, by_axis, &channels);
        check_lowered(&c, HOLO_KERNEL_quantize_i8);
    }
}

static void cast_to_float(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 200000; n = n * 7 + 3) {
        Case c  = {.op = "Cast", .version = 13, .in_count = 1};
        c.in[0] = integers(n);
        for (int64_t i = 0; i < n; i += 3) ((int32_t *)c.in[0].data)[i] = (int32_t)(i * 2654435761u); // rounded
        attr_int(&c, "to", HOLO_F32);
        check_lowered(&c, HOLO_KERNEL_cast_f32);
    }
}

// Three outputs, so not by check_lowered.
static void dynamic_quantize(void **state)
{
    (void)state;
    const struct {
        int64_t n;
        float   scale, shift;
    } rows[] = {{1, 1, 0},    {33, 1, 0},      {40, 0, 0}, {100, 3, 4},
                {100, 3, -4}, {100000, 50, 3}, {0, 1, 0},  {3000001, 1, 1}};
    for (int r = 0; r < HOLO_COUNT(rows); r++) {
        int64_t n = rows[r].n;
        Case    c = {.op = "DynamicQuantizeLinear", .version = 11, .in_count = 1, .kernel = HOLO_KERNEL_quantize_i8};
        c.in[0]   = TENSOR(n);
        for (int64_t i = 0; i < n; i++)
            ((float *)c.in[0].data)[i] = ((float *)c.in[0].data)[i] * rows[r].scale + rows[r].shift;
        if (n > 50) ((float *)c.in[0].data)[n - 2] = NAN;
        memcpy(&c.params, &(uint32_t){sizeof c.params}, sizeof(uint32_t));
        const HoloKernelTable *kernels;
        uint8_t               *want = malloc((size_t)n + 1), *got = malloc((size_t)n + 1);
        float                  want_scale, got_scale;
        uint8_t                want_zero, got_zero;
        for (int t = -1; t < 0 || (kernels = holo_kernels_at(t)); t++) {
            HoloError         error = {0};
            Host              host  = host_make(t < 0 ? NULL : kernels, 3);
            const HoloTensor *in[IN_MAX];
            HoloTensor       *one[1], y = {0}, scale = {0}, zero = {0}, *out[] = {&y, &scale, &zero};
            HoloCall          call = call_init(&c, &host, in, one, &error);
            call.out               = out;
            call.out_count         = 3;
            if (holo_op_infer(&call)) fail_msg("%s", error.text);
            y.data     = t < 0 ? want : got;
            scale.data = t < 0 ? &want_scale : &got_scale;
            zero.data  = t < 0 ? &want_zero : &got_zero;
            size_t               scratch;
            const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_quantize_i8);
            if (t >= 0) assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
            if (t < 0 ? call.op->eval(&call) : kernel_run(kernel->id, &call)) fail_msg("%s", error.text);
            holo_arena_deinit(&host.arena);
            if (t < 0) continue;
            assert_memory_equal(got, want, (size_t)n);
            assert_memory_equal(&got_scale, &want_scale, sizeof got_scale);
            assert_int_equal(got_zero, want_zero);
        }
        free(want), free(got), free(c.in[0].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_integer),  cmocka_unit_test(extremes),
        cmocka_unit_test(batched),         cmocka_unit_test(scaled_bound),
        cmocka_unit_test(qlinear_matmul),  cmocka_unit_test(integer_to_float),
        cmocka_unit_test(qgemm),           cmocka_unit_test(packed),
        cmocka_unit_test(quantize_linear), cmocka_unit_test(dequantize_linear),
        cmocka_unit_test(cast_to_float),   cmocka_unit_test(dynamic_quantize),
        cmocka_unit_test(pools),           cmocka_unit_test(pools_of_all),
        cmocka_unit_test(pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
