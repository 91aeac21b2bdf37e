// grammar_state.c - states of a text: what the program holds, over the states of the machine.
#include "text/grammar.h"

#include <string.h>

static void list_add(HoloGrammarState *s)
{
    HoloGrammar *g = s->grammar;
    s->before      = NULL;
    s->behind      = g->states;
    if (g->states) g->states->before = s;
    g->states = s;
}

static void list_remove(HoloGrammarState *s)
{
    if (s->before)
        s->before->behind = s->behind;
    else
        s->grammar->states = s->behind;
    if (s->behind) s->behind->before = s->before;
}

static HoloStatus create(const HoloGrammarState *like, HoloGrammarState **out_state, HoloError *error)
{
    HoloGrammarState *s = holo_realloc(NULL, sizeof *s);
    *out_state          = s;
    if (!s) return holo_fail_memory(error);
    holo_mutex_lock(&like->grammar->lock);
    *s = *like;
    if (s->now == HOLO_UNKNOWN_STATE) s->now = like->grammar->start;
    list_add(s);
    holo_mutex_unlock(&like->grammar->lock);
    return HOLO_OK;
}

HoloStatus holo_grammar_state_create(HoloGrammar *grammar, HoloGrammarState **out_state, HoloError *error)
{
    HoloGrammarState like = {.grammar = grammar, .now = HOLO_UNKNOWN_STATE};
    return create(&like, out_state, error);
}

HoloStatus holo_grammar_state_copy(const HoloGrammarState *state, HoloGrammarState **out_state, HoloError *error)
{
    return create(state, out_state, error);
}

void holo_grammar_state_destroy(HoloGrammarState *s)
{
    if (!s) return;
    holo_mutex_lock(&s->grammar->lock);
    list_remove(s);
    holo_mutex_unlock(&s->grammar->lock);
    holo_free(s);
}

void holo_grammar_state_reset(HoloGrammarState *s)
{
    holo_mutex_lock(&s->grammar->lock);
    s->now      = s->grammar->start;
    s->is_ended = false;
    s->size     = 0;
    holo_mutex_unlock(&s->grammar->lock);
}

bool holo_grammar_state_is_complete(const HoloGrammarState *s)
{
    holo_mutex_lock(&s->grammar->lock);
    bool is_complete = s->grammar->machine.state[s->now].can_end;
    holo_mutex_unlock(&s->grammar->lock);
    return is_complete;
}

// ---- messages

static HoloStatus fail_bounds(HoloGrammarState *s, HoloError *error)
{
    return holo_fail(error, HOLO_UNSUPPORTED,
                     "at byte %zu the grammar has too many ways to go on, or there is too little memory for them: "
                     "make its rules less ambiguous",
                     s->size);
}

// The end of the text so far.
static HoloString shown(const HoloGrammarState *s, char out[HOLO_SHOWN_BYTES])
{
    size_t count = s->size < HOLO_SHOWN_BYTES ? s->size : HOLO_SHOWN_BYTES;
    for (size_t i = 0; i < count; i++) out[i] = (char)s->shown[(s->size - count + i) % HOLO_SHOWN_BYTES];
    return (HoloString){out, count};
}

static HoloStatus fail_byte(HoloGrammarState *s, uint8_t byte, bool is_over, HoloError *error)
{
    char       end[HOLO_SHOWN_BYTES];
    HoloString text = shown(s, end);
    if (is_over)
        return holo_fail(error, HOLO_UNSUPPORTED, "byte %zu goes deeper, or has more meanings, than a text may have",
                         s->size);
    return holo_fail(error, HOLO_BAD_INPUT, "byte %zu, '%c' (0x%02x), does not fit the grammar%s%.*s%s", s->size, byte,
                     byte, text.size ? " behind '" : "", (int)text.size, text.data, text.size ? "'" : "");
}

// ---- bytes and tokens

// Moves a state that is in the list over bytes. A long text must not grow the machine without bound.
static HoloStatus run(HoloGrammarState *s, const uint8_t *bytes, size_t size, size_t *out_fit, HoloError *error)
{
    HoloGrammar *g = s->grammar;
    for (size_t i = 0; i < size; i++) {
        if (!holo_machine_tidy(g)) return fail_bounds(s, error);
        uint32_t next = holo_machine_step(g, s->now, bytes[i]);
        if (g->machine.is_failed) return fail_bounds(s, error);
        if (holo_machine_is_dead(next)) return fail_byte(s, bytes[i], next == HOLO_MACHINE_OVER, error);
        s->now                                 = next;
        s->shown[s->size++ % HOLO_SHOWN_BYTES] = bytes[i];
        *out_fit                               = i + 1;
    }
    return HOLO_OK;
}

static HoloStatus accept(HoloGrammarState *s, const uint8_t *bytes, size_t size, size_t *out_fit, HoloError *error)
{
    HoloGrammarState moving = *s;
    *out_fit                = 0;
    if (s->is_ended && size)
        return holo_fail(error, HOLO_BAD_INPUT, "the text has ended: reset the state to begin another one");
    list_add(&moving);
    HoloStatus status = run(&moving, bytes, size, out_fit, error);
    list_remove(&moving);
    if (status) return status;
    s->now  = moving.now;
    s->size = moving.size;
    memcpy(s->shown, moving.shown, sizeof s->shown);
    return HOLO_OK;
}

