// tf_ops_matrix.c - TensorFlow's operators on matrices: inverses, systems of equations, factors, diagonals.
//
// Elimination is unrolled, so matrices must be small and their sizes known.
#include "import/tensorflow/tf_ops.h"

enum { ROWS_MAX = 32 };

static HoloValue *where(HoloFlowCall *c, HoloValue *is, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, "Where", HOLO_IN(is, a, b), NULL);
}

static HoloValue *number_like(HoloFlowCall *c, const HoloValue *x, double number)
{
    return holo_emit_number(c->e, holo_emit_dtype(x), number);
}

// The number of rows of a square matrix; 0, and a failure: it is none, or too large.
static int rows_of(HoloFlowCall *c, const HoloValue *x)
{
    int rank = holo_flow_rank(c, x);
    if (c->e->status) return 0;
    HoloDim n = rank < 2 ? 0 : x->type.dim[rank - 1];
    if (rank >= 2 && n == x->type.dim[rank - 2] && !holo_dim_is_symbolic(n) && n > 0 && n <= ROWS_MAX) return (int)n;
    holo_flow_fail(c, HOLO_UNSUPPORTED, "its matrices must be square, of known size, and of at most %d rows", ROWS_MAX);
    return 0;
}

static HoloValue *numbers(HoloFlowCall *c, int count, int64_t axis)
{
    int64_t list[ROWS_MAX];
    for (int i = 0; i < count; i++) list[i] = i;
    HoloValue *row = holo_emit_ints(c->e, list, count);
    return axis < 0 ? row : holo_emit_unsqueeze(c->e, row, &axis, 1); // a column, [count, 1]
}

static HoloValue *identity(HoloFlowCall *c, int n, HoloDtype dtype)
{
    return holo_emit_cast(c->e, holo_flow_two(c, "Equal", numbers(c, n, -1), numbers(c, n, 1)), dtype);
}

static HoloValue *flipped(HoloFlowCall *c, HoloValue *x)
{
    int     rank = holo_flow_rank(c, x);
    int64_t perm[HOLO_MAX_RANK];
    if (c->e->status) return NULL;
    for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return holo_emit_transpose(c->e, x, perm, rank);
}

static HoloValue *adjoint(HoloFlowCall *c, HoloValue *x)
{
    return holo_flow_bool(c, "adjoint", false) ? flipped(c, x) : x;
}

// What [a | b] becomes when a becomes the identity, by rows whose largest element comes first. The part of b.
static HoloValue *eliminated(HoloFlowCall *c, HoloValue *a, HoloValue *b, int n)
{
    HoloEmit  *e    = c->e;
    int64_t    axis = -2;
    HoloValue *m    = holo_emit(e, "Concat", HOLO_IN(a, b), HOLO_ATTRS(holo_with_int("axis", -1))),
              *rows = numbers(c, n, 1);
    for (int i = 0; i < n && !e->status; i++) {
        HoloValue *at = holo_emit_int(e, i), *here = holo_flow_two(c, "Equal", rows, at);
        HoloValue *column = holo_emit(e, "Abs", HOLO_IN(holo_emit_slice(e, m, -1, i, i + 1, 1)), NULL);
        column            = where(c, holo_flow_two(c, "Less", rows, at), number_like(c, m, -1), column);
        HoloValue *best   = holo_emit(e, "ArgMax", HOLO_IN(column),
                                      HOLO_ATTRS(holo_with_int("axis", -2), holo_with_int("keepdims", 1)));
        HoloValue *there  = holo_flow_two(c, "Equal", rows, best);
        HoloValue *top =
            holo_flow_two(c, "ReduceSum", where(c, there, m, number_like(c, m, 0)), holo_emit_ints(e, &axis, 1));
        HoloValue *old    = holo_emit_slice(e, m, -2, i, i + 1, 1);
        m                 = where(c, here, top, where(c, there, old, m));
        top               = holo_flow_two(c, "Div", top, holo_emit_slice(e, top, -1, i, i + 1, 1));
        HoloValue *factor = holo_emit_slice(e, m, -1, i, i + 1, 1);
        m                 = where(c, here, top, holo_flow_two(c, "Sub", m, holo_flow_two(c, "Mul", factor, top)));
    }
    return e->status ? NULL : holo_emit_slice(e, m, -1, n, INT64_MAX, 1);
}

