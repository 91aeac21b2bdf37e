// pattern_parse.c - the tree of a regular expression in Oniguruma's syntax. See pattern.h.
//
// Refused: back references, calls of groups, conditions, \K, \G, \X and the extended layout (?x).
#include "base/bytes.h"
#include "text/unicode.h"
#include "vocabulary/pattern.h"

#include <string.h>

enum { DEPTH_MAX = 100, REPEAT_MAX = 1000 };

typedef struct Parser {
    HoloArena     *arena;
    const uint8_t *text;
    size_t         size, at;
    int            depth;
    bool           ignores_case, dot_is_all;
    HoloError     *error;
    HoloStatus     status;
} Parser;

typedef HoloPatternNode Node;

static void *fail(Parser *p, const char *why)
{
    if (!p->status)
        p->status = holo_fail(p->error, HOLO_UNSUPPORTED, "the regular expression '%.*s': byte %zu: %s",
                              (int)holo_least((int64_t)p->size, 200), (const char *)p->text, p->at, why);
    return NULL;
}

static void *fail_memory(Parser *p)
{
    if (!p->status) p->status = holo_fail_memory(p->error);
    return NULL;
}

static Node *node_new(Parser *p, HoloPatternKind kind)
{
    Node *node = HOLO_NEW(p->arena, Node, 1);
    if (!node) return fail_memory(p);
    node->kind = kind;
    return node;
}

static void node_add(Node *parent, Node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
}

static bool sees(const Parser *p, const char *text)
{
    size_t size = strlen(text);
    return p->size - p->at >= size && !memcmp(p->text + p->at, text, size);
}

static bool takes(Parser *p, const char *text)
{
    if (!sees(p, text)) return false;
    p->at += strlen(text);
    return true;
}

static uint32_t take_code(Parser *p)
{
    int      size;
    uint32_t code = holo_code_read(p->text + p->at, p->size - p->at, &size);
    p->at += (size_t)size;
    return code;
}

static Node *set_node(Parser *p, HoloCodeSet set)
{
    Node *node = node_new(p, HOLO_PATTERN_SET);
    if (!node) return NULL;
    node->set = set;
    if (p->ignores_case && !holo_code_set_fold(p->arena, &node->set)) return fail_memory(p);
    return node;
}

static Node *edge_node(Parser *p, HoloCodeSet set, bool is_back, bool at_end)
{
    Node *node = node_new(p, HOLO_PATTERN_EDGE);
    if (!node) return NULL;
    node->set     = set;
    node->is_back = is_back;
    node->at_end  = at_end;
    return node;
}

// ---- escapes

static bool take_hex(Parser *p, int least, int most, uint32_t *out)
{
    int count = 0;
    for (*out = 0; count < most && p->at < p->size; count++, p->at++) {
        uint8_t c     = p->text[p->at];
        int     digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) break;
        *out = *out * 16 + (uint32_t)digit;
    }
    return count >= least && *out < HOLO_CODES;
}

// A letter that stands for one code point, behind a backslash. False: it is something else.
static bool escaped_code(Parser *p, uint32_t *out)
{
    static const char letters[] = "tnrfvae", codes[] = "\t\n\r\f\v\a\x1b";
    uint32_t          c     = take_code(p);
    const char       *found = c && c < 128 ? strchr(letters, (int)c) : NULL;
    *out                    = found ? (uint32_t)codes[found - letters] : c;
    if (found) return true;
    if (c == 'x' && takes(p, "{")) return (take_hex(p, 1, 8, out) && takes(p, "}")) || fail(p, "no such code point");
    if (c == 'x') return take_hex(p, 1, 2, out) || fail(p, "two digits should follow \\x");
    if (c == 'u') return take_hex(p, 4, 4, out) || fail(p, "four digits should follow \\u");
    if (c == '0') return *out = 0, true;
    return !(c < 128 && ((c | 32) - 'a' < 26 || c - '0' < 10));
}

