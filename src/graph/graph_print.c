// graph_print.c - prints graphs as text, in the syntax of docs/graph-text.md. graph_parse.c reads them.
#include "graph/graph.h"

#include "base/hash.h"
#include "graph/graph_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- growing text

static bool text_grow(HoloText *text, size_t more)
{
    size_t need = text->size + more + 1, room = text->room ? text->room : 256;
    if (need <= text->room) return true;
    while (room < need) room *= 2;
    char *data = holo_realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void holo_text_add(HoloText *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size >= 0 && !text->failed && text_grow(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
}

void holo_text_deinit(HoloText *text)
{
    holo_free(text->data);
    *text = (HoloText){0};
}

// ---- names and strings

static void put_quoted(HoloText *out, const char *data, size_t size)
{
    holo_text_add(out, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c == '"' || c == '\\')
            holo_text_add(out, "\\%c", c);
        else if (c == '\n')
            holo_text_add(out, "\\n");
        else if (c < 32 || c == 127)
            holo_text_add(out, "\\x%02x", c);
        else
            holo_text_add(out, "%c", c);
    }
    holo_text_add(out, "\"");
}

static void put_name(HoloText *out, const char *name)
{
    const char *c       = name;
    bool        is_bare = (isalpha((unsigned char)*c) || *c == '_' || *c == '/') && strcmp(name, "_") != 0;
    for (; *c && is_bare; c++) is_bare = holo_text_in_name(*c);
    for (int i = 0; holo_text_keywords[i] && is_bare; i++) is_bare = strcmp(name, holo_text_keywords[i]) != 0;
    if (is_bare)
        holo_text_add(out, "%s", name);
    else
        put_quoted(out, name, strlen(name));
}

// ---- types and numbers

static void put_sizes(HoloText *out, const HoloDims *dims, int count, const HoloDim *sizes)
{
    holo_text_add(out, "[");
    for (int i = 0; i < count; i++) {
        char small[256];
        holo_dim_print(dims, sizes[i], small, sizeof small);
        holo_text_add(out, "%s%s", i ? "," : "", small);
    }
    holo_text_add(out, "]");
}

static void put_type(HoloText *out, const HoloDims *dims, const HoloTensor *t)
{
    static const char *const kinds[] = {"", "seq ", "optional ", "map "};
    if (t->kind < HOLO_COUNT(kinds)) holo_text_add(out, "%s", kinds[t->kind]);
    if (t->kind != HOLO_TENSOR && t->inner < HOLO_COUNT(kinds)) holo_text_add(out, "%s", kinds[t->inner]);
    holo_text_add(out, "%s", t->dtype == HOLO_NONE ? "?" : holo_dtype_name(t->dtype));
    if (t->rank >= 0) put_sizes(out, dims, t->rank, t->dim);
}

// The shortest text that reads back as the same number. It always differs from that of an integer.
static void put_float(HoloText *out, double x)
{
    char text[40];
    if (isnan(x) || isinf(x)) {
        holo_text_add(out, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (sscanf(text, "%lf", &back) == 1 && back == x) break;
    }
    holo_text_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

// A float that came from 32 bits is printed with the digits that such a float needs.
static void put_float32(HoloText *out, double x)
{
    char text[40];
    for (int digits = 6; digits <= 9 && isfinite(x) && (double)(float)x == x; digits++) {
        float back;
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (sscanf(text, "%f", &back) != 1 || back != (float)x) continue;
        holo_text_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
        return;
    }
    put_float(out, x);
}

static void put_element(HoloText *out, const HoloTensor *t, int64_t i)
{
    const HoloString *s = t->data;
    switch (holo_dtype_class(t->dtype)) {
    case HOLO_CLASS_STRING: put_quoted(out, s[i].data, s[i].size); return;
    case HOLO_CLASS_UINT: holo_text_add(out, "%llu", (unsigned long long)holo_get_i(t, i)); return;
    case HOLO_CLASS_COMPLEX: {
        HoloTensor parts = *t;
        parts.dtype      = t->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        holo_text_add(out, "(");
        put_float(out, holo_get_f(&parts, 2 * i));
        holo_text_add(out, ",");
        put_float(out, holo_get_f(&parts, 2 * i + 1));
        holo_text_add(out, ")");
        return;
    }
    case HOLO_CLASS_FLOAT:
        if (t->dtype == HOLO_F64)
            put_float(out, holo_get_f(t, i));
        else
            put_float32(out, holo_get_f(t, i));
        return;
    default: holo_text_add(out, "%lld", (long long)holo_get_i(t, i));
    }
}

// Elements in braces or, for a large tensor, its hash.
static void put_elements(HoloText *out, const HoloTensor *t)
{
    enum { ELEMENTS_MAX = 64 };
    int64_t count = holo_tensor_count(t);
    if (t->kind != HOLO_TENSOR || count > ELEMENTS_MAX || count < 0) {
        HoloHash hash =
            t->kind == HOLO_TENSOR && t->data ? holo_hash(t->data, holo_tensor_bytes(t)) : (HoloHash){{0, 0}};
        holo_text_add(out, "hash(%016llx%016llx)", (unsigned long long)hash.word[0], (unsigned long long)hash.word[1]);
        return;
    }
    holo_text_add(out, "{");
    for (int64_t i = 0; i < count; i++) {
        if (i) holo_text_add(out, ", ");
        put_element(out, t, i);
    }
    holo_text_add(out, "}");
}

// ---- attributes

static void put_graph(HoloText *out, const HoloGraph *graph, int indent);

static void put_tensor(HoloText *out, const HoloDims *dims, const HoloTensor *t)
{
    put_type(out, dims, t);
    put_elements(out, t);
}

static void put_attr_one(HoloText *out, const HoloDims *dims, const HoloAttr *attr, int i, int indent)
{
    switch (attr->kind) {
    case HOLO_ATTR_INT: holo_text_add(out, "%lld", (long long)attr->i); return;
    case HOLO_ATTR_FLOAT: put_float32(out, attr->f); return;
    case HOLO_ATTR_STRING: put_quoted(out, attr->s.data, attr->s.size); return;
    case HOLO_ATTR_TENSOR: put_tensor(out, dims, attr->tensor); return;
    case HOLO_ATTR_GRAPH: put_graph(out, attr->graph, indent); return;
    case HOLO_ATTR_INTS: holo_text_add(out, "%lld", (long long)attr->ints[i]); return;
    case HOLO_ATTR_FLOATS: put_float32(out, attr->floats[i]); return;
    case HOLO_ATTR_STRINGS: put_quoted(out, attr->strings[i].data, attr->strings[i].size); return;
    case HOLO_ATTR_TENSORS: put_tensor(out, dims, &attr->tensor[i]); return;
    case HOLO_ATTR_GRAPHS: put_graph(out, attr->graphs[i], indent); return;
    case HOLO_ATTR_TYPE: holo_text_add(out, "type "); put_type(out, dims, attr->tensor);
    }
}

static void put_attr(HoloText *out, const HoloDims *dims, const HoloAttr *attr, int indent)
{
    const char *empty = holo_text_plural(attr->kind);
    put_name(out, attr->name);
    holo_text_add(out, "=");
    if (!empty) {
        put_attr_one(out, dims, attr, 0, indent);
        return;
    }
    if (attr->count == 0) {
        holo_text_add(out, "%s[]", empty);
        return;
    }
    holo_text_add(out, "[");
    for (int i = 0; i < attr->count; i++) {
        if (i) holo_text_add(out, ",");
        put_attr_one(out, dims, attr, i, indent);
    }
    holo_text_add(out, "]");
}

// ---- nodes and graphs

static void put_value(HoloText *out, const HoloValue *value)
{
    if (value)
        put_name(out, value->name);
    else
        holo_text_add(out, "_");
}

static void put_types(HoloText *out, const HoloDims *dims, const HoloNode *node)
{
    bool any = false;
    for (int i = 0; i < node->out_count; i++) {
        const HoloTensor *t = node->out[i] ? &node->out[i]->type : NULL;
        any |= t && (t->dtype != HOLO_NONE || t->rank >= 0 || t->kind != HOLO_TENSOR);
    }
    if (!any) return;
    holo_text_add(out, " : ");
    for (int i = 0; i < node->out_count; i++) {
        if (i) holo_text_add(out, ", ");
        if (node->out[i])
            put_type(out, dims, &node->out[i]->type);
        else
            holo_text_add(out, "_");
    }
}

static void put_node(HoloText *out, const HoloDims *dims, const HoloNode *node, int indent)
{
    holo_text_add(out, "%*s", indent, "");
    for (int i = 0; i < node->out_count; i++) {
        if (i) holo_text_add(out, ", ");
        put_value(out, node->out[i]);
    }
    holo_text_add(out, node->out_count ? " = " : "= ");
    if (*node->domain) {
        put_name(out, node->domain);
        holo_text_add(out, "::");
    }
    put_name(out, node->type);
    holo_text_add(out, "@%d", node->version);
    if (!node->out_count || !node->out[0] || strcmp(node->name, node->out[0]->name)) {
        holo_text_add(out, " ");
        put_quoted(out, node->name, strlen(node->name));
        holo_text_add(out, " ");
    }
    holo_text_add(out, "(");
    for (int i = 0; i < node->in_count; i++) {
        int captured = node->in_count - node->capture_count;
        if (i)
            holo_text_add(out, i == captured ? " | " : ", ");
        else if (captured == 0)
            holo_text_add(out, "| ");
        put_value(out, node->in[i]);
    }
    holo_text_add(out, ")");
    for (int i = 0; i < node->attr_count; i++) {
        holo_text_add(out, i ? ", " : " {");
        put_attr(out, dims, &node->attr[i], indent);
    }
    if (node->attr_count) holo_text_add(out, "}");
    put_types(out, dims, node);
    holo_text_add(out, "\n");
}

static void put_contents(HoloText *out, const HoloDims *dims, const HoloValue *value)
{
    int64_t count = holo_tensor_count(&value->type);
    holo_text_add(out, "{");
    for (int64_t i = 0; i < count && value->contents; i++) {
        char small[256];
        holo_dim_print(dims, value->contents[i], small, sizeof small);
        holo_text_add(out, "%s%s", i ? ", " : "", small);
    }
    holo_text_add(out, "}");
}

static void put_leaf(HoloText *out, const HoloDims *dims, const HoloValue *value, int indent)
{
    if (value->producer || value->is_input) return;
    holo_text_add(out, "%*s%s ", indent, "", value->is_constant ? "const" : "shape");
    put_name(out, value->name);
    holo_text_add(out, ": ");
    put_type(out, dims, &value->type);
    holo_text_add(out, " = ");
    if (value->is_constant)
        put_elements(out, &value->type);
    else
        put_contents(out, dims, value);
    holo_text_add(out, "\n");
}

// What an input is where the caller leaves it out: a number, `index`, or `state`, and the least sizes.
static void put_default(HoloText *out, const HoloDims *dims, const HoloValue *input)
{
    if (!input->fill) return;
    if (input->is_state || input->is_index)
        holo_text_add(out, " = %s", input->is_state ? "state" : "index");
    else
        holo_text_add(out, " = %u", input->fill - 1);
    if (input->least) put_sizes(out, dims, input->type.rank, input->least);
}

static void put_graph(HoloText *out, const HoloGraph *graph, int indent)
{
    holo_text_add(out, "graph ");
    put_name(out, graph->name);
    holo_text_add(out, "(");
    for (int i = 0; i < graph->input_count; i++) {
        if (i) holo_text_add(out, ", ");
        put_name(out, graph->inputs[i]->name);
        holo_text_add(out, ": ");
        put_type(out, graph->dims, &graph->inputs[i]->type);
        put_default(out, graph->dims, graph->inputs[i]);
    }
    holo_text_add(out, ") -> (");
    for (int i = 0; i < graph->output_count; i++) {
        if (i) holo_text_add(out, ", ");
        put_name(out, graph->outputs[i]->name);
    }
    holo_text_add(out, ") {\n");
    for (int i = 0; i < graph->value_count; i++) put_leaf(out, graph->dims, graph->values[i], indent + 4);
    for (int i = 0; i < graph->node_count; i++) put_node(out, graph->dims, graph->nodes[i], indent + 4);
    holo_text_add(out, "%*s}", indent, "");
}

void holo_graph_print(const HoloGraph *graph, HoloText *out)
{
    put_graph(out, graph, 0);
    holo_text_add(out, "\n");
}
