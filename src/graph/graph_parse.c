// graph_parse.c - graphs from their text form (docs/graph-text.md), and bodies of operators.
//
// The text comes from a test, a developer or an operator's row. It is read strictly, and an error names the line.
// Constants that were printed as a hash cannot be read again.
#include "graph/graph_scan.h"
#include "graph/graph_text.h"

#include "format/holo.h"

#include <ctype.h>
#include <string.h>

enum { NESTING_MAX = 16, LIST_MAX = 4096 };

static HoloStatus parse_graph(HoloScan *p, HoloGraph **out);
static HoloStatus parse_attr_value(HoloScan *p, HoloAttr *attr);

// ---- tensors

static HoloStatus parse_element(HoloScan *p, HoloTensor *t, int64_t i)
{
    HoloTensor parts = *t;
    double     x, y;
    int64_t    n;
    switch (holo_dtype_class(t->dtype)) {
    case HOLO_CLASS_STRING: return holo_scan_quoted(p, &((HoloString *)t->data)[i]);
    case HOLO_CLASS_FLOAT:
        HOLO_TRY(holo_scan_float(p, &x));
        holo_put_f(t, i, x);
        return HOLO_OK;
    case HOLO_CLASS_COMPLEX:
        parts.dtype = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        HOLO_TRY(holo_scan_expect(p, "("));
        HOLO_TRY(holo_scan_float(p, &x));
        HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(holo_scan_float(p, &y));
        HOLO_TRY(holo_scan_expect(p, ")"));
        holo_put_f(&parts, 2 * i, x);
        holo_put_f(&parts, 2 * i + 1, y);
        return HOLO_OK;
    default:
        HOLO_TRY(holo_scan_int(p, &n));
        holo_put_i(t, i, n);
        return HOLO_OK;
    }
}

static HoloStatus parse_elements(HoloScan *p, HoloTensor *t)
{
    int64_t count = holo_tensor_count(t);
    if (t->kind != HOLO_TENSOR || t->dtype == HOLO_NONE || count < 0 || count > LIST_MAX)
        return holo_scan_wrong(p, "a tensor of known, small size");
    HOLO_TRY(holo_scan_expect(p, "{"));
    t->data = holo_arena_take(p->arena, holo_tensor_bytes(t));
    if (!t->data) return holo_fail_memory(p->error);
    for (int64_t i = 0; i < count; i++) {
        if (i) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(parse_element(p, t, i));
    }
    return holo_scan_expect(p, "}");
}

static HoloStatus parse_tensor(HoloScan *p, const HoloTensor **out)
{
    HoloTensor *t = HOLO_NEW(p->arena, HoloTensor, 1);
    if (!t) return holo_fail_memory(p->error);
    *out = t;
    HOLO_TRY(holo_scan_type(p, t));
    return parse_elements(p, t);
}

// ---- attributes

static bool is_float_next(const HoloScan *p)
{
    const char *c = p->at + (*p->at == '-');
    if (isalpha((unsigned char)*c)) return true;
    while (isdigit((unsigned char)*c)) c++;
    return *c == '.' || *c == 'e';
}

// Appends an element to a list of attributes.
static HoloStatus list_put(HoloScan *p, HoloAttr *list, int *room, const HoloAttr *one)
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
    if (k == HOLO_COUNT(rows) || (n && list->kind != rows[k].many)) return holo_scan_wrong(p, "a list of one kind");
    list->kind = rows[k].many;
    if (!holo_arena_grow(p->arena, &list->ints, n, room, rows[k].size)) return holo_fail_memory(p->error);
    float       f    = one->kind == HOLO_ATTR_FLOAT ? (float)one->f : 0;
    const void *from = one->kind == HOLO_ATTR_FLOAT    ? (const void *)&f
                       : one->kind == HOLO_ATTR_TENSOR ? (const void *)one->tensor
                                                       : (const void *)&one->i;
    memcpy((char *)list->ints + (size_t)n * rows[k].size, from, rows[k].size);
    list->count = n + 1;
    return HOLO_OK;
}

