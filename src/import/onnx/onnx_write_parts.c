// onnx_write_parts.c - pieces of an ONNX model that is being written. See onnx_write_parts.h.
#include "import/onnx/onnx_write_parts.h"

#include "import/onnx/onnx_proto.h"
#include "ops/tensor.h"

#include <stdio.h>
#include <string.h>

// ---- names

static const char *unique(HoloOnnxPen *w, HoloNameMap *taken, const char *like)
{
    const char *name = like;
    while (name && holo_name_map_find(taken, (HoloString){name, strlen(name)}))
        name = holo_arena_format(w->arena, "%s__%d", like, ++w->made);
    bool is_kept = name && holo_name_map_set(taken, w->arena, (HoloString){name, strlen(name)}, (void *)name);
    return is_kept ? name : NULL;
}

const char *holo_onnx_new_name(HoloOnnxPen *w, const char *like)
{
    return unique(w, &w->names, like);
}

const char *holo_onnx_node_name(HoloOnnxPen *w, const char *like)
{
    return unique(w, &w->node_names, like);
}

HoloStatus holo_onnx_name_values(HoloOnnxPen *w, HoloOnnxScopeOut *s, const HoloNode *node)
{
    const HoloGraph *g = s->graph;
    s->name            = HOLO_NEW(w->arena, const char *, g->value_count + 1);
    if (!s->name) return holo_fail_memory(w->error);
    int own = node ? g->input_count - node->capture_count : g->input_count;
    for (int i = own; i < g->input_count; i++) {
        const HoloValue *outer    = node->in[node->in_count - node->capture_count + (i - own)];
        s->name[g->inputs[i]->id] = outer ? s->outer->name[outer->id] : "";
    }
    for (int i = 0; i < g->value_count; i++) {
        if (s->name[i]) continue;
        s->name[i] = holo_onnx_new_name(w, *g->values[i]->name ? g->values[i]->name : "value");
        if (!s->name[i]) return holo_fail_memory(w->error);
    }
    return HOLO_OK;
}

// ---- types

static void put_shape(HoloOnnxPen *w, const HoloTensor *t, bool has_sizes)
{
    size_t shape = holo_pb_open(&w->out, 2);
    for (int i = 0; i < t->rank; i++) {
        size_t dim = holo_pb_open(&w->out, 1);
        char   text[256];
        if (!holo_dim_is_symbolic(t->dim[i])) {
            if (has_sizes) holo_pb_put_int(&w->out, 1, t->dim[i]);
        } else if (has_sizes && t->dim[i] != HOLO_DIM_UNKNOWN) {
            holo_dim_print(w->dims, t->dim[i], text, sizeof text);
            holo_pb_put_text(&w->out, 2, text);
        }
        holo_pb_close(&w->out, dim);
    }
    holo_pb_close(&w->out, shape);
}

static void put_tensor_type(HoloOnnxPen *w, const HoloTensor *t, bool has_sizes)
{
    size_t type = holo_pb_open(&w->out, HOLO_ONNX_TYPE_TENSOR);
    holo_pb_put_int(&w->out, 1, t->dtype);
    if (t->rank >= 0 && t->kind == HOLO_TENSOR) put_shape(w, t, has_sizes);
    holo_pb_close(&w->out, type);
}

void holo_onnx_put_info(HoloOnnxPen *w, int field, const char *name, const HoloTensor *t, bool has_sizes)
{
    size_t info = holo_pb_open(&w->out, field);
    holo_pb_put_text(&w->out, 1, name);
    if (t->dtype != HOLO_NONE) {
        size_t type = holo_pb_open(&w->out, 2), outer = 0, element = 0;
        int    kind = t->kind == HOLO_SEQUENCE ? HOLO_ONNX_TYPE_SEQUENCE : HOLO_ONNX_TYPE_OPTIONAL;
        if (t->kind != HOLO_TENSOR) {
            outer   = holo_pb_open(&w->out, kind);
            element = holo_pb_open(&w->out, 1);
        }
        put_tensor_type(w, t, has_sizes);
        if (t->kind != HOLO_TENSOR) {
            holo_pb_close(&w->out, element);
            holo_pb_close(&w->out, outer);
        }
        holo_pb_close(&w->out, type);
    }
    holo_pb_close(&w->out, info);
}

// ---- tensors

void holo_onnx_put_tensor_head(HoloOnnxPen *w, const HoloTensor *t, const char *name)
{
    for (int i = 0; i < t->rank; i++) holo_pb_put_int(&w->out, 1, t->dim[i]);
    holo_pb_put_int(&w->out, 2, t->dtype);
    if (name) holo_pb_put_text(&w->out, 8, name);
}

static void put_entry(HoloOnnxPen *w, const char *key, const char *value)
{
    size_t mark = holo_pb_open(&w->out, 13);
    holo_pb_put_text(&w->out, 1, key);
    holo_pb_put_text(&w->out, 2, value);
    holo_pb_close(&w->out, mark);
}

