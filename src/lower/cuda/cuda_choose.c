// cuda_choose.c - which nodes a GPU runs, and by which kind of step: a table of operators with a check for each. What is
// not sure is left to the CPU.
#include "devices/cuda/cuda_pick.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"
#include "lower/usual.h"
#include "ops/hologram/program.h"

#include <string.h>

typedef struct Choosing {
    const HoloCudaClass *class;
    const HoloNode    *node;
    HoloCall           call;
    HoloLowering      *out;
    HoloCudaStepParams params;
} Choosing;

HoloCudaStepParams holo_cuda_params(const HoloLowering *lowering)
{
    HoloCudaStepParams params;
    memcpy(&params, lowering->params, sizeof params);
    return params;
}

void holo_cuda_set_params(HoloLowering *lowering, const HoloCudaStepParams *params)
{
    memcpy(lowering->params, params, sizeof *params);
    lowering->params_size = sizeof *params;
}

// ---- facts

static const HoloValue *input(const Choosing *c, int i)
{
    return holo_node_in(c->node, i);
}

static bool is_f32(const HoloValue *v, int least, int most)
{
    return holo_value_is(v, HOLO_F32, least, most);
}

// Are the contents known before the run?
static bool is_known(const HoloValue *v)
{
    const HoloValue *from = holo_cuda_origin(v);
    return !v || (from->is_constant && (from->type.data || !holo_tensor_count(&from->type))) || from->contents;
}

static bool has_one_output(const HoloNode *node)
{
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return node->out_count && node->out[0];
}

// ---- products

// The tail becomes the end of the kernel, or runs by itself.
static bool tail(Choosing *c)
{
    HoloProgram program;
    if (holo_program_read(&c->call, &program)) return false;
    for (int i = 3; i < c->node->in_count; i++)
        if (c->node->in[i] && !is_f32(c->node->in[i], 0, HOLO_MAX_RANK)) return false;
    if (program.count && !holo_cuda_end(c->node, &program, &c->params)) c->params.flags |= HOLO_CUDA_FLAG_TAIL;
    return true;
}

// A batch is one of equal sizes, of one operand alone, or of at most two dimensions.
bool holo_cuda_batch_fits(const HoloTensor *a, const HoloTensor *b)
{
    bool equal = a->rank == b->rank;
    for (int d = 0; d + 2 < a->rank && equal; d++) equal = a->dim[d] == b->dim[d];
    return equal || a->rank <= 2 || b->rank <= 2 || (a->rank <= 4 && b->rank <= 4);
}

// Weights may be narrower than f32: packing them converts them.
static bool is_weights(const Choosing *c, const HoloValue *b)
{
    const HoloValue *from = holo_cuda_origin(b);
    bool             is   = holo_value_is(from, HOLO_BF16, 2, 2) || holo_value_is(from, HOLO_F16, 2, 2);
    return is && HOLO_IS(c->node, HOLOGRAM_MatMul) && from->is_constant && from->type.data;
}

static bool product(Choosing *c)
{
    const HoloValue *a = input(c, 0), *b = input(c, 1), *bias = input(c, 2);
    if (!is_f32(a, 1, HOLO_MAX_RANK) || (!is_f32(b, 1, HOLO_MAX_RANK) && !is_weights(c, b))) return false;
    if (!holo_cuda_batch_fits(&a->type, &b->type)) return false;
    if (holo_attr_int(&c->call, "transBatchA", 0) || holo_attr_int(&c->call, "transBatchB", 0)) return false;
    if (bias && (!is_f32(bias, 0, 2) || holo_attr_float(&c->call, "beta", 1) != 1)) return false;
    c->params.alpha = (float)holo_attr_float(&c->call, "alpha", 1);
    return !HOLO_IS(c->node, HOLOGRAM_MatMul) || tail(c);
}