static HoloStatus parse_list(HoloScan *p, HoloAttr *list)
{
    int room    = 0;
    list->count = 0;
    while (!holo_scan_accept(p, "]")) {
        HoloAttr one = {0};
        if (list->count) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(parse_attr_value(p, &one));
        HOLO_TRY(list_put(p, list, &room, &one));
    }
    return list->count ? HOLO_OK : holo_scan_wrong(p, "an entry, or a list written as ints[]");
}

static bool parse_empty_list(HoloScan *p, HoloAttr *attr)
{
    for (int32_t kind = HOLO_ATTR_INT; kind <= HOLO_ATTR_TYPE; kind++) {
        const char *plural = holo_text_plural(kind), *start = p->at;
        if (!plural || !holo_scan_accept(p, plural)) continue;
        if (holo_scan_accept(p, "[") && holo_scan_accept(p, "]")) {
            attr->kind  = kind;
            attr->count = 0;
            attr->ints  = NULL;
            return true;
        }
        p->at = start;
    }
    return false;
}

static HoloStatus parse_attr_value(HoloScan *p, HoloAttr *attr)
{
    attr->count = 1;
    holo_scan_skip(p);
    if (holo_scan_accept(p, "[")) return parse_list(p, attr);
    if (parse_empty_list(p, attr)) return HOLO_OK;
    if (holo_scan_is_next(p, '"')) {
        attr->kind = HOLO_ATTR_STRING;
        return holo_scan_quoted(p, &attr->s);
    }
    if (holo_scan_accept(p, "type")) {
        HoloTensor *t = HOLO_NEW(p->arena, HoloTensor, 1);
        if (!t) return holo_fail_memory(p->error);
        attr->kind   = HOLO_ATTR_TYPE;
        attr->tensor = t;
        return holo_scan_type(p, t);
    }
    if (strncmp(p->at, "graph", 5) == 0) {
        attr->kind = HOLO_ATTR_GRAPH;
        return parse_graph(p, (HoloGraph **)&attr->graph);
    }
    bool is_number = isdigit((unsigned char)*p->at) || *p->at == '-' || *p->at == '.';
    if (is_number || !strncmp(p->at, "nan", 3) || !strncmp(p->at, "inf", 3)) {
        attr->kind = is_float_next(p) ? HOLO_ATTR_FLOAT : HOLO_ATTR_INT;
        return attr->kind == HOLO_ATTR_INT ? holo_scan_int(p, &attr->i) : holo_scan_float(p, &attr->f);
    }
    attr->kind = HOLO_ATTR_TENSOR;
    return parse_tensor(p, &attr->tensor);
}

// "@name": the attribute of the caller, or else the default of the body. False: there is neither.
static HoloStatus parse_reference(HoloScan *p, HoloAttr *attr, bool *out_given)
{
    const char *name, *own = attr->name;
    if (!p->caller) return holo_scan_wrong(p, "a value (only the body of an operator has \"@\")");
    HOLO_TRY(holo_scan_name(p, &name));
    *out_given = false;
    for (int i = 0; i < p->fallback_count + p->caller->attr_count; i++) { // the caller's come last, so they win
        const HoloAttr *found = i < p->fallback_count ? &p->fallback[i] : &p->caller->attr[i - p->fallback_count];
        if (strcmp(found->name, name)) continue;
        *attr      = *found;
        attr->name = own;
        *out_given = true;
    }
    return HOLO_OK;
}

