// tiles_chain.c - several operations on floats, one after the other, in one pass. The result so far of a block of lanes
// stays in registers: each operation is a function that takes these registers as arguments and ends with a call of the
// next one. The call is compiled to a jump.

enum { HELD = 8 }; // registers of a block: as many as a call passes

#define HELD_PARAMS f32n v0, f32n v1, f32n v2, f32n v3, f32n v4, f32n v5, f32n v6, f32n v7
#define HELD_ARGS   held[0], held[1], held[2], held[3], held[4], held[5], held[6], held[7]

typedef struct Link Link;
typedef void        LinkRun(const Link *l, int64_t at, HELD_PARAMS);

struct Link {
    LinkRun     *run;
    const float *x, *y;
    float       *to;
    int          lanes; // lanes of the only register of a short block
};

// clang-format off
// The result so far is v, the other operands are x and y. MANY: a loop over the registers of a block is written out.
#define LINK_MAP_0(LINK)                               \
    LINK(ABS, UNROLL_MANY, n_abs(v))                   \
    LINK(NEG, UNROLL_MANY, -v)                         \
    LINK(SIGN, UNROLL_MANY, n_sign(v))                 \
    LINK(FLOOR, UNROLL_MANY, n_floor(v))               \
    LINK(CEIL, UNROLL_MANY, n_ceil(v))                 \
    LINK(ROUND, UNROLL_MANY, n_round(v))               \
    LINK(SQUARE, UNROLL_MANY, v * v)                   \
    LINK(SQRT, UNROLL_MANY, n_sqrt(v))                 \
    LINK(RSQRT, UNROLL_MANY, 1.0f / n_sqrt(v))         \
    LINK(RCP, UNROLL_MANY, 1.0f / v)                   \
    LINK(EXP, UNROLL_MANY, n_exp(v))                   \
    LINK(TANH, UNROLL_MANY, n_tanh(v))                 \
    LINK(SIGMOID, UNROLL_MANY, n_sigmoid(v))           \
    LINK(ERF, UNROLL_MANY, n_erf(v))                   \
    LINK(LOG, UNROLL_MANY, n_log(v))                   \
    LINK(LOG2, , n_log_base(v, 1))                     \
    LINK(LOG10, , n_log_base(v, 0.3010299956639812))   \
    LINK(SIN, , n_sin(v))                              \
    LINK(COS, , n_cos(v))                              \
    LINK(TAN, , n_tan(v))                              \
    LINK(ASIN, , n_asin(v))                            \
    LINK(ACOS, , n_acos(v))                            \
    LINK(ATAN, , n_atan(v))
#define LINK_MAP_1(LINK)                               \
    LINK(LOAD, UNROLL_MANY, x)                         \
    LINK(ADD, UNROLL_MANY, v + x)                      \
    LINK(SUB, UNROLL_MANY, v - x)                      \
    LINK(SUB_FROM, UNROLL_MANY, x - v)                 \
    LINK(MUL, UNROLL_MANY, v * x)                      \
    LINK(DIV, UNROLL_MANY, v / x)                      \
    LINK(DIV_INTO, UNROLL_MANY, x / v)                 \
    LINK(MIN, UNROLL_MANY, n_least_of(v, x))              \
    LINK(MIN_OF, UNROLL_MANY, n_least_of(x, v))           \
    LINK(MAX, UNROLL_MANY, n_top_of(v, x))               \
    LINK(MAX_OF, UNROLL_MANY, n_top_of(x, v))            \
    LINK(POW, , n_pow(v, x))                           \
    LINK(POW_OF, , n_pow(x, v))
#define LINK_MAP_2(LINK)                               \
    LINK(MAD, UNROLL_MANY, v * x + y)                  \
    LINK(MAD_TO, UNROLL_MANY, x * y + v)               \
    LINK(FMA, UNROLL_MANY, n_fma(v, x, y))             \
    LINK(FMA_TO, UNROLL_MANY, n_fma(x, y, v))
// clang-format on

#define LINK_RUN(name, count, MANY, x_at, y_at, expression)  \
    static void name(const Link *l, int64_t at, HELD_PARAMS) \
    {                                                        \
        f32n held[HELD] = {v0, v1, v2, v3, v4, v5, v6, v7};  \
        MANY for (int k = 0; k < (count); k++)               \
        {                                                    \
            f32n v = held[k], x = x_at, y = y_at;            \
            (void)x, (void)y;                                \
            held[k] = expression;                            \
        }                                                    \
        l[1].run(l + 1, at, HELD_ARGS);                      \
    }
#define LINK_X      *(const f32u *)(l->x + at + k * NATIVE_LANES)
#define LINK_Y      *(const f32u *)(l->y + at + k * NATIVE_LANES)
#define LINK_X_PART n_load_lanes(l->x + at, l->lanes)
#define LINK_Y_PART n_load_lanes(l->y + at, l->lanes)
#define LINK_X_ONE  n_splat(*l->x)
#define LINK_Y_ONE  n_splat(*l->y)

