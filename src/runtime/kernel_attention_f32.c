// kernel_attention_f32.c - Attention of f32: a task is a block of queries of a head, or some small heads.
//
// Keys and values are read where they lie. Where there are old ones, all are first joined in the outputs for
// them. A single query for each head is no block: there the heads that share keys are.
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/attention.h"
#include "runtime/kernel.h"

#include <string.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID }; // as in ops/attention.c
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };

enum {
    TASKS     = 8,       // as many are made where they are not too small
    TASK_ROWS = 32,      // queries that are worth packing keys for
    TASK_WORK = 1 << 18, // multiplications that are worth a task
};

typedef struct Job {
    const HoloCall    *call;
    HoloAttentionSizes s;
    HoloAttention      a; // views and scale; the rest is not used
    HoloHeads          y;
    HoloBias           mask;
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
    for (int i = Q; i <= V; i++) HOLO_TRY(holo_kernel_expect(call, holo_in(call, i), names[i], 3, 4));
    for (int i = PAST_KEY; i <= PAST_VALUE; i++) {
        if (!holo_in(call, i)) continue;
        HOLO_TRY(holo_kernel_expect(call, holo_in(call, i), names[i], 4, 4));
        if (!holo_out(call, i - PAST_KEY + PRESENT_KEY))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s is given, but the joined ones are not wanted", names[i]);
    }
    if (mask && (mask->kind != HOLO_TENSOR || mask->dtype != HOLO_BOOL))
        HOLO_TRY(holo_kernel_expect(call, mask, names[MASK], 1, 4));
    if (valid && (valid->kind != HOLO_TENSOR || valid->dtype != HOLO_I64))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "nonpad_kv_seqlen should be i64");
    if (holo_out(call, SCORES)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the scores are no output of the kernel");
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
        HOLO_TRY(holo_kernel_expect(call, t, names[i], rank, rank));
        if (!is_shape(t, rank, shape[rank == 4 ? i : 3]))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has another shape", names[i]);
    }
    return HOLO_OK;
}

static HoloHeads heads_of(const HoloTensor *t, int64_t heads)
{
    return t->rank == 4 ? holo_heads_outer(t) : holo_heads_inner(t, heads);
}

// Blocks follow from the sizes alone.
static void cut(Job *j)
{
    const HoloAttentionSizes *s     = &j->s;
    int64_t                   group = s->q_heads / s->kv_heads;
    j->shared                       = s->queries == 1 && group > 1;
    j->units                        = s->batch * (j->shared ? s->kv_heads : s->q_heads);
    j->rows                         = j->shared ? group : s->queries;
    j->tiles                        = holo_ceil_div(j->rows, HOLO_ATTENTION_ROWS);
    if (j->units * j->tiles < TASKS) {
        int64_t want = holo_least(holo_ceil_div(TASKS, j->units), j->rows / TASK_ROWS);
        if (want > j->tiles) j->tiles = want;
    }
    j->tile       = holo_ceil_div(j->rows, j->tiles);
    j->tiles      = holo_ceil_div(j->rows, j->tile);
    double work   = (double)j->rows * (double)s->keys * (double)(s->size + s->v_size);
    j->tile_units = j->tiles == 1 && work < TASK_WORK ? holo_least(j->units, (int64_t)(TASK_WORK / (work + 1)) + 1) : 1;
    j->tasks      = holo_ceil_div(j->units, j->tile_units) * j->tiles;
}

