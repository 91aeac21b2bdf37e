// python_expression.c - expressions of the Python dialect, by precedence. Everything else of Python is refused with
// advice.

#include "lang/parse_python.h"

#include <string.h>

enum { CHAIN_HEIGHT = 5 }; // of the middle part of a chained comparison, which is compared twice

static HoloStatus level(HoloParser *p, int rank, HoloAst **out);

const char *holo_python_advice(const char *word)
{
    static const struct {
        const char *word, *advice;
    } words[] = {
        {"lambda", "write a helper: @inline, def name(x): return ..."},
        {"class", "kernels are functions; pass arrays and numbers"},
        {"import", "the language needs no import; remove this line"},
        {"try", "there are no exceptions; test with 'if' before"},
        {"except", "there are no exceptions; test with 'if' before"},
        {"finally", "there are no exceptions"},
        {"raise", "there are no exceptions; write a mark into an output instead"},
        {"assert", "test it where the kernel is called"},
        {"with", "there is nothing to open or close in a kernel"},
        {"yield", "write results into an array"},
        {"async", "a kernel already runs in many lanes at once"},
        {"await", "use barrier() to wait for the other lanes of the block"},
        {"global", "assign to variables of the kernel; module constants are read only"},
        {"nonlocal", "assign to variables of the kernel"},
        {"del", "variables end with the kernel; remove this line"},
        {"is", "compare with =="},
        {"in", "compare with == in a loop"},
        {"None", "there is no None; use 0 or a bool flag"},
        {"match", "use if, elif, else"},
        {"print", "write what you want to see into an array"},
    };
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (!strcmp(words[i].word, word)) return words[i].advice;
    return NULL;
}

static bool is_keyword(const char *word)
{
    static const char *const words[] = {"if", "else", "elif",  "for",  "while",    "def",  "return", "and",
                                        "or", "not",  "break", "pass", "continue", "from", "as",     "import"};
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (!strcmp(words[i], word)) return true;
    return false;
}

// ---- primaries

static HoloStatus arguments(HoloParser *p, HoloAst **out)
{
    HoloAstList list = {0};
    while (!holo_parser_is(p, ")")) {
        HoloAst *argument;
        if (holo_parser_is(p, "*") || holo_parser_is(p, "**"))
            return holo_parser_fail(p, "write each argument", "arguments cannot be unpacked");
        HOLO_TRY(holo_python_expression(p, &argument));
        if (holo_parser_is(p, "="))
            return holo_parser_fail(p, "give arguments in their order, without names", "an argument with a name");
        if (holo_parser_is(p, "for"))
            return holo_parser_fail(p, "write a loop: for i in range(n):", "there are no generators");
        holo_parser_append(&list, argument);
        if (!holo_parser_accept(p, ",")) break;
    }
    HOLO_TRY(holo_parser_expect(p, ")", "close the arguments with )"));
    *out = list.first;
    return HOLO_OK;
}

static HoloStatus name(HoloParser *p, HoloAst **out)
{
    const HoloToken *t      = p->token;
    const char      *advice = holo_python_advice(t->text);
    if (advice || is_keyword(t->text)) return holo_parser_fail(p, advice, "'%s' cannot stand here", t->text);
    p->token++;
    if (!strcmp(t->text, "True") || !strcmp(t->text, "False"))
        return holo_parser_node(
            p, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_BOOL, .integer = t->text[0] == 'T'}, t->at,
            out);
    if (holo_parser_accept(p, "(")) {
        HoloAst *list = NULL;
        HOLO_TRY(arguments(p, &list));
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_CALL, .name = t->text, .list = list}, t->at, out);
    }
    const HoloAst *constant = holo_parser_is_declared(p, t->text) ? NULL : holo_parser_constant(p, t->text);
    if (constant) return holo_parser_node(p, *constant, t->at, out);
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_VAR, .name = t->text}, t->at, out);
}

