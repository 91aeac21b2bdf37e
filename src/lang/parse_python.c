// parse_python.c - a file of kernels in the Python dialect: imports, constants, the type variable, functions.

#include "lang/parse_python.h"
#include "lang/words.h"

#include <string.h>

typedef struct Marks { // decorators of the function that follows
    bool           is_inline, is_kernel;
    const char    *op_name;
    const HoloAst *lanes;
    int            block[3];
} Marks;

// ---- decorators

static HoloStatus block(HoloParser *p, int out[3])
{
    bool several = holo_parser_accept(p, "(");
    for (int i = 0; i < 3; i++) out[i] = 1;
    for (int i = 0; i < 3; i++) {
        HoloAst *value;
        HOLO_TRY(holo_python_expression(p, &value));
        HOLO_TRY(holo_parser_block_size(p, value, &out[i]));
        if (!several || !holo_parser_accept(p, ",")) break;
    }
    return several ? holo_parser_expect(p, ")", "a block has up to three sizes") : HOLO_OK;
}

// lanes="m * n": an expression as text, for files that Python itself reads, too: names are not defined yet where a mark
// is.
static HoloStatus lanes_text(HoloParser *p, HoloAst **out)
{
    HoloKernelSource text  = *p->source;
    HoloParser       inner = *p;
    HoloToken       *words;
    text.text = p->token->text;
    text.size = strlen(text.text);
    HOLO_TRY(holo_lex(p->arena, &text, HOLO_LEX_PYTHON, &words, p->error));
    for (HoloToken *w = words;; w++) {
        w->at = p->token->at; // where mistakes are shown
        if (w->kind == HOLO_TOKEN_END) break;
    }
    inner.token = words;
    HOLO_TRY(holo_python_expression(&inner, out));
    if (inner.token->kind != HOLO_TOKEN_LINE && inner.token->kind != HOLO_TOKEN_END)
        return holo_parser_fail(&inner, "as in: @kernel(lanes=\"m * n\")", "the expression should end here");
    p->nodes = inner.nodes;
    p->token++;
    return HOLO_OK;
}

static HoloStatus kernel_options(HoloParser *p, Marks *marks)
{
    while (!holo_parser_is(p, ")")) {
        bool is_lanes = holo_parser_is(p, "lanes"), is_operator = holo_parser_is(p, "operator");
        if (!is_lanes && !is_operator && !holo_parser_is(p, "block"))
            return holo_parser_fail(p, "as in: @kernel(lanes=m * n, block=256)",
                                    "lanes=, block= or operator= is expected here");
        p->token++;
        HOLO_TRY(holo_parser_expect(p, "=", "as in: @kernel(lanes=m * n, block=256)"));
        if (is_lanes) {
            HoloAst *value;
            bool     is_text = p->token->kind == HOLO_TOKEN_TEXT;
            HOLO_TRY(is_text ? lanes_text(p, &value) : holo_python_expression(p, &value));
            marks->lanes = value;
        } else if (is_operator) {
            if (p->token->kind != HOLO_TOKEN_TEXT || !*p->token->text)
                return holo_parser_fail(p, "as in: operator=\"my.domain::Name\"",
                                        "the name of an operator is expected here");
            marks->op_name = p->token++->text;
        } else {
            HOLO_TRY(block(p, marks->block));
        }
        if (!holo_parser_accept(p, ",")) break;
    }
    return holo_parser_expect(p, ")", "close the options with )");
}

static HoloStatus decorator(HoloParser *p, Marks *marks)
{
    if (holo_parser_accept(p, "inline")) {
        marks->is_inline = true;
    } else if (holo_parser_accept(p, "kernel") || holo_parser_accept(p, "atlas_kernel")) {
        marks->is_kernel = true;
        if (holo_parser_accept(p, "(")) HOLO_TRY(kernel_options(p, marks));
    } else {
        return holo_parser_fail(p, "@kernel marks a kernel, @inline a helper", "unknown mark");
    }
    if (marks->is_inline && marks->is_kernel)
        return holo_parser_fail(p, "remove one of the marks", "a function cannot be both a kernel and a helper");
    return holo_python_line_end(p);
}

// ---- functions

