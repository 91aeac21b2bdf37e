// python_statement.c - statements of the Python dialect. Every other statement of Python is refused with advice.

#include "lang/parse_python.h"

#include <string.h>

HoloStatus holo_python_line_end(HoloParser *p)
{
    if (p->token->kind == HOLO_TOKEN_LINE) {
        p->token++;
        return HOLO_OK;
    }
    if (p->token->kind == HOLO_TOKEN_END) return HOLO_OK;
    if (holo_parser_is(p, ";"))
        return holo_parser_fail(p, "put each statement on its own line", "';' is not in the language");
    return holo_parser_fail(p, NULL, "the line should end here");
}

HoloStatus holo_python_type(HoloParser *p, uint8_t *out)
{
    if (p->token->kind != HOLO_TOKEN_NAME) return holo_parser_fail(p, NULL, "a type is expected here");
    if (holo_parser_is_wide(p)) {
        *out = HOLO_TYPE_WIDE;
        p->token += 4;
        return HOLO_OK;
    }
    const char *name = p->token->text;
    *out             = p->type_name && !strcmp(name, p->type_name) ? HOLO_TYPE_VAR : (uint8_t)holo_lang_type(name);
    if (*out == HOLO_NONE)
        return holo_parser_fail(p,
                                "types are i8 i16 i32 i64, u8 u16 u32 u64, f16 bf16 f32 f64, bool, usize, int, float; "
                                "arrays are DeviceArray[f32]; of a type variable, widen(T)",
                                "there is no type '%.60s'", name);
    p->token++;
    return HOLO_OK;
}

// ---- assignment

// local(f32, 8) or shared(f32, 256), behind "name =".
static HoloStatus array(HoloParser *p, const char *name, uint32_t at, HoloAst **out)
{
    HoloAst  node = {.kind = HOLO_AST_ARRAY, .name = name, .shared = holo_parser_is(p, "shared")};
    HoloAst *size;
    p->token += 2;
    HOLO_TRY(holo_python_type(p, &node.dtype));
    HOLO_TRY(holo_parser_expect(p, ",", "write type and size: local(f32, 8)"));
    HOLO_TRY(holo_python_expression(p, &size));
    HOLO_TRY(holo_parser_expect(p, ")", "write type and size: local(f32, 8)"));
    node.a = size;
    if (holo_parser_is_declared(p, name))
        return holo_source_fail(p->source, (HoloSourcePlace){.at = at}, "give the array another name", p->error,
                                "there is a variable '%.60s' already", name);
    HOLO_TRY(holo_parser_declare(p, name));
    return holo_parser_node(p, node, at, out);
}

static bool is_array(const HoloParser *p)
{
    return (holo_parser_is(p, "local") || holo_parser_is(p, "shared")) && p->token[1].kind == HOLO_TOKEN_MARK &&
           !strcmp(p->token[1].text, "(");
}

// Assigns to the variable or element `target`; the first assignment to a name declares it.
static HoloStatus assign(HoloParser *p, const HoloAst *target, uint8_t dtype, const HoloAst *value, HoloAst **out)
{
    uint32_t at = target->place.at;
    if (target->kind == HOLO_AST_VAR && !holo_parser_is_declared(p, target->name)) {
        HOLO_TRY(holo_parser_declare(p, target->name));
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LET, .name = target->name, .dtype = dtype, .b = value},
                                at, out);
    }
    if (dtype != HOLO_NONE)
        return holo_source_fail(p->source, target->place, "give the type where you first assign the variable", p->error,
                                "'%.60s' has a type already", target->name);
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = target, .b = value}, at, out);
}

