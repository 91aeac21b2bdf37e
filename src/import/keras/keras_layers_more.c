// keras_layers_more.c - Keras layers of text and tables (lookups, categories, bins), and some that are seldom: EinsumDense,
// AdditiveAttention, RMSNormalization.
#include "import/keras/keras.h"

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void give(HoloKerasCall *c, HoloValue *value)
{
    c->out[0]    = value;
    c->out_count = 1;
}

static HoloValue *reduce(HoloKerasCall *c, const char *op, HoloValue *x, int64_t axis, int64_t keep)
{
    return holo_emit(c->e, op, HOLO_IN(x, holo_emit_ints(c->e, &axis, 1)), HOLO_ATTRS(holo_with_int("keepdims", keep)));
}

static void einsum_dense(HoloKerasCall *c)
{
    HoloValue    *kernel = holo_keras_weight(c, "kernel");
    const json_t *axes   = json_object_get(c->config, "bias_axes");
    HoloValue    *y      = holo_emit(c->e, "Einsum", HOLO_IN(holo_keras_in(c, 0), kernel),
                                     HOLO_ATTRS(holo_with_text("equation", holo_keras_text(c, "equation", ""))));
    if (json_is_string(axes)) y = holo_emit(c->e, "Add", HOLO_IN(y, holo_keras_weight(c, "bias")), NULL);
    give(c, holo_keras_activation(c, json_object_get(c->config, "activation"), y));
}

// Scores are sums of tanh(query + key), each element with a weight of its own.
static void additive_attention(HoloKerasCall *c)
{
    HoloEmit  *e   = c->e;
    int64_t    one = 1, two = 2;
    HoloValue *query = holo_keras_in(c, 0), *value = holo_keras_in(c, 1),
              *key  = c->in_count > 2 ? holo_keras_in(c, 2) : value;
    HoloValue *both = holo_emit(
        e, "Tanh",
        HOLO_IN(holo_emit(e, "Add",
                          HOLO_IN(holo_emit_unsqueeze(e, query, &two, 1), holo_emit_unsqueeze(e, key, &one, 1)), NULL)),
        NULL);
    if (holo_keras_bool(c, "use_scale", true))
        both = holo_emit(e, "Mul", HOLO_IN(both, holo_keras_weight(c, "scale")), NULL);
    HoloValue *scores = reduce(c, "ReduceSum", both, -1, 0);
    scores            = holo_emit(e, "Softmax", HOLO_IN(scores), HOLO_ATTRS(holo_with_int("axis", -1)));
    give(c, holo_emit(e, "MatMul", HOLO_IN(scores, value), NULL));
}

static void rms_norm(HoloKerasCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_keras_in(c, 0), *scale = holo_keras_weight(c, "scale");
    if (holo_keras_int(c, "axis", -1) != -1 && holo_keras_int(c, "axis", -1) != holo_emit_rank(x) - 1) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "an axis other than the last is not supported");
        return;
    }
    HoloValue *mean = reduce(c, "ReduceMean", holo_emit(e, "Mul", HOLO_IN(x, x), NULL), -1, 1);
    HoloValue *root = holo_emit(
        e, "Sqrt",
        HOLO_IN(holo_emit(e, "Add", HOLO_IN(mean, holo_emit_number(e, HOLO_F32, holo_keras_float(c, "epsilon", 1e-6))),
                          NULL)),
        NULL);
    give(c, holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Div", HOLO_IN(x, root), NULL), scale), NULL));
}

// ---- categories

// Numbers of categories, as they are or as rows of zeros and ones.
static void encode(HoloKerasCall *c, HoloValue *index, int64_t count, const char *mode)
{
    HoloEmit  *e       = c->e;
    float      ends[2] = {0, 1};
    HoloTensor t       = {.dtype = HOLO_F32, .rank = 1, .dim = {2}};
    int        rank    = holo_emit_rank(index);
    if (!strcmp(mode, "int")) return give(c, index);
    float *data = HOLO_NEW(c->k->import->arena, float, 2);
    bool   one  = !strcmp(mode, "one_hot") || !strcmp(mode, "oneHot"),
         many   = !strcmp(mode, "multi_hot") || !strcmp(mode, "multiHot");
    if (!data || (!one && !many && strcmp(mode, "count"))) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "output_mode '%.40s' is not supported", mode);
        return;
    }
    memcpy(data, ends, sizeof ends);
    t.data = data;
    if (one && rank > 1 && index->type.dim[rank - 1] == 1) {
        int64_t last = -1;
        index        = holo_emit_squeeze(e, index, &last, 1);
    }
    HoloValue *hot = holo_emit(e, "OneHot", HOLO_IN(index, holo_emit_int(e, count), holo_emit_constant(e, NULL, &t)),
                               HOLO_ATTRS(holo_with_int("axis", -1)));
    give(c, one || rank < 2 ? hot : reduce(c, many ? "ReduceMax" : "ReduceSum", hot, -2, 0));
}

static void category_encoding(HoloKerasCall *c)
{
    if (c->in_count > 1) {
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "weights of categories are not supported");
        return;
    }
    encode(c, holo_emit_cast(c->e, holo_keras_in(c, 0), HOLO_I64), holo_keras_int(c, "num_tokens", 0),
           holo_keras_text(c, "output_mode", "multi_hot"));
}

