// gemm_blocks_i8_way.c - products with weights in blocks by one way to multiply bytes: included once for each way.
//
//   WAY_NAME      own, quads: part of the names below
//   WAY_SUFFIX    what the names of the kernels end with
//   WAY_TARGET    of functions
//   WAY_DOTS      how bytes are multiplied: DOTS_*
//   WAY_FORMS(X)  the forms for few rows
//   WAY_UNIT      bytes of a unit of a row
#define WAY_GLUE(a, b)   WAY_GLUE_(a, b)
#define WAY_GLUE_(a, b)  a##b
#define WAY(name)        WAY_GLUE(WAY_GLUE(blocks_, WAY_NAME), _##name)
#define WAY_KERNEL(name) SHARED(WAY_GLUE(name, WAY_SUFFIX))

WAY_TARGET void WAY_KERNEL(rows_blocks_i8)(const HoloBlockType *type, int64_t k, const float *a, void *out)
{
    blocks_row_make(type, k, a, out, WAY_DOTS);
}

#define X(name, rows, panels, bits, coded, group)                                                                \
    WAY_TARGET static void WAY(name##_##bits##_##coded##_##group)(const HoloGemmBlocks *g, const uint8_t *panel, \
                                                                  int64_t column)                                \
    {                                                                                                            \
        blocks_few(g, panel, column, rows, panels, bits, coded, group, WAY_DOTS);                                \
    }
WAY_FORMS(X)
#undef X

static BlocksFew *const WAY(few)[FEW_SHAPES][9][2][2] = {
#define X(name, rows, panels, bits, coded, group) \
    [name][bits][coded][group / 32] = WAY(name##_##bits##_##coded##_##group),
    WAY_FORMS(X)
#undef X
};

#define X(name, rows, panels, group, kind)                                                                      \
    WAY_TARGET static void WAY(name##_##group##_##kind)(const BlocksTile *t)                                    \
    {                                                                                                           \
        blocks_tile(t, rows, panels, group, kind == TILE_OFFSET || kind == TILE_MORE_OFFSET, kind == TILE_WIDE, \
                    blocks_run(kind >= TILE_MORE ? 6 : 4, kind == TILE_WIDE, WAY_DOTS), WAY_DOTS);              \
    }
BLOCK_TILES(X)
#undef X

static BlocksMany *const WAY(many)[MANY_SHAPES][2][TILE_KINDS] = {
#define X(name, rows, panels, group, kind) [name][group / 32][kind] = WAY(name##_##group##_##kind),
    BLOCK_TILES(X)
#undef X
};

static void WAY(write)(const HoloBlockType *type, const uint8_t *b, int64_t units, uint8_t *out)
{
    blocks_write_any(type, b, units, WAY_DOTS, out);
}

void WAY_KERNEL(gemm_blocks_i8)(const HoloGemmBlocks *g)
{
    const BlocksWay way = {WAY(few), WAY(many), WAY(write), WAY_UNIT};
    blocks_walk(g, &way);
}

#undef WAY_GLUE
#undef WAY_GLUE_
#undef WAY
#undef WAY_KERNEL
#undef WAY_NAME
#undef WAY_SUFFIX
#undef WAY_TARGET
#undef WAY_DOTS
#undef WAY_FORMS
#undef WAY_UNIT
