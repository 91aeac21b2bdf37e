// tf_ops_state.c - variables and lookup tables of TensorFlow. A model that is used does not change them: they are
// constants.
#include "import/tensorflow/tf_ops.h"

// ---- variables

static void handle(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){HOLO_FLOW_VARIABLE, NULL, (void *)c->node});
}

// The value of input 0, a variable: holo_flow_in reads it.
static void read_variable(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_in(c, 0));
}

HoloValue *holo_flow_read_variable(HoloFlowCall *c, const HoloFlowNode *node)
{
    HoloTensor t;
    bool       found  = false;
    char      *name   = holo_flow_text(c->tf, node->name);
    HoloStatus status = c->tf->variable ? c->tf->variable(c->tf, node, &t, &found) : HOLO_OK;
    if (!status && !found)
        holo_flow_fail(c, HOLO_BAD_MODEL,
                       "variable '%.*s' has no value: the folder of its checkpoint is needed, or a frozen graph",
                       HOLO_IMPORT_ARG(node->name));
    if (status && !c->e->status) c->e->status = status;
    return found && !status ? holo_emit_constant(c->e, name, &t) : NULL;
}

static void yes(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit_number(c->e, HOLO_BOOL, 1));
}

static void nothing(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){0});
}

// ---- lookup tables

static void table(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){HOLO_FLOW_TABLE, NULL, (void *)c->node});
}

static bool is_filling(const HoloFlowNode *node)
{
    return holo_flow_is(node->op, "LookupTableImportV2") || holo_flow_is(node->op, "LookupTableImport") ||
           holo_flow_is(node->op, "InitializeTableV2") || holo_flow_is(node->op, "InitializeTable");
}

// The node that fills a table.
static const HoloFlowNode *find_filling(const HoloFlowScope *s, const HoloFlowNode *table)
{
    const HoloFlowNodes *nodes = s->tf->main.nodes;
    for (int i = 0; i < nodes->count; i++) {
        const HoloFlowNode *node = &nodes->node[i];
        if (!is_filling(node) || node->in_count < 3) continue;
        HoloString of = holo_flow_ref(node->in[0]).node;
        if (of.size == table->name.size && !memcmp(of.data, table->name.data, of.size)) return node;
    }
    return NULL;
}

// Which key each element is, and whether it is one: by comparing it with all of them.
static void lookup(HoloFlowCall *c)
{
    HoloEmit           *e = c->e;
    const HoloFlowNode *filling =
        c->in_count > 2 && c->in[0].kind == HOLO_FLOW_TABLE ? find_filling(c->scope, c->in[0].object) : NULL;
    int64_t last = -1;
    if (!filling) {
        if (!e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "the contents of the table are not in the graph");
        return;
    }
    HoloValue *keys   = holo_flow_value(&c->tf->main, filling->in[1]).value,
              *values = holo_flow_value(&c->tf->main, filling->in[2]).value;
    HoloValue *x = holo_flow_in(c, 1), *other = holo_flow_in(c, 2);
    if (e->status || !keys || !values) return;
    holo_flow_same_type(c, &x, &keys);
    holo_flow_same_type(c, &values, &other);
    HoloValue *same =
        holo_emit_cast(e, holo_emit(e, "Equal", HOLO_IN(holo_emit_unsqueeze(e, x, &last, 1), keys), NULL), HOLO_I32);
    HoloValue *place =
        holo_emit(e, "ArgMax", HOLO_IN(same), HOLO_ATTRS(holo_with_int("axis", -1), holo_with_int("keepdims", 0)));
    HoloValue *found =
        holo_emit(e, "ReduceMax", HOLO_IN(same, holo_emit_ints(e, &last, 1)), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    HoloValue *value = holo_emit(e, "Gather", HOLO_IN(values, place), NULL);
    holo_flow_out(c, 0, holo_emit(e, "Where", HOLO_IN(holo_emit_cast(e, found, HOLO_BOOL), value, other), NULL));
}

static void table_size(HoloFlowCall *c)
{
    const HoloFlowNode *filling =
        c->in_count && c->in[0].kind == HOLO_FLOW_TABLE ? find_filling(c->scope, c->in[0].object) : NULL;
    if (!filling) {
        if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "the contents of the table are not in the graph");
        return;
    }
    holo_flow_out(c, 0, holo_emit(c->e, "Size", HOLO_IN(holo_flow_value(&c->tf->main, filling->in[1]).value), NULL));
}

// clang-format off
const HoloFlowOp holo_flow_ops_state[] = {
    {"VarHandleOp", handle}, {"VariableV2", handle}, {"Variable", handle}, {"ReadVariableOp", read_variable},
    {"VarIsInitializedOp", yes}, {"IsVariableInitialized", yes},
    {"Assign", nothing, .flags = HOLO_FLOW_STATE}, {"AssignVariableOp", nothing, .flags = HOLO_FLOW_STATE},
    {"SaveV2", nothing, .flags = HOLO_FLOW_STATE}, {"RestoreV2", nothing, .flags = HOLO_FLOW_STATE},
    {"MergeV2Checkpoints", nothing, .flags = HOLO_FLOW_STATE},
    {"HashTable", table}, {"HashTableV2", table}, {"MutableHashTableV2", table},
    {"LookupTableFind", lookup}, {"LookupTableFindV2", lookup}, {"LookupTableSize", table_size}, {"LookupTableSizeV2", table_size},
    {"LookupTableImport", nothing, .flags = HOLO_FLOW_STATE}, {"LookupTableImportV2", nothing, .flags = HOLO_FLOW_STATE},
    {"InitializeTable", nothing, .flags = HOLO_FLOW_STATE}, {"InitializeTableV2", nothing, .flags = HOLO_FLOW_STATE},
    {0},
};
