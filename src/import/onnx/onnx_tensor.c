// onnx_tensor.c - TensorProto in all its storage forms: raw bytes, typed fields, external files.
//
// Bytes that are aligned for their type are borrowed from the file; others are copied. Types narrower than a byte are
// unpacked to one byte for each element. Files in several segments are refused.
#include "import/onnx/onnx.h"

#include <string.h>

HoloStatus holo_onnx_dims(HoloOnnx *im, HoloString name, HoloPbMany dims, HoloTensor *out, int64_t *out_count)
{
    if (dims.count > HOLO_MAX_RANK)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "tensor '%.*s' has %lld dimensions; at most %d are supported",
                         HOLO_IMPORT_ARG(name), (long long)dims.count, HOLO_MAX_RANK);
    int64_t dim;
    out->rank = 0;
    while (holo_pb_next_int(&dims, &dim)) {
        if (dim < 0)
            return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s': dimension %d has an impossible size: %lld",
                             HOLO_IMPORT_ARG(name), out->rank, (long long)dim);
        out->dim[out->rank++] = dim;
    }
    *out_count = holo_tensor_count(out);
    if (*out_count < 0)
        return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s' has too many elements", HOLO_IMPORT_ARG(name));
    return HOLO_OK;
}

// ---- bytes

static HoloStatus from_raw(HoloOnnx *im, HoloString name, HoloString raw, int64_t count, HoloTensor *out)
{
    uint64_t expected = holo_import_stored(out->dtype, count);
    if (raw.size != expected)
        return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s': its data has %llu bytes, but its shape needs %llu",
                         HOLO_IMPORT_ARG(name), (unsigned long long)raw.size, (unsigned long long)expected);
    return count ? holo_import_bytes(im->import, name, raw.data, count, out) : HOLO_OK;
}

// ---- external files

static bool parse_size(HoloString text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || *out > UINT64_MAX / 10 - 10) return false;
        *out = *out * 10 + (uint64_t)(text.data[i] - '0');
    }
    return text.size > 0;
}

// The name of a file beside the model, for the folder of the import.
static HoloStatus name_beside(HoloOnnx *im, HoloString *inout_name)
{
    size_t front = im->folder ? strlen(im->folder) : 0, size = front + inout_name->size;
    char  *name = front ? holo_arena_take(im->arena, size + 1) : NULL;
    if (!front) return HOLO_OK;
    if (!name) return holo_fail_memory(im->error);
    memcpy(name, im->folder, front);
    if (inout_name->size) memcpy(name + front, inout_name->data, inout_name->size);
    *inout_name = (HoloString){name, size};
    return HOLO_OK;
}

static HoloStatus open_external(HoloOnnx *im, HoloString name, HoloString location, HoloMapping **out)
{
    if (!im->import->from || !im->import->from->path)
        return holo_fail(im->error, HOLO_BAD_MODEL,
                         "tensor '%.*s' is in the file '%.*s', but the model has no folder to find it in",
                         HOLO_IMPORT_ARG(name), HOLO_IMPORT_ARG(location));
    HOLO_TRY(name_beside(im, &location));
    HOLO_TRY(holo_import_map(im->import, location, out));
    im->inlined_max = holo_onnx_inlined_max(im->import->out->bytes);
    return HOLO_OK;
}

static HoloStatus from_external(HoloOnnx *im, HoloString name, HoloPbMany entries, int64_t count, HoloTensor *out)
{
    HoloString location = {0}, message;
    uint64_t   offset = 0, expected = holo_import_stored(out->dtype, count), length = expected;
    while (holo_pb_next_bytes(&entries, &message)) {
        HoloOnnxEntryProto entry = {0};
        HOLO_TRY(holo_pb_read(&im->source, "StringStringEntryProto", message, holo_onnx_entry_fields, &entry));
        bool is_number = true;
        if (holo_string_equal(entry.key, holo_onnx_string("location"))) location = entry.value;
        if (holo_string_equal(entry.key, holo_onnx_string("offset"))) is_number = parse_size(entry.value, &offset);
        if (holo_string_equal(entry.key, holo_onnx_string("length"))) is_number = parse_size(entry.value, &length);
        if (!is_number)
            return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s': the %.*s of its data is '%.*s', not a number",
                             HOLO_IMPORT_ARG(name), HOLO_IMPORT_ARG(entry.key), HOLO_IMPORT_ARG(entry.value));
    }
    if (!location.size)
        return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s' is external, but does not name its file",
                         HOLO_IMPORT_ARG(name));
    HoloMapping *file;
    HOLO_TRY(open_external(im, name, location, &file));
    if (offset > file->size || length > file->size - offset)
        return holo_fail(im->error, HOLO_BAD_MODEL,
                         "tensor '%.*s': its %llu bytes at byte %llu are not all in '%.*s', which has %llu bytes",
                         HOLO_IMPORT_ARG(name), (unsigned long long)length, (unsigned long long)offset,
                         HOLO_IMPORT_ARG(location), (unsigned long long)file->size);
    return from_raw(im, name, (HoloString){(const char *)file->data + offset, length}, count, out);
}

