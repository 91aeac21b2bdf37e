// compare.c - compares outputs of any kind, element by element.
#include "verify/compare.h"

#include "ops/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 1024, PIECE = 1 << 12, WHOLE_MAX = PIECES * PIECE }; // elements

void holo_verify_note(HoloVerifyResult *r, const HoloBound *bound, double off, double top, const char *what,
                      const char *name, int64_t index)
{
    double relative = top > 0 ? off / top : off;
    if (relative <= r->worst_relative) return;
    r->worst_relative = relative;
    r->worst_absolute = off;
    r->worst_top      = top;
    r->allowed        = bound->absolute + bound->relative * top;
    snprintf(r->worst_at, sizeof r->worst_at, "%s %.100s, element %lld", what, name, (long long)index);
    snprintf(r->allowed_by, sizeof r->allowed_by, "%s", bound->why);
}

// ---- what is kept of an output

static bool is_kept_whole(const HoloTensor *value)
{
    return value->kind != HOLO_TENSOR || value->dtype == HOLO_STRING || holo_tensor_count(value) <= WHOLE_MAX;
}

static void *host_keep(const HoloHost *host, size_t size)
{
    return holo_arena_take((HoloArena *)(uintptr_t)host->scratch, size);
}

HoloStatus holo_keep_output(const HoloTensor *value, HoloArena *arena, HoloKept *out, HoloError *error)
{
    HoloHost host  = {.keep = host_keep, .scratch = (char *)arena};
    size_t   bytes = holo_dtype_size((HoloDtype)value->dtype);
    *out           = (HoloKept){.type = *value, .kept = *value};
    out->type.data = NULL;
    if (is_kept_whole(value)) return holo_value_clone(&host, value, &out->kept, error);
    int64_t count    = holo_tensor_count(value);
    out->step        = (count - PIECE) / (PIECES - 1);
    out->kept.rank   = 1;
    out->kept.dim[0] = WHOLE_MAX;
    char *to = out->kept.data = holo_arena_take(arena, (size_t)WHOLE_MAX * bytes);
    if (!to) return holo_fail_memory(error);
    for (int64_t i = 0; i < PIECES; i++) {
        int64_t from = i == PIECES - 1 ? count - PIECE : i * out->step;
        memcpy(to + (size_t)(i * PIECE) * bytes, (const char *)value->data + (size_t)from * bytes,
               (size_t)PIECE * bytes);
    }
    return HOLO_OK;
}

// The index in the output of the kept element i.
static int64_t place_of(const HoloKept *k, int64_t i)
{
    int64_t piece = i / PIECE;
    if (!k->step) return i;
    return (piece == PIECES - 1 ? holo_tensor_count(&k->type) - PIECE : piece * k->step) + i % PIECE;
}

// ---- comparing

static bool has_type_of(const HoloTensor *a, const HoloTensor *b)
{
    return a->kind == b->kind && (a->kind != HOLO_TENSOR || (a->dtype == b->dtype && a->rank == b->rank));
}

static bool is_alike(const HoloTensor *a, const HoloTensor *b)
{
    bool same = has_type_of(a, b);
    int  rank = a->kind == HOLO_TENSOR ? a->rank : a->kind != HOLO_MAP; // lists have their length there
    for (int d = 0; same && d < rank; d++) same = a->dim[d] == b->dim[d];
    return same;
}

// How many tensors a value holds that is not a tensor.
static int64_t item_count(const HoloTensor *t)
{
    return t->kind == HOLO_MAP ? 2 : t->dim[0];
}

static HoloStatus strings_compare(const char *name, const HoloTensor *want, const HoloTensor *got, HoloVerifyResult *r,
                                  HoloError *error)
{
    const HoloString *a = want->data, *b = got->data;
    int64_t           count = holo_tensor_count(want);
    r->checked += (uint64_t)count;
    for (int64_t i = 0; i < count; i++)
        if (a[i].size != b[i].size || memcmp(a[i].data, b[i].data, a[i].size))
            return holo_fail(error, HOLO_VERIFY, "output %s: element %lld of the plan is \"%.*s\", not \"%.*s\"", name,
                             (long long)i, (int)(b[i].size < 60 ? b[i].size : 60), b[i].data,
                             (int)(a[i].size < 60 ? a[i].size : 60), a[i].data);
    return HOLO_OK;
}

