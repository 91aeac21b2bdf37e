// attention_f32.c - softmax(scale * Q K^T + mask) V for some queries of one head, a block of keys at a time.
//
// A block's scores become weights relative to the largest score so far. When a larger score comes, the sums so far are
// scaled down. So the memory does not grow with the number of keys. Queries are computed in strips: a strip's weights
// for a block stay in the cache, and a block is packed once for several strips. Within a strip they are computed in
// groups of 16, whose largest scores and sums are one vector each. Keys that no query sees are not read. Where one
// block holds all keys, the weights are divided by their sum before the values are summed; otherwise the summed values
// are divided at the end.

enum { KEYS = HOLO_ATTENTION_KEYS, GROUP = LANES, STRIP = HOLO_GEMM_ROWS };
_Static_assert(STRIP % GROUP == 0 && HOLO_ATTENTION_ROWS % GROUP == 0 && (int)KEYS <= (int)BLOCK_K,
               "scratch is for whole groups and one block of k");

typedef struct Attention {
    const HoloAttend *a;
    int64_t           width;         // v_size in whole panels
    float            *copy;          // for gemm_f32
    float            *weights;       // [rows of a strip][BLOCK_STRIDE], scores at first
    float            *sums;          // [rows][width]
    float            *keys, *values; // of the block, in panels
    float            *plain;         // [KEYS][size]: narrow keys or values of the block as f32
    float            *top, *total;   // [rows]: the largest score so far, the sum of the weights
    float            *bias;          // [KEYS]: a row of the mask where it is not read as it lies
    // The block
    int64_t first, keys_packed;   // its keys, as many as any row sees
    bool    has_keys, has_values; // they are in panels
    // The strip
    int64_t row, rows;         // rows
    int64_t from, end;         // the keys that they see, from the beginning of a block on
    int64_t count;             // of the block
    bool    is_first, is_last; // is_first: no earlier block is seen; is_last: no later one
} Attention;

INL float *weights_of(const Attention *t, int64_t row)
{
    return t->weights + (row - t->row) * BLOCK_STRIDE;
}

// ---- which keys a row sees

INL int64_t seen_from(const HoloAttend *a, int64_t row)
{
    int64_t from = a->place + row * a->place_step - a->before;
    return from < 0 ? 0 : from;
}

INL int64_t seen_to(const HoloAttend *a, int64_t row)
{
    int64_t to = a->place + row * a->place_step + a->after + 1;
    return to < 0 ? 0 : to > a->keys ? a->keys : to;
}

// ---- the mask

// Writes the mask of a row for the keys first <= k < first + count to out[0..count-1], and -inf behind them.
static void mask_copy(const HoloAttend *a, int64_t row, int64_t first, int64_t count, float *out)
{
    const float minus_inf = -__builtin_inff();
    int64_t     at        = row * a->mask_row + first * a->mask_key;
    int64_t     have      = a->mask_keys - first < count ? a->mask_keys - first : count;
    if (a->mask_is_bool) {
        const uint8_t *is = (const uint8_t *)a->mask + at;
        for (int64_t i = 0; i < have; i++) out[i] = is[a->mask_key ? i : 0] ? 0 : minus_inf;
    } else {
        const float *x = (const float *)a->mask + at;
        for (int64_t i = 0; i < have; i++) out[i] = x[a->mask_key ? i : 0];
    }
    for (int64_t i = have < 0 ? 0 : have; i < KEYS; i++) out[i] = minus_inf;
}

// Whether the mask alone hides everything that a row could see.
static bool is_masked(Attention *t, int64_t row)
{
    const HoloAttend *a  = t->a;
    int64_t           to = seen_to(a, row);
    for (int64_t first = seen_from(a, row); a->mask && first < to; first += KEYS) {
        int64_t count = to - first < KEYS ? to - first : KEYS;
        mask_copy(a, row, first, count, t->bias);
        for (int64_t i = 0; i < count; i++)
            if (t->bias[i] != -__builtin_inff()) return false;
    }
    return a->mask != NULL;
}

// A row of this block's mask, where it lies or as a copy. *out_have says how many of its numbers are there.
INL const float *mask_row(Attention *t, int64_t row, int64_t *out_have)
{
    const HoloAttend *a = t->a;
    *out_have           = KEYS;
    if (a->mask_is_bool || a->mask_key != 1) {
        if (a->mask_row || row == t->row) mask_copy(a, row, t->first, t->count, t->bias);
        return t->bias;
    }
    *out_have = a->mask_keys - t->first;
    return (const float *)a->mask + row * a->mask_row + t->first;
}

