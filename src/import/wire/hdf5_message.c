// hdf5_message.c - messages of HDF5's object headers: types, shapes, layouts, filters, attributes.
#include "import/wire/hdf5.h"

#include <string.h>

enum {
    MESSAGE_SPACE     = 0x01,
    MESSAGE_TYPE      = 0x03,
    MESSAGE_LAYOUT    = 0x08,
    MESSAGE_FILTERS   = 0x0B,
    MESSAGE_ATTRIBUTE = 0x0C,
    MESSAGE_ATTR_INFO = 0x15,
};

enum { CLASS_INT = 0, CLASS_FLOAT = 1, CLASS_STRING = 3, CLASS_ENUM = 8, CLASS_VARIABLE = 9 };

static HoloDtype number_of(uint64_t class, uint64_t bits, uint32_t size)
{
    static const HoloDtype floats[9]    = {[2] = HOLO_F16, [4] = HOLO_F32, [8] = HOLO_F64};
    static const HoloDtype ints[9]      = {[1] = HOLO_I8, [2] = HOLO_I16, [4] = HOLO_I32, [8] = HOLO_I64};
    static const HoloDtype unsigned_[9] = {[1] = HOLO_U8, [2] = HOLO_U16, [4] = HOLO_U32, [8] = HOLO_U64};
    if (size > 8 || bits & 1) return HOLO_NONE; // wide, or big-endian
    if (class == CLASS_FLOAT) return floats[size];
    return bits & 8 ? ints[size] : unsigned_[size];
}

// A type. What is not read becomes HOLO_HDF5_OTHER.
static void read_type(HoloHdf5Span *span, HoloHdf5Type *out)
{
    uint64_t class = holo_hdf5_take(span, 1) & 15, bits = holo_hdf5_take(span, 3);
    out->size = (uint32_t)holo_hdf5_take(span, 4);
    out->kind = HOLO_HDF5_OTHER;
    if (class == CLASS_INT || class == CLASS_FLOAT) {
        out->dtype = number_of(class, bits, out->size);
        out->kind  = out->dtype ? HOLO_HDF5_NUMBER : HOLO_HDF5_OTHER;
    } else if (class == CLASS_STRING) {
        out->kind = HOLO_HDF5_TEXT;
    } else if (class == CLASS_VARIABLE && (bits & 15) == 1) {
        out->kind = HOLO_HDF5_TEXTS;
    } else if (class == CLASS_ENUM && out->size == 1) {
        out->dtype = HOLO_BOOL; // NumPy's bool
        out->kind  = HOLO_HDF5_NUMBER;
    }
}

static HoloStatus read_space(const HoloHdf5 *file, HoloHdf5Span *span, int *out_rank, int64_t *dim, int64_t *out_count)
{
    uint64_t version = holo_hdf5_take(span, 1), rank = holo_hdf5_take(span, 1);
    uint64_t flags = holo_hdf5_take(span, 1), kind = holo_hdf5_take(span, 1);
    bool     is_null = version == 2 && kind == 2;
    (void)flags;
    if (version == 1) holo_hdf5_skip(span, 4);
    if (rank > HOLO_MAX_RANK) return holo_hdf5_damaged(file, "a shape has too many dimensions");
    if (is_null && rank) return holo_hdf5_damaged(file, "a shape of nothing has dimensions");
    *out_count = is_null ? 0 : 1;
    *out_rank  = is_null ? 1 : (int)rank;
    dim[0]     = 0;
    for (uint64_t i = 0; i < rank; i++) {
        uint64_t size = holo_hdf5_take(span, file->length_size);
        dim[i]        = (int64_t)size;
        if (size > INT64_MAX || !holo_mul(*out_count, (int64_t)size, out_count))
            return holo_hdf5_damaged(file, "a shape is too large");
    }
    return span->failed ? holo_hdf5_damaged(file, "a shape is cut off") : HOLO_OK;
}

// ---- attributes

