// pt2_file.c - the files inside of a .pt2: the program, and where its weights and constants are.
//
// There are two layouts. The older one has serialized_exported_program.json and checkpoints beside it. The newer one has
// models/NAME.json, and either a checkpoint or one file for each tensor, which a config lists.
#include "import/torch/pt2.h"
#include "import/wire/zip.h"

#include <string.h>

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

// The first entry in a folder that ends so, without the prefix of all; NULL: there is none.
static const char *find_entry(HoloPt2 *p, const char *folder, const char *end)
{
    HoloZipEntry *entry;
    int           count;
    size_t        skip = strlen(p->torch.file.prefix);
    if (holo_zip_open(p->import->arena, p->import->from->file.data, p->import->from->file.size, &entry, &count, NULL))
        return NULL;
    for (int i = 0; i < count; i++) {
        const char *name = entry[i].name;
        size_t      size = strlen(name);
        if (size <= skip || strncmp(name, p->torch.file.prefix, skip)) continue;
        name += skip;
        size -= skip;
        if (has_prefix(name, folder) && size > strlen(end) && !strcmp(name + size - strlen(end), end)) return name;
    }
    return NULL;
}

static HoloStatus read_json(HoloPt2 *p, const char *name, json_t **out)
{
    const void *bytes;
    size_t      size;
    *out = NULL;
    HOLO_TRY(holo_checkpoint_entry(&p->torch.file, name, &bytes, &size));
    if (!bytes) return HOLO_OK;
    return holo_json_read(name, bytes, size, out, p->import->error);
}

// A checkpoint inside: its tensors by name.
static HoloStatus read_checkpoint(HoloPt2 *p, const char *name, HoloPt2Weights *out)
{
    const void           *bytes;
    size_t                size;
    HoloCheckpointTensors all;
    HOLO_TRY(holo_checkpoint_entry(&p->torch.file, name, &bytes, &size));
    if (!bytes || !size) return HOLO_OK;
    HOLO_TRY(holo_checkpoint_open(p->import->arena, name, bytes, size, &out->checkpoint, p->import->error));
    if (out->checkpoint.root->kind == HOLO_PICKLE_DICT && !out->checkpoint.root->count) return HOLO_OK;
    HOLO_TRY(holo_checkpoint_tensors(&out->checkpoint, &all));
    for (int i = 0; i < all.count; i++)
        if (!holo_name_map_set(&out->tensors, p->import->arena, string_of(all.entry[i].name), &all.entry[i]))
            return holo_fail_memory(p->import->error);
    return HOLO_OK;
}

static HoloStatus read_weights(HoloPt2 *p, const char *folder, const char *old, HoloPt2Weights *out)
{
    char       *config_end = holo_arena_format(p->import->arena, "_%s_config.json", folder);
    char       *place      = holo_arena_format(p->import->arena, "data/%s/", folder);
    const char *found;
    if (!config_end || !place) return holo_fail_memory(p->import->error);
    out->folder = place;
    if ((found = find_entry(p, place, config_end))) return read_json(p, found, &out->json);
    if ((found = find_entry(p, place, ".pt"))) return read_checkpoint(p, found, out);
    return read_checkpoint(p, old, out);
}

HoloStatus holo_pt2_read(HoloPt2 *p)
{
    HoloImport *im = p->import;
    HOLO_TRY(holo_checkpoint_open_zip(im->arena, im->from->path ? holo_path_name(im->from->path) : "the model",
                                      im->from->file.data, im->from->file.size, NULL, &p->torch.file, im->error));
    const char *program = find_entry(p, "models/", ".json");
    HOLO_TRY(read_json(p, program ? program : "serialized_exported_program.json", &p->program));
    if (!p->program)
        return holo_fail(
            im->error, HOLO_UNSUPPORTED,
            "this .pt2 has no program that can be read%s. Export the model again:\n"
            "    program = torch.export.export(model.eval(), example_inputs)\n"
            "    torch.export.save(program, \"model.pt2\")",
            find_entry(p, "data/aotinductor/", "") ? ": it has code that AOTInductor compiled for one machine" : "");
    HOLO_TRY(read_weights(p, "weights", "serialized_state_dict.pt", &p->weights));
    return read_weights(p, "constants", "serialized_constants.pt", &p->constants);
}

