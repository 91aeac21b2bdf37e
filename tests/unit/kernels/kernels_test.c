// kernels_test.c - every table of kernels against plain loops in double, on shapes that hurt; the
// same bits for any cut of the work, and in class exact on every level; whole kernels against the
// operators' own eval.
#include "support/kernel_case.h"

// ---- gemm_f32

typedef struct Problem {
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column, c_row;
    int64_t d_row, d_column;
    bool    has_d;
    float   alpha, beta;
    float  *a, *b, *d;
} Problem;

static int64_t reach(int64_t n, int64_t stride)
{
    return n ? (n - 1) * stride : 0;
}

static Problem problem(int64_t m, int64_t n, int64_t k, int variant)
{
    Problem p  = {.m = m, .n = n, .k = k, .alpha = 1, .beta = 1};
    bool    ta = variant & 1, tb = variant & 2;
    p.a_row    = ta ? 1 : k + variant;
    p.a_column = ta ? m + 1 : 1;
    p.b_row    = tb ? 1 : n + variant;
    p.b_column = tb ? k + 3 : 1;
    p.c_row    = n + variant;
    p.has_d    = variant % 5 != 0;
    p.d_row    = variant % 5 == 1 ? 0 : variant % 5 == 2 ? 1 : n;
    p.d_column = variant % 5 == 2 ? 0 : 1;
    if (variant % 3 == 1) p.alpha = 0.5f, p.beta = -1.5f;
    p.a = floats(reach(m, p.a_row) + reach(k, p.a_column) + 1);
    p.b = floats(reach(k, p.b_row) + reach(n, p.b_column) + 1);
    p.d = floats(m * n + m + n + 1);
    return p;
}

static void problem_free(Problem *p)
{
    free(p->a), free(p->b), free(p->d);
}

// Rows, columns and k in pieces of at most these sizes.
static float *multiply(const HoloKernelTable *kernels, const Problem *p, int64_t rows, int64_t columns, int64_t depth)
{
    int64_t panels  = (p->n + 15) / 16;
    float  *packed  = blank(panels * 16 * p->k);
    float  *scratch = aligned_alloc(64, HOLO_GEMM_SCRATCH * sizeof *scratch);
    float  *c       = blank(p->m * p->c_row);
    assert_non_null(scratch);
    kernels->pack_f32(p->k, p->n, p->b, p->b_row, p->b_column, packed);
    for (int64_t i = 0; i < p->m; i += rows)
        for (int64_t j = 0; j < p->n; j += columns)
            for (int64_t q = 0; q == 0 || q < p->k; q += depth)
                kernels->gemm_f32(&(HoloGemm){.m        = holo_least(rows, p->m - i),
                                              .n        = holo_least(columns, p->n - j),
                                              .k        = holo_least(depth, p->k - q),
                                              .a        = p->a + i * p->a_row + q * p->a_column,
                                              .a_row    = p->a_row,
                                              .a_column = p->a_column,
                                              .b        = packed + j * p->k + q * 16,
                                              .b_panel  = 16 * p->k,
                                              .b_step   = 16,
                                              .c        = c + i * p->c_row + j,
                                              .c_row    = p->c_row,
                                              .d        = p->has_d ? p->d + i * p->d_row + j * p->d_column : NULL,
                                              .d_row    = p->d_row,
                                              .d_column = p->d_column,
                                              .alpha    = p->alpha,
                                              .beta     = p->beta,
                                              .resume   = q > 0,
                                              .pause    = q + depth < p->k,
                                              .scratch  = scratch});
    free(packed), free(scratch);
    return c;
}

static void expect_product(const Problem *p, const float *c)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0, size = 0;
            for (int64_t q = 0; q < p->k; q++) {
                double x = (double)p->a[i * p->a_row + q * p->a_column] * (double)p->b[q * p->b_row + j * p->b_column];
                sum += x;
                size += fabs(x);
            }
            sum *= (double)p->alpha;
            if (p->has_d) sum += (double)p->beta * (double)p->d[i * p->d_row + j * p->d_column];
            expect_near((double)c[i * p->c_row + j], sum, 1e-7 * (size + 2) * (double)(p->k + 8));
        }
}

static const int64_t hard_sizes[] = {1, 2, 15, 16, 17, 31, 33, 65, 145};

