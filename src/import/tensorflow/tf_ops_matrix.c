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

// The main diagonal of a matrix becomes input 1. Later versions name others, in input 2.
static void set_diagonal(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *with = holo_flow_in(c, 1), *range[2];
    int        rank = holo_flow_rank(c, x);
    int64_t    k[2], axis = 1, zero = 0;
    if (c->e->status) return;
    int count = c->in_count > 2 ? holo_flow_known(c, 2, k, 2) : 0;
    if (count < 0 || rank < 2) return;
    for (int i = 0; i < count; i++)
        if (k[i]) return holo_flow_fail(c, HOLO_UNSUPPORTED, "a diagonal that is not the main one");
    HoloDim h = x->type.dim[rank - 2], w = x->type.dim[rank - 1];
    for (int i = 0; i < 2; i++) {
        HoloValue *size = holo_emit_squeeze(c->e, holo_emit_sizes(c->e, i ? &w : &h, 1), &zero, 1);
        range[i]        = holo_emit(c->e, "Range", HOLO_IN(holo_emit_int(c->e, 0), size, holo_emit_int(c->e, 1)), NULL);
    }
    bool       is_tall = !holo_dim_is_symbolic(h) && !holo_dim_is_symbolic(w) && h > w;
    HoloValue *here    = holo_flow_two(c, "Equal", holo_emit_unsqueeze(c->e, range[0], &axis, 1), range[1]);
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
    {"BatchMatrixSetDiag", set_diagonal}, {"Cross", cross},
    {0},
};
