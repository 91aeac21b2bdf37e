// peer_bits_test.c - in class fused, where a CPU rounds a multiplication and an addition once, some kernels have the bits of
// ONNX Runtime 1.30 on x86-64 with AVX-512: one step of a quantization inside of a model can then not come out otherwise.
// The hashes are of what it computed of the same numbers. Numbers that are no normal ones, where kernels may give 0, are
// not among them.
#include "base/base.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t seed = 1;

// Numbers from -scale to scale, a power of two, and `more`.
static float *filled(int64_t count, float scale, float more)
{
    float *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int32_t)(seed >> 8) - (1 << 23)) * 0x1p-23f * scale + more;
    }
    return x;
}

static uint32_t hash_of(const float *x, int64_t count)
{
    uint32_t hash = 2166136261u;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 16777619u;
    }
    return hash;
}

// What is computed of x, which it may be written over: of each table of class fused the same.
typedef struct Case {
    void (*run)(const struct Case *c, const HoloKernelTable *kernels, float *x);
    const char *what;
    int64_t     rows, n;
    float       scale, more;
    uint32_t    hash;
    uint32_t    map; // a function, a reduction; or whether there is a bias
} Case;

static void run_map(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->map_f32(&(HoloMap){.op = c->map, .n = c->rows * c->n, .a = x, .b = x, .out = x});
}

static void run_rows(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->softmax_f32(c->rows, c->n, x, x);
}

// In two parts, as tasks have them.
static void run_apart(const Case *c, const HoloKernelTable *kernels, float *x)
{
    int64_t first = c->rows / 2, from = first * c->n;
    kernels->softmax_apart_f32(first, c->n, 0, x, x);
    kernels->softmax_apart_f32(c->rows - first, c->n, first, x + from, x + from);
}

// Of keys and values that have a one each, scores are what queries are, and results the weights.
static void run_weights(const Case *c, const HoloKernelTable *kernels, float *x)
{
    int64_t n     = c->n;
    float  *ones  = calloc((size_t)(n * n), sizeof *ones);
    float  *block = aligned_alloc(64, ((size_t)holo_attend_scratch(n, n) * sizeof *block + 63) / 64 * 64);
    assert_non_null(ones), assert_non_null(block);
    for (int64_t i = 0; i < n; i++) ones[i * n + i] = 1;
    kernels->attention_f32(&(HoloAttend){.rows     = c->rows,
                                         .keys     = n,
                                         .size     = n,
                                         .v_size   = n,
                                         .q        = x,
                                         .k        = ones,
                                         .v        = ones,
                                         .q_row    = n,
                                         .k_row    = n,
                                         .v_row    = n,
                                         .out      = x,
                                         .out_row  = n,
                                         .scale    = 1,
                                         .is_apart = true,
                                         .before   = n,
                                         .after    = n,
                                         .scratch  = block});
    free(ones), free(block);
}

static void run_columns(const Case *c, const HoloKernelTable *kernels, float *x)
{
    kernels->softmax_columns_f32(c->rows, c->n, x, c->n, false, x);
}

static void run_layer(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->n, 2, 0), *bias = filled(c->n, 2, 0);
    HoloNorm norm = {.n = c->n, .x = x, .scale = scale, .run = 1, .groups = 1, .epsilon = 1e-5f, .out = x};
    norm.bias     = c->map ? bias : NULL;
    norm.centered = true;
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale), free(bias);
}

static void run_rms(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->n, 2, 0);
    HoloNorm norm  = {.n = c->n, .x = x, .scale = scale, .run = 1, .groups = 1, .epsilon = 1e-5f, .out = x};
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale);
}

// A layer that is joined with the sum before it.
static void run_skip(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->n, 2, 0), *bias = filled(c->n, 2, 0);
    HoloNorm norm = {.n = c->n, .x = x, .scale = scale, .run = 1, .groups = 1, .epsilon = 1e-5f, .out = x};
    norm.bias     = c->map ? bias : NULL;
    norm.centered = norm.peer = true;
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale), free(bias);
}

// Rows are channels of one image.
static void run_instance(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float   *scale = filled(c->rows, 2, 0), *bias = filled(c->rows, 2, 0);
    HoloNorm norm = {.n = c->n, .x = x, .scale = scale, .bias = bias, .run = c->n, .groups = c->rows, .out = x};
    norm.epsilon  = 1e-5f;
    norm.centered = norm.peer = true;
    kernels->norm_f32(&norm, 0, c->rows);
    free(scale), free(bias);
}

