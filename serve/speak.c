// speak.c - the queue of a language model: texts that go on together. See speak.h.
#include "speak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Speaker {
    HoloTextBatch *batch;    // NULL: the model cannot keep several texts apart, and continues one at a time
    HoloLanguage  *language; // of the batch, or its own
    HoloTemplate  *chat;     // NULL: there is none
    HoloTokenTree *tree;     // made by the first grammar
    Talk          *first;    // that are continued
    int            texts, count;
    Queue         *queue;
    HoloGrammar  **spent; // of texts that ended: they are closed when the step is over, which still looks at them
    int            spent_count, spent_room;
};

void speaker_destroy(Speaker *s)
{
    if (!s) return;
    holo_token_tree_destroy(s->tree);
    holo_template_close(s->chat);
    if (s->batch)
        holo_text_batch_destroy(s->batch);
    else
        holo_language_close(s->language);
    free(s->spent);
    free(s);
}

// Several texts at once if the model can, otherwise one.
static HoloStatus batch_open(Model *m, Speaker *s, HoloError *error)
{
    const Options       *o       = &m->server->options;
    HoloPool            *pool    = schedule_pool(m->server->schedule);
    HoloTextBatchOptions several = {.size = sizeof several, .places = o->texts, .context = o->context};
    HoloLanguageOptions  one     = {.size = sizeof one, .context = o->context};
    HoloError            why     = {0};
    HoloStatus           status  = holo_text_batch_create(m->holo, pool, &several, &s->batch, &why);
    s->texts                     = status ? 1 : o->texts;
    if (!status) s->language = holo_text_batch_language(s->batch);
    return status ? holo_language_open(m->holo, pool, &one, &s->language, error) : HOLO_OK;
}

static HoloStatus speaker_open(Model *m, HoloError *error)
{
    HoloString block;
    if (m->speaker) return HOLO_OK;
    Speaker   *s      = take(sizeof *s);
    HoloStatus status = batch_open(m, s, error);
    s->queue          = &m->talks;
    if (!status && holo_model_asset(m->holo, "template", &block))
        status = holo_template_open_memory(block.data, block.size, &s->chat, error);
    if (status) return speaker_destroy(s), status;
    __atomic_store_n(&m->speaker, s, __ATOMIC_RELEASE);
    return HOLO_OK;
}

void speaker_interrupt(Model *m)
{
    Speaker *s = __atomic_load_n(&m->speaker, __ATOMIC_ACQUIRE);
    if (s) holo_language_cancel(s->language); // the others go on with the next step
}

HoloLanguage *talk_language(Talk *t, HoloError *error)
{
    return speaker_open(t->model, error) ? NULL : t->model->speaker->language;
}

// ---- pieces

static char *copy_of(const void *data, size_t size)
{
    char *copy = take(size + 1);
    if (size) memcpy(copy, data, size);
    return copy;
}

static TalkBest best_of(HoloTokenizer *tokenizer, uint32_t token, float logprob)
{
    TalkBest  b     = {.token = token, .logprob = logprob};
    char     *bytes = NULL;
    HoloError error = {0};
    if (tokenizer && !holo_tokenizer_token_bytes(tokenizer, token, &bytes, &b.size, &error) && b.size) {
        b.bytes = copy_of(bytes, b.size);
    } else if (tokenizer) { // special tokens have no bytes, but a name
        HoloString name = holo_tokenizer_token(tokenizer, token);
        b.bytes         = copy_of(name.data, name.size);
        b.size          = name.size;
    }
    holo_text_free(bytes);
    return b;
}

static void piece_free(TalkPiece *p)
{
    for (size_t i = 0; i < p->best_count; i++) free(p->best[i].bytes);
    free(p->best);
    free(p->own.bytes);
    free(p->text);
    free(p);
}

static void piece_arrived(void *state)
{
    TalkPiece *p = state;
    Talk      *t = p->talk;
    if (!t->first_time) {
        t->first_time = now();
        metrics_time(t->model->metrics, STAGE_FIRST_TOKEN, t->first_time - t->exchange->began);
    }
    if (p->token != UINT32_MAX) t->model->metrics->generated_tokens++;
    if (t->piece && !t->is_given_up) t->piece(t, p);
    piece_free(p);
}

static bool each(void *state, const HoloGenerated *g)
{
    Talk          *t         = state;
    HoloTokenizer *tokenizer = holo_language_tokenizer(t->model->speaker->language);
    TalkPiece     *p         = take(sizeof *p);
    p->talk                  = t;
    p->token                 = g->token;
    p->text                  = copy_of(g->text.data, g->text.size);
    p->size                  = g->text.size;
    if (t->sampler.logprobs && g->token != UINT32_MAX) {
        p->own        = best_of(tokenizer, g->token, g->sampled.logprob);
        p->best_count = g->sampled.best_count;
        p->best       = take((p->best_count + 1) * sizeof *p->best);
        for (size_t i = 0; i < p->best_count; i++)
            p->best[i] = best_of(tokenizer, g->sampled.best[i].token, g->sampled.best[i].logprob);
    }
    loop_post(t->model->server->loop, piece_arrived, p);
    return !job_is_cancelled(&t->job);
}

