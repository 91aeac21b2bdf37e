// onnx_folder.c - folders whose graphs are ONNX files beside a config.json, as transformers.js and optimum write them:
// one model, or an encoder and a decoder. The files are in the folder itself, or in its folder onnx/. Of the same model in
// several precisions, the widest is taken.
#include "import/onnx/onnx.h"

#include <stdio.h>

#define CONFIG "config.json"

// How names end for each precision, the widest first.
static const char *const endings[] = {"", "_fp16", "_quantized", "_int8", "_uint8", "_q8", "_q4", "_q4f16", "_bnb4"};

// What the file of a model may be called. A merged decoder can go on with what it kept of a text. Without one, a file goes on with
// what that of the beginning gave.
static const char *const models[] = {"model", "decoder_model_merged", "decoder_model", "decoder_with_past_model", NULL};
static const char *const encoders[] = {"encoder_model", NULL};
static const char *const decoders[] = {"decoder_model_merged", "decoder_model", NULL};
static const char *const firsts[]   = {"decoder_model", NULL};
static const char *const laters[]   = {"decoder_with_past_model", NULL};

typedef struct Name {
    char text[96];
} Name;

static bool has_name(const HoloFolder *folder, const char *name)
{
    for (int i = 0; i < folder->count; i++)
        if (!strcmp(folder->name[i], name)) return true;
    return false;
}

// The first of these names that is there in any precision.
static bool file_find(const HoloFolder *folder, const char *inner, const char *const *names, Name *out)
{
    for (; *names; names++)
        for (int i = 0; i < HOLO_COUNT(endings); i++) {
            Name name;
            snprintf(name.text, sizeof name.text, "%s%s.onnx", *names, endings[i]);
            if (!has_name(folder, name.text)) continue;
            snprintf(out->text, sizeof out->text, "%s%s%s.onnx", inner, *names, endings[i]);
            return true;
        }
    return false;
}

typedef struct Found {
    Name        model, encoder, decoder; // "": there is none
    Name        later;                   // goes on with what the decoder, or the model, gave; "": there is none
    const char *inner;                   // the folder that they are in: "" or "onnx/"
} Found;

static bool files_find(const HoloFolder *folder, const char *inner, Found *out)
{
    *out = (Found){.inner = inner};
    bool is_pair =
        file_find(folder, inner, encoders, &out->encoder) && file_find(folder, inner, decoders, &out->decoder);
    if (!is_pair && !file_find(folder, inner, models, &out->model)) return false;
    Name first;
    if (!file_find(folder, inner, firsts, &first) || strcmp(first.text, (is_pair ? &out->decoder : &out->model)->text))
        return true;
    (void)file_find(folder, inner, laters, &out->later);
    return true;
}

static bool found_in(const HoloOffer *offer, Found *out)
{
    HoloFolder inner;
    char       path[4096];
    if (!offer->is_folder || !holo_offer_has_name(offer, CONFIG)) return false;
    if (files_find(&offer->names, "", out)) return true;
    int size = snprintf(path, sizeof path, "%s/onnx", offer->path);
    if (!holo_offer_has_name(offer, "onnx") || size >= (int)sizeof path) return false;
    if (!holo_path_is_folder(path) || holo_folder_list(path, &inner, NULL)) return false;
    bool is = files_find(&inner, "onnx/", out);
    holo_folder_free(&inner);
    return is;
}

static HoloStatus read_file(HoloImport *import, const Found *found, const Name *file, HoloDims *dims, HoloGraph **out)
{
    HoloMapping *bytes;
    HOLO_TRY(holo_import_map(import, holo_onnx_string(file->text), &bytes));
    HOLO_TRY(holo_onnx_read(import, bytes, found->inner, dims, out));
    return holo_import_fact(import, "file", file->text);
}

static HoloStatus add_file(HoloImport *import, const Found *found, const Name *file, const Name *later,
                           const char *entry)
{
    HoloGraph *graph, *next;
    HOLO_TRY(read_file(import, found, file, NULL, &graph));
    if (later && *later->text) {
        HOLO_TRY(read_file(import, found, later, graph->dims, &next));
        HOLO_TRY(holo_onnx_pair(import, graph, next, &graph));
    }
    return holo_import_entry(import, entry, graph);
}

static HoloStatus open_folder(HoloImport *import)
{
    Found found;
    if (!found_in(import->from, &found))
        return holo_fail(import->error, HOLO_NO_FILE, "the folder has no ONNX file that is known by its name");
    if (!*found.encoder.text || !*found.decoder.text) return add_file(import, &found, &found.model, &found.later, "");
    HOLO_TRY(add_file(import, &found, &found.encoder, NULL, "encoder"));
    return add_file(import, &found, &found.decoder, &found.later, "decoder");
}

// Weights of the library itself come first.
static HoloSniff sniff(const HoloOffer *offer)
{
    Found found;
    return found_in(offer, &found) ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_onnx_folder[] = {
    {.name     = "ONNX folder",
     .words    = "a folder with " CONFIG " and onnx/model.onnx",
     .is_model = true,
     .sniff    = sniff,
     .open     = open_folder},
    {0},
};
