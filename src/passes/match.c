// match.c - finds patterns. See match.h.
//
// If there is a choice (the order of a sum, one of several forms), the first way is taken. If the match fails, it
// starts again: the last choice that has another way takes it, and all later choices are forgotten. So all ways are
// tried, and a way is given up at the first node that does not fit.
#include "passes/match.h"
#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

static bool match_value(HoloMatch *m, int at, const HoloValue *pattern, HoloValue *value);

// Chooses one of `count` ways.
static int choose(HoloMatch *m, int count)
{
    if (m->choice_next == HOLO_MATCH_CHOICES) return 0;
    if (m->choice_next == m->choice_count) {
        m->choice[m->choice_count]      = 0;
        m->choice_of[m->choice_count++] = (uint8_t)count;
    }
    return m->choice[m->choice_next++];
}

static bool choose_otherwise(HoloMatch *m)
{
    m->choice_count = m->choice_next;
    while (m->choice_count && m->choice[m->choice_count - 1] + 1 == m->choice_of[m->choice_count - 1])
        m->choice_count--;
    if (!m->choice_count) return false;
    m->choice[m->choice_count - 1]++;
    return true;
}

// ---- numbers and attributes

static bool is_near(double a, double b, HoloDtype dtype)
{
    double tolerance = dtype == HOLO_F64 ? 1e-14 : dtype == HOLO_F16 ? 1e-3 : dtype == HOLO_BF16 ? 8e-3 : 1e-6;
    return fabs(a - b) <= tolerance * fabs(b);
}

static bool match_constant(const HoloValue *pattern, const HoloValue *value)
{
    double x;
    return holo_value_number(value, &x) && is_near(x, holo_get_f(&pattern->type, 0), (HoloDtype)value->type.dtype);
}

static bool match_attrs(const HoloNode *pattern, const HoloNode *node)
{
    for (int i = 0; i < pattern->attr_count; i++) {
        const HoloAttr *want = &pattern->attr[i], *have = holo_node_attr(node, want->name);
        bool            is_float = have && want->kind == HOLO_ATTR_FLOAT && have->kind == HOLO_ATTR_FLOAT;
        if (is_float ? !is_near(have->f, want->f, HOLO_F32) : !have || !holo_attr_equal(have, want)) return false;
    }
    return true;
}

// ---- nodes

static bool is_reduction(const HoloNode *node)
{
    return holo_node_has(node, HOLO_OP_REDUCES);
}

static bool find_axes(const HoloNode *node, int64_t *axes, int *count)
{
    const HoloAttr  *attr  = holo_node_attr(node, "axes");
    const HoloValue *value = node->in_count > 1 ? node->in[1] : NULL;
    int64_t          n     = attr ? attr->count : value ? holo_tensor_count(&value->type) : 0;
    if (attr ? attr->kind != HOLO_ATTR_INTS : !value || !holo_contents_are_numbers(value)) return false;
    if (n < 1 || n > HOLO_MAX_RANK) return false;
    memcpy(axes, attr ? attr->ints : value->contents, (size_t)n * sizeof *axes);
    *count = (int)n;
    return true;
}

static bool match_axes(HoloMatch *m, const HoloNode *node)
{
    const HoloAttr *keep = holo_node_attr(node, "keepdims");
    int             rank = node->in[0]->type.rank, count;
    int64_t         axes[HOLO_MAX_RANK];
    uint32_t        bits = 0;
    if ((keep && keep->i != 1) || rank < 1 || !find_axes(node, axes, &count)) return false;
    for (int i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < 0 || axis >= rank) return false;
        bits |= UINT32_C(1) << axis;
    }
    if (m->axes_rank && (m->axes_rank != rank || m->axes != bits)) return false;
    m->axes      = bits;
    m->axes_rank = rank;
    return true;
}

static bool match_inputs(HoloMatch *m, int at, const HoloNode *pattern, HoloNode *node)
{
    bool is_reduced = is_reduction(node);
    int  count      = is_reduced ? 1 : pattern->in_count > node->in_count ? pattern->in_count : node->in_count;
    int  swap       = count == 2 && holo_node_has(node, HOLO_OP_COMMUTES) ? choose(m, 2) : 0;
    for (int i = 0; i < count; i++) {
        const HoloValue *want = holo_node_in(pattern, i), *have = holo_node_in(node, i ^ swap);
        if (!want || !have ? want != have : !match_value(m, at, want, node->in[i ^ swap])) return false;
    }
    return !is_reduced || match_axes(m, node);
}

static bool is_float(const HoloValue *value)
{
    return value && holo_dtype_class(value->type.dtype) == HOLO_CLASS_FLOAT;
}

