// encode.c - text to ids: added tokens, normalizing, cutting into words, the model, special tokens around it all.
#include "text/tokenizer.h"

#include <string.h>

enum { TEXT_MAX = 1 << 30 };

// Text without added tokens of any kind.
static void encode_plain(const HoloTokenizer *t, HoloTextWork *work, HoloView view, bool is_first, HoloIds *out)
{
    int               which = holo_words_split(t, work, &view, is_first);
    const HoloPieces *words = &work->pieces[which];
    for (size_t i = 0; i < words->count && !work->status; i++)
        holo_model_encode(t, work, view.text + words->piece[i].start, words->piece[i].size, out);
}

// Text between the added tokens that are looked for before normalizing.
static void encode_normal(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *text, size_t size, bool is_first,
                          HoloIds *out)
{
    HoloView view = {text, size, -1};
    bool     is_cut;
    holo_normalize(t, work, &view, &is_cut);
    is_first = is_first && !is_cut;
    if (!t->header->added_normal_trie.count) {
        encode_plain(t, work, view, is_first, out);
        return;
    }
    work->inner.count = 0;
    holo_added_find(t, true, view.text, view.size, is_first, &work->inner);
    if (work->inner.count > 1 && view.buffer >= 0) { // cutting uses both buffers
        work->clean.size = 0;
        holo_growing_add(&work->clean, view.text, view.size);
        view.text   = work->clean.data;
        view.buffer = -1;
    }
    for (size_t i = 0; i < work->inner.count && !work->status && !work->clean.is_failed; i++) {
        HoloPiece p = work->inner.piece[i];
        if (p.token != HOLO_NO_TOKEN)
            holo_ids_add(out, p.token);
        else
            encode_plain(t, work, (HoloView){view.text + p.start, p.size, view.buffer}, p.is_first, out);
    }
}

// Text with the replacement character for what is not UTF-8.
static void clean_text(HoloGrowing *out, const uint8_t *text, size_t size)
{
    bool is_cut;
    out->size = 0;
    while (size) {
        size_t good = holo_utf8_valid(text, size);
        holo_growing_add(out, text, good);
        text += good;
        size -= good;
        if (!size) break;
        size_t bad = holo_utf8_bad(text, size, &is_cut);
        holo_growing_add_code(out, 0xFFFD);
        text += bad;
        size -= bad;
    }
}

static HoloStatus encode_all(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *text, size_t size,
                             uint32_t flags, HoloIds *out, HoloError *error)
{
    const HoloTokenizerHeader *h      = t->header;
    const uint32_t            *before = holo_text_span(t, h->before), *behind = holo_text_span(t, h->behind);
    if (holo_utf8_valid(text, size) != size) {
        clean_text(&work->given, text, size);
        text = work->given.data;
        size = work->given.size;
    }
    for (uint32_t i = 0; i < h->before.count && flags & HOLO_TEXT_SPECIAL; i++) holo_ids_add(out, before[i]);
    work->outer.count = 0;
    work->status      = HOLO_OK;
    holo_work_allow(work, size);
    holo_added_find(t, false, text, size, true, &work->outer);
    for (size_t i = 0; i < work->outer.count && !work->status && !holo_work_is_spoilt(work); i++) {
        HoloPiece p = work->outer.piece[i];
        if (p.token != HOLO_NO_TOKEN)
            holo_ids_add(out, p.token);
        else
            encode_normal(t, work, text + p.start, p.size, p.is_first, out);
    }
    for (uint32_t i = 0; i < h->behind.count && flags & HOLO_TEXT_SPECIAL; i++) holo_ids_add(out, behind[i]);
    if (holo_work_is_spoilt(work)) return holo_work_fail(work, error);
    if (out->is_failed || work->status == HOLO_NO_MEMORY) return holo_fail_memory(error);
    if (work->status)
        return holo_fail(error, work->status,
                         "the text has a word that the vocabulary does not have, and no token stands for unknown ones");
    return HOLO_OK;
}

HoloStatus holo_tokenizer_encode(HoloTokenizer *t, const char *text, size_t size, uint32_t flags, uint32_t **out_ids,
                                 size_t *out_count, HoloError *error)
{
    HoloIds ids = {0};
    *out_ids    = NULL;
    *out_count  = 0;
    if (size > TEXT_MAX)
        return holo_fail(error, HOLO_BAD_INPUT, "a text of %zu bytes is too long: encode it in parts below 1 GiB",
                         size);
    HoloTextWork *work = holo_work_take(t);
    if (!work || !holo_ids_reserve(&ids, size / 4 + 16)) {
        holo_work_give(t, work);
        return holo_fail_memory(error);
    }
    HoloStatus status = encode_all(t, work, (const uint8_t *)text, size, flags, &ids, error);
    holo_work_give(t, work);
    if (status) {
        holo_free(ids.id);
        return status;
    }
    *out_ids   = ids.id;
    *out_count = ids.count;
    return HOLO_OK;
}

void holo_ids_free(uint32_t *ids)
{
    holo_free(ids);
}
