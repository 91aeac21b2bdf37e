// torch_tensor.c - tensors that share memory, and bodies in which they are changed.
#include "import/torch/torch.h"

static HoloTorchTensor *root_of(HoloTorchTensor *tensor)
{
    while (tensor->base) tensor = tensor->base;
    return tensor;
}

// What the operator of a view gives for another base.
static HoloValue *look_through(HoloTorch *t, const HoloTorchTensor *view, HoloValue *base)
{
    HoloTv args[HOLO_TORCH_PARAMS] = {0}, out = {0};
    for (int i = 1; i < HOLO_TORCH_PARAMS; i++) args[i] = view->args[i];
    args[0] = holo_tv_tensor(t, base);
    if (view->view->one) return view->view->one(t, args);
    view->view->any(t, args, &out);
    if (t->e->status) return NULL;
    if (view->result >= 0 && holo_tv_is_list(&out) && view->result < out.list->count)
        out = out.list->item[view->result];
    return holo_torch_value(t, &out);
}

HoloValue *holo_torch_read(HoloTorch *t, HoloTorchTensor *tensor)
{
    if (t->e->status) return NULL;
    if (!tensor->base) return tensor->value;
    int64_t version = root_of(tensor)->version;
    if (tensor->version == version) return tensor->value;
    if (!holo_torch_step(t, 1)) return NULL;
    HoloValue *value = look_through(t, tensor, holo_torch_read(t, tensor->base));
    if (tensor->depth != t->depth) return value; // one of the body, which the view must not keep
    tensor->value   = value;
    tensor->version = version;
    return value;
}

static void note_change(HoloTorch *t, HoloTorchTensor *tensor)
{
    if (tensor->depth >= t->depth) return;
    for (int i = 0; i < t->change_count; i++)
        if (t->change[i].tensor == tensor) return;
    if (!HOLO_GROW(t->arena, t->change, t->change_count, t->change_room)) {
        holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
        return;
    }
    t->change[t->change_count++] = (HoloTorchChange){tensor, tensor->value};
}

// The base with other elements where the view shows it: the view of the elements' numbers says where that is.
static HoloValue *write_through(HoloTorch *t, const HoloTorchTensor *view, HoloValue *base, HoloValue *value)
{
    if (view->view->flags & HOLO_TORCH_SAME) return holo_torch_shape_as(t, value, base);
    HoloValue *places = holo_torch_shape_as(t, holo_torch_range(t, holo_torch_numel(t, base)), base);
    places            = holo_torch_flat(t, look_through(t, view, places));
    HoloValue *flat =
        holo_emit(t->e, "ScatterElements", HOLO_IN(holo_torch_flat(t, base), places, holo_torch_flat(t, value)), NULL);
    return holo_torch_shape_as(t, flat, base);
}

void holo_torch_write(HoloTorch *t, HoloTorchTensor *tensor, HoloValue *value)
{
    if (t->e->status || !value) return;
    if (!tensor->base) {
        note_change(t, tensor);
        tensor->value = value;
        tensor->version++;
        return;
    }
    HoloValue *base = holo_torch_read(t, tensor->base);
    holo_torch_write(t, tensor->base, write_through(t, tensor, base, value));
    if (tensor->depth != t->depth) return;
    tensor->value   = value;
    tensor->version = root_of(tensor)->version;
}

static void bind_view(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv *made, int result)
{
    if (made->kind != HOLO_TORCH_TENSOR || made->tensor == args[0].tensor || made->tensor->base) return;
    (void)t;
    made->tensor->base    = args[0].tensor;
    made->tensor->view    = op;
    made->tensor->args    = args;
    made->tensor->result  = result;
    made->tensor->version = root_of(args[0].tensor)->version;
}

HoloTv holo_torch_view(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv made)
{
    if (t->e->status || args[0].kind != HOLO_TORCH_TENSOR) return made;
    bind_view(t, op, args, &made, -1);
    for (int i = 0; holo_tv_is_list(&made) && i < made.list->count; i++) bind_view(t, op, args, &made.list->item[i], i);
    return made;
}

// ---- bodies

void holo_torch_enter(HoloTorch *t, HoloTorchBody *body, const char *name)
{
    *body = (HoloTorchBody){
        .outer = t->e, .change = t->change, .change_count = t->change_count, .change_room = t->change_room};
    holo_emit_begin_body(&body->emit, t->e, name);
    t->e            = &body->emit;
    t->change       = NULL;
    t->change_count = t->change_room = 0;
    t->depth++;
}

void holo_torch_leave(HoloTorch *t, HoloTorchBody *body)
{
    body->changed       = t->change;
    body->changed_count = t->change_count;
    for (int i = 0; i < body->changed_count; i++) {
        HoloTorchChange *c    = &body->changed[i];
        HoloValue       *left = c->tensor->value;
        c->tensor->value      = c->before;
        c->tensor->version++;
        c->before = left;
    }
    t->change       = body->change;
    t->change_count = body->change_count;
    t->change_room  = body->change_room;
    t->e            = body->outer;
    t->depth--;
    if (body->emit.status && !t->e->status) t->e->status = body->emit.status;
}

HoloValue *holo_torch_left(HoloTorch *t, const HoloTorchBody *body, HoloTorchTensor *tensor)
{
    for (int i = 0; i < body->changed_count; i++)
        if (body->changed[i].tensor == tensor) return body->changed[i].before;
    return holo_torch_read(t, tensor);
}
