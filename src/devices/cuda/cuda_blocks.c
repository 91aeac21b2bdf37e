// cuda_blocks.c - steps with weights of few bits: MatMulBlocks, MatMulNBits, DecodeBlocks and TakeRows of blocks.
//
// Weights lie in panels of 16 columns. Few rows are multiplied by a kernel that decodes what it reads. For more rows the weights become
// numbers in the scratch first, as many columns at a time as stay in the second cache, and the kernels of other products follow.
#include "devices/cuda/cuda_blocks.h"
#include "devices/cuda/cuda_product.h"
#include "ops/hologram/blocks_op.h"
#include "ops/hologram/rows_op.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = HOLO_BLOCK_COLUMNS, UNIT = HOLO_CUDA_BLOCK_UNIT, WARPS = HOLO_CUDA_BLOCK_WARPS };
enum {
    SLICE_BYTES   = 32 << 20,
    SLICE_COLUMNS = 256
}; // decoded weights: at most so many bytes, a multiple of so many columns

// ---- which code

static const struct {
    const char *type, *module;
} modules[] = {
    {"q2_k", "blocks_small"},   {"q3_k", "blocks_small"},   {"tq1_0", "blocks_small"}, {"tq2_0", "blocks_small"},
    {"q4_0", "blocks_four"},    {"q4_1", "blocks_four"},    {"q4_k", "blocks_four"},   {"iq4_nl", "blocks_book"},
    {"iq4_xs", "blocks_book"},  {"mxfp4", "blocks_book"},   {"q5_0", "blocks_more"},   {"q5_1", "blocks_more"},
    {"q5_k", "blocks_more"},    {"q6_k", "blocks_more"},    {"q8_0", "blocks_more"},   {"iq1_s", "blocks_grid"},
    {"iq1_m", "blocks_grid"},   {"iq2_xxs", "blocks_grid"}, {"iq2_xs", "blocks_grid"}, {"iq2_s", "blocks_grid"},
    {"iq3_xxs", "blocks_grid"}, {"iq3_s", "blocks_grid"},
};

static const char *name_of(uint32_t number)
{
    const HoloBlockType *type = number < HOLO_CUDA_NBITS_4 ? holo_block_type_at((int)number) : NULL;
    if (type) return type->name;
    return number == HOLO_CUDA_NBITS_4 ? "nbits_4" : number == HOLO_CUDA_NBITS_8 ? "nbits_8" : NULL;
}

const char *holo_cuda_block_module(uint32_t number)
{
    const char *name = name_of(number);
    if (number >= HOLO_CUDA_NBITS_4) return name ? "blocks_nbits" : NULL;
    for (int i = 0; name && i < HOLO_COUNT(modules); i++)
        if (!strcmp(modules[i].type, name)) return modules[i].module;
    return NULL;
}

int holo_cuda_block_number(const HoloBlockType *type)
{
    for (int i = 0; holo_block_type_at(i); i++)
        if (holo_block_type_at(i) == type) return i;
    return -1;
}

int64_t holo_cuda_nbits_panel(const HoloNBits *sizes)
{
    const int64_t most = INT64_MAX / 1024;
    int64_t       unit = UNIT / 8 * sizes->bits; // bytes of a column
    return sizes->column < 0 || sizes->column > most ? -1 : (sizes->column + unit - 1) / unit * 64 * sizes->bits;
}

// As few warps as fill the machine, each of which has 24 at a time, and so many that its blocks end together.
void holo_cuda_block_share(int32_t n, int32_t k, int32_t sms, int32_t *out_share, uint64_t *out_grid)
{
    int64_t panels = ((int64_t)n + COLUMNS - 1) / COLUMNS, all = (int64_t)sms * 24, best = 0;
    *out_share = 1;
    for (int32_t share = 1; share <= WARPS; share *= 2) {
        int64_t pairs = ((int64_t)k + 2 * UNIT - 1) / (2 * UNIT), each = (pairs + share - 1) / share;
        int64_t rounds = (panels * share + all - 1) / all, time = rounds * (each + 2); // adding up takes as long as two
        if (share > 1 && time >= best) continue;
        best       = time;
        *out_share = share;
    }
    int64_t in_block = WARPS / *out_share;
    *out_grid        = (uint64_t)((panels + in_block - 1) / in_block);
}

// ---- the weights of a step

