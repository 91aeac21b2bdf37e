// normalization_skip.c - ONNX Runtime's fused normalizations: sums of inputs or of embeddings, then
// layer normalization along the last axis.
#include "ops/standard/normalization.h"

// ---- SkipLayerNormalization, SkipSimplifiedLayerNormalization: input + skip + bias

typedef struct Skip {
    bool centered;
    int  beta, bias; // inputs; beta -1: none
} Skip;

static HoloStatus skip_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 1, HOLO_MAX_RANK));
    for (int input = 1; input < call->in_count; input++) HOLO_TRY(holo_affine_check(call, input, x));
    HoloDim dim[HOLO_MAX_RANK];
    for (int i = 0; i < x->rank; i++) dim[i] = i == x->rank - 1 ? 1 : x->dim[i];
    HOLO_TRY(holo_infer_same(call));
    HOLO_TRY(holo_out_type(call, 1, HOLO_F32, x->rank, dim));
    HOLO_TRY(holo_out_type(call, 2, HOLO_F32, x->rank, dim));
    return holo_out_like(call, 3, x);
}

static void add(double *x, const double *y, int64_t count)
{
    for (int64_t k = 0; y && k < count; k++) x[k] += y[k];
}

static HoloStatus skip_eval(HoloCall *call)
{
    const HoloTensor *x   = call->in[0];
    const Skip       *how = call->op->row;
    HoloTensor       *sum = holo_out(call, 3);
    HoloAffine        skip, bias;
    HoloRowNorm       norm = {
              .like     = x,
              .axis     = x->rank - 1,
              .centered = how->centered,
              .epsilon  = holo_attr_float(call, "epsilon", 1e-12),
              .y        = holo_out(call, 0),
              .mean     = holo_out(call, 1),
              .factor   = holo_out(call, 2),
    };
    HOLO_TRY(holo_row_norm_init(&norm, call, 2, how->beta));
    HOLO_TRY(holo_affine_init(&skip, call, 1, &norm));
    HOLO_TRY(holo_affine_init(&bias, call, how->bias, &norm));
    HoloWalk walk = holo_walk(norm.axis, x->dim);
    for (int64_t row = 0; holo_walk_next(&walk); row++) {
        HOLO_TRY(holo_call_continue(call));
        holo_read_f(x, row * norm.size, 1, norm.size, norm.x);
        add(norm.x, holo_affine_row(&skip, &norm, &walk), norm.size);
        add(norm.x, holo_affine_row(&bias, &norm, &walk), norm.size);
        if (sum) holo_write_f(sum, row * norm.size, 1, norm.size, norm.x);
        holo_row_norm_apply(&norm, &walk, row);
    }
    return HOLO_OK;
}

// ---- EmbedLayerNormalization: the embeddings of word, position and segment

enum { IDS, SEGMENTS, WORD_TABLE, POSITION_TABLE, SEGMENT_TABLE, GAMMA, BETA, MASK, POSITIONS };

static HoloStatus embed_infer(HoloCall *call)
{
    const HoloTensor *ids = call->in[IDS], *words = holo_in(call, WORD_TABLE), *places = holo_in(call, POSITION_TABLE);
    if (!words || !places || !holo_in(call, GAMMA) || !holo_in(call, BETA))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the word or position table, gamma or beta is missing");
    HOLO_TRY(holo_expect_rank(call, IDS, 2, 2));
    static const int indices[] = {SEGMENTS, MASK, POSITIONS};
    for (int i = 0; i < HOLO_COUNT(indices); i++) {
        const HoloTensor *t = holo_in(call, indices[i]);
        HOLO_TRY(holo_expect_types(call, indices[i], HOLO_BIT(I32) | HOLO_BIT(I64)));
        HOLO_TRY(holo_expect_rank(call, indices[i], 2, 2));
        for (int d = 0; t && d < 2; d++) {
            bool known   = !holo_dim_is_symbolic(t->dim[d]) && !holo_dim_is_symbolic(ids->dim[d]);
            bool repeats = indices[i] == POSITIONS && d == 0 && t->dim[d] == 1;
            if (known && t->dim[d] != ids->dim[d] && !repeats)
                return holo_call_fail(call, HOLO_BAD_MODEL, "input %d does not have the shape of the ids", indices[i]);
        }
    }
    for (int input = WORD_TABLE; input <= BETA; input++) {
        const HoloTensor *t      = holo_in(call, input);
        bool              vector = input == GAMMA || input == BETA;
        if (!t) continue;
        HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_FLOAT));
        HOLO_TRY(holo_expect_rank(call, input, vector ? 1 : 2, vector ? 1 : 2));
        HoloDim width = t->dim[vector ? 0 : 1];
        if (holo_dims_differ(width, words->dim[1]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d: width %lld is not that of the words", input,
                                  (long long)width);
    }
    HoloDim dim[] = {ids->dim[0], ids->dim[1], words->dim[1]};
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)words->dtype, 3, dim));
    HOLO_TRY(holo_out_type(call, 1, HOLO_I32, 1, dim));
    return holo_out_type(call, 2, (HoloDtype)words->dtype, 3, dim);
}

