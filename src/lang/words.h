// words.h - the functions of the language, by name: one table for the checker, the importers and the documents.
#ifndef HOLO_LANG_WORDS_H
#define HOLO_LANG_WORDS_H

#include "isa/isa.h"
#include "lang/ast.h"

typedef enum HoloWordGroup {
    HOLO_GROUP_MATH,   // floats in, the same type out
    HOLO_GROUP_NUMBER, // abs, sign, min, max: any number
    HOLO_GROUP_BITS,   // of integers
    HOLO_GROUP_ID,     // where this lane is; without an argument, or with the axis
    HOLO_GROUP_LENGTH, // of an array
    HOLO_GROUP_WIDEN,  // f16 and bf16 as f32, all others as they are
    HOLO_GROUP_REDUCE, // over the lanes of the block
    HOLO_GROUP_SCAN,   // over those up to this one
    HOLO_GROUP_ATOMIC, // array, index, value: gives what was there before
    HOLO_GROUP_BARRIER,
} HoloWordGroup;

// Enumerator, name, group, number of arguments, and the instruction, or what it does with two numbers.
#define HOLO_WORD_MAP(X)                                        \
    X(EXP, "exp", MATH, 1, EXP)                                 \
    X(LOG, "log", MATH, 1, LOG)                                 \
    X(LOG2, "log2", MATH, 1, LOG2)                              \
    X(LOG10, "log10", MATH, 1, LOG10)                           \
    X(SQRT, "sqrt", MATH, 1, SQRT)                              \
    X(RSQRT, "rsqrt", MATH, 1, RSQRT)                           \
    X(SIN, "sin", MATH, 1, SIN)                                 \
    X(COS, "cos", MATH, 1, COS)                                 \
    X(TAN, "tan", MATH, 1, TAN)                                 \
    X(ASIN, "asin", MATH, 1, ASIN)                              \
    X(ACOS, "acos", MATH, 1, ACOS)                              \
    X(ATAN, "atan", MATH, 1, ATAN)                              \
    X(TANH, "tanh", MATH, 1, TANH)                              \
    X(SIGMOID, "sigmoid", MATH, 1, SIGMOID)                     \
    X(ERF, "erf", MATH, 1, ERF)                                 \
    X(FLOOR, "floor", MATH, 1, FLOOR)                           \
    X(CEIL, "ceil", MATH, 1, CEIL)                              \
    X(ROUND, "round", MATH, 1, ROUND)                           \
    X(TRUNC, "trunc", MATH, 1, TRUNC)                           \
    X(POW, "pow", MATH, 2, POW)                                 \
    X(FMA, "fma", MATH, 3, FMA)                                 \
    X(ABS, "abs", NUMBER, 1, ABS)                               \
    X(SIGN, "sign", NUMBER, 1, SIGN)                            \
    X(MIN, "min", NUMBER, 2, MIN)                               \
    X(MAX, "max", NUMBER, 2, MAX)                               \
    X(POPCOUNT, "popcount", BITS, 1, POPC)                      \
    X(CLZ, "clz", BITS, 1, CLZ)                                 \
    X(ATLAS_CLASS, "atlas_class", BITS, 1, CLASS)               \
    X(ATLAS_MIRROR, "atlas_mirror", BITS, 1, MIRROR)            \
    X(ATLAS_LABEL, "atlas_label", BITS, 1, LABEL)               \
    X(ATLAS_UNITY, "atlas_unity", BITS, 1, UNITY)               \
    X(ATLAS_DEGREE, "atlas_degree", BITS, 1, DEGREE)            \
    X(ATLAS_NEIGHBOUR, "atlas_neighbor", BITS, 2, NEIGHBOUR)    \
    X(GLOBAL_ID, "get_global_id", ID, 0, SPECIAL)               \
    X(LOCAL_ID, "local_id", ID, 0, SPECIAL)                     \
    X(BLOCK_ID, "block_id", ID, 0, SPECIAL)                     \
    X(BLOCK_DIM, "block_dim", ID, 0, SPECIAL)                   \
    X(GRID_DIM, "grid_dim", ID, 0, SPECIAL)                     \
    X(WIDEN, "widen", WIDEN, 1, CVT)                            \
    X(LEN, "len", LENGTH, 1, LENGTH)                            \
    X(BLOCK_SUM, "block_sum", REDUCE, 1, OPER_ADD)              \
    X(BLOCK_PRODUCT, "block_product", REDUCE, 1, OPER_MUL)      \
    X(BLOCK_MIN, "block_min", REDUCE, 1, OPER_MIN)              \
    X(BLOCK_MAX, "block_max", REDUCE, 1, OPER_MAX)              \
    X(SCAN_SUM, "scan_sum", SCAN, 1, OPER_ADD)                  \
    X(SCAN_MIN, "scan_min", SCAN, 1, OPER_MIN)                  \
    X(SCAN_MAX, "scan_max", SCAN, 1, OPER_MAX)                  \
    X(ATOMIC_ADD, "atomic_add", ATOMIC, 3, OPER_ADD)            \
    X(ATOMIC_MIN, "atomic_min", ATOMIC, 3, OPER_MIN)            \
    X(ATOMIC_MAX, "atomic_max", ATOMIC, 3, OPER_MAX)            \
    X(ATOMIC_AND, "atomic_and", ATOMIC, 3, OPER_AND)            \
    X(ATOMIC_OR, "atomic_or", ATOMIC, 3, OPER_OR)               \
    X(ATOMIC_XOR, "atomic_xor", ATOMIC, 3, OPER_XOR)            \
    X(ATOMIC_EXCHANGE, "atomic_exchange", ATOMIC, 3, OPER_XCHG) \
    X(BARRIER, "barrier", BARRIER, 0, BARRIER)

typedef enum HoloWord {
#define X(id, name, group, count, op) HOLO_WORD_##id,
    HOLO_WORD_MAP(X)
#undef X
        HOLO_WORDS
} HoloWord;

typedef struct HoloWordRow {
    const char *name;
    uint8_t     group; // HoloWordGroup
    int8_t      count; // of arguments
    uint16_t    op;    // HoloIsaOp; of REDUCE, SCAN and ATOMIC a HoloIsaOper
} HoloWordRow;

extern const HoloWordRow holo_words[HOLO_WORDS];

int holo_lang_word(const char *name); // HoloWord, by its name or by the name that C has for it; -1: no such
// Is it a name that a file may import: a function, a type, a mark?
bool holo_lang_is_word(const char *name);
// The nearest known name, "" where none is near.
const char *holo_lang_nearest(const char *name);

#endif
