// check_statement.c - statements: variables, elements, branches, arrays, and the forms that stand for whole loops.

#include "lang/check.h"

#include <stdio.h>
#include <string.h>

// ---- variables

HoloStatus holo_check_declare(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type, HoloCheckVar **out)
{
    if (c->var_count == HOLO_CHECK_VARS)
        return HOLO_CHECK_FAIL(c, at, "use an array", "more than %d variables", HOLO_CHECK_VARS);
    *out  = &c->var[c->var_count++];
    **out = (HoloCheckVar){.name = name, .kind = HOLO_VAR_NUMBER, .type = type, .value = -1};
    return HOLO_OK;
}

HoloStatus holo_check_set(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type, HoloCheckValue value)
{
    HoloCheckVar *v = holo_check_find(c, name);
    if (v && v->kind != HOLO_VAR_NUMBER)
        return HOLO_CHECK_FAIL(c, at, "assign to an element: a[i] = x", "'%s' is an array", name);
    if (v && type != HOLO_NONE && type != v->type)
        return HOLO_CHECK_FAIL(c, at, "a variable has one type", "'%s' is %s already", name, holo_dtype_name(v->type));
    if (!v) {
        if (type == HOLO_NONE) {
            HOLO_TRY(holo_check_settle(c, at, value, &value));
            type = value.type;
        }
        if (type == HOLO_NONE) return HOLO_CHECK_FAIL(c, at, NULL, "there is no value here");
        HOLO_TRY(holo_check_declare(c, at, name, type, &v));
    }
    int       node;
    HoloAst   place = *at;
    char      advice[HOLO_LANG_NAME + 60];
    uint8_t   wanted = v->type;
    HoloError first = {0}, *error = c->error;
    c->error          = &first; // with better advice than that for any value
    HoloStatus status = holo_check_coerce(c, &place, value, v->type, &node);
    c->error          = error;
    if (status) {
        snprintf(advice, sizeof advice, "say the type where it comes first: %s: %s = ..., or convert: %s(x)", name,
                 value.type >= HOLO_LITERAL_OF_INT ? "f32" : holo_dtype_name(value.type), holo_dtype_name(wanted));
        return HOLO_CHECK_FAIL(c, at, advice, "'%s' is %s, and this is %s", name, holo_dtype_name(wanted),
                               holo_check_type_name(value.type));
    }
    v->value = node;
    return HOLO_OK;
}

void holo_check_store(HoloCheck *c, const HoloCheckVar *array, int index, int value)
{
    static const uint16_t ops[] = {
        [HOLO_VAR_PARAM] = HOLO_ISA_ST, [HOLO_VAR_SHARED] = HOLO_ISA_STS, [HOLO_VAR_LOCAL] = HOLO_ISA_STL};
    holo_ssa_add(&c->ssa, (HoloSsaNode){.op    = ops[array->kind],
                                        .kind  = HOLO_SSA_EFFECT,
                                        .type  = array->type,
                                        .array = (uint16_t)array->value,
                                        .in    = {index, value, -1},
                                        .owner = -1});
    holo_ssa_writes(&c->ssa);
}

static HoloStatus assign(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue value;
    HoloCheckVar  *array;
    int            index, node;
    if (at->kind == HOLO_AST_LET) {
        HOLO_TRY(holo_check_expression(c, at->b, &value));
        return holo_check_set(c, at, at->name, holo_check_resolve(c, at->dtype), value);
    }
    if (at->a->kind == HOLO_AST_VAR) {
        HOLO_TRY(holo_check_expression(c, at->b, &value));
        return holo_check_set(c, at->a, at->a->name, HOLO_NONE, value);
    }
    if (at->a->kind != HOLO_AST_INDEX)
        return HOLO_CHECK_FAIL(c, at->a, "assign to a variable or to an element: a[i] = x",
                               "nothing can be assigned to this");
    HOLO_TRY(holo_check_array(c, at->a->a, HOLO_ISA_OUT, &array));
    HOLO_TRY(holo_check_index(c, at->a->b, &index));
    HOLO_TRY(holo_check_expression(c, at->b, &value));
    HOLO_TRY(holo_check_coerce(c, at->b, value, array->type, &node));
    holo_check_store(c, array, index, node);
    return HOLO_OK;
}

// ---- arrays

