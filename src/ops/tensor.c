// tensor.c - reads, writes and moves elements of tensors of any dtype.
//
// One table of element types makes the four loops (to and from double, to and from int64_t). What an operator computes
// between reading and writing is not done here.
#include "ops/tensor.h"
#include "format/small_float.h"
#include "kernels/tiles/tiles.h"

#include <string.h>

// ---- the element types: how a stored element is read, and how a number is stored

// NUMBER: the stored C type is the number. INTEGER: type, range, and the low bits of an int64_t as such a number.
// SMALL: a stored code, decoded to float, encoded from double.
// clang-format off
#define NUMBERS(X) \
    X(F32, float)  \
    X(F64, double)

#define INTEGERS(X)                                             \
    X(U8, uint8_t, 0, UINT8_MAX, (uint8_t)x)                    \
    X(I8, int8_t, INT8_MIN, INT8_MAX, (int8_t)x)                \
    X(U16, uint16_t, 0, UINT16_MAX, (uint16_t)x)                \
    X(I16, int16_t, INT16_MIN, INT16_MAX, (int16_t)x)           \
    X(U32, uint32_t, 0, UINT32_MAX, (uint32_t)x)                \
    X(I32, int32_t, INT32_MIN, INT32_MAX, (int32_t)x)           \
    X(I64, int64_t, INT64_MIN, INT64_MAX, x)                    \
    X(U4, uint8_t, 0, 15, (uint8_t)(x & 15))                    \
    X(I4, int8_t, -8, 7, (int8_t)(((x & 15) ^ 8) - 8))          \
    X(U2, uint8_t, 0, 3, (uint8_t)(x & 3))                      \
    X(I2, int8_t, -2, 1, (int8_t)(((x & 3) ^ 2) - 2))

#define SMALLS(X)                                                                                                   \
    X(F16, uint16_t, holo_f16_decode(x), (uint16_t)holo_small_encode(HOLO_FORMAT_F16, x, false))                    \
    X(BF16, uint16_t, holo_bf16_decode(x), (uint16_t)holo_small_encode(HOLO_FORMAT_BF16, x, false))                 \
    X(F8E4M3FN, uint8_t, holo_small_decode(HOLO_FORMAT_F8E4M3FN, x),                                                \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F8E4M3FN, x, true))                                                    \
    X(F8E4M3FNUZ, uint8_t, holo_small_decode(HOLO_FORMAT_F8E4M3FNUZ, x),                                            \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F8E4M3FNUZ, x, true))                                                  \
    X(F8E5M2, uint8_t, holo_small_decode(HOLO_FORMAT_F8E5M2, x),                                                    \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F8E5M2, x, true))                                                      \
    X(F8E5M2FNUZ, uint8_t, holo_small_decode(HOLO_FORMAT_F8E5M2FNUZ, x),                                            \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F8E5M2FNUZ, x, true))                                                  \
    X(F6E2M3, uint8_t, holo_small_decode(HOLO_FORMAT_F6E2M3, x),                                                    \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F6E2M3, x, true))                                                      \
    X(F6E3M2, uint8_t, holo_small_decode(HOLO_FORMAT_F6E3M2, x),                                                    \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F6E3M2, x, true))                                                      \
    X(F4E2M1, uint8_t, holo_small_decode(HOLO_FORMAT_F4E2M1, x),                                                    \
      (uint8_t)holo_small_encode(HOLO_FORMAT_F4E2M1, x, true))                                                      \
    X(F8E8M0, uint8_t, holo_f8e8m0_decode(x), holo_f8e8m0_encode(x, true))
// clang-format on

typedef struct Complex64 {
    float real, imaginary;
} Complex64;

typedef struct Complex128 {
    double real, imaginary;
} Complex128;

static inline int64_t saturate(double x, int64_t low, int64_t high)
{
    if (x >= (double)high) return high;
    if (x <= (double)low) return low;
    return x == x ? (int64_t)x : 0;
}

static inline uint64_t saturate_u64(double x)
{
    if (x >= 0x1p64) return UINT64_MAX;
    return x > 0 ? (uint64_t)x : 0;
}

// One loop over a run: `p` are the elements, `x` is the current one, or the number to store in it.
#define READ(T, wide, expression)                 \
    {                                             \
        const T *p = (const T *)t->data + start;  \
        if (stride == 1) {                        \
            for (int64_t k = 0; k < count; k++) { \
                T x    = p[k];                    \
                out[k] = (wide)(expression);      \
            }                                     \
        } else {                                  \
            for (int64_t k = 0; k < count; k++) { \
                T x    = p[k * stride];           \
                out[k] = (wide)(expression);      \
            }                                     \
        }                                         \
        break;                                    \
    }

