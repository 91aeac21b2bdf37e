// input_ranges.c - what the nodes of a graph say about the numbers that its inputs may have.
//
// It walks from the last node to the first. The table below says which operators take indices, lengths or shapes.
// Operators that only move or convert numbers pass on what their readers say; sums and products with constants shift
// and scale it. This only helps to make up inputs: what it misses is found by trying.
#include "verify/input_ranges.h"

#include "graph/facts.h"

#include <math.h>

enum { DEPTH_MAX = 16 };

static HoloInputRange within(HoloRole role, double low, double high)
{
    return (HoloInputRange){role, low, high < low ? low : high, NULL};
}

static const HoloInputRange nothing = {HOLO_ROLE_ANY, 0, 0, NULL};

// Dimension d of an input, counted from the end if negative; -1: not known.
static int64_t size_of(const HoloNode *node, int input, int64_t d)
{
    const HoloValue *v    = holo_node_in(node, input);
    int64_t          rank = v ? v->type.rank : -1;
    if (d < 0) d += rank;
    if (rank < 0 || d < 0 || d >= rank || v->type.kind != HOLO_TENSOR) return -1;
    return holo_dim_is_symbolic(v->type.dim[d]) ? -1 : v->type.dim[d];
}

static HoloInputRange index_into(int64_t size)
{
    return size > 0 ? within(HOLO_ROLE_INDEX, 0, (double)size - 1) : nothing;
}

static HoloInputRange length_of(int64_t size)
{
    return size > 0 ? within(HOLO_ROLE_LENGTH, 1, (double)size) : nothing;
}

// ---- what operators take

static HoloInputRange of_axis(const HoloNode *node, int input)
{
    (void)input;
    return index_into(size_of(node, 0, holo_node_int(node, "axis", 0)));
}

// An index into several dimensions: numbers that are valid for each.
static HoloInputRange of_points(const HoloNode *node, int input)
{
    int64_t batch = holo_node_int(node, "batch_dims", 0), count = size_of(node, input, -1), least = -1;
    for (int64_t d = batch; d < batch + count; d++) {
        int64_t size = size_of(node, 0, d);
        if (size >= 0 && (least < 0 || size < least)) least = size;
    }
    return index_into(least);
}

static HoloInputRange of_depth(const HoloNode *node, int input)
{
    double depth;
    (void)input;
    return node->in_count > 1 && node->in[1] && holo_value_number(node->in[1], &depth) ? index_into((int64_t)depth)
                                                                                       : nothing;
}

static HoloInputRange of_sequence(const HoloNode *node, int input)
{
    (void)input;
    return length_of(size_of(node, 0, holo_node_int(node, "layout", 0) ? 1 : 0));
}

static HoloInputRange of_time(const HoloNode *node, int input)
{
    (void)input;
    return length_of(size_of(node, 0, holo_node_int(node, "time_axis", 0)));
}

// A mask, or a length for each row of the batch.
static HoloInputRange of_padding(const HoloNode *node, int input)
{
    const HoloTensor *t = &node->in[input]->type;
    return t->rank == 1 ? length_of(size_of(node, 0, 1)) : within(HOLO_ROLE_MASK, 0, 1);
}

// Embeddings of tokens and segments, whose tables are two inputs later, and of positions.
static HoloInputRange of_table(const HoloNode *node, int input)
{
    return index_into(size_of(node, input == 8 ? 3 : input == 1 ? 4 : 2, 0));
}

static HoloInputRange of_angles(const HoloNode *node, int input)
{
    return index_into(size_of(node, input == 1 ? 2 : 1, 0));
}

static int64_t keys_of(const HoloNode *node)
{
    int64_t past = size_of(node, 3, 2), fresh = size_of(node, 0, 1);
    return fresh < 0 ? -1 : fresh + (past > 0 ? past : 0);
}

static HoloInputRange of_last_key(const HoloNode *node, int input)
{
    int64_t keys = keys_of(node) - (input == 5);
    return keys >= 0 ? within(HOLO_ROLE_INDEX, (double)keys, (double)keys) : nothing;
}

static HoloInputRange of_count(const HoloNode *node, int input)
{
    (void)input;
    return length_of(size_of(node, 0, holo_node_int(node, "axis", -1)));
}

static HoloInputRange of_target(const HoloNode *node, int input)
{
    return (HoloInputRange){HOLO_ROLE_SHAPE, 0, 0, &node->in[input ? 0 : 1]->type};
}

