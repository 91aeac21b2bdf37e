// weights.c - turns products with constant weights that are dequantized into MatMulNBits, whose kernel reads the narrow
// weights directly: DequantizeLinear of 4 or 8 bits before MatMul and Gemm, maybe with a Transpose in between.
//
// If a model allows it, the pass `integers` rounds the other factor of such a product to 8 bits, with the functions
// here.
//
// There is one scale for all weights, one for each column, or one for each block, of a power of 2 along the depth.
// Small weights were folded before: they are products of f32.
//
// Filters of a convolution that depend on constants alone are computed here even if they become larger, which fold.c
// does not do: kernels take them packed.
#include "ops/microsoft/nbits.h"
#include "passes/narrow/integers.h"

enum { BLOCK_LEAST = 16, BLOCK_MOST = 1 << 16 };

typedef struct Weights {
    const HoloTensor *x, *scale, *zero; // zero NULL: none
    bool              transposed;       // [N][K] instead of [K][N]
    int64_t           k, n;
    int64_t           given; // block size of the model; 0: there is one scale for each column, or for all
    HoloNBits         sizes; // of the result
} Weights;

// Goes back over a Transpose of a matrix.
static const HoloNode *dequantize_of(const HoloValue *value, bool *transposed)
{
    const HoloNode *node = value ? value->producer : NULL;
    if (node && HOLO_IS(node, Transpose) && value->type.rank == 2) {
        const HoloAttr *perm = holo_node_attr(node, "perm");
        if (perm && (perm->kind != HOLO_ATTR_INTS || perm->count != 2 || perm->ints[0] != 1)) return NULL;
        *transposed = !*transposed;
        node        = node->in[0] ? node->in[0]->producer : NULL;
    }
    return node && HOLO_IS(node, DequantizeLinear) ? node : NULL;
}

static int bits_of(int dtype)
{
    return dtype == HOLO_U4 || dtype == HOLO_I4 ? 4 : dtype == HOLO_U8 || dtype == HOLO_I8 ? 8 : 0;
}

// Finds the scale of each block and column. False: the scales are arranged in another way.
static bool scales_fit(const HoloNode *node, Weights *w)
{
    int64_t axis = holo_node_int(node, "axis", 1), along = w->transposed ? 1 : 0; // along: the depth
    w->given = holo_node_int(node, "block_size", 0);
    if (axis < 0) axis += 2;
    if (!w->given) {
        if (holo_tensor_count(w->scale) == 1) return true;
        return w->scale->rank == 1 && axis == 1 - along && w->scale->dim[0] == w->n;
    }
    int64_t blocks = (w->k + w->given - 1) / w->given;
    return axis == along && w->given >= BLOCK_LEAST && w->given <= BLOCK_MOST && !(w->given & (w->given - 1)) &&
           w->scale->rank == 2 && w->scale->dim[along] == blocks && w->scale->dim[1 - along] == w->n;
}

static void cut(Weights *w, int64_t block)
{
    w->sizes        = (HoloNBits){.depth = w->k, .cols = w->n, .block = block, .bits = bits_of(w->x->dtype)};
    w->sizes.blocks = (w->k + block - 1) / block;
    w->sizes.column = w->sizes.blocks * block * w->sizes.bits / 8;
}