// Adds the row of a table that an index asks for.
static HoloStatus add_embedding(const HoloCall *call, int table, int64_t index, double *x, int64_t width)
{
    const HoloTensor *t = call->in[table];
    if (index < 0 || index >= t->dim[0])
        return holo_call_fail(call, HOLO_BAD_INPUT, "index %lld is outside the table of input %d (%lld rows)",
                              (long long)index, table, (long long)t->dim[0]);
    double y[HOLO_TILE];
    for (int64_t k = 0; k < width; k += HOLO_TILE) {
        int64_t n = width - k < HOLO_TILE ? width - k : HOLO_TILE;
        holo_read_f(t, index * width + k, 1, n, y);
        add(x + k, y, n);
    }
    return HOLO_OK;
}

static void count_mask(const HoloCall *call)
{
    const HoloTensor *mask = holo_in(call, MASK), *ids = call->in[IDS];
    for (int64_t b = 0; b < ids->dim[0]; b++) {
        int64_t count = 0;
        for (int64_t s = 0; mask && s < ids->dim[1]; s++) count += holo_get_i(mask, b * ids->dim[1] + s) == 1;
        holo_put_i(call->out[1], b, count);
    }
}

static HoloStatus embed_eval(HoloCall *call)
{
    const HoloTensor *ids = call->in[IDS], *segments = holo_in(call, SEGMENTS), *positions = holo_in(call, POSITIONS);
    HoloTensor       *sum   = holo_out(call, 2);
    HoloTensor        shape = {.rank = 3, .dim = {ids->dim[0], ids->dim[1], call->in[WORD_TABLE]->dim[1]}};
    HoloRowNorm       norm  = {
               .like     = &shape,
               .axis     = 2,
               .centered = true,
               .epsilon  = holo_attr_float(call, "epsilon", 1e-12),
               .y        = holo_out(call, 0),
    };
    HOLO_TRY(holo_row_norm_init(&norm, call, GAMMA, BETA));
    HoloWalk walk = holo_walk(2, shape.dim);
    for (int64_t row = 0; holo_walk_next(&walk); row++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t place = walk.index[1];
        if (positions) place = holo_get_i(positions, positions->dim[0] == 1 ? place : row);
        for (int64_t k = 0; k < norm.size; k++) norm.x[k] = 0;
        HOLO_TRY(add_embedding(call, WORD_TABLE, holo_get_i(ids, row), norm.x, norm.size));
        HOLO_TRY(add_embedding(call, POSITION_TABLE, place, norm.x, norm.size));
        if (segments && call->in[SEGMENT_TABLE])
            HOLO_TRY(add_embedding(call, SEGMENT_TABLE, holo_get_i(segments, row), norm.x, norm.size));
        if (sum) holo_write_f(sum, row * norm.size, 1, norm.size, norm.x);
        holo_row_norm_apply(&norm, &walk, row);
    }
    if (holo_out(call, 1)) count_mask(call);
    return HOLO_OK;
}

static const Skip skip            = {.centered = true, .beta = 3, .bias = 4};
static const Skip skip_simplified = {.centered = false, .beta = -1, .bias = 3};

const HoloOp holo_ops_normalization_skip[] = {
    {.name    = "SkipLayerNormalization",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 4,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = skip_infer,
     .eval    = skip_eval,
     .row     = &skip},
    {.name    = "SkipSimplifiedLayerNormalization",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 4,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = skip_infer,
     .eval    = skip_eval,
     .row     = &skip_simplified},
    {.name    = "EmbedLayerNormalization",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 9,
     .out_min = 1,
     .out_max = 3,
     .types   = HOLO_BIT(I32) | HOLO_BIT(I64),
     .infer   = embed_infer,
     .eval    = embed_eval},
    {0},
};
