// attention_paged.c - ONNX Runtime's PagedAttention: tokens of several sequences, one sequence after the other.
// Their keys and values are in blocks of one cache; a table says which block comes when.
//
// Attention is computed for each sequence by itself, with its keys gathered in a row. Caches of narrow types, and
// caches that hold keys and values together, are refused.
#include "ops/move.h"
#include "ops/standard/rotary.h"

#include <math.h>

enum {
    QUERY,
    KEY,
    VALUE,
    KEY_CACHE,
    VALUE_CACHE,
    ENDS,
    PAST,
    TABLE,
    COS,
    SIN,
    SLOTS,
    SINK,
    Q_NORM,
    K_NORM,
    K_SCALE,
    V_SCALE
};

typedef struct Sizes {
    HoloDim tokens, size, half; // half: numbers of a row of the rotary tables
    int64_t heads, kv_heads;
} Sizes;

static HoloStatus check_tables(const HoloCall *call, Sizes *s)
{
    const HoloTensor *cos = holo_in(call, COS), *sin = holo_in(call, SIN);
    HoloDim           same;
    s->half = 0;
    if (!holo_attr_int(call, "do_rotary", 0)) return HOLO_OK;
    if (!cos || !sin) return holo_call_fail(call, HOLO_BAD_MODEL, "cos_cache or sin_cache is missing");
    for (int i = COS; i <= SIN; i++) {
        HOLO_TRY(holo_expect_rank(call, i, 2, 2));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[QUERY]->dtype));
    }
    HOLO_TRY(holo_agree(call, "rows of the tables", cos->dim[0], sin->dim[0], &same));
    HOLO_TRY(holo_agree(call, "columns of the tables", cos->dim[1], sin->dim[1], &s->half));
    if (!holo_dim_is_symbolic(s->half) && !holo_dim_is_symbolic(s->size) && s->half > s->size / 2)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the tables rotate more than a vector of %lld", (long long)s->size);
    return HOLO_OK;
}

static HoloStatus check_lists(const HoloCall *call, const Sizes *s)
{
    HoloDim same, batch = call->in[PAST]->dim[0];
    for (int i = ENDS; i <= TABLE; i++) {
        HOLO_TRY(holo_expect_types(call, i, HOLO_TYPES_INDEX));
        HOLO_TRY(holo_expect_rank(call, i, i == TABLE ? 2 : 1, i == TABLE ? 2 : 1));
    }
    HOLO_TRY(holo_agree(call, "entries of cumulative_sequence_length", call->in[ENDS]->dim[0],
                        holo_dim_add(call->dims, batch, 1), &same));
    HOLO_TRY(holo_agree(call, "rows of block_table and sequences", call->in[TABLE]->dim[0], batch, &same));
    const HoloDim size[] = {[SLOTS] = s->tokens, [SINK] = s->heads, [Q_NORM] = s->size, [K_NORM] = s->size};
    for (int i = SLOTS; i <= K_NORM; i++) {
        if (!holo_in(call, i)) continue;
        HOLO_TRY(holo_expect_types(call, i, i == SLOTS ? HOLO_TYPES_INDEX : HOLO_TYPES_FLOAT));
        HOLO_TRY(holo_expect_rank(call, i, 1, 1));
        HOLO_TRY(holo_agree(call, "entries of a list", call->in[i]->dim[0], size[i], &same));
    }
    return HOLO_OK;
}

