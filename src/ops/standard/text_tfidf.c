// text_tfidf.c - TfIdfVectorizer: how often the n-grams of a pool occur in rows of words or numbers.
#include "ops/move.h"

// ---- items: words or numbers

typedef struct Items {
    const HoloString *words; // or else
    const HoloTensor *tensor;
    const int64_t    *numbers;
} Items;

// FNV-1a over the bytes of an item.
static uint64_t hash_item(const Items *items, int64_t i, uint64_t hash)
{
    int64_t     number = items->words ? 0 : items->numbers ? items->numbers[i] : holo_get_i(items->tensor, i);
    const char *bytes  = items->words ? items->words[i].data : (const char *)&number;
    size_t      size   = items->words ? items->words[i].size : sizeof number;
    for (size_t k = 0; k < size; k++) hash = (hash ^ (uint8_t)bytes[k]) * UINT64_C(0x100000001B3);
    return (hash ^ size) * UINT64_C(0x100000001B3);
}

static bool is_equal_item(const Items *a, int64_t i, const Items *b, int64_t k)
{
    if (a->words) return holo_string_equal(a->words[i], b->words[k]);
    int64_t x = a->numbers ? a->numbers[i] : holo_get_i(a->tensor, i);
    int64_t y = b->numbers ? b->numbers[k] : holo_get_i(b->tensor, k);
    return x == y;
}

// ---- the pool: n-grams in a hash table

typedef struct Gram {
    int64_t start, length; // in the pool; length 0: a free place
    int64_t column;
    float   weight;
} Gram;

typedef struct Lengths {
    int64_t min, max, skip;
} Lengths;

typedef struct Pool { // what is prepared
    Items    items;
    int64_t  size, columns, gram_count;
    Gram    *table;
    uint64_t mask;
    float   *weight; // of each column
    Lengths  lengths;
} Pool;

static uint64_t hash_gram(const Items *items, int64_t start, int64_t step, int64_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (int64_t i = 0; i < length; i++) hash = hash_item(items, start + i * step, hash);
    return hash ^ hash >> 29;
}

// The place of an n-gram in the table, or the free place where it would be.
static Gram *find_gram(const Pool *pool, const Items *items, int64_t start, int64_t step, int64_t length)
{
    for (uint64_t at = hash_gram(items, start, step, length);; at++) {
        Gram *gram = &pool->table[at & pool->mask];
        bool  same = gram->length == length;
        for (int64_t i = 0; same && i < length; i++)
            same = is_equal_item(&pool->items, gram->start + i, items, start + i * step);
        if (same || gram->length == 0) return gram;
    }
}

static HoloStatus find_items(const HoloCall *call, Pool *pool)
{
    const HoloAttr *words = holo_attr_find(call, "pool_strings"), *numbers = holo_attr_find(call, "pool_int64s");
    const HoloAttr *given = words ? words : numbers;
    if (!given || given->kind != (words ? HOLO_ATTR_STRINGS : HOLO_ATTR_INTS))
        return holo_call_fail(call, HOLO_BAD_MODEL, "pool_strings or pool_int64s must be given");
    if ((call->in[0]->dtype == HOLO_STRING) != (words != NULL))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the input and the pool are not both words or both numbers");
    pool->size  = given->count;
    pool->items = (Items){.words = words ? words->strings : NULL, .numbers = words ? NULL : numbers->ints};
    return HOLO_OK;
}

// The columns of the output: one more than the largest index.
static HoloStatus find_columns(const HoloCall *call, int64_t *out)
{
    const HoloAttr *indexes = holo_attr_find(call, "ngram_indexes");
    if (!indexes || indexes->kind != HOLO_ATTR_INTS || !indexes->count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "ngram_indexes must be given");
    *out = 0;
    for (int i = 0; i < indexes->count; i++) {
        if (indexes->ints[i] < 0 || indexes->ints[i] > INT32_MAX)
            return holo_call_fail(call, HOLO_BAD_MODEL, "ngram_indexes holds %lld", (long long)indexes->ints[i]);
        if (indexes->ints[i] >= *out) *out = indexes->ints[i] + 1;
    }
    return HOLO_OK;
}

// ngram_counts[k] is where in the pool the n-grams of length k + 1 begin.
static HoloStatus fill_table(const HoloCall *call, Pool *pool)
{
    const HoloAttr *starts = holo_attr_find(call, "ngram_counts"), *indexes = holo_attr_find(call, "ngram_indexes");
    const HoloAttr *weights = holo_attr_find(call, "weights");
    if (!starts || starts->kind != HOLO_ATTR_INTS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "ngram_counts must be given");
    if (weights && (weights->kind != HOLO_ATTR_FLOATS || weights->count != indexes->count))
        return holo_call_fail(call, HOLO_BAD_MODEL, "weights and ngram_indexes differ in length");
    for (int k = 0; k < starts->count; k++) {
        int64_t from = starts->ints[k], to = k + 1 < starts->count ? starts->ints[k + 1] : pool->size, length = k + 1;
        if (from < 0 || to < from || to > pool->size || (to - from) % length != 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "ngram_counts[%d] is %lld, which does not fit the pool", k,
                                  (long long)from);
        for (; from < to; from += length, pool->gram_count++) {
            if (pool->gram_count >= indexes->count)
                return holo_call_fail(call, HOLO_BAD_MODEL, "the pool has more n-grams than ngram_indexes");
            Gram *gram   = find_gram(pool, &pool->items, from, 1, length);
            float weight = weights ? weights->floats[pool->gram_count] : 1;
            *gram        = (Gram){from, length, indexes->ints[pool->gram_count], weight};
        }
    }
    return HOLO_OK;
}

