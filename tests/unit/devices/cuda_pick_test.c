// cuda_pick_test.c - launches for the GPU, decided without one: they cover the output exactly, lie where they say, and fit.
#include "devices/cuda/cuda_pick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SHARED_MOST = 227 * 1024, LINE = 128 };

static const int32_t sizes[] = {1, 15, 16, 17, 127, 129, 768, 5000};
// bytes of a number of each type
static const uint32_t numbers[] = {4, 2, 2, 1, 1, [HOLO_CUDA_E4M3] = 1, [HOLO_CUDA_E5M2] = 1};

static HoloCudaWant want_of(uint8_t type, uint8_t numeric)
{
    return (HoloCudaWant){.type       = type,
                          .numeric    = numeric,
                          .align      = 256,
                          .batch      = 1,
                          .sms        = 132,
                          .shared     = SHARED_MOST,
                          .cluster    = 1,
                          .b_constant = 1};
}

static HoloCudaProduct product_of(uint8_t type, int32_t m, int32_t n, int32_t k)
{
    int32_t each = 16 / (int32_t)numbers[type];
    return (HoloCudaProduct){.m      = m,
                             .n      = n,
                             .k      = k,
                             .inner  = 1,
                             .lda    = k,
                             .ldb    = (k + each - 1) / each * each,
                             .ldc    = n,
                             .ldmore = n,
                             .alpha  = 1,
                             .c_type = type};
}

static bool source_has(const char *file, const char *words)
{
    static char text[1 << 16];
    char        path[256];
    snprintf(path, sizeof path, "src/devices/cuda/code/%s", file);
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return strstr(text, words) != NULL;
}

// The module that is named is there, and has the kernel: by its name, or by the words that a macro makes it from.
static void check_source(const HoloCudaLaunch *l)
{
    char        file[80], made[80];
    const char *type = strchr(l->kernel, '_'), *rest = type ? strchr(type + 1, '_') : NULL;
    snprintf(file, sizeof file, "%s.cu", l->module);
    if (source_has(file, l->kernel)) return;
    assert_non_null(type);
    if (!strcmp(l->module, "decode")) rest = strrchr(l->kernel, '_');
    snprintf(made, sizeof made, "%.*s_##name%s%s%s", (int)(type - l->kernel), l->kernel, rest ? "##" : "",
             strcmp(l->module, "decode") ? "" : "_##D##", rest ? rest : ",");
    bool here   = source_has(file, made),
         shared = source_has(file, "TENSOR_PRODUCTS(") && source_has("product.cuh", made),
         tiled  = source_has(file, "TILED_PRODUCTS(") && source_has("tiled.cuh", made);
    assert_true(here || shared || tiled);
}

