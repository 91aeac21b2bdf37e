// script_call.c - calls: of methods and functions of the script, of its classes, and of operators.
#include "import/torch/script.h"

#include <stdio.h>
#include <string.h>

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

// ---- files, classes, functions

// The file that has the code of a module: "__torch__.a.b" is in code/__torch__/a/b.py. NULL: there is none.
static const HoloScriptNode *file_of(HoloScript *s, const char *module, const char **out_file)
{
    HoloTorch *t    = s->t;
    char      *path = holo_arena_format(t->arena, "code/%s.py", module);
    if (!path || t->e->status) return NULL;
    for (char *c = path + 5; c < path + strlen(path) - 3; c++)
        if (*c == '.') *c = '/';
    *out_file            = path;
    HoloScriptNode *tree = holo_name_map_find(&s->files, string_of(path));
    if (tree) return tree;
    const void *bytes;
    size_t      size;
    t->e->status = holo_checkpoint_entry(&t->file, path, &bytes, &size);
    if (t->e->status || !bytes) return NULL;
    t->e->status = holo_script_parse(t->arena, path, bytes, size, &tree, t->import->error);
    if (t->e->status) return NULL;
    if (!holo_name_map_set(&s->files, t->arena, string_of(path), tree))
        return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    return tree;
}

// A class or a function of a file.
static const HoloScriptNode *find_in(const HoloScriptNode *block, HoloScriptKind kind, HoloString name)
{
    for (int i = 0; block && i < block->count; i++)
        if (block->child[i]->kind == kind && block->child[i]->text.size == name.size &&
            !memcmp(block->child[i]->text.data, name.data, name.size))
            return block->child[i];
    return NULL;
}

static const HoloScriptNode *find_dotted(HoloScript *s, const char *name, HoloScriptKind kind, const char **out_file)
{
    const char *point  = strrchr(name, '.');
    char       *module = point ? holo_arena_text(s->t->arena, name, (size_t)(point - name)) : NULL;
    return module ? find_in(file_of(s, module, out_file), kind, string_of(point + 1)) : NULL;
}

static void read_fields(HoloScript *s, HoloScriptClass *type)
{
    const HoloScriptNode *bases = type->node->child[0], *block = type->node->child[1];
    for (int i = 0; i < bases->count; i++)
        type->is_tuple |=
            bases->child[i]->kind == HOLO_SCRIPT_NAME && holo_script_text_is(bases->child[i]->text, "NamedTuple");
    type->field = HOLO_NEW(s->t->arena, HoloString, block->count + 1);
    for (int i = 0; type->field && type->is_tuple && i < block->count; i++)
        if (block->child[i]->kind == HOLO_SCRIPT_ANNOTATE && block->child[i]->child[0]->kind == HOLO_SCRIPT_NAME)
            type->field[type->field_count++] = block->child[i]->child[0]->text;
}

HoloScriptClass *holo_script_class(HoloScript *s, const char *name)
{
    HoloScriptClass *type = holo_name_map_find(&s->classes, string_of(name));
    if (type || s->t->e->status) return type;
    type = HOLO_NEW(s->t->arena, HoloScriptClass, 1);
    if (!type || !holo_name_map_set(&s->classes, s->t->arena, string_of(name), type))
        return holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
    *type      = (HoloScriptClass){.name = name};
    type->node = find_dotted(s, name, HOLO_SCRIPT_CLASS, &type->file);
    if (type->node && type->node->count == 2) read_fields(s, type);
    return type;
}

bool holo_script_method(const HoloScriptClass *type, HoloString name, HoloScriptFunction *out)
{
    *out = (HoloScriptFunction){type->node ? find_in(type->node->child[1], HOLO_SCRIPT_DEF, name) : NULL, type->file};
    return out->def;
}

bool holo_script_find(HoloScript *s, const char *name, HoloScriptFunction *out)
{
    *out     = (HoloScriptFunction){0};
    out->def = find_dotted(s, name, HOLO_SCRIPT_DEF, &out->file);
    return out->def;
}

// ---- functions

