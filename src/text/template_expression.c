// template_expression.c - parses the expressions of templates, with Jinja's order of operators.
#include "text/template_functions.h"
#include "text/template_parse.h"

#include <string.h>

static uint32_t parse_unary(HoloTemplateParser *p, bool with_filters);
static uint32_t parse_or(HoloTemplateParser *p);

static bool is_sign(const HoloTemplateParser *p, const char *sign)
{
    return holo_template_is(p, HOLO_TT_SIGN, sign);
}
static bool skip_sign(HoloTemplateParser *p, const char *sign)
{
    return holo_template_skip(p, HOLO_TT_SIGN, sign);
}
static void expect_sign(HoloTemplateParser *p, const char *sign)
{
    holo_template_expect(p, HOLO_TT_SIGN, sign);
}
static bool is_word(const HoloTemplateParser *p, const char *word)
{
    return holo_template_is(p, HOLO_TT_NAME, word);
}
static bool skip_word(HoloTemplateParser *p, const char *word)
{
    return holo_template_skip(p, HOLO_TT_NAME, word);
}

// ---- values

static uint32_t parse_strings(HoloTemplateParser *p)
{
    uint32_t line = p->token->line, start = (uint32_t)p->text_size;
    for (; p->token->kind == HOLO_TT_STRING; holo_template_next(p)) holo_template_text(p, p->token->text);
    return HOLO_NODE(p, STRING, line, start, (uint32_t)p->text_size - start);
}

static uint32_t parse_name(HoloTemplateParser *p)
{
    static const struct {
        const char      *word;
        HoloTemplateKind kind;
    } constants[] = {{"true", HOLO_TN_TRUE},   {"True", HOLO_TN_TRUE}, {"false", HOLO_TN_FALSE},
                     {"False", HOLO_TN_FALSE}, {"none", HOLO_TN_NONE}, {"None", HOLO_TN_NONE}};
    static const struct {
        const char *word;
        uint32_t    flag;
    } specials[]  = {{"varargs", HOLO_MACRO_VARARGS}, {"kwargs", HOLO_MACRO_KWARGS}, {"caller", HOLO_MACRO_CALLER}};
    uint32_t line = p->token->line;
    for (int i = 0; i < HOLO_COUNT(constants); i++)
        if (skip_word(p, constants[i].word)) return holo_template_node(p, constants[i].kind, line, NULL);
    for (int i = 0; i < HOLO_COUNT(specials); i++)
        if (is_word(p, specials[i].word)) p->macro |= specials[i].flag;
    uint32_t name = holo_template_name(p, p->token->text);
    holo_template_next(p);
    return HOLO_NODE(p, NAME, line, name);
}

static uint32_t parse_number(HoloTemplateParser *p)
{
    uint64_t bits = (uint64_t)p->token->number;
    uint32_t line = p->token->line;
    bool     real = p->token->kind == HOLO_TT_FLOAT;
    if (real) memcpy(&bits, &p->token->real, sizeof bits);
    holo_template_next(p);
    if (real) return HOLO_NODE(p, FLOAT, line, (uint32_t)bits, (uint32_t)(bits >> 32));
    return HOLO_NODE(p, INT, line, (uint32_t)bits, (uint32_t)(bits >> 32));
}

// The elements of a list or a dict up to its end, which is passed.
static uint32_t parse_elements(HoloTemplateParser *p, bool is_dict)
{
    const char *end   = is_dict ? "}" : "]";
    uint32_t    line  = p->token->line, count;
    int         begin = p->waiting_count;
    while (!p->status && !is_sign(p, end)) {
        if (p->waiting_count > begin) {
            expect_sign(p, ",");
            if (is_sign(p, end)) break;
        }
        holo_template_wait(p, holo_template_expression(p));
        if (!is_dict) continue;
        expect_sign(p, ":");
        holo_template_wait(p, holo_template_expression(p));
    }
    expect_sign(p, end);
    uint32_t start = holo_template_list(p, begin, &count);
    return holo_template_node(p, is_dict ? HOLO_TN_DICT : HOLO_TN_LIST, line, (const uint32_t[6]){start, count});
}