static const HoloParserOp augmented[] = {
    {"+=", HOLO_OP_ADD, 0},    {"-=", HOLO_OP_SUB, 0},        {"*=", HOLO_OP_MUL, 0},  {"/=", HOLO_OP_DIV, 0},
    {"%=", HOLO_OP_MOD, 0},    {"//=", HOLO_OP_FLOOR_DIV, 0}, {"**=", HOLO_OP_POW, 0}, {"&=", HOLO_OP_BIT_AND, 0},
    {"|=", HOLO_OP_BIT_OR, 0}, {"^=", HOLO_OP_BIT_XOR, 0},    {"<<=", HOLO_OP_SHL, 0}, {">>=", HOLO_OP_SHR, 0}};

static HoloStatus check_target(HoloParser *p, const HoloAst *target, uint8_t *dtype)
{
    if (target->kind != HOLO_AST_VAR && target->kind != HOLO_AST_INDEX)
        return holo_source_fail(p->source, target->place, "assign to a variable or to an element: a[i] = x", p->error,
                                "nothing can be assigned to this");
    *dtype = HOLO_NONE;
    if (!holo_parser_accept(p, ":")) return HOLO_OK;
    if (target->kind != HOLO_AST_VAR)
        return holo_source_fail(p->source, target->place, NULL, p->error, "an element has the type of its array");
    return holo_python_type(p, dtype);
}

static HoloStatus assignment(HoloParser *p, HoloAst *target, HoloAst **out)
{
    HoloAst  *value;
    HoloAstOp op;
    uint8_t   dtype;
    HOLO_TRY(check_target(p, target, &dtype));
    uint32_t at = p->token->at;
    if (holo_parser_is_op(p, augmented, HOLO_COUNT(augmented), 0, &op)) {
        if (target->kind == HOLO_AST_VAR && !holo_parser_is_declared(p, target->name))
            return holo_source_fail(p->source, target->place, "assign to it first", p->error,
                                    "there is no variable '%.60s'", target->name);
        p->token++;
        HOLO_TRY(holo_parser_once(p, target));
        HOLO_TRY(holo_python_expression(p, &value));
        HOLO_TRY(holo_parser_binary(p, op, target, value, at, &value));
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = target, .b = value}, target->place.at, out);
    }
    HOLO_TRY(holo_parser_expect(p, "=", "give the variable a value: x: f32 = 0"));
    if (target->kind == HOLO_AST_VAR && is_array(p)) return array(p, target->name, target->place.at, out);
    HOLO_TRY(holo_python_expression(p, &value));
    if (holo_parser_is(p, "="))
        return holo_parser_fail(p, "put each assignment on its own line", "a line has at most one assignment");
    if (holo_parser_is(p, ","))
        return holo_parser_fail(p, "put each assignment on its own line", "there are no tuples");
    return assign(p, target, dtype, value, out);
}

// ---- statements that are calls

typedef struct Parallel {
    const char *name;
    HoloAstKind kind;
    int         arrays; // before the operation
} Parallel;
static const Parallel parallels[] = {{"parallel_map_unary", HOLO_AST_MAP_UNARY, 2},
                                     {"parallel_map_binary", HOLO_AST_MAP_BINARY, 3},
                                     {"parallel_reduce", HOLO_AST_REDUCE, 2}};

// parallel_map_unary(in, out, "op", n), parallel_map_binary(a, b, out, "op", n), parallel_reduce(in, out, "op", n).
static HoloStatus parallel(HoloParser *p, const Parallel *row, const HoloAst *call, HoloAst **out)
{
    const HoloAst *arg[5] = {0};
    int            count  = 0;
    for (const HoloAst *a = call->list; a; a = a->next, count++)
        if (count < 5) arg[count] = a;
    const HoloAst *op = count == row->arrays + 2 ? arg[row->arrays] : NULL;
    if (!op || op->kind != HOLO_AST_LITERAL || op->literal != HOLO_LITERAL_TEXT)
        return holo_source_fail(p->source, call->place, "as in: parallel_map_binary(a, b, out, \"add\", n)", p->error,
                                "%s takes %d arrays, the operation as text, and the count", row->name, row->arrays);
    HoloAst node = {.kind = (uint8_t)row->kind, .name = op->name, .a = arg[0], .b = arg[1]};
    node.c       = row->arrays == 3 ? arg[2] : arg[row->arrays + 1];
    node.d       = row->arrays == 3 ? arg[4] : NULL;
    return holo_parser_node(p, node, call->place.at, out);
}

