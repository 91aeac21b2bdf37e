// import_data.c - makes tensors from bytes of a file: borrows them if they are aligned, else copies them within a
// limit.
#include "import/importer.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are borrowed from little-endian files");

void holo_import_limit(HoloImport *import, size_t size)
{
    size_t grown, fixed = (size_t)256 << 20;
    bool   fits        = holo_size_mul(size, 64, &grown) && holo_size_add(grown, fixed, &import->copied_max);
    import->copied_max = fits ? import->copied_max : SIZE_MAX;
}

HoloStatus holo_import_take(HoloImport *import, HoloString name, int64_t count, size_t size, void **out)
{
    size_t bytes, total;
    if (!holo_size_mul((size_t)count, size, &bytes) || !holo_size_add(bytes, import->copied, &total) ||
        total > import->copied_max)
        return holo_fail(import->error, HOLO_NO_MEMORY,
                         "tensor '%.*s': the constants of the model need far more memory than the size of its file",
                         HOLO_IMPORT_ARG(name));
    import->copied = total;
    *out           = holo_arena_take(import->arena, bytes);
    return *out ? HOLO_OK : holo_fail_memory(import->error);
}

uint64_t holo_import_stored(HoloDtype dtype, int64_t count)
{
    uint64_t n = (uint64_t)count, bits = (uint64_t)holo_dtype_bits(dtype);
    return bits < 8 ? (n * bits + 7) / 8 : n * holo_dtype_size(dtype);
}

HoloStatus holo_import_unpack(HoloImport *import, HoloString name, const uint8_t *bytes, int64_t count, HoloTensor *out)
{
    int      bits = holo_dtype_bits(out->dtype), mask = (1 << bits) - 1;
    int      sign = holo_dtype_class(out->dtype) == HOLO_CLASS_INT ? 1 << (bits - 1) : 0;
    uint8_t *to;
    HOLO_TRY(holo_import_take(import, name, count, 1, &out->data));
    to = out->data;
    for (int64_t i = 0; i < count; i++) { // elements of 6 bits cross byte boundaries
        int64_t place = i * bits;
        int     value = bytes[place / 8] >> place % 8;
        if (place % 8 + bits > 8) value |= bytes[place / 8 + 1] << (8 - place % 8);
        to[i] = (uint8_t)(((value & mask) ^ sign) - sign);
    }
    return HOLO_OK;
}

static bool is_all_bool(const uint8_t *bytes, int64_t count)
{
    uint8_t any = 0;
    for (int64_t i = 0; i < count; i++) any |= bytes[i];
    return any <= 1;
}

static size_t dtype_align(HoloDtype dtype)
{
    return holo_dtype_class(dtype) == HOLO_CLASS_COMPLEX ? holo_dtype_size(dtype) / 2 : holo_dtype_size(dtype);
}

HoloStatus holo_import_bytes(HoloImport *import, HoloString name, const void *bytes, int64_t count, HoloTensor *out)
{
    size_t size = holo_dtype_size(out->dtype);
    if (holo_dtype_bits(out->dtype) < 8) return holo_import_unpack(import, name, bytes, count, out);
    bool usable = (uintptr_t)bytes % dtype_align(out->dtype) == 0;
    if (out->dtype == HOLO_BOOL && !is_all_bool(bytes, count)) usable = false;
    if (usable) {
        out->data = (void *)bytes;
        return HOLO_OK;
    }
    HOLO_TRY(holo_import_take(import, name, count, size, &out->data));
    memcpy(out->data, bytes, (size_t)count * size);
    if (out->dtype == HOLO_BOOL)
        for (int64_t i = 0; i < count; i++) ((uint8_t *)out->data)[i] = ((const uint8_t *)bytes)[i] != 0;
    return HOLO_OK;
}
