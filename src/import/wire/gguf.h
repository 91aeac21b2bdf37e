// gguf.h - GGUF files, version 2 and 3: metadata and named tensors, read in place.
//
// Nothing is taken on trust: every length, count and offset is compared with what is left of the file. What types of
// tensors mean, and how many bytes they take, is not known here: a tensor gets the bytes up to where the next begins.
#ifndef HOLO_IMPORT_WIRE_GGUF_H
#define HOLO_IMPORT_WIRE_GGUF_H

#include "base/base.h"
#include "import/name_map.h"

#define HOLO_GGUF_MAGIC "GGUF"

typedef enum HoloGgufKind { // of values, as the file numbers them
    HOLO_GGUF_U8    = 0,
    HOLO_GGUF_I8    = 1,
    HOLO_GGUF_U16   = 2,
    HOLO_GGUF_I16   = 3,
    HOLO_GGUF_U32   = 4,
    HOLO_GGUF_I32   = 5,
    HOLO_GGUF_F32   = 6,
    HOLO_GGUF_BOOL  = 7,
    HOLO_GGUF_TEXT  = 8,
    HOLO_GGUF_ARRAY = 9,
    HOLO_GGUF_U64   = 10,
    HOLO_GGUF_I64   = 11,
    HOLO_GGUF_F64   = 12,
    HOLO_GGUF_KINDS = 13,
} HoloGgufKind;

// A value in the file. Its bytes are checked, and aligned to nothing.
typedef struct HoloGgufValue {
    HoloGgufKind   kind;
    HoloGgufKind   item;  // the kind of items of an array
    uint64_t       count; // items of an array; 1 for others
    const uint8_t *at;    // of a text or a number: its bytes; of an array: its first item
    uint64_t       size;  // bytes from there on
} HoloGgufValue;

typedef struct HoloGgufEntry {
    HoloString    key;
    HoloGgufValue value;
} HoloGgufEntry;

typedef struct HoloGgufTensor {
    HoloString     name;
    int            rank;
    int64_t        dim[HOLO_MAX_RANK]; // the one that lies together in memory is the last, as everywhere here
    int64_t        count;              // of elements
    uint32_t       type;               // as ggml numbers them
    uint64_t       offset;             // from the beginning of the file
    const uint8_t *data;
    uint64_t       size; // bytes up to the next tensor, or to the end of the file
} HoloGgufTensor;

typedef struct HoloGguf {
    uint32_t        version, alignment;
    HoloGgufEntry  *entry; // in the order of the file
    int             entry_count;
    HoloGgufTensor *tensor; // in the order of the file
    int             tensor_count;
    HoloNameMap     keys, names; // to HoloGgufEntry and HoloGgufTensor
} HoloGguf;

// The bytes must stay; the rest is in the arena. `name` is that of the file, for errors.
HOLO_MUST HoloStatus holo_gguf_read(HoloArena *arena, const char *name, const void *bytes, size_t size, HoloGguf *out,
                                    HoloError *error);

// NULL: there is none.
const HoloGgufValue  *holo_gguf_find(const HoloGguf *gguf, const char *key);
const HoloGgufTensor *holo_gguf_tensor(const HoloGguf *gguf, const char *name);

// What a value is. False: it is of another kind, or does not fit; `out` is unchanged then. Any whole number and bool is
// an int, any number is a real, and any text, which has no 0 behind it, is a text.
bool holo_gguf_int(const HoloGgufValue *value, int64_t *out);
bool holo_gguf_real(const HoloGgufValue *value, double *out);
bool holo_gguf_bool(const HoloGgufValue *value, bool *out);
bool holo_gguf_text(const HoloGgufValue *value, HoloString *out);
// The same for the value of a key. False: there is no such key, or its value is something else.
bool holo_gguf_find_int(const HoloGguf *gguf, const char *key, int64_t *out);
bool holo_gguf_find_real(const HoloGguf *gguf, const char *key, double *out);
bool holo_gguf_find_bool(const HoloGguf *gguf, const char *key, bool *out);
bool holo_gguf_find_text(const HoloGguf *gguf, const char *key, HoloString *out);

// The next item of an array, which may be an array itself; false at the end, and for a value that is no array. Walking
// consumes the array; a copy of the struct starts anew.
bool holo_gguf_next(HoloGgufValue *array, HoloGgufValue *out);

#endif