static void check_product(const HoloCudaWant *want, const HoloCudaProduct *asked, const HoloCudaPick *pick)
{
    const HoloCudaLaunch  *l      = &pick->launch[pick->count - 1];
    const HoloCudaProduct *p      = &l->params.product;
    int                    tile_m = 0, tile_n = 0;
    const char            *tile = strrchr(l->kernel, '_');
    assert_int_equal(sscanf(tile, "_%dx%d", &tile_m, &tile_n), 2);
    int64_t down = (p->m + tile_m - 1) / tile_m, across = (p->n + tile_n - 1) / tile_n,
            line = LINE / (int64_t)numbers[want->type];
    assert_int_equal(l->grid[0], down * across);
    assert_int_equal(l->grid[2], want->batch);
    // the parts of k: all of it, none empty, whole lines
    assert_int_equal(l->grid[1], p->splits);
    assert_int_equal(p->k_split % line, 0);
    assert_true((int64_t)p->splits * p->k_split >= p->k);
    assert_true(p->splits == 1 || (int64_t)(p->splits - 1) * p->k_split < p->k);
    // where parts of sums meet
    if (p->splits > 1 && p->cluster) {
        assert_int_equal(l->cluster, p->splits);
        assert_true(l->cluster == 2 || l->cluster == 4 || l->cluster == 8);
    } else {
        assert_int_equal(l->cluster, 1);
    }
    if (p->splits > 1 && !p->cluster) {
        assert_true(pick->workspace >= pick->partial_at + (size_t)(down * across * p->splits * want->batch) *
                                                              (size_t)(tile_m * tile_n) * 4);
        assert_true(down * across * want->batch <= HOLO_CUDA_COUNTERS);
    }
    // room for the tiles of one line at least, and for the sums
    assert_true(l->shared >= (uint32_t)((tile_m + tile_n) * LINE + 1024));
    assert_true(l->shared >= (uint32_t)(tile_m * (tile_n + 8) * 4 + 1024) && l->shared <= want->shared);
    if (p->a_whole) assert_int_equal((int64_t)p->lda * numbers[want->type] % 16, 0);
    if (p->c_whole) assert_int_equal(p->ldc % 4, 0);
    assert_int_equal((int64_t)p->ldb * numbers[want->type] % 16, 0);
    bool is_bytes = want->type == HOLO_CUDA_S8 || want->type == HOLO_CUDA_U8, is_f8 = want->type >= HOLO_CUDA_E4M3;
    assert_int_equal(l->kind, is_bytes ? HOLO_CUDA_BYTES : is_f8 ? HOLO_CUDA_FLOAT8 : HOLO_CUDA_PRODUCT);
    assert_int_equal(l->params_size, is_bytes ? sizeof(HoloCudaBytes)
                                     : is_f8  ? sizeof(HoloCudaFloat8)
                                              : sizeof(HoloCudaProduct));
    assert_true(pick->cost > 0);
    if (asked->act == HOLO_CUDA_ACT_RELU) assert_true(p->low == 0 && p->high > 1e30f); // relu is a limit
    check_source(l);
}

static void check_rows(const HoloCudaWant *want, const HoloCudaPick *pick)
{
    const HoloCudaLaunch *l    = &pick->launch[0];
    const HoloCudaRows   *r    = &l->params.rows;
    int64_t               each = 8 / r->share * 2; // columns of a block
    assert_true(r->share == 1 || r->share == 2 || r->share == 4 || r->share == 8);
    int64_t blocks = (r->n + each - 1) / each, most = 2 * want->sms; // blocks walk over columns
    assert_int_equal(l->grid[0], blocks < most ? blocks : most);
    assert_int_equal(r->part.blocks, l->grid[0]);
    assert_true(l->shared <= want->shared && l->shared >= 8 * 32 * 16 * 2 * HOLO_CUDA_ROWS_STAGES);
    assert_int_equal(l->params_size, sizeof(HoloCudaRows));
    assert_true(!r->whole || (int64_t)r->lda * numbers[want->type] % 16 == 0);
    int rows = atoi(strrchr(l->kernel, '_') + 1);
    assert_true(rows >= r->m);
    check_source(l);
    HoloCudaLaunch gated = *l;
    gated.kernel         = l->gated;
    if (l->gated) check_source(&gated);
    assert_true(!l->gated == (r->more_how < HOLO_CUDA_MORE_MUL_AFTER));
}

