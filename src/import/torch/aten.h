// aten.h - short words for emitters: they see `t`, the import, and `a`, the arguments by the places of their row.
#ifndef HOLO_IMPORT_TORCH_ATEN_H
#define HOLO_IMPORT_TORCH_ATEN_H

#include "import/torch/torch.h"

#define V(i)          holo_torch_value(t, &a[i])
#define OP1(op, x)    holo_torch_op1(t, op, x)
#define OP2(op, x, y) holo_torch_op2(t, op, x, y)
#define NUM(x, c)     holo_torch_like(t, x, c) // a number of the type of x
#define DTYPE(x)      holo_torch_dtype_in(x)
#define ONE(f)        static HoloValue *f(HoloTorch *t, const HoloTv *a)
#define ANY(f)        static void f(HoloTorch *t, const HoloTv *a, HoloTv *out)

// Rows of the tables: of operators that give one tensor, and of those that give anything.
#define ROW(n, p, f)                     \
    {                                    \
        .name = n, .params = p, .one = f \
    }
#define MANY(n, p, f)                    \
    {                                    \
        .name = n, .params = p, .any = f \
    }

// Several results: a tuple of tensors.
HoloTv holo_torch_tuple(HoloTorch *t, int count, HoloValue *const *values);
// The arguments a[0] and a[1], in the type that both become.
HoloDtype holo_torch_pair(HoloTorch *t, const HoloTv *a, HoloValue **out_x, HoloValue **out_y);

// Used by several families.
HoloValue *holo_torch_matmul(HoloTorch *t, HoloValue *x, HoloValue *y);
HoloValue *holo_torch_linear(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b);
HoloValue *holo_torch_softmax(HoloTorch *t, HoloValue *x, int axis, bool is_log);
HoloValue *holo_torch_floor_div(HoloTorch *t, HoloValue *x, HoloValue *y);
HoloValue *holo_torch_remainder(HoloTorch *t, HoloValue *x, HoloValue *y);
HoloValue *holo_torch_trunc(HoloTorch *t, HoloValue *x);
HoloValue *holo_torch_variance(HoloTorch *t, HoloValue *x, const int64_t *axes, int count, double correction, bool keep,
                               HoloValue **out_mean);
HoloValue *holo_torch_mean(HoloTorch *t, HoloValue *x, const int64_t *axes, int count, bool keep);
HoloValue *holo_torch_index(HoloTorch *t, HoloValue *x, const HoloTv *indices);
HoloValue *holo_torch_slice(HoloTorch *t, HoloValue *x, int axis, HoloValue *start, HoloValue *end, int64_t step);
HoloValue *holo_torch_norm_affine(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b, int axis);
HoloValue *holo_torch_triangle(HoloTorch *t, HoloValue *x, int64_t diagonal, bool upper);

#endif
