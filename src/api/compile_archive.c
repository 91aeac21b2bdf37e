// compile_archive.c - the stage of a compile that writes the archive and its metadata.
#include "api/compiling.h"
#include "archive/archive.h"

#include <inttypes.h>
#include <stdio.h>

HoloStatus holo_compile_open(const HoloCompile *c, HoloFileWriter **out)
{
    return c->out_path ? holo_file_writer_open(c->out_path, out, c->error) : holo_file_writer_memory(out, c->error);
}

// ---- metadata. It depends only on the model and the choices, so the same compile gives the same bytes.

static HoloStatus meta_number(HoloCompile *c, const char *key, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return holo_plan_meta(&c->plan, key, text, c->error);
}

static HoloStatus meta_source(HoloCompile *c)
{
    const HoloModelSource *m = &c->source->model;
    char                   key[512], hash[40];
    snprintf(hash, sizeof hash, "%016" PRIx64 "%016" PRIx64, m->hash[1], m->hash[0]);
    HOLO_TRY(holo_plan_meta(&c->plan, "source.format", m->format, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "source.hash", hash, c->error));
    HOLO_TRY(meta_number(c, "source.bytes", m->bytes));
    for (int i = 0; i < m->meta_count; i++) {
        snprintf(key, sizeof key, "%s.%.500s", m->meta[i].is_own ? "model" : "source", m->meta[i].key);
        HOLO_TRY(holo_plan_meta(&c->plan, key, m->meta[i].value, c->error));
    }
    return HOLO_OK;
}

static HoloStatus meta_tune(HoloCompile *c)
{
    const HoloReport *r       = &c->box->report;
    uint64_t          changed = 0;
    if (!r->tuned) return HOLO_OK;
    for (int i = 0; i < r->tune_count; i++) changed += r->tunes[i].chosen != 0;
    HOLO_TRY(meta_number(c, "tune.measured", (uint64_t)r->tune_count));
    return meta_number(c, "tune.changed", changed);
}

static HoloStatus meta_quantize(HoloCompile *c)
{
    const HoloQuantizationReport *q = &c->box->report.quantization;
    char                          text[32];
    if (!q->kind) return HOLO_OK;
    snprintf(text, sizeof text, "%.6f", q->accuracy);
    HOLO_TRY(holo_plan_meta(&c->plan, "quantize", q->kind, c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "quantize.accuracy", text, c->error));
    HOLO_TRY(meta_number(c, "quantize.layers", (uint64_t)q->layer_count));
    return meta_number(c, "quantize.narrow", (uint64_t)q->narrow_count);
}

static HoloStatus meta_add(HoloCompile *c)
{
    const HoloReport *r = &c->box->report;
    HOLO_TRY(holo_plan_meta(&c->plan, "compiler", "hologram", c->error));
    HOLO_TRY(holo_plan_meta(&c->plan, "compiler.version", holo_version(), c->error));
    HOLO_TRY(meta_source(c));
    HOLO_TRY(holo_plan_meta(&c->plan, "numeric", holo_numeric_name(c->compiler->numeric), c->error));
    if (c->twins) HOLO_TRY(holo_plan_meta(&c->plan, "numeric.device", holo_numeric_name(c->asked->numeric), c->error));
    HOLO_TRY(meta_number(c, "nodes.before", r->nodes_before));
    HOLO_TRY(meta_number(c, "nodes.after", r->nodes_after));
    uint64_t flops = holo_plan_flops(c->entries[0].draft->graph);
    if (flops) HOLO_TRY(meta_number(c, "flops", flops));
    for (int i = 0; i < r->pass_count; i++) {
        char key[64];
        snprintf(key, sizeof key, "pass.%s", r->passes[i].name);
        HOLO_TRY(meta_number(c, key, (uint64_t)r->passes[i].changes));
    }
    HOLO_TRY(meta_tune(c));
    HOLO_TRY(meta_quantize(c));
    HOLO_TRY(holo_compile_text(c));
    return holo_compile_reserve(c);
}

// ---- writing

void holo_compile_release(const HoloModelSource *model, const void *data, size_t size)
{
    for (int i = 0; i < model->file_count; i++) {
        const HoloMapping *file = model->files[i];
        if ((const char *)data >= (const char *)file->data &&
            (const char *)data < (const char *)file->data + file->size)
            holo_file_release(file, data, size);
    }
}

static void write_release(void *context, const void *data, size_t size)
{
    const HoloCompile *c   = context;
    const HoloSource  *own = c->entries[0].draft->source;
    holo_compile_release(own ? &own->model : &c->source->model, data, size);
}

static void write_progress(void *context, double fraction)
{
    holo_compiler_progress(((HoloCompile *)context)->compiler, "writing", 0.15 + 0.35 * fraction);
}

static void write_parallel(void *context, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    holo_pool_run(((HoloCompile *)context)->pool, count, work, arg);
}

HoloStatus holo_compile_archive(HoloCompile *c, HoloFileWriter *file)
{
    HoloArchiveOptions options = {
        .progress = write_progress, .release = write_release, .parallel = write_parallel, .context = c};
    return holo_archive_write(&c->plan, file, &options, &c->box->report.archive_bytes, c->error);
}

HoloStatus holo_compile_write(HoloCompile *c)
{
    HOLO_TRY(meta_add(c));
    HOLO_TRY(holo_plan_notes(&c->plan, &c->notes, c->error));
    return holo_compile_archive(c, c->file);
}