static void test_products_cover(void **state)
{
    static const uint8_t kinds[][3] = {{HOLO_CUDA_F16, 0},
                                       {HOLO_CUDA_BF16, 0},
                                       {HOLO_CUDA_S8, 0},
                                       {HOLO_CUDA_U8, 0},
                                       {HOLO_CUDA_E4M3, 0, HOLO_CUDA_E4M3},
                                       {HOLO_CUDA_E5M2, 0, HOLO_CUDA_E4M3},
                                       {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED},
                                       {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT},
                                       {HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32}};
    // bytes of shared memory of a block: sm_90, sm_80, and sm_86 with its like
    static const uint32_t machines[] = {SHARED_MOST, 163 << 10, 99 << 10};
    enum { SIZES = sizeof sizes / sizeof *sizes, MACHINES = sizeof machines / sizeof *machines };
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int i = 0; i < SIZES * SIZES * SIZES * MACHINES; i++) {
            HoloCudaWant    want = want_of(kinds[kind][0], kinds[kind][1]);
            HoloCudaProduct p =
                product_of(want.type, sizes[i % SIZES], sizes[i / SIZES % SIZES], sizes[i / SIZES / SIZES % SIZES]);
            HoloCudaPick pick;
            want.cluster = i < SIZES * SIZES * SIZES;
            want.shared  = machines[i / (SIZES * SIZES * SIZES)];
            want.b_type  = kinds[kind][2];
            p.act        = HOLO_CUDA_ACT_RELU;
            assert_true(holo_cuda_pick_product(&want, &p, &pick));
            assert_int_equal(pick.count, 1);
            if (pick.launch[0].kind == HOLO_CUDA_ROWS)
                check_rows(&want, &pick);
            else
                check_product(&want, &p, &pick);
            if (want.numeric == HOLO_CUDA_NUMERIC_EXACT) { // one sum, in the order of k
                assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
                assert_int_equal(pick.launch[0].params.product.splits, 1);
            }
        }
}

// Few tiles and much k: more than one multiprocessor in eight has to have work.
static void test_small_products_fill_the_machine(void **state)
{
    static const int32_t shapes[][3] = {{49, 512, 4608}, {196, 256, 2304}, {64, 768, 768}, {197, 768, 3072}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        HoloCudaWant    want = want_of(HOLO_CUDA_F16, 0);
        HoloCudaProduct p    = product_of(want.type, shapes[i][0], shapes[i][1], shapes[i][2]);
        HoloCudaPick    pick;
        assert_true(holo_cuda_pick_product(&want, &p, &pick));
        assert_true(pick.launch[0].grid[0] * pick.launch[0].grid[1] >= 132 / 4);
    }
}

static void test_images(void **state)
{
    (void)state;
    HoloCudaWant    want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaProduct p    = product_of(want.type, 2 * 112 * 112, 64, 49 * 3);
    HoloCudaPick    pick;
    p.height = p.width = 224, p.channels = 3, p.lda = 3, p.kernel_h = p.kernel_w = 7, p.out_h = p.out_w = 112;
    p.stride_h = p.stride_w = 2, p.pad_h = p.pad_w = 3, p.dilation_h = p.dilation_w = 1;
    assert_true(holo_cuda_pick_product(&want, &p, &pick)); // three channels: copied one by one
    assert_int_equal(pick.launch[0].params.product.a_whole, 0);
    check_product(&want, &p, &pick);

    want.a_first = 1, want.a_type = HOLO_CUDA_F32, p.ldb = 49 * 8;
    assert_true(holo_cuda_pick_product(&want, &p, &pick)); // channels first: turned and padded to 8
    assert_int_equal(pick.count, 2);
    assert_int_equal(pick.turned, 1);
    assert_int_equal(pick.turned_bytes, 2 * 224 * 224 * 8 * 2);
    assert_int_equal(pick.launch[0].params.turn.to_rows, 8);
    assert_int_equal(pick.launch[0].params.turn.from_type, HOLO_CUDA_F32);
    assert_int_equal(pick.launch[1].params.product.k, 49 * 8);
    assert_int_equal(pick.launch[1].params.product.a_whole, 1);
    assert_true(pick.workspace >= pick.turned_bytes && pick.partial_at >= pick.turned_bytes);
    check_product(&want, &p, &pick);

    p.out_w = 111; // rows are no whole images
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
}

