// model_bpe.c - byte pair encoding: the characters of a word, merged pair by pair, the best rank first.
#include "text/tokenizer.h"

#include <string.h>

static const HoloMerge *merge_find(const HoloTokenizer *t, uint32_t left, uint32_t right)
{
    uint32_t mask = t->header->merges.count - 1;
    if (!t->header->merges.count) return NULL;
    for (uint32_t at = holo_pair_hash(left, right);; at++) {
        const HoloMerge *m = &t->merges[at & mask];
        if (m->left == left && m->right == right) return m;
        if (m->left == HOLO_NO_TOKEN) return NULL;
    }
}

// ---- a heap of pairs, the best in front: lowest rank, then leftmost

static bool is_better(const HoloMergeable *a, const HoloMergeable *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->place < b->place);
}

static void heap_push(HoloTextWork *work, HoloMergeable candidate)
{
    if (work->heap_count == work->heap_room) {
        size_t         room = work->heap_room ? work->heap_room * 2 : 64;
        HoloMergeable *more = holo_realloc(work->heap, room * sizeof *more);
        if (!more) {
            work->status = HOLO_NO_MEMORY;
            return;
        }
        work->heap      = more;
        work->heap_room = room;
    }
    size_t at = work->heap_count++;
    for (; at && is_better(&candidate, &work->heap[(at - 1) / 2]); at = (at - 1) / 2)
        work->heap[at] = work->heap[(at - 1) / 2];
    work->heap[at] = candidate;
}

static HoloMergeable heap_pop(HoloTextWork *work)
{
    HoloMergeable *heap = work->heap, top = heap[0], last = heap[--work->heap_count];
    size_t         at = 0, count = work->heap_count;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && is_better(&heap[child + 1], &heap[child])) child++;
        if (!is_better(&heap[child], &last)) break;
        heap[at] = heap[child];
        at       = child;
    }
    heap[at] = last;
    return top;
}

static void consider(const HoloTokenizer *t, HoloTextWork *work, int32_t left)
{
    const HoloSymbol *a = left >= 0 ? &work->symbol[left] : NULL;
    if (!a || a->behind < 0) return;
    uint32_t         right = work->symbol[a->behind].token;
    const HoloMerge *m     = merge_find(t, a->token, right);
    if (m) heap_push(work, (HoloMergeable){m->rank, m->token, a->token, right, (uint32_t)left});
}

// A short word: the best pair is looked for each time.
static size_t merge_short(const HoloTokenizer *t, HoloSymbol *symbol, size_t count)
{
    const HoloMerge *pair[32];
    for (size_t i = 0; i + 1 < count; i++) pair[i] = merge_find(t, symbol[i].token, symbol[i + 1].token);
    for (;;) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i + 1 < count; i++)
            if (pair[i] && (best == SIZE_MAX || pair[i]->rank < pair[best]->rank)) best = i;
        if (best == SIZE_MAX) return count;
        symbol[best].token = pair[best]->token;
        count--;
        for (size_t i = best + 1; i < count; i++) {
            symbol[i].token = symbol[i + 1].token;
            pair[i - 1]     = pair[i];
        }
        if (best + 1 < count) pair[best] = merge_find(t, symbol[best].token, symbol[best + 1].token);
        if (best) pair[best - 1] = merge_find(t, symbol[best - 1].token, symbol[best].token);
    }
}

static void merge_long(const HoloTokenizer *t, HoloTextWork *work, size_t count)
{
    work->heap_count = 0;
    for (size_t i = 0; i < count; i++) {
        work->symbol[i].before = (int32_t)i - 1;
        work->symbol[i].behind = i + 1 < count ? (int32_t)i + 1 : -1;
    }
    for (size_t i = 0; i + 1 < count; i++) consider(t, work, (int32_t)i);
    while (work->heap_count && !work->status) {
        HoloMergeable c     = heap_pop(work);
        HoloSymbol   *left  = &work->symbol[c.place];
        HoloSymbol   *right = left->behind >= 0 ? &work->symbol[left->behind] : NULL;
        if (left->token != c.left || !right || right->token != c.right) continue; // merged meanwhile
        left->token  = c.token;
        left->behind = right->behind;
        if (right->behind >= 0) work->symbol[right->behind].before = (int32_t)c.place;
        right->token  = HOLO_NO_TOKEN;
        right->behind = -1;
        consider(t, work, left->before);
        consider(t, work, (int32_t)c.place);
    }
}

