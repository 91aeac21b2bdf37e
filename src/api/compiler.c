// compiler.c - the choices of a compile.
#include "api/compiler.h"
#include "api/custom_ops.h"
#include "api/quantizing.h"

#include "api/source.h"
#include "base/files.h"
#include "base/memory.h"
#include "format/holo.h"
#include "graph/facts.h"
#include "ops/standard/attention.h"

#include <string.h>

void holo_compiler_defaults(HoloCompiler *compiler)
{
    *compiler = (HoloCompiler){
        .numeric      = HOLO_FUSED,
        .targets      = holo_targets_cpu,
        .verify       = true,
        .relative     = 1e-3,
        .accuracy     = 0.99,
        .percentile   = 99.9,
        .absolute     = 1e-5,
        .passes       = holo_passes,
        .table_budget = HOLO_TABLES_DEFAULT,
    };
}

HoloStatus holo_compiler_create_in(HoloContext *context, HoloCompiler **out_compiler)
{
    HOLO_IN(holo_context_account(context));
    *out_compiler = holo_realloc(NULL, sizeof **out_compiler);
    if (!*out_compiler) return HOLO_NO_MEMORY;
    holo_compiler_defaults(*out_compiler);
    (*out_compiler)->context = context;
    (*out_compiler)->cancels = HOLO_NEW(&(*out_compiler)->arena, int, 1);
    if ((*out_compiler)->cancels) return HOLO_OK;
    holo_compiler_destroy(*out_compiler);
    *out_compiler = NULL;
    return HOLO_NO_MEMORY;
}

HoloStatus holo_compiler_create(HoloCompiler **out_compiler)
{
    return holo_compiler_create_in(NULL, out_compiler);
}

void holo_compiler_destroy(HoloCompiler *compiler)
{
    if (!compiler) return;
    holo_arena_deinit(&compiler->arena);
    holo_free(compiler);
}

static HoloStatus choice_add(HoloCompiler *compiler, const char *name, const HoloTensor *value, bool is_constant,
                             HoloError *error)
{
    if (compiler->input_count == HOLO_CHOICES_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "more than %d inputs have a given shape or value", HOLO_CHOICES_MAX);
    char *copy = holo_arena_text(&compiler->arena, name, strlen(name));
    if (!copy) return holo_fail_memory(error);
    compiler->inputs[compiler->input_count++] = (HoloInputChoice){copy, *value, is_constant};
    return HOLO_OK;
}

void holo_compiler_set_memory_limit(HoloCompiler *compiler, uint64_t bytes)
{
    compiler->memory_limit = bytes;
}

HoloStatus holo_compiler_set_shape(HoloCompiler *compiler, const char *name, int rank, const int64_t *dim,
                                   HoloError *error)
{
    if (rank < 0 || rank > HOLO_MAX_RANK)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s: at most %d dimensions are supported", name,
                         HOLO_MAX_RANK);
    HoloTensor shape = {.rank = (int8_t)rank};
    for (int i = 0; i < rank; i++) {
        if (dim[i] < -1)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s: a size cannot be %lld", name, (long long)dim[i]);
        shape.dim[i] = dim[i];
    }
    return choice_add(compiler, name, &shape, false, error);
}

HoloStatus holo_compiler_set_constant(HoloCompiler *compiler, const char *name, const HoloTensor *tensor,
                                      HoloError *error)
{
    int64_t count = tensor->kind == HOLO_TENSOR && tensor->rank >= 0 ? holo_tensor_count(tensor) : -1;
    if (count < 0 || (count && !tensor->data))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s: only a tensor with its data can be a constant", name);
    return choice_add(compiler, name, tensor, true, error);
}

// Adds a path to a list of paths.
static HoloStatus path_add(HoloCompiler *compiler, const char **list, int *count, const char *path, const char *what,
                           HoloError *error)
{
    if (*count == HOLO_PATTERNS_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "more than %d paths of %s: put them into a folder",
                         HOLO_PATTERNS_MAX, what);
    char *copy = holo_arena_text(&compiler->arena, path, strlen(path));
    if (!copy) return holo_fail_memory(error);
    list[(*count)++] = copy;
    return HOLO_OK;
}

