// reader_vectors.c - holo_embed: one vector for a text, made by the model or of those of its tokens.
#include "api/reader.h"

#include <math.h>
#include <string.h>

// ---- pooling: the vectors of the tokens become one

typedef struct TokenVectors { // what the model gives for the tokens of a text
    const double *x;          // [count, size]
    int64_t       count, size;
} TokenVectors;

static void pool_cls(const TokenVectors *t, float *out)
{
    for (int64_t k = 0; k < t->size; k++) out[k] = (float)t->x[k];
}

static void pool_last(const TokenVectors *t, float *out)
{
    for (int64_t k = 0; k < t->size; k++) out[k] = (float)t->x[(t->count - 1) * t->size + k];
}

static void pool_max(const TokenVectors *t, float *out)
{
    pool_cls(t, out);
    for (int64_t i = 0; i < t->count * t->size; i++) out[i % t->size] = fmaxf(out[i % t->size], (float)t->x[i]);
}

// Adds up, with the weight 1 or, if `is_rising`, 1, 2, 3 ..., and divides by `divisor`.
static void add_up(const TokenVectors *t, bool is_rising, double divisor, float *out)
{
    for (int64_t k = 0; k < t->size; k++) {
        double sum = 0;
        for (int64_t i = 0; i < t->count; i++) sum += t->x[i * t->size + k] * (is_rising ? (double)(i + 1) : 1);
        out[k] = (float)(sum / divisor);
    }
}

static void pool_mean(const TokenVectors *t, float *out)
{
    add_up(t, false, (double)t->count, out);
}

static void pool_mean_sqrt(const TokenVectors *t, float *out)
{
    add_up(t, false, sqrt((double)t->count), out);
}

static void pool_weighted(const TokenVectors *t, float *out)
{
    add_up(t, true, (double)t->count * (double)(t->count + 1) / 2, out);
}

struct HoloVectorPooling {
    const char *name;
    void (*pool)(const TokenVectors *t, float *out);
};
static const HoloVectorPooling poolings[] = {
    {"mean", pool_mean},           {"cls", pool_cls},           {"max", pool_max}, {"last", pool_last},
    {"mean_sqrt", pool_mean_sqrt}, {"weighted", pool_weighted},
};

// ---- what was asked for, and what the model says

static HoloStatus read_pooling(HoloReader *r, HoloError *error)
{
    r->pooling_count = 0;
    for (const char *at = r->names; *at; at += *at == ',') {
        size_t size  = strcspn(at, ",");
        int    found = -1;
        for (int i = 0; i < HOLO_COUNT(poolings); i++)
            if (strlen(poolings[i].name) == size && !memcmp(poolings[i].name, at, size)) found = i;
        if (found < 0 || r->pooling_count == HOLO_POOLINGS_MAX)
            return holo_fail(
                error, HOLO_BAD_ARGUMENT,
                "there is no way to pool named '%.*s': there are mean, cls, max, last, mean_sqrt and weighted",
                (int)size, at);
        r->pooling[r->pooling_count++] = &poolings[found];
        at += size;
    }
    return HOLO_OK;
}

// The vectors of tokens, and what a model gives that has pooled them itself.
static const char *const token_outputs[]  = {"last_hidden_state", "token_embeddings", "hidden_states", NULL};
static const char *const pooled_outputs[] = {"sentence_embedding", "text_embeds", "pooler_output", "embeddings", NULL};

static bool has_any(const HoloModel *model, const char *const *names)
{
    for (; *names; names++)
        if (holo_model_output_find(model, *names) >= 0) return true;
    return false;
}

static HoloStatus choose(HoloReader *r, HoloError *error)
{
    const HoloModel *m     = r->model;
    const char      *given = r->pooling_asked, *said = holo_model_meta_find(m, "text.pooling");
    const char      *other      = holo_model_meta_find(m, "text.module_left_out");
    bool             has_tokens = has_any(m, token_outputs);
    char             names[200];
    r->normalizes = r->normalize > 0 || (r->normalize == 0 && holo_model_meta_find(m, "text.normalize"));
    if (other && !given)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model's vectors go through a module %s, which is not supported: say how to pool, for vectors "
            "without it",
            other);
    if (!has_tokens && !has_any(m, pooled_outputs))
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model gives no vectors: its outputs are %s, and not last_hidden_state",
                         holo_reader_outputs(r, names));
    if (!has_tokens && given)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "to pool needs the vectors of tokens, but the model gives %s",
                         holo_reader_outputs(r, names));
    r->pools = has_tokens && (given || holo_model_output_find(m, "sentence_embedding") < 0);
    if (r->pools) {
        r->names = given ? given : said ? said : holo_model_state_count(m) ? "last" : "mean";
        HOLO_TRY(read_pooling(r, error));
    }
    r->is_chosen = true;
    return HOLO_OK;
}

// ---- vectors

static void normalize(float *x, int64_t size)
{
    double sum = 0;
    for (int64_t i = 0; i < size; i++) sum += (double)x[i] * (double)x[i];
    double length = fmax(sqrt(sum), 1e-12);
    for (int64_t i = 0; i < size; i++) x[i] = (float)((double)x[i] / length);
}

HoloStatus holo_embed(HoloReader *r, const char *text, size_t size, HoloEmbedding *out_embedding, HoloError *error)
{
    HoloTensor t = {0};
    HOLO_TRY(holo_reader_check(r, error));
    if (!r->is_chosen) HOLO_TRY(choose(r, error));
    HOLO_TRY(holo_reader_run(r, text, size, error));
    if (!holo_reader_output(r, r->pools ? token_outputs : pooled_outputs, &t) || t.kind != HOLO_TENSOR ||
        t.dtype == HOLO_STRING || t.rank != (r->pools ? 3 : 2) || t.dim[0] != 1 || holo_tensor_count(&t) <= 0)
        return holo_fail(error, HOLO_UNSUPPORTED, "the output of the model has %d dimensions, and should be %s", t.rank,
                         r->pools ? "[1, tokens, size]" : "[1, size]");
    int64_t count = holo_tensor_count(&t), width = t.dim[t.rank - 1], parts = r->pools ? r->pooling_count : 1;
    HOLO_TRY(holo_reader_take((void **)&r->numbers, &r->numbers_room, (size_t)count, sizeof *r->numbers, error));
    HOLO_TRY(holo_reader_take((void **)&r->vector, &r->vector_room, (size_t)(parts * width), sizeof *r->vector, error));
    holo_tensor_numbers(&t, 0, count, r->numbers);
    TokenVectors tokens = {r->numbers, r->pools && t.dim[1] < r->count ? t.dim[1] : r->count, width};
    if (!r->pools) pool_cls(&tokens, r->vector);
    for (int i = 0; r->pools && i < r->pooling_count; i++) r->pooling[i]->pool(&tokens, r->vector + i * width);
    if (r->normalizes) normalize(r->vector, parts * width);
    *out_embedding = (HoloEmbedding){.vector        = r->vector,
                                     .size          = (size_t)(parts * width),
                                     .tokens        = (size_t)r->count,
                                     .pooling       = r->pools ? r->names : NULL,
                                     .is_normalized = r->normalizes};
    return HOLO_OK;
}
