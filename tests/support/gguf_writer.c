// gguf_writer.c - GGUF files for tests. See gguf_writer.h.
#include "support/gguf_writer.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32 };

void gguf_put(GgufBytes *to, const void *data, size_t size)
{
    to->data = realloc(to->data, to->size + size + 1);
    if (!to->data) abort();
    if (size) memcpy(to->data + to->size, data, size);
    to->size += size;
}

void gguf_put_number(GgufBytes *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) gguf_put(to, &(unsigned char){(unsigned char)(number >> 8 * i)}, 1);
}

void gguf_put_text(GgufBytes *to, const char *text)
{
    gguf_put_number(to, strlen(text), 8);
    gguf_put(to, text, strlen(text));
}

void gguf_key(GgufFile *file, const char *key, uint32_t kind)
{
    gguf_put_text(&file->meta, key);
    gguf_put_number(&file->meta, kind, 4);
    file->entries++;
}

void gguf_u32(GgufFile *file, const char *key, uint32_t value)
{
    gguf_key(file, key, 4);
    gguf_put_number(&file->meta, value, 4);
}

void gguf_f32(GgufFile *file, const char *key, float value)
{
    gguf_key(file, key, 6);
    gguf_put(&file->meta, &value, sizeof value);
}

void gguf_text(GgufFile *file, const char *key, const char *value)
{
    gguf_key(file, key, 8);
    gguf_put_text(&file->meta, value);
}

static void pad(GgufBytes *to)
{
    while (to->size % ALIGNMENT) gguf_put(to, "", 1);
}

void gguf_tensor(GgufFile *file, const char *name, uint32_t type, const uint64_t *sizes, const void *data, size_t size)
{
    uint32_t rank = 0;
    while (sizes[rank]) rank++;
    pad(&file->data);
    gguf_put_text(&file->infos, name);
    gguf_put_number(&file->infos, rank, 4);
    for (uint32_t i = 0; i < rank; i++) gguf_put_number(&file->infos, sizes[i], 8);
    gguf_put_number(&file->infos, type, 4);
    gguf_put_number(&file->infos, file->data.size, 8);
    gguf_put(&file->data, data, size);
    file->tensors++;
}

unsigned char *gguf_bytes(GgufFile *file, uint32_t version, size_t *out_size)
{
    GgufBytes all = {0};
    gguf_put(&all, "GGUF", 4);
    gguf_put_number(&all, version, 4);
    gguf_put_number(&all, file->tensors, 8);
    gguf_put_number(&all, file->entries, 8);
    gguf_put(&all, file->meta.data, file->meta.size);
    gguf_put(&all, file->infos.data, file->infos.size);
    if (file->data.size) pad(&all);
    gguf_put(&all, file->data.data, file->data.size);
    free(file->meta.data);
    free(file->infos.data);
    free(file->data.data);
    *file     = (GgufFile){0};
    *out_size = all.size;
    return all.data;
}
