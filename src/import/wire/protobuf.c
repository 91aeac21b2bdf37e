// protobuf.c - the wire format of protocol buffers: tags, varints, lengths. It knows no message types.
#include "import/wire/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

typedef struct Item { // one field of a message, as it is in the file
    int            number, wire;
    uint64_t       value;       // of a varint
    const uint8_t *begin, *end; // of the contents
} Item;

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        uint64_t byte = *(*at)++;
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

// Reads one field and moves behind it. NULL: no error; else what is wrong.
static const char *read_item(const uint8_t **at, const uint8_t *end, Item *item)
{
    uint64_t tag;
    if (!read_varint(at, end, &tag)) return "a field's tag is cut off";
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return "a field's number is not valid";
    item->number  = (int)(tag >> 3);
    item->wire    = (int)(tag & 7);
    item->begin   = *at;
    uint64_t size = 0;
    if (item->wire == WIRE_VARINT) {
        if (!read_varint(at, end, &item->value)) return "a number is cut off";
        item->end = *at;
        return NULL;
    }
    if (item->wire == WIRE_BYTES) {
        if (!read_varint(at, end, &size)) return "a length is cut off";
        item->begin = *at;
    } else if (item->wire == WIRE_FIXED64 || item->wire == WIRE_FIXED32) {
        size = item->wire == WIRE_FIXED64 ? 8 : 4;
    } else {
        return "a field's wire type is not valid";
    }
    if (size > (uint64_t)(end - *at)) return "a field is longer than the message it is in";
    *at += size;
    item->end = *at;
    return NULL;
}

// How many varints fill the bytes exactly; -1: they do not.
static int64_t count_varints(const uint8_t *at, const uint8_t *end)
{
    int64_t  count = 0;
    uint64_t value;
    for (; at < end; count++)
        if (!read_varint(&at, end, &value)) return -1;
    return count;
}

// How many elements of a repeated field the item holds; -1: it is not of that kind.
static int64_t count_elements(HoloPbKind kind, const Item *item)
{
    static const struct {
        int wire, size;
    } plain[] = {
        [HOLO_PB_INTS]     = {WIRE_VARINT, 1},
        [HOLO_PB_FIXED32S] = {WIRE_FIXED32, 4},
        [HOLO_PB_FIXED64S] = {WIRE_FIXED64, 8},
        [HOLO_PB_LIST]     = {WIRE_BYTES, 0},
    };
    if (item->wire == plain[kind].wire) return 1;
    if (item->wire != WIRE_BYTES) return -1;
    if (kind == HOLO_PB_INTS) return count_varints(item->begin, item->end);
    int64_t bytes = item->end - item->begin;
    return bytes % plain[kind].size ? -1 : bytes / plain[kind].size;
}

static bool add_many(HoloPbMany *many, HoloPbKind kind, const Item *item, const uint8_t *tag)
{
    int64_t count = count_elements(kind, item);
    if (count < 0) return false;
    if (!many->at) many->at = tag;
    many->number = item->number;
    many->end    = item->end;
    many->count += count;
    return true;
}

// False: the item is not of the field's kind.
static bool store(const HoloPbField *field, const Item *item, const uint8_t *tag, char *out)
{
    void *member = out + field->offset;
    if (field->kind >= HOLO_PB_INTS) return add_many(member, field->kind, item, tag);
    if (field->kind == HOLO_PB_INT && item->wire == WIRE_VARINT) {
        memcpy(member, &item->value, sizeof item->value);
    } else if (field->kind == HOLO_PB_FLOAT && item->wire == WIRE_FIXED32) {
        memcpy(member, item->begin, 4);
    } else if (field->kind == HOLO_PB_BYTES && item->wire == WIRE_BYTES) {
        *(HoloString *)member = (HoloString){(const char *)item->begin, (size_t)(item->end - item->begin)};
    } else {
        return false;
    }
    return true;
}

HoloStatus holo_pb_read(const HoloPbSource *source, const char *name, HoloString message, const HoloPbField *fields,
                        void *out)
{
    if (!message.size) return HOLO_OK;
    const uint8_t *at = (const uint8_t *)message.data, *end = at + message.size;
    while (at < end) {
        const uint8_t *tag = at;
        Item           item;
        const char    *problem = read_item(&at, end, &item);
        if (!problem) {
            const HoloPbField *field = fields;
            while (field->number && field->number != item.number) field++;
            if (!field->number) continue;
            if (!store(field, &item, tag, out)) problem = "a field has the wrong type";
            *(uint64_t *)out |= UINT64_C(1) << field->number;
        }
        if (problem)
            return holo_fail(source->error, HOLO_BAD_MODEL, "byte %lld (%s): %s", (long long)(tag - source->start),
                             name, problem);
    }
    return HOLO_OK;
}

// Moves to the next item of the field. holo_pb_read has seen these bytes: they are well formed.
static bool next_item(HoloPbMany *many, Item *item)
{
    while (many->at < many->end) {
        if (read_item(&many->at, many->end, item)) return false;
        if (item->number == many->number) return true;
    }
    return false;
}

bool holo_pb_next_bytes(HoloPbMany *many, HoloString *out)
{
    Item item;
    if (!next_item(many, &item)) return false;
    many->count--;
    *out = (HoloString){(const char *)item.begin, (size_t)(item.end - item.begin)};
    return true;
}

// Stands at an element: inside a packed run, or at a field that holds a single one.
static bool next_element(HoloPbMany *many)
{
    if (many->count <= 0) return false;
    many->count--;
    Item item;
    while (!many->run_end || many->at == many->run_end) {
        if (!next_item(many, &item)) return false;
        many->at      = item.begin;
        many->run_end = item.end;
    }
    return true;
}

bool holo_pb_next_int(HoloPbMany *many, int64_t *out)
{
    uint64_t value = 0;
    if (!next_element(many) || !read_varint(&many->at, many->run_end, &value)) return false;
    *out = (int64_t)value;
    return true;
}

bool holo_pb_next_fixed(HoloPbMany *many, size_t size, void *out)
{
    if (!next_element(many)) return false;
    memcpy(out, many->at, size);
    many->at += size;
    return true;
}

const void *holo_pb_packed(const HoloPbMany *many, size_t size)
{
    HoloPbMany walk = *many;
    Item       item;
    if (!next_item(&walk, &item)) return NULL;
    return (size_t)(item.end - item.begin) / size == (size_t)many->count ? item.begin : NULL;
}
