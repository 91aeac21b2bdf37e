// protobuf_write.h - messages of Google's wire format, written to memory of an arena.
#ifndef HOLO_IMPORT_WIRE_PROTOBUF_WRITE_H
#define HOLO_IMPORT_WIRE_PROTOBUF_WRITE_H

#include "base/base.h"

typedef struct HoloPbOut { // set the arena, the rest to zeros
    HoloArena *arena;
    uint8_t   *data;
    size_t     size, room;
    bool       failed; // there was no memory: the message is cut off
} HoloPbOut;

void holo_pb_put_raw(HoloPbOut *out, const void *bytes, size_t size);
void holo_pb_put_int(HoloPbOut *out, int field, int64_t value);
void holo_pb_put_float(HoloPbOut *out, int field, float value);
void holo_pb_put_double(HoloPbOut *out, int field, double value);
void holo_pb_put_bytes(HoloPbOut *out, int field, const void *bytes, size_t size);
void holo_pb_put_text(HoloPbOut *out, int field, const char *text);
// The tag and the length of a field whose bytes follow.
void holo_pb_put_head(HoloPbOut *out, int field, size_t size);
// A message in the message: what is written between the two belongs to it. They nest.
size_t holo_pb_open(HoloPbOut *out, int field);
void   holo_pb_close(HoloPbOut *out, size_t mark); // what holo_pb_open returned

#endif
