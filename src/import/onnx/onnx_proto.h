// onnx_proto.h - the messages of ONNX's onnx.proto, as far as they are read here.
//
// Each struct mirrors one message, and each has its table of fields: holo_pb_read fills it. Strings,
// bytes and nested messages are borrowed from the file.
#ifndef HOLO_IMPORT_ONNX_ONNX_PROTO_H
#define HOLO_IMPORT_ONNX_ONNX_PROTO_H

#include "import/wire/protobuf.h"

typedef struct HoloOnnxModelProto {
    uint64_t   has;
    int64_t    ir_version;
    HoloString producer_name, producer_version, doc, graph;
    HoloPbMany opset_import, metadata, functions;
} HoloOnnxModelProto;

typedef struct HoloOnnxOpsetProto {
    uint64_t   has;
    HoloString domain;
    int64_t    version;
} HoloOnnxOpsetProto;

typedef struct HoloOnnxEntryProto { // StringStringEntryProto
    uint64_t   has;
    HoloString key, value;
} HoloOnnxEntryProto;

typedef struct HoloOnnxGraphProto {
    uint64_t   has;
    HoloString name;
    HoloPbMany node, initializer, sparse_initializer, input, output;
} HoloOnnxGraphProto;

typedef struct HoloOnnxNodeProto {
    uint64_t   has;
    HoloString name, op_type, domain, overload;
    HoloPbMany input, output, attribute;
} HoloOnnxNodeProto;

typedef struct HoloOnnxFunctionProto {
    uint64_t   has;
    HoloString name, domain, overload;
    HoloPbMany input, output, node, opset_import, attribute_default;
} HoloOnnxFunctionProto;

typedef enum HoloOnnxAttrType { // AttributeProto.AttributeType
    HOLO_ONNX_FLOAT          = 1,
    HOLO_ONNX_INT            = 2,
    HOLO_ONNX_STRING         = 3,
    HOLO_ONNX_TENSOR         = 4,
    HOLO_ONNX_GRAPH          = 5,
    HOLO_ONNX_FLOATS         = 6,
    HOLO_ONNX_INTS           = 7,
    HOLO_ONNX_STRINGS        = 8,
    HOLO_ONNX_TENSORS        = 9,
    HOLO_ONNX_GRAPHS         = 10,
    HOLO_ONNX_SPARSE_TENSOR  = 11,
    HOLO_ONNX_SPARSE_TENSORS = 12,
    HOLO_ONNX_TYPE_PROTO     = 13,
    HOLO_ONNX_TYPE_PROTOS    = 14,
} HoloOnnxAttrType;

typedef struct HoloOnnxAttrProto {
    uint64_t   has;
    HoloString name, ref_name;
    int64_t    type, i;
    float      f;
    HoloString s, tensor, graph, type_proto, sparse_tensor;
    HoloPbMany floats, ints, strings, tensors, graphs, sparse_tensors;
} HoloOnnxAttrProto;

typedef struct HoloOnnxTensorProto {
    uint64_t   has;
    HoloString name, raw_data, segment;
    int64_t    data_type, data_location;
    HoloPbMany dims, external_data;
    HoloPbMany float_data, int32_data, string_data, int64_data, double_data, uint64_data;
} HoloOnnxTensorProto;

enum { HOLO_ONNX_TENSOR_SEGMENT = 3, HOLO_ONNX_TENSOR_RAW = 9 }; // field numbers of TensorProto

typedef struct HoloOnnxSparseProto {
    uint64_t   has;
    HoloString values, indices;
    HoloPbMany dims;
} HoloOnnxSparseProto;

typedef struct HoloOnnxValueInfoProto {
    uint64_t   has;
    HoloString name, type;
} HoloOnnxValueInfoProto;

typedef struct HoloOnnxTypeProto { // at most one of them is there
    uint64_t   has;
    HoloString tensor, sequence, map, sparse, optional;
} HoloOnnxTypeProto;

enum {
    HOLO_ONNX_TYPE_TENSOR   = 1,
    HOLO_ONNX_TYPE_SEQUENCE = 4,
    HOLO_ONNX_TYPE_MAP      = 5,
    HOLO_ONNX_TYPE_SPARSE   = 8,
    HOLO_ONNX_TYPE_OPTIONAL = 9,
};

typedef struct HoloOnnxTensorTypeProto {
    uint64_t   has;
    int64_t    elem_type;
    HoloString shape;
} HoloOnnxTensorTypeProto;

typedef struct HoloOnnxElementTypeProto { // of TypeProto.Sequence, .Optional and, as its value, .Map
    uint64_t   has;
    HoloString type;
} HoloOnnxElementTypeProto;

typedef struct HoloOnnxShapeProto {
    uint64_t   has;
    HoloPbMany dim;
} HoloOnnxShapeProto;

typedef struct HoloOnnxDimProto {
    uint64_t   has;
    int64_t    value;
    HoloString param;
} HoloOnnxDimProto;

typedef struct HoloOnnxContainerProto { // SequenceProto, and OptionalProto with one element at most
    uint64_t   has;
    HoloString name;
    int64_t    elem_type;
    HoloPbMany tensors, sequences, maps, optionals;
} HoloOnnxContainerProto;

typedef struct HoloOnnxMapProto {
    uint64_t   has;
    HoloString name, values;
    int64_t    key_type;
    HoloPbMany keys, string_keys;
} HoloOnnxMapProto;

extern const HoloPbField holo_onnx_model_fields[], holo_onnx_opset_fields[], holo_onnx_entry_fields[],
    holo_onnx_graph_fields[], holo_onnx_node_fields[], holo_onnx_function_fields[], holo_onnx_attr_fields[],
    holo_onnx_tensor_fields[], holo_onnx_sparse_fields[], holo_onnx_value_info_fields[], holo_onnx_type_fields[],
    holo_onnx_tensor_type_fields[], holo_onnx_element_type_fields[], holo_onnx_map_type_fields[],
    holo_onnx_shape_fields[], holo_onnx_dim_fields[], holo_onnx_container_fields[], holo_onnx_map_fields[];

#endif
