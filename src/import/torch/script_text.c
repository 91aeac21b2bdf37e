// script_text.c - texts of scripts. All of them are known when the model is imported.
#include "import/torch/script.h"

#include "base/bytes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool holo_script_row(HoloScript *s, const HoloScriptRow *rows, int row_count, const char *name, const HoloTv *args,
                     int count, HoloTv *out)
{
    for (int i = 0; i < row_count; i++)
        if (!strcmp(rows[i].name, name) && count >= rows[i].count) {
            *out = rows[i].run(s, args, count);
            return true;
        }
    return false;
}

HoloTv holo_script_never(HoloScript *s, const char *what, const HoloTv *v)
{
    holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "%s of %s is not supported", what, holo_tv_kind(v));
    return (HoloTv){0};
}

static HoloTv part(HoloString text, size_t from, size_t size)
{
    return (HoloTv){.kind = HOLO_TORCH_TEXT, .s = {text.data + from, size}};
}

// Room for a text of that size; NULL: there is too much of it.
static char *room_for(HoloScript *s, size_t size)
{
    return holo_torch_step(s->t, (int64_t)size) ? HOLO_NEW(s->t->arena, char, size + 1) : NULL;
}

static HoloTv add(HoloScript *s, const HoloTv *a, int count)
{
    char *text = a[1].kind == HOLO_TORCH_TEXT ? room_for(s, a[0].s.size + a[1].s.size) : NULL;
    (void)count;
    if (!text) return holo_script_never(s, "a sum", &a[1]);
    if (a[0].s.size) memcpy(text, a[0].s.data, a[0].s.size);
    if (a[1].s.size) memcpy(text + a[0].s.size, a[1].s.data, a[1].s.size);
    return part((HoloString){text, 0}, 0, a[0].s.size + a[1].s.size);
}

// A value as str() writes it. What else is formatted is only in messages, and is said by its kind.
static HoloTv as_text(HoloScript *s, const HoloTv *v)
{
    HoloArena *arena = s->t->arena;
    char      *text  = NULL;
    if (v->kind == HOLO_TORCH_TEXT) return *v;
    if (v->kind == HOLO_TORCH_INT) text = holo_arena_format(arena, "%lld", (long long)v->i);
    if (v->kind == HOLO_TORCH_BOOL) return holo_tv_text(v->i ? "True" : "False");
    if (v->kind == HOLO_TORCH_NONE) return holo_tv_text("None");
    if (v->kind == HOLO_TORCH_FLOAT) {
        text = holo_arena_format(arena, "%.17g", v->f);
        for (int digits = 1; text && digits < 17; digits++) { // as few as tell it from all others
            char   shorter[40];
            double back;
            snprintf(shorter, sizeof shorter, "%.*g", digits, v->f);
            if (sscanf(shorter, "%lf", &back) != 1 || back != v->f) continue;
            text = holo_arena_format(arena, strpbrk(shorter, ".eni") ? "%s" : "%s.0", shorter);
            break;
        }
    }
    return holo_tv_text(text ? text : holo_tv_kind(v));
}

// Each `mark` of the text is the next of the values.
static HoloTv filled_in(HoloScript *s, HoloString form, const char *mark, const HoloTv *values, int count)
{
    HoloTv      out = holo_tv_text("");
    const char *at = form.data, *end = at + form.size;
    for (int next = 0; at < end && !s->t->e->status;) {
        const char *found = holo_bytes_find(at, (size_t)(end - at), mark, 2);
        HoloTv      piece = part((HoloString){at, 0}, 0, (size_t)((found ? found : end) - at));
        out               = add(s, (HoloTv[]){out, piece}, 2);
        at                = found ? found + 2 : end;
        if (!found || s->t->e->status) continue;
        piece = next < count ? as_text(s, &values[next++]) : holo_tv_text(mark);
        out   = add(s, (HoloTv[]){out, piece}, 2);
    }
    return out;
}

// "{} of {}"
static HoloTv format(HoloScript *s, const HoloTv *a, int count)
{
    return filled_in(s, a[0].s, "{}", a + 1, count - 1);
}

// "%s of %d": one value, or a tuple. Both marks are numbers and texts as str() writes them.
static HoloTv percent_format(HoloScript *s, const HoloTv *a, int count)
{
    bool    is_many = a[1].kind == HOLO_TORCH_TUPLE;
    HoloTv *all     = HOLO_NEW(s->t->arena, HoloTv, count + (is_many ? a[1].list->count : 0));
    char   *form    = room_for(s, a[0].s.size);
    if (!all || !form) return holo_script_never(s, "%", &a[0]);
    memcpy(all, is_many ? a[1].list->item : a + 1, (size_t)(is_many ? a[1].list->count : count - 1) * sizeof *all);
    if (a[0].s.size) memcpy(form, a[0].s.data, a[0].s.size);
    for (size_t i = 0; i + 1 < a[0].s.size; i++)
        if (form[i] == '%' && strchr("dirg", form[i + 1])) form[i + 1] = 's';
    return filled_in(s, (HoloString){form, a[0].s.size}, "%s", all, is_many ? a[1].list->count : count - 1);
}

static HoloTv str(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return as_text(s, &a[0]);
}

static HoloTv equal(HoloScript *s, const HoloTv *a, int count)
{
    (void)s, (void)count;
    return holo_tv_bool(holo_script_equal(&a[0], &a[1]));
}

static HoloTv unequal(HoloScript *s, const HoloTv *a, int count)
{
    (void)s, (void)count;
    return holo_tv_bool(!holo_script_equal(&a[0], &a[1]));
}