static HoloStatus pool_init(const HoloCall *call, Pool *pool)
{
    void *table, *weight;
    HOLO_TRY(find_items(call, pool));
    HOLO_TRY(find_columns(call, &pool->columns));
    uint64_t places = 16;
    while (places < 2 * (uint64_t)pool->size) places *= 2;
    HOLO_TRY(holo_call_hold(call, places, sizeof(Gram), &table));
    pool->table = table;
    pool->mask  = places - 1;
    HOLO_TRY(fill_table(call, pool));
    HOLO_TRY(holo_call_hold(call, (size_t)pool->columns, sizeof(float), &weight));
    pool->weight = weight;
    for (uint64_t i = 0; i < places; i++)
        if (pool->table[i].length) pool->weight[pool->table[i].column] = pool->table[i].weight;
    return HOLO_OK;
}

// ---- counting

static HoloStatus find_lengths(const HoloCall *call, Lengths *out)
{
    const HoloAttr *starts = holo_attr_find(call, "ngram_counts");
    *out = (Lengths){holo_attr_int(call, "min_gram_length", 1), holo_attr_int(call, "max_gram_length", 1),
                     holo_attr_int(call, "max_skip_count", 0)};
    if (out->min < 1 || out->max < out->min || out->skip < 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "n-grams of length %lld to %lld with %lld skipped",
                              (long long)out->min, (long long)out->max, (long long)out->skip);
    if (starts && starts->count < out->max) out->max = starts->count; // longer ones are not in the pool
    return HOLO_OK;
}

// Adds to `row` how often each n-gram occurs in `size` items from `start` on.
static void count_row(const Pool *pool, const Items *items, int64_t start, int64_t size, double *row)
{
    const Lengths *lengths = &pool->lengths;
    for (int64_t length = lengths->min; length <= lengths->max; length++) {
        for (int64_t step = 1; step <= (length == 1 ? 1 : lengths->skip + 1); step++) {
            if (length > 1 && step > (size - 1) / (length - 1)) break;
            for (int64_t at = 0; at + (length - 1) * step < size; at++) {
                const Gram *gram = find_gram(pool, items, start + at, step, length);
                if (gram->length) row[gram->column]++;
            }
        }
    }
}

// Counts become weights where the mode asks for them.
static void weigh_row(const Pool *pool, bool counts, bool weighs, double *row)
{
    for (int64_t c = 0; c < pool->columns; c++) {
        double value = counts ? row[c] : row[c] > 0;
        row[c]       = weighs ? value * (double)pool->weight[c] : value;
    }
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[2];
    HOLO_TRY(holo_expect_rank(call, 0, 1, 2));
    HOLO_TRY(holo_attr_choice(call, "mode", "TFIDF", (const char *const[]){"TF", "IDF", "TFIDF", NULL}, NULL));
    dim[0] = x->dim[0];
    HOLO_TRY(find_columns(call, &dim[x->rank - 1]));
    return holo_out_type(call, 0, HOLO_F32, x->rank, dim);
}

static HoloStatus prepare(HoloCall *call, const void **out)
{
    void *pool;
    HOLO_TRY(holo_call_hold(call, 1, sizeof(Pool), &pool));
    HOLO_TRY(pool_init(call, pool));
    *out = pool;
    return find_lengths(call, &((Pool *)pool)->lengths);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x    = call->in[0];
    HoloTensor       *y    = call->out[0];
    const Pool       *pool = call->prepared;
    void             *row;
    HOLO_TRY(holo_call_temp(call, (size_t)pool->columns, sizeof(double), &row));
    bool    counts = !holo_attr_is(call, "mode", "", "IDF"), weighs = !holo_attr_is(call, "mode", "", "TF");
    Items   items = {.words = x->dtype == HOLO_STRING ? x->data : NULL, .tensor = x};
    int64_t rows = x->rank == 2 ? x->dim[0] : 1, size = x->dim[x->rank - 1];
    for (int64_t r = 0; r < rows; r++) {
        HOLO_TRY(holo_call_continue(call));
        memset(row, 0, (size_t)pool->columns * sizeof(double));
        count_row(pool, &items, r * size, size, row);
        weigh_row(pool, counts, weighs, row);
        holo_write_f(y, r * pool->columns, 1, pool->columns, row);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_text_tfidf[] = {
    {.name    = "TfIdfVectorizer",
     .domain  = "",
     .since   = 9,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(STRING) | HOLO_TYPES_INDEX,
     .infer   = infer,
     .eval    = eval,
     .prepare = prepare},
    {0},
};
