// gemm_bits_i8_quads.c - gemm_bits_i8.c for CPUs that multiply quads of bytes: see gemm_i8_quads.c.

QUADS_TARGET void SHARED(rows_bits_i8_quads)(int64_t k, int64_t block, const float *a, void *out)
{
    bits_row_make(k, block, a, out, true);
}

#define X(rows, name, panels, bits)                                                 \
    QUADS_TARGET static void bits_quads_##rows##_##name##_##bits(const BitsRows *t) \
    {                                                                               \
        bits_i8_tile(t, rows, panels, bits, true);                                  \
    }
BITS_I8_TILES(X)
#undef X

static const BitsRowsTile bits_quads[7][2][9] = {
#define X(rows, name, panels, bits) [rows][name][bits] = bits_quads_##rows##_##name##_##bits,
    BITS_I8_TILES(X)
#undef X
};

void SHARED(gemm_bits_i8_quads)(const HoloGemmBitsI8 *g)
{
    bits_i8_tiles(g, bits_quads);
}
