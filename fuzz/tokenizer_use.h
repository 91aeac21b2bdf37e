// tokenizer_use.h - uses a tokenizer that fuzzing made: whatever it is, text goes in and comes out.
#ifndef HOLO_FUZZ_TOKENIZER_USE_H
#define HOLO_FUZZ_TOKENIZER_USE_H

#include "hologram_text.h"
#include "vocabulary/vocabulary.h"

#include <stdlib.h>
#include <string.h>

static void tokenizer_use(const void *block, size_t block_size, const char *text, size_t size)
{
    static const char fixed[] =
        "Hello, worlds!  \n\t12 345 \xC3\xA9 e\xCC\x81 \xE6\x9D\xB1\xE4\xBA\xAC <s>\xFF\xF0\x9F\x98\x80 don't ";
    HoloError      error = {0};
    HoloTokenizer *t;
    if (holo_tokenizer_open_memory(block, block_size, &t, &error)) {
        if (!error.text[0]) abort(); // a failure comes with words
        return;
    }
    for (int i = 0; i < 2; i++) {
        uint32_t  *ids   = NULL;
        size_t     count = 0, back_size = 0;
        char      *back = NULL;
        HoloStatus status =
            holo_tokenizer_encode(t, i ? fixed : text, i ? sizeof fixed - 1 : size, (uint32_t)i, &ids, &count, &error);
        for (size_t k = 0; !status && k < count; k++)
            if (ids[k] >= holo_tokenizer_count(t)) abort();
        if (!status) status = holo_tokenizer_decode(t, ids, count, (uint32_t)i, &back, &back_size, &error);
        if (!status && (back[back_size] || (back_size && !memchr(back, back[0], back_size)))) abort();
        holo_ids_free(ids);
        holo_text_free(back);
    }
    uint32_t id;
    for (uint32_t i = 0; i < holo_tokenizer_count(t) && i < 300; i++) {
        HoloString token = holo_tokenizer_token(t, i);
        if (token.data) (void)holo_tokenizer_find(t, token.data, token.size, &id);
        (void)holo_tokenizer_is_special(t, i);
    }
    holo_tokenizer_close(t);
}

// Compiles the vocabulary that begins the bytes. The text that goes through it stands behind "\n\f".
typedef HoloStatus (*VocabularyFn)(HoloArena *arena, const char *path, const void *data, size_t size,
                                   HoloVocabularyBytes *out, HoloError *error);
static inline int vocabulary_use(VocabularyFn compile, const uint8_t *data, size_t size)
{
    HoloArena           arena = {0};
    HoloError           error = {0};
    HoloVocabularyBytes block;
    size_t              end = size;
    for (size_t i = 0; i + 2 <= size && end == size; i++)
        if (!memcmp(data + i, "\n\f", 2)) end = i;
    const char *text   = end < size ? (const char *)data + end + 2 : "";
    HoloStatus  status = compile(&arena, "/no/such/folder/fuzz", data, end, &block, &error);
    if (!status) tokenizer_use(block.data, block.size, text, end < size ? size - end - 2 : 0);
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}

#endif
