// regex_parse.c - the syntax of RE2: literals, classes, escapes, groups, flags, counts, alternatives, anchors. Groups
// capture nothing, and lazy counts are like others: a full match depends on neither.
#include "ops/regex_parse.h"

#include "ops/utf8.h"

#include <string.h>

enum { DEPTH_MAX = 100, REPEAT_MAX = 1000, CODE_MAX = 0x10FFFF };

typedef struct Parser {
    HoloArena     *arena;
    HoloString     text;
    size_t         at;
    HoloRegexTree *tree;
    int            range_room, depth;
    bool           fold, dot_all, multiline; // the flags i, s, m
    HoloError     *error;
} Parser;

static HoloStatus refuse(const Parser *p, const char *what)
{
    return holo_fail(p->error, HOLO_BAD_MODEL, "pattern, byte %zu: %s", p->at, what);
}

static bool is_end(const Parser *p)
{
    return p->at >= p->text.size;
}
static char peek(const Parser *p)
{
    return is_end(p) ? 0 : p->text.data[p->at];
}

static bool take(Parser *p, const char *what)
{
    size_t size = strlen(what);
    if (p->text.size - p->at < size || memcmp(p->text.data + p->at, what, size) != 0) return false;
    p->at += size;
    return true;
}

static HoloStatus new_node(Parser *p, HoloRegexKind kind, HoloRegexNode **out)
{
    *out = HOLO_NEW(p->arena, HoloRegexNode, 1);
    if (!*out) return holo_fail_memory(p->error);
    (*out)->kind = kind;
    return HOLO_OK;
}

static void add_child(HoloRegexNode *parent, HoloRegexNode *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
}

// ---- sets of code points

static HoloStatus add_range(Parser *p, uint32_t first, uint32_t last)
{
    HoloRegexTree *tree = p->tree;
    if (!HOLO_GROW(p->arena, tree->ranges, tree->range_count, p->range_room)) return holo_fail_memory(p->error);
    tree->ranges[tree->range_count++] = (HoloRegexRange){first, last};
    return HOLO_OK;
}

static HoloStatus new_set(Parser *p, HoloRegexNode **out)
{
    HOLO_TRY(new_node(p, HOLO_REGEX_SET, out));
    (*out)->set                         = p->tree->set_count;
    p->tree->sets[p->tree->set_count++] = (HoloRegexSet){.start = p->tree->range_count, .folded = p->fold};
    return HOLO_OK;
}

static void close_set(Parser *p, const HoloRegexNode *node, bool negated)
{
    HoloRegexSet *set = &p->tree->sets[node->set];
    set->count        = p->tree->range_count - set->start;
    set->negated      = negated;
}

// Classes by name: ranges in pairs, in order, ended by 0.
typedef struct Class {
    const char *name;
    uint8_t     ranges[10];
} Class;

static const Class classes[] = {
    {"d", {'0', '9'}},
    {"s", {'\t', '\n', '\f', '\r', ' ', ' '}},
    {"w", {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}},
    {"[:alnum:]", {'0', '9', 'A', 'Z', 'a', 'z'}},
    {"[:alpha:]", {'A', 'Z', 'a', 'z'}},
    {"[:ascii:]", {1, 0x7F}},
    {"[:blank:]", {'\t', '\t', ' ', ' '}},
    {"[:cntrl:]", {1, 0x1F, 0x7F, 0x7F}},
    {"[:digit:]", {'0', '9'}},
    {"[:graph:]", {'!', '~'}},
    {"[:lower:]", {'a', 'z'}},
    {"[:print:]", {' ', '~'}},
    {"[:punct:]", {'!', '/', ':', '@', '[', '`', '{', '~'}},
    {"[:space:]", {'\t', '\r', ' ', ' '}},
    {"[:upper:]", {'A', 'Z'}},
    {"[:word:]", {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}},
    {"[:xdigit:]", {'0', '9', 'A', 'F', 'a', 'f'}},
};

static HoloStatus add_class(Parser *p, const Class *class, bool negated)
{
    uint32_t from = 0;
    for (const uint8_t *r = class->ranges; *r; r += 2) {
        if (!negated)
            HOLO_TRY(add_range(p, r[0], r[1]));
        else if (r[0] > from)
            HOLO_TRY(add_range(p, from, r[0] - 1u));
        from = r[1] + 1u;
    }
    return negated ? add_range(p, from, CODE_MAX) : HOLO_OK;
}