// The whole call in numbers. Where the output is empty, tasks is 0.
static HoloStatus job_init(const HoloCall *call, Job *j)
{
    *j = (Job){.call = call};
    HOLO_TRY(expect(call));
    HOLO_TRY(holo_attention_sizes(call, &j->s));
    HOLO_TRY(expect_outputs(call, &j->s));
    const HoloTensor *valid = holo_in(call, VALID);
    if (valid && !is_shape(valid, 1, &j->s.batch))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "nonpad_kv_seqlen should have one number for each batch");
    HOLO_TRY(holo_attention_mask(call, &j->s, &j->mask));
    if (j->s.size < 1 || j->s.size > HOLO_ATTENTION_SIZE || j->s.v_size > HOLO_ATTENTION_SIZE)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "vectors of %lld and %lld numbers, expected 1 to %d",
                              (long long)j->s.size, (long long)j->s.v_size, HOLO_ATTENTION_SIZE);
    holo_attention_init(call, &j->s, &j->a);
    j->y         = heads_of(holo_out(call, Y), j->s.q_heads);
    j->a.softcap = holo_attr_float(call, "softcap", 0);
    j->a.left    = holo_attr_int(call, "left_window_size", -1);
    j->a.right   = holo_attr_int(call, "is_causal", 0) ? 0 : holo_attr_int(call, "right_window_size", -1);
    if (holo_in(call, PAST_KEY)) {
        j->a.k = holo_heads_outer(holo_out(call, PRESENT_KEY));
        j->a.v = holo_heads_outer(holo_out(call, PRESENT_VALUE));
    }
    if (holo_tensor_count(holo_out(call, Y))) cut(j);
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Job j;
    if (!holo_kernel_has_params(call, sizeof(HoloAttentionParams)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of attention_f32");
    HOLO_TRY(job_init(call, &j));
    *out_scratch = j.tasks ? (size_t)holo_attend_scratch(j.s.size, j.s.v_size) * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- work

static float *vector(const HoloHeads *h, int64_t batch, int64_t head, int64_t position)
{
    return (float *)h->t->data + h->start + batch * h->batch + head * h->head + position * h->step;
}

// Rows from `row` on of one unit.
static void attend(const Job *j, int64_t unit, int64_t row, int worker)
{
    const HoloAttentionSizes *s     = &j->s;
    const HoloTensor         *valid = holo_in(j->call, VALID), *mask = j->mask.t;
    int64_t                   group = s->q_heads / s->kv_heads, heads = j->shared ? s->kv_heads : s->q_heads;
    int64_t                   batch = unit / heads, head = j->shared ? unit % heads * group + row : unit % heads;
    int64_t                   query = j->shared ? 0 : row, far = s->keys + s->queries; // no distance is larger
    int64_t                   at   = batch * j->mask.stride[0] + head * j->mask.stride[1] + query * j->mask.stride[2];
    int64_t                   keys = valid ? holo_get_i(valid, batch) : s->keys;
    HoloAttend                a    = {
                          .rows    = holo_least(j->tile, j->rows - row),
                          .keys    = keys,
                          .size    = s->size,
                          .v_size  = s->v_size,
                          .q       = vector(&j->a.q, batch, head, query),
                          .k       = vector(&j->a.k, batch, head / group, 0),
                          .v       = vector(&j->a.v, batch, head / group, 0),
                          .q_row   = j->shared ? j->a.q.head : j->a.q.step,
                          .k_row   = j->a.k.step,
                          .v_row   = j->a.v.step,
                          .out     = vector(&j->y, batch, head, query),
                          .out_row = j->shared ? j->y.head : j->y.step,
                          .scale   = (float)j->a.scale,
                          .softcap = j->a.softcap > 0 ? (float)j->a.softcap : 0,
                          .mask = mask ? (const char *)mask->data + (size_t)at * holo_dtype_size((HoloDtype)mask->dtype) : NULL,
                          .mask_is_bool = mask && mask->dtype == HOLO_BOOL,
                          .mask_row     = j->mask.stride[j->shared ? 1 : 2],
                          .mask_key     = j->mask.stride[3],
                          .mask_keys    = j->mask.keys,
                          .place        = query + (valid ? keys - s->queries : s->past),
                          .place_step   = !j->shared,
                          .before       = j->a.left < 0 ? far : holo_least(j->a.left, far),
                          .after        = j->a.right < 0 ? far : holo_least(j->a.right, far),
                          .scratch      = holo_kernel_scratch(j->call->host, worker),
    };
    j->call->host->kernels->attention_f32(&a);
}

static void work(void *arg, int64_t i, int worker)
{
    const Job *j    = arg;
    int64_t    unit = i / j->tiles * j->tile_units, end = holo_least(unit + j->tile_units, j->units);
    for (; unit < end; unit++) attend(j, unit, i % j->tiles * j->tile, worker);
}

// Old and new keys, and values, of one head, one behind the other.
static void join(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Job    *j     = arg;
    int64_t       batch = i / j->s.kv_heads, head = i % j->s.kv_heads;
    HoloTensor   *to[]   = {holo_out(j->call, PRESENT_KEY), holo_out(j->call, PRESENT_VALUE)};
    const int64_t size[] = {j->s.size, j->s.v_size};
    for (int k = 0; k < 2; k++) {
        const HoloTensor *past = holo_in(j->call, PAST_KEY + k);
        if (!to[k]) continue;
        HoloHeads all = holo_heads_outer(to[k]), old = past ? holo_heads_outer(past) : all;
        HoloHeads fresh = heads_of(j->call->in[K + k], j->s.kv_heads);
        size_t    bytes = (size_t)size[k] * sizeof(float);
        if (past && j->s.past)
            memcpy(vector(&all, batch, head, 0), vector(&old, batch, head, 0), (size_t)j->s.past * bytes);
        for (int64_t p = 0; p < j->s.fresh && bytes; p++)
            memcpy(vector(&all, batch, head, j->s.past + p), vector(&fresh, batch, head, p), bytes);
    }
}

static HoloStatus run(HoloCall *call)
{
    Job               j;
    const HoloTensor *valid = holo_in(call, VALID);
    HOLO_TRY(job_init(call, &j));
    for (int64_t b = 0; valid && b < j.s.batch; b++) {
        int64_t keys = holo_get_i(valid, b);
        if (keys < 0 || keys > j.s.keys)
            return holo_call_fail(call, HOLO_BAD_INPUT, "nonpad_kv_seqlen %lld, expected 0 to %lld", (long long)keys,
                                  (long long)j.s.keys);
    }
    if (holo_out(call, PRESENT_KEY) || holo_out(call, PRESENT_VALUE))
        call->host->parallel(call->host, j.s.batch * j.s.kv_heads, join, &j);
    if (j.tasks) call->host->parallel(call->host, j.tasks, work, &j);
    return HOLO_OK;
}

const HoloKernel holo_kernel_attention_f32 = {
    .id    = HOLO_KERNEL_attention_f32,
    .name  = "attention_f32",
    .check = check,
    .run   = run,
};
