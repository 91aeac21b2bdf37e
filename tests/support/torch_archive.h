// torch_archive.h - files of TorchScript for tests: a zip file of entries that are texts, or bytes in hexadecimal.
#ifndef HOLO_TESTS_TORCH_ARCHIVE_H
#define HOLO_TESTS_TORCH_ARCHIVE_H

#include "support/models.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bytes {
    unsigned char *data;
    size_t         size, room;
} Bytes;

static inline void put(Bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->room) b->data = realloc(b->data, b->room = 2 * (b->size + size) + 64);
    assert_non_null(b->data);
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void number(Bytes *b, uint32_t value, size_t size)
{
    put(b, &value, size);
}

// The fields that the header before an entry and its row of the directory share.
static inline void header(Bytes *b, uint32_t size, uint32_t name_size)
{
    number(b, 20, 2); // version
    number(b, 0, 4);  // flags, method
    number(b, 0, 4);  // time
    number(b, 0, 4);  // checksum: PyTorch may leave it out
    number(b, size, 4);
    number(b, size, 4);
    number(b, name_size, 2);
    number(b, 0, 2);
}

static inline void add_entry(Bytes *file, Bytes *directory, const char *name, const void *data, size_t size)
{
    uint32_t at = (uint32_t)file->size;
    put(file, "PK\3\4", 4);
    header(file, (uint32_t)size, (uint32_t)strlen(name));
    put(file, name, strlen(name));
    put(file, data, size);
    put(directory, "PK\1\2", 4);
    number(directory, 20, 2);
    header(directory, (uint32_t)size, (uint32_t)strlen(name));
    number(directory, 0, 4);
    number(directory, 0, 2);
    number(directory, 0, 4);
    number(directory, at, 4);
    put(directory, name, strlen(name));
}

static inline Bytes archive_of(const json_t *entries)
{
    Bytes       file = {0}, directory = {0};
    const char *name;
    json_t     *value;
    uint32_t    count = 0;
    json_object_foreach((json_t *)entries, name, value)
    {
        char        path[300];
        const char *text = json_string_value(value);
        size_t      size = strlen(text);
        snprintf(path, sizeof path, "m/%s", name);
        bool           is_hex = !strstr(name, ".py");
        unsigned char *bytes  = malloc(size + 1);
        memcpy(bytes, text, size + 1);
        for (size_t i = 0; is_hex && i < size / 2; i++) {
            unsigned byte;
            assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
            bytes[i] = (unsigned char)byte;
        }
        add_entry(&file, &directory, path, bytes, is_hex ? size / 2 : size);
        free(bytes);
        count++;
    }
    uint32_t at = (uint32_t)file.size;
    put(&file, directory.data, directory.size);
    put(&file, "PK\5\6\0\0\0\0", 8);
    number(&file, count, 2);
    number(&file, count, 2);
    number(&file, (uint32_t)directory.size, 4);
    number(&file, at, 4);
    number(&file, 0, 2);
    free(directory.data);
    return file;
}

#endif
