// family_statement.c - statements of a family's text.
#include "models/family.h"

#include "format/holo.h"

#include <ctype.h>
#include <string.h>

// ---- inputs and outputs

// A size that is not an expression of known names is a symbol.
static HoloStatus read_size(HoloFamilyReader *r, HoloDim *out)
{
    const char *start = r->scan.at, *name;
    HoloItem    item;
    holo_scan_skip(&r->scan);
    if (isalpha((unsigned char)*r->scan.at) && !holo_family_next_is_call(r)) {
        HOLO_TRY(holo_family_word(r, &name));
        bool is_alone = holo_family_accept(r, ",") || holo_family_accept(r, "]") || holo_family_accept(r, "=");
        if (is_alone) r->scan.at--;
        if (is_alone && !holo_family_find(r, name)) {
            *out = holo_dims_symbol(r->graph->dims, name);
            return *out == HOLO_DIM_UNKNOWN ? holo_fail_memory(r->scan.error) : HOLO_OK;
        }
    }
    r->scan.at = start;
    HOLO_TRY(holo_family_expression(r, &item));
    if (item.kind != HOLO_ITEM_INT || item.i < 0)
        return holo_family_wrong(r, "a size must be a whole number of 0 or more");
    *out = item.i;
    return HOLO_OK;
}

// [size, size = least, ...]
static HoloStatus read_sizes(HoloFamilyReader *r, HoloTensor *type, HoloDim *least, bool *out_has_least)
{
    HOLO_TRY(holo_family_expect(r, "["));
    *out_has_least = false;
    while (!holo_family_accept(r, "]")) {
        if (type->rank) HOLO_TRY(holo_family_expect(r, ","));
        if (type->rank == HOLO_MAX_RANK) return holo_family_wrong(r, "too many sizes");
        HOLO_TRY(read_size(r, &type->dim[type->rank]));
        least[type->rank] = type->dim[type->rank];
        if (holo_family_accept(r, "=")) {
            HOLO_TRY(read_size(r, &least[type->rank]));
            *out_has_least = true;
        }
        type->rank++;
    }
    return HOLO_OK;
}

// What fills an input if the caller leaves it out: a whole number, or `index`, the number of each element. Its sizes then
// come from other inputs.
static HoloStatus read_default(HoloFamilyReader *r, HoloValue *input)
{
    HoloItem item   = {.kind = HOLO_ITEM_INT};
    input->is_index = holo_family_accept(r, "index");
    if (!input->is_index) HOLO_TRY(holo_family_expression(r, &item));
    if (item.kind != HOLO_ITEM_INT || item.i < 0 || item.i > HOLO_FILL_MAX)
        return holo_family_wrong(r, "the default of %s is no whole number from 0 to %d", input->name, HOLO_FILL_MAX);
    input->fill = (uint32_t)item.i + 1;
    return HOLO_OK;
}

// What the graph calls a value: the text in quotes behind its name here, or that name.
static HoloStatus read_called(HoloFamilyReader *r, const char **inout_name)
{
    holo_scan_skip(&r->scan);
    return *r->scan.at == '"' ? holo_family_quoted(r, inout_name) : HOLO_OK;
}

// NAME: type[sizes]; what is read is an input in any case. `prefix` goes before its name in the graph.
static HoloStatus read_declaration(HoloFamilyReader *r, const char *prefix, HoloValue **out)
{
    const char *name, *called, *type_name;
    HoloTensor  type = {0};
    HoloDim     least[HOLO_MAX_RANK];
    bool        has_least;
    HOLO_TRY(holo_family_word(r, &name));
    called = name;
    HOLO_TRY(read_called(r, &called));
    HOLO_TRY(holo_family_expect(r, ":"));
    HOLO_TRY(holo_family_word(r, &type_name));
    type.dtype = (uint8_t)(strcmp(type_name, "float") ? holo_dtype_find(type_name) : r->request->dtype);
    if (!type.dtype) return holo_family_wrong(r, "%s is no type", type_name);
    HOLO_TRY(read_sizes(r, &type, least, &has_least));
    const char *full = holo_arena_format(r->scan.arena, "%s%s", prefix, called);
    HoloItem    item = {.kind = HOLO_ITEM_VALUE, .value = full ? holo_graph_input(r->graph, full, &type) : NULL};
    HoloDim    *kept = holo_arena_take_array(r->graph->arena, (size_t)type.rank + 1, sizeof *kept);
    if (!item.value || !kept) return holo_fail_memory(r->scan.error);
    memcpy(kept, least, (size_t)type.rank * sizeof *kept);
    if (has_least) item.value->least = kept;
    *out = item.value;
    return holo_family_set(r, r->scope, name, &item);
}

// An input is seen everywhere: it belongs to the model and not to the block that declares it.
static HoloStatus read_input(HoloFamilyReader *r)
{
    HoloValue *input;
    HOLO_TRY(read_declaration(r, "", &input));
    if (holo_family_accept(r, "=")) HOLO_TRY(read_default(r, input));
    HoloItem item = {.kind = HOLO_ITEM_VALUE, .value = input};
    return holo_family_set(r, &r->globals, input->name, &item);
}

