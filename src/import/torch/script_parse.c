// script_parse.c - the tree of a file of TorchScript's code.
//
// Everything that PyTorch's printer writes is read, and a little more. The tree is as large as the file; nesting is
// limited.
#include "import/torch/script.h"

#include <string.h>

enum { DEPTH_MAX = 400 };

typedef struct Parser {
    HoloScriptLexer lexer;
    int             depth;
} Parser;

bool holo_script_text_is(HoloString text, const char *word)
{
    return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static void fail(Parser *p, const char *what)
{
    HoloScriptLexer *l = &p->lexer;
    if (!l->status) l->status = holo_fail(l->error, HOLO_BAD_MODEL, "%s, line %d: %s", l->file, l->token.line, what);
    l->token = (HoloScriptToken){.line = l->line};
}

static bool is_sign(const Parser *p, const char *sign)
{
    return p->lexer.token.kind == HOLO_TOKEN_SIGN && holo_script_text_is(p->lexer.token.text, sign);
}

static bool is_word(const Parser *p, const char *word)
{
    return p->lexer.token.kind == HOLO_TOKEN_NAME && holo_script_text_is(p->lexer.token.text, word);
}

static void next(Parser *p)
{
    holo_script_next(&p->lexer);
}

static bool accept(Parser *p, const char *sign)
{
    bool is = is_sign(p, sign);
    if (is) next(p);
    return is;
}

static bool accept_word(Parser *p, const char *word)
{
    bool is = is_word(p, word);
    if (is) next(p);
    return is;
}

static void expect(Parser *p, const char *sign)
{
    if (!accept(p, sign)) fail(p, "the code cannot be read: a sign is missing");
}

static HoloScriptNode *make(Parser *p, HoloScriptKind kind)
{
    HoloScriptNode *node = HOLO_NEW(p->lexer.arena, HoloScriptNode, 1);
    if (!node) {
        if (!p->lexer.status) p->lexer.status = holo_fail_memory(p->lexer.error);
        return NULL;
    }
    node->kind = kind;
    node->line = p->lexer.token.line;
    return node;
}

static void add(Parser *p, HoloScriptNode *node, HoloScriptNode *child)
{
    if (p->lexer.status || !node || !child) return;
    if (!HOLO_GROW(p->lexer.arena, node->child, node->count, node->room)) {
        p->lexer.status = holo_fail_memory(p->lexer.error);
        return;
    }
    node->child[node->count++] = child;
}

static HoloScriptNode *make_text(Parser *p, HoloScriptKind kind, HoloString text)
{
    HoloScriptNode *node = make(p, kind);
    if (node) node->text = text;
    return node;
}

static HoloScriptNode *make_with(Parser *p, HoloScriptKind kind, HoloString text, HoloScriptNode *a, HoloScriptNode *b)
{
    HoloScriptNode *node = make_text(p, kind, text);
    add(p, node, a);
    if (b) add(p, node, b);
    return node;
}

static bool enter(Parser *p)
{
    if (p->lexer.status) return false;
    if (++p->depth <= DEPTH_MAX) return true;
    p->depth--;
    fail(p, "the code is nested too deep");
    return false;
}

// ---- expressions

static HoloScriptNode *expression(Parser *p);
static HoloScriptNode *unary(Parser *p);

// [item for target in list]: a loop that appends to a variable without a name of its own.
static void each(Parser *p, HoloScriptNode *node, HoloScriptNode *item)
{
    static const HoloString none = {"", 0}, append = {"append", 6}, torch = {"torch", 5};
    HoloScriptNode         *loop = make(p, HOLO_SCRIPT_FOR), *block = make(p, HOLO_SCRIPT_BLOCK);
    char                   *name = holo_arena_format(p->lexer.arena, "[%p", (void *)node);
    next(p);
    add(p, loop, unary(p));
    if (is_word(p, "in")) next(p);
    add(p, loop, expression(p));
    if (!name || p->lexer.status) return;
    HoloString      own    = {name, strlen(name)};
    HoloScriptNode *callee = make_with(p, HOLO_SCRIPT_ATTR, append, make_text(p, HOLO_SCRIPT_NAME, torch), NULL);
    HoloScriptNode *call   = make_with(p, HOLO_SCRIPT_CALL, none, callee, make_text(p, HOLO_SCRIPT_NAME, own));
    add(p, call, item);
    add(p, block, make_with(p, HOLO_SCRIPT_DO, none, call, NULL));
    add(p, loop, block);
    node->kind = HOLO_SCRIPT_EACH;
    node->text = own;
    add(p, node, loop);
}

// Items up to the closing sign, which is taken. *out_is_tuple: there was a comma.
static void items(Parser *p, HoloScriptNode *node, const char *close, bool *out_has_comma)
{
    *out_has_comma = false;
    while (!p->lexer.status && !is_sign(p, close)) {
        HoloScriptNode *item = expression(p);
        if (node && node->kind == HOLO_SCRIPT_LIST && !node->count && is_word(p, "for")) {
            each(p, node, item);
            break;
        }
        add(p, node, item);
        if (node && node->kind == HOLO_SCRIPT_DICT) {
            expect(p, ":");
            add(p, node, expression(p));
        }
        if (!accept(p, ",")) break;
        *out_has_comma = true;
    }
    expect(p, close);
}

static HoloScriptNode *parenthesis(Parser *p)
{
    bool            has_comma;
    HoloScriptNode *node = make(p, HOLO_SCRIPT_TUPLE);
    items(p, node, ")", &has_comma);
    return node && node->count == 1 && !has_comma ? node->child[0] : node;
}

static HoloScriptNode *word(Parser *p)
{
    static const struct {
        const char    *word;
        HoloScriptKind kind;
    } words[]       = {{"True", HOLO_SCRIPT_TRUE}, {"False", HOLO_SCRIPT_FALSE}, {"None", HOLO_SCRIPT_NONE}};
    HoloString text = p->lexer.token.text;
    next(p);
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (holo_script_text_is(text, words[i].word)) return make(p, words[i].kind);
    return make_text(p, HOLO_SCRIPT_NAME, text);
}

static HoloScriptNode *atom(Parser *p)
{
    HoloScriptToken token = p->lexer.token;
    HoloScriptNode *node  = NULL;
    bool            ignored;
    if (token.kind == HOLO_TOKEN_NAME) return word(p);
    if (accept(p, "(")) return parenthesis(p);
    if (is_sign(p, "[") || is_sign(p, "{")) {
        node              = make(p, is_sign(p, "[") ? HOLO_SCRIPT_LIST : HOLO_SCRIPT_DICT);
        const char *close = is_sign(p, "[") ? "]" : "}";
        next(p);
        items(p, node, close, &ignored);
        return node;
    }
    if (token.kind == HOLO_TOKEN_INT) {
        if ((node = make(p, HOLO_SCRIPT_INT))) node->i = token.i;
    } else if (token.kind == HOLO_TOKEN_FLOAT) {
        if ((node = make(p, HOLO_SCRIPT_FLOAT))) node->f = token.f;
    } else if (token.kind == HOLO_TOKEN_IMAGINARY) {
        if ((node = make(p, HOLO_SCRIPT_IMAGINARY))) node->f = token.f;
    } else if (token.kind == HOLO_TOKEN_TEXT) {
        node = make_text(p, HOLO_SCRIPT_TEXT, token.text);
    } else {
        fail(p, "the code cannot be read: an expression is missing");
        return NULL;
    }
    next(p);
    return node;
}

static HoloScriptNode *arguments(Parser *p, HoloScriptNode *function)
{
    HoloScriptNode *call = make(p, HOLO_SCRIPT_CALL);
    add(p, call, function);
    while (!p->lexer.status && !is_sign(p, ")")) {
        HoloScriptNode *value = expression(p);
        if (value && value->kind == HOLO_SCRIPT_NAME && accept(p, "="))
            value = make_with(p, HOLO_SCRIPT_KEYWORD, value->text, expression(p), NULL);
        add(p, call, value);
        if (!accept(p, ",")) break;
    }
    expect(p, ")");
    return call;
}

static HoloScriptNode *bound(Parser *p)
{
    bool is_none = is_sign(p, ":") || is_sign(p, "]") || is_sign(p, ",");
    return is_none ? make(p, HOLO_SCRIPT_NONE) : expression(p);
}

static HoloScriptNode *subscript(Parser *p)
{
    HoloScriptNode *start = bound(p);
    if (!is_sign(p, ":")) return start;
    HoloScriptNode *slice = make(p, HOLO_SCRIPT_SLICE);
    add(p, slice, start);
    next(p);
    add(p, slice, bound(p));
    if (accept(p, ":"))
        add(p, slice, bound(p));
    else
        add(p, slice, make(p, HOLO_SCRIPT_NONE));
    return slice;
}

static HoloScriptNode *subscripts(Parser *p)
{
    HoloScriptNode *first = subscript(p), *all;
    if (!is_sign(p, ",")) return first;
    all = make(p, HOLO_SCRIPT_TUPLE);
    add(p, all, first);
    while (accept(p, ",") && !is_sign(p, "]")) add(p, all, subscript(p));
    return all;
}

static HoloScriptNode *postfix(Parser *p)
{
    HoloScriptNode *node = atom(p);
    while (!p->lexer.status) {
        if (accept(p, ".")) {
            if (p->lexer.token.kind != HOLO_TOKEN_NAME) return fail(p, "a name is missing after a point"), NULL;
            HoloString name = p->lexer.token.text;
            next(p);
            node = make_with(p, HOLO_SCRIPT_ATTR, name, node, NULL);
        } else if (accept(p, "(")) {
            node = arguments(p, node);
        } else if (accept(p, "[")) {
            node = make_with(p, HOLO_SCRIPT_INDEX, (HoloString){0}, node, subscripts(p));
            expect(p, "]");
        } else {
            break;
        }
    }
    return node;
}

static HoloScriptNode *unary(Parser *p)
{
    HoloString      text = p->lexer.token.text;
    HoloScriptNode *node = NULL;
    if (!enter(p)) return NULL;
    if (is_sign(p, "-") || is_sign(p, "+") || is_sign(p, "~")) {
        next(p);
        node = make_with(p, HOLO_SCRIPT_UNARY, text, unary(p), NULL);
    } else {
        node = postfix(p);
        if (is_sign(p, "**")) {
            text = p->lexer.token.text;
            next(p);
            node = make_with(p, HOLO_SCRIPT_BINARY, text, node, unary(p));
        }
    }
    p->depth--;
    return node;
}

// Signs of two operands by how tightly they bind, the loosest first.
static const char *const levels[][8] = {
    {"or"},     {"and"},
    {"not"},    {"==", "!=", "<", ">", "<=", ">=", "is", "in"},
    {"|"},      {"^"},
    {"&"},      {"<<", ">>"},
    {"+", "-"}, {"*", "/", "//", "%", "@"},
};
enum { NOT_LEVEL = 2, COMPARE_LEVEL = 3 };

static bool is_of_level(const Parser *p, int level)
{
    for (int i = 0; i < 8 && levels[level][i]; i++)
        if (is_sign(p, levels[level][i]) || is_word(p, levels[level][i])) return true;
    return level == COMPARE_LEVEL && is_word(p, "not");
}

// The sign, with "is not" and "not in" as one.
static HoloString take_operator(Parser *p)
{
    HoloString text  = p->lexer.token.text;
    bool       is_is = is_word(p, "is"), is_not = is_word(p, "not");
    next(p);
    if (is_is && accept_word(p, "not")) return (HoloString){"is not", 6};
    if (!is_not) return text;
    if (!accept_word(p, "in")) fail(p, "'in' is missing after 'not'");
    return (HoloString){"not in", 6};
}

static HoloScriptNode *binary(Parser *p, int level)
{
    if (level == HOLO_COUNT(levels)) return unary(p);
    if (level == NOT_LEVEL) {
        HoloString text = p->lexer.token.text;
        if (!accept_word(p, "not")) return binary(p, level + 1);
        if (!enter(p)) return NULL;
        HoloScriptNode *node = make_with(p, HOLO_SCRIPT_UNARY, text, binary(p, level), NULL);
        p->depth--;
        return node;
    }
    HoloScriptNode *node = binary(p, level + 1);
    while (!p->lexer.status && is_of_level(p, level)) {
        HoloString text = take_operator(p);
        node            = make_with(p, HOLO_SCRIPT_BINARY, text, node, binary(p, level + 1));
    }
    return node;
}

static HoloScriptNode *expression(Parser *p)
{
    if (!enter(p)) return NULL;
    HoloScriptNode *node = binary(p, 0);
    if (accept_word(p, "if")) {
        HoloScriptNode *choice = make(p, HOLO_SCRIPT_CHOICE);
        add(p, choice, node);
        add(p, choice, binary(p, 0));
        if (!accept_word(p, "else")) fail(p, "'else' is missing");
        add(p, choice, expression(p));
        node = choice;
    }
    p->depth--;
    return node;
}

// One expression, or several with commas between them: a tuple.
static HoloScriptNode *expressions(Parser *p)
{
    HoloScriptNode *first = expression(p);
    if (!is_sign(p, ",")) return first;
    HoloScriptNode *all = make(p, HOLO_SCRIPT_TUPLE);
    add(p, all, first);
    while (accept(p, ",") && p->lexer.token.kind != HOLO_TOKEN_LINE && !is_sign(p, "=")) add(p, all, expression(p));
    return all;
}

// ---- statements

static HoloScriptNode *statement(Parser *p);

static HoloScriptNode *block(Parser *p)
{
    HoloScriptNode *node = make(p, HOLO_SCRIPT_BLOCK);
    expect(p, ":");
    if (p->lexer.token.kind != HOLO_TOKEN_LINE) { // behind the colon
        add(p, node, statement(p));
        return node;
    }
    next(p);
    if (p->lexer.token.kind != HOLO_TOKEN_INDENT) return fail(p, "a block is missing"), NULL;
    next(p);
    if (!enter(p)) return NULL;
    while (!p->lexer.status && p->lexer.token.kind != HOLO_TOKEN_DEDENT && p->lexer.token.kind != HOLO_TOKEN_END)
        add(p, node, statement(p));
    if (p->lexer.token.kind == HOLO_TOKEN_DEDENT) next(p);
    p->depth--;
    return node;
}

static void end_line(Parser *p)
{
    if (p->lexer.token.kind == HOLO_TOKEN_LINE || is_sign(p, ";"))
        next(p);
    else if (p->lexer.token.kind != HOLO_TOKEN_END && p->lexer.token.kind != HOLO_TOKEN_DEDENT)
        fail(p, "the end of the line is missing");
}

static HoloScriptNode *if_rest(Parser *p)
{
    HoloScriptNode *node = make(p, HOLO_SCRIPT_IF);
    if (!enter(p)) return NULL;
    add(p, node, expression(p));
    add(p, node, block(p));
    if (accept_word(p, "elif"))
        add(p, node, if_rest(p));
    else if (accept_word(p, "else"))
        add(p, node, block(p));
    p->depth--;
    return node;
}

static HoloScriptNode *parameter(Parser *p)
{
    if (p->lexer.token.kind != HOLO_TOKEN_NAME) return fail(p, "the name of a parameter is missing"), NULL;
    HoloScriptNode *name = make_text(p, HOLO_SCRIPT_NAME, p->lexer.token.text), *node;
    next(p);
    node = name;
    if (accept(p, ":")) node = make_with(p, HOLO_SCRIPT_ANNOTATE, (HoloString){0}, name, expression(p));
    if (accept(p, "=")) node = make_with(p, HOLO_SCRIPT_ASSIGN, (HoloString){0}, node, expression(p));
    return node;
}

static HoloScriptNode *def_rest(Parser *p)
{
    HoloScriptNode *node = make_text(p, HOLO_SCRIPT_DEF, p->lexer.token.text);
    if (p->lexer.token.kind != HOLO_TOKEN_NAME) return fail(p, "the name of a function is missing"), NULL;
    next(p);
    expect(p, "(");
    while (!p->lexer.status && !is_sign(p, ")")) {
        if (accept(p, "*")) {
            if (!accept(p, ",")) fail(p, "a function with any number of arguments");
            continue;
        }
        add(p, node, parameter(p));
        if (!accept(p, ",")) break;
    }
    expect(p, ")");
    if (accept(p, "->")) expression(p);
    add(p, node, block(p));
    return node;
}

static HoloScriptNode *class_rest(Parser *p)
{
    bool            ignored;
    HoloScriptNode *node = make_text(p, HOLO_SCRIPT_CLASS, p->lexer.token.text), *bases = make(p, HOLO_SCRIPT_TUPLE);
    if (p->lexer.token.kind != HOLO_TOKEN_NAME) return fail(p, "the name of a class is missing"), NULL;
    next(p);
    if (accept(p, "(")) items(p, bases, ")", &ignored);
    add(p, node, bases);
    add(p, node, block(p));
    return node;
}

static HoloScriptNode *with_rest(Parser *p)
{
    HoloScriptNode *node = make(p, HOLO_SCRIPT_WITH);
    add(p, node, expression(p));
    if (accept_word(p, "as")) expression(p);
    add(p, node, block(p));
    return node;
}

static HoloScriptNode *while_rest(Parser *p)
{
    HoloScriptNode *node = make(p, HOLO_SCRIPT_WHILE);
    add(p, node, expression(p));
    add(p, node, block(p));
    return node;
}

static HoloScriptNode *for_rest(Parser *p)
{
    HoloScriptNode *node = make(p, HOLO_SCRIPT_FOR), *target = postfix(p);
    if (is_sign(p, ",")) {
        HoloScriptNode *all = make(p, HOLO_SCRIPT_TUPLE);
        add(p, all, target);
        while (accept(p, ",") && !is_word(p, "in")) add(p, all, postfix(p));
        target = all;
    }
    add(p, node, target);
    if (!accept_word(p, "in")) fail(p, "'in' is missing");
    add(p, node, expressions(p));
    add(p, node, block(p));
    return node;
}

// Statements that hold blocks.
static const struct {
    const char *word;
    HoloScriptNode *(*rest)(Parser *p);
} compound[] = {{"if", if_rest},     {"def", def_rest},     {"class", class_rest},
                {"with", with_rest}, {"while", while_rest}, {"for", for_rest}};

// Statements of a word and perhaps an expression.
static const struct {
    const char    *word;
    HoloScriptKind kind;
} simple[] = {{"return", HOLO_SCRIPT_RETURN}, {"raise", HOLO_SCRIPT_RAISE}, {"assert", HOLO_SCRIPT_ASSERT},
              {"pass", HOLO_SCRIPT_PASS},     {"break", HOLO_SCRIPT_BREAK}, {"continue", HOLO_SCRIPT_CONTINUE},
              {"del", HOLO_SCRIPT_PASS},      {"import", HOLO_SCRIPT_PASS}, {"from", HOLO_SCRIPT_PASS}};

static HoloScriptNode *simple_rest(Parser *p, HoloScriptKind kind)
{
    HoloScriptNode *node = make(p, kind);
    if (kind == HOLO_SCRIPT_PASS)
        while (p->lexer.token.kind != HOLO_TOKEN_LINE && p->lexer.token.kind != HOLO_TOKEN_END) next(p);
    while (!p->lexer.status && p->lexer.token.kind != HOLO_TOKEN_LINE && p->lexer.token.kind != HOLO_TOKEN_END &&
           p->lexer.token.kind != HOLO_TOKEN_DEDENT) {
        add(p, node, kind == HOLO_SCRIPT_ASSERT ? expression(p) : expressions(p));
        if (!accept(p, ",")) break;
    }
    end_line(p);
    return node;
}

static HoloScriptNode *assignment(Parser *p)
{
    static const char *const augmented[] = {"+=", "-=", "*=", "/=", "//=", "%=", "|=", "&=", "^=", "**=", "<<=", ">>="};
    HoloScriptNode          *left        = expressions(p), *node;
    if (accept(p, ":")) {
        node = make_with(p, HOLO_SCRIPT_ANNOTATE, (HoloString){0}, left, expression(p));
        if (accept(p, "=")) add(p, node, expressions(p));
        return node;
    }
    if (accept(p, "=")) return make_with(p, HOLO_SCRIPT_ASSIGN, (HoloString){0}, left, expressions(p));
    for (int i = 0; i < HOLO_COUNT(augmented); i++)
        if (accept(p, augmented[i]))
            return make_with(p, HOLO_SCRIPT_ASSIGN, (HoloString){augmented[i], strlen(augmented[i]) - 1}, left,
                             expressions(p));
    return make_with(p, HOLO_SCRIPT_DO, (HoloString){0}, left, NULL);
}

static HoloScriptNode *statement(Parser *p)
{
    for (int i = 0; i < HOLO_COUNT(compound); i++)
        if (accept_word(p, compound[i].word)) return compound[i].rest(p);
    for (int i = 0; i < HOLO_COUNT(simple); i++)
        if (accept_word(p, simple[i].word)) return simple_rest(p, simple[i].kind);
    if (accept(p, "@")) { // of a function: only how it is compiled
        expression(p);
        end_line(p);
        return make(p, HOLO_SCRIPT_PASS);
    }
    HoloScriptNode *node = assignment(p);
    end_line(p);
    return node;
}

HoloStatus holo_script_parse(HoloArena *arena, const char *file, const void *bytes, size_t size, HoloScriptNode **out,
                             HoloError *error)
{
    Parser p = {0};
    holo_script_lexer_init(&p.lexer, arena, file, bytes, size, error);
    next(&p);
    *out = make(&p, HOLO_SCRIPT_BLOCK);
    while (!p.lexer.status && p.lexer.token.kind != HOLO_TOKEN_END) {
        if (p.lexer.token.kind == HOLO_TOKEN_LINE)
            next(&p);
        else
            add(&p, *out, statement(&p));
    }
    return p.lexer.status;
}