// One function for a whole block and one for a short block. Operands that are one number have functions of their own.
#define LINK_0(id, MANY, expression)                  \
    LINK_RUN(link_##id, HELD, MANY, v, v, expression) \
    LINK_RUN(short_##id, 1, MANY, v, v, expression)
#define LINK_1(id, MANY, expression)                               \
    LINK_RUN(link_##id, HELD, MANY, LINK_X, v, expression)         \
    LINK_RUN(link_##id##_x, HELD, MANY, LINK_X_ONE, v, expression) \
    LINK_RUN(short_##id, 1, MANY, LINK_X_PART, v, expression)      \
    LINK_RUN(short_##id##_x, 1, MANY, LINK_X_ONE, v, expression)
#define LINK_2(id, MANY, expression)                                         \
    LINK_RUN(link_##id, HELD, MANY, LINK_X, LINK_Y, expression)              \
    LINK_RUN(link_##id##_x, HELD, MANY, LINK_X_ONE, LINK_Y, expression)      \
    LINK_RUN(link_##id##_y, HELD, MANY, LINK_X, LINK_Y_ONE, expression)      \
    LINK_RUN(link_##id##_xy, HELD, MANY, LINK_X_ONE, LINK_Y_ONE, expression) \
    LINK_RUN(short_##id, 1, MANY, LINK_X_PART, LINK_Y_PART, expression)      \
    LINK_RUN(short_##id##_x, 1, MANY, LINK_X_ONE, LINK_Y_PART, expression)   \
    LINK_RUN(short_##id##_y, 1, MANY, LINK_X_PART, LINK_Y_ONE, expression)   \
    LINK_RUN(short_##id##_xy, 1, MANY, LINK_X_ONE, LINK_Y_ONE, expression)
LINK_MAP_0(LINK_0)
LINK_MAP_1(LINK_1)
LINK_MAP_2(LINK_2)

// [short][operation][1: x is one number; 2: y is one number].
static LinkRun *const link_runs[2][HOLO_LINKS][4] = {
#define ROW_0(id, MANY, expression) [HOLO_LINK_##id] = {link_##id, link_##id, link_##id, link_##id},
#define ROW_1(id, MANY, expression) [HOLO_LINK_##id] = {link_##id, link_##id##_x, link_##id, link_##id##_x},
#define ROW_2(id, MANY, expression) [HOLO_LINK_##id] = {link_##id, link_##id##_x, link_##id##_y, link_##id##_xy},
    {LINK_MAP_0(ROW_0) LINK_MAP_1(ROW_1) LINK_MAP_2(ROW_2)},
#undef ROW_0
#undef ROW_1
#undef ROW_2
#define ROW_0(id, MANY, expression) [HOLO_LINK_##id] = {short_##id, short_##id, short_##id, short_##id},
#define ROW_1(id, MANY, expression) [HOLO_LINK_##id] = {short_##id, short_##id##_x, short_##id, short_##id##_x},
#define ROW_2(id, MANY, expression) [HOLO_LINK_##id] = {short_##id, short_##id##_x, short_##id##_y, short_##id##_xy},
    {LINK_MAP_0(ROW_0) LINK_MAP_1(ROW_1) LINK_MAP_2(ROW_2)},
};

// ---- where results go

static void link_save(const Link *l, int64_t at, HELD_PARAMS)
{
    f32n held[HELD] = {v0, v1, v2, v3, v4, v5, v6, v7};
    UNROLL_MANY for (int k = 0; k < HELD; k++) * (f32u *)(l->to + at + k * NATIVE_LANES) = held[k];
    l[1].run(l + 1, at, HELD_ARGS);
}

static void link_last(const Link *l, int64_t at, HELD_PARAMS)
{
    f32n held[HELD] = {v0, v1, v2, v3, v4, v5, v6, v7};
    UNROLL_MANY for (int k = 0; k < HELD; k++) * (f32u *)(l->to + at + k * NATIVE_LANES) = held[k];
}

static void short_save(const Link *l, int64_t at, HELD_PARAMS)
{
    n_store_lanes(l->to + at, v0, l->lanes);
    l[1].run(l + 1, at, v0, v1, v2, v3, v4, v5, v6, v7);
}

static void short_last(const Link *l, int64_t at, HELD_PARAMS)
{
    (void)v1, (void)v2, (void)v3, (void)v4, (void)v5, (void)v6, (void)v7;
    n_store_lanes(l->to + at, v0, l->lanes);
}

// Finds the functions of a chain, in order; returns how many there are.
static int chain_prepare(const HoloTileChain *c, bool is_short, int lanes, Link *out)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        const HoloTileLink *l = &c->links[i];
        out[count++] = (Link){link_runs[is_short][l->op][l->x_is_one | l->y_is_one << 1], l->x, l->y, NULL, lanes};
        if (l->to) out[count++] = (Link){is_short ? short_save : link_save, NULL, NULL, l->to, lanes};
    }
    out[count - 1].run = is_short ? short_last : link_last;
    return count;
}

static void chain(int64_t n, const HoloTileChain *c)
{
    Link       links[2 * HOLO_TILE_LINKS];
    const f32n v  = {0};
    int64_t    at = 0;
    if (n >= HELD * NATIVE_LANES) {
        (void)chain_prepare(c, false, NATIVE_LANES, links);
        for (; at + HELD * NATIVE_LANES <= n; at += HELD * NATIVE_LANES) links->run(links, at, v, v, v, v, v, v, v, v);
    }
    if (at == n) return;
    int count = chain_prepare(c, true, NATIVE_LANES, links);
    for (; at < n; at += NATIVE_LANES) {
        if (n - at < NATIVE_LANES)
            for (int i = 0; i < count; i++) links[i].lanes = (int)(n - at);
        links->run(links, at, v, v, v, v, v, v, v, v);
    }
}
