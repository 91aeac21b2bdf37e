// distance.c - how far the outputs of a plan are from those of another, on the samples.
//
// The accuracy of an output is 1 - sum (q - f)^2 / sum f^2 over all samples, where f is the original and q the
// quantized output. Elements that are not finite in f are left out; one that is not finite only in q makes the accuracy
// 0. The accuracy of outputs that are not floats is the part of equal elements.
#include "quantize/runs.h"

#include "ops/tensor.h"

#include <math.h>
#include <string.h>

typedef struct Sums {             // of an output
    double  off, want, got, both; // squares of error and of each, and the product
    double  most, largest;        // error, and magnitude
    bool    is_float;
    int64_t elements, equal;
    int64_t rows, agreed; // top 1
} Sums;

typedef struct Comparing {
    const HoloBaseline *baseline;
    Sums               *sums;
    HoloBaseline       *taken; // NULL: outputs need not be kept
    HoloArena          *arena;
} Comparing;

static bool is_float(int dtype)
{
    return holo_dtype_class((HoloDtype)dtype) == HOLO_CLASS_FLOAT;
}

// ---- the baseline

typedef struct Taking {
    HoloBaseline *into;
    HoloArena    *arena;
} Taking;

static HoloStatus take_each(void *context, int sample, HoloSession *session, HoloError *error)
{
    const Taking *t = context;
    for (int i = 0; i < t->into->output_count; i++) {
        HoloTensor *out = &t->into->outputs[sample * t->into->output_count + i], view;
        HOLO_TRY(holo_session_output(session, i, &view, error));
        *out      = view;
        out->data = NULL;
        if (view.kind != HOLO_TENSOR || view.dtype == HOLO_STRING) continue;
        size_t bytes = holo_tensor_bytes(&view);
        if (!(out->data = holo_arena_take(t->arena, bytes + 1))) return holo_fail_memory(error);
        if (bytes) memcpy(out->data, view.data, bytes);
    }
    return HOLO_OK;
}

static bool taken_begin(const HoloModel *model, const HoloQuantizeOptions *options, HoloArena *arena, HoloBaseline *out)
{
    *out = (HoloBaseline){
        .sample_count = options->samples->count, .output_count = holo_model_output_count(model), .score = 1};
    out->outputs = HOLO_NEW(arena, HoloTensor, (int64_t)out->sample_count * out->output_count + 1);
    return out->outputs != NULL;
}

static HoloStatus judge(const HoloModel *model, const HoloBaseline *taken, const HoloQuantizeOptions *options,
                        HoloArena *arena, double *out, HoloError *error)
{
    const char **names = HOLO_NEW(arena, const char *, taken->output_count + 1);
    if (!names) return holo_fail_memory(error);
    for (int i = 0; i < taken->output_count; i++) names[i] = holo_model_output(model, i)->name;
    HoloOutputs outputs = {taken->sample_count, taken->output_count, names, taken->outputs};
    HOLO_TRY(options->judge(options->judge_context, &outputs, out, error));
    return isfinite(*out) ? HOLO_OK
                          : holo_fail(error, HOLO_BAD_ARGUMENT, "the score of the outputs must be a finite number");
}

HoloStatus holo_baseline_take(const HoloModel *model, const HoloQuantizeOptions *options, HoloArena *arena,
                              HoloBaseline *out, HoloError *error)
{
    Taking taking = {out, arena};
    if (!taken_begin(model, options, arena, out)) return holo_fail_memory(error);
    HOLO_TRY(holo_runs_each(model, options, take_each, &taking, error));
    return options->judge ? judge(model, out, options, arena, &out->score, error) : HOLO_OK;
}

// ---- comparing

static void floats_compare(const HoloTensor *want, const HoloTensor *got, Sums *s)
{
    double a[HOLO_TILE], b[HOLO_TILE];
    for (int64_t at = 0, count = holo_tensor_count(want); at < count; at += HOLO_TILE) {
        int64_t n = count - at < HOLO_TILE ? count - at : HOLO_TILE;
        holo_read_f(want, at, 1, n, a);
        holo_read_f(got, at, 1, n, b);
        for (int64_t i = 0; i < n; i++) {
            if (!isfinite(a[i])) continue;
            double off = fabs(a[i] - b[i]);
            s->most    = off > s->most || isnan(off) ? off : s->most;
            s->largest = fmax(s->largest, fabs(a[i]));
            s->off += off * off;
            s->want += a[i] * a[i];
            s->got += b[i] * b[i];
            s->both += a[i] * b[i];
        }
    }
}

