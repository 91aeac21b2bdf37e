// hdf5.c - the tree of an HDF5 file: superblock, object headers, groups. See hdf5.h.
#include "import/wire/hdf5.h"

#include <string.h>

#define SIGNATURE "\x89HDF\r\n\x1a\n"

enum {
    MESSAGE_LINK_INFO    = 0x02,
    MESSAGE_LINK         = 0x06,
    MESSAGE_CONTINUATION = 0x10,
    MESSAGE_SYMBOL_TABLE = 0x11,
    DEPTH_MAX            = 32, // groups in groups
    BLOCKS_MAX           = 4096,
};

// ---- bytes

uint64_t holo_hdf5_take(HoloHdf5Span *span, int size)
{
    uint64_t value = 0;
    if (span->end - span->at < size) {
        span->failed = true;
        span->at     = span->end;
        return 0;
    }
    for (int i = 0; i < size; i++) value |= (uint64_t)span->at[i] << 8 * i;
    span->at += size;
    return value;
}

const uint8_t *holo_hdf5_skip(HoloHdf5Span *span, uint64_t size)
{
    const uint8_t *at = span->at;
    if (size > (uint64_t)(span->end - span->at)) {
        span->failed = true;
        span->at     = span->end;
        return NULL;
    }
    span->at += size;
    return at;
}

HoloStatus holo_hdf5_damaged(const HoloHdf5 *file, const char *what)
{
    return holo_fail(file->error, HOLO_BAD_MODEL, "the HDF5 file is damaged: %s", what);
}

HoloStatus holo_hdf5_work(HoloHdf5 *file, int64_t amount)
{
    file->work -= amount;
    return file->work < 0 ? holo_hdf5_damaged(file, "its parts refer to each other in a circle") : HOLO_OK;
}

HoloStatus holo_hdf5_at(const HoloHdf5 *file, uint64_t address, uint64_t size, HoloHdf5Span *out)
{
    uint64_t at = address + file->base;
    *out        = (HoloHdf5Span){file->data, file->data, true};
    if (at < address || at > file->size || size > file->size - at)
        return holo_hdf5_damaged(file, "an address lies outside of the file");
    *out = (HoloHdf5Span){file->data + at, file->data + file->size, false};
    return HOLO_OK;
}

static bool begins(HoloHdf5Span *span, const char *signature)
{
    const uint8_t *bytes = holo_hdf5_skip(span, 4);
    return bytes && !memcmp(bytes, signature, 4);
}

// ---- groups

static HoloStatus read_object(HoloHdf5 *file, HoloHdf5Node *node, uint64_t address, int depth);

static HoloStatus add_child(HoloHdf5 *file, HoloHdf5Node *node, HoloString name, uint64_t address, int depth)
{
    if (!HOLO_GROW(file->arena, node->child, node->child_count, node->child_room)) return holo_fail_memory(file->error);
    HoloHdf5Node *child = &node->child[node->child_count++];
    *child              = (HoloHdf5Node){.name = name, .rank = -1};
    return read_object(file, child, address, depth + 1);
}

// A name in the heap of a group, which ends with a zero.
static HoloStatus heap_name(const HoloHdf5 *file, HoloHdf5Span heap, uint64_t offset, HoloString *out)
{
    holo_hdf5_skip(&heap, offset);
    const uint8_t *end = heap.failed ? NULL : memchr(heap.at, 0, (size_t)(heap.end - heap.at));
    if (!end) return holo_hdf5_damaged(file, "a name has no end");
    *out = (HoloString){(const char *)heap.at, (size_t)(end - heap.at)};
    return HOLO_OK;
}

static HoloStatus read_symbols(HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span, HoloHdf5Span heap, int depth)
{
    holo_hdf5_take(&span, 2);
    for (uint64_t count = holo_hdf5_take(&span, 2); count-- && !span.failed;) {
        uint64_t   offset  = holo_hdf5_take(&span, file->offset_size);
        uint64_t   address = holo_hdf5_take(&span, file->offset_size);
        uint64_t   cache   = holo_hdf5_take(&span, 4);
        HoloString name;
        holo_hdf5_skip(&span, 20);
        if (span.failed || cache == 2) continue; // 2: a symbolic link
        HOLO_TRY(heap_name(file, heap, offset, &name));
        HOLO_TRY(add_child(file, node, name, address, depth));
    }
    return span.failed ? holo_hdf5_damaged(file, "a group is cut off") : HOLO_OK;
}

