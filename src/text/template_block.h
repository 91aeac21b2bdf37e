// template_block.h - a compiled template: one block with a syntax tree, the same wherever it lies.
//
// template_parse.c writes it, and render.c walks it. A node names others by their number, and only such with a smaller
// number: a tree that was tampered with cannot run in circles. All places are byte offsets from the beginning of the block,
// all numbers little-endian, every list aligned to 8 bytes.
#ifndef HOLO_TEXT_TEMPLATE_BLOCK_H
#define HOLO_TEXT_TEMPLATE_BLOCK_H

#include "text/tokenizer_block.h"

#define HOLO_TEMPLATE_MAGIC "HOLOTMPL"
enum { HOLO_TEMPLATE_VERSION = 1, HOLO_TEMPLATE_DEPTH = 400, HOLO_TEMPLATE_ARGS = 6 };
#define HOLO_NO_NODE UINT32_MAX

// Kinds of nodes, and what their arguments are. A letter is an argument: n a node, o a node or HOLO_NO_NODE, l the start of
// a list of nodes in `lists` and c its count, s the start of a text in `text` and z its size, v a name, i any number.
// Ids are part of the format: new kinds come behind the last one.
#define HOLO_TEMPLATE_NODE_MAP(X)                                          \
    /* statements */                                                       \
    X(TEXT, "sz")                                                          \
    X(OUTPUT, "n")                                                         \
    X(SEQUENCE, "lc")                                                      \
    X(IF, "lc")            /* condition, body, ...; perhaps a last body */ \
    X(FOR, "nnnoo")        /* target, what, body, condition, else */       \
    X(SET, "nn")           /* target, value */                             \
    X(SET_BLOCK, "nno")    /* target, body, filters of INPUT */            \
    X(MACRO, "vlcni")      /* name, PARAMs, body, HOLO_MACRO_* */          \
    X(CALL_BLOCK, "nlcni") /* CALL, PARAMs, body, HOLO_MACRO_* */          \
    X(FILTER_BLOCK, "nn")  /* body, filters of INPUT */                    \
    X(WITH, "lcn")         /* target, value, ...; body */                  \
    X(SCOPE, "n")                                                          \
    X(BREAK, "")                                                           \
    X(CONTINUE, "")                                                        \
    /* parts */                                                            \
    X(PARAM, "vo")     /* name, default */                                 \
    X(KEYWORD, "szn")  /* name, value */                                   \
    X(SPREAD, "n")     /* *list */                                         \
    X(SPREAD_ALL, "n") /* **dict */                                        \
    X(COMPARED, "n")   /* op: HoloTemplateOp; what is on the right */      \
    /* expressions */                                                      \
    X(NONE, "")                                                            \
    X(TRUE, "")                                                            \
    X(FALSE, "")                                                           \
    X(INT, "ii")   /* low and high half */                                 \
    X(FLOAT, "ii") /* low and high half of the bits */                     \
    X(STRING, "sz")                                                        \
    X(NAME, "v")                                                           \
    X(LIST, "lc")                                                          \
    X(TUPLE, "lc")                                                         \
    X(DICT, "lc")      /* key, value, ... */                               \
    X(ATTR, "nsz")     /* object, name */                                  \
    X(ITEM, "nn")      /* object, which */                                 \
    X(SLICE, "nooo")   /* object, start, stop, step */                     \
    X(CALL, "nlc")     /* function, arguments */                           \
    X(FILTER, "nszlc") /* input, name, arguments */                        \
    X(TEST, "nszlc")                                                       \
    X(NOT, "n")                                                            \
    X(NEGATIVE, "n")                                                       \
    X(POSITIVE, "n")                                                       \
    X(BINARY, "nn") /* op: HoloTemplateOp */                               \
    X(JOIN, "lc")   /* a ~ b ~ c */                                        \
    X(AND, "nn")                                                           \
    X(OR, "nn")                                                            \
    X(COMPARE, "nlc") /* first, COMPAREDs */                               \
    X(CHOOSE, "nno")  /* condition, if true, if false */                   \
    X(INPUT, "")      /* what a block of text gives to its filters */

typedef enum HoloTemplateKind {
#define X(id, args) HOLO_TN_##id,
    HOLO_TEMPLATE_NODE_MAP(X)
#undef X
        HOLO_TN_KINDS
} HoloTemplateKind;

typedef enum HoloTemplateOp {
    HOLO_TO_ADD,
    HOLO_TO_SUB,
    HOLO_TO_MUL,
    HOLO_TO_DIV,
    HOLO_TO_FLOOR_DIV,
    HOLO_TO_MOD,
    HOLO_TO_POW,
    HOLO_TO_EQ,
    HOLO_TO_NE,
    HOLO_TO_LT,
    HOLO_TO_LE,
    HOLO_TO_GT,
    HOLO_TO_GE,
    HOLO_TO_IN,
    HOLO_TO_NOT_IN,
    HOLO_TO_OPS
} HoloTemplateOp;

enum { HOLO_MACRO_VARARGS = 1, HOLO_MACRO_KWARGS = 2, HOLO_MACRO_CALLER = 4 }; // what the body of a macro uses

typedef struct HoloTemplateNode {
    uint16_t kind, op;
    uint32_t line;
    uint32_t arg[HOLO_TEMPLATE_ARGS];
} HoloTemplateNode;

typedef struct HoloTemplateHeader {
    char         magic[8];
    uint32_t     version, size; // bytes of the block
    uint32_t     root, reserved;
    HoloTextSpan nodes;    // HoloTemplateNode
    HoloTextSpan lists;    // uint32_t
    HoloTextSpan names;    // HoloTextSpan, in text: start and bytes
    HoloTextSpan text;     // bytes
    HoloTextSpan defaults; // bytes: a JSON object of variables, or nothing
} HoloTemplateHeader;

#endif