static void test_plain_b_is_turned(void **state)
{
    (void)state;
    HoloCudaWant    want = want_of(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32);
    HoloCudaProduct p    = product_of(want.type, 50, 77, 45);
    HoloCudaPick    pick;
    want.b_plain = 1, want.batch = 6, p.inner = 3, p.ldb = 77, p.b_batch[0] = 3 * 45 * 77, p.b_batch[1] = 45 * 77;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.count, 2);
    assert_int_equal(pick.turned, 2);
    assert_int_equal(pick.launch[1].params.product.ldb, 48);
    assert_int_equal(pick.launch[1].params.product.b_early, 0); // what was just written is not read early
    assert_int_equal(pick.turned_bytes, 6 * 77 * 48 * 4);
    assert_int_equal(pick.launch[0].grid[2], 6);
    check_product(&want, &p, &pick);

    p.b_batch[0] = p.b_batch[1] = 0; // one B for all: turned once
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].grid[2], 1);
    assert_int_equal(pick.launch[1].params.product.b_batch[1], 0);
}

static void test_nothing_and_refusals(void **state)
{
    HoloCudaWant    want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaProduct p    = product_of(want.type, 0, 5, 5);
    HoloCudaPick    pick;
    (void)state;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.count, 0);
    p = product_of(want.type, 100, 5, 0); // no k: bias and function alone
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].params.product.splits, 1);
    p     = product_of(want.type, 100, 100, 100);
    p.ldb = 100; // rows of B off 16 bytes
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
    p     = product_of(want.type, 100, 100, 104);
    p.ldb = 96; // shorter than k
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
    p     = product_of(want.type, 1 << 20, 100, 4096);
    p.lda = 4096; // offsets over 32 bits
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
    p     = product_of(want.type, 100, 100, 100);
    p.act = HOLO_CUDA_ACTS;
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
    p         = product_of(HOLO_CUDA_U8, 100, 100, 128);
    want.type = HOLO_CUDA_U8;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    want.b_plain = 1; // bytes are packed by kernels of their own
    assert_false(holo_cuda_pick_product(&want, &p, &pick));
}

// What the copy engine asks of a map, and that it describes the operand.
static void check_map(const HoloCudaMap *m, uint32_t element, uint32_t rows)
{
    assert_int_equal(m->box[0] * element, LINE);
    for (int i = 0; i + 1 < m->rank; i++) assert_true(m->stride[i] && m->stride[i] % 16 == 0);
    for (int i = 0; i < m->rank; i++) assert_true(m->size[i] >= 1 && m->size[i] <= UINT32_MAX);
    assert_true(m->box[m->is_image ? 1 : 2] == rows && rows <= 256);
    for (int i = 0; i < 2; i++) assert_true(m->lower[i] >= -128 && m->upper[i] >= -128 && m->upper[i] <= 127);
    for (int i = 0; i < m->rank; i++) assert_true(m->step[i] >= 1 && m->step[i] <= 8);
}

static void check_tiled(const HoloCudaWant *want, const HoloCudaProduct *asked, const HoloCudaPick *pick)
{
    const HoloCudaLaunch  *l = &pick->launch[0];
    const HoloCudaProduct *p = &l->params.tiled.p;
    int                    m = 0, n = 0;
    bool                   deep = !strncmp(l->kernel, "deep", 4);
    uint32_t               size = numbers[want->type];
    assert_int_equal(sscanf(strrchr(l->kernel, '_'), "_%dx%d", &m, &n), 2);
    int64_t tiles = (int64_t)((asked->m + m - 1) / m) * ((asked->n + n - 1) / n), per = LINE / size,
            taps  = asked->height ? (int64_t)asked->kernel_h * asked->kernel_w : 1,
            lines = taps * (((asked->height ? asked->channels : asked->k) + per - 1) / per);
    assert_int_equal(l->grid[0], deep || tiles < want->sms ? tiles : want->sms);
    assert_int_equal(l->grid[1], p->splits);
    assert_int_equal(l->cluster, p->splits);
    // the parts of k: all lines, none empty
    assert_true((int64_t)p->splits * p->k_split >= lines && (int64_t)(p->splits - 1) * p->k_split < lines);
    assert_true(deep || p->splits == 1);
    assert_true(l->shared <= SHARED_MOST && l->shared >= (uint32_t)((m + n) * LINE));
    assert_int_equal(l->block, deep ? m * 2 + 32 : 384);
    assert_int_equal(l->params_size, sizeof(HoloCudaTiled));
    assert_true(!p->c_whole || (p->n % 4 == 0 && p->ldc % 4 == 0));
    assert_int_equal(l->map[0].is_image, asked->height != 0);
    check_map(&l->map[0], size, (uint32_t)m);
    check_map(&l->map[1], size, (uint32_t)n);
    assert_int_equal(l->map[1].size[0] * l->map[1].size[1], asked->k); // all of B, and no more
    assert_int_equal(l->map[1].size[2], asked->n);
    assert_int_equal(l->map[1].stride[1], (uint64_t)asked->ldb * size);
    check_source(l);
}

