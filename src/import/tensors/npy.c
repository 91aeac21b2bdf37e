// npy.c - NumPy's .npy (versions 1 to 3) and .npz.
//
// It reads every plain dtype in both byte orders, C and Fortran order, and both kinds of strings; "V2" is taken for
// bfloat16. It refuses records, objects and dates. Types that NumPy does not have are written wider: bf16 and the 8-
// and 4-bit floats as f32, 4- and 2-bit integers as bytes.
#include "base/files.h"
#include "base/memory.h"
#include "import/import.h"
#include "import/wire/zip.h"
#include "ops/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
    char      kind;
    int       size; // of an element
    HoloDtype dtype;
} types[] = {
    {'b', 1, HOLO_BOOL}, {'i', 1, HOLO_I8},  {'i', 2, HOLO_I16}, {'i', 4, HOLO_I32},   {'i', 8, HOLO_I64},
    {'u', 1, HOLO_U8},   {'u', 2, HOLO_U16}, {'u', 4, HOLO_U32}, {'u', 8, HOLO_U64},   {'f', 2, HOLO_F16},
    {'f', 4, HOLO_F32},  {'f', 8, HOLO_F64}, {'c', 8, HOLO_C64}, {'c', 16, HOLO_C128}, {'V', 2, HOLO_BF16},
};

// ---- the header: a Python literal

typedef struct Header {
    HoloTensor type;
    char       kind;  // of NumPy's type: 'f', 'U'
    int64_t    size;  // bytes of an element; for 'U', characters of 4 bytes
    size_t     bytes; // of all elements
    bool       is_swapped, is_fortran;
} Header;

typedef struct Cursor {
    const char *at, *end;
} Cursor;

static void skip_space(Cursor *c)
{
    while (c->at < c->end && strchr(" \t\n\r\f", *c->at) && *c->at) c->at++;
}

static bool accept(Cursor *c, const char *token)
{
    size_t size = strlen(token);
    skip_space(c);
    if ((size_t)(c->end - c->at) < size || memcmp(c->at, token, size) != 0) return false;
    c->at += size;
    return true;
}

static bool read_string(Cursor *c, HoloString *out)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char        quote = *c->at++;
    const char *end   = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!end) return false;
    *out  = (HoloString){c->at, (size_t)(end - c->at)};
    c->at = end + 1;
    return true;
}

static bool read_number(Cursor *c, int64_t *out)
{
    skip_space(c);
    const char *start = c->at;
    *out              = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!holo_mul(*out, 10, out) || !holo_add(*out, *c->at - '0', out)) return false;
    return c->at > start;
}

static bool wrong(const char **out_why, const char *why)
{
    *out_why = why;
    return false;
}

static bool read_descr(Cursor *c, Header *out, const char **out_why)
{
    HoloString text;
    if (accept(c, "[")) return wrong(out_why, "its elements are records, which are not supported");
    if (!read_string(c, &text) || text.size < 2) return wrong(out_why, "its type is damaged");
    Cursor digits   = {text.data + 2, text.data + text.size};
    out->is_swapped = text.data[0] == '>';
    out->kind       = text.data[1];
    if (out->kind == 'O') return wrong(out_why, "its elements are Python objects, which are not supported");
    if (out->kind == 'M' || out->kind == 'm')
        return wrong(out_why, "its elements are dates or times, which are not supported");
    bool is_good = strchr("<>|=", text.data[0]) && read_number(&digits, &out->size) && digits.at == digits.end;
    return is_good || wrong(out_why, "its type is damaged");
}

static bool read_shape(Cursor *c, HoloTensor *out, const char **out_why)
{
    if (!accept(c, "(")) return wrong(out_why, "its shape is damaged");
    for (out->rank = 0; !accept(c, ")"); out->rank++) {
        if (out->rank == HOLO_MAX_RANK) return wrong(out_why, "it has too many dimensions");
        if (!read_number(c, &out->dim[out->rank])) return wrong(out_why, "a size of its shape is not valid");
        accept(c, "L"); // as Python 2 wrote it
        if (!accept(c, ",") && !(c->at < c->end && *c->at == ')')) return wrong(out_why, "its shape is damaged");
    }
    return true;
}

static bool read_dict(Cursor *c, Header *out, const char **out_why)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
    int seen = 0;
    *out_why = "it is damaged";
    if (!accept(c, "{")) return false;
    while (!accept(c, "}")) {
        HoloString key;
        bool       ok = read_string(c, &key) && accept(c, ":");
        if (ok && holo_string_equal(key, (HoloString){"descr", 5})) {
            ok = read_descr(c, out, out_why);
            seen |= DESCR;
        } else if (ok && holo_string_equal(key, (HoloString){"fortran_order", 13})) {
            out->is_fortran = accept(c, "True");
            ok              = out->is_fortran || accept(c, "False");
            seen |= ORDER;
        } else if (ok && holo_string_equal(key, (HoloString){"shape", 5})) {
            ok = read_shape(c, &out->type, out_why);
            seen |= SHAPE;
        } else {
            ok = false;
        }
        if (!ok) return false;
        if (!accept(c, ",")) skip_space(c);
    }
    return seen == ALL || wrong(out_why, "it lacks its type, its order or its shape");
}

