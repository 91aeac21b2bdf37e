// pickle.h - Python's pickles, protocols 0 to 5, as a tree of values. Nothing is ever executed.
//
// A pickle is a program that may name any function of Python and call it. This reader calls nothing: a name stays a
// name, and a call is a value that has the name and the arguments. Names that the caller does not list are refused, so
// that a file that would do something else than describe data is told at once.
//
// Nothing is taken on trust. A value cannot contain itself, values are nested at most 256 deep, and the memory of the
// tree is at most about a hundred times the pickle's size. One value may be part of several others: who walks the tree must count
// its steps.
#ifndef HOLO_IMPORT_WIRE_PICKLE_H
#define HOLO_IMPORT_WIRE_PICKLE_H

#include "base/base.h"

typedef enum HoloPickleKind {
    HOLO_PICKLE_NONE = 1,
    HOLO_PICKLE_BOOL,       // integer
    HOLO_PICKLE_INT,        // integer
    HOLO_PICKLE_LONG,       // text: a whole number beyond 64 bits, its bytes, the lowest first
    HOLO_PICKLE_FLOAT,      // real
    HOLO_PICKLE_TEXT,       // text: UTF-8, as the file has it
    HOLO_PICKLE_BYTES,      // text
    HOLO_PICKLE_LIST,       // item
    HOLO_PICKLE_TUPLE,      // item
    HOLO_PICKLE_SET,        // item
    HOLO_PICKLE_DICT,       // item: a key, its value, and so on; state: attributes that it has besides, or NULL
    HOLO_PICKLE_NAME,       // text: "module.name"; row: that it is listed by
    HOLO_PICKLE_OBJECT,     // item: a NAME that was called, the TUPLE of its arguments; state: what it was built of
    HOLO_PICKLE_PERSISTENT, // item: the id of something that lies outside of the pickle
} HoloPickleKind;

typedef struct HoloPickle HoloPickle;
struct HoloPickle {
    HoloPickleKind kind;
    int32_t        height; // 1: it has no values inside
    int            count, room;
    HoloPickle   **item;
    union {
        int64_t                      integer;
        double                       real;
        const struct HoloPickleName *row; // of a NAME
    };
    HoloString  text; // borrowed from the bytes, or in the arena; not terminated
    HoloPickle *state;
};

// A name that may be in the pickle, and what a call of it gives: OBJECT, or a DICT, LIST, SET or TUPLE of the items of
// its arguments. One that ends in '*' stands for all that begin so. Python's own containers need no row.
typedef struct HoloPickleName {
    const char    *name;
    HoloPickleKind gives;
    int            what; // for the caller
} HoloPickleName;

typedef struct HoloPickleInput {
    const char           *file; // its name, for errors
    const void           *bytes;
    size_t                size;
    const HoloPickleName *names, *more; // the last row has no name; may be NULL
} HoloPickleInput;

// The value at the beginning of the bytes, which must stay; *out_used of them are its own. The rest is in the arena.
HOLO_MUST HoloStatus holo_pickle_read(HoloArena *arena, const HoloPickleInput *input, const HoloPickle **out,
                                      size_t *out_used, HoloError *error);

bool              holo_pickle_is_text(const HoloPickle *value, const char *text); // false for NULL
const HoloPickle *holo_pickle_find(const HoloPickle *dict, const char *key);      // the last of this key; NULL: none
// The arguments of a value that is a call of this name; NULL: it is not.
const HoloPickle *holo_pickle_call(const HoloPickle *value, const char *name);
// The text that a line of protocol 0 has with its escapes resolved, in the arena: 'a\x41' in quotes if `is_quoted`,
// else a\u0041 without. NULL: no memory, or *out_is_wrong.
HoloString holo_pickle_unescape(HoloArena *arena, HoloString line, bool is_quoted, bool *out_is_wrong);

#endif
