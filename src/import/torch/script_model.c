// script_model.c - a TorchScript file as a graph: its objects, its inputs, and a call of forward.
#include "import/torch/script.h"

#include <stdio.h>
#include <string.h>

static const HoloPickleName names[] = {
    {"__torch__.*", HOLO_PICKLE_OBJECT, 0},
    {"torch.jit._pickle.*", HOLO_PICKLE_OBJECT, 0},
    {"torch.device", HOLO_PICKLE_OBJECT, 0},
    {"builtins.complex", HOLO_PICKLE_OBJECT, 0},
    {HOLO_CHECKPOINT_QUANTIZED, HOLO_PICKLE_OBJECT, 0},
    {"torch.QInt8Storage", HOLO_PICKLE_OBJECT, HOLO_I8},
    {"torch.QUInt8Storage", HOLO_PICKLE_OBJECT, HOLO_U8},
    {"torch.QInt32Storage", HOLO_PICKLE_OBJECT, HOLO_I32},
    {"torch.per_tensor_affine", HOLO_PICKLE_OBJECT, 0},
    {"torch.per_channel_affine", HOLO_PICKLE_OBJECT, 0},
    {0},
};

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

// ---- values of pickles

// An object that has a method which sets its attributes from what was stored.
static void restore(HoloScript *s, HoloTorchObject *object, const HoloPickle *state, const char *path)
{
    HoloScriptFunction function;
    HoloTv             self  = {.kind = HOLO_TORCH_OBJECT, .object = object};
    HoloTv             given = holo_script_value(s, state, "data", path);
    if (s->t->e->status || !object->type || !holo_script_method(object->type, string_of("__setstate__"), &function))
        return;
    holo_script_function(s, &function, &self, &given, NULL, 1);
}

static HoloTv object_of(HoloScript *s, const HoloPickle *p, const char *path)
{
    HoloTorch       *t = s->t;
    char             key[32];
    HoloTorchObject *object;
    snprintf(key, sizeof key, "%p", (const void *)p);
    if (!(object = holo_name_map_find(&s->objects, string_of(key)))) {
        char *kept = holo_arena_text(t->arena, key, strlen(key)),
             *name = holo_arena_text(t->arena, p->item[0]->text.data, p->item[0]->text.size);
        object     = HOLO_NEW(t->arena, HoloTorchObject, 1);
        if (!kept || !name || !object || !holo_name_map_set(&s->objects, t->arena, string_of(kept), object))
            return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory"), (HoloTv){0};
        object->type  = holo_script_class(s, name);
        object->path  = *path ? holo_arena_format(t->arena, "%s.", path) : "";
        object->state = p->state;
        if (p->state && p->state->kind != HOLO_PICKLE_DICT) restore(s, object, p->state, path);
    }
    return (HoloTv){.kind = HOLO_TORCH_OBJECT, .object = object};
}

static HoloTv items_of(HoloScript *s, const HoloPickle *p, HoloTorchKind kind, const char *folder, const char *path)
{
    HoloTv out = holo_tv_list(s->t, kind, 0, NULL);
    for (int i = 0; i < p->count && !s->t->e->status; i++) {
        char *name = holo_arena_format(s->t->arena, "%.200s.%d", path, i);
        holo_tv_append(s->t, out.list, name ? holo_script_value(s, p->item[i], folder, name) : (HoloTv){0});
    }
    return out;
}

// A call in a pickle: an object of the script, or a container with its type.
static HoloTv call_of(HoloScript *s, const HoloPickle *p, const char *folder, const char *path)
{
    HoloString name = p->item[0]->text;
    HoloTv     packed;
    if (holo_script_text_is(name, HOLO_CHECKPOINT_QUANTIZED)) return holo_script_quantized(s, p, folder, path);
    if (holo_script_packed(s, p, folder, path, &packed)) return packed;
    if (name.size >= 10 && !memcmp(name.data, "__torch__.", 10)) return object_of(s, p, path);
    if (holo_script_text_is(name, "torch.device")) return holo_tv_text("cpu");
    if (p->count > 1 && p->item[1]->count) return holo_script_value(s, p->item[1]->item[0], folder, path);
    holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "the attribute %.200s is a %.*s", path, HOLO_IMPORT_ARG(name));
    return (HoloTv){0};
}

