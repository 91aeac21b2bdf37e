// template_parse.c - parses the statements of templates and writes the block.
#include "text/template_parse.h"

#include <stdio.h>
#include <string.h>

enum { NESTING = 150 }; // of everything in a source; the tree is not deeper than HOLO_TEMPLATE_DEPTH then

// ---- failures and tokens

static const HoloTemplateToken no_token = {.kind = HOLO_TT_END};

uint32_t holo_template_fail(HoloTemplateParser *p, uint32_t line, const char *format, ...)
{
    if (!p->status) {
        char    text[600];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        p->status = holo_fail(p->error, HOLO_BAD_MODEL, "template, line %u: %s", line, text);
        p->token  = &no_token;
    }
    return HOLO_NO_NODE;
}

static void fail_memory(HoloTemplateParser *p)
{
    if (!p->status) p->status = holo_fail_memory(p->error);
    p->token = &no_token;
}

bool holo_template_enter(HoloTemplateParser *p)
{
    if (p->depth < NESTING) return p->depth++, true;
    holo_template_fail(p, p->token->line, "too many things lie in each other: at most %d may", NESTING);
    return false;
}

void holo_template_next(HoloTemplateParser *p)
{
    if (p->token->kind != HOLO_TT_END) p->token++;
}

bool holo_template_is(const HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text)
{
    const HoloTemplateToken *t = p->token;
    return t->kind == kind && (!text || (t->text.size == strlen(text) && !memcmp(t->text.data, text, t->text.size)));
}

bool holo_template_skip(HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text)
{
    if (!holo_template_is(p, kind, text)) return false;
    holo_template_next(p);
    return true;
}

void holo_template_expect(HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text)
{
    static const char *const kinds[] = {
        "the end of the template", "text",     "{{",    "}}", "{%", "%}", "a name", "a string",
        "a whole number",          "a number", "a sign"};
    const HoloTemplateToken *t = p->token;
    if (p->status || holo_template_skip(p, kind, text)) return;
    bool has_text = t->kind >= HOLO_TT_NAME && t->kind != HOLO_TT_STRING;
    holo_template_fail(p, t->line, "%s%s%s is expected, and %s%.*s%s is there", text ? "'" : "",
                       text ? text : kinds[kind], text ? "'" : "", has_text ? "'" : "",
                       has_text ? (int)t->text.size : 40, has_text ? t->text.data : kinds[t->kind],
                       has_text ? "'" : "");
}

// ---- the tree

uint32_t holo_template_node(HoloTemplateParser *p, HoloTemplateKind kind, uint32_t line, const uint32_t *args)
{
    if (p->status) return HOLO_NO_NODE;
    if (!HOLO_GROW(p->arena, p->node, p->node_count, p->node_room)) return fail_memory(p), HOLO_NO_NODE;
    HoloTemplateNode *node = &p->node[p->node_count];
    *node                  = (HoloTemplateNode){.kind = (uint16_t)kind, .line = line};
    memcpy(node->arg, args ? args : node->arg, strlen(holo_template_args[kind]) * sizeof *node->arg);
    return (uint32_t)p->node_count++;
}

void holo_template_wait(HoloTemplateParser *p, uint32_t node)
{
    if (p->status) return;
    if (!HOLO_GROW(p->arena, p->waiting, p->waiting_count, p->waiting_room)) return fail_memory(p);
    p->waiting[p->waiting_count++] = node;
}

uint32_t holo_template_list(HoloTemplateParser *p, int begin, uint32_t *out_count)
{
    uint32_t start = (uint32_t)p->list_count;
    *out_count     = (uint32_t)(p->waiting_count - begin);
    for (int i = begin; !p->status && i < p->waiting_count; i++) {
        if (!HOLO_GROW(p->arena, p->list, p->list_count, p->list_room))
            fail_memory(p);
        else
            p->list[p->list_count++] = p->waiting[i];
    }
    p->waiting_count = begin;
    return start;
}

uint32_t holo_template_text(HoloTemplateParser *p, HoloString text)
{
    uint32_t start = (uint32_t)p->text_size;
    if (p->text_size + text.size > p->text_room) {
        size_t   room = (p->text_size + text.size) * 2 + 256;
        uint8_t *more = holo_arena_take_raw(p->arena, room);
        if (!more) return fail_memory(p), 0;
        if (p->text_size) memcpy(more, p->text, p->text_size);
        p->text      = more;
        p->text_room = room;
    }
    if (text.size) memcpy(p->text + p->text_size, text.data, text.size);
    p->text_size += text.size;
    return start;
}