static bool find_type(Header *h)
{
    if (h->kind == 'S' || h->kind == 'U') {
        h->type.dtype = HOLO_STRING;
        return true;
    }
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].kind == h->kind && types[i].size == h->size) h->type.dtype = (uint8_t)types[i].dtype;
    return h->type.dtype != HOLO_NONE;
}

// ---- elements

static size_t encode_utf8(uint32_t code, char out[4])
{
    bool is_code = code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
    return (size_t)holo_utf8_put(is_code ? code : 0xfffd, out);
}

// The character at *at, which moves on. Bytes that are not UTF-8 stand for themselves.
static uint32_t decode_utf8(const char **at, const char *end)
{
    uint8_t  first = (uint8_t)(*at)[0];
    int      extra = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t code  = first & (0x3fu >> extra);
    ++*at;
    if (first < 0xc0 || first >= 0xf8 || end - *at < extra) return first;
    for (int i = 0; i < extra; i++) {
        if (((uint8_t)(*at)[i] & 0xc0) != 0x80) return first;
        code = code << 6 | ((uint8_t)(*at)[i] & 0x3f);
    }
    *at += extra;
    return code;
}

static void swap_bytes(char *data, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++, data += size)
        for (size_t k = 0; k < size / 2; k++) {
            char byte          = data[k];
            data[k]            = data[size - 1 - k];
            data[size - 1 - k] = byte;
        }
}

// Copies a string of fixed size, padded with zeros, to `text`. Returns its length.
static size_t read_text(const Header *h, const char *from, char *text)
{
    size_t used = 0, length = 0;
    for (int64_t i = 0; i < h->size; i++) {
        uint32_t code = 0;
        if (h->kind == 'U') {
            char unit[4];
            memcpy(unit, from + 4 * i, 4);
            if (h->is_swapped) swap_bytes(unit, 1, 4);
            memcpy(&code, unit, 4);
            used += encode_utf8(code, text + used);
        } else {
            code         = (uint8_t)from[i];
            text[used++] = from[i];
        }
        if (code) length = used;
    }
    return length;
}

static HoloStatus read_strings(HoloArena *arena, const Header *h, const char *bytes, int64_t count, HoloTensor *out,
                               HoloError *error)
{
    size_t      each = (size_t)h->size * (h->kind == 'U' ? 4 : 1);
    HoloString *to   = HOLO_NEW(arena, HoloString, count);
    char       *text = holo_arena_take_array(arena, (size_t)count, each);
    if (!to || !text) return holo_fail_memory(error);
    out->data = to;
    for (int64_t i = 0; i < count; i++, text += each, bytes += each)
        to[i] = (HoloString){text, read_text(h, bytes, text)};
    return HOLO_OK;
}

// Copies elements that are in Fortran order or not aligned for their type; borrows others.
static HoloStatus read_numbers(HoloArena *arena, const Header *h, const char *bytes, int64_t count, HoloTensor *out,
                               HoloError *error)
{
    size_t size = holo_dtype_size(out->dtype), unit = h->kind == 'c' ? size / 2 : size;
    bool   is_bool = out->dtype == HOLO_BOOL;
    if (!h->is_swapped && !h->is_fortran && !is_bool && (uintptr_t)bytes % size == 0) {
        out->data = (void *)bytes;
        return HOLO_OK;
    }
    char *data = holo_arena_take_array(arena, (size_t)count, size);
    if (!data) return holo_fail_memory(error);
    int64_t from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], stride = 1;
    holo_strides(out->rank, out->dim, to);
    for (int i = 0; i < out->rank; i++, stride *= out->dim[i - 1]) from[i] = stride;
    if (h->is_fortran && (uintptr_t)bytes % size) { // the code that moves elements needs them aligned
        char *copy = holo_arena_take_array(arena, (size_t)count, size);
        if (!copy) return holo_fail_memory(error);
        bytes = memcpy(copy, bytes, (size_t)count * size);
    }
    if (h->is_fortran)
        holo_move(out->rank, out->dim, size, data, to, bytes, from);
    else
        memcpy(data, bytes, (size_t)count * size);
    if (h->is_swapped) swap_bytes(data, count * (int64_t)(size / unit), unit);
    for (int64_t i = 0; is_bool && i < count; i++) data[i] = data[i] != 0;
    out->data = data;
    return HOLO_OK;
}