static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const HoloTensor *query = call->in[QUERY], *key = holo_in(call, KEY), *value = holo_in(call, VALUE);
    HoloDim           all, same;
    if (!holo_attr_is(call, "kv_cache_layout", "SEPARATE", "SEPARATE") || holo_attr_int(call, "rotary_offset", 0))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "kv_cache_layout must be SEPARATE, and rotary_offset 0");
    if (holo_in(call, K_SCALE) || holo_in(call, V_SCALE))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "caches must have the type of the query");
    for (int i = KEY_CACHE; i <= TABLE; i++)
        if (!holo_in(call, i)) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
    if (!key != !value) return holo_call_fail(call, HOLO_BAD_MODEL, "key and value must be given together");
    HOLO_TRY(holo_expect_rank(call, QUERY, 2, 2));
    s->tokens   = query->dim[0];
    s->heads    = holo_attr_int(call, "num_heads", 0);
    s->kv_heads = holo_attr_int(call, "kv_num_heads", 0);
    if (s->heads < 1 || s->kv_heads < 1 || s->heads > INT32_MAX || s->heads % s->kv_heads)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads are not a multiple of %lld", (long long)s->heads,
                              (long long)s->kv_heads);
    HOLO_TRY(holo_split(call, "query", query->dim[1], key ? s->heads : s->heads + 2 * s->kv_heads, &s->size));
    all = holo_dim_mul(call->dims, s->size, s->kv_heads);
    for (int i = KEY; i <= VALUE && key; i++) {
        HOLO_TRY(holo_expect_rank(call, i, 2, 2));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << query->dtype));
        HOLO_TRY(holo_agree(call, "tokens of query, key and value", call->in[i]->dim[0], s->tokens, &same));
        HOLO_TRY(holo_agree(call, "numbers of a key or value", call->in[i]->dim[1], all, &same));
    }
    for (int i = KEY_CACHE; i <= VALUE_CACHE; i++) {
        const HoloTensor *cache = call->in[i], *first = call->in[KEY_CACHE];
        const HoloDim     want[4] = {first->dim[0], first->dim[1], s->kv_heads, s->size};
        HOLO_TRY(holo_expect_rank(call, i, 4, 4));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << query->dtype));
        for (int d = 0; d < 4; d++) HOLO_TRY(holo_agree(call, "sizes of the caches", cache->dim[d], want[d], &same));
    }
    HOLO_TRY(check_tables(call, s));
    return check_lists(call, s);
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(find_sizes(call, &s));
    HoloDim y[2] = {s.tokens, holo_dim_mul(call->dims, s.size, s.heads)};
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)call->in[QUERY]->dtype, 2, y));
    HOLO_TRY(holo_out_like(call, 1, call->in[KEY_CACHE]));
    return holo_out_like(call, 2, call->in[VALUE_CACHE]);
}

// ---- when evaluating: sizes are numbers

typedef struct Paged {
    const HoloCall *call;
    Sizes           s;
    HoloTensor     *cache[2];             // of keys and values, as they are after this call
    int64_t         slots, block, blocks; // positions in all, of a block; blocks of a sequence
    double         *row, *weight;         // of one vector
    HoloRotary      rotary;
} Paged;

typedef struct Sequence {
    int64_t number, from, count, past; // tokens from `from` on; keys that were there before
} Sequence;

// The slot of position p of a sequence.
static HoloStatus find_slot(const Paged *g, const Sequence *q, int64_t p, int64_t *out)
{
    int64_t column = p / g->block, block = -1;
    if (column < g->blocks) block = holo_get_i(g->call->in[TABLE], q->number * g->blocks + column);
    if (block < 0 || block >= g->slots / g->block)
        return holo_call_fail(g->call, HOLO_BAD_INPUT, "position %lld of sequence %lld is in no block", (long long)p,
                              (long long)q->number);
    *out = block * g->block + p % g->block;
    return HOLO_OK;
}

static HoloStatus find_sequence(const Paged *g, int64_t number, Sequence *out)
{
    const HoloTensor *ends = g->call->in[ENDS];
    int64_t           from = holo_get_i(ends, number), to = holo_get_i(ends, number + 1);
    int64_t           past = holo_get_i(g->call->in[PAST], number);
    if (from < 0 || to < from || to > g->s.tokens)
        return holo_call_fail(g->call, HOLO_BAD_INPUT, "sequence %lld has tokens %lld to %lld of %lld",
                              (long long)number, (long long)from, (long long)to, (long long)g->s.tokens);
    if (past < 0 || past > g->slots)
        return holo_call_fail(g->call, HOLO_BAD_INPUT, "a past of %lld in a cache of %lld", (long long)past,
                              (long long)g->slots);
    *out = (Sequence){number, from, to - from, past};
    return HOLO_OK;
}

