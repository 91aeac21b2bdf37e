// slice.c - Slice: every step-th element from a start to an end, along each axis.
#include "ops/move.h"

// The range that is taken of one axis.
typedef struct Range {
    HoloDim start, end;
    int64_t step;
} Range;

enum { FAR = INT32_MAX }; // ends beyond this mean "all", as exporters write them

// ---- where all numbers are known

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

// Backwards these mean the first element, too: the standard would take nothing, but models mean all.
static bool is_endless(HoloDim end)
{
    return end == INT32_MAX || end == INT64_MAX;
}

// Limits the range to the `size` elements of the axis; returns how many are taken.
static int64_t settle(Range *r, int64_t size)
{
    int64_t low = r->step > 0 ? 0 : -1, high = r->step > 0 ? size : size - 1;
    r->start = clamp(r->start < 0 ? r->start + size : r->start, size > 0 ? 0 : low, high);
    if (r->step < 0 && is_endless(r->end)) r->end = INT64_MIN + size;
    r->end       = clamp(r->end < 0 ? r->end + size : r->end, low, high);
    int64_t span = r->step > 0 ? r->end - r->start : r->start - r->end;
    int64_t step = r->step > 0 ? r->step : -r->step;
    return span <= 0 ? 0 : 1 + (span - 1) / step;
}

// ---- where some are expressions

// A position counted from the front, at most `size`: 0 <= result where that can be said.
static HoloDim position(HoloDims *dims, HoloDim at, HoloDim size)
{
    if (at == 0 || at == size) return at;
    if (holo_dim_is_symbolic(at)) return holo_dim_is_size(dims, at) ? holo_dim_min(dims, at, size) : HOLO_DIM_UNKNOWN;
    if (at >= FAR) return size;
    if (at <= -FAR) return 0;
    return at > 0 ? holo_dim_min(dims, at, size) : holo_dim_max(dims, holo_dim_add(dims, size, at), 0);
}

static HoloDim count_symbolic(HoloDims *dims, const Range *r, HoloDim size)
{
    if (r->step < 0) { // only the whole axis, backwards
        bool from_last = !holo_dim_is_symbolic(r->start) && (r->start == -1 || r->start >= FAR);
        bool to_first  = !holo_dim_is_symbolic(r->end) && (r->end <= -FAR || is_endless(r->end));
        return from_last && to_first ? holo_dim_div_ceil(dims, size, -r->step) : HOLO_DIM_UNKNOWN;
    }
    HoloDim end      = position(dims, r->end, size), span;
    bool    is_plain = !holo_dim_is_symbolic(r->start) && r->start > -FAR && r->start < FAR;
    if (r->start == 0)
        span = end;
    else if (end == size && is_plain) // one form for what may be written in several
        span = r->start < 0 ? holo_dim_min(dims, -r->start, size)
                            : holo_dim_max(dims, holo_dim_sub(dims, size, r->start), 0);
    else
        span = holo_dim_sub(dims, end, position(dims, r->start, size));
    // Up to the end no position leaves less than nothing; else that must be said.
    if (end != size && r->start != 0 && !holo_dim_is_size(dims, span)) span = holo_dim_max(dims, span, 0);
    return holo_dim_div_ceil(dims, span, r->step);
}

static HoloDim count_range(HoloDims *dims, Range r, HoloDim size)
{
    bool known = !holo_dim_is_symbolic(r.start) && !holo_dim_is_symbolic(r.end) && !holo_dim_is_symbolic(size);
    return known ? settle(&r, size) : count_symbolic(dims, &r, size);
}

// ---- the ranges of a call

// The ranges are attributes until version 10, inputs since.
typedef struct Lists {
    HoloNumbers starts, ends, axes, steps;
    bool        known;
} Lists;

static HoloStatus find_lists(const HoloCall *call, Lists *l)
{
    bool by_input = call->version >= 10;
    HOLO_TRY(holo_numbers_needed(call, by_input ? NULL : "starts", by_input ? 1 : -1, HOLO_MAX_RANK, &l->starts));
    HOLO_TRY(holo_numbers_needed(call, by_input ? NULL : "ends", by_input ? 2 : -1, HOLO_MAX_RANK, &l->ends));
    HOLO_TRY(holo_numbers(call, by_input ? NULL : "axes", by_input ? 3 : -1, &l->axes));
    HOLO_TRY(holo_numbers(call, NULL, by_input ? 4 : -1, &l->steps));
    const HoloNumbers *all[] = {&l->ends, &l->axes, &l->steps};
    for (int i = 0; i < HOLO_COUNT(all); i++) {
        HoloDim agreed;
        if (all[i]->given && !holo_dim_agree(l->starts.count, all[i]->count, &agreed))
            return holo_call_fail(call, HOLO_BAD_MODEL, "starts, ends, axes and steps differ in length");
    }
    // Starts and ends may stay unknown: they then leave only the sizes of their axes unknown.
    l->known = !holo_dim_is_symbolic(l->starts.count) && (!l->axes.given || l->axes.known);
    return HOLO_OK;
}

