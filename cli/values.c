// values.c - counts distinct values of each constant of an archive, and what storing equal constants once has saved.
//
// Values are compared by their bits: 0 and -0 are different. For packed weights it counts the stored words, including
// zeros between them; for weights that are codes, the numbers that these stand for.
#include "values.h"

#include <inttypes.h>
#include <string.h>

enum { DISTINCT_MAX = 1 << 16 }; // beyond this, values are not counted

typedef struct Set { // of words
    uint64_t *slot;
    bool     *used;
    size_t    room, count;
} Set;

static void set_add(Set *set, uint64_t word)
{
    size_t at = (size_t)((word ^ word >> 29) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (set->room - 1);
    while (set->used[at] && set->slot[at] != word) at = (at + 1) & (set->room - 1);
    set->count += !set->used[at];
    set->used[at] = true;
    set->slot[at] = word;
}

// Bytes of an element as it is stored.
static size_t width_of(const HoloConstant *c)
{
    size_t size = holo_dtype_size((HoloDtype)c->dtype);
    while (c->is_packed && size > 1 && c->count && c->bytes / c->count < size) size /= 2;
    return size;
}

// How many; DISTINCT_MAX + 1: more than that. 0: strings, and other types without a width.
static size_t distinct(Set *set, const HoloConstant *c)
{
    enum { BOOK = 16 }; // numbers before codes
    size_t width = c->is_coded ? sizeof(float) : width_of(c), count = width ? (size_t)c->bytes / width : 0;
    if (c->is_coded) count = BOOK;
    if (c->dtype == HOLO_STRING || !c->tensor.data || width > sizeof(uint64_t)) return 0;
    memset(set->used, 0, set->room * sizeof *set->used);
    set->count = 0;
    for (size_t i = 0; i < count && set->count <= DISTINCT_MAX; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)c->tensor.data + i * width, width);
        set_add(set, word);
    }
    // The zeros that packing adds do not count if the constant has as many other values.
    return set->count <= DISTINCT_MAX && set->count > c->count ? (size_t)c->count : set->count;
}

static Set set_make(void)
{
    Set set  = {.room = 4 * DISTINCT_MAX};
    set.slot = cli_take(set.room, sizeof *set.slot);
    set.used = cli_take(set.room, sizeof *set.used);
    return set;
}

// What constants that are used several times would take if they were stored each time, and what the compiler left out
// before.
static uint64_t saved_bytes(const HoloModel *model, uint64_t *out_count)
{
    HoloNote note;
    uint64_t bytes = 0;
    *out_count     = 0;
    for (int i = 0; holo_model_note(model, i, &note); i++)
        if (note.verdict == HOLO_VERDICT_MADE && (!strcmp(note.pass, "cse") || !strcmp(note.pass, "plan"))) {
            *out_count += note.count;
            bytes += note.bytes;
        }
    return bytes;
}

static const char *distinct_text(size_t many, const HoloConstant *c)
{
    if (!many) return "-";
    if (many > DISTINCT_MAX) return cli_format("more than %d", DISTINCT_MAX);
    return cli_format("%zu of %" PRIu64, many, c->count);
}

void cli_values_print(const HoloModel *model)
{
    Set          set = set_make();
    HoloConstant c;
    CliText      type, bytes;
    uint64_t     count;
    printf("\n%svalues%s\n  %-40s %-22s %10s  %-22s %s\n", cli_color(stdout, "bold"), cli_color(stdout, "reset"),
           "constant", "type", "size", "distinct values", "used");
    for (int i = 0; holo_model_constant(model, i, &c); i++) {
        HoloTensor t = c.tensor;
        if (c.is_packed) t = (HoloTensor){.dtype = c.dtype, .rank = 1, .dim = {(int64_t)c.count}};
        printf("  %s%-40s%s %-22s %10s  %-22s %u time%s%s\n", cli_color(stdout, "cyan"),
               *c.name ? c.name : "(an attribute)", cli_color(stdout, "reset"), cli_type(&type, &t, NULL),
               cli_bytes(&bytes, (double)c.bytes), distinct_text(distinct(&set, &c), &c), c.uses,
               c.uses == 1 ? "" : "s",
               c.is_coded    ? ", packed, codes of 4 bits"
               : c.is_packed ? ", packed"
                             : "");
    }
    uint64_t saved = saved_bytes(model, &count);
    printf("  %" PRIu64 " constant%s equal to another; storing each once saves %s\n", count,
           count == 1 ? " is" : "s are", cli_bytes(&bytes, (double)saved));
}

void cli_values_json(Json *json, const HoloModel *model)
{
    Set          set = set_make();
    HoloConstant c;
    uint64_t     count, saved = saved_bytes(model, &count);
    json_open(json, "values", '[');
    for (int i = 0; holo_model_constant(model, i, &c); i++) {
        size_t many = distinct(&set, &c);
        json_open(json, NULL, '{');
        json_text(json, "name", c.name);
        json_text(json, "dtype", holo_dtype_name((HoloDtype)c.dtype));
        json_int(json, "count", (int64_t)c.count);
        json_int(json, "bytes", (int64_t)c.bytes);
        json_int(json, "distinct", many > DISTINCT_MAX ? -1 : (int64_t)many);
        json_int(json, "uses", c.uses);
        json_bool(json, "packed", c.is_packed);
        json_bool(json, "coded", c.is_coded);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_int(json, "equal", (int64_t)count);
    json_int(json, "equal_bytes", (int64_t)saved);
}
