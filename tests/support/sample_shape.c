// sample_shape.c - the shapes of samples: which ones a row accepts, random ones, and lists of axes and sizes.
#include "support/sample_maker.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_MAX = 5 }; // dimensions of what is made

// Sizes around the width of a vector, none, one, and small ones; and some that are worth two threads.
static const int64_t sizes[]       = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 15, 16, 17};
static const int64_t sizes_large[] = {1, 2, 3, 16, 17, 33, 64, 100, 257};

static int64_t any_size(Sample *s, int64_t least, int64_t budget)
{
    int64_t size =
        s->is_large ? sizes_large[sample_pick(s, HOLO_COUNT(sizes_large))] : sizes[sample_pick(s, HOLO_COUNT(sizes))];
    if (size > budget) size = 1 + (int64_t)sample_pick(s, 2);
    return size < least ? least + (int64_t)sample_pick(s, 3) : size;
}

// ---- names

void maker_name(const char **at, char *out)
{
    int n = 0;
    while (isalnum((unsigned char)**at) && n < MAKER_NAME - 1) out[n++] = *(*at)++;
    out[n] = '\0';
}

void maker_bind(Maker *m, const char *name, int64_t value)
{
    int i = 0;
    while (i < m->bound_count && strcmp(m->bound[i].name, name)) i++;
    if (i == MAKER_NAMES) abort(); // the table is wrong
    if (i == m->bound_count) m->bound_count++;
    snprintf(m->bound[i].name, sizeof m->bound[i].name, "%s", name);
    m->bound[i].value = value;
}

bool maker_find(const Maker *m, const char *name, int64_t *out)
{
    const HoloTensor *x = &m->x->now;
    for (int i = 0; i < m->bound_count; i++)
        if (!strcmp(m->bound[i].name, name)) return *out = m->bound[i].value, true;
    int at = name[0] == 'd' && isdigit((unsigned char)name[1]) ? name[1] - '0' : name[0] == 'l' ? x->rank - 1 : -1;
    if (!strcmp(name, "r")) return *out = x->rank, true;
    if (at >= 0 && at < x->rank) return *out = x->dim[at], true;
    return false;
}

// ---- patterns

typedef struct Item { // one entry between the brackets
    bool    is_dots;
    char    name[MAKER_NAME]; // "": a number
    int64_t factor, least;    // of a number, factor is the number
} Item;

static Item next_item(const char **at)
{
    Item item = {.factor = 1};
    if (**at == ',') ++*at;
    if (**at == '.') {
        item.is_dots = true;
        *at += 3;
    } else {
        if (isdigit((unsigned char)**at)) item.factor = strtoll(*at, (char **)at, 10);
        if (**at == '*') ++*at;
        maker_name(at, item.name);
    }
    if (**at == '>') {
        ++*at;
        item.least = strtoll(*at, (char **)at, 10) + 1;
    }
    return item;
}

// Binds the item's name to what makes it `size`. False: it cannot be that.
static bool item_match(Maker *m, const Item *item, int64_t size)
{
    int64_t value;
    if (item->is_dots) return size >= item->least;
    if (!*item->name) return size == item->factor;
    if (size % item->factor || size / item->factor < item->least) return false;
    if (maker_find(m, item->name, &value)) return value * item->factor == size;
    maker_bind(m, item->name, size / item->factor);
    return true;
}

bool maker_match(Maker *m, const char *pattern)
{
    const HoloTensor *x     = &m->x->now;
    int               named = 0, d = 0;
    bool              dots = false;
    for (const char *at = pattern + 1; *at != ']';) {
        bool is_dots = next_item(&at).is_dots;
        dots |= is_dots;
        named += !is_dots;
    }
    if (x->rank < named || (!dots && x->rank > named)) return false;
    for (const char *at = pattern + 1; *at != ']';) {
        Item item  = next_item(&at);
        int  count = item.is_dots ? x->rank - named : 1;
        if (item.is_dots) {
            m->dots_from  = d;
            m->dots_count = count;
        }
        for (; count > 0; count--)
            if (!item_match(m, &item, x->dim[d++])) return false;
    }
    return true;
}