HoloStatus holo_grammar_state_accept_bytes(HoloGrammarState *s, const char *bytes, size_t size, size_t *out_fit,
                                           HoloError *error)
{
    size_t ignored;
    holo_mutex_lock(&s->grammar->lock);
    HoloStatus status = accept(s, (const uint8_t *)bytes, size, out_fit ? out_fit : &ignored, error);
    holo_mutex_unlock(&s->grammar->lock);
    return status;
}

static bool is_end(const HoloTokenTree *tree, uint32_t token)
{
    for (size_t i = 0; i < tree->end_count; i++)
        if (tree->end[i] == token) return true;
    return false;
}

static HoloStatus accept_token(HoloGrammarState *s, uint32_t token, HoloError *error)
{
    const HoloTokenTree *tree = s->grammar->tree;
    char                 end[HOLO_SHOWN_BYTES];
    size_t               fit;
    if (!tree)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the grammar has no tokens: call holo_grammar_set_tokens first");
    if (token >= tree->count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "token %u does not exist: the vocabulary has %u tokens", token,
                         tree->count);
    if (!holo_machine_tidy(s->grammar)) return fail_bounds(s, error);
    if (is_end(tree, token)) {
        HoloString text = shown(s, end);
        if (!s->is_ended && !s->grammar->machine.state[s->now].can_end)
            return holo_fail(error, HOLO_BAD_INPUT, "the text may not end behind '%.*s': the grammar wants more",
                             (int)text.size, text.data);
        s->is_ended = true;
        return HOLO_OK;
    }
    HoloString bytes = holo_tree_token(tree, token);
    if (!bytes.size)
        return holo_fail(error, HOLO_BAD_INPUT, "token %u stands for no text: no grammar accepts it", token);
    return accept(s, (const uint8_t *)bytes.data, bytes.size, &fit, error);
}

HoloStatus holo_grammar_state_accept(HoloGrammarState *s, uint32_t token, HoloError *error)
{
    holo_mutex_lock(&s->grammar->lock);
    HoloStatus status = accept_token(s, token, error);
    holo_mutex_unlock(&s->grammar->lock);
    return status;
}

static HoloStatus read_mask(HoloGrammarState *s, uint64_t *out_mask, uint32_t *out_count, HoloError *error)
{
    HoloGrammar *g = s->grammar;
    char         end[HOLO_SHOWN_BYTES];
    HoloString   text = shown(s, end);
    *out_count        = 0;
    if (!g->tree)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the grammar has no tokens: call holo_grammar_set_tokens first");
    size_t words = (g->tree->count + 63) / 64;
    memset(out_mask, 0, words * sizeof *out_mask);
    if (s->is_ended) return holo_fail(error, HOLO_BAD_INPUT, "the text has ended: nothing may follow");
    const HoloMachineMask *mask = holo_machine_tidy(g) ? holo_machine_mask(g, s->now) : NULL;
    if (!mask) return fail_bounds(s, error);
    memcpy(out_mask, mask->bit, words * sizeof *out_mask);
    *out_count = mask->count;
    if (mask->count) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_INPUT,
                     "no token of the vocabulary can go on behind '%.*s' (%zu bytes of text), as the grammar wants",
                     (int)text.size, text.data, s->size);
}

HoloStatus holo_grammar_state_mask(HoloGrammarState *s, uint64_t *out_mask, uint32_t *out_count, HoloError *error)
{
    holo_mutex_lock(&s->grammar->lock);
    HoloStatus status = read_mask(s, out_mask, out_count, error);
    holo_mutex_unlock(&s->grammar->lock);
    return status;
}

// ---- what is forced

// The only byte that fits; -1: there are none or several, or the text may end.
static int only_byte(HoloGrammar *g, uint32_t state, uint32_t *out_next)
{
    int only = -1;
    if (g->machine.state[state].can_end) return -1;
    for (int b = 0; b < 256; b++) {
        uint32_t next = holo_machine_step(g, state, (uint8_t)b);
        if (holo_machine_is_dead(next)) continue;
        if (only >= 0) return -1;
        only      = b;
        *out_next = next;
    }
    return only;
}

size_t holo_grammar_state_forced(HoloGrammarState *s, char *out_bytes, size_t room)
{
    HoloGrammar *g     = s->grammar;
    size_t       count = 0;
    holo_mutex_lock(&g->lock);
    uint32_t now = holo_machine_tidy(g) && !s->is_ended ? s->now : HOLO_MACHINE_DEAD;
    for (int byte; count < room; count++) {
        byte = holo_machine_is_dead(now) ? -1 : only_byte(g, now, &now);
        if (byte < 0 || g->machine.is_failed) break;
        out_bytes[count] = (char)byte;
    }
    holo_mutex_unlock(&g->lock);
    return count;
}
