// openai_text.c - reads requests for texts: /v1/completions and /v1/chat/completions.
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Asked { // what every text of a request shares
    Exchange *e;
    json_t   *body;
    char      why[400];
} Asked;

static bool wrong(Asked *a, const char *format, ...) SERVE_PRINTF(2, 3);
static bool wrong(Asked *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->why, sizeof a->why, format, args);
    va_end(args);
    return false;
}

static json_t *field(const Asked *a, const char *name) // NULL: it is not there, or null
{
    json_t *value = json_object_get(a->body, name);
    return json_is_null(value) ? NULL : value;
}

// ---- settings

static bool read_numbers(Asked *a, Talk *t)
{
    HoloSamplerOptions *s = &t->sampler;
    const struct {
        const char *name;
        double      low, high;
        uint32_t    change;
        float      *real;
        uint32_t   *whole;
    } rows[] = {{"temperature", 0, 2, TALK_TEMPERATURE, &s->temperature, NULL},
                {"top_p", 0, 1, TALK_TOP_P, &s->top_p, NULL},
                {"min_p", 0, 1, TALK_MIN_P, &s->min_p, NULL},
                {"top_k", 0, 1e6, TALK_TOP_K, NULL, &s->top_k},
                {"presence_penalty", -2, 2, TALK_PRESENCE, &s->presence_penalty, NULL},
                {"frequency_penalty", -2, 2, TALK_FREQUENCY, &s->frequency_penalty, NULL},
                {"repetition_penalty", 0.01, 100, TALK_REPETITION, &s->repetition_penalty, NULL},
                {"max_tokens", 1, 1e9, 0, NULL, &t->max_tokens},
                {"max_completion_tokens", 1, 1e9, 0, NULL, &t->max_tokens},
                {"max_output_tokens", 1, 1e9, 0, NULL, &t->max_tokens}};
    for (int i = 0; i < SERVE_COUNT(rows); i++) {
        json_t *value  = field(a, rows[i].name);
        double  number = json_number_value(value);
        if (!value) continue;
        if (!json_is_number(value) || number < rows[i].low || number > rows[i].high ||
            (rows[i].whole && !json_is_integer(value)))
            return wrong(a, "%s must be a %snumber from %g to %g", rows[i].name, rows[i].whole ? "whole " : "",
                         rows[i].low, rows[i].high);
        if (rows[i].real) *rows[i].real = (float)number;
        if (rows[i].whole) *rows[i].whole = (uint32_t)number;
        t->changes |= rows[i].change;
    }
    json_t *seed = field(a, "seed");
    if (seed && !json_is_integer(seed)) return wrong(a, "seed must be a whole number");
    s->seed = seed ? (uint64_t)json_integer_value(seed) : unix_nano();
    return true;
}

static bool read_stops(Asked *a, Talk *t)
{
    json_t *stop  = field(a, "stop");
    size_t  count = json_is_array(stop) ? json_array_size(stop) : stop ? 1 : 0;
    if (count > 16) return wrong(a, "there are more than 16 stop strings");
    t->stops = take((count + 1) * sizeof *t->stops);
    for (size_t i = 0; i < count; i++) {
        json_t *one  = json_is_array(stop) ? json_array_get(stop, i) : stop;
        size_t  size = json_string_length(one);
        if (!json_is_string(one) || !size || size > 4096)
            return wrong(a, "stop must be a string, or several, of 1 to 4096 bytes");
        char *copy = take(size + 1);
        memcpy(copy, json_string_value(one), size);
        t->stops[t->stop_count++] = (HoloString){copy, size};
    }
    return true;
}

static bool read_bias(Asked *a, Talk *t)
{
    json_t     *bias = field(a, "logit_bias"), *value;
    const char *key;
    if (!bias) return true;
    if (!json_is_object(bias) || json_object_size(bias) > 1024)
        return wrong(a, "logit_bias must be an object of at most 1024 tokens");
    t->bias = take((json_object_size(bias) + 1) * sizeof *t->bias);
    json_object_foreach(bias, key, value)
    {
        char         *end;
        unsigned long token = strtoul(key, &end, 10);
        if (!*key || *end || token > UINT32_MAX - 1 || !json_is_number(value))
            return wrong(a, "logit_bias must have ids of tokens and numbers");
        t->bias[t->bias_count++] = (HoloTokenBias){(uint32_t)token, (float)json_number_value(value)};
    }
    return true;
}