// 16 of them from `j` on; -inf where there are none.
INL f32v mask_load(const float *bias, int64_t j, int64_t have)
{
    if (j + LANES <= have) return v_load(bias + j);
    int lanes = j < have ? (int)(have - j) : 0;
    return v_only(lanes ? v_load_part(bias + j, 0, lanes) : v_set1(0), 0, lanes, -__builtin_inff());
}

// ---- narrow keys and values

// One vector as f32.
INL void vector_read(HoloVectors are, const void *x, int64_t size, float *out)
{
    if (are == HOLO_VECTORS_F16) {
        SHARED(widen_f16)(size, x, out);
        return;
    }
    const int8_t *byte = x;
    float         scale;
    int64_t       d = 0;
    __builtin_memcpy(&scale, byte + size, sizeof scale);
    for (; d + LANES <= size; d += LANES) v_store(out + d, v_mul(v_load_i8(byte + d), v_set1(scale)));
    for (; d < size; d++) out[d] = (float)byte[d] * scale;
}

// The block's first `count` keys or values as f32, where they lie or in t->plain; *row is from one to the next.
static const float *block_read(Attention *t, HoloVectors are, const void *x, int64_t *row, int64_t size, int64_t count)
{
    int64_t step = *row, bytes = are == HOLO_VECTORS_F16 ? 2 : 1;
    if (are == HOLO_VECTORS_F32) return (const float *)x + t->first * step;
    for (int64_t i = 0; i < count; i++)
        vector_read(are, (const char *)x + (t->first + i) * step * bytes, size, t->plain + i * size);
    *row = size;
    return t->plain;
}

// ---- scores

// One query with the keys where they lie: sixteen partial sums are transposed and added.
static void scores_direct(Attention *t, int64_t row, const float *keys, int64_t k_row)
{
    const HoloAttend *a = t->a;
    const float      *q = a->q + row * a->q_row;
    for (int64_t j = 0; j < t->count; j += LANES) {
        float part[LANES * LANES], column[LANES * LANES];
        int   lanes = lanes_left(j, t->count);
        for (int i = 0; i < LANES; i++) {
            const float *k   = keys + (j + i) * k_row;
            f32v         sum = v_set1(0);
            int64_t      d   = 0;
            for (; i < lanes && d + LANES <= a->size; d += LANES) sum = v_mad(v_load(q + d), v_load(k + d), sum);
            if (i < lanes && d < a->size) {
                int rest = (int)(a->size - d);
                sum      = v_mad(v_load_part(q + d, 0, rest), v_load_part(k + d, 0, rest), sum);
            }
            v_store(part + i * LANES, sum);
        }
        v_transpose(part, LANES, column);
        f32v all = v_load(column);
        for (int i = 1; i < LANES; i++) all = v_add(all, v_load(column + i * LANES));
        v_store(weights_of(t, row) + j, v_mul(all, v_set1(a->scale)));
    }
}

static void scores_block(Attention *t)
{
    const HoloAttend *a      = t->a;
    bool              direct = a->rows * LANES <= a->size; // packing the keys would cost more than it gains
    int64_t           k_row  = a->k_row;
    const float      *keys   = NULL;
    if (direct || !t->has_keys) keys = block_read(t, a->k_are, a->k, &k_row, a->size, t->keys_packed);
    if (direct) {
        for (int64_t i = 0; i < t->rows; i++) scores_direct(t, t->row + i, keys, k_row);
        return;
    }
    if (!t->has_keys) pack_f32(a->size, t->keys_packed, keys, 1, k_row, t->keys);
    t->has_keys = true;
    HoloGemm g  = {
         .m        = t->rows,
         .n        = (t->count + LANES - 1) / LANES * LANES,
         .k        = a->size,
         .a        = a->q + t->row * a->q_row,
         .a_row    = a->q_row,
         .a_column = 1,
         .b        = t->keys,
         .b_panel  = a->size * LANES,
         .b_step   = LANES,
         .c        = t->weights,
         .c_row    = BLOCK_STRIDE,
         .alpha    = a->scale,
         .scratch  = t->copy,
    };
    gemm_f32(&g);
}

