// graph_generate.c - types of nodes that generate tokens: GreedySearch, Sampling, BeamSearch, WhisperBeamSearch.
//
// Their subgraphs keep the types that the model declares. Sizes that are not declared are symbols: one for the
// sequences, one for their new tokens, one for the earlier tokens, one for the source that an encoder reads.
#include "graph/infer.h"
#include "ops/microsoft/generate.h"

#include <string.h>

enum { BATCH, TOKENS, PAST, SOURCE, SIZES };

typedef struct Sizes {
    HoloDims *dims;
    HoloDim   size[SIZES]; // HOLO_DIM_UNKNOWN: not found yet
} Sizes;

static void name_size(Sizes *s, int which, HoloDim *dim)
{
    static const char *const names[] = {"rows", "tokens", "past", "source"};
    if (s->size[which] == HOLO_DIM_UNKNOWN)
        s->size[which] = *dim != HOLO_DIM_UNKNOWN ? *dim : holo_dims_fresh(s->dims, names[which]);
    if (*dim == HOLO_DIM_UNKNOWN) *dim = s->size[which];
}

// Does the decoder say how long the past is? Then past and mask have lengths of their own.
static bool has_past_length(const HoloGraph *body)
{
    for (int i = 0; i < body->input_count; i++)
        if (holo_search_feed(body->inputs[i]->name) == HOLO_FEED_PAST_LENGTH) return true;
    return false;
}

static void name_mask(Sizes *s, bool is_shared, HoloDim *dim)
{
    HoloDim past = HOLO_DIM_UNKNOWN;
    if (*dim != HOLO_DIM_UNKNOWN) return;
    name_size(s, PAST, &past);
    *dim = is_shared ? holo_dims_fresh(s->dims, "mask") : holo_dim_add(s->dims, past, s->size[TOKENS]);
}

// `is_own`: a past that the decoder itself gives; other pasts belong to the source.
static void name_input(Sizes *s, HoloTensor *t, HoloFeed feed, bool is_own, bool is_shared)
{
    bool of_source = feed == HOLO_FEED_SOURCE || feed == HOLO_FEED_SOURCE_MASK || feed == HOLO_FEED_STATES;
    if (feed == HOLO_FEED_PAST && (t->rank == 4 || t->rank == 5)) {
        name_size(s, BATCH, &t->dim[t->rank - 4]);
        name_size(s, is_own ? PAST : SOURCE, &t->dim[t->rank - 2]);
    } else if (t->rank >= 2 && feed != HOLO_FEED_PAST) {
        name_size(s, BATCH, &t->dim[0]);
        if (feed == HOLO_FEED_MASK)
            name_mask(s, is_shared, &t->dim[1]);
        else if (t->rank == 2 || feed == HOLO_FEED_STATES)
            name_size(s, of_source ? SOURCE : TOKENS, &t->dim[1]);
    }
    for (int k = 0; k < t->rank; k++)
        if (t->dim[k] == HOLO_DIM_UNKNOWN) t->dim[k] = holo_dims_fresh(s->dims, "dim");
}

static HoloStatus infer_body(HoloInfer *infer, const HoloNode *node, HoloGraph *body)
{
    Sizes s    = {.dims = infer->graph->dims};
    int   past = 0;
    for (int i = 0; i < SIZES; i++) s.size[i] = HOLO_DIM_UNKNOWN;
    if (body->input_count < node->capture_count)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): a subgraph has %d inputs, where %d are captured",
                         node->name, node->type, body->input_count, node->capture_count);
    bool is_shared = has_past_length(body);
    for (int i = 0; i < body->input_count - node->capture_count; i++) {
        HoloFeed feed = holo_search_feed(body->inputs[i]->name);
        name_input(&s, &body->inputs[i]->type, feed, past < body->output_count - 1, is_shared);
        past += feed == HOLO_FEED_PAST;
        body->inputs[i]->type.data = NULL;
        body->inputs[i]->contents  = NULL;
    }
    holo_infer_captures(node, body);
    return holo_infer_graph(body, infer->depth + 1, infer->error);
}

HoloStatus holo_search_infer(HoloInfer *infer, HoloNode *node)
{
    bool       has_beams = strstr(node->type, "Beam") != NULL;
    HoloTensor tokens    = {.dtype = HOLO_I32, .rank = has_beams ? 3 : 2};
    HoloTensor scores    = {.dtype = HOLO_F32, .rank = -1};
    for (int i = 0; i < node->attr_count; i++)
        if (node->attr[i].kind == HOLO_ATTR_GRAPH) HOLO_TRY(infer_body(infer, node, node->attr[i].graph));
    for (int k = 0; k < tokens.rank; k++) tokens.dim[k] = HOLO_DIM_UNKNOWN;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) holo_infer_set_type(infer, node->out[i], i == 0 ? &tokens : &scores);
    return HOLO_OK;
}
