// fingerprint.h - FarmHash's fingerprint of 64 bits.
#ifndef HOLO_OPS_FINGERPRINT_H
#define HOLO_OPS_FINGERPRINT_H

#include <stdint.h>

uint64_t holo_fingerprint(const uint8_t *bytes, uint64_t count);

#endif