// Weights of few bits. A tail is as that of other products.
static bool few_bits(Choosing *c)
{
    const HoloValue *x = input(c, 0), *bias = input(c, HOLO_IS(c->node, HOLOGRAM_MatMulBlocks) ? 2 : 5);
    bool             takes = HOLO_IS(c->node, HOLOGRAM_TakeRows), decodes = HOLO_IS(c->node, HOLOGRAM_DecodeBlocks);
    if (!holo_cuda_blocks_fit(c->node, &c->call, &c->params)) return false;
    if (takes) return holo_value_is(x, HOLO_I64, 0, HOLO_MAX_RANK) || holo_value_is(x, HOLO_I32, 0, HOLO_MAX_RANK);
    if (decodes) return true;
    if (!is_f32(x, 1, HOLO_MAX_RANK) || is_known(x) || (bias && (!is_f32(bias, 1, 1) || !is_known(bias)))) return false;
    return !HOLO_IS(c->node, HOLOGRAM_MatMulBlocks) || tail(c);
}

static bool conv(Choosing *c)
{
    const HoloValue *x = input(c, 0), *w = input(c, 1), *b = input(c, 2);
    if (!is_f32(x, 3, 5) || !is_f32(w, x->type.rank, x->type.rank) || (b && !is_f32(b, 1, 1))) return false;
    for (int d = 2; d < w->type.rank; d++)
        if (w->type.dim[d] < 1) return false;
    return !HOLO_IS(c->node, HOLOGRAM_Conv) || tail(c);
}

// One kernel for queries, keys and values without a cache. A mask is one number for each key at least.
static bool attention(Choosing *c)
{
    enum { Q, K, V, MASK, LONGEST = 256 };
    const HoloValue *mask  = input(c, MASK);
    int64_t          heads = holo_attr_int(&c->call, "kv_num_heads", 0);
    if (c->class->numeric == HOLO_CUDA_NUMERIC_EXACT || !has_one_output(c->node)) return false;
    for (int i = Q; i <= V; i++) {
        const HoloValue *v = input(c, i);
        if (!is_f32(v, 3, 4)) return false;
        HoloDim size = v->type.dim[v->type.rank - 1];
        int64_t by   = v->type.rank == 4 ? 1 : i == Q ? holo_attr_int(&c->call, "q_num_heads", 0) : heads;
        if (holo_dim_is_symbolic(size) || by < 1 || size % by || size / by < 1 || size / by > LONGEST) return false;
    }
    for (int i = MASK + 1; i < c->node->in_count; i++)
        if (c->node->in[i]) return false;
    const HoloTensor *k = &c->node->in[K]->type;
    if (mask && !is_f32(mask, 1, 4) && !holo_value_is(mask, HOLO_BOOL, 1, 4)) return false;
    if (mask && mask->type.dim[mask->type.rank - 1] != k->dim[k->rank - 2]) return false;
    return !(holo_attr_float(&c->call, "softcap", 0) > 0) && !holo_attr_int(&c->call, "masked_nan", 0);
}

// ---- language models

static bool rotary(Choosing *c)
{
    bool             is_microsoft = HOLO_IS(c->node, MICROSOFT_RotaryEmbedding);
    const HoloValue *positions    = input(c, is_microsoft ? 1 : 3);
    if (!is_f32(input(c, 0), 3, 4) || is_known(input(c, 0))) return false;
    for (int i = 0; i < 2; i++)
        if (!is_f32(input(c, i + 1 + is_microsoft), 2, 3)) return false;
    return !positions || holo_value_is(positions, HOLO_I64, 0, 2) || holo_value_is(positions, HOLO_I32, 0, 2);
}

// A cache is stored as other values are. One of f16 is where these are, too.
static bool is_cache(const Choosing *c, const HoloValue *v)
{
    return is_f32(v, 3, 3) || (c->class->store == HOLO_CUDA_F16 && holo_value_is(v, HOLO_F16, 3, 3));
}

// It changes a state in place, and copies none.
static bool cache_write(Choosing *c)
{
    return input(c, 0) && input(c, 0)->is_state && is_cache(c, input(c, 0)) && is_f32(input(c, 1), 3, 3);
}

static bool cached_attention(Choosing *c)
{
    enum { LONGEST = 256 };
    const HoloValue *q = input(c, 0), *v = input(c, 2);
    int64_t          heads    = holo_attr_int(&c->call, "num_heads", 0);
    int64_t          kv_heads = holo_attr_int(&c->call, "kv_num_heads", heads);
    if (c->class->numeric == HOLO_CUDA_NUMERIC_EXACT || input(c, 6) || heads < 1 || kv_heads < 1) return false;
    if (!is_f32(q, 3, 3) || is_known(q) || !is_cache(c, input(c, 1)) || !is_cache(c, v)) return false;
    HoloDim size = q->type.dim[2], v_size = v->type.dim[2];
    return !holo_dim_is_symbolic(size) && !holo_dim_is_symbolic(v_size) && size / heads <= LONGEST &&
           v_size / kv_heads <= LONGEST;
}