// ---- what the text must look like

static bool read_format(Asked *a, Talk *t)
{
    static const struct {
        const char       *name;
        HoloGrammarSource source;
    } direct[]         = {{"grammar", HOLO_GRAMMAR_GBNF}, {"regex", HOLO_GRAMMAR_REGEX}};
    json_t     *format = field(a, "response_format"), *schema = NULL;
    const char *type = json_string_value(json_object_get(format, "type"));
    for (int i = 0; i < SERVE_COUNT(direct); i++) {
        json_t *text = field(a, direct[i].name);
        if (!text) continue;
        if (!json_is_string(text) || t->grammar) return wrong(a, "%s must be a string, and alone", direct[i].name);
        t->grammar        = take_text(json_string_value(text));
        t->grammar_source = direct[i].source;
    }
    if (!format || (type && !strcmp(type, "text"))) return true;
    if (t->grammar) return wrong(a, "response_format cannot be given with grammar or regex");
    if (type && !strcmp(type, "json_object")) {
        t->grammar = take_text("{\"type\":\"object\"}");
    } else if (type && !strcmp(type, "json_schema")) {
        json_t *outer = json_object_get(format, "json_schema");
        schema        = json_object_get(outer, "schema");
        if (!schema) return wrong(a, "response_format.json_schema has no schema");
        t->grammar = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!t->grammar) return wrong(a, "response_format.json_schema.schema cannot be read");
    } else {
        return wrong(a, "response_format.type must be text, json_object or json_schema");
    }
    t->grammar_source = HOLO_GRAMMAR_JSON_SCHEMA;
    return true;
}

static bool read_tools(Asked *a, Reply *r, Talk *t)
{
    json_t     *tools = field(a, "tools"), *choice = field(a, "tool_choice");
    const char *word = json_string_value(choice), *why = NULL;
    const char *only = json_string_value(json_object_get(json_object_get(choice, "function"), "name"));
    if (!tools || !json_array_size(tools))
        return choice && word && !strcmp(word, "required") ? wrong(a, "tool_choice is required, but there are no tools")
                                                           : true;
    if (choice && !only && (!word || (strcmp(word, "auto") && strcmp(word, "none") && strcmp(word, "required"))))
        return wrong(a, "tool_choice must be auto, none, required or a function");
    if (!r->tools) r->tools = json_incref(tools);
    r->calls_once = json_is_false(field(a, "parallel_tool_calls"));
    r->may_call   = !word || strcmp(word, "none") != 0;
    r->must_call  = only || (word && !strcmp(word, "required"));
    char *schema  = tools_schema(tools, only, &why);
    if (!schema) return wrong(a, "tools: %s", why);
    if (!r->must_call) return free(schema), true;
    if (t->grammar) return free(schema), wrong(a, "a tool must be called, so the text cannot have another form");
    t->grammar        = schema;
    t->grammar_source = HOLO_GRAMMAR_JSON_SCHEMA;
    return true;
}

static bool read_logprobs(Asked *a, Reply *r, Talk *t)
{
    json_t *value = field(a, "logprobs"), *top = field(a, "top_logprobs");
    if (r->is_chat) {
        if (value && !json_is_boolean(value)) return wrong(a, "logprobs must be true or false");
        r->logprobs = json_is_true(value);
        if (top &&
            (!json_is_integer(top) || json_integer_value(top) < 0 || json_integer_value(top) > 20 || !r->logprobs))
            return wrong(a, "top_logprobs must be a whole number from 0 to 20, with logprobs");
        r->top = (uint32_t)json_integer_value(top);
    } else if (value) {
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 20)
            return wrong(a, "logprobs must be a whole number from 0 to 20");
        r->logprobs = true;
        r->top      = (uint32_t)json_integer_value(value);
    }
    t->sampler.logprobs = r->logprobs;
    t->sampler.best     = r->top;
    return true;
}

