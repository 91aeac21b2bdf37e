// ast.h - kernels as they are written: what every front end makes, and what the JSON form holds. It has no inferred
// types, and only the grammar is checked; check.h does the rest.
//
// Nodes are in an arena, never change once made, and may be shared (a constant of a module may be in many places).
#ifndef HOLO_LANG_AST_H
#define HOLO_LANG_AST_H

#include "base/base.h"

enum {
    HOLO_LANG_DEPTH  = 100,     // how deep brackets and blocks may nest
    HOLO_LANG_HEIGHT = 400,     // height of an expression or a statement as a tree
    HOLO_LANG_BYTES  = 1 << 20, // the longest source
    HOLO_LANG_NODES  = 1 << 17, // nodes of one module
    HOLO_LANG_PARAMS = 24,      // of one kernel
    HOLO_LANG_NAME   = 80,      // characters of a name
    HOLO_LANG_BLOCK  = 1024,    // lanes of a block
};

// ---- sources and places in them

typedef struct HoloPath { // a place in a JSON text, from the inside out
    const struct HoloPath *parent;
    const char            *key; // NULL: an element of an array
    int                    index;
} HoloPath;

typedef struct HoloSourcePlace {
    uint32_t        at;   // byte of the source
    const HoloPath *path; // of JSON, instead of `at`
} HoloSourcePlace;

typedef struct HoloKernelSource {
    const char *name; // of the file, for messages
    const char *text;
    size_t      size;
} HoloKernelSource;

uint32_t holo_source_line(const HoloKernelSource *source, HoloSourcePlace place); // from 1; 0 for JSON, which has none
// Records "name:line:column: message", the line itself with a caret under the place, and `advice` (may be NULL): what
// to write instead. For JSON the path replaces line and column. Returns HOLO_BAD_MODEL.
HOLO_MUST HoloStatus holo_source_fail(const HoloKernelSource *source, HoloSourcePlace place, const char *advice,
                                      HoloError *error, const char *format, ...) __attribute__((format(printf, 5, 6)));

// ---- types

// Instead of a HoloDtype: the type variable of the kernel, and what widen() makes of it.
enum { HOLO_TYPE_VAR = 255, HOLO_TYPE_WIDE = 254 };

// By the names of the language: i8 ... u64, f16, bf16, f32, f64, bool; usize, int, float. HOLO_NONE: there is none.
HoloDtype holo_lang_type(const char *name);

// ---- nodes

// Statements and expressions: enumerator, name in the JSON form.
#define HOLO_AST_MAP(X)                  \
    X(VAR, "var")                        \
    X(LITERAL, "literal")                \
    X(BINARY, "binary_op")               \
    X(UNARY, "unary_op")                 \
    X(INDEX, "index")                    \
    X(CALL, "call")                      \
    X(CHOICE, "if_expr")                 \
    X(LET, "let")                        \
    X(ASSIGN, "assign")                  \
    X(IF, "if")                          \
    X(FOR, "for")                        \
    X(WHILE, "while")                    \
    X(RETURN, "return")                  \
    X(BREAK, "break")                    \
    X(CONTINUE, "continue")              \
    X(ARRAY, "array")                    \
    X(MAP_UNARY, "parallel_map_unary")   \
    X(MAP_BINARY, "parallel_map_binary") \
    X(REDUCE, "parallel_reduce")

typedef enum HoloAstKind {
#define X(id, name) HOLO_AST_##id,
    HOLO_AST_MAP(X)
#undef X
        HOLO_AST_KINDS
} HoloAstKind;

// Operators: enumerator, name in the JSON form, as Python and as C write them.
#define HOLO_AST_OP_MAP(X)              \
    X(ADD, "add", "+", "+")             \
    X(SUB, "sub", "-", "-")             \
    X(MUL, "mul", "*", "*")             \
    X(DIV, "div", "/", "/")             \
    X(FLOOR_DIV, "floor_div", "//", "") \
    X(MOD, "mod", "%", "%")             \
    X(POW, "pow", "**", "")             \
    X(LT, "lt", "<", "<")               \
    X(LE, "le", "<=", "<=")             \
    X(GT, "gt", ">", ">")               \
    X(GE, "ge", ">=", ">=")             \
    X(EQ, "eq", "==", "==")             \
    X(NE, "ne", "!=", "!=")             \
    X(AND, "and", "and", "&&")          \
    X(OR, "or", "or", "||")             \
    X(BIT_AND, "bit_and", "&", "&")     \
    X(BIT_OR, "bit_or", "|", "|")       \
    X(BIT_XOR, "bit_xor", "^", "^")     \
    X(SHL, "shl", "<<", "<<")           \
    X(SHR, "shr", ">>", ">>")           \
    X(TRUNC_DIV, "trunc_div", "", "")   \
    X(TRUNC_MOD, "trunc_mod", "", "")   \
    X(POS, "pos", "+", "+")             \
    X(NEG, "neg", "-", "-")             \
    X(NOT, "not", "not", "!")           \
    X(INV, "inv", "~", "~")

