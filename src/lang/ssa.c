// ssa.c - makes nodes: equal pure ones once, each as simple as ssa_fold.c knows.

#include "lang/ssa.h"

#include <string.h>

enum { BUCKETS = 4096 };

bool holo_ssa_init(HoloSsa *s, HoloArena *arena)
{
    *s      = (HoloSsa){.arena = arena};
    s->hash = HOLO_NEW(arena, int, BUCKETS);
    if (!s->hash) return false;
    for (int i = 0; i < BUCKETS; i++) s->hash[i] = -1;
    s->here = holo_ssa_region(s, -1, false);
    return !s->full;
}

static bool grow(HoloSsa *s, void *array, int count, int *room, size_t size)
{
    if (holo_arena_grow(s->arena, array, count, room, size)) return true;
    s->full = true;
    return false;
}

int holo_ssa_region(HoloSsa *s, int owner, bool is_loop)
{
    if (!grow(s, &s->region, s->region_count, &s->region_room, sizeof *s->region)) return 0;
    int           parent = s->region_count ? s->here : -1;
    HoloSsaRegion region = {.parent = parent, .owner = owner};
    if (parent >= 0) {
        region.depth = s->region[parent].depth + 1;
        region.loops = s->region[parent].loops + is_loop;
        region.at    = s->region[parent].count - 1; // its owner is the last
    }
    s->region[s->region_count] = region;
    return s->region_count++;
}

static bool append(HoloSsa *s, int region, int n)
{
    HoloSsaRegion *r = &s->region[region];
    if (!grow(s, &r->list, r->count, &r->room, sizeof *r->list)) return false;
    r->list[r->count++] = n;
    return true;
}

// Is region `outer` the region `inner`, or around it?
static bool is_around(const HoloSsa *s, int outer, int inner)
{
    while (s->region[inner].depth > s->region[outer].depth) inner = s->region[inner].parent;
    return inner == outer;
}

void holo_ssa_writes(HoloSsa *s)
{
    s->epoch++;
}

// ---- equal nodes

static uint32_t bucket(const HoloSsaNode *n)
{
    uint64_t h =
        n->bits * UINT64_C(0x9E3779B97F4A7C15) + n->op * 31u + n->type * 1009u + n->how * 7919u + n->array * 104729u;
    for (int i = 0; i < 3; i++) h = (h ^ (uint64_t)(uint32_t)n->in[i]) * UINT64_C(0x100000001B3);
    return (uint32_t)(h >> 32 ^ h) % BUCKETS;
}

static bool is_equal(const HoloSsa *s, const HoloSsaNode *a, const HoloSsaNode *b)
{
    if (a->op != b->op || a->kind != b->kind || a->type != b->type || a->how != b->how || a->array != b->array ||
        a->bits != b->bits || a->epoch != b->epoch || memcmp(a->in, b->in, sizeof a->in))
        return false;
    return a->kind == HOLO_SSA_PURE || is_around(s, a->region, s->here);
}

static int find(const HoloSsa *s, const HoloSsaNode *node, uint32_t head)
{
    for (int n = s->hash[head]; n >= 0; n = s->node[n].same)
        if (is_equal(s, &s->node[n], node)) return n;
    return -1;
}

// The innermost region among those of the operands.
static int innermost(const HoloSsa *s, const HoloSsaNode *node)
{
    int region = 0;
    for (int i = 0; i < 3; i++) {
        if (node->in[i] < 0) continue;
        int r = s->node[node->in[i]].region;
        if (s->region[r].depth > s->region[region].depth) region = r;
    }
    return region;
}