void maker_generate(Maker *m, const char *pattern, HoloTensor *out)
{
    int64_t budget = m->sample->is_large ? 60000 : 3000; // elements
    int     named  = 0, extra;
    for (const char *at = pattern + 1; *at != ']';) named += !next_item(&at).is_dots;
    extra = named < RANK_MAX - 1 ? (int)sample_pick(m->sample, (uint64_t)(RANK_MAX - named)) : 0;
    for (const char *at = pattern + 1; *at != ']';) {
        Item item  = next_item(&at);
        int  count = item.is_dots ? extra : 1;
        for (; count > 0; count--) {
            int64_t size = item.factor;
            if (item.is_dots)
                size = any_size(m->sample, item.least, budget);
            else if (*item.name && maker_find(m, item.name, &size))
                size *= item.factor;
            else if (*item.name) {
                size = any_size(m->sample, item.least, budget / item.factor);
                maker_bind(m, item.name, size);
                size *= item.factor;
            }
            out->dim[out->rank++] = size;
            if (size > 1) budget /= size;
        }
    }
}

// ---- operands

// A shape that broadcasts with that of x; where `inward`, to it.
static void shape_broadcast(Maker *m, bool inward, HoloTensor *out)
{
    Sample           *s    = m->sample;
    const HoloTensor *x    = &m->x->now;
    int               drop = sample_pick(s, 3) ? 0 : (int)sample_pick(s, (uint64_t)x->rank + 1);
    bool              grow = !inward && holo_tensor_count(x) < 400;
    out->rank              = 0;
    if (grow && !drop && x->rank < RANK_MAX && !sample_pick(s, 8))
        out->dim[out->rank++] = 1 + (int64_t)sample_pick(s, 2);
    for (int d = drop; d < x->rank; d++) {
        int64_t size = x->dim[d];
        if (size == 1 && grow && sample_pick(s, 2)) size = any_size(s, 0, 5), grow = false;
        out->dim[out->rank++] = sample_pick(s, 3) ? size : 1;
    }
}

static int64_t list_length(const char *list)
{
    int64_t count = *list != '\0';
    for (; *list; list++) count += *list == ',';
    return count;
}

static void shape_dots(const Maker *m, HoloTensor *out)
{
    for (int d = 0; d < m->dots_count; d++) out->dim[out->rank++] = m->x->now.dim[m->dots_from + d];
}

void maker_shape(Maker *m, const char *text, const char *list, HoloTensor *out)
{
    out->rank = 0;
    if (*text == '*' || *text == '<') {
        shape_broadcast(m, *text == '<', out);
        text = "";
    }
    while (*text && !m->failed) {
        const char *item_at = text;
        if (out->rank >= HOLO_MAX_RANK - 8) m->failed = true;
        if (*text == '=') {
            for (int d = 0; d < m->x->now.rank; d++) out->dim[out->rank++] = m->x->now.dim[d];
            text++;
        } else if (*text == '#') {
            out->dim[out->rank++] = list_length(list);
            text++;
        } else if (*text == '.') {
            shape_dots(m, out);
            text += 3;
        } else {
            Item    item = next_item(&text);
            int64_t size;
            if (*item.name && !maker_find(m, item.name, &size))
                maker_bind(m, item.name, any_size(m->sample, item.least, 17));
            if (*text && *text != ',') { // an expression
                text = item_at;
                size = maker_number(m, &text);
            } else if (*item.name && maker_find(m, item.name, &size))
                size *= item.factor;
            else
                size = item.factor;
            if (size < 0) m->failed = true;
            out->dim[out->rank++] = size;
        }
        if (*text == ',') text++;
    }
    int64_t count = holo_tensor_count(out);
    if (count < 0 || count > SAMPLE_ELEMENTS) m->failed = true;
}

// ---- lists