// Applies the soft cap and the mask; -inf for keys that the row does not see and for places behind the last key.
static void scores_finish(Attention *t, int64_t row)
{
    const HoloAttend *a    = t->a;
    float            *x    = weights_of(t, row);
    int64_t           from = seen_from(a, row) - t->first, to = seen_to(a, row) - t->first;
    int64_t           have = 0;
    const float      *bias = a->mask ? mask_row(t, row, &have) : NULL;
    if (!bias && a->softcap == 0 && from <= 0 && to >= t->count && t->count % LANES == 0) return;
    for (int64_t j = 0; j < t->count; j += LANES) {
        f32v v = v_load(x + j);
        if (a->softcap > 0) EACH(i) v.r[i] = n_tanh(v.r[i] / a->softcap) * a->softcap;
        if (bias) v = v_add(v, mask_load(bias, j, have));
        if (j < from || j + LANES > to) {
            int low = from - j < 0 ? 0 : from - j > LANES ? LANES : (int)(from - j);
            int end = to - j < 0 ? 0 : to - j > LANES ? LANES : (int)(to - j);
            v       = v_only(v, low, end, -__builtin_inff());
        }
        v_store(x + j, v);
    }
}

// ---- weights

INL f32v row_top(const float *x, int64_t count) // NaN is passed over: it shows up in the weights
{
    f32v top = v_set1(-__builtin_inff());
    for (int64_t j = 0; j < count; j += LANES) top = v_max(v_load(x + j), top);
    return top;
}

INL f32v row_weights(float *x, int64_t count, float shift)
{
    f32v sum = v_set1(0);
    for (int64_t j = 0; j < count; j += LANES) {
        f32v e = v_exp_down(v_sub(v_load(x + j), v_set1(shift)));
        v_store(x + j, e);
        sum = v_add(sum, e);
    }
    return sum;
}

INL void row_scale(float *x, int64_t count, float factor)
{
    for (int64_t j = 0; j < count; j += LANES) v_store(x + j, v_mul(v_load(x + j), v_set1(factor)));
}

// Divides the weights of at most 16 rows by their sum, where there is one.
static void weights_finish(Attention *t, int64_t first, int64_t rows)
{
    float factor[GROUP], *total = t->total + first;
    v_store(factor, v_div(v_set1(1), v_load(total)));
    for (int64_t i = 0; i < rows; i++)
        if (total[i] > 0) {
            row_scale(weights_of(t, first + i), t->count, factor[i]);
            total[i] = 1;
        }
}

// Turns the scores of at most 16 rows into weights, and scales the sums so far so that they refer to the same largest
// score.
static void weights_group(Attention *t, int64_t first, int64_t rows)
{
    float part[GROUP * LANES], shift[GROUP], factor[GROUP];
    for (int64_t i = 0; i < GROUP; i++) {
        if (i < rows) scores_finish(t, first + i);
        v_store(part + i * LANES, i < rows ? row_top(weights_of(t, first + i), t->count) : v_set1(0));
    }
    f32v before = v_load(t->top + first), top = v_max(v_tops(part), before);
    f32v base         = top;
    EACH(i) base.r[i] = n_select(top.r[i] == -__builtin_inff(), (f32n){0}, top.r[i]); // nothing seen yet
    f32v scale        = v_exp_down(v_sub(before, base));
    v_store(t->top + first, top);
    v_store(shift, base);
    v_store(factor, scale);
    for (int64_t i = 0; i < GROUP; i++)
        v_store(part + i * LANES, i < rows ? row_weights(weights_of(t, first + i), t->count, shift[i]) : v_set1(0));
    v_store(t->total + first, v_mad(v_load(t->total + first), scale, v_sums(part)));
    for (int64_t i = 0; i < rows && !t->is_first; i++)
        if (factor[i] != 1) row_scale(t->sums + (first + i) * t->width, t->width, factor[i]);
    if (t->is_first && t->is_last) weights_finish(t, first, rows);
}

// ---- sums