typedef struct Weights {
    HoloCudaBlockPanels w;
    uint32_t            number;              // of the type
    int                 at;                  // the input that has them
    int                 scales, zeros, bias; // inputs of MatMulNBits; -1: none
} Weights;

// Panels of n columns as one input, and how many bytes they are.
static HoloStatus panels_find(HoloCudaMaking *m, int64_t n, int64_t k, int64_t panel, Weights *out)
{
    int64_t size;
    out->w.n     = (int32_t)n;
    out->w.k     = (int32_t)k;
    out->w.panel = panel;
    if (!(m->params.flags & HOLO_CUDA_FLAG_PACKED) || !holo_cuda_block_module(out->number))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its weights are not packed for cuda");
    if (n < 0 || k < 1 || n > INT32_MAX - COLUMNS || k > INT32_MAX - 2 * UNIT || panel < 0 ||
        !holo_mul((n + COLUMNS - 1) / COLUMNS, panel, &size))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: its weights are too large");
    m->job->packed       = size;
    m->job->packed_input = out->at;
    return HOLO_OK;
}

static HoloStatus blocks_find(HoloCudaMaking *m, int at, Weights *out)
{
    const HoloTensor *t = holo_in(m->call, at);
    HoloBlocks        v;
    *out = (Weights){
        .at = at, .scales = -1, .zeros = -1, .bias = holo_in(m->call, HOLO_BLOCKS_BIAS) ? HOLO_BLOCKS_BIAS : -1};
    HOLO_TRY(holo_blocks_sizes(m->call, &v));
    if (!t || t->dtype != HOLO_U8 || t->rank != 2 || t->dim[1] != v.bytes || v.rounds)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its weights are not rows of blocks");
    out->number = (uint32_t)holo_cuda_block_number(v.type);
    return panels_find(m, t->dim[0], v.count, holo_block_panel_bytes(v.type, v.count), out);
}

static HoloStatus nbits_find(HoloCudaMaking *m, Weights *out)
{
    const HoloCall   *call  = m->call;
    const HoloTensor *zeros = holo_in(call, HOLO_NBITS_ZEROS), *b = holo_in(call, HOLO_NBITS_B);
    HoloNBits         v;
    *out = (Weights){.at     = HOLO_NBITS_B,
                     .scales = HOLO_NBITS_SCALES,
                     .zeros  = zeros ? HOLO_NBITS_ZEROS : -1,
                     .bias   = holo_in(call, HOLO_NBITS_BIAS) ? HOLO_NBITS_BIAS : -1};
    HOLO_TRY(holo_nbits_sizes(call, &v));
    if (!b || !holo_in(call, HOLO_NBITS_SCALES) || call->in[HOLO_NBITS_SCALES]->dtype != HOLO_F32 ||
        holo_in(call, HOLO_NBITS_GROUPS) || (zeros && zeros->dtype != HOLO_F32 && zeros->dtype != HOLO_U8) ||
        (v.bits != 4 && v.bits != 8) || v.block < 16)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its weights are not those that cuda multiplies");
    HOLO_TRY(holo_nbits_entries(call, &v));
    out->number         = v.bits == 4 ? HOLO_CUDA_NBITS_4 : HOLO_CUDA_NBITS_8;
    out->w.blocks       = (int32_t)v.blocks;
    out->w.zero_bytes   = (int32_t)v.zero_bytes;
    out->w.zeros_packed = zeros && zeros->dtype == HOLO_U8;
    while (INT64_C(1) << out->w.block_bits < v.block) out->w.block_bits++;
    return panels_find(m, v.cols, v.depth, holo_cuda_nbits_panel(&v), out);
}

// Adds a kernel of the type of the weights, whose parameters have them `at` those bytes, from column `first` on.
static HoloStatus kernel_add(HoloCudaMaking *m, const Weights *w, const char *prefix, const char *suffix,
                             const HoloCudaShape *shape, const void *params, size_t size, size_t at, int64_t first,
                             HoloCudaStep **out)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", prefix, name_of(w->number), suffix);
    HOLO_TRY(holo_cuda_add(m, holo_cuda_block_module(w->number), name, shape, params, size, out));
    uint64_t row = (uint64_t)w->w.blocks * sizeof(float), zero = w->w.zeros_packed ? (uint64_t)w->w.zero_bytes : row;
    holo_cuda_place(*out, at + offsetof(HoloCudaBlockPanels, b), w->at, (uint64_t)(first / COLUMNS * w->w.panel));
    if (w->scales >= 0)
        holo_cuda_place(*out, at + offsetof(HoloCudaBlockPanels, scales), w->scales, (uint64_t)first * row);
    if (w->zeros >= 0)
        holo_cuda_place(*out, at + offsetof(HoloCudaBlockPanels, zeros), w->zeros, (uint64_t)first * zero);
    return HOLO_OK;
}

