// onnx_proto.c - the field numbers of onnx.proto. Fields that are not used here are not listed.
#include "import/onnx/onnx_proto.h"

// clang-format off
#define FIELD(n, k, member) {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member)}

#define MESSAGE HoloOnnxModelProto
const HoloPbField holo_onnx_model_fields[] = {
    FIELD(1, INT, ir_version),
    FIELD(2, BYTES, producer_name),
    FIELD(3, BYTES, producer_version),
    FIELD(6, BYTES, doc),
    FIELD(7, BYTES, graph),
    FIELD(8, LIST, opset_import),
    FIELD(14, LIST, metadata),
    FIELD(25, LIST, functions),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxOpsetProto
const HoloPbField holo_onnx_opset_fields[] = {FIELD(1, BYTES, domain), FIELD(2, INT, version), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxEntryProto
const HoloPbField holo_onnx_entry_fields[] = {FIELD(1, BYTES, key), FIELD(2, BYTES, value), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxGraphProto
const HoloPbField holo_onnx_graph_fields[] = {
    FIELD(1, LIST, node),
    FIELD(2, BYTES, name),
    FIELD(5, LIST, initializer),
    FIELD(11, LIST, input),
    FIELD(12, LIST, output),
    FIELD(15, LIST, sparse_initializer),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxNodeProto
const HoloPbField holo_onnx_node_fields[] = {
    FIELD(1, LIST, input),
    FIELD(2, LIST, output),
    FIELD(3, BYTES, name),
    FIELD(4, BYTES, op_type),
    FIELD(5, LIST, attribute),
    FIELD(7, BYTES, domain),
    FIELD(8, BYTES, overload),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxFunctionProto
const HoloPbField holo_onnx_function_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(4, LIST, input),
    FIELD(5, LIST, output),
    FIELD(7, LIST, node),
    FIELD(9, LIST, opset_import),
    FIELD(10, BYTES, domain),
    FIELD(11, LIST, attribute_default),
    FIELD(13, BYTES, overload),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxAttrProto
const HoloPbField holo_onnx_attr_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, FLOAT, f),
    FIELD(3, INT, i),
    FIELD(4, BYTES, s),
    FIELD(5, BYTES, tensor),
    FIELD(6, BYTES, graph),
    FIELD(7, FIXED32S, floats),
    FIELD(8, INTS, ints),
    FIELD(9, LIST, strings),
    FIELD(10, LIST, tensors),
    FIELD(11, LIST, graphs),
    FIELD(14, BYTES, type_proto),
    FIELD(20, INT, type),
    FIELD(21, BYTES, ref_name),
    FIELD(22, BYTES, sparse_tensor),
    FIELD(23, LIST, sparse_tensors),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxTensorProto
const HoloPbField holo_onnx_tensor_fields[] = {
    FIELD(1, INTS, dims),
    FIELD(2, INT, data_type),
    FIELD(HOLO_ONNX_TENSOR_SEGMENT, BYTES, segment),
    FIELD(4, FIXED32S, float_data),
    FIELD(5, INTS, int32_data),
    FIELD(6, LIST, string_data),
    FIELD(7, INTS, int64_data),
    FIELD(8, BYTES, name),
    FIELD(HOLO_ONNX_TENSOR_RAW, BYTES, raw_data),
    FIELD(10, FIXED64S, double_data),
    FIELD(11, INTS, uint64_data),
    FIELD(13, LIST, external_data),
    FIELD(14, INT, data_location),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxSparseProto
const HoloPbField holo_onnx_sparse_fields[] = {
    FIELD(1, BYTES, values),
    FIELD(2, BYTES, indices),
    FIELD(3, INTS, dims),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxValueInfoProto
const HoloPbField holo_onnx_value_info_fields[] = {FIELD(1, BYTES, name), FIELD(2, BYTES, type), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxTypeProto
const HoloPbField holo_onnx_type_fields[] = {
    FIELD(HOLO_ONNX_TYPE_TENSOR, BYTES, tensor),
    FIELD(HOLO_ONNX_TYPE_SEQUENCE, BYTES, sequence),
    FIELD(HOLO_ONNX_TYPE_MAP, BYTES, map),
    FIELD(HOLO_ONNX_TYPE_SPARSE, BYTES, sparse),
    FIELD(HOLO_ONNX_TYPE_OPTIONAL, BYTES, optional),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxTensorTypeProto
const HoloPbField holo_onnx_tensor_type_fields[] = {FIELD(1, INT, elem_type), FIELD(2, BYTES, shape), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxElementTypeProto
const HoloPbField holo_onnx_element_type_fields[] = {FIELD(1, BYTES, type), {0}};
const HoloPbField holo_onnx_map_type_fields[] = {FIELD(2, BYTES, type), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxShapeProto
const HoloPbField holo_onnx_shape_fields[] = {FIELD(1, LIST, dim), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxDimProto
const HoloPbField holo_onnx_dim_fields[] = {FIELD(1, INT, value), FIELD(2, BYTES, param), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxContainerProto
const HoloPbField holo_onnx_container_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, INT, elem_type),
    FIELD(3, LIST, tensors),
    FIELD(5, LIST, sequences),
    FIELD(6, LIST, maps),
    FIELD(7, LIST, optionals),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxMapProto
const HoloPbField holo_onnx_map_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, INT, key_type),
    FIELD(3, INTS, keys),
    FIELD(4, LIST, string_keys),
    FIELD(5, BYTES, values),
    {0},
};
#undef MESSAGE
