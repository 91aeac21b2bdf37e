// template_lex.h - the source of a template as tokens.
#ifndef HOLO_TEXT_TEMPLATE_LEX_H
#define HOLO_TEXT_TEMPLATE_LEX_H

#include "text/template.h"

typedef enum HoloTemplateTokenKind {
    HOLO_TT_END, // of the source
    HOLO_TT_TEXT,
    HOLO_TT_OPEN,  // {{
    HOLO_TT_CLOSE, // }}
    HOLO_TT_BEGIN, // {%
    HOLO_TT_LEAVE, // %}
    HOLO_TT_NAME,
    HOLO_TT_STRING, // its text has the escapes resolved
    HOLO_TT_INT,
    HOLO_TT_FLOAT,
    HOLO_TT_SIGN, // an operator or a bracket
} HoloTemplateTokenKind;

typedef struct HoloTemplateToken {
    HoloTemplateTokenKind kind;
    uint32_t              line;
    HoloString            text;
    int64_t               number;
    double                real;
} HoloTemplateToken;

enum { HOLO_TEMPLATE_SOURCE = 4 << 20 }; // bytes of a source, at most

// Cuts a source into tokens, in the arena; the last one is HOLO_TT_END.
HOLO_MUST HoloStatus holo_template_lex(HoloArena *arena, HoloString source, HoloTemplateToken **out_tokens,
                                       HoloError *error);

// Reads a decimal number, in any locale.
double holo_decimal_read(const char *text, size_t size);

#endif
