// word_embedding.c - WordConvEmbedding of com.microsoft: a vector for each word, by a convolution over its letters.
//
// A word is a row of letters; letters above 0 count. If the first letter does not count there is no word, and the
// vector is 0. Each letter is a row of a table, or 0 if the table has none. Each element of the vector is the largest
// tanh of its filter over all positions of the window in the word.
#include "base/math/math.h"
#include "ops/op.h"
#include "ops/spread.h"

enum { WORDS, W, B, LETTERS };

static HoloStatus expect_size(const HoloCall *call, const char *what, HoloDim have, HoloDim want)
{
    if (!holo_dims_differ(have, want)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "%s is %lld, expected %lld", what, (long long)have, (long long)want);
}

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_rank(call, WORDS, 2, 2));
    HOLO_TRY(holo_expect_rank(call, W, 4, 4));
    HOLO_TRY(holo_expect_rank(call, B, 1, 1));
    HOLO_TRY(holo_expect_rank(call, LETTERS, 2, 2));
    for (int i = W; i <= LETTERS; i++) HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(F32)));
    const HoloTensor *words = call->in[WORDS], *w = call->in[W], *letters = call->in[LETTERS];
    const struct {
        const char *attr;
        HoloDim     size;
    } sizes[] = {{"embedding_size", w->dim[0]}, {"conv_window_size", w->dim[2]}, {"char_embedding_size", w->dim[3]}};
    for (int i = 0; i < HOLO_COUNT(sizes); i++) {
        int64_t given = holo_attr_int(call, sizes[i].attr, -1);
        if (given >= 0) HOLO_TRY(expect_size(call, sizes[i].attr, sizes[i].size, given));
    }
    HOLO_TRY(expect_size(call, "the second size of the filters", w->dim[1], 1));
    HOLO_TRY(expect_size(call, "the number of biases", call->in[B]->dim[0], w->dim[0]));
    HOLO_TRY(expect_size(call, "the size of a letter", letters->dim[1], w->dim[3]));
    if (!holo_dim_is_symbolic(w->dim[2]) && !holo_dim_is_symbolic(words->dim[1]) &&
        (w->dim[2] > words->dim[1] || w->dim[2] < 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "windows of %lld letters do not fit into words of %lld",
                              (long long)w->dim[2], (long long)words->dim[1]);
    return holo_out_type(call, 0, HOLO_F32, 2, (HoloDim[]){words->dim[0], w->dim[0]});
}

static const float *letter(const HoloCall *call, int32_t number)
{
    const HoloTensor *t = call->in[LETTERS];
    return number >= 0 && number < t->dim[0] ? (const float *)t->data + number * t->dim[1] : NULL;
}

// One filter at one place.
static double product(const HoloCall *call, const int32_t *letters, int64_t filter)
{
    const HoloTensor *w    = call->in[W];
    int64_t           size = w->dim[3];
    double            sum  = ((const float *)call->in[B]->data)[filter];
    for (int64_t i = 0; i < w->dim[2]; i++) {
        const float *x = letter(call, letters[i]), *y = (const float *)w->data + (filter * w->dim[2] + i) * size;
        for (int64_t k = 0; x && k < size; k++) sum += (double)x[k] * y[k];
    }
    return sum;
}

static void word(void *arg, int64_t number, int worker)
{
    (void)worker;
    const HoloCall   *call  = arg;
    const HoloTensor *words = call->in[WORDS];
    int64_t           room = words->dim[1], window = call->in[W]->dim[2], filters = call->in[W]->dim[0], length = 0;
    const int32_t    *letters = (const int32_t *)words->data + number * room;
    float            *out     = (float *)call->out[0]->data + number * filters;
    for (int64_t i = 0; i < room && letters[0] > 0; i++) length += letters[i] > 0;
    int64_t places = length == 0 ? 0 : length > window ? length - window + 1 : 1;
    for (int64_t f = 0; f < filters; f++) {
        out[f] = places ? -1 : 0;
        for (int64_t i = 0; i < places; i++) {
            float y = (float)holo_tanh(product(call, letters + i, f));
            if (!(y <= out[f])) out[f] = y;
        }
    }
}

static HoloStatus eval(HoloCall *call)
{
    if (holo_out_is_empty(call)) return HOLO_OK;
    const HoloTensor *words = call->in[WORDS];
    double            cost  = (double)holo_tensor_count(words) * (double)holo_tensor_count(call->in[W]);
    holo_spread(call, words->dim[0], cost, word, call);
    return HOLO_OK;
}

const HoloOp holo_ops_word_embedding[] = {
    {.name    = "WordConvEmbedding",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(I32),
     .infer   = infer,
     .eval    = eval},
    {0},
};
