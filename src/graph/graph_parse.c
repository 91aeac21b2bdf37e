// graph_parse.c - graphs from their text form (docs/graph-text.md), and bodies of operators.
//
// The text is a test's, a developer's or an operator's own: it is read strictly, and an error names
// the line. Constants that were printed as a hash cannot be read back.
#include "graph/graph.h"

#include "graph/graph_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 16, LIST_MAX = 4096 };

typedef struct Parser {
    HoloArena      *arena;
    HoloDims       *dims;
    HoloError      *error;
    const char     *text, *at;
    const HoloNode *caller;   // whose attributes "@name" means; NULL: not the body of an operator
    HoloAttr       *fallback; // attributes that the body gives itself
    int             fallback_count;
    int             nesting;
} Parser;

static HoloStatus parse_graph(Parser *p, HoloGraph **out);
static HoloStatus parse_attr_value(Parser *p, HoloAttr *attr);

// ---- characters

static HoloStatus wrong(Parser *p, const char *expected)
{
    int line = 1, shown = 0;
    for (const char *c = p->text; c < p->at; c++) line += *c == '\n';
    while (shown < 24 && p->at[shown] && p->at[shown] != '\n') shown++;
    return holo_fail(p->error, HOLO_BAD_MODEL, "graph text, line %d: expected %s before \"%.*s\"", line, expected,
                     shown, p->at);
}

static void skip(Parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at)) p->at++;
        if (*p->at != '#') return;
        while (*p->at && *p->at != '\n') p->at++;
    }
}

static bool accept(Parser *p, const char *token)
{
    skip(p);
    size_t size = strlen(token);
    if (strncmp(p->at, token, size) != 0) return false;
    // A word ends where a name could not go on.
    if (holo_text_in_name(token[size - 1]) && holo_text_in_name(p->at[size])) return false;
    p->at += size;
    return true;
}

static HoloStatus expect(Parser *p, const char *token)
{
    return accept(p, token) ? HOLO_OK : wrong(p, token);
}

static bool is_next(Parser *p, char c)
{
    skip(p);
    return *p->at == c;
}

// The text in quotes, with its escapes resolved.
static HoloStatus parse_quoted(Parser *p, HoloString *out)
{
    HOLO_TRY(expect(p, "\""));
    char *data = holo_arena_take(p->arena, strcspn(p->at, "\n") + 1), *to = data;
    if (!data) return holo_fail_memory(p->error);
    for (; *p->at != '"'; p->at++) {
        if (!*p->at || *p->at == '\n') return wrong(p, "a closing quote");
        if (*p->at != '\\') {
            *to++ = *p->at;
            continue;
        }
        char c = *++p->at;
        if (c == 'x' && isxdigit((unsigned char)p->at[1]) && isxdigit((unsigned char)p->at[2])) {
            char digits[3] = {p->at[1], p->at[2], '\0'};
            *to++          = (char)strtol(digits, NULL, 16);
            p->at += 2;
        } else if (c == 'n' || c == '"' || c == '\\') {
            *to++ = c == 'n' ? '\n' : c;
        } else {
            return wrong(p, "one of \\\\ \\\" \\n \\xhh");
        }
    }
    p->at++;
    *out = (HoloString){data, (size_t)(to - data)};
    return HOLO_OK;
}

static HoloStatus parse_name(Parser *p, const char **out)
{
    skip(p);
    if (*p->at == '"') {
        HoloString s;
        HOLO_TRY(parse_quoted(p, &s));
        *out = s.data; // the memory behind it is zero
        return HOLO_OK;
    }
    const char *start = p->at;
    if (!isalpha((unsigned char)*p->at) && *p->at != '_' && *p->at != '/') return wrong(p, "a name");
    while (holo_text_in_name(*p->at)) p->at++;
    *out = holo_arena_text(p->arena, start, (size_t)(p->at - start));
    return *out ? HOLO_OK : holo_fail_memory(p->error);
}

// ---- numbers and types

static HoloStatus parse_int(Parser *p, int64_t *out)
{
    skip(p);
    bool     is_negative = *p->at == '-';
    uint64_t x           = 0;
    if (is_negative) p->at++;
    if (!isdigit((unsigned char)*p->at)) return wrong(p, "a whole number");
    for (; isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, (uint64_t)(*p->at - '0'), &x))
            return wrong(p, "a number of at most 64 bits");
    *out = (int64_t)(is_negative ? 0 - x : x);
    return HOLO_OK;
}

