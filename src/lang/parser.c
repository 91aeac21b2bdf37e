// parser.c - what the parsers of Python and C share.

#include "lang/parser.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 1000 };

HoloStatus holo_parser_open(HoloParser *p, HoloLexStyle style)
{
    HoloToken *token;
    HOLO_TRY(holo_lex(p->arena, p->source, style, &token, p->error));
    p->token = token;
    return HOLO_OK;
}

HoloStatus holo_parser_fail(HoloParser *p, const char *advice, const char *format, ...)
{
    char    what[500];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    HoloSourcePlace place = {.at = p->token ? p->token->at : 0, .path = p->path};
    return holo_source_fail(p->source, place, advice, p->error, "%s", what);
}

HoloStatus holo_parser_deeper(HoloParser *p)
{
    if (++p->depth > HOLO_LANG_DEPTH)
        return holo_parser_fail(p, "give parts of it names of their own", "this nests deeper than %d", HOLO_LANG_DEPTH);
    return HOLO_OK;
}

bool holo_parser_is(const HoloParser *p, const char *text)
{
    const HoloToken *t = p->token;
    return (t->kind == HOLO_TOKEN_NAME || t->kind == HOLO_TOKEN_MARK) && !strcmp(t->text, text);
}

bool holo_parser_accept(HoloParser *p, const char *text)
{
    bool is = holo_parser_is(p, text);
    p->token += is;
    return is;
}

bool holo_parser_is_op(const HoloParser *p, const HoloParserOp *ops, int count, int rank, HoloAstOp *out)
{
    for (int i = 0; i < count; i++) {
        if (ops[i].rank != rank || !holo_parser_is(p, ops[i].mark)) continue;
        *out = ops[i].op;
        return true;
    }
    return false;
}

HoloStatus holo_parser_expect(HoloParser *p, const char *text, const char *advice)
{
    if (holo_parser_accept(p, text)) return HOLO_OK;
    return holo_parser_fail(p, advice, "'%s' is expected here", text);
}

bool holo_parser_is_wide(const HoloParser *p)
{
    const HoloToken *t = p->token;
    if (!p->type_name || !holo_parser_is(p, "widen")) return false;
    return !strcmp(t[1].text, "(") && !strcmp(t[2].text, p->type_name) && !strcmp(t[3].text, ")");
}

HoloStatus holo_parser_name(HoloParser *p, const char *what, const char **out)
{
    if (p->token->kind != HOLO_TOKEN_NAME) return holo_parser_fail(p, NULL, "%s is expected here", what);
    *out = p->token++->text;
    return HOLO_OK;
}

// ---- nodes

static void grow(HoloAst *node, const HoloAst *child)
{
    if (child && child->height >= node->height) node->height = (uint16_t)(child->height + 1);
}

HoloStatus holo_parser_node(HoloParser *p, HoloAst node, uint32_t at, HoloAst **out)
{
    HoloSourcePlace place = {.at = at, .path = p->path};
    if (++p->nodes > HOLO_LANG_NODES)
        return holo_source_fail(p->source, place, "split it into several files", p->error,
                                "more than %d operations in one file", HOLO_LANG_NODES);
    node.height = 1;
    node.place  = place;
    node.next   = NULL;
    grow(&node, node.a);
    grow(&node, node.b);
    grow(&node, node.c);
    grow(&node, node.d);
    for (const HoloAst *s = node.list; s; s = s->next) grow(&node, s);
    for (const HoloAst *s = node.other; s; s = s->next) grow(&node, s);
    if (node.height > HOLO_LANG_HEIGHT)
        return holo_source_fail(p->source, place, "give parts of it names of their own", p->error,
                                "an expression of more than %d steps", HOLO_LANG_HEIGHT);
    *out = HOLO_NEW(p->arena, HoloAst, 1);
    if (!*out) return holo_fail_memory(p->error);
    **out = node;
    return HOLO_OK;
}

void holo_parser_append(HoloAstList *list, HoloAst *node)
{
    if (list->last)
        list->last->next = node;
    else
        list->first = node;
    for (list->last = node; list->last->next;) list->last = (HoloAst *)list->last->next;
}

