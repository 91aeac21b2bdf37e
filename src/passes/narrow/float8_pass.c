// float8_pass.c - products of floats of 8 bits that are dequantized just for them become MatMulFloat8 of domain hologram, where a target
// other than the CPU multiplies these. On the CPU nothing changes.
//
// Both operands come from DequantizeLinear without a zero point other than 0, or from Cast. The second one is a constant matrix with one
// scale or one for each column; the first one has one scale or one for each row. A constant bias that is added becomes an input.
#include "passes/narrow/integers.h"

#include <string.h>

enum { A, B, A_SCALE, B_SCALE, BIAS };

typedef struct Operand {
    HoloValue *q, *scale; // scale NULL: 1
    int64_t    axis;      // that several scales belong to
    int64_t    block;     // numbers along it that share one; 0: it has a line of scales
} Operand;

static bool is_f8(const HoloValue *v)
{
    return v && (v->type.dtype == HOLO_F8E4M3FN || v->type.dtype == HOLO_F8E5M2);
}

static bool has_zero_point(const HoloNode *node)
{
    double zero = 0;
    return node->in_count > 2 && node->in[2] && !(holo_value_number(node->in[2], &zero) && zero == 0);
}

static bool operand_read(const HoloValue *value, Operand *out)
{
    const HoloNode *node = value->producer;
    if (!node || value->type.dtype != HOLO_F32 || node->in_count < 1 || !is_f8(node->in[0])) return false;
    *out = (Operand){.q = node->in[0]};
    if (HOLO_IS(node, Cast)) return true;
    if (!HOLO_IS(node, DequantizeLinear) || node->in_count < 2 || has_zero_point(node)) return false;
    out->scale = node->in[1];
    out->block = holo_node_int(node, "block_size", 0);
    out->axis  = holo_node_int(node, "axis", 1);
    if (out->axis < 0) out->axis += out->q->type.rank;
    return holo_value_is_of(out->scale, HOLO_F32, 0, HOLO_MAX_RANK);
}

static bool is_one(const Operand *x)
{
    return !x->scale || holo_tensor_count(&x->scale->type) == 1;
}

// A scale for each row: of the first dimension of a matrix, or as blocks of whole rows.
static bool has_row_scales(const Operand *a)
{
    const HoloTensor *q = &a->q->type, *s = &a->scale->type;
    if (!a->block) return q->rank == 2 && a->axis == 0 && s->rank == 1;
    return a->axis == q->rank - 1 && s->rank == q->rank && s->dim[q->rank - 1] == 1 && a->block == q->dim[q->rank - 1];
}

// A constant, or what is quantized from constants: that becomes one.
static bool is_fixed(const HoloValue *value)
{
    const HoloNode *node = value->producer;
    if (value->is_constant) return value->type.data != NULL;
    if (!node || !HOLO_IS(node, QuantizeLinear)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !node->in[i]->is_constant) return false;
    return true;
}

// The second operand of a product: *out_turned if its columns come first.
static bool matrix_read(const HoloNode *node, Operand *out, bool *out_turned)
{
    const HoloValue *w    = node->in[1];
    const HoloNode  *turn = w->producer;
    *out_turned           = HOLO_IS(node, Gemm) && holo_node_int(node, "transB", 0);
    if (w->type.rank != 2) return false;
    if (turn && HOLO_IS(turn, Transpose)) {
        const HoloAttr *perm = holo_node_attr(turn, "perm");
        if (perm && (perm->kind != HOLO_ATTR_INTS || perm->count != 2 || perm->ints[0] != 1)) return false;
        *out_turned = !*out_turned;
        w           = turn->in[0];
    }
    if (!w || !operand_read(w, out) || !is_fixed(out->q) || out->q->type.rank != 2) return false;
    if (out->scale && !out->scale->is_constant) return false;
    return is_one(out) || (!out->block && out->scale->type.rank == 1 && out->axis == !*out_turned);
}

typedef struct Walk {
    HoloRewrite rewrite;
    int        *uses, room; // by id of the values that existed at the start
    bool        failed;     // no memory
} Walk;

// The node with these inputs, if another target than the CPU runs it. NULL: none does.
static HoloValue *made(Walk *w, const HoloNode *from, HoloValue *const in[5], bool is_turned)
{
    HoloNode *node = holo_build_node(&w->rewrite, from->name, HOLO_ID_HOLOGRAM_MatMulFloat8, 1, in[BIAS] ? 5 : 4,
                                     is_turned, &from->out[0]->type);
    if (!node || !in[A_SCALE] || !in[B_SCALE]) return w->failed = true, NULL;
    memcpy(node->in, in, (size_t)node->in_count * sizeof *in);
    if (is_turned) node->attr[0] = (HoloAttr){.name = "transB", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    return holo_targets_number(w->rewrite.all->targets, node) ? node->out[0] : NULL;
}

static HoloValue *scale_of(Walk *w, const Operand *x)
{
    return x->scale ? x->scale : holo_build_number(&w->rewrite, HOLO_F32, 1);
}

static HoloValue *product(Walk *w, const HoloNode *node)
{
    Operand a, b;
    bool    is_turned;
    if (!holo_product_is_plain(node, HOLO_F32) || node->in[0]->type.rank < 2 || !operand_read(node->in[0], &a) ||
        !(is_one(&a) || has_row_scales(&a)) || !matrix_read(node, &b, &is_turned))
        return NULL;
    HoloValue *bias = node->in_count > 2 ? node->in[2] : NULL;
    if (bias && !bias->is_constant) return NULL;
    HoloValue *in[] = {a.q, b.q, scale_of(w, &a), scale_of(w, &b), bias};
    return made(w, node, in, is_turned);
}

// An Add of a constant line to such a product.
static HoloValue *sum(Walk *w, const HoloNode *node)
{
    if (!HOLO_IS(node, Add) || node->in_count != 2 || !node->in[0] || !node->in[1]) return NULL;
    int              of   = node->in[0]->is_constant;
    HoloValue       *bias = node->in[!of];
    const HoloValue *y    = node->in[of];
    const HoloNode  *p    = y->producer;
    if (!p || !HOLO_IS(p, HOLOGRAM_MatMulFloat8) || p->in_count != 4 || y->id >= w->room || w->uses[y->id] != 1 ||
        w->rewrite.is_output[y->id] || !bias->is_constant || !holo_value_is_of(bias, HOLO_F32, 1, 1) ||
        bias->type.dim[0] != y->type.dim[y->type.rank - 1] || !holo_type_equal(&y->type, &node->out[0]->type))
        return NULL;
    HoloValue *in[] = {p->in[A], p->in[B], p->in[A_SCALE], p->in[B_SCALE], bias};
    return made(w, node, in, holo_node_int(p, "transB", 0) != 0);
}

HoloStatus holo_pass_float8(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Walk w = {.room = graph->value_count};
    if (changes->targets->count < 2) return HOLO_OK;
    HOLO_TRY(holo_rewrite_begin(&w.rewrite, graph, scratch, changes, error));
    w.uses = holo_graph_uses(graph, scratch);
    if (!w.uses) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&w.rewrite) && !w.failed; i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&w.rewrite, node);
        if (!node->op || node->out_count != 1 || !node->out[0] || node->in_count < 2) continue;
        HoloValue *to = product(&w, node);
        if (!to && !w.failed) to = sum(&w, node);
        if (to) holo_rewrite(&w.rewrite, node->out[0], to);
    }
    return w.failed ? holo_fail_memory(error) : holo_rewrite_end(&w.rewrite, error);
}
