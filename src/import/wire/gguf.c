// gguf.c - GGUF files: the header, the metadata, and where each tensor lies. See gguf.h.
#include "import/wire/gguf.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied from little-endian files");

enum {
    MAGIC_SIZE     = 4,
    ALIGNMENT      = 32,         // where the file names none
    ALIGNMENT_MAX  = 1 << 20,    // more would be a mistake
    DEPTH_MAX      = 8,          // of arrays in arrays
    ENTRY_SIZE_MIN = 8 + 4 + 1,  // an empty key, a kind, a byte
    INFO_SIZE_MIN  = 8 + 12 + 4, // an empty name, a rank, a type, an offset
};

typedef struct Reader {
    HoloArena     *arena;
    const char    *file;
    const uint8_t *start, *at, *end;
    HoloError     *error;
} Reader;

static const uint8_t sizes[HOLO_GGUF_KINDS] = {
    [HOLO_GGUF_U8] = 1,  [HOLO_GGUF_I8] = 1,  [HOLO_GGUF_U16] = 2,  [HOLO_GGUF_I16] = 2,
    [HOLO_GGUF_U32] = 4, [HOLO_GGUF_I32] = 4, [HOLO_GGUF_F32] = 4,  [HOLO_GGUF_U64] = 8,
    [HOLO_GGUF_I64] = 8, [HOLO_GGUF_F64] = 8, [HOLO_GGUF_BOOL] = 1,
};

static HoloStatus wrong(const Reader *r, const uint8_t *at, const char *what)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s: at byte %llu: %s", r->file, (unsigned long long)(at - r->start),
                     what);
}

static HoloStatus wrong_name(const Reader *r, const uint8_t *at, HoloString name, const char *what)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s: at byte %llu: '%.*s': %s", r->file,
                     (unsigned long long)(at - r->start), (int)(name.size < 200 ? name.size : 200), name.data, what);
}

static uint64_t left(const Reader *r)
{
    return (uint64_t)(r->end - r->at);
}

static HoloStatus take(Reader *r, uint64_t size, const uint8_t **out)
{
    *out = r->at;
    if (size > left(r)) return wrong(r, r->at, "something that begins here goes on behind the end of the file");
    r->at += size;
    return HOLO_OK;
}

static HoloStatus take_u32(Reader *r, uint32_t *out)
{
    const uint8_t *bytes;
    *out = 0;
    HOLO_TRY(take(r, sizeof *out, &bytes));
    memcpy(out, bytes, sizeof *out);
    return HOLO_OK;
}

static HoloStatus take_u64(Reader *r, uint64_t *out)
{
    const uint8_t *bytes;
    *out = 0;
    HOLO_TRY(take(r, sizeof *out, &bytes));
    memcpy(out, bytes, sizeof *out);
    return HOLO_OK;
}

static HoloStatus take_text(Reader *r, HoloString *out)
{
    uint64_t       size;
    const uint8_t *bytes;
    HOLO_TRY(take_u64(r, &size));
    HOLO_TRY(take(r, size, &bytes));
    *out = (HoloString){(const char *)bytes, (size_t)size};
    return HOLO_OK;
}

// ---- values

static HoloStatus take_kind(Reader *r, HoloGgufKind *out)
{
    uint32_t kind;
    *out = HOLO_GGUF_U8;
    HOLO_TRY(take_u32(r, &kind));
    if (kind >= HOLO_GGUF_KINDS) return wrong(r, r->at - sizeof kind, "there is no such kind of value");
    *out = (HoloGgufKind)kind;
    return HOLO_OK;
}

static HoloStatus take_value(Reader *r, HoloGgufKind kind, int depth, HoloGgufValue *out);

