// words.h - the functions of the language, by name: one table for the checker, the importers and the documents.
#ifndef HOLO_LANG_WORDS_H
#define HOLO_LANG_WORDS_H

#include "lang/ast.h"

typedef enum HoloWordGroup {
    HOLO_GROUP_MATH,   // floats in, the same type out
    HOLO_GROUP_NUMBER, // abs, min, max: any number
    HOLO_GROUP_ID,     // where this lane is
    HOLO_GROUP_REDUCE, // over the lanes of the block
    HOLO_GROUP_ATOMIC, // array, index, value: gives what was there before
    HOLO_GROUP_BARRIER,
} HoloWordGroup;

#define HOLO_WORD_MAP(X)                         \
    X(EXP, "exp", MATH, 1)                       \
    X(LOG, "log", MATH, 1)                       \
    X(LOG2, "log2", MATH, 1)                     \
    X(LOG10, "log10", MATH, 1)                   \
    X(SQRT, "sqrt", MATH, 1)                     \
    X(RSQRT, "rsqrt", MATH, 1)                   \
    X(SIN, "sin", MATH, 1)                       \
    X(COS, "cos", MATH, 1)                       \
    X(TAN, "tan", MATH, 1)                       \
    X(TANH, "tanh", MATH, 1)                     \
    X(SIGMOID, "sigmoid", MATH, 1)               \
    X(ERF, "erf", MATH, 1)                       \
    X(FLOOR, "floor", MATH, 1)                   \
    X(CEIL, "ceil", MATH, 1)                     \
    X(ROUND, "round", MATH, 1)                   \
    X(TRUNC, "trunc", MATH, 1)                   \
    X(POW, "pow", MATH, 2)                       \
    X(FMA, "fma", MATH, 3)                       \
    X(ABS, "abs", NUMBER, 1)                     \
    X(MIN, "min", NUMBER, 2)                     \
    X(MAX, "max", NUMBER, 2)                     \
    X(GLOBAL_ID, "get_global_id", ID, 0)         \
    X(LOCAL_ID, "local_id", ID, 0)               \
    X(BLOCK_ID, "block_id", ID, 0)               \
    X(BLOCK_DIM, "block_dim", ID, 0)             \
    X(GRID_DIM, "grid_dim", ID, 0)               \
    X(BLOCK_SUM, "block_sum", REDUCE, 1)         \
    X(BLOCK_PRODUCT, "block_product", REDUCE, 1) \
    X(BLOCK_MIN, "block_min", REDUCE, 1)         \
    X(BLOCK_MAX, "block_max", REDUCE, 1)         \
    X(ATOMIC_ADD, "atomic_add", ATOMIC, 3)       \
    X(ATOMIC_MIN, "atomic_min", ATOMIC, 3)       \
    X(ATOMIC_MAX, "atomic_max", ATOMIC, 3)       \
    X(BARRIER, "barrier", BARRIER, 0)

typedef enum HoloWord {
#define X(id, name, group, count) HOLO_WORD_##id,
    HOLO_WORD_MAP(X)
#undef X
        HOLO_WORDS
} HoloWord;

typedef struct HoloWordRow {
    const char *name;
    uint8_t     group; // HoloWordGroup
    int8_t      count; // of arguments
} HoloWordRow;

extern const HoloWordRow holo_words[HOLO_WORDS];

int holo_lang_word(const char *name); // HoloWord, by its name or by the name that C has for it; -1: no such
// Is it a name that a file may import: a function, a type, a mark?
bool holo_lang_is_word(const char *name);
// The nearest known name, "" where none is near.
const char *holo_lang_nearest(const char *name);

#endif
