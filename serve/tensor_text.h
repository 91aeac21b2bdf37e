// tensor_text.h - tensors as numbers of JSON, and as the bytes of KServe's binary extension.
#ifndef HOLO_SERVE_TENSOR_TEXT_H
#define HOLO_SERVE_TENSOR_TEXT_H

#include "json_read.h"

#include "hologram.h"

// Reads `t` (its type and shape are set) from an array of JSON, nested or not. *out_owned gets the memory. False: `why`.
bool tensor_from_json(HoloTensor *t, const char *data, size_t size, void **out_owned, char *why, size_t room);
// Reads it from bytes, little-endian; strings have their length before them. *out_owned is NULL if the tensor uses the
// bytes as they are.
bool tensor_from_bytes(HoloTensor *t, const char *data, size_t size, void **out_owned, char *why, size_t room);
// Writes an array of numbers. Those that JSON does not have become null. False: the type has none, or no memory.
bool   tensor_to_json(const HoloTensor *t, Bytes *out);
bool   tensor_to_bytes(const HoloTensor *t, Bytes *out);
size_t tensor_wire_size(const HoloTensor *t); // of those bytes

#endif
