// tflite_graph.c - subgraphs: their inputs, operators in the order of the file, outputs.
//
// An operator that is not known becomes a node of domain "tflite" with the types that the file gives to its outputs. So
// `hologram inspect` shows the whole model, and the compiler lists all such operators at once.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <stdio.h>
#include <string.h>

// ---- operators

// A row for what nothing here knows: its name is that of the file.
static void emit_unknown(HoloTfOp *op)
{
    int         in_count = (int)op->in.count, out_count = (int)op->out.count, given = 0;
    HoloValue **in   = HOLO_NEW(op->im->import->arena, HoloValue *, in_count + 1);
    HoloValue **out  = HOLO_NEW(op->im->import->arena, HoloValue *, out_count + 1);
    char       *type = holo_arena_format(op->im->import->arena, "tflite::%s", op->row->name);
    if (!in || !out || !type) {
        op->e->status = holo_fail_memory(op->im->import->error);
        return;
    }
    for (int i = 0; i < in_count; i++) {
        const HoloTfTensor *t = holo_tf_tensor_in(op, i);
        if (t && t->dtype != HOLO_NONE) in[given++] = holo_tf_in(op, i);
    }
    holo_emit_many(op->e, type, (HoloEmitIn){given, in}, NULL, out, out_count);
    for (int i = 0; i < out_count && !op->e->status; i++) {
        HoloTfTensor *t = holo_tf_tensor_out(op, i);
        if (!t || !out[i]) continue;
        out[i]->type = t->shape;
        t->value     = out[i];
    }
}

static HoloStatus row_find(HoloTf *im, HoloTfOp *op, HoloTfRow *room)
{
    int64_t       index = holo_flat_u32(op->table, OPERATOR_CODE, 0);
    HoloFlatTable code  = holo_flat_list_table(im->codes, (size_t)index);
    int64_t       old = holo_flat_i8(code, CODE_OLD, 0), builtin = holo_flat_i32(code, CODE_BUILTIN, 0);
    HoloString    custom = holo_flat_text(code, CODE_CUSTOM);
    enum { CUSTOM = 32 };
    if (!holo_flat_is(code))
        return holo_fail(im->import->error, HOLO_BAD_MODEL, "an operator has code %lld, which is not there",
                         (long long)index);
    if (old > builtin) builtin = old;
    op->version = (int)holo_flat_i32(code, CODE_VERSION, 1);
    op->row     = builtin == CUSTOM ? holo_tf_custom(custom) : holo_tf_builtin(builtin);
    if (op->row && op->row->emit) return HOLO_OK;
    *room      = (HoloTfRow){.code = (int)builtin, .emit = emit_unknown};
    room->name = op->row             ? op->row->name
                 : builtin == CUSTOM ? holo_arena_format(im->import->arena, "%.*s", HOLO_IMPORT_ARG(custom))
                                     : holo_arena_format(im->import->arena, "builtin %lld", (long long)builtin);
    op->row    = room;
    return room->name ? HOLO_OK : holo_fail_memory(im->import->error);
}

static HoloFlatTable options_find(const HoloTfOp *op)
{
    bool    second = op->row->options < 0;
    int     field  = second ? OPERATOR_OPTIONS_2_TYPE : OPERATOR_OPTIONS_TYPE;
    int64_t type = holo_flat_u8(op->table, field, 0), want = second ? -op->row->options : op->row->options;
    return type == want && type ? holo_flat_table(op->table, field + 1) : (HoloFlatTable){.flat = op->table.flat};
}

// Do all tensors that it names exist?
static HoloStatus check_tensors(HoloTfScope *scope, const HoloTfOp *op)
{
    HoloFlatList lists[] = {op->in, op->out};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k].count; i++) {
            int64_t t = holo_flat_list_i32(lists[k], i);
            if (t < -1 || t >= scope->count)
                return holo_fail(scope->im->import->error, HOLO_BAD_MODEL, "%s: it names tensor %lld, and there are %d",
                                 op->row->name, (long long)t, scope->count);
        }
    if (op->in.count >= (size_t)op->row->in_min && op->out.count >= (size_t)op->row->out_min) return HOLO_OK;
    return holo_fail(scope->im->import->error, HOLO_BAD_MODEL,
                     "%s: it has %zu inputs and %zu outputs, and needs %d and %d", op->row->name, op->in.count,
                     op->out.count, op->row->in_min, op->row->out_min);
}

