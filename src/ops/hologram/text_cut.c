// text_cut.c - tensors of texts, as TensorFlow's graphs cut and count them: TextSplit, TextNGrams, TextHash, TextReplace.
#include "ops/regex.h"
#include "ops/value.h"

#include <string.h>

// ---- TextSplit: texts [n] and a delimiter to places [k, 2], parts [k] and their shape [2]

typedef struct Cutter {
    HoloString text, delimiter;
    size_t     at;
    bool       by_character; // each character of the delimiter cuts; an empty one cuts everywhere
    bool       skip_empty;
    bool       is_done;
    int64_t    left; // how often it may still be cut
} Cutter;

static bool cuts_at(const Cutter *c, size_t at, size_t *size)
{
    const char *text = c->text.data + at;
    size_t      rest = c->text.size - at;
    *size            = 1;
    if (c->by_character) return c->delimiter.size && memchr(c->delimiter.data, *text, c->delimiter.size);
    if (!c->delimiter.size) return *text == ' ' || (*text >= '\t' && *text <= '\r');
    *size = c->delimiter.size;
    return rest >= *size && !memcmp(text, c->delimiter.data, *size);
}

static bool next_part(Cutter *c, HoloString *out)
{
    size_t size = 0;
    if (c->by_character && !c->text.size) return false;
    while (!c->is_done) {
        size_t start = c->at, end = start;
        if (c->by_character && !c->delimiter.size) { // single bytes
            if (start == c->text.size) return false;
            end   = start + 1;
            c->at = end;
        } else {
            while (end < c->text.size && (c->left == 0 || !cuts_at(c, end, &size))) end++;
            c->is_done = end == c->text.size;
            c->at      = c->is_done ? end : end + size;
        }
        *out = (HoloString){c->text.data + start, end - start};
        if (out->size || !c->skip_empty) {
            if (c->left > 0) c->left--;
            return true;
        }
    }
    return false;
}

static HoloStatus infer_split(HoloCall *call)
{
    HoloDim places[2] = {HOLO_DIM_UNKNOWN, 2}, two = 2;
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(STRING)));
    HOLO_TRY(holo_expect_rank(call, 0, 1, 1));
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 2, places));
    HOLO_TRY(holo_out_type(call, 1, HOLO_STRING, 1, places));
    return holo_out_type(call, 2, HOLO_I64, 1, &two);
}

static HoloStatus eval_split(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *mark = call->in[1];
    HoloTensor       *places = holo_out(call, 0), *parts = holo_out(call, 1), *shape = holo_out(call, 2);
    int64_t           count = holo_tensor_count(x), total = 0, widest = 0, at = 0;
    const HoloString *text = x->data;
    HoloString        part;
    if (holo_tensor_count(mark) != 1)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "a delimiter for each text is not supported");
    Cutter first = {.delimiter    = *(const HoloString *)mark->data,
                    .by_character = holo_attr_int(call, "by_character", 0),
                    .skip_empty   = holo_attr_int(call, "skip_empty", 1),
                    .left         = holo_attr_int(call, "maxsplit", -1)};
    if (!first.by_character) first.skip_empty = !first.delimiter.size;
    for (int64_t i = 0; i < count; i++) {
        Cutter  c    = first;
        int64_t have = 0;
        for (c.text = text[i]; next_part(&c, &part);) have++;
        total += have;
        if (have > widest) widest = have;
    }
    if (places) places->dim[0] = total;
    if (parts) parts->dim[0] = total;
    for (int k = 0; k < 2; k++)
        if (holo_out(call, k)) HOLO_TRY(holo_out_alloc(call, k));
    for (int64_t i = 0; i < count; i++) {
        Cutter c = first;
        c.text   = text[i];
        for (int64_t k = 0; next_part(&c, &part); k++, at++) {
            if (places) holo_put_i(places, 2 * at, i), holo_put_i(places, 2 * at + 1, k);
            if (parts) ((HoloString *)parts->data)[at] = part;
        }
    }
    if (shape) holo_put_i(shape, 0, count), holo_put_i(shape, 1, widest);
    return HOLO_OK;
}

// ---- TextNGrams: words [n] and where rows begin [m] to joined words, and where their rows begin

enum { WIDTHS = 32 };