int holo_ssa_add(HoloSsa *s, HoloSsaNode node)
{
    if (s->full) return 0;
    uint32_t head   = bucket(&node);
    bool     shared = node.kind == HOLO_SSA_PURE || node.kind == HOLO_SSA_PINNED;
    if (shared) {
        int n = node.kind == HOLO_SSA_PURE ? holo_ssa_fold(s, &node) : -1;
        if (n < 0) n = find(s, &node, head);
        if (n >= 0) return n;
    }
    if (s->count == HOLO_SSA_NODES || !grow(s, &s->node, s->count, &s->room, sizeof *s->node)) {
        s->full = true;
        return 0;
    }
    int n       = s->count++;
    node.region = node.kind == HOLO_SSA_PURE ? innermost(s, &node) : s->here;
    node.same   = -1;
    node.where  = s->where;
    node.reg = node.back_of = -1;
    if (shared) {
        node.same     = s->hash[head];
        s->hash[head] = n;
    }
    s->node[n]  = node;
    bool listed = node.kind == HOLO_SSA_PINNED || node.kind == HOLO_SSA_EFFECT || node.kind == HOLO_SSA_COPY;
    if (listed && !append(s, s->here, n)) return 0;
    return n;
}

// ---- the usual ones

#define NODE(...) ((HoloSsaNode){.in = {-1, -1, -1}, .owner = -1, .body = -1, .other = -1, __VA_ARGS__})

int holo_ssa_const(HoloSsa *s, HoloDtype type, uint64_t bits)
{
    return holo_ssa_add(s, NODE(.op = HOLO_ISA_CONST, .type = (uint8_t)type, .bits = bits));
}

int holo_ssa_int(HoloSsa *s, HoloDtype type, int64_t value)
{
    return holo_ssa_const(s, type, holo_isa_bits_of_int(type, value));
}

int holo_ssa_float(HoloSsa *s, HoloDtype type, double value)
{
    return holo_ssa_const(s, type, holo_isa_bits_of_float(type, value));
}

int holo_ssa_pure(HoloSsa *s, HoloIsaOp op, HoloDtype type, int a, int b, int c)
{
    HoloSsaNode node = NODE(.op = (uint16_t)op, .type = (uint8_t)type);
    node.in[0] = a, node.in[1] = b, node.in[2] = c;
    return holo_ssa_add(s, node);
}

int holo_ssa_convert(HoloSsa *s, HoloDtype type, int a)
{
    if (s->full || holo_ssa_type(s, a) == type) return a;
    HoloSsaNode node = NODE(.op = HOLO_ISA_CVT, .type = (uint8_t)type, .how = (uint8_t)holo_ssa_type(s, a));
    node.in[0]       = a;
    return holo_ssa_add(s, node);
}

int holo_ssa_compare(HoloSsa *s, HoloIsaCond cond, int a, int b)
{
    if (s->full) return 0;
    HoloSsaNode node = NODE(.op = HOLO_ISA_SET, .type = s->node[a].type, .how = (uint8_t)cond);
    node.in[0] = a, node.in[1] = b;
    return holo_ssa_add(s, node);
}

int holo_ssa_select(HoloSsa *s, int condition, int a, int b)
{
    return s->full ? 0 : holo_ssa_pure(s, HOLO_ISA_SEL, holo_ssa_type(s, a), condition, a, b);
}

int holo_ssa_not(HoloSsa *s, int a)
{
    return holo_ssa_pure(s, HOLO_ISA_NOT, HOLO_BOOL, a, -1, -1);
}

int holo_ssa_effect(HoloSsa *s, HoloIsaOp op, int a)
{
    HoloSsaNode node = NODE(.op = (uint16_t)op, .kind = HOLO_SSA_EFFECT);
    node.in[0]       = a;
    return holo_ssa_add(s, node);
}

bool holo_ssa_is_const(const HoloSsa *s, int n, uint64_t *out_bits)
{
    if (s->full || n < 0 || s->node[n].kind != HOLO_SSA_PURE || s->node[n].op != HOLO_ISA_CONST) return false;
    *out_bits = s->node[n].bits;
    return true;
}

bool holo_ssa_int_value(const HoloSsa *s, int n, int64_t *out)
{
    uint64_t bits;
    if (!holo_ssa_is_const(s, n, &bits)) return false;
    switch (s->node[n].type) {
    case HOLO_I8: *out = (int8_t)bits; return true;
    case HOLO_I16: *out = (int16_t)bits; return true;
    case HOLO_I32: *out = (int32_t)bits; return true;
    case HOLO_I64:
    case HOLO_U8:
    case HOLO_U16:
    case HOLO_U32:
    case HOLO_U64: *out = (int64_t)bits; return true;
    default: return false;
    }
}