static void inverse(HoloFlowCall *c)
{
    HoloValue *a = adjoint(c, holo_flow_in(c, 0));
    int        n = rows_of(c, a);
    if (!n) return;
    HoloValue *zeros = holo_flow_two(c, "Mul", a, number_like(c, a, 0));
    holo_flow_out(c, 0, eliminated(c, a, holo_flow_two(c, "Add", zeros, identity(c, n, holo_emit_dtype(a))), n));
}

static void solve(HoloFlowCall *c)
{
    HoloValue *a = adjoint(c, holo_flow_in(c, 0)), *b = holo_flow_in(c, 1);
    int        n = rows_of(c, a);
    if (n) holo_flow_out(c, 0, eliminated(c, a, b, n));
}

static void solve_triangle(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1);
    bool       is_lower = holo_flow_bool(c, "lower", true);
    int        n        = rows_of(c, a);
    if (!n) return;
    a = holo_emit(c->e, "Trilu", HOLO_IN(a), HOLO_ATTRS(holo_with_int("upper", !is_lower)));
    holo_flow_out(c, 0, eliminated(c, adjoint(c, a), b, n));
}

static void cholesky(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *a = holo_flow_in(c, 0), *columns[ROWS_MAX], *rows;
    int        n = rows_of(c, a);
    if (!n) return;
    rows = numbers(c, n, 1);
    for (int i = 0; i < n && !e->status; i++) {
        HoloValue *column = holo_emit_slice(e, a, -1, i, i + 1, 1), *top = holo_emit_slice(e, column, -2, i, i + 1, 1);
        column     = where(c, holo_flow_two(c, "Less", rows, holo_emit_int(e, i)), number_like(c, a, 0), column);
        columns[i] = holo_flow_two(c, "Div", column, holo_emit(e, "Sqrt", HOLO_IN(top), NULL));
        a          = holo_flow_two(c, "Sub", a, holo_flow_two(c, "MatMul", columns[i], flipped(c, columns[i])));
    }
    holo_flow_out(c, 0, holo_emit(e, "Concat", (HoloEmitIn){n, columns}, HOLO_ATTRS(holo_with_int("axis", -1))));
}

static void determinant(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit(c->e, "Det", HOLO_IN(holo_flow_in(c, 0)), NULL));
}

static void log_determinant(HoloFlowCall *c)
{
    HoloValue *det = holo_emit(c->e, "Det", HOLO_IN(holo_flow_in(c, 0)), NULL);
    holo_flow_out(c, 0, holo_emit(c->e, "Sign", HOLO_IN(det), NULL));
    holo_flow_out(c, 1, holo_emit(c->e, "Log", HOLO_IN(holo_emit(c->e, "Abs", HOLO_IN(det), NULL)), NULL));
}

// ---- diagonals: d is that many columns to the right of the main one. Those from `low` to `high` are the rows of a band,
// the highest first. A row is as long as the longest; shorter ones lie at its left or its right.

typedef struct Band {
    int64_t low, high, rows, columns, length;
    bool    is_left_above, is_left_below;
} Band;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// The diagonals that input i names, if it is there.
static bool read_band(HoloFlowCall *c, int i, Band *b)
{
    int64_t    k[2]  = {0};
    size_t     size  = c->node->op.size;
    bool       is_v3 = size && c->node->op.data[size - 1] == '3';
    HoloString align = holo_flow_string(c, "align", is_v3 ? "RIGHT_LEFT" : "LEFT_LEFT");
    int        count = c->in_count > i ? holo_flow_known(c, i, k, 2) : 0;
    *b               = (Band){.low = k[0], .high = k[count == 2 ? 1 : 0]};
    b->is_left_above = align.size > 4 && align.data[0] == 'L';
    b->is_left_below = align.size > 4 && !memcmp(align.data + align.size - 4, "LEFT", 4);
    if (count >= 0 && b->low > b->high) holo_flow_fail(c, HOLO_BAD_MODEL, "the diagonals are in the wrong order");
    return !c->e->status;
}

// Sets the sizes of the matrix, and how long the longest diagonal is.
static bool set_sizes(HoloFlowCall *c, Band *b, HoloDim rows, HoloDim columns)
{
    enum { ELEMENTS_MAX = 1 << 22 };
    if (holo_dim_is_symbolic(rows) || holo_dim_is_symbolic(columns) || rows < 1 || columns < 1 ||
        rows > ELEMENTS_MAX / columns)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the sizes of the matrix must be known, and not too large"), false;
    b->rows    = rows;
    b->columns = columns;
    if (b->low <= -rows || b->high >= columns)
        return holo_flow_fail(c, HOLO_BAD_MODEL, "there is no such diagonal"), false;
    b->length = least(rows + least(b->high, 0), columns - (b->low > 0 ? b->low : 0));
    return true;
}

