// fit.c - chooses which layers store their filters transformed, if storing all of them would make the archive too
// large.
#include "plan/fit.h"

#include <stdlib.h>
#include <string.h>

typedef struct Layer {
    HoloLoweredNode *of;
    int              order;
    HoloLowering     way; // the way that takes the fewest bytes
    uint64_t         extra;
    double           work, more; // multiplications now, and how many more without the extra bytes
} Layer;

typedef struct Layers {
    HoloArena arena;
    Layer    *list;
    int       count, room;
} Layers;

static uint64_t packed_bytes(const HoloTarget *target, const HoloNode *node, const HoloLowering *way)
{
    return target->packing(way, &node->in[way->pack_input]->type).bytes;
}

// Finds the way with the fewest bytes and, among equals, the least work.
static bool other_way(const HoloTarget *target, const HoloLoweredNode *of, Layer *out)
{
    const HoloNode *node = of->node;
    HoloLowering    ways[HOLO_LOWER_WAYS];
    int             count = target->ways(node, ways), best = -1;
    uint64_t        bytes = packed_bytes(target, node, &of->lowering), least = bytes;
    double          work = target->cost(node, &of->lowering), best_work = 0;
    for (int i = 0; i < count; i++) {
        double cost = target->cost(node, &ways[i]);
        if (cost < 0) continue;
        uint64_t size = packed_bytes(target, node, &ways[i]);
        if (size >= bytes || size > least || (size == least && best >= 0 && cost >= best_work)) continue;
        best = i, least = size, best_work = cost;
    }
    if (best < 0) return false;
    *out = (Layer){
        .way = ways[best], .extra = bytes - least, .work = work, .more = best_work > work ? best_work - work : 0};
    return true;
}

static HoloStatus layers_find(Layers *layers, const HoloLowered *lowered, HoloError *error)
{
    for (int i = 0; i < lowered->count; i++) {
        HoloLoweredNode  *of     = &lowered->nodes[i];
        const HoloTarget *target = holo_lowered_target(lowered, of);
        Layer             layer;
        if (!target->is_enlarged || !target->is_enlarged(&of->lowering)) continue;
        if (!other_way(target, of, &layer)) continue;
        layer.of    = of;
        layer.order = layers->count;
        if (!HOLO_GROW(&layers->arena, layers->list, layers->count, layers->room)) return holo_fail_memory(error);
        layers->list[layers->count++] = layer;
    }
    return HOLO_OK;
}

// Sorts by what a layer saves for its bytes, the best first. Equal layers keep their order.
static int by_worth(const void *a, const void *b)
{
    const Layer *x = a, *y = b;
    double       left = x->more * (double)y->extra, right = y->more * (double)x->extra;
    if (left != right) return left > right ? -1 : 1;
    return x->order - y->order;
}

static void note(HoloNotes *notes, const Layer *layer, bool stored)
{
    char        text[HOLO_NOTE_TEXT];
    double      percent = layer->work > 0 ? 100 * layer->more / layer->work : 0;
    const char *about   = percent < 0.5 ? "less than" : "about";
    if (percent < 0.5) percent = 1;
    if (stored)
        holo_note_text(text,
                       "they are stored transformed; without these bytes the layer would take %s %.0f %% more work",
                       about, percent);
    else
        holo_note_text(text,
                       "stored transformed they would make the archive too large: the layer takes %s %.0f %% more work "
                       "(--size fast stores them)",
                       about, percent);
    holo_notes_add(notes, &(HoloNote){.pass    = "size",
                                      .place   = layer->of->node->out[0]->name,
                                      .what    = "filters of a 3x3 convolution",
                                      .why     = text,
                                      .verdict = stored ? HOLO_VERDICT_MADE : HOLO_VERDICT_OVER_BUDGET,
                                      .bytes   = layer->extra});
}

static uint64_t plan_bytes(const HoloPlan *plan)
{
    uint64_t bytes = 0;
    for (int i = 0; i < HOLO_SECTION_LIMIT; i++) bytes += plan->section[i].size;
    for (uint32_t i = 0; i < plan->constant_count; i++) bytes += holo_align(plan->constants[i].size, HOLO_WEIGHT_ALIGN);
    return bytes;
}

HoloStatus holo_plan_fit(HoloLowered *const *lowered, int count, const HoloPlan *plan, uint64_t budget,
                         HoloNotes *notes, HoloFit *out, bool *out_changed, HoloError *error)
{
    Layers     layers = {0};
    uint64_t   bytes  = plan_bytes(plan);
    HoloStatus status = HOLO_OK;
    *out              = (HoloFit){0};
    for (int i = 0; i < count && !status; i++) status = layers_find(&layers, lowered[i], error);
    for (int i = 0; i < layers.count; i++) bytes -= layers.list[i].extra < bytes ? layers.list[i].extra : bytes;
    if (!status && layers.count) qsort(layers.list, (size_t)layers.count, sizeof *layers.list, by_worth);
    for (int i = 0; !status && i < layers.count; i++) {
        const Layer *layer = &layers.list[i];
        bool         fits  = bytes + layer->extra <= budget;
        out->work += layer->work;
        note(notes, layer, fits);
        if (fits) {
            bytes += layer->extra;
            out->bytes_bought += layer->extra;
            out->stored++;
            continue;
        }
        layer->of->lowering = layer->way;
        out->work_more += layer->more;
        out->bytes_spared += layer->extra;
        out->given_up++;
    }
    *out_changed = out->given_up > 0;
    holo_arena_deinit(&layers.arena);
    return status;
}
