// scale.c - turns BatchNormalization of constants into a multiplication and an addition. A constant that multiplies or
// is added for each channel behind a product goes into the product's constant weights and bias.
//
// Products are Conv, ConvTranspose, Gemm and MatMul of f32. Weights are computed in double and rounded once. A product
// whose result others read stays as it is, and so does one that would get a weight that is not finite.
#include "passes/build.h"

#include <math.h>

enum { WEIGHTS_MAX = 1 << 26 }; // larger ones are not copied

typedef struct Scale {
    HoloRewrite rewrite;
    int        *uses; // by id of the values that existed at the start
    int         room;
    HoloError  *error;
} Scale;

// y = x * scale + shift for each channel; if count is 1, for all.
typedef struct Affine {
    HoloValue *x;
    int        axis; // the dimension of the channels
    int64_t    count;
    double    *scale, *shift;
} Affine;

static bool is_f32(const HoloValue *value)
{
    return holo_value_is_of(value, HOLO_F32, 0, HOLO_MAX_RANK);
}

static bool is_constant(const HoloValue *value)
{
    return is_f32(value) && value->is_constant && value->type.data && holo_tensor_count(&value->type) > 0;
}

static double number_at(const HoloValue *value, int64_t i)
{
    return (double)((const float *)value->type.data)[holo_tensor_count(&value->type) == 1 ? 0 : i];
}

static HoloStatus affine_make(Scale *s, Affine *a)
{
    a->scale = HOLO_NEW(s->rewrite.scratch, double, a->count);
    a->shift = HOLO_NEW(s->rewrite.scratch, double, a->count);
    return a->scale && a->shift ? HOLO_OK : holo_fail_memory(s->error);
}

// ---- what is an affine function of each channel

// In inference, with one output.
static bool is_batch_norm(const HoloNode *node)
{
    if (!HOLO_IS(node, BatchNormalization) || node->in_count != 5 || node->out_count != 1) return false;
    if (holo_node_int(node, "training_mode", 0) || (node->version < 9 && !holo_node_int(node, "spatial", 1)))
        return false;
    const HoloTensor *x = is_f32(node->in[0]) ? &node->in[0]->type : NULL;
    if (!x || x->rank < 2 || !is_f32(node->out[0])) return false;
    for (int i = 1; i < 5; i++)
        if (!is_constant(node->in[i]) || node->in[i]->type.rank != 1 ||
            node->in[i]->type.dim[0] != node->in[1]->type.dim[0])
            return false;
    return x->dim[1] == node->in[1]->type.dim[0];
}

static HoloStatus batch_norm(Scale *s, const HoloNode *node, Affine *a)
{
    double epsilon = holo_node_float(node, "epsilon", 1e-5);
    *a             = (Affine){.x = node->in[0], .axis = 1, .count = node->in[1]->type.dim[0]};
    HOLO_TRY(affine_make(s, a));
    for (int64_t c = 0; c < a->count; c++) {
        a->scale[c] = number_at(node->in[1], c) / sqrt(number_at(node->in[4], c) + epsilon);
        a->shift[c] = number_at(node->in[2], c) - number_at(node->in[3], c) * a->scale[c];
    }
    return HOLO_OK;
}

// The only dimension of `x` that a broadcast constant varies along; -1: there are several; x->rank: it has one element.
static int axis_of(const HoloTensor *x, const HoloTensor *constant)
{
    int axis = x->rank, before = x->rank - constant->rank;
    if (before < 0) return -1;
    for (int d = 0; d < constant->rank; d++) {
        if (constant->dim[d] == 1) continue;
        if (axis != x->rank || constant->dim[d] != x->dim[before + d]) return -1;
        axis = before + d;
    }
    return axis;
}

// Mul, Add, Sub and Div with a constant. out->x NULL: it is something else. `axis` is where the channels must be.
static HoloStatus arithmetic(Scale *s, const HoloNode *node, int axis, Affine *a)
{
    bool mul = HOLO_IS(node, Mul), div = HOLO_IS(node, Div), sub = HOLO_IS(node, Sub);
    if (!(mul || div || sub || HOLO_IS(node, Add)) || node->version < 7 || node->in_count != 2) return HOLO_OK;
    int k = is_constant(node->in[1]) ? 1 : is_constant(node->in[0]) && (mul || !(div || sub)) ? 0 : -1;
    if (k < 0 || !is_f32(node->in[1 - k]) || !is_f32(node->out[0])) return HOLO_OK;
    const HoloTensor *x = &node->in[1 - k]->type, *constant = &node->in[k]->type;
    int               at = axis_of(x, constant);
    if ((at != axis && at != x->rank) || !holo_type_equal(x, &node->out[0]->type)) return HOLO_OK;
    *a = (Affine){.x = node->in[1 - k], .axis = axis, .count = holo_tensor_count(constant)};
    HOLO_TRY(affine_make(s, a));
    for (int64_t c = 0; c < a->count; c++) {
        double number = number_at(node->in[k], c);
        a->scale[c]   = mul ? number : div ? 1 / number : 1;
        a->shift[c]   = mul || div ? 0 : sub ? -number : number;
    }
    return HOLO_OK;
}

