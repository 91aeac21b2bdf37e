// errors.h - what quantizing a layer does to its own result.
#ifndef HOLO_QUANTIZE_ERRORS_H
#define HOLO_QUANTIZE_ERRORS_H

#include "quantize/narrow.h"

// Measures, on a few samples, how far the result of each layer that can be narrow is off if what it reads is as exact
// as without quantization: the root mean square of the error relative to that of the result. Sets it in the layers and
// their reports.
HOLO_MUST HoloStatus holo_errors_measure(const HoloNarrowLayers *narrow, HoloLayers *layers,
                                         const HoloQuantizeOptions *options, HoloError *error);

#endif
