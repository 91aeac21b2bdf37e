// safetensors.h - SafeTensors files: named tensors behind a header of JSON, read in place.
//
// Nothing is taken on trust: the header's length, every type, shape and range of bytes are checked, and ranges neither
// overlap nor leave anything out.
#ifndef HOLO_IMPORT_WIRE_SAFETENSORS_H
#define HOLO_IMPORT_WIRE_SAFETENSORS_H

#include "base/base.h"

typedef struct HoloSafeTensor {
    const char *name;
    HoloTensor  tensor; // data: bytes of the file, aligned to anything; elements of fewer than 8 bits are packed
    int64_t     count;  // of elements
    uint64_t    begin, end;
} HoloSafeTensor;

typedef struct HoloSafeTensors {
    HoloSafeTensor *entry;
    int             count;
    const char    **meta; // its __metadata__: a key, its value, and so on
    int             meta_count;
} HoloSafeTensors;

// The bytes must stay; the rest is in the arena. `name` is that of the file, for errors.
HOLO_MUST HoloStatus holo_safetensors_read(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                           HoloSafeTensors *out, HoloError *error);

#endif
