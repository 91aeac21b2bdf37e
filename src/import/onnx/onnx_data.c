// onnx_data.c - values outside of a model: serialized TensorProto, SequenceProto, OptionalProto and MapProto, as in
// ONNX's tests.
#include "import/onnx/onnx.h"

#include <string.h>

enum { DEPTH_MAX = 4 }; // nested sequences and optionals

static HoloStatus read_value(HoloOnnx *im, HoloString message, HoloKind kind, int depth, HoloTensor *out,
                             HoloString *out_name);

static HoloStatus read_container(HoloOnnx *im, HoloString message, HoloKind kind, int depth, HoloTensor *out,
                                 HoloString *out_name)
{
    HoloOnnxContainerProto proto = {0};
    HOLO_TRY(holo_pb_read(&im->source, "SequenceProto", message, holo_onnx_container_fields, &proto));
    const struct { // by elem_type: 1 tensor, 2 sparse tensor, 3 sequence, 4 map, 5 optional
        HoloKind   kind;
        HoloPbMany list;
    } form[] = {
        [1] = {HOLO_TENSOR, proto.tensors},
        [3] = {HOLO_SEQUENCE, proto.sequences},
        [4] = {HOLO_MAP, proto.maps},
        [5] = {HOLO_OPTIONAL, proto.optionals},
    };
    *out_name = proto.name;
    if (proto.elem_type < 0 || proto.elem_type >= HOLO_COUNT(form) || proto.elem_type == 2)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "a sequence or optional has elements of type %lld",
                         (long long)proto.elem_type);
    HoloPbMany list = form[proto.elem_type].list;
    if (kind == HOLO_OPTIONAL && list.count > 1)
        return holo_fail(im->error, HOLO_BAD_INPUT, "an optional has %lld elements", (long long)list.count);
    HoloTensor *element;
    HOLO_TRY(holo_import_take(im->import, proto.name, list.count, sizeof *element, &out->data));
    out->kind   = (uint8_t)kind;
    out->rank   = 1;
    out->dim[0] = list.count;
    if (list.count) out->inner = (uint8_t)form[proto.elem_type].kind;
    element = out->data;
    for (int64_t i = 0; holo_pb_next_bytes(&list, &message); i++) {
        HoloString name;
        HOLO_TRY(read_value(im, message, form[proto.elem_type].kind, depth + 1, &element[i], &name));
        out->dtype = element[i].dtype;
    }
    return HOLO_OK;
}

// Joins tensors of one element each into one tensor of rank 1.
static HoloStatus join_values(HoloOnnx *im, const HoloTensor *sequence, int64_t keys, HoloTensor *out)
{
    const HoloTensor *element = sequence->data;
    size_t            size    = holo_dtype_size(sequence->dtype);
    *out                      = (HoloTensor){.dtype = sequence->dtype, .rank = 1, .dim = {keys}};
    if (sequence->inner != HOLO_TENSOR || sequence->dim[0] != keys)
        return holo_fail(im->error, HOLO_BAD_INPUT, "a map has %lld keys and %lld values", (long long)keys,
                         (long long)sequence->dim[0]);
    HOLO_TRY(holo_import_take(im->import, (HoloString){0}, keys, size, &out->data));
    for (int64_t i = 0; i < keys; i++) {
        if (element[i].dtype != out->dtype || holo_tensor_count(&element[i]) != 1)
            return holo_fail(im->error, HOLO_UNSUPPORTED, "the values of a map are not single numbers of one type");
        memcpy((char *)out->data + (size_t)i * size, element[i].data, size);
    }
    return HOLO_OK;
}

static HoloStatus read_keys(HoloOnnx *im, HoloOnnxMapProto *map, HoloTensor *out)
{
    bool    is_text = map->key_type == HOLO_STRING;
    size_t  size    = holo_dtype_size(is_text ? HOLO_STRING : HOLO_I64);
    int64_t count   = is_text ? map->string_keys.count : map->keys.count;
    *out            = (HoloTensor){.dtype = is_text ? HOLO_STRING : HOLO_I64, .rank = 1, .dim = {count}};
    HOLO_TRY(holo_import_take(im->import, map->name, count, size, &out->data));
    for (HoloString *to = out->data; is_text && holo_pb_next_bytes(&map->string_keys, to);) to++;
    for (int64_t *to = out->data; !is_text && holo_pb_next_int(&map->keys, to);) to++;
    return HOLO_OK;
}

static HoloStatus read_map(HoloOnnx *im, HoloString message, int depth, HoloTensor *out, HoloString *out_name)
{
    HoloOnnxMapProto map    = {0};
    HoloTensor       values = {0}, *pair;
    HoloString       unused;
    HOLO_TRY(holo_pb_read(&im->source, "MapProto", message, holo_onnx_map_fields, &map));
    HOLO_TRY(read_container(im, map.values, HOLO_SEQUENCE, depth + 1, &values, &unused));
    HOLO_TRY(holo_import_take(im->import, map.name, 2, sizeof *pair, &out->data));
    pair = out->data;
    HOLO_TRY(read_keys(im, &map, &pair[0]));
    HOLO_TRY(join_values(im, &values, pair[0].dim[0], &pair[1]));
    out->kind   = HOLO_MAP;
    out->dtype  = pair[1].dtype;
    out->rank   = 1;
    out->dim[0] = 2;
    *out_name   = map.name;
    return HOLO_OK;
}

static HoloStatus read_value(HoloOnnx *im, HoloString message, HoloKind kind, int depth, HoloTensor *out,
                             HoloString *out_name)
{
    if (depth > DEPTH_MAX) return holo_fail(im->error, HOLO_UNSUPPORTED, "a value is nested too deeply");
    if (kind == HOLO_TENSOR) return holo_onnx_tensor(im, message, out, out_name);
    if (kind == HOLO_MAP) return read_map(im, message, depth, out, out_name);
    return read_container(im, message, kind, depth, out, out_name);
}

HoloStatus holo_import_pb(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want, HoloTensor *out,
                          const char **out_name, HoloError *error)
{
    HoloImport import = {.arena = arena, .error = error};
    HoloOnnx   im     = {.import = &import, .arena = arena, .error = error, .source = {bytes, error}};
    HoloString name   = {0};
    holo_import_limit(&import, size);
    *out = (HoloTensor){.dtype = want->dtype, .inner = want->inner};
    HOLO_TRY(read_value(&im, (HoloString){bytes, size}, (HoloKind)want->kind, 0, out, &name));
    if (!out_name) return HOLO_OK;
    *out_name = holo_import_text(&import, name);
    return *out_name ? HOLO_OK : holo_fail_memory(error);
}
