// tf_ops_text.c - TensorFlow's operators on texts.
#include "import/tensorflow/tf_ops.h"

// ---- texts

static void string_split(HoloFlowCall *c)
{
    bool       is_first = holo_flow_is(c->node->op, "StringSplit");
    HoloValue *out[3], *in = holo_flow_in(c, 0), *mark = holo_flow_in(c, 1);
    holo_emit_many(c->e, "hologram::TextSplit", HOLO_IN(in, mark),
                   HOLO_ATTRS(holo_with_int("by_character", is_first),
                              holo_with_int("skip_empty", holo_flow_bool(c, "skip_empty", true)),
                              holo_with_int("maxsplit", is_first ? -1 : holo_flow_int(c, "maxsplit", -1))),
                   out, 3);
    for (int i = 0; i < 3; i++) holo_flow_out(c, i, out[i]);
}

static void string_ngrams(HoloFlowCall *c)
{
    int64_t    widths[32];
    int        count     = holo_flow_ints(c, "ngram_widths", widths, 32);
    HoloValue *rows      = holo_flow_in(c, 1), *out[2];
    HoloDtype  dtype     = holo_emit_dtype(rows);
    char      *separator = holo_flow_text(c->tf, holo_flow_string(c, "separator", "")),
         *left           = holo_flow_text(c->tf, holo_flow_string(c, "left_pad", "")),
         *right          = holo_flow_text(c->tf, holo_flow_string(c, "right_pad", ""));
    if (count < 1 || !separator || !left || !right) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "there are no widths of the grams");
        return;
    }
    holo_emit_many(c->e, "hologram::TextNGrams", HOLO_IN(holo_flow_in(c, 0), holo_emit_cast(c->e, rows, HOLO_I64)),
                   HOLO_ATTRS(holo_with_ints("widths", widths, count), holo_with_text("separator", separator),
                              holo_with_text("left_pad", left), holo_with_text("right_pad", right),
                              holo_with_int("pad_width", holo_flow_int(c, "pad_width", 0)),
                              holo_with_int("preserve_short", holo_flow_bool(c, "preserve_short_sequences", false))),
                   out, 2);
    holo_flow_out(c, 0, out[0]);
    holo_flow_out(c, 1, holo_emit_cast(c->e, out[1], dtype));
}

static void hash_bucket(HoloFlowCall *c)
{
    holo_flow_out(c, 0,
                  holo_emit(c->e, "hologram::TextHash", HOLO_IN(holo_flow_in(c, 0)),
                            HOLO_ATTRS(holo_with_int("buckets", holo_flow_int(c, "num_buckets", 0)))));
}

// A text that is an attribute, or else input i, which must be known.
static char *known_text(HoloFlowCall *c, const char *attr, int i)
{
    HoloString text = holo_flow_string(c, attr, NULL);
    if (!text.data && i < c->in_count) {
        HoloTensor known = holo_emit_known(c->e, holo_flow_in(c, i));
        if (known.data && known.dtype == HOLO_STRING && holo_tensor_count(&known) == 1)
            text = *(const HoloString *)known.data;
    }
    if (text.data) return holo_flow_text(c->tf, text);
    if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "the text '%s' is not known before the model runs", attr);
    return NULL;
}

static HoloValue *replace(HoloFlowCall *c, const char *pattern, const char *with, bool all)
{
    if (!pattern || !with) return NULL;
    if (strchr(with, '\\')) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "a replacement with groups of the pattern, '%.60s'", with);
        return NULL;
    }
    return holo_emit(
        c->e, "hologram::TextReplace", HOLO_IN(holo_flow_in(c, 0)),
        HOLO_ATTRS(holo_with_text("pattern", pattern), holo_with_text("with", with), holo_with_int("all", all)));
}

static void regex_replace(HoloFlowCall *c)
{
    bool all = holo_flow_bool(c, "replace_global", true);
    holo_flow_out(c, 0, replace(c, known_text(c, "pattern", 1), known_text(c, "rewrite", 2), all));
}

static void string_strip(HoloFlowCall *c)
{
    holo_flow_out(c, 0, replace(c, "^\\s+|\\s+$", "", true));
}

static void regex_match(HoloFlowCall *c)
{
    char *pattern = known_text(c, "pattern", 1);
    if (pattern)
        holo_flow_out(c, 0,
                      holo_emit(c->e, "RegexFullMatch", HOLO_IN(holo_flow_in(c, 0)),
                                HOLO_ATTRS(holo_with_text("pattern", pattern))));
}

