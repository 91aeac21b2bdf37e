// family_block.c - calls of a family's blocks, and blocks as the graphs inside of operators.
#include "models/family.h"

#include <string.h>

static HoloStatus read_results(HoloFamilyReader *r, const HoloFamilyBlock *block, int wanted, HoloItem *results)
{
    for (int i = 0; i < wanted; i++) {
        const HoloItem *item = holo_family_find(r, block->result[i]);
        if (!item) return holo_family_wrong(r, "the block %s does not set %s", block->name, block->result[i]);
        results[i] = *item;
    }
    return HOLO_OK;
}

// The parameter that "name=" begins here, whose value follows; -1: there is none, and nothing was read.
static int named_find(HoloFamilyReader *r, const HoloFamilyBlock *block)
{
    const char *start = r->scan.at;
    for (int i = 0; i < block->param_count; i++) {
        if (holo_family_accept(r, block->param[i]) && holo_family_accept(r, "=") && *r->scan.at != '=') return i;
        r->scan.at = start;
    }
    return -1;
}

// (a, b, name=c): what is not given is left as it is.
static HoloStatus read_block_args(HoloFamilyReader *r, const HoloFamilyBlock *block, HoloItem *args, bool *is_given)
{
    int count = 0, next;
    HOLO_TRY(holo_family_expect(r, "("));
    for (; !holo_family_accept(r, ")"); count++) {
        if (count) HOLO_TRY(holo_family_expect(r, ","));
        next = named_find(r, block);
        if (next < 0) next = count;
        if (next >= block->param_count || is_given[next])
            return holo_family_wrong(r, "the block %s has %d parameters, each of which is given once", block->name,
                                     block->param_count);
        is_given[next] = true;
        HOLO_TRY(holo_family_expression(r, &args[next]));
    }
    return HOLO_OK;
}

static HoloStatus check_params(HoloFamilyReader *r, const HoloFamilyBlock *block, const bool *is_given)
{
    for (int i = 0; i < block->param_count; i++)
        if (!is_given[i] && !block->fallback[i])
            return holo_family_wrong(r, "the block %s needs its parameter %s", block->name, block->param[i]);
    return HOLO_OK;
}

static HoloStatus set_params(HoloFamilyReader *r, const HoloFamilyBlock *block, HoloItem *args, const bool *is_given)
{
    for (int i = 0; i < block->param_count; i++) {
        r->scan.at = block->fallback[i];
        if (!is_given[i]) HOLO_TRY(holo_family_expression(r, &args[i]));
        HOLO_TRY(holo_family_set(r, r->scope, block->param[i], &args[i]));
    }
    r->scan.at = block->at;
    return HOLO_OK;
}

// The block is read with names of its own, and then the text goes on where it was called.
static HoloStatus read_block(HoloFamilyReader *r, const HoloFamilyBlock *block, HoloFamilyScope *own, HoloItem *args,
                             const bool *is_given, int wanted, HoloItem *results)
{
    HoloFamilyScope *outer  = r->scope;
    HoloScan         before = r->scan;
    if (r->depth == HOLO_FAMILY_DEPTH) return holo_family_wrong(r, "too many blocks call one another");
    r->scope     = own;
    r->scan.name = block->source.name;
    r->scan.text = block->source.text;
    r->depth++;
    HOLO_TRY(set_params(r, block, args, is_given));
    HOLO_TRY(holo_family_statements(r));
    HOLO_TRY(read_results(r, block, wanted, results));
    r->depth--;
    r->scope = outer;
    r->scan  = before;
    return HOLO_OK;
}

static HoloStatus call_block(HoloFamilyReader *r, const HoloFamilyBlock *block, const char *const *names, int wanted,
                             HoloItem *results)
{
    HoloItem args[HOLO_FAMILY_ARGS]     = {0};
    bool     is_given[HOLO_FAMILY_ARGS] = {0};
    HOLO_TRY(read_block_args(r, block, args, is_given));
    HOLO_TRY(check_params(r, block, is_given));
    if (wanted > block->result_count)
        return holo_family_wrong(r, "the block %s has %d results", block->name, block->result_count);
    HoloFamilyScope own = {
        .prefix = holo_arena_format(r->scan.arena, "%s%s/", r->scope->prefix, names ? names[0] : block->name)};
    return own.prefix ? read_block(r, block, &own, args, is_given, wanted, results) : holo_fail_memory(r->scan.error);
}

static HoloStatus find_block(HoloFamilyReader *r, const char *name, const HoloFamilyBlock **out)
{
    for (*out = r->blocks; *out; *out = (*out)->next)
        if (!strcmp((*out)->name, name)) return HOLO_OK;
    return holo_family_wrong(r, "there is no block %s; an operator has its version behind it, as Add@14", name);
}

HoloStatus holo_family_block(HoloFamilyReader *r, const char *name, const char *const *names, int wanted,
                             HoloItem *results)
{
    const HoloFamilyBlock *block;
    HOLO_TRY(find_block(r, name, &block));
    return call_block(r, block, names, wanted, results);
}

// ---- graphs inside of operators

// Parameters that are not given become the inputs of the graph. What is given is no value: the graph has its own.
static HoloStatus set_inputs(HoloFamilyReader *r, const HoloFamilyBlock *block, HoloItem *args, bool *is_given)
{
    HoloTensor unknown = {.rank = -1};
    for (int i = 0; i < block->param_count; i++) {
        if (is_given[i] && args[i].kind == HOLO_ITEM_VALUE)
            return holo_family_wrong(r, "%s of the block %s is a value of another graph", block->param[i], block->name);
        if (is_given[i] || block->fallback[i]) continue;
        args[i] = (HoloItem){.kind = HOLO_ITEM_VALUE, .value = holo_graph_input(r->graph, block->param[i], &unknown)};
        if (!args[i].value) return holo_fail_memory(r->scan.error);
        is_given[i] = true;
    }
    return HOLO_OK;
}

HoloStatus holo_family_body(HoloFamilyReader *r, HoloGraph **out)
{
    const HoloFamilyBlock *block;
    const char            *name;
    HoloItem               args[HOLO_FAMILY_ARGS]     = {0}, results[HOLO_FAMILY_RESULTS];
    bool                   is_given[HOLO_FAMILY_ARGS] = {0};
    HoloFamilyScope        own                        = {.prefix = ""};
    HoloGraph             *outer                      = r->graph;
    HOLO_TRY(holo_family_word(r, &name));
    HOLO_TRY(find_block(r, name, &block));
    HOLO_TRY(read_block_args(r, block, args, is_given));
    r->graph = holo_graph_create(outer->arena, outer->dims, block->name);
    if (!r->graph) return holo_fail_memory(r->scan.error);
    HOLO_TRY(set_inputs(r, block, args, is_given));
    HOLO_TRY(read_block(r, block, &own, args, is_given, block->result_count, results));
    for (int i = 0; i < block->result_count; i++) {
        if (results[i].kind != HOLO_ITEM_VALUE)
            return holo_family_wrong(r, "the block %s has a result that is no value", block->name);
        if (!holo_graph_output(r->graph, results[i].value)) return holo_fail_memory(r->scan.error);
    }
    *out     = r->graph;
    r->graph = outer;
    return HOLO_OK;
}
