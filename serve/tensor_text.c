// tensor_text.c - tensors as text and bytes. See tensor_text.h.
#include "tensor_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- from JSON

typedef struct Strings { // strings of a tensor: places first, then pointers
    Bytes   text;
    size_t *end;
} Strings;

static bool whole(JsonReader *r, HoloDtype type, void *to)
{
    bool     negative;
    uint64_t x;
    int      bits      = (int)holo_dtype_size(type) * 8;
    bool     is_signed = type == HOLO_I8 || type == HOLO_I16 || type == HOLO_I32 || type == HOLO_I64;
    if (!reader_integer(r, &negative, &x)) return false;
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - !negative : UINT64_MAX >> (64 - bits);
    if (x > most || (negative && !is_signed && x)) return reader_wrong(r, "a number does not fit the datatype");
    if (negative) x = -x;
    memcpy(to, &x, (size_t)bits / 8); // little-endian
    return true;
}

static bool element(JsonReader *r, HoloTensor *t, int64_t at, Strings *strings)
{
    size_t size = holo_dtype_size((HoloDtype)t->dtype);
    char  *to   = t->data ? (char *)t->data + (size_t)at * size : NULL; // strings have no place yet
    double x;
    bool   is;
    switch (t->dtype) {
    case HOLO_F32:
        if (!reader_number(r, &x)) return false;
        *(float *)to = (float)x;
        return true;
    case HOLO_F64: return reader_number(r, (double *)to);
    case HOLO_BOOL:
        if (reader_peek(r) == 't' || reader_peek(r) == 'f') {
            if (!reader_bool(r, &is)) return false;
            *to = is;
            return true;
        }
        return whole(r, HOLO_U8, to) && ((uint8_t)*to <= 1 || reader_wrong(r, "a number does not fit the datatype"));
    case HOLO_STRING:
        if (!reader_string(r, &strings->text)) return false;
        strings->end[at] = strings->text.size;
        return true;
    default: return whole(r, (HoloDtype)t->dtype, to);
    }
}

// Elements in order, whatever the brackets around them are.
static bool elements(JsonReader *r, HoloTensor *t, int64_t count, Strings *strings)
{
    int64_t at    = 0;
    int     depth = 1;
    if (!reader_open(r, '[')) return false;
    while (depth) {
        if (!reader_element(r)) {
            if (r->why) return false;
            depth--;
        } else if (reader_peek(r) == '[') {
            if (depth++ == HOLO_MAX_RANK + 1) return reader_wrong(r, "it is nested too deeply");
            reader_open(r, '[');
        } else if (at == count) {
            return reader_wrong(r, "there are more elements than the shape says");
        } else if (!element(r, t, at++, strings)) {
            return false;
        }
    }
    if (at != count) return reader_wrong(r, "there are fewer elements than the shape says");
    return reader_ended(r);
}

static void strings_point(HoloTensor *t, int64_t count, const char *text, const size_t *end)
{
    HoloString *to = t->data;
    for (int64_t i = 0; i < count; i++) {
        size_t begin = i ? end[i - 1] : 0;
        to[i]        = (HoloString){text + begin, end[i] - begin};
    }
}

// One piece of memory: the strings, and behind them their bytes.
static bool strings_pack(HoloTensor *t, int64_t count, const Strings *s, void **out_owned)
{
    size_t head = (size_t)count * sizeof(HoloString);
    char  *all  = malloc(head + s->text.size + 1);
    if (!all) return false;
    if (s->text.size) memcpy(all + head, s->text.data, s->text.size);
    t->data = all;
    strings_point(t, count, all + head, s->end);
    *out_owned = all;
    return true;
}

bool tensor_from_json(HoloTensor *t, const char *data, size_t size, void **out_owned, char *why, size_t room)
{
    int64_t    count   = holo_tensor_count(t);
    JsonReader r       = reader_of(data, size);
    Strings    strings = {0};
    bool       is_text = t->dtype == HOLO_STRING;
    *out_owned         = NULL;
    if (!t->dtype || t->dtype > HOLO_U64 || t->dtype == HOLO_F16)
        return snprintf(why, room, "tensors of this datatype are not sent as JSON, but as binary data"), false;
    // Each element takes at least two bytes, so a shape alone takes no memory.
    if (count < 0 || (uint64_t)count > size)
        return snprintf(why, room, "there are fewer elements than the shape says"), false;
    void *memory = calloc((size_t)count + 1, is_text ? sizeof(size_t) : holo_dtype_size((HoloDtype)t->dtype));
    if (!memory) return snprintf(why, room, "out of memory"), false;
    if (is_text)
        strings.end = memory;
    else
        t->data = memory;
    bool is = elements(&r, t, count, &strings);
    if (!is) snprintf(why, room, "%s, at byte %zu of the data", r.why, (size_t)(r.p - r.begin));
    if (is && is_text && !(is = strings_pack(t, count, &strings, out_owned))) snprintf(why, room, "out of memory");
    if (is && !is_text) *out_owned = memory;
    if (is_text || !is) free(memory);
    bytes_free(&strings.text);
    return is;
}

