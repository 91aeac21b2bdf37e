// generate_beam.c - BeamSearch and WhisperBeamSearch: the sequences that are likeliest as a whole.
//
// Each entry of the batch has some beams. A step looks at their best continuations, twice as many as there are beams.
// Those that end become results if they are good enough. The best of the others are the new beams. No document says
// all details; they are as ONNX Runtime has them.
#include "ops/microsoft/generate.h"

#include "base/math/math.h"

#include <math.h>
#include <string.h>

typedef struct Candidate {
    float   score;
    int64_t row;
    int32_t token;
} Candidate;

typedef struct Result {
    int32_t *tokens;
    int64_t  length;
    float    score; // with the penalty of its length
} Result;

typedef struct Beams {
    HoloGeneration s;
    int64_t        returned;
    double         length_penalty;
    bool           stops_early; // as soon as there are as many results as beams
    float         *sums;        // [rows]: scores of all tokens so far
    int64_t       *from;        // [rows]: the row that each goes on from
    Candidate     *top;         // [batch][2 * beams], the best first
    Result        *results;     // [batch][beams], the best first
    int64_t       *count;       // [batch]: of results
    uint8_t       *is_done;     // [batch]
    int64_t        open;        // entries that are not done
    HoloDtype      dtype;       // of scores that are given out
} Beams;

// ---- results

static float penalized(const Beams *b, float sum, int64_t length)
{
    return sum / (float)holo_pow((double)length, b->length_penalty);
}

static void add_result(Beams *b, int64_t entry, int64_t row, float sum)
{
    const HoloGeneration *s       = &b->s;
    Result               *results = b->results + entry * s->beams;
    float                 score   = penalized(b, sum, s->length);
    int64_t               at      = b->count[entry];
    if (at == s->beams && !(score > results[--at].score)) return;
    if (b->count[entry] < s->beams) b->count[entry]++;
    int32_t *tokens = results[at].tokens;
    for (; at > 0 && score > results[at - 1].score; at--) results[at] = results[at - 1];
    memcpy(tokens, s->tokens + row * s->longest, (size_t)s->length * sizeof *tokens);
    results[at] = (Result){tokens, s->length, score};
}

// ---- a step

// Sums of the whole sequences, in place of the scores of tokens.
static void add_sums(Beams *b)
{
    HoloGeneration *s = &b->s;
    for (int64_t row = 0; row < s->rows; row++)
        for (int64_t k = 0; k < s->vocab; k++) s->scores[row * s->vocab + k] += b->sums[row];
}

static void find_top(Beams *b, int64_t entry)
{
    const HoloGeneration *s    = &b->s;
    int64_t               most = 2 * s->beams, count = 0;
    Candidate            *top = b->top + entry * most;
    for (int64_t row = entry * s->beams; row < (entry + 1) * s->beams; row++)
        for (int64_t k = 0; k < s->vocab; k++) {
            float   score = s->scores[row * s->vocab + k];
            int64_t at    = most - 1;
            if (count < most)
                at = count++;
            else if (!(score > top[at].score))
                continue;
            for (; at > 0 && score > top[at - 1].score; at--) top[at] = top[at - 1];
            top[at] = (Candidate){score, row, (int32_t)k};
        }
}

// Whether a beam could still beat the worst result. Like ONNX Runtime, this looks at the candidates from number entry *
// beams on.
static bool can_improve(const Beams *b, int64_t entry)
{
    const HoloGeneration *s    = &b->s;
    const Candidate      *top  = b->top + entry * s->beams;
    float                 best = top[0].score;
    for (int64_t k = 1; k < 2 * s->beams; k++) best = top[k].score > best ? top[k].score : best;
    return b->results[(entry + 1) * s->beams - 1].score < penalized(b, best, s->length);
}

// The next tokens of an entry.
static void pick_entry(Beams *b, int64_t entry)
{
    HoloGeneration *s     = &b->s;
    int64_t         first = entry * s->beams, filled = 0;
    for (int64_t row = first; row < first + s->beams && b->is_done[entry]; row++) {
        b->from[row] = row;
        b->sums[row] = 0;
        s->next[row] = (int32_t)s->pad;
    }
    if (b->is_done[entry]) return;
    for (int64_t k = 0; k < 2 * s->beams && filled < s->beams; k++) {
        const Candidate *c = &b->top[entry * 2 * s->beams + k];
        if (c->token == s->eos) {
            if (k < s->beams) add_result(b, entry, c->row, c->score);
            continue;
        }
        b->from[first + filled] = c->row;
        b->sums[first + filled] = c->score;
        s->next[first + filled] = c->token;
        filled++;
    }
    if (b->count[entry] < s->beams || (!b->stops_early && can_improve(b, entry))) return;
    b->is_done[entry] = 1;
    b->open--;
}

