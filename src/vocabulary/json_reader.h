// json_reader.h - what the readers of tokenizer.json share.
#ifndef HOLO_VOCABULARY_JSON_READER_H
#define HOLO_VOCABULARY_JSON_READER_H

#include "vocabulary/vocabulary.h"

#include <jansson.h>

typedef struct HoloTokenizerJson {
    HoloVocabulary *v;
    const char     *name; // of the file
    HoloError      *error;
    int             depth; // sequences inside of each other
} HoloTokenizerJson;

HOLO_MUST HoloStatus holo_tokenizer_json_fail(HoloTokenizerJson *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A text, borrowed from the document; where it is not there or null, the fallback. NULL as fallback: it must be there.
HOLO_MUST HoloStatus holo_tokenizer_json_text(HoloTokenizerJson *j, const json_t *object, const char *key,
                                              const char *fallback, HoloString *out);
bool                 holo_tokenizer_json_flag(const json_t *object, const char *key, bool fallback);
// A whole number from 0 up.
HOLO_MUST HoloStatus holo_tokenizer_json_number(HoloTokenizerJson *j, const json_t *object, const char *key,
                                                uint32_t fallback, uint32_t *out);
// The one character of a text.
HOLO_MUST HoloStatus holo_tokenizer_json_code(HoloTokenizerJson *j, const json_t *object, const char *key,
                                              const char *fallback, uint32_t *out);
// {"String": ...} or {"Regex": ...}: the number of the pattern.
HOLO_MUST HoloStatus holo_tokenizer_json_pattern(HoloTokenizerJson *j, const json_t *object, uint32_t *out);
// The words of a table that `word` may be; fails with all of them.
typedef struct HoloTokenizerRow {
    const char *type;
    HoloStatus (*read)(HoloTokenizerJson *j, const json_t *object);
} HoloTokenizerRow;
HOLO_MUST HoloStatus holo_tokenizer_json_row(HoloTokenizerJson *j, const json_t *object, const char *what,
                                             const HoloTokenizerRow *rows);
// Every element of a list by the same table.
HOLO_MUST HoloStatus holo_tokenizer_json_each(HoloTokenizerJson *j, const json_t *list, const char *what,
                                              const HoloTokenizerRow *rows);

// The parts of the document. NULL and JSON's null: there is none.
HOLO_MUST HoloStatus holo_tokenizer_json_normalizer(HoloTokenizerJson *j, const json_t *object);
HOLO_MUST HoloStatus holo_tokenizer_json_splits(HoloTokenizerJson *j, const json_t *object);
HOLO_MUST HoloStatus holo_tokenizer_json_decoder(HoloTokenizerJson *j, const json_t *object);
HOLO_MUST HoloStatus holo_tokenizer_json_model(HoloTokenizerJson *j, const json_t *object);

#endif