// ---- moves

static bool is_movable(const HoloValue *v)
{
    size_t size = v ? holo_dtype_size((HoloDtype)v->type.dtype) : 0;
    return v && holo_value_is_sized(v) && v->type.dtype != HOLO_STRING &&
           (size == 1 || size == 2 || size == 4 || size == 8);
}

static bool move(Choosing *c)
{
    enum { DIMENSIONS = HOLO_CUDA_RANK }; // those that do not join must fit
    for (int i = 0; i < c->node->out_count; i++)
        if (!is_movable(c->node->out[i]) || c->node->out[i]->type.rank > DIMENSIONS) return false;
    bool all = HOLO_IS(c->node, Concat);
    for (int i = 0; i < c->node->in_count; i++) {
        const HoloValue *v = c->node->in[i];
        if (i && !all && !is_known(v)) return false;
        if ((!i || all) && (!is_movable(v) || v->type.rank > DIMENSIONS)) return false;
    }
    return c->node->version >= 10 || !HOLO_IS(c->node, Slice); // before, attributes say what it takes
}

static bool gather(Choosing *c)
{
    const HoloValue *x = input(c, 0), *index = input(c, 1);
    return is_movable(x) && x->type.rank > 0 &&
           (holo_value_is(index, HOLO_I64, 0, HOLO_MAX_RANK) || holo_value_is(index, HOLO_I32, 0, HOLO_MAX_RANK));
}

// Of constants alone, and known before the run: what is added, and what it is filled with.
static bool pad(Choosing *c)
{
    HoloString mode = holo_attr_string(&c->call, "mode", "constant");
    return c->node->version >= 11 && mode.size == 8 && !memcmp(mode.data, "constant", 8) && move(c);
}

static bool tile(Choosing *c)
{
    return c->node->version >= 6 && c->node->in[0] && c->node->in[0]->type.rank <= HOLO_CUDA_RANK / 2 && move(c);
}

static bool blocks(Choosing *c)
{
    return c->node->in[0] && c->node->in[0]->type.rank == 4 && move(c);
}

static bool is_index(const HoloValue *v, int rank)
{
    return holo_value_is(v, HOLO_I64, rank, rank) || holo_value_is(v, HOLO_I32, rank, rank);
}

static bool elements(Choosing *c)
{
    const HoloValue *x = input(c, 0);
    return is_movable(x) && x->type.rank > 0 && x->type.rank <= HOLO_CUDA_RANK && is_index(input(c, 1), x->type.rank);
}

static bool extreme(Choosing *c)
{
    return is_f32(input(c, 0), 1, HOLO_MAX_RANK);
}

static bool scan(Choosing *c)
{
    return is_f32(input(c, 0), 1, HOLO_MAX_RANK) && input(c, 1) && is_known(input(c, 1));
}

// ---- places by indices

static bool is_indices(const HoloValue *v)
{
    return holo_value_is(v, HOLO_I64, 0, HOLO_MAX_RANK) || holo_value_is(v, HOLO_I32, 0, HOLO_MAX_RANK);
}

// k is known. Elements are numbers of whole bytes.
static bool top(Choosing *c)
{
    const HoloValue *x    = input(c, 0);
    uint64_t         type = x ? UINT64_C(1) << x->type.dtype : 0;
    const uint64_t all = HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(BF16) | HOLO_BIT(F64) | HOLO_BIT(I8) | HOLO_BIT(U8) |
                         HOLO_BIT(I16) | HOLO_BIT(U16) | HOLO_BIT(I32) | HOLO_BIT(U32) | HOLO_BIT(I64) | HOLO_BIT(U64);
    return is_movable(x) && x->type.rank > 0 && (type & all) && is_movable(c->node->out[0]) &&
           (c->node->version < 10 || is_known(input(c, 1)));
}

