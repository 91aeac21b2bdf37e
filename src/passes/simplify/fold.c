// fold.c - computes in advance what can be computed: nodes whose inputs are all constants, values whose contents are
// known numbers, and the choice of an If whose condition is known.
//
// Random operators are never folded. A result is not kept if it is large and larger than its inputs (ConstantOfShape,
// Expand, or a widened weight, which is left to widen.c). It is not computed if that would take long. A Loop or Scan is
// computed if the number of its turns and all sizes in its body are known and small. All results together may take
// fold_room bytes.
#include "passes/rewrite.h"

#include <math.h>

enum {
    GROWTH_FREE = 64 << 10, // bytes: results up to this size may be larger than their inputs
    WORK_MAX    = 4 << 20,  // elements: inputs of operators that do more than one thing per element
};

// ---- what control flow costs

static double graph_work(const HoloGraph *graph, int depth);

static double elements_of(const HoloValue *value)
{
    if (!value) return 0;
    int64_t count = value->type.kind == HOLO_TENSOR ? holo_tensor_count(&value->type) : -1;
    return count < 0 ? INFINITY : (double)count;
}

static double node_elements(HoloValue *const *value, int count)
{
    double elements = 0;
    for (int i = 0; i < count; i++) elements += elements_of(value[i]);
    return elements;
}

// The most turns there can be: the first input of a Loop, or a size of what a Scan scans.
static double turns_of(const HoloNode *node)
{
    const HoloValue *trips = node->in_count > node->capture_count ? node->in[0] : NULL;
    double           most  = 0;
    if (HOLO_IS(node, Loop))
        return trips && holo_contents_are_numbers(trips) && holo_tensor_count(&trips->type) == 1
                   ? (double)trips->contents[0]
                   : INFINITY;
    if (!HOLO_IS(node, Scan)) return 1;
    for (int i = 0; i < node->in_count - node->capture_count; i++) most = fmax(most, elements_of(node->in[i]));
    return most;
}

// About how many elementary steps a node takes at most, including its subgraphs. Infinite: not known, or it must not be
// computed in advance. Every node costs something, however small its values are.
static double node_work(const HoloNode *node, int depth)
{
    enum { NODE = 16 };
    const HoloOp *op = node->op;
    if (!op || op->flags & HOLO_OP_RANDOM || !(op->eval || op->body)) return INFINITY;
    double in = node_elements(node->in, node->in_count), out = node_elements(node->out, node->out_count);
    double work = op->flags & (HOLO_OP_MOVES | HOLO_OP_VIEW | HOLO_OP_POINTWISE) ? in + out : (in + 1) * (out + 1);
    if (!(op->flags & HOLO_OP_CONTROL)) return NODE + work;
    double bodies = 0;
    for (int i = 0; i < node->attr_count; i++)
        if (node->attr[i].kind == HOLO_ATTR_GRAPH) bodies += graph_work(node->attr[i].graph, depth + 1);
    return NODE + in + out + fmax(turns_of(node), 0) * bodies;
}

static double graph_work(const HoloGraph *graph, int depth)
{
    enum { DEPTH_MAX = 8 };
    double work = 1;
    if (depth > DEPTH_MAX) return INFINITY;
    for (int i = 0; i < graph->node_count && work <= WORK_MAX; i++) work += node_work(graph->nodes[i], depth);
    return work;
}

// ---- constants

static bool is_foldable(const HoloNode *node)
{
    const HoloOp *op = node->op;
    if (!op || !op->eval || op->flags & HOLO_OP_RANDOM) return false;
    if (op->flags & HOLO_OP_CONTROL && !(node_work(node, 0) <= WORK_MAX)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !node->in[i]->is_constant) return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && node->out[i]->type.kind != HOLO_TENSOR) return false;
    return true;
}

static bool holds_its_result(const HoloNode *node)
{
    return HOLO_IS(node, Constant) && !holo_node_attr(node, "sparse_value");
}

static size_t bytes_in(const HoloNode *node)
{
    if (holds_its_result(node)) return SIZE_MAX;
    size_t total = 0;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i]) total += holo_tensor_bytes(&node->in[i]->type);
    return total;
}

// Bytes of the elements, and of the texts that they are.
static uint64_t bytes_of(const HoloTensor *t)
{
    uint64_t          bytes = holo_tensor_bytes(t);
    const HoloString *text  = t->dtype == HOLO_STRING ? t->data : NULL;
    for (int64_t i = 0, count = text ? holo_tensor_count(t) : 0; i < count; i++) bytes += text[i].size;
    return bytes;
}

