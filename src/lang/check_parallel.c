// check_parallel.c - the forms that stand for whole loops, parallel_map_unary and similar ones: expands them to trees.

#include "lang/check.h"

#include <string.h>

// Makes a node of the expanded tree; the arena keeps it.
static HoloStatus make(HoloCheck *c, const HoloAst *at, HoloAst node, const HoloAst **out)
{
    HoloAst *copy = HOLO_NEW(c->arena, HoloAst, 1);
    if (!copy) return holo_fail_memory(c->error);
    *copy       = node;
    copy->place = at->place;
    *out        = copy;
    return HOLO_OK;
}

typedef struct Operation {
    const char *name;
    int8_t      op; // HoloAstOp; -1: a function
    const char *function;
} Operation;

static const Operation unary_ops[] = {
    {"neg", HOLO_OP_NEG, ""},   {"abs", -1, "abs"},     {"sqrt", -1, "sqrt"},     {"exp", -1, "exp"},
    {"log", -1, "log"},         {"sin", -1, "sin"},     {"cos", -1, "cos"},       {"tan", -1, "tan"},
    {"ceil", -1, "ceil"},       {"floor", -1, "floor"}, {"round", -1, "round"},   {"erf", -1, "erf"},
    {"sigmoid", -1, "sigmoid"}, {"tanh", -1, "tanh"},   {"reciprocal", -1, "1/"}, {"relu", -1, "max0"}};
static const Operation binary_ops[] = {{"add", HOLO_OP_ADD, ""}, {"sub", HOLO_OP_SUB, ""}, {"mul", HOLO_OP_MUL, ""},
                                       {"div", HOLO_OP_DIV, ""}, {"pow", HOLO_OP_POW, ""}, {"min", -1, "min"},
                                       {"max", -1, "max"}};
static const Operation reductions[] = {
    {"sum", -1, "block_sum"}, {"product", -1, "block_product"}, {"min", -1, "block_min"}, {"max", -1, "block_max"}};

static HoloStatus operation(HoloCheck *c, const HoloAst *at, const Operation *rows, int count, const Operation **out)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].name, at->name)) continue;
        *out = &rows[i];
        return HOLO_OK;
    }
    return HOLO_CHECK_FAIL(c, at, "see docs/kernel-language.md, or write the loop",
                           "there is no operation '%.60s' here", at->name);
}

static HoloStatus call(HoloCheck *c, const HoloAst *at, const char *name, const HoloAst *a, const HoloAst *b,
                       const HoloAst **out)
{
    HoloAst first = *a;
    first.next    = NULL;
    if (b) {
        HoloAst second = *b;
        second.next    = NULL;
        HOLO_TRY(make(c, b, second, &first.next));
    }
    const HoloAst *list = NULL;
    HOLO_TRY(make(c, a, first, &list));
    return make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = name, .list = list}, out);
}

static HoloStatus apply(HoloCheck *c, const HoloAst *at, const Operation *op, const HoloAst *a, const HoloAst *b,
                        const HoloAst **out)
{
    const HoloAst *number  = NULL;
    bool           inverse = !strcmp(op->function, "1/"), relu = !strcmp(op->function, "max0");
    if (inverse || relu) {
        HOLO_TRY(
            make(c, at, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_INT, .integer = inverse}, &number));
        if (relu) return call(c, at, "max", a, number, out);
        return make(c, at, (HoloAst){.kind = HOLO_AST_BINARY, .op = HOLO_OP_DIV, .a = number, .b = a}, out);
    }
    if (op->op < 0) return call(c, at, op->function, a, b, out);
    if (!b) return make(c, at, (HoloAst){.kind = HOLO_AST_UNARY, .op = (uint8_t)op->op, .a = a}, out);
    return make(c, at, (HoloAst){.kind = HOLO_AST_BINARY, .op = (uint8_t)op->op, .a = a, .b = b}, out);
}

static const HoloAst *named(HoloCheck *c, const HoloAst *at, const char *name)
{
    const HoloAst *out = NULL;
    return make(c, at, (HoloAst){.kind = HOLO_AST_VAR, .name = name}, &out) ? NULL : out;
}