static HoloTv tensor_of(HoloScript *s, const HoloPickle *p, const char *folder, const char *path)
{
    HoloTorch           *t = s->t;
    HoloCheckpointTensor tensor;
    char                 key[32];
    snprintf(key, sizeof key, "%p", (const void *)p);
    HoloTv *known = holo_name_map_find(&s->objects, string_of(key));
    if (known) return *known;
    t->e->status = holo_checkpoint_tensor(&t->file, folder, path, p, &tensor);
    HoloTv  v    = t->e->status ? (HoloTv){0} : holo_torch_weight(t, path, &tensor, true);
    char   *kept = holo_arena_text(t->arena, key, strlen(key));
    HoloTv *cell = HOLO_NEW(t->arena, HoloTv, 1);
    if (!kept || !cell || t->e->status) return v;
    *cell = v;
    if (!holo_name_map_set(&s->objects, t->arena, string_of(kept), cell))
        holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    return v;
}

// A number of an object that the script changes is a state.
static HoloTv number_of(HoloScript *s, HoloTv v, const char *path)
{
    HoloTorch *t = s->t;
    if (!holo_name_map_find(&t->changed, string_of(path))) return v;
    HoloDtype dtype = v.kind == HOLO_TORCH_FLOAT ? HOLO_F64 : v.kind == HOLO_TORCH_BOOL ? HOLO_BOOL : HOLO_I64;
    HoloTv    state = holo_torch_buffer(t, path, holo_torch_scalar(t, &v, dtype));
    if (t->e->status) return v;
    return (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = state.tensor->value};
}

HoloTv holo_script_value(HoloScript *s, const HoloPickle *p, const char *folder, const char *path)
{
    HoloTv none = {0};
    if (s->t->e->status || !holo_torch_step(s->t, 1)) return none;
    if (holo_checkpoint_is_tensor(p)) return tensor_of(s, p, folder, path);
    switch (p->kind) {
    case HOLO_PICKLE_NONE: return none;
    case HOLO_PICKLE_BOOL: return number_of(s, holo_tv_bool(p->integer), path);
    case HOLO_PICKLE_INT: return number_of(s, holo_tv_int(p->integer), path);
    case HOLO_PICKLE_FLOAT: return number_of(s, holo_tv_float(p->real), path);
    case HOLO_PICKLE_TEXT: return (HoloTv){.kind = HOLO_TORCH_TEXT, .s = p->text};
    case HOLO_PICKLE_LIST: return items_of(s, p, HOLO_TORCH_LIST, folder, path);
    case HOLO_PICKLE_TUPLE: return items_of(s, p, HOLO_TORCH_TUPLE, folder, path);
    case HOLO_PICKLE_DICT: return items_of(s, p, HOLO_TORCH_DICT, folder, path);
    case HOLO_PICKLE_OBJECT: return call_of(s, p, folder, path);
    default:
        holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "the attribute %.200s has a kind that is not supported", path);
        return none;
    }
}

