// zip.c - zip files: the end record, the central directory, local headers, and inflating.
#include "import/wire/zip.h"

#include <string.h>
#include <zlib.h>

enum {
    END_SIG        = 0x06054b50,
    END_SIZE       = 22,
    COMMENT_MAX    = 65535,
    END64_SIG      = 0x06064b50,
    END64_SIZE     = 56,
    LOCATOR_SIG    = 0x07064b50,
    LOCATOR_SIZE   = 20,
    CENTRAL_SIG    = 0x02014b50,
    CENTRAL_SIZE   = 46,
    LOCAL_SIG      = 0x04034b50,
    LOCAL_SIZE     = 30,
    EXTRA_ZIP64    = 1,
    FLAG_ENCRYPTED = 1,
    STORED         = 0,
    DEFLATED       = 8,
    RATIO_MAX      = 1032, // of deflate
};

typedef struct Zip {
    const uint8_t *bytes;
    size_t         size;
    HoloError     *error;
} Zip;

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, (size_t)bytes);
    return value;
}

static uint16_t u16(const uint8_t *at)
{
    return (uint16_t)number(at, 2);
}

static uint32_t u32(const uint8_t *at)
{
    return (uint32_t)number(at, 4);
}

static uint64_t u64(const uint8_t *at)
{
    return number(at, 8);
}

// `size` bytes at `offset`; NULL: not all of them are in the file.
static const uint8_t *range(const Zip *zip, uint64_t offset, uint64_t size)
{
    return offset <= zip->size && size <= zip->size - offset ? zip->bytes + offset : NULL;
}

static HoloStatus broken(const Zip *zip, const char *what)
{
    return holo_fail(zip->error, HOLO_BAD_INPUT, "the zip file is broken: %s", what);
}

// ---- the directory

typedef struct Directory {
    uint64_t offset, size, count;
} Directory;

static HoloStatus find_directory64(const Zip *zip, uint64_t end, Directory *out)
{
    const uint8_t *locator = end >= LOCATOR_SIZE ? range(zip, end - LOCATOR_SIZE, LOCATOR_SIZE) : NULL;
    if (!locator || u32(locator) != LOCATOR_SIG) return broken(zip, "its zip64 directory is missing");
    const uint8_t *at = range(zip, u64(locator + 8), END64_SIZE);
    if (!at || u32(at) != END64_SIG) return broken(zip, "its zip64 directory is missing");
    *out = (Directory){.count = u64(at + 32), .size = u64(at + 40), .offset = u64(at + 48)};
    return HOLO_OK;
}

static HoloStatus find_directory(const Zip *zip, Directory *out)
{
    uint64_t last  = zip->size < END_SIZE ? 0 : zip->size - END_SIZE;
    uint64_t first = last > COMMENT_MAX ? last - COMMENT_MAX : 0;
    for (uint64_t end = last + 1; end-- > first;) {
        const uint8_t *at = range(zip, end, END_SIZE);
        if (!at || u32(at) != END_SIG) continue;
        *out       = (Directory){.count = u16(at + 10), .size = u32(at + 12), .offset = u32(at + 16)};
        bool is_64 = out->count == UINT16_MAX || out->size == UINT32_MAX || out->offset == UINT32_MAX;
        return is_64 ? find_directory64(zip, end, out) : HOLO_OK;
    }
    return broken(zip, "it has no directory at its end (cut off?)");
}

// ---- entries

