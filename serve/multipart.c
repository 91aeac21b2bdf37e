// multipart.c - reads forms. See multipart.h.
#include "multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// What stands behind KEY= in a header, with quotes or without.
static bool parameter(const char *text, const char *end, const char *key, char *out, size_t room)
{
    size_t size = strlen(key);
    for (const char *p = text; p + size < end; p++) {
        if (strncasecmp(p, key, size) || (p > text && p[-1] != ' ' && p[-1] != ';' && p[-1] != '\t')) continue;
        p += size;
        bool   is_quoted = *p == '"';
        size_t n         = 0;
        if (is_quoted) p++;
        while (p < end && (is_quoted ? *p != '"' : *p != ';' && *p != ' ') && *p != '\r' && *p != '\n') {
            if (n + 1 >= room) return false;
            out[n++] = *p++;
        }
        out[n] = 0;
        return n > 0;
    }
    return false;
}

// The headers of a part, up to an empty line; NULL: they do not end.
static const char *part_head(const char *p, const char *end, FormField *out)
{
    *out->name = 0;
    for (;;) {
        const char *line = memmem(p, (size_t)(end - p), "\r\n", 2);
        if (!line) return NULL;
        if (line == p) return p + 2;
        if (line - p > 20 && !strncasecmp(p, "content-disposition:", 20))
            (void)parameter(p + 20, line, "name=", out->name, sizeof out->name);
        p = line + 2;
    }
}

bool form_read(const char *type, const char *body, size_t size, Form *out)
{
    char   boundary[80], mark[90];
    size_t length;
    out->count = 0;
    if (!type || strncasecmp(type, "multipart/form-data", 19) ||
        !parameter(type + 19, type + strlen(type), "boundary=", boundary, 71))
        return false;
    length          = (size_t)snprintf(mark, sizeof mark, "\r\n--%s", boundary);
    const char *end = body + size, *p = body;
    if (size < length || memcmp(body, mark + 2, length - 2)) return false;
    p += length - 2;
    while (end - p >= 2 && memcmp(p, "--", 2)) {
        if (memcmp(p, "\r\n", 2) || out->count == MULTIPART_FIELDS) return false;
        FormField *f = &out->field[out->count++];
        p            = part_head(p + 2, end, f);
        if (!p) return false;
        const char *next = memmem(p, (size_t)(end - p), mark, length);
        if (!next) return false;
        f->data = p;
        f->size = (size_t)(next - p);
        p       = next + length;
    }
    return end - p >= 2;
}

const FormField *form_find(const Form *form, const char *name)
{
    for (int i = 0; i < form->count; i++)
        if (!strcmp(form->field[i].name, name)) return &form->field[i];
    return NULL;
}

bool form_text(const Form *form, const char *name, char *out, size_t room)
{
    const FormField *f = form_find(form, name);
    *out               = 0;
    if (!f) return true;
    if (f->size >= room || memchr(f->data, 0, f->size)) return false;
    memcpy(out, f->data, f->size);
    out[f->size] = 0;
    return true;
}