static bool scatter(Choosing *c)
{
    const HoloValue *x = input(c, 0), *updates = input(c, 2);
    HoloString       how    = holo_attr_string(&c->call, "reduction", "none");
    bool             is_put = how.size == 4 && !memcmp(how.data, "none", 4);
    if (!is_movable(x) || x->type.rank > HOLO_CUDA_RANK || !is_movable(updates) || !is_indices(input(c, 1)))
        return false;
    return is_put || x->type.dtype == HOLO_F32 || x->type.dtype == HOLO_I32 || x->type.dtype == HOLO_I64;
}

static bool tuples(Choosing *c)
{
    const HoloValue *x = input(c, 0);
    return is_movable(x) && x->type.rank <= HOLO_CUDA_RANK && is_indices(input(c, 1)) && is_movable(c->node->out[0]);
}

static bool one_hot(Choosing *c)
{
    return is_indices(input(c, 0)) && is_known(input(c, 1)) && is_movable(input(c, 2)) && is_movable(c->node->out[0]);
}

// As the operator is by itself: the usual functions, all of each sequence.
static bool recurrent(Choosing *c)
{
    enum { X, LENGTHS = 4, PEEPHOLES = 7 };
    int gates = HOLO_IS(c->node, LSTM) ? 4 : HOLO_IS(c->node, GRU) ? 3 : 1;
    if (!holo_has_usual_activations(&c->call, gates) || holo_attr_float(&c->call, "clip", 0) != 0 ||
        holo_attr_int(&c->call, "input_forget", 0))
        return false;
    for (int i = 0; i < c->node->in_count; i++)
        if (input(c, i) && (!is_f32(input(c, i), 2, 3) || i == LENGTHS || i == PEEPHOLES)) return false;
    const HoloValue *x = input(c, X);
    return x && x->type.rank == 3 && x->type.dim[0] != 0 && x->type.dim[1] != 0;
}

// ---- rows and windows

// Axes that are not neighbours, as far as the compiler can tell, are left to the CPU.
static bool reduce(Choosing *c)
{
    const HoloValue *x = input(c, 0), *in = input(c, 1);
    int64_t          axes[HOLO_MAX_RANK];
    bool             is[HOLO_MAX_RANK] = {false};
    int              count = holo_attr_ints(&c->call, "axes", axes, HOLO_MAX_RANK), parts = 0;
    if (!is_f32(x, 1, HOLO_MAX_RANK) || holo_attr_int(&c->call, "noop_with_empty_axes", 0)) return false;
    if (HOLO_IS(c->node, GlobalAveragePool) || HOLO_IS(c->node, GlobalMaxPool)) return x->type.rank > 2;
    if (in) {
        const HoloTensor *t = &holo_cuda_origin(in)->type;
        if (!holo_cuda_origin(in)->is_constant || t->dtype != HOLO_I64 || t->rank != 1 || t->dim[0] > HOLO_MAX_RANK)
            return false;
        count = (int)t->dim[0];
        if (count) memcpy(axes, t->data, (size_t)count * sizeof *axes);
    }
    for (int i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + x->type.rank : axes[i];
        if (count > HOLO_MAX_RANK || axis < 0 || axis >= x->type.rank) return false;
        is[axis] = true;
    }
    for (int d = 0; d < x->type.rank; d++) {
        if (x->type.dim[d] == 0) return false;
        parts += (count <= 0 || is[d]) && !(d && (count <= 0 || is[d - 1]));
    }
    return parts == 1;
}

static bool softmax(Choosing *c)
{
    return is_f32(input(c, 0), 1, HOLO_MAX_RANK);
}

static bool layer_norm(Choosing *c)
{
    const HoloValue *x = input(c, 0), *scale = input(c, 1), *bias = input(c, 2);
    if (!is_f32(x, 1, HOLO_MAX_RANK) || !has_one_output(c->node) || !is_f32(scale, 0, HOLO_MAX_RANK)) return false;
    int64_t rank = x->type.rank, axis = holo_attr_int(&c->call, "axis", -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || holo_attr_int(&c->call, "stash_type", HOLO_F32) != HOLO_F32) return false;
    int axes = (int)(rank - axis);
    if (scale->type.rank != axes || (bias && !is_f32(bias, axes, axes))) return false;
    for (int d = 0; d < axes; d++)
        if (scale->type.dim[d] != x->type.dim[axis + d] || (bias && bias->type.dim[d] != scale->type.dim[d]))
            return false;
    return true;
}

