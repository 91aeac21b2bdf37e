// openvino_model.c - OpenVINO's row in the table of importers: the network, its inputs, constants and results.
#include "import/openvino/openvino.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const HoloIrOp holo_ir_pointwise[], holo_ir_shapes[], holo_ir_indexes[], holo_ir_networks[],
    holo_ir_recurrents[], holo_ir_images[], holo_ir_controls[], holo_ir_ends[];

const HoloIrOp *const holo_ir_tables[] = {holo_ir_pointwise, holo_ir_shapes,     holo_ir_indexes,
                                          holo_ir_networks,  holo_ir_recurrents, holo_ir_images,
                                          holo_ir_controls,  holo_ir_ends,       NULL};

// ---- ends of the network

// A size of "1,?,3..8": a number, or open. Moves behind it.
static int64_t size_at(const char **at)
{
    char   *end;
    int64_t size = strtoll(*at, &end, 10);
    bool    open = end == *at || *end == '.' || size < 0 || size > HOLO_IR_SIZE_MAX;
    *at          = end + strcspn(end, ",");
    *at += **at == ',';
    *at += strspn(*at, " ");
    return open ? -1 : size;
}

// The first name of several, "x,x:0".
static char *first_name(HoloIrCall *c, const char *names)
{
    char *name = holo_arena_text(c->net->ir->import->arena, names, strcspn(names, ","));
    return name ? name : holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
}

ONE(parameter)
{
    const char *shape = holo_ir_text(c, "shape", "");
    char       *name  = first_name(c, holo_ir_port_name(c->layer, 0));
    HoloTensor  type  = {.dtype = (uint8_t)holo_ir_type_attr(c, "element_type", HOLO_F32)};
    if (c->e->status) return NULL;
    if (!strcmp(shape, "...")) type.rank = -1;
    while (*shape && type.rank >= 0) {
        if (type.rank == HOLO_MAX_RANK)
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "an input of more than 16 dimensions");
        int64_t size   = size_at(&shape);
        char   *symbol = holo_arena_format(c->net->ir->import->arena, type.rank ? "%s_%d" : "batch", name, type.rank);
        type.dim[type.rank++] = size >= 0 ? size
                                : symbol  ? holo_dims_symbol(c->e->graph->dims, symbol)
                                          : HOLO_DIM_UNKNOWN;
    }
    return holo_emit_input(c->e, name, &type);
}

// A tensor of the file of weights.
ONE(constant)
{
    HoloImport *im     = c->net->ir->import;
    int64_t     offset = holo_ir_int(c, "offset", 0), size = holo_ir_int(c, "size", 0);
    HoloTensor  type  = {.dtype = (uint8_t)holo_ir_type_attr(c, "element_type", HOLO_NONE)};
    const char *shape = holo_ir_text(c, "shape", "");
    if (c->e->status) return NULL;
    while (*shape) {
        int64_t next = type.rank < HOLO_MAX_RANK ? size_at(&shape) : -1;
        if (next < 0)
            return holo_emit_fail(c->e, HOLO_BAD_MODEL, "a constant has the sizes '%.100s'",
                                  holo_ir_text(c, "shape", ""));
        type.dim[type.rank++] = next;
    }
    int64_t count = holo_tensor_count(&type);
    if (count < 0 || type.dtype == HOLO_STRING)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a constant of texts, or one that is too large");
    if (!count) return holo_emit_constant(c->e, c->layer->name, &type);
    const HoloMapping *bin  = c->net->ir->weights;
    uint64_t           need = holo_import_stored((HoloDtype)type.dtype, count);
    if (!bin)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL,
                              "the weights are in a file beside the model, with .bin for .xml, which is not there");
    if (offset < 0 || size < 0 || (uint64_t)size < need || (uint64_t)offset > bin->size ||
        need > bin->size - (uint64_t)offset)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL, "a constant of %llu bytes at %lld, but the file of weights has %zu",
                              (unsigned long long)need, (long long)offset, bin->size);
    HoloStatus status = holo_import_bytes(im, (HoloString){c->layer->name, strlen(c->layer->name)},
                                          (const char *)bin->data + offset, count, &type);
    if (status) {
        c->e->status = status;
        return NULL;
    }
    return holo_emit_constant(c->e, c->layer->name, &type);
}

// An output is called as the tensor is.
ONE(result)
{
    HoloValue         *x    = IN(0);
    const HoloIrLayer *from = c->layer->from[0];
    if (!x || c->e->outer) return x; // of a body: its node gives it
    const char *names = holo_ir_port_name(from, c->layer->from_port[0]);
    char       *name  = names == from->name && from->out_count > 1 // one of several without a name of its own
                            ? holo_arena_format(c->net->ir->import->arena, "%s.%d", names, c->layer->from_port[0])
                            : first_name(c, names);
    if (name) holo_emit_output(c->e, x, name);
    return x;
}

const HoloIrOp holo_ir_ends[] = {
    {"Parameter", parameter, NULL, NULL},
    {"Const", constant, NULL, NULL},
    {"Constant", constant, NULL, NULL},
    {"Result", result, NULL, NULL},
    {0},
};

