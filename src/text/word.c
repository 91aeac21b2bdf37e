// word.c - the tokens of one word: by the cache of words, or by the model of the vocabulary.
#include "text/tokenizer.h"

#include <string.h>

// Letters that stand for bytes: printable ones for themselves, the others by what is behind Latin-1.
// clang-format off
const uint16_t holo_byte_letters[256] = {
#define SELF4(n)  n, n + 1, n + 2, n + 3
#define SELF16(n) SELF4(n), SELF4(n + 4), SELF4(n + 8), SELF4(n + 12)
    SELF16(256), SELF16(272), 288, 33, 34, 35, SELF4(36), SELF4(40), SELF4(44), SELF16(48), SELF16(64), SELF16(80), SELF16(96),
    SELF4(112), SELF4(116), SELF4(120), 124, 125, 126, 289, SELF16(290), SELF16(306), 322, 161, 162, 163, SELF4(164), SELF4(168),
    172, 323, 174, 175, SELF16(176), SELF16(192), SELF16(208), SELF16(224), SELF16(240),
};
// clang-format on

int holo_letter_byte(uint32_t code)
{
    if ((code >= 33 && code <= 126) || (code >= 161 && code <= 255 && code != 173)) return (int)code;
    if (code >= 256 && code <= 288) return (int)code - 256;
    if (code >= 289 && code <= 322) return (int)code - 289 + 127;
    return code == 323 ? 173 : -1;
}

uint32_t holo_text_hash(const void *text, uint64_t size)
{
    const uint8_t *at = text;
    uint64_t       h  = size * UINT64_C(0x9E3779B97F4A7C15), part;
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&part, at, 8);
        h = (h ^ part) * UINT64_C(0xFF51AFD7ED558CCD);
        h ^= h >> 32;
    }
    for (part = 0; size; size--) part = part << 8 | at[size - 1];
    h = (h ^ part) * UINT64_C(0xC4CEB9FE1A85EC53);
    return (uint32_t)(h >> 32);
}

uint32_t holo_model_find(const HoloTokenizer *t, const void *text, size_t size)
{
    uint32_t mask = t->header->slots.count - 1;
    for (uint32_t at = holo_text_hash(text, size);; at++) {
        uint32_t token = t->slots[at & mask];
        if (token == HOLO_NO_TOKEN) return token;
        HoloString known = holo_token(t, token);
        if (known.size == size && !memcmp(known.data, text, size)) return token;
    }
}

static void wordpiece(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    size_t   characters = 0, first = out->count, at = 0;
    uint32_t start = 0;
    for (size_t i = 0; i < size; i++) characters += (word[i] & 0xC0) != 0x80;
    while (at < size && characters <= t->header->word_limit) {
        uint32_t node = start, found = HOLO_NO_TOKEN;
        size_t   end = at;
        for (size_t i = at; i < size && node != HOLO_NO_TOKEN; i++) {
            node = holo_trie_step(&t->trie, node, word[i]);
            if (!node) break;
            if (t->trie.node[node].token == HOLO_NO_TOKEN) continue;
            found = t->trie.node[node].token;
            end   = i + 1;
        }
        if (found == HOLO_NO_TOKEN) break;
        holo_ids_add(out, found);
        at    = end;
        start = t->header->trie_start;
    }
    if (at == size || out->is_failed) return;
    out->count = first;
    if (t->header->unknown == HOLO_NO_TOKEN)
        work->status = HOLO_BAD_INPUT;
    else
        holo_ids_add(out, t->header->unknown);
}

static void wordlevel(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    uint32_t token = holo_model_find(t, word, size);
    if (token == HOLO_NO_TOKEN) token = t->header->unknown;
    if (token == HOLO_NO_TOKEN)
        work->status = HOLO_BAD_INPUT;
    else
        holo_ids_add(out, token);
}

static void bpe(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    if (t->header->flags & HOLO_BYTE_WORDS) {
        work->word_letters.size = 0;
        for (size_t i = 0; i < size; i++) holo_growing_add_code(&work->word_letters, holo_byte_letters[word[i]]);
        word = work->word_letters.data;
        size = work->word_letters.size;
    }
    uint32_t token = t->header->flags & HOLO_IGNORE_MERGES ? holo_model_find(t, word, size) : HOLO_NO_TOKEN;
    if (token != HOLO_NO_TOKEN)
        holo_ids_add(out, token);
    else
        holo_bpe_encode(t, work, word, size, out);
}

static void (*const models[HOLO_MODELS])(const HoloTokenizer *, HoloTextWork *, const uint8_t *, size_t, HoloIds *) = {
    [HOLO_MODEL_BPE]       = bpe,
    [HOLO_MODEL_WORDPIECE] = wordpiece,
    [HOLO_MODEL_UNIGRAM]   = holo_unigram_encode,
    [HOLO_MODEL_WORDLEVEL] = wordlevel,
};

static void encode_word(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    if (size > HOLO_CACHE_KEY || !size) {
        models[t->header->model](t, work, word, size, out);
        return;
    }
    HoloCached *c     = &work->cache[holo_text_hash(word, size) % HOLO_CACHE_SLOTS];
    size_t      first = out->count;
    if (c->size == size && !memcmp(c->key, word, size)) {
        if (!holo_ids_reserve(out, HOLO_CACHE_IDS)) return;
        memcpy(out->id + first, c->id, sizeof c->id);
        out->count += c->count;
        return;
    }
    models[t->header->model](t, work, word, size, out);
    size_t count = out->count - first;
    if (work->status || out->is_failed || count > HOLO_CACHE_IDS) return;
    memcpy(c->key, word, size);
    c->size  = (uint8_t)size;
    c->count = (uint8_t)count;
    if (count) memcpy(c->id, out->id + first, count * sizeof *c->id);
}

static bool is_mark(const uint8_t *text)
{
    return text[0] == 0xE2 && text[1] == 0x96 && text[2] == 0x81;
}

// Where the word that begins the text ends: before a mark that follows something else.
static size_t cut_at_mark(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (size - at >= 3 && is_mark(text + at)) at += 3;
    while (at < size && (text[at] != 0xE2 || size - at < 3 || !is_mark(text + at))) at++;
    return at;
}

void holo_model_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    if (!(t->header->flags & HOLO_CUT_AT_MARK)) {
        encode_word(t, work, word, size, out);
        return;
    }
    for (size_t at = 0, part; at < size && !work->status; at += part) {
        part = cut_at_mark(word + at, size - at);
        encode_word(t, work, word + at, part, out);
    }
}
