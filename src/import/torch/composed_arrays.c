// composed_arrays.c - ATen operators that are written in others: statistics, and moving of elements.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_arrays[] = {
    {"nanmean", "def nanmean(self, dim: Optional[List[int]]=None, keepdim: bool=False, dtype=None):\n"
                "    kept = torch.logical_not(torch.isnan(self))\n"
                "    return torch.nansum(self, dim, keepdim) / torch.sum(kept, dim, keepdim)\n"},
    {"quantile",
     "def quantile(self, q, dim: Optional[int]=None, keepdim: bool=False, interpolation: str=\"linear\"):\n"
     "    assert interpolation == \"linear\", \"quantile with another interpolation\"\n"
     "    axis = 0 if dim is None else dim\n"
     "    x = torch.flatten(self) if dim is None else self\n"
     "    x, _ = torch.sort(x, axis)\n"
     "    q = torch.mul(torch.ones([], dtype=6), q)\n"
     "    place = q * (torch.size(x, axis) - 1)\n"
     "    low = torch.floor(place)\n"
     "    part = place - low\n"
     "    a = torch.index_select(x, axis, torch.reshape(torch.to(low, 4), [-1]))\n"
     "    b = torch.index_select(x, axis, torch.reshape(torch.to(torch.ceil(place), 4), [-1]))\n"
     "    shape = [1 for i in range(torch.dim(x))]\n"
     "    shape[axis] = -1\n"
     "    y = a + (b - a) * torch.reshape(part, shape)\n"
     "    if torch.dim(q) == 0:\n"
     "        y = y if keepdim and dim is not None else torch.squeeze(y, axis)\n"
     "        return torch.reshape(y, [1 for i in range(torch.dim(self))]) if keepdim and dim is None else y\n"
     "    y = torch.movedim(y, axis, 0)\n"
     "    return torch.unsqueeze(y, axis + 1) if keepdim and dim is not None else y\n"},
    {"cov", "def cov(self, correction: int=1, fweights=None, aweights=None):\n"
            "    x = torch.unsqueeze(self, 0) if torch.dim(self) < 2 else self\n"
            "    x = x - torch.mean(x, [1], True)\n"
            "    y = torch.matmul(x, torch.conj(torch.transpose(x, 0, 1))) / (torch.size(x, 1) - correction)\n"
            "    return torch.squeeze(y) if torch.dim(self) < 2 else y\n"},
    {"corrcoef", "def corrcoef(self):\n"
                 "    c = cov(self)\n"
                 "    if torch.dim(c) == 0:\n"
                 "        return c / c\n"
                 "    d = torch.sqrt(torch.diagonal(c))\n"
                 "    return torch.clamp(c / torch.unsqueeze(d, 1) / torch.unsqueeze(d, 0), -1.0, 1.0)\n"},
    {"trapezoid",
     "def trapezoid(y, x=None, dx: float=1.0, dim: int=-1):\n"
     "    n = torch.size(y, dim)\n"
     "    s = torch.narrow(y, dim, 0, n - 1) + torch.narrow(y, dim, 1, n - 1)\n"
     "    if x is not None:\n"
     "        w = torch.diff(x) if torch.dim(x) == 1 else torch.diff(x, 1, dim)\n"
     "        if torch.dim(x) == 1 and dim != -1 and dim != torch.dim(y) - 1:\n"
     "            w = torch.reshape(w, [-1] + [1 for i in range(torch.dim(y) - 1 - (dim if dim >= 0 else dim "
     "+ torch.dim(y)))])\n"
     "        s = s * w\n"
     "    else:\n"
     "        s = s * dx\n"
     "    return torch.sum(s, [dim]) * 0.5\n"},
    {"trapz", "def trapz(y, x=None, dx: float=1.0, dim: int=-1):\n"
              "    return trapezoid(y, x, dx, dim)\n"},
    {"cumulative_trapezoid", "def cumulative_trapezoid(y, x=None, dx: float=1.0, dim: int=-1):\n"
                             "    n = torch.size(y, dim)\n"
                             "    s = torch.narrow(y, dim, 0, n - 1) + torch.narrow(y, dim, 1, n - 1)\n"
                             "    s = s * dx if x is None else s * torch.diff(x, 1, dim if torch.dim(x) > 1 else -1)\n"
                             "    return torch.cumsum(s, dim) * 0.5\n"},
    {"kron", "def kron(self, other):\n"
             "    n = torch.dim(self) if torch.dim(self) > torch.dim(other) else torch.dim(other)\n"
             "    a = torch.reshape(self, [1 for i in range(n - torch.dim(self))] + [torch.size(self, i) for i in "
             "range(torch.dim(self))])\n"
             "    b = torch.reshape(other, [1 for i in range(n - torch.dim(other))] + [torch.size(other, i) for i in "
             "range(torch.dim(other))])\n"
             "    for i in range(n):\n"
             "        a = torch.unsqueeze(a, 2 * i + 1)\n"
             "        b = torch.unsqueeze(b, 2 * i)\n"
             "    y = a * b\n"
             "    return torch.reshape(y, [torch.size(y, 2 * i) * torch.size(y, 2 * i + 1) for i in range(n)])\n"},
    {"block_diag", "def block_diag(tensors: List[Tensor]):\n"
                   "    rows = 0\n"
                   "    parts = [torch.atleast_2d(t) for t in tensors]\n"
                   "    width = 0\n"
                   "    for p in parts:\n"
                   "        width = width + torch.size(p, 1)\n"
                   "    left = 0\n"
                   "    out = []\n"
                   "    for p in parts:\n"
                   "        right = width - left - torch.size(p, 1)\n"
                   "        torch.append(out, torch.constant_pad_nd(p, [left, right], 0))\n"
                   "        left = left + torch.size(p, 1)\n"
                   "    return torch.cat(out, 0)\n"},
    {"cartesian_prod",
     "def cartesian_prod(tensors: List[Tensor]):\n"
     "    if len(tensors) == 1:\n"
     "        return tensors[0]\n"
     "    return torch.stack([torch.flatten(g) for g in torch.meshgrid(tensors, indexing=\"ij\")], 1)\n"},
    {"diagflat", "def diagflat(self, offset: int=0):\n"
                 "    return torch.diag_embed(torch.flatten(self), offset)\n"},
    {"fliplr", "def fliplr(self):\n"
               "    return torch.flip(self, [1])\n"},
    {"flipud", "def flipud(self):\n"
               "    return torch.flip(self, [0])\n"},
    {"hsplit",
     "def hsplit(self, sections=None, indices=None):\n"
     "    return torch.tensor_split(self, indices if sections is None else sections, 0 if torch.dim(self) == 1 else 1)\n"},
    {"vsplit", "def vsplit(self, sections=None, indices=None):\n"
               "    return torch.tensor_split(self, indices if sections is None else sections, 0)\n"},
    {"dsplit", "def dsplit(self, sections=None, indices=None):\n"
               "    return torch.tensor_split(self, indices if sections is None else sections, 2)\n"},
    {"renorm", "def renorm(self, p: float, dim: int, maxnorm: float):\n"
               "    dims = []\n"
               "    for i in range(torch.dim(self)):\n"
               "        if i != (dim if dim >= 0 else dim + torch.dim(self)):\n"
               "            torch.append(dims, i)\n"
               "    n = torch.linalg_vector_norm(self, p, dims, True)\n"
               "    return self * torch.where(n > maxnorm, maxnorm / (n + 1e-7), 1.0)\n"},
    {"dist", "def dist(self, other, p: float=2.0):\n"
             "    return torch.linalg_vector_norm(self - other, p)\n"},
    {"pdist", "def pdist(self, p: float=2.0):\n"
              "    n = torch.size(self, 0)\n"
              "    index = torch.triu_indices(n, n, 1)\n"
              "    return torch.linalg_vector_norm(torch.index_select(self, 0, torch.select(index, 0, 0)) - "
              "torch.index_select(self, 0, torch.select(index, 0, 1)), p, [1])\n"},
    {"mode", "def mode(self, dim: int=-1, keepdim: bool=False):\n"
             "    x = torch.movedim(self, dim, -1)\n"
             "    same = torch.sum(torch.eq(torch.unsqueeze(x, -1), torch.unsqueeze(x, -2)), [-1])\n"
             "    most = torch.eq(same, torch.amax(same, [-1], True))\n"
             "    n = torch.size(x, -1)\n"
             "    low = torch.amin(torch.where(most, x, torch.amax(x, [-1], True)), [-1], True)\n"
             "    place = torch.amax(torch.where(torch.eq(x, low), torch.arange(n), -1), [-1], True)\n"
             "    a = torch.movedim(low, -1, dim)\n"
             "    b = torch.movedim(place, -1, dim)\n"
             "    return (a, b) if keepdim else (torch.squeeze(a, dim), torch.squeeze(b, dim))\n"},
    {"unique_consecutive", "def unique_consecutive(self, return_inverse: bool=False, return_counts: bool=False, dim: "
                           "Optional[int]=None):\n"
                           "    assert dim is None, \"unique_consecutive along a dimension\"\n"
                           "    x = torch.flatten(self)\n"
                           "    n = torch.size(x, 0)\n"
                           "    first = torch.cat([torch.ones([1], dtype=11), torch.ne(torch.narrow(x, 0, 1, n - 1), "
                           "torch.narrow(x, 0, 0, n - 1))])\n"
                           "    place = torch.flatten(torch.nonzero(first))\n"
                           "    inverse = torch.reshape(torch.cumsum(first, 0) - 1, torch.size(self))\n"
                           "    end = torch.cat([torch.slice(place, 0, 1), torch.tensor([n])])\n"
                           "    return (torch.index_select(x, 0, place), inverse, end - place)\n"},
    {"logspace", "def logspace(start, end, steps: int, base: float=10.0, dtype=None, layout=None, device=None, "
                 "pin_memory=None):\n"
                 "    y = torch.pow(base, torch.linspace(start, end, steps))\n"
                 "    return y if dtype is None else torch.to(y, dtype)\n"},
    {"put", "def put(self, index, source, accumulate: bool=False):\n"
            "    x = torch.flatten(self)\n"
            "    i = torch.flatten(index)\n"
            "    i = torch.where(i < 0, i + torch.numel(self), i)\n"
            "    y = torch.scatter_add(x, 0, i, torch.flatten(source)) if accumulate else torch.scatter(x, 0, i, "
            "torch.flatten(source))\n"
            "    return torch.reshape(y, torch.size(self))\n"},
    {"sum_to_size", "def sum_to_size(self, size: List[int]):\n"
                    "    extra = torch.dim(self) - len(size)\n"
                    "    x = torch.sum(self, [i for i in range(extra)]) if extra > 0 else self\n"
                    "    for i in range(len(size)):\n"
                    "        if size[i] == 1:\n"
                    "            x = torch.sum(x, [i], True)\n"
                    "    return x\n"},
    {"linalg_vecdot", "def linalg_vecdot(x, y, dim: int=-1):\n"
                      "    return torch.sum(torch.conj(x) * y, [dim])\n"},
    {"linalg_diagonal", "def linalg_diagonal(A, offset: int=0, dim1: int=-2, dim2: int=-1):\n"
                        "    return torch.diagonal(A, offset, dim1, dim2)\n"},
    {"linalg_vander", "def linalg_vander(x, N: Optional[int]=None):\n"
                      "    x = torch.unsqueeze(x, 0) if torch.dim(x) == 0 else x\n"
                      "    n = torch.size(x, -1) if N is None else N\n"
                      "    return torch.pow(torch.unsqueeze(x, -1), torch.arange(n))\n"},
    {"nanmedian", "def nanmedian(self, dim: Optional[int]=None, keepdim: bool=False):\n"
                  "    d = 0 if dim is None else dim\n"
                  "    x = torch.flatten(self) if dim is None else self\n"
                  "    is_none = torch.isnan(x)\n"
                  "    y, places = torch.sort(torch.where(is_none, torch.full_like(x, inf), x), d)\n"
                  "    n = torch.sum(torch.logical_not(is_none), [d], True)\n"
                  "    at = torch.gather(places, d, torch.clamp(torch.floor_divide(n - 1, 2), 0))\n"
                  "    y = torch.gather(x, d, at)\n"
                  "    if dim is None:\n"
                  "        return torch.squeeze(y, 0)\n"
                  "    return (y if keepdim else torch.squeeze(y, d), at if keepdim else torch.squeeze(at, d))\n"},
    {"pad_sequence",
     "def pad_sequence(sequences: List[Tensor], batch_first: bool=False, padding_value: float=0.0, padding_side: str=\"right\"):\n"
     "    most = max([torch.size(x, 0) for x in sequences])\n"
     "    y = []\n"
     "    for x in sequences:\n"
     "        room = most - torch.size(x, 0)\n"
     "        ends = [0, 0] * (torch.dim(x) - 1) + ([0, room] if padding_side == \"right\" else [room, 0])\n"
     "        y = y + [torch.constant_pad_nd(x, ends, padding_value)]\n"
     "    return torch.stack(y, 0 if batch_first else 1)\n"},
    {"allclose", "def allclose(self, other, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False):\n"
                 "    return torch.all(torch.isclose(self, other, rtol, atol, equal_nan))\n"},
    {"_make_dep_token",
     "def _make_dep_token(dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):\n"
     "    return torch.zeros([0])\n"},
    {"multinomial", "def multinomial(self, num_samples: int, replacement: bool=False, generator=None):\n"
                    "    x = torch.log(self)\n"
                    "    if replacement:\n"
                    "        x = torch.repeat_interleave(torch.unsqueeze(x, -2), num_samples, -2)\n"
                    "    x = x - torch.log(-torch.log(torch.rand_like(x)))\n"
                    "    return torch.argmax(x, -1) if replacement else torch.topk(x, num_samples, -1)[1]\n"},
    {"vander", "def vander(x, N: Optional[int]=None, increasing: bool=False):\n"
               "    n = torch.size(x, -1) if N is None else N\n"
               "    y = torch.pow(torch.unsqueeze(x, -1), torch.arange(n))\n"
               "    return y if increasing else torch.flip(y, [-1])\n"},
    {0},
};
