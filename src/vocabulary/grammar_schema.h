// grammar_schema.h - JSON Schema while it becomes trees of a grammar.
#ifndef HOLO_VOCABULARY_GRAMMAR_SCHEMA_H
#define HOLO_VOCABULARY_GRAMMAR_SCHEMA_H

#include "vocabulary/grammar_tree.h"

#include <jansson.h>

enum { HOLO_SCHEMA_DEPTH = 64, HOLO_SCHEMA_WORD = 1000 };

typedef struct HoloSchemaTodo { // a rule whose schema is still to be read
    uint32_t    rule;
    json_t     *schema;
    const char *path;
} HoloSchemaTodo;

typedef struct HoloSchema {
    HoloGrammarBuilder *b;
    json_t             *root;
    json_t             *made; // a list of schemas that are merged from others
    HoloSchemaTodo     *todo;
    int                 todo_count, todo_room;
    int                 depth;
    int                 merges;
} HoloSchema;

// Fails; the message names the path in the schema. NULL.
void *holo_schema_fail(HoloSchema *s, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *holo_schema_path(HoloSchema *s, const char *path, const char *key); // "" if there is no memory

// The tree of a schema. NULL: builder->status.
HoloTree *holo_schema_tree(HoloSchema *s, json_t *schema, const char *path);
// The same as a rule of its own, which is read later: a part that is used several times, or that is deep.
HoloTree *holo_schema_rule(HoloSchema *s, json_t *schema, const char *path);
HoloTree *holo_schema_named(HoloSchema *s, const char *name); // a rule of JSON itself
HoloTree *holo_schema_nothing(HoloSchema *s);                 // fits no text

// What $ref means. NULL: builder->status.
json_t *holo_schema_resolve(HoloSchema *s, const char *ref, const char *path);
// One schema that says what both say. Borrowed. NULL: builder->status.
json_t *holo_schema_merge(HoloSchema *s, json_t *a, json_t *b, const char *path);
bool    holo_schema_is_note(const char *key); // a keyword that says nothing about values

// A number of a keyword that is a size. False: builder->status.
bool holo_schema_size(HoloSchema *s, json_t *schema, const char *key, const char *path, int fallback, int *out);

// ---- the types

HoloTree *holo_schema_string(HoloSchema *s, json_t *schema, const char *path);
HoloTree *holo_schema_number(HoloSchema *s, json_t *schema, const char *path, bool is_integer);
HoloTree *holo_schema_array(HoloSchema *s, json_t *schema, const char *path);
HoloTree *holo_schema_object(HoloSchema *s, json_t *schema, const char *path);

#endif
