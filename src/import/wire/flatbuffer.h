// flatbuffer.h - FlatBuffers read in place: tables, lists and texts, each offset checked before it is used.
//
// There is no generated code: callers name fields by their numbers in the schema. What is wrong in the file is noted once,
// in `status` and the error; from then on, and for all that is absent, readers get zeros, empty lists and absent tables. So
// callers read on and ask at the end. Nothing here recurses. Lists that are opened may together have as many elements as
// the file has room for, a few times over: a small file cannot ask for much time.
#ifndef HOLO_IMPORT_WIRE_FLATBUFFER_H
#define HOLO_IMPORT_WIRE_FLATBUFFER_H

#include "base/base.h"

typedef struct HoloFlat {
    const uint8_t *bytes; // borrowed
    size_t         size;
    HoloError     *error;
    HoloStatus     status;
    uint64_t       room; // elements of lists that may still be opened
} HoloFlat;

typedef struct HoloFlatTable {
    HoloFlat *flat;
    size_t    at; // of the table; 0: it is absent
    size_t    size;
    size_t    fields; // of its list of fields
    int       field_count;
} HoloFlatTable;

typedef struct HoloFlatList {
    HoloFlat *flat;
    size_t    at; // of its first element
    size_t    count;
} HoloFlatList;

void holo_flat_init(HoloFlat *flat, const void *bytes, size_t size, HoloError *error);
// The table that the file is. Its bytes 4 to 7 must be the identifier; NULL: any.
HoloFlatTable holo_flat_root(HoloFlat *flat, const char *identifier);
// Notes that the file is damaged, unless something was noted before.
void holo_flat_damaged(HoloFlat *flat, const char *what);

// ---- fields of a table; `field` is its number in the schema

static inline bool holo_flat_is(HoloFlatTable table) // is it there?
{
    return table.at != 0;
}
bool          holo_flat_has(HoloFlatTable table, int field);
int64_t       holo_flat_i8(HoloFlatTable table, int field, int64_t fallback);
int64_t       holo_flat_u8(HoloFlatTable table, int field, int64_t fallback);
int64_t       holo_flat_i32(HoloFlatTable table, int field, int64_t fallback);
int64_t       holo_flat_u32(HoloFlatTable table, int field, int64_t fallback);
int64_t       holo_flat_i64(HoloFlatTable table, int field, int64_t fallback);
float         holo_flat_f32(HoloFlatTable table, int field, float fallback);
HoloFlatTable holo_flat_table(HoloFlatTable table, int field);
HoloString    holo_flat_text(HoloFlatTable table, int field);
HoloFlatList  holo_flat_list(HoloFlatTable table, int field, size_t element_size); // of tables and texts: 4

// ---- elements of a list; i < list.count

int64_t                      holo_flat_list_i32(HoloFlatList list, size_t i);
int64_t                      holo_flat_list_i64(HoloFlatList list, size_t i);
float                        holo_flat_list_f32(HoloFlatList list, size_t i);
HoloFlatTable                holo_flat_list_table(HoloFlatList list, size_t i);
static inline const uint8_t *holo_flat_list_bytes(HoloFlatList list) // borrowed; not aligned
{
    return list.count ? list.flat->bytes + list.at : NULL;
}

#endif
