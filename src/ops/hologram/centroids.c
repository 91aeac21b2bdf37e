// centroids.c - Centroids of domain "hologram": a product with constant weights in which every few numbers of a row are
// replaced by the nearest of some centroids. Tables hold the products with the centroids, so a row of the product is a
// sum of rows of tables.
//
// It is an approximation: the compiler makes it only if it is asked for by name. Everything is f32, and each operation
// is rounded by itself in a fixed order, so the bits are the same on every CPU.
#include "ops/spread.h"

#include <string.h>

enum { X, CENTROIDS, TABLE, BIAS };
enum { COUNT_MOST = 256, GROUPS = 64, COLUMNS = 1024 }; // GROUPS, COLUMNS: of a part of the work
enum { SOME = 16 };                                     // numbers that compilers vectorize

typedef struct Sizes {
    int64_t rows, groups, width, count, n;
} Sizes;

// x[..., k], centroids [groups][width][count] and a table [groups][count][n]; maybe a bias [n].
static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *c = call->in[CENTROIDS], *t = call->in[TABLE], *bias = holo_in(call, BIAS);
    HoloDim           dim[HOLO_MAX_RANK], k;
    if (!c || !t) return holo_call_fail(call, HOLO_BAD_MODEL, "centroids or table are missing");
    HOLO_TRY(holo_expect_rank(call, X, 1, HOLO_MAX_RANK));
    for (int i = CENTROIDS; i <= (bias ? BIAS : TABLE); i++) {
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_rank(call, i, i == BIAS ? 1 : 3, i == BIAS ? 1 : 3));
    }
    if (holo_dims_differ(c->dim[0], t->dim[0]) || holo_dims_differ(c->dim[2], t->dim[1]) ||
        (bias && holo_dims_differ(bias->dim[0], t->dim[2])) ||
        (!holo_dim_is_symbolic(c->dim[2]) && (c->dim[2] < 1 || c->dim[2] > COUNT_MOST)) ||
        (!holo_dim_is_symbolic(c->dim[0]) && !holo_dim_is_symbolic(c->dim[1]) &&
         (__builtin_mul_overflow(c->dim[0], c->dim[1], &k) || holo_dims_differ(x->dim[x->rank - 1], k))))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the centroids are not those of such a table, or of such rows");
    memcpy(dim, x->dim, sizeof *dim * (size_t)x->rank);
    dim[x->rank - 1] = t->dim[2];
    return holo_out_type(call, 0, HOLO_F32, x->rank, dim);
}

// ---- which centroids

typedef struct Work {
    Sizes        s;
    const float *x, *centroids, *table, *bias;
    uint8_t     *code; // [row][group]
    float       *out;
} Work;

static inline void squares(float x, const float *centroids, int64_t count, float *off)
{
    for (int64_t c = 0; c < count; c++) off[c] += (x - centroids[c]) * (x - centroids[c]);
}

// The first of the nearest ones. One that is not a number is never near.
static uint8_t nearest(const Sizes *s, const float *x, const float *centroids)
{
    float   off[COUNT_MOST] = {0};
    int64_t best = 0, whole = s->count / SOME * SOME;
    for (int64_t i = 0; i < s->width; i++, centroids += s->count) {
        for (int64_t c = 0; c < whole; c += SOME) squares(x[i], centroids + c, SOME, off + c);
        squares(x[i], centroids + whole, s->count - whole, off + whole);
    }
    for (int64_t c = 1; c < s->count; c++)
        if (off[c] < off[best]) best = c;
    return (uint8_t)best;
}

static void work_codes(void *arg, int64_t i, int worker)
{
    const Work  *w = arg;
    const Sizes *s = &w->s;
    (void)worker;
    int64_t parts = (s->groups + GROUPS - 1) / GROUPS, row = i / parts, g = i % parts * GROUPS;
    int64_t end = g + GROUPS < s->groups ? g + GROUPS : s->groups;
    for (; g < end; g++)
        w->code[row * s->groups + g] =
            nearest(s, w->x + (row * s->groups + g) * s->width, w->centroids + g * s->width * s->count);
}

// ---- the product

static const float *entry(const Work *w, int64_t row, int64_t group, int64_t column)
{
    const Sizes *s = &w->s;
    return w->table + (group * s->count + w->code[row * s->groups + group]) * s->n + column;
}

// out += rows of four groups, so that sums go to memory less often.
static inline void add_four(const float *const row[4], int64_t at, int64_t count, float *out)
{
    float sum[SOME];
    for (int64_t j = 0; j < count; j++)
        sum[j] = out[at + j] + ((row[0][at + j] + row[1][at + j]) + (row[2][at + j] + row[3][at + j]));
    for (int64_t j = 0; j < count; j++) out[at + j] = sum[j];
}

static void work_sums(void *arg, int64_t i, int worker)
{
    const Work  *w = arg;
    const Sizes *s = &w->s;
    (void)worker;
    int64_t parts = (s->n + COLUMNS - 1) / COLUMNS, row = i / parts, column = i % parts * COLUMNS, g = 0;
    int64_t n = s->n - column < COLUMNS ? s->n - column : COLUMNS, whole = n / SOME * SOME;
    float  *out = w->out + row * s->n + column;
    for (int64_t j = 0; j < n; j++) out[j] = w->bias ? w->bias[column + j] : 0;
    for (; g + 4 <= s->groups; g += 4) {
        const float *const four[] = {entry(w, row, g, column), entry(w, row, g + 1, column),
                                     entry(w, row, g + 2, column), entry(w, row, g + 3, column)};
        for (int64_t j = 0; j < whole; j += SOME) add_four(four, j, SOME, out);
        add_four(four, whole, n - whole, out);
    }
    for (; g < s->groups; g++)
        for (int64_t j = 0; j < n; j++) out[j] += entry(w, row, g, column)[j];
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *c = call->in[CENTROIDS], *t = call->in[TABLE], *bias = holo_in(call, BIAS);
    if (holo_out_is_empty(call)) return HOLO_OK;
    Work w = {
        .s         = {.rows   = holo_product(x->rank - 1, x->dim),
                      .groups = c->dim[0],
                      .width  = c->dim[1],
                      .count  = c->dim[2],
                      .n      = t->dim[2]},
        .x         = x->data,
        .centroids = c->data,
        .table     = t->data,
        .bias      = bias ? bias->data : NULL,
        .out       = call->out[0]->data,
    };
    const Sizes *s     = &w.s;
    double       codes = (double)s->rows * (double)s->groups * (double)(s->width * s->count);
    HOLO_TRY(holo_call_temp(call, (size_t)s->rows, (size_t)s->groups, (void **)&w.code));
    holo_spread(call, s->rows * ((s->groups + GROUPS - 1) / GROUPS), codes, work_codes, &w);
    holo_spread(call, s->rows * ((s->n + COLUMNS - 1) / COLUMNS), (double)s->rows * (double)s->groups * (double)s->n,
                work_sums, &w);
    return HOLO_OK;
}

const HoloOp holo_ops_centroids[] = {
    {.name    = "Centroids",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .infer   = infer,
     .eval    = eval},
    {0},
};
