// torch_complex.c - complex numbers: two tensors, the real and the imaginary parts. What only moves elements, or adds
// them, is emitted for each part; aten_complex.c has the other operators.
#include "import/torch/torch.h"

#include <string.h>

typedef struct ByParts { // operators that do the same with each part
    const char *names;   // between spaces
    const char *data;    // the places of what has parts; other arguments stay as they are
} ByParts;

static const ByParts by_parts[] = {
    {" view reshape _unsafe_view view_copy _reshape_alias _reshape_copy view_as reshape_as flatten ravel unflatten "
     "transpose swapaxes swapdims transpose_copy t t_copy numpy_T mT permute permute_copy movedim moveaxis unsqueeze "
     "unsqueeze_copy squeeze squeeze_copy expand expand_copy broadcast_to expand_as slice slice_copy narrow narrow_copy "
     "select select_copy split split_with_sizes unsafe_split unsafe_split_with_sizes split_copy split_with_sizes_copy "
     "chunk unsafe_chunk tensor_split unbind unbind_copy hsplit vsplit dsplit diagonal diagonal_copy linalg_diagonal "
     "unfold unfold_copy as_strided as_strided_copy ",
     "0"},
    {" cat concat concatenate stack hstack vstack row_stack dstack column_stack atleast_1d atleast_2d atleast_3d repeat "
     "tile repeat_interleave flip fliplr flipud rot90 roll tril triu diag_embed diag diagflat constant_pad_nd pad "
     "reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d broadcast_tensors index index_select gather "
     "take take_along_dim masked_select _unsafe_index block_diag ",
     "0"},
    {" sum mean cumsum nansum diff trace neg negative positive clone contiguous alias detach lift_fresh lift_fresh_copy "
     "_to_copy to type_as fft_fftshift fft_ifftshift zeros_like empty_like new_zeros new_empty zero dropout "
     "native_dropout resolve_conj resolve_neg trapezoid trapz cumulative_trapezoid sum_to_size ",
     "0"},
    {" where ", "12"},
    {" masked_fill index_put _index_put_impl _unsafe_index_put masked_scatter ", "02"},
    {" scatter scatter_add index_add index_copy index_fill ", "03"},
    {" slice_scatter select_scatter diagonal_scatter copy fill full_like lerp ", "01"},
    {" full ", "1"},
    {" new_full ", "02"},
};
// What is asked of a tensor, whatever its elements are.
static const char asked_of_one[] = " size sym_size dim numel sym_numel len stride sym_stride is_contiguous "
                                   "new_ones is_same_size storage_offset _assert_tensor_metadata ";

bool holo_tv_is_complex(const HoloTv *v)
{
    if (v->kind == HOLO_TORCH_COMPLEX) return true;
    for (int i = 0; holo_tv_is_list(v) && i < v->list->count; i++)
        if (v->list->item[i].kind == HOLO_TORCH_COMPLEX) return true;
    return false;
}

static bool same_sizes(const HoloValue *x, const HoloValue *y)
{
    if (!x || !y || x->type.rank < 0 || x->type.rank != y->type.rank) return false;
    for (int i = 0; i < x->type.rank; i++)
        if (x->type.dim[i] != y->type.dim[i]) return false;
    return true;
}

static HoloTv zeros_of(HoloTorch *t, HoloTv x)
{
    return holo_torch_apply(t, "zeros_like", 1, &x);
}

// A part as a tensor of real numbers.
static HoloTv part_of(HoloTorch *t, HoloTv v)
{
    if (v.kind == HOLO_TORCH_TENSOR && holo_torch_is_float(holo_torch_dtype_in(holo_torch_read(t, v.tensor)))) return v;
    return holo_tv_tensor(t, holo_torch_real(t, &v));
}

HoloTv holo_tv_complex(HoloTorch *t, HoloTv re, HoloTv im)
{
    if (t->e->status) return (HoloTv){0};
    re = part_of(t, re);
    if (im.kind == HOLO_TORCH_INT && !im.i) {
        im = zeros_of(t, re);
    } else {
        im = part_of(t, im);
        if (t->e->status) return (HoloTv){0};
        if (!same_sizes(holo_torch_read(t, re.tensor), holo_torch_read(t, im.tensor))) {
            HoloTv both = holo_tv_list(t, HOLO_TORCH_LIST, 2, (HoloTv[]){re, im});
            both        = holo_torch_apply(t, "broadcast_tensors", 1, &both);
            if (t->e->status) return (HoloTv){0};
            re = both.list->item[0], im = both.list->item[1];
        }
    }
    HoloTv out = holo_tv_list(t, HOLO_TORCH_LIST, 2, (HoloTv[]){re, im});
    out.kind   = HOLO_TORCH_COMPLEX;
    return out;
}