// Each table against double, against itself with other cuts, and all exact ones against each other.
static void check_product(const Problem *p, bool close)
{
    const HoloKernelTable *kernels;
    float                 *exact = NULL;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *whole = multiply(kernels, p, p->m ? p->m : 1, (p->n + 15) / 16 * 16 + 16, p->k ? p->k : 1);
        float *cut   = multiply(kernels, p, 5, 48, HOLO_GEMM_K);
        if (close) expect_product(p, whole);
        for (int64_t i = 0; i < p->m; i++) {
            expect_same(whole + i * p->c_row, cut + i * p->c_row, p->n);
            if (kernels->exact && exact) expect_same(whole + i * p->c_row, exact + i * p->c_row, p->n);
        }
        free(cut);
        if (kernels->exact && !exact)
            exact = whole;
        else
            free(whole);
    }
    assert_non_null(exact);
    note_exact("gemm_f32", exact, p->m * p->c_row);
    free(exact);
}

static void gemm_shapes(void **state)
{
    (void)state;
    int variant = 0;
    for (int i = 0; i < HOLO_COUNT(hard_sizes); i++)
        for (int j = 0; j < HOLO_COUNT(hard_sizes); j++) {
            const int64_t depth[] = {0, 1, 17, 33, 257, 300};
            Problem       p       = problem(hard_sizes[i], hard_sizes[j], depth[variant % 6], variant % 30);
            check_product(&p, true);
            problem_free(&p);
            variant++;
        }
    for (int v = 0; v < 30; v++) {
        Problem p = problem(13, 37, v * 19, v);
        check_product(&p, true);
        problem_free(&p);
    }
}

static void gemm_empty(void **state)
{
    (void)state;
    for (int v = 0; v < 3; v++) {
        Problem p = problem(v == 0 ? 0 : 3, v == 1 ? 0 : 18, 5, 1);
        check_product(&p, true);
        problem_free(&p);
    }
}

static void gemm_special_values(void **state)
{
    (void)state;
    const float special[] = {NAN, INFINITY, -INFINITY, 1e-42f, -1e-42f, 3e38f, -0.0f, 0};
    for (int v = 0; v < HOLO_COUNT(special); v++) {
        Problem p = problem(7, 33, 40, 3);
        p.a[11]   = special[v];
        p.b[9]    = special[v];
        p.d[2]    = special[v];
        check_product(&p, fabsf(special[v]) < 1);
        if (!(fabsf(special[v]) < 1)) { // a row with it is all NaN or inf
            float *c = multiply(holo_kernels(0), &p, 7, 48, 40);
            assert_false(v == 0 && !isnan(c[0 * p.c_row]) && !isnan(c[4 * p.c_row]));
            free(c);
        }
        problem_free(&p);
    }
}

// B as it lies in rows gives the bits that packed B gives.
static void gemm_rows_of_b(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        Problem p    = problem(3, 48, 70, 0);
        float  *want = multiply(kernels, &p, 3, 48, 70), *c = blank(3 * 48);
        float  *scratch = aligned_alloc(64, HOLO_GEMM_SCRATCH * sizeof *scratch);
        kernels->gemm_f32(&(HoloGemm){.m        = 3,
                                      .n        = 48,
                                      .k        = 70,
                                      .a        = p.a,
                                      .a_row    = p.a_row,
                                      .a_column = p.a_column,
                                      .b        = p.b,
                                      .b_panel  = 16,
                                      .b_step   = p.b_row,
                                      .c        = c,
                                      .c_row    = 48,
                                      .alpha    = 1,
                                      .scratch  = scratch});
        expect_same(c, want, 3 * 48);
        free(want), free(c), free(scratch);
        problem_free(&p);
    }
}

// ---- softmax_f32

