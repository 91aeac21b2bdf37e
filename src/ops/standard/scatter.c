// scatter.c - writes elements by index: Scatter, ScatterElements, ScatterND, TensorScatter.
#include "ops/move.h"

// ---- how an update meets what is there

typedef enum Reduction { NONE, ADD, MUL, MIN, MAX } Reduction;

static HoloStatus find_reduction(const HoloCall *call, Reduction *out)
{
    static const char *const names[] = {"none", "add", "mul", "min", "max", NULL};
    int                      at;
    HOLO_TRY(holo_attr_choice(call, "reduction", "none", names, &at));
    *out = (Reduction)at;
    if (*out == NONE) return HOLO_OK;
    bool has_order = *out == MIN || *out == MAX;
    return holo_expect_types(call, 0, HOLO_TYPES_ALL & ~(has_order ? HOLO_TYPES_COMPLEX : 0) & ~HOLO_BIT(STRING));
}

// NaN wins over numbers, as in NumPy.
static double reduce_f(Reduction r, double a, double b)
{
    switch (r) {
    case ADD: return a + b;
    case MUL: return a * b;
    case MIN: return a < b || a != a ? a : b;
    case MAX: return a > b || a != a ? a : b;
    default: return b;
    }
}

static int64_t reduce_i(Reduction r, bool is_unsigned, int64_t a, int64_t b)
{
    bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
    switch (r) {
    case ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case MIN: return less ? a : b;
    case MAX: return less ? b : a;
    default: return b;
    }
}

// f32 is computed in float: one sum or product, rounded once, is as exact as in double.
typedef void MeetF32(float *y, const int64_t *offset, const float *u, int64_t count);

#define MEET_F32(name, expression)                                                   \
    static void name(float *y, const int64_t *offset, const float *u, int64_t count) \
    {                                                                                \
        for (int64_t i = 0; i < count; i++) {                                        \
            float a = y[offset[i]], b = u[i], met = (expression);                    \
            y[offset[i]] = met == met ? met : __builtin_nanf("");                    \
        }                                                                            \
    }

MEET_F32(add_f32, a + b)
MEET_F32(mul_f32, (a * b))
MEET_F32(min_f32, ((a < b) | (a != a)) ? a : b)
MEET_F32(max_f32, ((a > b) | (a != a)) ? a : b)

static void meet_complex(HoloTensor *y, const int64_t *offset, const HoloTensor *u, int64_t start, int64_t count,
                         Reduction r)
{
    uint8_t    part = y->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
    HoloTensor to = {.dtype = part, .data = y->data}, from = {.dtype = part, .data = u->data};
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 2 * offset[i], of = 2 * (start + i);
        double  a = holo_get_f(&to, at), b = holo_get_f(&to, at + 1), c = holo_get_f(&from, of),
               d = holo_get_f(&from, of + 1);
        holo_put_f(&to, at, r == ADD ? a + c : a * c - b * d);
        holo_put_f(&to, at + 1, r == ADD ? b + d : a * d + b * c);
    }
}

// Combines u[start + i] into y[offset[i]], in order.
static void meet(HoloTensor *y, const int64_t *offset, const HoloTensor *u, int64_t start, int64_t count, Reduction r)
{
    if (r == NONE) {
        size_t      size = holo_dtype_size(y->dtype);
        const char *src  = (const char *)u->data + (size_t)start * size;
        for (int64_t i = 0; i < count; i++, src += size)
            holo_move_one((char *)y->data + (size_t)offset[i] * size, src, size);
    } else if (y->dtype == HOLO_F32) {
        static MeetF32 *const of[] = {[ADD] = add_f32, [MUL] = mul_f32, [MIN] = min_f32, [MAX] = max_f32};
        of[r](y->data, offset, (const float *)u->data + start, count);
    } else if (HOLO_TYPES_COMPLEX >> y->dtype & 1) {
        meet_complex(y, offset, u, start, count, r);
    } else if (holo_dtype_class(y->dtype) == HOLO_CLASS_FLOAT) {
        double tile[HOLO_TILE];
        holo_read_f(u, start, 1, count, tile);
        for (int64_t i = 0; i < count; i++) holo_put_f(y, offset[i], reduce_f(r, holo_get_f(y, offset[i]), tile[i]));
    } else {
        int64_t tile[HOLO_TILE];
        bool    is_unsigned = holo_dtype_class(y->dtype) == HOLO_CLASS_UINT;
        holo_read_i(u, start, 1, count, tile);
        for (int64_t i = 0; i < count; i++)
            holo_put_i(y, offset[i], reduce_i(r, is_unsigned, holo_get_i(y, offset[i]), tile[i]));
    }
}

