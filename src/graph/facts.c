// facts.c - answers to questions about nodes and values.
#include "graph/facts.h"

#include "format/params.h"

#include <math.h>
#include <string.h>

bool holo_type_equal(const HoloTensor *a, const HoloTensor *b)
{
    if (a->dtype != b->dtype || a->kind != b->kind || a->inner != b->inner || a->rank != b->rank || a->rank < 0)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i] || a->dim[i] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

bool holo_shape_equal(const HoloTensor *a, const HoloTensor *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return true;
}

bool holo_value_is_sized(const HoloValue *value)
{
    if (value->type.kind != HOLO_TENSOR || value->type.rank < 0) return false;
    for (int d = 0; d < value->type.rank; d++)
        if (value->type.dim[d] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

bool holo_value_is_of(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max)
{
    return value && value->type.kind == HOLO_TENSOR && value->type.dtype == dtype && value->type.rank >= rank_min &&
           value->type.rank <= rank_max;
}

bool holo_value_is(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max)
{
    return holo_value_is_of(value, dtype, rank_min, rank_max) && holo_value_is_sized(value);
}

bool holo_tensor_is_finite(const HoloTensor *t)
{
    int64_t count = holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(holo_get_f(t, i))) return false;
    return true;
}

static bool is_constant(const HoloValue *value)
{
    return value->is_constant && value->type.data;
}

// The largest magnitude in a bias; 0 if there is none.
static int64_t bias_most(const HoloValue *bias)
{
    int64_t most = 0;
    if (!bias) return 0;
    if (!is_constant(bias)) return INT32_MAX;
    for (int64_t i = 0, n = holo_tensor_count(&bias->type); i < n; i++) {
        int64_t x = holo_get_i(&bias->type, i);
        if (x > most || -x > most) most = x < 0 ? -x : x;
    }
    return most;
}

bool holo_weights_fit(const HoloValue *w, int axis, const HoloValue *zero, const HoloValue *bias)
{
    const HoloTensor *t     = &w->type;
    int64_t           count = holo_tensor_count(t), most = bias_most(bias);
    int64_t           columns = t->dim[axis], inner = holo_product(t->rank - axis - 1, t->dim + axis + 1);
    if (count <= 0) return count == 0;
    int64_t room = INT32_MAX - most, each = holo_byte_most(t->dtype == HOLO_I8, zero);
    if (room / (255 * each) >= count / columns) return true;
    if (!is_constant(w) || (zero && !is_constant(zero))) return false;
    int64_t zeros = zero ? holo_tensor_count(&zero->type) : 0;
    for (int64_t c = 0; c < columns; c++) {
        int64_t sum = 0, from = zeros ? holo_get_i(&zero->type, zeros == 1 ? 0 : c) : 0;
        for (int64_t o = 0; o < count / columns / inner; o++)
            for (int64_t i = 0; i < inner; i++) {
                int64_t x = holo_get_i(t, (o * columns + c) * inner + i) - from;
                sum += x < 0 ? -x : x;
            }
        if (sum > room / 255) return false;
    }
    return true;
}

bool holo_contents_are_numbers(const HoloValue *value)
{
    if (!value->contents) return false;
    int64_t count = holo_tensor_count(&value->type);
    for (int64_t i = 0; i < count; i++)
        if (holo_dim_is_symbolic(value->contents[i])) return false;
    return count >= 0;
}

bool holo_value_number(const HoloValue *value, double *out)
{
    if (!value || !value->is_constant || value->type.kind != HOLO_TENSOR) return false;
    HoloClass class = holo_dtype_class(value->type.dtype);
    if (class != HOLO_CLASS_FLOAT && class != HOLO_CLASS_INT && class != HOLO_CLASS_UINT) return false;
    int64_t count = holo_tensor_count(&value->type);
    if (count < 1 || count > HOLO_NUMBER_ELEMENTS) return false;
    *out = holo_get_f(&value->type, 0);
    for (int64_t i = 1; i < count; i++)
        if (holo_get_f(&value->type, i) != *out) return false;
    return true;
}

const HoloAttr *holo_node_attr(const HoloNode *node, const char *name)
{
    for (int i = 0; i < node->attr_count; i++)
        if (!strcmp(node->attr[i].name, name)) return &node->attr[i];
    return NULL;
}

HoloCall holo_node_call(const HoloNode *node)
{
    return (HoloCall){.op         = node->op,
                      .node       = node->name,
                      .version    = node->version,
                      .attr       = node->attr,
                      .attr_count = node->attr_count};
}

HoloStatus holo_node_check(const HoloNode *node, HoloError *error)
{
    HoloCall call = holo_node_call(node);
    call.op       = node->op ? node->op : holo_op_find(node->domain, node->type, node->version);
    if (!call.op) return HOLO_OK;
    call.in_count      = node->in_count;
    call.out_count     = node->out_count;
    call.capture_count = node->capture_count;
    call.error         = error;
    HOLO_TRY(holo_op_check_counts(&call));
    for (int i = 0; i < call.op->in_min && !call.op->body; i++)
        if (!node->in[i]) return holo_call_fail(&call, HOLO_BAD_MODEL, "input %d is missing", i);
    return HOLO_OK;
}

int64_t holo_node_int(const HoloNode *node, const char *name, int64_t fallback)
{
    HoloCall call = holo_node_call(node);
    return holo_attr_int(&call, name, fallback);
}

double holo_node_float(const HoloNode *node, const char *name, double fallback)
{
    HoloCall call = holo_node_call(node);
    return holo_attr_float(&call, name, fallback);
}

bool holo_node_has_graphs(const HoloNode *node)
{
    for (int i = 0; i < node->attr_count; i++)
        if (node->attr[i].kind == HOLO_ATTR_GRAPHS) return true;
    return false;
}

const HoloTensor *holo_node_constant(const HoloNode *node, int i)
{
    const HoloValue *value = holo_node_in(node, i);
    return value && value->is_constant && value->type.data && value->type.kind == HOLO_TENSOR ? &value->type : NULL;
}

bool holo_node_scale(const HoloNode *node, double *out_scale, double *out_zero)
{
    const HoloTensor *scale = holo_node_constant(node, 1), *zero = holo_node_constant(node, 2);
    if (!scale || scale->dtype != HOLO_F32 || holo_tensor_count(scale) != 1) return false;
    if (holo_node_int(node, "block_size", 0) || holo_node_attr(node, "precision")) return false;
    if (holo_node_in(node, 2) && (!zero || holo_tensor_count(zero) != 1)) return false;
    *out_scale = holo_get_f(scale, 0);
    *out_zero  = zero ? holo_get_f(zero, 0) : 0;
    return isnormal((float)*out_scale) && *out_scale > 0;
}

bool holo_node_moves(const HoloNode *node, HoloDtype dtype)
{
    if (!node->op || (node->op->flags & HOLO_OP_MOVES_ALL) != HOLO_OP_MOVES || !holo_node_in(node, 0)) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return !node->op->types || node->op->types >> dtype & 1;
}

bool holo_slice_takes_all(const HoloNode *slice)
{
    const HoloValue *steps = holo_node_in(slice, 4);
    if (!slice->in[0] || !holo_type_equal(&slice->in[0]->type, &slice->out[0]->type)) return false;
    if (steps && (!steps->contents || !holo_contents_are_numbers(steps))) return false;
    for (int64_t i = 0; steps && i < holo_tensor_count(&steps->type); i++)
        if (steps->contents[i] < 0) return false;
    return true;
}

bool holo_dropout_is_off(const HoloNode *dropout)
{
    const HoloValue *training = holo_node_in(dropout, 2);
    return !training || (training->contents && holo_tensor_count(&training->type) == 1 && training->contents[0] == 0);
}

static bool tensor_equal(const HoloTensor *a, const HoloTensor *b)
{
    if (a->kind != HOLO_TENSOR || a->dtype == HOLO_STRING || !holo_type_equal(a, b)) return false;
    size_t size = holo_tensor_bytes(a);
    return size == 0 || (a->data && b->data && memcmp(a->data, b->data, size) == 0);
}

bool holo_attr_equal(const HoloAttr *a, const HoloAttr *b)
{
    if (strcmp(a->name, b->name) || a->kind != b->kind || a->count != b->count) return false;
    size_t n = (size_t)a->count;
    switch (a->kind) {
    case HOLO_ATTR_INT: return a->i == b->i;
    case HOLO_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case HOLO_ATTR_STRING: return holo_string_equal(a->s, b->s);
    case HOLO_ATTR_TENSOR: return tensor_equal(a->tensor, b->tensor);
    case HOLO_ATTR_INTS: return n == 0 || memcmp(a->ints, b->ints, n * sizeof *a->ints) == 0;
    case HOLO_ATTR_FLOATS: return n == 0 || memcmp(a->floats, b->floats, n * sizeof *a->floats) == 0;
    case HOLO_ATTR_STRINGS:
        for (size_t i = 0; i < n; i++)
            if (!holo_string_equal(a->strings[i], b->strings[i])) return false;
        return true;
    default: return false;
    }
}

bool holo_node_same_kind(const HoloNode *a, const HoloNode *b)
{
    if (a->op_id || b->op_id) return a->op_id == b->op_id;
    return !strcmp(a->type, b->type) && !strcmp(a->domain, b->domain);
}

bool holo_node_same_op(const HoloNode *a, const HoloNode *b)
{
    if (a->version != b->version || !holo_node_same_kind(a, b)) return false;
    if (a->in_count != b->in_count || a->out_count != b->out_count || a->attr_count != b->attr_count) return false;
    for (int i = 0; i < a->attr_count; i++)
        if (!holo_attr_equal(&a->attr[i], &b->attr[i])) return false;
    return true;
}

static bool node_is_random(const HoloNode *node, HoloRandomKind kind, int depth)
{
    enum { DEPTH_MAX = 64 };
    bool by_input = HOLO_IS(node, Bernoulli) || HOLO_IS(node, Multinomial);
    if (node->op && node->op->flags & HOLO_OP_RANDOM && (by_input || kind == HOLO_RANDOM_ANY)) return true;
    for (int i = 0; i < node->attr_count && depth < DEPTH_MAX; i++) {
        const HoloGraph *body = node->attr[i].kind == HOLO_ATTR_GRAPH ? node->attr[i].graph : NULL;
        for (int k = 0; body && k < body->node_count; k++)
            if (node_is_random(body->nodes[k], kind, depth + 1)) return true;
    }
    return false;
}

bool *holo_graph_random_values(const HoloGraph *graph, HoloRandomKind kind, HoloArena *arena)
{
    bool *random = HOLO_NEW(arena, bool, graph->value_count + 1);
    for (int i = 0; random && i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        bool            any  = node_is_random(node, kind, 0);
        for (int k = 0; k < node->in_count; k++) any = any || (node->in[k] && random[node->in[k]->id]);
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) random[node->out[k]->id] = any;
    }
    return random;
}