static void softmax_rows(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    for (int64_t n = 0; n < 70; n++) {
        float *x = floats(3 * n), *exact = NULL;
        for (int64_t i = 0; i < 3 * n; i++) x[i] *= n % 3 ? 20 : 200;
        if (n > 3) x[3] = -INFINITY;
        for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
            float *y = blank(3 * n);
            kernels->softmax_f32(3, n, x, y);
            for (int64_t r = 0; r < 3; r++) {
                double top = -INFINITY, sum = 0;
                for (int64_t i = 0; i < n; i++) top = fmax(top, (double)x[r * n + i]);
                for (int64_t i = 0; i < n; i++) sum += exp((double)x[r * n + i] - top);
                for (int64_t i = 0; i < n; i++) {
                    double below = (double)x[r * n + i] - top, want = exp(below) / sum; // `below` is rounded, too
                    expect_near((double)y[r * n + i], want, want * (1e-6 - 1e-7 * fmax(below, -1e3)) + 2e-38);
                }
            }
            if (n > 3) assert_true(y[3] == 0);
            if (kernels->exact && exact) expect_same(y, exact, 3 * n);
            if (kernels->exact && !exact)
                exact = y;
            else
                free(y);
        }
        note_exact("softmax_f32", exact, 3 * n);
        free(x), free(exact);
    }
}

// Rows that give no numbers, beside rows that do.
static void softmax_special_rows(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int n = 5; n <= 20; n += 15) {
            float x[18 * 20], y[18 * 20];
            for (int i = 0; i < 18 * n; i++) x[i] = i / n == 7 ? -INFINITY : (float)(i % n);
            x[n - 2]      = NAN;
            x[17 * n + 3] = INFINITY;
            kernels->softmax_f32(18, n, x, y);
            kernels->softmax_f32(18, n, x, x); // in place
            for (int i = 0; i < 18 * n; i++) assert_true(x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
            for (int i = 0; i < 18 * n; i++) assert_true(!isnan(y[i]) == (i / n % 17 != 0 && i / n != 7));
        }
}

// ---- whole kernels, as a plan calls them

static void matmul_cases(void **state)
{
    (void)state;
    struct {
        int     a_rank, b_rank;
        int64_t a[4], b[4];
    } shapes[] = {
        {2, 2, {5, 7}, {7, 9}},
        {2, 2, {1, 300}, {300, 1000}},
        {2, 2, {300, 40}, {40, 600}},
        {1, 2, {20}, {20, 33}},
        {2, 1, {17, 20}, {20}},
        {1, 1, {50}, {50}},
        {3, 2, {4, 33, 16}, {16, 31}},
        {3, 3, {4, 5, 6}, {4, 6, 7}},
        {4, 3, {2, 3, 8, 9}, {3, 9, 20}},
        {4, 4, {2, 1, 8, 9}, {1, 3, 9, 2}},
        {2, 3, {8, 9}, {50, 9, 3}},
        {1, 3, {9}, {5, 9, 3}},
        {3, 1, {5, 3, 9}, {9}},
        {3, 2, {0, 3, 9}, {9, 4}},
        {2, 2, {3, 0}, {0, 4}},
        {3, 2, {5, 1, 7}, {7, 20}},
        {4, 4, {1, 2, 64, 32}, {1, 2, 32, 64}},
        {2, 2, {2, 600}, {600, 530}},
    };
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        Case c  = {.op            = "MatMul",
                   .version       = 13,
                   .in_count      = 2,
                   .kernel        = HOLO_KERNEL_matmul_f32,
                   .params.matmul = {.alpha = 1, .beta = 1}};
        c.in[0] = tensor(shapes[i].a_rank, shapes[i].a);
        c.in[1] = tensor(shapes[i].b_rank, shapes[i].b);
        check_case(&c);
    }
}

// Few columns, each in one piece: read where they lie.
static void gemm_few_columns(void **state)
{
    (void)state;
    static const int64_t depths[] = {0, 1, 15, 16, 17, 31, 32, 33, 64, 100, 300};
    for (int64_t n = 1; n <= 9; n++)
        for (int i = 0; i < HOLO_COUNT(depths); i++) {
            int64_t m = 1 + (n * 7 + i * 5) % 37, k = depths[i];
            Case    c = {.op = "Gemm", .version = 13, .in_count = i % 3 ? 3 : 2, .kernel = HOLO_KERNEL_matmul_f32};
            c.params.matmul =
                (HoloMatmulParams){.flags = HOLO_MATMUL_TRANS_B, .alpha = i % 2 ? 1 : 0.5f, .beta = i % 4 ? 1 : 2};
            attr_int(&c, "transB", 1);
            c.attr[c.attr_count++] =
                (HoloAttr){.name = "alpha", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = (double)c.params.matmul.alpha};
            c.attr[c.attr_count++] =
                (HoloAttr){.name = "beta", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = (double)c.params.matmul.beta};
            c.in[0] = TENSOR(m, k);
            c.in[1] = TENSOR(n, k);
            if (c.in_count > 2) c.in[2] = i % 3 == 1 ? TENSOR(n) : TENSOR(m, 1);
            check_case(&c);
        }
}