HoloScriptVar *holo_script_attr(HoloScript *s, HoloTorchObject *object, HoloString name)
{
    HoloTorch     *t    = s->t;
    HoloScriptVar *attr = holo_name_map_find(&object->attrs, name);
    if (attr || t->e->status || !object->state || object->state->kind != HOLO_PICKLE_DICT) return attr;
    char             *text  = holo_arena_text(t->arena, name.data, name.size);
    const HoloPickle *value = text ? holo_pickle_find(object->state, text) : NULL;
    char             *path  = value ? holo_arena_format(t->arena, "%s%s", object->path, text) : NULL;
    if (!path) return NULL;
    attr = HOLO_NEW(t->arena, HoloScriptVar, 1);
    if (!attr || !holo_name_map_set(&object->attrs, t->arena, (HoloString){text, name.size}, attr))
        return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    // what it refers to is made in the graph itself, not in a body that may never run
    HoloEmit *e     = t->e;
    int       depth = t->depth;
    while (t->e->outer) t->e = t->e->outer;
    t->depth     = 0;
    attr->value  = holo_script_value(s, value, "data", path);
    attr->is_set = true;
    if (t->e->status && !e->status) e->status = t->e->status;
    t->e     = e;
    t->depth = depth;
    return attr;
}

// ---- inputs

typedef struct Guess { // of inputs that the file tells nothing about
    int       rank;
    HoloDtype dtype;
} Guess;

// First no guess: then sizes are those of the run. Many operators need at least the rank.
static const Guess guesses[] = {{-1, HOLO_F32}, {2, HOLO_F32}, {4, HOLO_F32}, {3, HOLO_F32},
                                {2, HOLO_I64},  {1, HOLO_F32}, {5, HOLO_F32}, {1, HOLO_I64}};

typedef struct Model {
    HoloScript         script;
    HoloTorch          torch;
    const HoloPickle  *root, *examples; // of a traced model: a list
    HoloScriptFunction forward;
    int                example; // the next one
    const Guess       *guess;
    bool               is_guessed;
    int                outputs;
} Model;

// The type of an example input, whose bytes are not in the file.
static bool example_type(const HoloPickle *p, HoloTensor *out)
{
    const HoloPickle *args = p ? holo_pickle_call(p, "torch._utils._rebuild_tensor_v2") : NULL;
    const HoloPickle *storage =
        args && args->count > 2 && args->item[0]->kind == HOLO_PICKLE_PERSISTENT ? args->item[0]->item[0] : NULL;
    if (!storage || storage->kind != HOLO_PICKLE_TUPLE || storage->count < 2 ||
        storage->item[1]->kind != HOLO_PICKLE_NAME || args->item[2]->kind != HOLO_PICKLE_TUPLE)
        return false;
    *out = (HoloTensor){.dtype = (uint8_t)storage->item[1]->row->what, .rank = args->item[2]->count};
    if (out->rank > HOLO_MAX_RANK || !out->dtype) return false;
    for (int i = 0; i < out->rank; i++) {
        if (args->item[2]->item[i]->kind != HOLO_PICKLE_INT || args->item[2]->item[i]->integer < 0) return false;
        out->dim[i] = args->item[2]->item[i]->integer;
    }
    return true;
}

// What the user says of an input; NULL: nothing.
static const HoloToldInput *told_of(const Model *m, const char *name)
{
    const HoloImport *im = m->torch.import;
    for (int i = 0; i < im->told_count; i++)
        if (!strcmp(im->told[i].name, name)) return &im->told[i];
    return NULL;
}

static HoloTv tensor_input(Model *m, const char *name, const HoloPickle *example)
{
    HoloTorch           *t    = &m->torch;
    const HoloToldInput *told = told_of(m, name);
    HoloTensor           type;
    bool                 has_example = example_type(example, &type);
    if (told || !has_example) {
        int         rank    = told ? told->type.rank : m->guess->rank;
        const char *learned = holo_name_map_find(&t->learned, string_of(name));
        HoloDtype   is      = learned ? (learned == holo_dtype_name(HOLO_I64) ? HOLO_I64 : HOLO_BOOL) : m->guess->dtype;
        type                = (HoloTensor){.dtype = has_example ? type.dtype : (uint8_t)is, .rank = rank};
        m->is_guessed       = !has_example;
        for (int i = 0; i < type.rank; i++) {
            char *symbol = holo_arena_format(t->arena, "%s_%d", name, i);
            type.dim[i]  = symbol ? holo_dims_symbol(t->e->graph->dims, symbol) : HOLO_DIM_UNKNOWN;
            if (told && told->type.dim[i] >= 0) type.dim[i] = told->type.dim[i];
        }
    }
    return holo_tv_tensor(t, holo_emit_input(t->e, name, &type));
}