// A parameter: its name, and its default, if it has one.
static HoloString parameter(const HoloScriptNode *node, const HoloScriptNode **out_default)
{
    *out_default = NULL;
    if (node->kind == HOLO_SCRIPT_ASSIGN) {
        *out_default = node->child[1];
        node         = node->child[0];
    }
    if (node->kind == HOLO_SCRIPT_ANNOTATE) node = node->child[0];
    return node->kind == HOLO_SCRIPT_NAME ? node->text : (HoloString){0};
}

static void bind_named(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *def, const HoloTv *args,
                       const char *const *names, int count)
{
    for (int i = 0; i < count && names; i++)
        if (names[i]) holo_script_set(s, frame, string_of(names[i]), args[i]);
    for (int i = 0; i + 1 < def->count && !s->t->e->status; i++) {
        const HoloScriptNode *given;
        HoloString            name = parameter(def->child[i], &given);
        if (holo_name_map_find(&frame->names, name)) continue;
        if (given)
            holo_script_set(s, frame, name, holo_script_eval(s, frame, given));
        else
            holo_script_fail(s, frame, def->line, "%.*s is called without %.*s", HOLO_IMPORT_ARG(def->text),
                             HOLO_IMPORT_ARG(name));
    }
}

HoloTv holo_script_function(HoloScript *s, const HoloScriptFunction *function, const HoloTv *self, const HoloTv *args,
                            const char *const *names, int count)
{
    const HoloScriptNode *def   = function->def, *given;
    HoloScriptFrame       frame = {.file = function->file};
    int                   place = 0;
    if (s->t->e->status) return (HoloTv){0};
    if (self && def->count > 1) holo_script_set(s, &frame, parameter(def->child[place++], &given), *self);
    for (int i = 0; i < count && !s->t->e->status; i++) {
        if (names && names[i]) continue;
        if (place + 1 >= def->count) {
            holo_script_fail(s, &frame, def->line, "%.*s is called with too many arguments",
                             HOLO_IMPORT_ARG(def->text));
            break;
        }
        holo_script_set(s, &frame, parameter(def->child[place++], &given), args[i]);
    }
    bind_named(s, &frame, def, args, names, count);
    if (!s->t->e->status) holo_script_block(s, &frame, def->child[def->count - 1]);
    return frame.result.value;
}

// ---- objects

static HoloTv new_object(HoloScript *s, const char *name)
{
    HoloTorchObject *object = HOLO_NEW(s->t->arena, HoloTorchObject, 1);
    if (!object) return holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory"), (HoloTv){0};
    object->type = holo_script_class(s, name);
    return (HoloTv){.kind = HOLO_TORCH_OBJECT, .object = object};
}

static void set_field(HoloScript *s, HoloTorchObject *object, HoloString name, HoloTv value)
{
    HoloScriptVar *attr = HOLO_NEW(s->t->arena, HoloScriptVar, 1);
    if (attr) *attr = (HoloScriptVar){value, true};
    if (!attr || !holo_name_map_set(&object->attrs, s->t->arena, name, attr))
        holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
}

HoloTv holo_script_plain(HoloScript *s, HoloTv v)
{
    if (v.kind != HOLO_TORCH_OBJECT || !v.object->type || !v.object->type->is_tuple) return v;
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_TUPLE, 0, NULL);
    for (int i = 0; i < v.object->type->field_count && !s->t->e->status; i++) {
        const HoloScriptVar *attr = holo_script_attr(s, v.object, v.object->type->field[i]);
        holo_tv_append(s->t, out.list, attr ? attr->value : (HoloTv){0});
    }
    return out;
}

