// parse_c.h - only for the files of the C parser.
#ifndef HOLO_LANG_PARSE_C_H
#define HOLO_LANG_PARSE_C_H

#include "lang/parser.h"

typedef struct HoloCName {     // a variable: in C an inner block may have another one of the same name
    const char *name, *called; // in the source, and in the tree
    int         depth;         // of its block
    bool        is_const;
} HoloCName;

typedef struct HoloCParser {
    HoloParser p;
    HoloCName *names;
    int        name_count, name_room, block, renamed;
    uint8_t    returns; // what the helper gives back; HOLO_NONE: this is a kernel
} HoloCParser;

HOLO_MUST HoloStatus holo_c_expression(HoloCParser *c, HoloAst **out);
HOLO_MUST HoloStatus holo_c_block(HoloCParser *c, HoloAst **out); // from { to }
// Is the next token a type? If so, reads it: "unsigned int", "const float". is_const may be NULL.
bool                 holo_c_is_type(const HoloCParser *c);
HOLO_MUST HoloStatus holo_c_type(HoloCParser *c, uint8_t *out, bool *is_const);
HOLO_MUST HoloStatus holo_c_no_step(HoloCParser *c); // fails for ++ and --, which are statements
HOLO_MUST HoloStatus holo_c_cast(HoloCParser *c, uint8_t type, const HoloAst *value, uint32_t at, HoloAst **out);
// A new variable of the innermost block: `out` is its name in the tree.
HOLO_MUST HoloStatus holo_c_declare(HoloCParser *c, const char *name, bool is_const, const char **out);
const char          *holo_c_name(const HoloCParser *c, const char *name); // in the tree; NULL: no such variable

#endif