static HoloInputRange of_sizes(const HoloNode *node, int input)
{
    (void)input;
    return (HoloInputRange){HOLO_ROLE_SIZES, 1, 1, &node->in[0]->type};
}

static HoloInputRange of_zero(const HoloNode *node, int input)
{
    (void)node, (void)input;
    return within(HOLO_ROLE_INDEX, 0, 0);
}

static HoloInputRange of_one(const HoloNode *node, int input)
{
    (void)node, (void)input;
    return within(HOLO_ROLE_INDEX, 1, 1);
}

static HoloInputRange of_few(const HoloNode *node, int input)
{
    (void)node, (void)input;
    return within(HOLO_ROLE_INDEX, 2, 6);
}

static HoloInputRange of_mask(const HoloNode *node, int input)
{
    (void)node, (void)input;
    return within(HOLO_ROLE_MASK, 0, 1);
}

static HoloInputRange of_cast(const HoloNode *node, int input)
{
    return holo_node_int(node, "to", 0) == HOLO_BOOL ? of_mask(node, input) : nothing;
}

// 1 - mask.
static HoloInputRange of_difference(const HoloNode *node, int input)
{
    double number;
    return input == 1 && node->in[0] && holo_value_number(node->in[0], &number) && number == 1 ? of_mask(node, input)
                                                                                               : nothing;
}

// A length compared with the positions that it limits.
static HoloInputRange of_comparison(const HoloNode *node, int input)
{
    double           number;
    const HoloValue *other = holo_node_in(node, !input);
    int64_t          size  = size_of(node, !input, -1);
    if (!other || holo_value_number(other, &number)) return nothing;
    return size > 1 && size_of(node, input, -1) <= 1 ? length_of(size) : nothing;
}

// One number that is asked for by its value, such as a sampling rate: the value itself. Small ones are kinds or marks, and tokens
// have more dimensions.
static HoloInputRange of_equality(const HoloNode *node, int input)
{
    double           number;
    const HoloValue *other = holo_node_in(node, !input);
    const HoloTensor own   = node->in[input]->type;
    if (!other || own.rank < 0 || own.rank > 1 || holo_tensor_count(&own) != 1) return nothing;
    return holo_value_number(other, &number) && number > 1 ? within(HOLO_ROLE_INDEX, number, number) : nothing;
}

static const struct {
    HoloOpId id;
    int      input;
    HoloInputRange (*range)(const HoloNode *node, int input);
} takers[] = {
    {HOLO_ID_Gather, 1, of_axis},
    {HOLO_ID_GatherElements, 1, of_axis},
    {HOLO_ID_Scatter, 1, of_axis},
    {HOLO_ID_ScatterElements, 1, of_axis},
    {HOLO_ID_GatherND, 1, of_points},
    {HOLO_ID_ScatterND, 1, of_points},
    {HOLO_ID_OneHot, 0, of_depth},
    {HOLO_ID_MICROSOFT_GatherBlockQuantized, 1, of_axis},
    {HOLO_ID_MICROSOFT_EmbedLayerNormalization, 0, of_table},
    {HOLO_ID_MICROSOFT_EmbedLayerNormalization, 1, of_table},
    {HOLO_ID_MICROSOFT_EmbedLayerNormalization, 7, of_padding},
    {HOLO_ID_MICROSOFT_EmbedLayerNormalization, 8, of_table},
    {HOLO_ID_MICROSOFT_RotaryEmbedding, 1, of_angles},
    {HOLO_ID_RotaryEmbedding, 3, of_angles},
    {HOLO_ID_RNN, 4, of_sequence},
    {HOLO_ID_GRU, 4, of_sequence},
    {HOLO_ID_LSTM, 4, of_sequence},
    {HOLO_ID_ReverseSequence, 1, of_time},
    {HOLO_ID_MICROSOFT_Attention, 3, of_padding},
    {HOLO_ID_MICROSOFT_MultiHeadAttention, 4, of_padding},
    {HOLO_ID_MICROSOFT_GroupQueryAttention, 5, of_last_key},
    {HOLO_ID_MICROSOFT_GroupQueryAttention, 6, of_last_key},
    {HOLO_ID_TopK, 1, of_count},
    {HOLO_ID_Reshape, 1, of_target},
    {HOLO_ID_Resize, 3, of_sizes},
    {HOLO_ID_Expand, 1, of_one},
    {HOLO_ID_Tile, 1, of_one},
    {HOLO_ID_ConstantOfShape, 0, of_few},
    {HOLO_ID_Loop, 0, of_few},
    {HOLO_ID_Range, 0, of_zero},
    {HOLO_ID_Range, 1, of_few},
    {HOLO_ID_Range, 2, of_one},
    {HOLO_ID_Slice, 1, of_zero},
    {HOLO_ID_Slice, 2, of_one},
    {HOLO_ID_Slice, 3, of_zero},
    {HOLO_ID_Slice, 4, of_one},
    {HOLO_ID_Pad, 1, of_zero},
    {HOLO_ID_Trilu, 1, of_zero},
    {HOLO_ID_CumSum, 1, of_zero},
    {HOLO_ID_SequenceAt, 1, of_zero},
    {HOLO_ID_SequenceErase, 1, of_zero},
    {HOLO_ID_SequenceInsert, 2, of_zero},
    {HOLO_ID_NonMaxSuppression, 2, of_few},
    {HOLO_ID_Cast, 0, of_cast},
    {HOLO_ID_Sub, 1, of_difference},
    {HOLO_ID_Equal, 0, of_equality},
    {HOLO_ID_Equal, 1, of_equality},
    {HOLO_ID_Less, 0, of_comparison},
    {HOLO_ID_Less, 1, of_comparison},
    {HOLO_ID_LessOrEqual, 0, of_comparison},
    {HOLO_ID_LessOrEqual, 1, of_comparison},
    {HOLO_ID_Greater, 0, of_comparison},
    {HOLO_ID_Greater, 1, of_comparison},
    {HOLO_ID_GreaterOrEqual, 0, of_comparison},
    {HOLO_ID_GreaterOrEqual, 1, of_comparison},
};