static void test_tiled_products(void **state)
{
    static const int32_t shapes[][3] = {{6304, 2304, 768},  {6304, 768, 3072}, {197, 768, 3072},  {64, 768, 768},
                                        {2048, 50257, 768}, {100352, 256, 64}, {100352, 144, 24}, {9, 8, 8}};
    (void)state;
    for (size_t i = 0; i < 3 * sizeof shapes / sizeof *shapes; i++) {
        const int32_t  *s    = shapes[i / 3];
        HoloCudaWant    want = want_of((uint8_t)(i % 3), HOLO_CUDA_NUMERIC_TF32);
        HoloCudaProduct p    = product_of(want.type, s[0], s[1], s[2]);
        HoloCudaPick    pick;
        want.tiled = 1, p.act = HOLO_CUDA_ACT_GELU_ERF;
        assert_true(holo_cuda_pick_product(&want, &p, &pick));
        assert_int_equal(pick.launch[0].kind, HOLO_CUDA_TILED);
        check_tiled(&want, &p, &pick);
    }
    HoloCudaWant    want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaProduct p    = product_of(want.type, 32 * 28 * 28, 128, 9 * 128);
    HoloCudaPick    pick;
    want.tiled = 1, p.height = p.width = 56, p.channels = p.lda = 128, p.kernel_h = p.kernel_w = 3,
    p.out_h = p.out_w = 28, p.stride_h = p.stride_w = 2, p.pad_h = p.pad_w = 1, p.dilation_h = p.dilation_w = 1;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_TILED);
    check_tiled(&want, &p, &pick);
    const HoloCudaMap *image = &pick.launch[0].map[0];
    assert_int_equal(image->lower[0], -1);
    assert_int_equal(image->upper[1], -2); // the last patch begins at line 53 of 0 to 55
    assert_int_equal(image->size[3], 32);
}

