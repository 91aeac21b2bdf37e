// openvino_graph.c - layers and edges of a network or a body, and the order in which they are emitted.
#include "import/openvino/openvino.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

const HoloIrOp *holo_ir_find(const char *type)
{
    for (int i = 0; holo_ir_tables[i]; i++)
        for (const HoloIrOp *op = holo_ir_tables[i]; op->type; op++)
            if (!strcmp(op->type, type)) return op;
    return NULL;
}

// ---- reading

typedef struct Place { // a port by the ids of its layer and itself
    HoloIrLayer *layer;
    int          index;
} Place;

typedef struct Ports {
    HoloIr     *ir;
    HoloNameMap in, out; // "layer:port" to Place *
} Ports;

static const char *key_of(HoloArena *arena, const char *layer, const char *port)
{
    return layer && port ? holo_arena_format(arena, "%.20s:%.20s", layer, port) : NULL;
}

static HoloStatus note_ports(Ports *p, HoloIrLayer *layer, const HoloXml *ports, HoloNameMap *map, int *out_count)
{
    HoloArena     *arena = p->ir->import->arena;
    int            at = 0, count = 0;
    const HoloXml *port;
    while ((port = holo_xml_next(ports, "port", &at))) {
        const char *key   = key_of(arena, holo_xml_attr(layer->xml, "id"), holo_xml_attr(port, "id"));
        Place      *place = HOLO_NEW(arena, Place, 1);
        if (count == HOLO_IR_PORTS)
            return holo_fail(p->ir->import->error, HOLO_UNSUPPORTED, "layer '%.200s' has more than %d ports",
                             layer->name, HOLO_IR_PORTS);
        if (!key)
            return holo_fail(p->ir->import->error, HOLO_BAD_MODEL, "a port of layer '%.200s' has no id", layer->name);
        *place = (Place){layer, count++};
        if (!holo_name_map_set(map, arena, string_of(key), place)) return holo_fail_memory(p->ir->import->error);
    }
    *out_count = count;
    return HOLO_OK;
}

static HoloStatus read_layer(Ports *p, const HoloXml *xml, HoloIrLayer **out)
{
    HoloIrLayer *l       = HOLO_NEW(p->ir->import->arena, HoloIrLayer, 1);
    const char  *version = holo_xml_attr(xml, "version");
    if (!l) return holo_fail_memory(p->ir->import->error);
    *out     = l;
    l->xml   = xml;
    l->data  = holo_xml_child(xml, "data");
    l->name  = holo_xml_attr(xml, "name");
    l->type  = holo_xml_attr(xml, "type");
    l->opset = version && !strncmp(version, "opset", 5) ? atoi(version + 5) : 0;
    if (!l->name) l->name = "";
    if (!l->type) return holo_fail(p->ir->import->error, HOLO_BAD_MODEL, "layer '%.200s' has no type", l->name);
    HOLO_TRY(note_ports(p, l, holo_xml_child(xml, "input"), &p->in, &l->in_count));
    return note_ports(p, l, holo_xml_child(xml, "output"), &p->out, &l->out_count);
}

static HoloStatus read_edge(Ports *p, const HoloXml *edge)
{
    HoloArena   *arena = p->ir->import->arena;
    const char  *from  = key_of(arena, holo_xml_attr(edge, "from-layer"), holo_xml_attr(edge, "from-port"));
    const char  *to    = key_of(arena, holo_xml_attr(edge, "to-layer"), holo_xml_attr(edge, "to-port"));
    const Place *a     = from ? holo_name_map_find(&p->out, string_of(from)) : NULL,
                *b     = to ? holo_name_map_find(&p->in, string_of(to)) : NULL;
    if (!a || !b)
        return holo_fail(p->ir->import->error, HOLO_BAD_MODEL, "an edge joins ports that there are none of: %s to %s",
                         from ? from : "?", to ? to : "?");
    if (b->layer->from[b->index])
        return holo_fail(p->ir->import->error, HOLO_BAD_MODEL, "two edges end at port %s", to);
    b->layer->from[b->index]      = a->layer;
    b->layer->from_port[b->index] = a->index;
    return HOLO_OK;
}

