// checkpoint_tensor.c - tensors of checkpoints: storages, and views of them. See checkpoint.h.
#include "import/wire/checkpoint_storage.h"

#include "format/dtype.h"

#include <string.h>

#define STORAGE(name, dtype)                                    \
    {"torch." name "Storage", HOLO_PICKLE_OBJECT, dtype},       \
    {                                                           \
        "torch.cuda." name "Storage", HOLO_PICKLE_OBJECT, dtype \
    }
#define DTYPE(name, dtype)                       \
    {                                            \
        "torch." name, HOLO_PICKLE_OBJECT, dtype \
    }
#define OTHER(name)                         \
    {                                       \
        name, HOLO_PICKLE_OBJECT, HOLO_NONE \
    }

#define REBUILD     "torch._utils._rebuild_tensor"
#define REBUILD_2   "torch._utils._rebuild_tensor_v2"
#define REBUILD_3   "torch._utils._rebuild_tensor_v3"
#define PARAMETER   "torch._utils._rebuild_parameter"
#define PARAMETER_2 "torch._utils._rebuild_parameter_with_state"
#define FROM_TYPE   "torch._tensor._rebuild_from_type_v2"

const HoloPickleName holo_checkpoint_names[] = {
    STORAGE("Float", HOLO_F32),
    STORAGE("Double", HOLO_F64),
    STORAGE("Half", HOLO_F16),
    STORAGE("BFloat16", HOLO_BF16),
    STORAGE("Long", HOLO_I64),
    STORAGE("Int", HOLO_I32),
    STORAGE("Short", HOLO_I16),
    STORAGE("Char", HOLO_I8),
    STORAGE("Byte", HOLO_U8),
    STORAGE("Bool", HOLO_BOOL),
    STORAGE("ComplexFloat", HOLO_C64),
    STORAGE("ComplexDouble", HOLO_C128),
    STORAGE("Untyped", HOLO_NONE),
    OTHER("torch.storage.UntypedStorage"),
    DTYPE("float32", HOLO_F32),
    DTYPE("float", HOLO_F32),
    DTYPE("float64", HOLO_F64),
    DTYPE("double", HOLO_F64),
    DTYPE("float16", HOLO_F16),
    DTYPE("half", HOLO_F16),
    DTYPE("bfloat16", HOLO_BF16),
    DTYPE("int64", HOLO_I64),
    DTYPE("long", HOLO_I64),
    DTYPE("int32", HOLO_I32),
    DTYPE("int", HOLO_I32),
    DTYPE("int16", HOLO_I16),
    DTYPE("short", HOLO_I16),
    DTYPE("int8", HOLO_I8),
    DTYPE("uint8", HOLO_U8),
    DTYPE("uint16", HOLO_U16),
    DTYPE("uint32", HOLO_U32),
    DTYPE("uint64", HOLO_U64),
    DTYPE("bool", HOLO_BOOL),
    DTYPE("complex64", HOLO_C64),
    DTYPE("complex128", HOLO_C128),
    DTYPE("float8_e4m3fn", HOLO_F8E4M3FN),
    DTYPE("float8_e4m3fnuz", HOLO_F8E4M3FNUZ),
    DTYPE("float8_e5m2", HOLO_F8E5M2),
    DTYPE("float8_e5m2fnuz", HOLO_F8E5M2FNUZ),
    DTYPE("float8_e8m0fnu", HOLO_F8E8M0),
    OTHER(REBUILD),
    OTHER(REBUILD_2),
    OTHER(REBUILD_3),
    OTHER(PARAMETER),
    OTHER(PARAMETER_2),
    OTHER(FROM_TYPE),
    {"torch.Size", HOLO_PICKLE_TUPLE, HOLO_NONE},
    OTHER("torch.Tensor"),
    OTHER("torch.nn.parameter.Parameter"),
    OTHER("torch.nn.parameter.Buffer"),
    OTHER("torch.device"),
    OTHER("torch.serialization._get_layout"),
    OTHER("argparse.Namespace"),
    OTHER("numpy.dtype"),
    OTHER("numpy.ndarray"),
    OTHER("numpy.core.multiarray.scalar"),
    OTHER("numpy.core.multiarray._reconstruct"),
    OTHER("numpy._core.multiarray.scalar"),
    OTHER("numpy._core.multiarray._reconstruct"),
    {0},
};

// Functions that make a tensor, of: a storage, an offset, sizes, strides ...; and where its element type is among them,
// if the storage does not have it.
static const struct {
    const char *name;
    int         dtype_at;
} rebuilds[] = {{REBUILD, 0}, {REBUILD_2, 0}, {REBUILD_3, 6}, {HOLO_CHECKPOINT_QUANTIZED, 0}};

static const char *const parameters[] = {PARAMETER, PARAMETER_2}; // of a tensor, and more

// ---- which call makes the tensor

typedef struct Maker {
    const HoloPickle *args;
    int               dtype_at;
} Maker;

