// family_node.c - nodes, constants and weights of the graph that a family's text describes.
#include "models/family.h"

#include <stdio.h>
#include <string.h>

// ---- weights

bool holo_family_has_weight(HoloFamilyReader *r, const char *name, HoloFamilyWeight *out)
{
    char longer[1024];
    bool found = r->request->weight(r->request->context, name, out);
    for (int i = 0; i < r->prefix_count && !found; i++)
        found = snprintf(longer, sizeof longer, "%s%s", r->prefix[i], name) < (int)sizeof longer &&
                r->request->weight(r->request->context, longer, out);
    return found;
}

static void print_sizes(const int64_t *sizes, int rank, char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "[");
    for (int i = 0; i < rank && at < room; i++) {
        const char *comma = i ? ", " : "";
        at += (size_t)(sizes[i] < 0 ? snprintf(out + at, room - at, "%sany", comma)
                                    : snprintf(out + at, room - at, "%s%lld", comma, (long long)sizes[i]));
    }
    if (at < room) snprintf(out + at, room - at, "]");
}

static HoloStatus check_sizes(HoloFamilyReader *r, const char *name, const HoloTensor *t, const int64_t *sizes,
                              int rank)
{
    bool same = t->rank == rank;
    char want[200], have[200];
    for (int i = 0; i < rank && same; i++) same = sizes[i] < 0 || sizes[i] == t->dim[i];
    if (same) return HOLO_OK;
    print_sizes(sizes, rank, want, sizeof want);
    print_sizes(t->dim, t->rank, have, sizeof have);
    return holo_fail(r->scan.error, HOLO_BAD_MODEL, "weight '%.200s' has sizes %s; by the model's config they are %s",
                     name, have, want);
}

// Weights in blocks, and the node that reads them as f32.
static HoloNode *add_blocks(HoloFamilyReader *r, const char *name, const HoloFamilyWeight *weight, HoloTensor *stored)
{
    HoloNode *node = holo_graph_op(r->graph, name, HOLO_ID_HOLOGRAM_DecodeBlocks, 1, 1, 1, 2);
    int64_t  *last = &stored->dim[stored->rank - 1];
    if (!node) return NULL;
    node->attr[0] =
        (HoloAttr){.name = "type", .kind = HOLO_ATTR_STRING, .count = 1, .s = {weight->blocks, strlen(weight->blocks)}};
    node->attr[1] = (HoloAttr){.name = "count", .kind = HOLO_ATTR_INT, .count = 1, .i = *last};
    stored->dtype = HOLO_U8;
    *last         = weight->row_bytes;
    return node;
}

static HoloNode *add_cast(HoloFamilyReader *r, const char *name)
{
    HoloNode *node = holo_graph_op(r->graph, name, HOLO_ID_Cast, 13, 1, 1, 1);
    if (node) node->attr[0] = (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = r->request->dtype};
    return node;
}

// A weight of another type than the model's is a constant as it is, called `stored`, and a node that reads it.
static HoloStatus add_weight(HoloFamilyReader *r, const char *name, const char *stored, const HoloFamilyWeight *weight,
                             HoloValue **out)
{
    HoloTensor t        = weight->tensor;
    bool       is_float = holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT;
    bool       is_other = r->request->dtype == HOLO_F32 && t.dtype != HOLO_F32 && is_float;
    if (!weight->blocks && !is_other) {
        *out = holo_graph_constant(r->graph, name, &t);
        return *out ? HOLO_OK : holo_fail_memory(r->scan.error);
    }
    HoloNode  *node     = weight->blocks ? add_blocks(r, name, weight, &t) : add_cast(r, name);
    HoloValue *constant = holo_graph_constant(r->graph, stored, &t);
    *out                = holo_graph_value(r->graph, name);
    if (!node || !constant || !*out) return holo_fail_memory(r->scan.error);
    node->in[0] = constant;
    holo_node_set_out(node, 0, *out);
    return HOLO_OK;
}