// \d \w \s \h \p{...} and what they are not. False: it is none of them.
static bool escaped_set(Parser *p, HoloCodeSet *out)
{
    static const struct {
        char        letter;
        const char *property;
    } classes[]     = {{'d', "nd"}, {'w', "word"}, {'s', "space"}, {'h', "xdigit"}};
    uint8_t    c    = p->text[p->at];
    HoloString name = {0};
    for (int i = 0; i < HOLO_COUNT(classes); i++)
        if ((c | 32) == classes[i].letter) name = (HoloString){classes[i].property, strlen(classes[i].property)};
    if (!name.data && (c | 32) != 'p') return false;
    p->at++;
    if (!name.data && takes(p, "{")) {
        const uint8_t *end = memchr(p->text + p->at, '}', p->size - p->at);
        if (!end) return fail(p, "a property has no end");
        name = (HoloString){(const char *)p->text + p->at, (size_t)(end - p->text) - p->at};
        p->at += name.size + 1;
    } else if (!name.data) { // \pL
        if (p->at == p->size) return fail(p, "a property has no name");
        name = (HoloString){(const char *)p->text + p->at++, 1};
    }
    if (!p->status) p->status = holo_code_set_property(p->arena, name, out, p->error);
    if (!(c & 32) && !p->status && !holo_code_set_negate(p->arena, out)) fail_memory(p);
    return !p->status;
}

// ---- classes in brackets

static bool parse_class(Parser *p, HoloCodeSet *out);

static bool take_posix(Parser *p, HoloCodeSet *out)
{
    const uint8_t *end = holo_bytes_find(p->text + p->at, p->size - p->at, ":]", 2);
    if (!end) return fail(p, "a class [: has no end :]");
    HoloString name = {(const char *)p->text + p->at + 2, (size_t)(end - p->text) - p->at - 2};
    if (!p->status) p->status = holo_code_set_property(p->arena, name, out, p->error);
    p->at = (size_t)(end - p->text) + 2;
    return !p->status;
}

// A code point of a class, as it may begin or end a range. False: it is a set, which is then in `set`, or an error.
static bool class_code(Parser *p, uint32_t *code, HoloCodeSet *set)
{
    if (!takes(p, "\\")) return *code = take_code(p), true;
    if (p->at == p->size) return fail(p, "nothing follows the backslash");
    if (takes(p, "b")) return *code = 8, true;
    if (escaped_set(p, set) || p->status) return false;
    return escaped_code(p, code) || fail(p, "this escape is not known in a class");
}

static bool class_member(Parser *p, HoloCodeSet *out)
{
    HoloCodeSet set   = {0};
    uint32_t    first = 0, last = 0;
    if (sees(p, "[:") && holo_bytes_find(p->text + p->at, p->size - p->at, ":]", 2)) {
        if (!take_posix(p, &set)) return false;
    } else if (takes(p, "[")) {
        if (!parse_class(p, &set)) return false;
    } else if (class_code(p, &first, &set)) {
        last            = first;
        bool   is_range = sees(p, "-") && !sees(p, "-]") && !sees(p, "-[") && !sees(p, "-&&");
        size_t before   = p->at;
        if (is_range) {
            p->at++;
            if (p->at == p->size) return fail(p, "a class has no end");
            if (!class_code(p, &last, &set)) {
                if (p->status) return false;
                last = first, p->at = before; // a-\d: three members
                set = (HoloCodeSet){0};
                if (!holo_code_set_add(p->arena, &set, '-', '-')) return fail_memory(p);
                p->at++;
            }
        }
        if (last < first) return fail(p, "a range of a class ends before it begins");
        if (!holo_code_set_add(p->arena, &set, first, last)) return fail_memory(p);
    }
    if (p->status) return false;
    return holo_code_set_join(p->arena, out, &set) || fail_memory(p);
}

// Behind the opening bracket; takes the closing one.
static bool parse_class(Parser *p, HoloCodeSet *out)
{
    bool        negate = takes(p, "^"), is_first = true, meets = false;
    HoloCodeSet now = {0};
    if (++p->depth > DEPTH_MAX) return fail(p, "too many brackets inside of each other");
    for (; is_first || !sees(p, "]"); is_first = false) {
        if (p->at >= p->size) return fail(p, "a class has no end");
        if (takes(p, "&&")) {
            if (meets && !holo_code_set_meet(p->arena, out, &now)) return fail_memory(p);
            if (!meets) *out = now;
            meets = true;
            now   = (HoloCodeSet){0};
        } else if (!class_member(p, &now))
            return false;
    }
    p->at++;
    p->depth--;
    if (!meets)
        *out = now;
    else if (!holo_code_set_meet(p->arena, out, &now))
        return fail_memory(p);
    if (p->ignores_case && !holo_code_set_fold(p->arena, out)) return fail_memory(p);
    if (negate && !holo_code_set_negate(p->arena, out)) return fail_memory(p);
    return true;
}

