// rows_kernel_test.c - kernels over rows and planes, beside the matrix product, convolution and pointwise programs: as
// the compiler chooses them, on every table, against the operators' own eval.
#include "support/kernel_case.h"

// ---- norm_f32, reduce_f32, pool_f32

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
        {4, {2, 3, 9, 37}, {0, 2, 3, 1}}, // colors
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_cases),          cmocka_unit_test(reduce_cases), cmocka_unit_test(reduce_row_cases),
        cmocka_unit_test(reduce_column_cases), cmocka_unit_test(pool_cases),   cmocka_unit_test(transpose_cases),
        cmocka_unit_test(resize_cases),        cmocka_unit_test(lstm_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
