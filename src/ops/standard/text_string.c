// text_string.c - tensors of strings: StringConcat, StringSplit, StringNormalizer.
#include "base/bytes.h"
#include "ops/utf8.h"
#include "ops/value.h"

// ---- StringConcat

static HoloStatus infer_concat(HoloCall *call)
{
    int     rank;
    HoloDim dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(STRING)));
    HOLO_TRY(holo_broadcast(call, 0, 2, &rank, dim));
    return holo_out_type(call, 0, HOLO_STRING, rank, dim);
}

static HoloStatus join(const HoloCall *call, HoloString a, HoloString b, HoloString *out)
{
    size_t size;
    void  *text;
    if (!holo_size_add(a.size, b.size, &size)) return holo_call_fail(call, HOLO_NO_MEMORY, "a string gets too long");
    HOLO_TRY(holo_keep(call, size, 1, &text));
    if (a.size) memcpy(text, a.data, a.size);
    if (b.size) memcpy((char *)text + a.size, b.data, b.size);
    *out = (HoloString){text, size};
    return HOLO_OK;
}

static HoloStatus eval_concat(HoloCall *call)
{
    const HoloTensor *y = call->out[0];
    const HoloString *a = call->in[0]->data, *b = call->in[1]->data;
    HoloString       *to = y->data;
    int64_t           a_stride[HOLO_MAX_RANK], b_stride[HOLO_MAX_RANK];
    holo_strides_broadcast(call->in[0], y->rank, y->dim, a_stride);
    holo_strides_broadcast(call->in[1], y->rank, y->dim, b_stride);
    HoloWalk walk = holo_walk(y->rank, y->dim);
    while (holo_walk_next(&walk))
        HOLO_TRY(join(call, a[holo_walk_at(&walk, a_stride)], b[holo_walk_at(&walk, b_stride)], to++));
    return HOLO_OK;
}

// ---- StringSplit

// Where to cut, as Python's str.split: at each delimiter, or, without one, at runs of white space, of
// which those at the ends count for nothing. After `left` cuts the rest stays whole.
typedef struct Splitter {
    HoloString text, delimiter;
    size_t     at;
    int64_t    left;
    bool       done;
} Splitter;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_word(Splitter *s, HoloString *out)
{
    const char *text = s->text.data;
    while (s->at < s->text.size && is_space(text[s->at])) s->at++;
    size_t start = s->at;
    if (start == s->text.size) return false;
    while (s->at < s->text.size && (s->left == 0 || !is_space(text[s->at]))) s->at++;
    if (s->left > 0) s->left--;
    *out = (HoloString){text + start, s->at - start};
    return true;
}

static bool next_part(Splitter *s, HoloString *out)
{
    if (s->delimiter.size == 0) return next_word(s, out);
    if (s->done) return false;
    size_t      rest  = s->text.size - s->at;
    const char *start = s->text.data + s->at;
    const char *found = s->left > 0 && rest ? holo_bytes_find(start, rest, s->delimiter.data, s->delimiter.size) : NULL;
    s->done           = !found;
    *out              = (HoloString){start, found ? (size_t)(found - start) : rest};
    s->at += out->size + s->delimiter.size;
    s->left--;
    return true;
}

static HoloStatus infer_split(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK + 1];
    memcpy(dim, x->dim, sizeof x->dim);
    dim[x->rank] = HOLO_DIM_UNKNOWN;
    HOLO_TRY(holo_out_type(call, 0, HOLO_STRING, x->rank + 1, dim));
    return holo_out_type(call, 1, HOLO_I64, x->rank, dim);
}

static HoloStatus eval_split(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = holo_out(call, 0), *counts = holo_out(call, 1);
    int64_t           count = holo_tensor_count(x), widest = 0, limit = holo_attr_int(call, "maxsplit", INT64_MAX);
    HoloString        part;
    const HoloString *text = x->data;
    Splitter first = {.delimiter = holo_attr_string(call, "delimiter", ""), .left = limit < 0 ? INT64_MAX : limit};
    for (int64_t i = 0; i < count; i++) {
        Splitter s     = first;
        int64_t  parts = 0;
        s.text         = text[i];
        while (next_part(&s, &part)) parts++;
        if (counts) holo_put_i(counts, i, parts);
        if (parts > widest) widest = parts;
    }
    if (!y) return HOLO_OK;
    y->dim[y->rank - 1] = widest;
    HOLO_TRY(holo_out_alloc(call, 0));
    for (int64_t i = 0; i < count && widest > 0; i++) {
        Splitter    s  = first;
        HoloString *to = (HoloString *)y->data + i * widest;
        s.text         = text[i];
        for (int64_t k = 0; k < widest; k++) to[k] = next_part(&s, &part) ? part : (HoloString){"", 0};
    }
    return HOLO_OK;
}

