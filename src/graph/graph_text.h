// graph_text.h - what printing and reading of graph text share. docs/graph-text.md has the syntax.
#ifndef HOLO_GRAPH_TEXT_H
#define HOLO_GRAPH_TEXT_H

#include "ops/op.h"

#include <ctype.h>

// Words that may not be names without quotes.
static const char *const holo_text_keywords[] = {"graph", "const", "shape", "type", "nan", "inf", NULL};

static inline bool holo_text_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '/';
}

// How an empty list of that kind begins: "ints"; NULL: the kind is not a list.
static inline const char *holo_text_plural(int32_t kind)
{
    switch (kind) {
    case HOLO_ATTR_INTS: return "ints";
    case HOLO_ATTR_FLOATS: return "floats";
    case HOLO_ATTR_STRINGS: return "strings";
    case HOLO_ATTR_TENSORS: return "tensors";
    case HOLO_ATTR_GRAPHS: return "graphs";
    default: return NULL;
    }
}

#endif