static bool group_norm(Choosing *c)
{
    const HoloValue *x = input(c, 0), *scale = input(c, 1), *bias = input(c, 2);
    bool             is_last = HOLO_IS(c->node, HOLOGRAM_GroupNormalization);
    if (!is_f32(x, 3, HOLO_MAX_RANK) || !is_f32(scale, 1, 1) || !is_f32(bias, 1, 1) || !has_one_output(c->node))
        return false;
    int64_t channels = x->type.dim[is_last ? x->type.rank - 1 : 1];
    if (scale->type.dim[0] != channels || bias->type.dim[0] != channels) return false;
    if (HOLO_IS(c->node, GroupNormalization) && c->node->version < 21) return false; // one scale for each group
    return !is_last || tail(c);
}

static bool pool(Choosing *c)
{
    const HoloValue *x = input(c, 0);
    if (!is_f32(x, 3, 5) || !has_one_output(c->node) || holo_attr_int(&c->call, "storage_order", 0)) return false;
    HoloString pads = holo_attr_string(&c->call, "auto_pad", "NOTSET");
    return pads.size == 6 && !memcmp(pads.data, "NOTSET", 6) && !holo_attr_int(&c->call, "ceil_mode", 0);
}

static bool is_one_of(const Choosing *c, const char *attribute, const char *fallback, const char *const *list)
{
    HoloString have = holo_attr_string(&c->call, attribute, fallback);
    for (; *list; list++)
        if (have.size == strlen(*list) && !memcmp(have.data, *list, have.size)) return true;
    return false;
}

static bool resize(Choosing *c)
{
    static const char *const modes[]  = {"nearest", "linear", NULL};
    static const char *const places[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                         "asymmetric", "tf_half_pixel_for_nn", NULL};
    for (int i = 1; i < c->node->in_count; i++)
        if (!is_known(c->node->in[i])) return false;
    return c->node->version >= 11 && is_f32(input(c, 0), 1, HOLO_CUDA_RESIZED) &&
           is_one_of(c, "mode", "nearest", modes) &&
           is_one_of(c, "coordinate_transformation_mode", "half_pixel", places) &&
           !holo_attr_int(&c->call, "antialias", 0) && !holo_attr_int(&c->call, "exclude_outside", 0);
}

// ---- quantized models

static bool integers(Choosing *c)
{
    return holo_cuda_integers_fit(c->out->kernel, c->node, &c->call);
}

// Class exact multiplies numbers of f32 in the order of k.
static bool float8(Choosing *c)
{
    return c->class->numeric != HOLO_CUDA_NUMERIC_EXACT && integers(c);
}

// ---- the table

// An operator may have several rows: the first one that fits counts.
typedef struct Row {
    HoloOpId id;
    uint32_t kernel;
    bool (*fits)(Choosing *c);
} Row;