static double largest(const HoloTensor *t)
{
    double top = 0;
    for (int64_t i = 0, count = holo_tensor_count(t); i < count; i++) {
        double x = fabs(holo_element(t, i));
        if (x > top && isfinite(x)) top = x;
    }
    return top;
}

double holo_kept_largest(const HoloKept *kept)
{
    const HoloTensor *items = kept->kept.data;
    double            top   = 0;
    if (kept->type.kind == HOLO_TENSOR) return kept->type.dtype == HOLO_STRING ? 0 : largest(&kept->kept);
    for (int64_t i = 0; i < item_count(&kept->type); i++)
        top = fmax(top, holo_kept_largest(&(HoloKept){items[i], items[i], 0}));
    return top;
}

static HoloStatus numbers_compare(const char *name, const HoloKept *want, const HoloTensor *got, const HoloBound *bound,
                                  HoloVerifyResult *r, HoloError *error)
{
    int64_t count = holo_tensor_count(&want->kept), bad = 0, first = 0;
    double  top = largest(&want->kept), allowed = bound->absolute + bound->relative * top, worst = 0;
    double  first_want = 0, first_got = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = place_of(want, i);
        double  x = holo_element(&want->kept, i), y = holo_element(got, at), off = fabs(x - y);
        if (x == y || (isnan(x) && isnan(y))) continue;
        if (isnan(off)) off = INFINITY;
        if (off > worst) holo_verify_note(r, bound, worst = off, top, "output", name, at);
        if (off <= allowed || bad++) continue;
        first      = at;
        first_want = x;
        first_got  = y;
    }
    r->checked += (uint64_t)count;
    if (!bad) return HOLO_OK;
    return holo_fail(
        error, HOLO_VERIFY,
        "output %s: %lld of %lld elements of the plan differ from the model beyond tolerance (element %lld is %g, not %g; "
        "the worst is off by %g, %g of the largest value; %g is allowed)",
        name, (long long)bad, (long long)count, (long long)first, first_got, first_want, worst,
        top > 0 ? worst / top : worst, allowed);
}

HoloStatus holo_compare_output(const char *name, const HoloKept *want, const HoloTensor *got, const HoloBound *bound,
                               HoloVerifyResult *r, HoloError *error)
{
    if (has_type_of(&want->type, got) && isinf(bound->absolute)) return HOLO_OK;
    if (!is_alike(&want->type, got))
        return holo_fail(error, HOLO_VERIFY, "output %s of the plan has another type or shape than in the model", name);
    if (got->kind == HOLO_TENSOR && got->dtype == HOLO_STRING) return strings_compare(name, &want->kept, got, r, error);
    if (got->kind == HOLO_TENSOR) return numbers_compare(name, want, got, bound, r, error);
    const HoloTensor *a = want->kept.data, *b = got->data;
    for (int64_t i = 0; i < item_count(got); i++) {
        char item[200];
        snprintf(item, sizeof item, "%.150s[%lld]", name, (long long)i);
        HOLO_TRY(holo_compare_output(item, &(HoloKept){a[i], a[i], 0}, &b[i], bound, r, error));
    }
    return HOLO_OK;
}

double holo_compare_distance(const HoloKept *a, const HoloTensor *b)
{
    double most = 0;
    if (!has_type_of(&a->type, b) || (a->type.kind == HOLO_TENSOR && a->type.dtype == HOLO_STRING)) return 0;
    if (!is_alike(&a->type, b)) return INFINITY;
    const HoloTensor *items = a->kept.data, *others = b->data;
    if (b->kind != HOLO_TENSOR) {
        for (int64_t i = 0; i < item_count(b); i++)
            most = fmax(most, holo_compare_distance(&(HoloKept){items[i], items[i], 0}, &others[i]));
        return most;
    }
    for (int64_t i = 0, count = holo_tensor_count(&a->kept); i < count; i++) {
        double off = fabs(holo_element(&a->kept, i) - holo_element(b, place_of(a, i)));
        if (off > most && isfinite(off)) most = off;
    }
    return most;
}
