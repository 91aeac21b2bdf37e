// fit.h - how large an archive becomes: filters that are stored transformed are larger than the model has them, and save time.
#ifndef HOLO_PLAN_FIT_H
#define HOLO_PLAN_FIT_H

#include "plan/plan.h"

typedef struct HoloFit {
    uint32_t stored, given_up;           // layers whose transformed filters are stored, and are not
    uint64_t bytes_bought, bytes_spared; // what these are larger than other forms of the same filters, or would be
    double   work, work_more;            // multiplications of a run of all these layers; more, for what is not stored
} HoloFit;

// Lets go of transformed filters until what the plan, which is of the lowered graph, stores is at most `budget` bytes, or there
// are none:
// those that save least for their bytes first. Nodes are lowered in another way; *out_changed: the graph is to be planned anew.
HOLO_MUST HoloStatus holo_plan_fit(HoloLowered *lowered, const HoloPlan *plan, uint64_t budget, HoloNotes *notes,
                                   HoloFit *out, bool *out_changed, HoloError *error);

#endif
