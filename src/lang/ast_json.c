// ast_json.c - reads kernels from their JSON form, by one table of the fields of each node.
//
// A key that is not in the table is refused with its path: otherwise it would be lost silently.
#include "lang/ast_json.h"
#include "lang/parser.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define ROW(node, key, kind, to)                                       \
    {                                                                  \
        HOLO_AST_##node, key, HOLO_FIELD_##kind, offsetof(HoloAst, to) \
    }
const HoloAstField holo_ast_fields[] = {
    ROW(VAR, "name", NAME, name),
    ROW(LITERAL, "value", VALUE, literal),
    ROW(BINARY, "op", OP, op),
    ROW(BINARY, "left", EXPRESSION, a),
    ROW(BINARY, "right", EXPRESSION, b),
    ROW(UNARY, "op", OP, op),
    ROW(UNARY, "operand", EXPRESSION, a),
    ROW(INDEX, "array", EXPRESSION, a),
    ROW(INDEX, "index", EXPRESSION, b),
    ROW(CALL, "function", NAME, name),
    ROW(CALL, "args", LIST, list),
    ROW(CHOICE, "condition", EXPRESSION, a),
    ROW(CHOICE, "then", EXPRESSION, b),
    ROW(CHOICE, "else", EXPRESSION, c),
    ROW(LET, "name", NAME, name),
    ROW(LET, "annotation", OPTIONAL_TYPE, dtype),
    ROW(LET, "value", EXPRESSION, b),
    ROW(ASSIGN, "target", EXPRESSION, a),
    ROW(ASSIGN, "value", EXPRESSION, b),
    ROW(IF, "condition", EXPRESSION, a),
    ROW(IF, "then_body", BLOCK, list),
    ROW(IF, "else_body", ELSE, other),
    ROW(FOR, "var", NAME, name),
    ROW(FOR, "start", EXPRESSION, a),
    ROW(FOR, "stop", EXPRESSION, b),
    ROW(FOR, "step", EXPRESSION, c),
    ROW(FOR, "body", BLOCK, list),
    ROW(WHILE, "condition", EXPRESSION, a),
    ROW(WHILE, "body", BLOCK, list),
    ROW(RETURN, "value", NULLABLE, a),
    ROW(ARRAY, "name", NAME, name),
    ROW(ARRAY, "space", SPACE, shared),
    ROW(ARRAY, "element_type", TYPE, dtype),
    ROW(ARRAY, "size", EXPRESSION, a),
    ROW(MAP_UNARY, "input", EXPRESSION, a),
    ROW(MAP_UNARY, "output", EXPRESSION, b),
    ROW(MAP_UNARY, "operation", NAME, name),
    ROW(MAP_UNARY, "count", EXPRESSION, c),
    ROW(MAP_BINARY, "input_a", EXPRESSION, a),
    ROW(MAP_BINARY, "input_b", EXPRESSION, b),
    ROW(MAP_BINARY, "output", EXPRESSION, c),
    ROW(MAP_BINARY, "operation", NAME, name),
    ROW(MAP_BINARY, "count", EXPRESSION, d),
    ROW(REDUCE, "input", EXPRESSION, a),
    ROW(REDUCE, "output", EXPRESSION, b),
    ROW(REDUCE, "operation", NAME, name),
    ROW(REDUCE, "count", EXPRESSION, c),
};
#undef ROW
const int holo_ast_field_count = HOLO_COUNT(holo_ast_fields);

static const HoloAstField *field_find(HoloAstKind node, const char *key)
{
    for (int i = 0; i < holo_ast_field_count; i++)
        if (holo_ast_fields[i].node == node && !strcmp(holo_ast_fields[i].key, key)) return &holo_ast_fields[i];
    return NULL;
}

#define SLOT(node, field) (*(const HoloAst **)((char *)(node) + (field)->to))

// ---- reading

typedef struct Reader {
    HoloParser p;
    int        depth;
} Reader;

#define REFUSE(r, advice, ...) \
    holo_source_fail((r)->p.source, (HoloSourcePlace){.path = (r)->p.path}, advice, (r)->p.error, __VA_ARGS__)

static HoloStatus expression(Reader *r, const json_t *json, HoloAst **out);
static HoloStatus node(Reader *r, const json_t *json, bool statement, HoloAst **out);

// Goes one step into the text; pair it with leave().
static HoloStatus enter(Reader *r, const char *key, int index)
{
    HoloPath *path = HOLO_NEW(r->p.arena, HoloPath, 1);
    if (!path) return holo_fail_memory(r->p.error);
    *path     = (HoloPath){r->p.path, key, index};
    r->p.path = path;
    return HOLO_OK;
}

