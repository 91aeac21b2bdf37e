// safetensors.c - SafeTensors files: the header, and where each tensor lies. See safetensors.h.
#include "import/wire/safetensors.h"

#include "format/dtype.h"
#include "import/wire/json.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 8, HEADER_MAX = 100000000 }; // the format's own limit

typedef struct Reader {
    HoloArena  *arena;
    const char *file;
    const char *data; // behind the header
    uint64_t    data_size;
    HoloError  *error;
} Reader;

static HoloStatus wrong(const Reader *r, const char *name, const char *what)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s: tensor '%.200s': %s", r->file, name, what);
}

static HoloStatus read_dtype(const Reader *r, const char *name, const json_t *json, HoloTensor *out)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } types[] = {
        {"F32", HOLO_F32},        {"F16", HOLO_F16},          {"BF16", HOLO_BF16},      {"F64", HOLO_F64},
        {"I64", HOLO_I64},        {"I32", HOLO_I32},          {"I16", HOLO_I16},        {"I8", HOLO_I8},
        {"U64", HOLO_U64},        {"U32", HOLO_U32},          {"U16", HOLO_U16},        {"U8", HOLO_U8},
        {"BOOL", HOLO_BOOL},      {"F8_E4M3", HOLO_F8E4M3FN}, {"F8_E5M2", HOLO_F8E5M2}, {"F8_E8M0", HOLO_F8E8M0},
        {"F6_E2M3", HOLO_F6E2M3}, {"F6_E3M2", HOLO_F6E3M2},   {"F4", HOLO_F4E2M1},      {"C64", HOLO_C64},
    };
    const char *text = json_string_value(json);
    for (int i = 0; text && i < HOLO_COUNT(types); i++)
        if (!strcmp(text, types[i].name)) return out->dtype = (uint8_t)types[i].dtype, HOLO_OK;
    return holo_fail(r->error, HOLO_UNSUPPORTED,
                     "%s: tensor '%.200s' has the element type '%.40s', which does not exist here", r->file, name,
                     text ? text : "");
}