// What would change the answer, but is not there. What is a label alone (user, metadata, service_tier ...) is taken and not used.
static bool refuse_others(Asked *a)
{
    static const Refusal rows[] = {
        {"suffix", "\"\"", ""},
        {"best_of", "1", ": ask for n"},
        {"echo", "false", ""},
        {"functions", "[]", ": it was replaced by tools"},
        {"function_call", "\"none\"", ": it was replaced by tool_choice"},
        {"audio", "null", ""},
        {"modalities", "[\"text\"]", ""},
        {"prediction", "null", ""},
        {"store", "false", ": nothing is kept"},
        {"web_search_options", "null", ""},
        {"verbosity", "\"medium\"", ""},
        {"reasoning_effort", "\"none\"", ": what the chat template knows is set by chat_template_kwargs"}};
    const Refusal *r = openai_refused(a->body, rows, SERVE_COUNT(rows));
    return !r || wrong(a, "%s is not supported%s", r->name, r->advice);
}

static bool read_flags(Asked *a, Reply *r, Talk *t)
{
    static const char *const flags[] = {"stream", "ignore_eos", "parallel_tool_calls"};
    json_t                  *options = field(a, "stream_options");
    for (int i = 0; i < SERVE_COUNT(flags); i++)
        if (field(a, flags[i]) && !json_is_boolean(field(a, flags[i])))
            return wrong(a, "%s must be true or false", flags[i]);
    r->streams     = json_is_true(field(a, "stream"));
    r->wants_usage = json_is_true(json_object_get(options, "include_usage"));
    t->keep_ends   = json_is_true(field(a, "ignore_eos"));
    return !options || (json_is_object(options) && r->streams) ||
           wrong(a, "stream_options must be an object, and is for streams alone");
}

static bool read_settings(Asked *a, Reply *r, Talk *t)
{
    if (!refuse_others(a) || !read_flags(a, r, t)) return false;
    return read_numbers(a, t) && read_stops(a, t) && read_bias(a, t) && read_format(a, t) && read_tools(a, r, t) &&
           read_logprobs(a, r, t);
}

// ---- prompts

static bool is_ids(const json_t *list)
{
    return json_is_array(list) && json_is_integer(json_array_get(list, 0));
}

static bool read_prompt(Asked *a, Talk *t, const json_t *prompt)
{
    if (json_is_string(prompt)) {
        t->prompt_size = json_string_length(prompt);
        t->prompt      = take(t->prompt_size + 1);
        memcpy(t->prompt, json_string_value(prompt), t->prompt_size);
        return true;
    }
    if (!is_ids(prompt)) return wrong(a, "a prompt must be a string or a list of ids");
    t->ids = take((json_array_size(prompt) + 1) * sizeof *t->ids);
    for (size_t i = 0; i < json_array_size(prompt); i++) {
        json_int_t id = json_integer_value(json_array_get(prompt, i));
        if (!json_is_integer(json_array_get(prompt, i)) || id < 0 || id >= UINT32_MAX)
            return wrong(a, "an id of the prompt is none");
        t->ids[t->id_count++] = (uint32_t)id;
    }
    return true;
}

// Parts of a message that are texts become one text: templates of most models know nothing else.
static bool flatten(Asked *a, json_t *message)
{
    json_t *content = json_object_get(message, "content");
    Bytes   b       = {0};
    if (!json_is_object(message) || !json_is_string(json_object_get(message, "role")))
        return wrong(a, "a message must be an object with a role");
    // Templates know the older name.
    if (!strcmp(json_string_value(json_object_get(message, "role")), "developer"))
        json_object_set_new(message, "role", json_string("system"));
    if (json_is_null(content) || !content)
        return !json_object_set_new(message, "content", json_string("")) || wrong(a, "out of memory");
    if (json_is_string(content)) return true;
    for (size_t i = 0; i < json_array_size(content); i++) {
        json_t *part = json_array_get(content, i), *text = json_object_get(part, "text");
        if (!json_is_string(text))
            return bytes_free(&b), wrong(a, "parts of a message must be texts: pictures and sounds are not supported");
        bytes_add(&b, json_string_value(text), json_string_length(text));
    }
    bool is =
        json_is_array(content) && !json_object_set_new(message, "content", json_stringn(b.data ? b.data : "", b.size));
    bytes_free(&b);
    return is || wrong(a, "the content of a message must be a text");
}

