// batch_step.c - a step of a batch of texts: the next token of each that is generated, then pieces of prompts.
//
// Texts that need the same number of tokens share a run; without guesses that is one token each. A prompt is read in pieces, so
// that the others wait for a piece and not for the prompt. One prompt is read at a time, in the order in which they came: so the
// next finds all that the one before has read, if it begins alike.
#include "text/batch.h"

#include "base/files.h"

static bool is_generated(const HoloBatchText *t)
{
    return t->place >= 0 && t->answer->is_begun && !t->is_over;
}

// A failure of the whole step, and not of one text.
static bool is_shared(HoloStatus status)
{
    return status == HOLO_CANCELLED || status == HOLO_NO_MEMORY || status == HOLO_BUSY;
}

// Takes what comes of the logits. A failure ends the text.
static void logits_give(HoloTextBatch *b, HoloBatchText *t, const float *logits)
{
    HoloError  why    = {0};
    HoloStatus status = holo_answer_take(t->answer, logits, t->began, &why);
    t->began          = holo_time_now();
    if (status)
        holo_batch_end(t, status, &why);
    else if (t->answer->is_done)
        holo_batch_end(t, HOLO_OK, NULL);
    b->place[t->place].used = ++b->clock;
}

// ---- texts that are generated

// Runs the first `count` rows that were gathered, which need the same number of tokens each.
static HoloStatus rows_run(HoloTextBatch *b, int count, size_t fresh, size_t wanted, HoloError *error)
{
    const float *logits;
    HOLO_TRY(holo_language_run(b->l, b->read, count, fresh, wanted, &logits, error));
    b->count.runs++;
    b->count.rows += (uint64_t)count;
    for (int i = 0; i < count; i++)
        if (!b->row[i]->is_over) logits_give(b, b->row[i], logits + (size_t)i * wanted * b->l->vocabulary);
    return HOLO_OK;
}

// What the text needs next, and how many of these tokens are to be run. A failure ends it.
static bool row_want(HoloTextBatch *b, HoloBatchText *t, HoloTextRead *out_read, size_t *out_fresh, size_t *out_wanted)
{
    HoloError  why    = {0};
    HoloStatus status = holo_answer_want(t->answer, out_read, out_wanted, &why);
    if (!status) status = holo_language_prepare(b->l, out_read, *out_wanted, &why);
    if (status) return holo_batch_end(t, status, &why), false;
    *out_fresh = out_read->count - b->l->text[t->place].count;
    return true;
}

// Each round takes the first text that is left, and all that need as many tokens as it does.
static HoloStatus generated_run(HoloTextBatch *b, HoloError *error)
{
    uint64_t round = b->clock; // places used since then are done
    for (;;) {
        size_t fresh = 0, wanted = 0;
        int    count = 0;
        for (HoloBatchText *t = b->first; t; t = t->next) {
            size_t needs, wants;
            if (!is_generated(t) || b->place[t->place].used > round) continue;
            if (!row_want(b, t, &b->read[count], &needs, &wants)) continue;
            if (count && (needs != fresh || wants != wanted)) continue;
            fresh           = needs;
            wanted          = wants;
            b->row[count++] = t;
        }
        if (!count) return HOLO_OK;
        HOLO_TRY(rows_run(b, count, fresh, wanted, error));
    }
}

// ---- prompts

// The place that was left first, of those that are free; -1: none is.
static int place_free(const HoloTextBatch *b)
{
    int found = -1;
    for (int i = 0; i < b->places; i++)
        if (!b->place[i].who && (found < 0 || b->place[i].used < b->place[found].used)) found = i;
    return found;
}

// The place whose text has most in common with the prompt.
static int place_alike(const HoloTextBatch *b, const HoloAnswer *a, size_t *out_common)
{
    int found   = -1;
    *out_common = 0;
    for (int i = 0; i < b->places; i++) {
        const HoloKnownText *k      = &b->l->text[i];
        size_t               common = holo_tokens_common(k->token, k->count, a->token, a->count - 1);
        if (common <= *out_common || (b->l->is_whole && common < k->count)) continue;
        *out_common = common;
        found       = i;
    }
    return found;
}

// Gives the text a place. A text that goes on where another ended takes its place; otherwise what they have in common is copied.
static HoloStatus place_take(HoloTextBatch *b, HoloBatchText *t, int place, HoloError *error)
{
    HoloAnswer *a = t->answer;
    size_t      common;
    int         alike = place_alike(b, a, &common);
    if (alike >= 0 && !b->place[alike].who && common == b->l->text[alike].count)
        place = alike;
    else if (alike >= 0 && alike != place)
        HOLO_TRY(holo_language_copy_part(b->l, alike, place, common, error));
    b->place[place] = (HoloBatchPlace){.who = t, .used = ++b->clock};
    t->place        = place;
    a->o.text       = place;
    t->began        = holo_time_now();
    HoloTextRead read;
    size_t       wanted;
    HOLO_TRY(holo_answer_want(a, &read, &wanted, error));
    b->count.prompt_tokens += a->count;
    b->count.cached_tokens += a->result.cached_tokens;
    return HOLO_OK;
}

// The text whose prompt is read now; NULL: there is none, or no place for it.
static HoloStatus reader_find(HoloTextBatch *b, HoloBatchText **out, HoloError *error)
{
    HoloBatchText *t = b->first;
    while (t && (t->is_over || t->answer->is_begun)) t = t->next;
    int place = t && t->place < 0 ? place_free(b) : -1;
    *out      = t && (t->place >= 0 || place >= 0) ? t : NULL;
    return *out && t->place < 0 ? place_take(b, t, place, error) : HOLO_OK;
}

// Reads a piece of a prompt, at most *budget tokens; behind the last piece the first token is chosen.
static HoloStatus piece_read(HoloTextBatch *b, HoloBatchText *t, size_t *budget, HoloError *error)
{
    HoloLanguage *l     = b->l;
    HoloAnswer   *a     = t->answer;
    HoloTextRead  read  = {.text = t->place, .tokens = a->token, .count = a->count};
    size_t        known = holo_language_cached(l, &read, 1), rest = a->count - known;
    bool          whole = l->whole && a->count > l->whole; // it cannot be read in pieces
    const float  *logits;
    if (rest > *budget && !whole) rest = *budget;
    *budget -= rest < *budget ? rest : *budget;
    HOLO_TRY(holo_language_read(l, t->place, a->token, known + rest, &logits, error));
    if (known + rest == a->count) logits_give(b, t, logits);
    return HOLO_OK;
}

static HoloStatus prompts_read(HoloTextBatch *b, HoloError *error)
{
    size_t budget = (size_t)b->l->chunk; // nobody waits
    for (const HoloBatchText *t = b->first; t; t = t->next)
        if (is_generated(t)) budget = (size_t)b->chunk;
    while (budget) {
        HoloBatchText *t;
        HoloError      why    = {0};
        HoloStatus     status = reader_find(b, &t, &why);
        if (!t) return HOLO_OK;
        if (!status) status = piece_read(b, t, &budget, &why);
        if (is_shared(status)) return holo_fail(error, status, "%s", why.text);
        if (status) holo_batch_end(t, status, &why);
    }
    return HOLO_OK;
}

HoloStatus holo_text_batch_step(HoloTextBatch *b, int *out_left, HoloError *error)
{
    *out_left = 0;
    holo_batch_sweep(b); // those that were cancelled leave their places
    HoloStatus status = generated_run(b, error);
    if (!status) status = prompts_read(b, error);
    holo_batch_sweep(b);
    for (const HoloBatchText *t = b->first; t; t = t->next) *out_left += 1;
    return status;
}
