// integers.c - turns operators between DequantizeLinear and QuantizeLinear into operators on integers: QLinearConv,
// QLinearMatMul, QGemm, QLinearAdd and similar ones.
//
// A Relu or Clip is removed if quantization cuts off as much. Products with weights of few bits take their other factor
// in 8 bits, if the model allows it (see integers_nbits.c). Operators that only move numbers, or choose the largest,
// move integers instead: DequantizeLinear goes behind them, QuantizeLinear goes before them, and where both meet with
// the same scale they are removed.
#include "passes/narrow/integers.h"

#include <math.h>
#include <string.h>

enum { CHAIN_MAX = 16 }; // nodes between a product and its quantization

// ---- scales

static bool is_tensor(const HoloValue *value, HoloDtype dtype)
{
    return holo_value_is_of(value, dtype, 0, HOLO_MAX_RANK);
}

static bool is_8(const HoloValue *value)
{
    return is_tensor(value, HOLO_U8) || is_tensor(value, HOLO_I8);
}

bool holo_integers_read(const HoloValue *value, HoloScaled *out)
{
    const HoloNode *node = value ? value->producer : NULL;
    if (!node || !holo_node_has(node, HOLO_OP_DEQUANTIZES) || !is_tensor(value, HOLO_F32) || !is_8(node->in[0]))
        return false;
    out->q     = node->in[0];
    out->dtype = out->q->type.dtype;
    return holo_node_scale(node, &out->scale, &out->zero);
}

bool holo_integers_made(const HoloNode *node, HoloScaled *out)
{
    if (!node || !holo_node_has(node, HOLO_OP_QUANTIZES) || !is_tensor(node->in[0], HOLO_F32) || !is_8(node->out[0]))
        return false;
    out->q     = NULL;
    out->dtype = node->out[0]->type.dtype;
    return holo_node_scale(node, &out->scale, &out->zero);
}

bool holo_integers_equal(const HoloScaled *a, const HoloScaled *b)
{
    return a->dtype == b->dtype && a->scale == b->scale && a->zero == b->zero;
}

HoloValue *holo_integers_scale(HoloIntegers *s, const HoloScaled *q)
{
    HoloValue *value = holo_build_number(&s->rewrite, HOLO_F32, q->scale);
    s->failed        = s->failed || !value;
    return value;
}

HoloValue *holo_integers_zero(HoloIntegers *s, const HoloScaled *q)
{
    HoloValue *value = holo_build_number(&s->rewrite, q->dtype, q->zero);
    s->failed        = s->failed || !value;
    return value;
}

static HoloNode *with_output(HoloIntegers *s, HoloNode *node, const HoloNode *from, HoloDtype dtype,
                             const HoloTensor *shape)
{
    HoloValue *out = holo_graph_value(s->rewrite.graph, from->out[0]->name);
    if (!node || !out) return s->failed = true, NULL;
    out->type       = *shape;
    out->type.dtype = (uint8_t)dtype;
    out->type.data  = NULL;
    holo_node_set_out(node, 0, out);
    return node;
}

HoloNode *holo_integers_node(HoloIntegers *s, const HoloNode *from, HoloOpId id, int version, int in_count,
                             const HoloAttr *attr, int attr_count, HoloDtype dtype, const HoloTensor *shape)
{
    HoloNode *node = holo_graph_op(s->rewrite.graph, from->name, id, version, in_count, 1, attr_count);
    if (node && attr_count) memcpy(node->attr, attr, (size_t)attr_count * sizeof *attr);
    return with_output(s, node, from, dtype, shape);
}

// A copy of the node for numbers of that type.
static HoloNode *again(HoloIntegers *s, const HoloNode *node, HoloDtype dtype)
{
    HoloNode *copy = holo_graph_node_like(s->rewrite.graph, node->name, node);
    if (!copy) return s->failed = true, NULL;
    copy->out_count = 1;
    memcpy(copy->in, node->in, (size_t)node->in_count * sizeof *node->in);
    return with_output(s, copy, node, dtype, &node->out[0]->type);
}

