// c_statement.c - statements of the C dialect. A 'for' must count, because the tree only has ranges.

#include "lang/parse_c.h"

#include <string.h>

static HoloStatus statement(HoloCParser *c, HoloAst **out);

// ---- names

const char *holo_c_name(const HoloCParser *c, const char *name)
{
    for (int i = c->name_count; i-- > 0;)
        if (!strcmp(c->names[i].name, name)) return c->names[i].called;
    return NULL;
}

HoloStatus holo_c_declare(HoloCParser *c, const char *name, bool is_const, const char **out)
{
    HoloParser *p = &c->p;
    for (int i = c->name_count; i-- > 0 && c->names[i].depth == c->block;)
        if (!strcmp(c->names[i].name, name))
            return holo_parser_fail(p, "give it another name", "this block already has a '%.60s'", name);
    if (!HOLO_GROW(p->arena, c->names, c->name_count, c->name_room)) return holo_fail_memory(p->error);
    const char *called = name;
    while (holo_parser_is_declared(p, called))
        if (!(called = holo_arena_format(p->arena, "%s_%d", name, ++c->renamed + 1))) return holo_fail_memory(p->error);
    HOLO_TRY(holo_parser_declare(p, called));
    c->names[c->name_count++] = (HoloCName){name, called, c->block, is_const};
    *out                      = called;
    return HOLO_OK;
}

static void close_block(HoloCParser *c, int names)
{
    c->block--;
    c->name_count = names;
}

// ---- declarations

static HoloStatus array(HoloCParser *c, uint8_t type, bool shared, const char *name, uint32_t at, HoloAst **out)
{
    HoloAst *size;
    HOLO_TRY(holo_c_expression(c, &size));
    HOLO_TRY(holo_parser_expect(&c->p, "]", "as in: float t[8];"));
    if (holo_parser_is(&c->p, "=") || holo_parser_is(&c->p, "["))
        return holo_parser_fail(&c->p, "arrays have one dimension and begin with 0",
                                "this is more than the size of an array");
    return holo_parser_node(
        &c->p, (HoloAst){.kind = HOLO_AST_ARRAY, .name = name, .shared = shared, .dtype = type, .a = size}, at, out);
}

static HoloStatus variable(HoloCParser *c, uint8_t type, bool shared, bool is_const, HoloAst **out)
{
    HoloParser *p  = &c->p;
    uint32_t    at = p->token->at;
    const char *name, *called;
    HoloAst    *value = NULL;
    if (holo_parser_is(p, "*")) return holo_parser_fail(p, "arrays are parameters", "there are no pointers here");
    HOLO_TRY(holo_parser_name(p, "the name of a variable", &name));
    bool is_array = holo_parser_accept(p, "[");
    if (!is_array && shared) return holo_parser_fail(p, "as in: shared float t[256];", "only arrays can be shared");
    if (holo_parser_accept(p, "=")) { // before the name is known: in int x = x; the second x is another variable
        HOLO_TRY(holo_c_expression(c, &value));
        HOLO_TRY(holo_c_no_step(c));
    } else if (!is_array && type == HOLO_BOOL) {
        HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_BOOL}, at, &value));
    } else if (!is_array) {
        HOLO_TRY(holo_parser_int(p, 0, at, &value));
    }
    HOLO_TRY(holo_c_declare(c, name, is_const, &called));
    if (is_array) return array(c, type, shared, called, at, out);
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LET, .name = called, .dtype = type, .b = value}, at, out);
}

static HoloStatus declaration(HoloCParser *c, HoloAst **out)
{
    HoloAstList list   = {0};
    bool        shared = holo_parser_accept(&c->p, "shared") || holo_parser_accept(&c->p, "local");
    bool        is_const;
    uint8_t     type;
    HOLO_TRY(holo_c_type(c, &type, &is_const));
    do {
        HoloAst *one;
        HOLO_TRY(variable(c, type, shared, is_const, &one));
        holo_parser_append(&list, one);
    } while (holo_parser_accept(&c->p, ","));
    *out = list.first;
    return holo_parser_expect(&c->p, ";", "a statement ends with ;");
}

// ---- assignments

static HoloStatus target_ok(HoloCParser *c, const HoloAst *target)
{
    const HoloParser *p     = &c->p;
    const HoloAst    *named = target->kind == HOLO_AST_INDEX ? target->a : target;
    if (named->kind != HOLO_AST_VAR)
        return holo_source_fail(p->source, target->place, "assign to a variable or to an element: a[i] = x;", p->error,
                                "nothing can be assigned to this");
    for (int i = c->name_count; i-- > 0;) {
        if (strcmp(c->names[i].called, named->name)) continue;
        if (!c->names[i].is_const) return HOLO_OK;
        return holo_source_fail(p->source, named->place, "remove 'const' where it is declared", p->error,
                                "'%.60s' is const", c->names[i].name);
    }
    return holo_source_fail(p->source, named->place, "declare it where you first use it: float x = 0;", p->error,
                            "there is no variable '%.60s'", named->name);
}