static void print_list(HoloText *out, int count, const int64_t *list)
{
    for (int i = 0; i < count; i++) holo_text_add(out, "%s%" PRId64, i ? "," : "", list[i]);
}

static void shuffle(Sample *s, int count, int64_t *list)
{
    for (int i = count - 1; i > 0; i--) {
        int     k = (int)sample_pick(s, (uint64_t)i + 1);
        int64_t t = list[i];
        list[i]   = list[k];
        list[k]   = t;
    }
}

static void list_axis(Maker *m, HoloText *out)
{
    int64_t axis = 0;
    if (!maker_find(m, "a", &axis)) m->failed = true;
    holo_text_add(out, "%" PRId64, sample_pick(m->sample, 2) ? axis : axis - m->x->now.rank);
}

void maker_choose_axis(Maker *m)
{
    int rank = m->x->now.rank;
    if (!rank) return;
    int64_t axis = (int64_t)sample_pick(m->sample, (uint64_t)rank);
    maker_bind(m, "a", axis);
    maker_bind(m, "da", m->x->now.dim[axis]);
}

static void list_axes(Maker *m, HoloText *out)
{
    int64_t axes[HOLO_MAX_RANK];
    int     rank = m->x->now.rank, count = rank ? 1 + (int)sample_pick(m->sample, (uint64_t)rank) : 0;
    for (int i = 0; i < rank; i++) axes[i] = i;
    shuffle(m->sample, rank, axes);
    for (int i = 0; i < count; i++)
        if (sample_pick(m->sample, 2)) axes[i] -= rank;
    if (!rank) m->failed = true;
    print_list(out, count, axes);
}

static void list_perm(Maker *m, HoloText *out)
{
    int64_t axes[HOLO_MAX_RANK];
    for (int i = 0; i < m->x->now.rank; i++) axes[i] = i;
    shuffle(m->sample, m->x->now.rank, axes);
    if (!m->x->now.rank) m->failed = true;
    print_list(out, m->x->now.rank, axes);
}

static void list_dtype(Maker *m, HoloText *out)
{
    holo_text_add(out, "%s", holo_dtype_name((HoloDtype)m->x->now.dtype));
}

static void list_dims(Maker *m, HoloText *out)
{
    print_list(out, m->x->now.rank, m->x->now.dim);
}

// The elements dealt out to two or three dimensions; one may be -1, which means the rest.
static void list_reshape(Maker *m, HoloText *out)
{
    Sample *s    = m->sample;
    int64_t rest = holo_tensor_count(&m->x->now), dim[3];
    int     rank = 1 + (int)sample_pick(s, 3);
    if (!rest) { // a size of 0 would be copied
        m->failed = true;
        return;
    }
    for (int d = 0; d < rank - 1; d++) {
        dim[d] = 1 + (int64_t)sample_pick(s, 4);
        while (rest % dim[d]) dim[d]--;
        rest /= dim[d];
    }
    dim[rank - 1] = rest;
    shuffle(s, rank, dim);
    if (sample_pick(s, 2)) dim[sample_pick(s, (uint64_t)rank)] = -1;
    print_list(out, rank, dim);
}

static void list_expand(Maker *m, HoloText *out)
{
    HoloTensor t = {0};
    shape_broadcast(m, false, &t);
    if (!t.rank) t.dim[t.rank++] = 1;
    print_list(out, t.rank, t.dim);
}

bool maker_list(Maker *m, const char *name, HoloText *out)
{
    static const struct {
        const char *name;
        void (*print)(Maker *m, HoloText *out);
    } lists[] = {{"axis", list_axis},       {"axes", list_axes},     {"perm", list_perm},  {"dims", list_dims},
                 {"reshape", list_reshape}, {"expand", list_expand}, {"dtype", list_dtype}};
    for (int i = 0; i < HOLO_COUNT(lists); i++)
        if (!strcmp(lists[i].name, name)) return lists[i].print(m, out), true;
    return false;
}
