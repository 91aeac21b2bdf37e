// protobuf_text.h - messages in protobuf's text and JSON forms, turned into the wire format.
//
// The table of fields that reads the wire format names the fields, too. So a format that comes in three forms is read
// by one reader. Fields that the table does not have are passed over.
#ifndef HOLO_IMPORT_WIRE_PROTOBUF_TEXT_H
#define HOLO_IMPORT_WIRE_PROTOBUF_TEXT_H

#include "import/wire/protobuf.h"

#include <jansson.h>

// The number of an enum's constant; false: it is not known.
typedef bool HoloPbEnum(HoloString name, int64_t *out);

// `text` is the text form of a message with these fields. `*out` is in the arena. Errors name the line.
HOLO_MUST HoloStatus holo_pb_from_text(HoloArena *arena, HoloString text, const HoloPbField *fields,
                                       HoloPbEnum *constant, HoloString *out, HoloError *error);
// The same for JSON.
HOLO_MUST HoloStatus holo_pb_from_json(HoloArena *arena, const json_t *json, const HoloPbField *fields,
                                       HoloPbEnum *constant, HoloString *out, HoloError *error);

// Decodes base 64, plain or for URLs, with or without padding. Returns how many bytes; SIZE_MAX: it is not base 64.
// `out` has room for 3 bytes for each 4 characters, and 3 more.
size_t holo_base64_decode(const char *text, size_t size, uint8_t *out);

#endif
