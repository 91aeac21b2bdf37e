// chains.c - turns neighboring pointwise operators of types other than f32 into one node with a portable program
// (hologram::Kernel): masks and positions of i64 and bool, models of f64, conversions and what is around them. Some
// operators become programs even alone, if there are many elements. Operators of f32 alone are left to `fuse`, which
// runs before and has native kernels.
//
// A chain grows from its last node backwards: a producer joins if its output has the chain's shape and only the chain
// reads it. So nothing is computed twice, and only the last value leaves a chain. If a launch would cost more than the
// nodes do one by one, they stay.
#include "ops/hologram/chain.h"
#include "ops/hologram/formula.h"
#include "passes/rewrite.h"

#include <string.h>

typedef struct Chain {
    HoloNode          *member[HOLO_CHAIN_PARTS]; // the last one first, then in the order in which they joined
    int                count;
    HoloValue         *in[HOLO_CHAIN_INPUTS]; // values from outside
    const HoloTargets *targets;
    int                in_count;
} Chain;

// ---- facts

// Does it surely broadcast? Each size must be the output's, or 1.
static bool fits_into(const HoloTensor *in, const HoloTensor *out)
{
    int skip = out->rank - in->rank;
    for (int d = 0; skip >= 0 && d < in->rank; d++)
        if (in->dim[d] != 1 && in->dim[d] != out->dim[d + skip]) return false;
    return skip >= 0;
}

// False: the node has an input that is not a tensor of known rank, or it has too many inputs.
static bool call_of(const HoloNode *node, const HoloTensor **in, HoloTensor **out, HoloCall *call)
{
    if (!node->op || node->out_count != 1 || !node->out[0] || !holo_value_is_sized(node->out[0]) ||
        node->out[0]->contents || node->in_count > HOLO_CHAIN_OPERANDS || node->capture_count)
        return false;
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] && !holo_value_is_sized(node->in[i])) return false;
        in[i] = node->in[i] ? &node->in[i]->type : NULL;
    }
    out[0]          = &node->out[0]->type;
    *call           = holo_node_call(node);
    call->in        = in;
    call->in_count  = node->in_count;
    call->out       = out;
    call->out_count = 1;
    return true;
}

static bool can_join(const HoloNode *node)
{
    const HoloTensor *in[HOLO_CHAIN_OPERANDS];
    HoloTensor       *out[1];
    HoloCall          call;
    if (!call_of(node, in, out, &call) || !holo_chain_has(&call)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (in[i] && !holo_chain_is_number(in[i]) && !fits_into(in[i], out[0])) return false;
    return true;
}

// Does the node have a kernel of its own?
static bool is_native(const Chain *c, const HoloNode *node)
{
    const HoloTarget *target = holo_targets_pick(c->targets, node);
    const HoloTensor *in[HOLO_CHAIN_OPERANDS];
    HoloTensor       *out[1];
    HoloCall          call;
    return target->has_pointwise && call_of(node, in, out, &call) && target->has_pointwise(&call);
}

static bool is_number(const HoloValue *value)
{
    return value->is_constant && holo_chain_is_number(&value->type);
}

// ---- what a chain costs

enum { FEW = 256, MANY = 4096 }; // elements: below FEW the calls take the time, above MANY the elements

static int64_t elements_at_least(const HoloTensor *t)
{
    int64_t count = 1;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] >= 0 && (!holo_mul(count, t->dim[d], &count))) return INT64_MAX;
    return count;
}

static bool is_open(const HoloTensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d])) return true;
    return false;
}

static bool is_one(const HoloTensor *t)
{
    return !is_open(t) && elements_at_least(t) == 1;
}

// For few elements: how many nanoseconds one launch saves over the nodes one by one, as measured.
static int saved_of_few(const Chain *c)
{
    enum { NODE = 60, NATIVE = 45, NUMBER = 55, LAUNCH = 150, PART = 25 };
    int saved = -LAUNCH;
    for (int m = 0; m < c->count; m++) {
        const HoloNode *node = c->member[m];
        saved += (is_native(c, node) ? NATIVE : NODE) - PART;
        for (int i = 0; i < node->in_count; i++)
            if (node->in[i] && is_one(&node->in[i]->type) && !is_native(c, node)) saved += NUMBER;
    }
    return saved;
}

// Operators for which eval has fast loops of its own: logic and conversions.
static bool is_light(const HoloNode *node)
{
    return HOLO_IS(node, Cast) || (node->in[0]->type.dtype == HOLO_BOOL && node->in_count < 3);
}

