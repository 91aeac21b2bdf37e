// gguf_types.c - the types of tensors in GGUF files, as ggml numbers them.
#include "import/gguf/gguf_model.h"

#include <string.h>

static const struct {
    const char *name; // also of the type of block, in small letters
    HoloDtype   dtype;
    const char *blocks;
} types[] = {
    [0] = {"F32", HOLO_F32, NULL},  [1] = {"F16", HOLO_F16, NULL},    [2] = {"Q4_0", 0, "q4_0"},
    [3] = {"Q4_1", 0, "q4_1"},      [6] = {"Q5_0", 0, "q5_0"},        [7] = {"Q5_1", 0, "q5_1"},
    [8] = {"Q8_0", 0, "q8_0"},      [9] = {"Q8_1", 0, "q8_1"},        [10] = {"Q2_K", 0, "q2_k"},
    [11] = {"Q3_K", 0, "q3_k"},     [12] = {"Q4_K", 0, "q4_k"},       [13] = {"Q5_K", 0, "q5_k"},
    [14] = {"Q6_K", 0, "q6_k"},     [15] = {"Q8_K", 0, "q8_k"},       [16] = {"IQ2_XXS", 0, "iq2_xxs"},
    [17] = {"IQ2_XS", 0, "iq2_xs"}, [18] = {"IQ3_XXS", 0, "iq3_xxs"}, [19] = {"IQ1_S", 0, "iq1_s"},
    [20] = {"IQ4_NL", 0, "iq4_nl"}, [21] = {"IQ3_S", 0, "iq3_s"},     [22] = {"IQ2_S", 0, "iq2_s"},
    [23] = {"IQ4_XS", 0, "iq4_xs"}, [24] = {"I8", HOLO_I8, NULL},     [25] = {"I16", HOLO_I16, NULL},
    [26] = {"I32", HOLO_I32, NULL}, [27] = {"I64", HOLO_I64, NULL},   [28] = {"F64", HOLO_F64, NULL},
    [29] = {"IQ1_M", 0, "iq1_m"},   [30] = {"BF16", HOLO_BF16, NULL}, [34] = {"TQ1_0", 0, "tq1_0"},
    [35] = {"TQ2_0", 0, "tq2_0"},   [39] = {"MXFP4", 0, "mxfp4"},     [40] = {"NVFP4", 0, "nvfp4"},
    [41] = {"Q1_0", 0, "q1_0"},     [42] = {"Q2_0", 0, "q2_0"},
};

static HoloStatus unknown(HoloImport *import, const char *file, const HoloGgufTensor *t)
{
    const char *name = t->type < (uint32_t)HOLO_COUNT(types) ? types[t->type].name : NULL;
    return holo_fail(import->error, HOLO_UNSUPPORTED,
                     "%s: tensor '%.*s' is of type %u%s%s, which cannot be read: quantize the model to another type",
                     file, HOLO_IMPORT_ARG(t->name), t->type, name ? ", " : "", name ? name : "");
}

// The bytes of a row; -1: it is not whole blocks, or too large.
static int64_t row_bytes(const HoloGgufWeight *weight, int64_t count)
{
    int64_t bytes;
    if (weight->blocks) return holo_block_row_bytes(weight->blocks, count);
    return holo_mul(count, (int64_t)holo_dtype_size(weight->dtype), &bytes) ? bytes : -1;
}

HoloStatus holo_gguf_weight_init(HoloImport *import, const char *file, const HoloGgufTensor *t, HoloGgufWeight *out)
{
    bool    is_known = t->type < (uint32_t)HOLO_COUNT(types) && types[t->type].name;
    int64_t row = t->rank ? t->dim[t->rank - 1] : 1, rows = 1, bytes;
    *out = (HoloGgufWeight){.tensor = t, .data = t->data};
    if (!is_known) return unknown(import, file, t);
    out->dtype = types[t->type].dtype;
    if (types[t->type].blocks) {
        out->dtype  = HOLO_F32;
        out->blocks = holo_block_type_find(types[t->type].blocks);
        if (!out->blocks || !t->rank) return unknown(import, file, t);
    }
    for (int i = 0; i + 1 < t->rank; i++) rows *= t->dim[i]; // at most t->count, or a size is 0
    out->row_bytes = row_bytes(out, row);
    if (out->row_bytes < 0)
        return holo_fail(import->error, HOLO_BAD_MODEL,
                         "%s: tensor '%.*s' has rows of %lld, which are not whole blocks", file,
                         HOLO_IMPORT_ARG(t->name), (long long)row);
    if (!holo_mul(rows, out->row_bytes, &bytes) || (uint64_t)bytes > t->size)
        return holo_fail(import->error, HOLO_BAD_MODEL,
                         "%s: tensor '%.*s', at byte %llu, needs more bytes than are there for it", file,
                         HOLO_IMPORT_ARG(t->name), (unsigned long long)t->offset);
    if (out->blocks || !t->count) return HOLO_OK;
    HoloTensor tensor = {.dtype = (uint8_t)out->dtype, .rank = 1, .dim = {t->count}};
    HOLO_TRY(holo_import_bytes(import, t->name, t->data, t->count, &tensor));
    out->data = tensor.data;
    return HOLO_OK;
}
