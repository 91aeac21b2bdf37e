// torch_files.c - files of PyTorch: programs, scripts, and checkpoints, which have no graph.
#include "import/torch/torch.h"

#include <stdio.h>
#include <string.h>

#define EXPORT                                                          \
    "    program = torch.export.export(model.eval(), example_inputs)\n" \
    "    torch.export.save(program, \"model.pt2\")"

static bool is_zip(const HoloOffer *offer)
{
    return holo_offer_has_bytes(offer, 0, "PK\3\4");
}

static HoloSniff sniff_pt2(const HoloOffer *offer)
{
    static const char *const names[] = {"serialized_exported_program.json", "archive_format", "data/aotinductor"};
    bool                     is      = false;
    for (int i = 0; i < HOLO_COUNT(names); i++) is |= holo_offer_mentions(offer, names[i]);
    return is && is_zip(offer) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_script(const HoloOffer *offer)
{
    return is_zip(offer) && holo_offer_mentions(offer, "constants.pkl") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// ---- checkpoints

static HoloSniff sniff_checkpoint(const HoloOffer *offer)
{
    return is_zip(offer) && holo_offer_mentions(offer, "data.pkl") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// The first tensors, with their types and sizes, and how many there are.
static void describe(const HoloCheckpointTensors *all, char *text, size_t room)
{
    int64_t bytes = 0;
    size_t  size  = 0;
    for (int i = 0; i < all->count; i++)
        bytes += all->entry[i].count * (int64_t)holo_dtype_size((HoloDtype)all->entry[i].tensor.dtype);
    size += (size_t)snprintf(text, room, "%d tensor%s, %.1f MB", all->count, all->count == 1 ? "" : "s",
                             (double)bytes / 1e6);
    for (int i = 0; i < all->count && i < 6 && size < room; i++) {
        const HoloTensor *t = &all->entry[i].tensor;
        size += (size_t)snprintf(text + size, room - size, "%s %.60s %s[", i ? "," : ":", all->entry[i].name,
                                 holo_dtype_name((HoloDtype)t->dtype));
        for (int d = 0; d < t->rank && size < room; d++)
            size += (size_t)snprintf(text + size, room - size, "%s%lld", d ? "," : "", (long long)t->dim[d]);
        if (size < room) size += (size_t)snprintf(text + size, room - size, "]");
    }
    if (all->count > 6 && size < room) snprintf(text + size, room - size, " ...");
}

static HoloStatus open_checkpoint(HoloImport *import)
{
    HoloCheckpoint        checkpoint;
    HoloCheckpointTensors all = {0};
    HoloError             why = {0};
    char                  text[700];
    const HoloMapping    *file = &import->from->file;
    HoloStatus status = holo_checkpoint_open(import->arena, "the file", file->data, file->size, &checkpoint, &why);
    if (!status) status = holo_checkpoint_tensors(&checkpoint, &all);
    if (status == HOLO_UNSUPPORTED || (status && strstr(why.text, "name")))
        return holo_fail(
            import->error, HOLO_UNSUPPORTED,
            "this is a pickled object of Python (torch.save(model)), which would run code of its author to be read (%.200s). "
            "Export the model instead:\n" EXPORT,
            why.text);
    if (status) return holo_fail(import->error, status, "%s", why.text);
    describe(&all, text, sizeof text);
    return holo_fail(
        import->error, HOLO_UNSUPPORTED,
        "this is a PyTorch checkpoint: weights without a graph (%s). Export the model:\n" EXPORT
        "\n  or, if Hologram knows its architecture, name it pytorch_model.bin beside its config.json, and give the folder",
        text);
}

#define ROW(n, w, ...)                                       \
    {                                                        \
        .name = n, .words = w, .is_model = true, __VA_ARGS__ \
    }

const HoloImporter holo_importers_torch_files[] = {
    ROW("torch.export", "a program of torch.export (.pt2)", .sniff = sniff_pt2, .open = holo_pt2_open),
    ROW("TorchScript", "a TorchScript model (.pt)", .sniff = sniff_script, .open = holo_script_open),
    ROW("PyTorch", "a PyTorch checkpoint", .sniff = sniff_checkpoint, .open = open_checkpoint),
    ROW("pickle", "a PyTorch checkpoint of the older form", .magic = "\x80\x02", .open = open_checkpoint),
    {0},
};