// The call that makes the tensor, perhaps inside of others. False: it is not a tensor.
static bool find_maker(const HoloPickle *value, Maker *out)
{
    while (value->kind == HOLO_PICKLE_OBJECT) {
        const HoloPickle *name = value->item[0], *args = value->item[1], *inner = NULL;
        if (holo_pickle_is_text(name, FROM_TYPE) && args->count >= 3) name = args->item[0], args = args->item[2];
        if (name->kind != HOLO_PICKLE_NAME || args->kind != HOLO_PICKLE_TUPLE) return false;
        for (int i = 0; i < HOLO_COUNT(parameters); i++)
            if (holo_pickle_is_text(name, parameters[i]) && args->count) inner = args->item[0];
        for (int i = 0; i < HOLO_COUNT(rebuilds); i++)
            if (holo_pickle_is_text(name, rebuilds[i].name)) return *out = (Maker){args, rebuilds[i].dtype_at}, true;
        if (!inner) return false;
        value = inner;
    }
    return false;
}

bool holo_checkpoint_is_tensor(const HoloPickle *value)
{
    Maker maker;
    return find_maker(value, &maker) && !holo_pickle_call(value, HOLO_CHECKPOINT_QUANTIZED);
}

// ---- storages

static HoloStatus bad_id(const HoloCheckpoint *c)
{
    return holo_fail(c->error, HOLO_BAD_MODEL, "%s: the checkpoint is broken: an id is not that of a storage", c->file);
}

// ('storage', type, key, location, count), and in the older form None or (key, begin, count) for a part of it.
HoloStatus holo_checkpoint_storage(const HoloCheckpoint *c, const HoloPickle *id, HoloCheckpointStorage *out)
{
    const HoloPickle *t = id->kind == HOLO_PICKLE_PERSISTENT ? id->item[0] : id;
    if (t->kind != HOLO_PICKLE_TUPLE || t->count < 5 || !holo_pickle_is_text(t->item[0], "storage") ||
        t->item[1]->kind != HOLO_PICKLE_NAME || t->item[2]->kind != HOLO_PICKLE_TEXT ||
        t->item[4]->kind != HOLO_PICKLE_INT || t->item[4]->integer < 0)
        return bad_id(c);
    int64_t           count = t->item[4]->integer;
    const HoloPickle *view  = t->count > 5 ? t->item[5] : NULL;
    *out = (HoloCheckpointStorage){t->item[2]->text, (HoloDtype)t->item[1]->row->what, count, 0, count, NULL, 0};
    if (!view || view->kind == HOLO_PICKLE_NONE) return HOLO_OK;
    if (view->kind != HOLO_PICKLE_TUPLE || view->count != 3 || view->item[1]->kind != HOLO_PICKLE_INT ||
        view->item[2]->kind != HOLO_PICKLE_INT)
        return bad_id(c);
    out->view_begin = view->item[1]->integer;
    out->view_count = view->item[2]->integer;
    bool is_inside  = out->view_begin >= 0 && out->view_begin <= count && out->view_count >= 0 &&
                     out->view_count <= count - out->view_begin;
    return is_inside ? HOLO_OK : bad_id(c);
}

size_t holo_checkpoint_storage_unit(const HoloCheckpointStorage *storage)
{
    return storage->dtype ? holo_dtype_size(storage->dtype) : 1;
}

// Finds the bytes of a storage: an entry of the zip file, or what was noted when the older form was read.
static HoloStatus find_bytes(const HoloCheckpoint *c, const char *folder, const char *name, HoloCheckpointStorage *out)
{
    size_t need;
    if (c->prefix) {
        char *entry = holo_arena_format(c->arena, "%s/%.*s", folder, (int)holo_least((int64_t)out->key.size, 1000),
                                        out->key.data);
        if (!entry) return holo_fail_memory(c->error);
        HOLO_TRY(holo_checkpoint_entry(c, entry, &out->bytes, &out->size));
    } else {
        const HoloCheckpointStorage *noted = holo_name_map_find(&c->parts, out->key);
        out->bytes                         = noted ? noted->bytes : NULL;
        out->size                          = noted ? noted->size : 0;
    }
    if (!out->bytes)
        return holo_fail(c->error, HOLO_BAD_MODEL, "%s: tensor '%.200s': its storage '%.*s' is not in the file",
                         c->file, name, (int)holo_least((int64_t)out->key.size, 200), out->key.data);
    if (!holo_size_mul((size_t)out->count, holo_checkpoint_storage_unit(out), &need) || need > out->size)
        return holo_fail(c->error, HOLO_BAD_MODEL, "%s: tensor '%.200s': its storage is smaller than it says: cut off?",
                         c->file, name);
    return HOLO_OK;
}

// ---- tensors

static HoloStatus wrong(const HoloCheckpoint *c, const char *name, const char *what)
{
    return holo_fail(c->error, HOLO_BAD_MODEL, "%s: tensor '%.200s': %s", c->file, name, what);
}