static void leave(Reader *r)
{
    r->p.path = r->p.path->parent;
}

static HoloStatus read_text(Reader *r, const json_t *json, const char **out)
{
    if (!json_is_string(json)) return REFUSE(r, NULL, "expected a string here");
    *out = holo_arena_text(r->p.arena, json_string_value(json), json_string_length(json));
    return *out ? HOLO_OK : holo_fail_memory(r->p.error);
}

static HoloStatus read_name(Reader *r, const json_t *json, const char **out)
{
    HOLO_TRY(read_text(r, json, out));
    size_t size = strlen(*out), ok = 0;
    for (; ok < size; ok++) {
        char c      = (*out)[ok];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (ok == 0 || c < '0' || c > '9')) break;
    }
    if (!size || ok < size || size > HOLO_LANG_NAME)
        return REFUSE(r, "a name is made of letters, digits and _", "this is not a name");
    return HOLO_OK;
}

static HoloStatus read_scalar(Reader *r, const json_t *json, uint8_t *out)
{
    const char *name;
    HOLO_TRY(read_text(r, json, &name));
    const char *type = r->p.type_name;
    size_t      size = type ? strlen(type) : 0;
    bool wide = type && !strncmp(name, "widen(", 6) && !strncmp(name + 6, type, size) && !strcmp(name + 6 + size, ")");
    *out      = wide ? HOLO_TYPE_WIDE : type && !strcmp(name, type) ? HOLO_TYPE_VAR : (uint8_t)holo_lang_type(name);
    return *out != HOLO_NONE ? HOLO_OK : REFUSE(r, NULL, "there is no type '%.60s'", name);
}

// Fails for a key that is not in the list, which ends with NULL.
static HoloStatus only(Reader *r, const json_t *json, const char *const *keys)
{
    if (!json_is_object(json)) return REFUSE(r, NULL, "an object is expected here");
    for (void *i = json_object_iter((json_t *)json); i; i = json_object_iter_next((json_t *)json, i)) {
        const char        *key = json_object_iter_key(i);
        const char *const *k   = keys;
        while (*k && strcmp(*k, key)) k++;
        if (!*k) return REFUSE(r, "remove it: unknown keys are errors", "there is no key '%.60s' here", key);
    }
    return HOLO_OK;
}

// {kind: "scalar", type} or {kind: "device_array", element_type: {...}}.
static HoloStatus read_type(Reader *r, const json_t *json, bool *is_array, uint8_t *out)
{
    static const char *const scalar[] = {"kind", "type", NULL}, *const array[] = {"kind", "element_type", NULL};
    const char *kind = json_string_value(json_object_get(json, "kind"));
    if (kind && !strcmp(kind, "device_ptr"))
        return REFUSE(r, "write {\"kind\": \"device_array\", \"element_type\": ...}",
                      "a pointer needs an element type");
    bool arrays = kind && !strcmp(kind, "device_array");
    if (!kind || (!arrays && strcmp(kind, "scalar")) || (arrays && !is_array))
        return REFUSE(r, NULL, "a type of kind scalar%s is expected here", is_array ? " or device_array" : "");
    HOLO_TRY(only(r, json, arrays ? array : scalar));
    if (is_array) *is_array = arrays;
    HOLO_TRY(enter(r, arrays ? "element_type" : "type", 0));
    if (arrays)
        HOLO_TRY(read_type(r, json_object_get(json, "element_type"), NULL, out));
    else
        HOLO_TRY(read_scalar(r, json_object_get(json, "type"), out));
    leave(r);
    return HOLO_OK;
}

static HoloStatus read_value(Reader *r, const json_t *json, HoloAst *out)
{
    out->literal = json_is_integer(json)   ? HOLO_LITERAL_INT
                   : json_is_boolean(json) ? HOLO_LITERAL_BOOL
                   : json_is_string(json)  ? HOLO_LITERAL_TEXT
                                           : HOLO_LITERAL_FLOAT;
    out->integer = json_is_integer(json) ? json_integer_value(json) : json_is_true(json);
    out->number  = json_real_value(json);
    if (out->literal == HOLO_LITERAL_TEXT) return read_text(r, json, &out->name);
    if (out->literal == HOLO_LITERAL_FLOAT && !json_is_real(json))
        return REFUSE(r, NULL, "expected a number, true, false or a string here");
    return HOLO_OK;
}

