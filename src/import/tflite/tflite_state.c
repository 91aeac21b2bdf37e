// tflite_state.c - what a model keeps between runs: resource variables, and tensors that operators change. Each is a state
// of the graph; and hash tables, which are filled once and then constants.
//
// A state begins with zeros. If a variable begins with something else, another state says whether this is the first run.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- variables

// The number of the variable of that name, new or known; -1: no memory.
static int variable_find(HoloTf *im, const char *key)
{
    for (int i = 0; i < im->variable_count; i++)
        if (!strcmp(im->variable[i].key, key)) return i;
    if (!HOLO_GROW(im->import->arena, im->variable, im->variable_count, im->variable_room)) return -1;
    im->variable[im->variable_count] = (HoloTfVariable){.key = key, .type = {.rank = -1}, .initial = {.rank = -1}};
    return im->variable_count++;
}

static bool all_zero(const HoloTensor *t)
{
    const char *bytes = t->data;
    for (size_t i = 0; i < holo_tensor_bytes(t); i++)
        if (bytes[i]) return false;
    return true;
}

// A state that has not been read yet.
static HoloValue *state_input(HoloEmit *main, const char *key, const HoloTensor *type)
{
    HoloTensor t     = *type;
    t.data           = NULL;
    HoloValue *state = holo_emit_input(main, key, &t);
    if (!state) return NULL;
    state->is_state = true;
    state->fill     = 1;
    return state;
}

// Whether there was a run before: 0 or 1.
static HoloValue *started(HoloTf *im)
{
    HoloTensor type = {.dtype = HOLO_U8, .rank = 1, .dim = {1}};
    int        i    = variable_find(im, "started");
    if (i < 0) return NULL;
    HoloTfVariable *v = &im->variable[i];
    if (v->before) return v->before;
    v->type        = type;
    v->state       = state_input(im->main, "started", &type);
    v->before      = holo_emit(im->main, "hologram::StateRead", HOLO_IN(v->state), NULL);
    v->value       = holo_emit_reshape(im->main, holo_emit_number(im->main, HOLO_U8, 1), (HoloDim[]){1}, 1);
    v->is_assigned = true;
    return v->before;
}

// What the variable is when the run begins. Made in the model's own graph, whoever asks.
static HoloValue *variable_begin(HoloTf *im, int i)
{
    HoloEmit       *main = im->main;
    HoloTfVariable *v    = &im->variable[i];
    if (v->before || main->status) return v->before;
    HoloValue *state = state_input(main, v->key, &v->type),
              *was   = holo_emit(main, "hologram::StateRead", HOLO_IN(state), NULL);
    v->state         = state;
    v->before        = was;
    v->value         = was;
    if (v->initial.rank >= 0 && !all_zero(&v->initial)) {
        HoloValue *first = holo_emit_constant(main, v->key, &v->initial),
                  *later = holo_emit_cast(main, started(im), HOLO_BOOL);
        v                = &im->variable[i]; // the list may have grown
        v->value         = later && first ? holo_emit(main, "Where", HOLO_IN(later, was, first), NULL) : NULL;
    }
    return v->value;
}

static HoloTfVariable *variable_of(HoloTfOp *op, const HoloTfTensor *t)
{
    if (t && t->resource > 0 && t->resource <= op->im->variable_count) return &op->im->variable[t->resource - 1];
    return holo_tf_fail(op, "its first input names no variable");
}

void holo_tf_var_handle(HoloTfOp *op)
{
    HoloString    container = holo_flat_text(op->options, VAR_CONTAINER), name = holo_flat_text(op->options, VAR_NAME);
    const char   *key = holo_arena_format(op->im->import->arena, "%.*s%s%.*s", HOLO_IMPORT_ARG(container),
                                        container.size ? "/" : "", HOLO_IMPORT_ARG(name));
    HoloTfTensor *t   = holo_tf_tensor_out(op, 0);
    int           i   = key ? variable_find(op->im, *key ? key : "variable") : -1;
    if (i < 0 || !t) return (void)(op->e->status = holo_fail_memory(op->im->import->error));
    t->resource = i + 1;
}

