// tflite_tensors.c - tensors of a subgraph: types, sizes, scales, and the contents of constants.
#include "import/tflite/tflite.h"

#include <string.h>

// By TYPE_F32 and so on. Resources and variants have no elements.
static const HoloDtype dtypes[TYPE_COUNT] = {
    HOLO_F32, HOLO_F16, HOLO_I32,  HOLO_U8,   HOLO_I64, HOLO_STRING,   HOLO_BOOL,   HOLO_I16,
    HOLO_C64, HOLO_I8,  HOLO_F64,  HOLO_C128, HOLO_U64, HOLO_NONE,     HOLO_NONE,   HOLO_U32,
    HOLO_U16, HOLO_I4,  HOLO_BF16, HOLO_I2,   HOLO_U4,  HOLO_F8E4M3FN, HOLO_F8E5M2,
};

HoloDtype holo_tf_dtype(int64_t type)
{
    return type >= 0 && type < TYPE_COUNT ? dtypes[type] : HOLO_NONE;
}

static HoloStatus wrong(HoloTf *im, const HoloTfTensor *tensor, const char *what)
{
    return holo_fail(im->import->error, HOLO_BAD_MODEL, "tensor '%.200s': %s", tensor->name, what);
}

// ---- what is said of a tensor

static HoloStatus shape_read(HoloTf *im, HoloTfTensor *tensor)
{
    HoloFlatList shape = holo_flat_list(tensor->table, TENSOR_SHAPE, 4);
    HoloFlatList open  = holo_flat_list(tensor->table, TENSOR_SIGNATURE, 4);
    tensor->shape      = (HoloTensor){.dtype = (uint8_t)tensor->dtype};
    if (shape.count > HOLO_TF_RANK_MAX)
        return holo_fail(im->import->error, HOLO_UNSUPPORTED,
                         "tensor '%.200s' has %zu dimensions; at most %d are supported", tensor->name, shape.count,
                         HOLO_TF_RANK_MAX);
    tensor->shape.rank = (int8_t)shape.count;
    for (size_t d = 0; d < shape.count; d++) {
        int64_t size         = holo_flat_list_i32(shape, d);
        bool    is_open      = size < 0 || (open.count == shape.count && holo_flat_list_i32(open, d) < 0);
        tensor->shape.dim[d] = size < 0 ? 1 : size;
        if (is_open && im->is_open && !tensor->is_constant) tensor->shape.dim[d] = HOLO_DIM_UNKNOWN;
    }
    return HOLO_OK;
}

// Scales must be there for all or for one; zero points may be left out.
static HoloStatus scale_read(HoloTf *im, HoloTfTensor *tensor)
{
    HoloFlatTable q     = holo_flat_table(tensor->table, TENSOR_QUANTIZATION);
    HoloFlatList  scale = holo_flat_list(q, QUANT_SCALE, 4), zero = holo_flat_list(q, QUANT_ZERO, 8);
    int64_t       details = holo_flat_u8(q, QUANT_DETAILS_TYPE, 0), axis = holo_flat_i32(q, QUANT_DIMENSION, 0);
    if (details == DETAILS_BLOCKS || details == DETAILS_AXES) return HOLO_OK; // read where it is dequantized
    if (!scale.count) return HOLO_OK;
    if (zero.count && zero.count != scale.count && zero.count != 1)
        return wrong(im, tensor, "it has other zero points than scales");
    if (scale.count > 1 && (axis < 0 || axis >= tensor->shape.rank || tensor->shape.dim[axis] != (int64_t)scale.count))
        return wrong(im, tensor, "it has another number of scales than elements along their dimension");
    tensor->scaled = (HoloTfScale){scale,
                                   zero,
                                   (int)scale.count,
                                   (int)axis,
                                   (double)holo_flat_list_f32(scale, 0),
                                   (double)holo_flat_list_i64(zero, 0)};
    return HOLO_OK;
}

