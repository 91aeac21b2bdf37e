// matches.c - values of two sides, paired by name. See matches.h.

#include "matches.h"

#include "samples.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static Row *row_of(Rows *rows, const char *name, bool is_output)
{
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].is_output == is_output && !strcmp(rows->row[i].name, name)) return &rows->row[i];
    if (rows->count == rows->room) {
        rows->room = rows->room ? rows->room * 2 : 64;
        rows->row  = cli_grow(rows->row, (size_t)rows->count, (size_t)rows->room, sizeof *rows->row);
    }
    Row *row = &rows->row[rows->count++];
    *row     = (Row){.name = cli_format("%s", name), .is_output = is_output};
    return row;
}

static const char *type_text(const HoloTensor *t)
{
    CliText text;
    return cli_format("%s", cli_type(&text, t, NULL));
}

// ---- one pair

static void pair_add(Row *row, const HoloTensor *got, const HoloTensor *want, const Tolerance *tolerance,
                     int64_t sample)
{
    bool comparable  = compare_same_shape(got, want) && (got->dtype == HOLO_STRING) == (want->dtype == HOLO_STRING);
    row->type        = row->type ? row->type : type_text(want);
    row->is_compared = true;
    if (!comparable)
        row->why = cli_format("%s, but expected %s", type_text(got), type_text(want));
    else
        distance_add(&row->distance, got, want, tolerance, sample);
    if (!comparable || got->dtype == want->dtype) return;
    const char *types = cli_format("%s against %s", holo_dtype_name(got->dtype), holo_dtype_name(want->dtype));
    if (!row->note)
        row->note = types;
    else if (!strstr(row->note, types))
        row->note = cli_format("%s; %s", row->note, types);
}

// ---- outputs

// File names have _ for /.
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '/' ? '_' : *a) != (*b == '/' ? '_' : *b)) return false;
    return *a == *b;
}

static int output_count(const Side *side)
{
    int count = 0;
    for (int i = 0; i < side->count; i++) count += side->values[i].is_output;
    return count;
}

static const SideValue *output_find(const Side *side, const char *name)
{
    bool is_files = side->kind == SIDE_TENSORS;
    for (int i = 0; i < side->count; i++) {
        const SideValue *v = &side->values[i];
        if (!v->is_output) continue;
        if (!strcmp(v->name, name) || (is_files && same_name(v->name, name))) return v;
    }
    return NULL;
}

static const SideValue *output_at(const Side *side, int index)
{
    for (int i = 0; i < side->count; i++)
        if (side->values[i].is_output && !index--) return &side->values[i];
    return NULL;
}

// Have both sides the same number of outputs, and no names in common? Then they are paired by position.
static bool is_by_place(const Side *a, const Side *b)
{
    int count = output_count(a);
    for (int i = 0; i < count; i++)
        if (output_find(b, output_at(a, i)->name) || output_find(a, output_at(a, i)->name) != output_at(a, i))
            return false;
    return count && count == output_count(b);
}

static void output_add(Rows *rows, const Side *got, const Side *want, int index, bool is_got,
                       const Tolerance *tolerance, int64_t sample)
{
    const Side      *other    = is_got ? want : got;
    const SideValue *v        = output_at(is_got ? got : want, index);
    bool             by_place = is_by_place(got, want);
    const SideValue *twin     = by_place ? output_at(other, index) : output_find(other, v->name);
    Row             *row      = row_of(rows, v->name, true);
    if (by_place && !row->note && (other->kind != SIDE_TENSORS || cli_is_folder(other->path)))
        row->note = cli_format("matched by its position: %s calls it %s", other->path, twin->name);
    if (!twin) {
        row->type = type_text(&v->tensor);
        row->why  = cli_format("%s does not have it", other->path);
    } else if (v->is_random || twin->is_random) {
        row->type = type_text(&v->tensor);
        row->note = "random by definition: not compared";
    } else
        pair_add(row, is_got ? &v->tensor : &twin->tensor, is_got ? &twin->tensor : &v->tensor, tolerance, sample);
}

// ---- values of nodes

// The length of a name without "_23", which passes append to names of new values; 0: it has no such ending.
static size_t stem(const char *name)
{
    size_t size = strlen(name), end = size;
    while (end && isdigit((unsigned char)name[end - 1])) end--;
    return end > 1 && end < size && name[end - 1] == '_' ? end - 1 : 0;
}

static bool is_stem_of(const char *name, const SideValue *v, const Side *side)
{
    size_t size = side->kind == SIDE_COMPILED ? stem(v->name) : 0;
    return size && size == strlen(name) && !memcmp(name, v->name, size);
}

static bool is_float(const HoloTensor *t)
{
    return t->dtype == HOLO_F32 || t->dtype == HOLO_F64 || t->dtype == HOLO_F16 || t->dtype == HOLO_BF16;
}