static HoloStatus read_shape(const Reader *r, const char *name, const json_t *json, HoloSafeTensor *out)
{
    HoloTensor *t = &out->tensor;
    if (!json_is_array(json)) return wrong(r, name, "it has no shape");
    if (json_array_size(json) > HOLO_MAX_RANK) return wrong(r, name, "it has more than 16 dimensions");
    for (size_t i = 0; i < json_array_size(json); i++) {
        const json_t *size = json_array_get(json, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return wrong(r, name, "a size must be a whole number of 0 or more");
        t->dim[t->rank++] = json_integer_value(size);
    }
    out->count = holo_tensor_count(t);
    return out->count < 0 ? wrong(r, name, "it has more elements than can be counted") : HOLO_OK;
}

static HoloStatus read_range(const Reader *r, const char *name, const json_t *json, HoloSafeTensor *out)
{
    const json_t *begin = json_array_get(json, 0), *end = json_array_get(json, 1);
    if (json_array_size(json) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return wrong(r, name, "its data_offsets are not two whole numbers");
    if (json_integer_value(begin) < 0 || json_integer_value(begin) > json_integer_value(end) ||
        (uint64_t)json_integer_value(end) > r->data_size)
        return wrong(r, name, "its data_offsets are not in the file");
    out->begin    = (uint64_t)json_integer_value(begin);
    out->end      = (uint64_t)json_integer_value(end);
    uint64_t bits = (uint64_t)holo_dtype_bits((HoloDtype)out->tensor.dtype), stored;
    if (bits < 8 ? __builtin_mul_overflow((uint64_t)out->count, bits, &stored)
                 : __builtin_mul_overflow((uint64_t)out->count, bits / 8, &stored))
        return wrong(r, name, "it has more bytes than can be counted");
    if (bits < 8) stored = stored / 8 + (stored % 8 != 0);
    if (stored != out->end - out->begin) return wrong(r, name, "its data_offsets do not fit its type and shape");
    out->tensor.data = (void *)(r->data + out->begin);
    return HOLO_OK;
}

static HoloStatus read_entry(const Reader *r, const char *name, const json_t *json, HoloSafeTensor *out)
{
    *out      = (HoloSafeTensor){0};
    out->name = holo_arena_text(r->arena, name, strlen(name));
    if (!out->name) return holo_fail_memory(r->error);
    if (!json_is_object(json)) return wrong(r, name, "it is not described by an object");
    HOLO_TRY(read_dtype(r, name, json_object_get(json, "dtype"), &out->tensor));
    HOLO_TRY(read_shape(r, name, json_object_get(json, "shape"), out));
    return read_range(r, name, json_object_get(json, "data_offsets"), out);
}

static HoloStatus read_meta(const Reader *r, json_t *json, HoloSafeTensors *out)
{
    const char *key;
    json_t     *value;
    bool        is_right = json_is_object(json);
    json_object_foreach(json, key, value) is_right &= json_is_string(value);
    if (!is_right)
        return holo_fail(r->error, HOLO_BAD_MODEL, "%s: its __metadata__ is not an object of texts", r->file);
    out->meta = HOLO_NEW(r->arena, const char *, 2 * json_object_size(json));
    if (!out->meta) return holo_fail_memory(r->error);
    json_object_foreach(json, key, value)
    {
        const char *text                   = json_string_value(value);
        out->meta[2 * out->meta_count]     = holo_arena_text(r->arena, key, strlen(key));
        out->meta[2 * out->meta_count + 1] = holo_arena_text(r->arena, text, strlen(text));
        if (!out->meta[2 * out->meta_count] || !out->meta[2 * out->meta_count + 1]) return holo_fail_memory(r->error);
        out->meta_count++;
    }
    return HOLO_OK;
}

static int by_place(const void *a, const void *b)
{
    const HoloSafeTensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

// In the order of their bytes, each begins where the one before ends.
static HoloStatus check_places(const Reader *r, HoloSafeTensors *all)
{
    uint64_t at = 0;
    if (all->count) qsort(all->entry, (size_t)all->count, sizeof *all->entry, by_place);
    for (int i = 0; i < all->count; i++) {
        if (all->entry[i].begin < at) return wrong(r, all->entry[i].name, "its bytes are those of another tensor, too");
        if (all->entry[i].begin > at) return wrong(r, all->entry[i].name, "before its bytes are some of no tensor");
        at = all->entry[i].end;
    }
    if (at == r->data_size) return HOLO_OK;
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s: %llu bytes at its end are of no tensor", r->file,
                     (unsigned long long)(r->data_size - at));
}

static HoloStatus read_header(const Reader *r, json_t *header, HoloSafeTensors *out)
{
    const char *name;
    json_t     *json;
    if (json_object_size(header) > INT32_MAX / 2)
        return holo_fail(r->error, HOLO_BAD_MODEL, "%s: too many tensors", r->file);
    out->entry = HOLO_NEW(r->arena, HoloSafeTensor, json_object_size(header));
    if (!out->entry) return holo_fail_memory(r->error);
    json_object_foreach(header, name, json)
    {
        if (!strcmp(name, "__metadata__"))
            HOLO_TRY(read_meta(r, json, out));
        else
            HOLO_TRY(read_entry(r, name, json, &out->entry[out->count++]));
    }
    return check_places(r, out);
}

HoloStatus holo_safetensors_read(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                 HoloSafeTensors *out, HoloError *error)
{
    uint64_t length = 0;
    json_t  *header;
    *out = (HoloSafeTensors){0};
    if (size >= LENGTH_SIZE) memcpy(&length, bytes, LENGTH_SIZE);
    if (size < LENGTH_SIZE || length > size - LENGTH_SIZE)
        return holo_fail(error, HOLO_BAD_MODEL,
                         "%s: the header is not all there: this is not a safetensors file, or it is cut off", name);
    if (length > HEADER_MAX)
        return holo_fail(error, HOLO_BAD_MODEL, "%s: the header has %llu bytes; the format allows %d", name,
                         (unsigned long long)length, HEADER_MAX);
    const char *text = (const char *)bytes + LENGTH_SIZE;
    Reader      r    = {arena, name, text + length, size - LENGTH_SIZE - length, error};
    HOLO_TRY(holo_json_read(name, text, (size_t)length, &header, error));
    HoloStatus status = read_header(&r, header, out);
    json_decref(header);
    return status;
}