static HoloTv number_input(Model *m, const char *name, HoloDtype dtype)
{
    HoloTensor type = {.dtype = (uint8_t)dtype};
    return (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = holo_emit_input(m->torch.e, name, &type)};
}

static bool is_word(const HoloScriptNode *type, const char *word)
{
    return type && type->kind == HOLO_SCRIPT_NAME && holo_script_text_is(type->text, word);
}

static HoloTv input_of(Model *m, const char *name, const HoloScriptNode *type, const HoloPickle *example, int depth);

static void add_key(Model *m, HoloTv *dict, const char *full, const HoloScriptNode *type, const HoloPickle *example,
                    int depth)
{
    HoloTorch *t   = &m->torch;
    HoloTv     key = holo_tv_text(full + strlen(dict->list->input) + 1);
    for (int i = 0; i + 1 < dict->list->count; i += 2)
        if (holo_script_equal(&dict->list->item[i], &key)) return;
    if (holo_tv_append(t, dict->list, key)) holo_tv_append(t, dict->list, input_of(m, full, type, example, depth + 1));
}

// A dict: its keys are those of the example, those that the user gives shapes of, and those that the script asks for.
static HoloTv dict_input(Model *m, const char *name, const HoloScriptNode *type, const HoloPickle *example, int depth)
{
    HoloTorch        *t    = &m->torch;
    const HoloImport *im   = t->import;
    HoloTv            dict = holo_tv_list(t, HOLO_TORCH_DICT, 0, NULL);
    size_t            size = strlen(name);
    if (t->e->status) return dict;
    dict.list->input = name;
    for (int i = 0; example && example->kind == HOLO_PICKLE_DICT && i + 1 < example->count && !t->e->status; i += 2) {
        const HoloPickle *key  = example->item[i];
        char             *full = key->kind == HOLO_PICKLE_TEXT
                                     ? holo_arena_format(t->arena, "%s.%.*s", name, HOLO_IMPORT_ARG(key->text))
                                     : NULL;
        if (full) add_key(m, &dict, full, type, example->item[i + 1], depth);
    }
    for (int i = 0; i < im->told_count && !t->e->status; i++)
        if (!strncmp(im->told[i].name, name, size) && im->told[i].name[size] == '.')
            add_key(m, &dict, im->told[i].name, type, NULL, depth);
    for (int i = 0; i < t->key_count && !t->e->status; i++)
        if (!strncmp(t->key[i], name, size) && t->key[i][size] == '.') add_key(m, &dict, t->key[i], type, NULL, depth);
    return dict;
}