static bool weights_of(const HoloNode *product, Weights *w)
{
    *w                    = (Weights){.transposed = holo_node_int(product, "transB", 0) != 0};
    const HoloNode  *node = dequantize_of(product->in[1], &w->transposed);
    const HoloValue *out  = product->in[1];
    if (!node || out->type.dtype != HOLO_F32) return false;
    w->x     = holo_node_constant(node, 0);
    w->scale = holo_node_constant(node, 1);
    w->zero  = holo_node_constant(node, 2);
    if (!w->x || !w->scale || w->x->rank != 2 || !bits_of(w->x->dtype) || w->scale->dtype != HOLO_F32) return false;
    if (node->in_count > 2 && node->in[2] && (!w->zero || w->zero->dtype != w->x->dtype)) return false;
    w->k = w->x->dim[w->transposed];
    w->n = w->x->dim[!w->transposed];
    if (w->k < 1 || w->n < 1 || !scales_fit(node, w)) return false;
    if (w->zero && holo_tensor_count(w->zero) != holo_tensor_count(w->scale)) return false;
    int64_t block = w->given ? w->given : BLOCK_LEAST;
    while (!w->given && block < w->k && block < BLOCK_MOST) block *= 2;
    cut(w, block);
    return true;
}

// ---- the constants of MatMulNBits

// The index of the scale and zero point.
static int64_t scale_at(const Weights *w, int64_t column, int64_t block)
{
    if (holo_tensor_count(w->scale) == 1) return 0;
    if (!w->given) return column;
    return w->transposed ? column * w->sizes.blocks + block : block * w->n + column;
}

static HoloValue *numbers_make(HoloGraph *graph, const Weights *w, const char *name)
{
    const HoloNBits *v = &w->sizes;
    HoloTensor       t = {
              .dtype = HOLO_U8, .rank = 3, .dim = {v->cols, v->blocks, v->block * v->bits / 8}, .kind = HOLO_TENSOR};
    uint8_t *data = HOLO_NEW(graph->arena, uint8_t, v->cols * v->column);
    if (!data) return NULL;
    bool           is_signed = w->x->dtype == HOLO_I4 || w->x->dtype == HOLO_I8;
    const uint8_t *x         = w->x->data; // one byte each
    for (int64_t n = 0; n < v->cols; n++)
        for (int64_t k = 0; k < v->depth; k++) {
            unsigned q = x[w->transposed ? n * w->k + k : k * w->n + n];
            if (is_signed) q ^= 1u << (v->bits - 1);
            if (v->bits == 8)
                data[n * v->column + k] = (uint8_t)q;
            else
                data[n * v->column + k / 2] |= (uint8_t)((q & 15) << k % 2 * 4);
        }
    t.data = data;
    return holo_graph_constant(graph, name, &t);
}

// The scales, or the zero points. Zero points of signed numbers are moved in the same way as the numbers.
static HoloValue *lines_make(HoloGraph *graph, const Weights *w, const HoloTensor *from, double moved, const char *name)
{
    const HoloNBits *v    = &w->sizes;
    HoloTensor       t    = {.dtype = HOLO_F32, .rank = 2, .dim = {v->cols, v->blocks}, .kind = HOLO_TENSOR};
    float           *data = HOLO_NEW(graph->arena, float, v->cols * v->blocks);
    if (!data) return NULL;
    for (int64_t n = 0; n < v->cols; n++)
        for (int64_t b = 0; b < v->blocks; b++)
            data[n * v->blocks + b] = (float)(moved + (from ? holo_get_f(from, scale_at(w, n, b)) : 0));
    t.data = data;
    return holo_graph_constant(graph, name, &t);
}

// ---- products

// Can the product take narrow weights? It is f32 and has at most a bias for each column.
static bool is_product(const HoloNode *node)
{
    bool gemm = HOLO_IS(node, Gemm);
    if ((!gemm && !HOLO_IS(node, MatMul)) || !node->in[0] || !node->out[0]) return false;
    const HoloTensor *a = &node->in[0]->type, *y = &node->out[0]->type;
    if (a->dtype != HOLO_F32 || a->rank < 2 || y->rank != a->rank) return false;
    if (!gemm) return true;
    const HoloTensor *c = node->in_count > 2 && node->in[2] ? &node->in[2]->type : NULL;
    if (holo_node_int(node, "transA", 0) || holo_node_float(node, "alpha", 1) != 1 ||
        holo_node_float(node, "beta", 1) != 1)
        return false;
    return !c || (c->dtype == HOLO_F32 && c->rank == 1 && c->dim[0] == y->dim[1]);
}