// ---- products

// Weights as [outer][channels][inner]. `outer` is cut into groups, each with channels of its own.
typedef struct Product {
    HoloNode *node;
    int64_t   groups, outer, channels, inner; // outer: of one group
    bool      has_bias;                       // it may have one
} Product;

static bool product_of(HoloNode *node, Product *p)
{
    if (!node || !node->op || *node->domain || node->out_count != 1 || !is_constant(holo_node_in(node, 1)))
        return false;
    const HoloTensor *w     = &node->in[1]->type;
    const HoloValue  *bias  = holo_node_in(node, 2);
    int64_t           group = holo_node_int(node, "group", 1);
    *p                      = (Product){.node = node, .groups = 1, .outer = 1, .inner = 1, .has_bias = true};
    if (holo_tensor_count(w) > WEIGHTS_MAX || !is_f32(node->in[0])) return false;
    if (HOLO_IS(node, Conv) && w->rank > 2) {
        p->channels = w->dim[0];
        p->inner    = holo_product(w->rank - 1, w->dim + 1);
    } else if (HOLO_IS(node, ConvTranspose) && w->rank > 2 && group > 0 && w->dim[0] % group == 0) {
        p->groups   = group;
        p->outer    = w->dim[0] / group;
        p->channels = w->dim[1];
        p->inner    = holo_product(w->rank - 2, w->dim + 2);
    } else if (HOLO_IS(node, Gemm) && w->rank == 2 && holo_node_float(node, "beta", 1) == 1) {
        bool turned                       = holo_node_int(node, "transB", 0) != 0;
        p->channels                       = w->dim[turned ? 0 : 1];
        *(turned ? &p->inner : &p->outer) = w->dim[turned ? 1 : 0];
    } else if (HOLO_IS(node, MatMul) && w->rank == 2 && node->in[0]->type.rank > 1) {
        p->outer    = w->dim[0];
        p->channels = w->dim[1];
        p->has_bias = false;
    } else {
        return false;
    }
    if (bias && (!is_constant(bias) || bias->type.rank != 1 || bias->type.dim[0] != p->groups * p->channels))
        return false;
    return true;
}

static int channel_axis(const Product *p)
{
    return HOLO_IS(p->node, MatMul) ? p->node->out[0]->type.rank - 1 : 1;
}

static double at(const double *numbers, const Affine *a, int64_t channel)
{
    return numbers[a->count == 1 ? 0 : channel];
}

static bool is_plain(const Affine *a, const double *numbers, double x)
{
    for (int64_t c = 0; c < a->count; c++)
        if (numbers[c] != x) return false;
    return true;
}

// Makes the new weights. *out NULL: one would not be finite.
static HoloStatus scale_weights(Scale *s, const Product *p, const Affine *a, HoloValue **out)
{
    HoloTensor   t    = p->node->in[1]->type;
    const float *from = t.data;
    float       *to   = HOLO_NEW(s->rewrite.graph->arena, float, holo_tensor_count(&t));
    *out              = NULL;
    if (!to) return holo_fail_memory(s->error);
    t.data = to;
    for (int64_t g = 0; g < p->groups; g++)
        for (int64_t o = 0; o < p->outer; o++)
            for (int64_t c = 0; c < p->channels; c++) {
                double scale = at(a->scale, a, g * p->channels + c);
                for (int64_t i = 0; i < p->inner; i++, from++, to++) {
                    *to = (float)((double)*from * scale);
                    if (!isfinite(*to)) return HOLO_OK;
                }
            }
    *out = holo_graph_constant(s->rewrite.graph, p->node->in[1]->name, &t);
    return *out ? HOLO_OK : holo_fail_memory(s->error);
}

static HoloStatus shift_bias(Scale *s, const Product *p, const Affine *a, HoloValue **out)
{
    const HoloValue *bias  = holo_node_in(p->node, 2);
    int64_t          count = p->groups * p->channels;
    HoloTensor       t     = {.dtype = HOLO_F32, .rank = 1, .dim = {count}};
    float           *to    = HOLO_NEW(s->rewrite.graph->arena, float, count);
    *out                   = NULL;
    if (!to) return holo_fail_memory(s->error);
    t.data = to;
    for (int64_t c = 0; c < count; c++) {
        to[c] = (float)((bias ? number_at(bias, c) : 0) * at(a->scale, a, c) + at(a->shift, a, c));
        if (!isfinite(to[c])) return HOLO_OK;
    }
    *out = holo_graph_constant(s->rewrite.graph, bias ? bias->name : p->node->name, &t);
    return *out ? HOLO_OK : holo_fail_memory(s->error);
}

