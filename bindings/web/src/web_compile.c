// web_compile.c - the compiler for JavaScript: files that it has put into memory become an archive there.
#include "web.h"

#include "base/files.h"
#include "base/wasm.h"
#include "hologram_compiler.h"

#include <stdlib.h>

void *WEB(web_file_put)(const char *path, size_t size)
{
    return holo_wasm_file_put(path, size);
}

bool WEB(web_file_remove)(const char *path)
{
    return holo_wasm_file_remove(path);
}

// The bytes of a file are at web_file, and there are so many; -1: there is none.
static const void *found;

const void *WEB(web_file)(void)
{
    return found;
}

double WEB(web_file_find)(const char *path)
{
    HoloMapping mapping;
    if (holo_file_map(path, &mapping, web_anew())) return -1;
    found = mapping.data;
    return (double)mapping.size;
}

// ---- compiling

__attribute__((import_module("hologram"), import_name("progress"))) void host_progress(const char *stage, double part);

static void progress(void *context, const char *stage, double part)
{
    (void)context;
    host_progress(stage, part);
}

HoloCompiler *WEB(web_compiler)(void)
{
    HoloCompiler *compiler;
    web_last.status = holo_compiler_create(&compiler);
    if (web_last.status) return NULL;
    holo_compiler_set_threads(compiler, 1);
    holo_compiler_set_progress(compiler, progress, NULL);
    return compiler;
}

void WEB(web_compiler_close)(HoloCompiler *compiler)
{
    holo_compiler_destroy(compiler);
}

HoloStatus WEB(web_compiler_shape)(HoloCompiler *compiler, const char *name, int rank, const int64_t *sizes)
{
    return holo_compiler_set_shape(compiler, name, rank, sizes, web_anew());
}

// The rest are numbers: which is meant is the order of compile_web.mjs.
HoloStatus WEB(web_compiler_set)(HoloCompiler *compiler, int what, double value)
{
    switch (what) {
    case 0: holo_compiler_set_numeric(compiler, (HoloNumeric)value); break;
    case 1: holo_compiler_set_quantize(compiler, (HoloQuantizeKind)value); break;
    case 2: holo_compiler_set_verify(compiler, value != 0); break;
    case 3: holo_compiler_set_symbolic(compiler, value != 0); break;
    case 4: holo_compiler_set_size(compiler, (HoloSize)value); break;
    case 5: holo_compiler_set_tables(compiler, value != 0, 0); break;
    case 6: return holo_compiler_set_accuracy(compiler, value, web_anew());
    default: return HOLO_BAD_ARGUMENT;
    }
    return HOLO_OK;
}

// What was done, or NULL.
char *WEB(web_compile)(const HoloCompiler *compiler, const char *path, const char *out_path)
{
    HoloReport *report;
    if (holo_compile_file(compiler, path, out_path, &report, web_anew())) return NULL;
    Json json = {0};
    write_open(&json, '{');
    write_put_number(&json, "nodesBefore", report->nodes_before);
    write_put_number(&json, "nodesAfter", report->nodes_after);
    write_put_number(&json, "archiveBytes", (double)report->archive_bytes);
    write_put(&json, "verifyInputs", report->verify_inputs);
    write_close(&json, '}');
    holo_report_destroy(report);
    return write_end(&json);
}

// ---- graphs

static void values_write(Json *json, const HoloListing *listing)
{
    write_key(json, "values");
    write_open(json, '[');
    for (int i = 0; i < listing->value_count; i++) {
        const HoloListingValue *value = &listing->values[i];
        write_open(json, '{');
        write_put(json, "name", value->name);
        write_put(json, "shape", value->shape);
        write_put_number(json, "producer", value->producer);
        write_put_bool(json, "isConstant", value->is_constant);
        write_close(json, '}');
    }
    write_close(json, ']');
}

static void numbers_write(Json *json, const char *name, const int *numbers, int count)
{
    write_key(json, name);
    write_open(json, '[');
    for (int i = 0; i < count; i++) write_number(json, numbers[i]);
    write_close(json, ']');
}

// The graph of a file at a stage: HoloStage.
char *WEB(web_listing)(const char *path, int stage)
{
    HoloListing *listing;
    Json         json = {0};
    if (holo_listing_open(NULL, path, (HoloStage)stage, &listing, web_anew())) return NULL;
    write_open(&json, '{');
    write_put(&json, "name", listing->name);
    write_key(&json, "nodes");
    write_open(&json, '[');
    for (int i = 0; i < listing->node_count; i++) {
        const HoloListingNode *node = &listing->nodes[i];
        write_open(&json, '{');
        write_put(&json, "name", node->name);
        write_put(&json, "op", node->op);
        write_put(&json, "detail", node->detail);
        write_put(&json, "runs", node->runs);
        write_put_number(&json, "parent", node->parent);
        numbers_write(&json, "in", node->in, node->in_count);
        numbers_write(&json, "out", node->out, node->out_count);
        write_close(&json, '}');
    }
    write_close(&json, ']');
    values_write(&json, listing);
    numbers_write(&json, "inputs", listing->inputs, listing->input_count);
    numbers_write(&json, "outputs", listing->outputs, listing->output_count);
    write_close(&json, '}');
    holo_listing_close(listing);
    return write_end(&json);
}