static HoloStatus tensor_read(HoloTf *im, HoloFlatTable table, HoloTfTensor *out)
{
    HoloString    name   = holo_flat_text(table, TENSOR_NAME);
    int64_t       buffer = holo_flat_u32(table, TENSOR_BUFFER, 0);
    HoloFlatTable data =
        buffer > 0 ? holo_flat_list_table(im->buffers, (size_t)buffer) : (HoloFlatTable){.flat = &im->flat};
    out->table = table;
    out->name  = holo_import_text(im->import, name);
    if (!out->name) return holo_fail_memory(im->import->error);
    out->type        = (int)holo_flat_i8(table, TENSOR_TYPE, 0);
    out->dtype       = holo_tf_dtype(out->type);
    out->is_variable = holo_flat_u8(table, TENSOR_IS_VARIABLE, 0) != 0;
    out->is_constant =
        !out->is_variable && (holo_flat_list(data, BUFFER_DATA, 1).count || holo_flat_i64(data, BUFFER_OFFSET, 0) > 1 ||
                              holo_flat_u32(table, TENSOR_EXTERNAL, 0));
    if (buffer < 0 || (size_t)buffer >= im->buffers.count + !im->buffers.count)
        return wrong(im, out, "it has a buffer that is not there");
    if (out->type < 0 || out->type >= TYPE_COUNT)
        return holo_fail(im->import->error, HOLO_UNSUPPORTED, "tensor '%.200s' has element type %d, which is not known",
                         out->name, out->type);
    HOLO_TRY(shape_read(im, out));
    return scale_read(im, out);
}

HoloStatus holo_tf_tensors(HoloTfScope *scope)
{
    HoloTf      *im   = scope->im;
    HoloFlatList list = holo_flat_list(scope->subgraph, SUBGRAPH_TENSORS, 4);
    if (list.count > INT32_MAX / 2) return holo_fail(im->import->error, HOLO_BAD_MODEL, "there are too many tensors");
    scope->count  = (int)list.count;
    scope->tensor = HOLO_NEW(im->import->arena, HoloTfTensor, list.count + 1);
    if (!scope->tensor) return holo_fail_memory(im->import->error);
    for (int i = 0; i < scope->count; i++)
        HOLO_TRY(tensor_read(im, holo_flat_list_table(list, (size_t)i), &scope->tensor[i]));
    return im->flat.status;
}

// ---- contents

static HoloStatus outside(HoloTf *im, int64_t offset, int64_t size, const void **out, size_t *out_size)
{
    if (offset < 0 || size < 0 || (uint64_t)offset > im->flat.size || (uint64_t)size > im->flat.size - (uint64_t)offset)
        return holo_fail(im->import->error, HOLO_BAD_MODEL, "the file is cut off: a buffer lies behind its end");
    *out      = im->flat.bytes + offset;
    *out_size = (size_t)size;
    return HOLO_OK;
}

HoloStatus holo_tf_buffer(HoloTf *im, int64_t index, const void **out, size_t *out_size)
{
    *out      = NULL;
    *out_size = 0;
    if (index < 0 || (uint64_t)index >= im->buffers.count)
        return holo_fail(im->import->error, HOLO_BAD_MODEL, "there is no buffer %lld", (long long)index);
    HoloFlatTable table  = holo_flat_list_table(im->buffers, (size_t)index);
    HoloFlatList  data   = holo_flat_list(table, BUFFER_DATA, 1);
    int64_t       offset = holo_flat_i64(table, BUFFER_OFFSET, 0);
    if (!data.count && offset > 1) return outside(im, offset, holo_flat_i64(table, BUFFER_SIZE, 0), out, out_size);
    *out      = holo_flat_list_bytes(data);
    *out_size = data.count;
    return im->flat.status;
}