// Reads the header of an array of `size` bytes, of which the first `have` are there. Its data begin at *out_start.
static HoloStatus read_header(const char *text, size_t have, size_t size, Header *h, size_t *out_start,
                              HoloError *error)
{
    const uint8_t *byte = (const uint8_t *)text;
    if (have < 12 || memcmp(text, "\x93NUMPY", 6) != 0 || byte[6] < 1 || byte[6] > 3)
        return holo_fail(error, HOLO_BAD_INPUT, "this is not a NumPy array (.npy, versions 1 to 3)");
    size_t start = byte[6] == 1 ? 10 : 12, length = byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1) length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (length > have - start) return holo_fail(error, HOLO_BAD_INPUT, "the NumPy array is cut off in its header");
    Cursor      cursor = {text + start, text + start + length};
    const char *why;
    if (!read_dict(&cursor, h, &why))
        return holo_fail(error, HOLO_BAD_INPUT, "the header of the NumPy array cannot be read: %s", why);
    if (!find_type(h))
        return holo_fail(error, HOLO_UNSUPPORTED, "NumPy's type '%c%lld' is not supported", h->kind,
                         (long long)h->size);
    int64_t count = holo_tensor_count(&h->type), bytes_each = 0, total = 0;
    bool    fits =
        count >= 0 && holo_mul(h->size, h->kind == 'U' ? 4 : 1, &bytes_each) && holo_mul(count, bytes_each, &total);
    *out_start = start + length;
    if (!fits) return holo_fail(error, HOLO_BAD_INPUT, "the shape of the NumPy array is too large");
    if ((uint64_t)total > size - *out_start || (count && !bytes_each))
        return holo_fail(error, HOLO_BAD_INPUT, "the NumPy array has only %llu bytes of data; its shape needs more",
                         (unsigned long long)(size - *out_start));
    h->bytes = (size_t)total;
    return HOLO_OK;
}

HoloStatus holo_npy_read(HoloArena *arena, const void *bytes, size_t size, HoloTensor *out, HoloError *error)
{
    Header h     = {0};
    size_t start = 0;
    HOLO_TRY(read_header(bytes, size, size, &h, &start, error));
    *out          = h.type;
    int64_t count = holo_tensor_count(out);
    if (count == 0) return HOLO_OK;
    const char *data = (const char *)bytes + start;
    if (out->dtype != HOLO_STRING) return read_numbers(arena, &h, data, count, out, error);
    return read_strings(arena, &h, data, count, out, error);
}

// ---- several in a zip file

// Nobody writes longer headers (NumPy refuses more than 10,000 bytes), and there may be very many entries.
enum { PEEK = 10240 };

// An entry must have exactly the bytes that its shape needs: no more is inflated than the caller was shown.
static HoloStatus read_type(const HoloZipEntry *file, HoloTensor *out, HoloError *error)
{
    char       head[PEEK];
    Header     h     = {0};
    size_t     start = 0, have = holo_zip_peek(file, head, sizeof head);
    HoloError  inner  = {0};
    HoloStatus status = read_header(head, have, file->size, &h, &start, &inner);
    *out              = h.type;
    if (status) return holo_fail(error, status, "entry '%s' of the zip file: %s", file->name, inner.text);
    if (file->size - start != h.bytes)
        return holo_fail(error, HOLO_BAD_INPUT, "entry '%s' of the zip file has %s of data, but its shape needs %s",
                         file->name, holo_size_text(file->size - start).text, holo_size_text(h.bytes).text);
    return HOLO_OK;
}

HoloStatus holo_npz_open(HoloArena *arena, const void *bytes, size_t size, HoloNpzEntry **out, int *out_count,
                         HoloError *error)
{
    HoloZipEntry *entry;
    int           count;
    HOLO_TRY(holo_zip_open(arena, bytes, size, &entry, &count, error));
    *out_count = 0;
    *out       = HOLO_NEW(arena, HoloNpzEntry, count);
    if (!*out) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(entry[i].name);
        if (length < 4 || strcmp(entry[i].name + length - 4, ".npy") != 0) continue;
        HoloNpzEntry *to = &(*out)[(*out_count)++];
        to->name         = holo_arena_text(arena, entry[i].name, length - 4);
        to->file         = &entry[i];
        if (!to->name) return holo_fail_memory(error);
        HOLO_TRY(read_type(to->file, &to->tensor, error));
    }
    return HOLO_OK;
}

HoloStatus holo_npz_load(HoloArena *arena, HoloNpzEntry *entry, HoloError *error)
{
    const HoloZipEntry *file = entry->file;
    HoloTensor          read;
    const void         *data;
    if (!file) return HOLO_OK;
    HOLO_TRY(holo_zip_read(arena, file, &data, error));
    HOLO_TRY(holo_npy_read(arena, data, file->size, &read, error));
    entry->tensor.data = read.data; // the caller may have given it another type
    entry->file        = NULL;
    return HOLO_OK;
}