typedef enum HoloAstOp {
#define X(id, name, python, c) HOLO_OP_##id,
    HOLO_AST_OP_MAP(X)
#undef X
        HOLO_AST_OPS,
    HOLO_OP_UNARY_FIRST = HOLO_OP_POS,
} HoloAstOp;

extern const char *const holo_ast_kind_names[HOLO_AST_KINDS];
extern const char *const holo_ast_op_names[HOLO_AST_OPS];

typedef enum HoloLiteral { HOLO_LITERAL_INT, HOLO_LITERAL_FLOAT, HOLO_LITERAL_BOOL, HOLO_LITERAL_TEXT } HoloLiteral;

typedef struct HoloAst HoloAst;
struct HoloAst {
    uint8_t         kind;    // HoloAstKind
    uint8_t         op;      // HoloAstOp of an operator
    uint8_t         literal; // HoloLiteral
    uint8_t         dtype;   // let: as annotated, or HOLO_NONE; array: of its elements
    bool            shared;  // array: one for the block; else one for each lane
    uint16_t        height;  // of the tree below, this node included
    HoloSourcePlace place;
    // var, let: the variable; call: the function; for: its variable; array; text literal; maps, reduce: the operation
    const char *name;
    int64_t     integer; // literal int or bool
    double      number;  // literal float
    // binary, index: left/array and right/index; unary, return: a; let, assign: target (assign) and value in b;
    // choice, if, while: the condition; for: start, stop, step; array: size; maps, reduce: input(s), output, count
    const HoloAst *a, *b, *c, *d;
    const HoloAst *list;  // call: arguments; if, for, while: the body
    const HoloAst *other; // if: what else
    const HoloAst *next;  // in the list that this is part of
};

typedef struct HoloAstParam {
    const char     *name;
    uint8_t         dtype; // HoloDtype or HOLO_TYPE_VAR; HOLO_NONE: any type, in a helper
    bool            is_array;
    bool            is_const; // of C: an array that must not be written
    HoloSourcePlace place;
} HoloAstParam;

typedef struct HoloAstFunction HoloAstFunction;
struct HoloAstFunction {
    const char      *name, *doc; // doc "": none
    HoloSourcePlace  place;
    bool             is_inline; // a helper: ends with its only return
    int              param_count;
    HoloAstParam    *params;
    const char      *type_name; // of the type variable; NULL: none
    uint32_t         types;     // bit HoloDtype: the types it stands for; there is a program for each
    const char      *op_name;   // the operator that it computes, "domain::Name"; NULL: none
    const HoloAst   *lanes;     // how many lanes to launch, from scalar parameters; NULL: the first integer one
    int              block[3];  // lanes of a block in x, y and z; 0: not said
    const HoloAst   *body;
    HoloAstFunction *next;
};

typedef struct HoloAstModule {
    const HoloKernelSource *source; // borrowed
    HoloAstFunction        *functions;
    int                     function_count;
} HoloAstModule;

// The result of an operator on two whole numbers of a source. False: there is no value, or it does not fit into 64
// bits.
bool holo_literal_ints(HoloAstOp op, int64_t a, int64_t b, int64_t *out);

// ---- front ends: all give the same tree for the same kernel. `source` must outlive the module.

HOLO_MUST HoloStatus holo_parse_python(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out,
                                       HoloError *error);
HOLO_MUST HoloStatus holo_parse_c(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out,
                                  HoloError *error);
HOLO_MUST HoloStatus holo_parse_json(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out,
                                     HoloError *error);
// The JSON form, indented, with a new line at the end. NULL: no memory.
const char *holo_ast_to_json(HoloArena *arena, const HoloAstModule *module);

#endif
