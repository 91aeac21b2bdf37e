// argreduce.c - ArgMax and ArgMin: where along an axis the largest or smallest element is.
//
// A NaN counts as the extreme element, as in NumPy.
#include "kernels/tiles/tiles.h"
#include "ops/op.h"
#include "ops/order.h"
#include "ops/rows.h"
#include "ops/spread.h"

#include <string.h>

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    bool              keep = holo_attr_int(call, "keepdims", 1) != 0;
    HoloDim           dim[HOLO_MAX_RANK];
    int               axis = 0, rank = 0;
    if (in->rank > 0 || holo_attr_find(call, "axis"))
        HOLO_TRY(holo_attr_axis(call, "axis", 0, call->in[0]->rank, &axis));
    for (int i = 0; i < in->rank; i++)
        if (i != axis || keep) dim[rank++] = i == axis ? 1 : in->dim[i];
    return holo_out_type(call, 0, HOLO_I64, rank, dim);
}

// The position of the best key: the first such key, or the last.
typedef struct Best {
    uint64_t key;
    int64_t  index;
} Best;

static void search(Best *best, const uint64_t *key, int64_t from, int64_t count, bool last)
{
    for (int64_t k = 0; k < count; k++)
        if (key[k] > best->key || (last && key[k] == best->key)) *best = (Best){key[k], from + k};
}

// Makes the smallest number the largest key. A NaN stays above all.
static void turn(uint64_t *key, int64_t count, bool is_float)
{
    for (int64_t k = 0; k < count; k++)
        if (!is_float || key[k] != HOLO_KEY_NAN) key[k] = ~key[k];
}

// One search: rows along an axis, by keys of any type. Rows of f32 are searched by the numbers themselves.
typedef struct Search {
    const HoloTensor *in;
    HoloTensor       *out;
    HoloRows          rows;
    bool              smallest, last, is_float;
} Search;

static void search_row(const Search *s, int64_t row)
{
    int64_t  start = holo_row_start(s->rows, row);
    uint64_t key[HOLO_TILE];
    Best     best = {0, 0};
    for (int64_t k = 0; k < s->rows.size; k += HOLO_TILE) {
        int64_t n = s->rows.size - k < HOLO_TILE ? s->rows.size - k : HOLO_TILE;
        holo_read_keys(s->in, start + k * s->rows.inner, s->rows.inner, n, key);
        if (s->smallest) turn(key, n, s->is_float);
        search(&best, key, k, n, s->last);
    }
    holo_put_i(s->out, row, best.index);
}

// ---- f32. As with keys, a NaN is above all numbers and equal to another; -0 equals 0.

enum { WIDE = 16 }; // numbers at a time: one would wait for the other

// WIDE neighboring rows side by side, so that memory is read in order.
static inline void search_wide(const Search *s, const float *x, bool last, int64_t *out)
{
    float   sign     = s->smallest ? -1.0f : 1.0f, best[WIDE];
    int32_t at[WIDE] = {0};
    for (int j = 0; j < WIDE; j++) best[j] = sign * x[j];
    for (int64_t k = 1; k < s->rows.size; k++) {
        const float *next = x + k * s->rows.inner;
        for (int j = 0; j < WIDE; j++) {
            float   v = sign * next[j], old = best[j];
            int32_t is_top = last ? (v >= old) | (v != v) : (v > old) | ((v != v) & (old == old));
            best[j]        = is_top ? v : old;
            at[j]          = is_top ? (int32_t)k : at[j];
        }
    }
    for (int j = 0; j < WIDE; j++) out[j] = at[j];
}

static void search_columns(const Search *s, const float *x, int64_t count, int64_t *out)
{
    int64_t j = 0;
    for (; j + WIDE <= count; j += WIDE)
        s->last ? search_wide(s, x + j, true, out + j) : search_wide(s, x + j, false, out + j);
    for (; j < count; j++) search_row(s, out + j - (int64_t *)s->out->data);
}

static void search_rows_f32(const Search *s, int64_t row, int64_t count)
{
    const float *x  = (const float *)s->in->data + holo_row_start(s->rows, row);
    int64_t     *to = (int64_t *)s->out->data + row;
    if (s->rows.inner > 1)
        search_columns(s, x, count, to);
    else
        *to = holo_tiles()->extreme(s->rows.size, x, s->smallest, s->last);
}

// ---- other types that have loops for each CPU: of numbers as they are stored, in the same order

enum { BLOCK = 1024 }; // elements that are looked at together

typedef struct Tiles {
    const HoloTiles *tiles;
    HoloTile        *before, *differ; // is a before b? do they differ?
    int              type, log;       // HoloTileType; log2 of the bytes of an element
    bool             is_float;
} Tiles;

static Tiles tiles_of(const Search *s)
{
    const HoloTiles *tiles = holo_tiles();
    int              type  = holo_tile_type((HoloDtype)s->in->dtype);
    if (type < 0) return (Tiles){.type = -1};
    size_t size = holo_dtype_size((HoloDtype)s->in->dtype);
    return (Tiles){.tiles    = tiles,
                   .before   = tiles->op[s->last ? HOLO_TILE_SET_LE : HOLO_TILE_SET_LT][type],
                   .differ   = tiles->op[HOLO_TILE_SET_NE][type],
                   .type     = type,
                   .log      = size == 8   ? 3
                               : size == 4 ? 2
                               : size == 2 ? 1
                                           : 0,
                   .is_float = s->is_float};
}

