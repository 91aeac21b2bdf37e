// recognize.c - replaces groups of nodes that exporters write by the one operator that they spell out.
//
// Patterns and their replacements are graph text, in recognize_patterns.c; match.h says how patterns are read. The
// functions here check what text cannot say about axes and sizes. Inferring the new nodes checks, for all patterns,
// that they have the type of the old ones. Attention is not found here.
#include "passes/fuse/recognize.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, MADE = 4, OWN_ATTRS = 8 };

struct HoloRecognize {
    HoloRewrite  rewrite;
    HoloPatterns patterns;
    HoloArena   *arena;  // of the patterns
    HoloGraph  **before; // by row; NULL: it was not needed yet
    HoloMatch    match;
    HoloAttr    *attr; // attributes of the matched nodes, and added ones
    int          attr_count;
    struct {
        const char *name;
        HoloValue  *value;
    } made[MADE]; // for inputs of the new nodes; hides the pattern's value of that name
    int  made_count;
    bool failed; // there was no memory
};

HoloValue *holo_recognize_find(const HoloRecognize *r, const char *name)
{
    for (int i = 0; i < r->made_count; i++)
        if (!strcmp(r->made[i].name, name)) return r->made[i].value;
    return holo_match_find(&r->match, name);
}

// ---- attributes

static void add_int(HoloRecognize *r, const char *name, int64_t i)
{
    r->attr[r->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_INT, .count = 1, .i = i};
}

static int64_t get_int(const HoloRecognize *r, const char *name, int64_t fallback)
{
    for (int i = r->attr_count - 1; i >= 0; i--)
        if (!strcmp(r->attr[i].name, name) && r->attr[i].kind == HOLO_ATTR_INT) return r->attr[i].i;
    return fallback;
}

static double get_float(const HoloRecognize *r, const char *name, double fallback)
{
    for (int i = r->attr_count - 1; i >= 0; i--)
        if (!strcmp(r->attr[i].name, name) && r->attr[i].kind == HOLO_ATTR_FLOAT) return r->attr[i].f;
    return fallback;
}

// The attributes of the matched nodes and the numbers of the pattern, for "@name" in the replacement.
static bool collect_attrs(HoloRecognize *r)
{
    const HoloMatch *m       = &r->match;
    const HoloGraph *pattern = m->frame[0].pattern;
    int              count   = pattern->input_count + OWN_ATTRS;
    for (int i = 0; i < m->node_count; i++) count += m->node[i]->attr_count;
    r->attr       = HOLO_NEW(r->rewrite.graph->arena, HoloAttr, count);
    r->attr_count = 0;
    if (!r->attr) return false;
    for (int i = 0; i < m->node_count; i++)
        for (int k = 0; k < m->node[i]->attr_count; k++) r->attr[r->attr_count++] = m->node[i]->attr[k];
    for (int i = 0; i < pattern->input_count; i++) {
        HoloAttr attr = {.name = pattern->inputs[i]->name, .kind = HOLO_ATTR_FLOAT, .count = 1};
        if (pattern->inputs[i]->type.rank == 0 && holo_value_number(m->frame[0].bound[pattern->inputs[i]->id], &attr.f))
            r->attr[r->attr_count++] = attr;
    }
    return true;
}

// ---- constants

static bool make(HoloRecognize *r, const char *name, const HoloTensor *tensor) // data is borrowed
{
    HoloValue *value = holo_graph_constant(r->rewrite.graph, name, tensor);
    if (!value) return !(r->failed = true);
    r->made[r->made_count].name    = name;
    r->made[r->made_count++].value = value;
    return true;
}

static bool make_all(HoloRecognize *r, const char *name, double x, HoloDtype dtype, int rank, const HoloDim *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    int64_t count = holo_tensor_count(&t);
    if (count < 1 || count > HOLO_NUMBER_ELEMENTS) return false;
    t.data = holo_arena_take(r->rewrite.graph->arena, holo_tensor_bytes(&t));
    if (!t.data) return !(r->failed = true);
    for (int64_t i = 0; i < count; i++) holo_put_f(&t, i, x);
    return make(r, name, &t);
}

bool holo_recognize_make_ints(HoloRecognize *r, const char *name, int count, const int64_t *ints)
{
    int64_t *data = HOLO_NEW(r->rewrite.graph->arena, int64_t, count);
    if (!data) return !(r->failed = true);
    memcpy(data, ints, (size_t)count * sizeof *data);
    HoloTensor t = {.dtype = HOLO_I64, .rank = 1, .dim = {count}, .data = data};
    if (!make(r, name, &t)) return false;
    r->made[r->made_count - 1].value->contents = data;
    return true;
}