static HoloStatus param_type(HoloParser *p, HoloAstParam *param)
{
    if (!holo_parser_accept(p, "DeviceArray")) return holo_python_type(p, &param->dtype);
    param->is_array = true;
    HOLO_TRY(holo_parser_expect(p, "[", "say what its elements are: DeviceArray[f32]"));
    HOLO_TRY(holo_python_type(p, &param->dtype));
    return holo_parser_expect(p, "]", "as in: DeviceArray[f32]");
}

static HoloStatus param(HoloParser *p, bool is_inline, HoloAstParam *out)
{
    if (holo_parser_is(p, "*") || holo_parser_is(p, "**"))
        return holo_parser_fail(p, "write the parameters out", "a kernel has a fixed number of parameters");
    *out = (HoloAstParam){.place.at = p->token->at};
    HOLO_TRY(holo_parser_name(p, "the name of a parameter", &out->name));
    if (holo_parser_is_declared(p, out->name))
        return holo_parser_fail(p, "give each a name of its own", "two parameters are called '%.60s'", out->name);
    HOLO_TRY(holo_parser_declare(p, out->name));
    if (holo_parser_accept(p, ":"))
        HOLO_TRY(param_type(p, out));
    else if (!is_inline)
        return holo_parser_fail(p, "as in: a: DeviceArray[f32], n: u32", "the type of '%.60s' is missing", out->name);
    if (holo_parser_is(p, "="))
        return holo_parser_fail(p, "give every argument where it is called", "a parameter has no default");
    return HOLO_OK;
}

static HoloStatus params(HoloParser *p, HoloAstFunction *f)
{
    f->params = HOLO_NEW(p->arena, HoloAstParam, HOLO_LANG_PARAMS);
    if (!f->params) return holo_fail_memory(p->error);
    HOLO_TRY(holo_parser_expect(p, "(", "as in: def name(a: DeviceArray[f32], n: u32):"));
    while (!holo_parser_is(p, ")")) {
        if (f->param_count == HOLO_LANG_PARAMS)
            return holo_parser_fail(p, "pack numbers into an array", "more than %d parameters", HOLO_LANG_PARAMS);
        HOLO_TRY(param(p, f->is_inline, &f->params[f->param_count++]));
        if (!holo_parser_accept(p, ",")) break;
    }
    return holo_parser_expect(p, ")", "close the parameters with )");
}

static void note_type(const HoloParser *p, const HoloToken *from, HoloAstFunction *f)
{
    for (const HoloToken *t = from; p->type_name && t < p->token; t++) {
        if (t->kind != HOLO_TOKEN_NAME || strcmp(t->text, p->type_name)) continue;
        f->type_name = p->type_name;
        f->types     = p->types;
    }
}

static HoloStatus function(HoloParser *p, const Marks *marks, HoloAstModule *out, HoloAstFunction ***tail)
{
    const HoloToken *from = p->token;
    HoloAstFunction *f    = HOLO_NEW(p->arena, HoloAstFunction, 1);
    HoloAst         *list;
    uint8_t          ignored;
    if (!f) return holo_fail_memory(p->error);
    f->is_inline = marks->is_inline;
    f->lanes     = marks->lanes;
    f->op_name   = marks->op_name;
    memcpy(f->block, marks->block, sizeof f->block);
    f->place.at       = p->token->at;
    p->declared_count = 0;
    HOLO_TRY(holo_parser_name(p, "the name of the function", &f->name));
    HOLO_TRY(params(p, f));
    if (holo_parser_accept(p, "->") && !holo_parser_accept(p, "None")) HOLO_TRY(holo_python_type(p, &ignored));
    f->doc = "";
    HOLO_TRY(holo_python_block(p, &f->doc, &list));
    f->body = list;
    note_type(p, from, f);
    **tail = f;
    *tail  = &f->next;
    out->function_count++;
    return HOLO_OK;
}

// ---- the module

