// cuda_cache.c - steps of language models: RotaryEmbedding, CacheWrite, CachedAttention.
#include "devices/cuda/cuda_attention.h"
#include "ops/op_id.h"
#include "ops/standard/rotary.h"

#include <stddef.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

// ---- RotaryEmbedding

// Which input is what: of the standard's operator, and of Microsoft's.
static int rotary_input(const HoloCudaMaking *m, const HoloTensor *t)
{
    for (int i = 1; i < m->call->in_count; i++)
        if (m->call->in[i] == t) return i;
    return 1;
}

static HoloStatus rotary_read(const HoloCudaMaking *m, HoloRotarySizes *s, HoloCudaRotary *p)
{
    const HoloCall   *call         = m->call;
    bool              is_microsoft = holo_op_is(call->op, HOLO_ID_MICROSOFT_RotaryEmbedding);
    const HoloTensor *x = holo_in(call, 0), *y = holo_out(call, 0), *positions = holo_in(call, is_microsoft ? 1 : 3);
    if (!x || !y || x->dtype != HOLO_F32 || y->dtype != HOLO_F32 || holo_tensor_count(x) != holo_tensor_count(y))
        return bad(m);
    HOLO_TRY(holo_rotary_sizes(call, s));
    bool outer    = x->rank == 4;
    *p            = (HoloCudaRotary){.batch       = s->batch,
                                     .places      = s->positions,
                                     .heads       = s->heads,
                                     .size        = s->size,
                                     .half        = s->half,
                                     .stride      = {s->heads * s->positions * s->size, outer ? s->size : s->heads * s->size,
                                     outer ? s->positions * s->size : s->size},
                                     .type        = m->params.store,
                                     .cos_type    = holo_cuda_type(m, rotary_input(m, s->cos)),
                                     .sin_type    = holo_cuda_type(m, rotary_input(m, s->sin)),
                                     .interleaved = holo_attr_int(call, "interleaved", 0) != 0};
    p->rows       = holo_tensor_count(s->cos) / (s->half ? s->half : 1);
    p->batch_rows = s->cos->rank == 3 && s->cos->dim[0] == 1 ? 0 : s->positions;
    if (holo_tensor_count(s->sin) != holo_tensor_count(s->cos) || holo_cuda_type(m, 0) != m->params.store)
        return bad(m);
    if (!positions) return HOLO_OK;
    if (positions->dtype != HOLO_I64 && positions->dtype != HOLO_I32) return bad(m);
    int64_t count     = holo_tensor_count(positions);
    p->position_bytes = positions->dtype == HOLO_I64 ? 8 : 4;
    p->is_offset      = positions->rank < 2;
    return count == (p->is_offset ? 1 : s->batch * s->positions) ? HOLO_OK : bad(m);
}

HoloStatus holo_cuda_rotary(HoloCudaMaking *m)
{
    HoloRotarySizes s;
    HoloCudaRotary  p;
    HoloCudaStep   *step;
    HOLO_TRY(rotary_read(m, &s, &p));
    int64_t threads = p.batch * p.places * p.heads * (p.size - p.half);
    if (threads > INT32_MAX) return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: these sizes are too large");
    HoloCudaShape shape = holo_cuda_threads(threads);
    HOLO_TRY(holo_cuda_add(m, "cache", "rotary", &shape, &p, sizeof p, &step));
    holo_cuda_join(step, sizeof p);
    holo_cuda_place(step, offsetof(HoloCudaRotary, x), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaRotary, cos), rotary_input(m, s.cos), 0);
    holo_cuda_place(step, offsetof(HoloCudaRotary, sin), rotary_input(m, s.sin), 0);
    holo_cuda_place(step, offsetof(HoloCudaRotary, y), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaRotary, status), HOLO_CUDA_STATUS, 0);
    if (p.position_bytes)
        holo_cuda_place(step, offsetof(HoloCudaRotary, positions),
                        holo_op_is(m->call->op, HOLO_ID_MICROSOFT_RotaryEmbedding) ? 1 : 3, 0);
    return HOLO_OK;
}

// ---- caches

// How the numbers of a cache lie in memory. False: no kernel reads them.
static bool cache_type(const HoloCudaMaking *m, const HoloTensor *cache, uint8_t *out)
{
    *out = m->params.store;
    if (!cache || cache->rank != 3) return false;
    return cache->dtype == HOLO_F32 || (cache->dtype == HOLO_F16 && m->params.store == HOLO_CUDA_F16);
}

