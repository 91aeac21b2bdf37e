// c_expression.c - expressions and types of the C dialect. Everything else of C is refused with advice.

#include "lang/parse_c.h"

#include <string.h>

// ---- types

typedef struct TypeName {
    const char *name;
    HoloDtype   plain, with_unsigned; // HOLO_NONE: it cannot be unsigned
} TypeName;

static const TypeName type_names[] = {
    {"char", HOLO_I8, HOLO_U8},        {"short", HOLO_I16, HOLO_U16},      {"int", HOLO_I32, HOLO_U32},
    {"long", HOLO_I64, HOLO_U64},      {"float", HOLO_F32, HOLO_NONE},     {"double", HOLO_F64, HOLO_NONE},
    {"half", HOLO_F16, HOLO_NONE},     {"bfloat16", HOLO_BF16, HOLO_NONE}, {"bool", HOLO_BOOL, HOLO_NONE},
    {"size_t", HOLO_U64, HOLO_NONE},   {"uchar", HOLO_U8, HOLO_NONE},      {"ushort", HOLO_U16, HOLO_NONE},
    {"uint", HOLO_U32, HOLO_NONE},     {"ulong", HOLO_U64, HOLO_NONE},     {"int8_t", HOLO_I8, HOLO_NONE},
    {"int16_t", HOLO_I16, HOLO_NONE},  {"int32_t", HOLO_I32, HOLO_NONE},   {"int64_t", HOLO_I64, HOLO_NONE},
    {"uint8_t", HOLO_U8, HOLO_NONE},   {"uint16_t", HOLO_U16, HOLO_NONE},  {"uint32_t", HOLO_U32, HOLO_NONE},
    {"uint64_t", HOLO_U64, HOLO_NONE},
};

static const TypeName *type_find(const char *name)
{
    for (int i = 0; i < HOLO_COUNT(type_names); i++)
        if (!strcmp(type_names[i].name, name)) return &type_names[i];
    return NULL;
}

static bool is_type_variable(const HoloCParser *c, const char *name)
{
    return c->p.type_name && !strcmp(name, c->p.type_name);
}

bool holo_c_is_type(const HoloCParser *c)
{
    const HoloToken *t = c->p.token;
    if (t->kind != HOLO_TOKEN_NAME) return false;
    return holo_parser_is_wide(&c->p) || !strcmp(t->text, "const") || !strcmp(t->text, "unsigned") ||
           !strcmp(t->text, "signed") || is_type_variable(c, t->text) || type_find(t->text) ||
           holo_lang_type(t->text) != HOLO_NONE;
}

HoloStatus holo_c_type(HoloCParser *c, uint8_t *out, bool *is_const)
{
    HoloParser *p     = &c->p;
    bool        fixed = false;
    while (holo_parser_accept(p, "const")) fixed = true;
    bool is_unsigned = holo_parser_accept(p, "unsigned");
    if (!is_unsigned) holo_parser_accept(p, "signed");
    const char     *name = p->token->kind == HOLO_TOKEN_NAME ? p->token->text : "";
    const TypeName *type = type_find(name);
    if (is_unsigned && (!type || type->with_unsigned == HOLO_NONE)) {
        *out = HOLO_U32; // "unsigned" alone
        if (is_const) *is_const = fixed;
        return HOLO_OK;
    }
    bool is_wide = holo_parser_is_wide(p);
    if (is_wide) p->token += 3; // its last word is left
    *out = is_wide                     ? HOLO_TYPE_WIDE
           : is_type_variable(c, name) ? HOLO_TYPE_VAR
           : type                      ? (uint8_t)(is_unsigned ? type->with_unsigned : type->plain)
                                       : (uint8_t)holo_lang_type(name);
    if (*out == HOLO_NONE)
        return holo_parser_fail(p, "types are char short int long, unsigned ones, half bfloat16 float double, bool",
                                "a type is expected here");
    p->token++;
    while (!strcmp(name, "long") && (holo_parser_accept(p, "long") || holo_parser_accept(p, "int"))) {
    }
    while (holo_parser_accept(p, "const")) fixed = true;
    if (is_const) *is_const = fixed;
    return HOLO_OK;
}

// How the tree writes a conversion to this type.
static const char *cast_name(const HoloCParser *c, uint8_t type)
{
    return type == HOLO_TYPE_VAR ? c->p.type_name : holo_dtype_name(type);
}