// ---- typed fields

static HoloStatus check_count(HoloOnnx *im, HoloString name, int64_t given, int64_t expected)
{
    if (given == expected) return HOLO_OK;
    return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s' has %lld elements, but its shape needs %lld",
                     HOLO_IMPORT_ARG(name), (long long)given, (long long)expected);
}

static HoloStatus from_ints(HoloOnnx *im, HoloString name, HoloPbMany ints, int64_t count, HoloTensor *out)
{
    bool    is_packed = holo_dtype_bits(out->dtype) <= 4; // elements of 6 bits have an entry each
    size_t  size      = holo_dtype_size(out->dtype);
    int64_t value, entries = is_packed ? (int64_t)holo_import_stored(out->dtype, count) : count;
    HOLO_TRY(check_count(im, name, ints.count, entries));
    HOLO_TRY(holo_import_take(im->import, name, entries, size, &out->data));
    for (char *to = out->data; holo_pb_next_int(&ints, &value); to += size) {
        if (out->dtype == HOLO_BOOL) value = value != 0;
        memcpy(to, &value, size);
    }
    return is_packed ? holo_import_unpack(im->import, name, out->data, count, out) : HOLO_OK;
}

static HoloStatus from_fixed(HoloOnnx *im, HoloString name, HoloPbMany values, size_t size, int64_t count,
                             HoloTensor *out)
{
    HOLO_TRY(check_count(im, name, values.count, count));
    const void *packed = holo_pb_packed(&values, size);
    if (packed && (uintptr_t)packed % size == 0) {
        out->data = (void *)packed;
        return HOLO_OK;
    }
    HOLO_TRY(holo_import_take(im->import, name, count, size, &out->data));
    for (char *to = out->data; holo_pb_next_fixed(&values, size, to);) to += size;
    return HOLO_OK;
}

static HoloStatus from_strings(HoloOnnx *im, HoloString name, HoloPbMany strings, int64_t count, HoloTensor *out)
{
    HOLO_TRY(check_count(im, name, strings.count, count));
    HOLO_TRY(holo_import_take(im->import, name, count, sizeof(HoloString), &out->data));
    for (HoloString *to = out->data; holo_pb_next_bytes(&strings, to);) to++;
    return HOLO_OK;
}

static HoloStatus from_fields(HoloOnnx *im, const HoloOnnxTensorProto *t, int64_t count, HoloTensor *out)
{
    switch ((HoloDtype)out->dtype) {
    case HOLO_F32: return from_fixed(im, t->name, t->float_data, 4, count, out);
    case HOLO_C64: return from_fixed(im, t->name, t->float_data, 4, 2 * count, out);
    case HOLO_F64: return from_fixed(im, t->name, t->double_data, 8, count, out);
    case HOLO_C128: return from_fixed(im, t->name, t->double_data, 8, 2 * count, out);
    case HOLO_STRING: return from_strings(im, t->name, t->string_data, count, out);
    case HOLO_I64: return from_ints(im, t->name, t->int64_data, count, out);
    case HOLO_U32:
    case HOLO_U64: return from_ints(im, t->name, t->uint64_data, count, out);
    default: return from_ints(im, t->name, t->int32_data, count, out);
    }
}

HoloStatus holo_onnx_tensor(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name)
{
    enum { EXTERNAL = 1 }; // TensorProto.DataLocation
    HoloOnnxTensorProto t = {0};
    HOLO_TRY(holo_pb_read(&im->source, "TensorProto", message, holo_onnx_tensor_fields, &t));
    *out = (HoloTensor){0};
    if (out_name) *out_name = t.name;
    if (!t.name.size) t.name = im->unnamed;
    if (t.data_type <= HOLO_NONE || t.data_type >= HOLO_DTYPE_COUNT)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "tensor '%.*s' has element type %lld, which is not supported",
                         HOLO_IMPORT_ARG(t.name), (long long)t.data_type);
    if (holo_pb_has(t.has, HOLO_ONNX_TENSOR_SEGMENT))
        return holo_fail(im->error, HOLO_UNSUPPORTED,
                         "tensor '%.*s' is stored in segments: save the model with whole tensors",
                         HOLO_IMPORT_ARG(t.name));
    int64_t count;
    out->dtype = (uint8_t)t.data_type;
    HOLO_TRY(holo_onnx_dims(im, t.name, t.dims, out, &count));
    bool is_raw = holo_pb_has(t.has, HOLO_ONNX_TENSOR_RAW), is_external = t.data_location == EXTERNAL;
    if ((is_raw || is_external) && out->dtype == HOLO_STRING)
        return holo_fail(im->error, HOLO_BAD_MODEL, "tensor '%.*s': strings cannot be stored as raw bytes",
                         HOLO_IMPORT_ARG(t.name));
    if (is_external) return from_external(im, t.name, t.external_data, count, out);
    if (is_raw) return from_raw(im, t.name, t.raw_data, count, out);
    return count ? from_fields(im, &t, count, out) : HOLO_OK;
}