HoloStatus holo_compiler_add_patterns(HoloCompiler *compiler, const char *path, HoloError *error)
{
    return path_add(compiler, compiler->patterns, &compiler->pattern_count, path, "patterns", error);
}

HoloStatus holo_compiler_add_verify_inputs(HoloCompiler *compiler, const char *path, HoloError *error)
{
    return path_add(compiler, compiler->verify_with, &compiler->verify_count, path, "samples", error);
}

void holo_compiler_set_strict(HoloCompiler *compiler, bool on)
{
    compiler->strict = on;
}

void holo_compiler_set_symbolic(HoloCompiler *compiler, bool on)
{
    compiler->symbolic = on;
}

const char *holo_numeric_name(HoloNumeric numeric)
{
    static const char *const names[] = {[HOLO_FUSED]        = "fused",
                                        [HOLO_EXACT]        = "exact",
                                        [HOLO_NUMERIC_BF16] = "bf16",
                                        [HOLO_NUMERIC_TF32] = "tf32",
                                        [HOLO_NUMERIC_F16]  = "f16"};
    return (unsigned)numeric < HOLO_COUNT(names) ? names[numeric] : "?";
}

void holo_compiler_set_numeric(HoloCompiler *compiler, HoloNumeric numeric)
{
    compiler->numeric = numeric;
    holo_targets_classify(compiler);
}

HoloStatus holo_compiler_set_cache(HoloCompiler *compiler, HoloDtype type, HoloError *error)
{
    if (type != HOLO_F32 && type != HOLO_F16 && type != HOLO_I8)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "caches can be of f32, f16 or i8, not of %s", holo_dtype_name(type));
    compiler->cache = type;
    return HOLO_OK;
}

HoloStatus holo_compiler_set_prefix(HoloCompiler *compiler, const char *text, size_t size, bool is_plain,
                                    HoloError *error)
{
    if (!size) return holo_fail(error, HOLO_BAD_ARGUMENT, "the prefix is empty");
    compiler->prefix          = (HoloString){holo_arena_text(&compiler->arena, text, size), size};
    compiler->is_prefix_plain = is_plain;
    return compiler->prefix.data ? HOLO_OK : holo_fail_memory(error);
}

void holo_compiler_set_verify(HoloCompiler *compiler, bool on)
{
    compiler->verify = on;
}

void holo_compiler_set_size(HoloCompiler *compiler, HoloSize size)
{
    compiler->size = size;
}

void holo_compiler_set_tune(HoloCompiler *compiler, bool on)
{
    compiler->tune = on;
}

void holo_compiler_set_tables(HoloCompiler *compiler, bool on, uint64_t budget)
{
    compiler->no_tables    = !on;
    compiler->table_budget = budget ? budget : HOLO_TABLES_DEFAULT;
}

HoloStatus holo_compiler_set_domain(HoloCompiler *compiler, const char *name, const HoloTensor *values,
                                    HoloError *error)
{
    bool is_list = values->kind == HOLO_TENSOR && values->rank == 1 && holo_tensor_count(values) > 0 && values->data &&
                   holo_dtype_size((HoloDtype)values->dtype) && values->dtype != HOLO_STRING;
    if (!is_list) return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s: a domain must be a list of numbers", name);
    if (compiler->domain_count == HOLO_DOMAINS_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "at most %d inputs can have a domain", HOLO_DOMAINS_MAX);
    HoloInputChoice *choice = &compiler->domains[compiler->domain_count];
    size_t           bytes  = holo_tensor_bytes(values);
    choice->name            = holo_arena_text(&compiler->arena, name, strlen(name));
    choice->value           = *values;
    choice->value.data      = holo_arena_take(&compiler->arena, bytes);
    if (!choice->name || !choice->value.data) return holo_fail_memory(error);
    memcpy(choice->value.data, values->data, bytes);
    compiler->domain_count++;
    return HOLO_OK;
}

void holo_compiler_set_tolerance(HoloCompiler *compiler, double relative, double absolute)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    compiler->relative = relative < 0 ? defaults.relative : relative;
    compiler->absolute = absolute < 0 ? defaults.absolute : absolute;
}

