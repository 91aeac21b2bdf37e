// openai_items.c - requests of /v1/responses: they become requests of /v1/chat/completions, which mean the same.
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const ReplyForm reply_response;

typedef struct Items {
    json_t *asked, *chat, *messages;
    char    why[400];
} Items;

static bool wrong(Items *i, const char *format, ...) SERVE_PRINTF(2, 3);
static bool wrong(Items *i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(i->why, sizeof i->why, format, args);
    va_end(args);
    return false;
}

static json_t *field(const Items *i, const char *name) // NULL: it is not there, or null
{
    json_t *value = json_object_get(i->asked, name);
    return json_is_null(value) ? NULL : value;
}

static const char *text_in(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool is_text(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

// ---- items

// A call that the model made before. Calls in a row are of one message.
static bool add_call(Items *i, const json_t *item)
{
    const char *name = text_in(item, "name"), *arguments = text_in(item, "arguments"), *id = text_in(item, "call_id");
    size_t      count = json_array_size(i->messages);
    json_t     *last  = count ? json_array_get(i->messages, count - 1) : NULL;
    if (!name || !arguments || !id) return wrong(i, "an item function_call must have name, arguments and call_id");
    if (!json_object_get(last, "tool_calls")) {
        last = json_pack("{s:s, s:s, s:[]}", "role", "assistant", "content", "", "tool_calls");
        json_array_append_new(i->messages, last);
    }
    json_t *call = json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name", name,
                             "arguments", arguments);
    return !json_array_append_new(json_object_get(last, "tool_calls"), call) || wrong(i, "out of memory");
}

static bool add_result(Items *i, const json_t *item)
{
    json_t *output = json_object_get(item, "output");
    if (!text_in(item, "call_id") || !(json_is_string(output) || json_is_array(output)))
        return wrong(i, "an item function_call_output must have call_id and output");
    json_array_append_new(i->messages, json_pack("{s:s, s:s, s:O}", "role", "tool", "tool_call_id",
                                                 text_in(item, "call_id"), "content", output));
    return true;
}

// Parts of the content are looked at when it becomes one text.
static bool add_message(Items *i, const json_t *item)
{
    json_t *content = json_object_get(item, "content");
    if (!text_in(item, "role") || !(json_is_string(content) || json_is_array(content)))
        return wrong(i, "a message of the input must have a role and a content");
    json_array_append_new(i->messages, json_pack("{s:s, s:O}", "role", text_in(item, "role"), "content", content));
    return true;
}

static bool add_item(Items *i, const json_t *item)
{
    static const struct {
        const char *type;
        bool (*add)(Items *i, const json_t *item);
    } rows[]         = {{"message", add_message}, {"function_call", add_call}, {"function_call_output", add_result}};
    const char *type = text_in(item, "type");
    if (!json_is_object(item)) return wrong(i, "an item of the input must be an object");
    for (int k = 0; k < SERVE_COUNT(rows); k++)
        if (is_text(type ? type : "message", rows[k].type)) return rows[k].add(i, item);
    return wrong(i, "items of type %.60s are not supported: only message, function_call and function_call_output are",
                 type);
}

static bool read_input(Items *i)
{
    json_t *input = field(i, "input"), *instructions = field(i, "instructions"), *item;
    size_t  k;
    if (instructions && !json_is_string(instructions)) return wrong(i, "instructions must be a text");
    if (instructions)
        json_array_append_new(i->messages, json_pack("{s:s, s:O}", "role", "system", "content", instructions));
    if (json_is_string(input))
        return !json_array_append_new(i->messages, json_pack("{s:s, s:O}", "role", "user", "content", input)) ||
               wrong(i, "the input cannot be read");
    if (!json_array_size(input)) return wrong(i, "input must be a text or a list of items");
    json_array_foreach(input, k, item) if (!add_item(i, item)) return false;
    return true;
}

// ---- the rest

static bool read_tools(Items *i)
{
    static const char *const names[] = {"name", "description", "parameters", "strict"};
    json_t                  *tools = field(i, "tools"), *tool, *list, *choice = field(i, "tool_choice");
    size_t                   k;
    if (json_is_string(choice)) json_object_set(i->chat, "tool_choice", choice);
    if (json_is_object(choice)) {
        if (!is_text(text_in(choice, "type"), "function") || !text_in(choice, "name"))
            return wrong(i, "tool_choice must be auto, none, required or a function with a name");
        json_object_set_new(
            i->chat, "tool_choice",
            json_pack("{s:s, s:{s:s}}", "type", "function", "function", "name", text_in(choice, "name")));
    }
    if (!tools) return true;
    if (!json_is_array(tools)) return wrong(i, "tools must be a list");
    json_object_set_new(i->chat, "tools", list = json_array());
    json_array_foreach(tools, k, tool)
    {
        if (!is_text(text_in(tool, "type"), "function"))
            return wrong(i, "tools of type %.60s are not supported: only function is",
                         text_in(tool, "type") ? text_in(tool, "type") : "(none)");
        json_t *function = json_object();
        for (int n = 0; n < SERVE_COUNT(names); n++)
            if (json_object_get(tool, names[n])) json_object_set(function, names[n], json_object_get(tool, names[n]));
        json_array_append_new(list, json_pack("{s:s, s:o}", "type", "function", "function", function));
    }
    return true;
}

static bool read_text(Items *i)
{
    json_t *text = field(i, "text"), *format = json_object_get(text, "format"),
           *verbosity = json_object_get(text, "verbosity");
    if (text && !json_is_object(text)) return wrong(i, "text must be an object");
    if (verbosity) json_object_set(i->chat, "verbosity", verbosity);
    if (!format || json_is_null(format)) return true;
    if (is_text(text_in(format, "type"), "json_schema")) {
        if (!json_object_get(format, "schema")) return wrong(i, "text.format has no schema");
        format = json_pack("{s:s, s:{s:O}}", "type", "json_schema", "json_schema", "schema",
                           json_object_get(format, "schema"));
        json_object_set_new(i->chat, "response_format", format);
    } else if (is_text(text_in(format, "type"), "text") || is_text(text_in(format, "type"), "json_object")) {
        json_object_set(i->chat, "response_format", format);
    } else {
        return wrong(i, "text.format.type must be text, json_object or json_schema");
    }
    return true;
}

static bool read_include(Items *i)
{
    json_t *include = field(i, "include"), *one, *top = field(i, "top_logprobs");
    size_t  k;
    bool    is = json_integer_value(top) > 0;
    json_array_foreach(include, k, one)
    {
        const char *name = json_string_value(one);
        if (is_text(name, "message.output_text.logprobs"))
            is = true;
        else if (!is_text(name, "reasoning.encrypted_content")) // nothing is encrypted, so there is none
            return wrong(i, "include: %.60s is not supported", name ? name : "what is no text");
    }
    if (is) json_object_set_new(i->chat, "logprobs", json_true());
    if (is && top) json_object_set(i->chat, "top_logprobs", top);
    return true;
}

static bool read_rest(Items *i)
{
    static const char *const same[]    = {"model",
                                          "stream",
                                          "temperature",
                                          "top_p",
                                          "max_output_tokens",
                                          "top_k",
                                          "min_p",
                                          "seed",
                                          "stop",
                                          "ignore_eos",
                                          "presence_penalty",
                                          "frequency_penalty",
                                          "repetition_penalty",
                                          "logit_bias",
                                          "grammar",
                                          "regex",
                                          "chat_template_kwargs",
                                          "parallel_tool_calls",
                                          "store"};
    static const Refusal     refused[] = {
            {"previous_response_id", "null", ": nothing is kept, so send the items of the conversation"},
            {"conversation", "null", ": nothing is kept, so send the items of the conversation"},
            {"background", "false", ""},
            {"prompt", "null", ": send instructions and input"},
            {"max_tool_calls", "null", ""},
            {"truncation", "\"disabled\"", ": make the input shorter"}};
    json_t        *effort = json_object_get(field(i, "reasoning"), "effort");
    const Refusal *r      = openai_refused(i->asked, refused, SERVE_COUNT(refused));
    if (r) return wrong(i, "%s is not supported%s", r->name, r->advice);
    for (int k = 0; k < SERVE_COUNT(same); k++)
        if (field(i, same[k])) json_object_set(i->chat, same[k], field(i, same[k]));
    if (effort) json_object_set(i->chat, "reasoning_effort", effort);
    return true;
}

void openai_responses(Exchange *e)
{
    Items i = {.asked = openai_body(e)};
    if (!i.asked) return;
    i.chat     = json_object();
    i.messages = json_array();
    if (!read_input(&i) || !read_tools(&i) || !read_text(&i) || !read_include(&i) || !read_rest(&i)) {
        exchange_fail(e, 400, "%s", i.why);
        json_decref(i.chat);
        json_decref(i.asked);
        return json_decref(i.messages);
    }
    json_object_set_new(i.chat, "messages", i.messages);
    openai_answer(e, i.chat, &reply_response, i.asked);
}