// Sizes or strides: whole numbers of 0 or more.
static HoloStatus read_sizes(const HoloCheckpoint *c, const char *name, const HoloPickle *list, int64_t *out,
                             int *out_count)
{
    if (list->kind != HOLO_PICKLE_TUPLE && list->kind != HOLO_PICKLE_LIST)
        return wrong(c, name, "its sizes or strides are not a tuple");
    if (list->count > HOLO_MAX_RANK) return wrong(c, name, "it has more than 16 dimensions");
    for (int i = 0; i < list->count; i++) {
        if (list->item[i]->kind != HOLO_PICKLE_INT || list->item[i]->integer < 0)
            return wrong(c, name, "a size or a stride must be a whole number of 0 or more");
        out[i] = list->item[i]->integer;
    }
    *out_count = list->count;
    return HOLO_OK;
}

static HoloStatus read_shape(const HoloCheckpoint *c, const Maker *maker, HoloCheckpointTensor *out)
{
    int rank, strides;
    HOLO_TRY(read_sizes(c, out->name, maker->args->item[2], out->tensor.dim, &rank));
    HOLO_TRY(read_sizes(c, out->name, maker->args->item[3], out->stride, &strides));
    if (rank != strides) return wrong(c, out->name, "it has not as many strides as sizes");
    out->tensor.rank = (int8_t)rank;
    out->count       = holo_tensor_count(&out->tensor);
    if (out->count < 0) return wrong(c, out->name, "it has more elements than can be counted");
    int64_t next  = 1;
    out->is_dense = true;
    for (int i = rank; i-- > 0 && out->count;) {
        if (out->tensor.dim[i] != 1 && out->stride[i] != next) out->is_dense = false;
        next *= out->tensor.dim[i];
    }
    return HOLO_OK;
}

// Is every element from `offset` on among the `room` elements of the storage?
static bool is_inside(const HoloCheckpointTensor *t, int64_t offset, int64_t room)
{
    int64_t last = offset, step;
    if (!t->count) return offset >= 0 && offset <= room;
    for (int i = 0; i < t->tensor.rank; i++)
        if (!holo_mul(t->tensor.dim[i] - 1, t->stride[i], &step) || !holo_add(last, step, &last)) return false;
    return offset >= 0 && last < room;
}

static HoloStatus read_dtype(const HoloCheckpoint *c, const Maker *maker, const HoloCheckpointStorage *storage,
                             HoloCheckpointTensor *out)
{
    const HoloPickle *type =
        maker->dtype_at && maker->args->count > maker->dtype_at ? maker->args->item[maker->dtype_at] : NULL;
    HoloDtype dtype = storage->dtype;
    if (type && type->kind == HOLO_PICKLE_NAME) dtype = (HoloDtype)type->row->what;
    if (!dtype) return wrong(c, out->name, "its element type is not known");
    out->tensor.dtype = (uint8_t)dtype;
    return HOLO_OK;
}

HoloStatus holo_checkpoint_tensor(const HoloCheckpoint *c, const char *folder, const char *name,
                                  const HoloPickle *value, HoloCheckpointTensor *out)
{
    Maker                 maker;
    HoloCheckpointStorage storage;
    *out = (HoloCheckpointTensor){.name = name};
    if (!find_maker(value, &maker)) return wrong(c, name, "this value is not a tensor");
    if (maker.args->count < 4 || maker.args->item[0]->kind != HOLO_PICKLE_PERSISTENT ||
        maker.args->item[1]->kind != HOLO_PICKLE_INT)
        return wrong(c, name, "it is not made of a storage, an offset, sizes and strides");
    HOLO_TRY(holo_checkpoint_storage(c, maker.args->item[0], &storage));
    HOLO_TRY(find_bytes(c, folder, name, &storage));
    HOLO_TRY(read_dtype(c, &maker, &storage, out));
    HOLO_TRY(read_shape(c, &maker, out));
    size_t  unit = holo_checkpoint_storage_unit(&storage), size = holo_dtype_size((HoloDtype)out->tensor.dtype);
    int64_t room = (int64_t)((size_t)storage.view_count * unit / size), offset = maker.args->item[1]->integer;
    if (!is_inside(out, offset, room)) return wrong(c, name, "not all of it is in its storage");
    out->tensor.data = (char *)storage.bytes + (size_t)storage.view_begin * unit + (size_t)offset * size;
    return HOLO_OK;
}

void holo_checkpoint_copy(const HoloCheckpointTensor *t, void *out)
{
    const char *data              = t->tensor.data;
    char       *to                = out;
    size_t      size              = holo_dtype_size((HoloDtype)t->tensor.dtype);
    int64_t     at[HOLO_MAX_RANK] = {0}, place = 0;
    for (int64_t i = 0; i < t->count; i++, to += size) {
        memcpy(to, data + (size_t)place * size, size);
        for (int d = t->tensor.rank; d-- > 0;) {
            place += t->stride[d];
            if (++at[d] < t->tensor.dim[d]) break;
            place -= t->stride[d] * at[d];
            at[d] = 0;
        }
    }
}
