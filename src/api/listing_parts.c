// listing_parts.c - the two sources of a listing: an imported graph, and the plan of an archive.
#include "api/listing.h"
#include "devices/cpu/kernel.h"
#include "devices/device.h"
#include "ops/op_id.h"
#include "runtime/model.h"
#include "runtime/sharing.h"

#include <stdio.h>
#include <string.h>

// ---- texts that both use

// A shape as text, "f32[batch, 3, 224]". `size` writes one dimension.
static const char *shape_text(HoloLister *l, const HoloTensor *t, void (*size)(const void *, int64_t, char *, size_t),
                              const void *of)
{
    static const char *const kinds[] = {"", "sequence of ", "optional ", "map of "};
    char                     text[512];
    int at = snprintf(text, sizeof text, "%s%s[", t->kind < HOLO_COUNT(kinds) ? kinds[t->kind] : "",
                      holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank && at < 440; d++) {
        char one[64];
        size(of, t->dim[d], one, sizeof one);
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", d ? ", " : "", one);
    }
    snprintf(text + at, sizeof text - (size_t)at, t->rank < 0 ? "...]" : "]");
    const char *copy = holo_arena_text(&l->arena, text, strlen(text));
    return copy ? copy : "";
}

static int ints_text(char *text, size_t size, const HoloAttr *a)
{
    int at = snprintf(text, size, "%s=[", a->name);
    for (int i = 0; i < a->count && i < 12 && (size_t)at + 24 < size; i++)
        at += a->kind == HOLO_ATTR_INTS
                  ? snprintf(text + at, size - (size_t)at, "%s%lld", i ? ", " : "", (long long)a->ints[i])
                  : snprintf(text + at, size - (size_t)at, "%s%g", i ? ", " : "", (double)a->floats[i]);
    return at + snprintf(text + at, size - (size_t)at, a->count > 12 ? ", ...]" : "]");
}

static int attr_text(char *text, size_t size, const HoloAttr *a)
{
    switch (a->kind) {
    case HOLO_ATTR_INT: return snprintf(text, size, "%s=%lld", a->name, (long long)a->i);
    case HOLO_ATTR_FLOAT: return snprintf(text, size, "%s=%g", a->name, a->f);
    case HOLO_ATTR_STRING:
        return snprintf(text, size, "%s=\"%.*s\"", a->name, (int)(a->s.size < 40 ? a->s.size : 40), a->s.data);
    case HOLO_ATTR_INTS:
    case HOLO_ATTR_FLOATS: return ints_text(text, size, a);
    }
    return snprintf(text, size, "%s=...", a->name);
}

static const char *detail_text(HoloLister *l, const HoloAttr *attr, int count)
{
    char   text[1024] = "";
    size_t at         = 0;
    for (int i = 0; i < count && at + 400 < sizeof text; i++) {
        if (i) text[at++] = ' ';
        int size = attr_text(text + at, 390, &attr[i]);
        at += size < 390 ? (size_t)size : 389;
    }
    text[at]         = 0;
    const char *copy = holo_arena_text(&l->arena, text, at);
    return copy ? copy : "";
}

static const char *keep(HoloLister *l, const char *text)
{
    const char *copy = holo_arena_text(&l->arena, text ? text : "", text ? strlen(text) : 0);
    return copy ? copy : "";
}

static int *numbers(HoloLister *l, int count)
{
    return HOLO_NEW(&l->arena, int, count + 1);
}

// Sizes that are not numbers become -1; only the text shows them.
static void type_plain(HoloTensor *t)
{
    t->data = NULL;
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d])) t->dim[d] = -1;
}

// ---- from a graph

static void dim_of_graph(const void *graph, int64_t d, char *text, size_t size)
{
    holo_dim_print(((const HoloGraph *)graph)->dims, d, text, size);
}

static HoloStatus graph_values(HoloLister *l, const HoloGraph *graph)
{
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue  *v   = graph->values[i];
        HoloListingValue *out = holo_lister_value(l);
        if (!out) return holo_fail_memory(l->error);
        out->name        = keep(l, v->name);
        out->type        = v->type;
        out->shape       = shape_text(l, &v->type, dim_of_graph, graph);
        out->is_constant = v->is_constant;
        out->is_input    = v->is_input;
        type_plain(&out->type);
    }
    return HOLO_OK;
}

