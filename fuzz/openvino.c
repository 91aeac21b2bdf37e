// openvino.c - fuzzes the reader of XML and the import of OpenVINO's networks. The weights are behind a zero byte.
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) abort();
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena       arena = {0};
    HoloError       error = {0};
    HoloModelSource source;
    char            xml[64], bin[64];
    const uint8_t  *zero = memchr(data, 0, size);
    size_t          text = zero ? (size_t)(zero - data) : size;
    if (text < 8) return 0;
    snprintf(xml, sizeof xml, "/dev/shm/holo-fuzz-%d.xml", (int)getpid());
    snprintf(bin, sizeof bin, "/dev/shm/holo-fuzz-%d.bin", (int)getpid());
    save(xml, data, text);
    save(bin, zero ? zero + 1 : data, zero ? size - text - 1 : 0);
    HoloStatus status = holo_import_open(&arena, xml, &source, &error);
    if (!status) {
        status = holo_graph_sort(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort(); // the importer gives valid graphs
        if (!status) status = holo_graph_infer(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort();
        holo_import_close(&source);
    }
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    unlink(xml);
    unlink(bin);
    return 0;
}
