// script_eval.c - expressions and statements of TorchScript, traced: what is known is computed, the rest becomes nodes.
#include "import/torch/script.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 2000 };

void holo_script_fail(HoloScript *s, const HoloScriptFrame *frame, int line, const char *format, ...)
{
    char    text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->t->e->node = NULL;
    holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "%s, line %d: %s", frame ? frame->file : "the script", line, text);
}

// ---- variables

void holo_script_assign(HoloScript *s, HoloScriptVar *place, HoloTv value)
{
    bool is_noted = !s->t->depth;
    for (int i = 0; i < s->change_count && !is_noted; i++) is_noted = s->change[i].place == place;
    if (!is_noted) {
        if (!HOLO_GROW(s->t->arena, s->change, s->change_count, s->change_room)) {
            holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
            return;
        }
        s->change[s->change_count++] = (HoloScriptChange){place, *place};
    }
    *place = (HoloScriptVar){value, true};
}

static HoloScriptVar *variable(HoloScript *s, HoloScriptFrame *frame, HoloString name)
{
    HoloScriptVar *var = holo_name_map_find(&frame->names, name);
    if (var) return var;
    var = HOLO_NEW(s->t->arena, HoloScriptVar, 1);
    if (!var || !holo_name_map_set(&frame->names, s->t->arena, name, var))
        return holo_emit_fail(s->t->e, HOLO_NO_MEMORY, "there is not enough memory");
    return var;
}

void holo_script_set(HoloScript *s, HoloScriptFrame *frame, HoloString name, HoloTv value)
{
    HoloScriptVar *var = variable(s, frame, name);
    if (var) holo_script_assign(s, var, value);
}

// ---- names

static HoloTv dotted(HoloScript *s, HoloString before, HoloString name)
{
    char *text = holo_arena_format(s->t->arena, "%.*s.%.*s", (int)before.size, before.data, (int)name.size, name.data);
    if (!text || !holo_torch_step(s->t, 1)) return (HoloTv){0};
    return (HoloTv){.kind = HOLO_TORCH_NAME, .s = {text, strlen(text)}};
}

static HoloTv name_of(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    const HoloScriptVar *var = holo_name_map_find(&frame->names, node->text);
    if (var && var->is_set) return var->value;
    if (var)
        holo_script_fail(s, frame, node->line, "the variable %.*s has a value in only one branch",
                         HOLO_IMPORT_ARG(node->text));
    if (holo_script_text_is(node->text, "inf")) return holo_tv_float(INFINITY);
    if (holo_script_text_is(node->text, "nan")) return holo_tv_float(NAN);
    return (HoloTv){.kind = HOLO_TORCH_NAME, .s = node->text};
}

static HoloTv constant_of(HoloScript *s, HoloString name)
{
    int index = 0;
    for (size_t i = 1; i < name.size && index < 1 << 20; i++) index = index * 10 + (name.data[i] - '0');
    if (!s->constants || name.size < 2 || index < 0 || index >= s->constants->count) {
        holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "the constant %.*s is not in the file", HOLO_IMPORT_ARG(name));
        return (HoloTv){0};
    }
    char  *path  = holo_arena_format(s->t->arena, "constants.%.*s", (int)name.size, name.data);
    HoloTv value = path ? holo_script_value(s, s->constants->item[index], "constants", path) : (HoloTv){0};
    if (value.kind == HOLO_TORCH_TENSOR && holo_emit_rank(value.tensor->value) == 0) value.tensor->is_literal = true;
    return value;
}

static HoloTv attribute(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv base = holo_script_eval(s, frame, node->child[0]);
    if (s->t->e->status) return (HoloTv){0};
    if (base.kind == HOLO_TORCH_NAME) {
        if (holo_script_text_is(base.s, "CONSTANTS")) return constant_of(s, node->text);
        if (holo_script_text_is(base.s, "math") && holo_script_text_is(node->text, "inf"))
            return holo_tv_float(INFINITY);
        return dotted(s, base.s, node->text);
    }
    if (base.kind == HOLO_TORCH_OBJECT) {
        const HoloScriptVar *attr = holo_script_attr(s, base.object, node->text);
        if (attr) return attr->value;
        return (HoloTv){.kind = HOLO_TORCH_METHOD, .self = base.object, .method = node->text};
    }
    if (base.kind == HOLO_TORCH_UNKNOWN) return base;
    if (base.kind == HOLO_TORCH_TENSOR) { // x.dtype and the like
        char *name = holo_arena_format(s->t->arena, "prim.%.*s", (int)node->text.size, node->text.data);
        return name ? holo_script_builtin(s, frame, name, &base, NULL, 1, node->line) : (HoloTv){0};
    }
    holo_script_fail(s, frame, node->line, "%s has no attribute %.*s", holo_tv_kind(&base),
                     HOLO_IMPORT_ARG(node->text));
    return (HoloTv){0};
}