static HoloStatus operator_emit(HoloTfScope *scope, HoloFlatTable table)
{
    HoloTf   *im = scope->im;
    HoloTfRow room;
    HoloTfOp  op = {.im = im, .scope = scope, .e = scope->emit, .table = table};
    HOLO_TRY(row_find(im, &op, &room));
    op.in      = holo_flat_list(table, OPERATOR_INPUTS, 4);
    op.out     = holo_flat_list(table, OPERATOR_OUTPUTS, 4);
    op.custom  = holo_flat_list(table, OPERATOR_CUSTOM, 1);
    op.options = options_find(&op);
    HOLO_TRY(im->flat.status);
    HOLO_TRY(check_tensors(scope, &op));
    if (--im->work < 0)
        return holo_fail(im->import->error, HOLO_UNSUPPORTED,
                         "the subgraphs of the model expand to too many operators");
    const HoloTfTensor *first = holo_tf_tensor_out(&op, 0);
    scope->emit->node         = first ? first->name : op.row->name;
    op.row->emit(&op);
    HOLO_TRY(im->flat.status);
    HOLO_TRY(scope->emit->status);
    for (size_t i = 0; i < op.out.count; i++) {
        const HoloTfTensor *t = holo_tf_tensor_out(&op, (int)i);
        if (t && !t->value && t->dtype != HOLO_NONE && i < (size_t)op.row->out_min)
            return holo_fail(im->import->error, HOLO_UNSUPPORTED, "%s: output %zu is not supported", op.row->name, i);
    }
    return HOLO_OK;
}

static HoloStatus operators_emit(HoloTfScope *scope)
{
    HoloFlatList list = holo_flat_list(scope->subgraph, SUBGRAPH_OPERATORS, 4);
    for (size_t i = 0; i < list.count; i++) HOLO_TRY(operator_emit(scope, holo_flat_list_table(list, i)));
    return scope->im->flat.status;
}

// ---- subgraphs

static HoloStatus scope_begin(HoloTf *im, HoloTfScope *scope, int64_t subgraph, HoloEmit *emit)
{
    if (subgraph < 0 || (uint64_t)subgraph >= im->subgraphs.count)
        return holo_fail(im->import->error, HOLO_BAD_MODEL, "there is no subgraph %lld", (long long)subgraph);
    scope->im       = im;
    scope->emit     = emit;
    scope->subgraph = holo_flat_list_table(im->subgraphs, (size_t)subgraph);
    scope->depth    = scope->outer ? scope->outer->depth + 1 : 0;
    if (scope->depth > HOLO_TF_DEPTH_MAX)
        return holo_fail(im->import->error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep",
                         HOLO_TF_DEPTH_MAX);
    return holo_tf_tensors(scope);
}

static HoloStatus port_find(const HoloTfScope *scope, HoloFlatList list, size_t i, HoloTfTensor **out)
{
    int64_t t = holo_flat_list_i32(list, i);
    if (t < 0 || t >= scope->count)
        return holo_fail(scope->im->import->error, HOLO_BAD_MODEL, "a subgraph names tensor %lld, and there are %d",
                         (long long)t, scope->count);
    *out = &scope->tensor[t];
    return HOLO_OK;
}

int holo_tf_output_count(HoloTf *im, int64_t subgraph)
{
    if (subgraph < 0 || (uint64_t)subgraph >= im->subgraphs.count) return -1;
    size_t count = holo_flat_list(holo_flat_list_table(im->subgraphs, (size_t)subgraph), SUBGRAPH_OUTPUTS, 4).count;
    return count > INT16_MAX ? -1 : (int)count;
}