static void change_case(HoloFlowCall *c)
{
    int64_t    all     = -1;
    bool       is_wide = holo_flow_is(holo_flow_string(c, "encoding", ""), "utf-8");
    HoloValue *x       = holo_flow_in(c, 0);
    HoloValue *y       = holo_emit(c->e, "StringNormalizer", HOLO_IN(holo_emit_reshape(c->e, x, &all, 1)),
                                   HOLO_ATTRS(holo_with_text("case_change_action", c->op->onnx),
                                              holo_with_text("locale", is_wide ? "en_US" : "C")));
    holo_flow_out(c, 0, holo_emit(c->e, "Reshape", HOLO_IN(y, holo_emit_shape(c->e, x)), NULL));
}

static void string_join(HoloFlowCall *c)
{
    HoloString between = holo_flow_string(c, "separator", "");
    HoloTensor tensor  = {.dtype = HOLO_STRING, .data = &between};
    HoloValue *y = holo_flow_in(c, 0), *gap = NULL;
    if (between.size) {
        HoloString *kept = HOLO_NEW(c->tf->import->arena, HoloString, 1);
        if (!kept) return holo_flow_fail(c, HOLO_NO_MEMORY, "there is not enough memory");
        *kept       = between;
        tensor.data = kept;
        gap         = holo_emit_constant(c->e, NULL, &tensor);
    }
    for (int i = 1; i < c->in_count; i++) {
        if (gap) y = holo_emit(c->e, "StringConcat", HOLO_IN(y, gap), NULL);
        y = holo_emit(c->e, "StringConcat", HOLO_IN(y, holo_flow_in(c, i)), NULL);
    }
    holo_flow_out(c, 0, y);
}

static void as_string(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_STRING));
}

static void to_number(HoloFlowCall *c)
{
    HoloDtype dtype = holo_flow_type(c, "out_type");
    holo_flow_out(c, 0, holo_emit_cast(c->e, holo_flow_in(c, 0), dtype ? dtype : HOLO_F32));
}

// ---- texts of one dimension joined: their number must be known

static void reduce_join(HoloFlowCall *c)
{
    enum { TEXTS_MAX = 256 };
    HoloValue *x = holo_flow_in(c, 0), *y = NULL, *gap = NULL;
    HoloString between = holo_flow_string(c, "separator", "");
    int64_t    axes[HOLO_MAX_RANK], keep = holo_flow_bool(c, "keep_dims", false);
    int        rank = holo_flow_rank(c, x), count = holo_flow_known(c, 1, axes, HOLO_MAX_RANK);
    if (c->e->status || count < 0) return;
    if (!count && rank == 1) axes[count++] = 0; // all of them
    if (count != 1) return holo_flow_fail(c, HOLO_UNSUPPORTED, "texts of %d dimensions are joined", count);
    int     axis = holo_flow_axis(c, axes[0], rank);
    HoloDim size = c->e->status ? 0 : x->type.dim[axis];
    if (holo_dim_is_symbolic(size) || size < 1 || size > TEXTS_MAX)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the number of texts that are joined must be known, and at most %d",
                              TEXTS_MAX);
    if (between.size) {
        HoloString *kept = HOLO_NEW(c->tf->import->arena, HoloString, 1);
        if (!kept) return holo_flow_fail(c, HOLO_NO_MEMORY, "there is not enough memory");
        *kept = between;
        gap   = holo_emit_constant(c->e, NULL, &(HoloTensor){.dtype = HOLO_STRING, .data = kept});
    }
    for (int64_t i = 0; i < size && !c->e->status; i++) {
        HoloValue *part = holo_emit_slice(c->e, x, axis, i, i + 1, 1);
        if (y && gap) y = holo_emit(c->e, "StringConcat", HOLO_IN(y, gap), NULL);
        y = y ? holo_emit(c->e, "StringConcat", HOLO_IN(y, part), NULL) : part;
    }
    int64_t gone = axis;
    holo_flow_out(c, 0, keep ? y : holo_emit_squeeze(c->e, y, &gone, 1));
}

// clang-format off
const HoloFlowOp holo_flow_ops_text[] = {
    {"StringSplit", string_split, .outs = "indices values shape"}, {"StringSplitV2", string_split, .outs = "indices values shape"},
    {"StringNGrams", string_ngrams, .outs = "ngrams ngrams_splits"}, {"StringToHashBucketFast", hash_bucket},
    {"StaticRegexReplace", regex_replace}, {"RegexReplace", regex_replace},
    {"StaticRegexFullMatch", regex_match}, {"RegexFullMatch", regex_match},
    {"StringLower", change_case, "LOWER"}, {"StringUpper", change_case, "UPPER"}, {"StringStrip", string_strip},
    {"StringJoin", string_join}, {"AsString", as_string}, {"StringToNumber", to_number},
    {"ReduceJoin", reduce_join},
    {0},
};