// ---- places

// \b and \B: a word on one side and none on the other, or the same on both.
static Node *word_edge(Parser *p, bool differs)
{
    HoloCodeSet word = {0}, none;
    if (!p->status) p->status = holo_code_set_property(p->arena, (HoloString){"word", 4}, &word, p->error);
    if (p->status) return NULL;
    // Digits and fractions of Latin-1 are parts of words here, though \w does not match them.
    static const uint32_t more[] = {0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE};
    for (int i = 0; i < HOLO_COUNT(more); i++)
        if (!holo_code_set_add(p->arena, &word, more[i], more[i])) return fail_memory(p);
    none = word;
    if (!holo_code_set_negate(p->arena, &none)) return fail_memory(p);
    Node *either = node_new(p, HOLO_PATTERN_OR);
    for (int word_first = 0; either && word_first < 2; word_first++) {
        bool  word_then = differs ? !word_first : word_first;
        Node *both      = node_new(p, HOLO_PATTERN_AND);
        Node *before    = edge_node(p, word_first ? word : none, true, !word_first);
        Node *behind    = edge_node(p, word_then ? word : none, false, !word_then);
        if (!both || !before || !behind) return NULL;
        node_add(both, before);
        node_add(both, behind);
        node_add(either, both);
    }
    return either;
}

static Node *line_edge(Parser *p, bool is_back)
{
    HoloCodeSet line = {0};
    if (!holo_code_set_add(p->arena, &line, '\n', '\n')) return fail_memory(p);
    return edge_node(p, line, is_back, true);
}

// \Z: at the end, or before a new line that is the last.
static Node *last_line_edge(Parser *p)
{
    Node *either = node_new(p, HOLO_PATTERN_OR), *look = node_new(p, HOLO_PATTERN_LOOK),
         *both       = node_new(p, HOLO_PATTERN_AND);
    HoloCodeSet line = {0};
    if (!either || !look || !both || !holo_code_set_add(p->arena, &line, '\n', '\n')) return fail_memory(p);
    Node *end = edge_node(p, (HoloCodeSet){0}, false, true), *again = edge_node(p, (HoloCodeSet){0}, false, true);
    Node *new_line = set_node(p, line);
    if (!end || !again || !new_line) return NULL;
    node_add(both, new_line);
    node_add(both, again);
    node_add(look, both);
    node_add(either, end);
    node_add(either, look);
    return either;
}

// \R: any end of a line, and none is taken apart.
static Node *any_line_end(Parser *p)
{
    Node *atom = node_new(p, HOLO_PATTERN_ATOM), *either = node_new(p, HOLO_PATTERN_OR),
         *both     = node_new(p, HOLO_PATTERN_AND);
    HoloCodeSet cr = {0}, lf = {0}, one = {0};
    bool        ok = holo_code_set_add(p->arena, &cr, '\r', '\r') && holo_code_set_add(p->arena, &lf, '\n', '\n') &&
              holo_code_set_add(p->arena, &one, '\n', '\r') && holo_code_set_add(p->arena, &one, 0x85, 0x85) &&
              holo_code_set_add(p->arena, &one, 0x2028, 0x2029);
    if (!atom || !either || !both || !ok) return fail_memory(p);
    Node *a = set_node(p, cr), *b = set_node(p, lf), *c = set_node(p, one);
    if (!a || !b || !c) return NULL;
    node_add(both, a);
    node_add(both, b);
    node_add(either, both);
    node_add(either, c);
    node_add(atom, either);
    return atom;
}

