// judge.c - compares what a kernel gave with what is right: completely, or on a sample. See judge.h.
#include "verify/judge.h"

#include "base/bits.h"
#include "base/memory.h"
#include "runtime/pool.h"
#include "verify/compare.h"

#include <math.h>

enum { SAMPLES = 64 };

// ---- on the pool's threads, in parts that depend on the number of elements alone

enum { PARTS = 64, PART_MIN = 1 << 12 };

typedef struct Judge {
    const HoloTensor *want, *got;
    const HoloCall   *call;         // whose inputs are as they were; NULL: they may be gone
    double            bound;        // how far an element may be off
    bool              wild_is_fine; // a result that is not finite
    struct JudgePart {
        double  top; // the largest magnitude of `want`
        double  off; // the largest difference
        int64_t at;  // and its index
        int64_t bad; // the first element beyond the bound; -1: none
    } part[PARTS];
} Judge;

static int part_count(int64_t count)
{
    return count < (int64_t)PARTS * PART_MIN ? (int)(count / PART_MIN + 1) : PARTS;
}

static void part_bounds(int64_t count, int64_t i, int64_t *from, int64_t *to)
{
    int parts = part_count(count);
    *from     = count / parts * i;
    *to       = i == parts - 1 ? count : count / parts * (i + 1);
}

// Magnitudes of floats are in the order of their bits; those that are not finite come last.
static double largest_f32(const float *x, int64_t count)
{
    const uint32_t infinite = 0x7F800000;
    uint32_t       top      = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = holo_bits_of_f32(x[i]) & 0x7FFFFFFF;
        bits          = bits < infinite ? bits : 0;
        top           = bits > top ? bits : top;
    }
    return (double)holo_f32_of_bits(top);
}

static double largest_any(const HoloTensor *t, int64_t from, int64_t to)
{
    double top = 0;
    for (int64_t i = from; i < to; i++) {
        double x = fabs(holo_element(t, i));
        if (x > top && isfinite(x)) top = x;
    }
    return top;
}

static void part_largest(void *arg, int64_t i, int worker)
{
    Judge  *j = arg;
    int64_t from, to;
    (void)worker;
    part_bounds(holo_tensor_count(j->want), i, &from, &to);
    j->part[i].top = j->want->dtype == HOLO_F32 ? largest_f32((const float *)j->want->data + from, to - from)
                                                : largest_any(j->want, from, to);
}

// The largest magnitude of the wanted elements.
static double judge_largest(HoloProducts *p, Judge *j)
{
    double top   = 0;
    int    parts = part_count(holo_tensor_count(j->want));
    holo_pool_run(p->pool, parts, part_largest, j);
    for (int i = 0; i < parts; i++) top = fmax(top, j->part[i].top);
    return top;
}

static void part_compare(void *arg, int64_t i, int worker)
{
    Judge  *j = arg;
    int64_t from, to;
    (void)worker;
    part_bounds(holo_tensor_count(j->want), i, &from, &to);
    struct JudgePart found = {.bad = -1};
    for (int64_t k = from; k < to; k++) {
        double want = holo_element(j->want, k), got = holo_element(j->got, k);
        if (want == got || (isnan(want) && isnan(got)) || (j->wild_is_fine && !isfinite(got))) continue;
        double off = fabs(want - got);
        if (isnan(off)) off = INFINITY;
        if (off > found.off) found.off = off, found.at = k;
        if (found.bad < 0 && !(off <= j->bound)) found.bad = k;
    }
    j->part[i] = found;
}

// A narrow type adds a rounding of its own.
static HoloBound bound_of(const HoloProducts *p, const HoloNode *node)
{
    const HoloValue *out   = node->out_count ? node->out[0] : NULL;
    HoloBound        bound = {p->options->relative, p->options->absolute, "the tolerance of verification"};
    if (out && out->type.dtype != HOLO_F32 && bound.relative > 0)
        bound.relative += holo_rounding_of((HoloDtype)out->type.dtype);
    return bound;
}

// `shift` is added to indices in messages.
static HoloStatus found_note(HoloProducts *p, const HoloNode *node, const Judge *j, double top, int64_t shift,
                             HoloError *error)
{
    HoloVerifyResult *r     = p->result;
    int64_t           count = holo_tensor_count(j->want);
    HoloBound         bound = bound_of(p, node);
    r->judged += (uint64_t)count;
    for (int i = 0; i < part_count(count); i++) {
        const struct JudgePart *found = &j->part[i];
        if (found->off > 0) holo_verify_note(r, &bound, found->off, top, "node", node->name, found->at + shift);
        if (found->bad >= 0)
            return holo_fail(error, HOLO_VERIFY,
                             "node %s (%s): element %lld is %g by the kernel, but %g when computed plainly", node->name,
                             node->type, (long long)(found->bad + shift), holo_element(j->got, found->bad),
                             holo_element(j->want, found->bad));
    }
    return HOLO_OK;
}