static HoloStatus primary(HoloParser *p, HoloAst **out)
{
    const HoloToken *t = p->token;
    switch (t->kind) {
    case HOLO_TOKEN_INT:
    case HOLO_TOKEN_FLOAT: return holo_parser_number(p, out);
    case HOLO_TOKEN_NAME: return name(p, out);
    case HOLO_TOKEN_TEXT:
        p->token++;
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_LITERAL, .literal = HOLO_LITERAL_TEXT, .name = t->text},
                                t->at, out);
    default: break;
    }
    if (holo_parser_is(p, "["))
        return holo_parser_fail(p, "an array of fixed size is made by: x = local(f32, 8)", "there are no lists");
    if (holo_parser_is(p, "{")) return holo_parser_fail(p, "use an array", "there are no dictionaries and no sets");
    if (!holo_parser_accept(p, "(")) return holo_parser_fail(p, NULL, "a value is expected here");
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(holo_python_expression(p, out));
    p->depth--;
    if (holo_parser_is(p, ",")) return holo_parser_fail(p, "use several variables", "there are no tuples");
    return holo_parser_expect(p, ")", "close the bracket with )");
}

static HoloStatus postfix(HoloParser *p, HoloAst **out)
{
    HOLO_TRY(primary(p, out));
    for (;;) {
        uint32_t at = p->token->at;
        if (holo_parser_is(p, "."))
            return holo_parser_fail(p, "call functions without a module, as exp(x); arrays have no methods",
                                    "there are no attributes");
        if (holo_parser_is(p, "("))
            return holo_parser_fail(p, "functions are called by their name", "only a function can be called");
        if (!holo_parser_accept(p, "[")) return HOLO_OK;
        HoloAst *index;
        HOLO_TRY(holo_parser_deeper(p));
        if (holo_parser_is(p, ":")) return holo_parser_fail(p, "take one element: a[i]", "there are no slices");
        HOLO_TRY(holo_python_expression(p, &index));
        p->depth--;
        if (holo_parser_is(p, ":")) return holo_parser_fail(p, "take one element: a[i]", "there are no slices");
        if (holo_parser_is(p, ","))
            return holo_parser_fail(p, "arrays have one dimension: write a[row * columns + column]",
                                    "an index has one number");
        HOLO_TRY(holo_parser_expect(p, "]", "close the index with ]"));
        HOLO_TRY(holo_parser_node(p, (HoloAst){.kind = HOLO_AST_INDEX, .a = *out, .b = index}, at, out));
    }
}

// ---- operators

static HoloStatus unary(HoloParser *p, HoloAst **out);

static HoloStatus power(HoloParser *p, HoloAst **out)
{
    HOLO_TRY(postfix(p, out));
    uint32_t at = p->token->at;
    if (!holo_parser_accept(p, "**")) return HOLO_OK;
    HoloAst *exponent;
    HOLO_TRY(unary(p, &exponent));
    return holo_parser_binary(p, HOLO_OP_POW, *out, exponent, at, out);
}

static HoloStatus unary(HoloParser *p, HoloAst **out)
{
    static const HoloParserOp ops[] = {{"-", HOLO_OP_NEG, 0}, {"+", HOLO_OP_POS, 0}, {"~", HOLO_OP_INV, 0}};
    uint32_t                  at    = p->token->at;
    HoloAstOp                 op;
    if (holo_parser_is_op(p, ops, HOLO_COUNT(ops), 0, &op)) {
        HoloAst *operand;
        p->token++;
        HOLO_TRY(holo_parser_deeper(p));
        HOLO_TRY(unary(p, &operand));
        p->depth--;
        return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_UNARY, .op = (uint8_t)op, .a = operand}, at, out);
    }
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(power(p, out));
    p->depth--;
    return HOLO_OK;
}

enum { RANK_OR, RANK_AND, RANK_NOT, RANK_COMPARE, RANK_BIT_OR, RANK_UNARY = 10 };

