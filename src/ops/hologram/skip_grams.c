// skip_grams.c - SkipGrams: the words of a text, `size` at a time, with up to `skip` words left out between two of them. With
// all=1, fewer words than `size` are taken, too. As SKIP_GRAM of TensorFlow Lite.
#include "ops/value.h"

#include <string.h>

enum { SIZE_MAX_WORDS = 16, GRAMS_MAX = 1 << 20 };

typedef struct SkipWords {
    HoloString *word;
    int64_t     count;
} SkipWords;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Words, in the way of TensorFlow Lite: a space at the very beginning belongs to a word, and of several spaces the first
// one ends it. `out` NULL: only counts.
static int64_t words_find(HoloString text, HoloString *out)
{
    int64_t count = 0;
    size_t  begin = 0;
    for (size_t i = 1; i < text.size; i++) {
        if (!is_space(text.data[i])) continue;
        if (i > begin && !is_space(text.data[begin])) {
            if (out) out[count] = (HoloString){text.data + begin, i - begin};
            count++;
        }
        begin = i + 1;
    }
    if (text.size > begin) {
        if (out) out[count] = (HoloString){text.data + begin, text.size - begin};
        count++;
    }
    return count;
}

typedef struct SkipWalk { // through all choices of words
    int64_t at[SIZE_MAX_WORDS];
    int     depth, size;
    int64_t skip;
    bool    all;
} SkipWalk;

// The next choice has `depth` words then. False: there are no more.
static bool walk_next(SkipWalk *w, int64_t words, int *depth)
{
    while (w->depth >= 0) {
        int d = w->depth;
        if (d < w->size && w->at[d] + 1 < words && (d == 0 || w->at[d] - w->at[d - 1] <= w->skip)) {
            w->at[d]++;
            if (++w->depth < w->size) w->at[w->depth] = w->at[d];
            continue;
        }
        w->depth--;
        *depth = d;
        if (d > 0 && (d == w->size || w->all)) return true;
    }
    return false;
}

static HoloStatus gram_keep(const HoloCall *call, const HoloString *word, const SkipWalk *w, int depth, HoloString *out)
{
    size_t size = (size_t)(depth - 1), at = 0;
    void  *text;
    for (int i = 0; i < depth; i++) size += word[w->at[i]].size;
    HOLO_TRY(holo_keep(call, size ? size : 1, 1, &text));
    for (int i = 0; i < depth; i++) {
        HoloString part = word[w->at[i]];
        if (i) ((char *)text)[at++] = ' ';
        memcpy((char *)text + at, part.data, part.size);
        at += part.size;
    }
    *out = (HoloString){text, size};
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    HoloDim open = HOLO_DIM_UNKNOWN;
    int64_t size = holo_attr_int(call, "size", 1), skip = holo_attr_int(call, "skip", 0);
    if (size < 1 || size > SIZE_MAX_WORDS || skip < 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "grams of %lld words, with %lld left out", (long long)size,
                              (long long)skip);
    HOLO_TRY(holo_expect_one(call, 0));
    return holo_out_type(call, 0, HOLO_STRING, 1, &open);
}

static HoloStatus eval(HoloCall *call)
{
    HoloString text  = *(const HoloString *)call->in[0]->data;
    SkipWalk   first = {.depth = 1,
                        .size  = (int)holo_attr_int(call, "size", 1),
                        .skip  = holo_attr_int(call, "skip", 0),
                        .all   = holo_attr_int(call, "all", 0)};
    int64_t    words = words_find(text, NULL), total = 0;
    void      *word;
    int        depth;
    HOLO_TRY(holo_call_temp(call, (size_t)words + 1, sizeof(HoloString), &word));
    words_find(text, word);
    if (words < first.size) words = 0;
    for (SkipWalk w = first; words && walk_next(&w, words, &depth);)
        if (++total > GRAMS_MAX) return holo_call_fail(call, HOLO_BAD_INPUT, "the text has too many grams");
    call->out[0]->dim[0] = total;
    HOLO_TRY(holo_out_alloc(call, 0));
    HoloString *to = call->out[0]->data;
    for (SkipWalk w = first; words && walk_next(&w, words, &depth);) HOLO_TRY(gram_keep(call, word, &w, depth, to++));
    return HOLO_OK;
}

const HoloOp holo_ops_skip_grams[] = {
    {.name    = "SkipGrams",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(STRING),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
