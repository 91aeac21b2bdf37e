// added.c - tokens that were added to a vocabulary: they are found in the text before anything else is done to it.
#include "text/tokenizer.h"

// The longest added token that begins at `text`: its index. *out_size 0: none.
static uint32_t longest(const HoloTrie *trie, const uint8_t *text, size_t size, size_t *out_size)
{
    uint32_t node = 0, found = HOLO_NO_TOKEN;
    *out_size = 0;
    for (size_t i = 0; i < size; i++) {
        node = holo_trie_step(trie, node, text[i]);
        if (!node) break;
        if (trie->node[node].token == HOLO_NO_TOKEN) continue;
        found     = trie->node[node].token;
        *out_size = i + 1;
    }
    return found;
}

static bool word_before(const uint8_t *text, size_t at)
{
    int    step;
    size_t begin = at;
    if (!at) return false;
    do begin--;
    while (begin && (text[begin] & 0xC0) == 0x80);
    return holo_is_word(holo_code_read(text + begin, at - begin, &step));
}

static bool word_behind(const uint8_t *text, size_t size, size_t at)
{
    int step;
    return at < size && holo_is_word(holo_code_read(text + at, size - at, &step));
}

static size_t white_before(const uint8_t *text, size_t at)
{
    int step;
    while (at) {
        size_t begin = at;
        do begin--;
        while (begin && (text[begin] & 0xC0) == 0x80);
        if (!holo_is_white(holo_code_read(text + begin, at - begin, &step))) break;
        at = begin;
    }
    return at;
}

static size_t white_behind(const uint8_t *text, size_t size, size_t at)
{
    int step;
    while (at < size && holo_is_white(holo_code_read(text + at, size - at, &step))) at += (size_t)step;
    return at;
}

void holo_added_find(const HoloTokenizer *t, bool normal, const uint8_t *text, size_t size, bool is_first,
                     HoloPieces *out)
{
    const HoloTrie *trie   = normal ? &t->added_normal_trie : &t->added_trie;
    const bool     *begins = t->added_begins[normal];
    size_t          done   = 0, found;
    for (size_t at = 0; trie->count && at < size;) {
        while (at < size && !begins[text[at]]) at++;
        if (at == size) break;
        uint32_t index = longest(trie, text + at, size - at, &found);
        if (!found) {
            at++;
            continue;
        }
        const HoloAddedToken *added = &t->added[index];
        size_t                begin = at, end = at + found;
        at = end; // what is refused is passed over, too
        if (added->flags & HOLO_ADDED_SINGLE_WORD && (word_before(text, begin) || word_behind(text, size, end)))
            continue;
        if (added->flags & HOLO_ADDED_LSTRIP) {
            begin = white_before(text, begin);
            if (begin < done) begin = done;
        }
        if (added->flags & HOLO_ADDED_RSTRIP) end = white_behind(text, size, end);
        if (done < begin) holo_pieces_add(out, done, begin - done, HOLO_NO_TOKEN, is_first && !done);
        if (begin < end) // else the one before took all of it, as space
            holo_pieces_add(out, begin, end - begin, added->token, false);
        done = end;
    }
    if (done < size) holo_pieces_add(out, done, size - done, HOLO_NO_TOKEN, is_first && !done);
}