uint32_t holo_template_name(HoloTemplateParser *p, HoloString name)
{
    for (int i = 0; i < p->name_count; i++)
        if (p->name[i].count == name.size && !memcmp(p->text + p->name[i].start, name.data, name.size))
            return (uint32_t)i;
    if (!HOLO_GROW(p->arena, p->name, p->name_count, p->name_room)) return fail_memory(p), 0;
    uint32_t start         = holo_template_text(p, name);
    p->name[p->name_count] = (HoloTextSpan){start, (uint32_t)name.size};
    return (uint32_t)p->name_count++;
}

// ---- statements

static uint32_t parse_statement(HoloTemplateParser *p);

static bool is_word(const HoloTemplateParser *p, const char *word)
{
    return holo_template_is(p, HOLO_TT_NAME, word);
}

static void leave_tag(HoloTemplateParser *p)
{
    if (p->unknown)
        holo_template_fail(p, p->unknown->line, "there is no %s named '%.*s'", p->unknown_is_test ? "test" : "filter",
                           (int)p->unknown->text.size, p->unknown->text.data);
    holo_template_expect(p, HOLO_TT_LEAVE, NULL);
}

// Text and statements up to a tag that begins with one of the words; that is the current token then.
static uint32_t parse_body(HoloTemplateParser *p, const char *const *ends, const char *what, uint32_t line)
{
    uint32_t count;
    int      begin = p->waiting_count;
    while (!p->status) {
        if (holo_template_is(p, HOLO_TT_END, NULL)) {
            if (ends) holo_template_fail(p, line, "'%s' begins here and has no end", what);
            break;
        }
        if (p->token->kind == HOLO_TT_TEXT) {
            uint32_t start = holo_template_text(p, p->token->text);
            holo_template_wait(p, HOLO_NODE(p, TEXT, p->token->line, start, (uint32_t)p->token->text.size));
            holo_template_next(p);
        } else if (holo_template_skip(p, HOLO_TT_OPEN, NULL)) {
            uint32_t at = p->token->line;
            holo_template_wait(p, HOLO_NODE(p, OUTPUT, at, holo_template_tuple(p, true)));
            if (p->unknown) leave_tag(p);
            holo_template_expect(p, HOLO_TT_CLOSE, NULL);
        } else {
            holo_template_expect(p, HOLO_TT_BEGIN, NULL);
            for (const char *const *end = ends; end && *end; end++)
                if (is_word(p, *end)) goto done;
            holo_template_wait(p, parse_statement(p));
        }
    }
done:;
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, SEQUENCE, line, start, count);
}

// A body up to the tag of one word, which is passed.
static uint32_t parse_until(HoloTemplateParser *p, const char *end, const char *what, uint32_t line)
{
    uint32_t body = parse_body(p, (const char *const[]){end, NULL}, what, line);
    holo_template_next(p);
    leave_tag(p);
    return body;
}

static uint32_t parse_if(HoloTemplateParser *p, uint32_t line)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    uint32_t                 count;
    int                      begin = p->waiting_count;
    bool                     more  = true;
    p->choices++;
    while (more && !p->status) {
        holo_template_wait(p, holo_template_tuple(p, false));
        leave_tag(p);
        holo_template_wait(p, parse_body(p, ends, "if", line));
        more = holo_template_skip(p, HOLO_TT_NAME, "elif");
    }
    if (holo_template_skip(p, HOLO_TT_NAME, "else")) {
        leave_tag(p);
        holo_template_wait(p, parse_body(p, ends + 2, "else", line));
    }
    p->choices--;
    holo_template_next(p);
    leave_tag(p);
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, IF, line, start, count);
}

static uint32_t parse_for(HoloTemplateParser *p, uint32_t line)
{
    uint32_t target = holo_template_target(p, false), condition = HOLO_NO_NODE, other = HOLO_NO_NODE;
    holo_template_expect(p, HOLO_TT_NAME, "in");
    uint32_t what = holo_template_tuple(p, false);
    if (holo_template_skip(p, HOLO_TT_NAME, "if")) condition = holo_template_expression(p);
    if (is_word(p, "recursive")) return holo_template_fail(p, line, "loops that are recursive are not supported");
    leave_tag(p);
    p->loops++;
    uint32_t body = parse_body(p, (const char *const[]){"else", "endfor", NULL}, "for", line);
    p->loops--;
    if (holo_template_skip(p, HOLO_TT_NAME, "else")) {
        leave_tag(p);
        other = parse_body(p, (const char *const[]){"endfor", NULL}, "else", line);
    }
    holo_template_next(p);
    leave_tag(p);
    return HOLO_NODE(p, FOR, line, target, what, body, condition, other);
}