// ---- a text begins

static HoloStatus prompt_make(Speaker *s, Talk *t, HoloError *error)
{
    HoloTokenizer *tokenizer = holo_language_tokenizer(s->language);
    char          *text      = NULL;
    size_t         size      = 0;
    HoloStatus     status    = HOLO_OK;
    if (t->ids) return HOLO_OK;
    bool is_chat = t->context && s->chat;
    if (t->context && !s->chat) {
        snprintf(error->text, sizeof error->text, "the model has no chat template: ask for /v1/completions");
        return error->status = HOLO_UNSUPPORTED;
    }
    if (is_chat) status = holo_template_render(s->chat, t->context, strlen(t->context), &text, &size, error);
    uint32_t *ids = NULL;
    if (!status)
        status = holo_tokenizer_encode(tokenizer, is_chat ? text : t->prompt, is_chat ? size : t->prompt_size,
                                       is_chat || t->is_raw ? 0 : HOLO_TEXT_SPECIAL, &ids, &t->id_count, error);
    if (!status) t->ids = (uint32_t *)copy_of(ids, t->id_count * sizeof *ids);
    holo_ids_free(ids);
    holo_text_free(text);
    return status;
}

static HoloStatus grammar_make(Speaker *s, Talk *t, HoloError *error)
{
    size_t          count;
    const uint32_t *ends   = holo_language_ends(s->language, &count);
    HoloStatus      status = HOLO_OK;
    if (!t->grammar) return HOLO_OK;
    if (!s->tree) status = holo_token_tree_create(holo_language_tokenizer(s->language), ends, count, &s->tree, error);
    if (!status)
        status = holo_grammar_compile(t->grammar_source, t->grammar, strlen(t->grammar), HOLO_SPACES_SOME, &t->compiled,
                                      error);
    return status ? status : holo_grammar_set_tokens(t->compiled, s->tree, error);
}

static void options_make(const Speaker *s, const Talk *t, HoloGenerateOptions *o)
{
    holo_generate_defaults(s->language, o);
    const HoloSamplerOptions *a = &t->sampler;
    HoloSamplerOptions       *b = &o->sampler;
    if (t->changes & TALK_TEMPERATURE) b->temperature = a->temperature;
    if (t->changes & TALK_TOP_P) b->top_p = a->top_p;
    if (t->changes & TALK_TOP_K) b->top_k = a->top_k;
    if (t->changes & TALK_MIN_P) b->min_p = a->min_p;
    if (t->changes & TALK_PRESENCE) b->presence_penalty = a->presence_penalty;
    if (t->changes & TALK_FREQUENCY) b->frequency_penalty = a->frequency_penalty;
    if (t->changes & TALK_REPETITION) b->repetition_penalty = a->repetition_penalty;
    b->seed       = a->seed;
    b->logprobs   = a->logprobs;
    b->best       = a->best;
    b->bias       = t->bias;
    b->bias_count = t->bias_count;
    o->max_tokens = t->max_tokens;
    o->stops      = t->stops;
    o->stop_count = t->stop_count;
    o->grammar    = t->compiled;
    o->keep_ends  = t->keep_ends;
}

// ---- a text ends

static int mean_batch(const Speaker *s, const Talk *t)
{
    HoloTextBatchState state = {0};
    if (s->batch) holo_text_batch_state(s->batch, &state);
    uint64_t runs = state.runs - t->runs, rows = state.rows - t->rows;
    return runs ? (int)((rows + runs / 2) / runs) : 1;
}

static void grammar_spend(Speaker *s, HoloGrammar *grammar)
{
    if (s->spent_count == s->spent_room) {
        s->spent_room = s->spent_room * 2 + 8;
        s->spent      = realloc(s->spent, (size_t)s->spent_room * sizeof *s->spent);
        if (!s->spent) abort();
    }
    s->spent[s->spent_count++] = grammar;
}

static void leave(Speaker *s, Talk *t, HoloStatus status)
{
    Talk **at = &s->first;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    s->count--;
    t->job.batch = mean_batch(s, t);
    holo_answer_destroy(t->answer);
    t->answer = NULL;
    if (t->compiled) grammar_spend(s, t->compiled);
    t->compiled = NULL;
    schedule_done(s->queue->schedule, &t->job, t->job.error.status ? t->job.error.status : status);
}

