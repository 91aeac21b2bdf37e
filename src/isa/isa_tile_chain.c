// isa_tile_chain.c - steps on floats of which each takes the result of the one before, done together: nothing between them
// goes through memory.
#include "isa/isa_code.h"

enum { NONE = 255 };

// The links that a step can be: where the result so far is its first, second or third operand; and both of the first two.
static const struct {
    uint16_t op;
    uint8_t  first, second, third, both;
} forms[] = {
    {HOLO_ISA_ADD, HOLO_LINK_ADD, HOLO_LINK_ADD, NONE, NONE},
    {HOLO_ISA_SUB, HOLO_LINK_SUB, HOLO_LINK_SUB_FROM, NONE, NONE},
    {HOLO_ISA_MUL, HOLO_LINK_MUL, HOLO_LINK_MUL, NONE, HOLO_LINK_SQUARE},
    {HOLO_ISA_DIV, HOLO_LINK_DIV, HOLO_LINK_DIV_INTO, NONE, NONE},
    {HOLO_ISA_MIN, HOLO_LINK_MIN, HOLO_LINK_MIN_OF, NONE, NONE},
    {HOLO_ISA_MAX, HOLO_LINK_MAX, HOLO_LINK_MAX_OF, NONE, NONE},
    {HOLO_ISA_MAD, HOLO_LINK_MAD, HOLO_LINK_MAD, HOLO_LINK_MAD_TO, NONE},
    {HOLO_ISA_FMA, HOLO_LINK_FMA, HOLO_LINK_FMA, HOLO_LINK_FMA_TO, NONE},
    {HOLO_ISA_ABS, HOLO_LINK_ABS, NONE, NONE, NONE},
    {HOLO_ISA_NEG, HOLO_LINK_NEG, NONE, NONE, NONE},
    {HOLO_ISA_SQRT, HOLO_LINK_SQRT, NONE, NONE, NONE},
    {HOLO_ISA_RCP, HOLO_LINK_RCP, NONE, NONE, NONE},
};

// The link of a step whose operand r is the result so far; NONE: there is none.
static int form_of(const HoloIsaInst *inst, int inputs, unsigned r)
{
    bool is_a = inst->a == r, is_b = inputs > 1 && inst->b == r, is_c = inputs > 2 && inst->c == r;
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        if (forms[i].op != inst->op) continue;
        if (is_a + is_b + is_c > 1) return is_a && is_b && !is_c ? forms[i].both : NONE;
        return is_a ? forms[i].first : is_b ? forms[i].second : is_c ? forms[i].third : NONE;
    }
    return NONE;
}

static bool can_link(const HoloIsaStep *s, unsigned r)
{
    return s->is_plain && s->inst.type == HOLO_F32 && form_of(&s->inst, s->inputs, r) != NONE;
}

// A step that can be the first: the result so far is one of its operands.
static bool can_begin(const HoloIsaStep *s)
{
    return can_link(s, s->inst.a) || (s->inputs > 1 && can_link(s, s->inst.b));
}

void holo_isa_find_chains(HoloIsaCode *code)
{
    for (int i = 0; i < code->count; i++) {
        HoloIsaStep *s     = &code->steps[i];
        int          count = 1;
        if (!can_begin(s)) continue;
        while (count < HOLO_TILE_LINKS && s[count - 1].dies && can_link(&s[count], s[count - 1].inst.dst)) count++;
        s->chain = (uint8_t)count;
    }
}

// ---- running

// An operand as it is in memory; false: it is one number.
static const float *operand(HoloIsaTile *t, unsigned r, bool *out_is_one)
{
    const HoloIsaRegister *x = &t->r[r];
    *out_is_one              = x->tag == HOLO_ISA_ONE;
    if (*out_is_one) return (const float *)(const void *)&x->base;
    return (const float *)((uintptr_t)x->data + ((uintptr_t)holo_isa_now(t)->lo << 2));
}

// The link of a step whose operand r is the result so far.
static HoloTileLink link_of(HoloIsaTile *t, const HoloIsaStep *s, unsigned r)
{
    HoloTileLink   link = {.op = (uint8_t)form_of(&s->inst, s->inputs, r)};
    const unsigned in[] = {s->inst.a, s->inst.b, s->inst.c};
    int            k    = 0;
    for (int i = 0; i < s->inputs; i++) {
        if (in[i] == r) continue;
        bool         is_one;
        const float *p = operand(t, in[i], &is_one);
        if (k++)
            link.y = p, link.y_is_one = is_one;
        else
            link.x = p, link.x_is_one = is_one;
    }
    return link;
}

int holo_isa_tile_chain(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaInst *i     = &step->inst;
    const HoloIsaSet  *s     = holo_isa_now(t);
    const HoloIsaStep *last  = step + step->chain - 1;
    unsigned           first = t->r[i->a].tag == HOLO_ISA_EACH || step->inputs < 2 ? i->a : i->b;
    HoloTileChain      chain = {.count = step->chain};
    bool               is_one;
    if (t->r[first].tag != HOLO_ISA_EACH || form_of(i, step->inputs, first) == NONE) return 0;
    chain.first    = operand(t, first, &is_one);
    chain.links[0] = link_of(t, step, first);
    for (int k = 1; k < step->chain; k++) chain.links[k] = link_of(t, &step[k], step[k - 1].inst.dst);
    uint8_t *place = last->join ? holo_isa_joined(t, last) : NULL, *data = place ? place : holo_isa_begin_each(t, last);
    t->code->tiles->chain(s->hi - s->lo, &chain, (float *)((uintptr_t)data + ((uintptr_t)s->lo << 2)));
    *out_is_stored = place != NULL;
    if (!place) holo_isa_done(t, last, 2, data);
    return step->chain;
}
