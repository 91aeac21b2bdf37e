// openai_response.c - answers of /v1/responses: a list of items, whole or as events.
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a response has besides what it is about. Values that the request names replace these.
static const char echoed[] =
    "{\"instructions\":null,\"max_output_tokens\":null,\"metadata\":{},"
    "\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,"
    "\"summary\":null},\"temperature\":null,\"text\":{\"format\":{\"type\":\"text\"}},"
    "\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":null,\"top_logprobs\":0,"
    "\"truncation\":\"disabled\",\"user\":null}";

// ---- objects

// Bytes that are no UTF-8 are replaced.
static json_t *text_value(const char *text, size_t size)
{
    Bytes b = {0};
    bytes_json(&b, text ? text : "", size);
    json_t *value = json_loadb(b.data ? b.data : "\"\"", b.data ? b.size : 2, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bytes_free(&b);
    return value;
}

static json_t *logprobs_value(const Bytes *entries)
{
    Bytes b = {0};
    bytes_add_text(&b, "[");
    if (entries && entries->size) bytes_add(&b, entries->data, entries->size);
    bytes_add_text(&b, "]");
    json_t *list = json_loadb(b.data, b.size, JSON_ALLOW_NUL, NULL);
    bytes_free(&b);
    return list ? list : json_array();
}

static json_t *usage_value(const Reply *r)
{
    return json_pack("{s:I, s:{s:I}, s:I, s:{s:I}, s:I}", "input_tokens", (json_int_t)r->prompt_tokens,
                     "input_tokens_details", "cached_tokens", (json_int_t)r->cached_tokens, "output_tokens",
                     (json_int_t)r->tokens, "output_tokens_details", "reasoning_tokens", (json_int_t)0, "total_tokens",
                     (json_int_t)(r->prompt_tokens + r->tokens));
}

static const char *status_of(const Choice *c)
{
    return c->finish && !strcmp(c->finish, "length") ? "incomplete" : "completed";
}

static json_t *response_value(const Reply *r, const char *status, const char *error)
{
    bool    has_ended = !strcmp(status, "completed") || !strcmp(status, "incomplete");
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:s, s:n, s:n, s:s, s:O, s:b, s:o}", "id", r->id, "object", "response", "created_at",
                  (json_int_t)r->created, "status", status, "error", "incomplete_details", "model", r->model, "output",
                  r->output, "store", 0, "usage", has_ended ? usage_value(r) : json_null());
    json_t     *more = json_loads(echoed, 0, NULL), *value;
    const char *key;
    json_object_foreach(more, key, value)
    {
        json_t *asked = json_object_get(r->asked, key);
        json_object_set(o, key, asked && !json_is_null(asked) ? asked : value);
    }
    json_decref(more);
    if (!strcmp(status, "incomplete"))
        json_object_set_new(o, "incomplete_details", json_pack("{s:s}", "reason", "max_output_tokens"));
    if (error)
        json_object_set_new(
            o, "error", json_pack("{s:s, s:o}", "code", "server_error", "message", text_value(error, strlen(error))));
    return o;
}

static json_t *part_value(const Choice *c, bool has_text)
{
    return json_pack("{s:s, s:o, s:[], s:o}", "type", "output_text", "text",
                     text_value(c->text.data, has_text ? c->text.size : 0), "annotations", "logprobs",
                     logprobs_value(has_text ? &c->logprobs : NULL));
}

// Ids of items are that of their response, with another beginning.
static void item_id(const Reply *r, const char *begin, size_t index, char *out, size_t room)
{
    snprintf(out, room, "%s%s%zu", begin, r->id + strlen(r->form->ids), index);
}

static json_t *message_value(const Choice *c, const char *status, json_t *content)
{
    char id[64];
    item_id(c->reply, "msg_", 0, id, sizeof id);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "id", id, "type", "message", "status", status, "role", "assistant",
                     "content", content);
}

static json_t *call_value(const Reply *r, json_t *call, size_t index, const char *status, bool has_arguments)
{
    char    id[64];
    json_t *function = json_object_get(call, "function");
    item_id(r, "fc_", index, id, sizeof id);
    return json_pack("{s:s, s:s, s:s, s:O, s:O, s:s}", "id", id, "type", "function_call", "status", status, "call_id",
                     json_object_get(call, "id"), "name", json_object_get(function, "name"), "arguments",
                     has_arguments ? json_string_value(json_object_get(function, "arguments")) : "");
}

// ---- events

static void send_event(Reply *r, const char *type, json_t *data)
{
    json_object_set_new(data, "type", json_string(type));
    json_object_set_new(data, "sequence_number", json_integer(r->sequence++));
    char *text = json_dumps(data, JSON_COMPACT);
    if (text) reply_event(r, type, text, strlen(text));
    free(text);
    json_decref(data);
}

