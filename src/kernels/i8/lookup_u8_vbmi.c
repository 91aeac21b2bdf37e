// lookup_u8_vbmi.c - lookup_u8 for CPUs that permute the bytes of two registers (AVX-512 VBMI): the table is in four
// registers. Only the level that has a third table of kernels, for such CPUs, includes it.

typedef uint8_t u8n __attribute__((vector_size(64)));

static u8n lookup_64(u8n at, u8n t0, u8n t1, u8n t2, u8n t3)
{
    u8n low = at, high = at;
    __asm__("vpermi2b %2, %1, %0" : "+v"(low) : "v"(t0), "v"(t1)); // by the low seven bits
    __asm__("vpermi2b %2, %1, %0" : "+v"(high) : "v"(t2), "v"(t3));
    return (u8n)_mm512_mask_blend_epi8(_mm512_movepi8_mask((__m512i)at), (__m512i)low, (__m512i)high);
}

void SHARED(lookup_u8_vbmi)(int64_t n, const uint8_t *x, const uint8_t *table, uint8_t *out)
{
    u8n t[4], at;
    __builtin_memcpy(t, table, sizeof t);
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __builtin_memcpy(&at, x + i, sizeof at);
        at = lookup_64(at, t[0], t[1], t[2], t[3]);
        __builtin_memcpy(out + i, &at, sizeof at);
    }
    SHARED(lookup_u8)(n - i, x + i, table, out + i);
}