void holo_tf_read_variable(HoloTfOp *op)
{
    HoloTfTensor   *y = holo_tf_tensor_out(op, 0);
    HoloTfVariable *v = variable_of(op, holo_tf_tensor_in(op, 0));
    if (!v || !y) return;
    if (v->type.rank < 0) v->type = y->shape;
    if (!v->value) variable_begin(op->im, (int)(v - op->im->variable));
    v = variable_of(op, holo_tf_tensor_in(op, 0));
    if (op->im->main->status && !op->e->status) op->e->status = op->im->main->status;
    holo_tf_give(op, 0, v ? v->value : NULL);
}

static void assign(HoloTfOp *op, int i, HoloValue *value)
{
    HoloTfVariable *v = &op->im->variable[i];
    if (!value || op->e->status) return;
    if (op->scope->is_once) {
        HoloTensor known = holo_emit_known(op->e, value);
        if (!known.data && value->is_constant) known = value->type;
        if (!known.data)
            return (void)holo_tf_fail(op, "the variable '%.100s' begins with something that is not known", v->key);
        v->initial = known;
        if (v->type.rank < 0) v->type = known;
        v->type.data = NULL;
        return;
    }
    if (op->e != op->im->main)
        return (void)holo_tf_fail(op, "the variable '%.100s' is changed inside of a branch or a loop", v->key);
    if (v->type.rank < 0) v->type = value->type;
    v->type.data = NULL;
    if (!v->state) variable_begin(op->im, i);
    v              = &op->im->variable[i];
    v->value       = value;
    v->is_assigned = true;
}

void holo_tf_assign_variable(HoloTfOp *op)
{
    HoloTfVariable *v = variable_of(op, holo_tf_tensor_in(op, 0));
    if (v) assign(op, (int)(v - op->im->variable), holo_tf_in(op, 1));
}

// ---- tensors that operators change

// It has no contents in the file: it begins with zeros, which of integers with a scale are their zero point.
HoloValue *holo_tf_state_read(HoloTfOp *op, HoloTfTensor *t)
{
    if (!t || op->e->status) return NULL;
    if (!t->is_variable) return holo_tf_value(op, t);
    int i = t->resource - 1;
    if (i < 0) {
        if ((i = variable_find(op->im, t->name)) < 0) return NULL;
        t->resource       = i + 1;
        HoloTfVariable *v = &op->im->variable[i];
        v->type           = t->shape;
        for (int d = 0; d < v->type.rank; d++)
            if (v->type.dim[d] == HOLO_DIM_UNKNOWN)
                return holo_tf_fail(op, "the sizes of '%.100s', which it keeps, are open", t->name);
        if (holo_tf_is_scaled(t) && t->scaled.first_zero != 0) {
            v->initial    = v->type;
            op->e->status = holo_import_take(op->im->import, (HoloString){t->name, strlen(t->name)},
                                             holo_tensor_count(&v->type), holo_dtype_size(t->dtype), &v->initial.data);
            for (int64_t k = 0; !op->e->status && k < holo_tensor_count(&v->type); k++)
                holo_put_i(&v->initial, k, (int64_t)t->scaled.first_zero);
        }
    }
    return op->im->variable[i].value ? op->im->variable[i].value : variable_begin(op->im, i);
}

void holo_tf_state_write(HoloTfOp *op, HoloTfTensor *t, HoloValue *value)
{
    if (!t || !t->is_variable || op->e->status || !value) return;
    if (holo_emit_dtype(value) != t->dtype)
        value = holo_tf_is_scaled(t) ? holo_tf_quantize(op, t, value) : holo_emit_cast(op->e, value, t->dtype);
    if (value) assign(op, t->resource - 1, value);
}

// ---- the end of a run