// What these kernels cannot do is left to the others.
static void test_tiled_refusals(void **state)
{
    HoloCudaWant    want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaProduct good = product_of(want.type, 6304, 768, 768), p = good;
    HoloCudaPick    pick;
    (void)state;
    want.tiled = 1;
    p.k        = 767; // rows of A off 16 bytes
    p.lda      = 767;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    p     = good;
    p.act = HOLO_CUDA_ACT_TANH;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    p        = good;
    p.c_type = HOLO_CUDA_F32;
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    p = product_of(want.type, 100, 8, 0);
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    want.batch = 2;
    assert_true(holo_cuda_pick_product(&want, &good, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    want = want_of(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED), want.tiled = 1;
    p = product_of(want.type, 6304, 768, 768);
    assert_true(holo_cuda_pick_product(&want, &p, &pick));
    assert_int_equal(pick.launch[0].kind, HOLO_CUDA_PRODUCT);
    assert_null(holo_cuda_tiled_module(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED));
    assert_string_equal(holo_cuda_tiled_module(HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32), "tiled_tf32_sm90");
}

static HoloCudaAttention attention_of(int32_t heads, int32_t kv_heads, int32_t queries, int32_t keys, int32_t size)
{
    HoloCudaAttention p = {.batch    = 2,
                           .heads    = heads,
                           .kv_heads = kv_heads,
                           .queries  = queries,
                           .keys     = keys,
                           .size     = size,
                           .v_size   = size};
    p.q_stride[2] = p.out_stride[2] = (int64_t)heads * size, p.k_stride[2] = p.v_stride[2] = (int64_t)kv_heads * size;
    p.q_stride[1] = p.k_stride[1] = p.v_stride[1] = p.out_stride[1] = size;
    p.q_stride[0] = p.out_stride[0] = p.q_stride[2] * queries, p.k_stride[0] = p.v_stride[0] = p.k_stride[2] * keys;
    return p;
}

// Blocks that share the keys are a cluster, or their parts meet in memory.
static void check_decode(const HoloCudaWant *want, const HoloCudaAttention *asked, const HoloCudaPick *pick)
{
    enum { ROWS = 4, LEAST = 64 }; // four heads share K and V: four rows of a block
    const HoloCudaLaunch    *l    = &pick->launch[0];
    const HoloCudaAttention *a    = &l->params.attention;
    int32_t                  size = asked->size > 64 ? 128 : 64;
    assert_int_equal(l->grid[0], 2);
    assert_int_equal(l->grid[1], a->splits);
    assert_int_equal(l->grid[2], asked->batch);
    assert_int_equal(l->cluster, a->cluster ? a->splits : 1);
    assert_true(a->splits == 1 || a->splits <= (asked->keys + LEAST - 1) / LEAST * 2);
    assert_true(a->keys_split >= 1 && a->keys_split <= LEAST);
    if (a->cluster) {
        assert_true(want->cluster && (a->splits == 2 || a->splits == 4 || a->splits == 8));
        assert_int_equal(pick->workspace, 0);
    } else if (a->splits > 1) {
        assert_true(pick->workspace >= (size_t)asked->batch * l->grid[0] * (size_t)(a->splits * ROWS * (size + 2)) * 4);
    }
}

static void test_attention(void **state)
{
    static const int32_t heads[] = {20, 32, 64, 96, 128, 200, 256};
    (void)state;
    for (uint8_t type = 0; type < 3; type++)
        for (int i = 0; i < 7 * 4; i++) {
            HoloCudaWant      want = want_of(type, i % 2 && !type ? HOLO_CUDA_NUMERIC_TF32 : HOLO_CUDA_NUMERIC_FUSED);
            HoloCudaAttention p    = attention_of(8, 2,
                                               i / 7 == 0 || i / 7 == 3 ? 1
                                                  : i / 7 == 1             ? 64
                                                                           : 197,
                                                  300, heads[i % 7]);
            HoloCudaPick      pick;
            want.cluster = i / 7 != 3;
            assert_true(holo_cuda_pick_attention(&want, &p, &pick));
            const HoloCudaLaunch *l = &pick.launch[0];
            check_source(l);
            assert_true(l->shared <= SHARED_MOST);
            assert_int_equal(l->params.attention.whole, (heads[i % 7] * (int32_t)numbers[type]) % 16 == 0);
            if (!strcmp(l->module, "decode")) {
                assert_true(p.queries == 1 && heads[i % 7] <= 128);
                check_decode(&want, &p, &pick);
            } else {
                assert_int_equal(l->grid[0], (p.queries + 63) / 64);
                assert_int_equal(l->grid[1], 8);
            }
        }
    HoloCudaWant      want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaAttention wide = attention_of(2, 2, 64, 64, 320), uneven = attention_of(3, 2, 64, 64, 64);
    HoloCudaPick      pick;
    assert_false(holo_cuda_pick_attention(&want, &wide, &pick));
    assert_false(holo_cuda_pick_attention(&want, &uneven, &pick));
}

// Heads of all sizes have a kernel on every machine; only where two tiles of keys do not fit there is one.
static void test_attention_fits(void **state)
{
    static const uint32_t machines[] = {SHARED_MOST, 163 * 1024, 99 * 1024};
    static const int32_t  wide[]     = {8, 64, 65, 128, 129, 256};
    int                   singles    = 0;
    (void)state;
    for (int i = 0; i < 3 * 6 * 4; i++) {
        uint8_t           type = (uint8_t)(i % 4 % 3);
        HoloCudaWant      want = want_of(type, i % 4 == 3 ? HOLO_CUDA_NUMERIC_TF32 : HOLO_CUDA_NUMERIC_FUSED);
        HoloCudaAttention p    = attention_of(8, 2, 64, 300, wide[i / 4 % 6]);
        HoloCudaPick      pick, large;
        want.shared = machines[i / 24];
        assert_true(holo_cuda_pick_attention(&want, &p, &pick));
        want.shared = 0;
        assert_true(holo_cuda_pick_attention(&want, &p, &large));
        want.shared             = machines[i / 24];
        const HoloCudaLaunch *l = &pick.launch[0], *most = &large.launch[0];
        assert_true(l->shared <= want.shared);
        assert_string_equal(l->kernel, most->kernel);
        assert_int_equal(most->params.attention.is_single, 0);
        assert_int_equal(l->params.attention.is_single, most->shared > want.shared);
        singles += l->params.attention.is_single;
        if (!l->params.attention.is_single) continue;
        uint32_t queries = 64 * 256 * numbers[type]; // and half of what is for keys and values
        assert_int_equal(l->shared, queries + (most->shared - queries) / 2);
    }
    assert_int_equal(singles, 4); // heads of more than 128 numbers of f32, in two classes, where a block has 99 KB
}

static void test_norms_and_depthwise(void **state)
{
    HoloCudaWant want = want_of(HOLO_CUDA_F16, 0);
    HoloCudaPick pick;
    (void)state;
    for (size_t i = 0; i < 64; i++) {
        HoloCudaNorm p = {.rows   = sizes[i % 8],
                          .width  = sizes[i / 8],
                          .lda    = sizes[i / 8],
                          .ldc    = sizes[i / 8],
                          .a_type = HOLO_CUDA_F16};
        assert_true(holo_cuda_pick_norm(&want, &p, &pick));
        const HoloCudaLaunch *l     = &pick.launch[0];
        bool                  warps = !strcmp(l->kernel, "norm_warp") || !strncmp(l->kernel, "norm_plain", 10);
        int64_t               each  = warps ? l->block / 32 : 1;
        assert_true(l->grid[0] * each >= p.rows && (l->grid[0] - 1) * each < p.rows);
        assert_int_equal(l->params.norm.whole, p.lda % 4 == 0);
        check_source(l);
    }
    HoloCudaDepthwise d = {.batch      = 3,
                           .height     = 56,
                           .width      = 56,
                           .channels   = 144,
                           .kernel_h   = 3,
                           .kernel_w   = 3,
                           .out_h      = 28,
                           .out_w      = 28,
                           .stride_h   = 2,
                           .stride_w   = 2,
                           .pad_h      = 1,
                           .pad_w      = 1,
                           .dilation_h = 1,
                           .dilation_w = 1};
    assert_true(holo_cuda_pick_depthwise(&want, &d, &pick));
    assert_string_equal(pick.launch[0].kernel, "depthwise_f16_3x3_2");
    assert_int_equal(pick.launch[0].grid[0], (3 * 28 * 7 * 18 + 127) / 128);
    d.kernel_h = 5;
    assert_true(holo_cuda_pick_depthwise(&want, &d, &pick));
    assert_string_equal(pick.launch[0].kernel, "depthwise_f16");
    d.channels = 20; // no whole 16 bytes
    assert_false(holo_cuda_pick_depthwise(&want, &d, &pick));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_cover),
        cmocka_unit_test(test_small_products_fill_the_machine),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_plain_b_is_turned),
        cmocka_unit_test(test_tiled_products),
        cmocka_unit_test(test_tiled_refusals),
        cmocka_unit_test(test_nothing_and_refusals),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_fits),
        cmocka_unit_test(test_norms_and_depthwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