// ---- what is handed on

static HoloInputRange moved(const HoloNode *node, int input, HoloInputRange r)
{
    (void)node, (void)input;
    return r;
}

// A sum or difference with a constant. If there are two unknown numbers, each gets half.
static HoloInputRange shifted(const HoloNode *node, int input, HoloInputRange r)
{
    double           by, sign = HOLO_IS(node, Sub) ? -1 : 1;
    const HoloValue *other = holo_node_in(node, !input);
    if (!other || r.role == HOLO_ROLE_MASK) return nothing;
    if (!holo_value_number(other, &by)) return sign < 0 ? nothing : within(r.role, 0, floor(r.high / 2));
    if (sign < 0 && input == 1) return within(r.role, by - r.high, by - r.low);
    double high = r.high - sign * by; // below 0 only if nothing else is possible
    return within(r.role, high < 0 ? r.low - sign * by : fmax(r.low - sign * by, 0), high);
}

static HoloInputRange scaled(const HoloNode *node, int input, HoloInputRange r)
{
    double           by;
    const HoloValue *other = holo_node_in(node, !input);
    bool             down  = HOLO_IS(node, Div);
    if (!other || !holo_value_number(other, &by) || !(by > 0) || (down && input)) return nothing;
    if (r.role == HOLO_ROLE_MASK) return r;
    return down ? within(r.role, r.low * by, r.high * by) : within(r.role, r.low / by, r.high / by);
}

// Sums of as many numbers as there are along an axis, or in all.
static HoloInputRange summed(const HoloNode *node, int input, HoloInputRange r)
{
    const HoloTensor *t     = &node->in[0]->type;
    double            count = 1;
    if (input || t->rank < 0) return nothing;
    for (int d = 0; d < t->rank; d++)
        if (!holo_dim_is_symbolic(t->dim[d]) && (double)t->dim[d] > count) count = (double)t->dim[d];
    return within(r.high / count < 2 ? HOLO_ROLE_MASK : r.role, 0, fmax(floor(r.high / count), 1));
}

static const struct {
    HoloOpId id;
    unsigned inputs; // bit i: input i
    HoloInputRange (*hand)(const HoloNode *node, int input, HoloInputRange r);
} movers[] = {
    {HOLO_ID_Cast, 1, moved},      {HOLO_ID_Where, 6, moved},    {HOLO_ID_Min, 3, moved},
    {HOLO_ID_Max, 3, moved},       {HOLO_ID_Floor, 1, moved},    {HOLO_ID_Ceil, 1, moved},
    {HOLO_ID_Round, 1, moved},     {HOLO_ID_Relu, 1, moved},     {HOLO_ID_Abs, 1, moved},
    {HOLO_ID_Add, 3, shifted},     {HOLO_ID_Sub, 3, shifted},    {HOLO_ID_Mul, 3, scaled},
    {HOLO_ID_Div, 1, scaled},      {HOLO_ID_CumSum, 1, summed},  {HOLO_ID_ReduceSum, 1, summed},
    {HOLO_ID_ReduceMax, 1, moved}, {HOLO_ID_GatherND, 1, moved}, {HOLO_ID_GatherElements, 1, moved},
    {HOLO_ID_CastLike, 1, moved},
};