static HoloStatus read_op(Reader *r, const json_t *json, bool unary, uint8_t *out)
{
    const char *name;
    HOLO_TRY(read_text(r, json, &name));
    for (int op = 0; op < HOLO_AST_OPS; op++) {
        if (strcmp(holo_ast_op_names[op], name) || (op >= HOLO_OP_UNARY_FIRST) != unary) continue;
        *out = (uint8_t)op;
        return HOLO_OK;
    }
    return REFUSE(r, NULL, "there is no %s operator '%.60s'", unary ? "unary" : "binary", name);
}

static HoloStatus read_list(Reader *r, const json_t *json, bool statements, const HoloAst **out)
{
    HoloAstList list = {0};
    if (!json_is_array(json)) return REFUSE(r, NULL, "a list is expected here");
    for (size_t i = 0; i < json_array_size(json); i++) {
        HoloAst *one;
        HOLO_TRY(enter(r, NULL, (int)i));
        HOLO_TRY(node(r, json_array_get(json, i), statements, &one));
        leave(r);
        holo_parser_append(&list, one);
    }
    *out = list.first;
    return HOLO_OK;
}

static HoloStatus read_field(Reader *r, const HoloAstField *f, const json_t *json, HoloAst *out)
{
    HoloAst *child;
    switch (f->kind) {
    case HOLO_FIELD_NULLABLE:
        if (json_is_null(json)) return HOLO_OK;
        // fall through
    case HOLO_FIELD_EXPRESSION:
        HOLO_TRY(expression(r, json, &child));
        SLOT(out, f) = child;
        return HOLO_OK;
    case HOLO_FIELD_ELSE:
        if (json_is_null(json)) return HOLO_OK;
        // fall through
    case HOLO_FIELD_BLOCK:
    case HOLO_FIELD_LIST: return read_list(r, json, f->kind != HOLO_FIELD_LIST, &SLOT(out, f));
    case HOLO_FIELD_NAME: return read_name(r, json, &out->name);
    case HOLO_FIELD_OP: return read_op(r, json, out->kind == HOLO_AST_UNARY, &out->op);
    case HOLO_FIELD_VALUE: return read_value(r, json, out);
    case HOLO_FIELD_TYPE:
    case HOLO_FIELD_OPTIONAL_TYPE: return read_type(r, json, NULL, &out->dtype);
    case HOLO_FIELD_SPACE: break;
    }
    const char *space = json_string_value(json);
    out->shared       = space && !strcmp(space, "shared");
    if (!space || (!out->shared && strcmp(space, "local")))
        return REFUSE(r, NULL, "\"shared\" or \"local\" is expected here");
    return HOLO_OK;
}

static HoloStatus read_fields(Reader *r, const json_t *json, HoloAst *out)
{
    for (void *i = json_object_iter((json_t *)json); i; i = json_object_iter_next((json_t *)json, i)) {
        const char *key = json_object_iter_key(i);
        if (!strcmp(key, "type")) continue;
        const HoloAstField *f = field_find(out->kind, key);
        if (!f)
            return REFUSE(r, "remove it: unknown keys are errors", "'%s' has no '%.60s'",
                          holo_ast_kind_names[out->kind], key);
        HOLO_TRY(enter(r, f->key, 0));
        HOLO_TRY(read_field(r, f, json_object_iter_value(i), out));
        leave(r);
    }
    for (int i = 0; i < holo_ast_field_count; i++) {
        const HoloAstField *f = &holo_ast_fields[i];
        bool                may_leave =
            f->kind == HOLO_FIELD_OPTIONAL_TYPE || f->kind == HOLO_FIELD_ELSE || f->kind == HOLO_FIELD_NULLABLE;
        if (f->node == (HoloAstKind)out->kind && !may_leave && !json_object_get(json, f->key))
            return REFUSE(r, NULL, "'%s' needs '%s'", holo_ast_kind_names[out->kind], f->key);
    }
    return HOLO_OK;
}

static HoloStatus node(Reader *r, const json_t *json, bool statement, HoloAst **out)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    if (!type)
        return REFUSE(r, NULL, "an object with a \"type\" is expected here, as {\"type\": \"%s\", ...}",
                      statement ? "let" : "var");
    HoloAst one = {.kind = HOLO_AST_KINDS};
    for (int k = 0; k < HOLO_AST_KINDS; k++)
        if (!strcmp(holo_ast_kind_names[k], type)) one.kind = (uint8_t)k;
    bool is_statement = one.kind > HOLO_AST_CHOICE || (statement && one.kind == HOLO_AST_CALL);
    if (one.kind == HOLO_AST_KINDS || is_statement != statement)
        return REFUSE(r, NULL, "'%.60s' is no %s", type, statement ? "statement" : "expression");
    if (++r->depth > HOLO_LANG_HEIGHT) return REFUSE(r, NULL, "this nests deeper than %d", HOLO_LANG_HEIGHT);
    HOLO_TRY(read_fields(r, json, &one));
    r->depth--;
    return holo_parser_node(&r->p, one, 0, out);
}

