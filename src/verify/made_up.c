// made_up.c - see made_up.h.
#include "verify/made_up.h"

#include "ops/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Way { BY_RANGE, SMALL, TINY, ZEROS, ONES, PLACES, BELOW, ABOVE } Way;

static const char *const way_names[] = {"",     "small numbers", "tiny numbers", "zeros",
                                        "ones", "positions",     "about -8",     "about 8"};

// What is tried, one after the other, for inputs that reach a node which rejects them: first whole numbers, then all.
static const struct {
    Way whole, real;
} attempts[] = {
    {BY_RANGE, BY_RANGE}, {ONES, BY_RANGE},   {ZEROS, BY_RANGE}, {BY_RANGE, SMALL}, {ONES, SMALL},
    {ZEROS, SMALL},       {PLACES, BY_RANGE}, {BY_RANGE, TINY},  {BY_RANGE, ZEROS}, {BY_RANGE, ONES},
    {BY_RANGE, BELOW},    {BY_RANGE, ABOVE},  {ONES, ONES},      {ZEROS, ZEROS},    {PLACES, SMALL},
    {PLACES, PLACES},     {SMALL, SMALL},     {ZEROS, BELOW},    {ZEROS, ABOVE},
};

HoloStatus holo_made_up_init(HoloMadeUp *made, const HoloGraph *graph, const HoloInputRange *ranges, HoloArena *arena,
                             HoloError *error)
{
    *made = (HoloMadeUp){.graph = graph, .ranges = ranges, .reaches = HOLO_NEW(arena, bool, graph->input_count + 1)};
    return made->reaches ? HOLO_OK : holo_fail_memory(error);
}

static bool is_whole(const HoloTensor *t)
{
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    return class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT || class == HOLO_CLASS_BOOL;
}

static Way way_of(const HoloMadeUp *made, int i)
{
    if (!made->reaches[i]) return BY_RANGE;
    return is_whole(&made->graph->inputs[i]->type) ? attempts[made->attempt].whole : attempts[made->attempt].real;
}

// ---- numbers

typedef struct Filling {
    const HoloInputRange *range;
    HoloTensor           *t;
    HoloRandom            random;
    int64_t               last;  // size of the last dimension
    bool                  whole; // numbers are whole
} Filling;

// The sizes of a tensor, or a shape that every tensor can have: its first size and all the others.
static double shape_number(const Filling *f, int64_t i)
{
    const HoloTensor *like  = f->range->like;
    int64_t           count = holo_tensor_count(f->t);
    if (f->range->role == HOLO_ROLE_SIZES)
        return i < like->rank && !holo_dim_is_symbolic(like->dim[i]) ? (double)like->dim[i] : 1;
    if (i == count - 1) return -1;
    return i == 0 && like->rank > 0 ? 0 : 1;
}

static double ranged_number(Filling *f, int64_t i)
{
    const HoloInputRange *r = f->range;
    switch (r->role) {
    case HOLO_ROLE_ANY: return f->whole ? 1 : holo_random_normal(&f->random);
    case HOLO_ROLE_MASK: return i % f->last < f->last - f->last / 4; // the end is padding
    case HOLO_ROLE_SHAPE:
    case HOLO_ROLE_SIZES: return shape_number(f, i);
    case HOLO_ROLE_LENGTH:
        if (i == 0) return r->high;
        break;
    case HOLO_ROLE_INDEX: break;
    }
    double unit = holo_random_unit(&f->random);
    if (!f->whole) return r->low + unit * (r->high - r->low);
    return fmin(floor(r->low + unit * (r->high - r->low + 1)), r->high);
}

static double number(Filling *f, Way way, int64_t i)
{
    switch (way) {
    case SMALL: return f->whole ? (double)(holo_random_next(&f->random) % 2) : holo_random_unit(&f->random);
    case TINY: return 0.01 * holo_random_normal(&f->random);
    case BELOW: return holo_random_unit(&f->random) - 8;
    case ABOVE: return holo_random_unit(&f->random) + 8;
    case ZEROS: return 0;
    case ONES: return 1;
    case PLACES: return (double)(i % f->last);
    default: return ranged_number(f, i);
    }
}

