// sizes.c - finds numbers for symbolic sizes that a model accepts: some must equal a weight's size, some must equal
// each other.
//
// The search uses inference alone, which takes microseconds for each node. It begins with small, different sizes. While
// a node rejects them, it changes the one symbol that lets the most nodes pass. It tries small numbers and the sizes of
// the model's constants. A symbol whose name is an expression of others, such as "past + fresh", has its value, if
// nodes accept that: many exporters name sizes in this way.
#include "verify/sizes.h"

#include <string.h>

enum { CANDIDATES = 96, TRIES = 400, LARGE = 16 << 20 }; // LARGE: bytes of a value that call for smaller sizes

static const int64_t usual[] = {2, 1, 3, 4, 8, 16, 32, 64, 80, 128, 224, 256, 512, 3000};

typedef struct Search {
    HoloGraph  *graph;
    HoloTensor *types; // types of the inputs, with their symbols
    int64_t    *number;
    bool       *is_used; // by symbol: it is in the shape of an input
    HoloDim    *spelled; // by symbol: what its name says; HOLO_DIM_UNKNOWN: nothing
    int         symbol_count, tries;
    int64_t     candidate[CANDIDATES];
    int         candidate_count;
} Search;

static int symbol_of(const HoloGraph *graph, HoloDim d)
{
    if (!holo_dim_is_symbolic(d) || d == HOLO_DIM_UNKNOWN) return -1;
    const HoloDimNode *node = holo_dims_node(graph->dims, holo_dim_entry(d));
    return node->op == HOLO_DIM_SYMBOL ? (int)node->a : -1;
}

static void candidate_add(Search *s, int64_t number)
{
    if (number < 1 || number > 4096 || s->candidate_count == CANDIDATES) return;
    for (int i = 0; i < s->candidate_count; i++)
        if (s->candidate[i] == number) return;
    s->candidate[s->candidate_count++] = number;
}

static void candidates_find(Search *s)
{
    for (int i = 0; i < HOLO_COUNT(usual); i++) candidate_add(s, usual[i]);
    for (int twice = 1; twice <= 2; twice++) // a window of stride 2 halves a size on its way to a weight
        for (int i = 0; i < s->graph->value_count; i++) {
            const HoloValue *v = s->graph->values[i];
            for (int d = 0; v->is_constant && d < v->type.rank; d++) candidate_add(s, v->type.dim[d] * twice);
        }
}

// ---- names that are expressions

enum { NAME_DEPTH = 16 };

// The value of an expression of sizes of inputs. False: of others, too, or it is too deep or too large.
static bool value_of(const Search *s, HoloDim d, int depth, int64_t *out)
{
    *out = d;
    if (!holo_dim_is_symbolic(d)) return true;
    if (d == HOLO_DIM_UNKNOWN || depth == NAME_DEPTH) return false;
    const HoloDimNode *node = holo_dims_node(s->graph->dims, holo_dim_entry(d));
    int64_t            a, b;
    if (node->op == HOLO_DIM_SYMBOL) {
        *out = node->a < s->symbol_count ? s->number[node->a] : 0;
        return node->a < s->symbol_count && s->is_used[node->a];
    }
    return value_of(s, node->a, depth + 1, &a) && value_of(s, node->b, depth + 1, &b) &&
           holo_dim_apply(node->op, a, b, out);
}

static void names_read(Search *s)
{
    for (int i = 0; i < s->symbol_count; i++) {
        const char *name = holo_dims_symbol_name(s->graph->dims, i);
        int64_t     value;
        HoloDim     d;
        s->spelled[i] = HOLO_DIM_UNKNOWN;
        if (!s->is_used[i] || !strpbrk(name, "+-*/") || !holo_dim_parse(s->graph->dims, name, &d)) continue;
        if (symbol_of(s->graph, d) < 0 && value_of(s, d, 0, &value)) s->spelled[i] = d;
    }
}

static void names_apply(Search *s)
{
    int64_t value;
    for (int i = 0; i < s->symbol_count; i++)
        if (s->spelled[i] != HOLO_DIM_UNKNOWN && value_of(s, s->spelled[i], 0, &value) && value > 0)
            s->number[i] = value;
}

// False: no name says anything.
static bool names_forget(Search *s)
{
    bool any = false;
    for (int i = 0; i < s->symbol_count; i++) {
        any |= s->spelled[i] != HOLO_DIM_UNKNOWN;
        s->spelled[i] = HOLO_DIM_UNKNOWN;
    }
    return any;
}

// ---- the search

// How many nodes accept the current numbers.
static int score(Search *s)
{
    int       done = 0;
    HoloError why  = {0};
    names_apply(s);
    for (int i = 0; i < s->graph->input_count; i++) {
        HoloTensor *t = &s->graph->inputs[i]->type;
        *t            = s->types[i];
        for (int d = 0; d < t->rank; d++) {
            int symbol = symbol_of(s->graph, t->dim[d]);
            if (symbol >= 0 && symbol < s->symbol_count) t->dim[d] = s->number[symbol];
        }
    }
    s->tries++;
    if (holo_graph_infer_count(s->graph, &done, &why)) return done;
    return s->graph->node_count;
}

