// onnx_type.c - turns TypeProto into a tensor without data. It handles two levels: a sequence of maps, an optional
// sequence. Deeper or opaque types become unknown. A sparse tensor is a tensor, because it is given in full.
#include "import/onnx/onnx.h"

static const HoloTensor unknown = {.dtype = HOLO_NONE, .rank = -1};

// Names that exporters give to every unknown size: equal names do not mean equal sizes.
static bool is_no_name(const char *name)
{
    static const char *const words[] = {"None", "?", "-1", "unknown", "Unknown"};
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (!strcmp(name, words[i])) return true;
    return false;
}

static HoloStatus read_dim(HoloOnnx *im, HoloString message, HoloDims *dims, HoloDim *out)
{
    enum { VALUE = 1, PARAM = 2 };
    HoloOnnxDimProto dim = {0};
    HOLO_TRY(holo_pb_read(&im->source, "Dimension", message, holo_onnx_dim_fields, &dim));
    *out = HOLO_DIM_UNKNOWN;
    if (holo_pb_has(dim.has, VALUE) && dim.value >= 0) {
        *out = dim.value;
    } else if (dims && holo_pb_has(dim.has, PARAM) && dim.param.size) {
        char *name = holo_import_text(im->import, dim.param);
        if (!name) return holo_fail_memory(im->error);
        *out = is_no_name(name) ? holo_dims_fresh(dims, "dim") : holo_dims_symbol(dims, name);
    } else if (dims) {
        *out = holo_dims_fresh(dims, "dim");
    }
    return HOLO_OK;
}

static HoloStatus read_tensor(HoloOnnx *im, HoloString message, HoloDims *dims, HoloTensor *out)
{
    enum { SHAPE = 2 };
    HoloOnnxTensorTypeProto type  = {0};
    HoloOnnxShapeProto      shape = {0};
    HOLO_TRY(holo_pb_read(&im->source, "TypeProto.Tensor", message, holo_onnx_tensor_type_fields, &type));
    if (type.elem_type <= HOLO_NONE || type.elem_type >= HOLO_DTYPE_COUNT) return HOLO_OK;
    *out = (HoloTensor){.dtype = (uint8_t)type.elem_type, .rank = -1};
    if (!holo_pb_has(type.has, SHAPE)) return HOLO_OK;
    HOLO_TRY(holo_pb_read(&im->source, "TensorShapeProto", type.shape, holo_onnx_shape_fields, &shape));
    if (shape.dim.count > HOLO_MAX_RANK)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "a type has %lld dimensions; at most %d are supported",
                         (long long)shape.dim.count, HOLO_MAX_RANK);
    HoloString dim;
    out->rank = 0;
    while (holo_pb_next_bytes(&shape.dim, &dim)) HOLO_TRY(read_dim(im, dim, dims, &out->dim[out->rank++]));
    return HOLO_OK;
}

static HoloStatus read_type(HoloOnnx *im, HoloString message, HoloDims *dims, int depth, HoloTensor *out)
{
    HoloOnnxTypeProto type = {0};
    *out                   = unknown;
    HOLO_TRY(holo_pb_read(&im->source, "TypeProto", message, holo_onnx_type_fields, &type));
    if (holo_pb_has(type.has, HOLO_ONNX_TYPE_TENSOR)) return read_tensor(im, type.tensor, dims, out);
    if (holo_pb_has(type.has, HOLO_ONNX_TYPE_SPARSE)) return read_tensor(im, type.sparse, dims, out);
    const struct {
        int                number;
        HoloKind           kind;
        HoloString         message;
        const HoloPbField *fields;
    } container[] = {
        {HOLO_ONNX_TYPE_SEQUENCE, HOLO_SEQUENCE, type.sequence, holo_onnx_element_type_fields},
        {HOLO_ONNX_TYPE_OPTIONAL, HOLO_OPTIONAL, type.optional, holo_onnx_element_type_fields},
        {HOLO_ONNX_TYPE_MAP, HOLO_MAP, type.map, holo_onnx_map_type_fields},
    };
    for (int i = 0; i < HOLO_COUNT(container); i++) {
        if (!holo_pb_has(type.has, container[i].number)) continue;
        HoloOnnxElementTypeProto element = {0};
        HoloTensor               inner;
        HOLO_TRY(holo_pb_read(&im->source, "TypeProto", container[i].message, container[i].fields, &element));
        if (depth == 2) return HOLO_OK;
        HOLO_TRY(read_type(im, element.type, NULL, depth + 1, &inner));
        if (inner.dtype == HOLO_NONE) return HOLO_OK;
        *out = (HoloTensor){.dtype = inner.dtype, .kind = (uint8_t)container[i].kind, .inner = inner.kind, .rank = 1};
        out->dim[0] = container[i].kind == HOLO_MAP ? 2 : HOLO_DIM_UNKNOWN;
        return HOLO_OK;
    }
    return HOLO_OK;
}

HoloStatus holo_onnx_type(HoloOnnx *im, HoloString message, HoloDims *dims, HoloTensor *out)
{
    return read_type(im, message, dims, 0, out);
}
