// family_words.c - the words of a family's text, and the values of names.
#include "models/family.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

HoloStatus holo_family_wrong(HoloFamilyReader *r, const char *format, ...)
{
    char    text[300];
    int     line = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char *c = r->scan.text; c < r->scan.at; c++) line += *c == '\n';
    return holo_fail(r->scan.error, HOLO_BAD_MODEL, "%s, line %d: %s", r->scan.name, line, text);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool holo_family_accept(HoloFamilyReader *r, const char *token)
{
    HoloScan *p    = &r->scan;
    size_t    size = strlen(token);
    holo_scan_skip(p);
    if (strncmp(p->at, token, size) != 0 || (in_word(token[size - 1]) && in_word(p->at[size]))) return false;
    p->at += size;
    return true;
}

HoloStatus holo_family_expect(HoloFamilyReader *r, const char *token)
{
    if (holo_family_accept(r, token)) return HOLO_OK;
    return holo_family_wrong(r, "expected %s before \"%.*s\"", token, (int)strcspn(r->scan.at, "\n") % 24, r->scan.at);
}

static size_t word_size(const char *at)
{
    size_t size = 0;
    while (in_word(at[size])) size++;
    return isdigit((unsigned char)*at) ? 0 : size;
}

HoloStatus holo_family_word(HoloFamilyReader *r, const char **out)
{
    holo_scan_skip(&r->scan);
    size_t size = word_size(r->scan.at);
    if (!size) return holo_family_expect(r, "a name");
    *out = holo_arena_text(r->scan.arena, r->scan.at, size);
    r->scan.at += size;
    return *out ? HOLO_OK : holo_fail_memory(r->scan.error);
}

bool holo_family_next_is_call(HoloFamilyReader *r)
{
    holo_scan_skip(&r->scan);
    size_t size = word_size(r->scan.at);
    return size && (r->scan.at[size] == '@' || r->scan.at[size] == '(');
}

// Appends the value of {name} to the text.
static HoloStatus interpolate(HoloFamilyReader *r, const char *name, HoloText *out)
{
    const HoloItem *item = holo_family_find(r, name);
    if (!item) return holo_family_wrong(r, "{%s} has no value", name);
    if (item->kind == HOLO_ITEM_INT)
        holo_text_add(out, "%lld", (long long)item->i);
    else if (item->kind == HOLO_ITEM_TEXT)
        holo_text_add(out, "%s", item->text);
    else
        return holo_family_wrong(r, "{%s} is neither a whole number nor a text", name);
    return HOLO_OK;
}

static HoloStatus fill_in(HoloFamilyReader *r, HoloString raw, HoloText *out)
{
    for (size_t i = 0; i < raw.size; i++) {
        size_t size = raw.data[i] == '{' ? word_size(raw.data + i + 1) : 0;
        if (!size || raw.data[i + 1 + size] != '}') {
            holo_text_add(out, "%c", raw.data[i]);
            continue;
        }
        char *name = holo_arena_text(r->scan.arena, raw.data + i + 1, size);
        if (!name) return holo_fail_memory(r->scan.error);
        HOLO_TRY(interpolate(r, name, out));
        i += size + 1;
    }
    return HOLO_OK;
}

HoloStatus holo_family_quoted(HoloFamilyReader *r, const char **out)
{
    HoloString raw;
    HoloText   text = {0};
    HOLO_TRY(holo_scan_quoted(&r->scan, &raw)); // the memory behind it is zero
    HoloStatus status = fill_in(r, raw, &text);
    if (!status) {
        *out = holo_arena_text(r->scan.arena, text.data ? text.data : "", text.size);
        if (!*out || text.failed) status = holo_fail_memory(r->scan.error);
    }
    holo_text_deinit(&text);
    return status;
}

HoloStatus holo_family_skip_block(HoloFamilyReader *r)
{
    HoloScan  *p = &r->scan;
    HoloString text;
    for (int depth = 1; depth; p->at++) {
        holo_scan_skip(p);
        if (!*p->at) return holo_family_wrong(r, "a block has no end");
        depth += (*p->at == '{') - (*p->at == '}');
        if (*p->at != '"') continue;
        HOLO_TRY(holo_scan_quoted(p, &text));
        p->at--;
    }
    return HOLO_OK;
}

HoloStatus holo_family_skip_expression(HoloFamilyReader *r)
{
    HoloScan  *p = &r->scan;
    HoloString text;
    for (int depth = 0; depth || !strchr(",)", *p->at); p->at++) {
        if (!*p->at) return holo_family_wrong(r, "an expression has no end");
        depth += (strchr("([{", *p->at) != NULL) - (strchr(")]}", *p->at) != NULL);
        if (*p->at != '"') continue;
        HOLO_TRY(holo_scan_quoted(p, &text));
        p->at--;
    }
    return HOLO_OK;
}

// ---- names

static HoloFamilyName *find_in(const HoloFamilyScope *scope, const char *name)
{
    HoloFamilyName *found = scope->names;
    while (found && strcmp(found->name, name)) found = found->next;
    return found;
}

HoloStatus holo_family_set(HoloFamilyReader *r, HoloFamilyScope *scope, const char *name, const HoloItem *item)
{
    HoloFamilyName *found = find_in(scope, name);
    if (!found) {
        found = HOLO_NEW(r->scan.arena, HoloFamilyName, 1);
        if (!found) return holo_fail_memory(r->scan.error);
        *found       = (HoloFamilyName){.next = scope->names, .name = name};
        scope->names = found;
    }
    found->item = *item;
    return HOLO_OK;
}

const HoloItem *holo_family_find(const HoloFamilyReader *r, const char *name)
{
    const HoloFamilyName *found = find_in(r->scope, name);
    if (!found) found = find_in(&r->globals, name);
    return found ? &found->item : NULL;
}

bool holo_item_is_true(const HoloItem *item)
{
    return (item->kind == HOLO_ITEM_INT && item->i) || (item->kind == HOLO_ITEM_TEXT && *item->text) ||
           (item->kind == HOLO_ITEM_FLOAT && item->f != 0) || item->kind == HOLO_ITEM_VALUE;
}
