// openai_tools.c - calls of tools: the form that they must have, and finding them in what a model wrote.
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static json_t *call_schema(json_t *function)
{
    json_t *parameters = json_object_get(function, "parameters");
    json_t *arguments  = json_is_object(parameters) ? json_incref(parameters) : json_pack("{s:s}", "type", "object");
    return json_pack("{s:s, s:{s:{s:O}, s:o}, s:[s, s], s:b}", "type", "object", "properties", "name", "const",
                     json_object_get(function, "name"), "arguments", arguments, "required", "name", "arguments",
                     "additionalProperties", 0);
}

char *tools_schema(json_t *tools, const char *only, const char **out_why)
{
    json_t *any = json_array(), *tool;
    size_t  i;
    *out_why = "they must be a list of functions with names";
    json_array_foreach(tools, i, tool)
    {
        json_t     *function = json_object_get(tool, "function");
        const char *name     = json_string_value(json_object_get(function, "name"));
        if (!name) return json_decref(any), NULL;
        if (!only || !strcmp(only, name)) json_array_append_new(any, call_schema(function));
    }
    if (!json_array_size(any)) return json_decref(any), *out_why = "none has the name that tool_choice asks for", NULL;
    json_t *schema = json_array_size(any) == 1 ? json_incref(json_array_get(any, 0)) : json_pack("{s:O}", "anyOf", any);
    char   *text   = json_dumps(schema, JSON_COMPACT);
    json_decref(schema);
    json_decref(any);
    return text;
}

static bool is_tool(const Reply *r, const char *name)
{
    json_t *tool;
    size_t  i;
    json_array_foreach(r->tools, i, tool)
    {
        const char *known = json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
        if (known && name && !strcmp(known, name)) return true;
    }
    return false;
}

// One call, if the text is one: {"name": ..., "arguments": {...}}; some models say "parameters".
static bool add_call(const Reply *r, json_t *calls, const char *text, size_t size)
{
    json_t     *call      = json_loadb(text, size, 0, NULL);
    const char *name      = json_string_value(json_object_get(call, "name"));
    json_t     *arguments = json_object_get(call, "arguments");
    char        id[32];
    uint64_t    number = 0;
    if (!arguments) arguments = json_object_get(call, "parameters");
    bool  is = is_tool(r, name) && (json_is_object(arguments) || json_is_string(arguments));
    char *dumped =
        is ? json_is_string(arguments) ? take_text(json_string_value(arguments)) : json_dumps(arguments, JSON_COMPACT)
           : NULL;
    if (getrandom(&number, sizeof number, 0) < 0) number = unix_nano();
    snprintf(id, sizeof id, "call_%016llx", (unsigned long long)number);
    if (dumped)
        json_array_append_new(calls, json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function",
                                               "name", name, "arguments", dumped));
    free(dumped);
    json_decref(call);
    return is;
}

json_t *tool_calls_find(const Reply *r, const char *text, size_t size)
{
    static const char begin[] = "<tool_call>", end[] = "</tool_call>";
    json_t           *calls = json_array();
    const char       *p = text, *last = text + size;
    if (!r->may_call || !size) return json_decref(calls), NULL;
    while (p < last && (p = memmem(p, (size_t)(last - p), begin, sizeof begin - 1))) {
        p += sizeof begin - 1;
        const char *close = memmem(p, (size_t)(last - p), end, sizeof end - 1);
        add_call(r, calls, p, (size_t)((close ? close : last) - p));
        p = close ? close : last;
    }
    if (!json_array_size(calls)) add_call(r, calls, text, size);
    while (r->calls_once && json_array_size(calls) > 1) json_array_remove(calls, json_array_size(calls) - 1);
    if (json_array_size(calls)) return calls;
    json_decref(calls);
    return NULL;
}
