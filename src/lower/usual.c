// usual.c - attributes of nodes that kernels are made for.
#include "lower/usual.h"
#include "ops/op_id.h"

#include <string.h>
#include <strings.h>

bool holo_has_usual_activations(const HoloCall *call, int gates)
{
    static const HoloOpId usual[] = {HOLO_ID_Sigmoid, HOLO_ID_Tanh, HOLO_ID_Tanh}; // a GRU has two, an RNN the last
    int                   count = gates == 4 ? 3 : gates == 3 ? 2 : 1, first = gates == 1;
    const HoloAttr       *attr = holo_attr_find(call, "activations");
    if (!attr) return true;
    if (attr->kind != HOLO_ATTR_STRINGS) return false;
    for (int i = 0; i < attr->count; i++) {
        const char *want = holo_op_id_name(usual[first + i % count]);
        HoloString  have = attr->strings[i];
        if (have.size != strlen(want) || strncasecmp(have.data, want, have.size)) return false;
    }
    return true;
}
