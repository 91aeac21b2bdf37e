// zip_import.h - a zip file whose entries are stored, and its import: for fuzzers of formats that come as zip files.
#ifndef HOLO_FUZZ_ZIP_IMPORT_H
#define HOLO_FUZZ_ZIP_IMPORT_H

#include "import_use.h"

#include <string.h>

typedef struct File {
    uint8_t *bytes;
    size_t   size;
    uint8_t  directory[1024];
    size_t   directory_size;
    int      count;
} File;

static void number(uint8_t **at, uint32_t value, int size)
{
    for (int i = 0; i < size; i++) *(*at)++ = (uint8_t)(value >> (8 * i));
}

static void add(File *f, const char *name, const void *data, size_t size)
{
    uint8_t *at = f->bytes + f->size, *row = f->directory + f->directory_size;
    uint32_t length = (uint32_t)strlen(name), place = (uint32_t)f->size;
    memcpy(at, "PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    at += 18;
    number(&at, (uint32_t)size, 4);
    number(&at, (uint32_t)size, 4);
    number(&at, length, 4);
    memcpy(at, name, length);
    if (size) memcpy(at + length, data, size);
    f->size = (size_t)(at - f->bytes) + length + size;
    memcpy(row, "PK\1\2\24\0\24\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    row += 20;
    number(&row, (uint32_t)size, 4);
    number(&row, (uint32_t)size, 4);
    number(&row, length, 4);
    number(&row, 0, 4);
    number(&row, 0, 4);
    number(&row, 0, 2);
    number(&row, place, 4);
    memcpy(row, name, length);
    f->directory_size = (size_t)(row - f->directory) + length;
    f->count++;
}

static void end(File *f)
{
    uint32_t place = (uint32_t)f->size;
    memcpy(f->bytes + f->size, f->directory, f->directory_size);
    uint8_t *at = f->bytes + f->size + f->directory_size;
    memcpy(at, "PK\5\6\0\0\0\0", 8);
    at += 8;
    number(&at, (uint32_t)f->count, 2);
    number(&at, (uint32_t)f->count, 2);
    number(&at, (uint32_t)f->directory_size, 4);
    number(&at, place, 4);
    number(&at, 0, 2);
    f->size = (size_t)(at - f->bytes);
}

// Imports the zip file.
static void import(File *f)
{
    end(f);
    import_memory(f->bytes, f->size);
    free(f->bytes);
}

#endif