static HoloHdf5Span take_part(HoloHdf5Span *span, uint64_t size, bool is_padded)
{
    const uint8_t *at = holo_hdf5_skip(span, size);
    if (is_padded && size % 8) holo_hdf5_skip(span, 8 - size % 8);
    return at ? (HoloHdf5Span){at, at + size, false} : (HoloHdf5Span){span->end, span->end, true};
}

static HoloStatus read_attribute(HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span)
{
    HoloHdf5Attr attr    = {0};
    uint64_t     version = holo_hdf5_take(&span, 1), bytes;
    holo_hdf5_take(&span, 1);
    uint64_t name_size = holo_hdf5_take(&span, 2), type_size = holo_hdf5_take(&span, 2),
             space_size = holo_hdf5_take(&span, 2);
    if (version == 3) holo_hdf5_take(&span, 1);
    if (version < 1 || version > 3) return holo_hdf5_damaged(file, "an attribute has an unknown version");
    HoloHdf5Span name = take_part(&span, name_size, version == 1), type = take_part(&span, type_size, version == 1);
    HoloHdf5Span space = take_part(&span, space_size, version == 1);
    if (span.failed) return holo_hdf5_damaged(file, "an attribute is cut off");
    attr.name = (HoloString){(const char *)name.at, strnlen((const char *)name.at, name_size)};
    read_type(&type, &attr.type);
    if (type.failed) return holo_hdf5_damaged(file, "the type of an attribute is cut off");
    HOLO_TRY(read_space(file, &space, &attr.rank, attr.dim, &attr.count));
    if (__builtin_mul_overflow((uint64_t)attr.count, attr.type.size, &bytes) ||
        !(attr.data.data = (const char *)holo_hdf5_skip(&span, bytes)))
        return holo_hdf5_damaged(file, "an attribute is longer than its header");
    attr.data.size = bytes;
    if (!HOLO_GROW(file->arena, node->attr, node->attr_count, node->attr_room)) return holo_fail_memory(file->error);
    node->attr[node->attr_count++] = attr;
    return HOLO_OK;
}

// ---- layouts

static HoloStatus set_whole(const HoloHdf5 *file, HoloHdf5Node *node, uint64_t address, uint64_t size)
{
    HoloHdf5Span span;
    node->layout = HOLO_HDF5_WHOLE;
    if (address == UINT64_MAX || (file->offset_size == 4 && address == UINT32_MAX)) return HOLO_OK; // never written
    HOLO_TRY(holo_hdf5_at(file, address, size, &span));
    node->data = (HoloString){(const char *)span.at, size};
    return HOLO_OK;
}

static HoloStatus read_chunk(const HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span *span, uint64_t count)
{
    if (!count || count > HOLO_MAX_RANK + 1) return holo_hdf5_damaged(file, "a chunk has too many dimensions");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t size = holo_hdf5_take(span, 4);
        if (i + 1 < count) node->chunk[i] = (int64_t)size;
        if (!size) return holo_hdf5_damaged(file, "a chunk has no elements");
    }
    node->layout = HOLO_HDF5_CHUNKS;
    return span->failed ? holo_hdf5_damaged(file, "a layout is cut off") : HOLO_OK;
}

static HoloStatus read_old_layout(const HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span)
{
    uint64_t count = holo_hdf5_take(&span, 1), class = holo_hdf5_take(&span, 1), size = 1;
    holo_hdf5_skip(&span, 5);
    uint64_t address = class ? holo_hdf5_take(&span, file->offset_size) : 0;
    if (class == 2) {
        node->chunk_tree = address;
        return read_chunk(file, node, &span, count);
    }
    for (uint64_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(size, holo_hdf5_take(&span, 4), &size))
            return holo_hdf5_damaged(file, "a layout is too large");
    if (class == 1) return set_whole(file, node, address, size);
    node->layout    = HOLO_HDF5_WHOLE;
    node->data.size = holo_hdf5_take(&span, 4);
    node->data.data = (const char *)holo_hdf5_skip(&span, node->data.size);
    return span.failed ? holo_hdf5_damaged(file, "a layout is cut off") : HOLO_OK;
}

