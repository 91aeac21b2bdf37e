// sstable.c - sorted tables of keys and values. See sstable.h.
//
// A table is blocks, then a block that is their index, then a footer. In a block each key is given by how much of it is
// as in the key before. Checksums are not compared: a damaged value fails where it is read.
#include "import/wire/sstable.h"

#include <string.h>

enum { FOOTER = 48, TRAILER = 5 };
static const uint8_t magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

typedef struct Reader {
    HoloArena   *arena;
    HoloError   *error;
    HoloString   file;
    HoloSsTable *out;
    size_t       left; // how many bytes keys may still take
} Reader;

static HoloStatus damaged(const Reader *r)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "the index of the variables is damaged");
}

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool holo_sstable_is(const void *bytes, size_t size)
{
    return size >= FOOTER && !memcmp((const char *)bytes + size - 8, magic, 8);
}

// The entries of the block at a handle, without its list of restarts.
static HoloStatus open_block(Reader *r, uint64_t offset, uint64_t size, HoloString *out)
{
    uint32_t restarts;
    if (offset > r->file.size || size > r->file.size - offset || r->file.size - offset - size < TRAILER)
        return damaged(r);
    *out = (HoloString){r->file.data + offset, size};
    if (out->data[size] == 1)
        HOLO_TRY(holo_snappy_read(r->arena, *out, out, r->error));
    else if (out->data[size] != 0)
        return damaged(r);
    if (out->size < 4) return damaged(r);
    memcpy(&restarts, out->data + out->size - 4, 4);
    if (restarts > (out->size - 4) / 4) return damaged(r);
    out->size -= 4 + 4 * (size_t)restarts;
    return HOLO_OK;
}

typedef HoloStatus Visit(Reader *r, HoloString key, HoloString value);

static HoloStatus read_block(Reader *r, uint64_t offset, uint64_t size, Visit *visit)
{
    HoloString block, key = {"", 0};
    HOLO_TRY(open_block(r, offset, size, &block));
    const uint8_t *at = (const uint8_t *)block.data, *end = at + block.size;
    while (at < end) {
        uint64_t shared, own, value, total;
        if (!take_varint(&at, end, &shared) || !take_varint(&at, end, &own) || !take_varint(&at, end, &value))
            return damaged(r);
        if (shared > key.size || own > (uint64_t)(end - at) || value > (uint64_t)(end - at) - own) return damaged(r);
        total = shared + own;
        if (total > r->left) return damaged(r);
        r->left -= total;
        char *text = holo_arena_take(r->arena, total + 1);
        if (!text) return holo_fail_memory(r->error);
        memcpy(text, key.data, shared);
        memcpy(text + shared, at, own);
        key = (HoloString){text, total};
        at += own;
        HOLO_TRY(visit(r, key, (HoloString){(const char *)at, value}));
        at += value;
    }
    return HOLO_OK;
}

static HoloStatus add_entry(Reader *r, HoloString key, HoloString value)
{
    HoloSsTable *out = r->out;
    if (!HOLO_GROW(r->arena, out->key, out->count, out->room) ||
        !HOLO_GROW(r->arena, out->value, out->count, out->value_room))
        return holo_fail_memory(r->error);
    out->key[out->count]     = key;
    out->value[out->count++] = value;
    return HOLO_OK;
}

static HoloStatus add_block(Reader *r, HoloString key, HoloString value)
{
    const uint8_t *at = (const uint8_t *)value.data, *end = at + value.size;
    uint64_t       offset, size;
    (void)key;
    if (!take_varint(&at, end, &offset) || !take_varint(&at, end, &size)) return damaged(r);
    return read_block(r, offset, size, add_entry);
}

HoloStatus holo_sstable_read(HoloArena *arena, const void *bytes, size_t size, HoloSsTable *out, HoloError *error)
{
    Reader   r = {arena, error, {bytes, size}, out, 4096 + size * 16};
    uint64_t skipped, offset, length;
    *out = (HoloSsTable){0};
    if (!holo_sstable_is(bytes, size)) return damaged(&r);
    const uint8_t *at = (const uint8_t *)bytes + size - FOOTER, *end = at + FOOTER - 8;
    if (!take_varint(&at, end, &skipped) || !take_varint(&at, end, &skipped) || !take_varint(&at, end, &offset) ||
        !take_varint(&at, end, &length))
        return damaged(&r);
    return read_block(&r, offset, length, add_block);
}

// ---- Snappy

// Copies `size` bytes from `back` bytes before the end; they may overlap. False: they are not there.
static bool copy_back(uint8_t *out, size_t *made, size_t room, uint64_t back, uint64_t size)
{
    if (!back || back > *made || size > room - *made) return false;
    for (uint64_t i = 0; i < size; i++) out[*made + i] = out[*made + i - back];
    *made += size;
    return true;
}

static uint64_t take_bytes(const uint8_t **at, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint64_t) * (*at)++ << 8 * i;
    return value;
}

static bool unpack(const uint8_t *at, const uint8_t *end, uint8_t *out, size_t room)
{
    static const int more[4] = {0, 1, 2, 4}; // bytes of a copy behind its tag
    size_t           made    = 0;
    while (at < end) {
        uint8_t tag = *at++, kind = tag & 3;
        if (kind == 0) {
            uint64_t size  = tag >> 2;
            int      long_ = size >= 60 ? (int)size - 59 : 0;
            if (end - at < long_) return false;
            if (long_) size = take_bytes(&at, long_);
            size++;
            if (size > (uint64_t)(end - at) || size > room - made) return false;
            memcpy(out + made, at, size);
            made += size;
            at += size;
            continue;
        }
        if (end - at < more[kind]) return false;
        uint64_t low  = take_bytes(&at, more[kind]);
        uint64_t back = kind == 1 ? (uint64_t)(tag >> 5) << 8 | low : low;
        if (!copy_back(out, &made, room, back, kind == 1 ? (tag >> 2 & 7) + 4u : (tag >> 2) + 1u)) return false;
    }
    return made == room;
}

HoloStatus holo_snappy_read(HoloArena *arena, HoloString bytes, HoloString *out, HoloError *error)
{
    const uint8_t *at = (const uint8_t *)bytes.data, *end = at + bytes.size;
    uint64_t       size;
    if (!take_varint(&at, end, &size) || size / 64 > bytes.size) // two bytes make at most 64
        return holo_fail(error, HOLO_BAD_MODEL, "a compressed block is damaged");
    uint8_t *memory = holo_arena_take(arena, size + 1);
    if (!memory) return holo_fail_memory(error);
    if (!unpack(at, end, memory, size)) return holo_fail(error, HOLO_BAD_MODEL, "a compressed block is damaged");
    *out = (HoloString){(const char *)memory, size};
    return HOLO_OK;
}