// Sizes of 4 GiB and more are in an extra field, in this order, each only where the plain one is full.
static HoloStatus read_extra64(const Zip *zip, const uint8_t *extra, uint64_t size, uint64_t *const *fields, int count)
{
    bool wanted = false;
    for (int i = 0; i < count; i++) wanted |= *fields[i] == UINT32_MAX;
    if (!wanted) return HOLO_OK;
    while (size >= 4) {
        uint64_t       length = u16(extra + 2);
        const uint8_t *at     = extra + 4, *end;
        if (length > size - 4) break;
        end = at + length;
        if (u16(extra) == EXTRA_ZIP64) {
            for (int i = 0; i < count; i++) {
                if (*fields[i] != UINT32_MAX) continue;
                if (end - at < 8) return broken(zip, "an entry's zip64 sizes are missing");
                *fields[i] = u64(at);
                at += 8;
            }
            return HOLO_OK;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return HOLO_OK; // the size is what it says
}

// Reads the entry at *offset of the directory and moves behind it.
static HoloStatus read_entry(const Zip *zip, HoloArena *arena, uint64_t *offset, HoloZipEntry *out)
{
    const uint8_t *at = range(zip, *offset, CENTRAL_SIZE);
    if (!at || u32(at) != CENTRAL_SIG) return broken(zip, "its directory is cut off");
    uint64_t name = u16(at + 28), extra = u16(at + 30), comment = u16(at + 32);
    uint64_t stored = u32(at + 20), size = u32(at + 24), local = u32(at + 42);
    if (!range(zip, *offset, CENTRAL_SIZE + name + extra + comment)) return broken(zip, "its directory is cut off");
    HOLO_TRY(read_extra64(zip, at + CENTRAL_SIZE + name, extra, (uint64_t *const[]){&size, &stored, &local}, 3));
    out->name = holo_arena_text(arena, (const char *)at + CENTRAL_SIZE, (size_t)name);
    if (!out->name) return holo_fail_memory(zip->error);
    if (u16(at + 8) & FLAG_ENCRYPTED)
        return holo_fail(zip->error, HOLO_UNSUPPORTED,
                         "entry '%s' of the zip file is encrypted: write it without a password", out->name);
    const uint8_t *header = range(zip, local, LOCAL_SIZE);
    if (!header || u32(header) != LOCAL_SIG) return broken(zip, "an entry is not where the directory says");
    out->stored = range(zip, local + LOCAL_SIZE + u16(header + 26) + u16(header + 28), stored);
    if (!out->stored) return broken(zip, "an entry is cut off");
    out->method      = u16(at + 10);
    out->crc         = u32(at + 16);
    out->stored_size = (size_t)stored;
    out->size        = (size_t)size;
    *offset += CENTRAL_SIZE + name + extra + comment;
    if (out->method == STORED && stored != size) return broken(zip, "a stored entry has two sizes");
    return HOLO_OK;
}

HoloStatus holo_zip_open(HoloArena *arena, const void *bytes, size_t size, HoloZipEntry **out, int *out_count,
                         HoloError *error)
{
    Zip       zip       = {bytes, size, error};
    Directory directory = {0};
    HOLO_TRY(find_directory(&zip, &directory));
    if (!range(&zip, directory.offset, directory.size) || directory.count > directory.size / CENTRAL_SIZE ||
        directory.count > INT32_MAX)
        return broken(&zip, "its directory is larger than the file");
    *out_count = (int)directory.count;
    *out       = HOLO_NEW(arena, HoloZipEntry, directory.count);
    if (!*out) return holo_fail_memory(error);
    size_t total = 0;
    for (int i = 0; i < *out_count; i++) {
        HOLO_TRY(read_entry(&zip, arena, &directory.offset, &(*out)[i]));
        total += (*out)[i].stored_size; // both are below the file's size: the sum fits
        if (total > size) return broken(&zip, "its entries overlap");
    }
    return HOLO_OK;
}

// ---- contents

// Inflates up to `room` bytes; *out_left of that is not filled. The last state of zlib: Z_MEM_ERROR where it could not
// begin.
static int inflate_part(const HoloZipEntry *entry, void *out, size_t room, size_t *out_left)
{
    z_stream stream  = {.next_in = (Bytef *)entry->stored, .next_out = out};
    size_t   in_left = entry->stored_size, left = room;
    *out_left = room;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Z_MEM_ERROR;
    int state = Z_OK;
    while (state == Z_OK) { // zlib counts in 32 bits
        uInt in          = in_left > UINT32_MAX ? UINT32_MAX : (uInt)in_left;
        uInt to          = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
        stream.avail_in  = in;
        stream.avail_out = to;
        state            = inflate(&stream, Z_NO_FLUSH);
        in_left -= in - stream.avail_in;
        left -= to - stream.avail_out;
    }
    inflateEnd(&stream);
    *out_left = left;
    return state;
}

size_t holo_zip_peek(const HoloZipEntry *entry, void *out, size_t room)
{
    size_t left = 0, size = entry->size < room ? entry->size : room;
    if (entry->method == STORED && size)
        memcpy(out, entry->stored, size);
    else if (entry->method == DEFLATED)
        inflate_part(entry, out, size, &left);
    return entry->method == STORED || entry->method == DEFLATED ? size - left : 0;
}

static HoloStatus inflate_entry(const HoloZipEntry *entry, void *out, HoloError *error)
{
    size_t left;
    int    state = inflate_part(entry, out, entry->size, &left);
    if (state == Z_MEM_ERROR) return holo_fail_memory(error);
    if (state == Z_STREAM_END && left == 0) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_INPUT, "entry '%s' of the zip file cannot be inflated", entry->name);
}

HoloStatus holo_zip_read(HoloArena *arena, const HoloZipEntry *entry, const void **out, HoloError *error)
{
    *out = entry->stored;
    if (entry->method == DEFLATED) {
        if (entry->size / RATIO_MAX > entry->stored_size)
            return holo_fail(error, HOLO_BAD_INPUT, "entry '%s' of the zip file claims an impossible size",
                             entry->name);
        void *memory = holo_arena_take(arena, entry->size);
        if (!memory) return holo_fail(error, HOLO_NO_MEMORY, "no memory for entry '%s' of the zip file", entry->name);
        HOLO_TRY(inflate_entry(entry, memory, error));
        *out = memory;
    } else if (entry->method != STORED) {
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "entry '%s' of the zip file uses compression method %d: write it with numpy.savez_compressed",
                         entry->name, entry->method);
    }
    if (crc32_z(0, *out, entry->size) == entry->crc) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_INPUT, "entry '%s' of the zip file does not match its checksum", entry->name);
}