void holo_compiler_set_threads(HoloCompiler *compiler, int threads)
{
    compiler->threads = threads;
}

void holo_compiler_set_progress(HoloCompiler *compiler, HoloProgressFn progress, void *context)
{
    compiler->progress         = progress;
    compiler->progress_context = context;
}

void holo_compiler_progress(const HoloCompiler *compiler, const char *stage, double fraction)
{
    if (compiler->progress) compiler->progress(compiler->progress_context, stage, fraction);
}

void holo_compiler_cancel(HoloCompiler *compiler)
{
    holo_flag_raise(compiler->cancels);
}

void holo_compiler_stop(const HoloCompiler *compiler, HoloStop *out)
{
    const HoloStop *outer = holo_scope_stop();
    *out                  = (HoloStop){.flag = outer ? outer->flag : compiler->cancels};
    if (out->flag) out->flag_was = outer ? outer->flag_was : holo_flag_read(out->flag);
}

// ---- inputs

// Every dimension of every input gets a symbol of its own.
static void symbols_apply(HoloGraph *graph)
{
    for (int i = 0; i < graph->input_count; i++) {
        HoloTensor *t = &graph->inputs[i]->type;
        for (int d = 0; d < t->rank && t->kind == HOLO_TENSOR; d++) t->dim[d] = holo_dims_fresh(graph->dims, "dim");
    }
}

// Does the model itself, before any size is set, allow the shape?
static HoloStatus shape_check(const HoloValue *input, const HoloTensor *shape, HoloError *error)
{
    const HoloTensor *t = &input->type;
    if (t->rank >= 0 && t->rank != shape->rank)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s has %d dimensions, but a shape of %d is given",
                         input->name, t->rank, shape->rank);
    for (int d = 0; d < t->rank; d++)
        if (shape->dim[d] >= 0 && !holo_dim_is_symbolic(t->dim[d]) && t->dim[d] != shape->dim[d])
            return holo_fail(error, HOLO_BAD_ARGUMENT,
                             "dimension %d of input %s is fixed at %lld in the model, but %lld is given", d,
                             input->name, (long long)t->dim[d], (long long)shape->dim[d]);
    return HOLO_OK;
}

static HoloStatus shapes_check(const HoloCompiler *compiler, const HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < compiler->input_count; i++)
        for (int k = 0; k < graph->input_count && !compiler->inputs[i].is_constant; k++)
            if (!strcmp(graph->inputs[k]->name, compiler->inputs[i].name))
                HOLO_TRY(shape_check(graph->inputs[k], &compiler->inputs[i].value, error));
    return HOLO_OK;
}

static HoloStatus shape_apply(HoloGraph *graph, HoloValue *input, const HoloTensor *shape, HoloError *error)
{
    HoloTensor *t = &input->type;
    for (int d = 0; d < shape->rank; d++) {
        if (t->rank < 0) t->dim[d] = HOLO_DIM_UNKNOWN;
        if (shape->dim[d] < 0) continue;
        if (!holo_dim_is_symbolic(t->dim[d]) && t->dim[d] != shape->dim[d])
            return holo_fail(error, HOLO_BAD_ARGUMENT,
                             "dimension %d of input %s is already %lld because of what another input is given, and "
                             "cannot be %lld: both have the same name in the model",
                             d, input->name, (long long)t->dim[d], (long long)shape->dim[d]);
        HoloDim before = t->dim[d];
        t->dim[d]      = shape->dim[d];
        if (holo_dim_is_symbolic(before) && before != HOLO_DIM_UNKNOWN)
            HOLO_TRY(holo_graph_fix_symbol(graph, before, shape->dim[d], error));
    }
    if (t->rank < 0) {
        t->rank = shape->rank;
        for (int d = 0; d < shape->rank; d++)
            if (t->dim[d] == HOLO_DIM_UNKNOWN) t->dim[d] = holo_dims_fresh(graph->dims, "dim");
    }
    return HOLO_OK;
}