static HoloStatus graph_add(HoloLister *l, const HoloGraph *graph, int parent, int depth)
{
    int first = l->listing.value_count; // values are in the order of their ids
    if (depth > 16) return HOLO_OK;
    HOLO_TRY(graph_values(l, graph));
    for (int i = 0; i < graph->output_count; i++) l->values[first + graph->outputs[i]->id].is_output = true;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode  *node = graph->nodes[i];
        HoloListingNode *out  = holo_lister_node(l);
        int *in = numbers(l, node->in_count), *outs = numbers(l, node->out_count), number = l->listing.node_count - 1;
        if (!out || !in || !outs) return holo_fail_memory(l->error);
        for (int k = 0; k < node->in_count; k++) in[k] = node->in[k] ? first + node->in[k]->id : -1;
        for (int k = 0; k < node->out_count; k++) {
            outs[k] = node->out[k] ? first + node->out[k]->id : -1;
            if (node->out[k]) l->values[outs[k]].producer = number;
        }
        *out = (HoloListingNode){
            .name      = keep(l, node->name),
            .op        = keep(l, node->type),
            .domain    = keep(l, node->domain),
            .detail    = detail_text(l, node->attr, node->attr_count),
            .runs      = "",
            .parent    = parent,
            .in_count  = node->in_count,
            .out_count = node->out_count,
            .in        = in,
            .out       = outs,
        };
        for (int k = 0; k < node->attr_count; k++)
            if (node->attr[k].kind == HOLO_ATTR_GRAPH) HOLO_TRY(graph_add(l, node->attr[k].graph, number, depth + 1));
    }
    return HOLO_OK;
}

HoloStatus holo_listing_of_graph(HoloLister *l, const HoloGraph *graph)
{
    int *inputs = numbers(l, graph->input_count), *outputs = numbers(l, graph->output_count);
    if (!inputs || !outputs) return holo_fail_memory(l->error);
    for (int i = 0; i < graph->input_count; i++) inputs[i] = graph->inputs[i]->id;
    for (int i = 0; i < graph->output_count; i++) outputs[i] = graph->outputs[i]->id;
    l->listing.name         = keep(l, graph->name);
    l->listing.inputs       = inputs;
    l->listing.outputs      = outputs;
    l->listing.input_count  = graph->input_count;
    l->listing.output_count = graph->output_count;
    return graph_add(l, graph, -1, 0);
}

// ---- from a plan

static void dim_of_model(const void *model, int64_t d, char *text, size_t size)
{
    holo_model_dim_text(model, d, text, size);
}

static HoloStatus plan_values(HoloLister *l, const HoloModel *model, const HoloPlanRecord *plan)
{
    const HoloArchive *a = &model->archive;
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const HoloValueRecord *v   = &a->VALUES_at[plan->value_first + i];
        HoloListingValue      *out = holo_lister_value(l);
        if (!out) return holo_fail_memory(l->error);
        out->name = keep(l, holo_model_text(model, v->name));
        out->type = (HoloTensor){.dtype = v->dtype, .kind = v->kind, .inner = v->inner, .rank = v->rank};
        for (int d = 0; d < v->rank; d++) out->type.dim[d] = a->SIZES_at[v->size_first + (uint32_t)d];
        out->shape       = shape_text(l, &out->type, dim_of_model, model);
        out->is_constant = v->storage == HOLO_STORE_CONSTANT || v->storage == HOLO_STORE_EXPRESSION;
        out->is_input    = v->storage == HOLO_STORE_INPUT;
        if (v->storage == HOLO_STORE_ARENA && plan->flags & HOLO_PLAN_STATIC) out->offset = (int64_t)v->at;
        type_plain(&out->type);
    }
    return HOLO_OK;
}

// A view has no step: whoever reads it reads the value whose bytes it shares. `first` is where the plan's values begin
// in the listing. A value that a step writes in place already has a producer there.
static int value_root(const HoloLister *l, int first, const HoloModel *model, const HoloPlanRecord *plan,
                      uint32_t number)
{
    if (number == HOLO_NO_VALUE) return -1;
    const HoloValueRecord *values = model->archive.VALUES_at + plan->value_first;
    while (holo_store_is_shared(values[number].storage) && l->values[first + (int)number].producer < 0)
        number = (uint32_t)values[number].at;
    return first + (int)number;
}

