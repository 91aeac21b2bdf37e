// web_describe.c - what JavaScript wants to know of models and sessions, as JSON with the names of hologram.json.
#include "web.h"

static void type_write(Json *json, const HoloTensor *type)
{
    write_open(json, '{');
    write_put_number(json, "dtype", type->dtype);
    write_put_number(json, "kind", type->kind);
    write_put_number(json, "inner", type->inner);
    write_key(json, "shape");
    if (type->rank < 0)
        write_string(json, NULL);
    else {
        write_open(json, '[');
        for (int i = 0; i < type->rank; i++) write_number(json, (double)type->dim[i]);
        write_close(json, ']');
    }
    write_close(json, '}');
}

static void port_write(Json *json, const HoloPort *port)
{
    write_open(json, '{');
    write_put(json, "name", port->name);
    write_key(json, "type");
    type_write(json, &port->type);
    write_key(json, "symbol");
    write_open(json, '[');
    for (int i = 0; i < port->type.rank; i++) write_string(json, port->symbol[i]);
    write_close(json, ']');
    write_put_bool(json, "optional", port->optional);
    write_put_bool(json, "anyShape", port->any_shape);
    write_close(json, '}');
}

static void info_write(Json *json, const HoloModel *model)
{
    HoloModelInfo info;
    holo_model_info(model, &info);
    write_key(json, "info");
    write_open(json, '{');
#define X(js, c) write_put_number(json, js, (double)info.c);
    X("fileBytes", file_bytes)
    X("constantBytes", constant_bytes)
    X("tableBytes", table_bytes)
    X("arenaBytes", arena_bytes)
    X("naiveBytes", naive_bytes)
    X("steps", steps)
    X("values", values)
    X("constants", constants)
    X("plans", plans)
    X("exact", exact)
    X("isStatic", is_static)
#undef X
    write_close(json, '}');
    write_put_number(json, "memo", (double)holo_model_memo_count(model));
    write_key(json, "meta");
    write_open(json, '[');
    for (int i = 0; i < holo_model_meta_count(model); i++) {
        const char *key, *value = holo_model_meta(model, i, &key);
        write_open(json, '{');
        write_put(json, "key", key);
        write_put(json, "value", value);
        write_close(json, '}');
    }
    write_close(json, ']');
}

// Inputs, outputs, and facts.
char *WEB(web_describe)(const HoloModel *model)
{
    Json json = {0};
    write_open(&json, '{');
    write_key(&json, "inputs");
    write_open(&json, '[');
    for (int i = 0; i < holo_model_input_count(model); i++) port_write(&json, holo_model_input(model, i));
    write_close(&json, ']');
    write_key(&json, "outputs");
    write_open(&json, '[');
    for (int i = 0; i < holo_model_output_count(model); i++) port_write(&json, holo_model_output(model, i));
    write_close(&json, ']');
    info_write(&json, model);
    write_close(&json, '}');
    return write_end(&json);
}

char *WEB(web_notes)(const HoloModel *model)
{
    Json     json = {0};
    HoloNote note;
    write_open(&json, '[');
    for (int i = 0; holo_model_note(model, i, &note); i++) {
        write_open(&json, '{');
        write_put(&json, "pass", note.pass);
        write_put(&json, "place", note.place);
        write_put(&json, "what", note.what);
        write_put(&json, "why", note.why);
        write_put(&json, "verdict", holo_verdict_text(note.verdict));
        write_put_number(&json, "count", (double)note.count);
        write_put_number(&json, "bytes", (double)note.bytes);
        write_close(&json, '}');
    }
    write_close(&json, ']');
    return write_end(&json);
}

char *WEB(web_constants)(const HoloModel *model)
{
    Json         json = {0};
    HoloConstant constant;
    write_open(&json, '[');
    for (int i = 0; holo_model_constant(model, i, &constant); i++) {
        write_open(&json, '{');
        write_put(&json, "name", constant.name);
        write_key(&json, "tensor");
        type_write(&json, &constant.tensor);
        write_put_bool(&json, "isPacked", constant.is_packed);
        write_put_bool(&json, "isCoded", constant.is_coded);
        write_put_number(&json, "dtype", constant.dtype);
        write_put_number(&json, "count", (double)constant.count);
        write_put_number(&json, "bytes", (double)constant.bytes);
        write_put_number(&json, "uses", constant.uses);
        write_close(&json, '}');
    }
    write_close(&json, ']');
    return write_end(&json);
}

// Its memory and memo, and the steps that were profiled.
char *WEB(web_session_facts)(const HoloSession *session)
{
    Json             json = {0};
    uint64_t         hits, misses;
    HoloProfiledStep step;
    holo_session_memo_counts(session, &hits, &misses);
    write_open(&json, '{');
    write_put_number(&json, "memory", (double)holo_session_memory(session));
    write_put_number(&json, "hits", (double)hits);
    write_put_number(&json, "misses", (double)misses);
    write_put_number(&json, "keptSteps", holo_session_kept_steps(session));
    write_key(&json, "steps");
    write_open(&json, '[');
    for (int i = 0; holo_session_profile_step(session, i, &step); i++) {
        write_open(&json, '{');
        write_put(&json, "name", step.name);
        write_put(&json, "op", step.op);
        write_put(&json, "kernel", step.kernel);
        write_put(&json, "shapes", step.shapes);
        write_put(&json, "fused", step.fused);
        write_put_number(&json, "runs", (double)step.runs);
        write_put_number(&json, "seconds", step.seconds);
        write_put_number(&json, "least", step.least);
        write_put_number(&json, "flops", step.flops);
        write_put_number(&json, "bytes", (double)step.bytes);
        write_close(&json, '}');
    }
    write_close(&json, ']');
    write_close(&json, '}');
    return write_end(&json);
}

const char *WEB(web_version)(void)
{
    return holo_version();
}

const char *WEB(web_level)(void)
{
    return holo_cpu_level();
}
