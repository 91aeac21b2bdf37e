// safetensors_writer.c - SafeTensors files for tests. See safetensors_writer.h.
#include "support/safetensors_writer.h"

#include "support/models.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(char **to, size_t *size, const void *data, size_t more)
{
    *to = realloc(*to, *size + more + 1);
    if (!*to) abort();
    if (more) memcpy(*to + *size, data, more);
    *size += more;
    (*to)[*size] = '\0';
}

void safe_add(SafeFile *file, const char *name, const char *dtype, const char *shape, const void *data, size_t size)
{
    char text[512];
    int  length = snprintf(text, sizeof text, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                          file->header_size ? "," : "{", name, dtype, shape, file->data_size, file->data_size + size);
    put(&file->header, &file->header_size, text, (size_t)length);
    put(&file->data, &file->data_size, data, size);
}

unsigned char *safe_bytes(const char *header, const void *data, size_t data_size, size_t *out_size)
{
    uint64_t       length = strlen(header);
    unsigned char *bytes  = malloc(sizeof length + length + data_size + 1);
    if (!bytes) abort();
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, header, length);
    if (data_size) memcpy(bytes + sizeof length + length, data, data_size);
    *out_size = sizeof length + length + data_size;
    return bytes;
}

// As the format's own writer does, data begins at a multiple of 8.
void safe_save(SafeFile *file, const char *path)
{
    size_t size;
    put(&file->header, &file->header_size, file->header_size ? "}" : "{}", file->header_size ? 1 : 2);
    while (file->header_size % 8) put(&file->header, &file->header_size, " ", 1);
    unsigned char *bytes = safe_bytes(file->header, file->data, file->data_size, &size);
    file_write(path, bytes, size);
    free(bytes);
    free(file->header);
    free(file->data);
    *file = (SafeFile){0};
}
