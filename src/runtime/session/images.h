// images.h - a batch of images that are computed each by itself, a few at a time.
//
// What lies between the steps of a large batch is larger than the caches, and each step would wait for memory. Where a plan
// is HOLO_PLAN_SEPARATE, a run is made of several, of as many images as stay in a cache: that takes less time and less memory. How
// many follows from sizes alone.
#ifndef HOLO_RUNTIME_SESSION_IMAGES_H
#define HOLO_RUNTIME_SESSION_IMAGES_H

#include "ops/value.h"

typedef struct HoloImages {
    HoloTensor        *for_in;      // the inputs whose sizes were looked at last
    HoloTensor        *in;          // some images of these
    const HoloTensor **list;        // pointers to those
    bool              *is_split;    // by number of the input: it begins with the images
    HoloTensor        *out;         // of all images
    int64_t            count, part; // images, and how many at a time; part 0: all at once
    bool               is_known;    // what is above
    bool               is_used;     // the last run went by parts
    char              *memory;      // of outputs that are not in the caller's
    size_t             memory_size;
} HoloImages;

// How many of so many images, whose values take `memory`, stay in a cache; 0: all.
int64_t holo_images_part(int64_t count, uint64_t memory);
// Binds the frame of the model's plan to the inputs, or to some images of them: *out_parts tells which.
HOLO_MUST HoloStatus holo_images_bind(HoloSession *session, const HoloTensor *const *inputs, bool *out_parts,
                                      HoloError *error);
// Runs it on all of them, some images after the other, to which it is bound so. Outputs are then images->out.
HOLO_MUST HoloStatus holo_images_run(HoloSession *session, const HoloTensor *const *inputs, HoloError *error);
void                 holo_images_deinit(HoloImages *images);

#endif