// ---- operators that move numbers

static bool is_nearest(const HoloNode *node)
{
    const HoloAttr *mode = holo_node_attr(node, "mode"), *cut = holo_node_attr(node, "coordinate_transformation_mode");
    bool            nearest = !mode || (mode->kind == HOLO_ATTR_STRING && mode->s.size == 7);
    return nearest && (!cut || cut->kind != HOLO_ATTR_STRING || cut->s.size != strlen("tf_crop_and_resize"));
}

// Does it only move numbers of its first input, whatever they are?
static bool is_move(const HoloNode *node)
{
    if (!node || !node->op || !node->in_count || node->out_count < 1) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return holo_node_moves(node, HOLO_U8) || HOLO_IS(node, MaxPool) || (HOLO_IS(node, Resize) && is_nearest(node));
}

static HoloValue *move(HoloIntegers *s, const HoloNode *node, HoloValue *q)
{
    HoloNode *moved = again(s, node, (HoloDtype)q->type.dtype);
    if (!moved) return NULL;
    moved->in[0] = q;
    return moved->out[0];
}

// Dequantizes `q`.
static HoloValue *dequantize(HoloIntegers *s, const HoloNode *from, HoloValue *q, const HoloScaled *x)
{
    HoloNode *node =
        holo_integers_node(s, from, HOLO_ID_DequantizeLinear, 13, 3, NULL, 0, HOLO_F32, &from->out[0]->type);
    if (!node) return NULL;
    node->in[0] = q;
    node->in[1] = holo_integers_scale(s, x);
    node->in[2] = holo_integers_zero(s, x);
    return s->failed ? NULL : node->out[0];
}

// ---- what is before a QuantizeLinear

bool holo_integers_is_private(const HoloIntegers *s, const HoloValue *value)
{
    return value->id < s->room && s->uses[value->id] == 1 && !s->rewrite.is_output[value->id];
}

static bool bound_of(const HoloNode *node, int input, const char *name, double fallback, double *out)
{
    const HoloAttr *attr = holo_node_attr(node, name);
    *out                 = attr && attr->kind == HOLO_ATTR_FLOAT ? (double)attr->f : fallback;
    return input >= node->in_count || !node->in[input] || holo_value_number(node->in[input], out);
}

// Does quantization cut off everything that a Relu or Clip does?
static bool is_cut(const HoloNode *node, const HoloScaled *y)
{
    double least = y->dtype == HOLO_U8 ? 0 : -128, low = 0, high = INFINITY;
    if (!HOLO_IS(node, Relu) && !HOLO_IS(node, Clip)) return false;
    if (HOLO_IS(node, Clip) &&
        (!bound_of(node, 1, "min", -INFINITY, &low) || !bound_of(node, 2, "max", INFINITY, &high)))
        return false;
    return rint(low / y->scale) + y->zero <= least && rint(high / y->scale) + y->zero >= least + 255;
}

// `value`, quantized, computed from integers. NULL: it must be computed as it is.
static HoloValue *quantized(HoloIntegers *s, HoloValue *value, const HoloScaled *y, int depth)
{
    HoloNode  *node = value->producer;
    HoloScaled x;
    if (holo_integers_read(value, &x)) return holo_integers_equal(&x, y) ? x.q : NULL;
    if (!node || !holo_integers_is_private(s, value) || depth == CHAIN_MAX) return NULL;
    if (is_cut(node, y)) return quantized(s, node->in[0], y, depth + 1);
    if (is_move(node) && is_tensor(node->in[0], HOLO_F32)) {
        HoloValue *q = quantized(s, node->in[0], y, depth + 1);
        return q ? move(s, node, q) : NULL;
    }
    HoloValue *product = holo_integers_product(s, node, y);
    return product || s->failed ? product : holo_integers_pointwise(s, node, y);
}

// ---- the walks