static const HoloParserOp augmented[] = {
    {"+=", HOLO_OP_ADD, 0},       {"-=", HOLO_OP_SUB, 0},     {"*=", HOLO_OP_MUL, 0},    {"/=", HOLO_OP_TRUNC_DIV, 0},
    {"%=", HOLO_OP_TRUNC_MOD, 0}, {"&=", HOLO_OP_BIT_AND, 0}, {"|=", HOLO_OP_BIT_OR, 0}, {"^=", HOLO_OP_BIT_XOR, 0},
    {"<<=", HOLO_OP_SHL, 0},      {">>=", HOLO_OP_SHR, 0}};

// An assignment or a call, up to what ends it.
static HoloStatus simple(HoloCParser *c, HoloAst **out)
{
    HoloParser *p = &c->p;
    HoloAst    *target, *value;
    HoloAstOp   op = HOLO_OP_ADD;
    HOLO_TRY(holo_c_expression(c, &target));
    uint32_t at   = p->token->at;
    bool     more = holo_parser_is(p, "++"), less = holo_parser_is(p, "--");
    if (more || less || holo_parser_is_op(p, augmented, HOLO_COUNT(augmented), 0, &op)) {
        HOLO_TRY(target_ok(c, target));
        HOLO_TRY(holo_parser_once(p, target));
        p->token++;
        if (more || less)
            HOLO_TRY(holo_parser_int(p, 1, at, &value));
        else
            HOLO_TRY(holo_c_expression(c, &value));
        if (less) op = HOLO_OP_SUB;
        HOLO_TRY(holo_parser_binary(p, op, target, value, at, &value));
    } else if (holo_parser_accept(p, "=")) {
        HOLO_TRY(target_ok(c, target));
        HOLO_TRY(holo_c_expression(c, &value));
        HOLO_TRY(holo_c_no_step(c));
        if (holo_parser_is(p, "="))
            return holo_parser_fail(p, "assign one after the other", "a statement has at most one assignment");
    } else if (target->kind == HOLO_AST_CALL) {
        *out = target;
        return HOLO_OK;
    } else {
        return holo_source_fail(p->source, target->place, "assign it, or remove it", p->error,
                                "this value is not used");
    }
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_ASSIGN, .a = target, .b = value}, target->place.at, out);
}

// ---- control

static HoloStatus if_statement(HoloCParser *c, HoloAst **out)
{
    HoloParser *p  = &c->p;
    uint32_t    at = p->token[-1].at;
    HoloAst    *condition, *then, *other = NULL;
    HOLO_TRY(holo_parser_expect(p, "(", "as in: if (x < n)"));
    HOLO_TRY(holo_c_expression(c, &condition));
    HOLO_TRY(holo_parser_expect(p, ")", "close the condition with )"));
    HOLO_TRY(holo_c_block(c, &then));
    if (holo_parser_accept(p, "else")) HOLO_TRY(holo_c_block(c, &other));
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_IF, .a = condition, .list = then, .other = other}, at, out);
}

static HoloStatus while_statement(HoloCParser *c, HoloAst **out)
{
    HoloParser *p  = &c->p;
    uint32_t    at = p->token[-1].at;
    HoloAst    *condition, *body;
    HOLO_TRY(holo_parser_expect(p, "(", "as in: while (x < n)"));
    HOLO_TRY(holo_c_expression(c, &condition));
    HOLO_TRY(holo_parser_expect(p, ")", "close the condition with )"));
    HOLO_TRY(holo_c_block(c, &body));
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_WHILE, .a = condition, .list = body}, at, out);
}

static bool reads_name(const HoloAst *n, const char *name)
{
    if (!n) return false;
    if (n->kind == HOLO_AST_VAR && !strcmp(n->name, name)) return true;
    if (reads_name(n->a, name) || reads_name(n->b, name) || reads_name(n->c, name)) return true;
    for (const HoloAst *x = n->list; x; x = x->next)
        if (reads_name(x, name)) return true;
    return false;
}

// Does the list assign to a name that the expression reads, or to `name`?
static bool assigns(const HoloAst *list, const char *name, const HoloAst *reads)
{
    for (const HoloAst *n = list; n; n = n->next) {
        const char *to = n->kind == HOLO_AST_ASSIGN && n->a->kind == HOLO_AST_VAR ? n->a->name
                         : n->kind == HOLO_AST_FOR                                ? n->name
                                                                                  : NULL;
        if (to && (!strcmp(to, name) || reads_name(reads, to))) return true;
        if (assigns(n->list, name, reads) || assigns(n->other, name, reads)) return true;
    }
    return false;
}