// Does the value of that name have exactly these sizes, without dimensions of 1 before and behind?
static bool trim(HoloRecognize *r, const char *name, int behind, int rank, const HoloDim *dim)
{
    const HoloValue *value  = holo_recognize_find(r, name);
    HoloTensor       t      = value->type;
    int              before = t.rank - behind - rank;
    if (before < 0 || t.kind != HOLO_TENSOR) return false;
    for (int i = 0; i < t.rank; i++) {
        bool is_inside = i >= before && i < before + rank;
        if (t.dim[i] == HOLO_DIM_UNKNOWN || t.dim[i] != (is_inside ? dim[i - before] : 1)) return false;
    }
    if (t.rank == rank) return true;
    if (!value->is_constant) return false;
    memmove(t.dim, t.dim + before, (size_t)rank * sizeof *t.dim);
    t.rank = rank;
    return make(r, name, &t);
}

// ---- what rows ask

bool holo_recognize_mean(HoloRecognize *r)
{
    const HoloMatch *m     = &r->match;
    double           count = 1, wanted = get_float(r, "count", 0), part = get_float(r, "part", 0);
    int64_t         *axes = HOLO_NEW(r->rewrite.graph->arena, int64_t, HOLO_MAX_RANK);
    HoloAttr         attr = {.name = "axes", .kind = HOLO_ATTR_INTS, .ints = axes};
    if (!axes) return !(r->failed = true);
    for (int d = 0; d < m->axes_rank; d++) {
        HoloDim size = holo_recognize_find(r, "x")->type.dim[d];
        if (!(m->axes >> d & 1)) continue;
        if (holo_dim_is_symbolic(size) || size < 1) return false;
        count *= (double)size;
        axes[attr.count++] = d;
    }
    r->attr[r->attr_count++] = attr;
    return wanted == count || fabs(part * count - 1) < 1e-6;
}

// How many of the last axes a reduction is over; 0: it is over other axes.
static int last_axes(const HoloMatch *m)
{
    for (int k = 1; k <= m->axes_rank; k++)
        if (m->axes == ((UINT32_C(1) << k) - 1) << (m->axes_rank - k)) return k;
    return 0;
}

bool holo_recognize_rows(HoloRecognize *r)
{
    const HoloTensor *x = &holo_recognize_find(r, "x")->type;
    int               k = last_axes(&r->match);
    if (!k || x->rank != r->match.axes_rank) return false;
    add_int(r, "axis", -k);
    return make_all(r, "ones", 1, (HoloDtype)x->dtype, k, x->dim + x->rank - k);
}

bool holo_recognize_rows_affine(HoloRecognize *r)
{
    int k = last_axes(&r->match);
    add_int(r, "axis", -k);
    return k && holo_recognize_find(r, "x")->type.rank == r->match.axes_rank && holo_recognize_scale(r) &&
           holo_recognize_bias(r);
}

bool holo_recognize_centered(HoloRecognize *r)
{
    int     rank = holo_recognize_find(r, "x")->type.rank, k = last_axes(&r->match);
    int64_t axis = get_int(r, "axis", -1);
    return k && rank == r->match.axes_rank && (axis < 0 ? axis + rank : axis) == rank - k;
}

bool holo_recognize_axis(HoloRecognize *r)
{
    uint32_t axes = r->match.axes;
    int      axis = 0;
    while (axis < r->match.axes_rank && axes != UINT32_C(1) << axis) axis++;
    add_int(r, "axis", axis);
    return axis < r->match.axes_rank;
}

static bool fits_rows(HoloRecognize *r, const char *name)
{
    const HoloTensor *x    = &holo_recognize_find(r, "x")->type;
    int64_t           axis = get_int(r, "axis", -1);
    if (axis < 0) axis += x->rank;
    return axis >= 0 && axis < x->rank && trim(r, name, 0, (int)(x->rank - axis), x->dim + axis);
}

bool holo_recognize_scale(HoloRecognize *r)
{
    return fits_rows(r, "scale");
}

bool holo_recognize_bias(HoloRecognize *r)
{
    return fits_rows(r, "bias");
}

bool holo_recognize_scale_cast(HoloRecognize *r)
{
    return holo_recognize_find(r, "x")->type.dtype == holo_recognize_find(r, "scale")->type.dtype &&
           holo_recognize_scale(r);
}

