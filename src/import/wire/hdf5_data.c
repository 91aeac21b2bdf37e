// hdf5_data.c - contents of HDF5 files: data sets, in one piece or in chunks, and strings.
#include "import/wire/hdf5.h"
#include "ops/tensor.h"

#include <string.h>
#include <zlib.h>

enum { FILTER_DEFLATE = 1, FILTER_SHUFFLE = 2, FILTER_CHECKSUM = 3 };

static HoloStatus take_memory(HoloHdf5 *file, size_t size, void **out)
{
    if (size > file->memory)
        return holo_fail(file->error, HOLO_NO_MEMORY, "the HDF5 file asks for far more memory than its size");
    file->memory -= size;
    *out = holo_arena_take(file->arena, size);
    return *out ? HOLO_OK : holo_fail_memory(file->error);
}

// ---- strings

// The bytes of an object of the global heap.
static HoloStatus heap_object(HoloHdf5 *file, uint64_t address, uint64_t index, HoloString *out)
{
    HoloHdf5Span span;
    HOLO_TRY(holo_hdf5_at(file, address, 16, &span));
    const uint8_t *start = span.at;
    if (memcmp(start, "GCOL", 4)) return holo_hdf5_damaged(file, "a heap of strings is not where it should be");
    holo_hdf5_skip(&span, 8);
    uint64_t size = holo_hdf5_take(&span, file->length_size);
    if (size > (uint64_t)(span.end - start)) return holo_hdf5_damaged(file, "a heap of strings is cut off");
    span.end = start + size;
    while (span.end - span.at >= 8 + file->length_size) {
        uint64_t found = holo_hdf5_take(&span, 2);
        holo_hdf5_skip(&span, 6);
        uint64_t       bytes = holo_hdf5_take(&span, file->length_size);
        const uint8_t *at    = holo_hdf5_skip(&span, bytes);
        HOLO_TRY(holo_hdf5_work(file, 1));
        if (!at || !found) break;
        if (bytes % 8) holo_hdf5_skip(&span, 8 - bytes % 8);
        if (found != index) continue;
        *out = (HoloString){(const char *)at, bytes};
        return HOLO_OK;
    }
    return holo_hdf5_damaged(file, "a string is not in its heap");
}

static HoloStatus one_string(HoloHdf5 *file, const HoloHdf5Type *type, const uint8_t *at, HoloString *out)
{
    if (type->kind == HOLO_HDF5_TEXT) {
        size_t size = strnlen((const char *)at, type->size);
        while (size && at[size - 1] == ' ') size--;
        *out = (HoloString){(const char *)at, size};
        return HOLO_OK;
    }
    HoloHdf5Span span    = {at, at + type->size, false};
    uint64_t     size    = holo_hdf5_take(&span, 4);
    uint64_t     address = holo_hdf5_take(&span, file->offset_size), index = holo_hdf5_take(&span, 4);
    if (span.failed) return holo_hdf5_damaged(file, "a string is cut off");
    *out = (HoloString){"", 0};
    if (!size || !address) return HOLO_OK;
    HOLO_TRY(heap_object(file, address, index, out));
    if (size < out->size) out->size = size;
    out->size = strnlen(out->data, out->size);
    return HOLO_OK;
}

HoloStatus holo_hdf5_strings(HoloHdf5 *file, const HoloHdf5Attr *attr, HoloString *out)
{
    if (!attr->count) return HOLO_OK; // an empty list has any type
    if (attr->type.kind != HOLO_HDF5_TEXT && attr->type.kind != HOLO_HDF5_TEXTS)
        return holo_hdf5_damaged(file, "an attribute that should be a string is none");
    for (int64_t i = 0; i < attr->count; i++)
        HOLO_TRY(
            one_string(file, &attr->type, (const uint8_t *)attr->data.data + (uint64_t)i * attr->type.size, &out[i]));
    return HOLO_OK;
}

// ---- chunks

