// web_json.c - writes JSON.
#include "web.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(Json *json, const char *bytes, size_t size)
{
    if (json->size + size + 1 > json->room) {
        size_t room = (json->size + size + 1) * 2;
        char  *more = json->is_cut ? NULL : realloc(json->data, room);
        if (!more) {
            json->is_cut = true;
            return;
        }
        json->data = more;
        json->room = room;
    }
    memcpy(json->data + json->size, bytes, size);
    json->size += size;
}

static void comma(Json *json)
{
    if (!json->is_first && json->size) put(json, ",", 1);
    json->is_first = false;
}

void write_open(Json *json, char bracket)
{
    comma(json);
    put(json, &bracket, 1);
    json->is_first = true;
}

void write_close(Json *json, char bracket)
{
    put(json, &bracket, 1);
    json->is_first = false;
}

void write_key(Json *json, const char *name)
{
    write_string(json, name);
    put(json, ":", 1);
    json->is_first = true;
}

void write_text(Json *json, const char *text, size_t size)
{
    comma(json);
    put(json, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        char          escaped[8];
        if (c >= 0x20 && c != '"' && c != '\\') {
            put(json, text + i, 1);
            continue;
        }
        snprintf(escaped, sizeof escaped, "\\u%04x", c);
        put(json, escaped, 6);
    }
    put(json, "\"", 1);
}

void write_string(Json *json, const char *text)
{
    if (text) {
        write_text(json, text, strlen(text));
        return;
    }
    comma(json);
    put(json, "null", 4);
}

void write_number(Json *json, double number)
{
    char text[32];
    comma(json);
    if (number == floor(number) && fabs(number) < 0x1p53)
        snprintf(text, sizeof text, "%lld", (long long)number);
    else
        snprintf(text, sizeof text, isfinite(number) ? "%.17g" : "null", number);
    put(json, text, strlen(text));
}

void write_bool(Json *json, bool value)
{
    comma(json);
    put(json, value ? "true" : "false", value ? 4 : 5);
}

char *write_end(Json *json)
{
    put(json, "", 1);
    if (!json->is_cut) return json->data;
    free(json->data);
    web_last = (HoloError){.status = HOLO_NO_MEMORY, .text = "out of memory"};
    return NULL;
}

void write_put(Json *json, const char *name, const char *text)
{
    write_key(json, name);
    write_string(json, text);
}

void write_put_number(Json *json, const char *name, double number)
{
    write_key(json, name);
    write_number(json, number);
}

void write_put_bool(Json *json, const char *name, bool value)
{
    write_key(json, name);
    write_bool(json, value);
}
