// beams.c - beam search: several continuations of a text grow at once, those with the best scores go on, and the best that ended
// is the answer. Scores and stops are those of HuggingFace's generate with num_beams, length_penalty and early_stopping.
//
// Each beam has a slot of the language model's caches. A beam that goes on in two ways is forked: its slot is copied.
#include "text/answer.h"
#include "text/sampler.h"

#include <math.h>
#include <string.h>

typedef struct Beam {
    double            score; // the sum of log-probabilities; of one that ended, divided for its length
    int               slot;
    HoloSampler      *sampler; // what it remembers; NULL once it ended
    HoloTokenLogprob *token;
    size_t            count;
} Beam;

typedef struct Way { // a beam and its next token
    double           score;
    int              beam;
    HoloTokenLogprob token;
    bool             ends;
} Way;

typedef struct Search {
    HoloAnswer *g;
    int         width, ways_most; // beams; ways that are looked at in each step
    size_t      begin, most;      // tokens of the text before, and of the answer at most
    Beam       *now, *next, *ended;
    int         now_count, ended_count;
    Way        *way;
    int         way_count;
    float      *scores; // of one beam
} Search;

// ---- memory

static void beam_free(Beam *b)
{
    holo_sampler_destroy(b->sampler);
    holo_free(b->token);
    *b = (Beam){0};
}

static HoloStatus search_open(Search *s, HoloError *error)
{
    size_t width = (size_t)s->width, vocabulary = s->g->l->vocabulary;
    s->now    = holo_realloc(NULL, width * sizeof *s->now);
    s->next   = holo_realloc(NULL, width * sizeof *s->next);
    s->ended  = holo_realloc(NULL, (width + 1) * sizeof *s->ended);
    s->way    = holo_realloc(NULL, ((size_t)s->ways_most + 1) * sizeof *s->way);
    s->scores = holo_realloc(NULL, vocabulary * sizeof *s->scores);
    if (s->now) memset(s->now, 0, width * sizeof *s->now);
    if (s->next) memset(s->next, 0, width * sizeof *s->next);
    if (s->ended) memset(s->ended, 0, (width + 1) * sizeof *s->ended);
    return s->now && s->next && s->ended && s->way && s->scores ? HOLO_OK : holo_fail_memory(error);
}

static void search_close(Search *s)
{
    for (int i = 0; i < s->width; i++) {
        if (s->now) beam_free(&s->now[i]);
        if (s->next) beam_free(&s->next[i]);
    }
    for (int i = 0; s->ended && i <= s->width; i++) beam_free(&s->ended[i]);
    holo_free(s->now);
    holo_free(s->next);
    holo_free(s->ended);
    holo_free(s->way);
    holo_free(s->scores);
}

// The tokens of a beam and one more.
static HoloStatus tokens_copy(const Beam *from, HoloTokenLogprob token, Beam *to, HoloError *error)
{
    to->token = holo_realloc(NULL, (from->count + 1) * sizeof *to->token);
    if (!to->token) return holo_fail_memory(error);
    if (from->count) memcpy(to->token, from->token, from->count * sizeof *to->token);
    to->token[from->count] = token;
    to->count              = from->count + 1;
    return HOLO_OK;
}

// ---- ways

// Log-probabilities of logits.
static void scores_make(const float *logits, uint32_t count, float *out)
{
    double top = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < count; i++)
        if (logits[i] > top) top = (double)logits[i];
    for (uint32_t i = 0; i < count; i++) sum += exp((double)logits[i] - top);
    double all = top + log(sum);
    for (uint32_t i = 0; i < count; i++) out[i] = (float)((double)logits[i] - all);
}

static bool is_end(const Search *s, uint32_t token)
{
    const HoloLanguage *l = s->g->l;
    for (size_t i = 0; i < l->end_count && !s->g->o.keep_ends; i++)
        if (l->end[i] == token) return true;
    return false;
}

// Keeps the best ways, in order; of equals those that came first.
static void way_add(Search *s, Way way)
{
    int at = s->way_count;
    while (at > 0 && s->way[at - 1].score < way.score) at--;
    if (at >= s->ways_most) return;
    memmove(s->way + at + 1, s->way + at, (size_t)(s->way_count - at) * sizeof way);
    s->way[at] = way;
    if (s->way_count < s->ways_most) s->way_count++;
}

