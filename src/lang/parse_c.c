// parse_c.c - a file of kernels in the C dialect: constants, the type variable, helpers and kernels.
//
//     #define N 16
//     types T(float, double);
//     inline T square(T x) { return x * x; }
//     kernel lanes(n) block(256) void name(global const T *a, global T *b, int n) { ... }

#include "lang/parse_c.h"

#include <string.h>

typedef struct Module {
    HoloCParser       c;
    HoloAstModule    *out;
    HoloAstFunction **tail;
} Module;

// ---- functions

static HoloStatus param(HoloCParser *c, HoloAstParam *out)
{
    HoloParser *p = &c->p;
    const char *called;
    *out        = (HoloAstParam){.place.at = p->token->at};
    bool global = holo_parser_accept(p, "global") || holo_parser_accept(p, "__global");
    HOLO_TRY(holo_c_type(c, &out->dtype, &out->is_const));
    out->is_array = holo_parser_accept(p, "*");
    if (out->is_array) holo_parser_accept(p, "restrict");
    if (global && !out->is_array) return holo_parser_fail(p, "as in: global float *a", "only arrays can be global");
    HOLO_TRY(holo_parser_name(p, "the name of a parameter", &out->name));
    if (holo_parser_accept(p, "[")) {
        HOLO_TRY(holo_parser_expect(p, "]", "as in: float a[]"));
        out->is_array = true;
    }
    return holo_c_declare(c, out->name, out->is_const, &called);
}

static HoloStatus params(HoloCParser *c, HoloAstFunction *f)
{
    HoloParser *p = &c->p;
    f->params     = HOLO_NEW(p->arena, HoloAstParam, HOLO_LANG_PARAMS);
    if (!f->params) return holo_fail_memory(p->error);
    HOLO_TRY(holo_parser_expect(p, "(", "as in: kernel void name(global float *a, int n)"));
    if (holo_parser_is(p, "void")) p->token++;
    while (!holo_parser_is(p, ")")) {
        if (f->param_count == HOLO_LANG_PARAMS)
            return holo_parser_fail(p, "pack numbers into an array", "more than %d parameters", HOLO_LANG_PARAMS);
        HOLO_TRY(param(c, &f->params[f->param_count++]));
        if (!holo_parser_accept(p, ",")) break;
    }
    return holo_parser_expect(p, ")", "close the parameters with )");
}

static HoloStatus block_sizes(HoloCParser *c, int out[3])
{
    HoloParser *p = &c->p;
    for (int i = 0; i < 3; i++) out[i] = 1;
    HOLO_TRY(holo_parser_expect(p, "(", "as in: block(16, 16)"));
    for (int i = 0; i < 3; i++) {
        HoloAst *value;
        HOLO_TRY(holo_c_expression(c, &value));
        HOLO_TRY(holo_parser_block_size(p, value, &out[i]));
        if (!holo_parser_accept(p, ",")) break;
    }
    return holo_parser_expect(p, ")", "a block has up to three sizes");
}

static HoloStatus launch(HoloCParser *c, HoloAstFunction *f)
{
    HoloParser *p = &c->p;
    for (;;) {
        if (holo_parser_accept(p, "lanes")) {
            HoloAst *value;
            HOLO_TRY(holo_parser_expect(p, "(", "as in: lanes(m * n)"));
            HOLO_TRY(holo_c_expression(c, &value));
            HOLO_TRY(holo_parser_expect(p, ")", "as in: lanes(m * n)"));
            f->lanes = value;
        } else if (holo_parser_accept(p, "operator")) {
            HOLO_TRY(holo_parser_expect(p, "(", "as in: operator(\"my.domain::Name\")"));
            if (p->token->kind != HOLO_TOKEN_TEXT || !*p->token->text)
                return holo_parser_fail(p, "as in: operator(\"my.domain::Name\")",
                                        "the name of an operator is expected here");
            f->op_name = p->token++->text;
            HOLO_TRY(holo_parser_expect(p, ")", "as in: operator(\"my.domain::Name\")"));
        } else if (holo_parser_accept(p, "block")) {
            HOLO_TRY(block_sizes(c, f->block));
        } else {
            return HOLO_OK;
        }
    }
}

