// language_read.c - reading texts: what is known of them is kept, the rest is run in chunks.
#include "text/language.h"

#include <string.h>

size_t holo_tokens_common(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    size_t most = a_count < b_count ? a_count : b_count, i = 0;
    while (i < most && a[i] == b[i]) i++;
    return i;
}

static HoloStatus read_check(const HoloLanguage *l, const HoloTextRead *read, size_t wanted, HoloError *error)
{
    if (read->text < 0 || read->text >= l->text_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no text %d: %d can be kept", read->text, l->text_count);
    if (!read->count || !wanted || wanted > read->count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "logits behind %zu of %zu tokens are wanted", wanted, read->count);
    if (l->context && read->count > (size_t)l->context)
        return holo_fail(error, HOLO_BAD_INPUT, "the text has %zu tokens, and the model can read %lld", read->count,
                         (long long)l->context);
    for (size_t i = 0; i < read->count && l->vocabulary; i++)
        if (read->tokens[i] >= l->vocabulary)
            return holo_fail(error, HOLO_BAD_INPUT, "token %u: the model knows tokens below %u", read->tokens[i],
                             l->vocabulary);
    return HOLO_OK;
}

// How many tokens of the archive's prefix the text begins with that need not be read.
static size_t prefix_common(const HoloLanguage *l, const HoloTextRead *read, size_t wanted)
{
    size_t most = read->count - wanted < l->prefix.count ? read->count - wanted : l->prefix.count, i = 0;
    if (l->restart && read->count > l->restart) return 0;
    while (i < most && holo_kept_token(&l->prefix, i) == read->tokens[i]) i++;
    return l->is_whole && i < l->prefix.count ? 0 : i;
}

static size_t known_common(const HoloLanguage *l, const HoloTextRead *read, size_t wanted)
{
    const HoloKnownText *k      = &l->text[read->text];
    size_t               common = holo_tokens_common(k->token, k->count, read->tokens, read->count);
    if (common > read->count - wanted) common = read->count - wanted;
    if (l->restart && k->count <= l->restart && read->count > l->restart) common = 0;
    // What was kept cannot be cut for the model: it begins again.
    bool is_cut = common < k->count && (l->way == HOLO_READS_PAST || l->is_whole);
    return l->way == HOLO_READS_ALL || is_cut ? 0 : common;
}

size_t holo_language_cached(const HoloLanguage *l, const HoloTextRead *read, size_t wanted)
{
    size_t common = known_common(l, read, wanted), ahead = prefix_common(l, read, wanted);
    return ahead > common ? ahead : common;
}

// Forgets what is known beyond the common beginning, and as much as has to be run again. The archive's prefix may know more.
static HoloStatus prepare(HoloLanguage *l, const HoloTextRead *read, size_t wanted, HoloError *error)
{
    HoloKnownText *k      = &l->text[read->text];
    size_t         common = known_common(l, read, wanted), ahead = prefix_common(l, read, wanted);
    k->count = common;
    if (ahead <= common) return HOLO_OK;
    holo_kept_drop(k);
    return holo_known_set(k, &l->prefix, ahead, error);
}

HoloStatus holo_language_prepare(HoloLanguage *l, const HoloTextRead *read, size_t wanted, HoloError *error)
{
    HOLO_TRY(read_check(l, read, wanted, error));
    return prepare(l, read, wanted, error);
}

HoloStatus holo_language_read_last(HoloLanguage *l, int text, const uint32_t *tokens, size_t count, size_t wanted,
                                   const float **out_logits, HoloError *error)
{
    HoloTextRead read = {.text = text, .tokens = tokens, .count = count};
    HOLO_TRY(holo_language_prepare(l, &read, wanted, error));
    HoloKnownText *k     = &l->text[text];
    bool           whole = l->way == HOLO_READS_ALL || (l->whole && count > l->whole && !k->count);
    size_t         chunk = whole ? count : (size_t)l->chunk;
    while (count - k->count > chunk && count - k->count > wanted) {
        size_t rest = count - k->count, fresh = rest - wanted < chunk ? rest - wanted : chunk;
        HOLO_TRY(holo_language_run(l, &read, 1, fresh, 1, out_logits, error));
    }
    return holo_language_run(l, &read, 1, count - k->count, wanted, out_logits, error);
}

// A model that tells its vocabulary, so that choices can be checked.
bool holo_language_chooses(const HoloLanguage *l)
{
    return l->choices >= 0 && l->vocabulary && l->way == HOLO_READS_CACHED;
}

HoloStatus holo_language_choose(HoloLanguage *l, const HoloTextRead *read, size_t wanted, const int64_t **out_tokens,
                                HoloError *error)
{
    const float *logits;
    l->is_asked       = true;
    HoloStatus status = holo_language_read_last(l, read->text, read->tokens, read->count, wanted, &logits, error);
    l->is_asked       = false;
    *out_tokens       = l->choice;
    return status;
}

HoloStatus holo_language_read_choice(HoloLanguage *l, int text, const uint32_t *tokens, size_t count,
                                     uint32_t *out_token, HoloError *error)
{
    HoloTextRead   read = {.text = text, .tokens = tokens, .count = count};
    const int64_t *choice;
    const float   *logits;
    if (holo_language_chooses(l)) {
        HOLO_TRY(holo_language_choose(l, &read, 1, &choice, error));
        *out_token = (uint32_t)choice[0];
        return HOLO_OK;
    }
    HOLO_TRY(holo_language_read(l, text, tokens, count, &logits, error));
    uint32_t best = 0; // what is not a number is never chosen
    for (uint32_t i = 1; i < l->vocabulary; i++)
        if (logits[i] > logits[best] || logits[best] != logits[best]) best = i;
    *out_token = best;
    return HOLO_OK;
}

HoloStatus holo_language_read(HoloLanguage *l, int text, const uint32_t *tokens, size_t count, const float **out_logits,
                              HoloError *error)
{
    return holo_language_read_last(l, text, tokens, count, 1, out_logits, error);
}

// ---- several texts

// The logits of the i-th text, until the next call.
static const float *logits_keep(HoloLanguage *l, int i, const float *logits)
{
    float *own = l->copy + (size_t)i * l->vocabulary;
    memcpy(own, logits, l->vocabulary * sizeof *own);
    return own;
}

// Runs those texts together that lack one token. `run` has room for all of them.
static HoloStatus read_together(HoloLanguage *l, HoloTextRead *reads, int count, HoloTextRead *run, HoloError *error)
{
    const float *logits;
    int          together = 0;
    for (int i = 0; i < count; i++)
        if (l->way == HOLO_READS_CACHED && reads[i].count - l->text[reads[i].text].count == 1)
            run[together++] = reads[i];
    if (!together) return HOLO_OK;
    HOLO_TRY(holo_language_run(l, run, together, 1, 1, &logits, error));
    for (int i = 0, k = 0; i < count && k < together; i++) {
        if (reads[i].text != run[k].text) continue;
        reads[i].logits = logits_keep(l, i, logits + (size_t)k++ * l->vocabulary);
    }
    return HOLO_OK;
}

HoloStatus holo_language_read_all(HoloLanguage *l, HoloTextRead *reads, int count, HoloError *error)
{
    const float *logits;
    for (int i = 0; i < count; i++) {
        HOLO_TRY(holo_language_prepare(l, &reads[i], 1, error));
        reads[i].logits = NULL;
        for (int k = 0; k < i; k++)
            if (reads[k].text == reads[i].text)
                return holo_fail(error, HOLO_BAD_ARGUMENT, "text %d is to be read twice at once", reads[i].text);
    }
    if (!count) return HOLO_OK;
    if (!l->vocabulary) // it is known after the first run
        HOLO_TRY(holo_language_read(l, reads[0].text, reads[0].tokens, reads[0].count, &logits, error));
    HOLO_TRY(holo_floats_grow(&l->copy, &l->copy_room, (size_t)count * l->vocabulary, error));
    HoloTextRead *run = holo_realloc(NULL, (size_t)count * sizeof *run);
    if (!run) return holo_fail_memory(error);
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < count && !status; i++) status = prepare(l, &reads[i], 1, error);
    if (!status) status = read_together(l, reads, count, run, error);
    holo_free(run);
    for (int i = 0; i < count && !status; i++) {
        if (reads[i].logits) continue;
        status = holo_language_read(l, reads[i].text, reads[i].tokens, reads[i].count, &logits, error);
        if (!status) reads[i].logits = logits_keep(l, i, logits);
    }
    return status;
}

