// matcher.h - finds the matches of compiled patterns, in time that the size of the pattern and of the text bounds.
#ifndef HOLO_TEXT_MATCHER_H
#define HOLO_TEXT_MATCHER_H

#include "base/base.h"
#include "text/tokenizer_block.h"

typedef struct HoloMatcher { // a pattern of a block that was checked
    const HoloPattern   *pattern;
    const uint8_t       *text, *second, *sets;
    const uint16_t      *first;
    const uint32_t      *start, *table;
    const HoloPatternOp *ops;
    uint32_t             columns;
} HoloMatcher;

typedef struct HoloMatching { // what a search needs beside the pattern; zero-initialize
    uint64_t *tried;          // PROGRAM: a bit for each op and place
    size_t    tried_room;
    size_t   *log; // the bits that are set
    size_t    log_count, log_room;
    uint32_t *stack;
    size_t    stack_room;
    bool      is_failed; // out of memory
} HoloMatching;
void holo_matching_deinit(HoloMatching *matching);

// The first match that begins at `from` or behind it. The text is UTF-8. False: none, or matching->is_failed.
bool holo_matcher_find(const HoloMatcher *m, HoloMatching *matching, const uint8_t *text, size_t size, size_t from,
                       size_t *out_begin, size_t *out_end);

#endif
