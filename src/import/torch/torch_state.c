// torch_state.c - what a program keeps between runs: buffers that it changes; and If, which joins what its bodies change.
//
// Whether a buffer is changed is known only at the end. So a program is imported with constants first; if it changed
// some of them, it is imported again, and these are states from the beginning.
#include "import/torch/torch.h"

#include <string.h>

static bool all_zero(const HoloTensor *x)
{
    const char *bytes = x->data;
    for (size_t i = 0; i < holo_tensor_bytes(x); i++)
        if (bytes[i]) return false;
    return true;
}

static HoloValue *state_input(HoloTorch *t, const char *name, const HoloTensor *type)
{
    HoloTensor plain = *type;
    plain.data       = NULL;
    HoloValue *input = holo_emit_input(t->e, name, &plain);
    if (!input) return NULL;
    input->is_state = true;
    input->fill     = 1;
    return input;
}

static HoloTorchState *add_state(HoloTorch *t, const char *name)
{
    if (t->e->status) return NULL;
    if (!HOLO_GROW(t->arena, t->state, t->state_count, t->state_room))
        return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    t->state[t->state_count] = (HoloTorchState){.name = name};
    return &t->state[t->state_count++];
}

// Whether there was a run before this one: a bool, [1].
static HoloValue *started(HoloTorch *t)
{
    HoloTensor flag = {.dtype = HOLO_U8, .rank = 1, .dim = {1}};
    for (int i = 0; i < t->state_count; i++)
        if (t->state[i].input && !t->state[i].tensor) return holo_emit_cast(t->e, t->state[i].before, HOLO_BOOL);
    HoloTorchState *s = add_state(t, "started");
    if (!s) return NULL;
    s->input  = state_input(t, "started", &flag);
    s->before = holo_emit(t->e, "hologram::StateRead", HOLO_IN(s->input), NULL);
    return holo_emit_cast(t->e, s->before, HOLO_BOOL);
}

// What the buffer is when a run begins: the constant in the first one.
static HoloValue *begin_state(HoloTorch *t, HoloTorchState *s, HoloValue *constant)
{
    HoloValue *input  = state_input(t, s->name, &constant->type);
    HoloValue *before = holo_emit(t->e, "hologram::StateRead", HOLO_IN(input), NULL);
    s->input          = input;
    s->before         = before;
    if (!constant->type.data || all_zero(&constant->type)) return before;
    HoloValue *is_later = started(t);
    if (!constant->type.rank) is_later = holo_emit_reshape(t->e, is_later, NULL, 0);
    return holo_emit(t->e, "Where", HOLO_IN(is_later, before, constant), NULL);
}

HoloTv holo_torch_buffer(HoloTorch *t, const char *name, HoloValue *constant)
{
    HoloTv v = holo_tv_tensor(t, constant);
    if (t->e->status || !constant) return v;
    int             at = t->state_count;
    HoloTorchState *s  = add_state(t, name);
    if (!s) return v;
    s->tensor = v.tensor;
    if (holo_name_map_find(&t->changed, (HoloString){name, strlen(name)})) {
        HoloTorchState own = *s;
        v.tensor->value    = begin_state(t, &own, constant);
        t->state[at]       = own; // the list may have grown
    }
    v.tensor->version     = 0;
    t->state[at].constant = v.tensor->value;
    return v;
}

bool holo_torch_states_end(HoloTorch *t)
{
    bool is_again = false, any = false;
    for (int i = 0; i < t->state_count && !t->e->status; i++) {
        HoloTorchState *s = &t->state[i];
        if (!s->input && s->tensor->value == s->constant) continue;
        if (!s->input) { // it was taken for a constant
            is_again = true;
            if (!holo_name_map_set(&t->changed, t->arena, (HoloString){s->name, strlen(s->name)}, s)) return false;
            continue;
        }
        HoloValue *value = s->tensor ? s->tensor->value
                                     : holo_emit_reshape(t->e, holo_emit_number(t->e, HOLO_U8, 1), (int64_t[]){1}, 1);
        t->e->node       = s->name;
        holo_emit(t->e, "hologram::StateWrite", HOLO_IN(s->input, value, s->before), NULL);
        any = true;
    }
    if (any && !t->e->status) holo_graph_states_last(t->e->graph);
    return is_again && !t->e->status;
}

// ---- If

static int join_changes(HoloTorch *t, const HoloTorchBody *yes, const HoloTorchBody *no, HoloTorchTensor ***out)
{
    int               count = 0;
    HoloTorchTensor **list  = HOLO_NEW(t->arena, HoloTorchTensor *, yes->changed_count + no->changed_count + 1);
    if (!list) {
        holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
        return 0;
    }
    for (int side = 0; side < 2; side++) {
        const HoloTorchBody *body = side ? no : yes;
        for (int i = 0; i < body->changed_count; i++) {
            bool is_known = false;
            for (int k = 0; k < count; k++) is_known |= list[k] == body->changed[i].tensor;
            if (!is_known) list[count++] = body->changed[i].tensor;
        }
    }
    *out = list;
    return count;
}

void holo_torch_if(HoloTorch *t, HoloValue *condition, HoloTorchBody *yes, HoloTorchBody *no,
                   HoloValue *const *yes_values, HoloValue *const *no_values, int count, HoloValue **out)
{
    HoloTorchTensor **changed = NULL;
    int               more    = join_changes(t, yes, no, &changed);
    HoloValue       **all     = t->e->status ? NULL : HOLO_NEW(t->arena, HoloValue *, count + more + 1);
    for (int i = 0; i < count; i++) out[i] = NULL;
    if (!all || t->e->status || count + more == 0) return;
    for (int i = 0; i < count; i++) {
        holo_emit_output(&yes->emit, yes_values[i], NULL);
        holo_emit_output(&no->emit, no_values[i], NULL);
    }
    for (int i = 0; i < more; i++) {
        holo_emit_output(&yes->emit, holo_torch_left(t, yes, changed[i]), NULL);
        holo_emit_output(&no->emit, holo_torch_left(t, no, changed[i]), NULL);
    }
    condition = holo_emit_cast(t->e, condition, HOLO_BOOL);
    holo_emit_control(t->e, "If", HOLO_IN(condition), NULL,
                      (HoloEmitBody[]){{"then_branch", &yes->emit}, {"else_branch", &no->emit}, {0}}, all,
                      count + more);
    if (t->e->status) return;
    for (int i = 0; i < count; i++) out[i] = all[i];
    for (int i = 0; i < more; i++) holo_torch_write(t, changed[i], all[count + i]);
}
