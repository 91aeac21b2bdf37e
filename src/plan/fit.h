// fit.h - limits the size of an archive. Filters that are stored transformed save time but are larger than in the
// model.
#ifndef HOLO_PLAN_FIT_H
#define HOLO_PLAN_FIT_H

#include "plan/plan.h"

typedef struct HoloFit {
    uint32_t stored, given_up;           // layers whose transformed filters are stored, and layers whose are not
    uint64_t bytes_bought, bytes_spared; // how many more bytes these take, or would take, than in another form
    double   work, work_more;            // multiplications of these layers in a run; how many more without what is not
                                         // stored
} HoloFit;

// Gives up transformed filters until the plan of the lowered graphs stores at most `budget` bytes, or until there are
// none left. Those that save the least for their bytes go first: their nodes are lowered in another way. *out_changed:
// the graph must be planned again.
HOLO_MUST HoloStatus holo_plan_fit(HoloLowered *const *lowered, int count, const HoloPlan *plan, uint64_t budget,
                                   HoloNotes *notes, HoloFit *out, bool *out_changed, HoloError *error);

#endif