// ---- expressions

static HoloTv list_of(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node, HoloTorchKind kind)
{
    HoloTv out = holo_tv_list(s->t, kind, 0, NULL);
    for (int i = 0; i < node->count && !s->t->e->status; i++)
        holo_tv_append(s->t, out.list, holo_script_eval(s, frame, node->child[i]));
    return out;
}

static const struct {
    const char *sign, *name;
} signs[] = {
    {"+", "add"},
    {"-", "sub"},
    {"*", "mul"},
    {"/", "div"},
    {"//", "floordiv"},
    {"%", "remainder"},
    {"**", "pow"},
    {"@", "matmul"},
    {"==", "eq"},
    {"!=", "ne"},
    {"<", "lt"},
    {"<=", "le"},
    {">", "gt"},
    {">=", "ge"},
    {"&", "__and__"},
    {"|", "__or__"},
    {"^", "__xor__"},
    {"<<", "__lshift__"},
    {">>", "__rshift__"},
    {"is", "__is__"},
    {"is not", "__isnot__"},
    {"in", "__contains__"},
};

// `and` and `or` look at the second operand only if they have to.
static HoloTv logic(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node, bool is_and)
{
    HoloTv     both[2] = {holo_script_eval(s, frame, node->child[0])};
    HoloValue *value;
    int        known = holo_script_truth(s, both[0], &value);
    if (s->t->e->status) return (HoloTv){0};
    if (known >= 0 && known != is_and) return both[0];
    both[1] = holo_script_eval(s, frame, node->child[1]);
    if (known >= 0 || s->t->e->status) return both[1];
    HoloTv out = {0};
    for (int i = 0; i < 2; i++) {
        HoloTv one = both[i];
        holo_torch_numbers(s->t, "Bool", &one, 1, &both[i]);
    }
    holo_torch_numbers(s->t, is_and ? "and_" : "or_", both, 2, &out);
    return out;
}

static HoloTv binary(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    bool is_and = holo_script_text_is(node->text, "and"), is_turned = holo_script_text_is(node->text, "not in");
    if (is_and || holo_script_text_is(node->text, "or")) return logic(s, frame, node, is_and);
    HoloTv args[2] = {holo_script_eval(s, frame, node->child[0]), holo_script_eval(s, frame, node->child[1])};
    if (s->t->e->status) return (HoloTv){0};
    if (is_turned || holo_script_text_is(node->text, "in")) {
        HoloTv turned[2] = {args[1], args[0]},
               out       = holo_script_builtin(s, frame, "__contains__", turned, NULL, 2, node->line);
        return is_turned ? holo_script_builtin(s, frame, "__not__", &out, NULL, 1, node->line) : out;
    }
    bool is_equal = holo_script_text_is(node->text, "=="), is_other = holo_script_text_is(node->text, "!=");
    if ((is_equal || is_other) && (args[0].kind == HOLO_TORCH_TEXT) != (args[1].kind == HOLO_TORCH_TEXT))
        return holo_tv_bool(is_other); // a text and something else
    for (int i = 0; i < HOLO_COUNT(signs); i++)
        if (holo_script_text_is(node->text, signs[i].sign))
            return holo_script_builtin(s, frame, signs[i].name, args, NULL, 2, node->line);
    holo_script_fail(s, frame, node->line, "the sign %.*s", HOLO_IMPORT_ARG(node->text));
    return (HoloTv){0};
}

static HoloTv unary(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv x = holo_script_eval(s, frame, node->child[0]);
    if (holo_script_text_is(node->text, "+") || s->t->e->status) return x;
    const char *name = holo_script_text_is(node->text, "-")   ? "neg"
                       : holo_script_text_is(node->text, "~") ? "bitwise_not"
                                                              : "__not__";
    return holo_script_builtin(s, frame, name, &x, NULL, 1, node->line);
}

