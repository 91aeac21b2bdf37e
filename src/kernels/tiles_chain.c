// tiles_chain.c - several operations on floats, one after the other, without memory between them: each takes the result of
// the one before. A block of registers holds it, so that choosing the operation is paid once for many lanes.

enum { CHAIN = NATIVE / 4 }; // registers of a block

// clang-format off
// The result so far is v, the other operands are x and y.
#define LINK_MAP_0(LINK)             \
    LINK(ABS, n_abs(v))              \
    LINK(NEG, -v)                    \
    LINK(SQUARE, v * v)               \
    LINK(SQRT, n_sqrt(v))            \
    LINK(RCP, 1.0f / v)
#define LINK_MAP_1(LINK)                           \
    LINK(ADD, v + x)                               \
    LINK(SUB, v - x)                               \
    LINK(SUB_FROM, x - v)                          \
    LINK(MUL, v * x)                                \
    LINK(DIV, v / x)                               \
    LINK(DIV_INTO, x / v)                          \
    LINK(MIN, n_select(v == v, n_min(v, x), v))    \
    LINK(MIN_OF, n_select(x == x, n_min(x, v), x)) \
    LINK(MAX, n_select(v == v, n_max(v, x), v))    \
    LINK(MAX_OF, n_select(x == x, n_max(x, v), x))
#define LINK_MAP_2(LINK)            \
    LINK(MAD, v * x + y)             \
    LINK(MAD_TO, x * y + v)          \
    LINK(FMA, n_fma(v, x, y))       \
    LINK(FMA_TO, n_fma(x, y, v))

#define LINK_LOOP(x_at, y_at, expression)                \
    UNROLL_MANY for (int k = 0; k < registers; k++)      \
    {                                                    \
        f32n v = block[k], x = x_at, y = y_at;           \
        (void)x, (void)y;                                \
        block[k] = expression;                           \
    }
#define LINK_X n_load_lanes(l->x + at + k * NATIVE_LANES, lanes)
#define LINK_Y n_load_lanes(l->y + at + k * NATIVE_LANES, lanes)

#define LINK_0(id, expression) \
    case HOLO_LINK_##id: LINK_LOOP(v, v, expression) break;
#define LINK_1(id, expression)                          \
    case HOLO_LINK_##id:                                \
        if (l->x_is_one)                                \
            LINK_LOOP(x_one, v, expression)             \
        else                                            \
            LINK_LOOP(LINK_X, v, expression)            \
        break;
#define LINK_2(id, expression)                          \
    case HOLO_LINK_##id:                                \
        if (l->x_is_one && l->y_is_one)                 \
            LINK_LOOP(x_one, y_one, expression)         \
        else if (l->x_is_one)                           \
            LINK_LOOP(x_one, LINK_Y, expression)        \
        else if (l->y_is_one)                           \
            LINK_LOOP(LINK_X, y_one, expression)        \
        else                                            \
            LINK_LOOP(LINK_X, LINK_Y, expression)       \
        break;
// clang-format on

// From lane `at` on. How many registers, and whether all their lanes are there, is a constant where this is called.
INL void chain_block(int64_t at, const int registers, const int lanes, const HoloTileChain *c, float *out)
{
    f32n block[CHAIN];
    UNROLL_MANY for (int k = 0; k < registers; k++) block[k] = n_load_lanes(c->first + at + k * NATIVE_LANES, lanes);
    for (int i = 0; i < c->count; i++) {
        const HoloTileLink *l     = &c->links[i];
        f32n                x_one = n_splat(l->x_is_one ? *l->x : 0), y_one = n_splat(l->y_is_one ? *l->y : 0);
        switch (l->op) {
            LINK_MAP_0(LINK_0)
            LINK_MAP_1(LINK_1)
            LINK_MAP_2(LINK_2)
        }
    }
    UNROLL_MANY for (int k = 0; k < registers; k++) n_store_lanes(out + at + k * NATIVE_LANES, block[k], lanes);
}

static void chain(int64_t n, const HoloTileChain *c, float *out)
{
    int64_t at = 0;
    for (; at + CHAIN * NATIVE_LANES <= n; at += CHAIN * NATIVE_LANES) chain_block(at, CHAIN, NATIVE_LANES, c, out);
    for (; at + NATIVE_LANES <= n; at += NATIVE_LANES) chain_block(at, 1, NATIVE_LANES, c, out);
    if (at < n) chain_block(at, 1, (int)(n - at), c, out);
}