static const Row rows[] = {
    {HOLO_ID_MatMul, HOLO_CUDA_STEP_PRODUCT, product},
    {HOLO_ID_Gemm, HOLO_CUDA_STEP_PRODUCT, product},
    {HOLO_ID_MICROSOFT_FusedMatMul, HOLO_CUDA_STEP_PRODUCT, product},
    {HOLO_ID_HOLOGRAM_MatMul, HOLO_CUDA_STEP_PRODUCT, product},
    {HOLO_ID_HOLOGRAM_MatMulBlocks, HOLO_CUDA_STEP_BLOCKS, few_bits},
    {HOLO_ID_HOLOGRAM_TakeRows, HOLO_CUDA_STEP_BLOCKS, few_bits},
    {HOLO_ID_HOLOGRAM_DecodeBlocks, HOLO_CUDA_STEP_BLOCKS, few_bits},
    {HOLO_ID_MICROSOFT_MatMulNBits, HOLO_CUDA_STEP_BLOCKS, few_bits},
    {HOLO_ID_Conv, HOLO_CUDA_STEP_CONV, conv},
    {HOLO_ID_HOLOGRAM_Conv, HOLO_CUDA_STEP_CONV, conv},
    {HOLO_ID_Attention, HOLO_CUDA_STEP_ATTENTION, attention},
    {HOLO_ID_RotaryEmbedding, HOLO_CUDA_STEP_ROTARY, rotary},
    {HOLO_ID_MICROSOFT_RotaryEmbedding, HOLO_CUDA_STEP_ROTARY, rotary},
    {HOLO_ID_HOLOGRAM_CacheWrite, HOLO_CUDA_STEP_WRITE, cache_write},
    {HOLO_ID_HOLOGRAM_CachedAttention, HOLO_CUDA_STEP_CACHED, cached_attention},
    {HOLO_ID_Transpose, HOLO_CUDA_STEP_MOVE, move},
    {HOLO_ID_Concat, HOLO_CUDA_STEP_MOVE, move},
    {HOLO_ID_Split, HOLO_CUDA_STEP_MOVE, move},
    {HOLO_ID_Expand, HOLO_CUDA_STEP_MOVE, move},
    {HOLO_ID_Slice, HOLO_CUDA_STEP_MOVE, move},
    {HOLO_ID_Pad, HOLO_CUDA_STEP_MOVE, pad},
    {HOLO_ID_Tile, HOLO_CUDA_STEP_MOVE, tile},
    {HOLO_ID_DepthToSpace, HOLO_CUDA_STEP_MOVE, blocks},
    {HOLO_ID_SpaceToDepth, HOLO_CUDA_STEP_MOVE, blocks},
    {HOLO_ID_Gather, HOLO_CUDA_STEP_GATHER, gather},
    {HOLO_ID_GatherElements, HOLO_CUDA_STEP_ELEMENTS, elements},
    {HOLO_ID_GatherND, HOLO_CUDA_STEP_TUPLES, tuples},
    {HOLO_ID_ScatterElements, HOLO_CUDA_STEP_SCATTER, scatter},
    {HOLO_ID_ScatterND, HOLO_CUDA_STEP_SCATTER, scatter},
    {HOLO_ID_OneHot, HOLO_CUDA_STEP_ONE_HOT, one_hot},
    {HOLO_ID_TopK, HOLO_CUDA_STEP_TOP, top},
    {HOLO_ID_LSTM, HOLO_CUDA_STEP_RECURRENT, recurrent},
    {HOLO_ID_GRU, HOLO_CUDA_STEP_RECURRENT, recurrent},
    {HOLO_ID_RNN, HOLO_CUDA_STEP_RECURRENT, recurrent},
    {HOLO_ID_ArgMax, HOLO_CUDA_STEP_EXTREME, extreme},
    {HOLO_ID_ArgMin, HOLO_CUDA_STEP_EXTREME, extreme},
    {HOLO_ID_CumSum, HOLO_CUDA_STEP_SCAN, scan},
    {HOLO_ID_Resize, HOLO_CUDA_STEP_RESIZE, resize},
    {HOLO_ID_ReduceSum, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceMean, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceMax, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceMin, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceSumSquare, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceL1, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceL2, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceProd, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceLogSum, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_ReduceLogSumExp, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_GlobalAveragePool, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_GlobalMaxPool, HOLO_CUDA_STEP_REDUCE, reduce},
    {HOLO_ID_Softmax, HOLO_CUDA_STEP_ROWS, softmax},
    {HOLO_ID_LogSoftmax, HOLO_CUDA_STEP_ROWS, softmax},
    {HOLO_ID_LayerNormalization, HOLO_CUDA_STEP_ROWS, layer_norm},
    {HOLO_ID_RMSNormalization, HOLO_CUDA_STEP_ROWS, layer_norm},
    {HOLO_ID_GroupNormalization, HOLO_CUDA_STEP_NORM, group_norm},
    {HOLO_ID_InstanceNormalization, HOLO_CUDA_STEP_NORM, group_norm},
    {HOLO_ID_HOLOGRAM_GroupNormalization, HOLO_CUDA_STEP_NORM, group_norm},
    {HOLO_ID_MaxPool, HOLO_CUDA_STEP_POOL, pool},
    {HOLO_ID_AveragePool, HOLO_CUDA_STEP_POOL, pool},
    {HOLO_ID_HOLOGRAM_MaxPool, HOLO_CUDA_STEP_POOL, pool},
    {HOLO_ID_HOLOGRAM_AveragePool, HOLO_CUDA_STEP_POOL, pool},
    {HOLO_ID_MatMulInteger, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_QLinearMatMul, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_MICROSOFT_QGemm, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_ConvInteger, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_QLinearConv, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_MICROSOFT_QLinearConv, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, HOLO_CUDA_STEP_BYTES, integers},
    {HOLO_ID_HOLOGRAM_MatMulFloat8, HOLO_CUDA_STEP_FLOAT8, float8},
    {HOLO_ID_QuantizeLinear, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_MICROSOFT_QuantizeLinear, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_DequantizeLinear, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_MICROSOFT_DequantizeLinear, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_DynamicQuantizeLinear, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_Cast, HOLO_CUDA_STEP_QUANTIZE, integers},
    {HOLO_ID_MICROSOFT_QLinearAdd, HOLO_CUDA_STEP_PAIR, integers},
    {HOLO_ID_MICROSOFT_QLinearMul, HOLO_CUDA_STEP_PAIR, integers},
    {HOLO_ID_HOLOGRAM_Lookup, HOLO_CUDA_STEP_LOOKUP, integers},
    {HOLO_ID_HOLOGRAM_LookupPair, HOLO_CUDA_STEP_LOOKUP, integers},
    {HOLO_ID_MaxPool, HOLO_CUDA_STEP_POOL, integers},
    {HOLO_ID_MICROSOFT_NhwcMaxPool, HOLO_CUDA_STEP_POOL, integers},
    {HOLO_ID_MICROSOFT_QLinearAveragePool, HOLO_CUDA_STEP_POOL, integers},
    {HOLO_ID_MICROSOFT_QLinearGlobalAveragePool, HOLO_CUDA_STEP_POOL, integers},
};