HoloStatus holo_c_cast(HoloCParser *c, uint8_t type, const HoloAst *value, uint32_t at, HoloAst **out)
{
    if (type == HOLO_TYPE_WIDE)
        return holo_source_fail(c->p.source, (HoloSourcePlace){.at = at}, "write widen(x), or T(x)", c->p.error,
                                "widen(T) is for variables and arrays");
    return holo_parser_node(&c->p, (HoloAst){.kind = HOLO_AST_CALL, .name = cast_name(c, type), .list = value}, at,
                            out);
}

// ---- primaries

static HoloStatus number(HoloCParser *c, HoloAst **out)
{
    const HoloToken *t       = c->p.token;
    bool             is_cast = t->suffix != HOLO_NONE && !(t->kind == HOLO_TOKEN_FLOAT && t->suffix == HOLO_F64);
    HOLO_TRY(holo_parser_number(&c->p, out));
    return is_cast ? holo_c_cast(c, t->suffix, *out, t->at, out) : HOLO_OK;
}

HoloStatus holo_c_no_step(HoloCParser *c)
{
    if (!holo_parser_is(&c->p, "++") && !holo_parser_is(&c->p, "--")) return HOLO_OK;
    return holo_parser_fail(&c->p, "write x += 1; on a line of its own", "this is a statement, not a value");
}

static HoloStatus arguments(HoloCParser *c, HoloAst **out)
{
    HoloAstList list = {0};
    while (!holo_parser_is(&c->p, ")")) {
        HoloAst *one;
        HOLO_TRY(holo_c_expression(c, &one));
        HOLO_TRY(holo_c_no_step(c));
        holo_parser_append(&list, one);
        if (!holo_parser_accept(&c->p, ",")) break;
    }
    *out = list.first;
    return holo_parser_expect(&c->p, ")", "close the arguments with )");
}

static HoloStatus name(HoloCParser *c, HoloAst **out)
{
    static const char *const renamed[][2] = {{"INFINITY", "inf"}, {"NAN", "nan"}, {"M_PI", "pi"}};
    static const char *const refused[][2] = {{"sizeof", "write the number of bytes"},
                                             {"printf", "write what you want to see into an array"}};
    HoloParser              *p            = &c->p;
    const HoloToken         *t            = p->token++;
    bool                     is_true      = !strcmp(t->text, "true");
    if (is_true || !strcmp(t->text, "false"))
        return holo_parser_node(
            p, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_BOOL, .integer = is_true}, t->at, out);
    for (int i = 0; i < HOLO_COUNT(refused); i++)
        if (!strcmp(t->text, refused[i][0])) {
            p->token--;
            return holo_parser_fail(p, refused[i][1], "'%s' is not in the language", refused[i][0]);
        }
    if (holo_parser_accept(p, "(")) {
        HoloAst *list = NULL;
        HOLO_TRY(arguments(c, &list));
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_CALL, .name = t->text, .list = list}, t->at, out);
    }
    const char    *variable = holo_c_name(c, t->text);
    const HoloAst *constant = variable ? NULL : holo_parser_constant(p, t->text);
    if (constant) return holo_parser_node(p, *constant, t->at, out);
    for (int i = 0; i < HOLO_COUNT(renamed) && !variable; i++)
        if (!strcmp(renamed[i][0], t->text)) variable = renamed[i][1];
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_VAR, .name = variable ? variable : t->text}, t->at, out);
}

static HoloStatus postfix(HoloCParser *c, HoloAst **out)
{
    HoloParser *p = &c->p;
    if (p->token->kind == HOLO_TOKEN_INT || p->token->kind == HOLO_TOKEN_FLOAT) {
        HOLO_TRY(number(c, out));
    } else if (p->token->kind == HOLO_TOKEN_NAME) {
        HOLO_TRY(name(c, out));
    } else {
        HOLO_TRY(holo_parser_expect(p, "(", "a value is a number, a name, a call, or something in ( and )"));
        HOLO_TRY(holo_c_expression(c, out));
        HOLO_TRY(holo_parser_expect(p, ")", "close the bracket with )"));
    }
    for (;;) {
        uint32_t at = p->token->at;
        if (holo_parser_is(p, ".") || holo_parser_is(p, "->"))
            return holo_parser_fail(p, "use several variables or arrays", "there are no structures");
        if (!holo_parser_accept(p, "[")) return HOLO_OK;
        HoloAst *index;
        HOLO_TRY(holo_c_expression(c, &index));
        HOLO_TRY(holo_c_no_step(c));
        HOLO_TRY(holo_parser_expect(p, "]", "close the index with ]"));
        HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_INDEX, .a = *out, .b = index}, at, out));
    }
}