// ---- writing

static size_t string_length(HoloString s) // in characters
{
    size_t length = 0;
    for (const char *at = s.data, *end = at + s.size; at < end; length++) decode_utf8(&at, end);
    return length;
}

static HoloStatus write_strings(HoloFileWriter *writer, const HoloTensor *t, int64_t count, size_t longest,
                                HoloError *error)
{
    const HoloString *s = t->data;
    for (int64_t i = 0; i < count; i++) {
        const char *at = s[i].data, *end = at + s[i].size;
        for (size_t k = 0; k < longest; k++) {
            uint32_t code = at < end ? decode_utf8(&at, end) : 0;
            HOLO_TRY(holo_file_write(writer, &code, sizeof code, error));
        }
    }
    return HOLO_OK;
}

static HoloStatus write_widened(HoloFileWriter *writer, const HoloTensor *t, int64_t count, HoloError *error)
{
    double wide[HOLO_TILE];
    float  out[HOLO_TILE];
    for (int64_t i = 0; i < count; i += HOLO_TILE) {
        int n = (int)(count - i < HOLO_TILE ? count - i : HOLO_TILE);
        holo_read_f(t, i, 1, n, wide);
        for (int k = 0; k < n; k++) out[k] = (float)wide[k];
        HOLO_TRY(holo_file_write(writer, out, (size_t)n * sizeof *out, error));
    }
    return HOLO_OK;
}

// NumPy's name of the type that the tensor is written as, and whether its elements are widened to f32.
static bool choose_descr(const HoloTensor *t, size_t longest, char descr[24])
{
    HoloClass class = holo_dtype_class(t->dtype);
    for (int i = 0; i < HOLO_COUNT(types); i++) {
        if (types[i].dtype != t->dtype || types[i].kind == 'V') continue;
        snprintf(descr, 24, "%c%c%d", types[i].size == 1 ? '|' : '<', types[i].kind, types[i].size);
        return false;
    }
    if (t->dtype == HOLO_STRING)
        snprintf(descr, 24, "<U%zu", longest);
    else
        snprintf(descr, 24, "%s", class == HOLO_CLASS_INT ? "|i1" : class == HOLO_CLASS_UINT ? "|u1" : "<f4");
    return class == HOLO_CLASS_FLOAT;
}

static HoloStatus write_header(HoloFileWriter *writer, const HoloTensor *t, const char *descr, HoloError *error)
{
    char head[1024], shape[400] = "";
    int  used = 0;
    for (int i = 0; i < t->rank; i++) {
        const char *after = i + 1 < t->rank ? ", " : t->rank == 1 ? "," : "";
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%lld%s", (long long)t->dim[i], after);
    }
    int size =
        snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    int padded = (int)holo_align((size_t)size + 11, 64);
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    memset(head + 10 + size, ' ', (size_t)(padded - size - 11));
    head[padded - 1] = '\n';
    head[8]          = (char)((padded - 10) & 0xff);
    head[9]          = (char)((padded - 10) >> 8);
    return holo_file_write(writer, head, (size_t)padded, error);
}

static HoloStatus write_contents(HoloFileWriter *writer, const HoloTensor *t, HoloError *error)
{
    char    descr[24];
    size_t  longest = 1;
    int64_t count   = holo_tensor_count(t);
    for (int64_t i = 0; t->dtype == HOLO_STRING && i < count; i++) {
        size_t length = string_length(((const HoloString *)t->data)[i]);
        if (length > longest) longest = length;
    }
    bool is_widened = choose_descr(t, longest, descr);
    HOLO_TRY(write_header(writer, t, descr, error));
    if (count == 0) return HOLO_OK;
    if (t->dtype == HOLO_STRING) return write_strings(writer, t, count, longest, error);
    if (is_widened) return write_widened(writer, t, count, error);
    return holo_file_write(writer, t->data, holo_tensor_bytes(t), error);
}

HoloStatus holo_npy_write(const char *path, const HoloTensor *tensor, HoloError *error)
{
    HoloFileWriter *writer;
    int64_t         count = holo_tensor_count(tensor);
    if (tensor->kind != HOLO_TENSOR || count < 0 || (count && !tensor->data) || !holo_dtype_size(tensor->dtype))
        return holo_fail(error, HOLO_UNSUPPORTED, "'%s': only tensors with data can be written as .npy", path);
    HOLO_TRY(holo_file_writer_open(path, &writer, error));
    HoloStatus status = write_contents(writer, tensor, error);
    HoloStatus closed = holo_file_writer_close(writer, status == HOLO_OK, error);
    return status ? status : closed;
}