// i = get_global_id(); if i < count: output[i] = op(input[i] ...)
static HoloStatus map(HoloCheck *c, const HoloAst *at)
{
    bool             two    = at->kind == HOLO_AST_MAP_BINARY;
    const HoloAst   *output = two ? at->c : at->b, *count = two ? at->d : at->c;
    const Operation *op = NULL;
    const HoloAst   *i, *x = NULL, *y = NULL, *value = NULL, *target = NULL, *inside = NULL, *store = NULL, *id = NULL,
                      *let = NULL;
    HOLO_TRY(two ? operation(c, at, binary_ops, HOLO_COUNT(binary_ops), &op)
                 : operation(c, at, unary_ops, HOLO_COUNT(unary_ops), &op));
    if (!(i = named(c, at, "map i"))) return holo_fail_memory(c->error); // a name that no source can have
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = "get_global_id"}, &id));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_LET, .name = i->name, .b = id}, &let));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_INDEX, .a = at->a, .b = i}, &x));
    if (two) HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_INDEX, .a = at->b, .b = i}, &y));
    HOLO_TRY(apply(c, at, op, x, y, &value));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_INDEX, .a = output, .b = i}, &target));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = target, .b = value}, &store));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_BINARY, .op = HOLO_OP_LT, .a = i, .b = count}, &inside));
    HoloAst test = {.kind = HOLO_AST_IF, .place = at->place, .a = inside, .list = store};
    HOLO_TRY(holo_check_block(c, let));
    return holo_check_block(c, &test);
}

// Each lane of one block takes every block_dim-th element, the block combines them, and its first lane writes.
static HoloStatus reduce(HoloCheck *c, const HoloAst *at)
{
    const Operation *op = NULL;
    HoloCheckVar    *in = NULL, *out = NULL;
    HOLO_TRY(operation(c, at, reductions, HOLO_COUNT(reductions), &op));
    HOLO_TRY(holo_check_array(c, at->a, HOLO_ISA_IN, &in));
    HOLO_TRY(holo_check_array(c, at->b, HOLO_ISA_OUT, &out));
    const HoloAst *i = named(c, at, "reduce i"), *all = named(c, at, "reduce all"),
                  *whole = named(c, at, "reduce whole");
    const HoloAst *id = NULL, *dim = NULL, *zero = NULL, *x = NULL, *joined = NULL, *step = NULL, *loop = NULL,
                  *total = NULL, *first = NULL, *target = NULL, *store = NULL;
    if (!i || !all || !whole) return holo_fail_memory(c->error);
    bool is_float = holo_type_is_float(in->type), low = !strcmp(op->name, "max"), high = !strcmp(op->name, "min");
    if (!is_float && (low || high))
        return HOLO_CHECK_FAIL(c, at, "write the loop",
                               "min and max work for floats only, sum and product for all types");
    HoloCheckValue begin = {.type = HOLO_LITERAL_OF_INT, .integer = !strcmp(op->name, "product")};
    if (low || high)
        begin = (HoloCheckValue){.type = HOLO_LITERAL_OF_FLOAT, .number = low ? -__builtin_inf() : __builtin_inf()};
    static const Operation joins[] = {
        {"sum", HOLO_OP_ADD, ""}, {"product", HOLO_OP_MUL, ""}, {"min", -1, "min"}, {"max", -1, "max"}};
    const Operation *join = NULL;
    HOLO_TRY(operation(c, at, joins, HOLO_COUNT(joins), &join));
    HOLO_TRY(holo_check_set(c, at, all->name, in->type, begin));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = "local_id"}, &id));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = "block_dim"}, &dim));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_INT}, &zero));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_INDEX, .a = at->a, .b = i}, &x));
    HOLO_TRY(apply(c, at, join, all, x, &joined));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = all, .b = joined}, &step));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_FOR, .name = i->name, .a = id, .b = at->c, .c = dim, .list = step},
                  &loop));
    HOLO_TRY(holo_check_block(c, loop));
    HOLO_TRY(call(c, at, op->function, all, NULL, &total));
    HoloAst let = {.kind = HOLO_AST_LET, .place = at->place, .name = whole->name, .b = total};
    HOLO_TRY(holo_check_block(c, &let));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = "get_global_id"}, &id));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_BINARY, .op = HOLO_OP_EQ, .a = id, .b = zero}, &first));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_INDEX, .a = at->b, .b = zero}, &target));
    HOLO_TRY(make(c, at, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = target, .b = whole}, &store));
    HoloAst test = {.kind = HOLO_AST_IF, .place = at->place, .a = first, .list = store};
    return holo_check_block(c, &test);
}

HoloStatus holo_check_parallel(HoloCheck *c, const HoloAst *at)
{
    return at->kind == HOLO_AST_REDUCE ? reduce(c, at) : map(c, at);
}