void holo_onnx_put_outside(HoloOnnxPen *w, const char *file, uint64_t offset, uint64_t size)
{
    char text[32];
    put_entry(w, "location", file);
    snprintf(text, sizeof text, "%llu", (unsigned long long)offset);
    put_entry(w, "offset", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)size);
    put_entry(w, "length", text);
    holo_pb_put_int(&w->out, 14, 1);
}

// Elements of fewer than 8 bits, from the low bits of a byte on.
static HoloStatus put_packed(HoloOnnxPen *w, const HoloTensor *t, int64_t count)
{
    int      bits  = holo_dtype_bits((HoloDtype)t->dtype);
    size_t   size  = (size_t)((count * bits + 7) / 8);
    uint8_t *bytes = holo_arena_take(w->arena, size + 1);
    if (!bytes) return holo_fail_memory(w->error);
    for (int64_t i = 0; i < count; i++) {
        int64_t  place = i * bits;
        unsigned value = ((const uint8_t *)t->data)[i] & ((1u << bits) - 1);
        bytes[place / 8] |= (uint8_t)(value << place % 8);
        if (place % 8 + bits > 8) bytes[place / 8 + 1] |= (uint8_t)(value >> (8 - place % 8));
    }
    holo_pb_put_bytes(&w->out, 9, bytes, size);
    return HOLO_OK;
}

HoloStatus holo_onnx_put_tensor(HoloOnnxPen *w, const HoloTensor *t, const char *name)
{
    int64_t count = holo_tensor_count(t);
    if (t->kind != HOLO_TENSOR || count < 0 || (count && !t->data))
        return holo_fail(w->error, HOLO_UNSUPPORTED, "constant '%.200s' is not a tensor of known size",
                         name ? name : "");
    holo_onnx_put_tensor_head(w, t, name);
    if (t->dtype == HOLO_STRING)
        for (int64_t i = 0; i < count; i++) {
            HoloString text = ((const HoloString *)t->data)[i];
            holo_pb_put_bytes(&w->out, 6, text.data, text.size);
        }
    else if (holo_dtype_bits((HoloDtype)t->dtype) < 8)
        return put_packed(w, t, count);
    else
        holo_pb_put_bytes(&w->out, 9, t->data, count ? holo_tensor_bytes(t) : 0);
    return HOLO_OK;
}

// ---- attributes

static HoloStatus put_tensor_attr(HoloOnnxPen *w, int field, const HoloTensor *t)
{
    size_t mark = holo_pb_open(&w->out, field);
    HOLO_TRY(holo_onnx_put_tensor(w, t, NULL));
    holo_pb_close(&w->out, mark);
    return HOLO_OK;
}

static HoloStatus put_lists(HoloOnnxPen *w, const HoloAttr *a)
{
    HoloPbOut *out = &w->out;
    for (int i = 0; i < a->count; i++) switch (a->kind) {
        case HOLO_ATTR_INTS: holo_pb_put_int(out, 8, a->ints[i]); break;
        case HOLO_ATTR_FLOATS: holo_pb_put_float(out, 7, a->floats[i]); break;
        case HOLO_ATTR_STRINGS: holo_pb_put_bytes(out, 9, a->strings[i].data, a->strings[i].size); break;
        default: HOLO_TRY(put_tensor_attr(w, 10, &a->tensor[i])); break;
        }
    return HOLO_OK;
}

HoloStatus holo_onnx_put_attr(HoloOnnxPen *w, const HoloAttr *a)
{
    static const int types[] = {
        [HOLO_ATTR_INT] = HOLO_ONNX_INT,         [HOLO_ATTR_FLOAT] = HOLO_ONNX_FLOAT,
        [HOLO_ATTR_STRING] = HOLO_ONNX_STRING,   [HOLO_ATTR_TENSOR] = HOLO_ONNX_TENSOR,
        [HOLO_ATTR_INTS] = HOLO_ONNX_INTS,       [HOLO_ATTR_FLOATS] = HOLO_ONNX_FLOATS,
        [HOLO_ATTR_STRINGS] = HOLO_ONNX_STRINGS, [HOLO_ATTR_TENSORS] = HOLO_ONNX_TENSORS,
        [HOLO_ATTR_TYPE] = HOLO_ONNX_TYPE_PROTO,
    };
    HoloPbOut *out = &w->out;
    switch (a->kind) {
    case HOLO_ATTR_INT: holo_pb_put_int(out, 3, a->i); break;
    case HOLO_ATTR_FLOAT: holo_pb_put_float(out, 2, (float)a->f); break;
    case HOLO_ATTR_STRING: holo_pb_put_bytes(out, 4, a->s.data, a->s.size); break;
    case HOLO_ATTR_TENSOR: HOLO_TRY(put_tensor_attr(w, 5, a->tensor)); break;
    case HOLO_ATTR_TYPE: {
        size_t mark = holo_pb_open(out, 14);
        put_tensor_type(w, a->tensor, true);
        holo_pb_close(out, mark);
        break;
    }
    default: HOLO_TRY(put_lists(w, a)); break;
    }
    holo_pb_put_int(out, 20, types[a->kind]);
    return HOLO_OK;
}

// ---- nodes of our own

