// regex_parse.h - the tree of a regular expression, between its parser and its compiler.
#ifndef HOLO_OPS_REGEX_PARSE_H
#define HOLO_OPS_REGEX_PARSE_H

#include "base/base.h"

typedef enum HoloRegexKind {
    HOLO_REGEX_SET,    // one code point of set `set`
    HOLO_REGEX_AND,    // its children one after the other
    HOLO_REGEX_OR,     // one of its children
    HOLO_REGEX_REPEAT, // its child, `min` to `max` times
    HOLO_REGEX_AT,     // no code point, at a place of kind `at`
} HoloRegexKind;

typedef enum HoloRegexPlace {
    HOLO_REGEX_TEXT_BEGIN,
    HOLO_REGEX_TEXT_END,
    HOLO_REGEX_LINE_BEGIN,
    HOLO_REGEX_LINE_END,
    HOLO_REGEX_WORD_EDGE,
    HOLO_REGEX_NO_WORD_EDGE,
} HoloRegexPlace;

typedef struct HoloRegexNode HoloRegexNode;
struct HoloRegexNode {
    HoloRegexKind  kind;
    int            set, min, max; // max -1: no limit
    HoloRegexPlace at;
    HoloRegexNode *child, *last, *next; // first and last child; next sibling
};

typedef struct HoloRegexRange {
    uint32_t first, last;
} HoloRegexRange;

typedef struct HoloRegexSet { // of code points
    int  start, count;        // in ranges
    bool negated;
    bool folded; // whatever the case
} HoloRegexSet;

typedef struct HoloRegexTree {
    HoloRegexNode  *root;
    HoloRegexSet   *sets;
    HoloRegexRange *ranges;
    int             set_count, range_count;
} HoloRegexTree;

// Reads a pattern; the tree is in the arena. Its depth is bounded.
HOLO_MUST HoloStatus holo_regex_parse(HoloArena *arena, HoloString pattern, HoloRegexTree *out, HoloError *error);

#endif