// Of products: was no finite number given for one, and is there an input that is none, or so large that sums may leave f32?
// Such an input may reach more elements than by the formula: docs/inside/numbers.md.
static bool is_wild(const Judge *j)
{
    const double large  = 0x1p100;
    bool         is_bad = false;
    if (!j->call || !j->call->op->at) return false;
    for (int i = 0; i < part_count(holo_tensor_count(j->want)); i++)
        is_bad |= j->part[i].bad >= 0 && !isfinite(holo_element(j->got, j->part[i].bad));
    for (int i = 0; is_bad && i < j->call->in_count; i++) {
        const HoloTensor *t = j->call->in[i];
        if (!t || t->kind != HOLO_TENSOR || holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT) continue;
        for (int64_t k = 0, count = holo_tensor_count(t); k < count; k++)
            if (!(fabs(holo_element(t, k)) < large)) return true;
    }
    return false;
}

// `top` is the largest magnitude that the elements are compared with.
static HoloStatus judge_compare(HoloProducts *p, const HoloNode *node, Judge *j, double top, int64_t shift,
                                HoloError *error)
{
    HoloBound bound = bound_of(p, node);
    int       parts = part_count(holo_tensor_count(j->want));
    j->bound        = bound.absolute + bound.relative * top;
    holo_pool_run(p->pool, parts, part_compare, j);
    j->wild_is_fine = is_wild(j);
    if (j->wild_is_fine) holo_pool_run(p->pool, parts, part_compare, j);
    return found_note(p, node, j, top, shift, error);
}

HoloStatus holo_judge_compare(HoloProducts *p, const HoloNode *node, const HoloTensor *want, const HoloTensor *got,
                              int64_t shift, HoloError *error)
{
    Judge j = {.want = want, .got = got};
    return judge_compare(p, node, &j, judge_largest(p, &j), shift, error);
}

// ---- a sample of exact elements

typedef struct Samples {
    const HoloCall *call;
    int64_t         index[SAMPLES];
    double          want[SAMPLES], got[SAMPLES];
} Samples;

static void sample_one(void *arg, int64_t i, int worker)
{
    Samples *s = arg;
    (void)worker;
    const HoloTensor *out = s->call->out[0];
    double room    = 0; // one element of the output's type: the exact one is stored in it if it is narrow or an integer
    HoloTensor one = {.data = &room, .dtype = out->dtype};
    s->got[i]      = holo_element(out, s->index[i]);
    s->want[i]     = s->call->op->at(s->call, s->index[i]);
    bool is_float  = holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_FLOAT;
    if (is_float && holo_rounding_of((HoloDtype)out->dtype) <= holo_rounding_of(HOLO_F32)) return;
    holo_put_f(&one, 0, s->want[i]);
    s->want[i] = holo_get_f(&one, 0);
}

HoloStatus holo_judge_sample(HoloProducts *p, const HoloNode *node, const HoloCall *call)
{
    Samples           s     = {.call = call};
    const HoloTensor *out   = call->out[0];
    Judge             all   = {.want = out, .got = out};
    int64_t           count = holo_tensor_count(out);
    if (!count) return HOLO_OK;
    double top = judge_largest(p, &all);
    for (int i = 0; i < SAMPLES; i++) s.index[i] = (int64_t)(holo_random_next(&p->random) % (uint64_t)count);
    holo_pool_run(p->pool, SAMPLES, sample_one, &s);
    for (int i = 0; i < SAMPLES; i++) {
        HoloTensor want = {.data = &s.want[i], .dtype = HOLO_F64}, got = {.data = &s.got[i], .dtype = HOLO_F64};
        Judge      one = {.want = &want, .got = &got, .call = call};
        HOLO_TRY(judge_compare(p, node, &one, top, s.index[i], call->error));
    }
    return HOLO_OK;
}

// Takes memory for outputs of the same types.
HoloStatus holo_judge_outputs_take(const HoloCall *call, HoloTensor *out, HoloTensor **list)
{
    for (int i = 0; i < call->out_count; i++) {
        if (!call->out[i]) continue;
        out[i]      = *call->out[i];
        out[i].data = holo_block_take(holo_tensor_bytes(&out[i]) + 1);
        list[i]     = &out[i];
        if (!out[i].data) return holo_fail_memory(call->error);
    }
    return HOLO_OK;
}

void holo_judge_outputs_free(HoloTensor *out)
{
    for (int i = 0; i < HOLO_JUDGE_OUTPUTS; i++)
        if (out[i].data) holo_block_free(out[i].data, holo_tensor_bytes(&out[i]) + 1);
}

// Evaluates plainly into memory of its own and compares every element.
HoloStatus holo_judge_plain(HoloProducts *p, const HoloNode *node, const HoloCall *call)
{
    HoloTensor plain[HOLO_JUDGE_OUTPUTS] = {{0}}, *list[HOLO_JUDGE_OUTPUTS] = {NULL};
    HoloCall   eval   = *call;
    HoloStatus status = holo_judge_outputs_take(call, plain, list);
    eval.out          = list;
    if (!status) status = holo_op_eval(&eval);
    for (int i = 0; i < call->out_count && !status; i++) {
        Judge j = {.want = list[i], .got = call->out[i], .call = call};
        if (list[i]) status = judge_compare(p, node, &j, judge_largest(p, &j), 0, call->error);
    }
    holo_judge_outputs_free(plain);
    return status;
}