// ---- from bytes

static bool strings_from_bytes(HoloTensor *t, const char *data, size_t size, void **out_owned, char *why, size_t room)
{
    int64_t count = holo_tensor_count(t);
    size_t  at    = 0;
    if (count < 0 || (uint64_t)count > size / 4)
        return snprintf(why, room, "there are fewer strings than the shape says"), false;
    HoloString *to = malloc(((size_t)count + 1) * sizeof *to);
    if (!to) return snprintf(why, room, "out of memory"), false;
    for (int64_t i = 0; i < count; i++) {
        uint32_t length = 0;
        if (size - at >= 4) memcpy(&length, data + at, 4);
        if (size - at < 4 || length > size - at - 4)
            return free(to), snprintf(why, room, "a string is longer than the data"), false;
        to[i] = (HoloString){data + at + 4, length};
        at += 4 + (size_t)length;
    }
    if (at != size) return free(to), snprintf(why, room, "there are more strings than the shape says"), false;
    t->data    = to;
    *out_owned = to;
    return true;
}

bool tensor_from_bytes(HoloTensor *t, const char *data, size_t size, void **out_owned, char *why, size_t room)
{
    *out_owned = NULL;
    if (t->dtype == HOLO_STRING) return strings_from_bytes(t, data, size, out_owned, why, room);
    if (holo_tensor_bytes(t) != size || holo_tensor_count(t) < 0)
        return snprintf(why, room, "the data has %zu bytes, but the shape says %zu", size, holo_tensor_bytes(t)), false;
    for (size_t i = 0; t->dtype == HOLO_BOOL && i < size; i++)
        if ((uint8_t)data[i] > 1) return snprintf(why, room, "a BOOL is neither 0 nor 1"), false;
    t->data = (char *)data;
    return true;
}

// ---- to JSON

static void add_number(const HoloTensor *t, int64_t at, Bytes *out)
{
    const char *from = (const char *)t->data + (size_t)at * holo_dtype_size((HoloDtype)t->dtype);
    char        text[40];
    double      real = t->dtype == HOLO_F32   ? (double)*(const float *)from
                       : t->dtype == HOLO_F64 ? *(const double *)from
                                              : 0;
    switch (t->dtype) {
    case HOLO_F32:
        if (!isfinite(real)) break;
        bytes_add(out, text, (size_t)snprintf(text, sizeof text, "%.9g", real));
        return;
    case HOLO_F64:
        if (!isfinite(real)) break;
        bytes_add(out, text, (size_t)snprintf(text, sizeof text, "%.17g", real));
        return;
    case HOLO_BOOL: bytes_add_text(out, *from ? "true" : "false"); return;
    case HOLO_U8: bytes_format(out, "%u", *(const uint8_t *)from); return;
    case HOLO_I8: bytes_format(out, "%d", *(const int8_t *)from); return;
    case HOLO_U16: bytes_format(out, "%u", *(const uint16_t *)from); return;
    case HOLO_I16: bytes_format(out, "%d", *(const int16_t *)from); return;
    case HOLO_U32: bytes_format(out, "%u", *(const uint32_t *)from); return;
    case HOLO_I32: bytes_format(out, "%d", *(const int32_t *)from); return;
    case HOLO_U64: bytes_format(out, "%llu", (unsigned long long)*(const uint64_t *)from); return;
    case HOLO_I64: bytes_format(out, "%lld", (long long)*(const int64_t *)from); return;
    default: break;
    }
    bytes_add_text(out, "null");
}

bool tensor_to_json(const HoloTensor *t, Bytes *out)
{
    int64_t count = holo_tensor_count(t);
    if (t->kind != HOLO_TENSOR || count < 0 || !t->dtype || t->dtype > HOLO_U64 || t->dtype == HOLO_F16) return false;
    bytes_add(out, "[", 1);
    for (int64_t i = 0; i < count; i++) {
        if (i) bytes_add(out, ",", 1);
        if (t->dtype == HOLO_STRING)
            bytes_json(out, ((const HoloString *)t->data)[i].data, ((const HoloString *)t->data)[i].size);
        else
            add_number(t, i, out);
    }
    return bytes_add(out, "]", 1);
}

size_t tensor_wire_size(const HoloTensor *t)
{
    size_t size = 0;
    if (t->dtype != HOLO_STRING) return holo_tensor_bytes(t);
    for (int64_t i = 0; i < holo_tensor_count(t); i++) size += 4 + ((const HoloString *)t->data)[i].size;
    return size;
}

bool tensor_to_bytes(const HoloTensor *t, Bytes *out)
{
    if (t->kind != HOLO_TENSOR) return false;
    if (t->dtype != HOLO_STRING) return bytes_add(out, t->data, holo_tensor_bytes(t));
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        const HoloString *s    = (const HoloString *)t->data + i;
        uint32_t          size = (uint32_t)s->size;
        bytes_add(out, &size, 4);
        bytes_add(out, s->data, s->size);
    }
    return !out->failed;
}