HoloStatus holo_parser_binary(HoloParser *p, HoloAstOp op, const HoloAst *a, const HoloAst *b, uint32_t at,
                              HoloAst **out)
{
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_BINARY, .op = (uint8_t)op, .a = a, .b = b}, at, out);
}

HoloStatus holo_parser_int(HoloParser *p, int64_t value, uint32_t at, HoloAst **out)
{
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_INT, .integer = value}, at,
                            out);
}

HoloStatus holo_parser_number(HoloParser *p, HoloAst **out)
{
    const HoloToken *t        = p->token++;
    bool             is_float = t->kind == HOLO_TOKEN_FLOAT;
    HoloAst          node     = {.kind    = HOLO_AST_LITERAL,
                                 .literal = is_float ? HOLO_LITERAL_FLOAT : HOLO_LITERAL_INT,
                                 .integer = t->integer,
                                 .number  = t->number};
    return holo_parser_node(p, node, t->at, out);
}

// ---- constants

static HoloStatus not_constant(HoloParser *p, const HoloAst *value)
{
    return holo_source_fail(p->source, value->place, "a constant is made of numbers and + - * / // % **", p->error,
                            "this is not a constant");
}

static HoloStatus fold_ints(HoloParser *p, const HoloAst *at, HoloAstOp op, int64_t a, int64_t b, int64_t *out)
{
    if (holo_literal_ints(op, a, b, out)) return HOLO_OK;
    if (op >= HOLO_OP_LT && op <= HOLO_OP_OR) return not_constant(p, at);
    return holo_source_fail(p->source, at->place, NULL, p->error, "this has no value that fits into 64 bits");
}

static HoloStatus fold_floats(HoloParser *p, const HoloAst *at, HoloAstOp op, double a, double b, double *out)
{
    switch (op) {
    case HOLO_OP_ADD: *out = a + b; return HOLO_OK;
    case HOLO_OP_SUB: *out = a - b; return HOLO_OK;
    case HOLO_OP_MUL: *out = a * b; return HOLO_OK;
    case HOLO_OP_DIV:
    case HOLO_OP_TRUNC_DIV: *out = a / b; return b != 0 ? HOLO_OK : not_constant(p, at);
    default: return not_constant(p, at);
    }
}

static HoloStatus fold_binary(HoloParser *p, const HoloAst *value, const HoloAst *a, const HoloAst *b, HoloAst *out)
{
    bool ints = a->literal == HOLO_LITERAL_INT && b->literal == HOLO_LITERAL_INT && value->op != HOLO_OP_DIV;
    if (a->literal > HOLO_LITERAL_FLOAT || b->literal > HOLO_LITERAL_FLOAT) return not_constant(p, value);
    if (ints) return fold_ints(p, value, value->op, a->integer, b->integer, &out->integer);
    out->literal = HOLO_LITERAL_FLOAT;
    double x     = a->literal == HOLO_LITERAL_INT ? (double)a->integer : a->number,
           y     = b->literal == HOLO_LITERAL_INT ? (double)b->integer : b->number;
    return fold_floats(p, value, value->op, x, y, &out->number);
}

HoloStatus holo_parser_fold(HoloParser *p, const HoloAst *value, HoloAst **out)
{
    HoloAst  node = *value, *a, *b;
    uint32_t at   = value->place.at;
    if (value->kind == HOLO_AST_UNARY && (value->op == HOLO_OP_NEG || value->op == HOLO_OP_POS)) {
        HOLO_TRY(holo_parser_fold(p, value->a, &a));
        if (a->literal > HOLO_LITERAL_FLOAT) return not_constant(p, value);
        node = *a;
        if (value->op == HOLO_OP_NEG) {
            HOLO_TRY(fold_ints(p, value, HOLO_OP_SUB, 0, node.integer, &node.integer));
            node.number = -node.number;
        }
    } else if (value->kind == HOLO_AST_BINARY) {
        HOLO_TRY(holo_parser_fold(p, value->a, &a));
        HOLO_TRY(holo_parser_fold(p, value->b, &b));
        node = (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_INT};
        HOLO_TRY(fold_binary(p, value, a, b, &node));
    } else if (value->kind != HOLO_AST_LITERAL || value->literal == HOLO_LITERAL_TEXT) {
        return not_constant(p, value);
    }
    return holo_parser_node(p, node, at, out);
}

