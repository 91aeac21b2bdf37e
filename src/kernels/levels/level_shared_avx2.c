// level_shared_avx2.c - in place of level_shared_own.c for AVX-512: almost all such CPUs have VNNI. Those without take
// the products of AVX2, whose rows have the same form.
#define FROM_AVX2(name, args, ...)                  \
    void holo_kernels_avx2_##name args;             \
    void                          SHARED(name) args \
    {                                               \
        holo_kernels_avx2_##name(__VA_ARGS__);      \
    }
FROM_AVX2(rows_bits_i8, (int64_t k, int64_t block, const float *a, void *out), k, block, a, out)
FROM_AVX2(gemm_bits_i8, (const HoloGemmBitsI8 *g), g)
FROM_AVX2(rows_blocks_i8, (const HoloBlockType *type, int64_t k, const float *a, void *out), type, k, a, out)
FROM_AVX2(gemm_blocks_i8, (const HoloGemmBlocks *g), g)
#undef FROM_AVX2