// The same for a run of elements that are neighbors in both.
static void meet_run(HoloTensor *y, int64_t at, const HoloTensor *u, int64_t start, int64_t count, Reduction r)
{
    size_t size = holo_dtype_size(y->dtype);
    if (r == NONE) {
        memcpy((char *)y->data + (size_t)at * size, (const char *)u->data + (size_t)start * size, (size_t)count * size);
        return;
    }
    int64_t offset[HOLO_TILE];
    for (int64_t done = 0; done < count; done += HOLO_TILE) {
        int64_t part = count - done < HOLO_TILE ? count - done : HOLO_TILE;
        for (int64_t i = 0; i < part; i++) offset[i] = at + done + i;
        meet(y, offset, u, start + done, part, r);
    }
}

// ---- Scatter, ScatterElements

static HoloStatus infer_elements(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1], *u = call->in[2];
    int               axis;
    Reduction         reduction = NONE;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &axis));
    HOLO_TRY(holo_elements_check(call, 0, 1, axis));
    HOLO_TRY(holo_expect_types(call, 2, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_expect_rank(call, 2, at->rank, at->rank));
    for (int i = 0; i < at->rank; i++) {
        HoloDim agreed;
        if (!holo_dim_agree(at->dim[i], u->dim[i], &agreed))
            return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d is %lld in indices and %lld in updates", i,
                                  (long long)at->dim[i], (long long)u->dim[i]);
    }
    return holo_infer_same(call);
}

static HoloStatus eval_elements(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = call->out[0];
    int               axis;
    Reduction         reduction = NONE;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &axis));
    holo_copy_all(y, x);
    HoloElements e;
    holo_elements_init(&e, call, x, call->in[1], axis);
    for (;;) {
        HOLO_TRY(holo_elements_next(&e));
        if (e.count == 0) return HOLO_OK;
        meet(y, e.offset, call->in[2], e.start, e.count, reduction);
    }
}

// ---- ScatterND

// updates: the indices' sizes but the last, then the data's below the tuple.
static HoloStatus check_updates(const HoloCall *call, int depth)
{
    const HoloTensor *x = call->in[0], *at = call->in[1], *u = call->in[2];
    int               outer = at->rank - 1, rank = outer + x->rank - depth;
    HOLO_TRY(holo_expect_rank(call, 2, rank, rank));
    for (int i = 0; i < rank; i++) {
        HoloDim want = i < outer ? at->dim[i] : x->dim[depth + i - outer], agreed;
        if (!holo_dim_agree(want, u->dim[i], &agreed))
            return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d of updates is %lld, not %lld", i,
                                  (long long)u->dim[i], (long long)want);
    }
    return HOLO_OK;
}

static HoloStatus infer_nd(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1];
    Reduction         reduction = NONE;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_types(call, 2, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_expect_rank(call, 1, 1, HOLO_MAX_RANK));
    HoloDim depth = at->dim[at->rank - 1];
    if (!holo_dim_is_symbolic(depth)) {
        if (depth > x->rank)
            return holo_call_fail(call, HOLO_BAD_MODEL, "index tuples of %lld are too long for rank %d",
                                  (long long)depth, x->rank);
        HOLO_TRY(check_updates(call, (int)depth));
    }
    return holo_infer_same(call);
}

