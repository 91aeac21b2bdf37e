// tensors.c - values with memory of their own: read from files, made from seeds, or copied from runs.
#include "api/tensors.h"

#include "base/files.h"
#include "import/import.h"

#include <string.h>

HoloStatus holo_tensors_create(HoloTensors **out, HoloError *error)
{
    *out = holo_realloc(NULL, sizeof **out);
    if (!*out) return holo_fail_memory(error);
    **out = (HoloTensors){0};
    return HOLO_OK;
}

void holo_tensors_destroy(HoloTensors *tensors)
{
    if (!tensors) return;
    holo_arena_deinit(&tensors->arena);
    if (tensors->file.data) holo_file_unmap(&tensors->file);
    holo_free(tensors);
}

int holo_tensors_count(const HoloTensors *tensors)
{
    return tensors->count;
}

const HoloTensor *holo_tensors_get(const HoloTensors *tensors, int index, const char **out_name)
{
    if (index < 0 || index >= tensors->count) return NULL;
    if (out_name) *out_name = tensors->entry[index].name ? tensors->entry[index].name : "";
    return &tensors->entry[index].tensor;
}

int holo_tensors_index(const HoloTensors *tensors, const char *name)
{
    for (int i = 0; i < tensors->count; i++)
        if (tensors->entry[i].name && !strcmp(tensors->entry[i].name, name)) return i;
    return -1;
}

const HoloTensor *holo_tensors_find(const HoloTensors *tensors, const char *name)
{
    int index = holo_tensors_index(tensors, name);
    return index < 0 ? NULL : &tensors->entry[index].tensor;
}

HoloStatus holo_tensors_reserve(HoloTensors *tensors, int count, HoloError *error)
{
    tensors->entry = HOLO_NEW(&tensors->arena, HoloNpzEntry, count + 1);
    if (!tensors->entry) return holo_fail_memory(error);
    tensors->count = count;
    return HOLO_OK;
}

// ---- from files: the first bytes tell the format

static bool starts_with(const HoloMapping *file, const char *magic, size_t size)
{
    return file->size >= size && !memcmp(file->data, magic, size);
}

static HoloStatus file_read(HoloTensors *t, const HoloTensor *want, HoloError *error)
{
    static const HoloTensor plain = {.kind = HOLO_TENSOR, .rank = -1};
    const HoloMapping      *file  = &t->file;
    const HoloImporter     *other = holo_import_find_memory(file->data, file->size);
    if (starts_with(file, "PK", 2)) {
        HOLO_TRY(holo_npz_open(&t->arena, file->data, file->size, &t->entry, &t->count, error));
        return t->count ? HOLO_OK
                        : holo_fail(error, HOLO_BAD_INPUT, "it contains no tensor; it looks like %s",
                                    other ? holo_importer_words(other).text : "an empty zip archive");
    }
    HOLO_TRY(holo_tensors_reserve(t, 1, error));
    if (starts_with(file, "\x93NUMPY", 6))
        return holo_npy_read(&t->arena, file->data, file->size, &t->entry[0].tensor, error);
    if (other && !strcmp(holo_importer_name(other), "text"))
        return holo_import_numbers(&t->arena, file->data, file->size, want, &t->entry[0].tensor, error);
    HoloError  why    = {0};
    HoloStatus status = holo_import_pb(&t->arena, file->data, file->size, want ? want : &plain, &t->entry[0].tensor,
                                       &t->entry[0].name, &why);
    if (status && status != HOLO_NO_MEMORY && other)
        return holo_fail(error, HOLO_BAD_INPUT, "this is not a tensor; it looks like %s",
                         holo_importer_words(other).text);
    return status ? holo_fail(error, status, "this is not a tensor that can be read, or it is damaged: %s", why.text)
                  : HOLO_OK;
}

HoloStatus holo_tensors_open(const char *path, const HoloTensor *want, HoloTensors **out_tensors, HoloError *error)
{
    *out_tensors = NULL;
    HoloTensors *t;
    HOLO_TRY(holo_tensors_create(&t, error));
    HoloError  inner  = {0};
    HoloStatus status = holo_file_map(path, &t->file, error);
    if (!status) {
        status = file_read(t, want, &inner);
        // Programs without bf16 (NumPy, ONNX before 1.13) write its bits as u16.
        if (!status && t->count == 1 && want && want->dtype == HOLO_BF16 && t->entry[0].tensor.dtype == HOLO_U16)
            t->entry[0].tensor.dtype = HOLO_BF16;
        if (status) status = holo_fail(error, status, "%s: %s", path, inner.text);
    }
    if (status)
        holo_tensors_destroy(t);
    else
        *out_tensors = t;
    return status;
}

