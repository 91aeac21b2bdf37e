// absent.c - formats whose readers some builds leave out, to be small: those for browsers leave out the folders that
// bindings/web/rules.mk names. Where a reader is there, its own row is more sure than these.
#include "import/importer.h"

#define ADVICE \
    "this build leaves its reader out, to be small: compile the model with the program hologram, or convert it to ONNX"

static HoloSniff sniff_openvino(const HoloOffer *c)
{
    bool is = holo_offer_has_bytes(c, 0, "<") && holo_offer_mentions(c, "<net ") && holo_offer_mentions(c, "<layers>");
    return !c->is_folder && is ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_nnef(const HoloOffer *c)
{
    if (c->is_folder) return holo_offer_has_name(c, "graph.nnef") ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
    bool is =
        holo_offer_mentions(c, "version 1.") && holo_offer_mentions(c, "graph ") && holo_offer_mentions(c, "external");
    return is ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_absent[] = {
    {.name = "OpenVINO", .words = "an OpenVINO model", .advice = ADVICE, .is_model = true, .sniff = sniff_openvino},
    {.name = "NNEF", .words = "an NNEF model", .advice = ADVICE, .is_model = true, .sniff = sniff_nnef},
    {0},
};
