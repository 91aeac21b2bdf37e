// kernels2_test.c - kernels beside the matrix product and convolution: as the compiler chooses them, on every
// table, against the operators' own eval; functions against libm.
#include "support/kernel_case.h"

// ---- functions of map_f32

static double ulps(float got, double want)
{
    if (isnan(want) || isinf((float)want)) return isnan(want) ? !isnan(got) * 1e9 : got == (float)want ? 0 : 1e9;
    float size = fabsf((float)want);
    return fabs((double)got - want) / ((double)nextafterf(size, INFINITY) - (double)size);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return log1p(exp(-fabs(x))) + (x > 0 ? x : 0);
}

static double root(double x)
{
    return pow(x, 0.5);
}

static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

// A zero of the other sign is another number.
static bool is_within(float got, double want, double limit)
{
    return ulps(got, want) <= limit && (want != 0 || isnan(want) || !signbit(got) == !signbit(want));
}

static void functions(void **state)
{
    (void)state;
    const struct {
        HoloMapOp op;
        double (*f)(double);
        double ulps;
        bool   flushes; // what is below the normal numbers is 0
    } rows[] = {
        {HOLO_MAP_exp, exp, 2, false},           {HOLO_MAP_sigmoid, sigmoid, 3, true},
        {HOLO_MAP_tanh, tanh, 3, false},         {HOLO_MAP_erf, erf, 3, false},
        {HOLO_MAP_sqrt, sqrt, 0.5, false},       {HOLO_MAP_log, log, 1.5, false},
        {HOLO_MAP_softplus, softplus, 3, false}, {HOLO_MAP_root, root, 0.5, false},
        {HOLO_MAP_sin, sin, 3, false},           {HOLO_MAP_cos, cos, 3, false},
        {HOLO_MAP_tan, tan, 3, false},           {HOLO_MAP_asin, asin, 3, false},
        {HOLO_MAP_acos, acos, 3, false},         {HOLO_MAP_atan, atan, 3, false},
        {HOLO_MAP_floor, floor, 0, false},       {HOLO_MAP_ceil, ceil, 0, false},
        {HOLO_MAP_round, nearbyint, 0, false},   {HOLO_MAP_sign, sign, 0, false},
    };
    const float special[] = {0,     -0.0f,   NAN,        INFINITY,    -INFINITY,   1e-42f,       -1e-42f, 88.7f,
                             88.8f, -87.4f,  -100,       -103.9f,     -104.1f,     3e38f,        -3e38f,  1,
                             -1,    0.5f,    -0.5f,      1.5f,        2.5f,        -2.5f,        0x1p20f, 1.1e6f,
                             1e10f, 0x1p23f, 8388607.5f, 4194303.5f,  -0x1p31f,    0x1p63f,      1e-30f,  0x1p-126f,
                             11,    22,      355,        0.99999994f, 1.00000012f, -0.99999994f, 1e20f};
    enum { COUNT = 20000 };
    float             *x = floats(COUNT), *exact = NULL;
    const HoloKernels *kernels;
    static const float scale[] = {100, 5, 0.9f, 3e4f, 1e7f, 1e30f, 1e-20f};
    for (int i = 0; i < COUNT; i++) x[i] *= scale[i % HOLO_COUNT(scale)];
    memcpy(x, special, sizeof special);
    for (int r = 0; r < HOLO_COUNT(rows); r++, free(exact), exact = NULL) {
        for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
            float *y = blank(COUNT);
            kernels->map_f32(&(HoloMap){.op = rows[r].op, .n = COUNT, .a = x, .b = x, .out = y});
            for (int i = 0; i < COUNT; i++)
                if (!(rows[r].flushes && y[i] == 0 && rows[r].f((double)x[i]) < 0x1p-126) &&
                    !is_within(y[i], rows[r].f((double)x[i]), rows[r].ulps))
                    fail_msg("function %d of %.9g at %s: %.9g, expected %.9g", (int)rows[r].op, (double)x[i],
                             kernels->level, (double)y[i], rows[r].f((double)x[i]));
            if (kernels->exact && exact) expect_same(y, exact, COUNT);
            if (kernels->exact && !exact)
                exact = y;
            else
                free(y);
        }
        note_exact("map_f32", exact, COUNT);
    }
    free(x);
}

