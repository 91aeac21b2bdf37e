// onnx_sparse.c - expands SparseTensorProto to a dense tensor, with both forms of indices: one number for each element
// (its index in the dense tensor), or a row of coordinates.
#include "import/onnx/onnx.h"

#include <string.h>

// The index in the dense tensor that row `i` of the indices names; -1: it is outside.
static int64_t place_of(const HoloTensor *dense, const HoloTensor *indices, int64_t count, int64_t i)
{
    const int64_t *index = indices->data;
    if (indices->rank == 1) return index[i] >= 0 && index[i] < count ? index[i] : -1;
    int64_t place = 0;
    for (int k = 0; k < dense->rank; k++) {
        int64_t at = index[i * dense->rank + k];
        if (at < 0 || at >= dense->dim[k]) return -1;
        place = place * dense->dim[k] + at;
    }
    return place;
}

static bool is_index_shape(const HoloTensor *indices, int64_t values, int rank)
{
    if (indices->dtype != HOLO_I64) return false;
    if (indices->rank == 1) return indices->dim[0] == values;
    return indices->rank == 2 && indices->dim[0] == values && indices->dim[1] == rank;
}

HoloStatus holo_onnx_sparse(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name)
{
    HoloOnnxSparseProto sparse = {0};
    HoloTensor          values, indices;
    HoloString          name = {0};
    int64_t             count;
    HOLO_TRY(holo_pb_read(&im->source, "SparseTensorProto", message, holo_onnx_sparse_fields, &sparse));
    HOLO_TRY(holo_onnx_tensor(im, sparse.values, &values, &name));
    if (out_name) *out_name = name;
    if (!name.size) name = im->unnamed;
    HOLO_TRY(holo_onnx_tensor(im, sparse.indices, &indices, NULL));
    *out = (HoloTensor){.dtype = values.dtype};
    HOLO_TRY(holo_onnx_dims(im, name, sparse.dims, out, &count));
    int64_t given = holo_tensor_count(&values);
    if (values.rank != 1 || !is_index_shape(&indices, given, out->rank))
        return holo_fail(im->error, HOLO_BAD_MODEL,
                         "sparse tensor '%.*s': values must have shape [n], indices (int64) [n] or [n, %d]",
                         HOLO_IMPORT_ARG(name), out->rank);
    size_t size = holo_dtype_size(out->dtype);
    HOLO_TRY(holo_import_take(im->import, name, count, size, &out->data));
    for (int64_t i = 0; i < given; i++) {
        int64_t place = place_of(out, &indices, count, i);
        if (place < 0)
            return holo_fail(im->error, HOLO_BAD_MODEL, "sparse tensor '%.*s': index %lld is outside its shape",
                             HOLO_IMPORT_ARG(name), (long long)i);
        memcpy((char *)out->data + (size_t)place * size, (const char *)values.data + (size_t)i * size, size);
    }
    return HOLO_OK;
}