// And with channels last.
static void run_instance_last(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float *scale = filled(c->rows, 2, 0), *bias = filled(c->rows, 2, 0);
    float *last = filled(c->n * c->rows, 1, 0), *factor = filled(c->rows, 1, 0), *addend = filled(c->rows, 1, 0);
    kernels->transpose_f32(c->rows, c->n, x, c->n, last, c->rows);
    for (int64_t i = 0; i < c->rows; i += 16)
        kernels->instance_f32(c->n, c->rows, last + i, i, (int)(c->rows - i < 16 ? c->rows - i : 16), 1e-5f, scale + i,
                              bias + i, factor + i, addend + i);
    kernels->affine_peer_f32(c->n, c->rows, last, factor, addend, last);
    kernels->transpose_f32(c->n, c->rows, last, c->rows, x, c->n);
    free(scale), free(bias), free(last), free(factor), free(addend);
}

// Channels of images that are eight wide, under windows of `map` in both directions.
static void run_windows(const Case *c, const HoloKernelTable *kernels, float *x)
{
    int64_t       k = c->map, height = c->n / 8, places = height / k * (8 / k);
    float        *last = filled(c->n * c->rows, 1, 0), *out = filled(places * c->rows, 1, 0);
    float        *scratch = aligned_alloc(64, HOLO_POOL_SCRATCH * sizeof *scratch);
    HoloConvShape shape   = {.in       = {1, height, 8},
                             .out      = {1, height / k, 8 / k},
                             .kernel   = {1, k, k},
                             .stride   = {1, k, k},
                             .dilation = {1, 1, 1}};
    assert_non_null(scratch);
    kernels->transpose_f32(c->rows, c->n, x, c->n, last, c->rows);
    kernels->pool_f32(
        &(HoloPooling){.shape = &shape, .image = last, .channels = c->rows, .out = out, .scratch = scratch}, 0,
        height / k);
    kernels->transpose_f32(places, c->rows, out, c->rows, x, places);
    free(last), free(out), free(scratch);
}

// One number of each row, where rows were.
static void run_sums(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float *out = filled(c->rows, 1, 0);
    kernels->reduce_f32(c->map, c->rows, c->n, x, out);
    memcpy(x, out, (size_t)c->rows * sizeof *x);
    free(out);
}

// Of each column, where the first row was.
static void run_columns_sums(const Case *c, const HoloKernelTable *kernels, float *x)
{
    float *out = filled(c->n, 1, 0);
    kernels->reduce_columns_f32(c->map, c->rows, c->n, x, c->n, out);
    memcpy(x, out, (size_t)c->n * sizeof *x);
    free(out);
}

#define APART(rows, n, hash)                                            \
    {run_apart, "softmax in parts", rows, n, 4, 0.25f, hash, 0},        \
    {                                                                   \
        run_weights, "weights of attention", rows, n, 4, 0.25f, hash, 0 \
    }
#define INSTANCE(channels, n, hash)                                                  \
    {run_instance, "instance", channels, n, 1, 0.25f, hash, 0},                      \
    {                                                                                \
        run_instance_last, "instance, channels last", channels, n, 1, 0.25f, hash, 0 \
    }

