// order.c - turns numbers into keys with the same order, and sorts indices.
#include "ops/order.h"
#include "base/bits.h"

#include <string.h>

static uint64_t float_key(double x)
{
    if (x != x) return HOLO_KEY_NAN;
    uint64_t bits = holo_bits_of_f64(x + 0.0); // -0 becomes 0
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

void holo_read_keys(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, uint64_t *out)
{
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    if (class != HOLO_CLASS_FLOAT) {
        uint64_t flip = class == HOLO_CLASS_INT ? UINT64_C(1) << 63 : 0;
        holo_read_i(t, start, stride, count, (int64_t *)out);
        for (int64_t k = 0; k < count; k++) out[k] ^= flip;
        return;
    }
    if (t->dtype == HOLO_F32) {
        const float *from = (const float *)t->data + start;
        for (int64_t k = 0; stride == 1 && k < count; k++) out[k] = holo_key_f32(from[k]);
        for (int64_t k = 0; stride != 1 && k < count; k++) out[k] = holo_key_f32(from[k * stride]);
        return;
    }
    double x[HOLO_TILE];
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(t, start + k * stride, stride, n, x);
        for (int64_t j = 0; j < n; j++) out[k + j] = float_key(x[j]);
    }
}

void holo_sort(int64_t *index, int64_t *scratch, int64_t count, HoloCompare *compare, const void *context)
{
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t left = 0; left < count; left += 2 * width) {
            int64_t middle = left + width < count ? left + width : count;
            int64_t right  = middle + width < count ? middle + width : count;
            int64_t a = left, b = middle;
            for (int64_t k = left; k < right; k++) {
                bool first = a < middle && (b >= right || compare(context, index[a], index[b]) <= 0);
                scratch[k] = first ? index[a++] : index[b++];
            }
        }
        memcpy(index, scratch, (size_t)count * sizeof *index);
    }
}

void holo_sort_keys(int64_t *index, int64_t *scratch, int64_t count, const uint64_t *key)
{
    enum { BYTE = 256 };
    int64_t *from = index, *to = scratch;
    uint64_t differ = 0;
    for (int64_t i = 0; i < count; i++) differ |= key[i] ^ key[0];
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t place[BYTE] = {0}, next = 0;
        if (!(differ >> shift & (BYTE - 1))) continue; // all have the same byte here
        for (int64_t i = 0; i < count; i++) place[key[i] >> shift & (BYTE - 1)]++;
        for (int b = 0; b < BYTE; b++) {
            int64_t here = place[b];
            place[b]     = next;
            next += here;
        }
        for (int64_t i = 0; i < count; i++) to[place[key[from[i]] >> shift & (BYTE - 1)]++] = from[i];
        int64_t *swap = from;
        from          = to;
        to            = swap;
    }
    if (from != index) memcpy(index, from, (size_t)count * sizeof *index);
}