// The ways in which a beam can go on, by the logits behind it.
static HoloStatus beam_look(Search *s, int i, const float *logits, bool is_last, HoloError *error)
{
    Beam        *b     = &s->now[i];
    HoloSampler *x     = b->sampler;
    uint32_t     first = s->g->first;
    scores_make(logits, x->vocabulary, s->scores);
    holo_sampler_take(x, s->scores);
    holo_sampler_change(x, NULL);
    if (!b->count && first < x->vocabulary) {
        way_add(s, (Way){.score = b->score,
                         .beam  = i,
                         .token = {first, s->scores[first]},
                         .ends  = is_last || is_end(s, first)});
        return HOLO_OK;
    }
    holo_candidates_best(x, (size_t)s->ways_most);
    if (x->is_failed) return holo_fail_memory(error);
    for (size_t k = 0; k < x->candidate_count; k++) {
        HoloTokenCandidate c = x->candidate[k];
        if (c.score == -INFINITY) continue;
        way_add(s, (Way){.score = b->score + (double)c.score,
                         .beam  = i,
                         .token = {c.token, s->scores[c.token]},
                         .ends  = is_last || is_end(s, c.token)});
    }
    return HOLO_OK;
}

// ---- one step

// Reads the last token of each beam in one run.
static HoloStatus beams_read(Search *s, const float **out_logits, HoloError *error)
{
    HoloLanguage *l      = s->g->l;
    HoloTextRead *reads  = holo_realloc(NULL, (size_t)s->now_count * sizeof *reads);
    size_t        size   = s->begin + s->now[0].count;
    uint32_t     *all    = holo_realloc(NULL, (size_t)s->now_count * size * sizeof *all);
    HoloStatus    status = reads && all ? HOLO_OK : holo_fail_memory(error);
    for (int i = 0; i < s->now_count && !status; i++) {
        uint32_t *token = all + (size_t)i * size;
        memcpy(token, s->g->token, s->begin * sizeof *token);
        for (size_t k = 0; k < s->now[i].count; k++) token[s->begin + k] = s->now[i].token[k].token;
        reads[i] = (HoloTextRead){.text = s->now[i].slot, .tokens = token, .count = size};
        status   = holo_language_prepare(l, &reads[i], 1, error);
        if (!status && l->text[s->now[i].slot].count + 1 != size)
            status = holo_fail(error, HOLO_INTERNAL, "a beam has lost what was kept of it");
    }
    if (!status) status = holo_language_run(l, reads, s->now_count, 1, 1, out_logits, error);
    holo_free(reads);
    holo_free(all);
    return status;
}

static double for_length(const Search *s, double score, size_t count)
{
    return score / pow((double)count, (double)s->g->o.length_penalty);
}

// Ways that end among the best `width` become answers; the best `width` answers are kept, in order.
static HoloStatus ended_add(Search *s, HoloError *error)
{
    if (s->g->o.beam_stop == HOLO_BEAMS_FIRST && s->ended_count == s->width) return HOLO_OK;
    for (int i = 0; i < s->way_count && i < s->width; i++) {
        const Beam *from = &s->now[s->way[i].beam];
        Beam        one  = {.score = for_length(s, s->way[i].score, from->count + 1)};
        int         at   = s->ended_count;
        if (!s->way[i].ends) continue;
        while (at > 0 && s->ended[at - 1].score < one.score) at--;
        if (at >= s->width) continue;
        HOLO_TRY(tokens_copy(from, s->way[i].token, &one, error));
        memmove(s->ended + at + 1, s->ended + at, (size_t)(s->ended_count - at) * sizeof one);
        s->ended[at] = one;
        if (s->ended_count < s->width)
            s->ended_count++;
        else
            beam_free(&s->ended[s->width]);
    }
    return HOLO_OK;
}

// A slot that no beam of the next step has; there is one for each beam.
static int slot_free(const Search *s, int count)
{
    for (int slot = 0;; slot++) {
        bool is_used = false;
        for (int i = 0; i < count; i++) is_used = is_used || s->next[i].slot == slot;
        if (!is_used) return slot;
    }
}

