// pickle.c - runs the instructions of pickles, and checks what they made. See pickle.h.
//
// A pickle is a program for a stack. Each instruction is a byte, then an argument in one of a few forms; tables beside
// the instructions have a row for each.
#include "import/wire/pickle_step.h"

#include <string.h>

enum { HEIGHT_MAX = 256, STEPS_MAX = 1 << 24 };

// ---- the rest

static HoloStatus op_protocol(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    if (a->number <= 5) return HOLO_OK;
    return holo_fail(r->error, HOLO_UNSUPPORTED, "%s: this is a pickle of protocol %d; 0 to 5 can be read", r->in->file,
                     (int)a->number);
}

static HoloStatus op_frame(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)r, (void)a, (void)unused; // all of it is there
    return HOLO_OK;
}

static HoloStatus op_stop(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    r->is_over = true;
    if (r->mark_count || r->count != 1) return holo_pickle_wrong(r, "it does not end with one value");
    return HOLO_OK;
}

static HoloStatus op_refused(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    return holo_fail(r->error, HOLO_UNSUPPORTED,
                     "%s, byte %zu: the pickle needs something from the program that wrote it (an extension, or a "
                     "buffer beside it)",
                     r->in->file, r->begin);
}

static const HoloPickleRow rows_rest[] = {
    {0x80, op_protocol, 0, HOLO_PICKLE_NUMBER_1},
    {0x95, op_frame, 0, HOLO_PICKLE_NUMBER_8},
    {'.', op_stop, 0, HOLO_PICKLE_NOTHING},
    {0x82, op_refused, 0, HOLO_PICKLE_NUMBER_1},
    {0x83, op_refused, 0, HOLO_PICKLE_NUMBER_2},
    {0x84, op_refused, 0, HOLO_PICKLE_NUMBER_4},
    {0x97, op_refused, 0, HOLO_PICKLE_NOTHING},
    {0x98, op_refused, 0, HOLO_PICKLE_NOTHING},
    {0},
};

static const HoloPickleRow *const tables[] = {holo_pickle_rows_plain, holo_pickle_rows_stack, holo_pickle_rows_calls,
                                              rows_rest};

// ---- instructions and their arguments

static HoloStatus take(HoloPickleReader *r, uint64_t size, HoloString *out)
{
    if (!size) return *out = (HoloString){"", 0}, HOLO_OK;
    if (size > r->in->size - r->at) return holo_pickle_wrong(r, "it is cut off");
    *out = (HoloString){(const char *)r->in->bytes + r->at, (size_t)size};
    r->at += (size_t)size;
    return HOLO_OK;
}

static HoloStatus take_number(HoloPickleReader *r, int size, uint64_t *out)
{
    HoloString bytes = {0, false};
    HOLO_TRY(take(r, (uint64_t)size, &bytes));
    *out = 0;
    if (size) memcpy(out, bytes.data, (size_t)size);
    return HOLO_OK;
}

static HoloStatus take_line(HoloPickleReader *r, HoloString *out)
{
    size_t      left  = r->in->size - r->at;
    const char *begin = left ? (const char *)r->in->bytes + r->at : NULL,
               *end   = left ? memchr(begin, '\n', left) : NULL;
    if (!end) return holo_pickle_wrong(r, "it is cut off");
    *out = (HoloString){begin, (size_t)(end - begin)};
    if (out->size && end[-1] == '\r') out->size--;
    r->at += (size_t)(end - begin) + 1;
    return HOLO_OK;
}