// The bytes of a tensor that lie in another file beside the model.
static HoloStatus external(HoloTf *im, const HoloTfTensor *tensor, int64_t id, const void **out, size_t *out_size)
{
    HoloFlatList list   = holo_flat_list(im->model, MODEL_EXTERNAL_BUFFERS, 4);
    HoloFlatList groups = holo_flat_list(im->model, MODEL_EXTERNAL_GROUPS, 4);
    for (size_t i = 0; i < list.count; i++) {
        HoloFlatTable entry = holo_flat_list_table(list, i);
        HoloMapping  *file;
        if (holo_flat_u32(entry, EXTERNAL_ID, 0) != id) continue;
        int64_t group = holo_flat_u32(entry, EXTERNAL_GROUP, 0), offset = holo_flat_i64(entry, EXTERNAL_OFFSET, 0);
        int64_t size = holo_flat_i64(entry, EXTERNAL_LENGTH, 0);
        HOLO_TRY(im->flat.status);
        HOLO_TRY(holo_import_map(im->import, holo_flat_text(holo_flat_list_table(groups, (size_t)group), 0), &file));
        if (offset < 0 || size < 0 || (uint64_t)offset > file->size || (uint64_t)size > file->size - (uint64_t)offset)
            return wrong(im, tensor, "its bytes lie behind the end of their file");
        *out      = (const char *)file->data + offset;
        *out_size = (size_t)size;
        return HOLO_OK;
    }
    return wrong(im, tensor, "it names an external buffer that is not there");
}

// How many there are, where each begins and where the last ends, and then the texts.
static HoloStatus texts_read(HoloTf *im, const HoloTfTensor *tensor, const uint8_t *bytes, size_t size, int64_t count,
                             HoloTensor *out)
{
    uint32_t    have = 0, from, to;
    HoloString *text;
    if (size >= 4) memcpy(&have, bytes, 4);
    if (have != (uint64_t)count || size < 8 || (size - 8) / 4 < have) return wrong(im, tensor, "its texts are cut off");
    HOLO_TRY(holo_import_take(im->import, (HoloString){tensor->name, strlen(tensor->name)}, count, sizeof *text,
                              &out->data));
    text = out->data;
    for (uint32_t i = 0; i < have; i++) {
        memcpy(&from, bytes + 4 + 4 * (size_t)i, 4);
        memcpy(&to, bytes + 8 + 4 * (size_t)i, 4);
        if (from > to || to > size) return wrong(im, tensor, "its texts are cut off");
        text[i] = (HoloString){(const char *)bytes + from, to - from};
    }
    return HOLO_OK;
}

HoloStatus holo_tf_contents(HoloTf *im, const HoloTfTensor *tensor, HoloTensor *out)
{
    HoloString  name  = {tensor->name, strlen(tensor->name)};
    int64_t     id    = holo_flat_u32(tensor->table, TENSOR_EXTERNAL, 0);
    const void *bytes = NULL;
    size_t      size  = 0;
    *out              = tensor->shape;
    int64_t count     = holo_tensor_count(out);
    if (tensor->dtype == HOLO_NONE) return wrong(im, tensor, "a constant cannot have its element type");
    if (count < 0) return wrong(im, tensor, "its sizes are too large");
    if (id) HOLO_TRY(external(im, tensor, id, &bytes, &size));
    if (!id) HOLO_TRY(holo_tf_buffer(im, holo_flat_u32(tensor->table, TENSOR_BUFFER, 0), &bytes, &size));
    if (holo_flat_is(holo_flat_table(tensor->table, TENSOR_SPARSITY)))
        return holo_tf_dense(im, tensor, bytes, size, out);
    if (tensor->dtype == HOLO_STRING) return texts_read(im, tensor, bytes, size, count, out);
    if (holo_import_stored(tensor->dtype, count) > size) return wrong(im, tensor, "its contents are cut off");
    if (!count) return HOLO_OK;
    if (holo_dtype_bits(tensor->dtype) < 8) return holo_import_unpack(im->import, name, bytes, count, out);
    return holo_import_bytes(im->import, name, bytes, count, out);
}
