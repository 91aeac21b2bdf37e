// compare.c - compares a value with the expected one, within tolerance, for any kind and dtype. See compare.h.

#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TILE = 256 };

typedef struct Difference {
    int64_t count, worst;
    double  got, want, size;
} Difference;

static bool agrees(double got, double want, double rtol, double atol)
{
    if (got == want || (isnan(got) && isnan(want))) return true;
    return fabs(got - want) <= atol + rtol * fabs(want) && isfinite(want);
}

static const char *place(CliText *text, const HoloTensor *t, int64_t index)
{
    int64_t at[HOLO_MAX_RANK];
    for (int d = t->rank; d-- > 0;) {
        at[d] = index % t->dim[d];
        index /= t->dim[d];
    }
    size_t used = (size_t)snprintf(text->data, sizeof text->data, "[");
    for (int d = 0; d < t->rank; d++)
        used += (size_t)snprintf(text->data + used, sizeof text->data - used, "%s%" PRId64, d ? ", " : "", at[d]);
    snprintf(text->data + used, sizeof text->data - used, "]");
    return text->data;
}

static CompareResult numbers(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason)
{
    Difference worst = {0};
    int64_t    count = holo_tensor_count(want);
    for (int64_t start = 0; start < count; start += TILE) {
        double  x[TILE], y[TILE];
        int64_t n = count - start < TILE ? count - start : TILE;
        holo_tensor_numbers(got, start, n, x);
        holo_tensor_numbers(want, start, n, y);
        for (int64_t i = 0; i < n; i++) {
            if (agrees(x[i], y[i], rtol, atol)) continue;
            double size = fabs(x[i] - y[i]);
            if (!worst.count++ || !(size <= worst.size)) {
                worst.worst = start + i;
                worst.got = x[i], worst.want = y[i], worst.size = size;
            }
        }
    }
    if (!worst.count) return COMPARE_SAME;
    CliText where;
    snprintf(reason->data, sizeof reason->data,
             "%" PRId64 " of %" PRId64 " differ; worst at %.200s: %.9g, expected %.9g", worst.count, count,
             place(&where, want, worst.worst), worst.got, worst.want);
    return COMPARE_OTHER_VALUES;
}

static CompareResult strings(const HoloTensor *got, const HoloTensor *want, CliText *reason)
{
    const HoloString *x = got->data, *y = want->data;
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        if (x[i].size == y[i].size && (!x[i].size || !memcmp(x[i].data, y[i].data, x[i].size))) continue;
        snprintf(reason->data, sizeof reason->data, "string %" PRId64 " is \"%.*s\", expected \"%.*s\"", i,
                 x[i].size < 100 ? (int)x[i].size : 100, x[i].data, y[i].size < 100 ? (int)y[i].size : 100, y[i].data);
        return COMPARE_OTHER_VALUES;
    }
    return COMPARE_SAME;
}

bool compare_same_shape(const HoloTensor *a, const HoloTensor *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return true;
}

static CompareResult other_type(const HoloTensor *got, const HoloTensor *want, CliText *reason)
{
    CliText a, b;
    snprintf(reason->data, sizeof reason->data, "%.200s, expected %.200s", cli_type(&a, got, NULL),
             cli_type(&b, want, NULL));
    return COMPARE_OTHER_TYPE;
}

// A complex number becomes two floats: the same bytes with one more dimension. False: there is no room for it.
static bool as_floats(HoloTensor *t)
{
    if (t->dtype != HOLO_C64 && t->dtype != HOLO_C128) return true;
    if (t->rank == HOLO_MAX_RANK) return false;
    t->dtype          = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
    t->dim[t->rank++] = 2;
    return true;
}