// Takes the room that the results need. What is computed in vain counts, too, or it would be tried again and again.
static bool room_take(HoloRewrite *rewrite, const HoloNode *node, HoloTensor *const *out, bool is_done)
{
    uint64_t bytes = 0, *room = &rewrite->all->fold_room;
    for (int i = 0; i < node->out_count && is_done; i++)
        if (out[i]) bytes += bytes_of(out[i]);
    if (holds_its_result(node)) { // the model has it: it is another of its constants
        if (is_done && *room < UINT64_MAX / 2 && bytes < UINT64_MAX / 4 / HOLO_FOLD_GROWTH)
            *room += bytes * HOLO_FOLD_GROWTH;
        return true;
    }
    bool fits = is_done && bytes <= *room;
    *room     = fits ? *room - bytes : *room / 2;
    return fits;
}

// Is it known in advance that folding is worth it? It is if only evaluation finds the size (NonZero).
static HoloVerdict is_worth_it(const HoloNode *node, const HoloChanges *all)
{
    int64_t elements = 0;
    size_t  limit    = bytes_in(node);
    if (all->is_wide && HOLO_IS(node, Cast) && limit < SIZE_MAX / 2) limit *= 2;
    if (limit < GROWTH_FREE) limit = GROWTH_FREE;
    if (limit > all->fold_room && !holds_its_result(node)) limit = all->fold_room;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i]) elements += holo_tensor_count(&node->in[i]->type);
    uint32_t cheap = HOLO_OP_MOVES | HOLO_OP_VIEW | HOLO_OP_POINTWISE;
    if (!(node->op->flags & cheap) && elements > WORK_MAX) return HOLO_VERDICT_TOO_LONG;
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i]) continue;
        const HoloTensor *t        = &node->out[i]->type;
        int64_t           count    = 1;
        bool              is_known = t->rank >= 0;
        for (int k = 0; k < t->rank && is_known; k++) is_known = t->dim[k] >= 0 && holo_mul(count, t->dim[k], &count);
        if (!is_known && !(node->op->flags & HOLO_OP_DYNAMIC)) return HOLO_VERDICT_NOT_ALONE;
        if (is_known && (uint64_t)count > limit / (holo_dtype_size(t->dtype) ? holo_dtype_size(t->dtype) : 1))
            return HOLO_VERDICT_OVER_BUDGET;
    }
    return HOLO_VERDICT_MADE;
}

static void note(const HoloRewrite *rewrite, const HoloNode *node, HoloVerdict verdict)
{
    static const char *const why[] = {
        [HOLO_VERDICT_MADE]        = "everything it depends on is known: it is computed while compiling",
        [HOLO_VERDICT_TOO_LONG]    = "it is known, but computing it in advance would take too long",
        [HOLO_VERDICT_NOT_ALONE]   = "its size is not known before the run",
        [HOLO_VERDICT_OVER_BUDGET] = "it is known, but would be much larger than its inputs",
    };
    HoloNote n = {.pass = "fold", .what = node->type, .why = why[verdict], .verdict = verdict};
    if (verdict != HOLO_VERDICT_MADE && node->out_count && node->out[0]) n.place = node->out[0]->name;
    if (verdict == HOLO_VERDICT_OVER_BUDGET) n.bytes = holo_tensor_bytes(&node->out[0]->type);
    holo_notes_add(rewrite->all->notes, &n);
}

static HoloStatus replace_by_constant(HoloRewrite *rewrite, HoloValue *value, const HoloTensor *tensor,
                                      HoloError *error)
{
    HoloValue *constant = holo_rewrite_new(rewrite, value);
    if (!constant) return holo_fail_memory(error);
    constant->type        = *tensor;
    constant->is_constant = true;
    return HOLO_OK;
}

// The results, in the graph's memory. False: the node fails, or there is no room for them.
static bool result_make(HoloRewrite *rewrite, const HoloNode *node, const HoloTensor *const *in, HoloTensor *const *out)
{
    enum { BLOCK = 16 << 20 }; // what the arena takes at once
    HoloArena    *arena = rewrite->graph->arena;
    HoloArenaMark mark  = holo_arena_mark(arena);
    uint64_t      room = rewrite->all->fold_room, held = arena->total;
    bool          is_limited = !holds_its_result(node) && room < SIZE_MAX / 4;
    if (is_limited) arena->most = held + room + BLOCK;
    HoloStatus status = holo_node_eval(node, in, out, arena, NULL);
    arena->most       = 0;
    bool fails        = status && !(is_limited && status == HOLO_NO_MEMORY);
    if (!fails && room_take(rewrite, node, out, !status)) return true;
    holo_arena_reset(arena, mark);
    return false;
}

