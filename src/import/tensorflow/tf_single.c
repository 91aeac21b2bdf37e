// tf_single.c - one operator of TensorFlow by itself. See tf_single.h.
#include "import/tensorflow/tf_single.h"

#include "import/tensorflow/tf.h"

static const HoloFlowOp *find_row(HoloString op)
{
    for (int t = 0; holo_flow_tables[t]; t++)
        for (const HoloFlowOp *row = holo_flow_tables[t]; row->name; row++)
            if (holo_flow_is(op, row->name)) return row;
    return NULL;
}

bool holo_flow_is_known(HoloString op)
{
    const HoloFlowOp *row = find_row(op);
    return row && !(row->flags & (HOLO_FLOW_LAZY | HOLO_FLOW_STATE));
}

// What it gives, which must be tensors.
static int take_outputs(HoloEmit *e, const HoloFlowCall *c, HoloValue **out, int room)
{
    int count = c->out_count < room ? c->out_count : room;
    for (int i = 0; i < count && !e->status; i++) {
        if (c->out[i].kind != HOLO_FLOW_TENSOR)
            holo_emit_fail(e, HOLO_UNSUPPORTED, "output %d of %.*s is not a tensor", i, HOLO_IMPORT_ARG(c->node->op));
        out[i] = c->out[i].value;
    }
    return e->status ? 0 : count;
}

int holo_flow_single(HoloEmit *e, HoloString message, HoloValue *const *in, int in_count, HoloValue **out, int room)
{
    HoloArena        *arena = e->import->arena;
    HoloFlow         *tf    = HOLO_NEW(arena, HoloFlow, 1);
    HoloFlowNode     *node  = HOLO_NEW(arena, HoloFlowNode, 1);
    HoloFlowValue    *given = HOLO_NEW(arena, HoloFlowValue, in_count + 1);
    HoloFlowNodeProto proto = {0};
    if (e->status) return 0;
    if (!tf || !node || !given) return holo_emit_fail(e, HOLO_NO_MEMORY, "there is not enough memory"), 0;
    holo_flow_init(tf, e->import, message.data);
    HoloFlowNodes nodes = {.node = node, .count = 1};
    e->status           = holo_flow_list_rows(tf);
    if (!e->status) e->status = holo_pb_read(&tf->source, "NodeDef", message, holo_flow_node_fields, &proto);
    if (!e->status) e->status = holo_flow_scope_init(tf, &tf->main, &nodes, e);
    if (e->status) return 0;
    *node = (HoloFlowNode){.name = proto.name, .op = proto.op, .attr = proto.attr, .row = find_row(proto.op)};
    if (!holo_flow_is_known(proto.op))
        return holo_emit_fail(e, HOLO_UNSUPPORTED, "%.*s of TensorFlow", HOLO_IMPORT_ARG(proto.op)), 0;
    for (int i = 0; i < in_count; i++) given[i] = (HoloFlowValue){HOLO_FLOW_TENSOR, in[i], NULL};
    HoloFlowCall c = {tf, e, &tf->main, node, node->row, given, in_count, NULL, 0};
    if (!holo_flow_on_complex(&c)) node->row->emit(&c);
    return e->status ? 0 : take_outputs(e, &c, out, room);
}