// Turns the input at `index` into a constant. Its shape is that of the value.
static HoloStatus constant_apply(HoloGraph *graph, int index, const HoloTensor *tensor, HoloError *error)
{
    HoloValue *input = graph->inputs[index];
    if (input->type.kind != HOLO_TENSOR || input->type.dtype != tensor->dtype)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s is %s of %s, but the given constant is a tensor of %s",
                         input->name, input->type.kind == HOLO_TENSOR ? "a tensor" : "not a tensor, but",
                         holo_dtype_name((HoloDtype)input->type.dtype), holo_dtype_name((HoloDtype)tensor->dtype));
    for (int d = 0; d < input->type.rank && d < tensor->rank; d++) {
        HoloDim before = input->type.dim[d];
        if (holo_dim_is_symbolic(before) && before != HOLO_DIM_UNKNOWN)
            HOLO_TRY(holo_graph_fix_symbol(graph, before, tensor->dim[d], error));
    }
    input->type        = *tensor;
    input->is_constant = true;
    input->is_input    = false;
    graph->input_count--;
    memmove(graph->inputs + index, graph->inputs + index + 1,
            (size_t)(graph->input_count - index) * sizeof *graph->inputs);
    return HOLO_OK;
}

// Applies a choice if the graph has the input.
static HoloStatus choice_apply(HoloGraph *graph, const HoloInputChoice *choice, bool *out_is, HoloError *error)
{
    for (int i = 0; i < graph->input_count; i++) {
        if (strcmp(graph->inputs[i]->name, choice->name) != 0) continue;
        *out_is = true;
        return choice->is_constant ? constant_apply(graph, i, &choice->value, error)
                                   : shape_apply(graph, graph->inputs[i], &choice->value, error);
    }
    return HOLO_OK;
}

static HoloStatus choice_unknown(const HoloGraph *graph, const HoloInputChoice *choice, HoloError *error)
{
    char names[512] = "";
    for (int i = 0; i < graph->input_count && strlen(names) < 400; i++) {
        strncat(names, i ? ", " : "", 4);
        strncat(names, graph->inputs[i]->name, 60);
    }
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no input %s to give a %s; the inputs are: %s", choice->name,
                     choice->is_constant ? "value" : "shape", names);
}

// Gives caches, the states that a CacheWrite changes, the type that was asked for.
static int caches_narrow(const HoloCompiler *compiler, const HoloGraph *graph)
{
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (!HOLO_IS(node, HOLOGRAM_CacheWrite) || !node->in[0]->is_state) continue;
        HoloTensor *t = &node->in[0]->type;
        t->dtype      = (uint8_t)compiler->cache;
        if (t->dtype == HOLO_I8) t->dim[2] += HOLO_SCALE_BYTES * holo_node_int(node, "num_heads", 1);
        count++;
    }
    return count;
}

static HoloStatus caches_apply(const HoloCompiler *compiler, const HoloModelSource *model, HoloError *error)
{
    int count = 0;
    if (!compiler->cache || compiler->cache == HOLO_F32) return HOLO_OK;
    for (int k = 0; k < model->entry_count; k++) count += caches_narrow(compiler, model->entries[k].graph);
    return count ? HOLO_OK
                 : holo_fail(error, HOLO_BAD_ARGUMENT, "the model has no caches, so their type cannot be %s",
                             holo_dtype_name(compiler->cache));
}

// A language model on a device also says the most likely token itself, so that its logits need not leave the device.
static HoloStatus tokens_choose(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error)
{
    HoloValue *logits = holo_graph_find(graph, "logits"), *choices;
    bool       is     = compiler->targets.count > 1 && holo_graph_has_states(graph) && logits && logits->producer &&
              !holo_graph_find(graph, "choices");
    for (int i = 0; i < graph->output_count && is; i++) is = is && strcmp(graph->outputs[i]->name, "choices");
    if (!is) return HOLO_OK;
    HoloNode *node = holo_graph_op(graph, "choices", HOLO_ID_ArgMax, 13, 1, 1, 2);
    choices        = holo_graph_value(graph, "choices");
    if (!node || !choices) return holo_fail_memory(error);
    node->in[0]   = logits;
    node->attr[0] = (HoloAttr){.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = -1};
    node->attr[1] = (HoloAttr){.name = "keepdims", .kind = HOLO_ATTR_INT, .count = 1, .i = 0};
    holo_node_set_out(node, 0, choices);
    return holo_graph_output(graph, choices) ? HOLO_OK : holo_fail_memory(error);
}

