// tf_proto.c - names and numbers of the fields of TensorFlow's messages. Fields that are not used here are not listed.
#include "import/tensorflow/tf_proto.h"

#include <string.h>

// clang-format off
#define FIELD(n, k, member) {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = #member}
#define DATA(n, k, member) \
    {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = #member, .form = HOLO_PB_BASE64}
#define PART(n, k, member, fields) \
    {.number = n, .kind = HOLO_PB_##k, .offset = offsetof(MESSAGE, member), .name = #member, .of = fields}
#define MAP(n, member, fields)                                                                           \
    {.number = n, .kind = HOLO_PB_LIST, .offset = offsetof(MESSAGE, member), .name = #member, .of = fields, \
     .form = HOLO_PB_MAP}

#define MESSAGE HoloFlowDimProto
const HoloPbField holo_flow_dim_fields[] = {FIELD(1, INT, size), FIELD(2, BYTES, name), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowShapeProto
const HoloPbField holo_flow_shape_fields[] = {
    PART(2, LIST, dim, holo_flow_dim_fields),
    FIELD(3, INT, unknown_rank),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowTensorProto
const HoloPbField holo_flow_tensor_fields[] = {
    FIELD(1, INT, dtype),
    PART(2, BYTES, tensor_shape, holo_flow_shape_fields),
    DATA(4, BYTES, tensor_content),
    FIELD(5, FIXED32S, float_val),
    FIELD(6, FIXED64S, double_val),
    FIELD(7, INTS, int_val),
    DATA(8, LIST, string_val),
    FIELD(9, FIXED32S, scomplex_val),
    FIELD(10, INTS, int64_val),
    FIELD(11, INTS, bool_val),
    FIELD(12, FIXED64S, dcomplex_val),
    FIELD(13, INTS, half_val),
    FIELD(16, INTS, uint32_val),
    FIELD(17, INTS, uint64_val),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowListProto
const HoloPbField holo_flow_list_fields[] = {
    DATA(2, LIST, s),
    FIELD(3, INTS, i),
    FIELD(4, FIXED32S, f),
    FIELD(5, INTS, b),
    FIELD(6, INTS, type),
    PART(7, LIST, shape, holo_flow_shape_fields),
    PART(8, LIST, tensor, holo_flow_tensor_fields),
    PART(9, LIST, func, holo_flow_call_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowCallProto
const HoloPbField holo_flow_call_fields[] = {FIELD(1, BYTES, name), MAP(2, attr, holo_flow_attr_entry_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowAttrProto
const HoloPbField holo_flow_attr_fields[] = {
    PART(HOLO_FLOW_ATTR_LIST, BYTES, list, holo_flow_list_fields),
    DATA(HOLO_FLOW_ATTR_S, BYTES, s),
    FIELD(HOLO_FLOW_ATTR_I, INT, i),
    FIELD(HOLO_FLOW_ATTR_F, FLOAT, f),
    FIELD(HOLO_FLOW_ATTR_B, INT, b),
    FIELD(HOLO_FLOW_ATTR_TYPE, INT, type),
    PART(HOLO_FLOW_ATTR_SHAPE, BYTES, shape, holo_flow_shape_fields),
    PART(HOLO_FLOW_ATTR_TENSOR, BYTES, tensor, holo_flow_tensor_fields),
    FIELD(HOLO_FLOW_ATTR_PLACEHOLDER, BYTES, placeholder),
    PART(HOLO_FLOW_ATTR_FUNC, BYTES, func, holo_flow_call_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowEntryProto
const HoloPbField holo_flow_attr_entry_fields[] = {FIELD(1, BYTES, key), PART(2, BYTES, value, holo_flow_attr_fields), {0}};
static const HoloPbField text_entry_fields[] = {FIELD(1, BYTES, key), FIELD(2, BYTES, value), {0}};
static const HoloPbField signature_entry_fields[] = {
    FIELD(1, BYTES, key), PART(2, BYTES, value, holo_flow_signature_fields), {0}};
static const HoloPbField info_entry_fields[] = {
    FIELD(1, BYTES, key), PART(2, BYTES, value, holo_flow_tensor_info_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowNodeProto
const HoloPbField holo_flow_node_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, BYTES, op),
    FIELD(3, LIST, input),
    MAP(5, attr, holo_flow_attr_entry_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowArgProto
const HoloPbField holo_flow_arg_fields[] = {FIELD(1, BYTES, name), FIELD(3, INT, type), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowOpProto
const HoloPbField holo_flow_op_fields[] = {
    FIELD(1, BYTES, name),
    PART(2, LIST, input_arg, holo_flow_arg_fields),
    PART(3, LIST, output_arg, holo_flow_arg_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowFunctionProto
const HoloPbField holo_flow_function_fields[] = {
    PART(1, BYTES, signature, holo_flow_op_fields),
    PART(3, LIST, node_def, holo_flow_node_fields),
    MAP(4, ret, text_entry_fields),
    MAP(5, attr, holo_flow_attr_entry_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowLibraryProto
const HoloPbField holo_flow_library_fields[] = {PART(1, LIST, function, holo_flow_function_fields), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowVersionsProto
const HoloPbField holo_flow_versions_fields[] = {FIELD(1, INT, producer), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowGraphProto
const HoloPbField holo_flow_graph_fields[] = {
    PART(1, LIST, node, holo_flow_node_fields),
    PART(2, BYTES, library, holo_flow_library_fields),
    PART(4, BYTES, versions, holo_flow_versions_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowTensorInfoProto
const HoloPbField holo_flow_tensor_info_fields[] = {
    FIELD(1, BYTES, name),
    FIELD(2, INT, dtype),
    PART(3, BYTES, tensor_shape, holo_flow_shape_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowSignatureProto
const HoloPbField holo_flow_signature_fields[] = {
    MAP(1, inputs, info_entry_fields),
    MAP(2, outputs, info_entry_fields),
    FIELD(3, BYTES, method_name),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowMetaInfoProto
const HoloPbField holo_flow_meta_info_fields[] = {FIELD(4, LIST, tags), FIELD(5, BYTES, tensorflow_version), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowAssetProto
const HoloPbField holo_flow_asset_fields[] = {
    PART(1, BYTES, tensor_info, holo_flow_tensor_info_fields),
    FIELD(2, BYTES, filename),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowMetaGraphProto
const HoloPbField holo_flow_meta_graph_fields[] = {
    PART(1, BYTES, meta_info_def, holo_flow_meta_info_fields),
    PART(2, BYTES, graph_def, holo_flow_graph_fields),
    MAP(5, signature_def, signature_entry_fields),
    PART(6, LIST, asset_file_def, holo_flow_asset_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowSavedProto
const HoloPbField holo_flow_saved_fields[] = {
    FIELD(1, INT, saved_model_schema_version),
    PART(2, LIST, meta_graphs, holo_flow_meta_graph_fields),
    {0},
};
#undef MESSAGE

#define MESSAGE HoloFlowBundleProto
const HoloPbField holo_flow_bundle_fields[] = {FIELD(1, INT, num_shards), FIELD(2, INT, endianness), {0}};
#undef MESSAGE

#define MESSAGE HoloFlowBundleEntryProto
const HoloPbField holo_flow_bundle_entry_fields[] = {
    FIELD(1, INT, dtype),
    PART(2, BYTES, shape, holo_flow_shape_fields),
    FIELD(3, INT, shard_id),
    FIELD(4, INT, offset),
    FIELD(5, INT, size),
    FIELD(7, LIST, slices),
    {0},
};
#undef MESSAGE
// clang-format on

bool holo_flow_constant(HoloString name, int64_t *out)
{
    static const char *const names[] = {
        "INVALID",   "FLOAT",  "DOUBLE",     "INT32", "UINT8",    "INT16",   "INT8",     "STRING",
        "COMPLEX64", "INT64",  "BOOL",       "QINT8", "QUINT8",   "QINT32",  "BFLOAT16", "QINT16",
        "QUINT16",   "UINT16", "COMPLEX128", "HALF",  "RESOURCE", "VARIANT", "UINT32",   "UINT64",
    };
    size_t size = name.size;
    bool   ref  = size > 4 && !memcmp(name.data + size - 4, "_REF", 4);
    if (ref) size -= 4;
    if (size < 4 || memcmp(name.data, "DT_", 3)) return false;
    for (int i = 0; i < HOLO_COUNT(names); i++)
        if (strlen(names[i]) == size - 3 && !memcmp(names[i], name.data + 3, size - 3)) {
            *out = i + (ref ? 100 : 0);
            return true;
        }
    return false;
}
