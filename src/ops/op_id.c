// op_id.c - the identity of operators. See op_id.h.
#include "ops/op_id.h"

#include <string.h>

static const struct {
    const char *domain, *name;
} names[HOLO_ID_COUNT] = {
#define X(id, domain, name) [HOLO_ID_##id] = {domain, name},
#include "ops/op_ids.def"
#undef X
};

HoloOpId holo_op_id(const char *domain, const char *name)
{
    int low = HOLO_ID_NONE + 1, high = HOLO_ID_COUNT;
    while (low < high) {
        int middle = (low + high) / 2, order = strcmp(names[middle].name, name);
        if (!order) order = strcmp(names[middle].domain, domain);
        if (!order) return (HoloOpId)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return HOLO_ID_NONE;
}

const char *holo_op_id_name(HoloOpId id)
{
    return names[id].name;
}

const char *holo_op_id_domain(HoloOpId id)
{
    return names[id].domain;
}

const HoloOp *holo_op_of(HoloOpId id, int version)
{
    return holo_op_find(names[id].domain, names[id].name, version);
}

bool holo_op_is(const HoloOp *op, HoloOpId id)
{
    return !strcmp(op->name, names[id].name) && !strcmp(op->domain ? op->domain : "", names[id].domain);
}
