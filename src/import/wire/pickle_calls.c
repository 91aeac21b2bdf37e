// pickle_calls.c - the instructions of pickles that name functions and classes, call them, and build objects: which here
// gives values that say so, and does nothing else.
#include "import/wire/pickle_step.h"

#include <string.h>

// Python's own containers, and what stands for plain data.
static const HoloPickleName plain[] = {
    {"collections.OrderedDict", HOLO_PICKLE_DICT, 0},
    {"collections.defaultdict", HOLO_PICKLE_DICT, 0},
    {"collections.Counter", HOLO_PICKLE_DICT, 0},
    {"builtins.dict", HOLO_PICKLE_DICT, 0},
    {"builtins.list", HOLO_PICKLE_LIST, 0},
    {"builtins.tuple", HOLO_PICKLE_TUPLE, 0},
    {"builtins.set", HOLO_PICKLE_SET, 0},
    {"builtins.frozenset", HOLO_PICKLE_SET, 0},
    {"builtins.object", HOLO_PICKLE_OBJECT, 0},
    {"builtins.int", HOLO_PICKLE_OBJECT, 0},
    {"builtins.float", HOLO_PICKLE_OBJECT, 0},
    {"builtins.bool", HOLO_PICKLE_OBJECT, 0},
    {"builtins.str", HOLO_PICKLE_OBJECT, 0},
    {"builtins.bytes", HOLO_PICKLE_OBJECT, 0},
    {"builtins.bytearray", HOLO_PICKLE_OBJECT, 0},
    {"builtins.complex", HOLO_PICKLE_OBJECT, 0},
    {"builtins.slice", HOLO_PICKLE_OBJECT, 0},
    {"builtins.range", HOLO_PICKLE_OBJECT, 0},
    {"copyreg._reconstructor", HOLO_PICKLE_OBJECT, 0},
    {"_codecs.encode", HOLO_PICKLE_OBJECT, 0},
    {0},
};

// Modules that Python 2 called otherwise.
static const struct {
    const char *then, *now;
} modules[] = {{"__builtin__", "builtins"}, {"copy_reg", "copyreg"}};

static const HoloPickleName *find_name(const HoloPickleName *row, HoloString name)
{
    for (; row && row->name; row++) {
        size_t size = strlen(row->name);
        bool   any  = size && row->name[size - 1] == '*';
        if (any ? name.size >= size - 1 && !memcmp(name.data, row->name, size - 1)
                : name.size == size && !memcmp(name.data, row->name, size))
            return row;
    }
    return NULL;
}

static HoloStatus make_name(HoloPickleReader *r, HoloString module, HoloString name, HoloPickle **out)
{
    for (int i = 0; i < HOLO_COUNT(modules); i++)
        if (module.size == strlen(modules[i].then) && !memcmp(module.data, modules[i].then, module.size))
            module = (HoloString){modules[i].now, strlen(modules[i].now)};
    HoloString all  = {.size = module.size + 1 + name.size};
    char      *text = holo_arena_take(r->arena, all.size + 1);
    if (!text) return holo_fail_memory(r->error);
    memcpy(text, module.data, module.size);
    text[module.size] = '.';
    memcpy(text + module.size + 1, name.data, name.size);
    all.data                  = text;
    const HoloPickleName *row = find_name(plain, all);
    if (!row) row = find_name(r->in->names, all);
    if (!row) row = find_name(r->in->more, all);
    if (!row)
        return holo_fail(r->error, HOLO_UNSUPPORTED,
                         "%s, byte %zu: it would run code: '%.200s' is not one of the names that weights need. If you "
                         "trust the file, load it in Python and save the weights as safetensors",
                         r->in->file, r->begin, text);
    HOLO_TRY(holo_pickle_make(r, HOLO_PICKLE_NAME, NULL, 0, out));
    (*out)->text = all;
    (*out)->row  = row;
    return HOLO_OK;
}

static HoloStatus op_global(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)unused;
    HoloPickle *name;
    HOLO_TRY(make_name(r, a->text, a->more, &name));
    return holo_pickle_push(r, name);
}

static HoloStatus op_stack_global(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    HoloPickle **two, *name;
    HOLO_TRY(holo_pickle_pop(r, 2, &two));
    if (two[0]->kind != HOLO_PICKLE_TEXT || two[1]->kind != HOLO_PICKLE_TEXT)
        return holo_pickle_wrong(r, "a name is not a text");
    HOLO_TRY(make_name(r, two[0]->text, two[1]->text, &name));
    return holo_pickle_push(r, name);
}

static bool has_items(const HoloPickle *value)
{
    return value->kind == HOLO_PICKLE_LIST || value->kind == HOLO_PICKLE_TUPLE || value->kind == HOLO_PICKLE_SET;
}

