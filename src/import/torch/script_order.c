// script_order.c - places, counts and orders of the items of lists of scripts.
#include "import/torch/script.h"

#include <string.h>

// Where an item is; -1: nowhere.
static int find_item(const HoloTv *list, const HoloTv *item)
{
    for (int i = 0; i < list->list->count; i++)
        if (holo_script_equal(&list->list->item[i], item)) return i;
    return -1;
}

static HoloTv index_of(HoloScript *s, const HoloTv *a, int count)
{
    int at = find_item(&a[0], &a[1]);
    (void)count;
    return at < 0 ? holo_script_never(s, "the place in a list", &a[1]) : holo_tv_int(at);
}

static HoloTv remove_item(HoloScript *s, const HoloTv *a, int count)
{
    int at = find_item(&a[0], &a[1]);
    (void)count;
    if (at < 0) return holo_script_never(s, "remove", &a[1]);
    if (!holo_script_may_change(s, a[0].list)) return (HoloTv){0};
    a[0].list->count--;
    for (int i = at; i < a[0].list->count; i++) a[0].list->item[i] = a[0].list->item[i + 1];
    return (HoloTv){0};
}

static HoloTv occurrences(HoloScript *s, const HoloTv *a, int count)
{
    int64_t n = 0;
    (void)s, (void)count;
    for (int i = 0; i < a[0].list->count; i++) n += holo_script_equal(&a[0].list->item[i], &a[1]);
    return holo_tv_int(n);
}

// Is x before y? Both are known numbers, or texts; -1: they are not.
static int is_before(const HoloTv *x, const HoloTv *y)
{
    if (x->kind == HOLO_TORCH_TEXT && y->kind == HOLO_TORCH_TEXT) {
        int order = memcmp(x->s.data, y->s.data, x->s.size < y->s.size ? x->s.size : y->s.size);
        return order ? order < 0 : x->s.size < y->s.size;
    }
    if (x->kind == HOLO_TORCH_INT && y->kind == HOLO_TORCH_INT) return x->i < y->i;
    if (x->kind == HOLO_TORCH_FLOAT && y->kind == HOLO_TORCH_FLOAT) return x->f < y->f;
    return -1;
}

// Equal items stay in their order. The second argument: from the largest on.
static HoloTv sort(HoloScript *s, const HoloTv *a, int count)
{
    bool           down = count > 1 && holo_torch_bool(s->t, &a[1], false);
    HoloTorchList *list = a[0].list;
    if (list->sequence || a[0].kind == HOLO_TORCH_DICT || !holo_script_may_change(s, list))
        return holo_script_never(s, "sort", &a[0]);
    for (int i = 1; i < list->count; i++)
        for (int k = i; k > 0; k--) {
            HoloTv *x = &list->item[k - 1], *y = &list->item[k], was = *x;
            int     order = down ? is_before(x, y) : is_before(y, x);
            if (order < 0) return holo_script_never(s, "sort", x);
            if (!order || !holo_torch_step(s->t, 1)) break;
            *x = *y;
            *y = was;
        }
    return (HoloTv){0};
}

static HoloTv sorted(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv all = holo_tv_list(s->t, HOLO_TORCH_LIST, a[0].list->count, a[0].list->item);
    (void)count;
    if (!s->t->e->status) sort(s, &all, 1);
    return all;
}

static const HoloScriptRow rows[] = {
    {"index", 2, index_of}, {"count", 2, occurrences}, {"remove", 2, remove_item},
    {"sort", 1, sort},      {"sorted", 1, sorted},
};

bool holo_script_order(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    return holo_tv_is_list(&args[0]) && holo_script_row(s, rows, HOLO_COUNT(rows), name, args, count, out);
}