// Is the node of the pattern's operator? If the pattern does not say what a Cast casts to, it is any Cast between
// floats.
static bool is_of(const HoloNode *node, const HoloNode *pattern)
{
    if (node->version < pattern->version) return false;
    bool widens = is_float(node->in_count ? node->in[0] : NULL) && is_float(node->out_count ? node->out[0] : NULL);
    if (HOLO_IS(node, Cast) && !pattern->attr_count && !widens) return false;
    return holo_node_same_kind(node, pattern) || (HOLO_IS(node, Sum) && node->in_count == 2 && HOLO_IS(pattern, Add));
}

static bool match_node(HoloMatch *m, int at, const HoloNode *pattern, HoloNode *node)
{
    if (!node || !is_of(node, pattern) || !match_attrs(pattern, node)) return false;
    if (m->node_count == HOLO_MATCH_NODES || node->capture_count) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    m->node[m->node_count++] = node;
    return match_inputs(m, at, pattern, node);
}

// The frame of the chosen pattern among those that `call` may stand for; -1: there is none.
static int enter(HoloMatch *m, int at, const HoloNode *call)
{
    int first = -1, count = 0;
    for (int i = 0; i < m->patterns->other_count; i++) { // patterns of one name are neighbors
        bool is_it = !strcmp(m->patterns->other[i]->name, call->type);
        if (is_it && !count++) first = i;
        if (count && !is_it) break;
    }
    if (!count || m->frame_count == HOLO_MATCH_FRAMES) return -1;
    const HoloGraph *chosen    = m->patterns->other[first + choose(m, count)];
    m->frame[m->frame_count++] = (HoloMatchFrame){.pattern = chosen, .call = call, .outer = at};
    return m->frame_count - 1;
}

// ---- values

static bool match_input(HoloMatch *m, int at, const HoloValue *pattern, HoloValue *value)
{
    const HoloMatchFrame *frame = &m->frame[at];
    double                number;
    for (int i = 0; frame->call && i < frame->pattern->input_count; i++)
        if (frame->pattern->inputs[i] == pattern) return match_value(m, frame->outer, frame->call->in[i], value);
    return pattern->type.rank < 0 || holo_value_number(value, &number);
}

// The recursion is at most as deep as the patterns.
static bool match_value(HoloMatch *m, int at, const HoloValue *pattern, HoloValue *value)
{
    HoloMatchFrame *frame = &m->frame[at];
    if (frame->bound[pattern->id]) return frame->bound[pattern->id] == value;
    frame->bound[pattern->id] = value;
    if (pattern->is_input) return match_input(m, at, pattern, value);
    if (pattern->is_constant) return match_constant(pattern, value);
    if (!strcmp(pattern->producer->domain, "any")) {
        int inner = enter(m, at, pattern->producer);
        return inner >= 0 && match_value(m, inner, m->frame[inner].pattern->outputs[0], value);
    }
    return match_node(m, at, pattern->producer, value->producer) && value->producer->out[0] == value;
}

// ---- the whole

static bool is_used_outside(const HoloMatch *m, const HoloValue *value)
{
    int inside = 0;
    for (int i = 0; i < m->node_count; i++) {
        bool is_seen = false; // two nodes of the pattern may have matched one node of the graph
        for (int k = 0; k < i; k++) is_seen |= m->node[k] == m->node[i];
        for (int k = 0; k < m->node[i]->in_count && !is_seen; k++) inside += m->node[i]->in[k] == value;
    }
    return value->id >= m->patterns->use_count || m->patterns->uses[value->id] != inside;
}

static bool is_closed(const HoloMatch *m)
{
    for (int i = 1; i < m->node_count; i++)
        if (m->node[i] == m->node[0] || is_used_outside(m, m->node[i]->out[0])) return false;
    return m->node_count > 0;
}

bool holo_match(HoloMatch *m, const HoloPatterns *patterns, const HoloGraph *pattern, HoloNode *node)
{
    m->choice_count = 0;
    if (!node->out_count || !node->out[0]) return false;
    do {
        m->patterns    = patterns;
        m->node_count  = 0;
        m->axes        = 0;
        m->axes_rank   = 0;
        m->choice_next = 0;
        m->frame_count = 1;
        m->frame[0]    = (HoloMatchFrame){.pattern = pattern};
        if (match_value(m, 0, pattern->outputs[0], node->out[0]) && is_closed(m)) return true;
    } while (choose_otherwise(m));
    return false;
}

HoloValue *holo_match_find(const HoloMatch *m, const char *name)
{
    const HoloValue *value = holo_graph_find(m->frame[0].pattern, name);
    return value ? m->frame[0].bound[value->id] : NULL;
}