static bool is_numbers(const HoloTensor *t, int64_t count)
{
    return t && t->dtype == HOLO_I64 && holo_tensor_count(t) == count;
}

HoloStatus holo_cuda_cache_write(HoloCudaMaking *m)
{
    enum { CACHE, FRESH, ROWS, LENGTHS };
    const HoloTensor  *cache = holo_in(m->call, CACHE), *fresh = holo_in(m->call, FRESH);
    HoloCudaCacheWrite p = {0};
    HoloCudaStep      *step;
    if (!cache_type(m, cache, &p.to_type) || !fresh || fresh->dtype != HOLO_F32 || fresh->rank != 3) return bad(m);
    p.from_type = holo_cuda_type(m, FRESH);
    p.batch     = fresh->dim[0];
    p.fresh     = fresh->dim[1];
    p.size      = fresh->dim[2];
    p.slots     = cache->dim[0];
    p.context   = cache->dim[1];
    if (cache->dim[2] != p.size || !is_numbers(holo_in(m->call, ROWS), p.batch) ||
        !is_numbers(holo_in(m->call, LENGTHS), p.batch))
        return bad(m);
    HoloCudaShape shape = holo_cuda_blocks(p.size ? p.batch * p.fresh : 0);
    HOLO_TRY(holo_cuda_add(m, "cache", "cache_write", &shape, &p, sizeof p, &step));
    holo_cuda_join(step, sizeof p);
    holo_cuda_place(step, offsetof(HoloCudaCacheWrite, from), FRESH, 0);
    holo_cuda_place(step, offsetof(HoloCudaCacheWrite, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaCacheWrite, rows), ROWS, 0);
    holo_cuda_place(step, offsetof(HoloCudaCacheWrite, lengths), LENGTHS, 0);
    holo_cuda_place(step, offsetof(HoloCudaCacheWrite, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}

enum { QUERY, KEYS, VALUES, ROWS, LENGTHS, MASK };

static HoloStatus cached_read(const HoloCudaMaking *m, HoloCudaAttention *p)
{
    const HoloCall   *call = m->call;
    const HoloTensor *q = holo_in(call, QUERY), *k = holo_in(call, KEYS), *v = holo_in(call, VALUES);
    const HoloTensor *mask = holo_in(call, MASK), *out = holo_out(call, 0);
    int64_t heads = holo_attr_int(call, "num_heads", 0), kv_heads = holo_attr_int(call, "kv_num_heads", heads);
    uint8_t k_type, v_type;
    if (!q || !out || q->rank != 3 || q->dtype != HOLO_F32 || !cache_type(m, k, &k_type) ||
        !cache_type(m, v, &v_type) || heads < 1 || kv_heads < 1 || heads % kv_heads || q->dim[2] % heads ||
        k->dim[2] % kv_heads || v->dim[2] % kv_heads || holo_cuda_type(m, QUERY) != m->params.store)
        return bad(m);
    int64_t batch = q->dim[0], queries = q->dim[1], context = k->dim[1], slots = k->dim[0], size = q->dim[2] / heads;
    int64_t v_size = v->dim[2] / kv_heads, window = holo_attr_int(call, "window", 0);
    if (k->dim[2] / kv_heads != size || v->dim[1] != context || v->dim[0] != slots || slots < 1 || context < queries ||
        heads > 65535 || context > INT32_MAX || slots > INT32_MAX || batch > 65535 || window < 0 ||
        holo_tensor_count(out) != batch * queries * heads * v_size || !is_numbers(holo_in(call, ROWS), batch) ||
        !is_numbers(holo_in(call, LENGTHS), batch) || (mask && !is_numbers(mask, batch * queries)) || holo_in(call, 6))
        return bad(m);
    *p = (HoloCudaAttention){.q_stride   = {queries * heads * size, size, heads * size},
                             .k_stride   = {context * kv_heads * size, size, kv_heads * size},
                             .v_stride   = {context * kv_heads * v_size, v_size, kv_heads * v_size},
                             .out_stride = {queries * heads * v_size, v_size, heads * v_size},
                             .batch      = (int32_t)batch,
                             .heads      = (int32_t)heads,
                             .kv_heads   = (int32_t)kv_heads,
                             .queries    = (int32_t)queries,
                             .keys       = (int32_t)context,
                             .size       = (int32_t)size,
                             .v_size     = (int32_t)v_size,
                             .causal     = 1,
                             .slot_count = (int32_t)slots,
                             .window     = (int32_t)(window < context ? window : 0),
                             .scale      = (float)holo_attr_float(call, "scale", 1),
                             .softcap    = (float)holo_attr_float(call, "softcap", 0)};
    if (mask || p->window) p->mask_type = HOLO_CUDA_MASK_FRESH;
    p->mask_stride[0] = queries;
    return HOLO_OK;
}

// What it does along for one query, behind its own inputs: the plain query, key and value, and the angles of both, if they turn.
enum { OWN_QUERY, OWN_KEY, OWN_VALUE, COSINES, SINES, OWN_INPUTS, PIECE = 8 }; // PIECE: 16 bytes of any type

static HoloStatus along_read(const HoloCudaMaking *m, int along, HoloCudaAttention *p)
{
    const HoloTensor *own[OWN_INPUTS];
    int64_t           count[OWN_INPUTS] = {(int64_t)p->heads * p->size, (int64_t)p->kv_heads * p->size,
                                           (int64_t)p->kv_heads * p->v_size};
    int64_t           half              = holo_attr_int(m->call, "pairs", 0);
    bool              ok                = half >= 0 && 2 * half <= p->size && p->size <= 128 && p->v_size <= 128;
    for (int i = 0; i < OWN_INPUTS && ok; i++) {
        own[i]      = holo_in(m->call, along + i);
        int64_t all = own[i] ? holo_tensor_count(own[i]) : 0;
        if (i < COSINES)
            ok = own[i] && !own[i]->data && all == p->batch * count[i];
        else
            ok = half ? own[i] && (all == half || all == p->batch * half) : !own[i];
        ok = ok && (!own[i] || own[i]->dtype == HOLO_F32);
    }
    if (!ok || (half && holo_tensor_count(own[COSINES]) != holo_tensor_count(own[SINES]))) return bad(m);
    if (!half) return HOLO_OK;
    p->half     = (int32_t)half;
    p->cos_step = p->batch > 1 && holo_tensor_count(own[COSINES]) > half;
    return half % PIECE || p->size % PIECE || own[COSINES]->data || own[SINES]->data ? bad(m) : HOLO_OK;
}

static void along_place(const HoloCudaMaking *m, int along, const HoloCudaAttention *p, HoloCudaStep *step)
{
    (void)m;
    if (!step) return;
    step->place[0].operand = (int16_t)(along + OWN_QUERY); // see holo_cuda_attention_add
    holo_cuda_place(step, offsetof(HoloCudaAttention, k_fresh), along + OWN_KEY, 0);
    holo_cuda_place(step, offsetof(HoloCudaAttention, v_fresh), along + OWN_VALUE, 0);
    holo_cuda_place(step, offsetof(HoloCudaAttention, status), HOLO_CUDA_STATUS, 0);
    if (!p->half) return;
    holo_cuda_place(step, offsetof(HoloCudaAttention, cos), along + COSINES, 0);
    holo_cuda_place(step, offsetof(HoloCudaAttention, sin), along + SINES, 0);
}

HoloStatus holo_cuda_cached_attention(HoloCudaMaking *m)
{
    HoloCudaAttention p;
    HoloCudaStep     *step;
    HOLO_TRY(cached_read(m, &p));
    int along = p.queries == 1 ? holo_cuda_along(m) : 0;
    if (along) HOLO_TRY(along_read(m, along, &p));
    p.early = along != 0; // only this step writes to the cache
    HOLO_TRY(holo_cuda_attention_add(m, &p, &step));
    if (along) along_place(m, along, &p, step);
    holo_cuda_place(step, offsetof(HoloCudaAttention, slots), ROWS, 0);
    holo_cuda_place(step, offsetof(HoloCudaAttention, cached), LENGTHS, 0);
    if (holo_in(m->call, MASK)) holo_cuda_place(step, offsetof(HoloCudaAttention, mask), MASK, 0);
    return HOLO_OK;
}

// ---- what the attention of one query does along

HoloStatus holo_cuda_rotary_later(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0);
    return x && x->rank == 3 && x->dim[1] == 1 ? HOLO_OK : holo_cuda_rotary(m);
}

HoloStatus holo_cuda_cache_write_later(HoloCudaMaking *m)
{
    const HoloTensor *fresh = holo_in(m->call, 1);
    return fresh && fresh->rank == 3 && fresh->dim[1] == 1 ? HOLO_OK : holo_cuda_cache_write(m);
}
