// png_write.c - writes a picture as a PNG file.
#include "base/bytes.h"
#include "base/files.h"
#include "hologram_image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIDE_MAX = 1 << 15 };

static void put_u32(uint8_t *out, uint32_t n)
{
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(n >> (24 - 8 * i));
}

// A chunk: its length, its kind, its bytes, and a check sum of the last two.
static HoloStatus write_chunk(HoloFileWriter *file, const char *kind, const void *bytes, size_t size, HoloError *error)
{
    uint8_t head[8], tail[4];
    put_u32(head, (uint32_t)size);
    memcpy(head + 4, kind, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (size) sum = crc32(sum, bytes, (uInt)size);
    put_u32(tail, (uint32_t)sum);
    HOLO_TRY(holo_file_write(file, head, sizeof head, error));
    if (size) HOLO_TRY(holo_file_write(file, bytes, size, error));
    return holo_file_write(file, tail, sizeof tail, error);
}

// Each row begins with how it is filtered: by the difference from the pixel before it.
static void filter(const uint8_t *from, uint8_t *to, size_t row, size_t rows, size_t channels)
{
    for (size_t y = 0; y < rows; y++, from += row) {
        *to++ = 1;
        for (size_t i = 0; i < row; i++) *to++ = (uint8_t)(from[i] - (i < channels ? 0 : from[i - channels]));
    }
}

static HoloStatus write_rows(HoloFileWriter *file, const HoloTensor *image, HoloError *error)
{
    size_t   channels = (size_t)image->dim[2], row = (size_t)image->dim[1] * channels, rows = (size_t)image->dim[0];
    uLong    plain    = (uLong)((row + 1) * rows);
    uLongf   packed   = compressBound(plain);
    uint8_t *filtered = malloc(plain + 1), *bytes = malloc(packed);
    int      state = Z_MEM_ERROR;
    if (filtered && bytes) {
        filter(image->data, filtered, row, rows, channels);
        state = compress2(bytes, &packed, filtered, plain, 6);
    }
    HoloStatus status = state == Z_OK ? write_chunk(file, "IDAT", bytes, packed, error) : holo_fail_memory(error);
    free(filtered);
    free(bytes);
    return status;
}

static HoloStatus write_all(HoloFileWriter *file, const HoloTensor *image, HoloError *error)
{
    uint8_t head[13] = {0};
    put_u32(head, (uint32_t)image->dim[1]);
    put_u32(head + 4, (uint32_t)image->dim[0]);
    head[8] = 8;                          // bits
    head[9] = image->dim[2] == 1 ? 0 : 2; // gray, or red, green and blue
    HOLO_TRY(holo_file_write(file, "\x89PNG\r\n\x1a\n", 8, error));
    HOLO_TRY(write_chunk(file, "IHDR", head, sizeof head, error));
    HOLO_TRY(write_rows(file, image, error));
    return write_chunk(file, "IEND", NULL, 0, error);
}

HoloStatus holo_image_write_png(const char *path, const HoloTensor *image, HoloError *error)
{
    HoloFileWriter *file;
    if (image->dtype != HOLO_U8 || image->rank != 3 || !image->data || (image->dim[2] != 1 && image->dim[2] != 3) ||
        image->dim[0] < 1 || image->dim[1] < 1 || image->dim[0] > SIDE_MAX || image->dim[1] > SIDE_MAX)
        return holo_fail(error, HOLO_BAD_INPUT, "'%s': a picture is u8, [height, width, 1 or 3], with sides of 1 to %d",
                         path, SIDE_MAX);
    HOLO_TRY(holo_file_writer_open(path, &file, error));
    HoloStatus status = write_all(file, image, error);
    HoloStatus closed = holo_file_writer_close(file, status == HOLO_OK, error);
    return status ? status : closed;
}
