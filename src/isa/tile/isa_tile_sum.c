// isa_tile_sum.c - sums of products in loops. They are delayed: the factors of each turn are noted, and a few dozen
// products are added in one pass over the lanes. In between, nothing may read or write the sum, or write memory, where
// the factors are.
#include "format/dtype.h"
#include "isa/tile/isa_code.h"

#include <string.h>

// Steps that may come in between: they write no memory, and read no floats from registers.
static bool is_aside(const HoloIsaStep *s)
{
    unsigned op = s->inst.op;
    switch (op) {
    case HOLO_ISA_CONST:
    case HOLO_ISA_PARAM:
    case HOLO_ISA_SPECIAL:
    case HOLO_ISA_LENGTH:
    case HOLO_ISA_LD:
    case HOLO_ISA_LDS:
    case HOLO_ISA_LDL: return true;
    case HOLO_ISA_MOV:
    case HOLO_ISA_SEL: return !s->is_float;
    case HOLO_ISA_CVT: return !s->is_float && !(HOLO_TYPES_FLOAT >> s->inst.how & 1);
    default: return op >= HOLO_ISA_ADD && op <= HOLO_ISA_SET && !s->is_float;
    }
}

void holo_isa_find_sums(HoloIsaCode *code)
{
    for (int i = 0, loops = 0; i < code->count; i++) {
        HoloIsaStep       *s = &code->steps[i];
        const HoloIsaInst *x = &s->inst;
        if (x->op == HOLO_ISA_LOOP) loops++;
        if (x->op == HOLO_ISA_END && code->steps[s->target].inst.op == HOLO_ISA_LOOP) loops--;
        bool is_product = (x->op == HOLO_ISA_MAD || x->op == HOLO_ISA_FMA) && s->is_plain && x->type == HOLO_F32;
        s->is_sum       = loops && is_product && s->chain < 2 && x->c == x->dst && x->a != x->dst && x->b != x->dst;
        s->is_aside     = is_aside(s);
    }
}

// An operand in memory, or a number. False: it is in the register's own vector, which may change.
static bool factor(HoloIsaTile *t, unsigned at, const float **out, bool *out_is_one)
{
    const HoloIsaRegister *r   = &t->r[at];
    HoloIsaSum            *sum = &t->sum;
    *out_is_one                = r->tag == HOLO_ISA_ONE;
    if (!*out_is_one) {
        *out = (const float *)((uintptr_t)r->data + ((uintptr_t)sum->lo << 2));
        return r->data != r->own;
    }
    float *number = &sum->number[sum->numbers++];
    memcpy(number, &r->base, sizeof *number);
    *out = number;
    return true;
}

static void begin(HoloIsaTile *t, unsigned r)
{
    const HoloIsaSet *s = holo_isa_now(t);
    HoloTileLink     *l = t->sum.links.links;
    t->sum.of = (int32_t)r, t->sum.lo = s->lo, t->sum.hi = s->hi;
    t->sum.numbers = 0, t->sum.links.count = 1;
    *l = (HoloTileLink){.op = HOLO_LINK_LOAD};
    (void)factor(t, r, &l->x, &l->x_is_one); // nobody may change its own vector
}

void holo_isa_tile_sum_end(HoloIsaTile *t)
{
    HoloIsaSum      *sum = &t->sum;
    HoloIsaRegister *r   = &t->r[sum->of];
    sum->of              = -1;
    if (sum->links.count < 2) return;
    sum->links.links[sum->links.count - 1].to = (float *)((uintptr_t)r->own + ((uintptr_t)sum->lo << 2));
    t->code->tiles->chain(sum->hi - sum->lo, &sum->links);
    r->tag = HOLO_ISA_EACH, r->data = r->own;
}

bool holo_isa_tile_sum(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s   = holo_isa_now(t);
    HoloIsaSum       *sum = &t->sum;
    HoloTileLink      l   = {.op = step->inst.op == HOLO_ISA_MAD ? HOLO_LINK_MAD_TO : HOLO_LINK_FMA_TO};
    bool              is_other =
        sum->of != step->inst.dst || sum->lo != s->lo || sum->hi != s->hi || sum->links.count == HOLO_TILE_LINKS;
    if (sum->of >= 0 && is_other) holo_isa_tile_sum_end(t);
    if (holo_isa_keeps(t, step)) return false;
    if (sum->of < 0) begin(t, step->inst.dst);
    bool can = factor(t, step->inst.a, &l.x, &l.x_is_one) && factor(t, step->inst.b, &l.y, &l.y_is_one);
    if (!can || (l.x_is_one && l.y_is_one)) return false;
    sum->links.links[sum->links.count++] = l;
    return true;
}