// x / (1 + e^-x), which ends a product of one factor. Of -inf it is no number, and what is below the normal ones may be 0.
static void swish(void **state)
{
    (void)state;
    const float special[] = {0,      -0.0f, NAN,  INFINITY, -INFINITY, 1e-42f, -1e-42f, 87,    -87,    -88.7f, -91.5f,
                             -91.8f, -92,   -100, -129,     -1e10f,    3e38f,  -3e38f,  1e-6f, -1e-6f, 16.6f,  -16.6f};
    enum { COUNT = 20000 };
    float             *x = floats(COUNT), *scratch = blank(HOLO_GEMM_SCRATCH), one[HOLO_PANEL] = {1};
    const HoloFinish   finish = {.has_slope = true, .slope = 1};
    const HoloKernels *kernels;
    for (int i = 0; i < COUNT; i++) x[i] *= i % 2 ? 90 : 5;
    memcpy(x, special, sizeof special);
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *y = blank(COUNT);
        kernels->gemm_f32(&(HoloGemm){.m        = COUNT,
                                      .n        = 1,
                                      .k        = 1,
                                      .a        = x,
                                      .a_row    = 1,
                                      .a_column = 1,
                                      .b        = one,
                                      .b_panel  = HOLO_PANEL,
                                      .b_step   = HOLO_PANEL,
                                      .c        = y,
                                      .c_row    = 1,
                                      .alpha    = 1,
                                      .finish   = &finish,
                                      .scratch  = scratch});
        for (int i = 0; i < COUNT; i++) {
            double want = (double)x[i] / (1 + exp(-(double)x[i]));
            if (fabs(want) < 0x1p-119 ? fabs((double)y[i] - want) > 0x1p-119 : !is_within(y[i], want, 3))
                fail_msg("of %.9g at %s: %.9g, expected %.9g", (double)x[i], kernels->level, (double)y[i], want);
        }
        free(y);
    }
    free(x), free(scratch);
}

// The same of rows, with and without gaps between them: what is between is left alone.
static void swish_of_rows(void **state)
{
    (void)state;
    const int        rows[] = {1, 2, 5, 7, 12, 13, 25}, columns[] = {1, 15, 16, 17, 24, 32, 33, 48, 65};
    const HoloFinish finish = {.has_slope = true, .slope = 1.5f};
    enum { K = 3, ROWS = 25, COLUMNS = 80 };
    float             *a = floats(ROWS * K), *b = floats(K * COLUMNS), *scratch = blank(HOLO_GEMM_SCRATCH);
    const HoloKernels *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int c = 0; c < HOLO_COUNT(rows) * HOLO_COUNT(columns) * 2; c++) {
            int    m = rows[c / 2 % HOLO_COUNT(rows)], n = columns[c / 2 / HOLO_COUNT(rows)], row = c % 2 ? n : COLUMNS;
            float *sums = blank(ROWS * COLUMNS), *y = blank(ROWS * COLUMNS);
            HoloGemm g = {.m        = m,
                          .n        = n,
                          .k        = K,
                          .a        = a,
                          .a_row    = K,
                          .a_column = 1,
                          .b        = b,
                          .b_panel  = K * HOLO_PANEL,
                          .b_step   = HOLO_PANEL,
                          .c        = sums,
                          .c_row    = row,
                          .alpha    = 1,
                          .scratch  = scratch};
            kernels->gemm_f32(&g);
            g.c      = y;
            g.finish = &finish;
            kernels->gemm_f32(&g);
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                double x     = (double)sums[i];
                bool   is_in = i / row < m && i % row < n;
                if (is_in ? !is_within(y[i], x / (1 + exp(-1.5 * x)), 3) : memcmp(&y[i], &sums[i], sizeof *y))
                    fail_msg("%d x %d, number %d at %s: %.9g of %.9g", m, n, i, kernels->level, (double)y[i], x);
            }
            free(sums), free(y);
        }
    free(a), free(b), free(scratch);
}

// Every pair of numbers that pow knows, and many that it does not.
static void powers(void **state)
{
    (void)state;
    const float special[] = {0,    -0.0f, 1,        -1,        0.5f,     -0.5f,       2,           -2,
                             3,    -3,    INFINITY, -INFINITY, NAN,      1e-42f,      1e38f,       -1e38f,
                             1.5f, -1.5f, 0x1p23f,  -8388609,  16777215, 1.00000012f, 0.99999994f, 1e-30f};
    enum { SPECIAL = HOLO_COUNT(special), COUNT = 20000 };
    float             *x = floats(COUNT), *y = floats(COUNT), *exact = NULL;
    const HoloKernels *kernels;
    for (int i = 0; i < COUNT; i++) {
        bool is_special = i < SPECIAL * SPECIAL;
        x[i]            = is_special ? special[i % SPECIAL] : fabsf(x[i]) * (i % 2 ? 20 : 1);
        y[i]            = is_special ? special[i / SPECIAL] : y[i] * (i % 3 ? 4 : 90);
    }
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *z = blank(COUNT);
        kernels->map_f32(&(HoloMap){.op = HOLO_MAP_pow, .n = COUNT, .a = x, .b = y, .out = z});
        for (int i = 0; i < COUNT; i++)
            if (!is_within(z[i], pow((double)x[i], (double)y[i]), 0.6))
                fail_msg("%.9g to the power of %.9g at %s: %.9g, expected %.9g", (double)x[i], (double)y[i],
                         kernels->level, (double)z[i], pow((double)x[i], (double)y[i]));
        if (exact) expect_same(z, exact, COUNT); // of both classes
        if (!exact)
            exact = z;
        else
            free(z);
    }
    note_exact("map_f32", exact, COUNT);
    free(exact), free(x), free(y);
}