static void gemm_cases(void **state)
{
    (void)state;
    for (int v = 0; v < 4 * 5; v++) {
        bool    ta = v & 1, tb = v & 2;
        int64_t m = v == 8 ? 1 : 19, n = v == 9 ? 1 : 37, k = 21;
        Case    c       = {.op = "Gemm", .version = 13, .in_count = v / 4 ? 3 : 2, .kernel = HOLO_KERNEL_matmul_f32};
        c.params.matmul = (HoloMatmulParams){.flags = (uint32_t)v & 3, .alpha = 0.5f, .beta = 2};
        attr_int(&c, "transA", ta);
        attr_int(&c, "transB", tb);
        c.attr[c.attr_count++] = (HoloAttr){.name = "alpha", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = 0.5};
        c.attr[c.attr_count++] = (HoloAttr){.name = "beta", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = 2};
        c.in[0]                = ta ? TENSOR(k, m) : TENSOR(m, k);
        c.in[1]                = tb ? TENSOR(n, k) : TENSOR(k, n);
        if (v / 4 == 1) c.in[2] = TENSOR(n);
        if (v / 4 == 2) c.in[2] = TENSOR(m, 1);
        if (v / 4 == 3) c.in[2] = TENSOR(m, n);
        if (v / 4 == 4) c.in[2] = TENSOR(1);
        check_case(&c);
    }
}

static void matmul_packed(void **state)
{
    (void)state;
    for (int stack = 1; stack <= 3; stack += 2) {
        const int64_t k = 40, n = 50, panels = 4;
        Case          c = {.op            = "MatMul",
                           .version       = 13,
                           .in_count      = 2,
                           .kernel        = HOLO_KERNEL_matmul_f32,
                           .params.matmul = {.alpha = 1, .beta = 1}};
        c.in[0]         = TENSOR(stack, 21, k);
        c.in[1]         = TENSOR(stack, k, n);
        memcpy(&c.params, &(uint32_t){sizeof c.params}, sizeof(uint32_t));
        free(run_eval(&c));
        float *plain = c.in[1].data, *packed = floats(stack * panels * 16 * k);
        float *want = run_kernel(&c, holo_kernels(0), 2);
        for (int s = 0; s < stack; s++)
            holo_kernels(0)->pack_f32(k, n, plain + s * k * n, n, 1, packed + s * panels * 16 * k);
        c.in[1].data = packed;
        c.params.matmul.flags |= HOLO_MATMUL_PACKED_B;
        float *got = run_kernel(&c, holo_kernels(0), 2);
        expect_same(got, want, stack * 21 * n);
        const HoloTensor *in[]  = {&c.in[0], &c.in[1]};
        HoloTensor       *out[] = {&c.out};
        HoloError         error = {0};
        HoloCall          call  = {.op          = holo_op_find("", "MatMul", 13),
                                   .in_count    = 2,
                                   .out_count   = 1,
                                   .in          = in,
                                   .out         = out,
                                   .params      = &c.params,
                                   .params_size = sizeof c.params,
                                   .error       = &error};
        assert_int_equal(kernel_packed(c.kernel, &call, 1), stack * panels * 16 * k * 4);
        assert_int_equal(kernel_packed(c.kernel, &call, 0), -1);
        free(plain), free(packed), free(want), free(got), free(c.in[0].data);
    }
}