void holo_made_up_fill(HoloMadeUp *made, int i, HoloTensor *t)
{
    Way              way   = way_of(made, i);
    int64_t          count = holo_tensor_count(t);
    const HoloValue *input = made->graph->inputs[i];
    Filling f = {&made->ranges[i], t, {UINT64_C(0x686F6C6F) + (uint64_t)i * 1000003 + made->seed}, 1, is_whole(t)};
    made->filled += count;
    if (t->rank > 0 && t->dim[t->rank - 1] > 0) f.last = t->dim[t->rank - 1];
    // What defaults mean together with states is not known here: numbers that are made up might not fit.
    bool is_default = input->fill && holo_graph_has_states(made->graph);
    for (int64_t k = 0; k < count; k++) {
        if (t->dtype == HOLO_STRING) {
            ((HoloString *)t->data)[k] = (HoloString){"a", 1};
            continue;
        }
        double x = !is_default ? number(&f, way, k) : input->is_index ? (double)k : input->fill - 1.0;
        if (f.whole)
            holo_put_i(t, k, t->dtype == HOLO_BOOL ? x != 0 : (int64_t)fmax(fmin(x, 1e18), -1e18));
        else
            holo_put_f(t, k, x);
    }
}

// ---- what to try next

enum { FILLED_MOST = 1 << 25 }; // numbers after which no other inputs are tried: some tenths of a second

// Finds which inputs a node depends on. False: no memory.
static bool reach(HoloMadeUp *made, const HoloNode *node)
{
    const HoloGraph *graph   = made->graph;
    HoloArena        scratch = {0};
    bool            *before = HOLO_NEW(&scratch, bool, graph->value_count + 1), found = false;
    for (int i = graph->node_count; before && i-- > 0;) {
        const HoloNode *n       = graph->nodes[i];
        bool            matters = n == node;
        for (int k = 0; k < n->out_count; k++) matters = matters || (n->out[k] && before[n->out[k]->id]);
        for (int k = 0; k < n->in_count && matters; k++)
            if (n->in[k]) before[n->in[k]->id] = true;
    }
    for (int i = 0; before && i < graph->input_count; i++) {
        if (!before[graph->inputs[i]->id]) continue;
        found            = true;
        made->reaches[i] = true;
    }
    holo_arena_deinit(&scratch);
    return found;
}

// Would the inputs differ from those of the attempt before?
static bool is_other(const HoloMadeUp *made)
{
    const HoloGraph *graph = made->graph;
    for (int i = 0; i < graph->input_count; i++) {
        bool whole = is_whole(&graph->inputs[i]->type);
        Way  now   = whole ? attempts[made->attempt].whole : attempts[made->attempt].real;
        Way  then  = whole ? attempts[made->attempt - 1].whole : attempts[made->attempt - 1].real;
        if (made->reaches[i] && now != then) return true;
    }
    return false;
}

bool holo_made_up_next(HoloMadeUp *made, const HoloNode *node)
{
    if (!node || made->filled > FILLED_MOST || !reach(made, node)) return false;
    do
        if (++made->attempt == HOLO_COUNT(attempts)) return false;
    while (!is_other(made));
    return true;
}

void holo_made_up_text(const HoloMadeUp *made, char *text, size_t size)
{
    size_t at       = (size_t)snprintf(text, size, "made-up inputs");
    bool   is_first = true;
    for (int i = 0; i < made->graph->input_count && at + 80 < size; i++) {
        Way way = way_of(made, i);
        if (way == BY_RANGE) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%.40s: %s", is_first ? " (" : ", ",
                               made->graph->inputs[i]->name, way_names[way]);
        is_first = false;
    }
    if (!is_first && at + 1 < size) snprintf(text + at, size - at, ")");
}