static HoloStatus fold_node(HoloRewrite *rewrite, const HoloNode *node, HoloError *error)
{
    HoloArena            *scratch = rewrite->scratch;
    HoloTensor           *result  = HOLO_NEW(scratch, HoloTensor, node->out_count);
    HoloTensor          **out     = HOLO_NEW(scratch, HoloTensor *, node->out_count);
    const HoloTensor    **in      = HOLO_NEW(scratch, const HoloTensor *, node->in_count);
    HoloTensor           *given   = HOLO_NEW(scratch, HoloTensor, node->in_count);
    static const uint64_t no_elements[2];
    if (!result || !out || !in || !given) return holo_fail_memory(error);
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i]) continue;
        given[i] = node->in[i]->type;
        if (!given[i].data) given[i].data = (void *)no_elements;
        in[i] = &given[i];
    }
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) out[i] = &result[i];
    // A node that fails here also fails in a run, where it may never be reached. So a failure is no error.
    if (!result_make(rewrite, node, in, out)) return HOLO_OK;
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i]) continue;
        if (out[i]->kind != HOLO_TENSOR || holo_tensor_count(out[i]) < 0) return HOLO_OK;
    }
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) HOLO_TRY(replace_by_constant(rewrite, node->out[i], out[i], error));
    return HOLO_OK;
}

// A view of a constant is a constant with the same bytes.
static bool is_view_of_constant(const HoloNode *node)
{
    if (!node->op || !(node->op->flags & HOLO_OP_VIEW) || !node->in_count || !node->in[0] || !node->in[0]->is_constant)
        return false;
    if (node->out_count != 1 || !node->out[0]) return false;
    const HoloTensor *from = &node->in[0]->type, *to = &node->out[0]->type;
    return from->kind == HOLO_TENSOR && to->kind == HOLO_TENSOR && from->dtype == to->dtype &&
           holo_tensor_count(to) == holo_tensor_count(from) && holo_tensor_count(to) >= 0;
}

static HoloStatus fold_view(HoloRewrite *rewrite, const HoloNode *node, HoloError *error)
{
    HoloTensor t = node->out[0]->type;
    t.data       = node->in[0]->type.data;
    return replace_by_constant(rewrite, node->out[0], &t, error);
}

static HoloStatus fold_contents(HoloRewrite *rewrite, HoloValue *value, HoloError *error)
{
    HoloTensor t     = value->type;
    int64_t    count = holo_tensor_count(&t);
    t.data           = holo_arena_take(rewrite->graph->arena, holo_tensor_bytes(&t));
    if (!t.data) return holo_fail_memory(error);
    if (count) holo_write_i(&t, 0, 1, count, value->contents);
    return replace_by_constant(rewrite, value, &t, error);
}

// ---- branches

// Replaces an If with a known condition by the nodes of its branch.
static HoloStatus fold_if(HoloRewrite *rewrite, HoloNode *node, HoloError *error)
{
    const HoloValue *condition = node->in_count ? node->in[0] : NULL;
    if (!condition || !holo_contents_are_numbers(condition) || holo_tensor_count(&condition->type) != 1) return HOLO_OK;
    const HoloAttr *attr = holo_node_attr(node, condition->contents[0] ? "then_branch" : "else_branch");
    if (!attr || attr->kind != HOLO_ATTR_GRAPH) return HOLO_OK;
    const HoloGraph *body = attr->graph;
    if (body->input_count != node->capture_count || body->output_count < node->out_count) return HOLO_OK;
    return holo_rewrite_inline(rewrite, node, body, node->in + node->in_count - node->capture_count, error);
}

static HoloStatus fold_any(HoloRewrite *rewrite, HoloNode *node, HoloError *error)
{
    holo_rewrite_inputs(rewrite, node);
    if (HOLO_IS(node, If)) return fold_if(rewrite, node, error);
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && holo_contents_are_numbers(node->out[i]))
            HOLO_TRY(fold_contents(rewrite, node->out[i], error));
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && holo_rewrite_find(rewrite, node->out[i]) != node->out[i]) return HOLO_OK;
    if (is_view_of_constant(node)) return fold_view(rewrite, node, error);
    if (!is_foldable(node)) return HOLO_OK;
    HoloVerdict verdict = is_worth_it(node, rewrite->all);
    if (verdict == HOLO_VERDICT_MADE) return fold_node(rewrite, node, error);
    note(rewrite, node, verdict);
    return HOLO_OK;
}

static HoloStatus fold(HoloRewrite *rewrite, HoloNode *node, HoloError *error)
{
    int before = rewrite->changes;
    HOLO_TRY(fold_any(rewrite, node, error));
    if (rewrite->changes != before) note(rewrite, node, HOLO_VERDICT_MADE);
    return HOLO_OK;
}

HoloStatus holo_pass_fold(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    int count = graph->node_count; // nodes of inlined branches come after these; the next round visits them
    for (int i = 0; i < count && holo_rewrite_more(&rewrite); i++) HOLO_TRY(fold(&rewrite, graph->nodes[i], error));
    return holo_rewrite_end(&rewrite, error);
}
