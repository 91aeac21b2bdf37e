// flexbuffer.h - numbers of a map in FlexBuffers, the form in which custom operators of TensorFlow Lite have their options.
// Each offset is checked before it is used. What is not there, or not well formed, gives the fallback.
#ifndef HOLO_IMPORT_WIRE_FLEXBUFFER_H
#define HOLO_IMPORT_WIRE_FLEXBUFFER_H

#include "base/base.h"

// Whole numbers of a list. Returns how many there are; -1: there is no such list, or it has more than `room`.
int holo_flex_ints(const uint8_t *bytes, size_t size, const char *key, int64_t *out, int room);
// Text number `index` of a buffer that is a list of texts. False: it is not.
bool   holo_flex_text(const uint8_t *bytes, size_t size, uint64_t index, HoloString *out);
double holo_flex_number(const uint8_t *bytes, size_t size, const char *key, double fallback);

#endif