// The compiler's choice and its packing, part by part, are what the kernel reads.
static void lowering_packs(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{1, 40, 50}, {2, 7, 1000}, {1, 20000, 17}, {1, 3000, 200}};
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        const int64_t count = shapes[i][0], k = shapes[i][1], n = shapes[i][2], size = holo_panels_size(1, k, n);
        HoloValue a = {.type = {.dtype = HOLO_F32, .rank = 3, .dim = {1, 2, k}}}, out = a, b = {.is_constant = true};
        b.type            = TENSOR(count, k, n);
        HoloValue   *in[] = {&a, &b}, *outs[] = {&out};
        HoloNode     node     = {.name      = "n",
                                 .type      = "MatMul",
                                 .domain    = "",
                                 .op_id     = HOLO_ID_MatMul,
                                 .version   = 13,
                                 .in_count  = 2,
                                 .out_count = 1,
                                 .in        = in,
                                 .out       = outs};
        HoloLowering lowering = holo_cpu_choose(&node);
        assert_int_equal(lowering.kernel, HOLO_KERNEL_matmul_f32);
        assert_int_equal(lowering.pack_input, 1);
        assert_int_equal(lowering.matmul.size, sizeof lowering.matmul);
        HoloPacking packing = holo_cpu_packing(&lowering, &b.type);
        assert_int_equal(packing.bytes, count * size);
        char  *packed = malloc(packing.bytes + HOLO_PACK_PART), *want = malloc(packing.bytes);
        size_t at = 0;
        for (int64_t part = 0; part < packing.part_count; part++)
            at += holo_cpu_pack(&lowering, &b.type, part, packed + at);
        assert_int_equal(at, packing.bytes);
        for (int64_t c = 0; c < count; c++)
            holo_kernels(0)->pack_f32(k, n, (float *)b.type.data + c * k * n, n, 1, (float *)(void *)(want + c * size));
        assert_memory_equal(packed, want, packing.bytes);
        free(packed), free(want), free(b.type.data);
    }
}

typedef struct ConvCase {
    int     rank;
    int64_t batch, channels, filters, groups;
    int64_t in[3], kernel[3], stride[3], dilation[3], pads[6];
    bool    bias;
} ConvCase;