// Operators that are faster as a program even alone if there are many elements, because eval has no vectors for them.
#define HALVES (HOLO_BIT(F16) | HOLO_BIT(BF16))
#define FLOATS (HALVES | HOLO_BIT(F64))

static const struct {
    HoloOpId id;
    uint64_t types; // types of input 0
} alone[] = {
    {HOLO_ID_Equal, HALVES},
    {HOLO_ID_Less, HALVES},
    {HOLO_ID_Greater, HALVES},
    {HOLO_ID_LessOrEqual, HALVES},
    {HOLO_ID_GreaterOrEqual, HALVES},
    {HOLO_ID_Mul, HALVES},
    {HOLO_ID_Min, HALVES},
    {HOLO_ID_Max, HALVES},
    {HOLO_ID_Abs, HALVES},
    {HOLO_ID_Add, HALVES},
    {HOLO_ID_Sub, HALVES},
    {HOLO_ID_Div, HALVES},
    {HOLO_ID_Neg, HALVES},
    {HOLO_ID_Sqrt, HALVES},
    {HOLO_ID_Floor, HALVES},
    {HOLO_ID_Ceil, HALVES},
    {HOLO_ID_Round, HALVES},
    {HOLO_ID_Sign, HALVES},
    {HOLO_ID_Relu, FLOATS},
    {HOLO_ID_Reciprocal, FLOATS},
    {HOLO_ID_IsNaN, HALVES},
    {HOLO_ID_Clip, HALVES},
    {HOLO_ID_Cast, HALVES},
};

static bool pays_alone(const HoloNode *node)
{
    uint64_t from = UINT64_C(1) << node->in[0]->type.dtype, to = UINT64_C(1) << node->out[0]->type.dtype;
    if (HOLO_IS(node, Cast)) from |= to;
    for (int i = 0; i < HOLO_COUNT(alone); i++)
        if (node->op_id == alone[i].id) return from & alone[i].types;
    return false;
}

static bool pays(const Chain *c, bool always)
{
    enum { DOUBT = 60 }; // for sizes that only a run knows: they are usually not small
    const HoloTensor *out   = &c->member[0]->out[0]->type;
    bool              heavy = false, slow = false;
    for (int m = 0; m < c->count; m++) {
        heavy = heavy || !is_light(c->member[m]);
        slow  = slow || !is_native(c, c->member[m]);
    }
    if (always || !slow) return slow;
    if (c->count < 2) return elements_at_least(out) >= MANY && pays_alone(c->member[0]);
    if (!heavy) return false;
    if (elements_at_least(out) > FEW) return true;
    return saved_of_few(c) + (is_open(out) ? DOUBT : 0) >= 0;
}

// ---- growing

static int member_of(const Chain *c, const HoloNode *node)
{
    for (int m = 0; node && m < c->count; m++)
        if (c->member[m] == node) return m;
    return -1;
}

// Finds the values from outside. False: there are too many.
static bool find_inputs(Chain *c)
{
    c->in_count = 0;
    for (int m = 0; m < c->count; m++)
        for (int i = 0; i < c->member[m]->in_count; i++) {
            HoloValue *value = c->member[m]->in[i];
            int        k     = 0;
            if (!value || is_number(value) || member_of(c, value->producer) >= 0) continue;
            while (k < c->in_count && c->in[k] != value) k++;
            if (k == HOLO_CHAIN_INPUTS) return false;
            c->in[k]    = value;
            c->in_count = k == c->in_count ? k + 1 : c->in_count;
        }
    return true;
}

static bool grow(HoloClusters *p, Chain *c)
{
    for (int i = 0; i < c->in_count && c->count < HOLO_CHAIN_PARTS; i++) {
        HoloValue *value = c->in[i];
        HoloNode  *node  = value->producer;
        if (!node || p->is_taken[node->id] || !holo_shape_equal(&value->type, &c->member[0]->out[0]->type)) continue;
        if (!holo_clusters_inside(p, c->member, c->count, value) || !can_join(node)) continue;
        c->member[c->count++] = node;
        if (find_inputs(c)) return p->is_taken[node->id] = true;
        c->count--;
        if (!find_inputs(c)) return false;
    }
    return false;
}