static Node *parse_escape(Parser *p)
{
    HoloCodeSet set  = {0};
    uint32_t    code = 0;
    if (p->at == p->size) return fail(p, "nothing follows the backslash");
    if (takes(p, "b")) return word_edge(p, true);
    if (takes(p, "B")) return word_edge(p, false);
    if (takes(p, "A")) return edge_node(p, set, true, true);
    if (takes(p, "z")) return edge_node(p, set, false, true);
    if (takes(p, "Z")) return last_line_edge(p);
    if (takes(p, "R")) return any_line_end(p);
    if (escaped_set(p, &set)) return set_node(p, set);
    if (p->status) return NULL;
    if (!escaped_code(p, &code)) return fail(p, "this escape is not supported");
    if (!holo_code_set_add(p->arena, &set, code, code)) return fail_memory(p);
    return set_node(p, set);
}

// ---- groups

static Node *parse_either(Parser *p);

// A look of one code point is an edge: no matcher of its own is needed.
static Node *look_node(Parser *p, Node *body, bool is_back, bool is_not)
{
    const Node *only = body;
    while (only->child && only->child == only->last &&
           (only->kind == HOLO_PATTERN_AND || only->kind == HOLO_PATTERN_OR))
        only = only->child;
    if (only->kind == HOLO_PATTERN_SET) {
        HoloCodeSet set = only->set;
        if (is_not && !holo_code_set_negate(p->arena, &set)) return fail_memory(p);
        return edge_node(p, set, is_back, is_not);
    }
    Node *look = node_new(p, HOLO_PATTERN_LOOK);
    if (!look) return NULL;
    look->is_back = is_back;
    look->is_not  = is_not;
    node_add(look, body);
    return look;
}

// The options of (?i:...) and (?i). False: there are others.
static bool take_options(Parser *p)
{
    bool on = true;
    for (; p->at < p->size; p->at++) {
        uint8_t c = p->text[p->at];
        if (c == '-')
            on = false;
        else if (c == 'i')
            p->ignores_case = on;
        else if (c == 'm' || c == 's')
            p->dot_is_all = on;
        else
            return c == ':' || c == ')';
    }
    return false;
}

static Node *group_end(Parser *p, Node *body)
{
    if (body && !takes(p, ")")) return fail(p, "a group has no end");
    return body;
}

// Behind "(?".
static Node *parse_special(Parser *p)
{
    static const struct {
        const char *mark;
        bool        is_back, is_not;
    } looks[] = {{"=", false, false}, {"!", false, true}, {"<=", true, false}, {"<!", true, true}};
    for (int i = 0; i < HOLO_COUNT(looks); i++)
        if (takes(p, looks[i].mark)) {
            Node *body = group_end(p, parse_either(p));
            return body ? look_node(p, body, looks[i].is_back, looks[i].is_not) : NULL;
        }
    if (takes(p, ">")) {
        Node *body = group_end(p, parse_either(p)), *atom = body ? node_new(p, HOLO_PATTERN_ATOM) : NULL;
        if (atom) node_add(atom, body);
        return atom;
    }
    if (takes(p, "#")) {
        while (p->at < p->size && p->text[p->at] != ')') p->at++;
        return group_end(p, node_new(p, HOLO_PATTERN_EMPTY));
    }
    if (takes(p, "<") || takes(p, "P<")) {
        while (p->at < p->size && p->text[p->at] != '>') p->at++;
        if (!takes(p, ">")) return fail(p, "the name of a group has no end");
        return group_end(p, parse_either(p));
    }
    if (!take_options(p)) return fail(p, "this kind of group is not supported");
    if (takes(p, ":")) return group_end(p, parse_either(p));
    p->at++; // (?i) holds to the end of the group that it is in
    return parse_either(p);
}

static Node *parse_group(Parser *p)
{
    bool  ignores_case = p->ignores_case, dot_is_all = p->dot_is_all;
    Node *node = NULL;
    if (++p->depth > DEPTH_MAX) return fail(p, "too many groups inside of each other");
    node            = takes(p, "?") ? parse_special(p) : group_end(p, parse_either(p));
    p->ignores_case = ignores_case;
    p->dot_is_all   = dot_is_all;
    p->depth--;
    return node;
}

// ---- sequences