// ---- texts as a whole

void holo_language_forget(HoloLanguage *l, int text)
{
    if (text < 0 || text >= l->text_count) return;
    l->text[text].count = 0;
    holo_kept_drop(&l->text[text]);
}

// Copies what was kept of a text from slot to slot of all states.
static HoloStatus states_copy(HoloLanguage *l, int from, int to, size_t tokens, HoloError *error)
{
    for (int i = 0; i < holo_model_state_count(l->model); i++) {
        HoloStatePart part, into;
        HOLO_TRY(holo_language_state_part(l, i, from, tokens, &part, error));
        HOLO_TRY(holo_language_state_part(l, i, to, tokens, &into, error));
        HOLO_TRY(holo_session_state_copy(l->session, i, into.at, part.at, part.size, error));
    }
    return HOLO_OK;
}

HoloStatus holo_language_copy_part(HoloLanguage *l, int from, int to, size_t count, HoloError *error)
{
    HoloKnownText *a = &l->text[from], *b = &l->text[to];
    if (from == to) return HOLO_OK;
    b->count = 0;
    holo_kept_drop(b);
    if (count > a->count) count = a->count;
    if (a->file.data) return HOLO_OK; // it was loaded and not run yet: `to` is read
    if (!count || l->way != HOLO_READS_CACHED || (l->is_whole && count < a->count)) return HOLO_OK;
    if (count > b->room) {
        uint32_t *token = holo_realloc(b->token, count * sizeof *token);
        if (!token) return holo_fail_memory(error);
        b->token = token;
        b->room  = count;
    }
    memcpy(b->token, a->token, count * sizeof *b->token);
    b->kept = a->kept;
    if (!a->kept.bytes) HOLO_TRY(states_copy(l, from, to, count, error));
    b->count = count;
    return HOLO_OK;
}

HoloStatus holo_language_copy(HoloLanguage *l, int from, int to, HoloError *error)
{
    if (from < 0 || from >= l->text_count || to < 0 || to >= l->text_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there are texts 0 to %d, and not %d or %d", l->text_count - 1, from,
                         to);
    return holo_language_copy_part(l, from, to, l->text[from].count, error);
}
