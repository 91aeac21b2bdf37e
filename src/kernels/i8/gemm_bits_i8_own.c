// gemm_bits_i8_own.c - gemm_bits_i8.c for every CPU of a level.

void SHARED(rows_bits_i8)(int64_t k, int64_t block, const float *a, void *out)
{
    bits_row_make(k, block, a, out, false);
}

#define X(rows, name, panels, bits)                                    \
    static void bits_pairs_##rows##_##name##_##bits(const BitsRows *t) \
    {                                                                  \
        bits_i8_tile(t, rows, panels, bits, false);                    \
    }
BITS_I8_TILES(X)
#undef X

static const BitsRowsTile bits_pairs[7][2][9] = {
#define X(rows, name, panels, bits) [rows][name][bits] = bits_pairs_##rows##_##name##_##bits,
    BITS_I8_TILES(X)
#undef X
};

void SHARED(gemm_bits_i8)(const HoloGemmBitsI8 *g)
{
    bits_i8_tiles(g, bits_pairs);
}
