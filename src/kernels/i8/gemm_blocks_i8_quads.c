// gemm_blocks_i8_quads.c - gemm_blocks_i8.c for CPUs that multiply quads of bytes: see gemm_i8_quads.c.

QUADS_TARGET void SHARED(rows_blocks_i8_quads)(const HoloBlockType *type, int64_t k, const float *a, void *out)
{
    blocks_row_make(type, k, a, out, DOTS_QUADS);
}

#define X(name, rows, panels, bits, coded, group)                                                                   \
    QUADS_TARGET static void blocks_quads_##name##_##bits##_##coded##_##group(const HoloGemmBlocks *g,              \
                                                                              const uint8_t *panel, int64_t column) \
    {                                                                                                               \
        blocks_few(g, panel, column, rows, panels, bits, coded, group, DOTS_QUADS);                                 \
    }
BLOCK_FEW_FORMS(X)
#undef X

static BlocksFew *const blocks_quads[FEW_SHAPES][9][2][2] = {
#define X(name, rows, panels, bits, coded, group) \
    [name][bits][coded][group / 32] = blocks_quads_##name##_##bits##_##coded##_##group,
    BLOCK_FEW_FORMS(X)
#undef X
};

#define X(name, panels, group, kind)                                                       \
    QUADS_TARGET static void blocks_quads_##name##_##group##_##kind(const BlocksTile *t)   \
    {                                                                                      \
        blocks_tile(t, panels, group, kind == TILE_OFFSET, kind == TILE_WIDE, DOTS_QUADS); \
    }
BLOCK_TILES(X)
#undef X

static BlocksMany *const blocks_quads_many[2][2][TILE_KINDS] = {
#define X(name, panels, group, kind) [name][group / 32][kind] = blocks_quads_##name##_##group##_##kind,
    BLOCK_TILES(X)
#undef X
};

static void blocks_quads_write(const HoloBlockType *type, const uint8_t *b, int64_t units, uint8_t *out)
{
    blocks_write_any(type, b, units, DOTS_QUADS, out);
}

void SHARED(gemm_blocks_i8_quads)(const HoloGemmBlocks *g)
{
    const BlocksWay way = {blocks_quads, blocks_quads_many, blocks_quads_write, UNIT_HEAD + HOLO_BLOCK_UNIT};
    blocks_walk(g, &way);
}
