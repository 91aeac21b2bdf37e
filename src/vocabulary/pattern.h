// pattern.h - regular expressions of tokenizers, from their text to tables.
//
// The syntax is Oniguruma's, as far as tokenizers use it. Of all matches that begin at a place, the one counts that a
// backtracking matcher finds first. An expression becomes a program over classes of code points, and that a table
// (a deterministic automaton) wherever it needs to look ahead or back by one character at most.
#ifndef HOLO_VOCABULARY_PATTERN_H
#define HOLO_VOCABULARY_PATTERN_H

#include "text/tokenizer_block.h"
#include "vocabulary/block.h"

// ---- sets of code points

typedef struct HoloCodeRange {
    uint32_t first, last;
} HoloCodeRange;
typedef struct HoloCodeSet { // sorted, apart from each other; zero-initialize
    HoloCodeRange *range;
    int            count, room;
} HoloCodeSet;

// All of these are in an arena. False: out of memory.
bool holo_code_set_add(HoloArena *arena, HoloCodeSet *set, uint32_t first, uint32_t last);
bool holo_code_set_join(HoloArena *arena, HoloCodeSet *set, const HoloCodeSet *other);
bool holo_code_set_negate(HoloArena *arena, HoloCodeSet *set);
bool holo_code_set_meet(HoloArena *arena, HoloCodeSet *set, const HoloCodeSet *other);
bool holo_code_set_fold(HoloArena *arena, HoloCodeSet *set); // adds what differs by case alone
bool holo_code_set_where(HoloArena *arena, HoloCodeSet *set, bool (*is_in)(uint32_t code, int what), int what);
bool holo_code_set_has(const HoloCodeSet *set, uint32_t code);
// A property by its name, as \p{...} has it. HOLO_UNSUPPORTED: there is none of that name.
HOLO_MUST HoloStatus holo_code_set_property(HoloArena *arena, HoloString name, HoloCodeSet *out, HoloError *error);

// ---- the tree of an expression

typedef enum HoloPatternKind {
    HOLO_PATTERN_EMPTY,
    HOLO_PATTERN_SET,    // one code point of `set`
    HOLO_PATTERN_AND,    // its children one after the other
    HOLO_PATTERN_OR,     // the first of its children that leads to a match
    HOLO_PATTERN_REPEAT, // its child, `min` to `max` times (-1: any number)
    HOLO_PATTERN_EDGE, // no code point; the one behind (or before, `is_back`) is in `set`, or `at_end` and there is none
    HOLO_PATTERN_LOOK, // no code point; its child matches here (`is_back`: ends here), or does not (`is_not`)
    HOLO_PATTERN_ATOM, // its child's first match, and no other
} HoloPatternKind;

typedef struct HoloPatternNode HoloPatternNode;
struct HoloPatternNode {
    HoloPatternKind  kind;
    HoloCodeSet      set;
    int              min, max;
    bool             is_lazy, is_back, is_not, at_end;
    HoloPatternNode *child, *last, *next; // first and last child; next sibling
};

// Reads an expression; the tree is in the arena and its depth is bounded.
HOLO_MUST HoloStatus holo_pattern_parse(HoloArena *arena, HoloString text, HoloPatternNode **out, HoloError *error);

// ---- programs and tables

typedef struct HoloPatternCode { // before it lies in a block
    HoloPatternOp *op;
    int            count, room;
    HoloCodeSet   *set; // operands of ops
    int            set_count, set_room;
    uint8_t       *class_of; // of every code point
    int            class_count;
    uint8_t       *has;      // [set][class_count + 1]: the last is the end of the text
    bool           is_plain; // nothing but sets and edges: it can be a table
} HoloPatternCode;

HOLO_MUST HoloStatus holo_pattern_code(HoloArena *arena, const HoloPatternNode *root, HoloPatternCode *out,
                                       HoloError *error);
// The automaton of a plain program; *out_count 0: it would be too large.
HOLO_MUST HoloStatus holo_pattern_table(HoloArena *arena, const HoloPatternCode *code, uint32_t **out_table,
                                        int *out_count, uint32_t **out_start, HoloError *error);
// Compiles an expression into the block; *out_index is its number there.
HOLO_MUST HoloStatus holo_pattern_compile(HoloTokenBlock *block, HoloString text, uint32_t *out_index,
                                          HoloError *error);
// The same for plain text.
HOLO_MUST HoloStatus holo_pattern_compile_text(HoloTokenBlock *block, HoloString text, uint32_t *out_index,
                                               HoloError *error);

#endif