// Reads name=value, ... up to `end`. Attributes that refer to something that is not given are left out.
static HoloStatus parse_attrs(HoloScan *p, const char *end, HoloAttr **out, int *out_count)
{
    int room   = 0;
    *out_count = 0;
    for (bool first = true; !holo_scan_accept(p, end); first = false) {
        HoloAttr attr     = {0};
        bool     is_given = true;
        if (!first) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(holo_scan_name(p, &attr.name));
        HOLO_TRY(holo_scan_expect(p, "="));
        if (holo_scan_accept(p, "@"))
            HOLO_TRY(parse_reference(p, &attr, &is_given));
        else
            HOLO_TRY(parse_attr_value(p, &attr));
        if (!is_given) continue;
        if (!HOLO_GROW(p->arena, *out, *out_count, room)) return holo_fail_memory(p->error);
        (*out)[(*out_count)++] = attr;
    }
    return HOLO_OK;
}

// ---- nodes

typedef struct Names { // names of values in a list; NULL: "_"
    const char **name;
    int          count, captured; // captured: how many are behind "|"
} Names;

static HoloStatus parse_names(HoloScan *p, const char *end, Names *out)
{
    int room = 1;
    for (const char *c = p->at; *c && *c != '\n' && room < (1 << 20); c++) room += *c == ',' || *c == '|';
    *out = (Names){.name = HOLO_NEW(p->arena, const char *, room)};
    if (!out->name) return holo_fail_memory(p->error);
    int captured_from = -1;
    while (!holo_scan_accept(p, end)) {
        if (holo_scan_accept(p, "|"))
            captured_from = out->count;
        else if (out->count)
            HOLO_TRY(holo_scan_expect(p, ","));
        if (out->count == room) return holo_scan_wrong(p, "a list on one line");
        if (holo_scan_accept(p, "_"))
            out->count++;
        else
            HOLO_TRY(holo_scan_name(p, &out->name[out->count++]));
    }
    if (captured_from >= 0) out->captured = out->count - captured_from;
    return HOLO_OK;
}

static HoloStatus new_value(HoloScan *p, HoloGraph *graph, const char *name, HoloValue **out)
{
    if (holo_graph_find(graph, name))
        return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: value %s is defined twice", name);
    *out = holo_graph_value(graph, name);
    return *out ? HOLO_OK : holo_fail_memory(p->error);
}

static HoloStatus parse_out_types(HoloScan *p, HoloNode *node)
{
    if (!holo_scan_accept(p, ":")) return HOLO_OK;
    for (int i = 0; i < node->out_count; i++) {
        if (i) HOLO_TRY(holo_scan_expect(p, ","));
        if (holo_scan_accept(p, "_")) continue;
        HoloTensor type;
        HOLO_TRY(holo_scan_type(p, &type));
        if (node->out[i]) node->out[i]->type = type;
    }
    return HOLO_OK;
}