static HoloStatus array(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue size;
    HoloCheckVar  *v;
    int           *count  = at->shared ? &c->shared_count : &c->local_count;
    HoloIsaArray  *arrays = at->shared ? c->shared : c->local;
    uint8_t        type   = holo_check_resolve(c, at->dtype);
    HOLO_TRY(holo_check_expression(c, at->a, &size));
    int64_t limit = (at->shared ? HOLO_ISA_MAX_SHARED : HOLO_ISA_MAX_LOCAL) / (int64_t)holo_dtype_size(type);
    if (size.type != HOLO_LITERAL_OF_INT)
        return HOLO_CHECK_FAIL(c, at->a, "use a number, or a constant of the module", "the size of an array is fixed");
    if (size.integer < 1 || size.integer > limit)
        return HOLO_CHECK_FAIL(c, at->a, NULL, "%s arrays of %s have 1 to %lld elements",
                               at->shared ? "shared" : "local", holo_dtype_name(type), (long long)limit);
    if (c->loop || c->ssa.region[c->ssa.here].depth || c->calls)
        return HOLO_CHECK_FAIL(c, at, "make arrays at the start of the kernel", "an array cannot be made here");
    if (holo_check_find(c, at->name)) return HOLO_CHECK_FAIL(c, at, NULL, "there is a '%s' already", at->name);
    if (*count == HOLO_ISA_MAX_ARRAYS)
        return HOLO_CHECK_FAIL(c, at, "use one for several things", "more than %d arrays", HOLO_ISA_MAX_ARRAYS);
    HOLO_TRY(holo_check_declare(c, at, at->name, type, &v));
    v->kind        = at->shared ? HOLO_VAR_SHARED : HOLO_VAR_LOCAL;
    v->value       = *count;
    arrays[*count] = (HoloIsaArray){at->name, type, (uint32_t)size.integer};
    *count += 1;
    return HOLO_OK;
}

// ---- control

static HoloStatus if_statement(HoloCheck *c, const HoloAst *at)
{
    HoloCheckBranch branch;
    int             condition;
    HOLO_TRY(holo_check_condition(c, at->a, &condition));
    HOLO_TRY(holo_check_branch(c, at, condition, &branch));
    HOLO_TRY(holo_check_block(c, at->list));
    HOLO_TRY(holo_check_else(c, &branch));
    HOLO_TRY(holo_check_block(c, at->other));
    return holo_check_join_branches(c, &branch, NULL, NULL);
}

static HoloStatus return_statement(HoloCheck *c, const HoloAst *at)
{
    if (c->calls)
        return HOLO_CHECK_FAIL(c, at, "choose with: a if condition else b", "a helper has one return, at its end");
    if (at->a) return HOLO_CHECK_FAIL(c, at, "write it into an array", "a kernel gives no value back");
    holo_ssa_effect(&c->ssa, HOLO_ISA_EXIT, -1);
    c->dead = true;
    return HOLO_OK;
}

// ---- forms that stand for loops

// A tree in place of what the form stands for; the arena keeps it.
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
    const HoloAst *list;
    HOLO_TRY(make(c, a, first, &list));
    return make(c, at, (HoloAst){.kind = HOLO_AST_CALL, .name = name, .list = list}, out);
}

static HoloStatus apply(HoloCheck *c, const HoloAst *at, const Operation *op, const HoloAst *a, const HoloAst *b,
                        const HoloAst **out)
{
    const HoloAst *number;
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
    const Operation *op;
    const HoloAst   *i, *x, *y = NULL, *value, *target, *inside, *store, *id, *let;
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

// Each lane of one block takes every block_dim-th element; the block joins them; its first lane writes.
static HoloStatus reduce(HoloCheck *c, const HoloAst *at)
{
    const Operation *op;
    HoloCheckVar    *in, *out;
    HOLO_TRY(operation(c, at, reductions, HOLO_COUNT(reductions), &op));
    HOLO_TRY(holo_check_array(c, at->a, HOLO_ISA_IN, &in));
    HOLO_TRY(holo_check_array(c, at->b, HOLO_ISA_OUT, &out));
    const HoloAst *i = named(c, at, "reduce i"), *all = named(c, at, "reduce all"),
                  *whole = named(c, at, "reduce whole");
    const HoloAst *id, *dim, *zero, *x, *joined, *step, *loop, *total, *first, *target, *store;
    if (!i || !all || !whole) return holo_fail_memory(c->error);
    bool is_float = holo_type_is_float(in->type), low = !strcmp(op->name, "max"), high = !strcmp(op->name, "min");
    if (!is_float && (low || high))
        return HOLO_CHECK_FAIL(c, at, "write the loop", "min and max are there for floats, sum and product for all");
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

static HoloStatus statement(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue ignored;
    switch ((HoloAstKind)at->kind) {
    case HOLO_AST_LET:
    case HOLO_AST_ASSIGN: return assign(c, at);
    case HOLO_AST_IF: return if_statement(c, at);
    case HOLO_AST_FOR: return holo_check_for(c, at);
    case HOLO_AST_WHILE: return holo_check_while(c, at);
    case HOLO_AST_RETURN: return return_statement(c, at);
    case HOLO_AST_BREAK:
    case HOLO_AST_CONTINUE: return holo_check_leave(c, at);
    case HOLO_AST_ARRAY: return array(c, at);
    case HOLO_AST_CALL: return holo_check_call(c, at, true, &ignored);
    default: return holo_check_parallel(c, at);
    }
}

HoloStatus holo_check_block(HoloCheck *c, const HoloAst *list)
{
    for (; list; list = list->next) {
        if (c->dead) return HOLO_CHECK_FAIL(c, list, "remove it", "this is never reached");
        if (c->ssa.full) return HOLO_CHECK_FAIL(c, list, "split the kernel", "the kernel is too large");
        HOLO_TRY(statement(c, list));
    }
    return HOLO_OK;
}