static HoloStatus parse_float(Parser *p, double *out)
{
    bool is_negative = accept(p, "-");
    if (accept(p, "nan"))
        *out = NAN;
    else if (accept(p, "inf"))
        *out = INFINITY;
    else {
        char *end;
        skip(p);
        if (!isdigit((unsigned char)*p->at) && *p->at != '.') return wrong(p, "a number");
        *out  = strtod(p->at, &end);
        p->at = end;
    }
    if (is_negative) *out = -*out;
    return HOLO_OK;
}

// The text up to a comma or closing bracket that is not inside of something.
static HoloStatus parse_dim(Parser *p, HoloDim *out)
{
    skip(p);
    const char *start  = p->at;
    bool        quoted = false;
    for (int depth = 0; *p->at && *p->at != '\n'; p->at++) {
        char c = *p->at;
        if (c == '"') quoted = !quoted;
        if (quoted) {
            if (c == '\\' && p->at[1]) p->at++;
            continue;
        }
        if (!depth && (c == ',' || c == ']' || c == '}')) break;
        depth += (c == '(') - (c == ')');
    }
    char *text = holo_arena_text(p->arena, start, (size_t)(p->at - start));
    if (!text) return holo_fail_memory(p->error);
    char *end = NULL;
    if (*text == '-' && isdigit((unsigned char)text[1])) { // a number alone may be as low as numbers go
        *out = strtoll(text, &end, 10);
        if (!*end) return HOLO_OK;
    }
    if (holo_dim_parse(p->dims, text, out)) return HOLO_OK;
    p->at = start;
    return wrong(p, "a size");
}

static bool parse_kind(Parser *p, uint8_t *out)
{
    if (accept(p, "seq"))
        *out = HOLO_SEQUENCE;
    else if (accept(p, "optional"))
        *out = HOLO_OPTIONAL;
    else if (accept(p, "map"))
        *out = HOLO_MAP;
    else
        return false;
    return true;
}

static HoloStatus parse_type(Parser *p, HoloTensor *out)
{
    const char *name;
    *out = (HoloTensor){.rank = -1};
    if (parse_kind(p, &out->kind)) parse_kind(p, &out->inner);
    if (!accept(p, "?")) {
        const char *start = p->at;
        HOLO_TRY(parse_name(p, &name));
        out->dtype = (uint8_t)holo_dtype_find(name);
        if (out->dtype == HOLO_NONE) return p->at = start, wrong(p, "a type such as f32[2,n]");
    }
    if (!accept(p, "[")) return HOLO_OK;
    out->rank = 0;
    while (!accept(p, "]")) {
        if (out->rank) HOLO_TRY(expect(p, ","));
        if (out->rank == HOLO_MAX_RANK) return wrong(p, "at most 16 dimensions");
        HOLO_TRY(parse_dim(p, &out->dim[out->rank++]));
    }
    return HOLO_OK;
}

// ---- tensors

static HoloStatus parse_element(Parser *p, HoloTensor *t, int64_t i)
{
    HoloTensor parts = *t;
    double     x, y;
    int64_t    n;
    switch (holo_dtype_class(t->dtype)) {
    case HOLO_CLASS_STRING: return parse_quoted(p, &((HoloString *)t->data)[i]);
    case HOLO_CLASS_FLOAT:
        HOLO_TRY(parse_float(p, &x));
        holo_put_f(t, i, x);
        return HOLO_OK;
    case HOLO_CLASS_COMPLEX:
        parts.dtype = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        HOLO_TRY(expect(p, "("));
        HOLO_TRY(parse_float(p, &x));
        HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_float(p, &y));
        HOLO_TRY(expect(p, ")"));
        holo_put_f(&parts, 2 * i, x);
        holo_put_f(&parts, 2 * i + 1, y);
        return HOLO_OK;
    default:
        HOLO_TRY(parse_int(p, &n));
        holo_put_i(t, i, n);
        return HOLO_OK;
    }
}

static HoloStatus parse_elements(Parser *p, HoloTensor *t)
{
    int64_t count = holo_tensor_count(t);
    if (t->kind != HOLO_TENSOR || t->dtype == HOLO_NONE || count < 0 || count > LIST_MAX)
        return wrong(p, "a tensor of known, small size");
    HOLO_TRY(expect(p, "{"));
    t->data = holo_arena_take(p->arena, holo_tensor_bytes(t));
    if (!t->data) return holo_fail_memory(p->error);
    for (int64_t i = 0; i < count; i++) {
        if (i) HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_element(p, t, i));
    }
    return expect(p, "}");
}