static HoloStatus parse_node(HoloScan *p, HoloGraph *graph)
{
    Names       in, out;
    HoloString  name   = {0};
    const char *domain = "", *type;
    int64_t     version;
    HoloAttr   *attr       = NULL;
    int         attr_count = 0;
    HOLO_TRY(parse_names(p, "=", &out));
    HOLO_TRY(holo_scan_name(p, &type));
    if (holo_scan_accept(p, "::")) {
        domain = type;
        HOLO_TRY(holo_scan_name(p, &type));
    }
    HOLO_TRY(holo_scan_expect(p, "@"));
    HOLO_TRY(holo_scan_int(p, &version));
    if (version < 0 || version > INT32_MAX) return holo_scan_wrong(p, "a version");
    if (holo_scan_is_next(p, '"')) HOLO_TRY(holo_scan_quoted(p, &name));
    HOLO_TRY(holo_scan_expect(p, "("));
    HOLO_TRY(parse_names(p, ")", &in));
    if (holo_scan_accept(p, "{")) HOLO_TRY(parse_attrs(p, "}", &attr, &attr_count));
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

static HoloStatus parse_contents(HoloScan *p, HoloValue *value)
{
    int64_t count = holo_tensor_count(&value->type);
    if (count < 0 || count > LIST_MAX) return holo_scan_wrong(p, "a tensor of known, small size");
    HoloDim *contents = HOLO_NEW(p->arena, HoloDim, count);
    if (!contents) return holo_fail_memory(p->error);
    HOLO_TRY(holo_scan_expect(p, "{"));
    for (int64_t i = 0; i < count; i++) {
        if (i) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(holo_scan_dim(p, &contents[i]));
    }
    value->contents = contents;
    return holo_scan_expect(p, "}");
}

static HoloStatus parse_leaf(HoloScan *p, HoloGraph *graph, bool is_constant)
{
    const char *name;
    HoloValue  *value;
    HOLO_TRY(holo_scan_name(p, &name));
    HOLO_TRY(new_value(p, graph, name, &value));
    HOLO_TRY(holo_scan_expect(p, ":"));
    HOLO_TRY(holo_scan_type(p, &value->type));
    HOLO_TRY(holo_scan_expect(p, "="));
    value->is_constant = is_constant;
    return is_constant ? parse_elements(p, &value->type) : parse_contents(p, value);
}

// What an input is where the caller leaves it out: a number, `index` or `state`, and perhaps its least sizes behind it.
static HoloStatus parse_default(HoloScan *p, HoloValue *value)
{
    int64_t fill    = 0;
    value->is_state = holo_scan_accept(p, "state");
    value->is_index = !value->is_state && holo_scan_accept(p, "index");
    if (!value->is_state && !value->is_index) HOLO_TRY(holo_scan_int(p, &fill));
    if (fill < 0 || fill > HOLO_FILL_MAX)
        return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: input %s cannot be filled with %lld", value->name,
                         (long long)fill);
    value->fill = (uint32_t)fill + 1;
    if (value->type.rank < 0 || !holo_scan_accept(p, "[")) return HOLO_OK;
    HoloDim *least = HOLO_NEW(p->arena, HoloDim, value->type.rank + 1);
    if (!least) return holo_fail_memory(p->error);
    for (int d = 0; d < value->type.rank; d++) {
        if (d) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(holo_scan_dim(p, &least[d]));
    }
    value->least = least;
    return holo_scan_expect(p, "]");
}

static HoloStatus parse_inputs(HoloScan *p, HoloGraph *graph)
{
    HOLO_TRY(holo_scan_expect(p, "("));
    for (bool first = true; !holo_scan_accept(p, ")"); first = false) {
        const char *name;
        HoloTensor  type = {.rank = -1};
        if (!first) HOLO_TRY(holo_scan_expect(p, ","));
        HOLO_TRY(holo_scan_name(p, &name));
        if (holo_graph_find(graph, name))
            return holo_fail(p->error, HOLO_BAD_MODEL, "graph text: input %s is there twice", name);
        if (holo_scan_accept(p, ":")) HOLO_TRY(holo_scan_type(p, &type));
        HoloValue *value = holo_graph_input(graph, name, &type);
        if (!value) return holo_fail_memory(p->error);
        if (holo_scan_accept(p, "=")) HOLO_TRY(parse_default(p, value));
    }
    return HOLO_OK;
}

// What follows "when" or "unless": an input that the caller gives, or the value of an attribute, "@name=value".
static HoloStatus parse_condition(HoloScan *p, const HoloGraph *graph, bool *out)
{
    HoloAttr    have = {0}, want = {0};
    const char *name;
    if (holo_scan_accept(p, "@")) {
        HOLO_TRY(parse_reference(p, &have, out));
        HOLO_TRY(holo_scan_expect(p, "="));
        HOLO_TRY(parse_attr_value(p, &want));
        bool same =
            have.kind == want.kind && (want.kind == HOLO_ATTR_STRING ? holo_string_equal(have.s, want.s)
                                                                     : want.kind == HOLO_ATTR_INT && have.i == want.i);
        *out = *out && same;
        return HOLO_OK;
    }
    HOLO_TRY(holo_scan_name(p, &name));
    int i = 0;
    while (i < graph->input_count && strcmp(graph->inputs[i]->name, name)) i++;
    if (i == graph->input_count) return holo_scan_wrong(p, "an input of the body");
    *out = i < p->caller->in_count && p->caller->in[i];
    return HOLO_OK;
}

