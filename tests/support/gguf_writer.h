// gguf_writer.h - GGUF files for tests. It shares no code with the reader.
#ifndef HOLO_TESTS_GGUF_WRITER_H
#define HOLO_TESTS_GGUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct GgufBytes { // zero-initialize
    unsigned char *data;
    size_t         size;
} GgufBytes;

typedef struct GgufFile { // zero-initialize
    GgufBytes meta, infos, data;
    uint64_t  entries, tensors;
} GgufFile;

void gguf_put(GgufBytes *to, const void *data, size_t size);
void gguf_put_number(GgufBytes *to, uint64_t number, size_t size); // its low bytes
void gguf_put_text(GgufBytes *to, const char *text);

// A key, and the kind of the value that the caller puts behind it into `meta`.
void gguf_key(GgufFile *file, const char *key, uint32_t kind);
void gguf_u32(GgufFile *file, const char *key, uint32_t value);
void gguf_f32(GgufFile *file, const char *key, float value);
void gguf_text(GgufFile *file, const char *key, const char *value);
// A tensor with sizes as the file has them, the innermost first, ended by 0. Its data is put at a multiple of 32.
void gguf_tensor(GgufFile *file, const char *name, uint32_t type, const uint64_t *sizes, const void *data, size_t size);
// The bytes of the file, for free(), and uses it up.
unsigned char *gguf_bytes(GgufFile *file, uint32_t version, size_t *out_size);

#endif
