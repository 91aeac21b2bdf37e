// attention_core.c - scores, softmax and weighted sums. See attention.h.
#include "base/math/math.h"
#include "ops/move.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

#include <math.h>

// ---- views

// The strides of an empty tensor may not fit; they are not used then.
static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

HoloHeads holo_heads_outer(const HoloTensor *t)
{
    int64_t head = times(t->dim[2], t->dim[3]);
    return (HoloHeads){t, 0, times(t->dim[1], head), head, t->dim[3], NULL};
}

HoloHeads holo_heads_inner(const HoloTensor *t, int64_t heads)
{
    return (HoloHeads){t, 0, times(t->dim[1], t->dim[2]), t->dim[2] / heads, t->dim[2], NULL};
}

HoloHeads holo_heads_of(const HoloTensor *t, int64_t heads)
{
    return t->rank == 4 ? holo_heads_outer(t) : holo_heads_inner(t, heads);
}

double holo_attention_scale(const HoloCall *call, int64_t size)
{
    double scale = holo_attr_float(call, "scale", 0);
    return scale ? scale : 1 / sqrt((double)size);
}

HoloStatus holo_attention_ahead(const HoloCall *call, int64_t batch, int64_t past, const int64_t **out)
{
    void *ahead;
    HOLO_TRY(holo_call_temp(call, (size_t)batch, sizeof(int64_t), &ahead));
    for (int64_t b = 0; b < batch; b++) ((int64_t *)ahead)[b] = past;
    *out = ahead;
    return HOLO_OK;
}

HoloStatus holo_temp_tensor(const HoloCall *call, HoloDtype dtype, int rank, const int64_t *dim, HoloTensor **out)
{
    void *memory, *bytes;
    HOLO_TRY(holo_call_temp(call, 1, sizeof **out, &memory));
    *out  = memory;
    **out = (HoloTensor){.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    memcpy((*out)->dim, dim, (size_t)rank * sizeof *dim);
    int64_t count = holo_tensor_count(*out);
    if (count < 0) return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, holo_dtype_size(dtype), &bytes));
    (*out)->data = bytes;
    return HOLO_OK;
}

void holo_heads_move(HoloTensor *to, const HoloHeads *to_view, const HoloHeads *from, int64_t batch, int64_t heads,
                     int64_t count, int64_t size)
{
    const int64_t dim[4]     = {batch, heads, count, size};
    const int64_t to_at[4]   = {to_view->batch, to_view->head, to_view->step, 1};
    const int64_t from_at[4] = {from->batch, from->head, from->step, 1};
    size_t        bytes      = holo_dtype_size((HoloDtype)to->dtype);
    if (batch == 0 || heads == 0 || count == 0 || size == 0) return;
    holo_move(4, dim, bytes, (char *)to->data + (size_t)to_view->start * bytes, to_at,
              (const char *)from->t->data + (size_t)from->start * bytes, from_at);
}

HoloStatus holo_beams_check(const HoloCall *call, int input, HoloDim batch)
{
    const HoloTensor *beams = holo_in(call, input);
    HoloDim           same;
    if (!beams) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, input, 3, 3));
    return holo_agree(call, "beams and the batch", holo_dim_mul(call->dims, beams->dim[0], beams->dim[1]), batch,
                      &same);
}

static HoloStatus follow_beams(const HoloCall *call, const HoloTensor *beams, const HoloAttention *a, int64_t past,
                               int64_t size, HoloHeads *h)
{
    const int64_t dim[4] = {a->batch, a->kv_heads, a->keys, size};
    int64_t       width = beams->dim[1], room = beams->dim[2];
    HoloTensor   *own;
    HOLO_TRY(holo_temp_tensor(call, (HoloDtype)h->t->dtype, 4, dim, &own));
    HoloHeads to = holo_heads_outer(own);
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t p = 0; p < a->keys; p++) {
            int64_t beam = p < past ? holo_get_i(beams, b * room + p) : b % width;
            if (beam < 0 || beam >= width)
                return holo_call_fail(call, HOLO_BAD_INPUT, "beam %lld, expected 0 to %lld", (long long)beam,
                                      (long long)width - 1);
            HoloHeads from = *h, at = to;
            from.start += (b / width * width + beam) * h->batch + p * h->step;
            at.start += b * to.batch + p * to.step;
            holo_heads_move(own, &at, &from, 1, a->kv_heads, 1, size);
        }
    *h = to;
    return HOLO_OK;
}