// A state is kept between runs. The operator that changes it is the only one that reads it.
static HoloStatus read_state(HoloFamilyReader *r)
{
    HoloValue *state;
    HOLO_TRY(read_declaration(r, r->scope->prefix, &state));
    state->is_state = true;
    state->fill     = 1;
    return HOLO_OK;
}

// An output gets its name here, whatever its value was called before.
static HoloStatus read_output(HoloFamilyReader *r)
{
    const char *name;
    do {
        HOLO_TRY(holo_family_word(r, &name));
        const HoloItem *item = holo_family_find(r, name);
        if (!item || item->kind != HOLO_ITEM_VALUE) return holo_family_wrong(r, "output %s is no value", name);
        HOLO_TRY(read_called(r, &name));
        HoloValue *value = item->value, *other = holo_graph_find(r->graph, name);
        if (!other && !(other = holo_graph_value(r->graph, name))) return holo_fail_memory(r->scan.error);
        if (value != other) holo_graph_swap_names(r->graph, value, other);
        if (!holo_graph_output(r->graph, value)) return holo_fail_memory(r->scan.error);
    } while (holo_family_accept(r, ","));
    return HOLO_OK;
}

// ---- flow

static HoloStatus read_when(HoloFamilyReader *r)
{
    HoloItem condition;
    bool     is_done = false;
    do {
        HOLO_TRY(holo_family_expression(r, &condition));
        HOLO_TRY(holo_family_expect(r, "{"));
        bool holds = !is_done && holo_item_is_true(&condition);
        HOLO_TRY(holds ? holo_family_statements(r) : holo_family_skip_block(r));
        is_done |= holds;
        if (!holo_family_accept(r, "else")) return HOLO_OK;
    } while (holo_family_accept(r, "when"));
    HOLO_TRY(holo_family_expect(r, "{"));
    return is_done ? holo_family_skip_block(r) : holo_family_statements(r);
}

// repeat layer < count { ... }: values inside get names that begin with "layer.0/".
static HoloStatus read_repeat(HoloFamilyReader *r)
{
    const char *name, *prefix = r->scope->prefix;
    HoloItem    count;
    HOLO_TRY(holo_family_word(r, &name));
    HOLO_TRY(holo_family_expect(r, "<"));
    HOLO_TRY(holo_family_expression(r, &count));
    HOLO_TRY(holo_family_expect(r, "{"));
    if (count.kind != HOLO_ITEM_INT || count.i < 0 || count.i > HOLO_FAMILY_REPEATS)
        return holo_family_wrong(r, "%s must be repeated 0 to %d times", name, HOLO_FAMILY_REPEATS);
    const char *start = r->scan.at;
    for (int64_t i = 0; i < count.i; i++) {
        HoloItem item    = {.kind = HOLO_ITEM_INT, .i = i};
        r->scan.at       = start;
        r->scope->prefix = holo_arena_format(r->scan.arena, "%s%s.%lld/", prefix, name, (long long)i);
        if (!r->scope->prefix) return holo_fail_memory(r->scan.error);
        HOLO_TRY(holo_family_set(r, r->scope, name, &item));
        HOLO_TRY(holo_family_statements(r));
    }
    r->scope->prefix = prefix;
    r->scan.at       = start;
    return holo_family_skip_block(r);
}

static HoloStatus read_refusal(HoloFamilyReader *r)
{
    const char *why;
    HOLO_TRY(holo_family_quoted(r, &why));
    return holo_fail(r->scan.error, HOLO_UNSUPPORTED, "%s: %s", r->architecture, why);
}

// a, b = call, or a = expression, or a call of a block for its outputs alone
static HoloStatus read_assignment(HoloFamilyReader *r)
{
    const char *names[HOLO_FAMILY_RESULTS];
    HoloItem    results[HOLO_FAMILY_RESULTS];
    int         count = 0;
    if (holo_family_next_is_call(r)) return holo_family_call(r, NULL, 0, results);
    do {
        if (count == HOLO_FAMILY_RESULTS) return holo_family_wrong(r, "too many results");
        HOLO_TRY(holo_family_word(r, &names[count++]));
    } while (holo_family_accept(r, ","));
    HOLO_TRY(holo_family_expect(r, "="));
    holo_scan_skip(&r->scan);
    r->result    = names[0];
    r->result_at = r->scan.at;
    HOLO_TRY(count > 1 ? holo_family_call(r, names, count, results) : holo_family_expression(r, results));
    for (int i = 0; i < count; i++) HOLO_TRY(holo_family_set(r, r->scope, names[i], &results[i]));
    return HOLO_OK;
}

HoloStatus holo_family_statements(HoloFamilyReader *r)
{
    static const struct {
        const char *word;
        HoloStatus (*read)(HoloFamilyReader *r);
    } forms[] = {
        {"input", read_input},    {"output", read_output}, {"when", read_when},   {"repeat", read_repeat},
        {"refuse", read_refusal}, {"state", read_state},   {"", read_assignment},
    };
    while (!holo_family_accept(r, "}")) {
        int i = 0;
        if (!*r->scan.at) return holo_family_wrong(r, "a block has no end");
        while (*forms[i].word && !holo_family_accept(r, forms[i].word)) i++;
        HOLO_TRY(forms[i].read(r));
    }
    return HOLO_OK;
}
