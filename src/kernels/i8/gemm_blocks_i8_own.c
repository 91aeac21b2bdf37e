// gemm_blocks_i8_own.c - gemm_blocks_i8.c for every CPU of a level.

void SHARED(rows_blocks_i8)(const HoloBlockType *type, int64_t k, const float *a, void *out)
{
    blocks_row_make(type, k, a, out, DOTS_OWN);
}

// Where quads take several instructions, fewer forms do: they would make the library a tenth larger. What is missing runs
// by the others, with the same bits.
#define BLOCK_OWN_FORMS(X) BLOCK_FORMS(X, FEW_ONE, 1, 1) BYTES_WIDE(BLOCK_FORMS(X, FEW_WIDE, 1, BLOCKS_WIDE))

#define X(name, rows, panels, bits, coded, group)                                                             \
    static void blocks_own_##name##_##bits##_##coded##_##group(const HoloGemmBlocks *g, const uint8_t *panel, \
                                                               int64_t column)                                \
    {                                                                                                         \
        blocks_few(g, panel, column, rows, panels, bits, coded, group, DOTS_OWN);                             \
    }
BLOCK_OWN_FORMS(X)
#undef X

static BlocksFew *const blocks_own[FEW_SHAPES][9][2][2] = {
#define X(name, rows, panels, bits, coded, group) \
    [name][bits][coded][group / 32] = blocks_own_##name##_##bits##_##coded##_##group,
    BLOCK_OWN_FORMS(X)
#undef X
};

#define X(name, panels, group, kind)                                                     \
    static void blocks_own_##name##_##group##_##kind(const BlocksTile *t)                \
    {                                                                                    \
        blocks_tile(t, panels, group, kind == TILE_OFFSET, kind == TILE_WIDE, DOTS_OWN); \
    }
BLOCK_TILES(X)
#undef X

static BlocksMany *const blocks_own_many[2][2][TILE_KINDS] = {
#define X(name, panels, group, kind) [name][group / 32][kind] = blocks_own_##name##_##group##_##kind,
    BLOCK_TILES(X)
#undef X
};

static void blocks_own_write(const HoloBlockType *type, const uint8_t *b, int64_t units, uint8_t *out)
{
    blocks_write_any(type, b, units, DOTS_OWN, out);
}

void SHARED(gemm_blocks_i8)(const HoloGemmBlocks *g)
{
    const BlocksWay way = {blocks_own, blocks_own_many, blocks_own_write,
                           UNIT_HEAD + (BYTES ? 1 : 2) * HOLO_BLOCK_UNIT};
    blocks_walk(g, &way);
}
