// js_values.c - tensors, sequences, optionals and maps, between the block with its arrays and the library's views.
#include "addon.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 4,        // of values in values: an optional of a sequence of tensors is 3
    COPIED    = 64 << 10, // bytes of an array that are copied for a run on another thread
    PASSED_ON = 16 << 10, // bytes from which memory of the library is passed on: below, a copy is faster
};

// ---- memory of a call

void *js_piece(JsPiece **pieces, size_t size)
{
    JsPiece *piece = size < SIZE_MAX - sizeof *piece ? calloc(1, sizeof *piece + size) : NULL;
    if (!piece) return NULL;
    piece->next = *pieces;
    *pieces     = piece;
    return piece->bytes;
}

void js_pieces_free(JsPiece **pieces)
{
    while (*pieces) {
        JsPiece *next = (*pieces)->next;
        free(*pieces);
        *pieces = next;
    }
}

// ---- reading

bool js_reader_open(napi_env env, napi_value arrays, JsPiece **pieces, JsReader *out)
{
    JsEnv *state = js_env(env);
    *out         = (JsReader){
                .env = env, .at = state->block, .end = state->block + state->block_room, .arrays = arrays, .pieces = pieces};
    if (napi_get_array_length(env, arrays, &out->array_count)) return js_throw_argument(env, "arrays must be an array");
    return true;
}

bool js_read_number(JsReader *reader, double *out)
{
    if (reader->at == reader->end) return js_throw_argument(reader->env, "the block ends too early");
    *out = *reader->at++;
    return true;
}

// A whole number in a range.
static bool read_int(JsReader *reader, int64_t low, int64_t high, int64_t *out)
{
    double number = 0;
    if (!js_read_number(reader, &number)) return false;
    if (!(number >= (double)low && number <= (double)high))
        return js_throw_argument(reader->env, "%.17g is not from %lld to %lld", number, (long long)low,
                                 (long long)high);
    *out = (int64_t)number;
    return true;
}

bool js_memory_read(JsReader *reader, void **out_data, size_t *out_size)
{
    napi_value array;
    if (reader->array >= reader->array_count || napi_get_element(reader->env, reader->arrays, reader->array++, &array))
        return js_throw_argument(reader->env, "an array is missing");
    return js_bytes_get(reader->env, array, "data", out_data, out_size);
}

static bool memory_copy(JsReader *reader, void **data, size_t size)
{
    void *copy = js_piece(reader->pieces, size ? size : 1);
    if (!copy) return js_throw(reader->env, HOLO_NO_MEMORY, "");
    if (size) memcpy(copy, *data, size);
    *data = copy;
    return true;
}

static bool numbers_read(JsReader *reader, HoloTensor *out)
{
    size_t size;
    if (!js_memory_read(reader, &out->data, &size)) return false;
    if (size != holo_tensor_bytes(out))
        return js_throw_argument(reader->env, "the data has %zu bytes, but its type and shape need %zu", size,
                                 holo_tensor_bytes(out));
    return !reader->is_copied || size > COPIED || memory_copy(reader, &out->data, size);
}

static bool strings_read(JsReader *reader, HoloTensor *out)
{
    size_t  size, ends_size, count = (size_t)holo_tensor_count(out), from = 0;
    void   *bytes, *ends;
    double *end;
    if (!js_memory_read(reader, &bytes, &size) || !js_memory_read(reader, &ends, &ends_size)) return false;
    if (ends_size / sizeof(double) != count)
        return js_throw_argument(reader->env, "there are %zu strings, but the shape needs %zu",
                                 ends_size / sizeof(double), count);
    HoloString *strings = js_piece(reader->pieces, count ? count * sizeof *strings : 1);
    if (!strings || !memory_copy(reader, &bytes, size)) return js_throw(reader->env, HOLO_NO_MEMORY, "");
    end = ends;
    for (size_t i = 0; i < count; i++) {
        if (!(end[i] >= (double)from && end[i] <= (double)size))
            return js_throw_argument(reader->env, "string %zu ends out of range", i);
        strings[i] = (HoloString){(const char *)bytes + from, (size_t)end[i] - from};
        from       = (size_t)end[i];
    }
    out->data = strings;
    return true;
}

static bool value_read(JsReader *reader, int depth, HoloTensor *out);

// Those inside of a sequence, an optional or a map.
static bool items_read(JsReader *reader, int depth, int64_t count, HoloTensor *out)
{
    HoloTensor *items = NULL;
    if ((uint64_t)count < SIZE_MAX / sizeof *items)
        items = js_piece(reader->pieces, (count ? (size_t)count : 1) * sizeof *items);
    if (!items) return js_throw(reader->env, HOLO_NO_MEMORY, "");
    for (int64_t i = 0; i < count; i++)
        if (!value_read(reader, depth + 1, &items[i])) return false;
    out->data = items;
    return true;
}

static bool tensor_read(JsReader *reader, HoloTensor *out)
{
    int64_t rank;
    if (!read_int(reader, 0, HOLO_MAX_RANK, &rank)) return false;
    out->rank = (int8_t)rank;
    for (int i = 0; i < out->rank; i++)
        if (!read_int(reader, 0, INT64_MAX / 1024, &out->dim[i])) return false;
    if (holo_tensor_count(out) < 0) return js_throw_argument(reader->env, "the shape has too many elements");
    return out->dtype == HOLO_STRING ? strings_read(reader, out) : numbers_read(reader, out);
}

