// openai.c - the routes of OpenAI's protocol. See openai.h.
#include "openai.h"
#include "repository.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What clients compare. A request that is wrong has no code of its own.
static const struct {
    int         status;
    const char *type, *code;
} errors[] = {{401, "authentication_error", "invalid_api_key"},
              {404, "invalid_request_error", "model_not_found"},
              {429, "rate_limit_error", "rate_limit_exceeded"},
              {413, "invalid_request_error", "request_too_large"},
              {503, "server_error", "overloaded"},
              {504, "server_error", "timeout"}};

static void error_send(Exchange *e, int status, const char *type, const char *code, const char *text)
{
    Bytes b = {0};
    bytes_add_text(&b, "{\"error\":{\"message\":");
    bytes_json(&b, text, strlen(text));
    bytes_format(&b, ",\"type\":\"%s\",\"param\":null,\"code\":%s%s%s}}", type, code ? "\"" : "", code ? code : "null",
                 code ? "\"" : "");
    if (status == 503 || status == 429) exchange_extra(e, "retry-after", "1");
    exchange_send(e, status, "application/json", b.data, b.size);
    bytes_free(&b);
}

void openai_fail(Exchange *e, int status, const char *text)
{
    const char *type = status < 500 ? "invalid_request_error" : "server_error", *code = NULL;
    for (int i = 0; i < SERVE_COUNT(errors); i++)
        if (errors[i].status == status) type = errors[i].type, code = errors[i].code;
    if (e->code) code = e->code;
    error_send(e, status, type, code, text);
}

void openai_lost(Exchange *e, int status)
{
    char text[400];
    snprintf(
        text, sizeof text,
        status == 405
            ? "%.200s cannot be asked for by %s"
            : "there is nothing at %.200s: texts are made at /v1/chat/completions, /v1/responses and /v1/completions",
        e->path, e->method);
    snprintf(e->note, sizeof e->note, "%.250s", text);
    error_send(e, status, "invalid_request_error", status == 405 ? "method_not_supported" : "unknown_url", text);
}

json_t *openai_body(Exchange *e)
{
    json_error_t error;
    json_t      *body = json_loadb(e->body.data ? e->body.data : "", e->body.size, JSON_REJECT_DUPLICATES, &error);
    if (!body)
        exchange_fail(e, 400, "the request is no JSON: %s, at byte %d", error.text, error.position);
    else if (!json_is_object(body))
        exchange_fail(e, 400, "the request is no JSON object"), json_decref(body), body = NULL;
    return body;
}

const Refusal *openai_refused(const json_t *body, const Refusal *rows, int count)
{
    for (int i = 0; i < count; i++) {
        json_t *value  = json_object_get(body, rows[i].name),
               *unless = json_loads(rows[i].unless, JSON_DECODE_ANY, NULL);
        bool is        = !value || json_is_null(value) || json_equal(value, unless);
        json_decref(unless);
        if (!is) return &rows[i];
    }
    return NULL;
}

Model *openai_model(Exchange *e, const char *name, bool (*can)(const Model *), const char *what)
{
    int    status;
    char   why[600];
    Model *m = name ? repository_take(e->server->repository, name, NULL, &status, why, sizeof why)
                    : repository_only(e->server->repository, can);
    if (!m && name) return exchange_fail(e, status, "%s", why), NULL;
    if (!m) return exchange_fail(e, 400, "say which model: there is not exactly one that %s", what), NULL;
    snprintf(e->model, sizeof e->model, "%s", m->name);
    if (can(m)) return m;
    exchange_fail(e, 400, "the model '%.100s' is not one that %s", m->name, what);
    model_release(m);
    return NULL;
}

void openai_send(Exchange *e, json_t *answer)
{
    char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    if (text)
        exchange_send(e, 200, "application/json", text, strlen(text));
    else
        exchange_fail(e, 500, "the answer could not be written");
    free(text);
    json_decref(answer);
}

// ---- models

typedef struct ModelList {
    json_t     *list;
    const char *only, *last;
} ModelList;

static void add_model(void *state, const Listed *l)
{
    ModelList *m = state;
    if (!l->model || (m->only && strcmp(m->only, l->name)) || (m->last && !strcmp(m->last, l->name))) return;
    json_array_append_new(m->list, json_pack("{s:s, s:s, s:I, s:s}", "id", l->name, "object", "model", "created",
                                             (json_int_t)(unix_nano() / 1000000000u), "owned_by", "hologram"));
    m->last = json_string_value(json_object_get(json_array_get(m->list, json_array_size(m->list) - 1), "id"));
}

static void models(Exchange *e)
{
    ModelList m = {json_array(), e->param[0], NULL};
    repository_list(e->server->repository, add_model, &m);
    if (!e->param[0]) return openai_send(e, json_pack("{s:s, s:o}", "object", "list", "data", m.list));
    json_t *one = json_incref(json_array_get(m.list, 0));
    json_decref(m.list);
    if (one)
        openai_send(e, one);
    else
        exchange_fail(e, 404, "there is no model '%.100s'", e->param[0]);
}

#define OPENAI .protocol = "openai", .fail = openai_fail
const Route routes_openai[] = {
    {"GET", "/v1/models", models, ROUTE_KEY, OPENAI},
    {"GET", "/v1/models/*", models, ROUTE_KEY, OPENAI},
    {"POST", "/v1/completions", openai_completions, ROUTE_KEY, OPENAI},
    {"POST", "/v1/chat/completions", openai_chat, ROUTE_KEY, OPENAI},
    {"POST", "/v1/responses", openai_responses, ROUTE_KEY, OPENAI},
    {"POST", "/v1/embeddings", openai_embeddings, ROUTE_KEY, OPENAI},
    {"POST", "/v1/images/generations", openai_images, ROUTE_KEY, OPENAI},
    {"POST", "/v1/audio/transcriptions", openai_transcriptions, ROUTE_KEY, OPENAI},
    {"POST", "/v1/audio/translations", openai_translations, ROUTE_KEY, OPENAI},
    {0},
};