static HoloStatus call_statement(HoloParser *p, HoloAst *call, HoloAst **out)
{
    for (int i = 0; i < HOLO_COUNT(parallels); i++)
        if (!strcmp(parallels[i].name, call->name)) return parallel(p, &parallels[i], call, out);
    *out = call;
    return HOLO_OK;
}

static HoloStatus expression_statement(HoloParser *p, HoloAst **out)
{
    HoloAst *value;
    HOLO_TRY(holo_python_expression(p, &value));
    HoloAstOp op;
    if (holo_parser_is(p, "=") || holo_parser_is(p, ":") ||
        holo_parser_is_op(p, augmented, HOLO_COUNT(augmented), 0, &op))
        return assignment(p, value, out);
    if (holo_parser_is(p, ","))
        return holo_parser_fail(p, "put each assignment on its own line", "there are no tuples");
    if (value->kind == HOLO_AST_LITERAL && value->literal == HOLO_LITERAL_TEXT)
        return holo_source_fail(p->source, value->place, "write it as a comment: # ...", p->error,
                                "a string can stand only at the start of a function");
    if (value->kind != HOLO_AST_CALL)
        return holo_source_fail(p->source, value->place, "assign it to a variable or an element, or remove the line",
                                p->error, "this value is not used");
    return call_statement(p, value, out);
}

// ---- compound statements

static HoloStatus no_else(HoloParser *p)
{
    if (!holo_parser_is(p, "else")) return HOLO_OK;
    return holo_parser_fail(p, "use a bool variable and an 'if' after the loop", "a loop has no 'else'");
}

static HoloStatus if_statement(HoloParser *p, HoloAst **out) // behind "if" or "elif"
{
    uint32_t at = p->token[-1].at;
    HoloAst *condition, *then, *other = NULL;
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(holo_python_expression(p, &condition));
    HOLO_TRY(holo_python_block(p, NULL, &then));
    if (holo_parser_accept(p, "elif"))
        HOLO_TRY(if_statement(p, &other));
    else if (holo_parser_accept(p, "else"))
        HOLO_TRY(holo_python_block(p, NULL, &other));
    p->depth--;
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_IF, .a = condition, .list = then, .other = other}, at, out);
}

static HoloStatus range(HoloParser *p, uint32_t at, HoloAst *node)
{
    if (!holo_parser_is(p, "range"))
        return holo_parser_fail(p, "write: for i in range(n):", "a loop runs over a range");
    HoloAst *call;
    HOLO_TRY(holo_python_expression(p, &call));
    const HoloAst *arg[3] = {0};
    int            count  = 0;
    if (call->kind == HOLO_AST_CALL)
        for (const HoloAst *a = call->list; a; a = a->next, count++)
            if (count < 3) arg[count] = a;
    if (count < 1 || count > 3)
        return holo_source_fail(p->source, call->place, "range(stop), range(start, stop) or range(start, stop, step)",
                                p->error, "range takes one to three numbers");
    HoloAst *zero, *one;
    HOLO_TRY(holo_parser_int(p, 0, at, &zero));
    HOLO_TRY(holo_parser_int(p, 1, at, &one));
    node->a = count == 1 ? zero : arg[0];
    node->b = count == 1 ? arg[0] : arg[1];
    node->c = count == 3 ? arg[2] : one;
    return HOLO_OK;
}

