// onnx_attr_kinds.c - the kinds of attributes of ONNX's own operators.
//
// An operator ignores an attribute of the wrong kind, and that would be another model. In ONNX's domain a name has one
// kind, whatever the operator. The few that have several (value, p, to, seed, scale, bias) are not listed, and neither
// are names that nobody uses here.
#include "import/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

typedef struct Row {
    const char *name;
    int         kind;
} Row;

enum {
    INT     = HOLO_ATTR_INT,
    FLOAT   = HOLO_ATTR_FLOAT,
    STRING  = HOLO_ATTR_STRING,
    GRAPH   = HOLO_ATTR_GRAPH,
    INTS    = HOLO_ATTR_INTS,
    FLOATS  = HOLO_ATTR_FLOATS,
    STRINGS = HOLO_ATTR_STRINGS,
};

static const Row rows[] = {
    // in the order of strcmp
    {"activation_alpha", FLOATS},
    {"activation_beta", FLOATS},
    {"activations", STRINGS},
    {"align_corners", INT},
    {"allowzero", INT},
    {"alpha", FLOAT},
    {"antialias", INT},
    {"approximate", STRING},
    {"auto_pad", STRING},
    {"axes", INTS},
    {"axis", INT},
    {"batch_axis", INT},
    {"batch_dims", INT},
    {"beta", FLOAT},
    {"block_size", INT},
    {"blocksize", INT},
    {"body", GRAPH},
    {"case_change_action", STRING},
    {"ceil_mode", INT},
    {"center_point_box", INT},
    {"clip", FLOAT},
    {"coordinate_transformation_mode", STRING},
    {"count_include_pad", INT},
    {"cubic_coeff_a", FLOAT},
    {"delimiter", STRING},
    {"detect_negative", INT},
    {"detect_positive", INT},
    {"dilations", INTS},
    {"direction", STRING},
    {"dtype", INT},
    {"else_branch", GRAPH},
    {"end", INT},
    {"ends", INTS},
    {"epsilon", FLOAT},
    {"equation", STRING},
    {"exclude_outside", INT},
    {"exclusive", INT},
    {"extrapolation_value", FLOAT},
    {"fmod", INT},
    {"gamma", FLOAT},
    {"group", INT},
    {"height_scale", FLOAT},
    {"hidden_size", INT},
    {"high", FLOAT},
    {"ignore_index", INT},
    {"input_forget", INT},
    {"interleaved", INT},
    {"inverse", INT},
    {"is_case_sensitive", INT},
    {"is_causal", INT},
    {"k", INT},
    {"keep_aspect_ratio_policy", STRING},
    {"keepdims", INT},
    {"kernel_shape", INTS},
    {"kv_num_heads", INT},
    {"lambd", FLOAT},
    {"largest", INT},
    {"layout", INT},
    {"linear_before_reset", INT},
    {"locale", STRING},
    {"low", FLOAT},
    {"max", FLOAT},
    {"max_gram_length", INT},
    {"max_skip_count", INT},
    {"maxsplit", INT},
    {"mean", FLOAT},
    {"min", FLOAT},
    {"min_gram_length", INT},
    {"mode", STRING},
    {"momentum", FLOAT},
    {"nearest_mode", STRING},
    {"new_axis", INT},
    {"ngram_counts", INTS},
    {"ngram_indexes", INTS},
    {"noop_with_empty_axes", INT},
    {"num_groups", INT},
    {"num_heads", INT},
    {"num_outputs", INT},
    {"num_scan_inputs", INT},
    {"offset_group", INT},
    {"onesided", INT},
    {"output_datatype", INT},
    {"output_dtype", INT},
    {"output_height", INT},
    {"output_padding", INTS},
    {"output_shape", INTS},
    {"output_width", INT},
    {"padding_mode", STRING},
    {"pads", INTS},
    {"pattern", STRING},
    {"periodic", INT},
    {"perm", INTS},
    {"pixel_format", STRING},
    {"pool_int64s", INTS},
    {"pool_strings", STRINGS},
    {"q_num_heads", INT},
    {"qk_matmul_output_mode", INT},
    {"ratio", FLOAT},
    {"reduction", STRING},
    {"reverse", INT},
    {"rotary_embedding_dim", INT},
    {"sample_size", INT},
    {"sampling_ratio", INT},
    {"saturate", INT},
    {"scales", FLOATS},
    {"scan_input_axes", INTS},
    {"scan_input_directions", INTS},
    {"scan_output_axes", INTS},
    {"scan_output_directions", INTS},
    {"select_last_index", INT},
    {"shape", INTS},
    {"size", INT},
    {"softcap", FLOAT},
    {"softmax_precision", INT},
    {"sorted", INT},
    {"spatial", INT},
    {"spatial_scale", FLOAT},
    {"split", INTS},
    {"start", INT},
    {"starts", INTS},
    {"stash_type", INT},
    {"stopwords", STRINGS},
    {"storage_order", INT},
    {"strides", INTS},
    {"then_branch", GRAPH},
    {"threshold", FLOAT},
    {"time_axis", INT},
    {"training_mode", INT},
    {"transA", INT},
    {"transB", INT},
    {"upper", INT},
    {"weights", FLOATS},
    {"width_scale", FLOAT},
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const Row *)row)->name);
}

HoloStatus holo_onnx_attr_kinds(HoloOnnx *im, const char *node, const HoloAttr *attr, int count)
{
    static const char *const words[] = {
        [INT]               = "a whole number",
        [FLOAT]             = "a number",
        [STRING]            = "a string",
        [HOLO_ATTR_TENSOR]  = "a tensor",
        [GRAPH]             = "a graph",
        [INTS]              = "whole numbers",
        [FLOATS]            = "numbers",
        [STRINGS]           = "strings",
        [HOLO_ATTR_TENSORS] = "tensors",
        [HOLO_ATTR_GRAPHS]  = "graphs",
        [HOLO_ATTR_TYPE]    = "a type",
    };
    for (int i = 0; i < count; i++) {
        const Row *row = bsearch(attr[i].name, rows, HOLO_COUNT(rows), sizeof *rows, compare);
        if (!row || row->kind == attr[i].kind) continue;
        return holo_fail(im->error, HOLO_BAD_MODEL, "node '%s': attribute '%s' is %s, but must be %s", node,
                         attr[i].name, words[attr[i].kind], words[row->kind]);
    }
    return HOLO_OK;
}
