// xml.c - a small reader of XML. See xml.h.
#include "import/wire/xml.h"

#include <stdlib.h>
#include <string.h>

typedef struct Xml {
    HoloArena  *arena;
    HoloError  *error;
    const char *begin, *at, *end;
    HoloStatus  status;
} Xml;

static void *wrong(Xml *r, const char *what)
{
    long line = 1;
    for (const char *c = r->begin; c < r->at && c < r->end; c++) line += *c == '\n';
    if (!r->status) r->status = holo_fail(r->error, HOLO_BAD_MODEL, "line %ld: the XML is damaged: %s", line, what);
    return NULL;
}

static void *no_memory(Xml *r)
{
    if (!r->status) r->status = holo_fail_memory(r->error);
    return NULL;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static bool begins(const Xml *r, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(r->end - r->at) >= size && !memcmp(r->at, word, size);
}

static void skip_space(Xml *r)
{
    while (r->at < r->end && is_space(*r->at)) r->at++;
}

// Moves behind the end of something, "-->".
static void skip_to(Xml *r, const char *end)
{
    while (r->at < r->end && !begins(r, end)) r->at++;
    if (r->at == r->end)
        wrong(r, "it is cut off");
    else
        r->at += strlen(end);
}

// Space, comments and instructions between elements.
static void skip_misc(Xml *r)
{
    while (!r->status) {
        skip_space(r);
        if (begins(r, "<!--"))
            skip_to(r, "-->");
        else if (begins(r, "<?"))
            skip_to(r, "?>");
        else if (begins(r, "<!DOCTYPE"))
            wrong(r, "it declares a document type, which is not read");
        else
            return;
    }
}

// ---- texts

static char *put_character(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

// &lt; or &#65; at `at`, which is behind the &. What it stands for is never longer than it.
static const char *put_entity(Xml *r, const char *at, const char *end, char **to)
{
    static const struct {
        const char *name;
        char        is;
    } named[]        = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    const char *stop = memchr(at, ';', (size_t)(end - at));
    if (!stop || stop - at > 10) return wrong(r, "an & without its ;");
    for (int i = 0; i < HOLO_COUNT(named); i++)
        if ((size_t)(stop - at) + 1 == strlen(named[i].name) && !memcmp(at, named[i].name, (size_t)(stop - at) + 1)) {
            *(*to)++ = named[i].is;
            return stop + 1;
        }
    if (at == stop || *at != '#') return wrong(r, "an entity that is not known");
    bool          is_hex = at[1] == 'x';
    char         *after;
    unsigned long code = strtoul(at + 1 + is_hex, &after, is_hex ? 16 : 10);
    if (after != stop || !code || code > 0x10FFFF || code < 9) return wrong(r, "a character that there is none of");
    *to = put_character(*to, code);
    return stop + 1;
}

// The text with entities resolved, in the arena.
static char *text_of(Xml *r, const char *at, const char *end)
{
    char *text = holo_arena_take(r->arena, (size_t)(end - at) + 1), *to = text;
    if (!text) return no_memory(r);
    while (at && at < end && !r->status) {
        if (*at == '&')
            at = put_entity(r, at + 1, end, &to);
        else
            *to++ = *at++;
    }
    *to = 0;
    return r->status ? NULL : text;
}

static const char *name_at(Xml *r)
{
    const char *from = r->at;
    while (r->at < r->end && is_name(*r->at)) r->at++;
    if (r->at == from) return wrong(r, "a name is missing");
    char *name = holo_arena_text(r->arena, from, (size_t)(r->at - from));
    return name ? name : no_memory(r);
}

// ---- elements

static void read_attr(Xml *r, HoloXml *x)
{
    HoloXmlAttr attr = {.name = name_at(r)};
    skip_space(r);
    if (!r->status && (r->at == r->end || *r->at++ != '=')) wrong(r, "an attribute without its value");
    skip_space(r);
    char quote = r->at < r->end ? *r->at : 0;
    if (r->status || (quote != '"' && quote != '\'')) return (void)wrong(r, "a value without quotes");
    const char *from = ++r->at;
    while (r->at < r->end && *r->at != quote && *r->at != '<') r->at++;
    if (r->at == r->end || *r->at != quote) return (void)wrong(r, "a value does not end");
    attr.value = text_of(r, from, r->at++);
    if (r->status) return;
    if (!HOLO_GROW(r->arena, x->attr, x->attr_count, x->attr_room)) return (void)no_memory(r);
    x->attr[x->attr_count++] = attr;
}

static void add_text(Xml *r, HoloXml *x, const char *text)
{
    if (!r->status && !text) no_memory(r);
    if (!r->status && !*x->text) x->text = text;
}

static bool is_blank(const char *from, const char *end)
{
    while (from < end && is_space(*from)) from++;
    return from == end;
}

static HoloXml *read_element(Xml *r, int depth);

// What is inside of an element, up to its end.
static void read_inside(Xml *r, HoloXml *x, int depth)
{
    while (!r->status) {
        const char *from = r->at;
        while (r->at < r->end && *r->at != '<') r->at++;
        if (r->at == r->end) return (void)wrong(r, "an element does not end");
        if (!is_blank(from, r->at)) add_text(r, x, text_of(r, from, r->at));
        if (begins(r, "</")) return;
        if (begins(r, "<!--")) {
            skip_to(r, "-->");
        } else if (begins(r, "<![CDATA[")) {
            from = r->at + 9;
            skip_to(r, "]]>");
            if (!r->status) add_text(r, x, holo_arena_text(r->arena, from, (size_t)(r->at - 3 - from)));
        } else if (begins(r, "<?")) {
            skip_to(r, "?>");
        } else {
            HoloXml *child = read_element(r, depth + 1);
            if (r->status) return;
            if (!HOLO_GROW(r->arena, x->child, x->child_count, x->child_room)) return (void)no_memory(r);
            x->child[x->child_count++] = child;
        }
    }
}

static HoloXml *read_element(Xml *r, int depth)
{
    if (depth > HOLO_XML_DEPTH) return wrong(r, "elements are nested too deep");
    if (r->at == r->end || *r->at++ != '<') return wrong(r, "an element is missing");
    HoloXml *x = HOLO_NEW(r->arena, HoloXml, 1);
    if (!x) return no_memory(r);
    x->text = "";
    x->name = name_at(r);
    for (skip_space(r); !r->status && r->at < r->end && is_name(*r->at); skip_space(r)) read_attr(r, x);
    if (r->status) return NULL;
    if (begins(r, "/>")) {
        r->at += 2;
        return x;
    }
    if (r->at == r->end || *r->at++ != '>') return wrong(r, "a tag does not end");
    read_inside(r, x, depth);
    if (r->status) return NULL;
    r->at += 2;
    const char *name = name_at(r);
    skip_space(r);
    if (!r->status && strcmp(name, x->name)) return wrong(r, "an element ends with another name than it began with");
    if (!r->status && (r->at == r->end || *r->at++ != '>')) return wrong(r, "a tag does not end");
    return x;
}

HoloStatus holo_xml_read(HoloArena *arena, const char *bytes, size_t size, HoloXml **out, HoloError *error)
{
    Xml r = {arena, error, bytes, bytes, bytes + size, HOLO_OK};
    *out  = NULL;
    if (begins(&r, "\xEF\xBB\xBF")) r.at += 3;
    skip_misc(&r);
    if (!r.status) *out = read_element(&r, 0);
    if (!r.status) skip_misc(&r);
    if (!r.status && r.at < r.end) wrong(&r, "there is more behind its end");
    return r.status;
}

// ---- looking

const char *holo_xml_attr(const HoloXml *x, const char *name)
{
    for (int i = 0; x && i < x->attr_count; i++)
        if (!strcmp(x->attr[i].name, name)) return x->attr[i].value;
    return NULL;
}

const HoloXml *holo_xml_next(const HoloXml *x, const char *name, int *in_out)
{
    while (x && *in_out < x->child_count) {
        const HoloXml *child = x->child[(*in_out)++];
        if (!strcmp(child->name, name)) return child;
    }
    return NULL;
}

const HoloXml *holo_xml_child(const HoloXml *x, const char *name)
{
    int at = 0;
    return holo_xml_next(x, name, &at);
}
