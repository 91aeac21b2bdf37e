// narrow_f32.c - converts f16 and bf16 to f32 and back, rounded to nearest, ties to even. It has no branches, so that
// the compiler can vectorize it.
#include "base/bits.h"

void SHARED(widen_f16)(int64_t n, const uint16_t *x, float *out)
{
    int64_t  i           = 0;
    uint16_t last[LANES] = {0};
    for (; i + LANES <= n; i += LANES) v_store(out + i, v_load_f16(x + i));
    for (int64_t j = i; j < n; j++) last[j - i] = x[j];
    if (i < n) v_store_part(out + i, v_load_f16(last), (int)(n - i));
}

void SHARED(widen_bf16)(int64_t n, const uint16_t *x, float *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = holo_f32_of_bits((uint32_t)x[i] << 16);
}

void SHARED(narrow_f16)(int64_t n, const float *x, uint16_t *out)
{
    int64_t  i = 0;
    uint16_t last[LANES];
    for (; i + LANES <= n; i += LANES) v_store_f16(out + i, v_load(x + i));
    if (i == n) return;
    v_store_f16(last, v_load_strided(x + i, 1, 0, (int)(n - i)));
    for (int64_t j = i; j < n; j++) out[j] = last[j - i];
}

void SHARED(narrow_bf16)(int64_t n, const float *x, uint16_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits   = holo_bits_of_f32(x[i]);
        uint32_t narrow = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        out[i]          = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : narrow);
    }
}
