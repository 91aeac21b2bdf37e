// protobuf_write.c - writes messages of Google's wire format. See protobuf_write.h.
#include "import/wire/protobuf_write.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5, VARINT_MAX = 10 };

static bool make_room(HoloPbOut *out, size_t more)
{
    size_t need;
    if (out->failed || !holo_size_add(out->size, more, &need)) return false;
    if (need <= out->room) return true;
    size_t   room = out->room ? out->room : 256;
    uint8_t *data;
    while (room < need) room = room > SIZE_MAX / 2 ? need : room * 2;
    if (!(data = holo_arena_take_raw(out->arena, room))) {
        out->failed = true;
        return false;
    }
    if (out->size) memcpy(data, out->data, out->size);
    out->data = data;
    out->room = room;
    return true;
}

void holo_pb_put_raw(HoloPbOut *out, const void *bytes, size_t size)
{
    if (!size || !make_room(out, size)) return;
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

static size_t encode(uint64_t value, uint8_t *out)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

static void put_varint(HoloPbOut *out, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    holo_pb_put_raw(out, bytes, encode(value, bytes));
}

static void put_tag(HoloPbOut *out, int field, int wire)
{
    put_varint(out, (uint64_t)field << 3 | (uint64_t)wire);
}

void holo_pb_put_int(HoloPbOut *out, int field, int64_t value)
{
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, (uint64_t)value);
}

void holo_pb_put_float(HoloPbOut *out, int field, float value)
{
    put_tag(out, field, WIRE_FIXED32);
    holo_pb_put_raw(out, &value, sizeof value);
}

void holo_pb_put_double(HoloPbOut *out, int field, double value)
{
    put_tag(out, field, WIRE_FIXED64);
    holo_pb_put_raw(out, &value, sizeof value);
}

void holo_pb_put_head(HoloPbOut *out, int field, size_t size)
{
    put_tag(out, field, WIRE_BYTES);
    put_varint(out, size);
}

void holo_pb_put_bytes(HoloPbOut *out, int field, const void *bytes, size_t size)
{
    holo_pb_put_head(out, field, size);
    holo_pb_put_raw(out, bytes, size);
}

void holo_pb_put_text(HoloPbOut *out, int field, const char *text)
{
    holo_pb_put_bytes(out, field, text, strlen(text));
}

size_t holo_pb_open(HoloPbOut *out, int field)
{
    put_tag(out, field, WIRE_BYTES);
    return out->size;
}

// The length is known only now: the contents move up by as many bytes as it takes.
void holo_pb_close(HoloPbOut *out, size_t mark)
{
    uint8_t length[VARINT_MAX];
    size_t  size = out->failed ? 0 : out->size - mark, head = encode(size, length);
    if (!make_room(out, head)) return;
    memmove(out->data + mark + head, out->data + mark, size);
    memcpy(out->data + mark, length, head);
    out->size += head;
}