static HoloStatus parse_tensor(Parser *p, const HoloTensor **out)
{
    HoloTensor *t = HOLO_NEW(p->arena, HoloTensor, 1);
    if (!t) return holo_fail_memory(p->error);
    *out = t;
    HOLO_TRY(parse_type(p, t));
    return parse_elements(p, t);
}

// ---- attributes

static bool is_float_next(const Parser *p)
{
    const char *c = p->at + (*p->at == '-');
    if (isalpha((unsigned char)*c)) return true;
    while (isdigit((unsigned char)*c)) c++;
    return *c == '.' || *c == 'e';
}

// An attribute of one of the list's elements becomes the last entry of the list, whose room doubles.
static HoloStatus list_put(Parser *p, HoloAttr *list, const HoloAttr *one)
{
    static const struct {
        int32_t one, many;
        size_t  size;
    } rows[] = {
        {HOLO_ATTR_INT, HOLO_ATTR_INTS, sizeof(int64_t)},
        {HOLO_ATTR_FLOAT, HOLO_ATTR_FLOATS, sizeof(float)},
        {HOLO_ATTR_STRING, HOLO_ATTR_STRINGS, sizeof(HoloString)},
        {HOLO_ATTR_TENSOR, HOLO_ATTR_TENSORS, sizeof(HoloTensor)},
        {HOLO_ATTR_GRAPH, HOLO_ATTR_GRAPHS, sizeof(void *)},
    };
    int k = 0, n = list->count;
    while (k < HOLO_COUNT(rows) && rows[k].one != one->kind) k++;
    if (k == HOLO_COUNT(rows) || (n && list->kind != rows[k].many)) return wrong(p, "a list of one kind");
    list->kind = rows[k].many;
    if ((n & (n - 1)) == 0) { // full: 0, 1, 2, 4, 8 ...
        char *more = holo_arena_take_array(p->arena, n ? (size_t)n * 2 : 1, rows[k].size);
        if (!more) return holo_fail_memory(p->error);
        if (n) memcpy(more, list->ints, (size_t)n * rows[k].size);
        list->ints = (const int64_t *)(void *)more;
    }
    float       f    = one->kind == HOLO_ATTR_FLOAT ? (float)one->f : 0;
    const void *from = one->kind == HOLO_ATTR_FLOAT    ? (const void *)&f
                       : one->kind == HOLO_ATTR_TENSOR ? (const void *)one->tensor
                                                       : (const void *)&one->i;
    memcpy((char *)list->ints + (size_t)n * rows[k].size, from, rows[k].size);
    list->count = n + 1;
    return HOLO_OK;
}

static HoloStatus parse_list(Parser *p, HoloAttr *list)
{
    list->count = 0;
    while (!accept(p, "]")) {
        HoloAttr one = {0};
        if (list->count) HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_attr_value(p, &one));
        HOLO_TRY(list_put(p, list, &one));
    }
    return list->count ? HOLO_OK : wrong(p, "an entry, or a list written as ints[]");
}

static bool parse_empty_list(Parser *p, HoloAttr *attr)
{
    for (int32_t kind = HOLO_ATTR_INT; kind <= HOLO_ATTR_TYPE; kind++) {
        const char *plural = holo_text_plural(kind), *start = p->at;
        if (!plural || !accept(p, plural)) continue;
        if (accept(p, "[") && accept(p, "]")) {
            attr->kind  = kind;
            attr->count = 0;
            attr->ints  = NULL;
            return true;
        }
        p->at = start;
    }
    return false;
}

static HoloStatus parse_attr_value(Parser *p, HoloAttr *attr)
{
    attr->count = 1;
    skip(p);
    if (accept(p, "[")) return parse_list(p, attr);
    if (parse_empty_list(p, attr)) return HOLO_OK;
    if (is_next(p, '"')) {
        attr->kind = HOLO_ATTR_STRING;
        return parse_quoted(p, &attr->s);
    }
    if (accept(p, "type")) {
        HoloTensor *t = HOLO_NEW(p->arena, HoloTensor, 1);
        if (!t) return holo_fail_memory(p->error);
        attr->kind   = HOLO_ATTR_TYPE;
        attr->tensor = t;
        return parse_type(p, t);
    }
    if (strncmp(p->at, "graph", 5) == 0) {
        attr->kind = HOLO_ATTR_GRAPH;
        return parse_graph(p, (HoloGraph **)&attr->graph);
    }
    bool is_number = isdigit((unsigned char)*p->at) || *p->at == '-' || *p->at == '.';
    if (is_number || !strncmp(p->at, "nan", 3) || !strncmp(p->at, "inf", 3)) {
        attr->kind = is_float_next(p) ? HOLO_ATTR_FLOAT : HOLO_ATTR_INT;
        return attr->kind == HOLO_ATTR_INT ? parse_int(p, &attr->i) : parse_float(p, &attr->f);
    }
    attr->kind = HOLO_ATTR_TENSOR;
    return parse_tensor(p, &attr->tensor);
}