#define WRITE(T, wide, number, expression)        \
    {                                             \
        T *p = (T *)t->data + start;              \
        if (stride == 1) {                        \
            for (int64_t k = 0; k < count; k++) { \
                wide x = number(from[k]);         \
                p[k]   = expression;              \
            }                                     \
        } else {                                  \
            for (int64_t k = 0; k < count; k++) { \
                wide x        = number(from[k]);  \
                p[k * stride] = expression;       \
            }                                     \
        }                                         \
        break;                                    \
    }
#define WRITE_F(T, expression)       WRITE(T, double, holo_plain_nan, expression)
#define WRITE_I(T, wide, expression) WRITE(T, wide, , expression)

uint64_t holo_get_bits(const HoloTensor *t, int64_t index)
{
    uint64_t bits = 0;
    size_t   size = holo_dtype_size((HoloDtype)t->dtype);
    memcpy(&bits, (const char *)t->data + (size_t)index * size, size); // little-endian
    return bits;
}

void holo_put_pattern(HoloTensor *t, int64_t index, int64_t place)
{
    int64_t all  = holo_dtype_patterns((HoloDtype)t->dtype);
    size_t  size = holo_dtype_size((HoloDtype)t->dtype);
    if (holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_INT && place >= all / 2) place -= all; // negative
    memcpy((char *)t->data + (size_t)index * size, &place, size);
}

// clang-format off
void holo_read_f(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, double *out)
{
    if (!count) return;
    switch ((HoloDtype)t->dtype) {
#define X(id, T) case HOLO_##id: READ(T, double, x)
        NUMBERS(X)
#undef X
#define X(id, T, low, high, wrapped) case HOLO_##id: READ(T, double, x)
        INTEGERS(X)
#undef X
#define X(id, T, decoded, encoded) case HOLO_##id: READ(T, double, decoded)
        SMALLS(X)
#undef X
    case HOLO_U64: READ(uint64_t, double, x)
    case HOLO_BOOL: READ(uint8_t, double, x != 0)
    case HOLO_C64: READ(Complex64, double, x.real)
    case HOLO_C128: READ(Complex128, double, x.real)
    default: memset(out, 0, (size_t)count * sizeof *out);
    }
}

void holo_read_i(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, int64_t *out)
{
    if (!count) return;
    switch ((HoloDtype)t->dtype) {
#define X(id, T) case HOLO_##id: READ(T, int64_t, saturate(x, INT64_MIN, INT64_MAX))
        NUMBERS(X)
#undef X
#define X(id, T, low, high, wrapped) case HOLO_##id: READ(T, int64_t, x)
        INTEGERS(X)
#undef X
#define X(id, T, decoded, encoded) case HOLO_##id: READ(T, int64_t, saturate(decoded, INT64_MIN, INT64_MAX))
        SMALLS(X)
#undef X
    case HOLO_U64: READ(uint64_t, int64_t, x)
    case HOLO_BOOL: READ(uint8_t, int64_t, x != 0)
    case HOLO_C64: READ(Complex64, int64_t, saturate(x.real, INT64_MIN, INT64_MAX))
    case HOLO_C128: READ(Complex128, int64_t, saturate(x.real, INT64_MIN, INT64_MAX))
    default: memset(out, 0, (size_t)count * sizeof *out);
    }
}

void holo_write_f(HoloTensor *t, int64_t start, int64_t stride, int64_t count, const double *from)
{
    if (!count) return;
    switch ((HoloDtype)t->dtype) {
#define X(id, T) case HOLO_##id: WRITE_F(T, x)
        NUMBERS(X)
#undef X
#define X(id, T, low, high, wrapped) case HOLO_##id: WRITE_F(T, saturate(x, low, high))
        INTEGERS(X)
#undef X
#define X(id, T, decoded, encoded) case HOLO_##id: WRITE_F(T, encoded)
        SMALLS(X)
#undef X
    case HOLO_U64: WRITE_F(uint64_t, saturate_u64(x))
    case HOLO_BOOL: WRITE_F(uint8_t, x != 0)
    case HOLO_C64: WRITE_F(Complex64, ((Complex64){(float)x, 0}))
    case HOLO_C128: WRITE_F(Complex128, ((Complex128){x, 0}))
    default: break;
    }
}

void holo_write_i(HoloTensor *t, int64_t start, int64_t stride, int64_t count, const int64_t *from)
{
    if (!count) return;
    switch ((HoloDtype)t->dtype) {
#define X(id, T) case HOLO_##id: WRITE_I(T, int64_t, x)
        NUMBERS(X)
#undef X
#define X(id, T, low, high, wrapped) case HOLO_##id: WRITE_I(T, int64_t, wrapped)
        INTEGERS(X)
#undef X
#define X(id, T, decoded, encoded) case HOLO_##id: WRITE_I(T, double, encoded)
        SMALLS(X)
#undef X
    case HOLO_U64: WRITE_I(uint64_t, int64_t, x)
    case HOLO_BOOL: WRITE_I(uint8_t, int64_t, x != 0)
    case HOLO_C64: WRITE_I(Complex64, int64_t, ((Complex64){(float)x, 0}))
    case HOLO_C128: WRITE_I(Complex128, int64_t, ((Complex128){(double)x, 0}))
    default: break;
    }
}
// clang-format on

