// pickle_step.h - what the instructions of pickles share: the reader's state, its stack, and the form of their tables.
#ifndef HOLO_IMPORT_WIRE_PICKLE_STEP_H
#define HOLO_IMPORT_WIRE_PICKLE_STEP_H

#include "import/wire/pickle.h"

typedef struct HoloPickleReader {
    HoloArena             *arena;
    const HoloPickleInput *in;
    HoloError             *error;
    size_t                 at, begin; // begin: of the current instruction
    size_t                 steps, copies;
    HoloPickle           **stack;
    int                    count, room;
    int                   *mark; // heights of the stack
    int                    mark_count, mark_room;
    HoloPickle           **memo;
    int                    memo_count, memo_room;
    bool                   is_over;
} HoloPickleReader;

typedef struct HoloPickleArgument {
    int64_t    number;
    HoloString text, more;
} HoloPickleArgument;

// How an argument is written: a number of so many bytes; a length of so many, and a text; lines.
typedef enum HoloPickleForm {
    HOLO_PICKLE_NOTHING = 0,
    HOLO_PICKLE_NUMBER_1,
    HOLO_PICKLE_NUMBER_2,
    HOLO_PICKLE_NUMBER_4,
    HOLO_PICKLE_NUMBER_8,
    HOLO_PICKLE_SIGNED_4,
    HOLO_PICKLE_COUNTED_1,
    HOLO_PICKLE_COUNTED_4,
    HOLO_PICKLE_COUNTED_8,
    HOLO_PICKLE_LINE,
    HOLO_PICKLE_LINES_2,
} HoloPickleForm;

typedef struct HoloPickleRow {
    uint8_t code; // 0: the end of the table
    HoloStatus (*run)(HoloPickleReader *r, const HoloPickleArgument *argument, int what);
    int            what; // for `run`
    HoloPickleForm form;
} HoloPickleRow;

extern const HoloPickleRow holo_pickle_rows_plain[]; // pickle_plain.c: numbers and texts
extern const HoloPickleRow holo_pickle_rows_stack[]; // pickle_stack.c: containers, the stack, the memo
extern const HoloPickleRow holo_pickle_rows_calls[]; // pickle_calls.c: names, calls, ids

HOLO_MUST HoloStatus holo_pickle_wrong(const HoloPickleReader *r, const char *what);
HOLO_MUST HoloStatus holo_pickle_push(HoloPickleReader *r, HoloPickle *value); // NULL: no memory
HOLO_MUST HoloStatus holo_pickle_push_new(HoloPickleReader *r, HoloPickle value);
// Takes the last `count` values from the stack: they are at *out until something is pushed.
HOLO_MUST HoloStatus holo_pickle_pop(HoloPickleReader *r, int count, HoloPickle ***out);
// The same for all values behind the last mark, which goes too.
HOLO_MUST HoloStatus holo_pickle_pop_marked(HoloPickleReader *r, HoloPickle ***out, int *out_count);
HOLO_MUST HoloStatus holo_pickle_peek(HoloPickleReader *r, HoloPickle **out);
HOLO_MUST HoloStatus holo_pickle_add(HoloPickleReader *r, HoloPickle *to, HoloPickle *const *items, int count);
HOLO_MUST HoloStatus holo_pickle_make(HoloPickleReader *r, HoloPickleKind kind, HoloPickle *const *items, int count,
                                      HoloPickle **out);
// A whole number in decimal digits.
HOLO_MUST HoloStatus holo_pickle_decimal(HoloPickleReader *r, HoloString text, int64_t *out);

#endif
