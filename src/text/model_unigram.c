// model_unigram.c - the cut of a word into tokens whose scores add up to the most.
#include "text/tokenizer.h"

static bool best_reserve(HoloTextWork *work, size_t count)
{
    if (count <= work->best_room) return true;
    HoloBest *more = holo_realloc(work->best, count * 2 * sizeof *more);
    if (!more) return work->status = HOLO_NO_MEMORY, false;
    work->best      = more;
    work->best_room = count * 2;
    return true;
}

static void offer(HoloBest *target, double score, size_t from, uint32_t token)
{
    if (target->from == UINT32_MAX || score > target->score) *target = (HoloBest){score, (uint32_t)from, token};
}

// The best way to every place.
static void forward(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size)
{
    int step;
    for (size_t i = 0; i <= size; i++) work->best[i] = (HoloBest){0, UINT32_MAX, HOLO_NO_TOKEN};
    for (size_t at = 0; at < size; at += (size_t)step) {
        double   here     = work->best[at].score;
        uint32_t node     = 0;
        bool     has_char = false;
        holo_code_read(word + at, size - at, &step);
        for (size_t i = at; i < size; i++) {
            node = holo_trie_step(&t->trie, node, word[i]);
            if (!node) break;
            uint32_t token = t->trie.node[node].token;
            if (token == HOLO_NO_TOKEN) continue;
            offer(&work->best[i + 1], here + t->scores[token], at, token);
            has_char |= i + 1 == at + (size_t)step;
        }
        if (has_char) continue;
        if (t->header->unknown == HOLO_NO_TOKEN) {
            work->status = HOLO_BAD_INPUT;
            return;
        }
        offer(&work->best[at + (size_t)step], here + t->header->unknown_score, at, t->header->unknown);
    }
}

// One piece of the best cut: a token of the vocabulary, or what is unknown.
static void add_piece(const HoloTokenizer *t, HoloIds *out, const uint8_t *text, size_t size)
{
    uint32_t token = holo_model_find(t, text, size);
    if (token != HOLO_NO_TOKEN) {
        holo_ids_add(out, token);
        return;
    }
    bool has_all = t->header->flags & HOLO_BYTE_FALLBACK;
    for (size_t i = 0; i < size && has_all; i++) has_all = t->byte_tokens[text[i]] != HOLO_NO_TOKEN;
    for (size_t i = 0; i < size && has_all; i++) holo_ids_add(out, t->byte_tokens[text[i]]);
    if (!has_all) holo_ids_add(out, t->header->unknown);
}

void holo_unigram_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    if (!best_reserve(work, size + 1)) return;
    forward(t, work, word, size);
    if (work->status) return;
    // The way back is turned around in place: each place gets where the piece that begins there ends.
    size_t end = size, next = SIZE_MAX;
    while (end) {
        size_t from          = work->best[end].from;
        work->best[end].from = (uint32_t)(next == SIZE_MAX ? size : next);
        next                 = end;
        end                  = from;
        if (end == UINT32_MAX) return; // no text ends here: cannot be, since every character offers a way
    }
    uint32_t unknown = t->header->unknown;
    for (size_t at = 0; at < size;) {
        size_t to = next;
        while (to < size && unknown != HOLO_NO_TOKEN && work->best[to].token == unknown &&
               work->best[work->best[to].from].token == unknown)
            to = work->best[to].from;
        next = work->best[to].from;
        add_piece(t, out, word + at, to - at);
        at = to;
    }
}
