// convert.c - a model of any format as an ONNX model, and the operators that a model has.
#include "api/source.h"
#include "base/files.h"
#include "import/onnx/onnx_write.h"
#include "passes/rewrite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- operators

static HoloStatus count_op(HoloSource *source, const HoloNode *node, HoloError *error)
{
    char name[256];
    int  i = 0;
    snprintf(name, sizeof name, "%.100s%s%.140s", node->domain, *node->domain ? "::" : "", node->type);
    while (i < source->op_count && strcmp(source->ops[i].name, name)) i++;
    if (i == source->op_count) {
        const char *copy = holo_arena_text(&source->arena, name, strlen(name));
        if (!copy || !HOLO_GROW(&source->arena, source->ops, source->op_count, source->op_room))
            return holo_fail_memory(error);
        bool is_known                   = node->op || holo_op_find(node->domain, node->type, node->version);
        source->ops[source->op_count++] = (HoloSourceOp){copy, 0, is_known};
    }
    source->ops[i].uses++;
    return HOLO_OK;
}

static HoloStatus count_graph(HoloSource *source, const HoloGraph *graph, int depth, HoloError *error)
{
    for (int i = 0; i < graph->node_count && depth < 64; i++) {
        const HoloNode *node = graph->nodes[i];
        HOLO_TRY(count_op(source, node, error));
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *a = &node->attr[k];
            if (a->kind == HOLO_ATTR_GRAPH) HOLO_TRY(count_graph(source, a->graph, depth + 1, error));
            for (int g = 0; a->kind == HOLO_ATTR_GRAPHS && g < a->count; g++)
                HOLO_TRY(count_graph(source, a->graphs[g], depth + 1, error));
        }
    }
    return HOLO_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const HoloSourceOp *)a)->name, ((const HoloSourceOp *)b)->name);
}

HoloStatus holo_source_count_ops(HoloSource *source, HoloError *error)
{
    HOLO_TRY(count_graph(source, source->model.graph, 0, error));
    if (source->op_count) qsort(source->ops, (size_t)source->op_count, sizeof *source->ops, by_name);
    return HOLO_OK;
}

int holo_source_op_count(const HoloSource *source)
{
    return source->op_count;
}

const HoloSourceOp *holo_source_op(const HoloSource *source, int index)
{
    return index >= 0 && index < source->op_count ? &source->ops[index] : NULL;
}

// ---- converting

// Operators of our own that others define are replaced by their bodies.
static HoloStatus define(HoloGraph *graph, HoloArena *scratch, HoloError *error)
{
    HoloRewrite rewrite;
    HoloChanges changes = {.limit = INT_MAX};
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, &changes, error));
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        if (strcmp(node->domain, "hologram") || !node->op || !node->op->body) continue;
        holo_rewrite_inputs(&rewrite, node);
        HOLO_TRY(holo_rewrite_body(&rewrite, node, node, error));
    }
    return holo_rewrite_end(&rewrite, error);
}

// The graph and the bodies in it, those first.
static HoloStatus prepare(HoloGraph *graph, HoloArena *scratch, int depth, HoloError *error)
{
    for (int i = 0; i < graph->node_count && depth < 64; i++)
        for (int k = 0; k < graph->nodes[i]->attr_count; k++) {
            const HoloAttr *a = &graph->nodes[i]->attr[k];
            if (a->kind == HOLO_ATTR_GRAPH) HOLO_TRY(prepare(a->graph, scratch, depth + 1, error));
            for (int g = 0; a->kind == HOLO_ATTR_GRAPHS && g < a->count; g++)
                HOLO_TRY(prepare(a->graphs[g], scratch, depth + 1, error));
        }
    HOLO_TRY(define(graph, scratch, error));
    return holo_onnx_fit(graph, error);
}

typedef struct DataFile { // of weights, beside a large model
    HoloArena      *arena;
    const char     *path;
    HoloFileWriter *file;
    HoloError      *error;
} DataFile;

static HoloFileWriter *open_data(void *context, const char **out_name, HoloStatus *status)
{
    DataFile   *data = context;
    const char *path = holo_arena_format(data->arena, "%s.data", data->path);
    *status          = path ? holo_file_writer_open(path, &data->file, data->error) : holo_fail_memory(data->error);
    if (!*status) *out_name = holo_path_name(path);
    return data->file;
}

static HoloStatus write_model(const HoloGraph *graph, HoloArena *arena, const char *path, HoloError *error)
{
    DataFile    data = {arena, path, NULL, error};
    HoloOnnxOut out  = {.data_file = open_data, .context = &data};
    HOLO_TRY(holo_file_writer_open(path, &out.file, error));
    HoloStatus status = holo_onnx_write(graph, arena, &out, error);
    if (data.file) {
        HoloStatus closed = holo_file_writer_close(data.file, !status, error);
        if (!status) status = closed;
    }
    HoloStatus closed = holo_file_writer_close(out.file, !status, error);
    return status ? status : closed;
}

HoloStatus holo_source_convert(const HoloSource *source, const char *path, HoloError *error)
{
    HoloArena  arena = {0}, scratch = {0};
    HoloGraph *graph  = holo_graph_copy(source->model.graph, &arena);
    HoloStatus status = graph ? holo_graph_infer(graph, error) : holo_fail_memory(error);
    if (!status) status = holo_onnx_open_states(graph, error);
    if (!status) status = prepare(graph, &scratch, 0, error);
    if (!status) status = write_model(graph, &arena, path, error);
    holo_arena_deinit(&arena);
    holo_arena_deinit(&scratch);
    return status;
}