// "__torch__.Net": makes an object; "__torch__.f": calls a function.
static HoloTv call_own(HoloScript *s, const HoloScriptFrame *frame, const char *name, const HoloTv *args,
                       const char *const *names, int count, int line)
{
    static const char  ending[] = ".__new__";
    HoloScriptFunction function;
    size_t             size = strlen(name), end = sizeof ending - 1;
    if (size > end && !strcmp(name + size - end, ending)) {
        char *type = holo_arena_text(s->t->arena, name, size - end);
        return type ? new_object(s, type) : (HoloTv){0};
    }
    if (holo_script_find(s, name, &function)) return holo_script_function(s, &function, NULL, args, names, count);
    HoloScriptClass *type = holo_script_class(s, name);
    if (!type || !type->node) {
        holo_script_fail(s, frame, line, "the code of %s is not in the file", name);
        return (HoloTv){0};
    }
    HoloTv object = new_object(s, name);
    if (type->is_tuple) {
        for (int i = 0; i < count && !s->t->e->status; i++) {
            if (names && names[i])
                set_field(s, object.object, string_of(names[i]), args[i]);
            else if (i < type->field_count)
                set_field(s, object.object, type->field[i], args[i]);
        }
        return object;
    }
    if (holo_script_method(type, string_of("__init__"), &function))
        holo_script_function(s, &function, &object, args, names, count);
    return object;
}

// ---- calls

// Words whose first argument is a type: the value is the second.
static bool call_typed(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node, HoloTv *out)
{
    const HoloScriptNode *callee = node->child[0];
    if (callee->kind != HOLO_SCRIPT_NAME || holo_name_map_find(&frame->names, callee->text)) return false;
    bool is_none = holo_script_text_is(callee->text, "uninitialized");
    if (!is_none && !holo_script_text_is(callee->text, "annotate") &&
        !holo_script_text_is(callee->text, "unchecked_cast"))
        return false;
    *out = is_none || node->count < 3 ? (HoloTv){.kind = HOLO_TORCH_NONE, .i = is_none}
                                      : holo_script_eval(s, frame, node->child[2]);
    return true;
}

static HoloTv call_method(HoloScript *s, HoloScriptFrame *frame, HoloTv callee, const HoloTv *args,
                          const char *const *names, int count, int line)
{
    HoloTv             self = {.kind = HOLO_TORCH_OBJECT, .object = callee.self};
    HoloScriptFunction function;
    if (holo_script_method(callee.self->type, callee.method, &function))
        return holo_script_function(s, &function, &self, args, names, count);
    if (holo_script_text_is(callee.method, "__init__") && !count) return (HoloTv){0};
    holo_script_fail(s, frame, line, "%s has no method %.*s", callee.self->type->name, HOLO_IMPORT_ARG(callee.method));
    return (HoloTv){0};
}

HoloTv holo_script_call(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv callee, out;
    if (call_typed(s, frame, node, &out)) return out;
    callee             = holo_script_eval(s, frame, node->child[0]);
    int          count = node->count - 1;
    HoloTv      *args  = HOLO_NEW(s->t->arena, HoloTv, count + 1);
    const char **names = HOLO_NEW(s->t->arena, const char *, count + 1);
    if (!args || !names) return holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory"), (HoloTv){0};
    for (int i = 0; i < count && !s->t->e->status; i++) {
        const HoloScriptNode *arg      = node->child[i + 1];
        bool                  is_named = arg->kind == HOLO_SCRIPT_KEYWORD;
        if (is_named) names[i] = holo_arena_text(s->t->arena, arg->text.data, arg->text.size);
        args[i] = holo_script_eval(s, frame, is_named ? arg->child[0] : arg);
    }
    if (s->t->e->status) return (HoloTv){0};
    if (callee.kind == HOLO_TORCH_METHOD) return call_method(s, frame, callee, args, names, count, node->line);
    if (callee.kind == HOLO_TORCH_OBJECT) {
        HoloTv method = {.kind = HOLO_TORCH_METHOD, .self = callee.object, .method = string_of("forward")};
        return call_method(s, frame, method, args, names, count, node->line);
    }
    if (callee.kind != HOLO_TORCH_NAME) {
        holo_script_fail(s, frame, node->line, "%s is called", holo_tv_kind(&callee));
        return (HoloTv){0};
    }
    char *name = holo_arena_text(s->t->arena, callee.s.data, callee.s.size);
    if (!name) return (HoloTv){0};
    if (!strncmp(name, "__torch__.", 10)) return call_own(s, frame, name, args, names, count, node->line);
    return holo_script_builtin(s, frame, name, args, names, count, node->line);
}
