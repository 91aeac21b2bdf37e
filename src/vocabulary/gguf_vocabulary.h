// gguf_vocabulary.h - what the parts of the reader of GGUF vocabularies share.
#ifndef HOLO_VOCABULARY_GGUF_VOCABULARY_H
#define HOLO_VOCABULARY_GGUF_VOCABULARY_H

#include "vocabulary/vocabulary.h"

enum {                   // flags of a pre-tokenizer
    HOLO_GGUF_WHOLE = 1, // a word that is a token is that token
    HOLO_GGUF_BOS   = 2, // a text begins with the token for it, unless the file says otherwise
    HOLO_GGUF_RAW   = 4, // words are text, not letters that stand for bytes
};

enum { HOLO_GGUF_PATTERNS = 6 };

typedef struct HoloGgufPre {
    const char *names; // with spaces between them
    uint32_t    flags;
    const char *pattern[HOLO_GGUF_PATTERNS]; // one after the other; what does not match is a word, too
} HoloGgufPre;

// NULL: there is none of this name.
const HoloGgufPre *holo_gguf_pre(HoloString name);

#endif