typedef struct Grams {
    const HoloString *word;
    HoloString        separator, left, right;
    int64_t           pad; // -1: as many as the width needs
    int64_t           width[WIDTHS];
    int               widths;
} Grams;

static int64_t pad_for(const Grams *g, int64_t width)
{
    return g->pad < 0 || g->pad > width - 1 ? width - 1 : g->pad;
}

static int64_t gram_count(const Grams *g, int64_t length, int64_t width)
{
    int64_t count = length + 2 * pad_for(g, width) - width + 1;
    return count > 0 ? count : 0;
}

static void put_text(char *to, size_t *at, HoloString text)
{
    if (to && text.size) memcpy(to + *at, text.data, text.size);
    *at += text.size;
}

// Writes gram `index` of `count` of a row, or only measures it if there is no place for it.
static size_t write_gram(const Grams *g, const HoloString *row, int64_t width, int64_t pad, int64_t count,
                         int64_t index, char *to)
{
    int64_t left = pad > index ? pad - index : 0, right = pad - (count - index - 1);
    size_t  at = 0;
    if (right < 0) right = 0;
    const HoloString *word = row + (left > 0 ? 0 : index - pad);
    for (int64_t k = 0; k < width; k++) {
        if (k) put_text(to, &at, g->separator);
        put_text(to, &at, k < left ? g->left : k >= width - right ? g->right : word[k - left]);
    }
    return at;
}

static HoloStatus keep_gram(const HoloCall *call, const Grams *g, const HoloString *row, int64_t width, int64_t pad,
                            int64_t count, int64_t index, HoloString *out)
{
    size_t size = write_gram(g, row, width, pad, count, index, NULL);
    void  *text;
    HOLO_TRY(holo_keep(call, size ? size : 1, 1, &text));
    write_gram(g, row, width, pad, count, index, text);
    *out = (HoloString){text, size};
    return HOLO_OK;
}

static HoloStatus infer_grams(HoloCall *call)
{
    HoloDim open = HOLO_DIM_UNKNOWN;
    HOLO_TRY(holo_expect_rank(call, 0, 1, 1));
    HOLO_TRY(holo_expect_rank(call, 1, 1, 1));
    HOLO_TRY(holo_out_type(call, 0, HOLO_STRING, 1, &open));
    return holo_out_type(call, 1, HOLO_I64, 1, call->in[1]->dim);
}

// How many grams a row has; a short one may be kept whole.
static int64_t row_grams(const HoloCall *call, const Grams *g, int64_t length)
{
    int64_t sum = 0;
    for (int i = 0; i < g->widths; i++) sum += gram_count(g, length, g->width[i]);
    return sum || !length || !holo_attr_int(call, "preserve_short", 0) ? sum : 1;
}

static HoloStatus write_row(const HoloCall *call, const Grams *g, const HoloString *row, int64_t length,
                            HoloString **to)
{
    bool any = false;
    for (int i = 0; i < g->widths; i++) {
        int64_t width = g->width[i], count = gram_count(g, length, width);
        for (int64_t k = 0; k < count; k++, any = true)
            HOLO_TRY(keep_gram(call, g, row, width, pad_for(g, width), count, k, (*to)++));
    }
    if (any || !row_grams(call, g, length)) return HOLO_OK;
    int64_t pad = g->pad > 0 ? g->pad : 0;
    return keep_gram(call, g, row, length + 2 * pad, pad, 1, 0, (*to)++);
}

static HoloStatus check_rows(const HoloCall *call, int64_t words)
{
    const HoloTensor *rows = call->in[1];
    int64_t           last = 0, count = holo_tensor_count(rows);
    for (int64_t i = 0; i < count; i++) {
        int64_t here = holo_get_i(rows, i);
        if (here < last || here > words || (i == 0 && here))
            return holo_call_fail(call, HOLO_BAD_INPUT, "row %lld begins at word %lld of %lld", (long long)i,
                                  (long long)here, (long long)words);
        last = here;
    }
    return HOLO_OK;
}