double holo_get_f(const HoloTensor *t, int64_t index)
{
    double x;
    holo_read_f(t, index, 1, 1, &x);
    return x;
}

int64_t holo_get_i(const HoloTensor *t, int64_t index)
{
    int64_t x;
    holo_read_i(t, index, 1, 1, &x);
    return x;
}

void holo_put_f(HoloTensor *t, int64_t index, double x)
{
    holo_write_f(t, index, 1, 1, &x);
}
void holo_put_i(HoloTensor *t, int64_t index, int64_t x)
{
    holo_write_i(t, index, 1, 1, &x);
}

// ---- shapes

void holo_strides(int rank, const int64_t *dim, int64_t *out_stride)
{
    uint64_t stride = 1; // unsigned: a tensor without elements may have sizes whose product overflows
    for (int i = rank - 1; i >= 0; i--) {
        out_stride[i] = (int64_t)stride;
        stride *= (uint64_t)dim[i];
    }
}

void holo_strides_broadcast(const HoloTensor *t, int rank, const int64_t *dim, int64_t *out_stride)
{
    int64_t own[HOLO_MAX_RANK];
    holo_strides(t->rank, t->dim, own);
    for (int i = 0; i < rank; i++) {
        int k         = i - (rank - t->rank);
        out_stride[i] = k < 0 || (t->dim[k] == 1 && dim[i] != 1) ? 0 : own[k];
    }
}

int64_t holo_product(int rank, const int64_t *dim)
{
    uint64_t product = 1;
    for (int i = 0; i < rank; i++) product *= (uint64_t)dim[i];
    return (int64_t)product;
}

HoloWalk holo_walk(int rank, const int64_t *dim)
{
    HoloWalk walk = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        walk.dim[i] = dim[i];
        walk.empty |= dim[i] <= 0;
    }
    return walk;
}

bool holo_walk_next(HoloWalk *walk)
{
    if (walk->empty) return false;
    if (!walk->started) return walk->started = true;
    for (int i = walk->rank - 1; i >= 0; i--) {
        if (++walk->index[i] < walk->dim[i]) return true;
        walk->index[i] = 0;
    }
    return false;
}

int64_t holo_walk_at(const HoloWalk *walk, const int64_t *stride)
{
    int64_t at = 0;
    for (int i = 0; i < walk->rank; i++) at += walk->index[i] * stride[i];
    return at;
}

// ---- moving boxes

typedef struct Box { // strides in bytes
    int     rank;
    int64_t dim[HOLO_MAX_RANK + 2], dst[HOLO_MAX_RANK + 2], src[HOLO_MAX_RANK + 2];
} Box;

// Leaves out dimensions of size 1 and joins dimensions that are contiguous on both sides. False: there is nothing to
// move.
static bool box_make(Box *box, int rank, const int64_t *dim, int64_t size, const int64_t *dst, const int64_t *src)
{
    box->rank = 0;
    for (int i = 0; i < rank; i++)
        if (dim[i] <= 0) return false;
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 1) continue;
        int     last = box->rank - 1;
        int64_t d = dst[i] * size, s = src[i] * size;
        if (last >= 0 && box->dst[last] == dim[i] * d && box->src[last] == dim[i] * s) {
            box->dim[last] *= dim[i];
            box->dst[last] = d;
            box->src[last] = s;
        } else {
            box->dim[box->rank] = dim[i];
            box->dst[box->rank] = d;
            box->src[box->rank] = s;
            box->rank++;
        }
    }
    return true;
}

static void box_swap(Box *box, int a, int b)
{
    int64_t dim = box->dim[a], dst = box->dst[a], src = box->src[a];
    box->dim[a] = box->dim[b], box->dst[a] = box->dst[b], box->src[a] = box->src[b];
    box->dim[b] = dim, box->dst[b] = dst, box->src[b] = src;
}

// A transpose reads along one dimension and writes along another. Those two become the last ones.
static void box_order(Box *box, int64_t size)
{
    int last = box->rank - 1;
    for (int i = 0; i < last; i++)
        if (box->dst[i] == size && box->dst[last] != size) box_swap(box, i, last);
    for (int i = 0; i < last - 1; i++)
        if (box->src[i] == size && box->src[last] != size) box_swap(box, i, last - 1);
}

