// huggingface.h - folders of HuggingFace inside of others.
#ifndef HOLO_IMPORT_HUGGINGFACE_HUGGINGFACE_H
#define HOLO_IMPORT_HUGGINGFACE_HUGGINGFACE_H

#include "import/importer.h"

// Reads a folder with config.json and weights that is below the model's own (`at`, "unet/"), and adds its graph as the
// entry of that name. It computes in f32.
HOLO_MUST HoloStatus holo_huggingface_part(HoloImport *import, const char *at, const char *entry);

#endif