HoloStatus holo_tensors_load(HoloTensors *tensors, int index, HoloError *error)
{
    if (index < 0 || index >= tensors->count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no tensor %d: there are %d", index, tensors->count);
    return holo_npz_load(&tensors->arena, &tensors->entry[index], error);
}

HoloStatus holo_tensors_read(const char *path, const HoloTensor *want, HoloTensors **out_tensors, HoloError *error)
{
    HOLO_TRY(holo_tensors_open(path, want, out_tensors, error));
    HoloStatus status = HOLO_OK;
    HoloError  inner  = {0};
    for (int i = 0; !status && i < (*out_tensors)->count; i++) status = holo_tensors_load(*out_tensors, i, &inner);
    if (!status) return HOLO_OK;
    holo_tensors_destroy(*out_tensors);
    *out_tensors = NULL;
    return holo_fail(error, status, "%s: %s", path, inner.text);
}

HoloStatus holo_tensors_parse(const char *text, const HoloTensor *want, HoloTensors **out_tensors, HoloError *error)
{
    *out_tensors = NULL;
    HoloTensors *t;
    HOLO_TRY(holo_tensors_create(&t, error));
    HoloStatus status = holo_tensors_reserve(t, 1, error);
    if (!status) status = holo_import_numbers(&t->arena, text, strlen(text), want, &t->entry[0].tensor, error);
    if (status)
        holo_tensors_destroy(t);
    else
        *out_tensors = t;
    return status;
}

HoloStatus holo_tensor_write_npy(const char *path, const HoloTensor *tensor, HoloError *error)
{
    return holo_npy_write(path, tensor, error);
}

void holo_tensor_numbers(const HoloTensor *tensor, int64_t start, int64_t count, double *out)
{
    holo_read_f(tensor, start, 1, count, out);
}

void holo_tensor_set_numbers(HoloTensor *tensor, int64_t start, int64_t count, const double *numbers)
{
    holo_write_f(tensor, start, 1, count, numbers);
}

// ---- from seeds

HoloStatus holo_tensor_seed(HoloTensor *t, uint64_t seed, HoloArena *arena, HoloError *error)
{
    int64_t count    = holo_tensor_count(t);
    bool    is_known = t->rank >= 0 && t->kind == HOLO_TENSOR;
    for (int d = 0; is_known && d < t->rank; d++) is_known = t->dim[d] >= 0;
    if (!is_known) return holo_fail(error, HOLO_BAD_ARGUMENT, "only tensors of known size can be made up");
    if (count < 0) return holo_fail(error, HOLO_BAD_ARGUMENT, "a tensor of these sizes is too large");
    t->data = holo_arena_take(arena, holo_tensor_bytes(t) + 1);
    if (!t->data) return holo_fail_memory(error);
    HoloRandom random = {seed};
    HoloClass class   = holo_dtype_class((HoloDtype)t->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (class == HOLO_CLASS_STRING)
            ((HoloString *)t->data)[i] = (HoloString){"a", 1};
        else if (class == HOLO_CLASS_FLOAT)
            holo_put_f(t, i, holo_random_normal(&random));
        else if (class == HOLO_CLASS_COMPLEX)
            holo_put_f(t, i, holo_random_normal(&random));
        else
            holo_put_i(t, i, 1);
    }
    return HOLO_OK;
}

HoloStatus holo_tensors_seeded(const HoloTensor *type, uint64_t seed, HoloTensors **out_tensors, HoloError *error)
{
    *out_tensors = NULL;
    HoloTensors *t;
    HOLO_TRY(holo_tensors_create(&t, error));
    HoloStatus status = holo_tensors_reserve(t, 1, error);
    if (!status) {
        t->entry[0].tensor = *type;
        status             = holo_tensor_seed(&t->entry[0].tensor, seed, &t->arena, error);
    }
    if (status)
        holo_tensors_destroy(t);
    else
        *out_tensors = t;
    return status;
}
