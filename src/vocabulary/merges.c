// merges.c - the merges of a vocabulary that has scores alone, as SentencePiece's. See vocabulary.h.
#include "vocabulary/vocabulary.h"

#include <stdlib.h>

enum { SPLIT_MAX = 256 }; // bytes of a token that others can make: real ones are far below

static int by_score(const void *a, const void *b)
{
    double x = (*(const HoloVocabularyToken *const *)a)->score, y = (*(const HoloVocabularyToken *const *)b)->score;
    return (x < y) - (x > y);
}

// The merges that make one token; their number. `adds` is false: they are counted alone.
static size_t token_merges(HoloVocabulary *v, uint32_t id, uint32_t rank, bool adds)
{
    HoloString text  = v->token[id].text;
    size_t     count = 0;
    if (text.size > SPLIT_MAX || holo_vocabulary_find(v, text) != id) return 0;
    for (size_t at = 1; at < text.size; at++) {
        if (((uint8_t)text.data[at] & 0xC0) == 0x80) continue;
        uint32_t left = holo_vocabulary_find(v, (HoloString){text.data, at});
        if (left == HOLO_NO_TOKEN) continue;
        uint32_t right = holo_vocabulary_find(v, (HoloString){text.data + at, text.size - at});
        if (right == HOLO_NO_TOKEN) continue;
        count++;
        if (adds) holo_vocabulary_merge(v, left, right, rank, id);
    }
    return count;
}

HoloStatus holo_vocabulary_merge_by_score(HoloVocabulary *v, HoloError *error)
{
    const HoloVocabularyToken **sorted = HOLO_NEW(v->block.arena, const HoloVocabularyToken *, (size_t)v->count + 1);
    size_t                      count = 0, merges = 0;
    uint32_t                    rank = 0;
    if (!sorted) return holo_fail_memory(error);
    for (uint32_t id = 0; id < v->count; id++) {
        if (!v->token[id].text.data) continue;
        sorted[count++] = &v->token[id];
        merges += token_merges(v, id, 0, false);
    }
    qsort(sorted, count, sizeof *sorted, by_score);
    HOLO_TRY(holo_vocabulary_reserve_merges(v, merges, error));
    for (size_t i = 0; i < count; i++) {
        if (i && sorted[i]->score != sorted[i - 1]->score) rank++; // equal scores: the leftmost pair merges first
        token_merges(v, (uint32_t)(sorted[i] - v->token), rank, true);
    }
    return HOLO_OK;
}
