// map_kernel_test.c - the kernel of pointwise programs: as the compiler chooses it, on every table, against the
// operators' own eval; functions against libm.
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
    float                 *x = floats(COUNT), *exact = NULL;
    const HoloKernelTable *kernels;
    static const float     scale[] = {100, 5, 0.9f, 3e4f, 1e7f, 1e30f, 1e-20f};
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

// x / (1 + e^-x), which ends a product of one factor. Of -inf it is no number, and what is below the normal ones may be
// 0.
static void swish(void **state)
{
    (void)state;
    const float special[] = {0,      -0.0f, NAN,  INFINITY, -INFINITY, 1e-42f, -1e-42f, 87,    -87,    -88.7f, -91.5f,
                             -91.8f, -92,   -100, -129,     -1e10f,    3e38f,  -3e38f,  1e-6f, -1e-6f, 16.6f,  -16.6f};
    enum { COUNT = 20000 };
    float                 *x = floats(COUNT), *scratch = blank(HOLO_GEMM_SCRATCH), one[HOLO_PANEL] = {1};
    const HoloFinish       finish = {.has_slope = true, .slope = 1};
    const HoloKernelTable *kernels;
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
    float                 *a = floats(ROWS * K), *b = floats(K * COLUMNS), *scratch = blank(HOLO_GEMM_SCRATCH);
    const HoloKernelTable *kernels;
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
    float                 *x = floats(COUNT), *y = floats(COUNT), *exact = NULL;
    const HoloKernelTable *kernels;
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
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_map_f32);
    size_t               scratch;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
    p.program.count = 0;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    p.program.count = HOLO_MAP_STEPS + 1;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[1].a = HOLO_MAP_INPUTS + 1; // itself
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[0].op = HOLO_MAP_OPS;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, p.program.step[0].b = 5; // no such input
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    p = good, b.dim[0] = 3; // does not broadcast
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_cases),    cmocka_unit_test(functions),  cmocka_unit_test(swish),
        cmocka_unit_test(swish_of_rows),    cmocka_unit_test(powers),     cmocka_unit_test(binary_cases),
        cmocka_unit_test(unary_cases),      cmocka_unit_test(clip_cases), cmocka_unit_test(power_cases),
        cmocka_unit_test(programs_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
