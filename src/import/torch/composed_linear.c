// composed_linear.c - ATen operators that are written in others: matrices: solving and inverting them.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_linear[] = {
    {"linalg_matrix_norm",
     "def linalg_matrix_norm(self, ord=\"fro\", dim: List[int]=[-2, -1], keepdim: bool=False, dtype=None):\n"
     "    if ord == \"fro\":\n"
     "        return torch.linalg_vector_norm(self, 2, dim, keepdim)\n"
     "    if ord == \"nuc\":\n"
     "        return nuclear_norm(self, dim, keepdim)\n"
     "    if ord == 2 or ord == -2:\n"
     "        s = linalg_svdvals(torch.movedim(self, dim, [-2, -1]))\n"
     "        z = torch.amax(s, [-1]) if ord == 2 else torch.amin(s, [-1])\n"
     "        return torch.unsqueeze(torch.unsqueeze(z, -1), -1) if keepdim else z\n"
     "    a = dim[0] if dim[0] >= 0 else dim[0] + torch.dim(self)\n"
     "    b = dim[1] if dim[1] >= 0 else dim[1] + torch.dim(self)\n"
     "    if ord == 1 or ord == -1:\n"
     "        y = torch.sum(torch.abs(self), [a], True)\n"
     "        y = torch.amax(y, [b], True) if ord == 1 else torch.amin(y, [b], True)\n"
     "    else:\n"
     "        y = torch.sum(torch.abs(self), [b], True)\n"
     "        y = torch.amax(y, [a], True) if ord > 0 else torch.amin(y, [a], True)\n"
     "    return y if keepdim else torch.squeeze(y, [a, b])\n"},
    {"_pivoted",
     "def _pivoted(A, B):\n"
     "    n = torch.size(A, -1)\n"
     "    m = torch.cat([A, torch.expand_as(B, torch.narrow(A, -1, 0, 1) * torch.narrow(B, -2, 0, 1)) if "
     "torch.dim(B) < torch.dim(A) else B], -1)\n"
     "    sign = torch.ones_like(torch.select(torch.select(A, -1, 0), -1, 0))\n"
     "    rows = torch.unsqueeze(torch.arange(n), -1)\n"
     "    for i in range(n):\n"
     "        col = torch.abs(torch.narrow(m, -1, i, 1))\n"
     "        col = torch.where(rows < i, -1.0, col)\n"
     "        best = torch.argmax(col, -2, True)\n"
     "        here = rows == i\n"
     "        there = rows == best\n"
     "        top = torch.sum(torch.where(there, m, 0.0), [-2], True)\n"
     "        old = torch.narrow(m, -2, i, 1)\n"
     "        m = torch.where(here, top, torch.where(torch.logical_and(there, torch.logical_not(here)), old, "
     "m))\n"
     "        swapped = torch.squeeze(best, [-2, -1]) != i\n"
     "        pivot = torch.narrow(top, -1, i, 1)\n"
     "        sign = torch.where(swapped, 0.0 - sign, sign) * torch.squeeze(pivot, [-2, -1])\n"
     "        row = top / pivot\n"
     "        m = torch.where(here, row, m - torch.narrow(m, -1, i, 1) * row)\n"
     "    return (torch.narrow(m, -1, n, torch.size(m, -1) - n), sign)\n"},
    {"_small", "def _small(A):\n"
               "    assert torch.size(A, -1) <= 64, \"matrices of more than 64 rows: their inverses and solutions are "
               "unrolled\"\n"
               "    return A\n"},
    {"linalg_solve_ex", "def linalg_solve_ex(A, B, left: bool=True, check_errors: bool=False):\n"
                        "    is_vector = torch.dim(B) == 1 or torch.dim(B) + 1 == torch.dim(A)\n"
                        "    if not left:\n"
                        "        x, d = _pivoted(_small(torch.transpose(A, -2, -1)), torch.transpose(B, -2, -1))\n"
                        "        return (torch.transpose(x, -2, -1), torch.zeros_like(d, dtype=3))\n"
                        "    x, d = _pivoted(_small(A), torch.unsqueeze(B, -1) if is_vector else B)\n"
                        "    return (torch.squeeze(x, -1) if is_vector else x, torch.zeros_like(d, dtype=3))\n"},
    {"linalg_solve", "def linalg_solve(A, B, left: bool=True):\n"
                     "    x, info = linalg_solve_ex(A, B, left)\n"
                     "    return x\n"},
    {"_linalg_solve_ex", "def _linalg_solve_ex(A, B, left: bool=True, check_errors: bool=False):\n"
                         "    x, info = linalg_solve_ex(A, B, left)\n"
                         "    return (x, A, info, info)\n"},
    {"_eye_like", "def _eye_like(A):\n"
                  "    return torch.expand_as(torch.type_as(torch.eye(torch.size(A, -1)), A), A)\n"},
    {"linalg_inv_ex", "def linalg_inv_ex(A, check_errors: bool=False):\n"
                      "    x, d = _pivoted(_small(A), _eye_like(A))\n"
                      "    return (x, torch.zeros_like(d, dtype=3))\n"},
    {"linalg_inv", "def linalg_inv(A):\n"
                   "    x, info = linalg_inv_ex(A)\n"
                   "    return x\n"},
    {"inverse", "def inverse(self):\n"
                "    return linalg_inv(self)\n"},
    {"linalg_det", "def linalg_det(A):\n"
                   "    x, d = _pivoted(_small(A), torch.narrow(_eye_like(A), -1, 0, 1))\n"
                   "    return d\n"},
    {"det", "def det(self):\n"
            "    return linalg_det(self)\n"},
    {"_linalg_det", "def _linalg_det(A):\n"
                    "    return (linalg_det(A), A, A)\n"},
    {"logdet", "def logdet(self):\n"
               "    return torch.log(linalg_det(self))\n"},
    {"linalg_slogdet", "def linalg_slogdet(A):\n"
                       "    d = linalg_det(A)\n"
                       "    return (torch.sign(d), torch.log(torch.abs(d)))\n"},
    {"slogdet", "def slogdet(self):\n"
                "    return linalg_slogdet(self)\n"},
    {"_linalg_slogdet", "def _linalg_slogdet(A):\n"
                        "    s, l = linalg_slogdet(A)\n"
                        "    return (s, l, A, A)\n"},
    {"linalg_cholesky_ex",
     "def linalg_cholesky_ex(self, upper: bool=False, check_errors: bool=False):\n"
     "    a = _small(self)\n"
     "    n = torch.size(a, -1)\n"
     "    rows = torch.arange(n)\n"
     "    L = torch.zeros_like(a)\n"
     "    for i in range(n):\n"
     "        done = torch.matmul(L, torch.transpose(torch.narrow(L, -2, i, 1), -2, -1))\n"
     "        c = torch.narrow(a, -1, i, 1) - done\n"
     "        c = c / torch.sqrt(torch.narrow(c, -2, i, 1))\n"
     "        c = torch.where(torch.unsqueeze(rows, -1) < i, 0.0, c)\n"
     "        L = torch.where(rows == i, c, L)\n"
     "    return (torch.transpose(L, -2, -1) if upper else L, torch.zeros_like(torch.select(torch.select(a, "
     "-1, 0), -1, 0), dtype=3))\n"},
    {"linalg_cholesky", "def linalg_cholesky(self, upper: bool=False):\n"
                        "    L, info = linalg_cholesky_ex(self, upper)\n"
                        "    return L\n"},
    {"cholesky", "def cholesky(self, upper: bool=False):\n"
                 "    L, info = linalg_cholesky_ex(self, upper)\n"
                 "    return L\n"},
    {"linalg_solve_triangular",
     "def linalg_solve_triangular(self, B, upper: bool=False, left: bool=True, unitriangular: bool=False):\n"
     "    a = torch.triu(self) if upper else torch.tril(self)\n"
     "    if unitriangular:\n"
     "        a = a - torch.diag_embed(torch.diagonal(a, 0, -2, -1)) + _eye_like(a)\n"
     "    return linalg_solve(a, B, left)\n"},
    {"triangular_solve",
     "def triangular_solve(self, A, upper: bool=True, transpose: bool=False, unitriangular: bool=False):\n"
     "    a = torch.triu(A) if upper else torch.tril(A)\n"
     "    if unitriangular:\n"
     "        a = a - torch.diag_embed(torch.diagonal(a, 0, -2, -1)) + _eye_like(a)\n"
     "    return (linalg_solve(torch.transpose(a, -2, -1) if transpose else a, self), A)\n"},
    {"cholesky_solve", "def cholesky_solve(self, input2, upper: bool=False):\n"
                       "    L = torch.transpose(input2, -2, -1) if upper else input2\n"
                       "    return linalg_solve(torch.matmul(L, torch.transpose(L, -2, -1)), self)\n"},
    {"cholesky_inverse", "def cholesky_inverse(self, upper: bool=False):\n"
                         "    L = torch.transpose(self, -2, -1) if upper else self\n"
                         "    return linalg_inv(torch.matmul(L, torch.transpose(L, -2, -1)))\n"},
    {"grouped_mm_fallback",
     "def grouped_mm_fallback(input, weight, offs):\n"
     "    rows = torch.unsqueeze(torch.arange(torch.size(input, 0)), 1)\n"
     "    group = torch.sum(torch.ge(rows, torch.unsqueeze(offs, 0)), [1])\n"
     "    group = torch.clamp(group, 0, torch.size(weight, 0) - 1)\n"
     "    return torch.squeeze(torch.matmul(torch.unsqueeze(input, 1), torch.index_select(weight, 0, group)), "
     "1)\n"},
    {"linalg_lstsq", "def linalg_lstsq(self, b, rcond: Optional[float]=None, driver=None):\n"
                     "    none = torch.zeros([0])\n"
                     "    return (torch.matmul(torch.linalg_pinv(self), b), none, none, none)\n"},
    {"conv_tbc",
     "def conv_tbc(self, weight, bias, pad: int=0):\n"
     "    y = torch.conv1d(torch.permute(self, [1, 2, 0]), torch.permute(weight, [2, 1, 0]), bias, [1], [pad])\n"
     "    return torch.permute(y, [2, 0, 1])\n"},
    {"_grouped_mm", "def _grouped_mm(self, mat2, offs, bias=None, out_dtype=None):\n"
                    "    return grouped_mm_fallback(self, mat2, offs)\n"},
    {"_unsafe_masked_index", "def _unsafe_masked_index(self, mask, indices: List[Optional[Tensor]], fill):\n"
                             "    lows = [None if i is None else torch.where(mask, i, 0) for i in indices]\n"
                             "    return torch.where(mask, torch.index(self, lows), fill)\n"},
    {"nonzero_static", "def nonzero_static(self, size: int, fill_value: int=-1):\n"
                       "    x = torch.constant_pad_nd(torch.nonzero(self), [0, 0, 0, size], fill_value)\n"
                       "    return torch.slice(x, 0, 0, size)\n"},
    {"frexp", "def frexp(self):\n"
              "    e = torch.where(torch.eq(self, 0), 0.0, torch.floor(torch.log2(torch.abs(self))) + 1.0)\n"
              "    m = self / torch.exp2(e)\n"
              "    e = torch.where(torch.abs(m) >= 1.0, e + 1.0, torch.where(torch.logical_and(torch.abs(m) < 0.5, "
              "torch.ne(self, 0)), e - 1.0, e))\n"
              "    return (self / torch.exp2(e), torch.to(e, 3))\n"},
    {"combinations",
     "def combinations(self, r: int=2, with_replacement: bool=False):\n"
     "    n = torch.size(self, 0)\n"
     "    if r == 1:\n"
     "        return torch.unsqueeze(self, 1)\n"
     "    g = torch.meshgrid([torch.arange(n) for i in range(r)], indexing=\"ij\")\n"
     "    ok = torch.ones_like(g[0], dtype=11)\n"
     "    for i in range(r - 1):\n"
     "        next = g[i] <= g[i + 1] if with_replacement else g[i] < g[i + 1]\n"
     "        ok = torch.logical_and(ok, next)\n"
     "    at = torch.flatten(torch.nonzero(torch.flatten(ok)))\n"
     "    return torch.stack([torch.index_select(self, 0, torch.index_select(torch.flatten(x), 0, at)) for "
     "x in g], 1)\n"},
    {"linalg_matrix_exp", "def linalg_matrix_exp(self):\n"
                          "    norm = torch.amax(torch.sum(torch.abs(self), [-1], True), [-2], True)\n"
                          "    x = self / 256.0\n"
                          "    y = _eye_like(self)\n"
                          "    term = y\n"
                          "    for i in range(1, 13):\n"
                          "        term = torch.matmul(term, x) / i\n"
                          "        y = y + term\n"
                          "    for i in range(8):\n"
                          "        y = torch.matmul(y, y)\n"
                          "    return y\n"},
    {"matrix_exp", "def matrix_exp(self):\n"
                   "    return linalg_matrix_exp(self)\n"},
    {0},
};
