// cuda_end.c - the tail of a product as what its kernel can do at its end: an operand added or multiplied, and a function.
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"

// The value so far is `at`, an operand of a program; steps before `next` are read.
typedef struct Reading {
    const HoloProgram *program;
    uint32_t           next;
    uint8_t            at;
} Reading;

static const HoloMapStep *peek(const Reading *r, uint32_t ahead)
{
    return r->next + ahead < r->program->count ? &r->program->step[r->next + ahead] : NULL;
}

static void take(Reading *r, uint32_t count)
{
    r->next += count;
    r->at = (uint8_t)(HOLO_MAP_INPUTS + r->next - 1);
}

static bool is_pair(const HoloMapStep *s, uint8_t op, uint8_t a, uint8_t b)
{
    return s && s->op == op && ((s->a == a && s->b == b) || (s->a == b && s->b == a));
}

static bool is_limit(const HoloMapStep *s, uint8_t op, uint8_t of)
{
    return s && s->op == op && s->a == of && s->b == HOLO_MAP_NUMBER;
}

static const struct {
    uint8_t op, act;
} functions[] = {
    {HOLO_MAP_sigmoid, HOLO_CUDA_ACT_SIGMOID},       {HOLO_MAP_tanh, HOLO_CUDA_ACT_TANH},
    {HOLO_MAP_gelu, HOLO_CUDA_ACT_GELU_ERF},         {HOLO_MAP_gelu_tanh, HOLO_CUDA_ACT_GELU_TANH},
    {HOLO_MAP_hard_swish, HOLO_CUDA_ACT_HARD_SWISH},
};

// How many steps from here on are x * sigmoid(x) of operand `of`; 0: they are not. It may be written with a factor of 1.
static uint32_t silu_steps(const Reading *r, uint8_t of)
{
    uint8_t            first = (uint8_t)(HOLO_MAP_INPUTS + r->next);
    const HoloMapStep *s     = peek(r, 0);
    uint32_t           times = is_limit(s, HOLO_MAP_mul, of) && s->number >= 1 && s->number <= 1;
    const HoloMapStep *curve = peek(r, times);
    bool               is    = curve && curve->op == HOLO_MAP_sigmoid && curve->a == (times ? first : of) &&
              is_pair(peek(r, times + 1), HOLO_MAP_mul, of, (uint8_t)(first + times));
    return is ? times + 2 : 0;
}

static void act_read(Reading *r, HoloCudaStepParams *p)
{
    const HoloMapStep *s = peek(r, 0), *second = peek(r, 1);
    uint8_t            first = (uint8_t)(HOLO_MAP_INPUTS + r->next);
    if (silu_steps(r, r->at)) {
        p->act = HOLO_CUDA_ACT_SILU;
        take(r, silu_steps(r, r->at));
        return;
    }
    if (is_limit(s, HOLO_MAP_at_least, r->at) && is_limit(second, HOLO_MAP_at_most, first)) {
        p->act = HOLO_CUDA_ACT_CLIP, p->low = s->number, p->high = second->number;
        take(r, 2);
        return;
    }
    if ((is_limit(s, HOLO_MAP_at_least, r->at) || is_limit(s, HOLO_MAP_max, r->at)) && !(s->number > 0) &&
        !(s->number < 0)) {
        p->act = HOLO_CUDA_ACT_RELU;
        take(r, 1);
        return;
    }
    if (is_limit(s, HOLO_MAP_leaky, r->at)) {
        p->act = HOLO_CUDA_ACT_LEAKY, p->low = s->number;
        take(r, 1);
        return;
    }
    for (int i = 0; i < HOLO_COUNT(functions); i++)
        if (s && s->op == functions[i].op && s->a == r->at) {
            p->act = functions[i].act;
            take(r, 1);
            return;
        }
}

// A gate: the function of x1, and the value so far times that.
static bool gate_read(Reading *r, HoloCudaStepParams *p)
{
    const HoloMapStep *s = peek(r, 0);
    if (!s || s->a != 1) return false;
    uint32_t silu = silu_steps(r, 1), steps = silu ? silu : 1;
    uint8_t  how  = silu                          ? HOLO_CUDA_MORE_MUL_SILU
                    : s->op == HOLO_MAP_gelu      ? HOLO_CUDA_MORE_MUL_GELU_ERF
                    : s->op == HOLO_MAP_gelu_tanh ? HOLO_CUDA_MORE_MUL_GELU_TANH
                                                  : HOLO_CUDA_MORE_NONE;
    uint8_t  gate = (uint8_t)(HOLO_MAP_INPUTS + r->next + steps - 1);
    if (!how || !is_pair(peek(r, steps), HOLO_MAP_mul, r->at, gate)) return false;
    p->more_how = how;
    take(r, steps + 1);
    return true;
}

bool holo_cuda_end(const HoloNode *node, const HoloProgram *tail, HoloCudaStepParams *params)
{
    Reading            r    = {.program = tail};
    HoloCudaStepParams p    = *params;
    const HoloValue   *more = holo_node_in(node, 3);
    if (is_pair(peek(&r, 0), HOLO_MAP_add, 0, 1)) {
        p.more_how = HOLO_CUDA_MORE_ADD_BEFORE;
        take(&r, 1);
    }
    act_read(&r, &p);
    if (!p.more_how && gate_read(&r, &p)) {
        // it is the last operand
    } else if (!p.more_how && is_pair(peek(&r, 0), HOLO_MAP_add, r.at, 1)) {
        p.more_how = HOLO_CUDA_MORE_ADD_AFTER;
        take(&r, 1);
    } else if (!p.more_how && is_pair(peek(&r, 0), HOLO_MAP_mul, r.at, 1)) {
        p.more_how = HOLO_CUDA_MORE_MUL_AFTER;
        take(&r, 1);
    }
    if (r.next != tail->count || (p.more_how && !(more && holo_shape_equal(&more->type, &node->out[0]->type))))
        return false;
    *params = p;
    return true;
}
