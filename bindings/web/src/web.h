// web.h - what the files of the WebAssembly module share.
//
// JavaScript calls functions whose names begin with web_. Objects are pointers. A function that fails gives 0 or a
// status, and what went wrong is in the error of web_error. Tensors are HoloTensors that JavaScript writes into memory
// itself; all other facts are JSON, because that takes the least code on the other side.
#ifndef HOLOGRAM_WEB_H
#define HOLOGRAM_WEB_H

#include "fields.h"
#include "hologram.h"
#include "told.h"

#define WEB(name) __attribute__((export_name(#name), visibility("default"))) name

// The error of the last call that failed. One thread calls; the others only help it to compute.
extern HoloError web_last;
HoloError       *web_anew(void); // the same, emptied
HoloStatus       web_fail_memory(void);
// What a call gives beside its result: bytes, or ids. JavaScript reads it by web_given.
extern HoloString web_found;

// ---- JSON

typedef struct Json {
    char  *data;
    size_t size, room;
    bool   is_cut; // there was no memory
    bool   is_first;
} Json;

void  write_open(Json *json, char bracket);  // [ or {
void  write_close(Json *json, char bracket); // ] or }
void  write_key(Json *json, const char *name);
void  write_text(Json *json, const char *text,
                 size_t size);                    // bytes that are no UTF-8 become what JavaScript makes of them
void  write_string(Json *json, const char *text); // NULL: null
void  write_number(Json *json, double number);
void  write_bool(Json *json, bool value);
char *write_end(Json *json); // what was written, with a 0 behind it: web_free frees it; NULL: no memory

// A name and its value.
void write_put(Json *json, const char *name, const char *text);
void write_put_number(Json *json, const char *name, double number);
void write_put_bool(Json *json, const char *name, bool value);

// ---- options and results, by the tables of fields.h (web_batch.c)

// Numbers in the order of the table, NaN where one is not given.
HOLO_MUST HoloStatus web_numbers_read(const BindField *fields, const double *from, void *out);
void web_write_fields(Json *json, const char *name, const BindField *fields, const void *from); // name NULL: alone
void web_write_tokens(Json *json, const BindTold *told);                                        // `tokens`

#endif