// One row of neighbors: finds the extreme element, then its position.
static int64_t search_row_tiles(const Search *s, const Tiles *t, const char *x)
{
    enum { MIN = 2, MAX = 3 };
    int64_t  n = s->rows.size, blocks = (n + BLOCK - 1) / BLOCK;
    uint64_t best = 0;
    uint8_t  differ[BLOCK], is_nan = 0;
    t->tiles->reduce[s->smallest ? MIN : MAX][t->type](n, x, &best);
    if (t->is_float) t->differ(1, &best, &best, NULL, &is_nan, 0);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t     from = (s->last ? blocks - 1 - b : b) * BLOCK, count = n - from < BLOCK ? n - from : BLOCK;
        const char *at = x + ((size_t)from << t->log);
        if (is_nan)
            t->tiles->op[HOLO_TILE_SET_EQ][t->type](count, at, at, NULL, differ, 0);
        else
            t->differ(count, at, &best, NULL, differ, count > 1 ? 2 : 0);
        int64_t found = t->tiles->zero[0](count, differ);
        if (found == count) continue;
        for (int64_t k = count - 1; s->last && k > found; k--)
            if (!differ[k]) found = k;
        return from + found;
    }
    return 0;
}

// Neighboring rows side by side, at most BLOCK.
static void search_columns_tiles(const Search *s, const Tiles *t, const char *x, int64_t count, int64_t *out)
{
    _Alignas(64) uint64_t best[BLOCK];
    int32_t               at[BLOCK] = {0};
    uint8_t               better[BLOCK], nan[BLOCK], number[BLOCK];
    memcpy(best, x, (size_t)count << t->log);
    for (int32_t k = 1; k < (int32_t)s->rows.size; k++) {
        const char *next = x + ((size_t)(k * s->rows.inner) << t->log);
        t->before(count, s->smallest ? (const void *)next : best, s->smallest ? (const void *)best : next, NULL, better,
                  0);
        if (t->is_float) t->differ(count, next, next, NULL, nan, 0);
        if (t->is_float && t->tiles->count(count, nan)) {
            t->tiles->op[HOLO_TILE_SET_EQ][t->type](count, best, best, NULL, number, 0);
            for (int64_t j = 0; j < count; j++) better[j] |= nan[j] & (uint8_t)(s->last | number[j]);
        }
        t->tiles->merge[t->log](count, better, next, false, best);
        t->tiles->merge[2](count, better, &k, true, at);
    }
    t->tiles->cvt[HOLO_TILE_I64][HOLO_TILE_I32](count, at, NULL, NULL, out, 0);
}

static void search_rows_tiles(const Search *s, const Tiles *t, int64_t row, int64_t count)
{
    const char *x  = (const char *)s->in->data + ((size_t)holo_row_start(s->rows, row) << t->log);
    int64_t    *to = (int64_t *)s->out->data + row;
    if (s->rows.inner > 1)
        search_columns_tiles(s, t, x, count, to);
    else
        *to = search_row_tiles(s, t, x);
}

enum { PART = 1 << 14 }; // elements that are looked at together, about

// The rows of a part. Neighbors are taken in such numbers that the loops over them are long.
static int64_t part_rows(HoloRows rows)
{
    int64_t few = 1 + PART / (rows.size + 1), side = rows.inner < BLOCK ? rows.inner : BLOCK;
    return rows.inner > 1 && few < side ? side : few;
}

// Part `i` of the rows: the rows of one stretch of neighbors, or some of them.
static void search_part(void *arg, int64_t i, int worker)
{
    const Search *s     = arg;
    int64_t       count = holo_row_count(s->rows), step = part_rows(s->rows), row = i * step;
    int64_t       end   = count - row < step ? count : row + step;
    Tiles         tiles = tiles_of(s);
    (void)worker;
    while (row < end) {
        int64_t n = s->rows.inner - row % s->rows.inner; // neighbors from here on
        if (n > end - row) n = end - row;
        if (n > BLOCK) n = BLOCK;
        if (s->in->dtype == HOLO_F32 && s->rows.size < INT32_MAX)
            search_rows_f32(s, row, n);
        else if (tiles.type >= 0 && s->rows.size < INT32_MAX)
            search_rows_tiles(s, &tiles, row, n);
        else
            for (int64_t k = 0; k < n; k++) search_row(s, row + k);
        row += n;
    }
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    HoloTensor       *out  = holo_out(call, 0);
    int               axis = 0;
    if (!out) return HOLO_OK;
    if (in->rank > 0) HOLO_TRY(holo_attr_axis(call, "axis", 0, call->in[0]->rank, &axis));
    Search s = {
        .in       = in,
        .out      = out,
        .rows     = in->rank > 0 ? holo_rows(in, axis, axis + 1) : (HoloRows){1, 1, 1},
        .smallest = call->op->row != NULL,
        .last     = holo_attr_int(call, "select_last_index", 0) != 0,
        .is_float = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT,
    };
    int64_t count = holo_row_count(s.rows), step = part_rows(s.rows);
    if (s.rows.size == 0 && count > 0)
        return holo_call_fail(call, HOLO_BAD_INPUT, "axis %d has no elements to choose from", axis);
    if (count)
        holo_spread(call, count / step + (count % step != 0), (double)count * (double)s.rows.size, search_part, &s);
    return HOLO_OK;
}

static const bool smallest = true;

#define ARG(text, how)                                                                                \
    {                                                                                                 \
        .name = text, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_NUMBER, .infer = infer, .eval = eval, .row = how                          \
    }

const HoloOp holo_ops_argreduce[] = {
    ARG("ArgMax", NULL),
    ARG("ArgMin", &smallest),
    {0},
};