static HoloStatus expression(Reader *r, const json_t *json, HoloAst **out)
{
    if (!json_is_string(json)) return node(r, json, false, out);
    const char *name; // a name alone is a variable
    HOLO_TRY(read_name(r, json, &name));
    return holo_parser_node(&r->p, (HoloAst){.kind = HOLO_AST_VAR, .name = name}, 0, out);
}

static HoloStatus read_param(Reader *r, const json_t *json, bool is_inline, HoloAstParam *out)
{
    static const char *const keys[] = {"name", "type", NULL};
    HOLO_TRY(only(r, json, keys));
    out->place.path = r->p.path;
    HOLO_TRY(read_name(r, json_object_get(json, "name"), &out->name));
    const json_t *type = json_object_get(json, "type");
    if (!type && is_inline) return HOLO_OK;
    HOLO_TRY(enter(r, "type", 0));
    HOLO_TRY(read_type(r, type, &out->is_array, &out->dtype));
    leave(r);
    return HOLO_OK;
}

static HoloStatus read_params(Reader *r, const json_t *json, HoloAstFunction *f)
{
    size_t count = json_array_size(json);
    if (!json_is_array(json)) return REFUSE(r, NULL, "a list is expected here");
    if (count > HOLO_LANG_PARAMS) return REFUSE(r, NULL, "more than %d parameters", HOLO_LANG_PARAMS);
    f->params = HOLO_NEW(r->p.arena, HoloAstParam, count + 1);
    if (!f->params) return holo_fail_memory(r->p.error);
    for (size_t i = 0; i < count; i++) {
        HOLO_TRY(enter(r, NULL, (int)i));
        HOLO_TRY(read_param(r, json_array_get(json, i), f->is_inline, &f->params[i]));
        for (size_t k = 0; k < i; k++)
            if (!strcmp(f->params[k].name, f->params[i].name)) return REFUSE(r, NULL, "two parameters have one name");
        leave(r);
        f->param_count++;
    }
    return HOLO_OK;
}

// {"T": ["f32", "f64"]}
static HoloStatus read_types(Reader *r, const json_t *json, HoloAstFunction *f)
{
    if (json_object_size(json) != 1) return REFUSE(r, NULL, "one type variable is expected here: {\"T\": [\"f32\"]}");
    void *first  = json_object_iter((json_t *)json);
    f->type_name = holo_arena_text(r->p.arena, json_object_iter_key(first), strlen(json_object_iter_key(first)));
    if (!f->type_name) return holo_fail_memory(r->p.error);
    const json_t *list = json_object_iter_value(first);
    if (!json_is_array(list) || !json_array_size(list)) return REFUSE(r, NULL, "a list of types is expected here");
    for (size_t i = 0; i < json_array_size(list); i++) {
        uint8_t dtype;
        HOLO_TRY(enter(r, NULL, (int)i));
        HOLO_TRY(read_scalar(r, json_array_get(list, i), &dtype));
        leave(r);
        f->types |= UINT32_C(1) << dtype;
    }
    r->p.type_name = f->type_name;
    return HOLO_OK;
}

static HoloStatus read_block(Reader *r, const json_t *json, HoloAstFunction *f)
{
    if (!json_is_array(json) || json_array_size(json) != 3) return REFUSE(r, NULL, "three numbers are expected here");
    for (int i = 0; i < 3; i++) {
        json_int_t n = json_integer_value(json_array_get(json, (size_t)i));
        if (n < 1 || n > HOLO_LANG_BLOCK) return REFUSE(r, NULL, "a block has 1 to %d lanes", HOLO_LANG_BLOCK);
        f->block[i] = (int)n;
    }
    return HOLO_OK;
}

static HoloStatus lanes(Reader *r, const json_t *json, HoloAstFunction *f)
{
    HoloAst *value;
    HOLO_TRY(expression(r, json, &value));
    f->lanes = value;
    return HOLO_OK;
}

