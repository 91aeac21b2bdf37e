// ngrams.c - repeated runs of tokens: NGramRepeatBlock and BifurcationDetector of com.microsoft.
#include "ops/spread.h"

#include <math.h>
#include <string.h>

// ---- NGramRepeatBlock: no token may end a run of `ngram_size` that is in the text already

static HoloStatus infer_block(HoloCall *call)
{
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_expect_rank(call, 1, 2, 2));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_FLOAT));
    if (holo_attr_int(call, "ngram_size", 0) < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "ngram_size is missing or less than 1");
    if (holo_dims_differ(call->in[0]->dim[0], call->in[1]->dim[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld rows of tokens, but %lld of scores",
                              (long long)call->in[0]->dim[0], (long long)call->in[1]->dim[0]);
    return holo_out_like(call, 0, call->in[1]);
}

// Of one text: forbids each token that would repeat a run of `n` tokens, one that began with its last n - 1 tokens.
static HoloStatus block(const HoloCall *call, int64_t row, const int64_t *tokens, int64_t length, int64_t n)
{
    HoloTensor    *out  = call->out[0];
    const int64_t *last = tokens + length - (n - 1);
    for (const int64_t *at = tokens; at + n <= tokens + length; at++) {
        int64_t token = at[n - 1];
        if (memcmp(at, last, (size_t)(n - 1) * sizeof *at) != 0) continue;
        if (token < 0 || token >= out->dim[1])
            return holo_call_fail(call, HOLO_BAD_INPUT, "token %lld is outside the %lld scores", (long long)token,
                                  (long long)out->dim[1]);
        holo_put_f(out, row * out->dim[1] + token, -INFINITY);
    }
    return HOLO_OK;
}

static HoloStatus eval_block(HoloCall *call)
{
    const HoloTensor *scores = call->in[1];
    int64_t           length = call->in[0]->dim[1], n = holo_attr_int(call, "ngram_size", 0);
    void             *tokens;
    if (holo_out_is_empty(call)) return HOLO_OK;
    memcpy(call->out[0]->data, scores->data,
           (size_t)holo_tensor_count(scores) * holo_dtype_size((HoloDtype)scores->dtype));
    if (length < n) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)length, sizeof(int64_t), &tokens));
    for (int64_t row = 0; row < scores->dim[0]; row++) {
        holo_read_i(call->in[0], row * length, 1, length, tokens);
        HOLO_TRY(block(call, row, tokens, length, n));
    }
    return HOLO_OK;
}

// ---- BifurcationDetector: predicted tokens are taken up to the first that is not in the source; then the end of what
// has been written is looked for in the source

enum { SOURCE, CURRENT, PREVIOUS, PREDICTED };

static HoloStatus infer_bifurcation(HoloCall *call)
{
    int64_t least = holo_attr_int(call, "min_ngram_size", 1), most = holo_attr_int(call, "max_ngram_size", 3);
    HoloDim length =
        call->in[CURRENT]->rank == 1 && !holo_in(call, PREDICTED) ? call->in[CURRENT]->dim[0] : HOLO_DIM_UNKNOWN;
    for (int i = SOURCE; i <= PREDICTED; i++) {
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(I64)));
        if (i != PREVIOUS && holo_in(call, i)) HOLO_TRY(holo_expect_rank(call, i, 1, 1));
    }
    if (least < 1 || most < least)
        return holo_call_fail(call, HOLO_BAD_MODEL, "min_ngram_size and max_ngram_size are %lld and %lld",
                              (long long)least, (long long)most);
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 1, &length));
    return holo_out_like(call, 1, call->in[PREVIOUS]);
}

typedef struct Tokens {
    const int64_t *at;
    int64_t        count;
} Tokens;

static Tokens tokens_of(const HoloCall *call, int input)
{
    return (Tokens){call->in[input]->data, holo_tensor_count(call->in[input])};
}

// Where the last n tokens of `text` occur in the source, from `from` on; -1: nowhere.
static int64_t find_end(Tokens source, Tokens text, int64_t n, int64_t from)
{
    for (int64_t i = from; i + n <= source.count; i++)
        if (!memcmp(source.at + i, text.at + text.count - n, (size_t)n * sizeof *text.at)) return i;
    return -1;
}

// The position in the source behind the end of the text, if that end occurs once: while an end is found, longer ones
// are tried.
static int64_t match_end(const HoloCall *call, Tokens source, Tokens text)
{
    int64_t behind = -1, most = holo_attr_int(call, "max_ngram_size", 3);
    for (int64_t n = holo_attr_int(call, "min_ngram_size", 1); n <= most && n <= text.count; n++) {
        int64_t first = find_end(source, text, n, 0);
        if (first < 0) break;
        behind = first + n;
        if (behind >= source.count) break;
        if (find_end(source, text, n, first + 1) >= 0) behind = -1;
    }
    return behind;
}

// How many of the predicted tokens are accepted: those that equal the source's, and the one behind them.
static HoloStatus count_taken(const HoloCall *call, Tokens source, Tokens predicted, int64_t *out)
{
    int64_t from = holo_get_i(call->in[PREVIOUS], 0);
    if (from < 0 || from > source.count || predicted.count != source.count + 1 - from)
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld tokens are predicted from place %lld of %lld on",
                              (long long)predicted.count, (long long)from, (long long)source.count);
    int64_t same = 0;
    while (from + same < source.count && predicted.at[same] == source.at[from + same]) same++;
    *out = same + 1;
    return HOLO_OK;
}

static HoloStatus eval_bifurcation(HoloCall *call)
{
    Tokens   source = tokens_of(call, SOURCE), current = tokens_of(call, CURRENT), predicted = {0};
    int64_t  taken = 0;
    int64_t *text;
    if (holo_tensor_count(call->in[PREVIOUS]) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "prev_suffix_match_idx must have one entry");
    if (holo_in(call, PREDICTED)) {
        predicted = tokens_of(call, PREDICTED);
        HOLO_TRY(count_taken(call, source, predicted, &taken));
    }
    int64_t count = current.count + taken;
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof *text, (void **)&text));
    if (current.count) memcpy(text, current.at, (size_t)current.count * sizeof *text);
    if (taken) memcpy(text + current.count, predicted.at, (size_t)taken * sizeof *text);
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 1, &count));
    HOLO_TRY(holo_out_alloc(call, 0));
    if (holo_out(call, 0) && count) memcpy(call->out[0]->data, text, (size_t)count * sizeof *text);
    if (holo_out(call, 1)) holo_put_i(call->out[1], 0, match_end(call, source, (Tokens){text, count}));
    return HOLO_OK;
}

const HoloOp holo_ops_ngrams[] = {
    {.name    = "NGramRepeatBlock",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(I64) | HOLO_BIT(I32),
     .infer   = infer_block,
     .eval    = eval_block},
    {.name    = "BifurcationDetector",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_BIT(I64),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer_bifurcation,
     .eval    = eval_bifurcation},
    {0},
};