static HoloStatus function(Module *m, bool is_inline)
{
    HoloCParser     *c    = &m->c;
    HoloParser      *p    = &c->p;
    const HoloToken *from = p->token;
    HoloAstFunction *f    = HOLO_NEW(p->arena, HoloAstFunction, 1);
    HoloAst         *body;
    if (!f) return holo_fail_memory(p->error);
    f->doc        = "";
    f->is_inline  = is_inline;
    c->name_count = p->declared_count = c->block = 0;
    c->returns                                   = HOLO_NONE;
    if (!is_inline) {
        HOLO_TRY(launch(c, f));
        HOLO_TRY(holo_parser_expect(p, "void", "a kernel gives no value back: kernel void name(...)"));
    } else {
        HOLO_TRY(holo_c_type(c, &c->returns, NULL));
    }
    f->place.at = p->token->at;
    HOLO_TRY(holo_parser_name(p, "the name of the function", &f->name));
    HOLO_TRY(params(c, f));
    if (!holo_parser_is(p, "{"))
        return holo_parser_fail(p, "write the body behind the parameters", "'{' is expected here");
    HOLO_TRY(holo_c_block(c, &body));
    f->body = body;
    for (const HoloToken *t = from; p->type_name && t < p->token; t++)
        if (t->kind == HOLO_TOKEN_NAME && !strcmp(t->text, p->type_name))
            f->type_name = p->type_name, f->types = p->types;
    *m->tail = f;
    m->tail  = &f->next;
    m->out->function_count++;
    return HOLO_OK;
}

// ---- the module

// #define NAME constant
static HoloStatus define(HoloCParser *c)
{
    HoloParser *p = &c->p;
    HoloAst    *value, *literal;
    const char *name;
    if (!holo_parser_accept(p, "define"))
        return holo_parser_fail(p, "the language needs no #include; write constants as: #define N 16",
                                "this is not in the language");
    HOLO_TRY(holo_parser_name(p, "the name of a constant", &name));
    if (holo_parser_is(p, "(") && p->token->at == p->token[-1].at + strlen(name))
        return holo_parser_fail(p, "write: inline float name(float x) { return ...; }", "a macro has no parameters");
    HOLO_TRY(holo_c_expression(c, &value));
    HOLO_TRY(holo_parser_fold(p, value, &literal));
    if (holo_parser_constant(p, name)) return holo_parser_fail(p, NULL, "there is a '%.60s' already", name);
    return holo_parser_add_constant(p, name, literal);
}

// types T(float, double);
static HoloStatus type_variable(HoloCParser *c)
{
    HoloParser *p = &c->p;
    const char *name;
    if (p->type_name) return holo_parser_fail(p, "one is enough for a file", "there is a type variable already");
    HOLO_TRY(holo_parser_name(p, "the name of the type variable", &name));
    HOLO_TRY(holo_parser_expect(p, "(", "as in: types T(float, double);"));
    do {
        uint8_t type;
        HOLO_TRY(holo_c_type(c, &type, NULL));
        p->types |= UINT32_C(1) << type;
    } while (holo_parser_accept(p, ","));
    HOLO_TRY(holo_parser_expect(p, ")", "as in: types T(float, double);"));
    p->type_name = name;
    return holo_parser_expect(p, ";", "a statement ends with ;");
}

static HoloStatus item(Module *m)
{
    HoloParser *p = &m->c.p;
    if (holo_parser_accept(p, "#")) return define(&m->c);
    if (holo_parser_accept(p, "types")) return type_variable(&m->c);
    if (holo_parser_accept(p, "kernel") || holo_parser_accept(p, "__kernel")) return function(m, false);
    holo_parser_accept(p, "static");
    if (holo_parser_accept(p, "inline")) return function(m, true);
    return holo_parser_fail(
        p, "a file has: kernel void name(...) {...}, inline float name(...) {...}, #define N 16, types T(...);",
        "this cannot stand outside of a function");
}

HoloStatus holo_parse_c(HoloArena *arena, const HoloKernelSource *source, HoloAstModule *out, HoloError *error)
{
    Module m = {.c = {.p = {.arena = arena, .source = source, .error = error}}, .out = out, .tail = &out->functions};
    *out     = (HoloAstModule){.source = source};
    HOLO_TRY(holo_parser_open(&m.c.p, HOLO_LEX_C));
    while (m.c.p.token->kind != HOLO_TOKEN_END) HOLO_TRY(item(&m));
    if (!out->functions)
        return holo_parser_fail(&m.c.p, "write one: kernel void name(global float *a, int n) {...}",
                                "there is no kernel");
    return HOLO_OK;
}
