// torchscript.c - fuzzes the import of scripts: a zip file with the code that the fuzzer makes, and one attribute.
//
// The input is the code; the object is fixed. So the fuzzer need not find out what a zip file is.
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

// Net: training is False, k is 2.
static const char object[] = "\x80\2c__torch__\nNet\n)\x81}(X\10\0\0\0training\x89X\1\0\0\0kK\2ub.";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena       arena = {0};
    HoloError       error = {0};
    HoloModelSource source;
    File            f = {.bytes = malloc(size + 4096)};
    if (!f.bytes || size > 1 << 20) {
        free(f.bytes);
        return 0;
    }
    add(&f, "m/code/__torch__.py", data, size);
    add(&f, "m/data.pkl", object, sizeof object - 1);
    add(&f, "m/constants.pkl", "\x80\2).", 4);
    end(&f);
    HoloStatus status = holo_import_memory(&arena, f.bytes, f.size, &source, &error);
    if (status && !error.text[0]) abort();
    if (!status) {
        if (holo_graph_infer(source.graph, &error) && !error.text[0]) abort();
        holo_import_close(&source);
    }
    holo_arena_deinit(&arena);
    free(f.bytes);
    return 0;
}