// The name of a kernel, or "eval"; of another device than the CPU with its name: "cuda: product".
static const char *runs_text(HoloLister *l, const HoloModel *model, const HoloStepRecord *s)
{
    const HoloCpuKernel *kernel = s->kernel ? holo_cpu_kernel_find(s->kernel) : NULL;
    const HoloDevice    *device = model->devices[s->target];
    char                 text[80];
    if (!s->target) return kernel ? kernel->name : "eval";
    bool crosses = holo_op_is(model->ops[s->op], HOLO_ID_HOLOGRAM_Transfer);
    snprintf(text, sizeof text, "%s: %s", device->name,
             crosses                            ? "transfer"
             : s->kernel && device->kernel_name ? device->kernel_name(s->kernel)
                                                : "eval");
    return keep(l, text);
}

static HoloStatus plan_add(HoloLister *l, const HoloModel *model, const HoloPlanRecord *plan, int parent)
{
    const HoloArchive *a     = &model->archive;
    int                first = l->listing.value_count;
    HOLO_TRY(plan_values(l, model, plan));
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const HoloStepRecord *s        = &a->STEPS_at[plan->step_first + i];
        const uint32_t       *operands = a->OPERANDS_at + s->operand_first;
        HoloListingNode      *out      = holo_lister_node(l);
        int *in = numbers(l, s->in_count), *outs = numbers(l, s->out_count), number = l->listing.node_count - 1;
        if (!out || !in || !outs) return holo_fail_memory(l->error);
        for (int k = 0; k < s->in_count; k++) in[k] = value_root(l, first, model, plan, operands[k]);
        for (int k = 0; k < s->out_count; k++) {
            outs[k] = operands[s->in_count + k] == HOLO_NO_VALUE ? -1 : first + (int)operands[s->in_count + k];
            if (outs[k] >= 0) l->values[outs[k]].producer = number;
        }
        *out = (HoloListingNode){
            .name      = keep(l, holo_model_text(model, s->name)),
            .op        = keep(l, model->ops[s->op]->name),
            .domain    = keep(l, holo_model_text(model, a->OPS_at[s->op].domain)),
            .detail    = detail_text(l, model->attrs + s->attr_first, s->attr_count),
            .runs      = runs_text(l, model, s),
            .parent    = parent,
            .in_count  = s->in_count,
            .out_count = s->out_count,
            .in        = in,
            .out       = outs,
        };
        for (uint32_t k = 0; k < s->attr_count; k++)
            if (model->attrs[s->attr_first + k].kind == HOLO_ATTR_GRAPH)
                HOLO_TRY(plan_add(l, model, model->attrs[s->attr_first + k].graph, number));
    }
    for (uint32_t i = 0; i < plan->output_count; i++)
        l->values[value_root(l, first, model, plan, a->OPERANDS_at[plan->output_first + i])].is_output = true;
    return HOLO_OK;
}

HoloStatus holo_listing_of_model(HoloLister *l, const HoloModel *model)
{
    model                        = holo_sharing_told(model);
    const HoloPlanRecord *plan   = &model->archive.PLANS_at[model->plan];
    int                  *inputs = numbers(l, (int)plan->input_count), *outputs = numbers(l, (int)plan->output_count);
    if (!inputs || !outputs) return holo_fail_memory(l->error);
    for (uint32_t i = 0; i < plan->input_count; i++) inputs[i] = (int)model->archive.OPERANDS_at[plan->input_first + i];
    l->listing.name         = keep(l, holo_model_text(model, plan->name));
    l->listing.inputs       = inputs;
    l->listing.outputs      = outputs;
    l->listing.input_count  = (int)plan->input_count;
    l->listing.output_count = (int)plan->output_count;
    HOLO_TRY(plan_add(l, model, plan, -1));
    for (uint32_t i = 0; i < plan->output_count; i++) // views are resolved when all producers are known
        outputs[i] = value_root(l, 0, model, plan, model->archive.OPERANDS_at[plan->output_first + i]);
    return HOLO_OK;
}