static bool kernel_find(Choosing *c)
{
    const HoloNode *node = c->node;
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        if (rows[i].id != node->op_id) continue;
        c->out->kernel = rows[i].kernel;
        if (rows[i].fits(c)) return true;
    }
    if (node->op->flags & HOLO_OP_VIEW) {
        c->out->kernel = HOLO_CUDA_STEP_MOVE;
        return has_one_output(node) && is_movable(node->in[0]) && node->in[0]->type.dtype == node->out[0]->type.dtype;
    }
    c->out->kernel = HOLO_CUDA_STEP_PROGRAM;
    return holo_cuda_has_program(node);
}

// Kernels of these kinds read values as the class stores them; constants of f32 are wider.
static bool reads_constant(const Choosing *c)
{
    int  count = c->out->kernel == HOLO_CUDA_STEP_ATTENTION ? 3
                 : c->out->kernel == HOLO_CUDA_STEP_ROWS || c->out->kernel == HOLO_CUDA_STEP_POOL ||
                        c->out->kernel == HOLO_CUDA_STEP_NORM || c->out->kernel == HOLO_CUDA_STEP_TOP
                     ? 1
                     : 0;
    bool any   = false;
    for (int i = 0; i < count; i++) any = any || is_known(input(c, i));
    return any && c->class->store != HOLO_CUDA_F32;
}

bool holo_cuda_choose(const HoloCudaClass *class, const HoloNode *node, HoloLowering *out)
{
    *out       = (HoloLowering){.pack_input = -1};
    Choosing c = {.class = class, .node = node, .call = holo_node_call(node), .out = out};
    c.params =
        (HoloCudaStepParams){.size = sizeof c.params, .store = class->store, .numeric = class->numeric, .alpha = 1};
    if (!node->op || !node->out_count || !node->out[0] || !kernel_find(&c) || reads_constant(&c)) return false;
    out->kernel = holo_cuda_merged(&c.call, out->kernel);
    holo_cuda_set_params(out, &c.params);
    if (!holo_cuda_packs(node, out)) {
        out->pack_input = -1;
        return true;
    }
    c.params = holo_cuda_params(out);
    c.params.flags |= HOLO_CUDA_FLAG_PACKED;
    holo_cuda_set_params(out, &c.params);
    holo_cuda_winograd_choose(node, out);
    return true;
}

HoloLowering holo_cuda_transfer_choose(const HoloCudaClass *class, const HoloNode *node)
{
    HoloLowering       out    = {.pack_input = -1};
    HoloCudaStepParams params = {.size = sizeof params, .store = class->store, .numeric = class->numeric};
    if (class->store == HOLO_CUDA_F32 || node->in[0]->type.dtype != HOLO_F32) return out;
    out.kernel = HOLO_CUDA_STEP_TRANSFER;
    holo_cuda_set_params(&out, &params);
    return out;
}
