// images.h - batches whose images are computed each by itself, a few at a time.
//
// The values between the steps of a large batch are larger than the caches, so each step would wait for memory. If a
// plan is HOLO_PLAN_SEPARATE, a run consists of several, each of as many images as stay in a cache. That takes less
// time and less memory. How many images depends on sizes alone.
#ifndef HOLO_RUNTIME_SESSION_IMAGES_H
#define HOLO_RUNTIME_SESSION_IMAGES_H

#include "ops/value.h"

typedef struct HoloImages {
    HoloTensor        *for_in;      // the inputs whose sizes were examined last
    HoloTensor        *in;          // some images of these
    const HoloTensor **list;        // pointers to those
    bool              *is_split;    // by number of the input: its first size counts the images
    HoloTensor        *out;         // for all images
    int64_t            count, part; // images, and how many at a time; part 0: all at once
    bool               is_known;    // everything above is known
    bool               is_used;     // the last run went by parts
    char              *memory;      // of outputs that are not in the caller's memory
    size_t             memory_size;
} HoloImages;

// How many of `count` images, whose values take `memory`, stay in a cache; 0: all.
int64_t holo_images_part(int64_t count, uint64_t memory);
// Binds the frame of the model's plan to the inputs, or to some images of them: *out_parts says which.
HOLO_MUST HoloStatus holo_images_bind(HoloSession *session, const HoloTensor *const *inputs, bool *out_parts,
                                      HoloError *error);
// Runs the plan on all images, some at a time, as it is bound. The outputs are then images->out.
HOLO_MUST HoloStatus holo_images_run(HoloSession *session, const HoloTensor *const *inputs, HoloError *error);
void                 holo_images_deinit(HoloImages *images);

#endif