static void ended(void *state, const HoloTextEnded *e)
{
    Talk *t   = state;
    t->result = e->result;
    if (e->status && e->status != HOLO_CANCELLED) {
        snprintf(t->job.error.text, sizeof t->job.error.text, "%s", e->message);
        t->job.error.status = e->status;
    }
    leave(t->model->speaker, t, job_is_cancelled(&t->job) ? HOLO_CANCELLED : e->status);
}

// A text needs room for a token of its own.
static HoloStatus check_length(const Speaker *s, Talk *t, HoloError *error)
{
    int64_t context = holo_language_context(s->language);
    if (!context || t->id_count < (size_t)context) return HOLO_OK;
    t->is_too_long = true;
    snprintf(
        error->text, sizeof error->text,
        "this model's context has %lld tokens, and the prompt has %zu, which leaves no room for an answer: make the "
        "prompt shorter",
        (long long)context, t->id_count);
    return error->status = HOLO_BAD_INPUT;
}

static HoloStatus begin(Speaker *s, Talk *t, HoloError *error)
{
    HoloGenerateOptions options;
    HoloTextBatchState  before = {0};
    HoloStatus          status = prompt_make(s, t, error);
    if (!status) status = check_length(s, t, error);
    if (!status) status = grammar_make(s, t, error);
    if (status) return status;
    options_make(s, t, &options);
    if (s->batch) {
        holo_text_batch_state(s->batch, &before);
        status = holo_text_batch_add(s->batch, t->ids, t->id_count, &options, each, ended, t, &t->id, error);
    } else {
        status = holo_answer_create(s->language, t->ids, t->id_count, &options, &t->answer, error);
    }
    if (status) return status;
    t->runs  = before.runs;
    t->rows  = before.rows;
    t->next  = s->first;
    s->first = t;
    s->count++;
    return HOLO_OK;
}

// ---- steps

static void admit(Queue *q, Model *m, Talk *t)
{
    HoloStatus status = HOLO_OK;
    t->job.batch      = 1;
    if (job_is_cancelled(&t->job)) return schedule_done(q->schedule, &t->job, HOLO_CANCELLED);
    if (t->alone) {
        bool is = t->alone(t, &t->job.error);
        return schedule_done(q->schedule, &t->job,
                             is                    ? HOLO_OK
                             : t->job.error.status ? t->job.error.status
                                                   : HOLO_INTERNAL);
    }
    status = speaker_open(m, &t->job.error);
    if (!status) status = begin(m->speaker, t, &t->job.error);
    if (!status) return;
    holo_grammar_close(t->compiled);
    t->compiled = NULL;
    schedule_done(q->schedule, &t->job, status);
}

static void step_one(Speaker *s)
{
    Talk      *t      = s->first;
    bool       done   = false;
    HoloStatus status = job_is_cancelled(&t->job)
                            ? HOLO_CANCELLED
                            : holo_answer_step(t->answer, each, t, &done, &t->result, &t->job.error);
    if (status == HOLO_CANCELLED && !job_is_cancelled(&t->job))
        t->job.error = (HoloError){0}; // it was meant for another: again
    else if (status || done)
        leave(s, t, job_is_cancelled(&t->job) ? HOLO_CANCELLED : status);
}

// A step that fails ends all its texts: what failed once may fail for ever.
static void step_failed(Speaker *s, HoloStatus status, const HoloError *error)
{
    int left;
    for (Talk *t = s->first; t; t = t->next) {
        t->job.error        = *error;
        t->job.error.status = status;
        holo_text_batch_cancel(s->batch, t->id);
    }
    HoloError again = {0};
    (void)!holo_text_batch_step(s->batch, &left, &again);
}

static void step_all(Speaker *s)
{
    HoloError error = {0};
    int       left;
    if (!s->count) return;
    if (!s->batch) return step_one(s);
    for (Talk *t = s->first; t; t = t->next)
        if (job_is_cancelled(&t->job)) holo_text_batch_cancel(s->batch, t->id);
    HoloStatus status = holo_text_batch_step(s->batch, &left, &error);
    if (status && status != HOLO_CANCELLED) step_failed(s, status, &error);
}

static bool run(Queue *q, Job **jobs, int count)
{
    Model *m = q->owner;
    for (int i = 0; i < count; i++) admit(q, m, (Talk *)jobs[i]);
    if (m->speaker) {
        step_all(m->speaker);
        while (m->speaker->spent_count) holo_grammar_close(m->speaker->spent[--m->speaker->spent_count]);
    }
    return m->speaker && m->speaker->count;
}

static int places(Queue *q)
{
    const Model *m = q->owner;
    return m->speaker ? m->speaker->texts - m->speaker->count : 1;
}

static bool joins(Queue *q, const Job *a, const Job *b)
{
    (void)q, (void)a, (void)b;
    return true;
}

const QueueKind talk_queue = {.all_cores = true,
                              .runs      = 1,
                              .places    = places,
                              .joins     = joins,
                              .run       = run,
                              .hold      = queue_hold_model,
                              .release   = queue_release_model};
