// flexbuffer.c - reads FlexBuffers. A buffer ends with its root, the root's type and its width. Offsets lead back from where
// they lie. A map is a list of values; before it lie its length, the width of its keys, and the offset to them; behind it,
// a byte for the type of each value. A type has its width, as a power of 2, in its low two bits.
#include "import/wire/flexbuffer.h"

#include <math.h>
#include <string.h>

enum {
    INT = 1,
    UINT,
    FLOAT,
    TEXT         = 5,
    INDIRECT_INT = 6,
    INDIRECT_UINT,
    INDIRECT_FLOAT,
    MAP,
    VECTOR,
    VECTOR_INT,
    VECTOR_UINT,
    BOOL = 26
};

typedef struct Flex {
    const uint8_t *bytes;
    size_t         size;
} Flex;

static bool lies_in(const Flex *f, size_t at, size_t count)
{
    return at <= f->size && count <= f->size - at;
}

static bool read_uint(const Flex *f, size_t at, int width, uint64_t *out)
{
    *out = 0;
    if (!lies_in(f, at, (size_t)width)) return false;
    for (int i = 0; i < width; i++) *out |= (uint64_t)f->bytes[at + (size_t)i] << 8 * i;
    return true;
}

// Where the offset at that place leads.
static bool follow(const Flex *f, size_t at, int width, size_t *out)
{
    uint64_t back;
    if (!read_uint(f, at, width, &back) || back > at) return false;
    *out = at - (size_t)back;
    return true;
}

static bool number_read(const Flex *f, size_t at, int width, int type, double *out)
{
    uint64_t bits;
    if (!read_uint(f, at, width, &bits)) return false;
    if (type == FLOAT) {
        float    narrow;
        uint32_t low = (uint32_t)bits;
        if (width != 4 && width != 8) return false;
        memcpy(&narrow, &low, sizeof narrow);
        memcpy(out, &bits, sizeof *out);
        if (width == 4) *out = (double)narrow;
        return true;
    }
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    *out          = type == INT ? (double)(int64_t)((bits ^ sign) - sign) : (double)bits;
    return true;
}

// A value of a map, whose elements have that width.
static bool value_read(const Flex *f, size_t at, int width, int packed, double *out)
{
    int type = packed >> 2;
    if (type == INT || type == UINT || type == FLOAT) return number_read(f, at, width, type, out);
    if (type == BOOL) return number_read(f, at, width, UINT, out);
    if (type < INDIRECT_INT || type > INDIRECT_FLOAT) return false;
    return follow(f, at, width, &at) && number_read(f, at, 1 << (packed & 3), type - INDIRECT_INT + INT, out);
}

// Is the text that the key at that place refers to this one?
static bool key_is(const Flex *f, size_t at, int width, const char *key)
{
    size_t text, length = strlen(key) + 1;
    return follow(f, at, width, &text) && lies_in(f, text, length) && !memcmp(f->bytes + text, key, length);
}

// The place of a map's value and its type.
static bool map_find(const Flex *f, size_t map, int width, const char *key, size_t *out_at, int *out_packed)
{
    uint64_t count, key_width;
    size_t   keys, w = (size_t)width;
    if (map < 3 * w || !read_uint(f, map - w, width, &count) || !read_uint(f, map - 2 * w, width, &key_width) ||
        !follow(f, map - 3 * w, width, &keys))
        return false;
    if ((key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8) || count > f->size) return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!key_is(f, keys + i * key_width, (int)key_width, key)) continue;
        size_t type = map + count * w + i;
        if (!lies_in(f, type, 1)) return false;
        *out_at     = map + i * w;
        *out_packed = f->bytes[type];
        return true;
    }
    return false;
}

// The root, which must be of that type. `out_width` is the width of its values.
static bool root_read(const Flex *f, int type, size_t *out_at, int *out_width)
{
    if (f->size < 3) return false;
    int width = f->bytes[f->size - 1], packed = f->bytes[f->size - 2];
    if ((width != 1 && width != 2 && width != 4 && width != 8) || packed >> 2 != type || (size_t)width > f->size - 2)
        return false;
    *out_width = 1 << (packed & 3);
    return follow(f, f->size - 2 - (size_t)width, width, out_at);
}

// A value of the root, which must be a map.
static bool root_find(const Flex *f, const char *key, size_t *out_at, int *out_width, int *out_packed)
{
    size_t map;
    return root_read(f, MAP, &map, out_width) && map_find(f, map, *out_width, key, out_at, out_packed);
}

bool holo_flex_text(const uint8_t *bytes, size_t size, uint64_t index, HoloString *out)
{
    Flex     f = {bytes, size};
    size_t   list, at;
    int      width;
    uint64_t count, length;
    if (!root_read(&f, VECTOR, &list, &width) || list < (size_t)width ||
        !read_uint(&f, list - (size_t)width, width, &count) || index >= count || count > size)
        return false;
    size_t kind = list + count * (size_t)width + index;
    if (!lies_in(&f, kind, 1) || bytes[kind] >> 2 != TEXT) return false;
    int own = 1 << (bytes[kind] & 3);
    if (!follow(&f, list + index * (size_t)width, width, &at) || at < (size_t)own ||
        !read_uint(&f, at - (size_t)own, own, &length) || !lies_in(&f, at, length))
        return false;
    *out = (HoloString){(const char *)bytes + at, length};
    return true;
}

double holo_flex_number(const uint8_t *bytes, size_t size, const char *key, double fallback)
{
    Flex   f = {bytes, size};
    size_t at;
    int    width, packed;
    double out;
    return root_find(&f, key, &at, &width, &packed) && value_read(&f, at, width, packed, &out) ? out : fallback;
}

int holo_flex_ints(const uint8_t *bytes, size_t size, const char *key, int64_t *out, int room)
{
    Flex     f = {bytes, size};
    size_t   at;
    int      width, packed;
    uint64_t count;
    if (!root_find(&f, key, &at, &width, &packed)) return -1;
    int    type = packed >> 2;
    size_t w    = (size_t)1 << (packed & 3);
    if (type != VECTOR && type != VECTOR_INT && type != VECTOR_UINT) return -1;
    if (!follow(&f, at, width, &at) || at < w || !read_uint(&f, at - w, (int)w, &count) || count > (uint64_t)room)
        return -1;
    for (uint64_t i = 0; i < count; i++) {
        size_t kind = at + count * w + i; // of a list of anything: the types are behind it
        double number;
        if (type == VECTOR && !lies_in(&f, kind, 1)) return -1;
        int own = type == VECTOR ? f.bytes[kind] : (type - VECTOR_INT + INT) << 2;
        if (!value_read(&f, at + i * w, (int)w, own, &number) || !(fabs(number) < 1e15)) return -1;
        out[i] = (int64_t)number;
    }
    return (int)count;
}