// Where an element of the matrix is in the band; -1: on none of its diagonals.
static int64_t place_in(const Band *b, int64_t row, int64_t column)
{
    int64_t d = column - row;
    if (d < b->low || d > b->high) return -1;
    int64_t size    = least(d < 0 ? b->rows + d : b->rows, d > 0 ? b->columns - d : b->columns);
    bool    is_left = (d >= 0 && b->is_left_above) || (d <= 0 && b->is_left_below);
    return (b->high - d) * b->length + least(row, column) + (is_left ? 0 : b->length - size);
}

// Takes elements of x, whose last `inner` dimensions are one list, into a matrix, or else a band. Where there is none
// it is `other`.
static HoloValue *taken(HoloFlowCall *c, const Band *b, HoloValue *x, int inner, bool to_matrix, HoloValue *other)
{
    HoloEmit *e    = c->e;
    int       rank = holo_flow_rank(c, x), lead = rank - inner;
    int64_t   all = b->rows * b->columns, kept = (b->high - b->low + 1) * b->length, count = to_matrix ? all : kept;
    HoloDim   flat[HOLO_MAX_RANK] = {0}, matrix[] = {b->rows, b->columns}, band[] = {b->high - b->low + 1, b->length};
    int64_t  *table = lead < 0 ? NULL : HOLO_NEW(c->tf->arena, int64_t, count);
    if (e->status) return NULL;
    if (!table) return holo_emit_fail(e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < count; i++) table[i] = -1;
    for (int64_t i = 0; i < all; i++) {
        int64_t at = place_in(b, i / b->columns, i % b->columns);
        if (to_matrix)
            table[i] = at;
        else if (at >= 0)
            table[at] = i;
    }
    flat[lead]       = -1;
    HoloValue *index = holo_emit_ints(e, table, (int)count), *zero = holo_emit_int(e, 0);
    if (to_matrix || b->low != b->high) index = holo_emit_reshape(e, index, to_matrix ? matrix : band, 2);
    HoloValue *y = holo_emit(
        e, "Gather", HOLO_IN(holo_emit_reshape(e, x, flat, lead + 1), holo_emit(e, "Max", HOLO_IN(index, zero), NULL)),
        HOLO_ATTRS(holo_with_int("axis", lead)));
    return where(c, holo_flow_two(c, "Less", index, zero), other, y);
}

static bool is_one(const Band *b)
{
    return b->low == b->high;
}

static HoloValue *filling(HoloFlowCall *c, int i, HoloValue *x)
{
    return c->in_count > i ? holo_flow_in(c, i) : holo_flow_zero(c, holo_emit_dtype(x));
}

static void diag_part(HoloFlowCall *c)
{
    Band       b;
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_flow_rank(c, x);
    if (c->e->status || !read_band(c, 1, &b)) return;
    if (rank < 2) return holo_flow_fail(c, HOLO_BAD_MODEL, "the first input is no matrix");
    HoloDim rows = x->type.dim[rank - 2], columns = x->type.dim[rank - 1];
    if (!b.low && !b.high && (rows == columns || holo_dim_is_symbolic(rows) || holo_dim_is_symbolic(columns)))
        return holo_flow_out(
            c, 0, holo_emit(c->e, "Einsum", HOLO_IN(x), HOLO_ATTRS(holo_with_text("equation", "...ii->...i"))));
    if (set_sizes(c, &b, rows, columns)) holo_flow_out(c, 0, taken(c, &b, x, 2, false, filling(c, 2, x)));
}

static HoloValue *counted(HoloFlowCall *c, HoloDim size)
{
    HoloValue *count = holo_emit_squeeze(c->e, holo_emit_sizes(c->e, &size, 1), &(int64_t){0}, 1);
    return holo_emit(c->e, "Range", HOLO_IN(holo_emit_int(c->e, 0), count, holo_emit_int(c->e, 1)), NULL);
}