static HoloStatus become(HoloGraph *graph, HoloNode *node, const Weights *w, HoloOpId id, HoloError *error)
{
    const HoloNBits *v         = &w->sizes;
    bool             is_signed = w->x->dtype == HOLO_I4 || w->x->dtype == HOLO_I8;
    const char      *name      = node->in[1]->name;
    HoloValue       *bias      = node->in_count > 2 ? node->in[2] : NULL;
    HoloValue      **in        = HOLO_NEW(graph->arena, HoloValue *, 6);
    HoloAttr        *attr      = HOLO_NEW(graph->arena, HoloAttr, 4);
    if (!in || !attr) return holo_fail_memory(error);
    in[HOLO_NBITS_A]      = node->in[0];
    in[HOLO_NBITS_B]      = numbers_make(graph, w, name);
    in[HOLO_NBITS_SCALES] = lines_make(graph, w, w->scale, 0, name);
    in[HOLO_NBITS_BIAS]   = bias;
    // Without zero points, numbers are centered in the middle of their range, like signed numbers.
    if (w->zero || !is_signed) {
        in[HOLO_NBITS_ZEROS] = lines_make(graph, w, w->zero, is_signed ? 1 << (v->bits - 1) : 0, name);
        if (!in[HOLO_NBITS_ZEROS]) return holo_fail_memory(error);
    }
    if (!in[HOLO_NBITS_B] || !in[HOLO_NBITS_SCALES]) return holo_fail_memory(error);
    const int64_t     values[] = {v->depth, v->cols, v->bits, v->block};
    const char *const names[]  = {"K", "N", "bits", "block_size"};
    for (int i = 0; i < 4; i++)
        attr[i] = (HoloAttr){.name = names[i], .kind = HOLO_ATTR_INT, .count = 1, .i = values[i]};
    holo_node_become(node, id, 1);
    node->in         = in;
    node->in_count   = bias ? 6 : in[HOLO_NBITS_ZEROS] ? 4 : 3;
    node->attr       = attr;
    node->attr_count = 4;
    return HOLO_OK;
}

// ---- products that round their other factor

// Does only this product read the weights and their scales?
static bool is_own(const HoloNode *product, const int *uses)
{
    const HoloNode *node = product->in[1]->producer;
    if (uses[product->in[1]->id] != 1) return false;
    if (HOLO_IS(node, Transpose)) {
        if (uses[node->in[0]->id] != 1) return false;
        node = node->in[0]->producer;
    }
    return uses[node->in[0]->id] == 1 && uses[node->in[1]->id] == 1;
}

HoloStatus holo_weights_round(HoloGraph *graph, HoloNode *node, const int *uses, bool *out_done, HoloError *error)
{
    Weights w;
    *out_done = false;
    if (!is_product(node) || holo_node_int(node, "transB", 0) || !weights_of(node, &w) || !is_own(node, uses))
        return HOLO_OK;
    const HoloNode *from = node->in[0]->producer;
    bool            fits = w.given ? !w.transposed && w.given <= HOLO_NBITS_ROUNDED_MOST
                                   : w.scale->rank == 0 || (w.scale->rank == 1 && w.scale->dim[0] == w.n);
    if (!fits || (from && from->op && from->op->flags & HOLO_OP_DEQUANTIZES)) return HOLO_OK;
    if (!w.given) cut(&w, HOLO_WEIGHTS_BLOCK);
    *out_done = true;
    return become(graph, node, &w, HOLO_ID_HOLOGRAM_MatMulNBits, error);
}

// ---- filters

enum {
    CHAIN_MAX = 8, // nodes in a row
    GROWTH    = 8, // factor over the bytes of the inputs; larger results use up the room for such weights
};