HoloStatus holo_beams_follow(const HoloCall *call, int input, HoloAttention *a, int64_t past)
{
    const HoloTensor *beams = holo_in(call, input);
    if (!beams) return HOLO_OK;
    if (beams->dim[2] < past) return holo_call_fail(call, HOLO_BAD_INPUT, "cache_indirection is shorter than the past");
    HOLO_TRY(follow_beams(call, beams, a, past, a->size, &a->k));
    return follow_beams(call, beams, a, past, a->v_size, &a->v);
}

void holo_head_normalize(double *x, int64_t size, const double *weight, double epsilon)
{
    double sum = 0;
    for (int64_t k = 0; k < size; k++) sum += x[k] * x[k];
    double factor = 1 / sqrt(sum / (double)size + epsilon);
    for (int64_t k = 0; k < size; k++) x[k] *= factor * weight[k];
}

HoloStatus holo_agree(const HoloCall *call, const char *what, HoloDim a, HoloDim b, HoloDim *out)
{
    if (holo_dim_agree(a, b, out)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "%s: %lld and %lld differ", what, (long long)a, (long long)b);
}

HoloStatus holo_split(const HoloCall *call, const char *what, HoloDim size, int64_t parts, HoloDim *out)
{
    if (parts <= 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s: %lld heads, expected at least one", what, (long long)parts);
    if (!holo_dim_is_symbolic(size) && size % parts)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s: size %lld is not a multiple of %lld heads", what,
                              (long long)size, (long long)parts);
    *out = holo_dim_div(call->dims, size, parts);
    return HOLO_OK;
}

// ---- biases

HoloStatus holo_bias_check(const HoloCall *call, int input, const HoloDim *dim, bool pads)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_rank(call, input, 1, 4));
    for (int d = 0; d < t->rank; d++) {
        HoloDim have = t->dim[d], want = dim[4 - t->rank + d];
        if (have == 1 || !holo_dims_differ(have, want)) continue;
        if (pads && d == t->rank - 1 && have < want) continue;
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld, which does not broadcast to %lld", input,
                              (long long)have, (long long)want);
    }
    return HOLO_OK;
}

void holo_bias_init(const HoloTensor *t, const int64_t *dim, bool pads, HoloBias *out)
{
    *out = (HoloBias){.t = t, .keys = dim[3]};
    if (!t) return;
    holo_strides_broadcast(t, 4, dim, out->stride);
    if (!pads || t->dim[t->rank - 1] == dim[3]) return;
    out->keys      = t->dim[t->rank - 1];
    out->stride[3] = 1;
}

// Adds a bias to x[0..to-from-1], the scores of keys from <= k < to.
static void add_bias(const HoloBias *b, int64_t batch, int64_t head, int64_t query, int64_t from, int64_t to, double *x)
{
    int64_t row   = batch * b->stride[0] + head * b->stride[1] + query * b->stride[2];
    bool    truth = b->t->dtype == HOLO_BOOL;
    for (int64_t k = from; k < to; k += HOLO_TILE) {
        double  tile[HOLO_TILE];
        int64_t count = holo_least(to - k, HOLO_TILE), have = k < b->keys ? holo_least(b->keys - k, count) : 0;
        holo_read_f(b->t, row + k * b->stride[3], b->stride[3], have, tile);
        for (int64_t j = 0; j < count; j++)
            x[k - from + j] += j >= have ? -INFINITY : !truth ? tile[j] : tile[j] ? 0 : -INFINITY;
    }
}

static void add_biases(const HoloAttention *a, int64_t head, int64_t query, int64_t from, int64_t to, double *x)
{
    for (int i = 0; i < HOLO_BIASES; i++)
        if (a->bias[i].t) add_bias(&a->bias[i], head / a->q_heads, head % a->q_heads, query, from, to, x);
}

