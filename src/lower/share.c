// share.c - weights that a plan for the CPU and one for devices read: the device's node takes them as the CPU packs them,
// where its target can do that.
#include "lower/lower.h"

#include <string.h>

static bool is_same(const HoloTensor *a, const HoloTensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return a->data == b->data || !memcmp(a->data, b->data, holo_tensor_bytes(a));
}

// The weights that a node packs; NULL: none.
static const HoloTensor *packed_by(const HoloLoweredNode *of)
{
    const HoloValue *v =
        of->lowering.kernel && of->lowering.pack_input >= 0 ? of->node->in[of->lowering.pack_input] : NULL;
    return v && v->is_constant && v->type.data && v->type.dtype != HOLO_STRING ? &v->type : NULL;
}

// The node that reads what the transfer brings. It is the only one, since the transfer packs.
static HoloLoweredNode *reader_of(const HoloLowered *lowered, const HoloNode *transfer)
{
    for (int i = 0; i < lowered->count; i++) {
        const HoloNode *node = lowered->nodes[i].node;
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] == transfer->out[0]) return &lowered->nodes[i];
    }
    return NULL;
}

static void weights_share(HoloLowered *lowered, HoloLoweredNode *transfer, const HoloLowered *host)
{
    const HoloTarget *target = holo_lowered_target(lowered, transfer);
    const HoloTensor *w      = packed_by(transfer);
    HoloLoweredNode  *reader = w && target->share ? reader_of(lowered, transfer->node) : NULL;
    for (int i = 0; reader && i < host->count; i++) {
        const HoloLoweredNode *of    = &host->nodes[i];
        const HoloTensor      *other = packed_by(of);
        HoloLowering           brings, reads;
        if (!other || !is_same(w, other)) continue;
        brings = transfer->lowering;
        reads  = reader->lowering;
        if (!target->share(&brings, &of->lowering, w) || !target->share(&reads, &of->lowering, w)) continue;
        transfer->lowering = brings;
        reader->lowering   = reads;
        transfer->shares   = of;
        return;
    }
}

void holo_lowered_share(HoloLowered *lowered, const HoloLowered *host)
{
    for (int i = 0; i < lowered->count; i++)
        if (lowered->nodes[i].target && HOLO_IS(lowered->nodes[i].node, HOLOGRAM_Transfer))
            weights_share(lowered, &lowered->nodes[i], host);
}