// ---- map_f32

static void binary_cases(void **state)
{
    (void)state;
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div", "PRelu", "Max", "Min", "Sum"};
    const struct {
        int     a_rank, b_rank;
        int64_t a[4], b[4];
    } shapes[] = {
        {1, 1, {1}, {1}},
        {0, 0, {0}, {0}},
        {2, 2, {3, 17}, {3, 17}},
        {2, 1, {5, 33}, {33}},
        {3, 3, {2, 7, 40}, {2, 7, 1}},
        {4, 4, {2, 3, 5, 7}, {1, 3, 1, 1}},
        {4, 3, {2, 3, 4, 5}, {3, 1, 5}},
        {2, 0, {40, 2000}, {0}},
        {3, 2, {0, 4, 5}, {4, 5}},
        {4, 4, {3, 4, 1, 5}, {1, 4, 1, 5}},
        {2, 1, {3000, 33}, {33}}, // short rows go in groups
        {4, 4, {3, 50, 40, 24}, {3, 1, 1, 24}},
        {3, 3, {300, 7, 24}, {300, 1, 24}},
    };
    for (int o = 0; o < HOLO_COUNT(ops); o++)
        for (int i = 0; i < HOLO_COUNT(shapes); i++)
            for (int swap = 0; swap < (o == 4 ? 1 : 2); swap++) {
                Case c      = {.op = ops[o], .version = 16, .in_count = 2};
                c.in[swap]  = tensor(shapes[i].a_rank, shapes[i].a);
                c.in[!swap] = tensor(shapes[i].b_rank, shapes[i].b);
                if (o == 3) // far from 0
                    for (int64_t k = 0; k < holo_tensor_count(&c.in[1]); k++) ((float *)c.in[1].data)[k] += 2;
                check_lowered(&c, HOLO_KERNEL_map_f32);
            }
    Case c  = {.op = "Mul", .version = 16, .in_count = 2}; // both broadcast
    c.in[0] = TENSOR(5, 1, 40);
    c.in[1] = TENSOR(1, 6, 1);
    check_lowered(&c, HOLO_KERNEL_map_f32);
}

// Several steps over inputs of every kind: whole, a row, a row for each image, a column, one number.
static void program_cases(void **state)
{
    (void)state;
    static const char text[]     = "mul x0 x1; add r0 x2; mul r1 x3; at_least r2 n0; sub r3 x4; mul x0 r4";
    static float      number     = -0.25f;
    const int64_t     sizes[][3] = {{1, 1, 1}, {2, 3, 5}, {3, 200, 24}, {2, 1000, 33}, {1, 40, 600}, {5, 17, 16}};
    for (int i = 0; i < HOLO_COUNT(sizes); i++) {
        const int64_t *s = sizes[i];
        for (int kinds = 0; kinds < 2; kinds++) {
            Case c  = {.op = "Pointwise", .domain = "hologram", .version = 1, .in_count = 5, .attr_count = 2};
            c.in[0] = TENSOR(s[0], s[1], s[2]);
            c.in[1] = TENSOR(s[2]);
            c.in[2] = TENSOR(s[0], 1, s[2]);
            c.in[3] = kinds ? TENSOR(s[0], s[1], 1) : TENSOR(1);
            c.in[4] = TENSOR(s[0], s[1], s[2]);
            c.attr[0] =
                (HoloAttr){.name = "program", .kind = HOLO_ATTR_STRING, .count = 1, .s = {text, sizeof text - 1}};
            c.attr[1] = (HoloAttr){.name = "numbers", .kind = HOLO_ATTR_FLOATS, .count = 1, .floats = &number};
            check_lowered(&c, HOLO_KERNEL_map_f32);
        }
    }
}