typedef struct Chunks {
    HoloHdf5           *file;
    const HoloHdf5Node *node;
    size_t              bytes; // of a chunk
    uint8_t            *inflated, *shuffled, *out;
} Chunks;

static bool has_filter(const HoloHdf5Node *node, int filter)
{
    for (int i = 0; i < node->filter_count; i++)
        if (node->filter[i] == filter) return true;
    return false;
}

static bool inflate_chunk(const uint8_t *bytes, size_t size, uint8_t *out, size_t room)
{
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK) return false;
    stream.next_in   = (Bytef *)bytes;
    stream.avail_in  = (uInt)(size < UINT32_MAX ? size : UINT32_MAX);
    stream.next_out  = out;
    stream.avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
    int state        = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return state == Z_STREAM_END && !stream.avail_out;
}

// Undoes the filters, from the last to the first. `mask` has the filters that this chunk was written without.
static HoloStatus undo_filters(Chunks *c, uint64_t mask, const uint8_t **bytes, uint64_t *size)
{
    size_t width = c->node->type.size;
    for (int i = c->node->filter_count - 1; i >= 0; i--) {
        if (mask >> i & 1) continue;
        if (c->node->filter[i] == FILTER_CHECKSUM) {
            if (*size < 4) return holo_hdf5_damaged(c->file, "a chunk is too small for its checksum");
            *size -= 4;
        } else if (c->node->filter[i] == FILTER_DEFLATE) {
            size_t room = c->bytes + (i > 0 && c->node->filter[i - 1] == FILTER_CHECKSUM ? 4 : 0);
            if (!inflate_chunk(*bytes, *size, c->inflated, room))
                return holo_hdf5_damaged(c->file, "a chunk cannot be inflated");
            *bytes = c->inflated;
            *size  = room;
        } else {
            size_t count = *size / width;
            if (*size > c->bytes) return holo_hdf5_damaged(c->file, "a chunk is too large");
            for (size_t k = 0; k < count; k++)
                for (size_t b = 0; b < width; b++) c->shuffled[k * width + b] = (*bytes)[b * count + k];
            *bytes = c->shuffled;
        }
    }
    return *size == c->bytes ? HOLO_OK : holo_hdf5_damaged(c->file, "a chunk does not have its size");
}

// Copies a chunk to its place; at the edges, the part of it that lies inside.
static HoloStatus place_chunk(Chunks *c, const int64_t *begin, const uint8_t *bytes)
{
    const HoloHdf5Node *node = c->node;
    int64_t             part[HOLO_MAX_RANK], from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], at = 0;
    holo_strides(node->rank, node->chunk, from);
    holo_strides(node->rank, node->dim, to);
    for (int i = 0; i < node->rank; i++) {
        if (begin[i] >= node->dim[i]) return holo_hdf5_damaged(c->file, "a chunk lies outside of its data set");
        part[i] = holo_least(node->chunk[i], node->dim[i] - begin[i]);
        at += begin[i] * to[i];
    }
    holo_move(node->rank, part, node->type.size, c->out + (size_t)at * node->type.size, to, bytes, from);
    return HOLO_OK;
}

