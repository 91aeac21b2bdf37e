// lexer.h - tokens of a kernel's source, for both front ends. Python's indentation becomes tokens, too.
#ifndef HOLO_LANG_LEXER_H
#define HOLO_LANG_LEXER_H

#include "lang/ast.h"

typedef enum HoloTokenKind {
    HOLO_TOKEN_END,
    HOLO_TOKEN_NAME,
    HOLO_TOKEN_INT,
    HOLO_TOKEN_FLOAT,
    HOLO_TOKEN_TEXT, // a string: `text` is what is between the quotes
    HOLO_TOKEN_MARK, // an operator or a bracket
    HOLO_TOKEN_LINE, // the end of a statement (Python)
    HOLO_TOKEN_INDENT,
    HOLO_TOKEN_DEDENT,
} HoloTokenKind;

typedef struct HoloToken {
    uint8_t     kind;   // HoloTokenKind
    uint8_t     suffix; // of a number in C: HoloDtype, or HOLO_NONE
    uint32_t    at;
    const char *text; // terminated, in the arena
    int64_t     integer;
    double      number;
} HoloToken;

typedef enum HoloLexStyle { HOLO_LEX_PYTHON, HOLO_LEX_C } HoloLexStyle;

// All words of the source, the last of kind END.
HOLO_MUST HoloStatus holo_lex(HoloArena *arena, const HoloKernelSource *source, HoloLexStyle style, HoloToken **out,
                              HoloError *error);

#endif