HoloTv holo_tv_part(HoloTorch *t, const HoloTv *v, int part)
{
    if (v->kind == HOLO_TORCH_COMPLEX) return v->list->item[part];
    if (!holo_tv_is_list(v)) return part == 0 || v->kind == HOLO_TORCH_NONE ? *v : holo_tv_int(0);
    HoloTv out = holo_tv_list(t, v->kind, 0, NULL);
    for (int i = 0; i < v->list->count && !t->e->status; i++) {
        HoloTv item = holo_tv_part(t, &v->list->item[i], part);
        if (part && item.kind == HOLO_TORCH_INT && v->list->item[i].kind == HOLO_TORCH_TENSOR)
            item = zeros_of(t, v->list->item[i]);
        holo_tv_append(t, out.list, item);
    }
    return out;
}

static bool has_name(const char *names, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if (at[-1] == ' ' && at[size] == ' ') return true;
    return false;
}

static const char *data_of(const HoloTorchOp *op)
{
    for (int i = 0; i < HOLO_COUNT(by_parts); i++)
        if (has_name(by_parts[i].names, op->name)) return by_parts[i].data;
    return NULL;
}

static HoloTv join(HoloTorch *t, const HoloTv *re, const HoloTv *im)
{
    if (t->e->status) return (HoloTv){0};
    if (!holo_tv_is_list(re) || !holo_tv_is_list(im))
        return re->kind == HOLO_TORCH_TENSOR ? holo_tv_complex(t, *re, *im) : *re;
    HoloTv out = holo_tv_list(t, re->kind, 0, NULL);
    for (int i = 0; i < re->list->count && i < im->list->count && !t->e->status; i++)
        holo_tv_append(t, out.list, join(t, &re->list->item[i], &im->list->item[i]));
    return out;
}

static void emit_part(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, const char *data, int part, HoloTv *out)
{
    HoloTv *own = HOLO_NEW(t->arena, HoloTv, HOLO_TORCH_PARAMS);
    if (!own) return (void)holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int i = 0; i < HOLO_TORCH_PARAMS; i++) {
        bool is_data = i < 10 && strchr(data, '0' + i);
        own[i] = is_data || holo_tv_is_complex(&args[i]) ? holo_tv_part(t, &args[i], is_data ? part : 0) : args[i];
        if (is_data && part && own[i].kind == HOLO_TORCH_INT && args[i].kind == HOLO_TORCH_TENSOR)
            own[i] = zeros_of(t, args[i]);
    }
    if (!t->e->status) holo_torch_row(t, op, own, out);
}

// Turns a complex element type among the arguments into that of its parts. Returns 0: there is none, 1: it is complex,
// -1: it is real.
static int take_dtype(const HoloTorchOp *op, HoloTv *args)
{
    int at = holo_torch_place(op->params, "dtype");
    if (at < 0 || args[at].kind != HOLO_TORCH_INT) return 0;
    HoloDtype dtype = holo_torch_dtype_of(args[at].i);
    if (holo_dtype_class(dtype) != HOLO_CLASS_COMPLEX) return -1;
    args[at].i = holo_torch_scalar_type(dtype == HOLO_C128 ? HOLO_F64 : HOLO_F32);
    return 1;
}

bool holo_torch_complex(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, HoloTv *out)
{
    HoloTv re = {0}, im = {0};
    bool   has = false;
    if (op->flags & HOLO_TORCH_COMPLEXES) return false;
    for (int i = 0; i < HOLO_TORCH_PARAMS; i++) has |= holo_tv_is_complex(&args[i]);
    int wanted = take_dtype(op, args);
    if (!has && wanted <= 0) return false;
    const HoloTorchOp *special = has ? holo_torch_complex_find(op->name) : NULL;
    const char        *data    = data_of(op);
    if (special) {
        special->any(t, args, out);
    } else if (!has) { // zeros of a complex type, or real numbers that become complex ones
        holo_torch_row(t, op, args, &re);
        *out = holo_tv_complex(t, re, holo_tv_int(0));
    } else if (has_name(asked_of_one, op->name)) {
        emit_part(t, op, args, "", 0, out);
    } else if (data) {
        emit_part(t, op, args, data, 0, &re);
        if (wanted >= 0) emit_part(t, op, args, data, 1, &im);
        *out = wanted >= 0 ? join(t, &re, &im) : re;
    } else {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "%s of complex numbers is not supported", op->name);
    }
    return true;
}

void holo_torch_complex_write(HoloTorch *t, const HoloTv *to, const HoloTv *from)
{
    for (int i = 0; i < 2 && !t->e->status; i++) {
        HoloTv args[2] = {to->list->item[i], holo_tv_part(t, from, i)};
        holo_torch_apply(t, "copy_", 2, args);
    }
}

HoloTv holo_tv_pairs(HoloTorch *t, const HoloTv *v)
{
    HoloTv args[2] = {holo_tv_list(t, HOLO_TORCH_LIST, v->list->count, v->list->item), holo_tv_int(-1)};
    return holo_torch_apply(t, "stack", 2, args);
}

HoloTv holo_tv_of_pairs(HoloTorch *t, HoloTv pairs)
{
    HoloTv re[3] = {pairs, holo_tv_int(-1), holo_tv_int(0)}, im[3] = {pairs, holo_tv_int(-1), holo_tv_int(1)};
    return holo_tv_complex(t, holo_torch_apply(t, "select", 3, re), holo_torch_apply(t, "select", 3, im));
}
