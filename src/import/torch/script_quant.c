// script_quant.c - what quantized modules keep in a script: quantized tensors, and objects that hold their weights.
#include "import/torch/script.h"

#include "base/bytes.h"

#include <string.h>

static HoloTv fail(HoloScript *s, const char *path, const char *what)
{
    holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "the attribute %.200s: %s", path, what);
    return (HoloTv){0};
}

// (torch.per_tensor_affine, scale, zero point) or (torch.per_channel_affine, scales, zero points, axis)
HoloTv holo_script_quantized(HoloScript *s, const HoloPickle *p, const char *folder, const char *path)
{
    HoloTorch           *t    = s->t;
    const HoloPickle    *args = holo_pickle_call(p, HOLO_CHECKPOINT_QUANTIZED), *how;
    HoloCheckpointTensor tensor;
    if (!args || args->count < 5 || args->item[4]->kind != HOLO_PICKLE_TUPLE || args->item[4]->count < 3)
        return fail(s, path, "a quantized tensor without its scale");
    how          = args->item[4];
    t->e->status = holo_checkpoint_tensor(&t->file, folder, path, p, &tensor);
    if (t->e->status) return (HoloTv){0};
    HoloValue *whole    = holo_torch_constant(t, path, &tensor), *scale, *zero;
    char      *names[2] = {holo_arena_format(t->arena, "%s.scale", path), holo_arena_format(t->arena, "%s.zero", path)};
    if (!names[0] || !names[1]) return (HoloTv){0};
    HoloTv first  = holo_script_value(s, how->item[1], folder, names[0]),
           second = holo_script_value(s, how->item[2], folder, names[1]);
    scale         = holo_torch_scalar(t, &first, HOLO_F32);
    zero          = holo_torch_scalar(t, &second, HOLO_I32);
    bool is_each  = holo_pickle_is_text(how->item[0], "torch.per_channel_affine");
    if (is_each && (how->count < 4 || how->item[3]->kind != HOLO_PICKLE_INT || how->item[3]->integer < 0 ||
                    how->item[3]->integer >= tensor.tensor.rank))
        return fail(s, path, "a quantized tensor whose scales have no axis");
    return holo_tv_quantized(t, whole, scale, zero, is_each ? (int)how->item[3]->integer : -1);
}

// [dims, strides, pads, dilations, output pads, groups, is transposed], the middle ones as many as there are dims
static HoloTv conv_of(HoloScript *s, const HoloTv *state, const char *path)
{
    HoloTorch    *t = s->t;
    int64_t       number[32];
    int           count;
    const HoloTv *tensors = state->list->count > 2 ? &state->list->item[1] : NULL,
                 *more    = tensors ? &state->list->item[2] : NULL;
    if (!tensors || !holo_tv_is_list(tensors) || tensors->list->count < 2 || !holo_tv_is_list(more))
        return fail(s, path, "weights of a convolution of this version");
    HoloValue *config = holo_torch_value(t, &tensors->list->item[0]);
    bool is_read      = config && holo_emit_known_ints(t->e, config, number, HOLO_COUNT(number), &count) && count > 3 &&
                   number[0] >= 1 && number[0] <= 3 && count >= 3 + 4 * number[0];
    if (!is_read || number[2 + 4 * number[0]]) return fail(s, path, "weights of a convolution that is transposed");
    int    dims    = (int)number[0];
    HoloTv item[6] = {tensors->list->item[1], more->list->count ? more->list->item[0] : (HoloTv){0}};
    for (int i = 0; i < 3; i++) {
        item[2 + i] = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
        for (int d = 0; d < dims && !t->e->status; d++)
            holo_tv_append(t, item[2 + i].list, holo_tv_int(number[1 + i * dims + d]));
    }
    item[5] = holo_tv_int(number[1 + 4 * dims]);
    return holo_tv_list(t, HOLO_TORCH_TUPLE, 6, item);
}

static bool has(HoloString text, const char *part)
{
    return holo_bytes_find(text.data, text.size, part, strlen(part)) != NULL;
}

bool holo_script_packed(HoloScript *s, const HoloPickle *p, const char *folder, const char *path, HoloTv *out)
{
    static const char begin[] = "__torch__.torch.classes.";
    HoloString        name    = p->item[0]->text;
    if (name.size < sizeof begin || memcmp(name.data, begin, sizeof begin - 1)) return false;
    *out = p->state ? holo_script_value(s, p->state, folder, path) : (HoloTv){0};
    if (s->t->e->status) return true;
    bool is_conv    = has(name, "ConvPackedParams") || has(name, "dPackedParams");
    bool is_context = has(name, "OpContext"); // of the optimizer for mobile devices
    bool is_linear = is_context || has(name, "LinearPackedParams"), is_cell = has(name, "CellParams");
    if (!holo_tv_is_list(out) || out->list->count < 2 || !(is_conv || is_linear || is_cell)) {
        holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "the attribute %.200s is an object of C++: %.*s", path,
                       HOLO_IMPORT_ARG(name));
    } else if (is_conv && !is_linear) {
        *out = conv_of(s, out, path);
    } else if (is_cell && (out->list->count < 5 || !holo_tv_is_list(&out->list->item[4]))) {
        *out = fail(s, path, "weights of a recurrent layer that is not quantized dynamically");
    }
    return true;
}
