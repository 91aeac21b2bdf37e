// errors.h - what quantizing a layer does to its own result.
#ifndef HOLO_QUANTIZE_ERRORS_H
#define HOLO_QUANTIZE_ERRORS_H

#include "quantize/narrow.h"

// Of each layer that can be narrow: how far its result is off, in the root mean square over that of the result itself, when
// what it reads is as exact as without quantization. Measured on a few samples; it is set in the layers and their reports.
HOLO_MUST HoloStatus holo_errors_measure(const HoloNarrowLayers *narrow, HoloLayers *layers,
                                         const HoloQuantizeOptions *options, HoloError *error);

#endif
