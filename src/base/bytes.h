// bytes.h - finds bytes in bytes.
#ifndef HOLO_BASE_BYTES_H
#define HOLO_BASE_BYTES_H

#include <stddef.h>

// Where `part` begins in the bytes; NULL: it is not there.
const void *holo_bytes_find(const void *bytes, size_t size, const void *part, size_t part_size);

#endif