// Neighbors of bf16 are up to 2^-7 apart: ONNX's own runner allows two such steps. The caller may also ask for
// equality.
static CompareResult tensors(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason)
{
    if (want->dtype == HOLO_BF16 && rtol > 0) rtol = fmax(rtol, 0x1p-6);
    if (got->dtype != want->dtype || !compare_same_shape(got, want)) return other_type(got, want, reason);
    if (want->dtype == HOLO_STRING) return strings(got, want, reason);
    HoloTensor x = *got, y = *want;
    return as_floats(&x) && as_floats(&y) ? numbers(&x, &y, rtol, atol, reason)
                                          : numbers(got, want, rtol, atol, reason);
}

// What a value holds: for an optional that is not empty, its contents.
static const HoloTensor *content(const HoloTensor *t)
{
    while (t->kind == HOLO_OPTIONAL && t->dim[0] == 1) t = t->data;
    return t;
}

CompareResult compare_values(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason)
{
    got  = content(got);
    want = content(want);
    if (got->kind != want->kind) return other_type(got, want, reason);
    if (want->kind == HOLO_TENSOR) return tensors(got, want, rtol, atol, reason);

    int64_t got_count = got->kind == HOLO_MAP ? 2 : got->dim[0], count = want->kind == HOLO_MAP ? 2 : want->dim[0];
    if (got_count != count) {
        snprintf(reason->data, sizeof reason->data, "%" PRId64 " items, expected %" PRId64, got_count, count);
        return COMPARE_OTHER_TYPE;
    }
    const HoloTensor *x = got->data, *y = want->data;
    for (int64_t i = 0; i < count; i++) {
        CliText       inner;
        CompareResult result = compare_values(&x[i], &y[i], rtol, atol, &inner);
        if (result == COMPARE_SAME) continue;
        snprintf(reason->data, sizeof reason->data, "item %" PRId64 ": %.400s", i, inner.data);
        return result;
    }
    return COMPARE_SAME;
}

bool compare_bounds(const HoloTensor *got, double low, double high, CliText *reason)
{
    if (got->kind != HOLO_TENSOR || got->dtype == HOLO_STRING) return true;
    int64_t count = holo_tensor_count(got);
    for (int64_t i = 0; i < count; i++) {
        double x;
        holo_tensor_numbers(got, i, 1, &x);
        if (x >= low && x <= high) continue;
        snprintf(reason->data, sizeof reason->data, "random value %g is outside %g to %g", x, low, high);
        return false;
    }
    return true;
}

// ---- how far apart

static bool is_name(const HoloTensor *t)
{
    static const HoloDtype types[] = {HOLO_BOOL, HOLO_I32, HOLO_I64, HOLO_U32, HOLO_U64};
    for (int i = 0; i < CLI_COUNT(types); i++)
        if (t->dtype == types[i]) return true;
    return false;
}

static double largest_of(const HoloTensor *t)
{
    double  largest = 0, x[TILE];
    int64_t count   = holo_tensor_count(t);
    for (int64_t start = 0; start < count; start += TILE) {
        int64_t n = count - start < TILE ? count - start : TILE;
        holo_tensor_numbers(t, start, n, x);
        for (int64_t i = 0; i < n; i++)
            if (isfinite(x[i]) && fabs(x[i]) > largest) largest = fabs(x[i]);
    }
    return largest;
}

typedef struct Pair { // being measured
    const HoloTensor *got, *want;
    double            relative, fixed; // an element may differ by fixed + relative * its own magnitude
    bool              is_wide;         // integers of one type with more digits than a double has
    double            worst;
    int64_t           worst_at; // -1: nothing differs
} Pair;

static bool is_wide(const HoloTensor *a, const HoloTensor *b)
{
    return a->dtype == b->dtype && (a->dtype == HOLO_I64 || a->dtype == HOLO_U64);
}

static bool same_bits(const Pair *p, int64_t at)
{
    return !memcmp((const int64_t *)p->got->data + at, (const int64_t *)p->want->data + at, sizeof(int64_t));
}

