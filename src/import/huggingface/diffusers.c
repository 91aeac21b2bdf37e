// diffusers.c - pipelines of Diffusers that make pictures of texts: a folder with model_index.json, and in it a folder for
// each network. Each network is an entry of the model.
#include "import/huggingface/huggingface.h"
#include "import/wire/json.h"

#include <stdio.h>
#include <string.h>

#define INDEX "model_index.json"

// The networks of such a pipeline, by the names that their entries have. The first is the model itself.
static const struct {
    const char *entry, *at;
} parts[] = {{"unet", "unet/"}, {"text_encoder", "text_encoder/"}, {"vae_decoder", "vae/"}};

// What the pipeline is, by the class that Diffusers has for it. Others have other networks, or join them in another way.
static HoloStatus check_class(HoloImport *import, const json_t *index)
{
    const char *class = json_string_value(json_object_get(index, "_class_name"));
    if (class && !strcmp(class, "StableDiffusionPipeline")) return holo_import_fact(import, "architecture", class);
    return holo_fail(import->error, HOLO_UNSUPPORTED,
                     INDEX ": pipelines of the class %.100s are not known here, only StableDiffusionPipeline. Its "
                           "networks can be compiled one by one: give the folder of one, such as unet/",
                     class ? class : "(none)");
}

static HoloStatus open_pipeline(HoloImport *import)
{
    HoloMapping *file;
    json_t      *index;
    HOLO_TRY(holo_import_map(import, (HoloString){INDEX, strlen(INDEX)}, &file));
    HOLO_TRY(holo_json_read(INDEX, file->data, file->size, &index, import->error));
    HoloStatus status = check_class(import, index);
    json_decref(index);
    for (int i = 0; i < HOLO_COUNT(parts) && !status; i++)
        status = holo_huggingface_part(import, parts[i].at, parts[i].entry);
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