static uint32_t parse_primary(HoloTemplateParser *p)
{
    uint32_t line = p->token->line;
    switch (p->token->kind) {
    case HOLO_TT_NAME: return parse_name(p);
    case HOLO_TT_STRING: return parse_strings(p);
    case HOLO_TT_INT:
    case HOLO_TT_FLOAT: return parse_number(p);
    default: break;
    }
    if (skip_sign(p, "[")) return parse_elements(p, false);
    if (skip_sign(p, "{")) return parse_elements(p, true);
    if (!skip_sign(p, "(")) {
        HoloString text = p->token->text;
        return holo_template_fail(p, line, "a value is missing before '%.*s'", text.data ? (int)text.size : 11,
                                  text.data ? text.data : "end of tag");
    }
    if (skip_sign(p, ")")) return HOLO_NODE(p, TUPLE, line, 0, 0);
    uint32_t inner = holo_template_tuple(p, true);
    expect_sign(p, ")");
    return inner;
}

// ---- what follows a value

// Arguments of a call, with their brackets.
static uint32_t parse_arguments(HoloTemplateParser *p, uint32_t *out_count)
{
    int begin = p->waiting_count;
    expect_sign(p, "(");
    while (!p->status && !is_sign(p, ")")) {
        uint32_t line = p->token->line;
        if (p->waiting_count > begin) {
            expect_sign(p, ",");
            if (is_sign(p, ")")) break;
        }
        bool is_keyword = p->token->kind == HOLO_TT_NAME && p->token[1].kind == HOLO_TT_SIGN &&
                          p->token[1].text.size == 1 && p->token[1].text.data[0] == '=';
        if (skip_sign(p, "**")) {
            holo_template_wait(p, HOLO_NODE(p, SPREAD_ALL, line, holo_template_expression(p)));
        } else if (skip_sign(p, "*")) {
            holo_template_wait(p, HOLO_NODE(p, SPREAD, line, holo_template_expression(p)));
        } else if (is_keyword) {
            HoloString name  = p->token->text;
            uint32_t   start = holo_template_text(p, name);
            holo_template_next(p);
            holo_template_next(p);
            uint32_t value = holo_template_expression(p);
            holo_template_wait(p, HOLO_NODE(p, KEYWORD, line, start, (uint32_t)name.size, value));
        } else {
            holo_template_wait(p, holo_template_expression(p));
        }
    }
    expect_sign(p, ")");
    return holo_template_list(p, begin, out_count);
}

static uint32_t parse_call(HoloTemplateParser *p, uint32_t node)
{
    uint32_t line = p->token->line, count, start = parse_arguments(p, &count);
    return HOLO_NODE(p, CALL, line, node, start, count);
}

// What is in the square brackets behind a value; the first is passed.
static uint32_t parse_subscript(HoloTemplateParser *p, uint32_t node)
{
    uint32_t line = p->token->line, part[3] = {HOLO_NO_NODE, HOLO_NO_NODE, HOLO_NO_NODE};
    int      colons = 0;
    while (!p->status && !is_sign(p, "]")) {
        if (skip_sign(p, ":")) {
            if (++colons > 2) return holo_template_fail(p, line, "a slice has too many colons");
        } else if (part[colons] != HOLO_NO_NODE) {
            return holo_template_fail(p, line, "a ']' is missing");
        } else {
            part[colons] = holo_template_expression(p);
        }
    }
    expect_sign(p, "]");
    if (colons) return HOLO_NODE(p, SLICE, line, node, part[0], part[1], part[2]);
    if (part[0] == HOLO_NO_NODE) return holo_template_fail(p, line, "a value is missing before ']'");
    return HOLO_NODE(p, ITEM, line, node, part[0]);
}