// Changes the one symbol that helps most. False: none helps.
static bool improve(Search *s, int *best)
{
    int best_symbol = -1, best_candidate = 0, before = *best;
    for (int symbol = 0; symbol < s->symbol_count; symbol++) {
        int64_t kept    = s->number[symbol];
        bool    is_free = s->is_used[symbol] && s->spelled[symbol] == HOLO_DIM_UNKNOWN;
        for (int i = 0; is_free && i < s->candidate_count && s->tries < TRIES; i++) {
            s->number[symbol] = s->candidate[i];
            int now           = score(s);
            if (now <= *best) continue;
            *best          = now;
            best_symbol    = symbol;
            best_candidate = i;
            if (now == s->graph->node_count) break;
        }
        s->number[symbol] = kept;
        if (*best == s->graph->node_count) break;
    }
    if (best_symbol >= 0) s->number[best_symbol] = s->candidate[best_candidate];
    return *best > before;
}

static HoloStatus search_init(Search *s, HoloArena *arena, HoloError *error)
{
    HoloGraph *graph = s->graph;
    s->symbol_count  = holo_dims_symbol_count(graph->dims);
    s->types         = HOLO_NEW(arena, HoloTensor, graph->input_count + 1);
    s->number        = HOLO_NEW(arena, int64_t, s->symbol_count + 1);
    s->is_used       = HOLO_NEW(arena, bool, s->symbol_count + 1);
    s->spelled       = HOLO_NEW(arena, HoloDim, s->symbol_count + 1);
    if (!s->types || !s->number || !s->is_used || !s->spelled) return holo_fail_memory(error);
    int used = 0;
    for (int i = 0; i < graph->input_count; i++) {
        s->types[i] = graph->inputs[i]->type;
        for (int d = 0; d < s->types[i].rank; d++) {
            int symbol = symbol_of(graph, s->types[i].dim[d]);
            if (symbol < 0 || s->is_used[symbol]) continue;
            s->is_used[symbol] = true;
            s->number[symbol]  = 2 + used++ % 8; // different sizes show more mistakes
        }
    }
    names_read(s);
    return HOLO_OK;
}

// Bytes of the largest value for the current numbers, after score.
static size_t largest(const Search *s)
{
    size_t most = 0;
    for (int i = 0; i < s->graph->value_count; i++) {
        const HoloValue *v = s->graph->values[i];
        if (v->is_constant || v->type.kind != HOLO_TENSOR || holo_tensor_count(&v->type) < 0) continue;
        size_t bytes = holo_tensor_bytes(&v->type);
        if (bytes > most) most = bytes;
    }
    return most;
}

// Sets sizes to 1 if values would be large, the model accepts it, and it helps: a batch of images.
static void shrink(Search *s, int best)
{
    score(s);
    size_t before = largest(s);
    for (int symbol = 0; symbol < s->symbol_count && before > LARGE; symbol++) {
        int64_t kept = s->number[symbol];
        if (!s->is_used[symbol] || kept == 1) continue;
        s->number[symbol] = 1;
        int    now        = score(s);
        size_t after      = largest(s);
        if (now < best || after >= before)
            s->number[symbol] = kept;
        else
            before = after;
    }
}

// Makes all symbols equal if that pleases more nodes: sizes that are halved and doubled several times must match.
static void all_same(Search *s, int *best)
{
    int64_t was[CANDIDATES];
    int     count = s->symbol_count < CANDIDATES ? s->symbol_count : 0;
    if (count) memcpy(was, s->number, (size_t)count * sizeof *was);
    for (int i = 0; i < HOLO_COUNT(usual) && count && *best < s->graph->node_count; i++) {
        for (int k = 0; k < count; k++) s->number[k] = usual[i];
        int now = score(s);
        if (now > *best) {
            *best = now;
            memcpy(was, s->number, (size_t)count * sizeof *was);
        }
    }
    if (count) memcpy(s->number, was, (size_t)count * sizeof *was);
}

static int search(Search *s)
{
    s->tries = 0;
    int best = score(s);
    while (best < s->graph->node_count && s->tries < TRIES && improve(s, &best)) continue;
    if (best < s->graph->node_count) all_same(s, &best);
    return best;
}

int64_t *holo_sizes_find(HoloGraph *graph, HoloArena *arena, HoloError *error)
{
    Search s = {.graph = graph};
    if (search_init(&s, arena, error)) return NULL;
    candidates_find(&s);
    int best = search(&s);
    if (best < graph->node_count && names_forget(&s)) best = search(&s);
    shrink(&s, best);
    return s.number;
}