// The number of boundaries that are not above each element.
static void discretization(HoloKerasCall *c)
{
    HoloEmit     *e     = c->e;
    const json_t *list  = json_object_get(c->config, "bin_boundaries");
    size_t        count = json_array_size(list);
    int64_t       last  = -1;
    float        *data  = HOLO_NEW(c->k->import->arena, float, count + 1);
    HoloTensor    t     = {.dtype = HOLO_F32, .rank = 1, .dim = {(int64_t)count}, .data = data};
    if (!json_is_array(list) || !data) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "its boundaries are not in the file: they were not adapted");
        return;
    }
    for (size_t i = 0; i < count; i++) data[i] = (float)json_number_value(json_array_get(list, i));
    HoloValue *x     = holo_emit_unsqueeze(e, holo_emit_cast(e, holo_keras_in(c, 0), HOLO_F32), &last, 1);
    HoloValue *above = holo_emit(e, "GreaterOrEqual", HOLO_IN(x, holo_emit_constant(e, NULL, &t)), NULL);
    encode(c, reduce(c, "ReduceSum", holo_emit_cast(e, above, HOLO_I64), -1, 0), (int64_t)count + 1,
           holo_keras_text(c, "output_mode", "int"));
}

// Words or numbers become their places in the vocabulary; those that are not there come before it.
static void lookup(HoloKerasCall *c)
{
    HoloEmit     *e    = c->e;
    const json_t *list = json_object_get(c->config, "vocabulary"), *mask = json_object_get(c->config, "mask_token");
    int64_t       unknown = holo_keras_int(c, "num_oov_indices", 1), first = mask && !json_is_null(mask), extra = first;
    size_t        count   = json_array_size(list);
    bool          is_text = c->layer->number;
    HoloArena    *arena   = c->k->import->arena;
    HoloString   *texts   = HOLO_NEW(arena, HoloString, count + 2);
    int64_t      *numbers = HOLO_NEW(arena, int64_t, count + 2), *places = HOLO_NEW(arena, int64_t, count + 2);
    if (!texts || !numbers || !places) return (void)holo_emit_fail(e, HOLO_NO_MEMORY, "there is no memory");
    if (!json_is_array(list) || unknown > 1 || holo_keras_bool(c, "invert", false))
        return (void)holo_emit_fail(
            e, HOLO_UNSUPPORTED,
            "a lookup needs its vocabulary in the configuration, one index for what is unknown at "
            "most, and is not inverted");
    for (size_t i = 0; i < count + (size_t)extra; i++) {
        const json_t *entry = i < count ? json_array_get(list, i) : mask;
        const char   *text  = json_string_value(entry);
        char         *kept  = text ? holo_arena_format(arena, "%s", text) : NULL; // the configuration goes away
        texts[i]            = (HoloString){kept, kept ? strlen(kept) : 0};
        numbers[i]          = json_integer_value(entry);
        places[i]           = i < count ? (int64_t)i + first + unknown : 0;
        if (is_text && !texts[i].data)
            return (void)holo_emit_fail(e, HOLO_BAD_MODEL, "a word of the vocabulary is none");
    }
    int        total = (int)(count + (size_t)extra);
    HoloValue *x     = is_text ? holo_keras_in(c, 0) : holo_emit_cast(e, holo_keras_in(c, 0), HOLO_I64);
    x                = holo_emit(e, "ai.onnx.ml::LabelEncoder@2", HOLO_IN(x),
                                 HOLO_ATTRS(is_text ? holo_with_texts("keys_strings", texts, total)
                                                    : holo_with_ints("keys_int64s", numbers, total),
                                            holo_with_ints("values_int64s", places, total),
                                            holo_with_int("default_int64", unknown ? first : -1)));
    encode(c, x, (int64_t)count + first + unknown, holo_keras_text(c, "output_mode", "int"));
}

static void hashing(HoloKerasCall *c)
{
    const json_t *salt = json_object_get(c->config, "salt"), *mask = json_object_get(c->config, "mask_value");
    HoloValue    *x    = holo_keras_in(c, 0);
    int64_t       bins = holo_keras_int(c, "num_bins", 1);
    if ((salt && !json_is_null(salt)) || (mask && !json_is_null(mask))) {
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a salt or a mask of hashes is not supported");
        return;
    }
    if (holo_emit_dtype(x) != HOLO_STRING) x = holo_emit_cast(c->e, holo_emit_cast(c->e, x, HOLO_I64), HOLO_STRING);
    encode(c, holo_emit(c->e, "hologram::TextHash", HOLO_IN(x), HOLO_ATTRS(holo_with_int("buckets", bins))), bins,
           holo_keras_text(c, "output_mode", "int"));
}

// clang-format off
const HoloKerasLayer holo_keras_layers_more[] = {
    {"EinsumDense", einsum_dense}, {"AdditiveAttention", additive_attention, .keeps_mask = true},
    {"RMSNormalization", rms_norm, .keeps_mask = true}, {"CategoryEncoding", category_encoding},
    {"Discretization", discretization}, {"IntegerLookup", lookup, NULL, 0}, {"StringLookup", lookup, NULL, 1},
    {"Hashing", hashing},
    {0},
};
