// blur.c - changes what nodes compute by some roundings, to see how far a model amplifies these.
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
    bool        is_sum; // of products: a result near zero may be the difference of large numbers
    uint64_t    seed;
} Blur;

enum { BLUR_PART = 1 << 15 };

static double mean_size(const HoloTensor *t, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t k = first; k < end; k++) {
        double x = fabs(holo_element(t, k));
        sum += isfinite(x) ? x : 0;
    }
    return sum / (double)(end - first);
}

// A number from -1 to 1. Every element takes one, so a congruential generator must do.
static inline double noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int32_t)(*state >> 32) * 0x1p-31;
}

// What rint says, which is a call on most CPUs. Large numbers have nothing behind the point.
static inline bool is_whole(double y)
{
    return !(fabs(y) < 0x1p31) ? y == rint(y) : y == (double)(int32_t)y;
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
        double off = b->by * noise(&state), y = holo_element(b->t, k);
        if (!is_whole(y)) y += off * (fabs(y) + mean);
        if (x)
            x[k] = (float)y;
        else
            holo_put_f(b->t, k, y);
    }
}

// A cast to a wider type changes nothing.
static bool is_computed(const HoloCall *call)
{
    if (call->op->flags & HOLO_OP_MOVES) return false;
    if (!holo_op_is(call->op, HOLO_ID_Cast) || !call->in[0] || !call->out[0]) return true;
    HoloDtype from = (HoloDtype)call->in[0]->dtype, to = (HoloDtype)call->out[0]->dtype;
    return holo_rounding_of(from) < holo_rounding_of(to);
}

// Changes computed elements at random by up to four roundings of their type; sums by that much of the average magnitude
// of their kind. What is only moved stays. Whole numbers stay, too: they may be sizes, and a Range or Ceil could then
// give one more.
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