static void unary_cases(void **state)
{
    (void)state;
    const struct {
        const char *op, *domain;
        int         version;
    } rows[] = {
        {"Neg", "", 13},
        {"Abs", "", 13},
        {"Exp", "", 13},
        {"Erf", "", 13},
        {"Tanh", "", 13},
        {"Sigmoid", "", 13},
        {"Relu", "", 14},
        {"LeakyRelu", "", 16},
        {"HardSigmoid", "", 6},
        {"HardSwish", "", 14},
        {"Swish", "", 24},
        {"Gelu", "", 20},
        {"Gelu", "com.microsoft", 1},
        {"FastGelu", "com.microsoft", 1},
        {"QuickGelu", "com.microsoft", 1},
        {"Log", "", 13},
        {"Softplus", "", 1},
        {"Sin", "", 7},
        {"Cos", "", 7},
        {"Atan", "", 7},
        {"Floor", "", 13},
        {"Ceil", "", 13},
        {"Round", "", 11},
        {"Sign", "", 13},
        {"ThresholdedRelu", "", 10},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        for (int n = 1; n < 3000; n = n * 2 + 5) {
            Case c  = {.op = rows[i].op, .domain = rows[i].domain, .version = rows[i].version, .in_count = 1};
            c.in[0] = TENSOR(3, n);
            for (int k = 0; k < 3 * n; k++) ((float *)c.in[0].data)[k] *= 6;
            if (n > 20) ((float *)c.in[0].data)[7] = NAN;
            check_lowered(&c, HOLO_KERNEL_map_f32);
        }
    const HoloString tanh_text = {"tanh", 4};
    Case             c         = {.op = "Gelu", .version = 20, .in_count = 1, .attr_count = 1};
    c.attr[0] = (HoloAttr){.name = "approximate", .kind = HOLO_ATTR_STRING, .count = 1, .s = tanh_text};
    c.in[0]   = TENSOR(77);
    check_lowered(&c, HOLO_KERNEL_map_f32);
}

static void clip_cases(void **state)
{
    (void)state;
    for (int given = 1; given < 4; given++) {
        Case c                     = {.op = "Clip", .version = 13, .in_count = 3};
        c.in[0]                    = TENSOR(3, 50);
        ((float *)c.in[0].data)[5] = NAN;
        if (given & 1) c.in[1] = tensor(0, NULL), *(float *)c.in[1].data = -0.3f;
        if (given & 2) c.in[2] = tensor(0, NULL), *(float *)c.in[2].data = 0.4f;
        check_lowered(&c, HOLO_KERNEL_map_f32);
    }
    Case c    = {.op = "Clip", .version = 6, .in_count = 1, .attr_count = 1};
    c.attr[0] = (HoloAttr){.name = "max", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = 0.25};
    c.in[0]   = TENSOR(3, 50);
    check_lowered(&c, HOLO_KERNEL_map_f32);
}

static void power_cases(void **state)
{
    (void)state;
    const float exponents[] = {2, 3, 4, -1, 0.5f, -0.5f, 1.7f, 0};
    for (int i = 0; i < HOLO_COUNT(exponents); i++) {
        Case c                 = {.op = "Pow", .version = 13, .in_count = 2};
        c.in[0]                = TENSOR(3, 50);
        c.in[1]                = tensor(0, NULL);
        *(float *)c.in[1].data = exponents[i];
        check_lowered(&c, HOLO_KERNEL_map_f32);
    }
}

// ---- rows

static void norm_cases(void **state)
{
    (void)state;
    for (int n = 1; n < 30000; n = n * 3 + 1)
        for (int kind = 0; kind < 3; kind++) {
            Case c  = {.op       = kind < 2 ? "LayerNormalization" : "RMSNormalization",
                       .version  = kind < 2 ? 17 : 23,
                       .in_count = kind == 1 ? 3 : 2};
            c.in[0] = TENSOR(2, 3, n);
            c.in[1] = TENSOR(n);
            if (kind == 1) c.in[2] = TENSOR(n);
            for (int i = 0; i < 6 * n; i++) ((float *)c.in[0].data)[i] += 3;
            check_lowered(&c, HOLO_KERNEL_norm_f32);
        }
    // Rows go by sixteens, elements by 256.
    for (int rows = 1; rows < 50; rows += rows % 3 ? 15 : 1)
        for (int n = 15; n < 600; n += n % 16 == 1 ? 110 : 1) {
            Case c  = {.op = "LayerNormalization", .version = 17, .in_count = 3};
            c.in[0] = TENSOR(rows, n), c.in[1] = TENSOR(n), c.in[2] = TENSOR(n);
            float *x = c.in[0].data;
            for (int i = 0; i < rows * n; i++) x[i] = i / n == 3 ? 7.1f : i / n == 5 ? 1000 + x[i] : x[i];
            if (rows > 20) x[8 * n + 1] = NAN, x[17 * n + 14] = INFINITY, x[18 * n] = 1e-42f;
            check_lowered(&c, HOLO_KERNEL_norm_f32);
        }
    for (int n = 7; n < 700; n += 300) {
        Case c  = {.op = "RMSNormalization", .version = 23, .in_count = 2};
        c.in[0] = TENSOR(19, n), c.in[1] = TENSOR(n);
        ((float *)c.in[0].data)[17 * n + 5] = -INFINITY;
        check_lowered(&c, HOLO_KERNEL_norm_f32);
        Case g  = {.op = "InstanceNormalization", .version = 6, .in_count = 3};
        g.in[0] = TENSOR(3, 11, n), g.in[1] = TENSOR(11), g.in[2] = TENSOR(11);
        check_lowered(&g, HOLO_KERNEL_norm_f32);
    }
    Case c  = {.op = "LayerNormalization", .version = 17, .in_count = 3};
    c.in[0] = TENSOR(4, 5, 7), c.in[1] = TENSOR(5, 7), c.in[2] = TENSOR(5, 7);
    attr_int(&c, "axis", 1);
    check_lowered(&c, HOLO_KERNEL_norm_f32);
    for (int size = 1; size < 50; size += 16) {
        Case i  = {.op = "InstanceNormalization", .version = 6, .in_count = 3};
        i.in[0] = TENSOR(2, 6, size, 3), i.in[1] = TENSOR(6), i.in[2] = TENSOR(6);
        check_lowered(&i, HOLO_KERNEL_norm_f32);
        Case g  = {.op = "GroupNormalization", .version = 21, .in_count = 3};
        g.in[0] = TENSOR(2, 6, size, 1), g.in[1] = TENSOR(6), g.in[2] = TENSOR(6);
        attr_int(&g, "num_groups", 2);
        check_lowered(&g, HOLO_KERNEL_norm_f32);
    }
}

static void reduce_cases(void **state)
{
    (void)state;
    static const char *const ops[]  = {"ReduceSum", "ReduceMean", "ReduceMax",  "ReduceMin",         "ReduceSumSquare",
                                       "ReduceL1",  "ReduceL2",   "ReduceProd", "GlobalAveragePool", "GlobalMaxPool"};
    const int64_t            axes[] = {-1, 2};
    for (int o = 0; o < HOLO_COUNT(ops); o++)
        for (int n = 1; n < 2000; n = n * 3 + 2)
            for (int keep = 0; keep < 2; keep++) {
                Case c  = {.op = ops[o], .version = 11, .in_count = 1};
                c.in[0] = TENSOR(2, 3, 2, n);
                if (n > 20) ((float *)c.in[0].data)[n + 3] = NAN;
                if (o < 8) attr_ints(&c, "axes", 1 + (n & 1), axes), attr_int(&c, "keepdims", keep);
                check_lowered(&c, HOLO_KERNEL_reduce_f32);
            }
}

// Rows of every way to go about them: turned, in lanes, with a rest; more and fewer of them than are turned at once.
static void reduce_row_cases(void **state)
{
    (void)state;
    static const char *const ops[]   = {"ReduceSum",       "ReduceMean", "ReduceMax", "ReduceMin",
                                        "ReduceSumSquare", "ReduceL1",   "ReduceL2",  "ReduceProd"};
    const int64_t            sizes[] = {2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 97, 128, 1000};
    const int64_t            rows[] = {1, 15, 16, 17, 40}, axis = -1;
    for (int o = 0; o < HOLO_COUNT(ops); o++)
        for (int k = 0; k < HOLO_COUNT(sizes); k++)
            for (int r = 0; r < HOLO_COUNT(rows); r++) {
                Case c   = {.op = ops[o], .version = 11, .in_count = 1};
                c.in[0]  = TENSOR(rows[r], sizes[k]);
                float *x = c.in[0].data;
                if (o < 7)
                    x[rows[r] / 2 * sizes[k] + sizes[k] - 1] = INFINITY; // of long products, 0 may have come before
                x[0] = 1e-42f;
                if (rows[r] > 16) x[16 * sizes[k] + sizes[k] / 2] = NAN;
                attr_ints(&c, "axes", 1, &axis);
                check_lowered(&c, HOLO_KERNEL_reduce_f32);
            }
}

// Axes before the last: columns, in panels side by side.
static void reduce_column_cases(void **state)
{
    (void)state;
    static const char *const ops[]     = {"ReduceSum",       "ReduceMean", "ReduceMax", "ReduceMin",
                                          "ReduceSumSquare", "ReduceL1",   "ReduceL2",  "ReduceProd"};
    const int64_t            columns[] = {1, 15, 16, 17, 33, 64, 65, 200, 512, 513, 1040}, axis = 1;
    for (int o = 0; o < HOLO_COUNT(ops); o++)
        for (int k = 0; k < HOLO_COUNT(columns); k++)
            for (int rows = 2; rows < 1500; rows = rows * 6 + 1) {
                Case c                                               = {.op = ops[o], .version = 11, .in_count = 1};
                c.in[0]                                              = TENSOR(2, rows, columns[k]);
                ((float *)c.in[0].data)[columns[k] + columns[k] / 2] = NAN;
                attr_ints(&c, "axes", 1, &axis);
                check_lowered(&c, HOLO_KERNEL_reduce_f32);
            }
    Case none  = {.op = "ReduceSum", .version = 11, .in_count = 1};
    none.in[0] = TENSOR(2, 3, 0);
    attr_ints(&none, "axes", 1, &axis);
    check_lowered(&none, HOLO_KERNEL_reduce_f32);
}

static void pool_cases(void **state)
{
    (void)state;
    const struct {
        int     rank;
        int64_t in[3], kernel[3], stride[3], pads[6];
        int     ceil, counts;
        int64_t dilation[3]; // 0: 1
        int64_t channels;    // which are last; 0: they are not
    } rows[] = {
        {2, {20, 20}, {13, 13}, {1, 1}, {6, 6, 6, 6}, 0, 0, {0}, 0},
        {2, {11, 40}, {3, 3}, {1, 1}, {2, 4, 2, 4}, 0, 0, {2, 4}, 0},
        {1, {9000}, {3}, {2}, {1, 1}, 0, 0, {0}, 0}, // more than a line
        {1, {9000}, {3}, {1}, {0, 0}, 0, 0, {4096}, 0},
        {1, {300}, {2}, {100}, {1, 0}, 1, 0, {0}, 0},
        {2, {1, 1}, {3, 3}, {1, 1}, {2, 2, 2, 2}, 0, 0, {0}, 0},
        {2, {13, 37}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0, {0}, 17},
        {2, {9, 140}, {5, 5}, {1, 1}, {2, 2, 2, 2}, 0, 0, {0}, 70},
        {2, {9, 9}, {2, 3}, {2, 1}, {0, 1, 1, 2}, 1, 0, {0}, 32},
        {2, {6, 700}, {2, 2}, {1, 1}, {0, 1, 0, 1}, 0, 1, {1, 300}, 40},
        {3, {4, 5, 6}, {2, 2, 2}, {1, 2, 1}, {1, 1, 0, 0, 1, 1}, 0, 0, {0}, 5},
        {2, {13, 37}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0, {0}, 0},
        {2, {9, 40}, {2, 2}, {2, 2}, {0, 0, 0, 0}, 0, 1, {0}, 0},
        {2, {8, 8}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 1, 0, {0}, 0},
        {2, {8, 8}, {3, 3}, {2, 2}, {0, 0, 0, 0}, 1, 1, {0}, 0}, // what is beyond the end is no padding
        {2, {7, 50}, {3, 5}, {1, 1}, {1, 2, 1, 2}, 0, 1, {0}, 0},
        {1, {70}, {4}, {3}, {1, 2}, 0, 0, {0}, 0},
        {2, {7, 5}, {320, 320}, {320, 320}, {0, 0, 0, 0}, 1, 1, {0}, 40}, // of which most is outside
        {2, {7, 5}, {90, 4000}, {1, 1}, {89, 3999, 1, 2}, 0, 0, {0}, 0},
        {2, {3, 40}, {70, 300}, {2, 3}, {20, 290, 60, 10}, 0, 1, {0}, 5},
        {3, {5, 6, 20}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0, 0, 1, 1}, 0, 0, {0}, 0},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        for (int max = 0; max < 2; max++) {
            Case    c    = {.op = max ? "MaxPool" : "AveragePool", .version = 12, .in_count = 1};
            int64_t x[6] = {2, 3}, last = rows[i].channels;
            memcpy(x + (last ? 1 : 2), rows[i].in, sizeof rows[i].in);
            if (last) c.domain = "hologram", c.version = 1, x[rows[i].rank + 1] = last;
            c.in[0]                    = tensor(rows[i].rank + 2, x);
            ((float *)c.in[0].data)[5] = NAN;
            attr_ints(&c, "kernel_shape", rows[i].rank, rows[i].kernel);
            attr_ints(&c, "strides", rows[i].rank, rows[i].stride);
            attr_ints(&c, "pads", 2 * rows[i].rank, rows[i].pads);
            attr_int(&c, "ceil_mode", rows[i].ceil);
            if (rows[i].dilation[0] && (max || last)) attr_ints(&c, "dilations", rows[i].rank, rows[i].dilation);
            if (!max) attr_int(&c, "count_include_pad", rows[i].counts);
            check_lowered(&c, HOLO_KERNEL_pool_f32);
        }
}

// ---- transpose_f32

static void transpose_case(int rank, const int64_t *dim, const int64_t *perm, HoloDtype bytes)
{
    Case c  = {.op = "Transpose", .version = 13, .in_count = 1};
    c.in[0] = tensor(rank, dim);
    attr_ints(&c, "perm", rank, perm);
    check_lowered(&c, HOLO_KERNEL_transpose_f32);
    Case b        = {.op = "Transpose", .version = 21, .in_count = 1};
    b.in[0]       = tensor(rank, dim);
    b.in[0].dtype = (uint8_t)bytes;
    for (int64_t k = 0; k < holo_tensor_count(&b.in[0]); k++)
        ((uint8_t *)b.in[0].data)[k] = (uint8_t)(k * 37 % 251 % (bytes == HOLO_BOOL ? 2 : 256));
    attr_ints(&b, "perm", rank, perm);
    check_lowered(&b, HOLO_KERNEL_transpose_u8);
}

static void transpose_cases(void **state)
{
    (void)state;
    const struct {
        int     rank;
        int64_t dim[5], perm[5];
    } rows[] = {
        {2, {5, 7}, {1, 0}},
        {2, {100, 33}, {1, 0}},
        {4, {2, 12, 3, 20}, {0, 2, 1, 3}},
        {4, {2, 35, 3, 20}, {0, 2, 3, 1}},
        {4, {1, 7, 1, 9}, {3, 2, 1, 0}},
        {3, {2, 0, 3}, {2, 1, 0}},
        {5, {3, 4, 5, 6, 7}, {4, 0, 2, 1, 3}},
        {1, {9}, {0}},
        {4, {2, 3, 4, 5}, {0, 1, 2, 3}},
        {0, {0}, {0}},
        {3, {1, 1, 1}, {1, 0, 2}},
        {3, {70, 130, 2}, {2, 1, 0}},
        {4, {2, 3, 9, 37}, {0, 2, 3, 1}}, // colours
        {3, {3, 5, 50}, {2, 1, 0}},
        {3, {1, 3, 611}, {0, 2, 1}},
        {3, {2, 48, 600}, {0, 2, 1}},
        {2, {17, 33}, {1, 0}},
        {3, {2, 500, 3}, {0, 2, 1}}, // and apart
        {4, {1, 3, 70, 5}, {0, 3, 1, 2}},
        {3, {2, 4, 100}, {0, 2, 1}},
        {4, {4, 90, 30, 8}, {0, 2, 1, 3}}, // rows of several tasks
        {4, {3, 50, 7, 2}, {2, 0, 1, 3}},
    };
    static const HoloDtype bytes[] = {HOLO_U8, HOLO_I8, HOLO_BOOL};
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        transpose_case(rows[i].rank, rows[i].dim, rows[i].perm, bytes[i % HOLO_COUNT(bytes)]);
    for (int64_t i = 1; i < 20; i++)
        for (int64_t k = 1; k < 20; k++) transpose_case(3, (int64_t[]){2, i, k}, (int64_t[]){0, 2, 1}, HOLO_U8);
    Case c  = {.op = "Transpose", .version = 13, .in_count = 1}; // backwards
    c.in[0] = TENSOR(4, 17, 3);
    check_lowered(&c, HOLO_KERNEL_transpose_f32);
}

// ---- resize_f32

static void resize_cases(void **state)
{
    (void)state;
    const struct {
        int         rank;
        int64_t     dim[5];
        float       scale[5];
        const char *mode, *place;
        int         antialias;
    } rows[] = {
        {4, {2, 3, 7, 9}, {1, 1, 2, 2}, "linear", "half_pixel", 0},
        {4, {1, 2, 15, 17}, {1, 1, 2, 3}, "linear", "align_corners", 0},
        {4, {1, 1, 40, 33}, {1, 1, 1.7f, 1.3f}, "cubic", "half_pixel", 0},
        {4, {2, 9, 11, 5}, {1, 2, 2, 1}, "linear", "pytorch_half_pixel", 0}, // channels last
        {4, {1, 20, 40, 16}, {1, 0.5f, 0.3f, 1}, "linear", "asymmetric", 0},
        {4, {1, 2, 64, 100}, {1, 1, 0.5f, 0.21f}, "linear", "half_pixel", 1},
        {4, {1, 2, 30, 50}, {1, 1, 0.4f, 2}, "cubic", "half_pixel_symmetric", 1},
        {4, {1, 2, 3, 16}, {1, 1, 5, 1.0625f}, "linear", "half_pixel", 0},
        {4, {1, 1, 1, 500}, {1, 1, 3, 0.07f}, "linear", "half_pixel", 0},
        {2, {31, 1}, {2, 40}, "linear", "asymmetric", 0},
        {3, {2, 5, 1000}, {1, 1, 2}, "linear", "half_pixel", 0},
        {3, {2, 70, 3}, {1, 5, 1}, "linear", "half_pixel", 0}, // more rows than a task has
        {5, {1, 2, 4, 5, 6}, {1, 1, 2, 3, 2}, "linear", "half_pixel", 0},
        {5, {2, 3, 4, 1, 6}, {1, 2, 1, 1, 4}, "cubic", "half_pixel", 0},
        {2, {1, 1}, {16, 17}, "linear", "half_pixel", 0},
        {2, {300, 200}, {1.1f, 1.2f}, "linear", "align_corners", 0},
        {1, {31}, {2.5f}, "cubic", "asymmetric", 0},
        {2, {7, 5}, {2, 0.2f}, "linear", "half_pixel", 0}, // one column is left
        {3, {40, 2, 3}, {0.5f, 0.5f, 0.34f}, "cubic", "half_pixel", 1},
        {2, {3, 5}, {1, 1}, "linear", "half_pixel", 0}, // nothing changes
        {2, {0, 5}, {2, 2}, "linear", "half_pixel", 0},
        {2, {5000, 1}, {0.001f, 5000}, "linear", "half_pixel", 1}, // more between than before and behind
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        Case c        = {.op = "Resize", .version = 19, .in_count = 3};
        c.in[0]       = tensor(rows[i].rank, rows[i].dim);
        c.in[2]       = TENSOR(rows[i].rank);
        int64_t count = holo_tensor_count(&c.in[0]);
        memcpy(c.in[2].data, rows[i].scale, (size_t)rows[i].rank * sizeof(float));
        if (count > 20) ((float *)c.in[0].data)[5] = NAN;
        if (count > 20) ((float *)c.in[0].data)[count - 2] = INFINITY;
        attr_text(&c, "mode", rows[i].mode);
        attr_text(&c, "coordinate_transformation_mode", rows[i].place);
        attr_int(&c, "antialias", rows[i].antialias);
        check_lowered(&c, HOLO_KERNEL_resize_f32);
    }
}

// ---- lstm_f32

static void lstm_cases(void **state)
{
    (void)state;
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};
    for (int v = 0; v < 12; v++) {
        int64_t times = v == 7 ? 300 : 5, batch = v % 2 ? 3 : 1, inputs = v == 4 ? 300 : 21,
                hidden   = v % 4 == 1 ? 80 : 16;
        int         d    = v % 3 == 2 ? 2 : 1;
        Case        c    = {.op = "LSTM", .version = 14, .in_count = v % 5 ? 7 : 3, .attr_count = 1};
        const char *name = directions[v % 3];
        c.attr[0] = (HoloAttr){.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {name, strlen(name)}};
        attr_int(&c, "hidden_size", hidden);
        c.in[0] = TENSOR(times, batch, inputs);
        c.in[1] = TENSOR(d, 4 * hidden, inputs);
        c.in[2] = TENSOR(d, 4 * hidden, hidden);
        if (c.in_count > 3) c.in[3] = TENSOR(d, 8 * hidden);
        if (c.in_count > 3 && v & 1) c.in[5] = TENSOR(d, batch, hidden), c.in[6] = TENSOR(d, batch, hidden);
        for (int64_t i = 0; i < d * 4 * hidden * inputs; i++) ((float *)c.in[1].data)[i] *= 0.2f;
        for (int64_t i = 0; i < d * 4 * hidden * hidden; i++) ((float *)c.in[2].data)[i] *= 0.2f;
        check_lowered(&c, HOLO_KERNEL_lstm_f32);
    }
}