// Reads \d, \D, \s, \S, \w, \W. *out_found: was there one?
static HoloStatus parse_perl_class(Parser *p, bool *out_found)
{
    *out_found = false;
    if (p->text.size - p->at < 2 || peek(p) != '\\') return HOLO_OK;
    char c = p->text.data[p->at + 1];
    for (int i = 0; i < 3; i++) {
        char name    = classes[i].name[0];
        bool negated = c == name - 'a' + 'A';
        if (c != name && !negated) continue;
        p->at += 2;
        *out_found = true;
        return add_class(p, &classes[i], negated);
    }
    return HOLO_OK;
}

// Reads [:alpha:] or [:^alpha:] inside a bracket.
static HoloStatus parse_posix_class(Parser *p, bool *out_found)
{
    *out_found = true;
    for (int i = 3; i < HOLO_COUNT(classes); i++) {
        if (take(p, classes[i].name)) return add_class(p, &classes[i], false);
        size_t start = p->at;
        if (take(p, "[:^") && take(p, classes[i].name + 2)) return add_class(p, &classes[i], true);
        p->at = start;
    }
    *out_found = false;
    return HOLO_OK;
}

// ---- single code points

static HoloStatus parse_hex(Parser *p, uint32_t *out)
{
    bool braces = take(p, "{");
    int  digits = 0;
    *out        = 0;
    for (; digits < (braces ? 8 : 2) && *out <= CODE_MAX; digits++, p->at++) {
        char c = peek(p);
        if (c >= '0' && c <= '9')
            *out = *out * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *out = *out * 16 + (uint32_t)((c | 32) - 'a' + 10);
        else
            break;
    }
    bool closed = braces ? digits > 0 && take(p, "}") : digits == 2;
    return closed && *out <= CODE_MAX ? HOLO_OK : refuse(p, "a hexadecimal code point is not complete");
}

static uint32_t parse_octal(Parser *p)
{
    uint32_t code = 0;
    for (int i = 0; i < 3 && peek(p) >= '0' && peek(p) <= '7'; i++, p->at++)
        code = code * 8 + (uint32_t)(peek(p) - '0');
    return code;
}

