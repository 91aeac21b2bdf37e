// generate_greedy.c - GreedySearch always takes the likeliest token; Sampling draws one.
#include "ops/microsoft/generate.h"

#include <string.h>

static int32_t best_token(const float *scores, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (scores[i] > scores[best]) best = i;
    return (int32_t)best;
}

// A row that has reached its end continues with padding, which also replaces the end token. *out_all: all rows have
// ended.
static HoloStatus pick_tokens(HoloGeneration *s, HoloGenerateSampler *sampler, uint8_t *is_done, bool *out_all)
{
    *out_all = true;
    for (int64_t row = 0; row < s->rows; row++) {
        if (sampler)
            HOLO_TRY(holo_sampler_pick(sampler, s, row, &s->next[row]));
        else
            s->next[row] = best_token(s->scores + row * s->vocab, s->vocab);
        if (s->next[row] == s->eos) is_done[row] = 1;
        if (is_done[row]) s->next[row] = (int32_t)s->pad;
        *out_all = *out_all && is_done[row];
    }
    return HOLO_OK;
}

static HoloStatus generate(HoloGeneration *s, HoloDecoder *d, HoloGenerateSampler *sampler)
{
    void *is_done;
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, 1, &is_done));
    while (s->length < s->longest) {
        const HoloTensor *logits;
        bool              all;
        HOLO_TRY(holo_decoder_run(d, &logits));
        HOLO_TRY(holo_search_scores(s, logits, false));
        HOLO_TRY(pick_tokens(s, sampler, is_done, &all));
        holo_search_append(s, NULL);
        if (all) break;
        HOLO_TRY(holo_decoder_follow(d, NULL));
    }
    return HOLO_OK;
}

// Everything behind the last token is padding.
static HoloStatus give_tokens(HoloGeneration *s)
{
    HOLO_TRY(holo_out_type(s->call, 0, HOLO_I32, 2, (HoloDim[]){s->rows, s->longest}));
    HOLO_TRY(holo_out_alloc(s->call, 0));
    HoloTensor *y = holo_out(s->call, 0);
    for (int64_t i = 0; y && i < s->rows * s->longest; i++)
        ((int32_t *)y->data)[i] = i % s->longest < s->length ? s->tokens[i] : (int32_t)s->pad;
    return HOLO_OK;
}

// Of the last step, as tokens were drawn by them.
static HoloStatus give_scores(const HoloGeneration *s)
{
    HoloTensor *y = holo_out(s->call, 1);
    if (!y) return HOLO_OK;
    HOLO_TRY(holo_out_type(s->call, 1, HOLO_F32, 2, (HoloDim[]){s->rows, s->vocab}));
    HOLO_TRY(holo_out_alloc(s->call, 1));
    if (y->data) memcpy(y->data, s->scores, holo_tensor_bytes(y));
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    static const HoloSearchInputs inputs = {1, 2, -1, -1, -1, 3, 4, 5, 6, -1};
    HoloGeneration                s;
    HoloDecoder                   d;
    HoloGenerateSampler           sampler;
    bool                          is_drawn = call->op->row != NULL;
    HOLO_TRY(holo_expect_types(call, 0, HOLO_BIT(I32)));
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    if (holo_attr_int(call, "model_type", 0) != 0)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "this search is only for a decoder alone (model_type 0)");
    HOLO_TRY(holo_search_init(&s, call, &inputs, call->in[0]->dim[1]));
    for (int64_t row = 0; row < s.rows; row++)
        memcpy(s.tokens + row * s.longest, (const int32_t *)s.source->data + row * s.prompt,
               (size_t)s.prompt * sizeof *s.tokens);
    HOLO_TRY(holo_decoder_init(&d, &s));
    if (is_drawn) HOLO_TRY(holo_sampler_init(&sampler, &s));
    HOLO_TRY(generate(&s, &d, is_drawn ? &sampler : NULL));
    HOLO_TRY(give_scores(&s));
    return give_tokens(&s);
}

static const bool drawn = true;

#define ROW(NAME, INPUTS, OUTPUTS, DRAWN)                                                                  \
    {                                                                                                      \
        .name = NAME, .domain = "com.microsoft", .since = 1, .in_min = 2, .in_max = INPUTS, .out_min = 1,  \
        .out_max = OUTPUTS, .types = HOLO_BIT(I32), .flags = HOLO_OP_CONTROL, .infer = holo_infer_control, \
        .eval = eval, .row = DRAWN                                                                         \
    }

const HoloOp holo_ops_generate_greedy[] = {
    ROW("GreedySearch", 7, 1, NULL),
    ROW("Sampling", 9, 2, &drawn),
    {0},
};