static HoloTv index_of(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv base = holo_script_eval(s, frame, node->child[0]);
    if (s->t->e->status || base.kind == HOLO_TORCH_UNKNOWN) return base;
    if (base.kind == HOLO_TORCH_NAME || base.kind == HOLO_TORCH_TYPE) return (HoloTv){.kind = HOLO_TORCH_TYPE};
    if (node->child[1]->kind == HOLO_SCRIPT_SLICE) {
        const HoloScriptNode *slice   = node->child[1];
        HoloTv                args[5] = {base, holo_tv_int(0)};
        int                   skip    = base.kind == HOLO_TORCH_TENSOR ? 2 : 1;
        for (int i = 0; i < 3; i++) args[skip + i] = holo_script_eval(s, frame, slice->child[i]);
        return s->t->e->status ? (HoloTv){0} : holo_script_builtin(s, frame, "slice", args, NULL, skip + 3, node->line);
    }
    return holo_script_item(s, base, holo_script_eval(s, frame, node->child[1]));
}

static HoloTv each_of(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloTv list = holo_tv_list(s->t, HOLO_TORCH_LIST, 0, NULL);
    if (s->t->e->status || node->count < 1) return list;
    holo_script_set(s, frame, node->text, list);
    holo_script_flow(s, frame, node->child[0]);
    return list;
}

static HoloTv eval(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    switch (node->kind) {
    case HOLO_SCRIPT_NAME: return name_of(s, frame, node);
    case HOLO_SCRIPT_INT: return holo_tv_int(node->i);
    case HOLO_SCRIPT_FLOAT: return holo_tv_float(node->f);
    case HOLO_SCRIPT_IMAGINARY: return holo_tv_complex(s->t, holo_tv_float(0), holo_tv_float(node->f));
    case HOLO_SCRIPT_TEXT: return (HoloTv){.kind = HOLO_TORCH_TEXT, .s = node->text};
    case HOLO_SCRIPT_TRUE: return holo_tv_bool(true);
    case HOLO_SCRIPT_FALSE: return holo_tv_bool(false);
    case HOLO_SCRIPT_NONE: return (HoloTv){0};
    case HOLO_SCRIPT_ATTR: return attribute(s, frame, node);
    case HOLO_SCRIPT_CALL: return holo_script_call(s, frame, node);
    case HOLO_SCRIPT_INDEX: return index_of(s, frame, node);
    case HOLO_SCRIPT_LIST: return list_of(s, frame, node, HOLO_TORCH_LIST);
    case HOLO_SCRIPT_EACH: return each_of(s, frame, node);
    case HOLO_SCRIPT_TUPLE: return list_of(s, frame, node, HOLO_TORCH_TUPLE);
    case HOLO_SCRIPT_DICT: return list_of(s, frame, node, HOLO_TORCH_DICT);
    case HOLO_SCRIPT_UNARY: return unary(s, frame, node);
    case HOLO_SCRIPT_BINARY: return binary(s, frame, node);
    case HOLO_SCRIPT_CHOICE: return holo_script_choice(s, frame, node);
    default: holo_script_fail(s, frame, node->line, "an expression of this kind is not supported"); return (HoloTv){0};
    }
}

static bool enter(HoloScript *s)
{
    if (s->depth >= DEPTH_MAX)
        holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "the script calls itself, or is nested too deep");
    if (!holo_torch_step(s->t, 1)) return false;
    s->depth++;
    return true;
}

HoloTv holo_script_eval(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    if (!enter(s)) return (HoloTv){0};
    HoloTv out = eval(s, frame, node);
    s->depth--;
    return out;
}

// ---- statements

static void unpack(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *target, HoloTv value)
{
    value = holo_script_plain(s, value);
    for (int i = 0; i < target->count && value.kind == HOLO_TORCH_UNKNOWN; i++)
        holo_script_target(s, frame, target->child[i], value);
    if (value.kind == HOLO_TORCH_UNKNOWN) return;
    if (!holo_tv_is_list(&value) || value.list->sequence || value.list->count != target->count) {
        holo_script_fail(s, frame, target->line, "%s cannot be unpacked into %d variables", holo_tv_kind(&value),
                         target->count);
        return;
    }
    for (int i = 0; i < target->count && !s->t->e->status; i++)
        holo_script_target(s, frame, target->child[i], value.list->item[i]);
}