HoloStatus holo_tf_inline(HoloTfOp *op, int64_t subgraph, HoloEmit *emit, HoloValue *const *in, int in_count,
                          HoloValue **out, int out_count, bool is_once)
{
    HoloTf     *im    = op->im;
    HoloTfScope scope = {.outer = op->scope, .is_once = is_once};
    const char *node  = emit->node;
    HOLO_TRY(scope_begin(im, &scope, subgraph, emit));
    HoloFlatList inputs  = holo_flat_list(scope.subgraph, SUBGRAPH_INPUTS, 4),
                 outputs = holo_flat_list(scope.subgraph, SUBGRAPH_OUTPUTS, 4);
    if (inputs.count > (size_t)in_count || outputs.count < (size_t)out_count)
        return holo_fail(im->import->error, HOLO_BAD_MODEL, "%s: its subgraph has other inputs or outputs than it",
                         op->row->name);
    for (size_t i = 0; i < inputs.count; i++) {
        HoloTfTensor *t;
        HOLO_TRY(port_find(&scope, inputs, i, &t));
        const HoloTfTensor *given = holo_tf_tensor_in(op, (int)(i + op->in.count - inputs.count));
        if (given && given->resource) t->resource = given->resource;
        t->value = in[i];
    }
    HOLO_TRY(operators_emit(&scope));
    HoloTfOp inner = *op;
    inner.scope    = &scope;
    inner.e        = emit;
    for (int i = 0; i < out_count; i++) {
        HoloTfTensor *t;
        HOLO_TRY(port_find(&scope, outputs, (size_t)i, &t));
        out[i] = holo_tf_value(&inner, t);
    }
    emit->node = node;
    return emit->status;
}

// The size of a dimension that the file leaves open.
static HoloDim symbol_of(HoloTf *im, const HoloTfTensor *tensor, int d)
{
    char name[128];
    if (d == 0 && tensor->shape.rank > 1) return holo_dims_symbol(im->main->graph->dims, "batch");
    snprintf(name, sizeof name, "%.80s_%d", tensor->name, d);
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
    return holo_dims_symbol(im->main->graph->dims, name);
}

static HoloStatus inputs_emit(HoloTfScope *scope)
{
    HoloTf      *im   = scope->im;
    HoloFlatList list = holo_flat_list(scope->subgraph, SUBGRAPH_INPUTS, 4);
    for (size_t i = 0; i < list.count; i++) {
        HoloTfTensor *t;
        HOLO_TRY(port_find(scope, list, i, &t));
        HoloTensor type = t->shape;
        if (t->value || t->is_constant) continue;
        if (t->dtype == HOLO_NONE)
            return holo_fail(im->import->error, HOLO_UNSUPPORTED,
                             "input '%.200s' has an element type that is not supported", t->name);
        for (int d = 0; d < type.rank; d++)
            if (type.dim[d] == HOLO_DIM_UNKNOWN) type.dim[d] = symbol_of(im, t, d);
        t->value = holo_emit_input(scope->emit, t->name, &type);
        HOLO_TRY(scope->emit->status);
    }
    return HOLO_OK;
}

HoloStatus holo_tf_model(HoloTf *im, HoloEmit *emit)
{
    HoloTfScope scope = {0};
    HoloTfRow   row   = {.name = "the graph"};
    HoloTfOp    op    = {.im = im, .scope = &scope, .e = emit, .row = &row};
    im->main          = emit;
    HOLO_TRY(emit->status);
    HOLO_TRY(scope_begin(im, &scope, 0, emit));
    HOLO_TRY(inputs_emit(&scope));
    HOLO_TRY(operators_emit(&scope));
    HOLO_TRY(holo_tf_states_end(im));
    HoloFlatList outputs = holo_flat_list(scope.subgraph, SUBGRAPH_OUTPUTS, 4);
    emit->node           = NULL;
    for (size_t i = 0; i < outputs.count; i++) {
        HoloTfTensor *t;
        HOLO_TRY(port_find(&scope, outputs, i, &t));
        holo_emit_output(emit, holo_tf_value(&op, t), t->name);
        HOLO_TRY(emit->status);
    }
    return im->flat.status;
}
