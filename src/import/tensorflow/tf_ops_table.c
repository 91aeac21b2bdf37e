// tf_ops_table.c - lookup tables of TensorFlow. A node fills each: of the graph, or of a function that the graph calls with
// the table, as TensorFlow 2 has it. Keys and values are tensors, or lines of a file in the model's folder "assets".
#include "base/bytes.h"
#include "import/tensorflow/tf_ops.h"

#include <stdlib.h>

static void table(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){HOLO_FLOW_TABLE, NULL, (void *)c->node});
}

static void nothing(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){0});
}

// ---- what fills a table

static const char *const fillings[] = {
    "LookupTableImport", "LookupTableImportV2",         "InitializeTable",
    "InitializeTableV2", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2"};

static bool is_file(const HoloFlowNode *node)
{
    return holo_flow_is(node->op, fillings[4]) || holo_flow_is(node->op, fillings[5]);
}

static bool is_filling(const HoloFlowNode *node)
{
    bool is = false;
    for (int i = 0; i < HOLO_COUNT(fillings); i++) is |= holo_flow_is(node->op, fillings[i]);
    return is && node->in_count >= (is_file(node) ? 2 : 3);
}

static bool is_same(HoloString a, HoloString b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

typedef struct Filling {
    const HoloFlowNode *node;  // NULL: there is none
    HoloFlowScope      *scope; // where the names of its inputs have a meaning
} Filling;

// The node of a function that fills the table that is argument `arg`.
static const HoloFlowNode *filling_inside(const HoloFlowFunction *f, int arg)
{
    for (int i = 0; i < f->nodes.count; i++)
        if (is_filling(&f->nodes.node[i]) && is_same(holo_flow_ref(f->nodes.node[i].in[0]).node, f->arg[arg]))
            return &f->nodes.node[i];
    return NULL;
}

// A scope of a call, in which the arguments are what the graph gives.
static HoloFlowScope *scope_of(HoloFlowCall *c, const HoloFlowNode *call, HoloFlowFunction *f)
{
    HoloFlow      *tf = c->tf;
    HoloFlowScope *s  = HOLO_NEW(tf->arena, HoloFlowScope, 1);
    HoloFlowValue *in = HOLO_NEW(tf->arena, HoloFlowValue, f->arg_count + 1);
    if (!s || !in) return NULL;
    s->function = f;
    s->arg      = in;
    s->prefix   = "";
    if (holo_flow_scope_init(tf, s, &f->nodes, &tf->emit)) return NULL;
    for (int i = 0; i < f->arg_count && i < call->in_count; i++) in[i] = holo_flow_value(&tf->main, call->in[i]);
    return s;
}

// A call of a function that fills the table.
static Filling filling_called(HoloFlowCall *c, const HoloFlowNode *call, const HoloFlowNode *of)
{
    HoloFlowCall      caller = {.tf = c->tf, .e = c->e, .scope = &c->tf->main, .node = call};
    HoloFlowCallProto proto;
    HoloStatus        status = HOLO_OK;
    Filling           none   = {0};
    if (!holo_flow_func(&caller, "f", &proto)) return none;
    HoloFlowFunction *f = holo_flow_function(c->tf, proto.name, &status);
    for (int k = 0; f && !status && k < f->arg_count && k < call->in_count; k++) {
        const HoloFlowNode *node = is_same(holo_flow_ref(call->in[k]).node, of->name) ? filling_inside(f, k) : NULL;
        if (node) return (Filling){node, scope_of(c, call, f)};
    }
    return none;
}

static Filling find_filling(HoloFlowCall *c, const HoloFlowNode *of)
{
    const HoloFlowNodes *nodes = c->tf->main.nodes;
    for (int i = 0; i < nodes->count; i++) {
        const HoloFlowNode *node = &nodes->node[i];
        if (is_filling(node) && is_same(holo_flow_ref(node->in[0]).node, of->name))
            return (Filling){node, &c->tf->main};
        if (!holo_flow_is(node->op, "StatefulPartitionedCall") && !holo_flow_is(node->op, "PartitionedCall")) continue;
        Filling inner = filling_called(c, node, of);
        if (inner.node) return inner;
    }
    return (Filling){0};
}

// ---- tables in files

// The file that a name stands for: those of a SavedModel are in a folder of their own, whatever path they came from.
static HoloStatus map_file(HoloFlowCall *c, HoloString name, HoloMapping **out)
{
    size_t at = name.size;
    while (at && name.data[at - 1] != '/' && name.data[at - 1] != '\\') at--;
    char *path = holo_arena_format(c->tf->arena, "%s%.*s", c->tf->import->from->is_folder ? "assets/" : "",
                                   (int)(name.size - at), name.data + at);
    if (!path) return holo_fail_memory(c->tf->error);
    return holo_import_map(c->tf->import, (HoloString){path, strlen(path)}, out);
}

// Column `index` of a line: -2 is the whole line, -1 its number.
static HoloString column(HoloString line, char delimiter, int64_t index)
{
    if (index < 0) return line;
    for (; index > 0; index--) {
        const char *at = line.size ? memchr(line.data, delimiter, line.size) : NULL;
        if (!at) return (HoloString){line.data, 0};
        line = (HoloString){at + 1, line.size - (size_t)(at + 1 - line.data)};
    }
    const char *end = line.size ? memchr(line.data, delimiter, line.size) : NULL;
    if (end) line.size = (size_t)(end - line.data);
    return line;
}

static bool next_line(HoloString *rest, HoloString *out)
{
    if (!rest->size) return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    size_t      all = end ? (size_t)(end - rest->data) : rest->size;
    *out            = (HoloString){rest->data, all && rest->data[all - 1] == '\r' ? all - 1 : all};
    all += end ? 1 : 0;
    *rest = (HoloString){rest->data + all, rest->size - all};
    return true;
}

// One side of a table: a tensor of texts, of real numbers or of whole ones, as its type says.
static HoloValue *side(HoloFlowCall *c, HoloString file, int64_t count, int64_t index, char delimiter, HoloDtype dtype)
{
    HoloImport *im      = c->tf->import;
    bool        is_text = dtype == HOLO_STRING, is_real = holo_dtype_class(dtype) == HOLO_CLASS_FLOAT;
    HoloDtype   type  = is_text ? HOLO_STRING : is_real ? HOLO_F64 : HOLO_I64;
    HoloTensor  t     = {.dtype = (uint8_t)type, .rank = 1, .dim = {count}};
    HoloString *texts = is_text ? HOLO_NEW(im->arena, HoloString, count + 1) : NULL, line;
    int64_t    *whole = !is_text && !is_real ? HOLO_NEW(im->arena, int64_t, count + 1) : NULL;
    double     *real  = is_real ? HOLO_NEW(im->arena, double, count + 1) : NULL;
    if (!texts && !whole && !real) return holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < count && next_line(&file, &line); i++) {
        HoloString part = column(line, delimiter, index);
        char       digits[32];
        if (is_text) {
            texts[i] = part; // borrowed from the file
            continue;
        }
        memcpy(digits, part.data, part.size < 31 ? part.size : 31);
        digits[part.size < 31 ? part.size : 31] = 0;
        if (is_real)
            real[i] = strtod(digits, NULL);
        else
            whole[i] = index == -1 ? i : strtoll(digits, NULL, 10);
    }
    t.data = is_text ? (void *)texts : is_real ? (void *)real : whole;
    return holo_emit_cast(c->e, holo_emit_constant(c->e, NULL, &t), dtype ? dtype : HOLO_I64);
}

static bool read_file(HoloFlowCall *c, const Filling *filling, const HoloFlowNode *of, HoloFlowTable *out)
{
    HoloFlowCall inner   = {.tf = c->tf, .e = c->e, .scope = filling->scope, .node = filling->node};
    HoloFlowCall made    = {.tf = c->tf, .e = c->e, .scope = &c->tf->main, .node = of};
    HoloTensor   name    = holo_emit_known(c->e, holo_flow_value(filling->scope, filling->node->in[1]).value);
    HoloString   between = holo_flow_string(&inner, "delimiter", "\t"), line;
    HoloMapping *file;
    int64_t      count = 0, most = holo_flow_int(&inner, "vocab_size", -1), skip = holo_flow_int(&inner, "offset", 0);
    if (c->e->status) return false;
    if (!name.data || name.dtype != HOLO_STRING || holo_tensor_count(&name) != 1)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the name of the table's file is not known"), false;
    HoloStatus status = map_file(c, *(const HoloString *)name.data, &file);
    if (status) return c->e->status = status, false;
    HoloString all = {file->data, file->size};
    for (int64_t i = 0; i < skip && next_line(&all, &line);) i++;
    for (HoloString rest = all; next_line(&rest, &line) && (most < 0 || count < most);) count++;
    char delimiter = between.size ? between.data[0] : '\t';
    out->keys =
        side(c, all, count, holo_flow_int(&inner, "key_index", -2), delimiter, holo_flow_type(&made, "key_dtype"));
    out->values =
        side(c, all, count, holo_flow_int(&inner, "value_index", -1), delimiter, holo_flow_type(&made, "value_dtype"));
    return !c->e->status;
}

// ---- use

// Keys and values of the table that is input 0.
static bool contents(HoloFlowCall *c, HoloFlowTable *out)
{
    const HoloFlowNode *of      = c->in_count && c->in[0].kind == HOLO_FLOW_TABLE ? c->in[0].object : NULL;
    Filling             filling = of ? find_filling(c, of) : (Filling){0};
    *out                        = (HoloFlowTable){0};
    if (c->e->status) return false;
    if (!filling.node || !filling.scope)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the contents of the table are not in the graph"), false;
    if (is_file(filling.node)) return read_file(c, &filling, of, out);
    out->keys   = holo_flow_value(filling.scope, filling.node->in[1]).value;
    out->values = holo_flow_value(filling.scope, filling.node->in[2]).value;
    return !c->e->status && out->keys && out->values;
}

// Which key each element is, and whether it is one: by comparing it with all of them.
static void lookup(HoloFlowCall *c)
{
    HoloEmit     *e    = c->e;
    int64_t       last = -1;
    HoloFlowTable t;
    if (!contents(c, &t)) return;
    HoloValue *x = holo_flow_in(c, 1), *other = holo_flow_in(c, 2);
    if (e->status) return;
    holo_flow_same_type(c, &x, &t.keys);
    holo_flow_same_type(c, &t.values, &other);
    HoloValue *same =
        holo_emit_cast(e, holo_emit(e, "Equal", HOLO_IN(holo_emit_unsqueeze(e, x, &last, 1), t.keys), NULL), HOLO_I32);
    HoloValue *place =
        holo_emit(e, "ArgMax", HOLO_IN(same), HOLO_ATTRS(holo_with_int("axis", -1), holo_with_int("keepdims", 0)));
    HoloValue *found =
        holo_emit(e, "ReduceMax", HOLO_IN(same, holo_emit_ints(e, &last, 1)), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    HoloValue *value = holo_emit(e, "Gather", HOLO_IN(t.values, place), NULL);
    holo_flow_out(c, 0, holo_emit(e, "Where", HOLO_IN(holo_emit_cast(e, found, HOLO_BOOL), value, other), NULL));
}

static void table_size(HoloFlowCall *c)
{
    HoloFlowTable t;
    if (contents(c, &t)) holo_flow_out(c, 0, holo_emit(c->e, "Size", HOLO_IN(t.keys), NULL));
}

static void export(HoloFlowCall *c)
{
    HoloFlowTable t;
    if (!contents(c, &t)) return;
    holo_flow_out(c, 0, t.keys);
    holo_flow_out(c, 1, t.values);
}

// clang-format off
const HoloFlowOp holo_flow_ops_table[] = {
    {"HashTable", table}, {"HashTableV2", table}, {"MutableHashTableV2", table}, {"MutableHashTable", table},
    {"AnonymousHashTable", table}, {"AnonymousMutableHashTable", table},
    {"LookupTableFind", lookup}, {"LookupTableFindV2", lookup}, {"LookupTableSize", table_size}, {"LookupTableSizeV2", table_size},
    {"LookupTableExport", export, .outs = "keys values"}, {"LookupTableExportV2", export, .outs = "keys values"},
    {"LookupTableImport", nothing, .flags = HOLO_FLOW_STATE}, {"LookupTableImportV2", nothing, .flags = HOLO_FLOW_STATE},
    {"InitializeTable", nothing, .flags = HOLO_FLOW_STATE}, {"InitializeTableV2", nothing, .flags = HOLO_FLOW_STATE},
    {"InitializeTableFromTextFile", nothing, .flags = HOLO_FLOW_STATE}, {"InitializeTableFromTextFileV2", nothing, .flags = HOLO_FLOW_STATE},
    {0},
};
