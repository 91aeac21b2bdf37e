// family_build.c - finds the text of a request's family, reads what comes before the graph, and builds the graph.
#include "models/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- config

static const HoloAttr *config_find(const HoloFamilyReader *r, const char *key)
{
    for (int i = 0; i < r->request->config_count; i++)
        if (!strcmp(r->request->config[i].name, key)) return &r->request->config[i];
    return NULL;
}

// What the config says, in the kind of `like`; HOLO_ITEM_NONE: any kind.
static HoloStatus config_item(HoloFamilyReader *r, const HoloAttr *attr, HoloItemKind like, HoloItem *out)
{
    *out = (HoloItem){0};
    switch (attr->kind) {
    case HOLO_ATTR_INT: *out = (HoloItem){.kind = HOLO_ITEM_INT, .i = attr->i}; break;
    case HOLO_ATTR_FLOAT: *out = (HoloItem){.kind = HOLO_ITEM_FLOAT, .f = attr->f}; break;
    case HOLO_ATTR_STRING: *out = (HoloItem){.kind = HOLO_ITEM_TEXT, .text = attr->s.data}; break;
    case HOLO_ATTR_INTS: *out = (HoloItem){.kind = HOLO_ITEM_LIST, .list = attr->ints, .count = attr->count}; break;
    case HOLO_ATTR_FLOATS:
        *out = (HoloItem){.kind = HOLO_ITEM_FLOATS, .floats = attr->floats, .count = attr->count};
        break;
    case HOLO_ATTR_STRINGS:
        *out = (HoloItem){.kind = HOLO_ITEM_TEXTS, .texts = attr->strings, .count = attr->count};
        break;
    default: break;
    }
    if (like == HOLO_ITEM_FLOAT && out->kind == HOLO_ITEM_INT)
        *out = (HoloItem){.kind = HOLO_ITEM_FLOAT, .f = (double)out->i};
    if (like == HOLO_ITEM_INT && out->kind == HOLO_ITEM_FLOAT && out->f == floor(out->f) && fabs(out->f) < 1e15)
        *out = (HoloItem){.kind = HOLO_ITEM_INT, .i = (int64_t)out->f};
    if (like == HOLO_ITEM_LIST && out->kind == HOLO_ITEM_INT)
        *out = (HoloItem){.kind = HOLO_ITEM_LIST, .list = &attr->i, .count = 1};
    if (out->kind && (!like || out->kind == like || (like == HOLO_ITEM_LIST && holo_item_is_list(out)))) return HOLO_OK;
    static const char *const kinds[] = {[HOLO_ITEM_INT]   = "a whole number, true or false",
                                        [HOLO_ITEM_FLOAT] = "a number",
                                        [HOLO_ITEM_TEXT]  = "a text",
                                        [HOLO_ITEM_LIST]  = "a list"};
    return holo_fail(r->scan.error, HOLO_BAD_MODEL, "the model's config: '%s' should be %s", attr->name,
                     kinds[like ? like : HOLO_ITEM_INT]);
}

// config NAME or KEY or "outer.key" = default
static HoloStatus read_config(HoloFamilyReader *r)
{
    const char     *name, *key;
    const HoloAttr *found;
    HoloItem        item = {0};
    HOLO_TRY(holo_family_word(r, &name));
    found = config_find(r, name);
    while (holo_family_accept(r, "or")) {
        holo_scan_skip(&r->scan);
        HOLO_TRY(*r->scan.at == '"' ? holo_family_quoted(r, &key) : holo_family_word(r, &key));
        if (!found) found = config_find(r, key);
    }
    if (holo_family_accept(r, "="))
        HOLO_TRY(holo_family_expression(r, &item));
    else if (!found)
        return holo_fail(r->scan.error, HOLO_BAD_MODEL, "the model's config has no '%s'", name);
    if (found) HOLO_TRY(config_item(r, found, item.kind, &item));
    return holo_family_set(r, &r->globals, name, &item);
}

// ---- the rest of the head

static HoloStatus read_names(HoloFamilyReader *r, const char *end, const char **names, int room, int *out_count)
{
    *out_count = 0;
    while (!holo_family_accept(r, end)) {
        if (*out_count) HOLO_TRY(holo_family_expect(r, ","));
        if (*out_count == room) return holo_family_wrong(r, "at most %d names", room);
        HOLO_TRY(holo_family_word(r, &names[(*out_count)++]));
    }
    return HOLO_OK;
}

// (parameter, parameter = what it is if it is not given, ...)
static HoloStatus read_params(HoloFamilyReader *r, HoloFamilyBlock *block)
{
    HOLO_TRY(holo_family_expect(r, "("));
    while (!holo_family_accept(r, ")")) {
        int i = block->param_count++;
        if (i) HOLO_TRY(holo_family_expect(r, ","));
        if (i == HOLO_FAMILY_ARGS) return holo_family_wrong(r, "at most %d parameters", HOLO_FAMILY_ARGS);
        HOLO_TRY(holo_family_word(r, &block->param[i]));
        if (!holo_family_accept(r, "=")) continue;
        block->fallback[i] = r->scan.at;
        HOLO_TRY(holo_family_skip_expression(r));
    }
    return HOLO_OK;
}

// block NAME(parameter, ...) -> (result, ...) { ... }
static HoloStatus read_block(HoloFamilyReader *r)
{
    HoloFamilyBlock *block = HOLO_NEW(r->scan.arena, HoloFamilyBlock, 1);
    if (!block) return holo_fail_memory(r->scan.error);
    HOLO_TRY(holo_family_word(r, &block->name));
    HOLO_TRY(read_params(r, block));
    HOLO_TRY(holo_family_expect(r, "->"));
    HOLO_TRY(holo_family_expect(r, "("));
    HOLO_TRY(read_names(r, ")", block->result, HOLO_FAMILY_RESULTS, &block->result_count));
    HOLO_TRY(holo_family_expect(r, "{"));
    block->source = (HoloFamilyText){r->scan.name, r->scan.text};
    block->at     = r->scan.at;
    block->next   = r->blocks; // a family's own blocks come before those that all families have
    r->blocks     = block;
    return holo_family_skip_block(r);
}

