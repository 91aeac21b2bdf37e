// tf_proto.h - the messages of TensorFlow's graphs, models and checkpoints, as far as they are read here.
//
// Each struct mirrors one message, and each has its table of fields: holo_pb_read fills it. The tables name the fields,
// so that the text form (.pbtxt) and the JSON form (TensorFlow.js) are read, too.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_PROTO_H
#define HOLO_IMPORT_TENSORFLOW_TF_PROTO_H

#include "import/wire/protobuf.h"

typedef struct HoloTfGraphProto {
    uint64_t   has;
    HoloPbMany node;
    HoloString library, versions;
} HoloTfGraphProto;

typedef struct HoloTfVersionsProto {
    uint64_t has;
    int64_t  producer;
} HoloTfVersionsProto;

typedef struct HoloTfNodeProto {
    uint64_t   has;
    HoloString name, op;
    HoloPbMany input, attr;
} HoloTfNodeProto;

typedef struct HoloTfEntryProto { // of a map of messages or strings
    uint64_t   has;
    HoloString key, value;
} HoloTfEntryProto;

typedef struct HoloTfAttrProto { // one of them is there
    uint64_t   has;
    HoloString list, s, shape, tensor, placeholder, func;
    int64_t    i, b, type;
    float      f;
} HoloTfAttrProto;

enum { // numbers of its fields
    HOLO_TF_ATTR_LIST        = 1,
    HOLO_TF_ATTR_S           = 2,
    HOLO_TF_ATTR_I           = 3,
    HOLO_TF_ATTR_F           = 4,
    HOLO_TF_ATTR_B           = 5,
    HOLO_TF_ATTR_TYPE        = 6,
    HOLO_TF_ATTR_SHAPE       = 7,
    HOLO_TF_ATTR_TENSOR      = 8,
    HOLO_TF_ATTR_PLACEHOLDER = 9,
    HOLO_TF_ATTR_FUNC        = 10,
};

typedef struct HoloTfListProto {
    uint64_t   has;
    HoloPbMany s, i, f, b, type, shape, tensor, func;
} HoloTfListProto;

typedef struct HoloTfCallProto { // NameAttrList
    uint64_t   has;
    HoloString name;
    HoloPbMany attr;
} HoloTfCallProto;

typedef struct HoloTfShapeProto {
    uint64_t   has;
    HoloPbMany dim;
    int64_t    unknown_rank;
} HoloTfShapeProto;

typedef struct HoloTfDimProto {
    uint64_t   has;
    int64_t    size;
    HoloString name;
} HoloTfDimProto;

typedef struct HoloTfTensorProto {
    uint64_t   has;
    int64_t    dtype;
    HoloString tensor_shape, tensor_content;
    HoloPbMany float_val, double_val, int_val, string_val, scomplex_val, int64_val, bool_val, dcomplex_val, half_val,
        uint32_val, uint64_val;
} HoloTfTensorProto;

typedef struct HoloTfLibraryProto {
    uint64_t   has;
    HoloPbMany function;
} HoloTfLibraryProto;

typedef struct HoloTfFunctionProto {
    uint64_t   has;
    HoloString signature;
    HoloPbMany node_def, ret, attr;
} HoloTfFunctionProto;

typedef struct HoloTfOpProto { // OpDef
    uint64_t   has;
    HoloString name;
    HoloPbMany input_arg, output_arg;
} HoloTfOpProto;

typedef struct HoloTfArgProto { // ArgDef
    uint64_t   has;
    HoloString name;
    int64_t    type;
} HoloTfArgProto;

typedef struct HoloTfSavedProto { // SavedModel
    uint64_t   has;
    int64_t    saved_model_schema_version;
    HoloPbMany meta_graphs;
} HoloTfSavedProto;

typedef struct HoloTfMetaGraphProto {
    uint64_t   has;
    HoloString meta_info_def, graph_def;
    HoloPbMany signature_def, asset_file_def;
} HoloTfMetaGraphProto;

typedef struct HoloTfMetaInfoProto {
    uint64_t   has;
    HoloPbMany tags;
    HoloString tensorflow_version;
} HoloTfMetaInfoProto;

typedef struct HoloTfSignatureProto {
    uint64_t   has;
    HoloPbMany inputs, outputs;
    HoloString method_name;
} HoloTfSignatureProto;

typedef struct HoloTfTensorInfoProto {
    uint64_t   has;
    HoloString name, tensor_shape;
    int64_t    dtype;
} HoloTfTensorInfoProto;

typedef struct HoloTfAssetProto {
    uint64_t   has;
    HoloString tensor_info, filename;
} HoloTfAssetProto;

typedef struct HoloTfBundleProto { // BundleHeaderProto
    uint64_t has;
    int64_t  num_shards, endianness;
} HoloTfBundleProto;

typedef struct HoloTfBundleEntryProto {
    uint64_t   has;
    int64_t    dtype, shard_id, offset, size;
    HoloString shape;
    HoloPbMany slices;
} HoloTfBundleEntryProto;

extern const HoloPbField holo_tf_graph_fields[], holo_tf_versions_fields[], holo_tf_node_fields[],
    holo_tf_attr_entry_fields[], holo_tf_attr_fields[], holo_tf_list_fields[], holo_tf_call_fields[],
    holo_tf_shape_fields[], holo_tf_dim_fields[], holo_tf_tensor_fields[], holo_tf_library_fields[],
    holo_tf_function_fields[], holo_tf_op_fields[], holo_tf_arg_fields[], holo_tf_saved_fields[],
    holo_tf_meta_graph_fields[], holo_tf_meta_info_fields[], holo_tf_signature_fields[], holo_tf_tensor_info_fields[],
    holo_tf_asset_fields[], holo_tf_bundle_fields[], holo_tf_bundle_entry_fields[];

bool holo_tf_constant(HoloString name, int64_t *out); // the number of "DT_FLOAT" and its like

#endif