HoloStatus holo_tf_states_end(HoloTf *im)
{
    HoloEmit *e = im->main;
    for (int i = 0; i < im->variable_count; i++) {
        const HoloTfVariable *v = &im->variable[i];
        if (!v->state) continue;
        HoloValue *fresh = v->value;
        bool       same  = fresh && fresh->type.rank == v->type.rank && fresh->type.dtype == v->type.dtype;
        if (fresh && !same)
            holo_emit_fail(e, HOLO_UNSUPPORTED, "the variable '%.100s' changes its type or its number of dimensions",
                           v->key);
        e->node = v->key;
        if (fresh) holo_emit(e, "hologram::StateWrite", HOLO_IN(v->state, fresh, v->before), NULL);
        if (e->status) return e->status;
    }
    if (im->variable_count) holo_graph_states_last(e->graph);
    return e->status;
}

// ---- hash tables

static int table_find(HoloTf *im, const char *key)
{
    for (int i = 0; i < im->table_count; i++)
        if (!strcmp(im->tables[i].key, key)) return i;
    if (!HOLO_GROW(im->import->arena, im->tables, im->table_count, im->table_room)) return -1;
    im->tables[im->table_count] = (HoloTfTable){.key = key, .keys = {.rank = -1}, .values = {.rank = -1}};
    return im->table_count++;
}

void holo_tf_hashtable(HoloTfOp *op)
{
    const char *key =
        holo_arena_format(op->im->import->arena, "%lld", (long long)holo_flat_i32(op->options, HASHTABLE_ID, 0));
    HoloTfTensor *t = holo_tf_tensor_out(op, 0);
    int           i = key ? table_find(op->im, key) : -1;
    if (i < 0 || !t) return (void)(op->e->status = holo_fail_memory(op->im->import->error));
    t->resource = i + 1;
}

static HoloTfTable *table_of(HoloTfOp *op)
{
    const HoloTfTensor *t = holo_tf_tensor_in(op, 0);
    if (t && t->resource > 0 && t->resource <= op->im->table_count) return &op->im->tables[t->resource - 1];
    return holo_tf_fail(op, "its first input names no table");
}

void holo_tf_hashtable_import(HoloTfOp *op)
{
    HoloTfTable *table = table_of(op);
    HoloValue   *keys = holo_tf_in(op, 1), *values = holo_tf_in(op, 2);
    if (!table || !keys || !values) return;
    if (!keys->is_constant || !values->is_constant)
        return (void)holo_tf_fail(op, "a table can be filled with constants only");
    table->keys   = keys->type;
    table->values = values->type;
}

void holo_tf_hashtable_size(HoloTfOp *op)
{
    HoloTfTable *table = table_of(op);
    if (!table) return;
    holo_tf_give(op, 0,
                 holo_emit_ints(op->e, (int64_t[]){table->keys.rank < 0 ? 0 : holo_tensor_count(&table->keys)}, 1));
}

// ONNX's LabelEncoder has tables of texts and numbers.
void holo_tf_hashtable_find(HoloTfOp *op)
{
    HoloTfTable *table = table_of(op);
    HoloValue   *x = holo_tf_in(op, 1), *rest = holo_tf_in(op, 2);
    if (!table || !x || !rest) return;
    if (table->keys.rank < 0) return (void)holo_tf_fail(op, "its table is empty");
    HoloTensor keys = table->keys, values = table->values, other = rest->type;
    if (!rest->is_constant) return (void)holo_tf_fail(op, "what it gives for other keys must be a constant");
    keys.rank = values.rank = other.rank = 1;
    keys.dim[0] = values.dim[0] = holo_tensor_count(&table->keys);
    other.dim[0]                = 1;
    if (holo_tensor_count(&table->values) != keys.dim[0])
        return (void)holo_tf_fail(op, "its table has other keys than values");
    HoloValue *y =
        holo_emit(op->e, "ai.onnx.ml::LabelEncoder@4", HOLO_IN(x),
                  HOLO_ATTRS(holo_with_tensor("keys_tensor", &keys), holo_with_tensor("values_tensor", &values),
                             holo_with_tensor("default_tensor", &other)));
    holo_tf_give(op, 0, y);
}
