// openvino.c - fuzzes the reader of XML and the import of OpenVINO's networks. The weights are behind a zero byte.
#include "import_use.h"

#include <stdio.h>
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
    import_use(status, &source, &arena, &error);
    unlink(xml);
    unlink(bin);
    return 0;
}