// By value id: is it useful as integers, because a QuantizeLinear or a product reads it?
static bool *wanted_find(HoloIntegers *s)
{
    static const HoloOpId takers[] = {
        HOLO_ID_Conv,        HOLO_ID_MatMul,           HOLO_ID_Gemm, HOLO_ID_Add, HOLO_ID_Mul,
        HOLO_ID_AveragePool, HOLO_ID_GlobalAveragePool};
    HoloGraph *graph  = s->rewrite.graph;
    bool      *wanted = HOLO_NEW(s->rewrite.scratch, bool, graph->value_count);
    for (int i = graph->node_count - 1; wanted && i >= 0; i--) {
        const HoloNode *node  = graph->nodes[i];
        bool            takes = is_move(node) && node->out[0] && wanted[node->out[0]->id];
        takes                 = takes || holo_node_has(node, HOLO_OP_QUANTIZES);
        for (int k = 0; k < HOLO_COUNT(takers) && !takes; k++) takes = node->op && node->op_id == takers[k];
        for (int k = 0; takes && k < node->in_count; k++)
            if (node->in[k]) wanted[node->in[k]->id] = true;
    }
    return wanted;
}

// Moves numbers before DequantizeLinear instead of behind it; also rows that are taken from a constant table.
static HoloValue *moved(HoloIntegers *s, HoloNode *node, const bool *wanted)
{
    HoloScaled x;
    if (!is_move(node) || !holo_integers_read(node->in[0], &x) || !is_tensor(node->out[0], HOLO_F32)) return NULL;
    if (!wanted[node->out[0]->id] && !(HOLO_IS(node, Gather) && x.q->is_constant)) return NULL;
    HoloValue *q = move(s, node, x.q);
    return q ? dequantize(s, node, q, &x) : NULL;
}

// Replaces the output of a node by `to`. If `judges`, `to` is compared with what a copy of the node gives.
static void put(HoloIntegers *s, HoloNode *node, HoloValue *to)
{
    HoloValue *from = node->out[0];
    if (s->judges && !s->is_own) {
        HoloDtype dtype   = (HoloDtype)from->type.dtype;
        HoloNode *written = again(s, node, dtype);
        HoloNode *agreed  = holo_integers_node(s, node, HOLO_ID_HOLOGRAM_Agreed, 1, 2, NULL, 0, dtype, &from->type);
        if (!written || !agreed) return;
        agreed->in[0] = written->out[0];
        agreed->in[1] = to;
        to            = agreed->out[0];
    }
    holo_rewrite(&s->rewrite, from, to); // if this fails, nobody reads the new nodes
}

static HoloStatus walk_begin(HoloIntegers *s, HoloGraph *graph, HoloArena *scratch, HoloChanges *changes,
                             HoloError *error)
{
    *s = (HoloIntegers){.room = graph->value_count, .error = error, .judges = changes->judges};
    HOLO_TRY(holo_rewrite_begin(&s->rewrite, graph, scratch, changes, error));
    s->uses = holo_graph_uses(graph, scratch);
    return s->uses ? HOLO_OK : holo_fail_memory(error);
}

// Handles pairs that follow each other.
static HoloStatus walk_pairs(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloIntegers s;
    HOLO_TRY(walk_begin(&s, graph, scratch, changes, error));
    HOLO_TRY(holo_integers_pairs(&s));
    return holo_rewrite_end(&s.rewrite, error);
}

static HoloStatus walk_turn(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloIntegers s;
    HOLO_TRY(walk_begin(&s, graph, scratch, changes, error));
    HOLO_TRY(holo_integers_turn(&s));
    return holo_rewrite_end(&s.rewrite, error);
}

static HoloStatus walk_quantized(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloIntegers s;
    HoloScaled   y;
    HOLO_TRY(walk_begin(&s, graph, scratch, changes, error));
    bool *wanted = wanted_find(&s);
    if (!wanted) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&s.rewrite) && !s.failed; i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&s.rewrite, node);
        if (node->out_count < 1 || !node->out[0] || !node->in_count || !node->in[0]) continue;
        s.is_own        = false;
        bool       ends = holo_integers_made(node, &y);
        HoloValue *to   = ends ? quantized(&s, node->in[0], &y, 0) : moved(&s, node, wanted);
        if (to) put(&s, node, to);
    }
    return s.failed ? holo_fail_memory(error) : holo_rewrite_end(&s.rewrite, error);
}

