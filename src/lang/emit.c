// emit.c - turns scheduled nodes into instructions. A variable that changes has one register, its home. A new value is
// computed directly there, if the old value is not read any more.

#include "lang/ssa.h"

#include <string.h>

typedef struct Emitter {
    HoloSsa         *s;
    HoloIsaBuilder  *b;
    HoloSourcePlace *where; // of instructions
    int              count, room;
    bool             no_memory;
} Emitter;

static void region(Emitter *e, int r);

// Notes where the instructions emitted since the last call come from.
static void came_from(Emitter *e, HoloSourcePlace where)
{
    int count = e->b->program.count;
    if (count > e->room) {
        int              room = 2 * count;
        HoloSourcePlace *more = HOLO_NEW(e->s->arena, HoloSourcePlace, room);
        if (!more) {
            e->no_memory = true;
            return;
        }
        if (e->count) memcpy(more, e->where, (size_t)e->count * sizeof *more);
        e->where = more;
        e->room  = room;
    }
    while (e->count < count) e->where[e->count++] = where;
}

static int new_register(Emitter *e, HoloSsaNode *n)
{
    if (n->reg < 0) n->reg = holo_isa_register(e->b, holo_ssa_type(e->s, (int)(n - e->s->node)));
    return n->reg;
}

static int operand(Emitter *e, int n)
{
    HoloSsaNode *node = &e->s->node[n];
    node->uses--;
    return node->kind == HOLO_SSA_LOOP_OUT ? e->s->node[node->in[0]].reg : node->reg;
}

// May the value be computed in the register of the variable that it is assigned to?
static bool goes_home(Emitter *e, const HoloSsaNode *n, int place)
{
    if (n->back_of < 0) return false;
    const HoloSsaNode *phi   = &e->s->node[n->back_of];
    int                reads = 0; // of the old value by this instruction: all others must be done
    for (int i = 0; i < 3; i++) reads += n->in[i] == n->back_of;
    return phi->needed && e->s->node[phi->owner].body == place && phi->uses == reads;
}

static void instruction(Emitter *e, HoloSsaNode *n, int place)
{
    const HoloIsaOpInfo *info = holo_isa_op(n->op);
    HoloIsaInst          inst = {.op = n->op, .type = n->type, .how = n->how, .bits = n->bits};
    int                  next = 0;
    bool                 home = goes_home(e, n, place);
    for (int i = 1; i < HOLO_ISA_OPERANDS; i++) {
        if (info->kind[i] == HOLO_ISA_KIND_N) continue;
        bool is_register = holo_isa_is_register(info->kind[i]);
        holo_isa_set_operand(&inst, i, (uint16_t)(is_register ? operand(e, n->in[next++]) : n->array));
    }
    if (info->kind[0] != HOLO_ISA_KIND_N) {
        if (home) n->reg = e->s->node[n->back_of].reg;
        inst.dst = (uint16_t)new_register(e, n);
    }
    holo_isa_emit(e->b, inst);
    came_from(e, n->where);
}

static void move(Emitter *e, int to, int from)
{
    if (to != from) holo_isa_move(e->b, to, from);
}

// ---- branches and loops. The PHIs of an owner are a chain: `after` of the owner, `same` of each.

static bool is_empty(const HoloSsa *s, int r)
{
    const HoloSsaRegion *region = &s->region[r];
    for (int i = 0; i <= region->count; i++) {
        if (region->first[i] >= 0) return false;
        if (i < region->count && s->node[region->list[i]].needed) return false;
    }
    return true;
}

static void branch_moves(Emitter *e, const HoloSsaNode *owner, int which)
{
    for (int p = owner->after; p >= 0; p = e->s->node[p].same)
        move(e, e->s->node[p].reg, operand(e, e->s->node[p].in[which]));
}

static void if_construct(Emitter *e, HoloSsaNode *n)
{
    bool no_else   = is_empty(e->s, n->other);
    int  condition = operand(e, n->in[0]);
    for (int p = n->after; p >= 0; p = e->s->node[p].same) new_register(e, &e->s->node[p]);
    if (no_else) branch_moves(e, n, 1);
    holo_isa_control(e->b, HOLO_ISA_IF, condition);
    came_from(e, n->where);
    region(e, n->body);
    branch_moves(e, n, 0);
    if (!no_else) {
        holo_isa_control(e->b, HOLO_ISA_ELSE, 0);
        region(e, n->other);
        branch_moves(e, n, 1);
    }
    holo_isa_control(e->b, HOLO_ISA_END, 0);
}

static void loop_construct(Emitter *e, HoloSsaNode *n)
{
    for (int p = n->after; p >= 0; p = e->s->node[p].same) {
        HoloSsaNode *phi = &e->s->node[p];
        new_register(e, phi);
        move(e, phi->reg, operand(e, phi->in[0]));
    }
    holo_isa_control(e->b, HOLO_ISA_LOOP, 0);
    came_from(e, n->where);
    region(e, n->body);
    for (int p = n->after; p >= 0; p = e->s->node[p].same) {
        HoloSsaNode *phi = &e->s->node[p];
        if (phi->in[1] >= 0) move(e, phi->reg, operand(e, phi->in[1]));
    }
    holo_isa_control(e->b, HOLO_ISA_END, 0);
}

static void effect(Emitter *e, int number, int place)
{
    HoloSsaNode *n = &e->s->node[number];
    if (n->kind == HOLO_SSA_COPY)
        move(e, e->s->node[n->owner].reg, operand(e, n->in[0]));
    else if (n->op == HOLO_ISA_IF)
        if_construct(e, n);
    else if (n->op == HOLO_ISA_LOOP)
        loop_construct(e, n);
    else
        instruction(e, n, place);
    came_from(e, n->where);
}

static void region(Emitter *e, int number)
{
    const HoloSsaRegion *r = &e->s->region[number];
    for (int i = 0; i <= r->count; i++) {
        for (int n = r->first[i]; n >= 0; n = e->s->node[n].after) instruction(e, &e->s->node[n], number);
        if (i < r->count && e->s->node[r->list[i]].needed) effect(e, r->list[i], number);
    }
}

HoloStatus holo_ssa_emit(HoloSsa *s, HoloIsaBuilder *b, const HoloSourcePlace **out_where, HoloError *error)
{
    Emitter e = {.s = s, .b = b};
    for (int n = 0; n < s->count; n++)
        if (s->node[n].op == HOLO_ISA_IF || s->node[n].op == HOLO_ISA_LOOP) s->node[n].after = -1;
    for (int n = s->count; n-- > 0;) {
        HoloSsaNode *node = &s->node[n];
        if (!node->needed) continue;
        if (node->kind == HOLO_SSA_LOOP_OUT) s->node[node->in[0]].uses--; // read behind the loop, not in it
        if (node->kind != HOLO_SSA_PHI && node->kind != HOLO_SSA_LOOP_PHI) continue;
        node->same                 = s->node[node->owner].after;
        s->node[node->owner].after = n;
    }
    region(&e, 0);
    *out_where = e.where;
    return e.no_memory ? holo_fail_memory(error) : HOLO_OK;
}