// A node of a group's tree: other nodes, or names.
static HoloStatus read_tree(HoloHdf5 *file, HoloHdf5Node *node, uint64_t address, HoloHdf5Span heap, int levels,
                            int depth)
{
    HoloHdf5Span span;
    HOLO_TRY(holo_hdf5_work(file, 8));
    HOLO_TRY(holo_hdf5_at(file, address, 8, &span));
    if (levels < 0) return holo_hdf5_damaged(file, "the tree of a group is too deep");
    HoloHdf5Span symbols = span;
    if (begins(&symbols, "SNOD")) return read_symbols(file, node, symbols, heap, depth);
    if (!begins(&span, "TREE")) return holo_hdf5_damaged(file, "the tree of a group is not where it should be");
    holo_hdf5_take(&span, 2);
    uint64_t count = holo_hdf5_take(&span, 2);
    holo_hdf5_skip(&span, 2u * (unsigned)file->offset_size);
    for (uint64_t i = 0; i < count; i++) {
        holo_hdf5_skip(&span, (unsigned)file->length_size);
        uint64_t child = holo_hdf5_take(&span, file->offset_size);
        if (span.failed) return holo_hdf5_damaged(file, "the tree of a group is cut off");
        HOLO_TRY(read_tree(file, node, child, heap, levels - 1, depth));
    }
    return HOLO_OK;
}

static HoloStatus read_symbol_table(HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span, int depth)
{
    uint64_t     tree = holo_hdf5_take(&span, file->offset_size), heap_at = holo_hdf5_take(&span, file->offset_size);
    HoloHdf5Span heap, names;
    if (span.failed) return holo_hdf5_damaged(file, "a group is cut off");
    HOLO_TRY(holo_hdf5_at(file, heap_at, 8, &heap));
    if (!begins(&heap, "HEAP")) return holo_hdf5_damaged(file, "the names of a group are not where they should be");
    holo_hdf5_take(&heap, 4);
    uint64_t size = holo_hdf5_take(&heap, file->length_size);
    holo_hdf5_skip(&heap, (unsigned)file->length_size);
    HOLO_TRY(holo_hdf5_at(file, holo_hdf5_take(&heap, file->offset_size), size, &names));
    names.end = names.at + size;
    return read_tree(file, node, tree, names, 8, depth);
}

static HoloStatus read_link(HoloHdf5 *file, HoloHdf5Node *node, HoloHdf5Span span, int depth)
{
    holo_hdf5_take(&span, 1);
    uint64_t flags = holo_hdf5_take(&span, 1), kind = flags & 8 ? holo_hdf5_take(&span, 1) : 0;
    if (flags & 4) holo_hdf5_take(&span, 8);
    if (flags & 16) holo_hdf5_take(&span, 1);
    uint64_t       size    = holo_hdf5_take(&span, 1 << (flags & 3));
    const uint8_t *name    = holo_hdf5_skip(&span, size);
    uint64_t       address = kind == 0 ? holo_hdf5_take(&span, file->offset_size) : 0;
    if (span.failed) return holo_hdf5_damaged(file, "a link is cut off");
    if (kind) return HOLO_OK; // a link by name
    return add_child(file, node, (HoloString){(const char *)name, size}, address, depth);
}

static bool is_undefined(const HoloHdf5 *file, uint64_t address)
{
    return address == (file->offset_size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * file->offset_size) - 1);
}

static HoloStatus read_link_info(HoloHdf5 *file, HoloHdf5Span span)
{
    holo_hdf5_take(&span, 1);
    uint64_t flags = holo_hdf5_take(&span, 1);
    if (flags & 1) holo_hdf5_take(&span, 8);
    if (is_undefined(file, holo_hdf5_take(&span, file->offset_size)) || span.failed) return HOLO_OK;
    return holo_fail(file->error, HOLO_UNSUPPORTED,
                     "this HDF5 file keeps a group in a fractal heap, which is not read here: write it again with "
                     "h5py's default, libver='earliest'");
}