static bool is_filled(const HoloNode *node)
{
    if (!node || !HOLO_IS(node, ConstantOfShape) || !node->out[0]) return false;
    const HoloTensor *t = &node->out[0]->type;
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d])) return false;
    return t->rank >= 0 && holo_tensor_count(t) >= 0;
}

// Is there room for the result of a node with these inputs? Weights may become much larger than the file.
static bool room_take(const HoloNode *node, const HoloTensor *const *in, uint64_t *room)
{
    const HoloTensor *t     = &node->out[0]->type;
    uint64_t          given = 0, bytes;
    if (t->kind != HOLO_TENSOR || t->rank < 0 || holo_tensor_count(t) < 0) return false;
    for (int i = 0; i < node->in_count; i++)
        if (in[i]) given += holo_tensor_bytes(in[i]);
    bytes = holo_tensor_bytes(t);
    if (bytes / GROWTH <= given) return true;
    if (bytes > *room) return false;
    *room -= bytes;
    return true;
}

// The value as a constant, by evaluating its producers. *out is NULL if these are not all constants, or too many.
static HoloStatus constant_make(HoloGraph *graph, HoloArena *scratch, HoloValue *value, int depth, uint64_t *room,
                                HoloValue **out, HoloError *error)
{
    const HoloNode *node = value->producer;
    *out                 = value->is_constant && value->type.data ? value : NULL;
    if (*out || !node || depth == CHAIN_MAX || !node->op || !node->op->eval || node->out_count != 1) return HOLO_OK;
    const uint32_t simple = HOLO_OP_POINTWISE | HOLO_OP_MOVES | HOLO_OP_VIEW;
    if (!(node->op->flags & simple) && !HOLO_IS(node, DequantizeLinear) && !is_filled(node)) return HOLO_OK;
    const HoloTensor **in     = HOLO_NEW(scratch, const HoloTensor *, node->in_count + 1);
    HoloTensor        *result = HOLO_NEW(scratch, HoloTensor, 1), *results[1] = {result};
    if (!in || !result) return holo_fail_memory(error);
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i]) continue;
        HoloValue *constant;
        HOLO_TRY(constant_make(graph, scratch, node->in[i], depth + 1, room, &constant, error));
        if (!constant) return HOLO_OK;
        in[i] = &constant->type;
    }
    if (!node->out[0] || !room_take(node, in, room)) return HOLO_OK;
    if (holo_node_eval(node, in, results, graph->arena, NULL) || result->kind != HOLO_TENSOR) return HOLO_OK;
    *out = holo_graph_constant(graph, value->name, result);
    return *out ? HOLO_OK : holo_fail_memory(error);
}

static HoloStatus filters_make(HoloGraph *graph, HoloArena *scratch, HoloNode *node, HoloChanges *changes,
                               HoloError *error)
{
    HoloValue *filters;
    bool       is_conv = HOLO_IS(node, Conv) || HOLO_IS(node, ConvTranspose);
    bool       is_gemm = HOLO_IS(node, Gemm) || HOLO_IS(node, MatMul);
    if ((!is_conv && !is_gemm) || !node->in[1] || node->in[1]->is_constant) return HOLO_OK;
    if (is_gemm && !is_filled(node->in[1]->producer)) return HOLO_OK;
    HOLO_TRY(constant_make(graph, scratch, node->in[1], 0, &changes->fill_room, &filters, error));
    if (!filters) return HOLO_OK;
    node->in[1] = filters;
    changes->count++;
    return HOLO_OK;
}

HoloStatus holo_pass_weights(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        HoloNode *node = graph->nodes[i];
        Weights   w;
        HOLO_TRY(filters_make(graph, scratch, node, changes, error));
        if (!is_product(node) || !weights_of(node, &w)) continue;
        HOLO_TRY(become(graph, node, &w, HOLO_ID_MICROSOFT_MatMulNBits, error));
        changes->count++;
    }
    return HOLO_OK;
}