// A matrix around diagonals: of how many rows and columns may be inputs 2 and 3, what is around them input 4.
static void diag(HoloFlowCall *c)
{
    Band       b;
    HoloEmit  *e    = c->e;
    HoloValue *x    = holo_flow_in(c, 0);
    int        rank = holo_flow_rank(c, x);
    int64_t    last = -1, rows = -1, columns = -1;
    if (e->status || rank < 1 || !read_band(c, 1, &b)) return;
    if (c->in_count > 2 && holo_flow_known(c, 2, &rows, 1) < 0) return;
    if (c->in_count > 3 && holo_flow_known(c, 3, &columns, 1) < 0) return;
    HoloDim size = x->type.dim[rank - 1];
    if (!b.low && !b.high && rows < 0 && columns < 0) {
        HoloValue *row   = counted(c, size);
        HoloValue *is_on = holo_emit(e, "Equal", HOLO_IN(row, holo_emit_unsqueeze(e, row, &last, 1)), NULL);
        return holo_flow_out(c, 0, where(c, is_on, holo_emit_unsqueeze(e, x, &last, 1), filling(c, 4, x)));
    }
    if (holo_dim_is_symbolic(size)) return holo_flow_fail(c, HOLO_UNSUPPORTED, "a diagonal of a length that is open");
    int64_t high = size - least(b.high, 0), wide = size + (b.low > 0 ? b.low : 0), square = high > wide ? high : wide;
    bool    none = rows < 0 && columns < 0;
    rows         = none ? square : rows < 0 ? high : rows;
    columns      = none ? square : columns < 0 ? wide : columns;
    if (set_sizes(c, &b, rows, columns))
        holo_flow_out(c, 0, taken(c, &b, x, is_one(&b) ? 1 : 2, true, filling(c, 4, x)));
}

// Diagonals of a matrix become input 1: the main one, or those that input 2 names.
static void set_diagonal(HoloFlowCall *c)
{
    Band       b;
    HoloValue *x = holo_flow_in(c, 0), *with = holo_flow_in(c, 1);
    int        rank = holo_flow_rank(c, x);
    int64_t    axis = 1;
    if (c->e->status || rank < 2 || !read_band(c, 2, &b)) return;
    HoloDim h = x->type.dim[rank - 2], w = x->type.dim[rank - 1];
    if (b.low || b.high) {
        if (set_sizes(c, &b, h, w)) holo_flow_out(c, 0, taken(c, &b, with, is_one(&b) ? 1 : 2, true, x));
        return;
    }
    bool       is_tall = !holo_dim_is_symbolic(h) && !holo_dim_is_symbolic(w) && h > w;
    HoloValue *here    = holo_flow_two(c, "Equal", holo_emit_unsqueeze(c->e, counted(c, h), &axis, 1), counted(c, w));
    int64_t    side    = is_tall ? -2 : -1; // a tall matrix has as many elements there as columns, others as rows
    holo_flow_out(c, 0, where(c, here, holo_emit_unsqueeze(c->e, with, &side, 1), x));
}

static void cross(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *y = holo_flow_in(c, 1), *turn[2];
    int64_t    ahead[3] = {1, 2, 0}, behind[3] = {2, 0, 1};
    if (c->e->status) return;
    for (int i = 0; i < 2; i++) {
        HoloValue *a = holo_emit(c->e, "Gather", HOLO_IN(x, holo_emit_ints(c->e, i ? behind : ahead, 3)),
                                 HOLO_ATTRS(holo_with_int("axis", -1))),
                  *b = holo_emit(c->e, "Gather", HOLO_IN(y, holo_emit_ints(c->e, i ? ahead : behind, 3)),
                                 HOLO_ATTRS(holo_with_int("axis", -1)));
        turn[i]      = holo_flow_two(c, "Mul", a, b);
    }
    holo_flow_out(c, 0, holo_flow_two(c, "Sub", turn[0], turn[1]));
}

// clang-format off
const HoloFlowOp holo_flow_ops_matrix[] = {
    {"MatrixInverse", inverse}, {"BatchMatrixInverse", inverse}, {"MatrixSolve", solve}, {"BatchMatrixSolve", solve},
    {"MatrixTriangularSolve", solve_triangle}, {"BatchMatrixTriangularSolve", solve_triangle},
    {"Cholesky", cholesky}, {"BatchCholesky", cholesky}, {"MatrixDeterminant", determinant}, {"BatchMatrixDeterminant", determinant},
    {"LogMatrixDeterminant", log_determinant, .outs = "sign log_abs_determinant"},
    {"MatrixSetDiag", set_diagonal}, {"MatrixSetDiagV2", set_diagonal}, {"MatrixSetDiagV3", set_diagonal},
    {"BatchMatrixSetDiag", set_diagonal}, {"Cross", cross}, {"MatrixDiagPart", diag_part}, {"MatrixDiagPartV2", diag_part},
    {"MatrixDiagPartV3", diag_part}, {"BatchMatrixDiagPart", diag_part}, {"MatrixDiag", diag}, {"MatrixDiagV2", diag},
    {"MatrixDiagV3", diag}, {"BatchMatrixDiag", diag},
    {0},
};