// Where the vector of a head begins: of queries (part 0), keys (1) or values (2).
static int64_t vector_at(const Paged *g, int part, int64_t token, int64_t head)
{
    const Sizes *s = &g->s;
    if (holo_in(g->call, KEY)) return (token * (part ? s->kv_heads : s->heads) + head) * s->size;
    int64_t before = part == 0 ? 0 : part == 1 ? s->heads : s->heads + s->kv_heads;
    return (token * (s->heads + 2 * s->kv_heads) + before + head) * s->size;
}

// Normalizes and rotates a vector of queries or keys, into y.
static HoloStatus make_vector(const Paged *g, int part, int64_t token, int64_t head, int64_t position, HoloTensor *y,
                              int64_t to)
{
    const HoloTensor *x    = holo_in(g->call, KEY) ? g->call->in[part] : g->call->in[QUERY];
    const HoloTensor *norm = part == 0 ? holo_in(g->call, Q_NORM) : part == 1 ? holo_in(g->call, K_NORM) : NULL;
    int64_t           size = g->s.size, at = vector_at(g, part, token, head);
    holo_read_f(x, at, 1, size, g->row);
    if (norm) {
        holo_read_f(norm, 0, 1, size, g->weight);
        holo_head_normalize(g->row, size, g->weight, holo_attr_float(g->call, "qk_norm_epsilon", 1e-6));
    }
    holo_write_f(y, to, 1, size, g->row);
    if (part == 2 || !holo_attr_int(g->call, "do_rotary", 0)) return HOLO_OK;
    if (position >= g->rotary.rows)
        return holo_call_fail(g->call, HOLO_BAD_INPUT, "position %lld, expected 0 to %lld", (long long)position,
                              (long long)g->rotary.rows - 1);
    holo_rotate(&g->rotary, position, y, to, size, y, to);
    return HOLO_OK;
}

// Puts the keys and values of a sequence's tokens into the caches.
static HoloStatus store(const Paged *g, const Sequence *q)
{
    const HoloTensor *slots = holo_in(g->call, SLOTS);
    for (int64_t j = 0; j < q->count; j++) {
        int64_t slot;
        if (!slots)
            HOLO_TRY(find_slot(g, q, q->past + j, &slot));
        else if ((slot = holo_get_i(slots, q->from + j)) < 0)
            continue;
        if (slot >= g->slots)
            return holo_call_fail(g->call, HOLO_BAD_INPUT, "slot %lld of %lld", (long long)slot, (long long)g->slots);
        for (int part = 1; part <= 2; part++)
            for (int64_t h = 0; h < g->s.kv_heads; h++)
                HOLO_TRY(make_vector(g, part, q->from + j, h, q->past + j, g->cache[part - 1],
                                     (slot * g->s.kv_heads + h) * g->s.size));
    }
    return HOLO_OK;
}

// The keys or values of a sequence in a row: [1][position][head * size].
static HoloStatus gather(const Paged *g, const Sequence *q, int which, HoloTensor **out)
{
    int64_t keys = q->past + q->count, each = g->s.kv_heads * g->s.size, dim[3] = {1, keys, each}, slot;
    size_t  bytes = (size_t)each * holo_dtype_size((HoloDtype)g->cache[which]->dtype);
    HOLO_TRY(holo_temp_tensor(g->call, (HoloDtype)g->cache[which]->dtype, 3, dim, out));
    for (int64_t p = 0; p < keys; p++) {
        HOLO_TRY(find_slot(g, q, p, &slot));
        memcpy((char *)(*out)->data + (size_t)p * bytes, (const char *)g->cache[which]->data + (size_t)slot * bytes,
               bytes);
    }
    return HOLO_OK;
}

