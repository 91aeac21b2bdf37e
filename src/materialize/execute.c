// execute.c - runs a graph through the runtime as if it were a model of its own.
#include "archive/archive.h"
#include "lower/lower.h"
#include "materialize/materialize.h"

#include <string.h>

static HoloStatus plan_open(const HoloPlan *plan, HoloError *error, HoloModel **out)
{
    HoloFileWriter *file;
    HoloMapping     mapping;
    uint64_t        size;
    HOLO_TRY(holo_file_writer_memory(&file, error));
    HoloStatus status = holo_archive_write(plan, file, NULL, &size, error);
    if (!status) status = holo_file_writer_take(file, &mapping, error);
    if (!status) status = holo_model_open_mapping(&mapping, out, error);
    HoloStatus closed = holo_file_writer_close(file, false, NULL);
    return status ? status : closed;
}

HoloStatus holo_materialize_model(const HoloGraph *graph, const HoloMaterialize *m, HoloModel **out)
{
    HoloLowered lowered;
    HoloPlan    plan   = {0};
    HoloStatus  status = holo_lower_graph(graph, NULL, &lowered, m->error);
    if (!status) status = holo_plan_create(graph, &lowered, &plan, m->error);
    if (m->is_exact) plan.flags_must |= HOLO_FLAG_EXACT;
    if (m->is_bf16) plan.flags_may |= HOLO_FLAG_BF16;
    if (!status) status = plan_open(&plan, m->error, out);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    return status;
}

static HoloStatus rows_run(HoloSession *session, const HoloMaterialize *m, const HoloTensor *in, HoloTensor *out)
{
    enum { BLOCK = 4 << 20 }; // bytes of results, about
    int64_t rows   = in->dim[0];
    size_t  in_row = holo_tensor_bytes(in) / (size_t)rows, out_row = holo_tensor_bytes(out) / (size_t)rows;
    int64_t block = 1 + (int64_t)(BLOCK / (out_row + 1));
    for (int64_t at = 0; at < rows; at += block) {
        HoloTensor some = *in, result;
        some.dim[0]     = rows - at < block ? rows - at : block;
        some.data       = (char *)in->data + (size_t)at * in_row;
        HOLO_TRY(holo_session_set_input(session, 0, &some, m->error));
        HOLO_TRY(holo_session_run(session, m->error));
        HOLO_TRY(holo_session_output(session, 0, &result, m->error));
        size_t bytes = (size_t)some.dim[0] * out_row;
        if (holo_tensor_bytes(&result) != bytes) return holo_fail(m->error, HOLO_INTERNAL, "rows give other sizes");
        memcpy((char *)out->data + (size_t)at * out_row, result.data, bytes);
    }
    return HOLO_OK;
}

HoloStatus holo_materialize_run(const HoloGraph *graph, const HoloMaterialize *m, const HoloTensor *in, HoloTensor *out)
{
    HoloModel   *model;
    HoloSession *session;
    HOLO_TRY(holo_materialize_model(graph, m, &model));
    HoloStatus status = holo_session_create(model, m->pool, &session, m->error);
    if (!status) {
        status = rows_run(session, m, in, out);
        holo_session_destroy(session);
    }
    holo_model_close(model);
    return status;
}
