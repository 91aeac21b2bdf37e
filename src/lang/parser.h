// parser.h - what the parsers of Python and C share: walking over tokens, making nodes. Both refuse sources that are
// nested too deeply or too large, so code that walks the tree may use recursion.
#ifndef HOLO_LANG_PARSER_H
#define HOLO_LANG_PARSER_H

#include "lang/lexer.h"

typedef struct HoloParserConstant { // a name of the module for an expression of literals
    const char                      *name;
    const HoloAst                   *value;
    const struct HoloParserConstant *next;
} HoloParserConstant;

typedef struct HoloParser {
    HoloArena                *arena;
    const HoloKernelSource   *source;
    HoloError                *error;
    const HoloToken          *token; // the next word
    const HoloPath           *path;  // of JSON: where the reader is
    int                       depth, nodes, names;
    const HoloParserConstant *constants;
    const char               *type_name; // the type variable of the module; NULL: none
    uint32_t                  types;
    const char              **declared; // names of variables of the function so far
    int                       declared_count, declared_room;
} HoloParser;

typedef struct HoloAstList { // statements or arguments, in order
    HoloAst *first, *last;
} HoloAstList;

typedef struct HoloParserOp { // of one of the languages
    const char *mark;
    HoloAstOp   op;
    int         rank; // the higher, the more tightly it binds
} HoloParserOp;

HOLO_MUST HoloStatus holo_parser_open(HoloParser *p, HoloLexStyle style);
// Fails at the next token; for JSON, where the reader is.
HOLO_MUST HoloStatus holo_parser_fail(HoloParser *p, const char *advice, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
HOLO_MUST HoloStatus holo_parser_deeper(HoloParser *p); // pair it with p->depth--

bool holo_parser_is(const HoloParser *p, const char *text); // the next word is this name or mark
bool holo_parser_accept(HoloParser *p, const char *text);
// The next word is the mark of one of these operators of that rank.
bool holo_parser_is_op(const HoloParser *p, const HoloParserOp *ops, int count, int rank, HoloAstOp *out);
// `what` ends the sentence "... is expected here".
HOLO_MUST HoloStatus holo_parser_expect(HoloParser *p, const char *text, const char *advice);
HOLO_MUST HoloStatus holo_parser_name(HoloParser *p, const char *what, const char **out);

// Is it "widen(T)", of the type variable? It is then HOLO_TYPE_WIDE.
bool holo_parser_is_wide(const HoloParser *p);

// Makes a node at `at`, or at p->path, with the given children. Fails if there are too many nodes, or if the tree gets
// too high.
HOLO_MUST HoloStatus holo_parser_node(HoloParser *p, HoloAst node, uint32_t at, HoloAst **out);
void                 holo_parser_append(HoloAstList *list, HoloAst *node);
HOLO_MUST HoloStatus holo_parser_binary(HoloParser *p, HoloAstOp op, const HoloAst *a, const HoloAst *b, uint32_t at,
                                        HoloAst **out);
HOLO_MUST HoloStatus holo_parser_int(HoloParser *p, int64_t value, uint32_t at, HoloAst **out);
HOLO_MUST HoloStatus holo_parser_number(HoloParser *p, HoloAst **out); // the next word is one

// The value of an expression of literals, as a literal: for constants of a module, and sizes.
HOLO_MUST HoloStatus holo_parser_fold(HoloParser *p, const HoloAst *value, HoloAst **out);
HOLO_MUST HoloStatus holo_parser_block_size(HoloParser *p, const HoloAst *value, int *out); // the same, of lanes

// Fails for an expression that would be computed twice and must not be, because it has an atomic in it.
HOLO_MUST HoloStatus holo_parser_once(HoloParser *p, const HoloAst *value);

bool                 holo_parser_is_declared(const HoloParser *p, const char *name);
HOLO_MUST HoloStatus holo_parser_declare(HoloParser *p, const char *name);
// Fails for an assignment to a variable that no earlier statement declared.
HOLO_MUST HoloStatus holo_parser_names(HoloParser *p, const HoloAst *list);
const HoloAst       *holo_parser_constant(const HoloParser *p, const char *name); // NULL: none
HOLO_MUST HoloStatus holo_parser_add_constant(HoloParser *p, const char *name, const HoloAst *value);

#endif