static bool has_element(const HoloAst *n)
{
    if (!n) return false;
    if (n->kind == HOLO_AST_INDEX || n->kind == HOLO_AST_CALL) return true;
    return has_element(n->a) || has_element(n->b) || has_element(n->c);
}

// i < stop, i <= stop, i > stop, i >= stop: where the range ends.
static HoloStatus range_stop(HoloCParser *c, const HoloAst *condition, const HoloAst *step, const HoloAst **out)
{
    static const char advice[] = "as in: for (int i = 0; i < n; i += 1); else use while";
    HoloParser       *p        = &c->p;
    int64_t           by       = step->kind == HOLO_AST_LITERAL ? step->integer : 0;
    bool              up       = condition->op == HOLO_OP_LT || condition->op == HOLO_OP_LE;
    HoloAst          *one, *stop;
    *out = condition->b;
    if (by == 0 || (by > 0) != up)
        return holo_source_fail(p->source, condition->place, advice, p->error,
                                "the step of a for is a constant towards its end");
    if (condition->op == HOLO_OP_LT || condition->op == HOLO_OP_GT) return HOLO_OK;
    HOLO_TRY(holo_parser_int(p, 1, condition->place.at, &one));
    HOLO_TRY(holo_parser_binary(p, up ? HOLO_OP_ADD : HOLO_OP_SUB, condition->b, one, condition->place.at, &stop));
    *out = stop;
    return HOLO_OK;
}

static bool is_counter(const HoloAst *n, const char *name)
{
    return n && n->kind == HOLO_AST_VAR && !strcmp(n->name, name);
}

// What the third part of a for adds.
static HoloStatus range_step(HoloCParser *c, const HoloAst *next, const char *name, HoloAst **out)
{
    HoloParser    *p   = &c->p;
    const HoloAst *sum = next->kind == HOLO_AST_ASSIGN && is_counter(next->a, name) ? next->b : NULL;
    bool           ok  = sum && sum->kind == HOLO_AST_BINARY && is_counter(sum->a, name) &&
              (sum->op == HOLO_OP_ADD || sum->op == HOLO_OP_SUB);
    if (!ok)
        return holo_source_fail(p->source, next->place, "as in: for (int i = 0; i < n; i += 1); else use while",
                                p->error, "a for counts with one variable");
    if (reads_name(sum->b, name))
        return holo_source_fail(p->source, sum->b->place, "use while", p->error, "a for counts by a constant");
    HoloAst *by = NULL;
    if (sum->op == HOLO_OP_ADD) return holo_parser_fold(p, sum->b, out);
    HOLO_TRY(
        holo_parser_node(p, (HoloAst){.kind = HOLO_AST_UNARY, .op = HOLO_OP_NEG, .a = sum->b}, sum->b->place.at, &by));
    return holo_parser_fold(p, by, out);
}

static HoloStatus for_inside(HoloCParser *c, uint32_t at, HoloAst **out)
{
    static const char advice[] = "as in: for (int i = 0; i < n; i += 1)";
    HoloParser       *p        = &c->p;
    HoloAst          *start, *condition, *next, *step, *body;
    HOLO_TRY(holo_parser_expect(p, "(", advice));
    if (!holo_c_is_type(c)) return holo_parser_fail(p, advice, "a for declares its variable");
    HOLO_TRY(declaration(c, &start));
    HOLO_TRY(holo_c_expression(c, &condition));
    HOLO_TRY(holo_parser_expect(p, ";", advice));
    HOLO_TRY(simple(c, &next));
    HOLO_TRY(holo_parser_expect(p, ")", advice));
    if (start->kind != HOLO_AST_LET || start->next || condition->kind != HOLO_AST_BINARY ||
        !is_counter(condition->a, start->name) || condition->op < HOLO_OP_LT || condition->op > HOLO_OP_GE)
        return holo_source_fail(p->source, start->place, advice, p->error, "a for counts with one variable");
    HOLO_TRY(range_step(c, next, start->name, &step));
    HoloAst node = {.kind = HOLO_AST_FOR, .name = start->name, .c = step};
    HOLO_TRY(range_stop(c, condition, step, &node.b));
    HoloAst *first;
    HOLO_TRY(holo_c_cast(c, start->dtype, start->b, start->place.at, &first));
    node.a = first;
    HOLO_TRY(holo_c_block(c, &body));
    node.list = body;
    if (assigns(body, start->name, condition->b) || has_element(condition->b))
        return holo_source_fail(p->source, condition->place, "use while, or copy the end to a variable before the loop",
                                p->error, "the end or the variable of this for changes in its body");
    return holo_parser_node(p, node, at, out);
}