static uint32_t parse_attribute(HoloTemplateParser *p, uint32_t node)
{
    uint32_t line = p->token->line;
    if (p->token->kind == HOLO_TT_INT) return HOLO_NODE(p, ITEM, line, node, parse_number(p));
    HoloString name  = p->token->text;
    uint32_t   start = holo_template_text(p, name);
    holo_template_expect(p, HOLO_TT_NAME, NULL);
    return HOLO_NODE(p, ATTR, line, node, start, (uint32_t)name.size);
}

static uint32_t parse_postfix(HoloTemplateParser *p, uint32_t node)
{
    int levels = p->depth;
    while (!p->status) {
        if (!is_sign(p, ".") && !is_sign(p, "[") && !is_sign(p, "(")) break;
        if (!holo_template_enter(p)) break;
        if (skip_sign(p, "."))
            node = parse_attribute(p, node);
        else if (skip_sign(p, "["))
            node = parse_subscript(p, node);
        else
            node = parse_call(p, node);
    }
    p->depth = levels;
    return node;
}

// The name of a filter or a test. Outside of conditions it must be known, as in Jinja.
static uint32_t parse_function_name(HoloTemplateParser *p, bool is_test, uint32_t *out_size)
{
    HoloString name  = p->token->text;
    uint32_t   start = holo_template_text(p, name);
    *out_size        = (uint32_t)name.size;
    if (!p->choices && !p->unknown && !holo_function_find(is_test ? HOLO_TESTS : HOLO_FILTERS, name)) {
        p->unknown         = p->token;
        p->unknown_is_test = is_test;
    }
    holo_template_expect(p, HOLO_TT_NAME, NULL);
    return start;
}

static uint32_t parse_filter(HoloTemplateParser *p, uint32_t node)
{
    uint32_t line = p->token->line, size, count = 0, first = 0, start = parse_function_name(p, false, &size);
    if (is_sign(p, "(")) first = parse_arguments(p, &count);
    return HOLO_NODE(p, FILTER, line, node, start, size, first, count);
}

static bool begins_argument(const HoloTemplateParser *p)
{
    switch (p->token->kind) {
    case HOLO_TT_NAME: return !is_word(p, "else") && !is_word(p, "or") && !is_word(p, "and");
    case HOLO_TT_STRING:
    case HOLO_TT_INT:
    case HOLO_TT_FLOAT: return true;
    default: return is_sign(p, "[") || is_sign(p, "{");
    }
}

static uint32_t parse_test(HoloTemplateParser *p, uint32_t node)
{
    uint32_t line = p->token->line, size, count = 0, first = 0;
    bool     is_not = skip_word(p, "not");
    uint32_t start  = parse_function_name(p, true, &size);
    if (is_sign(p, "(")) {
        first = parse_arguments(p, &count);
    } else if (begins_argument(p)) {
        int begin = p->waiting_count;
        if (is_word(p, "is")) return holo_template_fail(p, line, "tests cannot follow each other: use 'and'");
        holo_template_wait(p, parse_postfix(p, parse_primary(p)));
        first = holo_template_list(p, begin, &count);
    }
    node = HOLO_NODE(p, TEST, line, node, start, size, first, count);
    return is_not ? HOLO_NODE(p, NOT, line, node) : node;
}

uint32_t holo_template_filters(HoloTemplateParser *p, uint32_t node, bool without_bar)
{
    int levels = p->depth;
    if (without_bar) node = parse_filter(p, node);
    while (!p->status) {
        if (!is_sign(p, "|") && !is_word(p, "is") && !is_sign(p, "(")) break;
        if (!holo_template_enter(p)) break;
        if (skip_sign(p, "|"))
            node = parse_filter(p, node);
        else if (skip_word(p, "is"))
            node = parse_test(p, node);
        else
            node = parse_call(p, node);
    }
    p->depth = levels;
    return node;
}

// ---- operators