static void sums_block(Attention *t)
{
    enum { ROWS_DIRECT = 4 }; // up to so many rows, packing the values costs more than it gains
    const HoloAttend *a      = t->a;
    bool              direct = a->rows <= ROWS_DIRECT && a->v_size % LANES == 0;
    int64_t           v_row  = a->v_row;
    const float      *v      = NULL;
    if (direct || !t->has_values) v = block_read(t, a->v_are, a->v, &v_row, a->v_size, t->keys_packed);
    HoloGemm g = {
        .m       = t->rows,
        .n       = a->v_size,
        .k       = t->count,
        .b       = direct ? v : t->values,
        .b_panel = direct ? LANES : t->keys_packed * LANES,
        .b_step  = direct ? v_row : LANES,
        .c       = t->sums + t->row * t->width,
        .c_row   = t->width,
        .resume  = !t->is_first,
        .pause   = true,
        .scratch = t->weights, // where a copy of A would be
    };
    if (!direct && !t->has_values) pack_f32(t->keys_packed, a->v_size, v, v_row, 1, t->values);
    t->has_values = true;
    gemm_block(&g, 0, t->rows, 0, t->count);
}

static void finish_row(Attention *t, int64_t row)
{
    const HoloAttend *a     = t->a;
    const float      *x     = t->sums + row * t->width;
    float             total = t->total[row], *out = a->out + row * a->out_row;
    float             least = a->masked_nan ? __builtin_nanf("") : 1; // of a row in which no key has a weight
    bool              none  = t->from >= t->end || (total != total && !a->masked_nan && is_masked(t, row));
    f32v              scale = v_set1(total == 0 ? least : 1 / total);
    for (int64_t j = 0; j < a->v_size; j += LANES) {
        f32v y     = none ? v_set1(0) : v_mul(v_load(x + j), scale);
        int  lanes = lanes_left(j, a->v_size);
        if (lanes == LANES)
            v_store(out + j, y);
        else
            v_store_part(out + j, y, lanes);
    }
}

// The strip that begins with `row`. All strips have nearly the same height, in whole groups.
static void strip_at(Attention *t, int64_t row)
{
    const HoloAttend *a      = t->a;
    int64_t           strips = (a->rows + STRIP - 1) / STRIP, height = (a->rows + strips - 1) / strips;
    height  = (height + GROUP - 1) / GROUP * GROUP;
    t->row  = row;
    t->rows = a->rows - row < height ? a->rows - row : height;
    t->from = seen_from(a, row) / KEYS * KEYS;
    t->end  = seen_to(a, row + t->rows - 1);
}

static void strip_block(Attention *t)
{
    if (t->first < t->from || t->first >= t->end) return;
    t->is_first = t->first == t->from;
    t->is_last  = t->end - t->first <= KEYS;
    t->count    = t->is_last ? t->end - t->first : KEYS;
    scores_block(t);
    for (int64_t i = 0; i < t->rows; i += GROUP)
        weights_group(t, t->row + i, t->rows - i < GROUP ? t->rows - i : GROUP);
    sums_block(t);
}

static void attention_f32(const HoloAttend *a)
{
    int64_t   width = (a->v_size + LANES - 1) / LANES * LANES, rows = (a->rows + GROUP - 1) / GROUP * GROUP;
    Attention t = {.a = a, .width = width};
    t.copy      = a->scratch;
    t.weights   = t.copy + HOLO_GEMM_SCRATCH;
    t.bias      = t.weights + HOLO_GEMM_SCRATCH;
    t.keys      = t.bias + KEYS;
    t.values    = t.keys + KEYS * a->size;
    t.sums      = t.values + KEYS * width;
    t.top       = t.sums + rows * width;
    t.total     = t.top + rows;
    t.plain     = t.total + rows;
    for (int64_t i = 0; i < rows; i++) { // as if the sink were met before the first key
        bool has   = a->sink && i < a->rows;
        t.top[i]   = has ? a->sink[i * a->sink_row] : -__builtin_inff();
        t.total[i] = has ? 1 : 0;
    }
    int64_t end = seen_to(a, a->rows - 1);
    for (t.first = seen_from(a, 0) / KEYS * KEYS; t.first < end; t.first += KEYS) {
        t.keys_packed = end - t.first < KEYS ? end - t.first : KEYS;
        t.has_keys = t.has_values = false;
        for (int64_t row = 0; row < a->rows; row += t.rows) {
            strip_at(&t, row);
            strip_block(&t);
        }
    }
    for (int64_t row = 0; row < a->rows; row += t.rows) {
        strip_at(&t, row);
        for (int64_t i = 0; i < t.rows; i++) finish_row(&t, row + i);
    }
}