// Groups are parts of the channels if the first sizes of what is normalized are those of x and the number of groups.
bool holo_recognize_groups(HoloRecognize *r)
{
    const HoloTensor *x = &holo_recognize_find(r, "x")->type, *parts = &holo_recognize_find(r, "parts")->type;
    if (x->rank < 3 || parts->rank < 3 || x->dim[0] != parts->dim[0] || x->dim[0] == HOLO_DIM_UNKNOWN) return false;
    HoloDim channels = x->dim[1], groups = parts->dim[1];
    if (holo_dim_is_symbolic(channels) || holo_dim_is_symbolic(groups) || groups < 1 || channels % groups) return false;
    add_int(r, "num_groups", groups);
    return make_all(r, "ones", 1, (HoloDtype)x->dtype, 1, &channels) &&
           make_all(r, "zeros", 0, (HoloDtype)x->dtype, 1, &channels);
}

bool holo_recognize_groups_of_rows(HoloRecognize *r)
{
    int64_t axis = get_int(r, "axis", -1);
    return (axis < 0 ? axis + holo_recognize_find(r, "parts")->type.rank : axis) == 2 && holo_recognize_groups(r);
}

static bool fits_channels(HoloRecognize *r, const char *name)
{
    const HoloTensor *x = &holo_recognize_find(r, "x")->type;
    return x->rank >= 2 && trim(r, name, x->rank - 2, 1, x->dim + 1);
}

bool holo_recognize_channel_scale(HoloRecognize *r)
{
    return fits_channels(r, "scale");
}

bool holo_recognize_channel_bias(HoloRecognize *r)
{
    return fits_channels(r, "bias");
}

// Is it a scalar, or a vector of one number or, if n is not 0, of n?
static bool is_line(const HoloValue *value, HoloDim n)
{
    const HoloTensor *t = &value->type;
    if (t->dtype != HOLO_F32 || t->rank < 0 || t->rank > 1) return false;
    return t->rank == 0 || t->dim[0] == 1 || (n && t->dim[0] == n);
}

bool holo_recognize_integer_scales(HoloRecognize *r)
{
    const HoloTensor *b = &holo_recognize_find(r, "b")->type;
    return b->rank == 2 && is_line(holo_recognize_find(r, "a_scale"), 0) &&
           is_line(holo_recognize_find(r, "b_scale"), b->dim[1]);
}

bool holo_recognize_integer_bias(HoloRecognize *r)
{
    const HoloTensor *b = &holo_recognize_find(r, "b")->type, *bias = &holo_recognize_find(r, "bias")->type;
    return b->rank == 2 && bias->dtype == HOLO_F32 && bias->rank == 1 && bias->dim[0] == b->dim[1];
}

bool holo_recognize_hard_sixth(HoloRecognize *r)
{
    double alpha = get_float(r, "alpha", 0.2), beta = get_float(r, "beta", 0.5);
    return fabs(alpha - 1.0 / 6) < 1e-7 && beta == 0.5;
}

// ---- inserting the new nodes

// The replacement of the match. *out is NULL if it would have another type.
static HoloStatus make_body(HoloRecognize *r, const char *text, const HoloNode *last, HoloGraph **out, HoloValue ***in,
                            HoloError *error)
{
    HoloGraph     *graph   = r->rewrite.graph, *body;
    HoloError      ignored = {0};
    const HoloOp   op      = {.body = text};
    const HoloNode call    = {
           .op = &op, .name = last->name, .type = last->type, .attr = r->attr, .attr_count = r->attr_count};
    HOLO_TRY(holo_node_body(graph->arena, graph->dims, &call, &body, error));
    *in = HOLO_NEW(r->rewrite.scratch, HoloValue *, body->input_count);
    if (!*in) return holo_fail_memory(error);
    for (int i = 0; i < body->input_count; i++) {
        HoloValue *value = (*in)[i] = holo_recognize_find(r, body->inputs[i]->name);
        if (!value)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "the pattern of %s has no %s", body->name,
                             body->inputs[i]->name);
        body->inputs[i]->type      = value->type;
        body->inputs[i]->type.data = NULL;
        body->inputs[i]->contents  = value->contents;
    }
    HoloStatus status = holo_graph_infer(body, &ignored);
    if (status == HOLO_NO_MEMORY) return holo_fail_memory(error);
    *out = !status && holo_type_equal(&body->outputs[0]->type, &last->out[0]->type) ? body : NULL;
    return HOLO_OK;
}

// The last of the new nodes takes the names of the old one.
static HoloStatus put_in(HoloRecognize *r, HoloNode *node, const HoloGraph *body, HoloValue *const *in,
                         HoloError *error)
{
    HoloGraph *graph = r->rewrite.graph;
    HoloValue *old   = node->out[0];
    HOLO_TRY(holo_rewrite_inline(&r->rewrite, node, body, in, error));
    HoloValue *new = holo_rewrite_find(&r->rewrite, old);
    if (!new->producer) return HOLO_OK;
    new->producer->name = node->name;
    if (!r->rewrite.is_output[new->id]) holo_graph_swap_names(graph, old, new);
    return HOLO_OK;
}