static HoloStatus for_statement(HoloParser *p, HoloAst **out)
{
    uint32_t at   = p->token[-1].at;
    HoloAst  node = {.kind = HOLO_AST_FOR};
    HoloAst *body;
    HOLO_TRY(holo_parser_name(p, "the name of the loop's variable", &node.name));
    if (holo_parser_is(p, ",")) return holo_parser_fail(p, "write: for i in range(n):", "a loop has one variable");
    HOLO_TRY(holo_parser_expect(p, "in", "write: for i in range(n):"));
    HOLO_TRY(range(p, at, &node));
    HOLO_TRY(holo_parser_declare(p, node.name));
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(holo_python_block(p, NULL, &body));
    p->depth--;
    node.list = body;
    HOLO_TRY(no_else(p));
    return holo_parser_node(p, node, at, out);
}

static HoloStatus while_statement(HoloParser *p, HoloAst **out)
{
    uint32_t at = p->token[-1].at;
    HoloAst *condition, *body;
    HOLO_TRY(holo_python_expression(p, &condition));
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(holo_python_block(p, NULL, &body));
    p->depth--;
    HOLO_TRY(no_else(p));
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_WHILE, .a = condition, .list = body}, at, out);
}

static HoloStatus return_statement(HoloParser *p, HoloAst **out)
{
    uint32_t at    = p->token[-1].at;
    HoloAst *value = NULL;
    if (p->token->kind != HOLO_TOKEN_LINE && p->token->kind != HOLO_TOKEN_END)
        HOLO_TRY(holo_python_expression(p, &value));
    if (holo_parser_is(p, ",")) return holo_parser_fail(p, "write several results into arrays", "there are no tuples");
    HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_RETURN, .a = value}, at, out));
    return holo_python_line_end(p);
}

// One statement; *out stays NULL for "pass".
static HoloStatus statement(HoloParser *p, HoloAst **out)
{
    *out        = NULL;
    uint32_t at = p->token->at;
    if (holo_parser_accept(p, "if")) return if_statement(p, out);
    if (holo_parser_accept(p, "for")) return for_statement(p, out);
    if (holo_parser_accept(p, "while")) return while_statement(p, out);
    if (holo_parser_accept(p, "return")) return return_statement(p, out);
    if (holo_parser_accept(p, "pass")) return holo_python_line_end(p);
    bool is_break = holo_parser_accept(p, "break"), is_continue = !is_break && holo_parser_accept(p, "continue");
    if (is_break || is_continue) {
        HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = is_break ? HOLO_AST_BREAK : HOLO_AST_CONTINUE}, at, out));
        return holo_python_line_end(p);
    }
    if (holo_parser_is(p, "def"))
        return holo_parser_fail(p, "define it before the kernel, marked @inline", "a function inside of a function");
    if (p->token->kind == HOLO_TOKEN_INDENT) return holo_parser_fail(p, NULL, "this line is indented too far");
    HOLO_TRY(expression_statement(p, out));
    return holo_python_line_end(p);
}

HoloStatus holo_python_block(HoloParser *p, const char **doc, HoloAst **out)
{
    HoloAstList list = {0};
    HoloAst    *one;
    if (holo_parser_is(p, "=")) return holo_parser_fail(p, "compare with ==", "a condition cannot assign");
    HOLO_TRY(holo_parser_expect(p, ":", "a block begins with a colon"));
    if (p->token->kind != HOLO_TOKEN_LINE) { // if x: y = 1
        HOLO_TRY(statement(p, out));
        return HOLO_OK;
    }
    p->token++;
    if (p->token->kind != HOLO_TOKEN_INDENT)
        return holo_parser_fail(p, "indent it by four spaces; write 'pass' where there is nothing to do",
                                "an indented block is expected here");
    p->token++;
    if (doc && p->token->kind == HOLO_TOKEN_TEXT && p->token[1].kind == HOLO_TOKEN_LINE) {
        *doc = p->token->text;
        p->token += 2;
    }
    while (p->token->kind != HOLO_TOKEN_DEDENT && p->token->kind != HOLO_TOKEN_END) {
        HOLO_TRY(statement(p, &one));
        if (one) holo_parser_append(&list, one);
    }
    if (p->token->kind == HOLO_TOKEN_DEDENT) p->token++;
    *out = list.first;
    return HOLO_OK;
}