static const HoloParserOp binary[] = {
    {"or", HOLO_OP_OR, RANK_OR},
    {"and", HOLO_OP_AND, RANK_AND},
    {"<", HOLO_OP_LT, RANK_COMPARE},
    {"<=", HOLO_OP_LE, RANK_COMPARE},
    {">", HOLO_OP_GT, RANK_COMPARE},
    {">=", HOLO_OP_GE, RANK_COMPARE},
    {"==", HOLO_OP_EQ, RANK_COMPARE},
    {"!=", HOLO_OP_NE, RANK_COMPARE},
    {"|", HOLO_OP_BIT_OR, 4},
    {"^", HOLO_OP_BIT_XOR, 5},
    {"&", HOLO_OP_BIT_AND, 6},
    {"<<", HOLO_OP_SHL, 7},
    {">>", HOLO_OP_SHR, 7},
    {"+", HOLO_OP_ADD, 8},
    {"-", HOLO_OP_SUB, 8},
    {"*", HOLO_OP_MUL, 9},
    {"/", HOLO_OP_DIV, 9},
    {"//", HOLO_OP_FLOOR_DIV, 9},
    {"%", HOLO_OP_MOD, 9},
};

// a < b <= c means a < b and b <= c.
static HoloStatus comparison(HoloParser *p, HoloAst **out)
{
    HoloAst  *left, *chain = NULL;
    HoloAstOp op;
    HOLO_TRY(level(p, RANK_BIT_OR, &left));
    *out = left;
    while (holo_parser_is_op(p, binary, HOLO_COUNT(binary), RANK_COMPARE, &op)) {
        uint32_t at = p->token++->at;
        HoloAst *right, *one;
        if (chain && left->height > CHAIN_HEIGHT)
            return holo_source_fail(p->source, left->place, "give it a name on a line of its own", p->error,
                                    "the middle of a chained comparison is too long");
        if (chain) HOLO_TRY(holo_parser_once(p, left));
        HOLO_TRY(level(p, RANK_BIT_OR, &right));
        HOLO_TRY(holo_parser_binary(p, op, left, right, at, &one));
        if (chain)
            HOLO_TRY(holo_parser_binary(p, HOLO_OP_AND, chain, one, at, &chain));
        else
            chain = one;
        left = right;
        *out = chain;
    }
    if (holo_parser_is(p, "is") || holo_parser_is(p, "in"))
        return holo_parser_fail(p, holo_python_advice(p->token->text), "'%s' is not in the language", p->token->text);
    if (holo_parser_is(p, "@")) return holo_parser_fail(p, "write the loops", "there is no matrix product");
    return HOLO_OK;
}

static HoloStatus negation(HoloParser *p, HoloAst **out)
{
    uint32_t at = p->token->at;
    if (!holo_parser_accept(p, "not")) return comparison(p, out);
    HoloAst *operand;
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(negation(p, &operand));
    p->depth--;
    return holo_parser_node(p, (HoloAst){.kind = HOLO_AST_UNARY, .op = HOLO_OP_NOT, .a = operand}, at, out);
}

static HoloStatus level(HoloParser *p, int rank, HoloAst **out)
{
    if (rank == RANK_NOT) return negation(p, out);
    if (rank == RANK_COMPARE) return comparison(p, out);
    if (rank == RANK_UNARY) return unary(p, out);
    HoloAstOp op;
    HOLO_TRY(level(p, rank + 1, out));
    while (holo_parser_is_op(p, binary, HOLO_COUNT(binary), rank, &op)) {
        uint32_t at = p->token++->at;
        HoloAst *right;
        HOLO_TRY(level(p, rank + 1, &right));
        HOLO_TRY(holo_parser_binary(p, op, *out, right, at, out));
    }
    return HOLO_OK;
}

HoloStatus holo_python_expression(HoloParser *p, HoloAst **out)
{
    HOLO_TRY(holo_parser_deeper(p));
    HOLO_TRY(level(p, RANK_OR, out));
    uint32_t at = p->token->at;
    if (holo_parser_accept(p, "if")) {
        HoloAst *condition, *other;
        HOLO_TRY(level(p, RANK_OR, &condition));
        HOLO_TRY(holo_parser_expect(p, "else", "write: a if condition else b"));
        HOLO_TRY(holo_python_expression(p, &other));
        HOLO_TRY(
            holo_parser_node(p, (HoloAst){.kind = HOLO_AST_CHOICE, .a = condition, .b = *out, .c = other}, at, out));
    }
    if (holo_parser_is(p, ":="))
        return holo_parser_fail(p, "assign on a line of its own", "':=' is not in the language");
    p->depth--;
    return HOLO_OK;
}
