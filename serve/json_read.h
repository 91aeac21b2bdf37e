// json_read.h - reads JSON as it lies there, without a tree: for requests whose numbers are many.
//
// The first mistake ends the reading: every function then says false, and `why` says what it was.
#ifndef HOLO_SERVE_JSON_READ_H
#define HOLO_SERVE_JSON_READ_H

#include "bytes.h"

enum { JSON_DEPTH = 64 };

typedef struct JsonReader {
    const char *begin, *p, *end;
    const char *why;      // NULL: nothing is wrong
    bool        is_fresh; // an object or array was just opened
} JsonReader;

JsonReader reader_of(const char *data, size_t size);
char       reader_peek(JsonReader *r);                        // the first byte of the next value; 0: none
bool       reader_open(JsonReader *r, char kind);             // '{' or '['
bool       reader_key(JsonReader *r, char *key, size_t room); // the next key; false: the object has ended
bool       reader_element(JsonReader *r);                     // is there another element? false: the array has ended
bool       reader_string(JsonReader *r, Bytes *out);          // adds its bytes
bool       reader_number(JsonReader *r, double *out);
bool       reader_integer(JsonReader *r, bool *out_negative, uint64_t *out); // a whole number, exactly
bool       reader_bool(JsonReader *r, bool *out);
bool       reader_skip(JsonReader *r, const char **out_begin, size_t *out_size); // any value; where it is (may be NULL)
bool       reader_ended(JsonReader *r);                  // nothing follows, and nothing was wrong
bool       reader_wrong(JsonReader *r, const char *why); // false

#endif
