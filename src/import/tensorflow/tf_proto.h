// tf_proto.h - the messages of TensorFlow's graphs, models and checkpoints, as far as they are read here.
//
// Each struct mirrors one message, and each has its table of fields: holo_pb_read fills it. The tables name the fields,
// so that the text form (.pbtxt) and the JSON form (TensorFlow.js) are read, too.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_PROTO_H
#define HOLO_IMPORT_TENSORFLOW_TF_PROTO_H

#include "import/wire/protobuf.h"

typedef struct HoloFlowGraphProto {
    uint64_t   has;
    HoloPbMany node;
    HoloString library, versions;
} HoloFlowGraphProto;

typedef struct HoloFlowVersionsProto {
    uint64_t has;
    int64_t  producer;
} HoloFlowVersionsProto;

typedef struct HoloFlowNodeProto {
    uint64_t   has;
    HoloString name, op;
    HoloPbMany input, attr;
} HoloFlowNodeProto;

typedef struct HoloFlowEntryProto { // of a map of messages or strings
    uint64_t   has;
    HoloString key, value;
} HoloFlowEntryProto;

typedef struct HoloFlowAttrProto { // one of them is there
    uint64_t   has;
    HoloString list, s, shape, tensor, placeholder, func;
    int64_t    i, b, type;
    float      f;
} HoloFlowAttrProto;

enum { // numbers of its fields
    HOLO_FLOW_ATTR_LIST        = 1,
    HOLO_FLOW_ATTR_S           = 2,
    HOLO_FLOW_ATTR_I           = 3,
    HOLO_FLOW_ATTR_F           = 4,
    HOLO_FLOW_ATTR_B           = 5,
    HOLO_FLOW_ATTR_TYPE        = 6,
    HOLO_FLOW_ATTR_SHAPE       = 7,
    HOLO_FLOW_ATTR_TENSOR      = 8,
    HOLO_FLOW_ATTR_PLACEHOLDER = 9,
    HOLO_FLOW_ATTR_FUNC        = 10,
};

typedef struct HoloFlowListProto {
    uint64_t   has;
    HoloPbMany s, i, f, b, type, shape, tensor, func;
} HoloFlowListProto;

typedef struct HoloFlowCallProto { // NameAttrList
    uint64_t   has;
    HoloString name;
    HoloPbMany attr;
} HoloFlowCallProto;

typedef struct HoloFlowShapeProto {
    uint64_t   has;
    HoloPbMany dim;
    int64_t    unknown_rank;
} HoloFlowShapeProto;

typedef struct HoloFlowDimProto {
    uint64_t   has;
    int64_t    size;
    HoloString name;
} HoloFlowDimProto;

typedef struct HoloFlowTensorProto {
    uint64_t   has;
    int64_t    dtype;
    HoloString tensor_shape, tensor_content;
    HoloPbMany float_val, double_val, int_val, string_val, scomplex_val, int64_val, bool_val, dcomplex_val, half_val,
        uint32_val, uint64_val;
} HoloFlowTensorProto;

typedef struct HoloFlowLibraryProto {
    uint64_t   has;
    HoloPbMany function;
} HoloFlowLibraryProto;

typedef struct HoloFlowFunctionProto {
    uint64_t   has;
    HoloString signature;
    HoloPbMany node_def, ret, attr;
} HoloFlowFunctionProto;

typedef struct HoloFlowOpProto { // OpDef
    uint64_t   has;
    HoloString name;
    HoloPbMany input_arg, output_arg;
} HoloFlowOpProto;

typedef struct HoloFlowArgProto { // ArgDef
    uint64_t   has;
    HoloString name;
    int64_t    type;
} HoloFlowArgProto;

typedef struct HoloFlowSavedProto { // SavedModel
    uint64_t   has;
    int64_t    saved_model_schema_version;
    HoloPbMany meta_graphs;
} HoloFlowSavedProto;

typedef struct HoloFlowMetaGraphProto {
    uint64_t   has;
    HoloString meta_info_def, graph_def;
    HoloPbMany signature_def, asset_file_def;
} HoloFlowMetaGraphProto;

typedef struct HoloFlowMetaInfoProto {
    uint64_t   has;
    HoloPbMany tags;
    HoloString tensorflow_version;
} HoloFlowMetaInfoProto;

typedef struct HoloFlowSignatureProto {
    uint64_t   has;
    HoloPbMany inputs, outputs;
    HoloString method_name;
} HoloFlowSignatureProto;

typedef struct HoloFlowTensorInfoProto {
    uint64_t   has;
    HoloString name, tensor_shape;
    int64_t    dtype;
} HoloFlowTensorInfoProto;

typedef struct HoloFlowAssetProto {
    uint64_t   has;
    HoloString tensor_info, filename;
} HoloFlowAssetProto;

typedef struct HoloFlowBundleProto { // BundleHeaderProto
    uint64_t has;
    int64_t  num_shards, endianness;
} HoloFlowBundleProto;

typedef struct HoloFlowBundleEntryProto {
    uint64_t   has;
    int64_t    dtype, shard_id, offset, size;
    HoloString shape;
    HoloPbMany slices;
} HoloFlowBundleEntryProto;

extern const HoloPbField holo_flow_graph_fields[], holo_flow_versions_fields[], holo_flow_node_fields[],
    holo_flow_attr_entry_fields[], holo_flow_attr_fields[], holo_flow_list_fields[], holo_flow_call_fields[],
    holo_flow_shape_fields[], holo_flow_dim_fields[], holo_flow_tensor_fields[], holo_flow_library_fields[],
    holo_flow_function_fields[], holo_flow_op_fields[], holo_flow_arg_fields[], holo_flow_saved_fields[],
    holo_flow_meta_graph_fields[], holo_flow_meta_info_fields[], holo_flow_signature_fields[],
    holo_flow_tensor_info_fields[], holo_flow_asset_fields[], holo_flow_bundle_fields[],
    holo_flow_bundle_entry_fields[];

bool holo_flow_constant(HoloString name, int64_t *out); // the number of "DT_FLOAT" and its like

#endif
