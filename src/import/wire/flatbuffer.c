// flatbuffer.c - reads FlatBuffers in place. A table begins with the distance back to its list of fields; that list has
// its own size, the size of the table, and for each field where it lies in the table. All numbers are little-endian.
#include "import/wire/flatbuffer.h"

#include <string.h>

enum { ROOM_LEAST = 1 << 16, ROOM_TIMES = 16 };

void holo_flat_init(HoloFlat *flat, const void *bytes, size_t size, HoloError *error)
{
    *flat = (HoloFlat){.bytes = bytes, .size = size, .error = error, .room = ROOM_LEAST + (uint64_t)size * ROOM_TIMES};
}

void holo_flat_damaged(HoloFlat *flat, const char *what)
{
    if (!flat->status) flat->status = holo_fail(flat->error, HOLO_BAD_MODEL, "the file is damaged: %s", what);
}

// Do `count` bytes lie at that place?
static bool lies_in(const HoloFlat *flat, size_t at, size_t count)
{
    return at <= flat->size && count <= flat->size - at;
}

static uint64_t number_at(const HoloFlat *flat, size_t at, int size)
{
    uint64_t number = 0;
    for (int i = 0; i < size; i++) number |= (uint64_t)flat->bytes[at + (size_t)i] << 8 * i;
    return number;
}

static int64_t signed_at(const HoloFlat *flat, size_t at, int size)
{
    uint64_t number = number_at(flat, at, size), sign = UINT64_C(1) << (8 * size - 1);
    return (int64_t)((number ^ sign) - sign);
}

// Where an offset leads, which lies at `at` and counts from there; 0: nowhere, which is noted.
static size_t follow(HoloFlat *flat, size_t at)
{
    if (flat->status || !lies_in(flat, at, 4)) return holo_flat_damaged(flat, "an offset lies outside of it"), 0;
    uint64_t offset = number_at(flat, at, 4);
    if (offset < 4 || !lies_in(flat, at, offset) || !lies_in(flat, at + offset, 4))
        return holo_flat_damaged(flat, "an offset leads out of it"), 0;
    return at + offset;
}

static HoloFlatTable table_at(HoloFlat *flat, size_t at)
{
    HoloFlatTable out = {.flat = flat};
    if (!at) return out;
    int64_t fields = (int64_t)at - signed_at(flat, at, 4);
    if (fields < 0 || !lies_in(flat, (size_t)fields, 4)) {
        holo_flat_damaged(flat, "a table has no list of fields");
        return out;
    }
    uint64_t list = number_at(flat, (size_t)fields, 2), size = number_at(flat, (size_t)fields + 2, 2);
    if (list < 4 || list % 2 || !lies_in(flat, (size_t)fields, list) || size < 4 || !lies_in(flat, at, size)) {
        holo_flat_damaged(flat, "a table is cut off");
        return out;
    }
    return (HoloFlatTable){flat, at, size, (size_t)fields + 4, (int)(list - 4) / 2};
}

HoloFlatTable holo_flat_root(HoloFlat *flat, const char *identifier)
{
    if (!lies_in(flat, 0, 8)) holo_flat_damaged(flat, "it is cut off");
    if (!flat->status && identifier && memcmp(flat->bytes + 4, identifier, 4) != 0)
        holo_flat_damaged(flat, "it does not say what it is");
    return table_at(flat, flat->status ? 0 : follow(flat, 0));
}

// Where a field of that size lies; 0: it is absent.
static size_t field_at(HoloFlatTable table, int field, size_t size)
{
    HoloFlat *flat = table.flat;
    if (!table.at || flat->status || field >= table.field_count) return 0;
    uint64_t offset = number_at(flat, table.fields + 2 * (size_t)field, 2);
    if (!offset) return 0;
    if (offset < 4 || offset > table.size || size > table.size - offset)
        return holo_flat_damaged(flat, "a field lies outside of its table"), 0;
    return table.at + offset;
}

bool holo_flat_has(HoloFlatTable table, int field)
{
    return field_at(table, field, 1) != 0;
}

int64_t holo_flat_i8(HoloFlatTable table, int field, int64_t fallback)
{
    size_t at = field_at(table, field, 1);
    return at ? signed_at(table.flat, at, 1) : fallback;
}

int64_t holo_flat_u8(HoloFlatTable table, int field, int64_t fallback)
{
    size_t at = field_at(table, field, 1);
    return at ? (int64_t)number_at(table.flat, at, 1) : fallback;
}

int64_t holo_flat_i32(HoloFlatTable table, int field, int64_t fallback)
{
    size_t at = field_at(table, field, 4);
    return at ? signed_at(table.flat, at, 4) : fallback;
}

int64_t holo_flat_u32(HoloFlatTable table, int field, int64_t fallback)
{
    size_t at = field_at(table, field, 4);
    return at ? (int64_t)number_at(table.flat, at, 4) : fallback;
}

int64_t holo_flat_i64(HoloFlatTable table, int field, int64_t fallback)
{
    size_t at = field_at(table, field, 8);
    return at ? (int64_t)number_at(table.flat, at, 8) : fallback;
}

static float float_at(const HoloFlat *flat, size_t at)
{
    uint32_t bits = (uint32_t)number_at(flat, at, 4);
    float    out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

float holo_flat_f32(HoloFlatTable table, int field, float fallback)
{
    size_t at = field_at(table, field, 4);
    return at ? float_at(table.flat, at) : fallback;
}

HoloFlatTable holo_flat_table(HoloFlatTable table, int field)
{
    size_t at = field_at(table, field, 4);
    return at ? table_at(table.flat, follow(table.flat, at)) : (HoloFlatTable){.flat = table.flat};
}

static HoloFlatList list_at(HoloFlat *flat, size_t at, size_t element_size)
{
    HoloFlatList out = {.flat = flat};
    if (!at) return out;
    uint64_t count = number_at(flat, at, 4);
    if (count > (flat->size - at - 4) / element_size)
        holo_flat_damaged(flat, "a list is longer than the file");
    else if (element_size > 1 && count > flat->room)
        holo_flat_damaged(flat, "its lists are read too often");
    else
        out = (HoloFlatList){flat, at + 4, count};
    if (element_size > 1) flat->room -= out.count;
    return out;
}

HoloFlatList holo_flat_list(HoloFlatTable table, int field, size_t element_size)
{
    size_t at = field_at(table, field, 4);
    return at ? list_at(table.flat, follow(table.flat, at), element_size) : (HoloFlatList){.flat = table.flat};
}

HoloString holo_flat_text(HoloFlatTable table, int field)
{
    HoloFlatList list = holo_flat_list(table, field, 1);
    return (HoloString){list.count ? (const char *)table.flat->bytes + list.at : "", list.count};
}

int64_t holo_flat_list_i32(HoloFlatList list, size_t i)
{
    return i < list.count ? signed_at(list.flat, list.at + 4 * i, 4) : 0;
}

int64_t holo_flat_list_i64(HoloFlatList list, size_t i)
{
    return i < list.count ? (int64_t)number_at(list.flat, list.at + 8 * i, 8) : 0;
}

float holo_flat_list_f32(HoloFlatList list, size_t i)
{
    return i < list.count ? float_at(list.flat, list.at + 4 * i) : 0;
}

HoloFlatTable holo_flat_list_table(HoloFlatList list, size_t i)
{
    return i < list.count ? table_at(list.flat, follow(list.flat, list.at + 4 * i))
                          : (HoloFlatTable){.flat = list.flat};
}