void holo_onnx_put_node(HoloOnnxPen *w, const char *type, const char *const *in, int in_count, const char *out)
{
    size_t mark = holo_pb_open(&w->out, 1);
    for (int i = 0; i < in_count; i++) holo_pb_put_text(&w->out, 1, in[i]);
    holo_pb_put_text(&w->out, 2, out);
    holo_pb_put_text(&w->out, 4, type);
    if (!strcmp(type, "Concat")) {
        size_t attr = holo_pb_open(&w->out, 5);
        holo_pb_put_text(&w->out, 1, "axis");
        holo_pb_put_int(&w->out, 3, 0);
        holo_pb_put_int(&w->out, 20, HOLO_ONNX_INT);
        holo_pb_close(&w->out, attr);
    }
    holo_pb_close(&w->out, mark);
}

// A constant of numbers, by a node.
static const char *put_number(HoloOnnxPen *w, int64_t number)
{
    const char *name = holo_onnx_new_name(w, "size");
    HoloTensor  t    = {.dtype = HOLO_I64, .rank = 1, .dim = {1}, .data = &number};
    if (!name) return NULL;
    size_t node = holo_pb_open(&w->out, 1);
    holo_pb_put_text(&w->out, 2, name);
    holo_pb_put_text(&w->out, 4, "Constant");
    size_t attr = holo_pb_open(&w->out, 5);
    holo_pb_put_text(&w->out, 1, "value");
    if (put_tensor_attr(w, 5, &t)) return NULL;
    holo_pb_put_int(&w->out, 20, HOLO_ONNX_TENSOR);
    holo_pb_close(&w->out, attr);
    holo_pb_close(&w->out, node);
    return name;
}

// The size of an input, by Shape with its attributes start and end.
static const char *put_symbol(HoloOnnxPen *w, const HoloOnnxScopeOut *s, HoloDim symbol)
{
    for (const HoloOnnxScopeOut *at = s; at; at = at->outer)
        for (int i = 0; i < at->graph->input_count; i++)
            for (int d = 0; d < at->graph->inputs[i]->type.rank; d++) {
                if (at->graph->inputs[i]->type.dim[d] != symbol) continue;
                const char *name = holo_onnx_new_name(w, "size"), *from = at->name[at->graph->inputs[i]->id];
                size_t      node = holo_pb_open(&w->out, 1);
                if (!name) return NULL;
                holo_pb_put_text(&w->out, 1, from);
                holo_pb_put_text(&w->out, 2, name);
                holo_pb_put_text(&w->out, 4, "Shape");
                for (int k = 0; k < 2; k++) {
                    size_t attr = holo_pb_open(&w->out, 5);
                    holo_pb_put_text(&w->out, 1, k ? "end" : "start");
                    holo_pb_put_int(&w->out, 3, d + k);
                    holo_pb_put_int(&w->out, 20, HOLO_ONNX_INT);
                    holo_pb_close(&w->out, attr);
                }
                holo_pb_close(&w->out, node);
                return name;
            }
    return NULL;
}

// Nodes that compute an expression. NULL: it depends on a size that only a run finds out.
static const char *put_dim(HoloOnnxPen *w, const HoloOnnxScopeOut *s, HoloDim d, int depth)
{
    static const char *const ops[] = {[HOLO_DIM_ADD] = "Add",
                                      [HOLO_DIM_MUL] = "Mul",
                                      [HOLO_DIM_DIV] = "Div",
                                      [HOLO_DIM_MIN] = "Min",
                                      [HOLO_DIM_MAX] = "Max"};
    if (!holo_dim_is_symbolic(d)) return put_number(w, d);
    if (d == HOLO_DIM_UNKNOWN || depth > 64) return NULL;
    const HoloDimNode *node = holo_dims_node(w->dims, holo_dim_entry(d));
    const char        *same = put_symbol(w, s, d);
    if (same || node->op == HOLO_DIM_SYMBOL) return same;
    const char *in[2] = {put_dim(w, s, node->a, depth + 1), put_dim(w, s, node->b, depth + 1)},
               *out   = holo_onnx_new_name(w, "size");
    if (!in[0] || !in[1] || !out) return NULL;
    holo_onnx_put_node(w, ops[node->op], in, 2, out);
    return out;
}

HoloStatus holo_onnx_put_contents(HoloOnnxPen *w, const HoloOnnxScopeOut *s, const HoloValue *value)
{
    int64_t      count = holo_tensor_count(&value->type);
    const char **part  = HOLO_NEW(w->arena, const char *, count + 1);
    if (!part || count < 1) return part ? HOLO_OK : holo_fail_memory(w->error);
    for (int64_t i = 0; i < count; i++)
        if (!(part[i] = put_dim(w, s, value->contents[i], 0)))
            return holo_fail(w->error, HOLO_UNSUPPORTED, "value '%.200s' depends on a size that only a run finds out",
                             value->name);
    const char *joined = value->type.dtype == HOLO_I64 && value->type.rank == 1 ? s->name[value->id] : NULL;
    if (!joined)
        return holo_fail(w->error, HOLO_UNSUPPORTED, "value '%.200s' is a size of a form that is not written",
                         value->name);
    holo_onnx_put_node(w, "Concat", part, (int)count, joined);
    return HOLO_OK;
}