static void whole_compare(const HoloTensor *want, const HoloTensor *got, Sums *s)
{
    size_t size = holo_dtype_size((HoloDtype)want->dtype);
    for (int64_t i = 0, count = holo_tensor_count(want); i < count; i++)
        s->equal +=
            !memcmp((const char *)want->data + (size_t)i * size, (const char *)got->data + (size_t)i * size, size);
}

static int64_t top_of(const HoloTensor *t, int64_t row, int64_t count)
{
    int64_t best = 0;
    double  most = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(t, row * count + i);
        if (!(x > most)) continue;
        most = x;
        best = i;
    }
    return best;
}

// An output with one row of numbers for each of a batch counts as classes.
static void classes_compare(const HoloTensor *want, const HoloTensor *got, Sums *s)
{
    if (want->rank != 2 || want->dim[1] < 2) return;
    for (int64_t row = 0; row < want->dim[0]; row++)
        s->agreed += top_of(want, row, want->dim[1]) == top_of(got, row, want->dim[1]);
    s->rows += want->dim[0];
}

static bool is_alike(const HoloTensor *a, const HoloTensor *b)
{
    bool same = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; d < a->rank && same; d++) same = a->dim[d] == b->dim[d];
    return same;
}

static HoloStatus compare_each(void *context, int sample, HoloSession *session, HoloError *error)
{
    const Comparing *c = context;
    if (c->taken) HOLO_TRY(take_each(&(Taking){c->taken, c->arena}, sample, session, error));
    for (int i = 0; i < c->baseline->output_count; i++) {
        const HoloTensor *want = &c->baseline->outputs[sample * c->baseline->output_count + i];
        HoloTensor        got;
        Sums             *s = &c->sums[i];
        HOLO_TRY(holo_session_output(session, i, &got, error));
        if (!want->data) continue;
        s->is_float = is_float(want->dtype);
        s->elements += holo_tensor_count(want);
        if (!is_alike(want, &got)) continue; // sizes that depend on data: nothing is equal
        if (!s->is_float) {
            whole_compare(want, &got, s);
            continue;
        }
        s->equal += holo_tensor_count(want);
        floats_compare(want, &got, s);
        classes_compare(want, &got, s);
    }
    return HOLO_OK;
}

static double least(double a, double b)
{
    return b < a || isnan(b) ? (isnan(b) ? 0 : b) : a;
}

static void output_judge(const Sums *s, HoloDistance *out)
{
    if (!s->elements) return;
    out->accuracy = least(out->accuracy, (double)s->equal / (double)s->elements);
    if (!s->is_float) return;
    double off    = s->off > 0 || isnan(s->off) ? s->off / s->want : 0;
    out->accuracy = least(out->accuracy, off < 1 ? 1 - off : 0);
    out->cosine   = least(out->cosine, s->want > 0 || s->got > 0 ? s->both / sqrt(s->want * s->got) : 1);
    double worst  = s->most > 0 || isnan(s->most) ? s->most / s->largest : 0;
    out->worst    = worst > out->worst || isnan(worst) ? worst : out->worst;
    if (!s->rows) return;
    double agreed = (double)s->agreed / (double)s->rows;
    if (isnan(out->top1) || agreed < out->top1) {
        out->top1 = agreed;
        out->rows = s->rows;
    }
}

HoloStatus holo_baseline_compare(const HoloBaseline *baseline, const HoloModel *model,
                                 const HoloQuantizeOptions *options, HoloDistance *out, HoloError *error)
{
    HoloArena    arena = {0};
    HoloBaseline taken;
    Comparing    compare = {.baseline = baseline,
                            .sums     = HOLO_NEW(&arena, Sums, baseline->output_count + 1),
                            .taken    = options->judge ? &taken : NULL,
                            .arena    = &arena};
    *out                 = (HoloDistance){.accuracy = 1, .cosine = 1, .top1 = NAN};
    bool       ready     = compare.sums && (!options->judge || taken_begin(model, options, &arena, &taken));
    HoloStatus status = ready ? holo_runs_each(model, options, compare_each, &compare, error) : holo_fail_memory(error);
    for (int i = 0; i < baseline->output_count && !status; i++) output_judge(&compare.sums[i], out);
    // The agreement of classes counts only if there are enough rows to tell whether the target is met.
    enum { ROWS_LEAST = 100 };
    if (!isnan(out->top1) && out->rows >= ROWS_LEAST && (double)out->rows * (1 - options->accuracy) >= 1)
        out->accuracy = least(out->accuracy, out->top1);
    out->score = out->accuracy;
    if (!status && options->judge) status = judge(model, &taken, options, &arena, &out->score, error);
    holo_arena_deinit(&arena);
    return status;
}