// ---- StringNormalizer

static HoloStatus infer_normalize(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 1, 2));
    HOLO_TRY(holo_attr_choice(call, "case_change_action", "NONE", (const char *const[]){"NONE", "LOWER", "UPPER", NULL},
                              NULL));
    if (x->rank == 2 && holo_dims_differ(x->dim[0], 1))
        return holo_call_fail(call, HOLO_BAD_INPUT, "the first of two dimensions is %lld, not 1", (long long)x->dim[0]);
    HoloDim dim[2] = {x->rank == 2 ? 1 : HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    return holo_out_type(call, 0, HOLO_STRING, x->rank, dim);
}

static HoloStatus change_case(const HoloCall *call, HoloString text, uint32_t (*change)(uint32_t), HoloString *out)
{
    void *memory;
    HOLO_TRY(holo_keep(call, text.size, 1, &memory));
    char *to = memory, code[4];
    for (size_t at = 0; at < text.size;) {
        size_t   start = at;
        uint32_t c     = change(holo_utf8_next(text.data, text.size, &at));
        bool     fits  = (size_t)holo_utf8_put(c, code) == at - start; // what is not UTF-8 stays as it is
        memcpy(to + start, fits ? code : text.data + start, at - start);
    }
    *out = (HoloString){to, text.size};
    return HOLO_OK;
}

// The locale "C" has no letters but those of ASCII.
static uint32_t lower_ascii(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static uint32_t upper_ascii(uint32_t c)
{
    return c >= 'a' && c <= 'z' ? c - 32 : c;
}

static bool is_equal_text(HoloString a, HoloString b, bool case_matters)
{
    if (case_matters) return holo_string_equal(a, b);
    size_t i = 0, k = 0;
    while (i < a.size && k < b.size)
        if (holo_lower(holo_utf8_next(a.data, a.size, &i)) != holo_lower(holo_utf8_next(b.data, b.size, &k)))
            return false;
    return i == a.size && k == b.size;
}

static bool is_stopword(const HoloAttr *words, HoloString text, bool case_matters)
{
    for (int i = 0; words && i < words->count; i++)
        if (is_equal_text(words->strings[i], text, case_matters)) return true;
    return false;
}

static HoloStatus eval_normalize(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    HoloTensor       *y     = call->out[0];
    const HoloAttr   *words = holo_attr_find(call, "stopwords");
    if (words && words->kind != HOLO_ATTR_STRINGS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute stopwords is not a list of strings");
    bool    case_matters = holo_attr_int(call, "is_case_sensitive", 0) != 0;
    bool    lower        = holo_attr_is(call, "case_change_action", "NONE", "LOWER");
    bool    upper        = holo_attr_is(call, "case_change_action", "NONE", "UPPER");
    bool    plain        = holo_attr_is(call, "locale", "en_US", "C");
    int64_t count = holo_tensor_count(x), kept = 0;
    uint32_t (*change)(uint32_t) = plain ? (lower ? lower_ascii : upper_ascii) : lower ? holo_lower : holo_upper;
    void *memory;
    HOLO_TRY(holo_call_temp(call, (size_t)count + 1, sizeof(HoloString), &memory));
    HoloString *to = memory;
    for (int64_t i = 0; i < count; i++) {
        HoloString text = ((const HoloString *)x->data)[i];
        if (is_stopword(words, text, case_matters)) continue;
        if (lower || upper) HOLO_TRY(change_case(call, text, change, &text));
        to[kept++] = text;
    }
    if (kept == 0) to[kept++] = (HoloString){"", 0}; // as the standard asks
    y->dim[y->rank - 1] = kept;
    HOLO_TRY(holo_out_alloc(call, 0));
    memcpy(y->data, to, (size_t)kept * sizeof *to);
    return HOLO_OK;
}

#define TEXT(NAME, SINCE, INPUTS, OUTPUTS, FLAGS, ID)                                                         \
    {                                                                                                         \
        .name = NAME, .domain = "", .since = SINCE, .in_min = INPUTS, .in_max = INPUTS, .out_min = 1,         \
        .out_max = OUTPUTS, .types = HOLO_BIT(STRING), .flags = FLAGS, .infer = infer_##ID, .eval = eval_##ID \
    }

const HoloOp holo_ops_text_string[] = {
    TEXT("StringConcat", 20, 2, 1, 0, concat),
    TEXT("StringSplit", 20, 1, 2, HOLO_OP_DYNAMIC, split),
    TEXT("StringNormalizer", 10, 1, 1, HOLO_OP_DYNAMIC, normalize),
    {0},
};