// An input of a type as the code annotates it.
static HoloTv input_of(Model *m, const char *name, const HoloScriptNode *type, const HoloPickle *example, int depth)
{
    HoloTorch *t   = &m->torch;
    HoloTv     out = {0};
    if (t->e->status) return out;
    if (!type || is_word(type, "Tensor")) return tensor_input(m, name, example);
    if (is_word(type, "int")) return number_input(m, name, HOLO_I64);
    if (is_word(type, "float") || is_word(type, "number")) return number_input(m, name, HOLO_F64);
    if (is_word(type, "bool")) return number_input(m, name, HOLO_BOOL);
    if (type->kind == HOLO_SCRIPT_INDEX && depth < 4) {
        const HoloScriptNode *of = type->child[1];
        if (is_word(type->child[0], "Optional"))
            return example && example->kind != HOLO_PICKLE_NONE ? input_of(m, name, of, example, depth + 1) : out;
        if (is_word(type->child[0], "Dict") && of->kind == HOLO_SCRIPT_TUPLE && of->count == 2 &&
            is_word(of->child[0], "str"))
            return dict_input(m, name, of->child[1], example, depth);
        bool is_tuple = is_word(type->child[0], "Tuple"), is_list = is_word(type->child[0], "List");
        int  count = is_tuple             ? (of->kind == HOLO_SCRIPT_TUPLE ? of->count : 1)
                     : is_list && example ? example->count
                                          : 0;
        if (is_tuple || count) {
            out = holo_tv_list(t, is_tuple ? HOLO_TORCH_TUPLE : HOLO_TORCH_LIST, 0, NULL);
            for (int i = 0; i < count && i < 64 && !t->e->status; i++) {
                char             *own  = holo_arena_format(t->arena, "%s_%d", name, i);
                const HoloPickle *part = example && i < example->count ? example->item[i] : NULL;
                if (own)
                    holo_tv_append(t, out.list,
                                   input_of(m, own, is_tuple && of->kind == HOLO_SCRIPT_TUPLE ? of->child[i] : of, part,
                                            depth + 1));
            }
            return out;
        }
    }
    holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                   "the input %s is neither a tensor nor a number, nor a tuple, list or dict of these", name);
    return out;
}

// ---- outputs

static void add_outputs(Model *m, HoloTv v, const char *name, int depth)
{
    HoloTorch *t = &m->torch;
    v            = holo_script_plain(&m->script, v);
    if (t->e->status || v.kind == HOLO_TORCH_NONE || v.kind == HOLO_TORCH_TEXT) return;
    if (holo_tv_is_list(&v) && v.list->sequence) {
        holo_emit_output(t->e, v.list->sequence, name);
        m->outputs++;
        return;
    }
    if ((holo_tv_is_list(&v) || v.kind == HOLO_TORCH_DICT) && depth < 8) {
        int step = v.kind == HOLO_TORCH_DICT ? 2 : 1;
        for (int i = 0; i + step <= v.list->count && !t->e->status; i += step) {
            const HoloTv *key = &v.list->item[i];
            char         *own = step == 2 && key->kind == HOLO_TORCH_TEXT
                                    ? holo_arena_format(t->arena, "%.*s", (int)key->s.size, key->s.data)
                                    : holo_arena_format(t->arena, "%s_%d", name, i / step);
            if (own) add_outputs(m, v.list->item[i + step - 1], own, depth + 1);
        }
        return;
    }
    if (v.kind == HOLO_TORCH_COMPLEX) v = holo_tv_pairs(t, &v);
    holo_emit_output(t->e, holo_torch_value(t, &v), name);
    m->outputs++;
}

// ---- the model

static HoloStatus read_examples(Model *m)
{
    const void       *bytes;
    size_t            size;
    const HoloPickle *value, *list;
    HOLO_TRY(holo_checkpoint_entry(&m->torch.file, "traced_inputs.pkl", &bytes, &size));
    if (!bytes) return HOLO_OK;
    HOLO_TRY(holo_checkpoint_value(&m->torch.file, "traced_inputs.pkl", &value));
    for (int i = 0; i < 2; i++) // restore_type_tag(value, type)
        if (value->kind == HOLO_PICKLE_OBJECT && value->count > 1 && value->item[1]->count)
            value = value->item[1]->item[0];
    list = value->kind == HOLO_PICKLE_DICT ? holo_pickle_find(value, "forward") : NULL;
    if (list && list->kind == HOLO_PICKLE_OBJECT && list->count > 1 && list->item[1]->count)
        list = list->item[1]->item[0];
    if (list && (list->kind == HOLO_PICKLE_LIST || list->kind == HOLO_PICKLE_TUPLE)) m->examples = list;
    return HOLO_OK;
}

