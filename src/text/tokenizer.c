// tokenizer.c - opening and closing tokenizers, their vocabulary, and the memory of their work.
#include "text/tokenizer.h"

#include <string.h>

HoloStatus holo_tokenizer_open_memory(const void *block, size_t size, HoloTokenizer **out_tokenizer, HoloError *error)
{
    *out_tokenizer       = NULL;
    HoloTokenizer *t     = holo_realloc(NULL, sizeof *t);
    uint8_t       *owned = holo_realloc(NULL, size + 8);
    if (!t || !owned) {
        holo_free(t);
        holo_free(owned);
        return holo_fail_memory(error);
    }
    *t       = (HoloTokenizer){.is_busy = ATOMIC_FLAG_INIT};
    t->owned = owned;
    if (size) memcpy(owned, block, size);
    HoloStatus status = holo_tokenizer_view(owned, size, t, error);
    if (status) {
        holo_tokenizer_close(t);
        return status;
    }
    *out_tokenizer = t;
    return HOLO_OK;
}

void holo_tokenizer_close(HoloTokenizer *t)
{
    if (!t) return;
    holo_work_destroy(t->work);
    holo_free(t->matcher);
    holo_free(t->owned);
    holo_free(t);
}

const void *holo_tokenizer_block(const HoloTokenizer *t, size_t *out_size)
{
    *out_size = t->header->size;
    return t->block;
}

// ---- the vocabulary

uint32_t holo_tokenizer_count(const HoloTokenizer *t)
{
    return t->header->token_count;
}

HoloString holo_tokenizer_token(const HoloTokenizer *t, uint32_t id)
{
    if (id >= t->header->token_count || !(t->token_flags[id] & HOLO_TOKEN_IS)) return (HoloString){0};
    return holo_token(t, id);
}

bool holo_tokenizer_is_special(const HoloTokenizer *t, uint32_t id)
{
    return id < t->header->token_count && t->token_flags[id] & HOLO_TOKEN_SPECIAL;
}

bool holo_tokenizer_find(const HoloTokenizer *t, const char *text, size_t size, uint32_t *out_id)
{
    for (uint32_t i = 0; i < t->header->added.count; i++) {
        HoloString known = holo_token(t, t->added[i].token);
        if (known.size == size && !memcmp(known.data, text, size)) return *out_id = t->added[i].token, true;
    }
    *out_id = holo_model_find(t, text, size);
    return *out_id != HOLO_NO_TOKEN;
}

// ---- lists that grow

void holo_pieces_add(HoloPieces *pieces, size_t start, size_t size, uint32_t token, bool is_first)
{
    if (pieces->count == pieces->room) {
        size_t     room = pieces->room ? pieces->room * 2 : 64;
        HoloPiece *more = holo_realloc(pieces->piece, room * sizeof *more);
        if (!more) {
            pieces->is_failed = true;
            return;
        }
        pieces->piece = more;
        pieces->room  = room;
    }
    pieces->piece[pieces->count++] = (HoloPiece){start, size, token, is_first};
}

void holo_pieces_deinit(HoloPieces *pieces)
{
    holo_free(pieces->piece);
    *pieces = (HoloPieces){0};
}

bool holo_ids_reserve(HoloIds *ids, size_t more)
{
    size_t room = ids->room ? ids->room : 64;
    if (ids->room - ids->count >= more) return true;
    while (room - ids->count < more) room *= 2;
    uint32_t *id = holo_realloc(ids->id, room * sizeof *id);
    if (!id) return ids->is_failed = true, false;
    ids->id   = id;
    ids->room = room;
    return true;
}

// ---- work

static HoloTextWork *work_create(void)
{
    HoloTextWork *work = holo_realloc(NULL, sizeof *work);
    if (!work) return NULL;
    *work       = (HoloTextWork){0};
    work->cache = holo_realloc(NULL, HOLO_CACHE_SLOTS * sizeof *work->cache);
    if (!work->cache) {
        holo_work_destroy(work);
        return NULL;
    }
    memset(work->cache, 0, HOLO_CACHE_SLOTS * sizeof *work->cache);
    HoloGrowing *buffers[] = {&work->given, &work->clean, &work->text[0], &work->text[1]};
    for (int i = 0; i < HOLO_COUNT(buffers); i++)
        if (!holo_growing_reserve(buffers[i], 1)) { // so that places in an empty text are places
            holo_work_destroy(work);
            return NULL;
        }
    return work;
}

void holo_work_destroy(HoloTextWork *work)
{
    if (!work) return;
    HoloGrowing *buffers[] = {&work->given,   &work->clean,   &work->text[0],
                              &work->text[1], &work->letters, &work->word_letters};
    HoloPieces  *pieces[]  = {&work->outer, &work->inner, &work->pieces[0], &work->pieces[1]};
    for (int i = 0; i < HOLO_COUNT(buffers); i++) holo_growing_deinit(buffers[i]);
    for (int i = 0; i < HOLO_COUNT(pieces); i++) holo_pieces_deinit(pieces[i]);
    holo_matching_deinit(&work->matching);
    holo_free(work->symbol);
    holo_free(work->heap);
    holo_free(work->best);
    holo_free(work->cache);
    holo_free(work);
}

HoloTextWork *holo_work_take(HoloTokenizer *t)
{
    if (atomic_flag_test_and_set_explicit(&t->is_busy, memory_order_acquire)) return work_create();
    if (!t->work) t->work = work_create();
    if (!t->work) atomic_flag_clear_explicit(&t->is_busy, memory_order_release);
    return t->work;
}

bool holo_work_is_spoilt(const HoloTextWork *work)
{
    bool spoilt = work->matching.is_failed || work->given.is_failed || work->clean.is_failed ||
                  work->letters.is_failed || work->word_letters.is_failed;
    for (int i = 0; i < 2; i++) spoilt |= work->text[i].is_failed || work->pieces[i].is_failed;
    return spoilt || work->outer.is_failed || work->inner.is_failed;
}

HoloStatus holo_work_fail(const HoloTextWork *work, HoloError *error)
{
    if (work->text[0].is_over || work->text[1].is_over)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the tokenizer makes a text more than %d times longer, which is too much", HOLO_TEXT_GROWTH);
    return holo_fail_memory(error);
}

void holo_work_allow(HoloTextWork *work, size_t text_bytes)
{
    bool fits  = text_bytes <= (SIZE_MAX / 4 - HOLO_TEXT_ROOM) / HOLO_TEXT_GROWTH;
    work->room = fits ? text_bytes * HOLO_TEXT_GROWTH + HOLO_TEXT_ROOM : SIZE_MAX / 4;
}

void holo_work_begin(HoloTextWork *work, HoloGrowing *out, size_t from)
{
    out->size = 0;
    out->most = from < SIZE_MAX / 4 ? work->room + from + 1 : SIZE_MAX / 2;
}

void holo_work_end(HoloTextWork *work, const HoloGrowing *out, size_t from)
{
    size_t more = out->size > from ? out->size - from : 0;
    work->room -= more < work->room ? more : work->room;
}

void holo_work_give(HoloTokenizer *t, HoloTextWork *work)
{
    if (!work) return;
    if (work != t->work) {
        holo_work_destroy(work);
        return;
    }
    if (holo_work_is_spoilt(work)) {
        holo_work_destroy(work);
        t->work = NULL;
    }
    atomic_flag_clear_explicit(&t->is_busy, memory_order_release);
}
