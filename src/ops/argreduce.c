// argreduce.c - ArgMax and ArgMin: where along an axis the largest or smallest element is.
//
// A NaN is taken for the extreme one, as NumPy does.
#include "kernels/tiles.h"
#include "ops/op.h"
#include "ops/order.h"
#include "ops/rows.h"
#include "ops/spread.h"

static HoloStatus find_axis(const HoloCall *call, int *axis)
{
    return holo_axis(call, holo_attr_int(call, "axis", 0), call->in[0]->rank, axis);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    bool              keep = holo_attr_int(call, "keepdims", 1) != 0;
    HoloDim           dim[HOLO_MAX_RANK];
    int               axis = 0, rank = 0;
    if (in->rank > 0 || holo_attr_find(call, "axis")) HOLO_TRY(find_axis(call, &axis));
    for (int i = 0; i < in->rank; i++)
        if (i != axis || keep) dim[rank++] = i == axis ? 1 : in->dim[i];
    return holo_out_type(call, 0, HOLO_I64, rank, dim);
}

// Where the best key is: the first one, or the last.
typedef struct Best {
    uint64_t key;
    int64_t  index;
} Best;

static void search(Best *best, const uint64_t *key, int64_t from, int64_t count, bool last)
{
    for (int64_t k = 0; k < count; k++)
        if (key[k] > best->key || (last && key[k] == best->key)) *best = (Best){key[k], from + k};
}

// Makes the smallest number the largest key; a NaN stays above all.
static void turn(uint64_t *key, int64_t count, bool is_float)
{
    for (int64_t k = 0; k < count; k++)
        if (!is_float || key[k] != HOLO_KEY_NAN) key[k] = ~key[k];
}

// One search: rows along an axis, by keys of any type or, of f32, by the numbers themselves.
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

// Neighbouring rows, WIDE of them, side by side: what is next to each other in memory is read so.
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

enum { PART = 1 << 14 }; // elements that are looked at together, about

// Part `i` of the rows: those of one stretch of neighbours, or some of them.
static void search_part(void *arg, int64_t i, int worker)
{
    const Search *s     = arg;
    int64_t       count = holo_row_count(s->rows), step = 1 + PART / (s->rows.size + 1), row = i * step;
    int64_t       end = count - row < step ? count : row + step;
    (void)worker;
    while (row < end) {
        int64_t n = s->rows.inner - row % s->rows.inner; // neighbours from here on
        if (n > end - row) n = end - row;
        if (n > HOLO_TILE) n = HOLO_TILE;
        if (s->in->dtype == HOLO_F32 && s->rows.size < INT32_MAX)
            search_rows_f32(s, row, n);
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
    if (in->rank > 0) HOLO_TRY(find_axis(call, &axis));
    Search s = {
        .in       = in,
        .out      = out,
        .rows     = in->rank > 0 ? holo_rows(in, axis, axis + 1) : (HoloRows){1, 1, 1},
        .smallest = call->op->row != NULL,
        .last     = holo_attr_int(call, "select_last_index", 0) != 0,
        .is_float = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT,
    };
    int64_t count = holo_row_count(s.rows), step = 1 + PART / (s.rows.size + 1);
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