static HoloStatus read_argument(HoloPickleReader *r, HoloPickleForm form, HoloPickleArgument *out)
{
    static const struct {
        int  number; // bytes
        bool has_text;
    } forms[] = {
        [HOLO_PICKLE_NUMBER_1] = {1, false}, [HOLO_PICKLE_NUMBER_2] = {2, false}, [HOLO_PICKLE_NUMBER_4] = {4, false},
        [HOLO_PICKLE_NUMBER_8] = {8, false}, [HOLO_PICKLE_SIGNED_4] = {4, false}, [HOLO_PICKLE_COUNTED_1] = {1, true},
        [HOLO_PICKLE_COUNTED_4] = {4, true}, [HOLO_PICKLE_COUNTED_8] = {8, true}, [HOLO_PICKLE_LINES_2] = {0, false},
    };
    uint64_t number = 0;
    *out            = (HoloPickleArgument){0};
    HOLO_TRY(take_number(r, forms[form].number, &number));
    out->number = form == HOLO_PICKLE_SIGNED_4 ? (int32_t)(uint32_t)number : (int64_t)number;
    if (forms[form].has_text) HOLO_TRY(take(r, number, &out->text));
    if (form == HOLO_PICKLE_LINE || form == HOLO_PICKLE_LINES_2) HOLO_TRY(take_line(r, &out->text));
    return form == HOLO_PICKLE_LINES_2 ? take_line(r, &out->more) : HOLO_OK;
}

static HoloStatus run(HoloPickleReader *r)
{
    const HoloPickleRow *row[256] = {0, false};
    for (int t = 0; t < HOLO_COUNT(tables); t++)
        for (const HoloPickleRow *a = tables[t]; a->code; a++) row[a->code] = a;
    while (!r->is_over) {
        HoloPickleArgument argument;
        uint64_t           code;
        r->begin = r->at;
        HOLO_TRY(take_number(r, 1, &code));
        if (!row[code]) return holo_pickle_wrong(r, "there is no such instruction");
        if (r->steps++ == STEPS_MAX) return holo_pickle_wrong(r, "it is too long");
        HOLO_TRY(read_argument(r, row[code]->form, &argument));
        HOLO_TRY(row[code]->run(r, &argument, row[code]->what));
    }
    return HOLO_OK;
}

// ---- the tree

// Sets the height of a value that is `depth` below the whole, and of all inside. Each is visited once. A height of -1
// is one that is being found.
static HoloStatus measure(HoloPickleReader *r, HoloPickle *value, int depth)
{
    int height = 0;
    if (value->height < 0) return holo_pickle_wrong(r, "a value contains itself");
    if (value->height + depth > HEIGHT_MAX || depth == HEIGHT_MAX)
        return holo_pickle_wrong(r, "its values are nested too deep");
    if (value->height) return HOLO_OK;
    value->height = -1;
    for (int i = 0; i <= value->count; i++) {
        HoloPickle *inner = i < value->count ? value->item[i] : value->state;
        if (!inner) continue;
        HOLO_TRY(measure(r, inner, depth + 1));
        if (inner->height > height) height = inner->height;
    }
    value->height = height + 1;
    return HOLO_OK;
}

HoloStatus holo_pickle_read(HoloArena *arena, const HoloPickleInput *input, const HoloPickle **out, size_t *out_used,
                            HoloError *error)
{
    HoloPickleReader r = {.arena = arena, .in = input, .error = error};
    if (!HOLO_GROW(arena, r.stack, r.count, r.room)) return holo_fail_memory(error);
    HOLO_TRY(run(&r));
    HOLO_TRY(measure(&r, r.stack[0], 0));
    *out      = r.stack[0];
    *out_used = r.at;
    return HOLO_OK;
}

bool holo_pickle_is_text(const HoloPickle *value, const char *text)
{
    size_t size = strlen(text);
    return value && (value->kind == HOLO_PICKLE_TEXT || value->kind == HOLO_PICKLE_NAME) && value->text.size == size &&
           !memcmp(value->text.data, text, size);
}

const HoloPickle *holo_pickle_find(const HoloPickle *dict, const char *key)
{
    for (int i = dict && dict->kind == HOLO_PICKLE_DICT ? dict->count - 2 : -1; i >= 0; i -= 2)
        if (holo_pickle_is_text(dict->item[i], key)) return dict->item[i + 1];
    return NULL;
}

const HoloPickle *holo_pickle_call(const HoloPickle *value, const char *name)
{
    bool is_call = value && value->kind == HOLO_PICKLE_OBJECT && holo_pickle_is_text(value->item[0], name);
    return is_call ? value->item[1] : NULL;
}
