// isa_tile_chain.c - does neighboring steps on floats together, in one pass over the lanes. Each takes the result of
// the one before from CPU registers. What others need later is also stored in the vector of its register.
#include "isa/tile/isa_code.h"

#include <string.h>

enum { NONE = HOLO_LINKS, CHAIN_STEPS = HOLO_TILE_LINKS / 2 };

// The links that an instruction can be, if the result so far is its first, second or third operand, or both of the
// first two.
typedef struct Form {
    bool    is_link;
    uint8_t operand[3], both;
} Form;

#define ALONE(id)          [HOLO_ISA_##id] = {true, {HOLO_LINK_##id, NONE, NONE}, NONE},
#define PAIR(id, other)    [HOLO_ISA_##id] = {true, {HOLO_LINK_##id, HOLO_LINK_##other, NONE}, NONE},
#define PRODUCT(id, other) [HOLO_ISA_##id] = {true, {HOLO_LINK_##id, HOLO_LINK_##id, HOLO_LINK_##other}, NONE},

static const Form forms[HOLO_ISA_OP_END] = {
    // clang-format off
    ALONE(ABS) ALONE(NEG) ALONE(SIGN) ALONE(FLOOR) ALONE(CEIL) ALONE(ROUND) ALONE(SQRT) ALONE(RSQRT) ALONE(RCP)
    ALONE(EXP) ALONE(TANH) ALONE(SIGMOID) ALONE(ERF) ALONE(LOG) ALONE(LOG2) ALONE(LOG10)
    ALONE(SIN) ALONE(COS) ALONE(TAN) ALONE(ASIN) ALONE(ACOS) ALONE(ATAN)
    PAIR(ADD, ADD) PAIR(SUB, SUB_FROM) PAIR(DIV, DIV_INTO) PAIR(MIN, MIN_OF) PAIR(MAX, MAX_OF) PAIR(POW, POW_OF)
    PRODUCT(MAD, MAD_TO) PRODUCT(FMA, FMA_TO)
    [HOLO_ISA_MUL] = {true, {HOLO_LINK_MUL, HOLO_LINK_MUL, NONE}, HOLO_LINK_SQUARE},
    // clang-format on
};

bool holo_isa_is_link(const HoloIsaStep *s)
{
    return s->is_plain && s->inst.type == HOLO_F32 && forms[s->inst.op].is_link;
}

void holo_isa_find_chains(HoloIsaCode *code)
{
    for (int i = code->count - 1; i >= 0; i--) {
        HoloIsaStep *s    = &code->steps[i];
        int          rest = i + 1 < code->count ? s[1].chain : 0;
        if (holo_isa_is_link(s)) s->chain = (uint8_t)(rest < CHAIN_STEPS ? rest + 1 : CHAIN_STEPS);
    }
}

// ---- running

typedef struct Chain {
    HoloIsaTile  *t;
    size_t        at;   // bytes before the first lane
    int           held; // the register that holds the result so far; -1: none
    int           numbers;
    float         number[2 * CHAIN_STEPS]; // operands that are the same for all lanes
    HoloTileChain links;
} Chain;

static float *vector_of(const Chain *c, const uint8_t *data)
{
    return (float *)((uintptr_t)data + c->at);
}

// Also stores the result so far.
static void store_held(Chain *c)
{
    HoloTileLink *last = &c->links.links[c->links.count - 1];
    if (!last->to && last->op != HOLO_LINK_LOAD) last->to = vector_of(c, c->t->r[c->held].data);
}

static const float *operand(Chain *c, unsigned at, bool *out_is_one)
{
    const HoloIsaRegister *r = &c->t->r[at];
    *out_is_one              = r->tag == HOLO_ISA_ONE;
    if (!*out_is_one) return vector_of(c, r->data);
    float *number = &c->number[c->numbers++]; // the register may change before the chain runs
    memcpy(number, &r->base, sizeof *number);
    return number;
}

static void load(Chain *c, unsigned r)
{
    HoloTileLink *l = &c->links.links[c->links.count++];
    *l              = (HoloTileLink){.op = HOLO_LINK_LOAD};
    l->x            = operand(c, r, &l->x_is_one);
    c->held         = (int)r;
}

// For the larger of v and a number the order does not matter, unless that is 0 or NaN; the number first is less work.
static void turn(HoloTileLink *l)
{
    if (!l->x_is_one || *l->x == 0 || *l->x != *l->x) return;
    if (l->op == HOLO_LINK_MAX) l->op = HOLO_LINK_MAX_OF;
    if (l->op == HOLO_LINK_MIN) l->op = HOLO_LINK_MIN_OF;
}

// The link of a step that has the result so far as an operand.
static void link_step(Chain *c, const HoloIsaStep *s)
{
    const Form    *form  = &forms[s->inst.op];
    const unsigned in[3] = {s->inst.a, s->inst.b, s->inst.c};
    HoloTileLink   l     = {.op = NONE};
    int            k     = 0;
    bool           both  = s->inputs == 2 && in[0] == in[1] && form->both != NONE;
    if (both) l.op = form->both;
    for (int i = 0; i < s->inputs && !both; i++) {
        bool is_held = in[i] == (unsigned)c->held, is_one;
        if (is_held && l.op == NONE) {
            l.op = form->operand[i];
            continue;
        }
        if (is_held) store_held(c);
        const float *p = operand(c, in[i], &is_one);
        if (k++)
            l.y = p, l.y_is_one = is_one;
        else
            l.x = p, l.x_is_one = is_one;
    }
    turn(&l);
    c->links.links[c->links.count++] = l;
    c->held                          = s->inst.dst;
}

static void add_step(Chain *c, const HoloIsaStep *s)
{
    const unsigned in[3]   = {s->inst.a, s->inst.b, s->inst.c};
    int            each    = -1;
    bool           is_held = false, unused;
    for (int i = s->inputs - 1; i >= 0; i--) {
        is_held |= c->held == (int)in[i];
        if (c->t->r[in[i]].tag == HOLO_ISA_EACH) each = (int)in[i];
    }
    if (each < 0) { // the same for all lanes
        holo_isa_tile_floats(c->t, s, &unused);
        if (c->held == s->inst.dst) c->held = -1;
        return;
    }
    if (!is_held) load(c, (unsigned)each);
    link_step(c, s);
    holo_isa_done(c->t, s, 2, holo_isa_begin_each(c->t, s));
}

int holo_isa_tile_chain(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaSet *set   = holo_isa_now(t);
    Chain             c     = {.t = t, .at = (size_t)set->lo << 2, .held = -1};
    int               count = 0;
    while (count < step->chain && !holo_isa_keeps(t, &step[count])) count++;
    if (count < 2) return 0;
    uint8_t *place = step[count - 1].join ? holo_isa_joined(t, &step[count - 1]) : NULL;
    for (int k = 0; k < count; k++) {
        add_step(&c, &step[k]);
        bool is_kept = k + 1 == count || !step[k].dies;
        if (c.held == step[k].inst.dst && is_kept) store_held(&c);
    }
    if (place && c.held == step[count - 1].inst.dst) {
        c.links.links[c.links.count - 1].to = vector_of(&c, place);
        *out_is_stored                      = true;
    }
    while (c.links.count && !c.links.links[c.links.count - 1].to) c.links.count--; // nobody needs these
    if (c.links.count) t->code->tiles->chain(set->hi - set->lo, &c.links);
    return count;
}