// Passes over the items of an array.
static HoloStatus pass_items(Reader *r, const HoloGgufValue *array, int depth)
{
    HoloGgufValue  item;
    const uint8_t *bytes;
    uint64_t       size = sizes[array->item];
    if (array->count > left(r) / (size ? size : 8)) return wrong(r, r->at, "an array has more items than the file");
    if (size) return take(r, array->count * size, &bytes);
    for (uint64_t i = 0; i < array->count; i++) HOLO_TRY(take_value(r, array->item, depth + 1, &item));
    return HOLO_OK;
}

static HoloStatus take_array(Reader *r, int depth, HoloGgufValue *out)
{
    if (depth > DEPTH_MAX) return wrong(r, r->at, "arrays are nested too deep");
    HOLO_TRY(take_kind(r, &out->item));
    HOLO_TRY(take_u64(r, &out->count));
    out->at = r->at;
    HOLO_TRY(pass_items(r, out, depth));
    out->size = (uint64_t)(r->at - out->at);
    return HOLO_OK;
}

static HoloStatus take_value(Reader *r, HoloGgufKind kind, int depth, HoloGgufValue *out)
{
    HoloString text;
    *out = (HoloGgufValue){.kind = kind, .count = 1, .size = sizes[kind]};
    if (kind == HOLO_GGUF_ARRAY) return take_array(r, depth, out);
    if (kind != HOLO_GGUF_TEXT) return take(r, out->size, &out->at);
    HOLO_TRY(take_text(r, &text));
    out->at   = (const uint8_t *)text.data;
    out->size = text.size;
    return HOLO_OK;
}

static HoloStatus read_entries(Reader *r, uint64_t count, HoloGguf *out)
{
    if (count > left(r) / ENTRY_SIZE_MIN || count > INT32_MAX)
        return wrong(r, r->at, "the file has more metadata than it has room for");
    out->entry = HOLO_NEW(r->arena, HoloGgufEntry, count);
    if (!out->entry) return holo_fail_memory(r->error);
    for (uint64_t i = 0; i < count; i++) {
        HoloGgufEntry *entry = &out->entry[i];
        const uint8_t *at    = r->at;
        HoloGgufKind   kind;
        HOLO_TRY(take_text(r, &entry->key));
        if (holo_name_map_find(&out->keys, entry->key)) return wrong_name(r, at, entry->key, "the key is there twice");
        HOLO_TRY(take_kind(r, &kind));
        HOLO_TRY(take_value(r, kind, 0, &entry->value));
        if (!holo_name_map_set(&out->keys, r->arena, entry->key, entry)) return holo_fail_memory(r->error);
        out->entry_count++;
    }
    return HOLO_OK;
}

// ---- tensors

static HoloStatus read_sizes(Reader *r, HoloGgufTensor *t)
{
    const uint8_t *at = r->at;
    uint32_t       rank;
    uint64_t       size;
    HOLO_TRY(take_u32(r, &rank));
    if (rank > HOLO_MAX_RANK) return wrong_name(r, at, t->name, "it has more than 16 dimensions");
    t->rank = (int)rank;
    for (int i = t->rank - 1; i >= 0; i--) {
        HOLO_TRY(take_u64(r, &size));
        if (size > INT64_MAX) return wrong_name(r, at, t->name, "a size is too large");
        t->dim[i] = (int64_t)size;
    }
    t->count = 1;
    for (int i = 0; i < t->rank; i++)
        if (!holo_mul(t->count, t->dim[i], &t->count))
            return wrong_name(r, at, t->name, "it has more elements than can be counted");
    return HOLO_OK;
}

static HoloStatus read_info(Reader *r, HoloGguf *out, HoloGgufTensor *t)
{
    const uint8_t *at = r->at;
    HOLO_TRY(take_text(r, &t->name));
    if (holo_name_map_find(&out->names, t->name)) return wrong_name(r, at, t->name, "the tensor is there twice");
    HOLO_TRY(read_sizes(r, t));
    HOLO_TRY(take_u32(r, &t->type));
    HOLO_TRY(take_u64(r, &t->offset));
    if (t->offset % out->alignment) return wrong_name(r, r->at - 8, t->name, "its offset is not aligned");
    if (!holo_name_map_set(&out->names, r->arena, t->name, t)) return holo_fail_memory(r->error);
    out->tensor_count++;
    return HOLO_OK;
}