static bool is_private(const Scale *s, const HoloValue *value)
{
    return value->id < s->room && s->uses[value->id] == 1 && !s->rewrite.is_output[value->id];
}

// Makes the affine function part of the product. *out_done false: this is not possible.
static HoloStatus take_in(Scale *s, HoloNode *node, const Product *p, const Affine *a, bool *out_done)
{
    HoloValue *w = p->node->in[1], *bias = holo_node_in(p->node, 2),
              **in = HOLO_NEW(s->rewrite.graph->arena, HoloValue *, 3);
    bool shifts = !is_plain(a, a->shift, 0), scales = !is_plain(a, a->scale, 1);
    *out_done = false;
    if (!in) return holo_fail_memory(s->error);
    if ((shifts && !p->has_bias) || (a->count != 1 && a->count != p->groups * p->channels)) return HOLO_OK;
    if (scales) HOLO_TRY(scale_weights(s, p, a, &w));
    if (shifts || bias) HOLO_TRY(shift_bias(s, p, a, &bias));
    if (!w || ((shifts || bias) && !bias) || !holo_rewrite(&s->rewrite, node->out[0], p->node->out[0])) return HOLO_OK;
    s->uses[p->node->out[0]->id] = s->uses[node->out[0]->id];
    in[0]                        = p->node->in[0];
    in[1]                        = w;
    in[2]                        = bias;
    p->node->in                  = in;
    p->node->in_count            = bias ? 3 : 2;
    *out_done                    = true;
    return HOLO_OK;
}

// ---- BatchNormalization on its own

static HoloValue *channel_constant(Scale *s, const HoloNode *node, const Affine *a, const double *numbers)
{
    HoloTensor t    = {.dtype = HOLO_F32, .rank = (int8_t)(a->x->type.rank - 1)};
    float     *data = HOLO_NEW(s->rewrite.graph->arena, float, a->count);
    for (int d = 0; d < t.rank; d++) t.dim[d] = d ? 1 : a->count;
    t.data = data;
    for (int64_t c = 0; data && c < a->count; c++) data[c] = (float)numbers[c];
    return data ? holo_graph_constant(s->rewrite.graph, node->name, &t) : NULL;
}

static HoloStatus write_out(Scale *s, HoloNode *node, const Affine *a)
{
    HoloValue *scale = channel_constant(s, node, a, a->scale), *shift = channel_constant(s, node, a, a->shift);
    HoloNode  *mul = holo_build_node(&s->rewrite, node->name, HOLO_ID_Mul, 14, 2, 0, &node->out[0]->type);
    HoloNode  *add = holo_build_node(&s->rewrite, node->name, HOLO_ID_Add, 14, 2, 0, &node->out[0]->type);
    if (!scale || !shift || !mul || !add) return holo_fail_memory(s->error);
    mul->in[0] = a->x;
    mul->in[1] = scale;
    add->in[0] = mul->out[0];
    add->in[1] = shift;
    holo_rewrite(&s->rewrite, node->out[0], add->out[0]); // if this fails, nobody reads the two new nodes
    return HOLO_OK;
}

static HoloStatus apply(Scale *s, HoloNode *node)
{
    Affine  a = {0};
    Product p;
    bool    done = false;
    if (!node->op || *node->domain || !node->in_count || !holo_node_in(node, 0) || !node->out_count || !node->out[0] ||
        node->out[0]->id >= s->room)
        return HOLO_OK;
    bool is_norm = is_batch_norm(node);
    if (is_norm) HOLO_TRY(batch_norm(s, node, &a));
    for (int i = 0; i < node->in_count && i < 2 && !done; i++) {
        HoloValue *x = node->in[i];
        if (!x || !is_private(s, x) || !product_of(x->producer, &p)) continue;
        if (!is_norm) HOLO_TRY(arithmetic(s, node, channel_axis(&p), &a));
        // One number behind a matrix product is left to the passes that look for patterns.
        if (a.x != x || a.axis != channel_axis(&p) || (a.count == 1 && !p.has_bias)) continue;
        HOLO_TRY(take_in(s, node, &p, &a, &done));
    }
    return is_norm && !done ? write_out(s, node, &a) : HOLO_OK;
}

HoloStatus holo_pass_scale(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Scale s = {.error = error, .room = graph->value_count};
    HOLO_TRY(holo_rewrite_begin(&s.rewrite, graph, scratch, changes, error));
    s.uses = holo_graph_uses(graph, scratch);
    if (!s.uses) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&s.rewrite); i++) {
        holo_rewrite_inputs(&s.rewrite, graph->nodes[i]);
        HOLO_TRY(apply(&s, graph->nodes[i]));
    }
    return holo_rewrite_end(&s.rewrite, error);
}