// ---- products

static HoloStatus rows_add(HoloCudaMaking *m, const Weights *w, int64_t rows)
{
    bool              has_more = m->params.more_how;
    HoloCudaBlockRows p        = {.w         = w->w,
                                  .m         = (int32_t)rows,
                                  .low       = m->params.low,
                                  .high      = m->params.high,
                                  .a_type    = holo_cuda_type(m, 0),
                                  .c_type    = m->params.store,
                                  .more_type = has_more ? holo_cuda_type(m, 3) : 0,
                                  .act       = m->params.act,
                                  .more_how  = m->params.more_how,
                                  .whole     = w->w.k % 4 == 0};
    HoloCudaShape     shape    = {.grid = {0, 1, 1}, .block = WARPS * 32};
    HoloCudaStep     *step;
    holo_cuda_block_share(w->w.n, w->w.k, m->shared->multiprocessors, &p.share, &shape.grid[0]);
    HOLO_TRY(kernel_add(m, w, "rows",
                        rows == 1   ? "_1"
                        : rows <= 4 ? "_4"
                                    : "_8",
                        &shape, &p, sizeof p, offsetof(HoloCudaBlockRows, w), 0, &step));
    holo_cuda_join(step, sizeof p);
    holo_cuda_place(step, offsetof(HoloCudaBlockRows, a), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaBlockRows, c), holo_cuda_out(m, 0), 0);
    if (w->bias >= 0) holo_cuda_place(step, offsetof(HoloCudaBlockRows, bias), w->bias, 0);
    if (has_more) holo_cuda_place(step, offsetof(HoloCudaBlockRows, more), 3, 0);
    return HOLO_OK;
}

// Columns from `first` on as numbers, to an operand: rows of `row` elements.
static HoloStatus decode_add(HoloCudaMaking *m, const Weights *w, int64_t first, int64_t count, int64_t row, int to)
{
    HoloCudaBlockDecode p = {.w = w->w, .row = row, .type = m->params.store};
    int64_t pairs = ((int64_t)w->w.k + 2 * UNIT - 1) / (2 * UNIT), warps = (count + COLUMNS - 1) / COLUMNS * pairs;
    HoloCudaShape shape = holo_cuda_blocks((warps + WARPS - 1) / WARPS);
    HoloCudaStep *step;
    p.w.n    = (int32_t)count;
    p.rounds = m->params.numeric == HOLO_CUDA_NUMERIC_TF32 && p.type == HOLO_CUDA_F32 && to == HOLO_CUDA_SCRATCH;
    HOLO_TRY(kernel_add(m, w, "decode", "", &shape, &p, sizeof p, offsetof(HoloCudaBlockDecode, w), first, &step));
    holo_cuda_place(step, offsetof(HoloCudaBlockDecode, to), to, 0);
    return HOLO_OK;
}

static HoloStatus slices_add(HoloCudaMaking *m, const Weights *w, int64_t rows)
{
    int64_t n = w->w.n, k = w->w.k, row = holo_cuda_packed_row(k, m->params.store), bytes;
    int64_t most = SLICE_BYTES / (row * (m->params.store == HOLO_CUDA_F32 ? 4 : 2)) / SLICE_COLUMNS * SLICE_COLUMNS;
    if (most < SLICE_COLUMNS) most = SLICE_COLUMNS;
    for (int64_t first = 0; first < n; first += most) {
        int64_t       count = n - first < most ? n - first : most;
        HoloCudaSizes s     = {
                .m = rows, .n = count, .k = k, .batch = 1, .inner = 1, .a_row = k, .a_column = 1, .c_row = n};
        bytes = holo_cuda_packed_size(count, k, m->params.store);
        if (bytes < 0) return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: its weights are too large");
        s.of          = (HoloCudaOperands){.b       = {HOLO_CUDA_SCRATCH, 0},
                                           .bias    = w->bias,
                                           .more    = m->params.more_how ? 3 : -1,
                                           .first   = first,
                                           .scratch = ((size_t)bytes + 255) / 256 * 256};
        s.is_b_packed = s.is_b_turned = s.bias_is_line = true;
        s.bias_stride[1]                               = 1;
        if (m->scratch < s.of.scratch) m->scratch = s.of.scratch;
        HOLO_TRY(decode_add(m, w, first, count, row, HOLO_CUDA_SCRATCH));
        HOLO_TRY(holo_cuda_product_add(m, &s));
    }
    return HOLO_OK;
}