static HoloTv length(HoloScript *s, const HoloTv *a, int count)
{
    (void)s, (void)count;
    return holo_tv_int((int64_t)a[0].s.size);
}

static HoloTv item(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return holo_script_item(s, a[0], a[1]);
}

// A place, from the end if it is below 0, inside of the text.
static int64_t place(HoloScript *s, const HoloTv *v, int64_t size, int64_t fallback)
{
    int64_t at = holo_torch_int(s->t, v, fallback);
    if (at < 0) at += size;
    return at < 0 ? 0 : at > size ? size : at;
}

static HoloTv slice(HoloScript *s, const HoloTv *a, int count)
{
    int64_t size = (int64_t)a[0].s.size, from = place(s, &a[1], size, 0),
            to = count > 2 ? place(s, &a[2], size, size) : size;
    if (count > 3 && holo_torch_int(s->t, &a[3], 1) != 1) return holo_script_never(s, "every n-th letter", &a[0]);
    return part(a[0].s, (size_t)from, to > from ? (size_t)(to - from) : 0);
}

// Where a text is in another; -1: nowhere.
static int64_t find_in(const HoloTv *a, const HoloTv *b)
{
    const char *at = b->s.size ? holo_bytes_find(a->s.data, a->s.size, b->s.data, b->s.size) : a->s.data;
    return at ? at - a->s.data : -1;
}

static HoloTv find(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return a[1].kind == HOLO_TORCH_TEXT ? holo_tv_int(find_in(&a[0], &a[1])) : holo_script_never(s, "find", &a[1]);
}

static HoloTv contains(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return a[1].kind == HOLO_TORCH_TEXT ? holo_tv_bool(find_in(&a[0], &a[1]) >= 0) : holo_script_never(s, "in", &a[1]);
}

static HoloTv starts_with(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (a[1].kind != HOLO_TORCH_TEXT) return holo_script_never(s, "startswith", &a[1]);
    return holo_tv_bool(a[0].s.size >= a[1].s.size && !memcmp(a[0].s.data, a[1].s.data, a[1].s.size));
}

static HoloTv ends_with(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (a[1].kind != HOLO_TORCH_TEXT) return holo_script_never(s, "endswith", &a[1]);
    return holo_tv_bool(a[0].s.size >= a[1].s.size &&
                        !memcmp(a[0].s.data + a[0].s.size - a[1].s.size, a[1].s.data, a[1].s.size));
}

static HoloTv changed(HoloScript *s, HoloString text, int (*letter)(int))
{
    char *out = room_for(s, text.size);
    for (size_t i = 0; out && i < text.size; i++) out[i] = (char)letter((unsigned char)text.data[i]);
    return out ? part((HoloString){out, 0}, 0, text.size) : (HoloTv){0};
}

static HoloTv lower(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return changed(s, a[0].s, tolower);
}

static HoloTv upper(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return changed(s, a[0].s, toupper);
}

static HoloTv strip(HoloScript *s, const HoloTv *a, int count)
{
    size_t from = 0, to = a[0].s.size;
    (void)s, (void)count;
    while (from < to && isspace((unsigned char)a[0].s.data[from])) from++;
    while (to > from && isspace((unsigned char)a[0].s.data[to - 1])) to--;
    return part(a[0].s, from, to - from);
}

static HoloTv split(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_LIST, 0, NULL), rest = a[0];
    if (count < 2 || a[1].kind != HOLO_TORCH_TEXT || !a[1].s.size) return holo_script_never(s, "split", &a[0]);
    for (int64_t at; (at = find_in(&rest, &a[1])) >= 0 && !s->t->e->status;) {
        holo_tv_append(s->t, out.list, part(rest.s, 0, (size_t)at));
        rest = part(rest.s, (size_t)at + a[1].s.size, rest.s.size - (size_t)at - a[1].s.size);
    }
    holo_tv_append(s->t, out.list, rest);
    return out;
}

static HoloTv join(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out = holo_tv_text("");
    (void)count;
    if (!holo_tv_is_list(&a[1])) return holo_script_never(s, "join", &a[1]);
    for (int i = 0; i < a[1].list->count && !s->t->e->status; i++) {
        if (i) out = add(s, (HoloTv[]){out, a[0]}, 2);
        out = add(s, (HoloTv[]){out, a[1].list->item[i]}, 2);
    }
    return out;
}

static HoloTv replace(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv parts = split(s, a, 2), both[2] = {a[2], parts};
    (void)count;
    return s->t->e->status                ? (HoloTv){0}
           : a[2].kind == HOLO_TORCH_TEXT ? join(s, both, 2)
                                          : holo_script_never(s, "replace", &a[2]);
}

static const HoloScriptRow rows[] = {
    {"add", 2, add},
    {"format", 1, format},
    {"percentFormat", 2, percent_format},
    {"str", 1, str},
    {"eq", 2, equal},
    {"ne", 2, unequal},
    {"len", 1, length},
    {"__getitem__", 2, item},
    {"slice", 2, slice},
    {"find", 2, find},
    {"__contains__", 2, contains},
    {"startswith", 2, starts_with},
    {"endswith", 2, ends_with},
    {"lower", 1, lower},
    {"upper", 1, upper},
    {"strip", 1, strip},
    {"split", 2, split},
    {"join", 2, join},
    {"replace", 3, replace},
};

bool holo_script_words(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    return holo_script_row(s, rows, HOLO_COUNT(rows), name, args, count, out);
}