// "@name": the attribute of the caller, or what the body has for it. False: neither.
static HoloStatus parse_reference(Parser *p, HoloAttr *attr, bool *out_given)
{
    const char *name, *own = attr->name;
    if (!p->caller) return wrong(p, "a value (only the body of an operator has \"@\")");
    HOLO_TRY(parse_name(p, &name));
    *out_given = false;
    for (int i = 0; i < p->fallback_count + p->caller->attr_count; i++) { // the caller's come last and win
        const HoloAttr *found = i < p->fallback_count ? &p->fallback[i] : &p->caller->attr[i - p->fallback_count];
        if (strcmp(found->name, name)) continue;
        *attr      = *found;
        attr->name = own;
        *out_given = true;
    }
    return HOLO_OK;
}

// name=value, ... up to `end`. Attributes that refer to something not given are left out.
static HoloStatus parse_attrs(Parser *p, const char *end, HoloAttr **out, int *out_count)
{
    *out_count = 0;
    for (bool first = true; !accept(p, end); first = false) {
        HoloAttr attr     = {0};
        bool     is_given = true;
        int      n        = *out_count;
        if (!first) HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_name(p, &attr.name));
        HOLO_TRY(expect(p, "="));
        if (accept(p, "@"))
            HOLO_TRY(parse_reference(p, &attr, &is_given));
        else
            HOLO_TRY(parse_attr_value(p, &attr));
        if (!is_given) continue;
        if ((n & (n - 1)) == 0) { // full: 0, 1, 2, 4, 8 ...
            HoloAttr *more = HOLO_NEW(p->arena, HoloAttr, n ? n * 2 : 1);
            if (!more) return holo_fail_memory(p->error);
            if (n) memcpy(more, *out, (size_t)n * sizeof *more);
            *out = more;
        }
        (*out)[(*out_count)++] = attr;
    }
    return HOLO_OK;
}

// ---- nodes

typedef struct Names { // value names of a list; NULL: "_"
    const char **name;
    int          count, captured; // captured: how many stand behind "|"
} Names;

static HoloStatus parse_names(Parser *p, const char *end, Names *out)
{
    int room = 1;
    for (const char *c = p->at; *c && *c != '\n' && room < (1 << 20); c++) room += *c == ',' || *c == '|';
    *out = (Names){.name = HOLO_NEW(p->arena, const char *, room)};
    if (!out->name) return holo_fail_memory(p->error);
    int captured_from = -1;
    while (!accept(p, end)) {
        if (accept(p, "|"))
            captured_from = out->count;
        else if (out->count)
            HOLO_TRY(expect(p, ","));
        if (out->count == room) return wrong(p, "a list on one line");
        if (accept(p, "_"))
            out->count++;
        else
            HOLO_TRY(parse_name(p, &out->name[out->count++]));
    }
    if (captured_from >= 0) out->captured = out->count - captured_from;
    return HOLO_OK;
}

static HoloStatus new_value(Parser *p, HoloGraph *graph, const char *name, HoloValue **out)
{
    if (holo_graph_find(graph, name))
        return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: value %s is defined twice", name);
    *out = holo_graph_value(graph, name);
    return *out ? HOLO_OK : holo_fail_memory(p->error);
}

static HoloStatus parse_out_types(Parser *p, HoloNode *node)
{
    if (!accept(p, ":")) return HOLO_OK;
    for (int i = 0; i < node->out_count; i++) {
        if (i) HOLO_TRY(expect(p, ","));
        if (accept(p, "_")) continue;
        HoloTensor type;
        HOLO_TRY(parse_type(p, &type));
        if (node->out[i]) node->out[i]->type = type;
    }
    return HOLO_OK;
}