// All scores of all steps, where they are wanted.
static HoloStatus keep_scores(Beams *b)
{
    const HoloGeneration *s = &b->s;
    HoloTensor           *y = holo_out(s->call, 2);
    if (!y) return HOLO_OK;
    if (s->steps == 1) {
        HoloDim dim[] = {s->longest - s->prompt, s->batch, s->beams, s->vocab};
        HOLO_TRY(holo_out_type(s->call, 2, b->dtype, 4, dim));
        y->data = NULL;
        HOLO_TRY(holo_out_alloc(s->call, 2));
        if (y->data) memset(y->data, 0, holo_tensor_bytes(y));
    }
    int64_t count = s->rows * s->vocab;
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        double  tile[HOLO_TILE];
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        for (int64_t j = 0; j < n; j++) tile[j] = s->scores[k + j];
        holo_write_f(y, (s->steps - 1) * count + k, 1, n, tile);
    }
    return HOLO_OK;
}

static HoloStatus step(Beams *b, const HoloTensor *logits)
{
    HoloGeneration *s = &b->s;
    HOLO_TRY(holo_search_scores(s, logits, true));
    if (s->vocab < 2) return holo_call_fail(s->call, HOLO_BAD_MODEL, "a vocabulary of one token leaves no choice");
    add_sums(b);
    HOLO_TRY(keep_scores(b));
    for (int64_t entry = 0; entry < s->batch; entry++) find_top(b, entry);
    for (int64_t entry = 0; entry < s->batch; entry++) pick_entry(b, entry);
    holo_search_append(s, b->from);
    return HOLO_OK;
}

static HoloStatus generate(Beams *b, HoloDecoder *d, const HoloTensor *logits)
{
    HoloGeneration *s = &b->s;
    if (logits) HOLO_TRY(step(b, logits));
    while (s->length < s->longest && b->open > 0) {
        HOLO_TRY(holo_decoder_run(d, &logits));
        HOLO_TRY(step(b, logits));
        if (s->length < s->longest && b->open > 0) HOLO_TRY(holo_decoder_follow(d, s->beams > 1 ? b->from : NULL));
    }
    return HOLO_OK;
}

// ---- what is given

static HoloStatus give_results(Beams *b)
{
    const HoloGeneration *s = &b->s;
    HOLO_TRY(holo_out_type(s->call, 0, HOLO_I32, 3, (HoloDim[]){s->batch, b->returned, s->longest}));
    HOLO_TRY(holo_out_type(s->call, 1, b->dtype, 2, (HoloDim[]){s->batch, b->returned}));
    HOLO_TRY(holo_out_alloc(s->call, 0));
    HOLO_TRY(holo_out_alloc(s->call, 1));
    HoloTensor *y = holo_out(s->call, 0), *scores = holo_out(s->call, 1);
    for (int64_t i = 0; i < s->batch * b->returned; i++) {
        const Result *r = &b->results[i / b->returned * s->beams + i % b->returned];
        for (int64_t k = 0; y && k < s->longest; k++)
            ((int32_t *)y->data)[i * s->longest + k] = k < r->length ? r->tokens[k] : (int32_t)s->pad;
        if (scores) holo_put_f(scores, i, r->score);
    }
    return HOLO_OK;
}

static HoloStatus finish(Beams *b)
{
    const HoloGeneration *s = &b->s;
    for (int64_t entry = 0; entry < s->batch; entry++)
        for (int64_t row = entry * s->beams; row < (entry + 1) * s->beams && !b->is_done[entry]; row++)
            add_result(b, entry, row, b->sums[row]);
    return give_results(b);
}

// ---- what is asked for