static HoloInputRange handed(const HoloNode *node, int input, HoloInputRange r)
{
    if (r.role == HOLO_ROLE_ANY) return nothing;
    for (int i = 0; i < HOLO_COUNT(movers); i++)
        if (node->op_id == movers[i].id)
            return input < 32 && movers[i].inputs >> input & 1 ? movers[i].hand(node, input, r) : nothing;
    uint32_t flags = node->op ? node->op->flags : 0;
    bool     moves = (flags & HOLO_OP_MOVES_ALL) == HOLO_OP_MOVES_ALL || (flags & HOLO_OP_MOVES && input == 0);
    return moves ? r : nothing;
}

// ---- the walk

// Combines two statements about a value: the narrower one counts, and one that says more than a mask.
static void meet(HoloInputRange *a, HoloInputRange b)
{
    if (b.role == HOLO_ROLE_ANY) return;
    bool is_first = a->role == HOLO_ROLE_ANY, both = a->role <= HOLO_ROLE_LENGTH && b.role <= HOLO_ROLE_LENGTH;
    if (is_first || (a->role == HOLO_ROLE_MASK && b.role != HOLO_ROLE_MASK && b.high < 1)) {
        *a = b;
    } else if (both) {
        a->low  = fmax(a->low, b.low);
        a->high = fmax(fmin(a->high, b.high), a->low);
    } else if (b.role == HOLO_ROLE_MASK && a->role <= HOLO_ROLE_LENGTH && a->high >= 1) {
        *a = b;
    }
}

static HoloInputRange *graph_ranges(const HoloGraph *graph, HoloArena *arena, int depth);

// What the body of a node says about its inputs: those that it captures and those that a loop carries.
static bool body_meet(const HoloNode *node, const HoloGraph *body, HoloInputRange *range, HoloArena *arena, int depth)
{
    HoloInputRange *inner = graph_ranges(body, arena, depth + 1);
    if (!inner) return false;
    bool is_loop = HOLO_IS(node, Loop) || HOLO_IS(node, Scan);
    for (int i = 0; i < node->in_count; i++) {
        int from_end = node->in_count - i;
        int at       = from_end <= node->capture_count ? body->input_count - from_end : is_loop ? i : -1;
        if (at < 0 || at >= body->input_count || !node->in[i] || (HOLO_IS(node, Loop) && i < 2)) continue;
        meet(&range[node->in[i]->id], inner[body->inputs[at]->id]);
    }
    return true;
}

static bool node_meet(const HoloNode *node, HoloInputRange *range, HoloArena *arena, int depth)
{
    for (int i = 0; i < HOLO_COUNT(takers); i++) {
        int input = takers[i].input;
        if (node->op_id != takers[i].id) continue;
        if (input < node->in_count && node->in[input] && node->in[0])
            meet(&range[node->in[input]->id], takers[i].range(node, input));
    }
    for (int k = 0; k < node->in_count; k++)
        for (int o = 0; o < node->out_count && node->in[k]; o++)
            if (node->out[o]) meet(&range[node->in[k]->id], handed(node, k, range[node->out[o]->id]));
    for (int a = 0; a < node->attr_count; a++) {
        const HoloGraph *body = node->attr[a].kind == HOLO_ATTR_GRAPH ? node->attr[a].graph : NULL;
        if (body && depth < DEPTH_MAX && !body_meet(node, body, range, arena, depth)) return false;
    }
    return true;
}

static HoloInputRange *graph_ranges(const HoloGraph *graph, HoloArena *arena, int depth)
{
    HoloInputRange *range = HOLO_NEW(arena, HoloInputRange, graph->value_count + 1);
    for (int i = graph->node_count; range && i-- > 0;)
        if (!node_meet(graph->nodes[i], range, arena, depth)) return NULL;
    return range;
}

HoloInputRange *holo_ranges_find(const HoloGraph *sized, HoloArena *arena)
{
    HoloInputRange *all = graph_ranges(sized, arena, 0), *out = HOLO_NEW(arena, HoloInputRange, sized->input_count + 1);
    if (!all || !out) return NULL;
    for (int i = 0; i < sized->input_count; i++) out[i] = all[sized->inputs[i]->id];
    return out;
}