static uint32_t parse_unary(HoloTemplateParser *p, bool with_filters)
{
    uint32_t line = p->token->line, node;
    if (!holo_template_enter(p)) return HOLO_NO_NODE;
    if (skip_sign(p, "-"))
        node = HOLO_NODE(p, NEGATIVE, line, parse_unary(p, false));
    else if (skip_sign(p, "+"))
        node = HOLO_NODE(p, POSITIVE, line, parse_unary(p, false));
    else
        node = parse_primary(p);
    node = parse_postfix(p, node);
    if (with_filters) node = holo_template_filters(p, node, false);
    p->depth--;
    return node;
}

static const struct { // a level binds more tightly than the one before; ~ is between the first two
    const char    *sign;
    int            level;
    HoloTemplateOp op;
} binaries[] = {{"+", 0, HOLO_TO_ADD},        {"-", 0, HOLO_TO_SUB}, {"*", 2, HOLO_TO_MUL}, {"/", 2, HOLO_TO_DIV},
                {"//", 2, HOLO_TO_FLOOR_DIV}, {"%", 2, HOLO_TO_MOD}, {"**", 3, HOLO_TO_POW}};

static uint32_t parse_binary(HoloTemplateParser *p, int level);

static uint32_t parse_join(HoloTemplateParser *p)
{
    uint32_t line = p->token->line, first = parse_binary(p, 2), count;
    int      begin = p->waiting_count;
    if (!is_sign(p, "~")) return first;
    holo_template_wait(p, first);
    while (skip_sign(p, "~")) holo_template_wait(p, parse_binary(p, 2));
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, JOIN, line, start, count);
}

static uint32_t parse_binary(HoloTemplateParser *p, int level)
{
    if (level == 1) return parse_join(p);
    if (level == 4) return parse_unary(p, true);
    int      levels = p->depth;
    uint32_t left   = parse_binary(p, level + 1);
    while (!p->status) {
        int i = 0;
        while (i < HOLO_COUNT(binaries) && (binaries[i].level != level || !is_sign(p, binaries[i].sign))) i++;
        if (i == HOLO_COUNT(binaries) || !holo_template_enter(p)) break;
        uint32_t line = p->token->line;
        holo_template_next(p);
        left = HOLO_NODE(p, BINARY, line, left, parse_binary(p, level + 1));
        if (!p->status) p->node[left].op = (uint16_t)binaries[i].op;
    }
    p->depth = levels;
    return left;
}

// The operator of a comparison, passed; HOLO_TO_OPS: there is none.
static HoloTemplateOp pass_comparison(HoloTemplateParser *p)
{
    static const struct {
        const char    *sign;
        HoloTemplateOp op;
    } signs[] = {{"==", HOLO_TO_EQ}, {"!=", HOLO_TO_NE}, {"<", HOLO_TO_LT},
                 {"<=", HOLO_TO_LE}, {">", HOLO_TO_GT},  {">=", HOLO_TO_GE}};
    for (int i = 0; i < HOLO_COUNT(signs); i++)
        if (skip_sign(p, signs[i].sign)) return signs[i].op;
    if (skip_word(p, "in")) return HOLO_TO_IN;
    bool is_not_in = is_word(p, "not") && p->token[1].kind == HOLO_TT_NAME && p->token[1].text.size == 2 &&
                     !memcmp(p->token[1].text.data, "in", 2);
    if (!is_not_in) return HOLO_TO_OPS;
    holo_template_next(p);
    holo_template_next(p);
    return HOLO_TO_NOT_IN;
}

static uint32_t parse_compare(HoloTemplateParser *p)
{
    uint32_t       line = p->token->line, first = parse_binary(p, 0), count;
    int            begin = p->waiting_count;
    HoloTemplateOp op;
    while (!p->status && (op = pass_comparison(p)) != HOLO_TO_OPS) {
        uint32_t part = HOLO_NODE(p, COMPARED, line, parse_binary(p, 0));
        if (p->status) break;
        p->node[part].op = (uint16_t)op;
        holo_template_wait(p, part);
    }
    if (p->status || p->waiting_count == begin) return first;
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, COMPARE, line, first, start, count);
}