static HoloStatus take_memory(Beams *b)
{
    const HoloGeneration *s = &b->s;
    void                 *sums, *from, *top, *results, *count, *is_done, *tokens;
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, sizeof *b->sums, &sums));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, sizeof *b->from, &from));
    HOLO_TRY(holo_call_temp(s->call, 2 * (size_t)s->rows, sizeof *b->top, &top));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, sizeof *b->results, &results));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->batch, sizeof *b->count, &count));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->batch, 1, &is_done));
    HOLO_TRY(holo_call_temp(s->call, (size_t)(s->rows * s->longest), sizeof(int32_t), &tokens));
    b->sums    = sums;
    b->from    = from;
    b->top     = top;
    b->results = results;
    b->count   = count;
    b->is_done = is_done;
    b->open    = s->batch;
    for (int64_t row = 0; row < s->rows; row++) {
        b->results[row].tokens = (int32_t *)tokens + row * s->longest;
        b->sums[row]           = row % s->beams ? -1e9f : 0; // the beams begin alike: only the first counts
    }
    return HOLO_OK;
}

static HoloStatus beams_init(Beams *b, HoloCall *call, const HoloSearchInputs *in, int64_t prompt)
{
    HOLO_TRY(holo_search_init(&b->s, call, in, prompt));
    HOLO_TRY(holo_search_int(call, in->returned, 1, &b->returned));
    HOLO_TRY(holo_search_float(call, in->length_penalty, 1, &b->length_penalty));
    if (b->returned < 1 || b->returned > b->s.beams)
        return holo_call_fail(call, HOLO_BAD_INPUT, "num_return_sequences is %lld, expected 1 to %lld",
                              (long long)b->returned, (long long)b->s.beams);
    const HoloTensor *narrow = holo_in(call, in->length_penalty) ? call->in[in->length_penalty] : NULL;
    b->dtype                 = narrow ? (HoloDtype)narrow->dtype : HOLO_F32;
    b->stops_early           = holo_attr_int(call, "early_stopping", 0) == 1;
    return take_memory(b);
}

// The first tokens of all rows: those of `start`, [batch, prompt], or one that the model names.
static HoloStatus set_start(HoloGeneration *s, const HoloTensor *start)
{
    int64_t first = holo_attr_int(s->call, "decoder_start_token_id", -1);
    if (!start && first < 0) return holo_call_fail(s->call, HOLO_BAD_MODEL, "decoder_start_token_id is not given");
    if (start && (start->dim[0] != s->batch || start->dim[1] != s->prompt))
        return holo_call_fail(s->call, HOLO_BAD_INPUT, "decoder_input_ids are not of %lld sequences",
                              (long long)s->batch);
    for (int64_t row = 0; row < s->rows; row++)
        for (int64_t k = 0; k < s->prompt; k++)
            s->tokens[row * s->longest + k] =
                start ? ((const int32_t *)start->data)[row / s->beams * s->prompt + k] : (int32_t)first;
    return HOLO_OK;
}

enum { ALONE, ENCODED, WHISPER };

// What only Whisper has.
static HoloStatus whisper_init(Beams *b, HoloTimestamps *t)
{
    enum { PROCESSOR = 11, EXTRA = 13, TEMPERATURE };
    HoloCall         *call  = b->s.call;
    const HoloTensor *extra = EXTRA < call->in_count - call->capture_count ? call->in[EXTRA] : NULL;
    int64_t           processor;
    double            temperature;
    HOLO_TRY(holo_search_int(call, PROCESSOR, 0, &processor));
    HOLO_TRY(holo_search_float(call, TEMPERATURE, 1, &temperature));
    if (holo_out(call, 3) || (extra && holo_tensor_count(extra)))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "cross_qk and extra_decoding_ids are not supported");
    *t = (HoloTimestamps){
        .first       = holo_attr_int(call, "beginning_timestamp_token_id", -1),
        .none        = holo_attr_int(call, "no_timestamps_token_id", -1),
        .start_of_lm = holo_attr_int(call, "start_of_lm_token_id", -1),
        .task = {holo_attr_int(call, "decoder_start_token_id", -1), holo_attr_int(call, "translate_token_id", -1),
                 holo_attr_int(call, "transcribe_token_id", -1)},
    };
    b->s.timestamps  = processor == 1 ? t : NULL;
    b->s.temperature = temperature > 0 ? (float)temperature : 1;
    return HOLO_OK;
}