// ---- object headers

typedef struct Block {
    HoloHdf5Span span;
} Block;

typedef struct Header {
    HoloHdf5Node *node;
    int           depth, version;
    bool          has_order; // of version 2: messages have a number
    int           block_count;
    Block         block[64];
} Header;

static HoloStatus add_block(HoloHdf5 *file, Header *h, uint64_t address, uint64_t size)
{
    HoloHdf5Span span;
    if (h->block_count == HOLO_COUNT(h->block)) return holo_hdf5_damaged(file, "an object has too many parts");
    HOLO_TRY(holo_hdf5_at(file, address, size, &span));
    span.end = span.at + size;
    if (h->version == 2) {
        if (size < 8 || !begins(&span, "OCHK")) return holo_hdf5_damaged(file, "a part of an object is missing");
        span.end -= 4; // its checksum
    }
    h->block[h->block_count++].span = span;
    return HOLO_OK;
}

static HoloStatus take_message(HoloHdf5 *file, Header *h, int type, HoloHdf5Span span)
{
    if (type == MESSAGE_SYMBOL_TABLE) return read_symbol_table(file, h->node, span, h->depth);
    if (type == MESSAGE_LINK) return read_link(file, h->node, span, h->depth);
    if (type == MESSAGE_LINK_INFO) return read_link_info(file, span);
    if (type != MESSAGE_CONTINUATION) return holo_hdf5_message(file, h->node, type, span);
    uint64_t address = holo_hdf5_take(&span, file->offset_size), size = holo_hdf5_take(&span, file->length_size);
    return add_block(file, h, address, size);
}

static HoloStatus read_messages(HoloHdf5 *file, Header *h)
{
    int least = h->version == 1 ? 8 : h->has_order ? 6 : 4;
    for (int i = 0; i < h->block_count; i++) {
        HoloHdf5Span *span = &h->block[i].span;
        while (span->end - span->at >= least) {
            int type = (int)holo_hdf5_take(span, h->version == 1 ? 2 : 1), size = (int)holo_hdf5_take(span, 2);
            int flags = (int)holo_hdf5_take(span, 1);
            holo_hdf5_skip(span, h->version == 1 ? 3 : h->has_order ? 2 : 0);
            const uint8_t *body = holo_hdf5_skip(span, (unsigned)size);
            HOLO_TRY(holo_hdf5_work(file, 4));
            if (!body) return holo_hdf5_damaged(file, "a message is longer than its header");
            if (flags & 2) continue; // shared: a type that has a name, which no data set of models uses
            HOLO_TRY(take_message(file, h, type, (HoloHdf5Span){body, body + size, false}));
        }
    }
    return HOLO_OK;
}

static HoloStatus open_header_2(HoloHdf5 *file, Header *h, HoloHdf5Span span)
{
    h->version = 2;
    holo_hdf5_take(&span, 1);
    uint64_t flags = holo_hdf5_take(&span, 1);
    h->has_order   = flags & 4;
    if (flags & 0x20) holo_hdf5_skip(&span, 16);
    if (flags & 0x10) holo_hdf5_skip(&span, 4);
    uint64_t       size = holo_hdf5_take(&span, 1 << (flags & 3));
    const uint8_t *at   = holo_hdf5_skip(&span, size);
    if (!at) return holo_hdf5_damaged(file, "the header of an object is cut off");
    h->block[h->block_count++].span = (HoloHdf5Span){at, at + size, false};
    return HOLO_OK;
}