static int by_offset(const void *a, const void *b)
{
    const HoloGgufTensor *x = *(HoloGgufTensor *const *)a, *y = *(HoloGgufTensor *const *)b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x < y ? -1 : x > y; // of those at one place the last gets the bytes, the others have none
}

// Offsets begin behind the header. A tensor has the bytes up to the next.
static HoloStatus place_tensors(Reader *r, HoloGguf *out)
{
    size_t           first = holo_align((size_t)(r->at - r->start), out->alignment), size = (size_t)(r->end - r->start);
    uint64_t         end   = size;
    HoloGgufTensor **order = HOLO_NEW(r->arena, HoloGgufTensor *, out->tensor_count);
    if (!order) return holo_fail_memory(r->error);
    for (int i = 0; i < out->tensor_count; i++) order[i] = &out->tensor[i];
    if (out->tensor_count) qsort(order, (size_t)out->tensor_count, sizeof *order, by_offset);
    for (int i = out->tensor_count - 1; i >= 0; i--) {
        HoloGgufTensor *t = order[i];
        if (first > size || t->offset > size - first)
            return wrong_name(r, r->end, t->name, "it begins behind the end of the file, which is cut off");
        t->offset += first;
        t->data = r->start + t->offset;
        t->size = end - t->offset;
        end     = t->offset;
    }
    return HOLO_OK;
}

static HoloStatus read_tensors(Reader *r, uint64_t count, HoloGguf *out)
{
    if (count > left(r) / INFO_SIZE_MIN || count > INT32_MAX)
        return wrong(r, r->at, "the file has more tensors than it has room for");
    out->tensor = HOLO_NEW(r->arena, HoloGgufTensor, count);
    if (!out->tensor) return holo_fail_memory(r->error);
    for (uint64_t i = 0; i < count; i++) HOLO_TRY(read_info(r, out, &out->tensor[i]));
    return place_tensors(r, out);
}

// ---- the file

static HoloStatus read_version(Reader *r, uint32_t *version)
{
    const uint8_t *magic;
    if (left(r) < MAGIC_SIZE + sizeof *version || memcmp(r->at, HOLO_GGUF_MAGIC, MAGIC_SIZE))
        return wrong(r, r->at, "this is not a GGUF file, or it is cut off");
    HOLO_TRY(take(r, MAGIC_SIZE, &magic));
    HOLO_TRY(take_u32(r, version));
    if (*version == 2 || *version == 3) return HOLO_OK;
    if (*version && !(*version & 0xffff))
        return holo_fail(r->error, HOLO_UNSUPPORTED,
                         "%s: the file is big-endian: convert it to little-endian (gguf_convert_endian.py)", r->file);
    return holo_fail(r->error, HOLO_UNSUPPORTED,
                     "%s: the file is of version %u of GGUF; known are 2 and 3: convert the model anew", r->file,
                     *version);
}

static HoloStatus read_alignment(const Reader *r, HoloGguf *out)
{
    int64_t              alignment = ALIGNMENT;
    const HoloGgufValue *value     = holo_gguf_find(out, "general.alignment");
    if (value && (!holo_gguf_int(value, &alignment) || alignment < 1 || alignment > ALIGNMENT_MAX ||
                  alignment & (alignment - 1)))
        return wrong(r, value->at, "general.alignment is not a power of 2, or too large");
    out->alignment = (uint32_t)alignment;
    return HOLO_OK;
}