static HoloStatus product_add(HoloCudaMaking *m, const Weights *w)
{
    const HoloTensor *x = holo_in(m->call, 0), *out = holo_out(m->call, 0);
    const HoloTensor *bias = w->bias >= 0 ? m->call->in[w->bias] : NULL;
    bool              ok =
        x && out && x->dtype == HOLO_F32 && out->dtype == HOLO_F32 && x->rank > 0 && x->dim[x->rank - 1] == w->w.k;
    int64_t rows = ok ? holo_tensor_count(x) / w->w.k : 0;
    ok           = ok && holo_tensor_count(out) == rows * w->w.n;
    if (bias)
        ok = ok && bias->dtype == HOLO_F32 && holo_tensor_count(bias) == w->w.n &&
             holo_cuda_type(m, w->bias) == HOLO_CUDA_F32;
    if (!ok || rows > INT32_MAX)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes are not those of a product");
    HOLO_TRY(holo_cuda_end_check(m));
    if (!rows || !w->w.n) return HOLO_OK;
    bool few = rows <= HOLO_CUDA_ROWS_MAX && m->params.numeric != HOLO_CUDA_NUMERIC_EXACT;
    HOLO_TRY(few ? rows_add(m, w, rows) : slices_add(m, w, rows));
    return holo_cuda_tail(m);
}

// ---- tables

static HoloStatus take_add(HoloCudaMaking *m, const Weights *w)
{
    const HoloTensor *index = holo_in(m->call, HOLO_ROWS_AT), *out = holo_out(m->call, 0);
    HoloCudaBlockTake p = {.w = w->w, .indices = index ? holo_tensor_count(index) : 0, .type = m->params.store};
    HoloCudaStep     *step;
    if (!index || (index->dtype != HOLO_I64 && index->dtype != HOLO_I32) || !out || out->dtype != HOLO_F32 ||
        holo_tensor_count(out) != p.indices * w->w.k)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it does not take rows of a table");
    p.index_bytes       = index->dtype == HOLO_I64 ? 8 : 4;
    HoloCudaShape shape = holo_cuda_threads(p.indices * ((w->w.k + UNIT - 1) / UNIT) * 4);
    HOLO_TRY(kernel_add(m, w, "take", "", &shape, &p, sizeof p, offsetof(HoloCudaBlockTake, w), 0, &step));
    holo_cuda_place(step, offsetof(HoloCudaBlockTake, index), HOLO_ROWS_AT, 0);
    holo_cuda_place(step, offsetof(HoloCudaBlockTake, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaBlockTake, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}

static HoloStatus all_add(HoloCudaMaking *m, const Weights *w)
{
    const HoloTensor *out = holo_out(m->call, 0);
    if (!out || out->dtype != HOLO_F32 || holo_tensor_count(out) != (int64_t)w->w.n * w->w.k)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it does not decode these blocks");
    return decode_add(m, w, 0, w->w.n, w->w.k, holo_cuda_out(m, 0));
}

HoloStatus holo_cuda_few_bits(HoloCudaMaking *m)
{
    const HoloOp *op = m->call->op;
    Weights       w;
    if (holo_op_is(op, HOLO_ID_MICROSOFT_MatMulNBits)) {
        HOLO_TRY(nbits_find(m, &w));
        return product_add(m, &w);
    }
    if (holo_op_is(op, HOLO_ID_HOLOGRAM_DecodeBlocks)) {
        HOLO_TRY(blocks_find(m, 0, &w));
        return all_add(m, &w);
    }
    HOLO_TRY(blocks_find(m, 1, &w));
    if (holo_op_is(op, HOLO_ID_HOLOGRAM_TakeRows)) return take_add(m, &w);
    if (!holo_op_is(op, HOLO_ID_HOLOGRAM_MatMulBlocks))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its kernel is not for this operator");
    return product_add(m, &w);
}