static HoloStatus parse_pattern(HoloArena *arena, const char *text, HoloGraph **out, HoloError *error)
{
    HOLO_TRY(holo_graph_parse(arena, text, out, error));
    if ((*out)->value_count > HOLO_MATCH_VALUES || (*out)->output_count != 1)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the pattern %s is too large, or does not have exactly one output",
                         (*out)->name);
    return HOLO_OK;
}

static HoloStatus parse_others(HoloRecognize *r, HoloError *error)
{
    int count = 0;
    if (r->patterns.other) return HOLO_OK;
    while (holo_recognize_others[count]) count++;
    HoloGraph **others = HOLO_NEW(r->arena, HoloGraph *, count);
    if (!others) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) HOLO_TRY(parse_pattern(r->arena, holo_recognize_others[i], &others[i], error));
    r->patterns.other       = others;
    r->patterns.other_count = count;
    return HOLO_OK;
}

bool holo_recognize_may_end(const char *text, const HoloNode *node)
{
    const char *last = text;
    for (const char *at = text; (at = strstr(at, " = ")); last = at) at += 3;
    const char *colons = strstr(last, "::"), *end = strchr(last, '@');
    if (!strncmp(last, "any::", 5) || !end) return true;
    if (colons && colons < end) last = colons + 2;
    size_t      size = (size_t)(end - last);
    const char *also = HOLO_IS(node, Sum) ? holo_op_id_name(HOLO_ID_Add) : node->type; // a Sum of two may be an Add
    return (strlen(node->type) == size && !memcmp(node->type, last, size)) ||
           (strlen(also) == size && !memcmp(also, last, size));
}

// Patterns are parsed when a node comes that may be the last of them. Most models have few such.
static HoloStatus find_pattern(HoloRecognize *r, int row, const HoloNode *node, HoloError *error)
{
    const char *text = holo_recognize_table[row].before;
    if (r->before[row] || !holo_recognize_may_end(text, node)) return HOLO_OK;
    if (strstr(text, "any::")) HOLO_TRY(parse_others(r, error));
    return parse_pattern(r->arena, text, &r->before[row], error);
}

static HoloStatus recognize(HoloRecognize *r, HoloNode *node, HoloError *error)
{
    if (!node->out_count || !node->out[0]) return HOLO_OK;
    if (holo_dtype_class(node->out[0]->type.dtype) != HOLO_CLASS_FLOAT) return HOLO_OK; // integers round in between
    for (int i = 0; holo_recognize_table[i].before; i++) {
        const HoloRecognizeRow *row = &holo_recognize_table[i];
        HoloGraph              *body;
        HoloValue             **in;
        HOLO_TRY(find_pattern(r, i, node, error));
        if (!r->before[i] || !holo_match(&r->match, &r->patterns, r->before[i], node)) continue;
        r->made_count = 0;
        if (!collect_attrs(r)) return holo_fail_memory(error);
        bool fits = !row->fits || row->fits(r);
        if (r->failed) return holo_fail_memory(error);
        if (!fits) continue;
        HOLO_TRY(make_body(r, row->after, node, &body, &in, error));
        if (body) return put_in(r, node, body, in, error);
    }
    return HOLO_OK;
}

// ---- the pass

// The next walk visits the new nodes.
static HoloStatus walk(HoloRecognize *r, HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HOLO_TRY(holo_rewrite_begin(&r->rewrite, graph, scratch, changes, error));
    r->patterns.uses      = holo_graph_uses(graph, scratch);
    r->patterns.use_count = graph->value_count;
    if (!r->patterns.uses) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&r->rewrite); i++) {
        holo_rewrite_inputs(&r->rewrite, graph->nodes[i]);
        HOLO_TRY(recognize(r, graph->nodes[i], error));
    }
    return holo_rewrite_end(&r->rewrite, error);
}

HoloStatus holo_pass_recognize(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    if (graph->node_count < 2) return HOLO_OK;
    int            rows = 0;
    HoloRecognize *r    = HOLO_NEW(scratch, HoloRecognize, 1);
    while (holo_recognize_table[rows].before) rows++;
    if (r) r->before = HOLO_NEW(scratch, HoloGraph *, rows);
    if (!r || !r->before) return holo_fail_memory(error);
    r->arena = scratch;
    for (int round = 0, before = -1; round < ROUNDS && changes->count != before; round++) {
        before = changes->count;
        HOLO_TRY(walk(r, graph, scratch, changes, error));
    }
    return HOLO_OK;
}