// ---- operators

static HoloStatus unary_inside(HoloCParser *c, HoloAst **out)
{
    static const HoloParserOp ops[] = {
        {"-", HOLO_OP_NEG, 0}, {"+", HOLO_OP_POS, 0}, {"~", HOLO_OP_INV, 0}, {"!", HOLO_OP_NOT, 0}};
    HoloParser *p  = &c->p;
    uint32_t    at = p->token->at;
    HoloAst    *operand;
    HoloAstOp   op;
    if (holo_parser_is(p, "*") || holo_parser_is(p, "&"))
        return holo_parser_fail(p, "use a[i], and pass arrays by their names", "there are no pointers but parameters");
    HOLO_TRY(holo_c_no_step(c));
    if (holo_parser_is_op(p, ops, HOLO_COUNT(ops), 0, &op)) {
        p->token++;
        HOLO_TRY(holo_parser_deeper(p));
        HOLO_TRY(unary_inside(c, &operand));
        p->depth--;
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_UNARY, .op = (uint8_t)op, .a = operand}, at, out);
    }
    bool is_bracket = holo_parser_accept(p, "(");
    if (is_bracket && holo_c_is_type(c)) { // a cast
        uint8_t type;
        HOLO_TRY(holo_c_type(c, &type, NULL));
        HOLO_TRY(holo_parser_expect(p, ")", "as in: (float)x"));
        HOLO_TRY(holo_parser_deeper(p));
        HOLO_TRY(unary_inside(c, &operand));
        p->depth--;
        return holo_c_cast(c, type, operand, at, out);
    }
    p->token -= is_bracket;
    return postfix(c, out);
}

enum { RANK_UNARY = 10 };

static const HoloParserOp binary[] = {
    {"||", HOLO_OP_OR, 0},       {"&&", HOLO_OP_AND, 1},      {"|", HOLO_OP_BIT_OR, 2}, {"^", HOLO_OP_BIT_XOR, 3},
    {"&", HOLO_OP_BIT_AND, 4},   {"==", HOLO_OP_EQ, 5},       {"!=", HOLO_OP_NE, 5},    {"<", HOLO_OP_LT, 6},
    {"<=", HOLO_OP_LE, 6},       {">", HOLO_OP_GT, 6},        {">=", HOLO_OP_GE, 6},    {"<<", HOLO_OP_SHL, 7},
    {">>", HOLO_OP_SHR, 7},      {"+", HOLO_OP_ADD, 8},       {"-", HOLO_OP_SUB, 8},    {"*", HOLO_OP_MUL, 9},
    {"/", HOLO_OP_TRUNC_DIV, 9}, {"%", HOLO_OP_TRUNC_MOD, 9},
};

static HoloStatus level(HoloCParser *c, int rank, HoloAst **out)
{
    if (rank == RANK_UNARY) return unary_inside(c, out);
    HoloAstOp op;
    HOLO_TRY(level(c, rank + 1, out));
    while (holo_parser_is_op(&c->p, binary, HOLO_COUNT(binary), rank, &op)) {
        uint32_t at = c->p.token++->at;
        HoloAst *right;
        HOLO_TRY(level(c, rank + 1, &right));
        HOLO_TRY(holo_parser_binary(&c->p, op, *out, right, at, out));
    }
    return HOLO_OK;
}

HoloStatus holo_c_expression(HoloCParser *c, HoloAst **out)
{
    HoloParser *p = &c->p;
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(level(c, 0, out));
    uint32_t at = p->token->at;
    if (holo_parser_accept(p, "?")) {
        HoloAst *then, *other;
        HOLO_TRY(holo_c_expression(c, &then));
        HOLO_TRY(holo_parser_expect(p, ":", "write: condition ? a : b"));
        HOLO_TRY(holo_c_expression(c, &other));
        HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_CHOICE, .a = *out, .b = then, .c = other}, at, out));
    }
    p->depth--;
    return HOLO_OK;
}
