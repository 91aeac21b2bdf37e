// safetensors_writer.h - SafeTensors files for tests. It shares no code with the importer.
#ifndef HOLO_TESTS_SAFETENSORS_WRITER_H
#define HOLO_TESTS_SAFETENSORS_WRITER_H

#include <stddef.h>

typedef struct SafeFile { // zero-initialize
    char  *header, *data;
    size_t header_size, data_size;
} SafeFile;

// A tensor: `dtype` and `shape` as the header has them, "F32" and "2,3".
void safe_add(SafeFile *file, const char *name, const char *dtype, const char *shape, const void *data, size_t size);
// Writes the file, which must be possible, and uses it up.
void safe_save(SafeFile *file, const char *path);
// The bytes of a file with any header and any data, for free().
unsigned char *safe_bytes(const char *header, const void *data, size_t data_size, size_t *out_size);

#endif