static uint32_t parse_set(HoloTemplateParser *p, uint32_t line)
{
    uint32_t target = holo_template_target(p, true), filters = HOLO_NO_NODE;
    if (holo_template_skip(p, HOLO_TT_SIGN, "=")) {
        uint32_t value = holo_template_tuple(p, true);
        leave_tag(p);
        return HOLO_NODE(p, SET, line, target, value);
    }
    if (holo_template_is(p, HOLO_TT_SIGN, "|")) filters = holo_template_filters(p, HOLO_NODE(p, INPUT, line, 0), false);
    leave_tag(p);
    uint32_t body = parse_until(p, "endset", "set", line);
    return HOLO_NODE(p, SET_BLOCK, line, target, body, filters);
}

// The parameters of a macro, with their brackets.
static uint32_t parse_parameters(HoloTemplateParser *p, uint32_t *out_count)
{
    int  begin       = p->waiting_count;
    bool has_default = false;
    holo_template_expect(p, HOLO_TT_SIGN, "(");
    while (!p->status && !holo_template_is(p, HOLO_TT_SIGN, ")")) {
        if (p->waiting_count > begin) holo_template_expect(p, HOLO_TT_SIGN, ",");
        uint32_t   line = p->token->line, value = HOLO_NO_NODE;
        HoloString name = p->token->text;
        holo_template_expect(p, HOLO_TT_NAME, NULL);
        if (p->status) break;
        if (holo_template_skip(p, HOLO_TT_SIGN, "=")) {
            value       = holo_template_expression(p);
            has_default = true;
        } else if (has_default) {
            holo_template_fail(p, line, "a parameter without a default follows one with a default");
        }
        holo_template_wait(p, HOLO_NODE(p, PARAM, line, holo_template_name(p, name), value));
    }
    holo_template_expect(p, HOLO_TT_SIGN, ")");
    return holo_template_list(p, begin, out_count);
}

// The body of a macro or of a call; *out_uses: what of HOLO_MACRO_* it uses.
static uint32_t parse_macro_body(HoloTemplateParser *p, const char *end, const char *what, uint32_t line,
                                 uint32_t *out_uses)
{
    uint32_t outer = p->macro;
    int      loops = p->loops;
    p->macro = 0, p->loops = 0;
    uint32_t body = parse_until(p, end, what, line);
    *out_uses     = p->macro;
    p->macro = outer, p->loops = loops;
    return body;
}

static uint32_t parse_macro(HoloTemplateParser *p, uint32_t line)
{
    HoloString name = p->token->text;
    uint32_t   count, uses;
    holo_template_expect(p, HOLO_TT_NAME, NULL);
    if (p->status) return HOLO_NO_NODE;
    uint32_t start = parse_parameters(p, &count);
    leave_tag(p);
    uint32_t body = parse_macro_body(p, "endmacro", "macro", line, &uses);
    return HOLO_NODE(p, MACRO, line, holo_template_name(p, name), start, count, body, uses);
}

static uint32_t parse_call_block(HoloTemplateParser *p, uint32_t line)
{
    uint32_t start = 0, count = 0, uses;
    if (holo_template_is(p, HOLO_TT_SIGN, "(")) start = parse_parameters(p, &count);
    uint32_t call = holo_template_expression(p);
    if (!p->status && p->node[call].kind != HOLO_TN_CALL) return holo_template_fail(p, line, "'call' needs a call");
    leave_tag(p);
    uint32_t body = parse_macro_body(p, "endcall", "call", line, &uses);
    return HOLO_NODE(p, CALL_BLOCK, line, call, start, count, body, uses);
}

static uint32_t parse_filter_block(HoloTemplateParser *p, uint32_t line)
{
    uint32_t filters = holo_template_filters(p, HOLO_NODE(p, INPUT, line, 0), true);
    leave_tag(p);
    uint32_t body = parse_until(p, "endfilter", "filter", line);
    return HOLO_NODE(p, FILTER_BLOCK, line, body, filters);
}

static uint32_t parse_with(HoloTemplateParser *p, uint32_t line)
{
    int      begin = p->waiting_count;
    uint32_t count;
    while (!p->status && p->token->kind != HOLO_TT_LEAVE) {
        if (p->waiting_count > begin) holo_template_expect(p, HOLO_TT_SIGN, ",");
        uint32_t   at   = p->token->line;
        HoloString name = p->token->text;
        holo_template_expect(p, HOLO_TT_NAME, NULL);
        if (p->status) break;
        holo_template_wait(p, HOLO_NODE(p, NAME, at, holo_template_name(p, name)));
        holo_template_expect(p, HOLO_TT_SIGN, "=");
        holo_template_wait(p, holo_template_expression(p));
    }
    leave_tag(p);
    uint32_t body  = parse_until(p, "endwith", "with", line);
    uint32_t start = holo_template_list(p, begin, &count);
    return HOLO_NODE(p, WITH, line, start, count, body);
}

