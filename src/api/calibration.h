// calibration.h - samples of a model's inputs, from files or made up.
#ifndef HOLO_API_CALIBRATION_H
#define HOLO_API_CALIBRATION_H

#include "api/compiler.h"
#include "quantize/quantize.h"

typedef struct HoloCalibration { // set to zeros first
    HoloSamples   samples;       // views of the data below
    HoloArena     arena;
    HoloTensors **tensors;
    int           tensor_count, tensor_room, sample_room;
} HoloCalibration;

// Does the compiler have samples?
bool holo_calibration_is_given(const HoloCompiler *compiler);
// The compiler's samples for the inputs of `graph`, in the forms that holo_compiler_set_calibration and
// holo_compiler_add_sample describe. If it has none, they are made from a seed. End it even after a failure.
HOLO_MUST HoloStatus holo_calibration_read(HoloCalibration *calibration, const HoloGraph *graph,
                                           const HoloCompiler *compiler, HoloError *error);
void                 holo_calibration_deinit(HoloCalibration *calibration);

#endif