// ---- matmul_i8

// A vector on the right: the product has one column, whatever the output's last dimension is.
static void vector_tail(void **state)
{
    (void)state;
    const HoloKernels *kernels;
    HoloMatmulParams   p = {.size = sizeof p, .alpha = 1, .tail = {.count = 1, .step = {{.op = HOLO_MAP_neg}}}};
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        Case c = {.op = "MatMul", .domain = "hologram", .version = 1, .in_count = 2, .kernel = HOLO_KERNEL_matmul_f32};
        c.params.matmul = p;
        c.in[0] = TENSOR(5, 2), c.in[1] = TENSOR(2), c.out = (HoloTensor){.dtype = HOLO_F32, .rank = 1, .dim = {5}};
        const float *a = c.in[0].data, *b = c.in[1].data;
        float       *out = run_kernel(&c, kernels, 1);
        for (int i = 0; i < 5; i++)
            expect_near((double)out[i], -((double)a[2 * i] * (double)b[0] + (double)a[2 * i + 1] * (double)b[1]), 1e-6);
        free(out), free(c.in[0].data), free(c.in[1].data);
    }
}

// What an archive may say wrongly.
static void programs_refused(void **state)
{
    (void)state;
    HoloTensor a = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}}, b = {.dtype = HOLO_F32, .rank = 1, .dim = {4}},
               out           = a;
    const HoloTensor *in[]   = {&a, &b};
    HoloTensor       *outs[] = {&out};
    HoloMapParams     good   = {.size    = sizeof good,
                                .program = {.count = 2,
                                            .step  = {{.op = HOLO_MAP_add, .b = 1},
                                                      {.op = HOLO_MAP_exp, .a = HOLO_MAP_INPUTS}}}},
                  p          = good;
    HoloCall call            = {
                   .node = "n", .in_count = 2, .out_count = 1, .in = in, .out = outs, .params = &p, .params_size = sizeof p};
    const HoloKernel *kernel = holo_kernel_find(HOLO_KERNEL_map_f32);
    size_t            scratch;
    assert_int_equal(kernel->check(&call, &scratch), HOLO_OK);
    p.program.count = 0;
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
    p.program.count = HOLO_MAP_STEPS + 1;
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[1].a = HOLO_MAP_INPUTS + 1; // itself
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[0].op = HOLO_MAP_OPS;
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[0].b = 5; // no such input
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, b.dim[0] = 3; // does not broadcast
    assert_int_equal(kernel->check(&call, &scratch), HOLO_BAD_ARCHIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_cases),       cmocka_unit_test(functions),    cmocka_unit_test(swish),
        cmocka_unit_test(swish_of_rows),       cmocka_unit_test(powers),       cmocka_unit_test(binary_cases),
        cmocka_unit_test(unary_cases),         cmocka_unit_test(clip_cases),   cmocka_unit_test(power_cases),
        cmocka_unit_test(norm_cases),          cmocka_unit_test(reduce_cases), cmocka_unit_test(reduce_row_cases),
        cmocka_unit_test(reduce_column_cases), cmocka_unit_test(pool_cases),   cmocka_unit_test(lstm_cases),
        cmocka_unit_test(transpose_cases),     cmocka_unit_test(resize_cases), cmocka_unit_test(programs_refused),
        cmocka_unit_test(vector_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
