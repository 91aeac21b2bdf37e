// folder.h - what readers of vocabularies find in files beside their own.
#ifndef HOLO_VOCABULARY_FOLDER_H
#define HOLO_VOCABULARY_FOLDER_H

#include "base/files.h"
#include "vocabulary/vocabulary.h"

#include <jansson.h>

// A file beside the file `name`; *out has no data if there is none. To be unmapped.
HOLO_MUST HoloStatus holo_folder_file(const char *name, const char *beside, HoloMapping *out, HoloError *error);
// The same, as JSON, to be freed by json_decref; NULL: there is none.
HOLO_MUST HoloStatus holo_folder_json(const char *name, const char *beside, json_t **out, HoloError *error);
// Adds the tokens of added_tokens_decoder in tokenizer_config.json (`config`, or NULL), and of added_tokens.json.
HOLO_MUST HoloStatus holo_folder_added(HoloVocabulary *v, const char *name, const json_t *config, HoloError *error);

#endif