static HoloStatus read_layout(const HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span)
{
    uint64_t version = holo_hdf5_take(&span, 1);
    if (version < 3) return read_old_layout(file, node, span);
    uint64_t class = holo_hdf5_take(&span, 1);
    if (class == 0) {
        node->layout    = HOLO_HDF5_WHOLE;
        node->data.size = holo_hdf5_take(&span, 2);
        node->data.data = (const char *)holo_hdf5_skip(&span, node->data.size);
    } else if (class == 1) {
        uint64_t address = holo_hdf5_take(&span, file->offset_size), size = holo_hdf5_take(&span, file->length_size);
        if (!span.failed) return set_whole(file, node, address, size);
    } else if (class == 2 && version == 3) {
        uint64_t count   = holo_hdf5_take(&span, 1);
        node->chunk_tree = holo_hdf5_take(&span, file->offset_size);
        return read_chunk(file, node, &span, count);
    } else {
        return holo_fail(file->error, HOLO_UNSUPPORTED,
                         "data set '%.*s' has a layout that is not read here: write the file again with h5py's "
                         "default, libver='earliest'",
                         (int)(node->name.size < 200 ? node->name.size : 200), node->name.data ? node->name.data : "");
    }
    return span.failed ? holo_hdf5_damaged(file, "a layout is cut off") : HOLO_OK;
}

static HoloStatus read_filters(const HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span)
{
    uint64_t version = holo_hdf5_take(&span, 1), count = holo_hdf5_take(&span, 1);
    if (version == 1) holo_hdf5_skip(&span, 6);
    for (uint64_t i = 0; i < count && !span.failed; i++) {
        uint64_t id = holo_hdf5_take(&span, 2), name = version == 1 || id >= 256 ? holo_hdf5_take(&span, 2) : 0;
        holo_hdf5_take(&span, 2);
        uint64_t values = holo_hdf5_take(&span, 2);
        holo_hdf5_skip(&span, version == 1 ? (name + 7) / 8 * 8 : name);
        holo_hdf5_skip(&span, 4 * values + (version == 1 && values % 2 ? 4 : 0));
        if (id < 1 || id > 3 || node->filter_count == HOLO_COUNT(node->filter))
            return holo_fail(
                file->error, HOLO_UNSUPPORTED,
                "a data set of the HDF5 file is compressed by filter %d, and only deflate (1), shuffle (2) "
                "and checksums (3) are read here",
                (int)id);
        node->filter[node->filter_count++] = (int)id;
    }
    return span.failed ? holo_hdf5_damaged(file, "a list of filters is cut off") : HOLO_OK;
}

static HoloStatus read_attr_info(const HoloHdf5 *file, HoloHdf5Span span)
{
    holo_hdf5_take(&span, 1);
    if (holo_hdf5_take(&span, 1) & 1) holo_hdf5_take(&span, 2);
    uint64_t heap = holo_hdf5_take(&span, file->offset_size);
    if (span.failed || heap == UINT64_MAX || (file->offset_size == 4 && heap == UINT32_MAX)) return HOLO_OK;
    return holo_fail(file->error, HOLO_UNSUPPORTED,
                     "this HDF5 file keeps attributes in a fractal heap, which is not read here: write it again with "
                     "h5py's default, libver='earliest'");
}

HoloStatus holo_hdf5_message(HoloHdf5 *file, HoloHdf5Node *node, int type, HoloHdf5Span span)
{
    switch (type) {
    case MESSAGE_SPACE: return read_space(file, &span, &node->rank, node->dim, &node->count);
    case MESSAGE_TYPE:
        read_type(&span, &node->type);
        return span.failed ? holo_hdf5_damaged(file, "a type is cut off") : HOLO_OK;
    case MESSAGE_LAYOUT: return read_layout(file, node, span);
    case MESSAGE_FILTERS: return read_filters(file, node, span);
    case MESSAGE_ATTRIBUTE: return read_attribute(file, node, span);
    case MESSAGE_ATTR_INFO: return read_attr_info(file, span);
    default: return HOLO_OK;
    }
}
