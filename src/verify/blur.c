// blur.c - what nodes compute, put off by some roundings: how far a model blows these up is seen so.
#include "verify/products.h"

#include <math.h>

double holo_rounding_of(HoloDtype dtype)
{
    static const double rounding[] = {
        [HOLO_F16] = 0x1p-11, [HOLO_BF16] = 0x1p-8, [HOLO_F32] = 0x1p-24, [HOLO_F64] = 0x1p-53};
    return dtype < HOLO_COUNT(rounding) ? rounding[dtype] : 0;
}

typedef struct Blur {
    HoloTensor *t;
    double      by;
    bool        is_sum; // of products: what is near zero may be the difference of large numbers
    uint64_t    seed;
} Blur;

enum { BLUR_PART = 1 << 15 };

static double mean_size(const HoloTensor *t, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t k = first; k < end; k++) {
        double x = fabs(holo_get_f(t, k));
        sum += isfinite(x) ? x : 0;
    }
    return sum / (double)(end - first);
}

// A number from -1 to 1. Every element takes one, and a congruence does for noise.
static inline double noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int32_t)(*state >> 32) * 0x1p-31;
}

static void blur_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Blur *b     = arg;
    uint64_t    state = b->seed ^ (uint64_t)part << 24;
    int64_t     first = part * BLUR_PART, end = holo_least(first + BLUR_PART, holo_tensor_count(b->t));
    float      *x    = b->t->dtype == HOLO_F32 ? b->t->data : NULL;
    double      mean = b->is_sum ? mean_size(b->t, first, end) : 0;
    for (int64_t k = first; k < end; k++) {
        double off = b->by * noise(&state), y = x ? (double)x[k] : holo_get_f(b->t, k);
        if (y != rint(y)) y += off * (fabs(y) + mean);
        if (x)
            x[k] = (float)y;
        else
            holo_put_f(b->t, k, y);
    }
}

// What is cast to a wider type is what it was.
static bool is_computed(const HoloCall *call)
{
    if (call->op->flags & HOLO_OP_MOVES) return false;
    if (!holo_op_is(call->op, HOLO_ID_Cast) || !call->in[0] || !call->out[0]) return true;
    HoloDtype from = (HoloDtype)call->in[0]->dtype, to = (HoloDtype)call->out[0]->dtype;
    return holo_rounding_of(from) < holo_rounding_of(to);
}

// Puts elements that were computed off by up to four roundings of their type, and of the size that their kind has on average
// where they are sums, at random. What is only moved stays, and whole numbers do: they may be sizes, of which a Range has one
// element more, and Ceil gives the next, when they are not.
void holo_blur(HoloProducts *p, const HoloCall *call)
{
    for (int i = 0; i < call->out_count && is_computed(call); i++) {
        HoloTensor *t     = call->out[i];
        double      by    = t ? 4 * holo_rounding_of((HoloDtype)t->dtype) : 0;
        Blur        b     = {t, by, call->op->at, holo_random_next(&p->random)};
        int64_t     count = b.by > 0 && t->kind == HOLO_TENSOR && t->data ? holo_tensor_count(t) : 0;
        p->host.parallel(&p->host, holo_ceil_div(count, BLUR_PART), blur_part, &b);
    }
}
