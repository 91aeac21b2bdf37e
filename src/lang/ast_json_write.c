// ast_json_write.c - writes kernels as JSON. jansson keeps failures: a NULL anywhere makes the call that takes it fail,
// and `ok` becomes false.
#include "lang/ast_json.h"

#include <jansson.h>
#include <stdlib.h>

#define SLOT(node, field) (*(const HoloAst *const *)((const char *)(node) + (field)->to))

typedef struct Writer {
    HoloArena  *arena;
    bool        ok;
    const char *type_name, *wide_name;
} Writer;

static json_t *node_json(Writer *w, const HoloAst *node);

static void put(Writer *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value)) w->ok = false;
}

static json_t *list_json(Writer *w, const HoloAst *list)
{
    json_t *array = json_array();
    for (; list; list = list->next)
        if (json_array_append_new(array, node_json(w, list))) w->ok = false;
    return array;
}

static const char *type_text(const Writer *w, uint8_t dtype)
{
    return dtype == HOLO_TYPE_VAR ? w->type_name : dtype == HOLO_TYPE_WIDE ? w->wide_name : holo_dtype_name(dtype);
}

static json_t *type_json(Writer *w, bool is_array, uint8_t dtype)
{
    json_t *type = json_object();
    put(w, type, "kind", json_string(is_array ? "device_array" : "scalar"));
    if (is_array)
        put(w, type, "element_type", type_json(w, false, dtype));
    else
        put(w, type, "type", json_string(type_text(w, dtype)));
    return type;
}

static json_t *value_json(const HoloAst *node)
{
    switch (node->literal) {
    case HOLO_LITERAL_INT: return json_integer(node->integer);
    case HOLO_LITERAL_FLOAT: return json_real(node->number);
    case HOLO_LITERAL_BOOL: return json_boolean(node->integer);
    default: return json_string(node->name);
    }
}

static json_t *field_json(Writer *w, const HoloAstField *f, const HoloAst *node)
{
    switch (f->kind) {
    case HOLO_FIELD_EXPRESSION: return node_json(w, SLOT(node, f));
    case HOLO_FIELD_NULLABLE: return SLOT(node, f) ? node_json(w, SLOT(node, f)) : json_null();
    case HOLO_FIELD_ELSE: return SLOT(node, f) ? list_json(w, SLOT(node, f)) : json_null();
    case HOLO_FIELD_LIST:
    case HOLO_FIELD_BLOCK: return list_json(w, SLOT(node, f));
    case HOLO_FIELD_NAME: return json_string(node->name);
    case HOLO_FIELD_OP: return json_string(holo_ast_op_names[node->op]);
    case HOLO_FIELD_VALUE: return value_json(node);
    case HOLO_FIELD_TYPE:
    case HOLO_FIELD_OPTIONAL_TYPE: return type_json(w, false, node->dtype);
    case HOLO_FIELD_SPACE: break;
    }
    return json_string(node->shared ? "shared" : "local");
}

static json_t *node_json(Writer *w, const HoloAst *node)
{
    json_t *object = json_object();
    put(w, object, "type", json_string(holo_ast_kind_names[node->kind]));
    for (int i = 0; i < holo_ast_field_count; i++) {
        const HoloAstField *f = &holo_ast_fields[i];
        if (f->node != (HoloAstKind)node->kind) continue;
        if (f->kind == HOLO_FIELD_OPTIONAL_TYPE && node->dtype == HOLO_NONE) continue;
        put(w, object, f->key, field_json(w, f, node));
    }
    return object;
}

static json_t *params_json(Writer *w, const HoloAstFunction *f)
{
    json_t *array = json_array();
    for (int i = 0; i < f->param_count; i++) {
        json_t *param = json_object();
        put(w, param, "name", json_string(f->params[i].name));
        if (f->params[i].dtype != HOLO_NONE)
            put(w, param, "type", type_json(w, f->params[i].is_array, f->params[i].dtype));
        if (json_array_append_new(array, param)) w->ok = false;
    }
    return array;
}

static json_t *types_json(Writer *w, const HoloAstFunction *f)
{
    json_t *types = json_object(), *list = json_array();
    for (int d = 0; d < HOLO_DTYPE_COUNT; d++)
        if (f->types >> d & 1 && json_array_append_new(list, json_string(holo_dtype_name(d)))) w->ok = false;
    put(w, types, f->type_name, list);
    return types;
}

static json_t *function_json(Writer *w, const HoloAstFunction *f)
{
    json_t *entry = json_object(), *kernel = json_object();
    w->type_name = f->type_name ? f->type_name : "";
    w->wide_name = holo_arena_format(w->arena, "widen(%s)", w->type_name);
    if (!w->wide_name) w->ok = false;
    put(w, kernel, "name", json_string(f->name));
    if (*f->doc) put(w, kernel, "doc", json_string(f->doc));
    if (f->is_inline) put(w, kernel, "inline", json_true());
    if (f->types) put(w, kernel, "types", types_json(w, f));
    put(w, kernel, "params", params_json(w, f));
    if (f->op_name) put(w, kernel, "operator", json_string(f->op_name));
    if (f->lanes) put(w, kernel, "lanes", node_json(w, f->lanes));
    if (f->block[0]) put(w, kernel, "block", json_pack("[iii]", f->block[0], f->block[1], f->block[2]));
    put(w, kernel, "body", list_json(w, f->body));
    put(w, entry, "version", json_string("1.0"));
    put(w, entry, "kernel", kernel);
    return entry;
}

const char *holo_ast_to_json(HoloArena *arena, const HoloAstModule *module)
{
    Writer  w     = {.arena = arena, .ok = true};
    json_t *array = json_array();
    for (const HoloAstFunction *f = module->functions; f; f = f->next)
        if (json_array_append_new(array, function_json(&w, f))) w.ok = false;
    const json_t *top  = json_array_size(array) == 1 ? json_array_get(array, 0) : array;
    char         *text = w.ok ? json_dumps(top, JSON_INDENT(2)) : NULL;
    const char   *out  = text ? holo_arena_format(arena, "%s\n", text) : NULL;
    free(text);
    json_decref(array);
    return out;
}
