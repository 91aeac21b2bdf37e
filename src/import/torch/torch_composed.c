// torch_composed.c - operators that are written in other operators, as code of TorchScript (composed_*.c). What is not in
// the tables is looked for here.
#include "import/torch/script.h"

#include <string.h>

extern const HoloTorchComposed holo_torch_composed_bessel[], holo_torch_composed_losses[],
    holo_torch_composed_special[], holo_torch_composed_arrays[], holo_torch_composed_linear[],
    holo_torch_composed_rnn[], holo_torch_composed_backward[], holo_torch_composed_factors[],
    holo_torch_composed_rest[];

static const HoloTorchComposed *const tables[] = {
    holo_torch_composed_bessel,   holo_torch_composed_losses,  holo_torch_composed_special,
    holo_torch_composed_arrays,   holo_torch_composed_linear,  holo_torch_composed_rnn,
    holo_torch_composed_backward, holo_torch_composed_factors, holo_torch_composed_rest};

static const HoloTorchComposed *find(const char *name)
{
    for (int i = 0; i < HOLO_COUNT(tables); i++)
        for (const HoloTorchComposed *row = tables[i]; row->name; row++)
            if (!strcmp(row->name, name)) return row;
    return NULL;
}

bool holo_torch_is_composed(const char *name)
{
    return find(name) != NULL;
}

bool holo_torch_composed(HoloTorch *t, const HoloTorchCall *call, HoloTv *out)
{
    const HoloTorchComposed *row    = find(call->name);
    HoloScript               script = {.t = t};
    HoloScriptNode          *tree;
    if (!row || t->e->status) return false;
    if (++t->depth_calls > 32) holo_emit_fail(t->e, HOLO_UNSUPPORTED, "operators are nested too deep");
    if (!t->e->status)
        t->e->status = holo_script_parse(t->arena, row->name, row->code, strlen(row->code), &tree, t->import->error);
    if (!t->e->status) {
        HoloScriptFunction function = {tree->child[0], row->name};
        *out = holo_script_function(&script, &function, NULL, call->args, call->names, call->count);
    }
    t->depth_calls--;
    return true;
}