static HoloStatus read_chunks(Chunks *c, uint64_t address, int levels)
{
    HoloHdf5    *file = c->file;
    HoloHdf5Span span;
    HOLO_TRY(holo_hdf5_work(file, 8));
    HOLO_TRY(holo_hdf5_at(file, address, 8, &span));
    if (levels < 0 || memcmp(span.at, "TREE", 4) || span.at[4] != 1)
        return holo_hdf5_damaged(file, "the chunks of a data set are not where they should be");
    holo_hdf5_skip(&span, 5);
    uint64_t level = holo_hdf5_take(&span, 1), count = holo_hdf5_take(&span, 2);
    holo_hdf5_skip(&span, 2u * (unsigned)file->offset_size);
    for (uint64_t i = 0; i < count; i++) {
        int64_t  begin[HOLO_MAX_RANK] = {0};
        uint64_t size = holo_hdf5_take(&span, 4), mask = holo_hdf5_take(&span, 4);
        for (int k = 0; k <= c->node->rank; k++) {
            uint64_t place = holo_hdf5_take(&span, 8);
            if (k < c->node->rank) begin[k] = place > INT64_MAX ? INT64_MAX : (int64_t)place;
        }
        uint64_t child = holo_hdf5_take(&span, file->offset_size);
        if (span.failed) return holo_hdf5_damaged(file, "the list of chunks is cut off");
        if (level) {
            HOLO_TRY(read_chunks(c, child, levels - 1));
            continue;
        }
        HoloHdf5Span stored;
        HOLO_TRY(holo_hdf5_work(file, 8 + (int64_t)(c->bytes / 1100)));
        HOLO_TRY(holo_hdf5_at(file, child, size, &stored));
        const uint8_t *bytes = stored.at;
        HOLO_TRY(undo_filters(c, mask, &bytes, &size));
        HOLO_TRY(place_chunk(c, begin, bytes));
    }
    return HOLO_OK;
}

static HoloStatus take_chunks(HoloHdf5 *file, const HoloHdf5Node *node, HoloTensor *out)
{
    Chunks  c        = {.file = file, .node = node};
    int64_t count    = 1;
    void   *inflated = NULL, *shuffled = NULL;
    for (int i = 0; i < node->rank; i++)
        if (!holo_mul(count, node->chunk[i], &count)) return holo_hdf5_damaged(file, "a chunk is too large");
    if (!holo_size_mul((size_t)count, node->type.size, &c.bytes))
        return holo_hdf5_damaged(file, "a chunk is too large");
    HOLO_TRY(take_memory(file, (size_t)node->count * node->type.size, &out->data));
    if (has_filter(node, FILTER_DEFLATE)) HOLO_TRY(take_memory(file, c.bytes + 4, &inflated));
    if (has_filter(node, FILTER_SHUFFLE)) HOLO_TRY(take_memory(file, c.bytes + 4, &shuffled));
    c.inflated = inflated;
    c.shuffled = shuffled;
    c.out      = out->data;
    if (node->chunk_tree == UINT64_MAX) return HOLO_OK; // nothing was written
    return read_chunks(&c, node->chunk_tree, 16);
}

HoloStatus holo_hdf5_tensor(HoloHdf5 *file, const HoloHdf5Node *node, HoloTensor *out)
{
    size_t bytes;
    *out = (HoloTensor){.dtype = (uint8_t)node->type.dtype, .rank = (int8_t)node->rank};
    if (node->layout == HOLO_HDF5_NONE || node->rank < 0 || node->type.kind != HOLO_HDF5_NUMBER)
        return holo_fail(file->error, HOLO_UNSUPPORTED, "'%.*s' of the HDF5 file is not a data set of numbers",
                         (int)(node->name.size < 200 ? node->name.size : 200), node->name.size ? node->name.data : "");
    for (int i = 0; i < node->rank; i++) out->dim[i] = node->dim[i];
    if (!node->count) return HOLO_OK;
    if (!holo_size_mul((size_t)node->count, node->type.size, &bytes))
        return holo_hdf5_damaged(file, "a data set is too large");
    if (node->layout == HOLO_HDF5_CHUNKS) return take_chunks(file, node, out);
    if (!node->data.size) return take_memory(file, bytes, &out->data); // never written: zeros
    if (node->data.size < bytes) return holo_hdf5_damaged(file, "a data set is smaller than its shape");
    bool aligned = (uintptr_t)node->data.data % node->type.size == 0;
    if (aligned && out->dtype != HOLO_BOOL) {
        out->data = (void *)node->data.data;
        return HOLO_OK;
    }
    HOLO_TRY(take_memory(file, bytes, &out->data));
    memcpy(out->data, node->data.data, bytes);
    if (out->dtype == HOLO_BOOL)
        for (size_t i = 0; i < bytes; i++) ((uint8_t *)out->data)[i] = ((uint8_t *)out->data)[i] != 0;
    return HOLO_OK;
}