static HoloStatus for_statement(HoloCParser *c, HoloAst **out)
{
    int names = c->name_count;
    c->block++;
    HOLO_TRY(for_inside(c, c->p.token[-1].at, out));
    close_block(c, names);
    return HOLO_OK;
}

// What a helper returns is first assigned to a variable of its type, so it is converted like any assigned value.
static HoloStatus return_as(HoloCParser *c, const HoloAst *value, uint32_t at, HoloAst **out)
{
    HoloParser *p = &c->p;
    HoloAst    *let, *name, *back;
    const char *called;
    HOLO_TRY(holo_c_declare(c, "result", true, &called));
    HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LET, .name = called, .dtype = c->returns, .b = value}, at,
                              &let));
    HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_VAR, .name = called}, at, &name));
    HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_RETURN, .a = name}, at, &back));
    HOLO_TRY(holo_parser_expect(p, ";", "a statement ends with ;"));
    let->next = back;
    *out      = let;
    return HOLO_OK;
}

static HoloStatus word_statement(HoloCParser *c, HoloAst **out, bool *done)
{
    static const char *const refused[][2] = {{"do", "write: while (true) { ... if (!x) break; }"},
                                             {"switch", "write: if (x == 1) ... else if ..."},
                                             {"goto", "use break, continue and return"},
                                             {"struct", "use several variables or arrays"},
                                             {"static", "variables belong to a lane; shared float t[256]; to a block"}};
    HoloParser              *p            = &c->p;
    for (int i = 0; i < HOLO_COUNT(refused); i++)
        if (holo_parser_is(p, refused[i][0]))
            return holo_parser_fail(p, refused[i][1], "'%s' is not in the language", refused[i][0]);
    *done = true;
    if (holo_parser_accept(p, "if")) return if_statement(c, out);
    if (holo_parser_accept(p, "for")) return for_statement(c, out);
    if (holo_parser_accept(p, "while")) return while_statement(c, out);
    HoloAst  node  = {.kind = HOLO_AST_KINDS};
    HoloAst *value = NULL;
    uint32_t at    = p->token->at;
    if (holo_parser_accept(p, "break")) node.kind = HOLO_AST_BREAK;
    if (holo_parser_accept(p, "continue")) node.kind = HOLO_AST_CONTINUE;
    if (holo_parser_accept(p, "return")) {
        node.kind = HOLO_AST_RETURN;
        if (!holo_parser_is(p, ";")) HOLO_TRY(holo_c_expression(c, &value));
        if (value && c->returns != HOLO_NONE) return return_as(c, value, at, out);
        node.a = value;
    }
    *done = node.kind != HOLO_AST_KINDS;
    if (!*done) return HOLO_OK;
    HOLO_TRY(holo_parser_expect(p, ";", "a statement ends with ;"));
    return holo_parser_node(p, node, at, out);
}

static HoloStatus statement(HoloCParser *c, HoloAst **out)
{
    bool done;
    *out = NULL;
    if (holo_parser_accept(&c->p, ";")) return HOLO_OK;
    HOLO_TRY(word_statement(c, out, &done));
    if (done) return HOLO_OK;
    if (holo_parser_is(&c->p, "{")) return holo_c_block(c, out);
    if (holo_parser_is(&c->p, "shared") || holo_parser_is_wide(&c->p) ||
        (holo_c_is_type(c) && strcmp(c->p.token[1].text, "(")))
        return declaration(c, out);
    HOLO_TRY(simple(c, out));
    return holo_parser_expect(&c->p, ";", "a statement ends with ;");
}

// A block, or one statement in its place.
HoloStatus holo_c_block(HoloCParser *c, HoloAst **out)
{
    HoloParser *p     = &c->p;
    HoloAstList list  = {0};
    int         names = c->name_count;
    HoloAst    *one;
    HOLO_TRY(holo_parser_deeper(p));
    c->block++;
    if (!holo_parser_accept(p, "{")) {
        HOLO_TRY(statement(c, &one));
        if (one) holo_parser_append(&list, one);
    } else {
        while (!holo_parser_is(p, "}") && p->token->kind != HOLO_TOKEN_END) {
            HOLO_TRY(statement(c, &one));
            if (one) holo_parser_append(&list, one);
        }
        HOLO_TRY(holo_parser_expect(p, "}", "close the block with }"));
    }
    close_block(c, names);
    p->depth--;
    *out = list.first;
    return HOLO_OK;
}
