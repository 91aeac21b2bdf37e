// cuda_attention.c - attention in one kernel.
#include "devices/cuda/cuda_attention.h"

#include <math.h>
#include <stddef.h>

enum { Q, K, V, MASK }; // inputs

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

// [batch][heads][rows][size] or [batch][rows][heads * size]: strides of batch, head and row.
typedef struct Heads {
    int64_t batch, heads, rows, size;
    int64_t stride[3];
} Heads;

static bool heads_read(const HoloTensor *t, int64_t heads, Heads *out)
{
    if (!t || t->dtype != HOLO_F32 || (t->rank != 3 && t->rank != 4)) return false;
    bool inner = t->rank == 3;
    if (inner && (heads < 1 || t->dim[2] % heads)) return false;
    *out           = (Heads){.batch = t->dim[0],
                             .heads = inner ? heads : t->dim[1],
                             .rows  = inner ? t->dim[1] : t->dim[2],
                             .size  = inner ? t->dim[2] / heads : t->dim[3]};
    out->stride[0] = out->heads * out->rows * out->size;
    out->stride[1] = inner ? out->size : out->rows * out->size;
    out->stride[2] = inner ? out->heads * out->size : out->size;
    return true;
}

static HoloStatus mask_read(const HoloCudaMaking *m, HoloCudaAttention *p)
{
    const HoloTensor *mask   = holo_in(m->call, MASK);
    const int32_t     want[] = {p->batch, p->heads, p->queries, p->keys};
    int64_t           at     = 1;
    if (!mask) return HOLO_OK;
    if (mask->rank < 1 || mask->rank > 4 || (mask->dtype != HOLO_F32 && mask->dtype != HOLO_BOOL)) return bad(m);
    for (int d = 3; d >= 0; d--) {
        int     own  = d - (4 - mask->rank);
        int64_t size = own >= 0 ? mask->dim[own] : 1;
        if (size != want[d] && (size != 1 || d == 3)) return bad(m);
        if (d < 3) p->mask_stride[d] = size == 1 ? 0 : at;
        at *= size;
    }
    uint8_t type = mask->dtype == HOLO_F32 ? holo_cuda_type(m, MASK) : HOLO_CUDA_F32;
    p->mask_type = mask->dtype == HOLO_BOOL ? HOLO_CUDA_MASK_BOOL
                   : type == HOLO_CUDA_F32  ? HOLO_CUDA_MASK_F32
                   : type == HOLO_CUDA_F16  ? HOLO_CUDA_MASK_F16
                                            : HOLO_CUDA_MASK_BF16;
    return HOLO_OK;
}

static HoloStatus attention_read(const HoloCudaMaking *m, HoloCudaAttention *p)
{
    const HoloCall *call    = m->call;
    int64_t         q_heads = holo_attr_int(call, "q_num_heads", 0), kv_heads = holo_attr_int(call, "kv_num_heads", 0);
    Heads           q, k, v, out;
    if (!heads_read(holo_in(call, Q), q_heads, &q) || !heads_read(holo_in(call, K), kv_heads, &k) ||
        !heads_read(holo_in(call, V), kv_heads, &v) || !heads_read(holo_out(call, 0), q_heads, &out))
        return bad(m);
    if (q.batch != k.batch || q.batch != v.batch || k.heads != v.heads || k.rows != v.rows || q.size != k.size ||
        out.heads != q.heads || out.rows != q.rows || out.size != v.size || !k.heads || q.heads % k.heads ||
        q.batch * q.heads * (q.rows + k.rows) > INT32_MAX || holo_in(call, 4) || holo_in(call, 5) || holo_in(call, 6))
        return bad(m);
    *p = (HoloCudaAttention){.batch    = (int32_t)q.batch,
                             .heads    = (int32_t)q.heads,
                             .kv_heads = (int32_t)k.heads,
                             .queries  = (int32_t)q.rows,
                             .keys     = (int32_t)k.rows,
                             .size     = (int32_t)q.size,
                             .v_size   = (int32_t)v.size,
                             .causal   = holo_attr_int(call, "is_causal", 0) != 0,
                             .scale    = (float)holo_attr_float(call, "scale", 1 / sqrt((double)q.size))};
    for (int i = 0; i < 3; i++) {
        p->q_stride[i]   = q.stride[i];
        p->k_stride[i]   = k.stride[i];
        p->v_stride[i]   = v.stride[i];
        p->out_stride[i] = out.stride[i];
    }
    return mask_read(m, p);
}

HoloStatus holo_cuda_attention_add(HoloCudaMaking *m, const HoloCudaAttention *p, HoloCudaStep **out)
{
    HoloCudaPick pick;
    HoloCudaWant want = {.type    = m->params.store,
                         .numeric = m->params.numeric,
                         .align   = 16,
                         .batch   = 1,
                         .sms     = m->shared->multiprocessors,
                         .cluster = holo_cuda_has_clusters(m->shared),
                         .shared  = (uint32_t)m->shared->shared_most};
    *out              = NULL;
    if (!holo_cuda_pick_attention(&want, p, &pick))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: no kernel for attention of these sizes");
    if (!pick.count) return HOLO_OK;
    const HoloCudaLaunch *l     = &pick.launch[0];
    HoloCudaShape         shape = {
                .grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared, .cluster = l->cluster};
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, out));
    holo_cuda_place(*out, offsetof(HoloCudaAttention, q), Q, 0);
    holo_cuda_place(*out, offsetof(HoloCudaAttention, k), K, 0);
    holo_cuda_place(*out, offsetof(HoloCudaAttention, v), V, 0);
    holo_cuda_place(*out, offsetof(HoloCudaAttention, out), holo_cuda_out(m, 0), 0);
    holo_cuda_place(*out, offsetof(HoloCudaAttention, partial), HOLO_CUDA_SCRATCH, pick.partial_at);
    holo_cuda_place(*out, offsetof(HoloCudaAttention, counters), HOLO_CUDA_COUNTS, 0);
    if (pick.workspace > m->scratch) m->scratch = pick.workspace;
    if (*out) (*out)->reads_early = l->params.attention.early;
    return HOLO_OK;
}

HoloStatus holo_cuda_attention(HoloCudaMaking *m)
{
    HoloCudaAttention p;
    HoloCudaStep     *step;
    HOLO_TRY(attention_read(m, &p));
    for (int i = Q; i <= V; i++)
        if (holo_cuda_type(m, i) != m->params.store) return bad(m);
    HOLO_TRY(holo_cuda_attention_add(m, &p, &step));
    if (p.mask_type) holo_cuda_place(step, offsetof(HoloCudaAttention, mask), MASK, 0);
    return HOLO_OK;
}