// The best ways that do not end become the beams of the next step. The first child of a beam takes its slot.
static HoloStatus beams_fork(Search *s, HoloError *error)
{
    int count = 0;
    for (int i = 0; i < s->way_count && count < s->width; i++) {
        const Way  *way  = &s->way[i];
        const Beam *from = &s->now[way->beam];
        Beam       *to   = &s->next[count];
        if (way->ends) continue;
        *to = (Beam){.score = way->score, .slot = from->slot};
        for (int k = 0; k < count; k++)
            if (s->next[k].slot == from->slot) to->slot = -1;
        HOLO_TRY(holo_sampler_fork(from->sampler, 0, &to->sampler, error));
        count++;
        HOLO_TRY(tokens_copy(from, way->token, to, error));
        HOLO_TRY(holo_sampler_accept(to->sampler, way->token.token, error));
    }
    for (int i = 0, k = 0; i < s->way_count && k < count; i++) {
        if (s->way[i].ends) continue;
        Beam *to = &s->next[k++];
        if (to->slot >= 0) continue;
        const Beam *from = &s->now[s->way[i].beam];
        to->slot         = slot_free(s, count);
        HOLO_TRY(holo_language_copy_part(s->g->l, from->slot, to->slot, s->begin + from->count, error));
    }
    for (int i = 0; i < s->now_count; i++) beam_free(&s->now[i]);
    Beam *old    = s->now;
    s->now       = s->next;
    s->next      = old;
    s->now_count = count;
    return HOLO_OK;
}

// Can another step find a better answer?
static bool goes_on(const Search *s)
{
    const HoloGenerateOptions *o       = &s->g->o;
    bool                       is_full = s->ended_count == s->width, all_end = true;
    for (int i = 0; i < s->way_count; i++) all_end = all_end && s->way[i].ends;
    if (all_end || !s->now_count || (is_full && o->beam_stop == HOLO_BEAMS_FIRST)) return false;
    if (!is_full) return true;
    bool   hopes  = o->beam_stop == HOLO_BEAMS_NEVER && o->length_penalty > 0;
    size_t length = hopes ? s->most : s->now[0].count;
    return for_length(s, s->now[0].score, length) > s->ended[s->width - 1].score;
}

static HoloStatus search_run(Search *s, const float *logits, HoloError *error)
{
    HoloAnswer *g = s->g;
    HOLO_TRY(search_open(s, error));
    HOLO_TRY(holo_sampler_fork(g->sampler, 0, &s->now[0].sampler, error));
    s->now[0].slot = g->o.text;
    s->now_count   = 1;
    for (bool more = true; more;) {
        bool is_last = s->now[0].count + 1 >= s->most;
        s->way_count = 0;
        for (int i = 0; i < s->now_count; i++)
            HOLO_TRY(beam_look(s, i, logits + (size_t)i * g->l->vocabulary, is_last, error));
        if (!s->way_count) return holo_fail(error, HOLO_BAD_INPUT, "no token is left that may come next");
        HOLO_TRY(ended_add(s, error));
        HOLO_TRY(beams_fork(s, error));
        more = goes_on(s);
        if (more) HOLO_TRY(beams_read(s, &logits, error));
    }
    return HOLO_OK;
}

// ---- the whole

static HoloStatus beams_check(const HoloAnswer *g, HoloError *error)
{
    const HoloLanguage *l = g->l;
    if (l->way != HOLO_READS_CACHED)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model has no caches, so there is no beam search: compile it from a HuggingFace folder");
    if (g->o.beams > (uint32_t)l->text_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "%u beams need as many texts, and the language model was opened with %d", g->o.beams,
                         l->text_count);
    if (g->o.grammar || g->o.lookup || g->o.text)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "beams go without a grammar and without guesses, and take all texts from 0 on");
    return HOLO_OK;
}

HoloStatus holo_answer_search(HoloAnswer *g, const float *logits, HoloTokenLogprob **out_tokens, size_t *out_count,
                              HoloError *error)
{
    size_t ends = g->l->end_count + 1;
    Search s    = {.g = g, .width = (int)g->o.beams, .begin = g->count, .most = g->o.max_tokens};
    HOLO_TRY(beams_check(g, error));
    HOLO_TRY(holo_answer_settle(g, error));
    if (ends < 2) ends = 2;
    s.ways_most = (int)ends * s.width;
    size_t room = g->l->context > (int64_t)g->count ? (size_t)g->l->context - g->count : 0;
    if (g->l->context && (!s.most || s.most > room)) s.most = room;
    if (!s.most) s.most = SIZE_MAX;
    HoloStatus status = search_run(&s, logits, error);
    Beam      *best   = s.ended_count ? &s.ended[0] : &s.now[0];
    *out_tokens       = NULL;
    if (!status) {
        *out_tokens = best->token;
        *out_count  = best->count;
        best->token = NULL;
    }
    search_close(&s);
    return status;
}
