// schedule.c - decides where pure nodes are computed. Unused nodes are dropped. The others are computed as late, and as
// deep in branches, as their uses allow, but outside every loop in which they do not change. Before that, a product and
// the sum that uses it become one instruction.

#include "lang/ssa.h"

#include <string.h>

// ---- what is needed

typedef struct Work {
    HoloSsa *s;
    int     *stack;
    int      count;
} Work;

static void need(Work *w, int n)
{
    if (n < 0) return;
    w->s->node[n].uses++;
    if (w->s->node[n].needed) return;
    w->s->node[n].needed = true;
    w->stack[w->count++] = n;
}

static HoloStatus mark_needed(HoloSsa *s, HoloError *error)
{
    Work w = {s, HOLO_NEW(s->arena, int, s->count), 0};
    if (!w.stack) return holo_fail_memory(error);
    for (int n = 0; n < s->count; n++) {
        s->node[n].needed = s->node[n].kind == HOLO_SSA_EFFECT;
        s->node[n].uses   = 0;
        if (s->node[n].needed) w.stack[w.count++] = n;
    }
    for (;;) {
        while (w.count > 0) {
            const HoloSsaNode *n = &s->node[w.stack[--w.count]];
            for (int i = 0; i < 3; i++) need(&w, n->in[i]);
        }
        // what is given to a variable of a loop is needed where the variable is
        for (int n = 0; n < s->count; n++)
            if (s->node[n].kind == HOLO_SSA_COPY && !s->node[n].needed && s->node[s->node[n].owner].needed) {
                s->node[n].needed  = true;
                w.stack[w.count++] = n;
            }
        if (!w.count) return HOLO_OK;
    }
}

// ---- products and sums

static bool is_product(const HoloSsa *s, int n, uint8_t type)
{
    const HoloSsaNode *p = &s->node[n];
    return p->kind == HOLO_SSA_PURE && p->op == HOLO_ISA_MUL && p->type == type && p->uses == 1;
}

// a * b + c where nobody else uses a * b. Of integers it is the same; f32 and f64 are rounded once where that is
// allowed.
static void join_products(HoloSsa *s)
{
    for (int i = 0; i < s->count; i++) {
        HoloSsaNode *n      = &s->node[i];
        bool         rounds = n->type == HOLO_F32 || n->type == HOLO_F64,
             is_narrow      = n->type == HOLO_F16 || n->type == HOLO_BF16;
        if (!n->needed || n->kind != HOLO_SSA_PURE || n->op != HOLO_ISA_ADD || is_narrow) continue;
        if (n->type == HOLO_I8 || n->type == HOLO_U8 || n->type == HOLO_I16 || n->type == HOLO_U16) continue;
        int product = is_product(s, n->in[1], n->type) ? 1 : is_product(s, n->in[0], n->type) ? 0 : -1;
        if (product < 0) continue;
        HoloSsaNode *p = &s->node[n->in[product]];
        int          c = n->in[1 - product];
        p->needed      = false;
        p->uses        = 0;
        n->op          = rounds && s->fused ? HOLO_ISA_FMA : HOLO_ISA_MAD;
        n->in[0] = p->in[0], n->in[1] = p->in[1], n->in[2] = c;
    }
}

// ---- places

typedef struct Spot {
    int region, at; // before the effect `at`
} Spot;

static Spot lift(const HoloSsa *s, Spot spot)
{
    const HoloSsaRegion *r = &s->region[spot.region];
    return (Spot){r->parent, r->at};
}

// The last spot from which both can be seen.
static Spot meet(const HoloSsa *s, Spot a, Spot b)
{
    while (a.region != b.region) {
        if (s->region[a.region].depth >= s->region[b.region].depth)
            a = lift(s, a);
        else
            b = lift(s, b);
    }
    return (Spot){a.region, a.at < b.at ? a.at : b.at};
}

static void use(HoloSsa *s, int n, Spot spot)
{
    if (n < 0 || s->node[n].kind != HOLO_SSA_PURE) return;
    HoloSsaNode *node = &s->node[n];
    Spot         now  = node->place < 0 ? spot : meet(s, (Spot){node->place, node->at}, spot);
    node->place       = now.region;
    node->at          = now.at;
}

static Spot end_of(const HoloSsa *s, int region)
{
    return (Spot){region, s->region[region].count};
}

static void use_operands(HoloSsa *s, int n, Spot spot)
{
    for (int i = 0; i < 3; i++) use(s, s->node[n].in[i], spot);
}

// Copies that stand together are given all at once: what they give is computed before the first.
static int first_of_copies(const HoloSsa *s, const HoloSsaRegion *r, int at)
{
    while (at > 0 && s->node[r->list[at]].kind == HOLO_SSA_COPY && s->node[r->list[at - 1]].kind == HOLO_SSA_COPY) at--;
    return at;
}

// Uses that have a place of their own: those by effects and pinned nodes, and those at the ends of branches and turns.
static void use_placed(HoloSsa *s)
{
    for (int r = 0; r < s->region_count; r++)
        for (int i = 0; i < s->region[r].count; i++) {
            int n = s->region[r].list[i];
            if (s->node[n].needed) use_operands(s, n, (Spot){r, first_of_copies(s, &s->region[r], i)});
        }
    for (int n = 0; n < s->count; n++) {
        HoloSsaNode *phi = &s->node[n];
        if (!phi->needed || (phi->kind != HOLO_SSA_PHI && phi->kind != HOLO_SSA_LOOP_PHI)) continue;
        const HoloSsaNode *owner = &s->node[phi->owner];
        if (phi->kind == HOLO_SSA_PHI) {
            use(s, phi->in[0], end_of(s, owner->body));
            use(s, phi->in[1], end_of(s, owner->other));
        } else {
            use(s, phi->in[0], lift(s, (Spot){owner->body, 0}));
            use(s, phi->in[1], end_of(s, owner->body));
            if (phi->in[1] >= 0) s->node[phi->in[1]].back_of = n;
        }
    }
}

// Out of loops, as far as the operands allow.
static Spot hoist(const HoloSsa *s, const HoloSsaNode *n)
{
    Spot best = {n->place, n->at}, spot = best;
    while (spot.region != n->region && s->region[spot.region].parent >= 0) {
        spot = lift(s, spot);
        if (s->region[spot.region].loops < s->region[best.region].loops) best = spot;
    }
    return best;
}

static void place(HoloSsa *s, int n)
{
    HoloSsaNode *node = &s->node[n];
    Spot         spot = hoist(s, node);
    node->place       = spot.region;
    node->at          = spot.at;
    use_operands(s, n, spot);
    int *first  = &s->region[spot.region].first[spot.at];
    node->after = *first;
    *first      = n;
}

HoloStatus holo_ssa_schedule(HoloSsa *s, HoloError *error)
{
    HOLO_TRY(mark_needed(s, error));
    join_products(s);
    for (int r = 0; r < s->region_count; r++) {
        HoloSsaRegion *region = &s->region[r];
        region->first         = HOLO_NEW(s->arena, int, region->count + 1);
        if (!region->first) return holo_fail_memory(error);
        for (int i = 0; i <= region->count; i++) region->first[i] = -1;
    }
    for (int n = 0; n < s->count; n++) s->node[n].place = -1;
    use_placed(s);
    // users come behind what they use: from the last on, every use is known before the node is placed
    for (int n = s->count; n-- > 0;)
        if (s->node[n].needed && s->node[n].kind == HOLO_SSA_PURE && s->node[n].place >= 0) place(s, n);
    return HOLO_OK;
}