static uint32_t parse_generation(HoloTemplateParser *p, uint32_t line)
{
    leave_tag(p);
    return HOLO_NODE(p, SCOPE, line, parse_until(p, "endgeneration", "generation", line));
}

static uint32_t parse_break(HoloTemplateParser *p, uint32_t line)
{
    if (!p->loops) holo_template_fail(p, line, "'break' is not in a loop");
    leave_tag(p);
    return holo_template_node(p, HOLO_TN_BREAK, line, NULL);
}

static uint32_t parse_continue(HoloTemplateParser *p, uint32_t line)
{
    if (!p->loops) holo_template_fail(p, line, "'continue' is not in a loop");
    leave_tag(p);
    return holo_template_node(p, HOLO_TN_CONTINUE, line, NULL);
}

static uint32_t refuse_files(HoloTemplateParser *p, uint32_t line)
{
    return holo_template_fail(p, line, "a template cannot use other templates: write all of it in one");
}

static const struct {
    const char *word;
    uint32_t (*parse)(HoloTemplateParser *p, uint32_t line);
} statements[] = {
    {"if", parse_if},           {"for", parse_for},
    {"set", parse_set},         {"macro", parse_macro},
    {"call", parse_call_block}, {"filter", parse_filter_block},
    {"with", parse_with},       {"generation", parse_generation},
    {"break", parse_break},     {"continue", parse_continue},
    {"include", refuse_files},  {"import", refuse_files},
    {"from", refuse_files},     {"extends", refuse_files},
    {"block", refuse_files},
};

static uint32_t parse_statement(HoloTemplateParser *p)
{
    HoloString word = p->token->text;
    uint32_t   line = p->token->line, node;
    if (p->token->kind != HOLO_TT_NAME) return holo_template_fail(p, line, "a tag begins with a word: {%% if ... %%}");
    for (int i = 0; i < HOLO_COUNT(statements); i++) {
        if (!holo_template_skip(p, HOLO_TT_NAME, statements[i].word)) continue;
        if (!holo_template_enter(p)) return HOLO_NO_NODE;
        node = statements[i].parse(p, line);
        p->depth--;
        return node;
    }
    return holo_template_fail(p, line, "a tag '%.*s' is not known", (int)word.size, word.data);
}

// ---- the block

static HoloTextSpan place(uint8_t *block, size_t *used, const void *data, size_t count, size_t size)
{
    HoloTextSpan span = {(uint32_t)*used, (uint32_t)count};
    if (block && count) memcpy(block + *used, data, count * size);
    *used = holo_align(*used + count * size, 8);
    return span;
}

static size_t lay_out(const HoloTemplateParser *p, HoloString defaults, HoloTemplateHeader *h, uint8_t *block)
{
    size_t used = holo_align(sizeof *h, 8);
    h->nodes    = place(block, &used, p->node, (size_t)p->node_count, sizeof *p->node);
    h->lists    = place(block, &used, p->list, (size_t)p->list_count, sizeof *p->list);
    h->names    = place(block, &used, p->name, (size_t)p->name_count, sizeof *p->name);
    h->text     = place(block, &used, p->text, p->text_size, 1);
    h->defaults = place(block, &used, defaults.data, defaults.size, 1);
    return used;
}

HoloStatus holo_template_parse(HoloArena *arena, HoloString source, HoloString defaults, HoloString *out_block,
                               HoloError *error)
{
    HoloTemplateParser p      = {.arena = arena, .error = error};
    HoloTemplateHeader header = {.version = HOLO_TEMPLATE_VERSION};
    HoloTemplateToken *tokens;
    memcpy(header.magic, HOLO_TEMPLATE_MAGIC, sizeof header.magic);
    if (defaults.size > HOLO_TEMPLATE_SOURCE)
        return holo_fail(error, HOLO_REFUSED, "the variables of the template have %zu bytes: more than %d are not read",
                         defaults.size, (int)HOLO_TEMPLATE_SOURCE);
    HOLO_TRY(holo_template_lex(arena, source, &tokens, error));
    p.token     = tokens;
    header.root = parse_body(&p, NULL, "", 1);
    if (p.status) return p.status;
    size_t size = lay_out(&p, defaults, &header, NULL);
    if (size > UINT32_MAX / 2) return holo_fail(error, HOLO_REFUSED, "the template is too large");
    uint8_t *block = holo_arena_take(arena, size);
    if (!block) return holo_fail_memory(error);
    lay_out(&p, defaults, &header, block);
    header.size = (uint32_t)size;
    memcpy(block, &header, sizeof header);
    *out_block = (HoloString){(const char *)block, size};
    return HOLO_OK;
}