static const ConvCase convs[] = {
    {2, 1, 3, 8, 1, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {2, 2, 4, 6, 2, {8, 40}, {3, 5}, {1, 1}, {1, 1}, {1, 2, 1, 2}, true},
    {2, 1, 5, 7, 1, {13, 35}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, false},
    {2, 1, 5, 7, 1, {13, 70}, {3, 3}, {3, 3}, {2, 2}, {0, 3, 2, 1}, true},
    {2, 1, 40, 50, 1, {7, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, true},
    {2, 1, 40, 130, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {2, 1, 40, 5, 1, {9, 9}, {1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true},
    {2, 1, 2, 3, 1, {3, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {2, 1, 1, 3, 1, {2, 2}, {5, 5}, {1, 1}, {1, 1}, {4, 4, 4, 4}, true},
    {1, 2, 3, 5, 1, {100}, {7}, {2}, {3}, {9, 4}, true},
    {1, 1, 1, 20, 1, {500}, {40}, {10}, {1}, {0, 0}, false},
    {3, 1, 3, 4, 1, {5, 6, 7}, {2, 3, 3}, {1, 2, 1}, {2, 1, 1}, {1, 1, 0, 1, 1, 2}, true},
    {3, 1, 4, 4, 4, {5, 6, 37}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, true},
    {2, 2, 6, 6, 6, {12, 100}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {2, 1, 6, 12, 6, {13, 133}, {5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, false},
    {2, 1, 3, 3, 3, {9, 90}, {3, 3}, {3, 3}, {2, 2}, {2, 2, 2, 2}, true},
    {1, 1, 4, 4, 4, {17}, {4}, {1}, {2}, {3, 3}, true},
};

static void conv_cases(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(convs); i++) {
        const ConvCase *v = &convs[i];
        Case            c = {.op = "Conv", .version = 11, .in_count = v->bias ? 3 : 2, .kernel = HOLO_KERNEL_conv_f32};
        int64_t         x[5] = {v->batch, v->channels}, w[5] = {v->filters, v->channels / v->groups};
        memcpy(x + 2, v->in, sizeof v->in);
        memcpy(w + 2, v->kernel, sizeof v->kernel);
        c.in[0] = tensor(v->rank + 2, x);
        c.in[1] = tensor(v->rank + 2, w);
        if (v->bias) c.in[2] = TENSOR(v->filters);
        attr_int(&c, "group", v->groups);
        attr_ints(&c, "strides", v->rank, v->stride);
        attr_ints(&c, "dilations", v->rank, v->dilation);
        attr_ints(&c, "pads", 2 * v->rank, v->pads);
        check_case(&c);
    }
}

// Along any axis, and the logarithm of it.
static void softmax_axes(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 15, 16, 17, 300};
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        for (int k = 0; k < HOLO_COUNT(sizes); k++)
            for (int axis = 0; axis < 6; axis++) {
                Case c   = {.op = axis < 3 ? "Softmax" : "LogSoftmax", .version = 13, .in_count = 1};
                c.in[0]  = TENSOR(3, sizes[i], sizes[k]);
                float *x = c.in[0].data;
                for (int64_t n = 0; n < holo_tensor_count(&c.in[0]); n++) x[n] *= 20;
                x[0] = i == 1 ? INFINITY : i == 2 ? NAN : i == 3 ? -INFINITY : 3e38f;
                attr_int(&c, "axis", axis % 3);
                check_lowered(&c, HOLO_KERNEL_softmax_f32);
            }
}

static void softmax_cases(void **state)
{
    (void)state;
    for (int axes = 1; axes <= 3; axes++) {
        Case c  = {.op             = "Softmax",
                   .version        = 11,
                   .in_count       = 1,
                   .kernel         = HOLO_KERNEL_softmax_f32,
                   .params.softmax = {.axes = (uint32_t)axes}};
        c.in[0] = TENSOR(3, 100, 300);
        attr_int(&c, "axis", 3 - axes);
        check_case(&c);
    }
}

// What an archive may say wrongly is refused by check, not found out by run.
static void checks_refuse(void **state)
{
    (void)state;
    HoloTensor a = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}}, b = {.dtype = HOLO_F32, .rank = 2, .dim = {4, 5}};
    HoloTensor out = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 5}}, good = out;
    HoloMatmulParams     params = {.size = sizeof params, .alpha = 1};
    const HoloTensor    *in[]   = {&a, &b};
    HoloTensor          *outs[] = {&out};
    Host                 host   = host_make(holo_kernels(0), 1);
    HoloCall             call   = {.node        = "n",
                                   .in_count    = 2,
                                   .out_count   = 1,
                                   .in          = in,
                                   .out         = outs,
                                   .params      = &params,
                                   .params_size = sizeof params,
                                   .host        = &host.host};
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(HOLO_KERNEL_matmul_f32);
    size_t               scratch;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
    out.dim[1] = 6;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    out = good, out.dtype = HOLO_F16;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    out = good, out.rank = 3, out.dim[2] = 1;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    out = good, params.flags = HOLO_MATMUL_TRANS_B;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    params.flags = 1u << 31;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    params = (HoloMatmulParams){.size = 8};
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    params = (HoloMatmulParams){.size = sizeof params}, in[1] = NULL;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    in[1] = &b, call.params_size = 4;
    assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_BAD_ARCHIVE);
    assert_null(holo_cpu_kernel_find(0));
    assert_null(holo_cpu_kernel_find(1u << 30));
}

static void levels(void **state)
{
    (void)state;
    assert_non_null(holo_kernels_at(0));
    assert_int_equal(holo_kernels(1)->exact, 1);
    assert_string_equal(holo_cpu_level(), holo_kernels(0)->level);
    assert_string_equal(holo_kernels(1)->level, holo_kernels(0)->level);
}

// A vector on the right: the product has one column, whatever the output's last dimension is.
static void vector_tail(void **state)
{
    (void)state;
    const HoloKernelTable *kernels;
    HoloMatmulParams       p = {.size = sizeof p, .alpha = 1, .tail = {.count = 1, .step = {{.op = HOLO_MAP_neg}}}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(gemm_shapes),
        cmocka_unit_test(gemm_empty),
        cmocka_unit_test(gemm_special_values),
        cmocka_unit_test(gemm_rows_of_b),
        cmocka_unit_test(softmax_rows),
        cmocka_unit_test(softmax_special_rows),
        cmocka_unit_test(matmul_cases),
        cmocka_unit_test(gemm_few_columns),
        cmocka_unit_test(gemm_cases),
        cmocka_unit_test(matmul_packed),
        cmocka_unit_test(conv_cases),
        cmocka_unit_test(softmax_axes),
        cmocka_unit_test(softmax_cases),
        cmocka_unit_test(checks_refuse),
        cmocka_unit_test(lowering_packs),
        cmocka_unit_test(vector_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