static HoloStatus parse_node(Parser *p, HoloGraph *graph)
{
    Names       in, out;
    HoloString  name   = {0};
    const char *domain = "", *type;
    int64_t     version;
    HoloAttr   *attr       = NULL;
    int         attr_count = 0;
    HOLO_TRY(parse_names(p, "=", &out));
    HOLO_TRY(parse_name(p, &type));
    if (accept(p, "::")) {
        domain = type;
        HOLO_TRY(parse_name(p, &type));
    }
    HOLO_TRY(expect(p, "@"));
    HOLO_TRY(parse_int(p, &version));
    if (version < 0 || version > INT32_MAX) return wrong(p, "a version");
    if (is_next(p, '"')) HOLO_TRY(parse_quoted(p, &name));
    HOLO_TRY(expect(p, "("));
    HOLO_TRY(parse_names(p, ")", &in));
    if (accept(p, "{")) HOLO_TRY(parse_attrs(p, "}", &attr, &attr_count));
    if (!name.data && out.count) name.data = out.name[0];
    HoloNode *node = holo_graph_node(graph, name.data, domain, type, (int)version, in.count, out.count, attr_count);
    if (!node) return holo_fail_memory(p->error);
    node->capture_count = in.captured;
    node->op            = holo_op_find(domain, type, (int)version);
    if (attr_count) memcpy(node->attr, attr, (size_t)attr_count * sizeof *attr);
    for (int i = 0; i < in.count; i++) {
        if (!in.name[i]) continue;
        node->in[i] = holo_graph_find(graph, in.name[i]);
        if (!node->in[i])
            return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: %s uses %s, which is not defined before",
                             node->name, in.name[i]);
    }
    for (int i = 0; i < out.count; i++) {
        HoloValue *value = NULL;
        if (out.name[i]) HOLO_TRY(new_value(p, graph, out.name[i], &value));
        holo_node_set_out(node, i, value);
    }
    return parse_out_types(p, node);
}

// ---- graphs

static HoloStatus parse_contents(Parser *p, HoloValue *value)
{
    int64_t count = holo_tensor_count(&value->type);
    if (count < 0 || count > LIST_MAX) return wrong(p, "a tensor of known, small size");
    HoloDim *contents = HOLO_NEW(p->arena, HoloDim, count);
    if (!contents) return holo_fail_memory(p->error);
    HOLO_TRY(expect(p, "{"));
    for (int64_t i = 0; i < count; i++) {
        if (i) HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_dim(p, &contents[i]));
    }
    value->contents = contents;
    return expect(p, "}");
}

static HoloStatus parse_leaf(Parser *p, HoloGraph *graph, bool is_constant)
{
    const char *name;
    HoloValue  *value;
    HOLO_TRY(parse_name(p, &name));
    HOLO_TRY(new_value(p, graph, name, &value));
    HOLO_TRY(expect(p, ":"));
    HOLO_TRY(parse_type(p, &value->type));
    HOLO_TRY(expect(p, "="));
    value->is_constant = is_constant;
    return is_constant ? parse_elements(p, &value->type) : parse_contents(p, value);
}

static HoloStatus parse_inputs(Parser *p, HoloGraph *graph)
{
    HOLO_TRY(expect(p, "("));
    for (bool first = true; !accept(p, ")"); first = false) {
        const char *name;
        HoloTensor  type = {.rank = -1};
        if (!first) HOLO_TRY(expect(p, ","));
        HOLO_TRY(parse_name(p, &name));
        if (holo_graph_find(graph, name))
            return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: input %s is there twice", name);
        if (accept(p, ":")) HOLO_TRY(parse_type(p, &type));
        if (!holo_graph_input(graph, name, &type)) return holo_fail_memory(p->error);
    }
    return HOLO_OK;
}

// What follows "when" or "unless": an input that the caller gives, or the value of an attribute, "@name=value".
static HoloStatus parse_condition(Parser *p, const HoloGraph *graph, bool *out)
{
    HoloAttr    have = {0}, want = {0};
    const char *name;
    if (accept(p, "@")) {
        HOLO_TRY(parse_reference(p, &have, out));
        HOLO_TRY(expect(p, "="));
        HOLO_TRY(parse_attr_value(p, &want));
        bool same =
            have.kind == want.kind && (want.kind == HOLO_ATTR_STRING ? holo_string_equal(have.s, want.s)
                                                                     : want.kind == HOLO_ATTR_INT && have.i == want.i);
        *out = *out && same;
        return HOLO_OK;
    }
    HOLO_TRY(parse_name(p, &name));
    int i = 0;
    while (i < graph->input_count && strcmp(graph->inputs[i]->name, name)) i++;
    if (i == graph->input_count) return wrong(p, "an input of the body");
    *out = i < p->caller->in_count && p->caller->in[i];
    return HOLO_OK;
}