HoloStatus holo_parser_block_size(HoloParser *p, const HoloAst *value, int *out)
{
    HoloAst *literal;
    HOLO_TRY(holo_parser_fold(p, value, &literal));
    if (literal->literal != HOLO_LITERAL_INT || literal->integer < 1 || literal->integer > HOLO_LANG_BLOCK)
        return holo_source_fail(p->source, value->place, NULL, p->error, "a block has 1 to %d lanes", HOLO_LANG_BLOCK);
    *out = (int)literal->integer;
    return HOLO_OK;
}

static const HoloAst *find_atomic(const HoloAst *n)
{
    const HoloAst *found = NULL;
    if (!n || (n->kind == HOLO_AST_CALL && !strncmp(n->name, "atomic", 6))) return n;
    const HoloAst *children[] = {n->a, n->b, n->c};
    for (int i = 0; i < 3 && !found; i++) found = find_atomic(children[i]);
    for (const HoloAst *x = n->list; x && !found; x = x->next) found = find_atomic(x);
    return found;
}

HoloStatus holo_parser_once(HoloParser *p, const HoloAst *value)
{
    const HoloAst *atomic = find_atomic(value);
    if (!atomic) return HOLO_OK;
    return holo_source_fail(p->source, atomic->place, "assign it to a variable before", p->error,
                            "this would be done twice");
}

// ---- names

bool holo_parser_is_declared(const HoloParser *p, const char *name)
{
    for (int i = p->declared_count; i-- > 0;)
        if (!strcmp(p->declared[i], name)) return true;
    return false;
}

HoloStatus holo_parser_declare(HoloParser *p, const char *name)
{
    if (holo_parser_is_declared(p, name)) return HOLO_OK;
    if (p->declared_count == NAMES_MAX)
        return holo_parser_fail(p, "use an array", "more than %d variables in one kernel", NAMES_MAX);
    if (!HOLO_GROW(p->arena, p->declared, p->declared_count, p->declared_room)) return holo_fail_memory(p->error);
    p->declared[p->declared_count++] = name;
    return HOLO_OK;
}

HoloStatus holo_parser_names(HoloParser *p, const HoloAst *list)
{
    for (; list; list = list->next) {
        bool makes    = list->kind == HOLO_AST_LET || list->kind == HOLO_AST_FOR || list->kind == HOLO_AST_ARRAY;
        bool is_named = list->kind == HOLO_AST_ASSIGN && list->a->kind == HOLO_AST_VAR;
        if (makes) HOLO_TRY(holo_parser_declare(p, list->name));
        if (is_named && !holo_parser_is_declared(p, list->a->name))
            return holo_source_fail(p->source, list->a->place, "the first assignment is a \"let\"", p->error,
                                    "there is no variable '%.60s'", list->a->name);
        if (list->kind == HOLO_AST_CALL) continue; // its list is arguments
        HOLO_TRY(holo_parser_names(p, list->list));
        HOLO_TRY(holo_parser_names(p, list->other));
    }
    return HOLO_OK;
}

const HoloAst *holo_parser_constant(const HoloParser *p, const char *name)
{
    for (const HoloParserConstant *c = p->constants; c; c = c->next)
        if (!strcmp(c->name, name)) return c->value;
    return NULL;
}

HoloStatus holo_parser_add_constant(HoloParser *p, const char *name, const HoloAst *value)
{
    if (++p->names > NAMES_MAX) return holo_parser_fail(p, NULL, "more than %d constants in one file", NAMES_MAX);
    HoloParserConstant *c = HOLO_NEW(p->arena, HoloParserConstant, 1);
    if (!c) return holo_fail_memory(p->error);
    *c           = (HoloParserConstant){name, value, p->constants};
    p->constants = c;
    return HOLO_OK;
}