HoloStatus holo_ir_net(HoloIr *ir, const HoloXml *xml, HoloEmit *e, HoloIrNet *out)
{
    const HoloXml *layers = holo_xml_child(xml, "layers"), *edges = holo_xml_child(xml, "edges"), *part;
    Ports          p  = {.ir = ir};
    int            at = 0;
    *out              = (HoloIrNet){.ir = ir, .e = e};
    if (!layers) return holo_fail(ir->import->error, HOLO_BAD_MODEL, "the network has no layers");
    out->layer = HOLO_NEW(ir->import->arena, HoloIrLayer *, layers->child_count + 1);
    if (!out->layer) return holo_fail_memory(ir->import->error);
    while ((part = holo_xml_next(layers, "layer", &at))) HOLO_TRY(read_layer(&p, part, &out->layer[out->count++]));
    for (at = 0; (part = holo_xml_next(edges, "edge", &at));) HOLO_TRY(read_edge(&p, part));
    return HOLO_OK;
}

const char *holo_ir_port_name(const HoloIrLayer *layer, int port)
{
    int            at   = 0;
    const HoloXml *list = holo_xml_child(layer->xml, "output"), *one = NULL;
    for (int i = 0; i <= port; i++) one = holo_xml_next(list, "port", &at);
    const char *names = holo_xml_attr(one, "names");
    return names && *names ? names : layer->name;
}

// ---- emitting

static void emit_unknown(HoloIrCall *c)
{
    HoloIrLayer *l = c->layer;
    HoloValue   *in[HOLO_IR_PORTS];
    char         name[140];
    int          count = 0;
    for (int i = 0; i < l->in_count; i++)
        if (holo_ir_may(c, i)) in[count++] = holo_ir_may(c, i);
    snprintf(name, sizeof name, "openvino::%.120s", l->type);
    holo_emit_many(c->e, name, (HoloEmitIn){count, in}, NULL, l->out, l->out_count ? l->out_count : 1);
    l->is_unknown = true;
}

static void emit_layer(HoloIrNet *net, HoloIrLayer *l)
{
    HoloIrCall      c       = {net, net->e, l};
    const HoloIrOp *op      = holo_ir_find(l->type);
    HoloIrLayer    *unknown = NULL;
    net->e->node            = l->name;
    for (int i = 0; i < l->in_count; i++)
        if (l->from[i] && l->from[i]->is_unknown) unknown = l->from[i];
    l->is_done = true;
    if (!op) {
        emit_unknown(&c);
    } else if (unknown && strcmp(l->type, "Result")) {
        l->is_unknown = true;
        for (int i = 0; i < l->out_count; i++) l->out[i] = unknown->out[0];
    } else if (l->out[0]) { // a parameter of a body
    } else if (op->one) {
        l->out[0] = op->one(&c);
    } else {
        op->many(&c);
    }
}

// Emits a layer behind those that it needs. `stack` has room for all layers.
static void emit_from(HoloIrNet *net, HoloIrLayer **stack, HoloIrLayer *first)
{
    int depth      = 0;
    stack[depth++] = first;
    first->is_open = true;
    while (depth && !net->e->status) {
        HoloIrLayer *l = stack[depth - 1], *next = NULL;
        while (l->looked_at < l->in_count && !next) {
            HoloIrLayer *from = l->from[l->looked_at++];
            if (from && !from->is_done) next = from;
        }
        if (!next) {
            emit_layer(net, l);
            depth--;
        } else if (next->is_open) {
            net->e->node = NULL;
            holo_emit_fail(net->e, HOLO_BAD_MODEL, "the layers of the network form a circle, with '%.200s'",
                           next->name);
        } else {
            next->is_open  = true;
            stack[depth++] = next;
        }
    }
}

void holo_ir_emit(HoloIrNet *net)
{
    HoloIrLayer **stack = HOLO_NEW(net->ir->import->arena, HoloIrLayer *, net->count + 1);
    if (!stack) return (void)holo_emit_fail(net->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int i = 0; i < net->count && !net->e->status; i++)
        if (!net->layer[i]->is_done) emit_from(net, stack, net->layer[i]);
}