// Is `last` the tensor `first` with its channels last?
static bool is_channels_last(const HoloTensor *first, const HoloTensor *last)
{
    if (first->rank != last->rank || first->rank < 3 || first->dim[0] != last->dim[0]) return false;
    for (int d = 2; d < first->rank; d++)
        if (first->dim[d] != last->dim[d - 1]) return false;
    return first->dim[1] == last->dim[last->rank - 1];
}

static bool can_be_twins(const HoloTensor *a, const HoloTensor *b)
{
    return is_float(a) && a->dtype == b->dtype &&
           (compare_same_shape(a, b) || is_channels_last(a, b) || is_channels_last(b, a));
}

static const SideValue *node_find(const Side *side, const char *name)
{
    bool is_files = side->kind == SIDE_TENSORS;
    for (int i = 0; i < side->count; i++) {
        const SideValue *v = &side->values[i];
        if (is_files ? same_name(v->name, name) : !v->is_output && !strcmp(v->name, name)) return v;
    }
    return NULL;
}

// The only value that a pass made from the value of this name; NULL: there is none, or there are several.
static const SideValue *made_anew(const Side *side, const char *name)
{
    const SideValue *found = NULL;
    for (int i = 0; i < side->count; i++) {
        const SideValue *v = &side->values[i];
        if (v->is_output || !is_stem_of(name, v, side)) continue;
        if (found) return NULL;
        found = v;
    }
    return found;
}

static const SideValue *node_twin(const Side *side, const SideValue *v, const Side *other, const char **out_name)
{
    const SideValue *twin = node_find(other, v->name);
    *out_name             = v->name;
    if (twin) return twin;
    size_t      size = side->kind == SIDE_COMPILED ? stem(v->name) : 0;
    const char *base = size ? cli_format("%.*s", (int)size, v->name) : v->name;
    if (size && made_anew(side, base) != v) return NULL;
    twin      = size ? node_find(other, base) : NULL;
    *out_name = base;
    if (!twin) twin = made_anew(other, base);
    return twin && can_be_twins(&v->tensor, &twin->tensor) ? twin : NULL;
}

// A copy of a tensor with channels last, with channels first; free its data by free().
static HoloTensor channels_first(const HoloTensor *last)
{
    HoloTensor first    = *last;
    int64_t    channels = last->dim[last->rank - 1], inner = 1, count = holo_tensor_count(last);
    size_t     each = holo_dtype_size(last->dtype);
    first.dim[1]    = channels;
    for (int d = 2; d < last->rank; d++) inner *= first.dim[d] = last->dim[d - 1];
    first.data = malloc((size_t)count * each + 1);
    for (int64_t i = 0; first.data && i < count; i++) {
        int64_t n = i / (inner * channels), at = i / channels % inner, c = i % channels;
        memcpy((char *)first.data + (size_t)((n * channels + c) * inner + at) * each,
               (const char *)last->data + (size_t)i * each, each);
    }
    return first;
}

static void node_add(Rows *rows, const Side *got, const Side *want, const SideValue *v, bool is_got,
                     const Tolerance *tolerance, int64_t sample)
{
    const char      *name;
    const SideValue *twin = node_twin(is_got ? got : want, v, is_got ? want : got, &name);
    if (!twin || v->tensor.dtype == HOLO_STRING || twin->tensor.dtype == HOLO_STRING) return;
    HoloTensor x = is_got ? v->tensor : twin->tensor, y = is_got ? twin->tensor : v->tensor, moved = {0};
    if (!compare_same_shape(&x, &y) && is_channels_last(&y, &x))
        x = moved = channels_first(&x);
    else if (!compare_same_shape(&x, &y) && is_channels_last(&x, &y))
        y = moved = channels_first(&y);
    if (compare_same_shape(&x, &y) && x.data && y.data) pair_add(row_of(rows, name, false), &x, &y, tolerance, sample);
    free(moved.data);
}

void rows_add_sample(Rows *rows, const Side *got, const Side *want, const Tolerance *tolerance, int64_t sample)
{
    bool        by_want = got->kind == SIDE_TENSORS && want->kind != SIDE_TENSORS; // files may hold more than outputs
    bool        by_both = (got->kind == SIDE_TENSORS) == (want->kind == SIDE_TENSORS);
    const Side *leader = by_want ? want : got, *other = by_want ? got : want;
    for (int i = 0; i < output_count(leader); i++) output_add(rows, got, want, i, !by_want, tolerance, sample);
    by_both = by_both && !is_by_place(got, want);
    for (int i = 0; by_both && i < output_count(other); i++)
        if (!output_find(leader, output_at(other, i)->name)) output_add(rows, got, want, i, by_want, tolerance, sample);
    for (int i = 0; i < leader->count; i++)
        if (!leader->values[i].is_output && !output_find(leader, leader->values[i].name))
            node_add(rows, got, want, &leader->values[i], !by_want, tolerance, sample);
}