static HoloStatus read_doc(Reader *r, const json_t *json, HoloAstFunction *f)
{
    return read_text(r, json, &f->doc);
}
static HoloStatus read_operator(Reader *r, const json_t *json, HoloAstFunction *f)
{
    return read_text(r, json, &f->op_name);
}
static HoloStatus read_function_name(Reader *r, const json_t *json, HoloAstFunction *f)
{
    return read_name(r, json, &f->name);
}
static HoloStatus read_inline(Reader *r, const json_t *json, HoloAstFunction *f)
{
    if (!json_is_boolean(json)) return REFUSE(r, NULL, "true or false is expected here");
    f->is_inline = json_is_true(json);
    return HOLO_OK;
}
static HoloStatus read_body(Reader *r, const json_t *json, HoloAstFunction *f)
{
    HOLO_TRY(read_list(r, json, true, &f->body));
    r->p.declared_count = 0;
    for (int i = 0; i < f->param_count; i++) HOLO_TRY(holo_parser_declare(&r->p, f->params[i].name));
    return holo_parser_names(&r->p, f->body);
}

static HoloStatus read_function(Reader *r, const json_t *json, HoloAstFunction *f)
{
    static const char *const keys[] = {"name",     "doc",   "inline", "types", "params",
                                       "operator", "lanes", "block",  "body",  NULL};
    static HoloStatus (*const read[])(Reader *, const json_t *, HoloAstFunction *) = {
        read_function_name, read_doc, read_inline, read_types, read_params,
        read_operator,      lanes,    read_block,  read_body};
    static const bool needed[] = {true, false, false, false, true, false, false, false, true};
    HOLO_TRY(only(r, json, keys));
    f->doc         = "";
    r->p.type_name = NULL;
    for (int i = 0; keys[i]; i++) { // in this order: types before what uses them
        const json_t *value = json_object_get(json, keys[i]);
        if (!value && needed[i]) return REFUSE(r, NULL, "a kernel needs '%s'", keys[i]);
        if (!value) continue;
        HOLO_TRY(enter(r, keys[i], 0));
        HOLO_TRY(read[i](r, value, f));
        leave(r);
    }
    return HOLO_OK;
}

static HoloStatus read_entry(Reader *r, const json_t *json, HoloAstModule *out, HoloAstFunction ***tail)
{
    static const char *const keys[] = {"version", "kernel", NULL};
    HOLO_TRY(only(r, json, keys));
    const char *version = json_string_value(json_object_get(json, "version"));
    if (!version || strcmp(version, "1.0")) return REFUSE(r, NULL, "\"version\": \"1.0\" is expected here");
    HoloAstFunction *f = HOLO_NEW(r->p.arena, HoloAstFunction, 1);
    if (!f) return holo_fail_memory(r->p.error);
    HOLO_TRY(enter(r, "kernel", 0));
    f->place.path = r->p.path;
    HOLO_TRY(read_function(r, json_object_get(json, "kernel"), f));
    leave(r);
    **tail = f;
    *tail  = &f->next;
    out->function_count++;
    return HOLO_OK;
}

static HoloStatus read_module(Reader *r, const json_t *json, HoloAstModule *out)
{
    HoloAstFunction **tail = &out->functions;
    HOLO_TRY(enter(r, "", 0));
    if (!json_is_array(json)) return read_entry(r, json, out, &tail);
    for (size_t i = 0; i < json_array_size(json); i++) {
        HOLO_TRY(enter(r, NULL, (int)i));
        HOLO_TRY(read_entry(r, json_array_get(json, i), out, &tail));
        leave(r);
    }
    return out->functions ? HOLO_OK : REFUSE(r, NULL, "there is no kernel");
}

HoloStatus holo_parse_json(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out, HoloError *error)
{
    Reader       r = {.p = {.arena = arena, .source = source, .error = error}};
    json_error_t problem;
    *out = (HoloAstModule){.source = source};
    if (source->size > 16 * (size_t)HOLO_LANG_BYTES)
        return holo_fail(error, HOLO_BAD_MODEL, "%.200s: a source of %zu bytes; at most %d are allowed", source->name,
                         source->size, 16 * HOLO_LANG_BYTES);
    json_t *json = json_loadb(source->text, source->size, JSON_REJECT_DUPLICATES, &problem);
    if (!json)
        return holo_source_fail(source,
                                (HoloSourcePlace){.at = problem.position > 0 ? (uint32_t)problem.position - 1 : 0},
                                NULL, error, "this is not JSON: %s", problem.text);
    HoloStatus status = read_module(&r, json, out);
    json_decref(json);
    return status;
}