// A code point that stands for itself or is written as an escape.
static HoloStatus parse_code(Parser *p, uint32_t *out)
{
    static const char names[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
    if (is_end(p)) return refuse(p, "it ends too early");
    if (!take(p, "\\")) {
        *out = holo_utf8_next(p->text.data, p->text.size, &p->at);
        return HOLO_OK;
    }
    if (is_end(p)) return refuse(p, "it ends with a backslash");
    char c       = peek(p);
    bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (c == '0') {
        *out = parse_octal(p);
        return HOLO_OK;
    }
    if (take(p, "x")) return parse_hex(p, out);
    const char *name = strchr(names, c);
    if (name) {
        p->at++;
        *out = (uint8_t)codes[name - names];
        return HOLO_OK;
    }
    if (is_word) return refuse(p, "this escape is not known, or not supported");
    *out = holo_utf8_next(p->text.data, p->text.size, &p->at);
    return HOLO_OK;
}

// ---- atoms

static HoloStatus parse_bracket_item(Parser *p)
{
    bool     found;
    uint32_t first, last;
    HOLO_TRY(parse_posix_class(p, &found));
    if (!found) HOLO_TRY(parse_perl_class(p, &found));
    if (found) return HOLO_OK;
    HOLO_TRY(parse_code(p, &first));
    last          = first;
    bool is_range = peek(p) == '-' && p->text.size - p->at > 1 && p->text.data[p->at + 1] != ']';
    if (is_range) {
        p->at++;
        HOLO_TRY(parse_code(p, &last));
    }
    return last < first ? refuse(p, "a range runs backwards") : add_range(p, first, last);
}

static HoloStatus parse_bracket(Parser *p, HoloRegexNode **out)
{
    HOLO_TRY(new_set(p, out));
    bool negated = take(p, "^");
    do { // a bracket that comes first stands for itself
        if (is_end(p)) return refuse(p, "a bracket [ is not closed");
        HOLO_TRY(parse_bracket_item(p));
    } while (!take(p, "]"));
    close_set(p, *out, negated);
    return HOLO_OK;
}

static HoloStatus parse_literal(Parser *p, HoloRegexNode **out)
{
    uint32_t code;
    bool     found;
    HOLO_TRY(new_set(p, out));
    HOLO_TRY(parse_perl_class(p, &found));
    if (!found) {
        HOLO_TRY(parse_code(p, &code));
        HOLO_TRY(add_range(p, code, code));
    }
    close_set(p, *out, false);
    return HOLO_OK;
}

static HoloStatus parse_dot(Parser *p, HoloRegexNode **out)
{
    HOLO_TRY(new_set(p, out));
    if (!p->dot_all) HOLO_TRY(add_range(p, '\n', '\n'));
    close_set(p, *out, true); // an empty set, negated, is everything
    return HOLO_OK;
}

static HoloStatus parse_place(Parser *p, HoloRegexNode **out, bool *out_found)
{
    const struct {
        const char    *text;
        HoloRegexPlace at;
    } places[] = {
        {"^", p->multiline ? HOLO_REGEX_LINE_BEGIN : HOLO_REGEX_TEXT_BEGIN},
        {"$", p->multiline ? HOLO_REGEX_LINE_END : HOLO_REGEX_TEXT_END},
        {"\\A", HOLO_REGEX_TEXT_BEGIN},
        {"\\z", HOLO_REGEX_TEXT_END},
        {"\\b", HOLO_REGEX_WORD_EDGE},
        {"\\B", HOLO_REGEX_NO_WORD_EDGE},
    };
    *out_found = false;
    for (int i = 0; i < HOLO_COUNT(places); i++) {
        if (!take(p, places[i].text)) continue;
        *out_found = true;
        HOLO_TRY(new_node(p, HOLO_REGEX_AT, out));
        (*out)->at = places[i].at;
        return HOLO_OK;
    }
    return HOLO_OK;
}

// Reads the flags after "(?" up to ")" or ":". *out_group: a group follows.
static HoloStatus parse_flags(Parser *p, bool *out_group)
{
    bool on = true;
    for (; !is_end(p); p->at++) {
        switch (peek(p)) {
        case 'i': p->fold = on; break;
        case 's': p->dot_all = on; break;
        case 'm': p->multiline = on; break;
        case 'U': break;
        case '-':
            if (!on) return refuse(p, "flags are turned off twice");
            on = false;
            break;
        case ':':
        case ')':
            *out_group = peek(p) == ':';
            p->at++;
            return HOLO_OK;
        default: return refuse(p, "only groups (?:...), (?P<name>...) and the flags i, m, s, U are supported after (?");
        }
    }
    return refuse(p, "flags are not closed");
}

static HoloStatus skip_name(Parser *p)
{
    size_t start = p->at;
    while (!is_end(p) && peek(p) != '>') p->at++;
    return p->at > start && take(p, ">") ? HOLO_OK : refuse(p, "the name of a group is not closed");
}

static HoloStatus parse_or(Parser *p, HoloRegexNode **out);

// Called behind "(". Flags that are set inside a group end with it; those of "(?i)" alone stay.
static HoloStatus parse_group(Parser *p, HoloRegexNode **out)
{
    bool fold = p->fold, dot_all = p->dot_all, multiline = p->multiline, is_group = true;
    bool look_behind = p->text.size - p->at > 2 && peek(p) == '?' && p->text.data[p->at + 1] == '<' &&
                       (p->text.data[p->at + 2] == '=' || p->text.data[p->at + 2] == '!');
    if (look_behind) return refuse(p, "look-behind is not supported");
    if (take(p, "?P<") || take(p, "?<"))
        HOLO_TRY(skip_name(p));
    else if (take(p, "?"))
        HOLO_TRY(parse_flags(p, &is_group));
    if (!is_group) return new_node(p, HOLO_REGEX_AND, out);
    if (++p->depth > DEPTH_MAX) return refuse(p, "groups are nested too deep");
    HOLO_TRY(parse_or(p, out));
    if (!take(p, ")")) return refuse(p, "a group is not closed");
    p->depth--;
    p->fold = fold, p->dot_all = dot_all, p->multiline = multiline;
    return HOLO_OK;
}

static HoloStatus parse_atom(Parser *p, HoloRegexNode **out)
{
    bool found;
    HOLO_TRY(parse_place(p, out, &found));
    if (found) return HOLO_OK;
    if (take(p, "(")) return parse_group(p, out);
    if (take(p, "[")) return parse_bracket(p, out);
    if (take(p, ".")) return parse_dot(p, out);
    if (peek(p) == '*' || peek(p) == '+' || peek(p) == '?') return refuse(p, "there is nothing to repeat");
    return parse_literal(p, out);
}

// ---- counts, sequences, alternatives

// Reads digits; -1: there are none. Stops at a number that is too large.
static int parse_number(Parser *p)
{
    int n = -1;
    for (; peek(p) >= '0' && peek(p) <= '9' && n <= REPEAT_MAX; p->at++) n = (n < 0 ? 0 : n) * 10 + peek(p) - '0';
    return n;
}

// Reads a count. One that is not well formed, like "{a", stands for itself. *out_max -2: there is none.
static HoloStatus parse_count(Parser *p, int *out_min, int *out_max)
{
    size_t start = p->at;
    *out_min     = 0;
    *out_max     = -2;
    if (take(p, "*"))
        *out_max = -1;
    else if (take(p, "+"))
        *out_min = 1, *out_max = -1;
    else if (take(p, "?"))
        *out_max = 1;
    else if (take(p, "{")) {
        int  min   = parse_number(p);
        bool range = take(p, ",");
        int  max   = range ? parse_number(p) : min; // -1: no limit
        if (min > REPEAT_MAX || max > REPEAT_MAX) return refuse(p, "a count is over 1000");
        if (min < 0 || !take(p, "}")) {
            p->at = start;
            return HOLO_OK;
        }
        if (max >= 0 && max < min) return refuse(p, "a count runs backwards");
        *out_min = min, *out_max = max;
    }
    if (*out_max != -2) (void)take(p, "?");
    return HOLO_OK;
}

static HoloStatus parse_repeat(Parser *p, HoloRegexNode **out)
{
    int            min, max, again_min, again_max;
    HoloRegexNode *atom;
    HOLO_TRY(parse_atom(p, &atom));
    HOLO_TRY(parse_count(p, &min, &max));
    *out = atom;
    if (max == -2) return HOLO_OK;
    HOLO_TRY(new_node(p, HOLO_REGEX_REPEAT, out));
    (*out)->min = min;
    (*out)->max = max;
    add_child(*out, atom);
    HOLO_TRY(parse_count(p, &again_min, &again_max));
    return again_max == -2 ? HOLO_OK : refuse(p, "a repetition is repeated; put it into a group");
}

static HoloStatus parse_and(Parser *p, HoloRegexNode **out)
{
    HOLO_TRY(new_node(p, HOLO_REGEX_AND, out));
    while (!is_end(p) && peek(p) != '|' && peek(p) != ')') {
        HoloRegexNode *item;
        HOLO_TRY(parse_repeat(p, &item));
        add_child(*out, item);
    }
    return HOLO_OK;
}

static HoloStatus parse_or(Parser *p, HoloRegexNode **out)
{
    HOLO_TRY(new_node(p, HOLO_REGEX_OR, out));
    do {
        HoloRegexNode *item;
        HOLO_TRY(parse_and(p, &item));
        add_child(*out, item);
    } while (take(p, "|"));
    return HOLO_OK;
}

HoloStatus holo_regex_parse(HoloArena *arena, HoloString pattern, HoloRegexTree *out, HoloError *error)
{
    Parser p = {.arena = arena, .text = pattern, .tree = out, .error = error};
    if (pattern.size > INT32_MAX / 64) return refuse(&p, "it is too long");
    *out = (HoloRegexTree){.sets = HOLO_NEW(arena, HoloRegexSet, pattern.size + 1)}; // a set takes at least one byte
    if (!out->sets) return holo_fail_memory(error);
    HOLO_TRY(parse_or(&p, &out->root));
    return is_end(&p) ? HOLO_OK : refuse(&p, "a group is closed that was not opened");
}
