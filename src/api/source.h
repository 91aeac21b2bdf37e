// source.h - the inside of HoloSource: an imported model.
#ifndef HOLO_API_SOURCE_H
#define HOLO_API_SOURCE_H

#include "hologram_compiler.h"
#include "import/import.h"

struct HoloSource {
    HoloArena       arena;
    HoloModelSource model;
    HoloPort       *inputs, *outputs; // NULL until holo_source_open has made them
    int             meta_count;
    struct {
        const char *key, *value;
    } * meta;
};

// Imports a model of whatever format; types are not inferred yet.
HOLO_MUST HoloStatus holo_source_import(const char *path, HoloSource **out, HoloError *error);

#endif
