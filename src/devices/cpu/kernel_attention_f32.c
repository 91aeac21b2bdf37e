// kernel_attention_f32.c - Attention of f32: a task is a block of queries of a head, or some small heads.
//
// Keys and values are read in place. If there are old ones, all are first joined in the outputs for them. With a single
// query for each head, the heads that share keys form a block.
//
// This file reads Attention of ai.onnx. Other attentions run by their own eval, which finds the vectors; only the
// arithmetic is done here.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/standard/attention.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID }; // as in ops/standard/attention.c
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };

enum {
    TASKS     = 8,       // number of tasks, if they are not too small
    TASK_ROWS = 32,      // queries that are worth packing keys for
    TASK_WORK = 1 << 18, // multiplications that are worth a task
};

typedef struct Job {
    const HoloCall    *call;
    HoloAttentionSizes s;
    HoloAttention      a;                 // bias[0] is the mask, of f32 or bool; no scores are wanted
    int64_t            past;              // keys before the first query, if a.ahead and a.valid do not say
    bool               shared;            // rows are the heads of a group, each with one query
    int64_t            units, rows;       // what is cut: groups or heads, and the rows of each
    int64_t            tile, tiles;       // rows of a task, and tasks of a unit
    int64_t            tile_units, tasks; // units of a task, and tasks in all
} Job;

// ---- sizes

static HoloStatus expect(const HoloCall *call)
{
    static const char *const names[] = {"Q", "K", "V", "the mask", "past_key", "past_value"};
    const HoloTensor        *mask = holo_in(call, MASK), *valid = holo_in(call, VALID);
    for (int i = Q; i <= V; i++) HOLO_TRY(holo_cpu_kernel_expect(call, holo_in(call, i), names[i], 3, 4));
    for (int i = PAST_KEY; i <= PAST_VALUE; i++) {
        if (!holo_in(call, i)) continue;
        HOLO_TRY(holo_cpu_kernel_expect(call, holo_in(call, i), names[i], 4, 4));
        if (!holo_out(call, i - PAST_KEY + PRESENT_KEY))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s is given, but the joined ones are not wanted", names[i]);
    }
    if (mask && (mask->kind != HOLO_TENSOR || mask->dtype != HOLO_BOOL))
        HOLO_TRY(holo_cpu_kernel_expect(call, mask, names[MASK], 1, 4));
    if (valid && (valid->kind != HOLO_TENSOR || valid->dtype != HOLO_I64))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "nonpad_kv_seqlen should be i64");
    if (holo_out(call, SCORES)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the kernel does not give the scores");
    return HOLO_OK;
}

static bool is_shape(const HoloTensor *t, int rank, const int64_t *dim)
{
    if (t->rank != rank) return false;
    for (int d = 0; d < rank; d++)
        if (t->dim[d] != dim[d]) return false;
    return true;
}

static HoloStatus expect_outputs(const HoloCall *call, const HoloAttentionSizes *s)
{
    static const char *const names[]    = {"the output", "present_key", "present_value"};
    const int64_t            shape[][4] = {
                   {s->batch, s->q_heads, s->queries, s->v_size},
                   {s->batch, s->kv_heads, s->keys, s->size},
                   {s->batch, s->kv_heads, s->keys, s->v_size},
                   {s->batch, s->queries, s->q_heads * s->v_size},
    };
    for (int i = Y; i <= PRESENT_VALUE; i++) {
        const HoloTensor *t    = holo_out(call, i);
        int               rank = i == Y ? call->in[Q]->rank : 4;
        if (i != Y && !t) continue;
        HOLO_TRY(holo_cpu_kernel_expect(call, t, names[i], rank, rank));
        if (!is_shape(t, rank, shape[rank == 4 ? i : 3]))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has another shape", names[i]);
    }
    return HOLO_OK;
}

// Blocks depend on the sizes alone.
static void cut(Job *j)
{
    const HoloAttention *a     = &j->a;
    int64_t              group = a->q_heads / a->kv_heads;
    j->shared                  = a->queries == 1 && group > 1;
    j->units                   = a->batch * (j->shared ? a->kv_heads : a->q_heads);
    j->rows                    = j->shared ? group : a->queries;
    j->tiles                   = holo_ceil_div(j->rows, HOLO_ATTENTION_ROWS);
    if (j->units * j->tiles < TASKS) {
        int64_t want = holo_least(holo_ceil_div(TASKS, j->units), j->rows / TASK_ROWS);
        if (want > j->tiles) j->tiles = want;
    }
    j->tile       = holo_ceil_div(j->rows, j->tiles);
    j->tiles      = holo_ceil_div(j->rows, j->tile);
    double work   = (double)j->rows * (double)a->keys * (double)(a->size + a->v_size);
    j->tile_units = j->tiles == 1 && work < TASK_WORK ? holo_least(j->units, (int64_t)(TASK_WORK / (work + 1)) + 1) : 1;
    j->tasks      = holo_ceil_div(j->units, j->tile_units) * j->tiles;
}

