// compare.c - is a value the one expected, within tolerance? Any kind, any dtype.

#include "testcase.h"

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

static bool same_shape(const HoloTensor *a, const HoloTensor *b)
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

// Neighbours of bf16 are up to 2^-7 apart: ONNX's own runner allows two such steps. Here they may also be asked to be the same.
static CompareResult tensors(const HoloTensor *got, const HoloTensor *want, double rtol, double atol, CliText *reason)
{
    if (want->dtype == HOLO_BF16 && rtol > 0) rtol = fmax(rtol, 0x1p-6);
    if (got->dtype != want->dtype || !same_shape(got, want)) return other_type(got, want, reason);
    if (want->dtype == HOLO_STRING) return strings(got, want, reason);
    if (want->dtype != HOLO_C64 && want->dtype != HOLO_C128) return numbers(got, want, rtol, atol, reason);
    // A complex number is two: the same bytes as one dimension more of floats.
    HoloTensor x = *got, y = *want;
    if (x.rank == HOLO_MAX_RANK) return numbers(got, want, rtol, atol, reason);
    x.dtype = y.dtype = want->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
    x.dim[x.rank++] = y.dim[y.rank++] = 2;
    return numbers(&x, &y, rtol, atol, reason);
}

// What a value holds: of an optional with something in it, that.
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