// from hologram import exp, DeviceArray: for editors and type checkers; each name must exist.
static HoloStatus import(HoloParser *p)
{
    if (!holo_parser_is(p, "hologram") && !holo_parser_is(p, "atlas_kernel"))
        return holo_parser_fail(p, "only names of the language: from hologram import DeviceArray, exp",
                                "nothing can be imported from here");
    p->token++;
    HOLO_TRY(holo_parser_expect(p, "import", NULL));
    if (holo_parser_accept(p, "*")) return holo_python_line_end(p);
    bool bracket = holo_parser_accept(p, "(");
    do {
        if (bracket && holo_parser_is(p, ")")) break;
        if (p->token->kind != HOLO_TOKEN_NAME || !holo_lang_is_word(p->token->text))
            return holo_parser_fail(p, "see docs/kernel-language.md for all names", "the language has no such name");
        p->token++;
    } while (holo_parser_accept(p, ","));
    if (bracket) HOLO_TRY(holo_parser_expect(p, ")", NULL));
    return holo_python_line_end(p);
}

// T = types(f32, f64), behind the "=".
static HoloStatus type_variable(HoloParser *p, const char *name)
{
    if (p->type_name) return holo_parser_fail(p, "one is enough for a file", "there is a type variable already");
    p->token += 2;
    do {
        uint8_t dtype;
        HOLO_TRY(holo_python_type(p, &dtype));
        p->types |= UINT32_C(1) << dtype;
    } while (holo_parser_accept(p, ","));
    HOLO_TRY(holo_parser_expect(p, ")", "as in: T = types(f32, f64)"));
    p->type_name = name;
    return holo_python_line_end(p);
}

static HoloStatus constant(HoloParser *p)
{
    const char *name = p->token->text;
    HoloAst    *value, *literal;
    p->token += 2;
    if (holo_parser_constant(p, name) || (p->type_name && !strcmp(name, p->type_name)))
        return holo_parser_fail(p, "a constant of a module has one value", "there is a '%.60s' already", name);
    if (holo_parser_is(p, "types") && !strcmp(p->token[1].text, "(")) return type_variable(p, name);
    p->declared_count = 0;
    HOLO_TRY(holo_python_expression(p, &value));
    HOLO_TRY(holo_parser_fold(p, value, &literal));
    HOLO_TRY(holo_parser_add_constant(p, name, literal));
    return holo_python_line_end(p);
}

static bool is_assignment(const HoloToken *t)
{
    return t->kind == HOLO_TOKEN_NAME && t[1].kind == HOLO_TOKEN_MARK && !strcmp(t[1].text, "=");
}

static HoloStatus item(HoloParser *p, Marks *marks, bool *marked, HoloAstModule *out, HoloAstFunction ***tail)
{
    if (holo_parser_accept(p, "@")) {
        *marked = true;
        return decorator(p, marks);
    }
    if (holo_parser_accept(p, "def")) {
        HOLO_TRY(function(p, marks, out, tail));
        *marks  = (Marks){0};
        *marked = false;
        return HOLO_OK;
    }
    if (*marked) return holo_parser_fail(p, "put a mark before 'def'", "a function is expected here");
    if (p->token->kind == HOLO_TOKEN_TEXT) {
        p->token++;
        return holo_python_line_end(p);
    }
    if (holo_parser_accept(p, "from")) return import(p);
    if (p->token->kind == HOLO_TOKEN_INDENT) return holo_parser_fail(p, NULL, "this line is indented too far");
    const char *advice = p->token->kind == HOLO_TOKEN_NAME ? holo_python_advice(p->token->text) : NULL;
    if (!advice && is_assignment(p->token)) return constant(p);
    return holo_parser_fail(p, advice ? advice : "a file has functions, constants (N = 16) and T = types(...)",
                            "this cannot stand outside of a function");
}

HoloStatus holo_parse_python(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out, HoloError *error)
{
    HoloParser        p      = {.arena = arena, .source = source, .error = error};
    Marks             marks  = {0};
    bool              marked = false;
    HoloAstFunction **tail   = &out->functions;
    *out                     = (HoloAstModule){.source = source};
    HOLO_TRY(holo_parser_open(&p, HOLO_LEX_PYTHON));
    while (p.token->kind != HOLO_TOKEN_END) HOLO_TRY(item(&p, &marks, &marked, out, &tail));
    if (marked) return holo_parser_fail(&p, "put a mark before 'def'", "a function is expected here");
    if (!out->functions)
        return holo_parser_fail(&p, "write one: def name(a: DeviceArray[f32], n: u32):", "there is no kernel");
    return HOLO_OK;
}
