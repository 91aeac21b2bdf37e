// blur.c - changes what nodes compute by some roundings, to see how far a model amplifies these.
#include "base/bits.h"
#include "verify/products.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

// In several sums, so that no addition waits for the one before it.
static double sum_of_floats(const float *x, int64_t count)
{
    enum { SUMS = 8 };
    float  part[SUMS];
    double sum = 0;
    while (count > 0) {
        int64_t block = holo_least(count, 1024);
        memset(part, 0, sizeof part);
        for (int64_t k = 0; k + SUMS <= block; k += SUMS)
            for (int i = 0; i < SUMS; i++) part[i] += fabsf(x[k + i]) <= FLT_MAX ? fabsf(x[k + i]) : 0;
        for (int64_t k = block - block % SUMS; k < block; k++) part[0] += fabsf(x[k]) <= FLT_MAX ? fabsf(x[k]) : 0;
        for (int i = 0; i < SUMS; i++) sum += (double)part[i];
        x += block;
        count -= block;
    }
    return sum;
}

static double mean_size(const HoloTensor *t, int64_t first, int64_t end)
{
    double sum = 0;
    if (t->dtype == HOLO_F32) sum = sum_of_floats((const float *)t->data + first, end - first);
    for (int64_t k = first; k < end && t->dtype != HOLO_F32; k++) {
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

enum { NOISE = 1 << 12, STRETCH = 1 << 9 };

// Numbers from -2^31 to 2^31.
static void noise_make(float *out, int count, uint32_t seed)
{
    for (int k = 0; k < count; k++) {
        uint32_t hash = ((uint32_t)k + seed) * 0x9E3779B1u;
        hash          = (hash ^ hash >> 15) * 0x85EBCA6Bu;
        out[k]        = (float)(int32_t)(hash ^ hash >> 13);
    }
}

// The same for floats, which are most elements of most models: without a step that waits for the one before it, so that
// the compiler can make vectors of it. Of many, each stretch takes a piece of the same noise, which begins anywhere.
static void blur_floats(const Blur *b, float *x, int count, uint32_t seed, float mean)
{
    float noise[NOISE], by = (float)b->by * 0x1p-31f;
    noise_make(noise, count < NOISE ? count : NOISE, seed);
    for (int first = 0; first < count; first += STRETCH) {
        seed               = seed * 1664525 + 1013904223;
        const float *piece = noise + (count > NOISE ? (seed >> 8) % (NOISE - STRETCH) : (uint32_t)first);
        int          n     = count - first < STRETCH ? count - first : STRETCH;
        for (int k = 0; k < n; k++) {
            // Numbers from 2^23 on are whole, and a number that stays gets -0 added.
            uint32_t bits = holo_bits_of_f32(x[first + k]), is_small = -(uint32_t)((bits & 0x7FFFFFFF) < 0x4B000000);
            float    small       = holo_f32_of_bits(bits & is_small);
            uint32_t is_fraction = -(uint32_t)(small != (float)(int32_t)small);
            uint32_t off         = holo_bits_of_f32(by * piece[k] * (fabsf(small) + mean));
            x[first + k] += holo_f32_of_bits((off & is_fraction) | (0x80000000u & ~is_fraction));
        }
    }
}

static void blur_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Blur *b     = arg;
    uint64_t    state = b->seed ^ (uint64_t)part << 24;
    int64_t     first = part * BLUR_PART, end = holo_least(first + BLUR_PART, holo_tensor_count(b->t));
    double      mean = b->is_sum ? mean_size(b->t, first, end) : 0;
    if (b->t->dtype == HOLO_F32) {
        blur_floats(b, (float *)b->t->data + first, (int)(end - first), (uint32_t)(state >> 32 ^ state), (float)mean);
        return;
    }
    for (int64_t k = first; k < end; k++) {
        double off = b->by * noise(&state), y = holo_element(b->t, k);
        if (!is_whole(y)) y += off * (fabs(y) + mean);
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