// The shape must follow from the inputs: constants of one number do not give it.
static bool shape_is_told(const Chain *c)
{
    const HoloTensor *out = &c->member[0]->out[0]->type;
    for (int d = 0; d < out->rank; d++) {
        bool is_told = false;
        for (int i = 0; i < c->in_count && !is_told; i++) {
            int at  = d - (out->rank - c->in[i]->type.rank);
            is_told = at >= 0 && c->in[i]->type.dim[at] == out->dim[d];
        }
        if (!is_told) return false;
    }
    return c->in_count > 0;
}

// ---- the new node

static void sort(Chain *c)
{
    for (int i = 1; i < c->count; i++)
        for (int k = i; k > 0 && c->member[k]->id < c->member[k - 1]->id; k--) {
            HoloNode *node   = c->member[k];
            c->member[k]     = c->member[k - 1];
            c->member[k - 1] = node;
        }
}

// Describes the chain by its operators. Members are in the order of the graph.
static HoloChain *describe(HoloClusters *p, const Chain *c)
{
    HoloChain         *chain = HOLO_NEW(p->scratch, HoloChain, 1);
    const HoloTensor **in    = HOLO_NEW(p->scratch, const HoloTensor *, HOLO_CHAIN_PARTS *HOLO_CHAIN_OPERANDS);
    HoloTensor       **out   = HOLO_NEW(p->scratch, HoloTensor *, HOLO_CHAIN_PARTS);
    if (!chain || !in || !out) return NULL;
    chain->count    = c->count;
    chain->in_count = c->in_count;
    for (int i = 0; i < c->in_count; i++) chain->in[i] = &c->in[i]->type;
    for (int m = 0; m < c->count; m++) {
        const HoloNode *node = c->member[m];
        call_of(node, in + m * HOLO_CHAIN_OPERANDS, out + m, &chain->part[m].call);
        for (int i = 0; i < node->in_count; i++) {
            int from = 0;
            if (!node->in[i] || is_number(node->in[i])) continue;
            chain->part[m].operand[i] = member_of(c, node->in[i]->producer);
            if (chain->part[m].operand[i] >= 0) continue;
            while (c->in[from] != node->in[i]) from++;
            chain->part[m].operand[i] = ~from;
        }
    }
    return chain;
}

static HoloStatus become(HoloClusters *p, Chain *c, HoloError *error)
{
    enum { ATTRS = 3 };
    HoloArena  *arena = p->graph->arena;
    HoloNode   *node  = c->member[0];
    HoloValue **list  = HOLO_NEW(arena, HoloValue *, c->in_count);
    HoloAttr   *attr  = HOLO_NEW(arena, HoloAttr, ATTRS);
    HoloString *text  = HOLO_NEW(arena, HoloString, 2); // the program, and no program for the lanes
    if (!list || !attr || !text) return holo_fail_memory(error);
    sort(c);
    HoloChain *chain = describe(p, c);
    if (!chain) return holo_fail_memory(error);
    HOLO_TRY(holo_chain_program(p->scratch, chain, &text[0], error));
    text[0].data = holo_arena_text(arena, text[0].data, text[0].size);
    if (!text[0].data) return holo_fail_memory(error);
    text[1] = (HoloString){"", 0};
    memcpy(list, c->in, (size_t)c->in_count * sizeof *list);
    attr[0] = (HoloAttr){.name = "programs", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &text[0]};
    attr[1] = (HoloAttr){.name = "lanes", .kind = HOLO_ATTR_STRINGS, .count = 1, .strings = &text[1]};
    attr[2] = (HoloAttr){.name = "shape", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"broadcast", 9}};
    holo_node_become(node, HOLO_ID_HOLOGRAM_Kernel, 1);
    node->in         = list;
    node->in_count   = c->in_count;
    node->attr       = attr;
    node->attr_count = ATTRS;
    return HOLO_OK;
}

static HoloStatus join_at(HoloClusters *p, HoloNode *last, bool *out_done, HoloError *error)
{
    Chain c   = {.member = {last}, .count = 1, .targets = p->changes->targets};
    *out_done = false;
    if (!can_join(last) || !find_inputs(&c)) return HOLO_OK;
    while (grow(p, &c)) continue;
    *out_done = shape_is_told(&c) && pays(&c, p->changes->all_chains);
    if (*out_done) return become(p, &c, error);
    for (int m = 1; m < c.count; m++) p->is_taken[c.member[m]->id] = false;
    return HOLO_OK;
}

HoloStatus holo_pass_chains(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    return holo_clusters(graph, scratch, changes, join_at, error);
}