// ---- the characters of a word

typedef struct Letters {
    const HoloTokenizer *t;
    HoloTextWork        *work;
    size_t               count;
    uint32_t             unknown; // waits for more of its kind
} Letters;

static void symbol_add(Letters *l, uint32_t token)
{
    HoloTextWork *work = l->work;
    if (l->count == work->symbol_room) {
        size_t      room = work->symbol_room ? work->symbol_room * 2 : 64;
        HoloSymbol *more = holo_realloc(work->symbol, room * sizeof *more);
        if (!more || room > INT32_MAX) {
            work->status = HOLO_NO_MEMORY;
            return;
        }
        work->symbol      = more;
        work->symbol_room = room;
    }
    work->symbol[l->count++].token = token;
}

// A character that is no token: its bytes, or the unknown token, which may stand for several in a row.
static void letter_unknown(Letters *l, const uint8_t *text, size_t size)
{
    const HoloTokenizer *t       = l->t;
    bool                 has_all = t->header->flags & HOLO_BYTE_FALLBACK;
    for (size_t i = 0; i < size && has_all; i++) has_all = t->byte_tokens[text[i]] != HOLO_NO_TOKEN;
    for (size_t i = 0; i < size && has_all; i++) symbol_add(l, t->byte_tokens[text[i]]);
    if (has_all || t->header->unknown == HOLO_NO_TOKEN) return;
    if (l->unknown != HOLO_NO_TOKEN && !(t->header->flags & HOLO_FUSE_UNK)) symbol_add(l, l->unknown);
    l->unknown = t->header->unknown;
}

// The text of a character with what the vocabulary puts before and behind those inside and at the end of words.
static HoloString letter_text(Letters *l, const uint8_t *text, size_t size, bool is_first, bool is_last)
{
    const HoloTokenizerHeader *h      = l->t->header;
    HoloGrowing               *buffer = &l->work->letters;
    if ((is_first || !h->prefix.count) && (!is_last || !h->suffix.count)) return (HoloString){(const char *)text, size};
    buffer->size = 0;
    if (!is_first) holo_growing_add(buffer, holo_text_span(l->t, h->prefix), h->prefix.count);
    holo_growing_add(buffer, text, size);
    if (is_last) holo_growing_add(buffer, holo_text_span(l->t, h->suffix), h->suffix.count);
    return (HoloString){(const char *)buffer->data, buffer->size};
}

void holo_bpe_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out)
{
    Letters l = {.t = t, .work = work, .unknown = HOLO_NO_TOKEN};
    int     step;
    for (size_t at = 0; at < size && !work->status; at += (size_t)step) {
        holo_code_read(word + at, size - at, &step);
        HoloString text  = letter_text(&l, word + at, (size_t)step, !at, at + (size_t)step == size);
        uint32_t   token = holo_model_find(t, text.data, text.size);
        if (token == HOLO_NO_TOKEN) {
            letter_unknown(&l, (const uint8_t *)text.data, text.size);
            continue;
        }
        if (l.unknown != HOLO_NO_TOKEN) symbol_add(&l, l.unknown);
        l.unknown = HOLO_NO_TOKEN;
        symbol_add(&l, token);
    }
    if (l.unknown != HOLO_NO_TOKEN) symbol_add(&l, l.unknown);
    if (work->status) return;
    if (l.count <= 32) {
        size_t count = merge_short(t, work->symbol, l.count);
        for (size_t i = 0; i < count; i++) holo_ids_add(out, work->symbol[i].token);
        return;
    }
    merge_long(t, work, l.count);
    for (int32_t i = 0; i >= 0 && !work->status; i = work->symbol[i].behind) holo_ids_add(out, work->symbol[i].token);
}
