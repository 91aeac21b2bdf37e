// listing.c - graphs as plain lists of nodes and values, for code that draws or prints them.
#include "api/listing.h"

#include "api/source.h"

#include <string.h>

HoloListingValue *holo_lister_value(HoloLister *lister)
{
    HoloListing *l = &lister->listing;
    if (!HOLO_GROW(&lister->arena, lister->values, l->value_count, lister->value_room)) return NULL;
    l->values           = lister->values;
    HoloListingValue *v = &lister->values[l->value_count++];
    *v                  = (HoloListingValue){.name = "", .shape = "", .producer = -1, .offset = -1};
    return v;
}

HoloListingNode *holo_lister_node(HoloLister *lister)
{
    HoloListing *l = &lister->listing;
    if (!HOLO_GROW(&lister->arena, lister->nodes, l->node_count, lister->node_room)) return NULL;
    l->nodes           = lister->nodes;
    HoloListingNode *n = &lister->nodes[l->node_count++];
    *n                 = (HoloListingNode){.name = "", .op = "", .domain = "", .detail = "", .runs = "", .parent = -1};
    return n;
}

static HoloStatus imported(HoloLister *lister, const char *path)
{
    HoloSource *source;
    HOLO_TRY(holo_source_open(path, &source, lister->error));
    HoloStatus status = holo_listing_of_graph(lister, source->model.graph);
    holo_source_close(source);
    return status;
}

static HoloStatus planned(HoloLister *lister, const HoloCompiler *compiler, const char *path, HoloFileKind kind)
{
    HoloModel *model;
    if (kind == HOLO_FILE_ARCHIVE)
        HOLO_TRY(holo_model_open(path, &model, lister->error));
    else
        HOLO_TRY(holo_compile_model(compiler, path, &model, NULL, lister->error));
    HoloStatus status = holo_listing_of_model(lister, model);
    holo_model_close(model);
    return status;
}

static HoloStatus lister_end(HoloLister *lister, HoloStatus status, HoloListing **out_listing)
{
    if (status)
        holo_listing_close(&lister->listing);
    else
        *out_listing = &lister->listing;
    return status;
}

HoloStatus holo_listing_model(const HoloModel *model, HoloListing **out_listing, HoloError *error)
{
    HoloLister *lister = holo_realloc(NULL, sizeof *lister);
    *out_listing       = NULL;
    if (!lister) return holo_fail_memory(error);
    *lister = (HoloLister){.error = error};
    return lister_end(lister, holo_listing_of_model(lister, model), out_listing);
}

HoloStatus holo_listing_open(const HoloCompiler *compiler, const char *path, HoloStage stage, HoloListing **out_listing,
                             HoloError *error)
{
    *out_listing = NULL;
    HoloFileKind kind;
    HOLO_TRY(holo_file_kind(path, &kind, error));
    if (kind == HOLO_FILE_ARCHIVE && stage == HOLO_STAGE_IMPORTED)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "%s is an archive, which has only the planned graph", path);
    HoloLister *lister = holo_realloc(NULL, sizeof *lister);
    if (!lister) return holo_fail_memory(error);
    *lister           = (HoloLister){.error = error};
    HoloStatus status = stage == HOLO_STAGE_IMPORTED ? imported(lister, path) : planned(lister, compiler, path, kind);
    return lister_end(lister, status, out_listing);
}

void holo_listing_close(HoloListing *listing)
{
    if (!listing) return;
    HoloLister *lister = (HoloLister *)(void *)listing;
    holo_arena_deinit(&lister->arena);
    holo_free(lister);
}
