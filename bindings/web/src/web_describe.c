// web_describe.c - what JavaScript wants to know of models and sessions, as JSON with the names of hologram.json.
#include "web.h"

static void type_write(Json *json, const HoloTensor *type)
{
    json_open(json, '{');
    json_put_number(json, "dtype", type->dtype);
    json_put_number(json, "kind", type->kind);
    json_put_number(json, "inner", type->inner);
    json_key(json, "shape");
    if (type->rank < 0)
        json_string(json, NULL);
    else {
        json_open(json, '[');
        for (int i = 0; i < type->rank; i++) json_number(json, (double)type->dim[i]);
        json_close(json, ']');
    }
    json_close(json, '}');
}

static void port_write(Json *json, const HoloPort *port)
{
    json_open(json, '{');
    json_put(json, "name", port->name);
    json_key(json, "type");
    type_write(json, &port->type);
    json_key(json, "symbol");
    json_open(json, '[');
    for (int i = 0; i < port->type.rank; i++) json_string(json, port->symbol[i]);
    json_close(json, ']');
    json_put_bool(json, "optional", port->optional);
    json_put_bool(json, "anyShape", port->any_shape);
    json_close(json, '}');
}

static void info_write(Json *json, const HoloModel *model)
{
    HoloModelInfo info;
    holo_model_info(model, &info);
    json_key(json, "info");
    json_open(json, '{');
#define X(js, c) json_put_number(json, js, (double)info.c);
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
    json_close(json, '}');
    json_put_number(json, "memo", (double)holo_model_memo_count(model));
    json_key(json, "meta");
    json_open(json, '[');
    for (int i = 0; i < holo_model_meta_count(model); i++) {
        const char *key, *value = holo_model_meta(model, i, &key);
        json_open(json, '{');
        json_put(json, "key", key);
        json_put(json, "value", value);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// Inputs, outputs, and facts.
char *WEB(web_describe)(const HoloModel *model)
{
    Json json = {0};
    json_open(&json, '{');
    json_key(&json, "inputs");
    json_open(&json, '[');
    for (int i = 0; i < holo_model_input_count(model); i++) port_write(&json, holo_model_input(model, i));
    json_close(&json, ']');
    json_key(&json, "outputs");
    json_open(&json, '[');
    for (int i = 0; i < holo_model_output_count(model); i++) port_write(&json, holo_model_output(model, i));
    json_close(&json, ']');
    info_write(&json, model);
    json_close(&json, '}');
    return json_end(&json);
}

char *WEB(web_notes)(const HoloModel *model)
{
    Json     json = {0};
    HoloNote note;
    json_open(&json, '[');
    for (int i = 0; holo_model_note(model, i, &note); i++) {
        json_open(&json, '{');
        json_put(&json, "pass", note.pass);
        json_put(&json, "place", note.place);
        json_put(&json, "what", note.what);
        json_put(&json, "why", note.why);
        json_put(&json, "verdict", holo_verdict_text(note.verdict));
        json_put_number(&json, "count", (double)note.count);
        json_put_number(&json, "bytes", (double)note.bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    return json_end(&json);
}

char *WEB(web_constants)(const HoloModel *model)
{
    Json         json = {0};
    HoloConstant constant;
    json_open(&json, '[');
    for (int i = 0; holo_model_constant(model, i, &constant); i++) {
        json_open(&json, '{');
        json_put(&json, "name", constant.name);
        json_key(&json, "tensor");
        type_write(&json, &constant.tensor);
        json_put_bool(&json, "isPacked", constant.is_packed);
        json_put_bool(&json, "isCoded", constant.is_coded);
        json_put_number(&json, "dtype", constant.dtype);
        json_put_number(&json, "count", (double)constant.count);
        json_put_number(&json, "bytes", (double)constant.bytes);
        json_put_number(&json, "uses", constant.uses);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    return json_end(&json);
}

// Its memory and memo, and the steps that were profiled.
char *WEB(web_session_facts)(const HoloSession *session)
{
    Json             json = {0};
    uint64_t         hits, misses;
    HoloProfiledStep step;
    holo_session_memo_counts(session, &hits, &misses);
    json_open(&json, '{');
    json_put_number(&json, "memory", (double)holo_session_memory(session));
    json_put_number(&json, "hits", (double)hits);
    json_put_number(&json, "misses", (double)misses);
    json_put_number(&json, "keptSteps", holo_session_kept_steps(session));
    json_key(&json, "steps");
    json_open(&json, '[');
    for (int i = 0; holo_session_profile_step(session, i, &step); i++) {
        json_open(&json, '{');
        json_put(&json, "name", step.name);
        json_put(&json, "op", step.op);
        json_put(&json, "kernel", step.kernel);
        json_put(&json, "shapes", step.shapes);
        json_put(&json, "fused", step.fused);
        json_put_number(&json, "runs", (double)step.runs);
        json_put_number(&json, "seconds", step.seconds);
        json_put_number(&json, "least", step.least);
        json_put_number(&json, "flops", step.flops);
        json_put_number(&json, "bytes", (double)step.bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return json_end(&json);
}

const char *WEB(web_version)(void)
{
    return holo_version();
}

const char *WEB(web_level)(void)
{
    return holo_cpu_level();
}