void holo_biases_row(const HoloAttention *a, int64_t batch, int64_t head, int64_t query, double *out)
{
    memset(out, 0, (size_t)a->keys * sizeof *out);
    add_biases(a, batch * a->q_heads + head, query, 0, a->keys, out);
}

// ---- products

static int64_t vector_at(const HoloHeads *h, int64_t batch, int64_t head, int64_t position)
{
    return h->start + (h->at ? h->at[batch] : batch) * h->batch + head * h->head + position * h->step;
}

// Which keys a query sees: from <= key < to.
static void find_seen(const HoloAttention *a, int64_t batch, int64_t query, int64_t *from, int64_t *to)
{
    int64_t far   = a->keys + a->queries; // no bound is farther away
    int64_t place = query + (a->ahead ? a->ahead[batch] : 0);
    *from         = 0;
    *to           = a->valid && a->valid[batch] < a->keys ? a->valid[batch] : a->keys;
    if (a->left >= 0 && a->left < far && place - a->left > *from) *from = place - a->left;
    if (a->right >= 0 && a->right < far && place + a->right + 1 < *to) *to = place + a->right + 1;
    if (a->causal && !(a->open_end && query == a->queries - 1) && place + 1 < *to) *to = place + 1;
    if (*from > a->keys) *from = a->keys;
    if (*to < *from) *to = *from;
}

// What the numbers of the vector that begins at element `at` are multiplied with.
static double scale_at(const HoloHeads *h, int64_t at, int64_t size)
{
    float scale = 1;
    if (h->t->dtype == HOLO_I8) memcpy(&scale, (const char *)h->t->data + at + size, sizeof scale);
    return (double)scale;
}

typedef struct Product { // what a contraction over some heads refers to
    const HoloAttention     *a;
    const HoloAttentionPart *part;
    const HoloCell          *weights;
} Product;

static void read_query(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const Product *p    = c->arg;
    int64_t        head = p->part->head + batch, heads = p->a->q_heads;
    int64_t        at = vector_at(&p->a->q, head / heads, head % heads, p->part->row + row);
    holo_read_f(p->a->q.t, at + k, 1, count, &out->f);
}

// Where the key or value lies that a head of the queries uses.
static int64_t shared_at(const Product *p, const HoloHeads *h, int64_t batch, int64_t position)
{
    const HoloAttention *a    = p->a;
    int64_t              head = p->part->head + batch;
    return vector_at(h, head / a->q_heads, head % a->q_heads / (a->q_heads / a->kv_heads), position);
}

static void read_key(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const Product   *p  = c->arg;
    const HoloHeads *h  = &p->a->k;
    int64_t          at = shared_at(p, h, batch, col);
    holo_read_f(h->t, at + k, h->step, count, &out->f);
    for (int64_t i = 0; i < count && h->t->dtype == HOLO_I8; i++) out[i].f *= scale_at(h, at + i * h->step, p->a->size);
}

static void read_weight(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const Product *p = c->arg;
    memcpy(out, p->weights + (batch * c->rows + row) * c->depth + k, (size_t)count * sizeof *out);
}

static void read_value(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const Product   *p     = c->arg;
    const int64_t   *valid = p->a->valid;
    const HoloHeads *h     = &p->a->v;
    if (valid && k >= valid[(p->part->head + batch) / p->a->q_heads]) { // its weight is 0, but it may be anything
        memset(out, 0, (size_t)count * sizeof *out);
        return;
    }
    int64_t at = shared_at(p, h, batch, k);
    holo_read_f(h->t, at + col, 1, count, &out->f);
    for (int64_t i = 0; i < count && h->t->dtype == HOLO_I8; i++) out[i].f *= scale_at(h, at, p->a->v_size);
}

void holo_attention_scores(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part, HoloCell *cells)
{
    Product      p = {.a = a, .part = part};
    HoloContract c = {.batch = part->heads,
                      .rows  = part->rows,
                      .cols  = a->keys,
                      .depth = a->size,
                      .a     = read_query,
                      .b     = read_key,
                      .arg   = &p,
                      .cells = cells};
    holo_contract(call, &c);
    for (int64_t i = 0; i < part->heads * part->rows * a->keys; i++) cells[i].f *= a->scale;
}

