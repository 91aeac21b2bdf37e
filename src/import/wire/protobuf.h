// protobuf.h - messages of Google's wire format, read in place.
//
// A message is described by a table of its fields and decoded into a plain struct; nested messages
// stay bytes until they are decoded themselves, so nothing here recurses or allocates. Everything is
// checked while decoding: afterwards the repeated fields are walked without errors.
#ifndef HOLO_IMPORT_WIRE_PROTOBUF_H
#define HOLO_IMPORT_WIRE_PROTOBUF_H

#include "base/base.h"

typedef enum HoloPbKind { // the member of the struct that a field is decoded into
    HOLO_PB_INT,          // int64_t, from a varint
    HOLO_PB_FLOAT,        // float
    HOLO_PB_BYTES,        // HoloString: a string, bytes or a message
    HOLO_PB_INTS,         // HoloPbMany of varints, packed or not
    HOLO_PB_FIXED32S,     // HoloPbMany of 4-byte numbers, packed or not
    HOLO_PB_FIXED64S,     // HoloPbMany of 8-byte numbers, packed or not
    HOLO_PB_LIST,         // HoloPbMany of strings, bytes or messages
} HoloPbKind;

// What the text and JSON forms of a message must know besides (protobuf_text.c, protobuf_json.c).
typedef enum HoloPbForm {
    HOLO_PB_PLAIN,
    HOLO_PB_BASE64, // bytes, which JSON spells in base 64
    HOLO_PB_MAP,    // a list of messages of a key, 1, and a value, 2: an object in JSON
} HoloPbForm;

typedef struct HoloPbField {
    int        number; // 0 ends the table; at most 63
    HoloPbKind kind;
    size_t     offset; // of the member; the struct begins with `uint64_t has`, a bit per field number
    // The rest may be left out by formats that are only read in binary form.
    const char               *name; // "node_def"
    const struct HoloPbField *of;   // of a message: its fields
    HoloPbForm                form;
} HoloPbField;

// A repeated field: borrowed bytes from its first occurrence to its last. Walking consumes it; a copy
// of the struct starts anew.
typedef struct HoloPbMany {
    int            number;
    int64_t        count; // elements left
    const uint8_t *at, *end;
    const uint8_t *run_end; // of the packed elements that `at` is in; NULL: between fields
} HoloPbMany;

// Where messages come from, for errors with byte offsets.
typedef struct HoloPbSource {
    const uint8_t *start;
    HoloError     *error;
} HoloPbSource;

static inline bool holo_pb_has(uint64_t has, int number)
{
    return has >> number & 1;
}

// Decodes `message` into the zeroed struct `out`. Unknown fields are passed over; of a field that is
// given twice the last one counts. `name` is the message's type, for errors.
HOLO_MUST HoloStatus holo_pb_read(const HoloPbSource *source, const char *name, HoloString message,
                                  const HoloPbField *fields, void *out);

// The next element; false at the end. Each fits the kinds whose elements it names.
bool holo_pb_next_bytes(HoloPbMany *many, HoloString *out);
bool holo_pb_next_int(HoloPbMany *many, int64_t *out);
bool holo_pb_next_fixed(HoloPbMany *many, size_t size, void *out); // size: 4 or 8, as the kind says
// The bytes of a fixed-size field when all its elements lie in one packed run; else NULL.
const void *holo_pb_packed(const HoloPbMany *many, size_t size);

#endif
