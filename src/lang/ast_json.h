// ast_json.h - the fields of each node in the JSON form of kernels: one table, by which it is read and written.
#ifndef HOLO_AST_JSON_H
#define HOLO_AST_JSON_H

#include "lang/ast.h"

typedef enum HoloAstFieldKind {
    HOLO_FIELD_EXPRESSION, // at offset `to`, a const HoloAst *
    HOLO_FIELD_NULLABLE,   // the same, or null
    HOLO_FIELD_LIST,       // expressions
    HOLO_FIELD_BLOCK,      // statements
    HOLO_FIELD_ELSE,       // statements, or null
    HOLO_FIELD_NAME,
    HOLO_FIELD_OP,
    HOLO_FIELD_VALUE, // of a literal
    HOLO_FIELD_TYPE,
    HOLO_FIELD_OPTIONAL_TYPE, // may be left out
    HOLO_FIELD_SPACE,         // "shared" or "local"
} HoloAstFieldKind;

typedef struct HoloAstField {
    HoloAstKind      node;
    const char      *key;
    HoloAstFieldKind kind;
    size_t           to;
} HoloAstField;

extern const HoloAstField holo_ast_fields[];
extern const int          holo_ast_field_count;

#endif
