// block.h - the block of a compiled tokenizer while it is written.
#ifndef HOLO_VOCABULARY_BLOCK_H
#define HOLO_VOCABULARY_BLOCK_H

#include "base/base.h"
#include "text/tokenizer_block.h"

// Lists are appended to the bytes; what has a number (patterns, steps) is kept apart until the end. All in an arena.
typedef struct HoloTokenBlock {
    HoloArena          *arena;
    HoloTokenizerHeader header;
    uint8_t            *data; // of the lists, behind the header
    size_t              size, room;
    HoloPattern        *pattern;
    int                 pattern_count, pattern_room;
    HoloTextStep       *step[3]; // normalizers, splits, decoders
    int                 step_count[3], step_room[3];
} HoloTokenBlock;

enum { HOLO_STEP_NORMALIZER, HOLO_STEP_SPLIT, HOLO_STEP_DECODER };

// Appends `count` elements of `size` bytes. The data may be NULL: zeros.
HOLO_MUST HoloStatus holo_block_add(HoloTokenBlock *block, const void *data, size_t count, size_t size,
                                    HoloTextSpan *out, HoloError *error);
HOLO_MUST HoloStatus holo_block_add_step(HoloTokenBlock *block, int which, const HoloTextStep *step, HoloError *error);
// The finished bytes, in the arena.
HOLO_MUST HoloStatus holo_block_finish(HoloTokenBlock *block, const void **out_bytes, size_t *out_size,
                                       HoloError *error);

// A double array over texts; each leads to its value. In the block.
typedef struct HoloTrieEntry {
    HoloString text;
    uint32_t   value;
} HoloTrieEntry;
HOLO_MUST HoloStatus holo_block_add_trie(HoloTokenBlock *block, HoloTrieEntry *entry, size_t count, HoloTextSpan *out,
                                         HoloError *error);

#endif