static void begin(Reply *r)
{
    if (r->output) return;
    r->output = json_array();
    send_event(r, "response.created", json_pack("{s:o}", "response", response_value(r, "in_progress", NULL)));
    send_event(r, "response.in_progress", json_pack("{s:o}", "response", response_value(r, "in_progress", NULL)));
}

static json_t *place_in(const Reply *r)
{
    char id[64];
    item_id(r, "msg_", 0, id, sizeof id);
    return json_pack("{s:s, s:i, s:i}", "item_id", id, "output_index", 0, "content_index", 0);
}

static void with(Reply *r, const char *type, json_t *place, const char *name, json_t *value)
{
    json_object_set_new(place, name, value);
    send_event(r, type, place);
}

static void message_begin(Choice *c)
{
    Reply *r = c->reply;
    begin(r);
    if (r->has_message) return;
    r->has_message = true;
    send_event(r, "response.output_item.added",
               json_pack("{s:i, s:o}", "output_index", 0, "item", message_value(c, "in_progress", json_array())));
    with(r, "response.content_part.added", place_in(r), "part", part_value(c, false));
}

static void chunk(Choice *c, const char *text, size_t size, const Bytes *logprobs)
{
    json_t *place;
    message_begin(c);
    place = place_in(c->reply);
    json_object_set_new(place, "logprobs", logprobs_value(logprobs));
    with(c->reply, "response.output_text.delta", place, "delta", text_value(text, size));
}

static void message_end(Choice *c)
{
    Reply  *r    = c->reply;
    json_t *item = message_value(c, status_of(c), json_pack("[o]", part_value(c, true))), *place = place_in(r);
    json_object_set_new(place, "logprobs", logprobs_value(&c->logprobs));
    with(r, "response.output_text.done", place, "text", text_value(c->text.data, c->text.size));
    with(r, "response.content_part.done", place_in(r), "part", part_value(c, true));
    json_array_append(r->output, item);
    send_event(r, "response.output_item.done", json_pack("{s:i, s:o}", "output_index", 0, "item", item));
}

static void call_send(Reply *r, json_t *call)
{
    size_t  index = json_array_size(r->output);
    json_t *item = call_value(r, call, index, "completed", true), *arguments = json_object_get(item, "arguments");
    json_t *id = json_object_get(item, "id");
    send_event(
        r, "response.output_item.added",
        json_pack("{s:i, s:o}", "output_index", (int)index, "item", call_value(r, call, index, "in_progress", false)));
    send_event(r, "response.function_call_arguments.delta",
               json_pack("{s:O, s:i, s:O}", "item_id", id, "output_index", (int)index, "delta", arguments));
    send_event(r, "response.function_call_arguments.done",
               json_pack("{s:O, s:i, s:O, s:O}", "item_id", id, "output_index", (int)index, "name",
                         json_object_get(item, "name"), "arguments", arguments));
    json_array_append(r->output, item);
    send_event(r, "response.output_item.done", json_pack("{s:i, s:o}", "output_index", (int)index, "item", item));
}

static void last(Choice *c)
{
    Reply  *r     = c->reply;
    json_t *calls = tool_calls_find(r, c->text.data, c->text.size), *call;
    size_t  i;
    begin(r);
    if (!calls && c->text.size > c->sent)
        chunk(c, c->text.data + c->sent, c->text.size - c->sent, NULL);
    else if (!calls)
        message_begin(c);
    if (r->has_message) message_end(c);
    json_array_foreach(calls, i, call) call_send(r, call);
    json_decref(calls);
}

static void end(Reply *r)
{
    const char *status = status_of(&r->choice[0]);
    char        type[40];
    snprintf(type, sizeof type, "response.%s", status);
    send_event(r, type, json_pack("{s:o}", "response", response_value(r, status, NULL)));
    exchange_end(r->exchange, NULL, 0);
}

static void failed(Reply *r, const char *text)
{
    begin(r);
    send_event(r, "response.failed", json_pack("{s:o}", "response", response_value(r, "failed", text)));
}

// ---- all at once

static void whole(Reply *r)
{
    Choice *c     = &r->choice[0];
    json_t *calls = tool_calls_find(r, c->text.data, c->text.size), *call;
    size_t  i;
    r->output = json_array();
    if (!calls) json_array_append_new(r->output, message_value(c, status_of(c), json_pack("[o]", part_value(c, true))));
    json_array_foreach(calls, i, call) json_array_append_new(r->output, call_value(r, call, i, "completed", true));
    json_decref(calls);
    openai_send(r->exchange, response_value(r, status_of(c), NULL));
}

const ReplyForm reply_response = {"resp_", true, chunk, last, end, whole, failed};