// ---- one tensor

static bool wrong(HoloPt2 *p, const char *name, const char *what)
{
    holo_emit_fail(p->torch.e, HOLO_BAD_MODEL, "the weight '%.200s' %s", name, what);
    return false;
}

// Sizes, strides and the place of the first element, as the config has them; checked against the bytes.
static bool lay_out(HoloPt2 *p, const char *name, const json_t *meta, const void *bytes, size_t size,
                    HoloCheckpointTensor *out)
{
    const json_t *strides = json_object_get(meta, "strides");
    int64_t offset = json_integer_value(json_object_get(json_object_get(meta, "storage_offset"), "as_int")), dense = 1,
            last, step;
    if (!holo_pt2_type(p, meta, &out->tensor)) return wrong(p, name, "has no type that is supported");
    size_t unit = holo_dtype_size((HoloDtype)out->tensor.dtype);
    out->name   = name;
    out->count  = holo_tensor_count(&out->tensor);
    if (out->count < 0 || json_array_size(strides) != (size_t)out->tensor.rank || offset < 0)
        return wrong(p, name, "has wrong sizes");
    out->is_dense = true;
    last          = offset;
    for (int i = out->tensor.rank - 1; i >= 0; i--) {
        if (holo_dim_is_symbolic(out->tensor.dim[i])) return wrong(p, name, "has a size that is not known");
        out->stride[i] = json_integer_value(json_object_get(json_array_get(strides, (size_t)i), "as_int"));
        if (out->stride[i] < 0) return wrong(p, name, "has wrong strides");
        out->is_dense &= out->tensor.dim[i] == 1 || out->stride[i] == dense;
        dense *= out->tensor.dim[i];
        if (out->count && (!holo_mul(out->tensor.dim[i] - 1, out->stride[i], &step) || !holo_add(last, step, &last)))
            return wrong(p, name, "has wrong strides");
    }
    if (out->count && (uint64_t)last >= size / unit) return wrong(p, name, "is cut off");
    out->tensor.data = out->count ? (void *)((const char *)bytes + (size_t)offset * unit) : NULL;
    return true;
}

static bool find_listed(HoloPt2 *p, const HoloPt2Weights *w, const char *name, HoloCheckpointTensor *out)
{
    const json_t *row  = json_object_get(json_object_get(w->json, "config"), name);
    const char   *path = json_string_value(json_object_get(row, "path_name"));
    const void   *bytes;
    size_t        size;
    if (!path) return false;
    char *entry = holo_arena_format(p->import->arena, "%s%s", w->folder, path);
    if (!entry) return wrong(p, name, "does not fit into memory");
    if (!p->torch.e->status) p->torch.e->status = holo_checkpoint_entry(&p->torch.file, entry, &bytes, &size);
    if (p->torch.e->status) return false;
    if (!bytes) return wrong(p, name, "is not in the file");
    if (!json_is_true(json_object_get(row, "use_pickle")))
        return lay_out(p, name, json_object_get(row, "tensor_meta"), bytes, size, out);
    HoloCheckpoint inside;
    HoloStatus     status = holo_checkpoint_open(p->import->arena, entry, bytes, size, &inside, p->import->error);
    if (!status && !holo_checkpoint_is_tensor(inside.root)) return wrong(p, name, "is no tensor");
    if (!status) status = holo_checkpoint_tensor(&inside, "data", name, inside.root, out);
    p->torch.e->status = status;
    return !status;
}

static bool find_weight(HoloPt2 *p, const HoloPt2Weights *w, const char *name, HoloCheckpointTensor *out)
{
    if (w->json) return find_listed(p, w, name, out);
    const HoloCheckpointTensor *found = holo_name_map_find(&w->tensors, string_of(name));
    if (found) *out = *found;
    return found;
}

bool holo_pt2_weight(HoloPt2 *p, const char *name, HoloCheckpointTensor *out)
{
    if (find_weight(p, &p->weights, name, out) || p->torch.e->status) return !p->torch.e->status;
    if (find_weight(p, &p->constants, name, out) || p->torch.e->status) return !p->torch.e->status;
    return wrong(p, name, "is not in the file");
}