// How many parameters of the method become inputs. Numbers that have a default stay as they are, and so does what is
// behind them, which has a default, too.
static int given_count(const Model *m)
{
    const HoloScriptNode *def   = m->forward.def;
    int                   count = def->count - 2; // without self and the block
    for (int i = 0; i < count; i++) {
        const HoloScriptNode *p = def->child[i + 1], *type;
        if (p->kind != HOLO_SCRIPT_ASSIGN || p->child[0]->kind != HOLO_SCRIPT_ANNOTATE) continue;
        type = p->child[0]->child[1];
        bool is_number =
            is_word(type, "int") || is_word(type, "float") || is_word(type, "bool") || is_word(type, "str");
        if (is_number && (!m->examples || i >= m->examples->count)) return i;
    }
    return count;
}

static void run_forward(Model *m)
{
    HoloScript *s    = &m->script;
    HoloTorch  *t    = &m->torch;
    HoloTv      self = holo_script_value(s, m->root, "data", ""), *args;
    if (t->e->status) return;
    if (self.kind != HOLO_TORCH_OBJECT || !self.object->type ||
        !holo_script_method(self.object->type, string_of("forward"), &m->forward)) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "the script has no method forward");
        return;
    }
    const HoloScriptNode *def   = m->forward.def;
    int                   count = given_count(m);
    args                        = HOLO_NEW(t->arena, HoloTv, count > 0 ? count : 1);
    for (int i = 0; args && i < count && !t->e->status; i++) {
        const HoloScriptNode *p = def->child[i + 1], *type = NULL;
        if (p->kind == HOLO_SCRIPT_ASSIGN) p = p->child[0];
        if (p->kind == HOLO_SCRIPT_ANNOTATE) type = p->child[1], p = p->child[0];
        char *name = p->kind == HOLO_SCRIPT_NAME ? holo_arena_text(t->arena, p->text.data, p->text.size) : NULL;
        const HoloPickle *example = m->examples && i < m->examples->count ? m->examples->item[i] : NULL;
        if (name) args[i] = input_of(m, name, type, example, 0);
    }
    if (!args || t->e->status) return;
    HoloTv result = holo_script_function(s, &m->forward, &self, args, NULL, count > 0 ? count : 0);
    t->e->node    = NULL;
    add_outputs(m, result, "output", 0);
    if (!t->e->status && !m->outputs) holo_emit_fail(t->e, HOLO_BAD_MODEL, "the script gives nothing");
    for (int i = 0; i < t->state_count && !t->e->status; i++) { // attributes that were given another tensor
        HoloTorchState *state = &t->state[i];
        if (!state->tensor) continue;
        const char *point = strrchr(state->name, '.');
        HoloTv      owner = self;
        HoloString  rest  = string_of(state->name);
        while (owner.kind == HOLO_TORCH_OBJECT && memchr(rest.data, '.', rest.size)) {
            size_t               size = (size_t)((const char *)memchr(rest.data, '.', rest.size) - rest.data);
            const HoloScriptVar *next = holo_script_attr(s, owner.object, (HoloString){rest.data, size});
            owner                     = next ? next->value : (HoloTv){0};
            rest                      = (HoloString){rest.data + size + 1, rest.size - size - 1};
        }
        (void)point;
        const HoloScriptVar *now =
            owner.kind == HOLO_TORCH_OBJECT ? holo_name_map_find(&owner.object->attrs, rest) : NULL;
        if (!now) continue;
        if (now->value.kind == HOLO_TORCH_TENSOR) {
            state->tensor = now->value.tensor;
        } else if (holo_tv_is_number(&now->value)) {
            HoloTv fresh  = holo_tv_tensor(t, holo_torch_scalar(t, &now->value, holo_emit_dtype(state->constant)));
            state->tensor = fresh.tensor;
        }
    }
}