// How likely it is that nothing was said, by the logits of the encoder.
static HoloStatus give_silence(Beams *b, const HoloTensor *logits)
{
    HoloCall   *call  = b->s.call;
    HoloTensor *y     = holo_out(call, 4);
    int64_t     token = holo_attr_int(call, "no_speech_token_id", -1);
    void       *row;
    if (!y) return HOLO_OK;
    if (!logits || logits->rank != 3 || token < 0 || token >= logits->dim[2] || logits->dim[1] < 1 ||
        logits->dim[0] != b->s.batch || !(HOLO_TYPES_FLOAT >> logits->dtype & 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "no_speech_token_id is %lld, which has no logit", (long long)token);
    HOLO_TRY(holo_out_type(call, 4, b->dtype, 1, (HoloDim[]){b->s.batch}));
    HOLO_TRY(holo_out_alloc(call, 4));
    HOLO_TRY(holo_call_temp(call, (size_t)logits->dim[2], sizeof(double), &row));
    for (int64_t entry = 0; entry < b->s.batch; entry++) {
        double *x = row, top = -INFINITY, sum = 0;
        holo_read_f(logits, ((entry + 1) * logits->dim[1] - 1) * logits->dim[2], 1, logits->dim[2], x);
        for (int64_t k = 0; k < logits->dim[2]; k++) top = x[k] > top ? x[k] : top;
        for (int64_t k = 0; k < logits->dim[2]; k++) sum += holo_exp(x[k] - top);
        holo_put_f(y, entry, holo_exp(x[token] - top) / sum);
    }
    return HOLO_OK;
}

static HoloStatus expect_source(const HoloCall *call, int64_t model)
{
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_TENSOR));
    HOLO_TRY(holo_expect_types(call, 0, model == WHISPER ? HOLO_TYPES_FLOAT : HOLO_BIT(I32)));
    return holo_expect_rank(call, 0, model == WHISPER ? 3 : 2, model == WHISPER ? 3 : 2);
}

static HoloStatus eval(HoloCall *call)
{
    static const HoloSearchInputs inputs[] = {[ALONE]   = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1},
                                              [ENCODED] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1},
                                              [WHISPER] = {1, 2, 3, 4, 5, 6, 7, 8, -1, 10}};
    const int64_t                *only     = call->op->row; // the model, where the operator has one
    int64_t                       model = holo_attr_int(call, "model_type", only ? *only : ALONE), prompt = 1;
    Beams                         b      = {0};
    HoloTimestamps                stamps = {0};
    HoloDecoder                   d;
    const HoloTensor             *logits = NULL, *start;
    if (model < ALONE || model > WHISPER || (only && model != *only))
        return holo_call_fail(call, HOLO_BAD_MODEL, "model_type is %lld", (long long)model);
    HOLO_TRY(expect_source(call, model));
    HOLO_TRY(holo_search_tensor(call, inputs[model].start, 2, &start));
    if (model == ALONE) start = call->in[0];
    if (start) prompt = start->dim[1];
    HOLO_TRY(beams_init(&b, call, &inputs[model], prompt));
    HOLO_TRY(set_start(&b.s, start));
    if (model == WHISPER) HOLO_TRY(whisper_init(&b, &stamps));
    if (model == ALONE)
        HOLO_TRY(holo_decoder_init(&d, &b.s));
    else
        HOLO_TRY(holo_decoder_init_encoded(&d, &b.s, &logits));
    HOLO_TRY(give_silence(&b, logits));
    HOLO_TRY(generate(&b, &d, logits));
    return finish(&b);
}

static const int64_t whisper = WHISPER;

#define BEAMS(NAME, INPUTS, OUTPUTS, TYPES, ROW)                                                                 \
    {                                                                                                            \
        .name = NAME, .domain = "com.microsoft", .since = 1, .in_min = 2, .in_max = INPUTS, .out_min = 1,        \
        .out_max = OUTPUTS, .types = TYPES, .flags = HOLO_OP_CONTROL, .infer = holo_infer_control, .eval = eval, \
        .row = ROW                                                                                               \
    }

const HoloOp holo_ops_generate_beam[] = {
    BEAMS("BeamSearch", 12, 3, HOLO_BIT(I32) | HOLO_BIT(F32) | HOLO_BIT(F16), NULL),
    BEAMS("WhisperBeamSearch", 15, 5, HOLO_BIT(F32) | HOLO_BIT(F16), &whisper),
    {0},
};
