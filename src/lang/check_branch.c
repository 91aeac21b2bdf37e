// check_branch.c - the two branches of a condition, and the values of variables behind them. If neither branch does
// more than compute, both are computed and one result is chosen: no branch is left.

#include "lang/check.h"

#include <string.h>

static HoloStatus snapshot(HoloCheck *c, int **out)
{
    *out = HOLO_NEW(c->arena, int, c->var_count + 1);
    if (!*out) return holo_fail_memory(c->error);
    for (int i = 0; i < c->var_count; i++) (*out)[i] = c->var[i].value;
    return HOLO_OK;
}

HoloStatus holo_check_branch(HoloCheck *c, const HoloAst *at, int condition, HoloCheckBranch *out)
{
    *out = (HoloCheckBranch){.parent = c->ssa.here, .count = c->var_count, .dead = c->dead};
    HOLO_TRY(snapshot(c, &out->before));
    if (c->ssa.full) return HOLO_OK;
    if (c->ssa.region[c->ssa.here].depth >= HOLO_CHECK_DEPTH)
        return HOLO_CHECK_FAIL(c, at, "split the kernel", "branches and loops nest deeper than %d", HOLO_CHECK_DEPTH);
    out->owner = holo_ssa_effect(&c->ssa, HOLO_ISA_IF, condition);
    int body = holo_ssa_region(&c->ssa, out->owner, false), other = holo_ssa_region(&c->ssa, out->owner, false);
    if (c->ssa.full) return HOLO_OK;
    c->ssa.node[out->owner].body  = body;
    c->ssa.node[out->owner].other = other;
    c->ssa.here                   = body;
    return HOLO_OK;
}

// Variables that the first branch declares have no value in the second.
HoloStatus holo_check_else(HoloCheck *c, HoloCheckBranch *branch)
{
    bool dead = c->dead;
    HOLO_TRY(snapshot(c, &branch->then));
    for (int i = 0; i < c->var_count; i++)
        if (c->var[i].kind == HOLO_VAR_NUMBER) c->var[i].value = i < branch->count ? branch->before[i] : -1;
    branch->count = c->var_count;
    c->dead       = branch->dead;
    branch->dead  = dead;
    if (!c->ssa.full) c->ssa.here = c->ssa.node[branch->owner].other;
    return HOLO_OK;
}

static int choose(HoloCheck *c, const HoloCheckBranch *b, bool converted, int condition, int then, int other)
{
    if (then == other || c->ssa.full) return then;
    if (converted) return holo_ssa_select(&c->ssa, condition, then, other);
    return holo_ssa_add(&c->ssa, (HoloSsaNode){.kind  = HOLO_SSA_PHI,
                                               .type  = (uint8_t)holo_ssa_type(&c->ssa, then),
                                               .in    = {then, other, -1},
                                               .owner = b->owner});
}

HoloStatus holo_check_join_branches(HoloCheck *c, HoloCheckBranch *b, const int *value, int *out)
{
    HoloSsa *s = &c->ssa;
    if (s->full) {
        if (out) *out = 0;
        return HOLO_OK;
    }
    const HoloSsaNode *owner     = &s->node[b->owner];
    bool               converted = !s->region[owner->body].count && !s->region[owner->other].count;
    int                condition = owner->in[0];
    bool               then_dead = b->dead, other_dead = c->dead;
    s->here = b->parent;
    if (converted) { // the branch was the last thing that was added
        s->region[b->parent].count--;
        s->node[b->owner].kind = HOLO_SSA_PURE;
    }
    for (int i = 0; i < c->var_count; i++) {
        HoloCheckVar *v = &c->var[i];
        if (v->kind != HOLO_VAR_NUMBER) continue;
        int then = i < b->count ? b->then[i] : -1, other = v->value;
        if (then_dead || other_dead)
            v->value = then_dead ? other : then;
        else
            v->value = then < 0 || other < 0 ? -1 : choose(c, b, converted, condition, then, other);
    }
    c->dead = then_dead && other_dead;
    if (out) *out = choose(c, b, converted, condition, value[0], value[1]);
    return HOLO_OK;
}