static HoloDim entry(const HoloNumbers *n, int i)
{
    return n->known ? holo_number(n, i) : HOLO_DIM_UNKNOWN;
}

// A range for each dimension of the input; one with step 0 could not be known.
static HoloStatus find_ranges(const HoloCall *call, const Lists *l, Range *range)
{
    int  rank                = call->in[0]->rank;
    bool seen[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < rank; i++) range[i] = (Range){0, INT64_MAX, 1};
    for (int i = 0; i < l->starts.count; i++) {
        int axis;
        HOLO_TRY(holo_axis(call, l->axes.given ? holo_number(&l->axes, i) : i, rank, &axis));
        if (seen[axis]) return holo_call_fail(call, HOLO_BAD_MODEL, "axis %d is given twice", axis);
        seen[axis]   = true;
        HoloDim step = l->steps.given ? entry(&l->steps, i) : 1;
        if (step == 0) return holo_call_fail(call, HOLO_BAD_INPUT, "a step is 0");
        if (holo_dim_is_symbolic(step)) step = 0;
        range[axis] = (Range){entry(&l->starts, i), entry(&l->ends, i), step == INT64_MIN ? -INT64_MAX : step};
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    Lists             lists;
    Range             range[HOLO_MAX_RANK];
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(find_lists(call, &lists));
    if (lists.known) HOLO_TRY(find_ranges(call, &lists, range));
    for (int i = 0; i < x->rank; i++) {
        bool known = lists.known && range[i].step != 0;
        dim[i]     = known ? count_range(call->dims, range[i], x->dim[i]) : HOLO_DIM_UNKNOWN;
    }
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    size_t            size = holo_dtype_size(x->dtype);
    Lists             lists;
    Range             range[HOLO_MAX_RANK];
    HOLO_TRY(find_lists(call, &lists));
    HOLO_TRY(find_ranges(call, &lists, range));
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    int64_t from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], start = 0;
    holo_strides(x->rank, x->dim, from);
    holo_strides(y->rank, y->dim, to);
    for (int i = 0; i < x->rank; i++) {
        int64_t count = settle(&range[i], x->dim[i]);
        start += range[i].start * from[i];
        from[i] = count > 1 ? from[i] * range[i].step : 0; // a step taken at least once lies inside
    }
    holo_move_wide(call, y->rank, y->dim, size, y->data, to, (const char *)x->data + (size_t)start * size, from);
    return HOLO_OK;
}

// The start of what is taken of one axis, of which at least one element is.
static HoloDim start_of(const HoloCall *call, Range r, HoloDim size)
{
    bool known = !holo_dim_is_symbolic(r.start) && !holo_dim_is_symbolic(r.end) && !holo_dim_is_symbolic(size);
    if (!known) return r.step == 1 ? position(call->dims, r.start, size) : HOLO_DIM_UNKNOWN;
    settle(&r, size);
    return r.start;
}

// One piece: behind the last axis that is cut all is taken, before it one of each. Where sizes are open only one axis
// may be cut, for then the start lies inside whatever they are.
static HoloDim place(const HoloCall *call, int i)
{
    (void)i;
    const HoloTensor *x = call->in[0];
    Lists             lists;
    Range             range[HOLO_MAX_RANK];
    HoloDim           at = 0, stride = 1;
    int               cut     = 0;
    bool              is_open = false;
    if (find_lists(call, &lists) || !lists.known || find_ranges(call, &lists, range)) return HOLO_DIM_UNKNOWN;
    for (int d = x->rank - 1; d >= 0; d--) {
        HoloDim size = x->dim[d], count = range[d].step ? count_range(call->dims, range[d], size) : HOLO_DIM_UNKNOWN;
        bool    is_whole = count == size && (range[d].step == 1 || size == 1);
        if (count == 0 || (cut && count != 1) || (count != 1 && range[d].step != 1)) return HOLO_DIM_UNKNOWN;
        if (!is_whole)
            at = holo_dim_add(call->dims, at, holo_dim_mul(call->dims, start_of(call, range[d], size), stride));
        cut += !is_whole;
        stride  = holo_dim_mul(call->dims, stride, size);
        is_open = is_open || holo_dim_is_symbolic(size) || holo_dim_is_symbolic(count);
    }
    return is_open && cut > 1 ? HOLO_DIM_UNKNOWN : at;
}

const HoloOp holo_ops_slice[] = {
    {.name    = "Slice",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES,
     .infer   = infer,
     .eval    = eval,
     .place   = place},
    {0},
};
