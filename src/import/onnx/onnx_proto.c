// onnx_proto.c - the field numbers and names of onnx.proto. Fields that are not used here are not listed.
#include "import/onnx/onnx_proto.h"

// clang-format off
#define NAMED(n, k, member, is) {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = is}
#define FIELD(n, k, member) NAMED(n, k, member, #member)
#define DATA(n, k, member, is) \
    {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = is, .form = HOLO_PB_BASE64}
#define PART(n, k, member, is, fields) \
    {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = is, .of = fields}

#define MESSAGE HoloOnnxModelProto
const HoloPbField holo_onnx_model_fields[] = {
    FIELD(1, INT, ir_version),
    FIELD(2, BYTES, producer_name),
    FIELD(3, BYTES, producer_version),
    NAMED(6, BYTES, doc, "doc_string"),
    PART(7, BYTES, graph, "graph", holo_onnx_graph_fields),
    PART(8, LIST, opset_import, "opset_import", holo_onnx_opset_fields),
    PART(14, LIST, metadata, "metadata_props", holo_onnx_entry_fields),
    PART(25, LIST, functions, "functions", holo_onnx_function_fields),
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
    PART(1, LIST, node, "node", holo_onnx_node_fields),
    FIELD(2, BYTES, name),
    PART(5, LIST, initializer, "initializer", holo_onnx_tensor_fields),
    PART(11, LIST, input, "input", holo_onnx_value_info_fields),
    PART(12, LIST, output, "output", holo_onnx_value_info_fields),
    PART(15, LIST, sparse_initializer, "sparse_initializer", holo_onnx_sparse_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxNodeProto
const HoloPbField holo_onnx_node_fields[] = {
    FIELD(1, LIST, input),
    FIELD(2, LIST, output),
    FIELD(3, BYTES, name),
    FIELD(4, BYTES, op_type),
    PART(5, LIST, attribute, "attribute", holo_onnx_attr_fields),
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
    PART(7, LIST, node, "node", holo_onnx_node_fields),
    PART(9, LIST, opset_import, "opset_import", holo_onnx_opset_fields),
    FIELD(10, BYTES, domain),
    PART(11, LIST, attribute_default, "attribute_proto", holo_onnx_attr_fields),
    FIELD(13, BYTES, overload),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxAttrProto
const HoloPbField holo_onnx_attr_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, FLOAT, f),
    FIELD(3, INT, i),
    DATA(4, BYTES, s, "s"),
    PART(5, BYTES, tensor, "t", holo_onnx_tensor_fields),
    PART(6, BYTES, graph, "g", holo_onnx_graph_fields),
    FIELD(7, FIXED32S, floats),
    FIELD(8, INTS, ints),
    DATA(9, LIST, strings, "strings"),
    PART(10, LIST, tensors, "tensors", holo_onnx_tensor_fields),
    PART(11, LIST, graphs, "graphs", holo_onnx_graph_fields),
    PART(14, BYTES, type_proto, "tp", holo_onnx_type_fields),
    FIELD(20, INT, type),
    NAMED(21, BYTES, ref_name, "ref_attr_name"),
    PART(22, BYTES, sparse_tensor, "sparse_tensor", holo_onnx_sparse_fields),
    PART(23, LIST, sparse_tensors, "sparse_tensors", holo_onnx_sparse_fields),
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
    DATA(6, LIST, string_data, "string_data"),
    FIELD(7, INTS, int64_data),
    FIELD(8, BYTES, name),
    DATA(HOLO_ONNX_TENSOR_RAW, BYTES, raw_data, "raw_data"),
    FIELD(10, FIXED64S, double_data),
    FIELD(11, INTS, uint64_data),
    PART(13, LIST, external_data, "external_data", holo_onnx_entry_fields),
    FIELD(14, INT, data_location),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxSparseProto
const HoloPbField holo_onnx_sparse_fields[] = {
    PART(1, BYTES, values, "values", holo_onnx_tensor_fields),
    PART(2, BYTES, indices, "indices", holo_onnx_tensor_fields),
    FIELD(3, INTS, dims),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxValueInfoProto
const HoloPbField holo_onnx_value_info_fields[] = {
    FIELD(1, BYTES, name), PART(2, BYTES, type, "type", holo_onnx_type_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxTypeProto
const HoloPbField holo_onnx_type_fields[] = {
    PART(HOLO_ONNX_TYPE_TENSOR, BYTES, tensor, "tensor_type", holo_onnx_tensor_type_fields),
    PART(HOLO_ONNX_TYPE_SEQUENCE, BYTES, sequence, "sequence_type", holo_onnx_element_type_fields),
    PART(HOLO_ONNX_TYPE_MAP, BYTES, map, "map_type", holo_onnx_map_type_fields),
    PART(HOLO_ONNX_TYPE_SPARSE, BYTES, sparse, "sparse_tensor_type", holo_onnx_tensor_type_fields),
    PART(HOLO_ONNX_TYPE_OPTIONAL, BYTES, optional, "optional_type", holo_onnx_element_type_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloOnnxTensorTypeProto
const HoloPbField holo_onnx_tensor_type_fields[] = {
    FIELD(1, INT, elem_type), PART(2, BYTES, shape, "shape", holo_onnx_shape_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxElementTypeProto
const HoloPbField holo_onnx_element_type_fields[] = {PART(1, BYTES, type, "elem_type", holo_onnx_type_fields), {0}};
const HoloPbField holo_onnx_map_type_fields[] = {PART(2, BYTES, type, "value_type", holo_onnx_type_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxShapeProto
const HoloPbField holo_onnx_shape_fields[] = {PART(1, LIST, dim, "dim", holo_onnx_dim_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloOnnxDimProto
const HoloPbField holo_onnx_dim_fields[] = {NAMED(1, INT, value, "dim_value"), NAMED(2, BYTES, param, "dim_param"), {0}};
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