static HoloStatus attend(const Paged *g, const Sequence *q)
{
    const Sizes *s      = &g->s;
    HoloDtype    dtype  = (HoloDtype)g->call->in[QUERY]->dtype;
    int64_t      window = holo_attr_int(g->call, "local_window_size", -1), all = s->heads * s->size;
    HoloTensor  *query, *key, *value, y = *g->call->out[0];
    HOLO_TRY(gather(g, q, 0, &key));
    HOLO_TRY(gather(g, q, 1, &value));
    HOLO_TRY(holo_temp_tensor(g->call, dtype, 3, (int64_t[]){1, q->count, all}, &query));
    for (int64_t i = 0; i < q->count * s->heads; i++)
        HOLO_TRY(make_vector(g, 0, q->from + i / s->heads, i % s->heads, q->past + i / s->heads, query, i * s->size));
    y.dim[0]        = q->count;
    y.data          = (char *)y.data + (size_t)(q->from * all) * holo_dtype_size(dtype);
    HoloAttention a = {.batch    = 1,
                       .q_heads  = s->heads,
                       .kv_heads = s->kv_heads,
                       .queries  = q->count,
                       .keys     = q->past + q->count,
                       .size     = s->size,
                       .v_size   = s->size,
                       .q        = holo_heads_inner(query, s->heads),
                       .k        = holo_heads_inner(key, s->kv_heads),
                       .v        = holo_heads_inner(value, s->kv_heads),
                       .scale    = holo_attention_scale(g->call, s->size),
                       .softcap  = holo_attr_float(g->call, "softcap", 0),
                       .causal   = true,
                       .left     = window > 0 ? window - 1 : -1,
                       .right    = -1,
                       .ahead    = &q->past,
                       .sink     = holo_in(g->call, SINK),
                       .y        = &y,
                       .y_head   = s->size,
                       .y_step   = all};
    return holo_attention(g->call, &a);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *cache = call->in[KEY_CACHE];
    Paged             g     = {.call   = call,
                               .slots  = cache->dim[0] * cache->dim[1],
                               .block  = cache->dim[1],
                               .blocks = call->in[TABLE]->dim[1]};
    void             *memory;
    HOLO_TRY(find_sizes(call, &g.s));
    for (int i = 0; i < 2; i++) {
        g.cache[i] = holo_out(call, 1 + i);
        if (!g.cache[i]) HOLO_TRY(holo_temp_tensor(call, (HoloDtype)cache->dtype, 4, cache->dim, &g.cache[i]));
        if (holo_tensor_count(cache) > 0) holo_copy_all(g.cache[i], call->in[KEY_CACHE + i]);
    }
    if (g.s.tokens == 0 || g.s.size == 0 || g.slots == 0) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)(3 * g.s.size + 2 * g.s.half), sizeof(double), &memory));
    g.row    = memory;
    g.weight = g.row + g.s.size;
    if (g.s.half)
        g.rotary = (HoloRotary){.cos         = call->in[COS],
                                .sin         = call->in[SIN],
                                .rows        = call->in[COS]->dim[0],
                                .half        = g.s.half,
                                .work        = g.weight + g.s.size,
                                .interleaved = holo_attr_int(call, "rotary_interleaved", 0) != 0};
    if (holo_out(call, 0)) memset(call->out[0]->data, 0, holo_tensor_bytes(call->out[0]));
    for (int64_t i = 0; i < call->in[PAST]->dim[0]; i++) {
        HOLO_TRY(holo_call_continue(call));
        Sequence q;
        HOLO_TRY(find_sequence(&g, i, &q));
        HOLO_TRY(store(&g, &q));
        if (holo_out(call, 0) && q.count) HOLO_TRY(attend(&g, &q));
    }
    return HOLO_OK;
}

const HoloOp holo_ops_attention_paged[] = {
    {.name    = "PagedAttention",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 17,
     .out_min = 1,
     .out_max = 3,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