HoloStatus holo_family_weight(HoloFamilyReader *r, const char *name, const int64_t *sizes, int rank, HoloItem *out)
{
    HoloFamilyWeight weight;
    if (!holo_family_has_weight(r, name, &weight))
        return holo_fail(r->scan.error, HOLO_BAD_MODEL, "%s needs the weight '%.200s', which is missing%s%s",
                         r->architecture, name, r->prefix_count ? ", with or without the prefix " : "",
                         r->prefix_count ? r->prefix[0] : "");
    HOLO_TRY(check_sizes(r, name, &weight.tensor, sizes, rank));
    char      *stored = holo_arena_format(r->scan.arena, "%s.stored", name);
    HoloValue *value  = holo_graph_find(r->graph, name);
    if (!stored) return holo_fail_memory(r->scan.error);
    bool is_there = value && (value->is_constant || holo_graph_find(r->graph, stored)); // it was used before
    if (!is_there) HOLO_TRY(add_weight(r, name, stored, &weight, &value));
    *out = (HoloItem){.kind = HOLO_ITEM_VALUE, .value = value};
    return HOLO_OK;
}

// ---- constants

HoloStatus holo_family_constant(HoloFamilyReader *r, const HoloItem *item, HoloDtype dtype, HoloValue **out)
{
    bool is_list = holo_item_is_list(item), is_whole = item->kind == HOLO_ITEM_INT || item->kind == HOLO_ITEM_LIST;
    HoloTensor t = {.dtype = (uint8_t)(dtype ? dtype : is_whole ? HOLO_I64 : r->request->dtype)};
    if (item->kind == HOLO_ITEM_TEXT) return holo_family_wrong(r, "a text, \"%s\", is no input", item->text);
    if (item->kind == HOLO_ITEM_TEXTS) return holo_family_wrong(r, "a list of texts is no input");
    if (is_list) {
        t.rank   = 1;
        t.dim[0] = item->count;
    }
    t.data = holo_arena_take(r->scan.arena, holo_tensor_bytes(&t) + 1);
    if (!t.data) return holo_fail_memory(r->scan.error);
    bool is_real = holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT;
    for (int i = 0; i < (is_list ? item->count : 1); i++) {
        HoloItem one = is_list ? holo_item_at(item, i) : *item;
        if (is_real)
            holo_put_f(&t, i, holo_item_number(&one));
        else
            holo_put_i(&t, i, one.kind == HOLO_ITEM_INT ? one.i : (int64_t)one.f);
    }
    *out = holo_graph_constant(r->graph, NULL, &t);
    return *out ? HOLO_OK : holo_fail_memory(r->scan.error);
}

// ---- nodes

static HoloStatus set_inputs(HoloFamilyReader *r, const HoloFamilyCall *call, HoloNode *node)
{
    for (int i = 0; i < call->in_count; i++) {
        const HoloItem *item = &call->in[i];
        if (item->kind == HOLO_ITEM_NONE) continue;
        node->in[i] = item->value;
        if (item->kind != HOLO_ITEM_VALUE) HOLO_TRY(holo_family_constant(r, item, HOLO_NONE, &node->in[i]));
    }
    return HOLO_OK;
}

HoloStatus holo_family_node(HoloFamilyReader *r, const HoloFamilyCall *call, const char *const *names,
                            HoloItem *results)
{
    const HoloOp *op = holo_op_find("", call->type, call->version);
    if (!op) op = holo_op_find("hologram", call->type, call->version);
    char *name = holo_arena_format(r->scan.arena, "%s%s", r->scope->prefix, names ? names[0] : call->type);
    if (!op) return holo_family_wrong(r, "there is no operator %s@%d", call->type, call->version);
    HoloNode *node = name ? holo_graph_node(r->graph, name, op->domain, call->type, call->version, call->in_count,
                                            call->out_count, call->attr_count)
                          : NULL;
    if (!node) return holo_fail_memory(r->scan.error);
    node->op = op;
    HOLO_TRY(set_inputs(r, call, node));
    if (call->attr_count) memcpy(node->attr, call->attr, (size_t)call->attr_count * sizeof *call->attr);
    for (int i = 0; i < call->out_count; i++) {
        const char *own   = names ? names[i] : call->type;
        char       *full  = holo_arena_format(r->scan.arena, "%s%s", r->scope->prefix, own);
        HoloValue  *value = full ? holo_graph_value(r->graph, full) : NULL;
        if (!value) return holo_fail_memory(r->scan.error);
        holo_node_set_out(node, i, value);
        results[i] = (HoloItem){.kind = HOLO_ITEM_VALUE, .value = value};
    }
    return HOLO_OK;
}