static bool value_read(JsReader *reader, int depth, HoloTensor *out)
{
    int64_t kind, dtype, inner = HOLO_TENSOR, count = 2;
    if (depth == DEPTH_MAX) return js_throw_argument(reader->env, "values are nested too deeply");
    if (!read_int(reader, HOLO_TENSOR, HOLO_MAP, &kind) || !read_int(reader, 1, HOLO_DTYPE_COUNT - 1, &dtype))
        return false;
    memset(out, 0, offsetof(HoloTensor, dim));
    out->dtype = (uint8_t)dtype;
    out->kind  = (uint8_t)kind;
    if (kind == HOLO_TENSOR) return tensor_read(reader, out);
    if (kind != HOLO_MAP && (!read_int(reader, HOLO_TENSOR, HOLO_MAP, &inner) ||
                             !read_int(reader, 0, kind == HOLO_OPTIONAL ? 1 : INT32_MAX, &count)))
        return false;
    out->inner  = (uint8_t)inner;
    out->rank   = kind == HOLO_MAP ? 0 : 1;
    out->dim[0] = kind == HOLO_MAP ? 0 : count;
    return items_read(reader, depth, count, out);
}

bool js_tensor_read(JsReader *reader, HoloTensor *out)
{
    return value_read(reader, 0, out);
}

// ---- writing

bool js_write_number(JsWriter *writer, double number)
{
    if (writer->at >= writer->state->block_room && !js_block_grow(writer->env, writer->at + 1)) return false;
    writer->state->block[writer->at++] = number;
    return true;
}

static bool array_write(JsWriter *writer, napi_value buffer)
{
    if (!writer->arrays && napi_create_array_with_length(writer->env, 0, &writer->arrays)) return false;
    return napi_set_element(writer->env, writer->arrays, writer->array++, buffer) == napi_ok;
}

// Memory of JavaScript's, as an array.
static bool memory_write(JsWriter *writer, size_t size, void **out_data)
{
    napi_value buffer;
    if (napi_create_arraybuffer(writer->env, size, out_data, &buffer))
        return js_throw(writer->env, HOLO_NO_MEMORY, "JavaScript has no memory for an output");
    return array_write(writer, buffer);
}

static bool copy_write(JsWriter *writer, const void *data, size_t size)
{
    void *copy;
    if (!memory_write(writer, size, &copy)) return false;
    if (size) memcpy(copy, data, size);
    return true;
}

static void passed_free(napi_env env, void *data, void *hint)
{
    HoloRunOutput *output = hint;
    (void)env, (void)data;
    holo_run_outputs_free(output, 1);
    free(output);
}

// The memory of an output goes to JavaScript, which frees it one day. Where JavaScript takes no such memory, it is copied.
static bool passed_write(JsWriter *writer, HoloRunOutput *output, size_t size)
{
    HoloRunOutput *kept = malloc(sizeof *kept);
    napi_value     buffer;
    if (kept) {
        *kept = *output;
        if (!napi_create_external_arraybuffer(writer->env, kept->tensor.data, size, passed_free, kept, &buffer)) {
            output->owned = NULL;
            return array_write(writer, buffer);
        }
        free(kept);
    }
    return copy_write(writer, output->tensor.data, size);
}

static bool strings_write(JsWriter *writer, const HoloTensor *tensor)
{
    const HoloString *strings = tensor->data;
    size_t            count = (size_t)holo_tensor_count(tensor), size = 0;
    void             *bytes, *ends;
    for (size_t i = 0; i < count; i++) size += strings[i].size;
    if (!memory_write(writer, size, &bytes) || !memory_write(writer, count * sizeof(double), &ends)) return false;
    size = 0;
    for (size_t i = 0; i < count; i++) {
        if (strings[i].size) memcpy((char *)bytes + size, strings[i].data, strings[i].size);
        size += strings[i].size;
        ((double *)ends)[i] = (double)size;
    }
    return true;
}

static bool items_write(JsWriter *writer, const HoloTensor *tensor)
{
    const HoloTensor *items = tensor->data;
    int64_t           count = tensor->kind == HOLO_MAP ? 2 : tensor->dim[0];
    if (tensor->kind != HOLO_MAP &&
        (!js_write_number(writer, tensor->inner) || !js_write_number(writer, (double)count)))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!js_tensor_write(writer, &items[i], NULL, false)) return false;
    return true;
}

bool js_tensor_write(JsWriter *writer, const HoloTensor *tensor, HoloRunOutput *output, bool has_array)
{
    if (!js_write_number(writer, tensor->kind) || !js_write_number(writer, tensor->dtype)) return false;
    if (tensor->kind != HOLO_TENSOR) return items_write(writer, tensor);
    if (!js_write_number(writer, tensor->rank)) return false;
    for (int i = 0; i < tensor->rank; i++)
        if (!js_write_number(writer, (double)tensor->dim[i])) return false;
    if (has_array) return true;
    if (tensor->dtype == HOLO_STRING) return strings_write(writer, tensor);
    size_t size = holo_tensor_bytes(tensor);
    return output && output->owned && size >= PASSED_ON ? passed_write(writer, output, size)
                                                        : copy_write(writer, tensor->data, size);
}

napi_value js_writer_end(JsWriter *writer)
{
    napi_value none = NULL;
    if (!writer->arrays) napi_get_undefined(writer->env, &none);
    return writer->arrays ? writer->arrays : none;
}