static HoloStatus import_once(Model *m, bool *out_is_again)
{
    HoloEmit       e;
    HoloNameMap    changed = m->torch.changed;
    HoloCheckpoint file    = m->torch.file;
    HoloImport    *import  = m->torch.import;
    holo_emit_begin(&e, import, "main");
    m->torch   = (HoloTorch){.changed   = changed,
                             .learned   = m->torch.learned,
                             .file      = file,
                             .key       = m->torch.key,
                             .key_count = m->torch.key_count,
                             .key_room  = m->torch.key_room};
    m->script  = (HoloScript){.t = &m->torch, .constants = m->script.constants};
    m->outputs = 0;
    if (!e.status) e.status = holo_torch_init(&m->torch, import, &e);
    m->torch.import   = import;
    m->torch.is_guess = !m->examples;
    if (!e.status) run_forward(m);
    *out_is_again      = !e.status && (holo_torch_states_end(&m->torch) || m->script.is_again);
    import->out->graph = e.graph;
    holo_emit_end(&e);
    return e.status;
}

static HoloStatus import_script(Model *m)
{
    bool       is_again = true;
    HoloStatus status   = HOLO_OK;
    for (int pass = 0, learned = 0; pass < 3 && is_again && !status; pass++) {
        status = import_once(m, &is_again);
        if (status == HOLO_UNSUPPORTED && m->torch.has_learned && learned++ < 64) {
            *m->torch.import->error = (HoloError){0};
            status = HOLO_OK, is_again = true, pass--;
        }
    }
    return status;
}

// Tries what inputs may be, if the file does not tell.
static HoloStatus import_guessing(Model *m)
{
    HoloError *error = m->torch.import->error, first = {0};
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < HOLO_COUNT(guesses); i++) {
        HoloError own          = {0};
        m->guess               = &guesses[i];
        m->is_guessed          = false;
        m->torch.import->error = &own;
        m->torch.file.error    = &own;
        m->torch.changed       = (HoloNameMap){0};
        status                 = import_script(m);
        m->torch.import->error = error;
        m->torch.file.error    = error;
        if (!i || (status && first.text[0] == 0)) first = own;
        bool is_endless = m->torch.steps > m->torch.steps_max; // whatever its inputs are
        if (!status || !m->is_guessed || is_endless || status == HOLO_NO_MEMORY) break;
    }
    if (!status && m->guess->rank >= 0 && m->is_guessed) {
        char *text = holo_arena_format(m->torch.arena, "%d dimensions of %s, because the script needs that many",
                                       m->guess->rank, holo_dtype_name(m->guess->dtype));
        if (text) return holo_import_fact(m->torch.import, "inputs_assumed", text);
    }
    return status ? holo_fail(error, first.status ? first.status : status, "%s", first.text) : HOLO_OK;
}

HoloStatus holo_script_open(HoloImport *im)
{
    Model      *m = HOLO_NEW(im->arena, Model, 1);
    const void *bytes;
    size_t      size;
    if (!m) return holo_fail_memory(im->error);
    m->torch.import = im;
    m->torch.arena  = im->arena;
    HOLO_TRY(holo_checkpoint_open_zip(im->arena, im->from->path ? holo_path_name(im->from->path) : "the model",
                                      im->from->file.data, im->from->file.size, names, &m->torch.file, im->error));
    HOLO_TRY(holo_checkpoint_value(&m->torch.file, "data.pkl", &m->root));
    HOLO_TRY(holo_checkpoint_entry(&m->torch.file, "constants.pkl", &bytes, &size));
    if (bytes && size) HOLO_TRY(holo_checkpoint_value(&m->torch.file, "constants.pkl", &m->script.constants));
    HOLO_TRY(read_examples(m));
    HOLO_TRY(import_guessing(m));
    HOLO_TRY(holo_checkpoint_entry(&m->torch.file, "version", &bytes, &size));
    int digits = 0;
    while (bytes && (size_t)digits < size && digits < 20 && ((const char *)bytes)[digits] > ' ') digits++;
    char *version = holo_arena_format(im->arena, "%.*s", digits, digits ? (const char *)bytes : "");
    return version ? holo_import_fact(im, "version", version) : HOLO_OK;
}