static Node *parse_one(Parser *p)
{
    HoloCodeSet set = {0};
    if (takes(p, "(")) return parse_group(p);
    if (takes(p, "\\")) return parse_escape(p);
    if (takes(p, "^")) return line_edge(p, true);
    if (takes(p, "$")) return line_edge(p, false);
    if (takes(p, "[")) {
        bool ignores_case = p->ignores_case;
        bool ok           = parse_class(p, &set);
        p->ignores_case   = false; // the class did it
        Node *node        = ok ? set_node(p, set) : NULL;
        p->ignores_case   = ignores_case;
        return node;
    }
    if (takes(p, ".")) {
        if (!p->dot_is_all && !holo_code_set_add(p->arena, &set, '\n', '\n')) return fail_memory(p);
        if (!holo_code_set_negate(p->arena, &set)) return fail_memory(p);
        return set_node(p, set);
    }
    if (sees(p, "*") || sees(p, "+") || sees(p, "?")) return fail(p, "there is nothing to repeat");
    uint32_t code = take_code(p);
    if (!holo_code_set_add(p->arena, &set, code, code)) return fail_memory(p);
    return set_node(p, set);
}

static bool take_count(Parser *p, int *out)
{
    size_t begin = p->at;
    for (*out = 0; p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++)
        if (*out <= REPEAT_MAX) *out = *out * 10 + (p->text[p->at] - '0');
    return p->at > begin;
}

// {n}, {n,}, {,m}, {n,m}. False: the brace stands for itself.
static bool take_interval(Parser *p, int *min, int *max)
{
    size_t begin = p->at;
    if (!takes(p, "{")) return false;
    bool has_min = take_count(p, min), has_max = has_min;
    *max = *min;
    if (takes(p, ",")) {
        has_max = take_count(p, max);
        if (!has_min) *min = 0;
        if (!has_max) *max = -1;
    }
    if ((has_min || has_max) && takes(p, "}")) return true;
    p->at = begin;
    return false;
}

static Node *repeat_node(Parser *p, Node *child, int min, int max, bool is_lazy, bool is_atom)
{
    Node *node = node_new(p, HOLO_PATTERN_REPEAT), *atom = is_atom ? node_new(p, HOLO_PATTERN_ATOM) : NULL;
    if (!node || (is_atom && !atom)) return NULL;
    node->min     = min;
    node->max     = max;
    node->is_lazy = is_lazy;
    node_add(node, child);
    if (atom) node_add(atom, node);
    return atom ? atom : node;
}

static Node *parse_repeated(Parser *p)
{
    Node *node = parse_one(p);
    for (int i = 0; node; i++) {
        int  min = 0, max = -1;
        bool is_interval = false, is_fixed = false;
        if (i > 20) return fail(p, "too many repeats of repeats");
        if (takes(p, "*"))
            min = 0;
        else if (takes(p, "+"))
            min = 1;
        else if (takes(p, "?"))
            max = 1;
        else if (take_interval(p, &min, &max))
            is_interval = true, is_fixed = min == max;
        else
            break;
        if (min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && min > max))
            return fail(p, "a repeat has a wrong or too large count");
        bool is_lazy = !is_fixed && takes(p, "?"), is_atom = !is_lazy && !is_interval && takes(p, "+");
        node = repeat_node(p, node, min, max, is_lazy, is_atom);
    }
    return node;
}

static Node *parse_sequence(Parser *p)
{
    Node *all = node_new(p, HOLO_PATTERN_AND);
    while (all && p->at < p->size && !sees(p, "|") && !sees(p, ")")) {
        Node *one = parse_repeated(p);
        if (!one) return NULL;
        node_add(all, one);
    }
    return all;
}

static Node *parse_either(Parser *p)
{
    Node *either = node_new(p, HOLO_PATTERN_OR);
    do {
        Node *one = either ? parse_sequence(p) : NULL;
        if (!one) return NULL;
        node_add(either, one);
    } while (takes(p, "|"));
    return either;
}

HoloStatus holo_pattern_parse(HoloArena *arena, HoloString text, HoloPatternNode **out, HoloError *error)
{
    Parser p = {.arena = arena, .text = (const uint8_t *)text.data, .size = text.size, .error = error};
    *out     = parse_either(&p);
    if (*out && p.at < p.size) fail(&p, "there is a ) without its (");
    return p.status;
}