// A run of elements that are contiguous at the target. Repeated ones, every second one, and backward runs have loops of
// their own: compilers vectorize these.
#define MOVE_RUN(T)                                                                                        \
    static void move_run_##T(int64_t count, char *dst, const char *src, int64_t step)                      \
    {                                                                                                      \
        T       *to   = (T *)(void *)dst;                                                                  \
        const T *from = (const T *)(const void *)src;                                                      \
        int64_t  by   = step / (int64_t)sizeof(T);                                                         \
        if (by == 0)                                                                                       \
            for (int64_t k = 0, x = *from; k < count; k++) to[k] = (T)x;                                   \
        else if (by == 2)                                                                                  \
            for (int64_t k = 0; k < count; k++) to[k] = from[2 * k];                                       \
        else if (by == -1)                                                                                 \
            for (int64_t k = 0; k < count; k++) to[k] = from[-k];                                          \
        else                                                                                               \
            for (int64_t k = 0; k < count; k++) to[k] = from[k * by];                                      \
    }                                                                                                      \
    static void move_to_##T(int64_t count, char *dst, int64_t dst_step, const char *src, int64_t src_step) \
    {                                                                                                      \
        for (int64_t k = 0; k < count; k++) memcpy(dst + k * dst_step, src + k * src_step, sizeof(T));     \
    }
MOVE_RUN(uint8_t)
MOVE_RUN(uint16_t)
MOVE_RUN(uint32_t)
MOVE_RUN(uint64_t)

// Elements of 1, 2, 4 and 8 bytes, by log2 of that.
typedef void          MoveRun(int64_t count, char *dst, const char *src, int64_t step);
typedef void          MoveTo(int64_t count, char *dst, int64_t dst_step, const char *src, int64_t src_step);
static MoveRun *const move_run[] = {move_run_uint8_t, move_run_uint16_t, move_run_uint32_t, move_run_uint64_t};
static MoveTo *const  move_to[]  = {move_to_uint8_t, move_to_uint16_t, move_to_uint32_t, move_to_uint64_t};

static void move_row(int log, size_t size, int64_t count, char *dst, int64_t dst_step, const char *src,
                     int64_t src_step)
{
    if (log < 0)
        for (int64_t k = 0; k < count; k++) memcpy(dst + k * dst_step, src + k * src_step, size);
    else if (dst_step == (int64_t)size)
        move_run[log](count, dst, src, src_step);
    else
        move_to[log](count, dst, dst_step, src, src_step);
}

// The last two dimensions of the box.
static void move_plane(const Box *box, size_t size, char *dst, const char *src)
{
    enum { BLOCK = 32 }; // a block of both sides stays in the first cache
    int r = box->rank - 2, c = box->rank - 1, log = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : size == 1 ? 0 : -1;
    int64_t rows = box->dim[r], columns = box->dim[c], one = (int64_t)size;
    int64_t wide =
        box->src[r] == one && box->src[c] != 0 ? BLOCK : columns; // rows are neighbors: all of them for some columns
    if (box->dst[c] == one && box->src[c] == one) {
        for (int64_t i = 0; i < rows; i++) memcpy(dst + i * box->dst[r], src + i * box->src[r], (size_t)columns * size);
        return;
    }
    if (log >= 0 && box->dst[c] == one && box->src[r] == one && rows > 2) {
        holo_tiles()->transpose[log](columns, rows, src, box->src[c] / one, dst, box->dst[r] / one);
        return;
    }
    for (int64_t i = 0; i < rows; i += BLOCK)
        for (int64_t k = 0; k < columns; k += wide)
            for (int64_t j = i; j < rows && j < i + BLOCK; j++)
                move_row(log, size, columns - k < wide ? columns - k : wide, dst + j * box->dst[r] + k * box->dst[c],
                         box->dst[c], src + j * box->src[r] + k * box->src[c], box->src[c]);
}

void holo_move(int rank, const int64_t *dim, size_t size, void *dst, const int64_t *dst_stride, const void *src,
               const int64_t *src_stride)
{
    Box box;
    if (size == 0 || !box_make(&box, rank, dim, (int64_t)size, dst_stride, src_stride)) return;
    if (box.rank == 0) {
        memcpy(dst, src, size);
        return;
    }
    if (box.rank == 1) { // a plane of one row
        box.dim[1] = box.dim[0], box.dst[1] = box.dst[0], box.src[1] = box.src[0];
        box.dim[0] = 1, box.dst[0] = box.src[0] = 0;
        box.rank = 2;
    }
    box_order(&box, (int64_t)size);
    HoloWalk walk = holo_walk(box.rank - 2, box.dim);
    while (holo_walk_next(&walk))
        move_plane(&box, size, (char *)dst + holo_walk_at(&walk, box.dst),
                   (const char *)src + holo_walk_at(&walk, box.src));
}

// ---- strings

bool holo_string_equal(HoloString a, HoloString b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int holo_string_compare(HoloString a, HoloString b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int    order  = common ? memcmp(a.data, b.data, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}