static HoloStatus skip_block(HoloScan *p)
{
    HoloString text;
    for (int depth = 1; depth; p->at++) {
        holo_scan_skip(p);
        if (!*p->at) return holo_scan_wrong(p, "the end of a block");
        depth += (*p->at == '{') - (*p->at == '}');
        if (*p->at != '"') continue;
        HOLO_TRY(holo_scan_quoted(p, &text));
        p->at--;
    }
    return HOLO_OK;
}

static HoloStatus parse_refusal(HoloScan *p)
{
    HoloString why;
    HOLO_TRY(holo_scan_quoted(p, &why));
    return holo_fail(p->error, HOLO_UNSUPPORTED, "%s (%s): %.*s", p->caller->name, p->caller->type, (int)why.size,
                     why.data);
}

static HoloStatus parse_statements(HoloScan *p, HoloGraph *graph)
{
    while (!holo_scan_accept(p, "}")) {
        bool unless = p->caller && holo_scan_accept(p, "unless"), holds;
        if (unless || (p->caller && holo_scan_accept(p, "when"))) {
            HOLO_TRY(parse_condition(p, graph, &holds));
            HOLO_TRY(holo_scan_expect(p, "{"));
            HOLO_TRY(holds != unless ? parse_statements(p, graph) : skip_block(p));
        } else if (p->caller && holo_scan_accept(p, "refuse")) {
            HOLO_TRY(parse_refusal(p));
        } else if (holo_scan_accept(p, "const")) {
            HOLO_TRY(parse_leaf(p, graph, true));
        } else if (holo_scan_accept(p, "shape")) {
            HOLO_TRY(parse_leaf(p, graph, false));
        } else {
            HOLO_TRY(parse_node(p, graph));
        }
    }
    return HOLO_OK;
}

static HoloStatus parse_graph(HoloScan *p, HoloGraph **out)
{
    const char *name;
    Names       outputs;
    if (p->nesting++ == NESTING_MAX) return holo_scan_wrong(p, "fewer graphs in graphs");
    HOLO_TRY(holo_scan_expect(p, "graph"));
    HOLO_TRY(holo_scan_name(p, &name));
    HoloGraph *graph = *out = holo_graph_create(p->arena, p->dims, name);
    if (!graph) return holo_fail_memory(p->error);
    if (holo_scan_accept(p, "<")) HOLO_TRY(parse_attrs(p, ">", &p->fallback, &p->fallback_count));
    HOLO_TRY(parse_inputs(p, graph));
    HOLO_TRY(holo_scan_expect(p, "->"));
    HOLO_TRY(holo_scan_expect(p, "("));
    HOLO_TRY(parse_names(p, ")", &outputs));
    HOLO_TRY(holo_scan_expect(p, "{"));
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

static HoloStatus parse_text(HoloScan *p, HoloGraph **out_graph)
{
    p->at = p->text;
    if (!p->dims) p->dims = holo_dims_create(p->arena);
    if (!p->dims) return holo_fail_memory(p->error);
    HOLO_TRY(parse_graph(p, out_graph));
    holo_scan_skip(p);
    return *p->at ? holo_scan_wrong(p, "the end of the text") : HOLO_OK;
}

HoloStatus holo_graph_parse(HoloArena *arena, const char *text, HoloGraph **out_graph, HoloError *error)
{
    HoloScan p = {.arena = arena, .error = error, .text = text};
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
        return holo_fail(error, HOLO_BAD_MODEL, "node %s (%s): has %d inputs; %s has %d to %d", node->name, node->type,
                         node->in_count, op->name, op->in_min, op->in_max);
    HoloScan p = {.arena = arena, .dims = dims, .error = error, .text = op->body, .caller = node};
    return parse_text(&p, out_graph);
}
