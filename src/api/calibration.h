// calibration.h - samples of a model's inputs, from files or made up.
#ifndef HOLO_API_CALIBRATION_H
#define HOLO_API_CALIBRATION_H

#include "hologram_compiler.h"
#include "quantize/quantize.h"

typedef struct HoloCalibration { // zero-initialize
    HoloSamples   samples;       // views of what follows
    HoloArena     arena;
    HoloTensors **tensors;
    int           tensor_count, tensor_room, sample_room;
} HoloCalibration;

// Samples for the inputs of `graph` from the file or folder at `path`, as holo_compiler_set_calibration says; NULL: from a
// seed. To be ended in any case.
HOLO_MUST HoloStatus holo_calibration_read(HoloCalibration *calibration, const HoloGraph *graph, const char *path,
                                           HoloError *error);
void                 holo_calibration_deinit(HoloCalibration *calibration);

#endif