// Templates want the arguments of calls as objects; clients send them as text.
static void open_arguments(json_t *message)
{
    json_t *calls = json_object_get(message, "tool_calls"), *call;
    size_t  i;
    json_array_foreach(calls, i, call)
    {
        json_t *function = json_object_get(call, "function"), *text = json_object_get(function, "arguments");
        json_t *object = json_is_string(text) ? json_loads(json_string_value(text), 0, NULL) : NULL;
        if (object) json_object_set_new(function, "arguments", object);
    }
}

static bool read_messages(Asked *a, const Reply *r, Talk *t)
{
    json_t *messages = field(a, "messages"), *message;
    size_t  i;
    if (!json_is_array(messages) || !json_array_size(messages))
        return wrong(a, "messages must be a list with at least one message");
    json_array_foreach(messages, i, message)
    {
        if (!flatten(a, message)) return false;
        open_arguments(message);
    }
    json_t *context = json_pack("{s:O, s:b}", "messages", messages, "add_generation_prompt", 1),
           *extra   = field(a, "chat_template_kwargs");
    if (r->tools && r->may_call) json_object_set(context, "tools", r->tools);
    if (json_is_object(extra)) json_object_update_missing(context, extra);
    t->context = context ? json_dumps(context, JSON_COMPACT) : NULL;
    json_decref(context);
    return t->context || wrong(a, "messages cannot be read");
}

static bool is_language(const Model *m)
{
    return m->is_language;
}

static bool choices_make(Asked *a, Reply *r, Model *m, const json_t *prompts, size_t prompt_count, size_t each)
{
    for (int i = 0; i < r->count; i++) {
        Talk *t            = talk_create(a->e, model_hold(m));
        r->choice[i].talk  = t;
        r->choice[i].index = i;
        r->choice[i].reply = r;
        t->state           = &r->choice[i];
        if (!read_settings(a, r, t)) return false;
        t->sampler.seed += (uint64_t)i % each; // answers to one prompt differ
        r->choice[i].counts_prompt = (size_t)i % each == 0;
        const json_t *prompt       = prompt_count ? json_array_get(prompts, (size_t)i / each) : prompts;
        if (r->is_chat ? !read_messages(a, r, t) : !read_prompt(a, t, prompt)) return false;
    }
    return true;
}

void openai_answer(Exchange *e, json_t *body, const ReplyForm *form, json_t *asked)
{
    Asked  a       = {.e = e, .body = body};
    Reply *r       = NULL;
    bool   is_chat = form->is_chat;
    if (field(&a, "model") && !json_is_string(field(&a, "model")))
        return exchange_fail(e, 400, "model must be a name"), json_decref(body), json_decref(asked);
    Model  *m       = openai_model(e, json_string_value(field(&a, "model")), is_language, "continues texts");
    json_t *prompts = is_chat ? NULL : field(&a, "prompt"), *n = field(&a, "n");
    size_t  list = !is_chat && json_is_array(prompts) && !is_ids(prompts) ? json_array_size(prompts) : 0;
    size_t  each = n ? (size_t)json_integer_value(n) : 1, count = (list ? list : 1) * each;
    bool    is = true;
    if (!m) return json_decref(a.body), json_decref(asked);
    if ((n && !json_is_integer(n)) || each < 1 || each > OPENAI_CHOICES || count > OPENAI_CHOICES)
        is = wrong(&a, "n times the number of prompts must be from 1 to %d", OPENAI_CHOICES);
    else if (!is_chat && !prompts)
        is = wrong(&a, "there is no prompt");
    if (is) r = reply_create(e, m, (int)count, form), r->asked = json_incref(asked);
    if (is) is = choices_make(&a, r, m, prompts, list, each);
    if (is)
        reply_start(r);
    else if (r)
        reply_drop(r);
    if (!is) exchange_fail(e, 400, "%s", a.why);
    json_decref(a.body);
    json_decref(asked);
    model_release(m);
}

void openai_completions(Exchange *e)
{
    json_t *body = openai_body(e);
    if (body) openai_answer(e, body, &reply_text, NULL);
}

void openai_chat(Exchange *e)
{
    json_t *body = openai_body(e);
    if (body) openai_answer(e, body, &reply_chat, NULL);
}