static uint32_t parse_not(HoloTemplateParser *p)
{
    uint32_t line = p->token->line;
    if (!skip_word(p, "not")) return parse_compare(p);
    if (!holo_template_enter(p)) return HOLO_NO_NODE;
    uint32_t node = HOLO_NODE(p, NOT, line, parse_not(p));
    p->depth--;
    return node;
}

// `and` and `or`: a chain leans to the left.
static uint32_t parse_chain(HoloTemplateParser *p, const char *word, HoloTemplateKind kind,
                            uint32_t (*inner)(HoloTemplateParser *))
{
    int      levels = p->depth;
    uint32_t left   = inner(p);
    while (!p->status && is_word(p, word) && holo_template_enter(p)) {
        uint32_t line = p->token->line;
        holo_template_next(p);
        left = holo_template_node(p, kind, line, (const uint32_t[6]){left, inner(p)});
    }
    p->depth = levels;
    return left;
}

static uint32_t parse_and(HoloTemplateParser *p)
{
    return parse_chain(p, "and", HOLO_TN_AND, parse_not);
}

static uint32_t parse_or(HoloTemplateParser *p)
{
    return parse_chain(p, "or", HOLO_TN_OR, parse_and);
}

uint32_t holo_template_expression(HoloTemplateParser *p)
{
    int levels = p->depth;
    if (!holo_template_enter(p)) return HOLO_NO_NODE;
    const HoloTemplateToken *unknown = p->unknown;
    uint32_t                 node    = parse_or(p);
    while (!p->status && is_word(p, "if") && holo_template_enter(p)) {
        uint32_t line = p->token->line, other = HOLO_NO_NODE;
        holo_template_next(p);
        uint32_t condition = parse_or(p);
        if (skip_word(p, "else")) other = holo_template_expression(p);
        node       = HOLO_NODE(p, CHOOSE, line, condition, node, other);
        p->unknown = unknown; // it may be in the part that is not taken
    }
    p->depth = levels;
    return node;
}

// ---- tuples and targets

uint32_t holo_template_tuple(HoloTemplateParser *p, bool with_choice)
{
    uint32_t line  = p->token->line, count;
    int      begin = p->waiting_count;
    uint32_t first = with_choice ? holo_template_expression(p) : parse_or(p);
    if (!is_sign(p, ",")) return first;
    holo_template_wait(p, first);
    while (skip_sign(p, ",")) {
        if (p->token->kind == HOLO_TT_LEAVE || p->token->kind == HOLO_TT_CLOSE || is_sign(p, ")")) break;
        holo_template_wait(p, with_choice ? holo_template_expression(p) : parse_or(p));
    }
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, TUPLE, line, start, count);
}

static uint32_t parse_target(HoloTemplateParser *p)
{
    if (!holo_template_enter(p)) return HOLO_NO_NODE;
    uint32_t node, line = p->token->line;
    if (skip_sign(p, "(")) {
        node = holo_template_target(p, false);
        expect_sign(p, ")");
    } else {
        HoloString name = p->token->text;
        holo_template_expect(p, HOLO_TT_NAME, NULL);
        node = p->status ? HOLO_NO_NODE : HOLO_NODE(p, NAME, line, holo_template_name(p, name));
    }
    p->depth--;
    return node;
}

uint32_t holo_template_target(HoloTemplateParser *p, bool with_attribute)
{
    uint32_t line  = p->token->line, count;
    int      begin = p->waiting_count;
    uint32_t first = parse_target(p);
    if (with_attribute && skip_sign(p, ".")) return parse_attribute(p, first);
    if (!is_sign(p, ",")) return first;
    holo_template_wait(p, first);
    while (skip_sign(p, ",") && !is_word(p, "in") && !is_sign(p, "=") && !is_sign(p, ")"))
        holo_template_wait(p, parse_target(p));
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, TUPLE, line, start, count);
}
