// diffusers.c - pipelines of Diffusers that make pictures of texts: a folder with model_index.json, and in it a folder for
// each network. Each network is an entry of the model.
#include "import/huggingface/huggingface.h"
#include "import/onnx/onnx.h"
#include "import/wire/json.h"

#include <stdio.h>
#include <string.h>

#define INDEX "model_index.json"

// The networks of such a pipeline, by the names that their entries have: as weights, or as ONNX. The first is the model
// itself.
static const struct Part {
    const char *entry, *at, *onnx, *onnx_file;
} parts[] = {
    {"unet", "unet/", "unet/", "unet/model.onnx"},
    {"text_encoder", "text_encoder/", "text_encoder/", "text_encoder/model.onnx"},
    {"vae_decoder", "vae/", "vae_decoder/", "vae_decoder/model.onnx"},
};

// What the pipeline is, by the class that Diffusers has for it. Others have other networks, or join them in another way.
static HoloStatus check_class(HoloImport *import, const json_t *index)
{
    const char *class                = json_string_value(json_object_get(index, "_class_name"));
    static const char *const known[] = {"StableDiffusionPipeline", "OnnxStableDiffusionPipeline",
                                        "ORTStableDiffusionPipeline"};
    for (int i = 0; i < HOLO_COUNT(known); i++)
        if (class && !strcmp(class, known[i])) return holo_import_fact(import, "architecture", class);
    return holo_fail(import->error, HOLO_UNSUPPORTED,
                     INDEX ": pipelines of the class %.100s are not known here, only StableDiffusionPipeline. Its "
                           "networks can be compiled one by one: give the folder of one, such as unet/",
                     class ? class : "(none)");
}

static HoloStatus open_part(HoloImport *import, const struct Part *part)
{
    HoloMapping *file;
    HoloGraph   *graph;
    char         byte;
    if (!holo_offer_peek(import->from, part->onnx_file, &byte, 1))
        return holo_huggingface_part(import, part->at, part->entry);
    HOLO_TRY(holo_import_map(import, (HoloString){part->onnx_file, strlen(part->onnx_file)}, &file));
    HOLO_TRY(holo_onnx_read(import, file, part->onnx, NULL, &graph));
    return holo_import_entry(import, part->entry, graph);
}

static HoloStatus open_pipeline(HoloImport *import)
{
    HoloMapping *file;
    json_t      *index;
    HOLO_TRY(holo_import_map(import, (HoloString){INDEX, strlen(INDEX)}, &file));
    HOLO_TRY(holo_json_read(INDEX, file->data, file->size, &index, import->error));
    HoloStatus status = check_class(import, index);
    json_decref(index);
    for (int i = 0; i < HOLO_COUNT(parts) && !status; i++) status = open_part(import, &parts[i]);
    return status;
}

static HoloSniff sniff(const HoloOffer *offer)
{
    return offer->is_folder && holo_offer_has_name(offer, INDEX) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_diffusers[] = {
    {.name = "Diffusers", .words = "a Diffusers pipeline", .is_model = true, .sniff = sniff, .open = open_pipeline},
    {0},
};