static HoloStatus read_object(HoloHdf5 *file, HoloHdf5Node *node, uint64_t address, int depth)
{
    Header       h = {.node = node, .depth = depth, .version = 1};
    HoloHdf5Span span;
    HOLO_TRY(holo_hdf5_work(file, 8));
    if (depth > DEPTH_MAX) return holo_hdf5_damaged(file, "groups are nested too deeply");
    HOLO_TRY(holo_hdf5_at(file, address, 16, &span));
    HoloHdf5Span second = span;
    if (begins(&second, "OHDR")) {
        HOLO_TRY(open_header_2(file, &h, second));
    } else {
        uint64_t version = holo_hdf5_take(&span, 1);
        if (version != 1) return holo_hdf5_damaged(file, "the header of an object is not where it should be");
        holo_hdf5_skip(&span, 7);
        uint64_t size = holo_hdf5_take(&span, 4);
        holo_hdf5_skip(&span, 4);
        const uint8_t *at = holo_hdf5_skip(&span, size);
        if (!at) return holo_hdf5_damaged(file, "the header of an object is cut off");
        h.block[h.block_count++].span = (HoloHdf5Span){at, at + size, false};
    }
    return read_messages(file, &h);
}

// ---- the file

bool holo_hdf5_is(const void *bytes, size_t size)
{
    return size >= 8 && !memcmp(bytes, SIGNATURE, 8);
}

static HoloStatus read_superblock(HoloHdf5 *file, uint64_t *out_root)
{
    HoloHdf5Span span    = {file->data + 8, file->data + file->size, false};
    uint64_t     version = holo_hdf5_take(&span, 1);
    if (version > 3)
        return holo_fail(file->error, HOLO_UNSUPPORTED, "HDF5 files of version %d are not read here", (int)version);
    if (version < 2) holo_hdf5_skip(&span, 4);
    file->offset_size = (int)holo_hdf5_take(&span, 1);
    file->length_size = (int)holo_hdf5_take(&span, 1);
    if ((file->offset_size != 4 && file->offset_size != 8) || (file->length_size != 4 && file->length_size != 8))
        return holo_hdf5_damaged(file, "its addresses have neither 4 nor 8 bytes");
    holo_hdf5_skip(&span, version == 0 ? 9 : version == 1 ? 13 : 1);
    file->base = holo_hdf5_take(&span, file->offset_size);
    holo_hdf5_skip(&span, (version < 2 ? 4u : 2u) * (unsigned)file->offset_size);
    *out_root = holo_hdf5_take(&span, file->offset_size);
    return span.failed ? holo_hdf5_damaged(file, "it is cut off") : HOLO_OK;
}

HoloStatus holo_hdf5_open(HoloArena *arena, const void *bytes, size_t size, HoloHdf5 *out, HoloError *error)
{
    uint64_t root = 0;
    *out          = (HoloHdf5){.arena = arena, .error = error, .data = bytes, .size = size, .root = {.rank = -1}};
    if (!holo_hdf5_is(bytes, size)) return holo_fail(error, HOLO_BAD_MODEL, "this is not an HDF5 file");
    out->work = 1000 + (int64_t)size;
    if (!holo_size_mul(size, 64, &out->memory) || !holo_size_add(out->memory, (size_t)64 << 20, &out->memory))
        out->memory = SIZE_MAX;
    HOLO_TRY(read_superblock(out, &root));
    return read_object(out, &out->root, root, 0);
}

const HoloHdf5Node *holo_hdf5_find(const HoloHdf5Node *group, HoloString path)
{
    while (group && path.size) {
        const char         *slash = memchr(path.data, '/', path.size);
        size_t              size  = slash ? (size_t)(slash - path.data) : path.size;
        const HoloHdf5Node *found = size ? NULL : group;
        for (int i = 0; i < group->child_count && !found; i++)
            if (group->child[i].name.size == size && !memcmp(group->child[i].name.data, path.data, size))
                found = &group->child[i];
        group = found;
        path  = slash ? (HoloString){slash + 1, path.size - size - 1} : (HoloString){path.data, 0};
    }
    return group;
}

const HoloHdf5Attr *holo_hdf5_attr(const HoloHdf5Node *node, const char *name)
{
    size_t size = strlen(name);
    for (int i = 0; i < node->attr_count; i++)
        if (node->attr[i].name.size == size && !memcmp(node->attr[i].name.data, name, size)) return &node->attr[i];
    return NULL;
}