// ---- the model

static HoloStatus describe(HoloIr *ir, const HoloXml *net)
{
    static const char *const makers[] = {"Runtime_version", "MO_version"};
    const HoloXml           *info = holo_xml_child(net, "rt_info"), *own = holo_xml_child(info, "model_info");
    char                     version[24];
    if (!info) info = holo_xml_child(net, "meta_data");
    for (int i = 0; i < HOLO_COUNT(makers); i++) {
        const char *value = holo_xml_attr(holo_xml_child(info, makers[i]), "value");
        char       *text  = value ? holo_arena_format(ir->import->arena, "OpenVINO %.200s", value) : NULL;
        if (!text) continue;
        HOLO_TRY(holo_import_fact(ir->import, "producer", text));
        break;
    }
    snprintf(version, sizeof version, "%lld", (long long)ir->version);
    HOLO_TRY(holo_import_fact(ir->import, "version", version));
    const char *name = holo_xml_attr(net, "name");
    HOLO_TRY(holo_import_fact(ir->import, "name", name ? name : ""));
    for (int i = 0; own && i < own->child_count; i++) {
        const char *value = holo_xml_attr(own->child[i], "value");
        if (value) HOLO_TRY(holo_import_own(ir->import, own->child[i]->name, value));
    }
    return HOLO_OK;
}

// model.xml has its weights in model.bin. A model without constants needs no such file.
static HoloStatus open_weights(HoloIr *ir)
{
    const char *path = ir->import->from->path, *name = path ? holo_path_name(path) : NULL;
    size_t      size = name ? strlen(name) : 0;
    HoloError   why  = {0};
    if (!name) return HOLO_OK;
    if (size > 4 && !strcasecmp(name + size - 4, ".xml")) size -= 4;
    char *bin = holo_arena_format(ir->import->arena, "%.*s.bin", (int)size, name);
    if (!bin) return holo_fail_memory(ir->import->error);
    HoloMapping *mapping = NULL;
    HoloError   *error   = ir->import->error;
    ir->import->error    = &why;
    if (!holo_import_map(ir->import, (HoloString){bin, strlen(bin)}, &mapping)) ir->weights = mapping;
    ir->import->error = error;
    return HOLO_OK;
}

static HoloStatus open_model(HoloImport *import)
{
    HoloIr    ir = {.import = import};
    HoloXml  *xml;
    HoloEmit  e;
    HoloIrNet net;
    HOLO_TRY(holo_xml_read(import->arena, import->from->file.data, import->from->file.size, &xml, import->error));
    const char *version = holo_xml_attr(xml, "version");
    ir.version          = version ? strtoll(version, NULL, 10) : 0;
    if (strcmp(xml->name, "net"))
        return holo_fail(import->error, HOLO_BAD_MODEL, "this is not a network of OpenVINO: it is a <%.40s>",
                         xml->name);
    if (ir.version != 10 && ir.version != 11)
        return holo_fail(import->error, HOLO_UNSUPPORTED,
                         "version %lld of OpenVINO's representation is not supported: 10 and 11 are",
                         (long long)ir.version);
    HOLO_TRY(open_weights(&ir));
    holo_emit_begin(&e, import, "main");
    if (!e.status) e.status = holo_ir_net(&ir, xml, &e, &net);
    if (!e.status) holo_ir_emit(&net);
    for (int i = 0; i < ir.variable_count && !e.status; i++) { // the one that says whether there was a run before
        HoloIrVariable *v = &ir.variable[i];
        if (!v->state || strcmp(v->name, "started") || v->is_written) continue;
        HoloValue *one = holo_emit_reshape(&e, holo_emit_number(&e, HOLO_U8, 1), (int64_t[]){1}, 1);
        holo_emit(&e, "hologram::StateWrite", HOLO_IN(v->state, one, v->before), NULL);
    }
    if (!e.status && ir.variable_count) holo_graph_states_last(e.graph);
    if (!e.status && !e.graph->output_count) holo_emit_fail(&e, HOLO_BAD_MODEL, "the network has no results");
    import->out->graph = e.graph;
    holo_emit_end(&e);
    return e.status ? e.status : describe(&ir, xml);
}

static HoloSniff sniff(const HoloOffer *offer)
{
    const char *bytes = offer->file.data;
    if (offer->is_folder || offer->file.size < 8) return HOLO_SNIFF_NONE;
    if (!memcmp(bytes, "\xEF\xBB\xBF", 3)) bytes += 3;
    bool is_xml = *bytes == '<' || *bytes == ' ' || *bytes == '\n';
    return is_xml && holo_offer_mentions(offer, "<net ") && holo_offer_mentions(offer, "<layers") ? HOLO_SNIFF_SURE
                                                                                                  : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_openvino[] = {
    {.name = "OpenVINO", .words = "a network of OpenVINO", .is_model = true, .sniff = sniff, .open = open_model},
    {0},
};