static HoloStatus skip_block(Parser *p)
{
    HoloString text;
    for (int depth = 1; depth; p->at++) {
        skip(p);
        if (!*p->at) return wrong(p, "the end of a block");
        depth += (*p->at == '{') - (*p->at == '}');
        if (*p->at != '"') continue;
        HOLO_TRY(parse_quoted(p, &text));
        p->at--;
    }
    return HOLO_OK;
}

static HoloStatus parse_refusal(Parser *p)
{
    HoloString why;
    HOLO_TRY(parse_quoted(p, &why));
    return holo_fail(p->error, HOLO_UNSUPPORTED, "%s (%s): %.*s", p->caller->name, p->caller->type, (int)why.size,
                     why.data);
}

static HoloStatus parse_statements(Parser *p, HoloGraph *graph)
{
    while (!accept(p, "}")) {
        bool unless = p->caller && accept(p, "unless"), holds;
        if (unless || (p->caller && accept(p, "when"))) {
            HOLO_TRY(parse_condition(p, graph, &holds));
            HOLO_TRY(expect(p, "{"));
            HOLO_TRY(holds != unless ? parse_statements(p, graph) : skip_block(p));
        } else if (p->caller && accept(p, "refuse")) {
            HOLO_TRY(parse_refusal(p));
        } else if (accept(p, "const")) {
            HOLO_TRY(parse_leaf(p, graph, true));
        } else if (accept(p, "shape")) {
            HOLO_TRY(parse_leaf(p, graph, false));
        } else {
            HOLO_TRY(parse_node(p, graph));
        }
    }
    return HOLO_OK;
}

static HoloStatus parse_graph(Parser *p, HoloGraph **out)
{
    const char *name;
    Names       outputs;
    if (p->nesting++ == NESTING_MAX) return wrong(p, "fewer graphs in graphs");
    HOLO_TRY(expect(p, "graph"));
    HOLO_TRY(parse_name(p, &name));
    HoloGraph *graph = *out = holo_graph_create(p->arena, p->dims, name);
    if (!graph) return holo_fail_memory(p->error);
    if (accept(p, "<")) HOLO_TRY(parse_attrs(p, ">", &p->fallback, &p->fallback_count));
    HOLO_TRY(parse_inputs(p, graph));
    HOLO_TRY(expect(p, "->"));
    HOLO_TRY(expect(p, "("));
    HOLO_TRY(parse_names(p, ")", &outputs));
    HOLO_TRY(expect(p, "{"));
    HOLO_TRY(parse_statements(p, graph));
    for (int i = 0; i < outputs.count; i++) {
        HoloValue *value = outputs.name[i] ? holo_graph_find(graph, outputs.name[i]) : NULL;
        if (!value)
            return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: output %s is not defined",
                             outputs.name[i] ? outputs.name[i] : "_");
        if (!holo_graph_output(graph, value)) return holo_fail_memory(p->error);
    }
    p->nesting--;
    return HOLO_OK;
}

static HoloStatus parse_text(Parser *p, HoloGraph **out_graph)
{
    p->at = p->text;
    if (!p->dims) p->dims = holo_dims_create(p->arena);
    if (!p->dims) return holo_fail_memory(p->error);
    HOLO_TRY(parse_graph(p, out_graph));
    skip(p);
    return *p->at ? wrong(p, "the end of the text") : HOLO_OK;
}

HoloStatus holo_graph_parse(HoloArena *arena, const char *text, HoloGraph **out_graph, HoloError *error)
{
    Parser p = {.arena = arena, .error = error, .text = text};
    return parse_text(&p, out_graph);
}

HoloStatus holo_node_body(HoloArena *arena, HoloDims *dims, const HoloNode *node, HoloGraph **out_graph,
                          HoloError *error)
{
    const HoloOp *op = node->op ? node->op : holo_op_find(node->domain, node->type, node->version);
    if (!op || !op->body)
        return holo_fail(error, HOLO_UNSUPPORTED, "node %s (%s): the operator is not defined by others", node->name,
                         node->type);
    if (node->in_count < op->in_min || (op->in_max >= 0 && node->in_count > op->in_max))
        return holo_fail(error, HOLO_BAD_MODEL, "node %s (%s): has %d inputs, expected %d to %d", node->name,
                         node->type, node->in_count, op->in_min, op->in_max);
    Parser p = {.arena = arena, .dims = dims, .error = error, .text = op->body, .caller = node};
    return parse_text(&p, out_graph);
}