// Handles products of integers that nobody quantizes again, and convolutions.
static HoloStatus walk_real(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloIntegers s;
    HOLO_TRY(walk_begin(&s, graph, scratch, changes, error));
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&s.rewrite) && !s.failed; i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&s.rewrite, node);
        if (!node->op || node->out_count != 1 || !node->out[0]) continue;
        HoloValue *to = holo_integers_product(&s, node, NULL);
        if (!to && !s.failed) to = holo_integers_conv(&s, node);
        if (to) put(&s, node, to);
    }
    return s.failed ? holo_fail_memory(error) : holo_rewrite_end(&s.rewrite, error);
}

// Other targets than the CPU multiply such weights with numbers as they are: rounding these would only lose digits.
static bool unround(const HoloChanges *changes, HoloNode *node)
{
    bool is_blocks = HOLO_IS(node, HOLOGRAM_MatMulBlocks);
    if (is_blocks)
        node->attr_count--; // the last is `rounds`
    else
        holo_node_become(node, HOLO_ID_MICROSOFT_MatMulNBits, 1);
    if (holo_targets_number(changes->targets, node) != 0) return true;
    if (is_blocks)
        node->attr_count++;
    else
        holo_node_become(node, HOLO_ID_HOLOGRAM_MatMulNBits, 1);
    return false;
}

// A product that rounded before this pass, as quantizing makes them.
static bool is_rounded(const HoloNode *node)
{
    return HOLO_IS(node, HOLOGRAM_MatMulBlocks) && node->attr_count &&
           !strcmp(node->attr[node->attr_count - 1].name, "rounds");
}

// Handles products with weights of few bits.
static HoloStatus walk_small(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    int  *uses = holo_graph_uses(graph, scratch), values = graph->value_count;
    bool *quantized = HOLO_NEW(scratch, bool, values + 1);
    if (!uses || !quantized) return holo_fail_memory(error);
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (holo_node_has(node, HOLO_OP_QUANTIZES) && node->in[0]) quantized[node->in[0]->id] = true;
    }
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        HoloNode *node = graph->nodes[i];
        if (HOLO_IS(node, MICROSOFT_MatMulNBits) && holo_targets_number(changes->targets, node) != 0) continue;
        if (is_rounded(node)) {
            changes->count += unround(changes, node);
            continue;
        }
        bool done = holo_integers_nbits(node);
        if (!done) HOLO_TRY(holo_blocks_product(graph, node, true, &done, error));
        if (!done && node->out_count && node->out[0] && !quantized[node->out[0]->id])
            HOLO_TRY(holo_weights_round(graph, node, uses, &done, error));
        if (done) unround(changes, node);
        changes->count += done;
    }
    return HOLO_OK;
}

// Exporters pass one scale or zero point to many nodes through Identity. Their readers read the constant instead.
static void read_constants(HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->in_count; k++) {
            const HoloNode *from = node->in[k] ? node->in[k]->producer : NULL;
            if (from && HOLO_IS(from, Identity) && from->in[0] && from->in[0]->is_constant) node->in[k] = from->in[0];
        }
    }
}

HoloStatus holo_pass_integers(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    if (!changes->is_late) { // later, verification would not see these changes
        read_constants(graph);
        HOLO_TRY(walk_pairs(graph, scratch, changes, error));
        HOLO_TRY(holo_pass_dead(graph, scratch, changes, error)); // from now on the numbers of readers count
        HOLO_TRY(walk_turn(graph, scratch, changes, error));
    }
    HOLO_TRY(walk_quantized(graph, scratch, changes, error));
    HOLO_TRY(walk_real(graph, scratch, changes, error));
    return walk_small(graph, scratch, changes, error);
}
