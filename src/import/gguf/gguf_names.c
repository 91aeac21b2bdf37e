// gguf_names.c - finds tensors of GGUF files by the names that families have for weights.
//
// A row of a table is a name, in which # stands for a number, and the tensor that has it. An architecture's own rows
// come first: where one of them has the name, the common ones do not count.
#include "import/gguf/gguf_model.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS = 2, NAME_ROOM = 256, NUMBER_MAX = 1 << 24 };

typedef struct Match {
    int64_t     number[NUMBERS];
    const char *rest; // what is behind: ".weight", ".bias" or nothing
} Match;

static bool match(const char *pattern, const char *name, Match *out)
{
    int count = 0;
    *out      = (Match){0};
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        if (count == NUMBERS || *name < '0' || *name > '9') return false;
        for (; *name >= '0' && *name <= '9' && out->number[count] < NUMBER_MAX; name++)
            out->number[count] = out->number[count] * 10 + (*name - '0');
        count++;
    }
    out->rest = name;
    return !*name || (*name == '.' && !strchr(name + 1, '.'));
}

// The tensor's name, with the numbers and the rest put in.
static bool write_name(const char *pattern, const Match *match, char *out)
{
    size_t size  = 0;
    int    count = 0;
    for (; *pattern && size + 1 < NAME_ROOM; pattern++) {
        if (*pattern == '#' && count < NUMBERS)
            size += (size_t)snprintf(out + size, NAME_ROOM - size, "%lld", (long long)match->number[count++]);
        else
            out[size++] = *pattern;
    }
    return size < NAME_ROOM && snprintf(out + size, NAME_ROOM - size, "%s", match->rest) < (int)(NAME_ROOM - size);
}

HoloGgufWeight *holo_gguf_weight_find(const HoloGgufModel *model, const char *tensor)
{
    return holo_name_map_find(&model->weights, (HoloString){tensor, strlen(tensor)});
}

// ---- parts of tensors

typedef struct View {
    int            rank;
    int64_t        dim[HOLO_MAX_RANK];
    const uint8_t *data;
} View;

// The bytes of one index of the first dimension.
static int64_t step_of(const HoloGgufWeight *weight, const View *view)
{
    int64_t bytes = view->rank > 1 ? weight->row_bytes : (int64_t)holo_dtype_size(weight->dtype);
    for (int i = 1; i + 1 < view->rank; i++) bytes *= view->dim[i];
    return bytes;
}

// Leaves `count` of the first dimension, from `from` on. False: it has not that many.
static bool take_rows(const HoloGgufWeight *weight, int64_t from, int64_t count, View *view)
{
    bool is_cut_block = weight->blocks && view->rank < 2;
    if (view->rank < 1 || is_cut_block || from < 0 || count < 0 || from > view->dim[0] - count) return false;
    view->data += from * step_of(weight, view);
    view->dim[0] = count;
    return true;
}

static bool take_item(const HoloGgufWeight *weight, int64_t index, View *view)
{
    if (!take_rows(weight, index, 1, view)) return false;
    view->rank--;
    memmove(view->dim, view->dim + 1, (size_t)view->rank * sizeof *view->dim);
    return true;
}

static bool take_part(const HoloGgufModel *model, const HoloGgufWeight *weight, const HoloGgufName *row,
                      const Match *match, View *view)
{
    int64_t queries, keys, half;
    if (row->part == HOLO_GGUF_WHOLE) return true;
    if (row->part == HOLO_GGUF_ITEM) return take_item(weight, match->number[1], view);
    if (row->part == HOLO_GGUF_FIRST || row->part == HOLO_GGUF_SECOND) {
        if (!take_item(weight, match->number[1], view)) return false;
        half = view->dim[0] / 2;
        return take_rows(weight, row->part == HOLO_GGUF_SECOND ? half : 0, half, view);
    }
    if (!holo_mul(model->heads, model->head_size, &queries) || !holo_mul(model->key_heads, model->head_size, &keys) ||
        !holo_add(queries, keys, &half))
        return false;
    return row->part == HOLO_GGUF_QUERIES ? take_rows(weight, 0, queries, view)
           : row->part == HOLO_GGUF_KEYS  ? take_rows(weight, queries, keys, view)
                                          : take_rows(weight, half, keys, view);
}

// Adds a dimension of size 1, which files leave out.
static void add_one(const HoloGgufName *row, View *view)
{
    if (view->rank >= row->rank || row->one_at > view->rank) return;
    memmove(view->dim + row->one_at + 1, view->dim + row->one_at,
            (size_t)(view->rank - row->one_at) * sizeof *view->dim);
    view->dim[row->one_at] = 1;
    view->rank++;
}

static bool view_of(const HoloGgufModel *model, HoloGgufWeight *weight, const HoloGgufName *row, const Match *match,
                    HoloFamilyWeight *out)
{
    View view = {.rank = weight->tensor->rank, .data = weight->data};
    memcpy(view.dim, weight->tensor->dim, sizeof view.dim);
    if (!take_part(model, weight, row, match, &view)) return false;
    add_one(row, &view);
    weight->is_used = true;
    *out            = (HoloFamilyWeight){
                   .tensor    = {.dtype = (uint8_t)weight->dtype, .rank = (int8_t)view.rank, .data = (void *)view.data},
                   .blocks    = weight->blocks ? weight->blocks->name : NULL,
                   .row_bytes = weight->row_bytes,
    };
    memcpy(out->tensor.dim, view.dim, sizeof view.dim);
    return true;
}

// ---- the tables

// *out_matched: a row has the name, whether or not there is such a tensor.
static bool find_row(const HoloGgufModel *model, const HoloGgufName *rows, const char *name, bool *out_matched,
                     HoloFamilyWeight *out)
{
    char            tensor[NAME_ROOM];
    Match           m;
    HoloGgufWeight *weight;
    *out_matched = false;
    for (; rows && rows->wanted; rows++) {
        if (!match(rows->wanted, name, &m)) continue;
        *out_matched = true;
        weight       = write_name(rows->tensor, &m, tensor) ? holo_gguf_weight_find(model, tensor) : NULL;
        if (weight && view_of(model, weight, rows, &m, out)) return true;
    }
    return false;
}

bool holo_gguf_weight(void *context, const char *name, HoloFamilyWeight *out)
{
    const HoloGgufModel *model = context;
    bool                 matched;
    if (find_row(model, model->architecture->names, name, &matched, out)) return true;
    return !matched && find_row(model, holo_gguf_common_names, name, &matched, out);
}
