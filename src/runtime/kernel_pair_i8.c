// kernel_pair_i8.c - QLinearAdd and QLinearMul of 8-bit integers, one of which may be a single number, or repeat itself
// over the first dimensions.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/kernel.h"

#include <string.h>

enum { PART = 1 << 15 }; // elements of a task

typedef struct Pair {
    const HoloHost   *host;
    const HoloTensor *in[2];
    HoloTensor       *out;
    HoloPairI8        pair;
    int64_t           count, size[2]; // elements of the output and of the operands
    int64_t           parts;          // tasks of one repetition
    int64_t           run;            // elements of it: the smaller operand that is no single number
} Pair;

static bool is_one(const HoloTensor *t, int dtype)
{
    return t && t->kind == HOLO_TENSOR && t->dtype == dtype && t->rank >= 0 && holo_tensor_count(t) == 1;
}

// Is it one number, or the output's last dimensions?
static bool repeats(const HoloTensor *t, const HoloTensor *out)
{
    int first = 0;
    if (holo_tensor_count(t) == 1) return true;
    while (first < t->rank && t->dim[first] == 1) first++;
    for (int d = first; d < t->rank; d++)
        if (t->rank > out->rank || t->dim[d] != out->dim[out->rank - t->rank + d]) return false;
    return true;
}

static HoloStatus pair_init(const HoloCall *call, Pair *p)
{
    *p            = (Pair){.host = call->host, .in = {holo_in(call, 0), holo_in(call, 3)}, .out = holo_out(call, 0)};
    bool multiply = !strcmp(call->op->name, "QLinearMul");
    p->pair       = (HoloPairI8){.multiply = multiply};
    bool ok       = holo_kernel_has_params(call, sizeof(HoloPairI8Params)) &&
              !((const HoloPairI8Params *)call->params)->flags && (multiply || !strcmp(call->op->name, "QLinearAdd")) &&
              p->out && p->out->kind == HOLO_TENSOR && (p->out->dtype == HOLO_U8 || p->out->dtype == HOLO_I8) &&
              p->out->rank >= 0;
    p->count = ok ? holo_tensor_count(p->out) : -1;
    ok       = ok && p->count >= 0 && is_one(holo_in(call, 6), HOLO_F32) &&
         (!holo_in(call, 7) || is_one(call->in[7], p->out->dtype));
    p->run = p->count;
    for (int i = 0; i < 2 && ok; i++) {
        const HoloTensor *t = p->in[i];
        ok = t && t->kind == HOLO_TENSOR && t->dtype == p->out->dtype && t->rank >= 0 && holo_tensor_count(t) >= 0 &&
             repeats(t, p->out) && is_one(holo_in(call, 3 * i + 1), HOLO_F32) &&
             (!holo_in(call, 3 * i + 2) || is_one(call->in[3 * i + 2], t->dtype));
        p->size[i] = ok ? holo_tensor_count(t) : 0;
        if (p->size[i] > 1 && p->size[i] < p->run) p->run = p->size[i];
    }
    for (int i = 0; i < 2 && ok && p->count; i++)
        ok = p->size[i] == 1 || p->size[i] == p->run || p->size[i] == p->count;
    if (!ok) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of pair_i8");
    p->parts = holo_ceil_div(p->run, PART);
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Pair p;
    *out_scratch = 0;
    return pair_init(call, &p);
}

static void work(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Pair *p     = arg;
    int64_t     first = i % p->parts * PART, whole = i / p->parts * p->run + first;
    HoloPairI8  pair = p->pair;
    pair.n           = holo_least(PART, p->run - first);
    pair.a           = (const uint8_t *)p->in[0]->data + (pair.a_is_one ? 0 : p->size[0] == p->count ? whole : first);
    pair.b           = (const uint8_t *)p->in[1]->data + (pair.b_is_one ? 0 : p->size[1] == p->count ? whole : first);
    pair.out         = (uint8_t *)p->out->data + whole;
    p->host->kernels->pair_i8(&pair);
}

static float number(const HoloCall *call, int input)
{
    return holo_in(call, input) ? (float)holo_get_f(call->in[input], 0) : 0;
}

static HoloStatus run(HoloCall *call)
{
    Pair p;
    HOLO_TRY(pair_init(call, &p));
    if (!p.count) return HOLO_OK;
    HoloPairI8 *pair = &p.pair;
    float       a = number(call, 1), a_zero = number(call, 2), b = number(call, 4), b_zero = number(call, 5);
    float       y = number(call, 6), y_zero = number(call, 7);
    pair->is_signed = p.out->dtype == HOLO_I8;
    pair->a_is_one  = p.size[0] == 1;
    pair->b_is_one  = p.size[1] == 1;
    pair->ratio     = a * b / y;
    pair->a_term    = pair->multiply ? a_zero : a / y;
    pair->b_term    = pair->multiply ? b_zero : b / y;
    pair->shift     = pair->multiply ? y_zero : y_zero - (a / y * a_zero + b / y * b_zero);
    call->host->parallel(call->host, p.count / p.run * p.parts, work, &p);
    return HOLO_OK;
}

const HoloKernel holo_kernel_pair_i8 = {
    .id    = HOLO_KERNEL_pair_i8,
    .name  = "pair_i8",
    .check = check,
    .run   = run,
};