static HoloStatus read_family(HoloFamilyReader *r)
{
    r->scan.at += strspn(r->scan.at, " ");
    size_t size = strcspn(r->scan.at, ", \n"), line = strcspn(r->scan.at, "\n");
    r->family = holo_arena_text(r->scan.arena, r->scan.at, size);
    r->scan.at += line; // more names may follow
    return r->family ? HOLO_OK : holo_fail_memory(r->scan.error);
}

static HoloStatus read_architectures(HoloFamilyReader *r)
{
    const char *name, *wanted = r->request->architecture;
    do {
        HOLO_TRY(holo_family_word(r, &name));
        if (wanted ? !strcmp(name, wanted) : !r->architecture) r->architecture = name;
    } while (holo_family_accept(r, ","));
    if (!r->architecture) return HOLO_OK;
    HoloItem item = {.kind = HOLO_ITEM_TEXT, .text = r->architecture};
    return holo_family_set(r, &r->globals, "architecture", &item);
}

static HoloStatus read_prefix(HoloFamilyReader *r)
{
    do {
        if (r->prefix_count == HOLO_FAMILY_PREFIXES)
            return holo_family_wrong(r, "at most %d prefixes", HOLO_FAMILY_PREFIXES);
        HOLO_TRY(holo_family_quoted(r, &r->prefix[r->prefix_count++]));
    } while (holo_family_accept(r, ","));
    return HOLO_OK;
}

// Remembers where a graph is. It is read when everything else is known.
static HoloStatus graph_add(HoloFamilyReader *r, const char *name)
{
    if (r->graph_count == HOLO_FAMILY_ENTRIES) return holo_family_wrong(r, "at most %d graphs", HOLO_FAMILY_ENTRIES);
    HOLO_TRY(holo_family_expect(r, "{"));
    r->graphs[r->graph_count++] = (HoloFamilyGraph){name, r->scan.at};
    return holo_family_skip_block(r);
}

// entry NAME { ... }
static HoloStatus read_entry(HoloFamilyReader *r)
{
    const char *name;
    HOLO_TRY(holo_family_word(r, &name));
    if (!r->graph_count) return holo_family_wrong(r, "entry %s comes before the graph", name);
    return graph_add(r, name);
}

static HoloStatus read_graph(HoloFamilyReader *r)
{
    if (r->graph_count) return holo_family_wrong(r, "a second graph must be an entry with a name");
    return graph_add(r, "");
}

HoloStatus holo_family_head(HoloFamilyReader *r)
{
    static const struct {
        const char *word;
        HoloStatus (*read)(HoloFamilyReader *r);
    } forms[] = {{"family", read_family}, {"architectures", read_architectures},
                 {"prefix", read_prefix}, {"config", read_config},
                 {"block", read_block},   {"graph", read_graph},
                 {"entry", read_entry},   {NULL, NULL}};
    for (;;) {
        int i = 0;
        holo_scan_skip(&r->scan);
        if (!*r->scan.at) return HOLO_OK;
        while (forms[i].word && !holo_family_accept(r, forms[i].word)) i++;
        if (!forms[i].word) return holo_family_expect(r, "graph");
        HOLO_TRY(forms[i].read(r));
    }
}

// ---- building

static HoloStatus use_text(HoloFamilyReader *r, const HoloFamilyText *text)
{
    r->scan.name = text->name;
    r->scan.text = r->scan.at = text->text;
    return holo_family_head(r);
}

// Builds one graph. Its inputs, which all blocks see, are no other graph's.
static HoloStatus build_graph(HoloFamilyReader *r, const HoloFamilyGraph *from, HoloFamilyModel *out)
{
    HoloFamilyScope scope = {.prefix = ""}, globals = r->globals;
    HoloDims       *dims = holo_dims_create(r->scan.arena);
    r->graph             = dims ? holo_graph_create(r->scan.arena, dims, r->architecture) : NULL;
    if (!r->graph) return holo_fail_memory(r->scan.error);
    r->scan.dims = dims;
    r->scope     = &scope;
    r->scan.at   = from->at;
    HOLO_TRY(holo_family_statements(r));
    r->globals = globals;
    holo_graph_states_last(r->graph);
    holo_graph_sweep(r->graph, NULL); // values that only gave their names to outputs
    if (!r->graph->output_count)      // an entry that this architecture does not have
        return *from->name ? HOLO_OK : holo_family_wrong(r, "the graph has no output");
    out->entry[out->count].name    = from->name;
    out->entry[out->count++].graph = r->graph;
    return HOLO_OK;
}

HoloStatus holo_family_build_text(HoloArena *arena, const HoloFamilyText *texts, int count,
                                  const HoloFamilyRequest *request, HoloFamilyModel *out, HoloError *error)
{
    HoloFamilyScope  scope = {.prefix = ""};
    HoloFamilyReader r     = {.scan = {.arena = arena, .error = error}, .request = request, .scope = &scope};
    *out                   = (HoloFamilyModel){0};
    for (int i = 0; i < count; i++) HOLO_TRY(use_text(&r, &texts[i]));
    if (!r.graph_count || !r.family || !r.architecture)
        return holo_family_wrong(&r, "a family must have a name, architectures and a graph");
    for (int i = 0; i < r.graph_count; i++) HOLO_TRY(build_graph(&r, &r.graphs[i], out));
    return HOLO_OK;
}