// Applies the choices to the inputs of all entries. Fails if the model does not allow them.
static HoloStatus inputs_apply(const HoloCompiler *compiler, const HoloModelSource *model, HoloError *error)
{
    for (int k = 0; k < model->entry_count && compiler->symbolic; k++) symbols_apply(model->entries[k].graph);
    HOLO_TRY(caches_apply(compiler, model, error));
    for (int k = 0; k < model->entry_count; k++) HOLO_TRY(tokens_choose(compiler, model->entries[k].graph, error));
    for (int k = 0; k < model->entry_count; k++) HOLO_TRY(shapes_check(compiler, model->entries[k].graph, error));
    for (int i = 0; i < compiler->input_count; i++) {
        const HoloInputChoice *choice = &compiler->inputs[i];
        bool                   is     = false;
        for (int k = 0; k < model->entry_count; k++)
            HOLO_TRY(choice_apply(model->entries[k].graph, choice, &is, error));
        if (!is) return choice_unknown(model->graph, choice, error);
    }
    return HOLO_OK;
}

HoloStatus holo_compiler_import(const HoloCompiler *compiler, const char *path, HoloString bytes, HoloSource **out,
                                HoloError *error)
{
    HoloToldInput     told[HOLO_CHOICES_MAX];
    HoloImportRequest request = {.path    = bytes.data ? NULL : path,
                                 .bytes   = bytes.data,
                                 .size    = bytes.size,
                                 .told    = told,
                                 .is_wide = holo_compiler_quantizes(compiler) || // what is quantized is measured in f32
                                            (compiler->has_host && compiler->numeric == HOLO_NUMERIC_BF16)};
    for (int i = 0; i < compiler->input_count; i++)
        told[request.told_count++] = (HoloToldInput){compiler->inputs[i].name, compiler->inputs[i].value};
    HOLO_TRY(holo_source_import(&request, out, error));
    const HoloModelSource *model = &(*out)->model;
    for (int i = 0; i < model->entry_count; i++)
        HOLO_TRY(holo_compiler_apply_kernels(compiler, model->entries[i].graph, error));
    HOLO_TRY(inputs_apply(compiler, model, error));
    for (int i = 0; i < model->entry_count; i++) HOLO_TRY(holo_graph_infer(model->entries[i].graph, error));
    return HOLO_OK;
}

bool holo_compiler_has_symbols(const HoloGraph *graph)
{
    for (int i = 0; i < graph->input_count; i++)
        for (int d = 0; d < graph->inputs[i]->type.rank; d++)
            if (holo_dim_is_symbolic(graph->inputs[i]->type.dim[d])) return true;
    return false;
}

// Does the compiler run the pass of that name? Only for passes that do not round.
static bool runs_pass(const HoloCompiler *compiler, const char *name)
{
    int i = 0;
    while (compiler->passes[i].name && strcmp(compiler->passes[i].name, name)) i++;
    return compiler->passes[i].name && !(compiler->disabled >> i & 1);
}

// Integers between DequantizeLinear and QuantizeLinear are the meaning of a quantized model: one rounding in the other
// direction would be a whole step of the next quantization. So where the plan computes with integers, the reference
// does, too. But it compares each such node with what the model wrote.
HoloStatus holo_compiler_take_integers(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error)
{
    bool runs = compiler->numeric != HOLO_EXACT && runs_pass(compiler, "integers");
    return runs ? holo_pass_integers_judged(graph, &compiler->targets, error) : HOLO_OK;
}

// Does a loop, here or in a subgraph, collect a value with an unknown size?
static bool collects_unknown(const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->attr_count; k++) {
            const HoloGraph *body = node->attr[k].kind == HOLO_ATTR_GRAPH ? node->attr[k].graph : NULL;
            if (body && collects_unknown(body)) return true;
        }
        if (!HOLO_IS(node, Loop) && !HOLO_IS(node, Scan)) continue;
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k] && holo_tensor_count(&node->out[k]->type) < 0) return true;
    }
    return false;
}