// Adds what a container is made of: another dict, or pairs; or, if it is no dict, items.
static HoloStatus fill(HoloPickleReader *r, HoloPickle *to, const HoloPickle *from)
{
    if (to->kind == HOLO_PICKLE_DICT && from->kind == HOLO_PICKLE_DICT)
        return holo_pickle_add(r, to, from->item, from->count);
    if (!has_items(from)) return HOLO_OK; // the first argument of defaultdict
    if (to->kind != HOLO_PICKLE_DICT) return holo_pickle_add(r, to, from->item, from->count);
    for (int i = 0; i < from->count; i++) {
        if (!has_items(from->item[i]) || from->item[i]->count != 2)
            return holo_pickle_wrong(r, "a dict is not made of pairs");
        HOLO_TRY(holo_pickle_add(r, to, from->item[i]->item, 2));
    }
    return HOLO_OK;
}

// `parts`: what is called, its arguments, and for an object perhaps more.
static HoloStatus call(HoloPickleReader *r, HoloPickle *const *parts, int count)
{
    HoloPickle *made, *name = parts[0], *args = parts[1];
    if (name->kind != HOLO_PICKLE_NAME) return holo_pickle_wrong(r, "it calls something that is not a name");
    if (args->kind != HOLO_PICKLE_TUPLE) return holo_pickle_wrong(r, "the arguments of a call are not a tuple");
    HoloPickleKind gives = name->row->gives;
    if (gives == HOLO_PICKLE_OBJECT) {
        HOLO_TRY(holo_pickle_make(r, gives, parts, count, &made));
        return holo_pickle_push(r, made);
    }
    HOLO_TRY(holo_pickle_make(r, gives, NULL, 0, &made));
    for (int i = 0; i < args->count; i++) HOLO_TRY(fill(r, made, args->item[i]));
    return holo_pickle_push(r, made);
}

static HoloStatus op_call(HoloPickleReader *r, const HoloPickleArgument *a, int count)
{
    (void)a;
    HoloPickle **top, *parts[3] = {0};
    HOLO_TRY(holo_pickle_pop(r, count, &top));
    memcpy(parts, top, (size_t)count * sizeof *parts); // the stack changes
    return call(r, parts, count);
}

// The arguments are behind the mark, and so is what is called if `is_inside`; otherwise its name is the argument.
static HoloStatus op_instance(HoloPickleReader *r, const HoloPickleArgument *a, int is_inside)
{
    HoloPickle **items, *parts[2];
    int          count;
    HOLO_TRY(holo_pickle_pop_marked(r, &items, &count));
    if (is_inside && !count) return holo_pickle_wrong(r, "it calls something that is not there");
    HOLO_TRY(holo_pickle_make(r, HOLO_PICKLE_TUPLE, items + is_inside, count - is_inside, &parts[1]));
    parts[0] = is_inside ? items[0] : NULL;
    if (!is_inside) HOLO_TRY(make_name(r, a->text, a->more, &parts[0]));
    return call(r, parts, 2);
}

static HoloStatus op_build(HoloPickleReader *r, const HoloPickleArgument *a, int unused)
{
    (void)a, (void)unused;
    HoloPickle **state, *top;
    HOLO_TRY(holo_pickle_pop(r, 1, &state));
    HOLO_TRY(holo_pickle_peek(r, &top));
    if (top->kind != HOLO_PICKLE_OBJECT && top->kind != HOLO_PICKLE_DICT)
        return holo_pickle_wrong(r, "it gives a state to something that has none");
    top->state = state[0];
    return HOLO_OK;
}

static HoloStatus op_persistent(HoloPickleReader *r, const HoloPickleArgument *a, int is_text)
{
    HoloPickle **id, *made;
    if (is_text) HOLO_TRY(holo_pickle_push_new(r, (HoloPickle){.kind = HOLO_PICKLE_TEXT, .text = a->text}));
    HOLO_TRY(holo_pickle_pop(r, 1, &id));
    HOLO_TRY(holo_pickle_make(r, HOLO_PICKLE_PERSISTENT, id, 1, &made));
    return holo_pickle_push(r, made);
}

const HoloPickleRow holo_pickle_rows_calls[] = {
    {'c', op_global, 0, HOLO_PICKLE_LINES_2},
    {0x93, op_stack_global, 0, HOLO_PICKLE_NOTHING},
    {'R', op_call, 2, HOLO_PICKLE_NOTHING},
    {0x81, op_call, 2, HOLO_PICKLE_NOTHING},
    {0x92, op_call, 3, HOLO_PICKLE_NOTHING},
    {'i', op_instance, false, HOLO_PICKLE_LINES_2},
    {'o', op_instance, true, HOLO_PICKLE_NOTHING},
    {'b', op_build, 0, HOLO_PICKLE_NOTHING},
    {'P', op_persistent, true, HOLO_PICKLE_LINE},
    {'Q', op_persistent, false, HOLO_PICKLE_NOTHING},
    {0},
};