// The sums of a row again, of those keys alone that its query sees.
static void seen_sums(const HoloContract *c, int64_t batch, int64_t row, int64_t from, int64_t to, HoloCell *sums)
{
    const HoloCell *weight = ((const Product *)c->arg)->weights + (batch * c->rows + row) * c->depth;
    HoloCell        value[HOLO_TILE];
    for (int64_t j = 0; j < c->cols; j += HOLO_TILE) {
        int64_t n = holo_least(c->cols - j, HOLO_TILE);
        memset(sums + j, 0, (size_t)n * sizeof *sums);
        for (int64_t k = from; k < to; k++) {
            read_value(c, batch, k, j, n, value);
            for (int64_t i = 0; i < n; i++) sums[j + i].f += weight[k].f * value[i].f;
        }
    }
}

// The value of a key that a query does not see may be anything: 0 times it must not make NaN of the sums.
static void unseen_drop(const HoloContract *c, int64_t i, HoloCell *sums)
{
    const Product *p     = c->arg;
    int64_t        batch = i / c->rows, row = i % c->rows, from, to;
    bool           is_nan = false;
    find_seen(p->a, (p->part->head + batch) / p->a->q_heads, p->part->row + row, &from, &to);
    if (from >= to || to - from == c->depth) return;
    for (int64_t j = 0; j < c->cols; j++) is_nan |= sums[j].f != sums[j].f;
    if (is_nan) seen_sums(c, batch, row, from, to, sums);
}

void holo_attention_sums(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part,
                         const HoloCell *weights, HoloCell *sums)
{
    Product      p = {.a = a, .part = part, .weights = weights};
    HoloContract c = {.batch = part->heads,
                      .rows  = part->rows,
                      .cols  = a->v_size,
                      .depth = a->keys,
                      .a     = read_weight,
                      .b     = read_value,
                      .arg   = &p,
                      .cells = sums};
    holo_contract(call, &c);
    for (int64_t i = 0; i < part->heads * part->rows; i++) {
        int64_t head = part->head + i / part->rows, row = part->row + i % part->rows;
        int64_t at = head / a->q_heads * a->y_batch + head % a->q_heads * a->y_head + row * a->y_step;
        unseen_drop(&c, i, sums + i * a->v_size);
        holo_write_f(a->y, at, 1, a->v_size, &sums[i * a->v_size].f);
    }
}

// ---- rows of scores

static void round_to(HoloDtype dtype, double *x, int64_t count)
{
    double     bytes[HOLO_TILE];
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = 1, .dim = {HOLO_TILE}, .data = bytes};
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = holo_least(count - k, HOLO_TILE);
        holo_write_f(&t, 0, 1, n, x + k);
        holo_read_f(&t, 0, 1, n, x + k);
    }
}

// Softmax over x and perhaps one more score. A row that sees nothing gets `nothing` as its weights.
static void soften(double *x, int64_t count, const double *sink, double nothing)
{
    double top = sink ? *sink : -INFINITY;
    for (int64_t k = 0; k < count; k++)
        if (x[k] > top || x[k] != x[k]) top = x[k];
    if (top == -INFINITY) {
        for (int64_t k = 0; k < count; k++) x[k] = nothing;
        return;
    }
    double sum = sink ? holo_exp(*sink - top) : 0;
    for (int64_t k = 0; k < count; k++) sum += x[k] = holo_exp(x[k] - top);
    for (int64_t k = 0; k < count; k++) x[k] /= sum;
}

typedef struct Rows {
    const HoloAttention     *a;
    const HoloAttentionPart *part;
    HoloCell                *cells;
} Rows;

static void emit(const HoloAttention *a, HoloAttentionStage stage, int64_t head, int64_t query, const double *x)
{
    if (a->scores && a->stage == stage) holo_write_f(a->scores, (head * a->queries + query) * a->keys, 1, a->keys, x);
}