// The numbers of the whole call. If the output is empty, tasks is 0.
static HoloStatus job_init(const HoloCall *call, Job *j)
{
    HoloAttentionSizes *s = &j->s;
    HOLO_TRY(expect(call));
    HOLO_TRY(holo_attention_sizes(call, s));
    HOLO_TRY(expect_outputs(call, s));
    const HoloTensor *valid = holo_in(call, VALID);
    HoloAttention    *a     = &j->a;
    if (valid && !is_shape(valid, 1, &s->batch))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "nonpad_kv_seqlen should have one number for each batch");
    if (s->size < 1 || s->size > HOLO_ATTENTION_SIZE || s->v_size > HOLO_ATTENTION_SIZE)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "vectors of %lld and %lld numbers, expected 1 to %d",
                              (long long)s->size, (long long)s->v_size, HOLO_ATTENTION_SIZE);
    holo_attention_init(call, s, a);
    HOLO_TRY(holo_attention_mask(call, s, &a->bias[0]));
    j->past    = s->past;
    a->softcap = holo_attr_float(call, "softcap", 0);
    a->causal  = holo_attr_int(call, "is_causal", 0) != 0;
    a->left    = holo_attr_int(call, "left_window_size", -1);
    a->right   = holo_attr_int(call, "right_window_size", -1);
    if (holo_in(call, PAST_KEY)) {
        a->k = holo_heads_outer(holo_out(call, PRESENT_KEY));
        a->v = holo_heads_outer(holo_out(call, PRESENT_VALUE));
    }
    if (holo_tensor_count(holo_out(call, Y))) cut(j);
    return HOLO_OK;
}

// An operator with a domain finds its vectors itself: see run_other.
static bool is_other(const HoloCall *call)
{
    return *call->op->domain != 0;
}