// A number of an object that changes becomes a state when the script is imported again.
static void set_attribute(HoloScript *s, HoloTorchObject *object, HoloString name, HoloTv value)
{
    HoloTorch     *t    = s->t;
    HoloScriptVar *attr = holo_script_attr(s, object, name);
    if (!attr) {
        attr = HOLO_NEW(t->arena, HoloScriptVar, 1);
        if (!attr || !holo_name_map_set(&object->attrs, t->arena, name, attr)) {
            holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
            return;
        }
    }
    char *path = object->path ? holo_arena_format(t->arena, "%s%.*s", object->path, (int)name.size, name.data) : NULL;
    if (path && attr->is_set && holo_tv_is_number(&attr->value) && !holo_script_equal(&attr->value, &value) &&
        !holo_name_map_find(&t->changed, (HoloString){path, strlen(path)})) {
        s->is_again = true;
        if (!holo_name_map_set(&t->changed, t->arena, (HoloString){path, strlen(path)}, path))
            holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    }
    holo_script_assign(s, attr, value);
}

void holo_script_target(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *target, HoloTv value)
{
    if (s->t->e->status) return;
    if (target->kind == HOLO_SCRIPT_NAME) {
        holo_script_set(s, frame, target->text, value);
    } else if (target->kind == HOLO_SCRIPT_TUPLE || target->kind == HOLO_SCRIPT_LIST) {
        unpack(s, frame, target, value);
    } else if (target->kind == HOLO_SCRIPT_ATTR) {
        HoloTv object = holo_script_eval(s, frame, target->child[0]);
        if (object.kind == HOLO_TORCH_OBJECT)
            set_attribute(s, object.object, target->text, value);
        else
            holo_script_fail(s, frame, target->line, "an attribute of %s is set", holo_tv_kind(&object));
    } else if (target->kind == HOLO_SCRIPT_INDEX) {
        HoloTv args[3] = {holo_script_eval(s, frame, target->child[0]), holo_script_eval(s, frame, target->child[1]),
                          value};
        holo_script_builtin(s, frame, "_set_item", args, NULL, 3, target->line);
    } else {
        holo_script_fail(s, frame, target->line, "an assignment to this is not supported");
    }
}

static void assignment(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    if (node->text.size) { // +=
        HoloScriptNode operation = {.kind = HOLO_SCRIPT_BINARY, .line = node->line, .count = 2, .child = node->child};
        operation.text           = node->text;
        holo_script_target(s, frame, node->child[0], holo_script_eval(s, frame, &operation));
        return;
    }
    if (node->child[0]->kind == HOLO_SCRIPT_NAME) // what is made for it gets its name
        s->t->e->node = holo_arena_text(s->t->arena, node->child[0]->text.data, node->child[0]->text.size);
    holo_script_target(s, frame, node->child[0], holo_script_eval(s, frame, node->child[1]));
}

static void statement(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *node)
{
    HoloValue *value;
    switch (node->kind) {
    case HOLO_SCRIPT_ASSIGN: assignment(s, frame, node); break;
    case HOLO_SCRIPT_ANNOTATE:
        if (node->count > 2) holo_script_target(s, frame, node->child[0], holo_script_eval(s, frame, node->child[2]));
        break;
    case HOLO_SCRIPT_DO: holo_script_eval(s, frame, node->child[0]); break;
    case HOLO_SCRIPT_IF:
    case HOLO_SCRIPT_WHILE:
    case HOLO_SCRIPT_FOR: holo_script_flow(s, frame, node); break;
    case HOLO_SCRIPT_WITH: holo_script_block(s, frame, node->child[1]); break;
    case HOLO_SCRIPT_RETURN:
        holo_script_assign(s, &frame->result, node->count ? holo_script_eval(s, frame, node->child[0]) : (HoloTv){0});
        break;
    case HOLO_SCRIPT_ASSERT:
        if (!holo_script_truth(s, holo_script_eval(s, frame, node->child[0]), &value))
            holo_script_fail(s, frame, node->line, "an assertion of the model fails");
        break;
    case HOLO_SCRIPT_RAISE: s->is_raised = true; break;
    case HOLO_SCRIPT_PASS: break;
    default: holo_script_fail(s, frame, node->line, "a statement of this kind is not supported"); break;
    }
}

void holo_script_block(HoloScript *s, HoloScriptFrame *frame, const HoloScriptNode *block)
{
    if (block->kind != HOLO_SCRIPT_BLOCK) { // an elif
        statement(s, frame, block);
        return;
    }
    if (!enter(s)) return;
    for (int i = 0; i < block->count && !s->t->e->status && !frame->result.is_set && !s->is_raised; i++)
        statement(s, frame, block->child[i]);
    s->depth--;
}
