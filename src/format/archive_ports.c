// archive_ports.c - checks that the two plans of an entry are the same to a caller: inputs, outputs and states have the
// same names and types.
//
// Sizes may differ, since each plan checks what it is given when sizes are bound.
#include "format/archive_ports.h"

// Value i of those that begin at `first`.
static const HoloValueRecord *port_at(const HoloArchive *a, const HoloPlanRecord *p, uint32_t first, uint32_t i)
{
    return &a->VALUES_at[p->value_first + a->OPERANDS_at[first + i]];
}

// Names are one text, so that this takes time in proportion to the file.
static bool ports_agree(const HoloValueRecord *x, const HoloValueRecord *y)
{
    return x->name == y->name && x->dtype == y->dtype && x->kind == y->kind && x->inner == y->inner &&
           x->rank == y->rank && holo_value_is_state(x) == holo_value_is_state(y);
}

static bool plans_agree(const HoloArchive *a, const HoloPlanRecord *p, const HoloPlanRecord *q)
{
    if (p->input_count != q->input_count || p->output_count != q->output_count) return false;
    for (uint32_t i = 0; i < p->input_count; i++)
        if (!ports_agree(port_at(a, p, p->input_first, i), port_at(a, q, q->input_first, i))) return false;
    for (uint32_t i = 0; i < p->output_count; i++)
        if (!ports_agree(port_at(a, p, p->output_first, i), port_at(a, q, q->output_first, i))) return false;
    return true;
}

HoloStatus holo_archive_check_ports(const HoloArchive *a, HoloError *error)
{
    for (size_t i = 0; i < a->DEVICE_PLANS_count; i++) {
        const HoloPlanRecord *p = &a->PLANS_at[a->ENTRIES_count ? a->ENTRIES_at[i].plan : 0];
        if (!plans_agree(a, p, &a->PLANS_at[a->DEVICE_PLANS_at[i]]))
            return holo_fail(error, HOLO_BAD_ARCHIVE, "the two plans of entry %zu differ in their inputs or outputs",
                             i);
    }
    return HOLO_OK;
}