static void elements_add(Distance *d, Pair *p, int64_t start, int64_t n, double *got, double *want)
{
    holo_tensor_numbers(p->got, start, n, got);
    holo_tensor_numbers(p->want, start, n, want);
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(got[i]) && isfinite(want[i])) {
            d->dot += got[i] * want[i];
            d->got_square += got[i] * got[i];
            d->want_square += want[i] * want[i];
        }
        bool is_same = got[i] == want[i] && (!p->is_wide || same_bits(p, start + i));
        if (is_same || (isnan(got[i]) && isnan(want[i]))) continue;
        double size = fabs(got[i] - want[i]);
        if (isnan(size)) size = INFINITY;
        if (size == 0) size = 1; // or some more
        d->beyond += !(size <= p->fixed + p->relative * fabs(want[i])) || isinf(size);
        if (p->worst_at >= 0 && size <= p->worst) continue;
        p->worst    = size;
        p->worst_at = start + i;
    }
}

static int64_t place_of_largest(const HoloTensor *t, int64_t first, int64_t count)
{
    double  best = -INFINITY, x[TILE];
    int64_t at   = 0;
    for (int64_t start = 0; start < count; start += TILE) {
        int64_t n = count - start < TILE ? count - start : TILE;
        holo_tensor_numbers(t, first + start, n, x);
        for (int64_t i = 0; i < n; i++)
            if (x[i] > best) best = x[i], at = start + i;
    }
    return at;
}

static void rows_add(Distance *d, const HoloTensor *got, const HoloTensor *want)
{
    if (want->rank < 2 || want->rank > 3 || want->dim[want->rank - 1] < 2) return;
    int64_t columns = want->dim[want->rank - 1], rows = holo_tensor_count(want) / columns;
    for (int64_t i = 0; i < rows; i++)
        d->same_rows += place_of_largest(got, i * columns, columns) == place_of_largest(want, i * columns, columns);
    d->rows += rows;
}

static void strings_add(Distance *d, const HoloTensor *got, const HoloTensor *want, int64_t sample)
{
    const HoloString *x = got->data, *y = want->data;
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        if (x[i].size == y[i].size && (!x[i].size || !memcmp(x[i].data, y[i].data, x[i].size))) continue;
        if (!d->beyond++) {
            d->sample = sample;
            d->worst = d->relative = INFINITY;
            place(&d->at, want, i);
        }
    }
}

void distance_add(Distance *d, const HoloTensor *got, const HoloTensor *want, const Tolerance *t, int64_t sample)
{
    int64_t count = holo_tensor_count(want);
    d->count += count;
    if (want->dtype == HOLO_STRING) {
        strings_add(d, got, want, sample);
        return;
    }
    HoloTensor x = *got, y = *want;
    if (!as_floats(&x) || !as_floats(&y)) x = *got, y = *want;
    count          = holo_tensor_count(&y);
    double largest = largest_of(&y), tile[2][TILE];
    bool   exact   = t->is_of_largest && is_name(&y);
    Pair   pair    = {.got = &x, .want = &y, .is_wide = is_wide(&x, &y), .worst_at = -1};
    if (!exact) pair.fixed = t->absolute + (t->is_of_largest ? t->relative * largest : 0);
    if (!t->is_of_largest) pair.relative = t->relative;
    for (int64_t start = 0; start < count; start += TILE)
        elements_add(d, &pair, start, count - start < TILE ? count - start : TILE, tile[0], tile[1]);
    rows_add(d, &x, &y);
    if (pair.worst_at < 0) return;
    double relative = pair.worst == 0 ? 0 : largest > 0 ? pair.worst / largest : INFINITY;
    d->relative     = fmax(d->relative, relative);
    if (d->at.data[0] && pair.worst <= d->worst) return;
    d->worst  = pair.worst;
    d->sample = sample;
    holo_tensor_numbers(&x, pair.worst_at, 1, &d->got);
    holo_tensor_numbers(&y, pair.worst_at, 1, &d->want);
    place(&d->at, &y, pair.worst_at);
}

double distance_cosine(const Distance *d)
{
    double size = sqrt(d->got_square) * sqrt(d->want_square);
    if (size > 0) return d->dot / size;
    return d->got_square == d->want_square ? 1 : 0;
}