static HoloStatus eval_nd(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1], *u = call->in[2];
    HoloTensor       *y         = call->out[0];
    Reduction         reduction = NONE;
    HOLO_TRY(find_reduction(call, &reduction));
    holo_copy_all(y, x);
    if (holo_tensor_count(u) == 0) return HOLO_OK;
    int     depth  = (int)at->dim[at->rank - 1];
    int64_t tuples = holo_product(at->rank - 1, at->dim), run = holo_product(x->rank - depth, x->dim + depth);
    for (int64_t first = 0; first < tuples; first += HOLO_TUPLES) {
        HOLO_TRY(holo_call_continue(call));
        int64_t place[HOLO_TUPLES], count = tuples - first < HOLO_TUPLES ? tuples - first : HOLO_TUPLES;
        HOLO_TRY(holo_index_tuples(call, at, first, count, depth, x->dim, place));
        if (run == 1) meet(y, place, u, first, count, reduction);
        for (int64_t i = 0; i < count && run > 1; i++)
            meet_run(y, place[i] * run, u, (first + i) * run, run, reduction);
    }
    return HOLO_OK;
}

// ---- TensorScatter: a cache whose batches are each written from a place of their own

static HoloStatus infer_cache(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *u = call->in[1], *at = holo_in(call, 2);
    int               axis;
    HOLO_TRY(holo_attr_axis(call, "axis", -2, x->rank, &axis));
    if (axis == 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "axis 0 is the batch and cannot be the one written along");
    HOLO_TRY(holo_attr_choice(call, "mode", "linear", (const char *const[]){"linear", "circular", NULL}, NULL));
    HOLO_TRY(holo_expect_types(call, 1, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_expect_rank(call, 1, x->rank, x->rank));
    for (int i = 0; i < x->rank; i++) {
        HoloDim agreed;
        bool    fits = holo_dim_agree(x->dim[i], u->dim[i], &agreed) || (i == axis && u->dim[i] < x->dim[i]);
        if (!fits)
            return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d of update is %lld, where the cache has %lld", i,
                                  (long long)u->dim[i], (long long)x->dim[i]);
    }
    if (at) {
        HoloDim agreed;
        HOLO_TRY(holo_expect_types(call, 2, HOLO_TYPES_INDEX));
        HOLO_TRY(holo_expect_rank(call, 2, 1, 1));
        if (!holo_dim_agree(at->dim[0], x->dim[0], &agreed))
            return holo_call_fail(call, HOLO_BAD_INPUT, "%lld write indices are given for a batch of %lld",
                                  (long long)at->dim[0], (long long)x->dim[0]);
    }
    return holo_infer_same(call);
}

static HoloStatus eval_cache(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *u = call->in[1], *at = holo_in(call, 2);
    HoloTensor       *y        = call->out[0];
    bool              circular = holo_attr_is(call, "mode", "linear", "circular");
    int               axis;
    HOLO_TRY(holo_attr_axis(call, "axis", -2, x->rank, &axis));
    holo_copy_all(y, x);
    if (holo_tensor_count(u) == 0) return HOLO_OK;
    int64_t room = x->dim[axis], length = u->dim[axis], inner = holo_product(x->rank - axis - 1, x->dim + axis + 1);
    int64_t rows = holo_product(axis - 1, x->dim + 1);
    for (int64_t b = 0; b < x->dim[0]; b++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t from = at ? holo_get_i(at, b) : 0;
        if (from < 0 || from >= room || (!circular && from > room - length))
            return holo_call_fail(call, HOLO_BAD_INPUT, "%lld entries cannot be written at %lld of %lld",
                                  (long long)length, (long long)from, (long long)room);
        int64_t first = length < room - from ? length : room - from; // the rest begins anew at 0
        for (int64_t row = b * rows; row < (b + 1) * rows; row++) {
            meet_run(y, (row * room + from) * inner, u, row * length * inner, first * inner, NONE);
            meet_run(y, row * room * inner, u, (row * length + first) * inner, (length - first) * inner, NONE);
        }
    }
    return HOLO_OK;
}

#define SCATTER(NAME, SINCE, INPUTS, ID)                                                                       \
    {                                                                                                          \
        .name = NAME, .domain = "", .since = SINCE, .in_min = INPUTS, .in_max = 3, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .infer = infer_##ID, .eval = eval_##ID                                        \
    }

const HoloOp holo_ops_scatter[] = {
    SCATTER("Scatter", 9, 3, elements),
    SCATTER("ScatterElements", 11, 3, elements),
    SCATTER("ScatterND", 11, 3, nd),
    SCATTER("TensorScatter", 24, 2, cache),
    {0},
};