static HoloStatus eval_grams(HoloCall *call)
{
    const HoloTensor *rows = call->in[1];
    HoloTensor       *y = holo_out(call, 0), *ends = holo_out(call, 1);
    Grams             g     = {.word      = call->in[0]->data,
                               .separator = holo_attr_string(call, "separator", " "),
                               .left      = holo_attr_string(call, "left_pad", ""),
                               .right     = holo_attr_string(call, "right_pad", ""),
                               .pad       = holo_attr_int(call, "pad_width", 0)};
    int64_t           total = 0, count = holo_tensor_count(rows) - 1;
    HOLO_TRY(check_rows(call, holo_tensor_count(call->in[0])));
    g.widths = holo_attr_ints(call, "widths", g.width, WIDTHS);
    if (g.widths < 1 || g.widths > WIDTHS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "there should be 1 to %d widths of grams", WIDTHS);
    for (int i = 0; i < g.widths; i++)
        if (g.width[i] < 1 || g.width[i] > 1 << 16)
            return holo_call_fail(call, HOLO_BAD_MODEL, "grams of %lld words", (long long)g.width[i]);
    if (ends && count >= 0) holo_put_i(ends, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        total += row_grams(call, &g, holo_get_i(rows, i + 1) - holo_get_i(rows, i));
        if (ends) holo_put_i(ends, i + 1, total);
    }
    if (!y) return HOLO_OK;
    y->dim[0] = total;
    HOLO_TRY(holo_out_alloc(call, 0));
    HoloString *to = y->data;
    for (int64_t i = 0; i < count; i++) {
        int64_t from = holo_get_i(rows, i);
        HOLO_TRY(write_row(call, &g, g.word + from, holo_get_i(rows, i + 1) - from, &to));
    }
    return HOLO_OK;
}

// ---- TextReplace: what a regular expression finds becomes another text

static HoloStatus infer_same(HoloCall *call)
{
    return holo_out_shape_like(call, 0, HOLO_STRING, call->in[0]);
}

static size_t rewrite(HoloRegex *regex, HoloString text, HoloString with, bool all, char *to)
{
    size_t at = 0, size = 0, begin, end;
    while (at <= text.size && holo_regex_find(regex, text, at, &begin, &end)) {
        put_text(to, &size, (HoloString){text.data + at, begin - at});
        put_text(to, &size, with);
        if (end == begin && begin < text.size) put_text(to, &size, (HoloString){text.data + begin, 1});
        at = end == begin ? end + 1 : end;
        if (!all) break;
    }
    if (at < text.size) put_text(to, &size, (HoloString){text.data + at, text.size - at});
    return size;
}

static HoloStatus eval_replace(HoloCall *call)
{
    const HoloString *text = call->in[0]->data;
    HoloString       *to = call->out[0]->data, with = holo_attr_string(call, "with", "");
    int64_t           count = holo_tensor_count(call->in[0]);
    bool              all   = holo_attr_int(call, "all", 1);
    HoloArena         arena = {0};
    HoloError         why   = {0};
    HoloRegex        *regex;
    void             *kept;
    HoloStatus        status = holo_regex_create(&arena, holo_attr_string(call, "pattern", ""), &regex, &why);
    if (status) status = holo_call_fail(call, status, "%s", why.text);
    for (int64_t i = 0; i < count && !status; i++) {
        size_t size = rewrite(regex, text[i], with, all, NULL);
        status      = holo_keep(call, size ? size : 1, 1, &kept);
        if (status) break;
        rewrite(regex, text[i], with, all, kept);
        to[i] = (HoloString){kept, size};
    }
    holo_arena_deinit(&arena);
    return status;
}

#define TEXT(NAME, INPUTS, OUTPUTS, FLAGS, INFER, EVAL)                                                   \
    {                                                                                                     \
        .name = NAME, .domain = "hologram", .since = 1, .in_min = INPUTS, .in_max = INPUTS, .out_min = 1, \
        .out_max = OUTPUTS, .types = HOLO_BIT(STRING), .flags = FLAGS, .infer = INFER, .eval = EVAL       \
    }

const HoloOp holo_ops_text_cut[] = {
    TEXT("TextSplit", 2, 3, HOLO_OP_DYNAMIC, infer_split, eval_split),
    TEXT("TextNGrams", 2, 2, HOLO_OP_DYNAMIC, infer_grams, eval_grams),
    TEXT("TextReplace", 1, 1, 0, infer_same, eval_replace),
    {0},
};