static const Case cases[] = {
    {run_map, "exp", 1, 10007, 64, 0, 0x1dce5889, HOLO_MAP_exp},
    {run_map, "erf", 1, 10007, 8, 0, 0x267b1902, HOLO_MAP_erf},
    {run_map, "gelu", 1, 10007, 8, 0, 0x3888b718, HOLO_MAP_gelu},
    {run_map, "gelu by tanh", 1, 10007, 4, 0, 0x6f84872c, HOLO_MAP_gelu_tanh},
    {run_map, "gelu by tanh", 1, 10000, 16, 0, 0xad2f9701, HOLO_MAP_gelu_tanh},
    {run_map, "sigmoid by a ratio", 1, 10000, 32, 0, 0x1a6047be, HOLO_MAP_sigmoid_ratio},
    {run_map, "tanh by a ratio", 1, 10000, 16, 0, 0x9266dec5, HOLO_MAP_tanh_ratio},
    {run_map, "sin", 1, 10000, 16384, 0, 0x8b926495, HOLO_MAP_sin},
    {run_map, "cos", 1, 10000, 16384, 0, 0x8927aa9a, HOLO_MAP_cos},
    {run_map, "sin", 1, 10000, 8, 0, 0x220d3c2e, HOLO_MAP_sin},
    {run_map, "cos", 1, 10000, 8, 0, 0x96425664, HOLO_MAP_cos},
    {run_rows, "softmax", 37, 1, 8, 0, 0x537e038f, 0},
    {run_rows, "softmax", 37, 5, 8, 0, 0x4f0e400d, 0},
    {run_rows, "softmax", 37, 16, 8, 0, 0xd5b9e53d, 0},
    {run_rows, "softmax", 37, 17, 8, 0, 0x0a25b9c9, 0},
    {run_rows, "softmax", 37, 197, 8, 0, 0x6a86fbec, 0},
    {run_rows, "softmax", 3, 1500, 8, 0, 0x98c3fcb1, 0},
    {run_columns, "softmax of columns", 3, 33, 8, 0, 0x51245203, 0},
    {run_columns, "softmax of columns", 8, 16, 8, 0, 0xdbe3a260, 0},
    {run_columns, "softmax of columns", 16, 40, 8, 0, 0x72a1071c, 0},
    {run_columns, "softmax of columns", 17, 15, 8, 0, 0xf9f8e7ac, 0},
    {run_columns, "softmax of columns", 37, 40, 8, 0, 0x6c82332b, 0},
    {run_columns, "softmax of columns", 200, 17, 8, 0, 0x0b0ca88b, 0},
    {run_layer, "layer", 37, 8, 1, 0.25f, 0x542506e0, 1},
    {run_layer, "layer", 37, 8, 1, 0.25f, 0x547c4405, 0},
    {run_layer, "layer", 37, 12, 1, 0.25f, 0x29da2262, 1},
    {run_layer, "layer", 37, 15, 1, 0.25f, 0x29c53548, 1},
    {run_layer, "layer", 37, 16, 1, 0.25f, 0x79c9de1a, 1},
    {run_layer, "layer", 37, 19, 1, 0.25f, 0x40d52d5c, 1},
    {run_layer, "layer", 37, 22, 1, 0.25f, 0x70669011, 0},
    {run_layer, "layer", 1, 64, 1, 0.25f, 0x6cd672d5, 1},
    {run_layer, "layer", 37, 384, 1, 0.25f, 0x70ddb973, 1},
    {run_layer, "layer", 37, 384, 1, 0.25f, 0x8153f51a, 0},
    {run_layer, "layer", 5, 771, 1, 0.25f, 0xc684b6a6, 1},
    {run_layer, "layer", 3, 4000, 1, 0.25f, 0x123f87db, 1},
    {run_layer, "layer", 2, 9001, 1, 0.25f, 0xc89030d5, 1},
    {run_rms, "layer around 0", 37, 16, 1, 0.25f, 0xff65c1b8, 0},
    {run_rms, "layer around 0", 37, 23, 1, 0.25f, 0xef32d270, 0},
    {run_rms, "layer around 0", 37, 100, 1, 0.25f, 0x51f45cf7, 0},
    {run_rms, "layer around 0", 5, 1029, 1, 0.25f, 0xdd27aefc, 0},
    APART(37, 1, 0x537e038f),
    APART(37, 3, 0x656efb72),
    APART(37, 5, 0x77f6f5ca),
    APART(16, 8, 0x20352ef9),
    APART(37, 12, 0xe385a2ac),
    APART(37, 13, 0x910bd1b0),
    APART(33, 17, 0x7bbe5e09),
    APART(37, 64, 0xe456c43a),
    APART(9, 170, 0x77c04ff8),
    APART(5, 251, 0x93499356),
    {run_apart, "softmax in parts", 3, 1031, 4, 0.25f, 0x253e55e2, 0},
    {run_skip, "layer of a sum", 37, 1, 1, 0.25f, 0x0e7effc9, 1},
    {run_skip, "layer of a sum", 37, 8, 1, 0.25f, 0x9ea9627d, 1},
    {run_skip, "layer of a sum", 37, 15, 1, 0.25f, 0x04cb43cb, 0},
    {run_skip, "layer of a sum", 16, 17, 1, 0.25f, 0x6ae8f11b, 1},
    {run_skip, "layer of a sum", 37, 64, 1, 0.25f, 0x6e6ef1c4, 1},
    {run_skip, "layer of a sum", 33, 384, 1, 0.25f, 0xc2a7c8f3, 1},
    {run_skip, "layer of a sum", 5, 771, 1, 0.25f, 0x7849f598, 0},
    {run_skip, "layer of a sum", 1, 768, 1, 0.25f, 0x82d620ef, 1},
    INSTANCE(37, 1, 0xb622aff7),
    INSTANCE(37, 3, 0x1a520c74),
    INSTANCE(37, 5, 0x6dbb83ee),
    INSTANCE(16, 8, 0xa59abbd8),
    INSTANCE(37, 15, 0xf7d91e9d),
    INSTANCE(7, 64, 0xabd7aa7d),
    INSTANCE(37, 49, 0xfce83ea3),
    INSTANCE(33, 170, 0xd37f495b),
    INSTANCE(3, 1031, 0x88e5563d),
    INSTANCE(5, 4096, 0xb50524a4),
    {run_windows, "means of windows", 16, 48, 1, 0.25f, 0x103f9b73, 2},
    {run_windows, "means of windows", 48, 144, 1, 0.25f, 0x6878bd9b, 4},
    {run_windows, "means of windows", 16, 64, 1, 0.25f, 0x5b49d011, 2},
    {run_sums, "Mean", 37, 1, 1, 0.25f, 0x752cd7ac, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 37, 3, 1, 0.25f, 0x6a145e27, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 37, 5, 1, 0.25f, 0x6262ec11, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 16, 8, 1, 0.25f, 0x97096a2b, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 37, 15, 1, 0.25f, 0xc2c87263, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 37, 64, 1, 0.25f, 0xa3511f05, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 33, 170, 1, 0.25f, 0x309b8076, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "Mean", 3, 1031, 1, 0.25f, 0x6559da52, HOLO_REDUCE_MEAN_PEER},
    {run_sums, "L2", 37, 3, 1, 0.25f, 0xf07903bb, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 37, 5, 1, 0.25f, 0x5027cc9f, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 16, 8, 1, 0.25f, 0x88776431, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 37, 15, 1, 0.25f, 0xe2772df7, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 37, 64, 1, 0.25f, 0x485ba1ab, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 33, 170, 1, 0.25f, 0xb433eb69, HOLO_REDUCE_L2_PEER},
    {run_sums, "L2", 3, 1031, 1, 0.25f, 0xc666ee22, HOLO_REDUCE_L2_PEER},
    {run_sums, "Sum", 1, 1031, 1, 0.25f, 0xef631e01, HOLO_REDUCE_SUM_PEER},
    {run_sums, "Sum", 1, 4096, 1, 0.25f, 0x793fe915, HOLO_REDUCE_SUM_PEER},
    {run_columns_sums, "Mean of columns", 2, 1, 1, 0.25f, 0x91d16c37, HOLO_REDUCE_MEAN_PEER},
    {run_columns_sums, "Mean of columns", 5, 15, 1, 0.25f, 0x4b56f0b1, HOLO_REDUCE_MEAN_PEER},
    {run_columns_sums, "Mean of columns", 37, 16, 1, 0.25f, 0x543b5a0b, HOLO_REDUCE_MEAN_PEER},
    {run_columns_sums, "Mean of columns", 576, 24, 1, 0.25f, 0xc1aef6f1, HOLO_REDUCE_MEAN_PEER},
    {run_columns_sums, "Mean of columns", 9, 33, 1, 0.25f, 0x58b3eef9, HOLO_REDUCE_MEAN_PEER},
    {run_columns_sums, "Sum of columns of several", 79, 32, 1, 0.25f, 0x2581ccff, HOLO_REDUCE_SUM_FOURS},
    {run_columns_sums, "Sum of columns of several", 6, 15, 1, 0.25f, 0x5d6961ef, HOLO_REDUCE_SUM_FOURS},
    {run_columns_sums, "Mean of columns of several", 80, 33, 1, 0.25f, 0x9e20b75a, HOLO_REDUCE_MEAN_FOURS},
    {run_columns_sums, "L2 of columns", 2, 1, 1, 0.25f, 0xf3daba46, HOLO_REDUCE_L2_PEER},
    {run_columns_sums, "L2 of columns", 5, 15, 1, 0.25f, 0x1e7bbb0c, HOLO_REDUCE_L2_PEER},
    {run_columns_sums, "L2 of columns", 37, 16, 1, 0.25f, 0xc0323a93, HOLO_REDUCE_L2_PEER},
    {run_columns_sums, "L2 of columns", 576, 24, 1, 0.25f, 0x7a854a24, HOLO_REDUCE_L2_PEER},
    {run_columns_sums, "L2 of columns", 9, 33, 1, 0.25f, 0x99710f76, HOLO_REDUCE_L2_PEER},
};

static void test_bits(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        const Case            *c = &cases[i];
        const HoloKernelTable *kernels;
        for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
            if (kernels->exact || !strcmp(kernels->level, "sse2")) continue; // which rounds twice
            int64_t count = c->rows * c->n;
            seed          = 1;
            float *x      = filled(count, c->scale, c->more);
            c->run(c, kernels, x);
            if (c->run == run_sums) count = c->rows;
            if (c->run == run_columns_sums) count = c->n;
            if (c->run == run_windows) count = c->rows * (c->n / 8 / c->map) * (8 / c->map);
            uint32_t hash = hash_of(x, count);
            if (hash != c->hash)
                fail_msg("%s of %d x %d at %s has other bits: 0x%08x", c->what, (int)c->rows, (int)c->n, kernels->level,
                         hash);
            free(x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
