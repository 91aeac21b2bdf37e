// json.h - writes JSON to a stream, indented. Numbers that JSON cannot express become null.
#ifndef HOLO_CLI_JSON_H
#define HOLO_CLI_JSON_H

#include "cli.h"

typedef struct Json { // zero-initialize, with `out` set
    FILE    *out;
    int      depth;
    uint64_t filled; // bit d: something is written at depth d
} Json;

// `key` is NULL inside arrays and at the top. `kind` is '{' or '['.
void json_open(Json *json, const char *key, char kind);
void json_close(Json *json, char kind);                        // '}' or ']'; at the top also ends the line
void json_text(Json *json, const char *key, const char *text); // NULL: null. Bytes that are not UTF-8 become '?'
void json_int(Json *json, const char *key, int64_t number);
void json_number(Json *json, const char *key, double number);
void json_bool(Json *json, const char *key, bool value);
// An input or an output: name, dtype, shape (numbers and symbols).
void json_port(Json *json, const HoloPort *port);
// A value: name, kind, dtype, shape and, with `data`, its exact elements in order; elements of a sequence are values.
void json_value(Json *json, const char *name, const HoloTensor *value, bool data);

#endif
