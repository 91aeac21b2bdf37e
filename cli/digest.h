// digest.h - SHA-1 and SHA-256 of files: what the hub knows its files by.
#ifndef HOLO_CLI_DIGEST_H
#define HOLO_CLI_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Digest {
    uint32_t state[8];
    int      words; // of the result: 5 for SHA-1, 8 for SHA-256
    uint64_t size;  // bytes so far
    uint8_t  block[64];
} Digest;

enum { DIGEST_TEXT = 65 };

void digest_begin(Digest *digest, bool is_sha256);
void digest_add(Digest *digest, const void *data, size_t size);
void digest_end(Digest *digest, char out[DIGEST_TEXT]); // in hexadecimal digits

#endif