// Whether the biases mask all keys, whatever the scores are. Only then does a row have no weights.
static bool is_masked(const HoloAttention *a, int64_t head, int64_t query, int64_t from, int64_t to)
{
    double x[HOLO_TILE];
    for (int64_t k = from; k < to; k += HOLO_TILE) {
        int64_t n = holo_least(to - k, HOLO_TILE);
        memset(x, 0, sizeof x);
        add_biases(a, head, query, k, k + n, x);
        for (int64_t j = 0; j < n; j++)
            if (x[j] != -INFINITY) return false;
    }
    return true;
}

static void finish_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Rows          *rows = arg;
    const HoloAttention *a    = rows->a;
    int64_t head = rows->part->head + i / rows->part->rows, query = rows->part->row + i % rows->part->rows, from, to;
    double *x = &rows->cells[i * a->keys].f;
    emit(a, HOLO_STAGE_RAW, head, query, x);
    for (int64_t k = 0; k < a->keys && a->softcap > 0; k++) x[k] = a->softcap * holo_tanh(x[k] / a->softcap);
    emit(a, HOLO_STAGE_CAPPED, head, query, x);

    find_seen(a, head / a->q_heads, query, &from, &to);
    for (int64_t k = 0; k < a->keys; k++)
        if (k < from || k >= to) x[k] = -INFINITY;
    add_biases(a, head, query, from, to, x + from);
    emit(a, HOLO_STAGE_BIASED, head, query, x);

    if (a->precision) round_to(a->precision, x, a->keys);
    double sink = a->sink ? holo_get_f(a->sink, head % a->q_heads) : 0;
    if (!a->masked_nan && is_masked(a, head, query, from, to))
        memset(x, 0, (size_t)a->keys * sizeof *x);
    else
        soften(x, a->keys, a->sink ? &sink : NULL, a->masked_nan ? NAN : 0);
    if (a->precision) round_to(a->precision, x, a->keys);
    emit(a, HOLO_STAGE_WEIGHTS, head, query, x);
}

void holo_attention_weights(const HoloCall *call, const HoloAttention *a, const HoloAttentionPart *part,
                            HoloCell *cells)
{
    enum { EXP = 16 }; // steps that an element takes, about
    Rows    rows  = {a, part, cells};
    int64_t count = part->heads * part->rows;
    holo_spread(call, count, (double)count * (double)a->keys * EXP, finish_row, &rows);
}

// ---- all of it

// Parts have at most this many scores, but at least one row.
static HoloAttentionPart first_part(const HoloAttention *a)
{
    const int64_t     scores = 1 << 22;
    int64_t           row = a->keys > 0 ? a->keys : 1, all = a->batch * a->q_heads;
    HoloAttentionPart p = {.heads = 1, .rows = scores / row};
    if (p.rows < 1) p.rows = 1;
    if (p.rows >= a->queries) {
        p.heads = p.rows / (a->queries > 0 ? a->queries : 1);
        p.rows  = a->queries;
    }
    if (p.heads > all) p.heads = all;
    return p;
}

HoloStatus holo_attention_plain(const HoloCall *call, const HoloAttention *a)
{
    HoloAttentionPart whole = first_part(a), part;
    void             *cells, *sums;
    int64_t           rows = whole.heads * whole.rows, all = a->batch * a->q_heads, count;
    if (!holo_mul(rows, a->keys, &count)) return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(HoloCell), &cells));
    if (!holo_mul(rows, a->v_size, &count)) return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(HoloCell), &sums));
    for (part.head = 0; part.head < all; part.head += whole.heads) {
        part.heads = holo_least(all - part.head, whole.heads);
        for (part.row = 0; part.row < a->queries; part.row += whole.rows) {
            part.rows = holo_least(a->queries - part.row, whole.rows);
            holo_attention_scores(call, a, &part, cells);
            holo_attention_weights(call, a, &part, cells);
            if (holo_is_wanted(a->y)) holo_attention_sums(call, a, &part, cells, sums);
        }
    }
    return HOLO_OK;
}

HoloStatus holo_attention(const HoloCall *call, const HoloAttention *a)
{
    if (!holo_is_wanted(a->y) && !holo_is_wanted(a->scores)) return HOLO_OK;
    return call->attend ? call->attend(call, a) : holo_attention_plain(call, a);
}