// Room for vectors at least as long as those of the call, or for the longest possible ones.
static HoloStatus check_other(const HoloCall *call, size_t *out_scratch)
{
    const HoloTensor *q = holo_in(call, Q), *y = holo_out(call, Y);
    int64_t           heads = holo_attr_int(call, "num_heads", 0);
    if (!call->op->eval || call->op->body)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operator is not an attention");
    HOLO_TRY(holo_cpu_kernel_expect(call, q, "the query", 3, 5));
    HOLO_TRY(holo_cpu_kernel_expect(call, y, "the output", 3, 3));
    if (heads < 1) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "num_heads should be positive");
    int64_t size   = q->dim[q->rank - 1] / (q->rank == 3 ? heads : 1);
    int64_t v_size = y->dim[2] / heads;
    *out_scratch =
        (size_t)holo_attend_scratch(holo_least(size, HOLO_ATTENTION_SIZE), holo_least(v_size, HOLO_ATTENTION_SIZE)) *
        sizeof(float);
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Job *j = job;
    if (!holo_cpu_kernel_has_params(call, sizeof(HoloAttentionParams)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of attention_f32");
    if (is_other(call)) return check_other(call, out_scratch);
    HOLO_TRY(job_init(call, j));
    *out_scratch = j->tasks ? (size_t)holo_attend_scratch(j->s.size, j->s.v_size) * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- work

static void *vector(const HoloHeads *h, int64_t batch, int64_t head, int64_t position)
{
    int64_t at = h->start + (h->at ? h->at[batch] : batch) * h->batch + head * h->head + position * h->step;
    return (char *)h->t->data + at * (int64_t)holo_dtype_size((HoloDtype)h->t->dtype);
}

static HoloVectors vectors_are(const HoloHeads *h)
{
    return h->t->dtype == HOLO_F16 ? HOLO_VECTORS_F16 : h->t->dtype == HOLO_I8 ? HOLO_VECTORS_I8 : HOLO_VECTORS_F32;
}

// Rows from `row` on of one unit.
static void attend(const Job *j, int64_t unit, int64_t row, int worker)
{
    const HoloAttention *a     = &j->a;
    const HoloBias      *bias  = &a->bias[0];
    const HoloTensor    *mask  = bias->t;
    int64_t              group = a->q_heads / a->kv_heads, heads = j->shared ? a->kv_heads : a->q_heads;
    int64_t              batch = unit / heads, head = j->shared ? unit % heads * group + row : unit % heads;
    int64_t              query = j->shared ? 0 : row, far = a->keys + a->queries; // no distance is larger
    int64_t              at    = batch * bias->stride[0] + head * bias->stride[1] + query * bias->stride[2];
    int64_t              keys  = a->valid ? a->valid[batch] : a->keys;
    int64_t              ahead = a->ahead ? a->ahead[batch] : a->valid ? keys - a->queries : j->past;
    int64_t              after = a->causal ? 0 : a->right;
    HoloAttend           part  = {
                   .rows    = holo_least(j->tile, j->rows - row),
                   .keys    = keys,
                   .size    = a->size,
                   .v_size  = a->v_size,
                   .q       = vector(&a->q, batch, head, query),
                   .k       = vector(&a->k, batch, head / group, 0),
                   .v       = vector(&a->v, batch, head / group, 0),
                   .q_row   = j->shared ? a->q.head : a->q.step,
                   .k_row   = a->k.step,
                   .v_row   = a->v.step,
                   .k_are   = vectors_are(&a->k),
                   .v_are   = vectors_are(&a->v),
                   .out     = (float *)a->y->data + batch * a->y_batch + head * a->y_head + query * a->y_step,
                   .out_row = j->shared ? a->y_head : a->y_step,
                   .scale   = (float)a->scale,
                   .softcap = a->softcap > 0 ? (float)a->softcap : 0,
                   .mask = mask ? (const char *)mask->data + (size_t)at * holo_dtype_size((HoloDtype)mask->dtype) : NULL,
                   .masked_nan   = a->masked_nan,
                   .mask_is_bool = mask && mask->dtype == HOLO_BOOL,
                   .mask_row     = bias->stride[j->shared ? 1 : 2],
                   .mask_key     = bias->stride[3],
                   .mask_keys    = bias->keys,
                   .place        = query + ahead,
                   .place_step   = !j->shared,
                   .before       = a->left < 0 ? far : holo_least(a->left, far),
                   .after        = after < 0 ? far : holo_least(after, far),
                   .sink         = a->sink ? (const float *)a->sink->data + head : NULL,
                   .sink_row     = j->shared,
                   .scratch      = holo_cpu_kernel_scratch(j->call->host, worker),
    };
    j->call->host->kernels->attention_f32(&part);
}

static void work(void *arg, int64_t i, int worker)
{
    const Job *j    = arg;
    int64_t    unit = i / j->tiles * j->tile_units, end = holo_least(unit + j->tile_units, j->units);
    for (; unit < end; unit++) attend(j, unit, i % j->tiles * j->tile, worker);
}

// Joins old and new keys, and values, of one head.
static void join(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Job                *j     = arg;
    const HoloAttentionSizes *s     = &j->s;
    int64_t                   batch = i / s->kv_heads, head = i % s->kv_heads;
    HoloTensor               *to[]   = {holo_out(j->call, PRESENT_KEY), holo_out(j->call, PRESENT_VALUE)};
    const int64_t             size[] = {s->size, s->v_size};
    for (int k = 0; k < 2; k++) {
        const HoloTensor *past = holo_in(j->call, PAST_KEY + k);
        if (!to[k]) continue;
        HoloHeads all = holo_heads_outer(to[k]), old = past ? holo_heads_outer(past) : all;
        HoloHeads fresh = holo_heads_of(j->call->in[K + k], s->kv_heads);
        size_t    bytes = (size_t)size[k] * sizeof(float);
        if (past && s->past)
            memcpy(vector(&all, batch, head, 0), vector(&old, batch, head, 0), (size_t)s->past * bytes);
        for (int64_t p = 0; p < s->fresh && bytes; p++)
            memcpy(vector(&all, batch, head, s->past + p), vector(&fresh, batch, head, p), bytes);
    }
}

static HoloStatus run_onnx(HoloCall *call, Job *j)
{
    const HoloTensor *valid = holo_in(call, VALID);
    j->call                 = call;
    j->a.valid              = valid ? valid->data : NULL;
    for (int64_t b = 0; j->a.valid && b < j->s.batch; b++)
        if (j->a.valid[b] < 0 || j->a.valid[b] > j->s.keys)
            return holo_call_fail(call, HOLO_BAD_INPUT, "nonpad_kv_seqlen %lld, expected 0 to %lld",
                                  (long long)j->a.valid[b], (long long)j->s.keys);
    if (holo_out(call, PRESENT_KEY) || holo_out(call, PRESENT_VALUE))
        call->host->parallel(call->host, j->s.batch * j->s.kv_heads, join, j);
    if (j->tasks) call->host->parallel(call->host, j->tasks, work, j);
    return HOLO_OK;
}

// ---- operators that find their vectors themselves

// A row of biases as f32. Softmax ignores what is added to a whole row. Without the largest bias, the scores keep their
// digits if a large number hides all keys.
static void row_narrow(const double *x, int64_t count, bool shifts, float *out)
{
    double top = -INFINITY;
    for (int64_t k = 0; shifts && k < count; k++)
        if (x[k] > top) top = x[k];
    if (!isfinite(top)) top = 0;
    for (int64_t k = 0; k < count; k++) out[k] = (float)(x[k] - top);
}

// Both biases as one of f32, with dimensions of size 1 where both repeat.
static HoloStatus biases_join(const HoloCall *call, const HoloAttention *a, HoloBias *out)
{
    int64_t     dim[4] = {a->batch, a->q_heads, a->queries, a->keys}, whole[4];
    HoloTensor *sum;
    void       *row;
    memcpy(whole, dim, sizeof whole);
    for (int d = 0; d < 3; d++) {
        bool repeats = true;
        for (int i = 0; i < HOLO_BIASES; i++) repeats = repeats && (!a->bias[i].t || a->bias[i].stride[d] == 0);
        if (repeats) dim[d] = 1;
    }
    HOLO_TRY(holo_temp_tensor(call, HOLO_F32, 4, dim, &sum));
    HOLO_TRY(holo_call_temp(call, (size_t)a->keys, sizeof(double), &row));
    for (int64_t r = 0; r < dim[0] * dim[1] * dim[2]; r++) {
        holo_biases_row(a, r / dim[2] / dim[1], r / dim[2] % dim[1], r % dim[2], row);
        row_narrow(row, a->keys, !a->sink, (float *)sum->data + r * a->keys);
    }
    holo_bias_init(sum, whole, false, out);
    return HOLO_OK;
}

static bool is_f32(const HoloTensor *t)
{
    return t && t->kind == HOLO_TENSOR && t->dtype == HOLO_F32;
}

static bool is_kept(const HoloTensor *t)
{
    return is_f32(t) || (t && t->kind == HOLO_TENSOR && (t->dtype == HOLO_F16 || t->dtype == HOLO_I8));
}

// Can the arithmetic do it? The last query may see more than its position allows only if there is nothing more to see.
static bool is_fast(const HoloAttention *a)
{
    bool sizes = a->size > 0 && a->size <= HOLO_ATTENTION_SIZE && a->v_size <= HOLO_ATTENTION_SIZE && a->keys > 0;
    if (!sizes || a->scores || a->precision || (a->sink && !is_f32(a->sink))) return false;
    for (int64_t b = 0; a->causal && a->open_end && b < a->batch; b++)
        if ((a->ahead ? a->ahead[b] : 0) + a->queries < (a->valid ? a->valid[b] : a->keys)) return false;
    return is_f32(a->y) && is_f32(a->q.t) && is_kept(a->k.t) && is_kept(a->v.t);
}

static HoloStatus attend_other(const HoloCall *call, const HoloAttention *a)
{
    Job             j    = {.call = call, .a = *a};
    const HoloBias *bias = a->bias;
    if (!is_fast(a)) return holo_attention_plain(call, a);
    int only = !bias[1].t ? 0 : !bias[0].t ? 1 : -1; // the one that there is, if any
    if (only >= 0 && (!bias[only].t || bias[only].t->dtype == HOLO_BOOL || is_f32(bias[only].t)))
        j.a.bias[0] = bias[only];
    else
        HOLO_TRY(biases_join(call, a, &j.a.bias[0]));
    cut(&j);
    call->host->parallel(call->host, j.tasks, work, &j);
    return HOLO_OK;
}

static HoloStatus run(HoloCall *call, void *job)
{
    if (!is_other(call)) return run_onnx(call, job);
    call->attend      = attend_other;
    HoloStatus status = holo_op_eval(call);
    call->attend      = NULL;
    return status;
}

const HoloCpuKernel holo_kernel_attention_f32 = {
    .id       = HOLO_KERNEL_attention_f32,
    .name     = "attention_f32",
    .job_size = sizeof(Job),
    .prepare  = prepare,
    .run      = run,
};