// A loop without turns gives an empty value. Its other sizes are those that are known for the result of a turn. So
// where such a size matters, the reference must know what the plan knows: the values that constants lead to.
static HoloStatus take_constants(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error)
{
    int changes = runs_pass(compiler, "fold") && collects_unknown(graph) ? 1 : 0;
    for (int round = 0; changes && round < HOLO_PASS_ROUNDS; round++)
        HOLO_TRY(holo_pass_run(graph, "fold", &changes, error));
    return HOLO_OK;
}

HoloStatus holo_compiler_judge(const HoloCompiler *compiler, HoloGraph *graph, HoloGraph **out_trial, HoloError *error)
{
    *out_trial = NULL;
    HOLO_TRY(take_constants(compiler, graph, error));
    HOLO_TRY(holo_compiler_take_integers(compiler, graph, error));
    if (!holo_compiler_has_symbols(graph)) return HOLO_OK;
    *out_trial = holo_graph_copy(graph, graph->arena);
    return *out_trial ? HOLO_OK : holo_fail_memory(error);
}

// ---- files

HoloStatus holo_file_kind(const char *path, HoloFileKind *out_kind, HoloError *error)
{
    const HoloImporter *importer;
    *out_kind = HOLO_FILE_OTHER;
    HOLO_TRY(holo_import_find(path, &importer, error));
    if (!importer && holo_path_is_folder(path))
        return holo_fail(error, HOLO_NO_FILE, "'%s' is a folder, not a model", path);
    if (holo_importer_is_model(importer)) *out_kind = HOLO_FILE_MODEL;
    if (importer && !strcmp(holo_importer_name(importer), "holo")) *out_kind = HOLO_FILE_ARCHIVE;
    return HOLO_OK;
}

void holo_report_destroy(HoloReport *report)
{
    if (!report) return;
    HoloReportBox *box = (HoloReportBox *)(void *)report;
    holo_arena_deinit(&box->arena);
    holo_free(box);
}

// ---- passes

int holo_pass_count(void)
{
    int count = 0;
    while (holo_passes[count].name) count++;
    return count;
}

const char *holo_pass_name(int index, const char **out_purpose)
{
    if (index < 0 || index >= holo_pass_count()) return NULL;
    if (out_purpose) *out_purpose = holo_passes[index].doc;
    return holo_passes[index].name;
}

static int pass_find(const char *name)
{
    for (int i = 0; holo_passes[i].name; i++)
        if (!strcmp(holo_passes[i].name, name)) return i;
    return -1;
}

static HoloStatus pass_fail(const char *name, const char *also, HoloError *error)
{
    char names[512] = "";
    for (int i = 0; holo_passes[i].name && strlen(names) < 400; i++) {
        strncat(names, i ? ", " : "", 4);
        strncat(names, holo_passes[i].name, 40);
    }
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no pass %s; the passes are: %s%s", name, also, names);
}

HoloStatus holo_compiler_disable_pass(HoloCompiler *compiler, const char *pass, HoloError *error)
{
    int i = pass_find(pass);
    if (i < 0) return pass_fail(pass, "", error);
    compiler->disabled |= UINT64_C(1) << i;
    return HOLO_OK;
}

HoloStatus holo_compiler_set_dump(HoloCompiler *compiler, const char *pass, HoloDumpFn dump, void *context,
                                  HoloError *error)
{
    bool known = !strcmp(pass, "import") || !strcmp(pass, "quantize") || !strcmp(pass, "plan") ||
                 !strcmp(pass, "lower") || !strcmp(pass, "all") || pass_find(pass) >= 0;
    if (!known) return pass_fail(pass, "import, quantize, plan, lower, all, ", error);
    compiler->dump_pass = holo_arena_text(&compiler->arena, pass, strlen(pass));
    if (!compiler->dump_pass) return holo_fail_memory(error);
    compiler->dump         = dump;
    compiler->dump_context = context;
    return HOLO_OK;
}