HoloStatus holo_gguf_read(HoloArena *arena, const char *name, const void *bytes, size_t size, HoloGguf *out,
                          HoloError *error)
{
    const uint8_t *start = bytes;
    Reader         r     = {arena, name, start, start, start + size, error};
    uint64_t       tensors, entries;
    *out = (HoloGguf){0};
    HOLO_TRY(read_version(&r, &out->version));
    HOLO_TRY(take_u64(&r, &tensors));
    HOLO_TRY(take_u64(&r, &entries));
    HOLO_TRY(read_entries(&r, entries, out));
    HOLO_TRY(read_alignment(&r, out));
    return read_tensors(&r, tensors, out);
}

// ---- what values are

const HoloGgufValue *holo_gguf_find(const HoloGguf *gguf, const char *key)
{
    const HoloGgufEntry *entry = holo_name_map_find(&gguf->keys, (HoloString){key, strlen(key)});
    return entry ? &entry->value : NULL;
}

const HoloGgufTensor *holo_gguf_tensor(const HoloGguf *gguf, const char *name)
{
    return holo_name_map_find(&gguf->names, (HoloString){name, strlen(name)});
}

bool holo_gguf_int(const HoloGgufValue *value, int64_t *out)
{
    int     size = sizes[value->kind], unused = 64 - 8 * size;
    int64_t number    = 0;
    bool    is_signed = value->kind == HOLO_GGUF_I8 || value->kind == HOLO_GGUF_I16 || value->kind == HOLO_GGUF_I32;
    if (!size || value->kind == HOLO_GGUF_F32 || value->kind == HOLO_GGUF_F64) return false;
    memcpy(&number, value->at, (size_t)size);
    if (is_signed) number = (int64_t)((uint64_t)number << unused) >> unused;
    if (value->kind == HOLO_GGUF_BOOL) number = number != 0;
    if (value->kind == HOLO_GGUF_U64 && number < 0) return false;
    *out = number;
    return true;
}

bool holo_gguf_real(const HoloGgufValue *value, double *out)
{
    int64_t whole;
    float   single;
    if (value->kind == HOLO_GGUF_F64) return memcpy(out, value->at, sizeof *out), true;
    if (value->kind == HOLO_GGUF_F32) {
        memcpy(&single, value->at, sizeof single);
        *out = (double)single;
        return true;
    }
    if (value->kind == HOLO_GGUF_BOOL || !holo_gguf_int(value, &whole)) return false;
    *out = (double)whole;
    return true;
}

bool holo_gguf_bool(const HoloGgufValue *value, bool *out)
{
    if (value->kind != HOLO_GGUF_BOOL) return false;
    *out = *value->at != 0;
    return true;
}

bool holo_gguf_text(const HoloGgufValue *value, HoloString *out)
{
    if (value->kind != HOLO_GGUF_TEXT) return false;
    *out = (HoloString){(const char *)value->at, (size_t)value->size};
    return true;
}

bool holo_gguf_find_int(const HoloGguf *gguf, const char *key, int64_t *out)
{
    const HoloGgufValue *value = holo_gguf_find(gguf, key);
    return value && holo_gguf_int(value, out);
}

bool holo_gguf_find_real(const HoloGguf *gguf, const char *key, double *out)
{
    const HoloGgufValue *value = holo_gguf_find(gguf, key);
    return value && holo_gguf_real(value, out);
}

bool holo_gguf_find_bool(const HoloGguf *gguf, const char *key, bool *out)
{
    const HoloGgufValue *value = holo_gguf_find(gguf, key);
    return value && holo_gguf_bool(value, out);
}

bool holo_gguf_find_text(const HoloGguf *gguf, const char *key, HoloString *out)
{
    const HoloGgufValue *value = holo_gguf_find(gguf, key);
    return value && holo_gguf_text(value, out);
}

bool holo_gguf_next(HoloGgufValue *array, HoloGgufValue *out)
{
    Reader r = {.file = "", .start = array->at, .at = array->at, .end = array->at + array->size};
    if (array->kind != HOLO_GGUF_ARRAY || !array->count || take_value(&r, array->item, 0, out)) return false;
    array->count--;
    array->size -= (uint64_t)(r.at - array->at);
    array->at = r.at;
    return true;
}
