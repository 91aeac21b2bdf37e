// composed_rest.c - ATen operators that are written in others: those that no other table of them has.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_rest[] = {
    {"mkldnn_rnn_layer",
     "def mkldnn_rnn_layer(input, weight0, weight1, weight2, weight3, hx_, cx_, reverse: bool, batch_sizes: List[int], "
     "mode: int, hidden_size: int, num_layers: int, has_biases: bool, bidirectional: bool, batch_first: bool, train: "
     "bool):\n"
     "    assert mode == 2 and not bidirectional and num_layers == 1, \"a layer of oneDNN that is no LSTM\"\n"
     "    x = torch.transpose(input, 0, 1) if batch_first else input\n"
     "    weights = [weight0, weight1, weight2, weight3] if has_biases else [weight0, weight1]\n"
     "    y, h, c = torch.lstm(torch.flip(x, [0]) if reverse else x, [hx_, cx_], weights, has_biases, 1, 0.0, False, "
     "False, False)\n"
     "    y = torch.flip(y, [0]) if reverse else y\n"
     "    return (torch.transpose(y, 0, 1) if batch_first else y, h, c, torch.zeros([0]))\n"},
    {"_scaled_dot_product_flash_attention",
     "def _scaled_dot_product_flash_attention(query, key, value, dropout_p: float=0.0, is_causal: bool=False, "
     "return_debug_mask: bool=False, scale: Optional[float]=None):\n"
     "    y = torch.scaled_dot_product_attention(query, key, value, None, 0.0, is_causal, scale=scale)\n"
     "    return (y, None, None, None, 0, 0, None, None, None)\n"},
    {"_scaled_dot_product_cudnn_attention",
     "def _scaled_dot_product_cudnn_attention(query, key, value, attn_bias, compute_log_sumexp: bool=False, dropout_p: "
     "float=0.0, is_causal: bool=False, return_debug_mask: bool=False, scale: Optional[float]=None):\n"
     "    y = torch.scaled_dot_product_attention(query, key, value, attn_bias, 0.0, is_causal, scale=scale)\n"
     "    return (y, None, None, None, 0, 0, None, None, None)\n"},
    {"_scaled_dot_product_fused_attention_overrideable",
     "def _scaled_dot_product_fused_attention_overrideable(query, key, value, attn_bias=None, dropout_p: float=0.0, "
     "is_causal: bool=False, return_debug_mask: bool=False, scale: Optional[float]=None):\n"
     "    y = torch.scaled_dot_product_attention(query, key, value, attn_bias, 0.0, is_causal, scale=scale)\n"
     "    return (y, None, None, None, 0, 0, None, None, None)\n"},
    {"sym_ite", "def sym_ite(b: bool, t, f):\n"
                "    return t if b else f\n"},
    {"_fake_quantized", "def _fake_quantized(x, scale, zero, low: int, high: int):\n"
                        "    steps = torch.round(x / scale) + zero\n"
                        "    return (torch.to(torch.clamp(steps, low, high) - zero, torch.dtype(x)) * scale, "
                        "torch.logical_and(torch.ge(steps, low), torch.le(steps, high)))\n"},
    {"fake_quantize_per_tensor_affine",
     "def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min: int, quant_max: int):\n"
     "    y, mask = _fake_quantized(self, scale, zero_point, quant_min, quant_max)\n"
     "    return y\n"},
    {"fake_quantize_per_tensor_affine_cachemask",
     "def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min: int, quant_max: int):\n"
     "    return _fake_quantized(self, scale, zero_point, quant_min, quant_max)\n"},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
     "def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_enabled, "
     "quant_min: int, quant_max: int):\n"
     "    y, mask = _fake_quantized(self, scale, zero_point, quant_min, quant_max)\n"
     "    on = torch.gt(fake_quant_enabled, 0)\n"
     "    return (torch.where(on, y, self), torch.logical_or(mask, torch.logical_not(on)))\n"},
    {"fake_quantize_per_channel_affine_cachemask",
     "def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis: int, quant_min: int, quant_max: "
     "int):\n"
     "    d = axis if axis >= 0 else axis + torch.dim(self)\n"
     "    shape = [-1 if i == d else 1 for i in range(torch.dim(self))]\n"
     "    return _fake_quantized(self, torch.reshape(scale, shape), torch.reshape(zero_point, shape), quant_min, "
     "quant_max)\n"},
    {"fake_quantize_per_channel_affine",
     "def fake_quantize_per_channel_affine(self, scale, zero_point, axis: int, quant_min: int, quant_max: int):\n"
     "    y, mask = fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)\n"
     "    return y\n"},
    {"_int_mm", "def _int_mm(self, mat2):\n"
                "    return torch.mm(torch.to(self, 3), torch.to(mat2, 3))\n"},
    {"_weight_int8pack_mm", "def _weight_int8pack_mm(self, mat2, scales):\n"
                            "    return torch.mm(self, torch.to(torch.t(mat2), torch.dtype(self))) * scales\n"},
    {"nll_loss_forward",
     "def nll_loss_forward(self, target, weight, reduction: int, ignore_index: int):\n"
     "    inside = torch.ne(target, ignore_index)\n"
     "    each = torch.ones_like(target, dtype=torch.dtype(self)) if weight is None else torch.index_select(weight, 0, "
     "torch.flatten(torch.where(inside, target, 0)))\n"
     "    total = torch.sum(torch.where(inside, torch.reshape(each, torch.size(target)), 0.0))\n"
     "    return (nll_loss_nd(self, target, weight, reduction, ignore_index), total if reduction == 1 else "
     "torch.zeros_like(total))\n"},
    {"nll_loss2d_forward", "def nll_loss2d_forward(self, target, weight, reduction: int, ignore_index: int):\n"
                           "    return nll_loss_forward(self, target, weight, reduction, ignore_index)\n"},
    {"randint_like", "def randint_like(self, low: int, high: Optional[int]=None, dtype: Optional[int]=None):\n"
                     "    d = torch.dtype(self) if dtype is None else dtype\n"
                     "    first, end = (0, low) if high is None else (low, high)\n"
                     "    x = torch.rand(torch.size(self), dtype=7) * (end - first)\n"
                     "    return torch.to(torch.to(torch.floor(x), 4) + first, d)\n"},
    {"randperm", "def randperm(n: int, dtype: Optional[int]=None):\n"
                 "    return torch.to(torch.argsort(torch.rand([n], dtype=7)), 4 if dtype is None else dtype)\n"},
    {"bernoulli",
     "def bernoulli(self, p: Optional[float]=None, generator=None):\n"
     "    return torch.to(torch.lt(torch.rand_like(self), self if p is None else p), torch.dtype(self))\n"},
    {"arccosh", "def arccosh(self):\n"
                "    return torch.acosh(self)\n"},
    {"arcsinh", "def arcsinh(self):\n"
                "    return torch.asinh(self)\n"},
    {"arctanh", "def arctanh(self):\n"
                "    return torch.atanh(self)\n"},
    {"fill_diagonal_", "def fill_diagonal_(self, fill_value, wrap: bool=False):\n"
                       "    assert torch.dim(self) == 2, \"fill_diagonal_ of more than two dimensions\"\n"
                       "    on = torch.eye(torch.size(self, 0), torch.size(self, 1), dtype=11)\n"
                       "    return torch.copy_(self, torch.masked_fill(self, on, fill_value))\n"},
    {"_pdist_forward", "def _pdist_forward(self, p: float=2.0):\n"
                       "    return pdist(self, p)\n"},
    {"_chunk_cat", "def _chunk_cat(tensors: List[Tensor], dim: int, num_chunks: int):\n"
                   "    out = []\n"
                   "    for x in tensors:\n"
                   "        d = dim + torch.dim(x) if dim < 0 else dim\n"
                   "        n = torch.size(x, d)\n"
                   "        step = (n + num_chunks - 1) // num_chunks\n"
                   "        pad = [0 for i in range(2 * (torch.dim(x) - d) - 1)] + [step * num_chunks - n]\n"
                   "        y = torch.unflatten(torch.constant_pad_nd(x, pad, 0), d, [num_chunks, step])\n"
                   "        torch.append(out, torch.flatten(y, d + 1))\n"
                   "    return torch.cat(out, -1)\n"},
    {"_unsafe_masked_index_put_accumulate",
     "def _unsafe_masked_index_put_accumulate(self, mask, indices: List[Optional[Tensor]], values):\n"
     "    lows = [None if i is None else torch.where(mask, i, 0) for i in indices]\n"
     "    return torch.index_put(self, lows, torch.where(mask, values, 0), True)\n"},
    {"_trilinear", "def _trilinear(i1, i2, i3, expand1: List[int], expand2: List[int], expand3: List[int], sumdim: "
                   "List[int], unroll_dim: int=1):\n"
                   "    for d in expand1:\n"
                   "        i1 = torch.unsqueeze(i1, d)\n"
                   "    for d in expand2:\n"
                   "        i2 = torch.unsqueeze(i2, d)\n"
                   "    for d in expand3:\n"
                   "        i3 = torch.unsqueeze(i3, d)\n"
                   "    return torch.sum(i1 * i2 * i3, sumdim) if len(sumdim) > 0 else i1 * i2 * i3\n"},
    {"rrelu_with_noise_functional",
     "def rrelu_with_noise_functional(self, noise, lower: float=0.125, upper: "
     "float=0.3333333333333333, training: bool=False, generator=None):\n"
     "    assert not training, \"rrelu in training is random: call model.eval() first\"\n"
     "    return (torch.leaky_relu(self, (lower + upper) / 2.0), torch.ones_like(self))\n"},
    {"rrelu_with_noise", "def rrelu_with_noise(self, noise, lower: float=0.125, upper: float=0.3333333333333333, "
                         "training: bool=False, generator=None):\n"
                         "    assert not training, \"rrelu in training is random: call model.eval() first\"\n"
                         "    return torch.leaky_relu(self, (lower + upper) / 2.0)\n"},
    {"_batch_norm_with_update",
     "def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum: float, "
     "eps: float):\n"
     "    y, mean, invstd = torch.native_batch_norm(input, weight, bias, running_mean, running_var, "
     "True, momentum, eps)\n"
     "    return (y, mean, invstd, torch.zeros([0], dtype=0))\n"},
    {"_batch_norm_no_update",
     "def _batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum: float, eps: "
     "float):\n"
     "    y = torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, "
     "True)\n"
     "    return (y, torch.zeros([0]), torch.zeros([0]), torch.zeros([0], dtype=0))\n"},
    {"gcd", "def gcd(self, other):\n"
            "    a = torch.abs(self + torch.zeros_like(other))\n"
            "    b = torch.abs(other + torch.zeros_like(self))\n"
            "    for i in range(92):\n"
            "        done = torch.eq(b, 0)\n"
            "        r = torch.where(done, 0, torch.remainder(a, torch.where(done, 1, b)))\n"
            "        a = torch.where(done, a, b)\n"
            "        b = r\n"
            "    return a\n"},
    {"lcm", "def lcm(self, other):\n"
            "    g = gcd(self, other)\n"
            "    return torch.abs(torch.floor_divide(self, torch.where(torch.eq(g, 0), 1, g)) * other)\n"},
    {"index_reduce", "def index_reduce(self, dim: int, index, source, reduce: str, include_self: bool=True):\n"
                     "    if torch.dim(self) == 0:\n"
                     "        one = index_reduce(torch.reshape(self, [1]), 0, torch.reshape(index, [1]), "
                     "torch.reshape(source, [1]), reduce, include_self)\n"
                     "        return torch.reshape(one, [])\n"
                     "    d = dim if dim >= 0 else dim + torch.dim(self)\n"
                     "    shape = [-1 if i == d else 1 for i in range(torch.dim(self))]\n"
                     "    at = torch.expand_as(torch.reshape(index, shape), source)\n"
                     "    return torch.scatter_reduce(self, dim, at, source, reduce, include_self)\n"},
    {"gradient", "def gradient(self, spacing=1.0, dim=None, edge_order: int=1):\n"
                 "    axes = [i for i in range(torch.dim(self))] if dim is None else (dim if torch._is_list(dim) "
                 "else [dim])\n"
                 "    assert edge_order == 1, \"gradient with an edge order of 2\"\n"
                 "    out = []\n"
                 "    for k in range(len(axes)):\n"
                 "        d = axes[k]\n"
                 "        n = torch.size(self, d)\n"
                 "        h = spacing[k] if torch._is_list(spacing) else spacing\n"
                 "        h = 1.0 if h is None else h\n"
                 "        a = torch.narrow(self, d, 1, 1) - torch.narrow(self, d, 0, 1)\n"
                 "        b = torch.narrow(self, d, n - 1, 1) - torch.narrow(self, d, n - 2, 1)\n"
                 "        m = (torch.narrow(self, d, 2, n - 2) - torch.narrow(self, d, 0, n - 2)) * 0.5\n"
                 "        torch.append(out, torch.cat([a, m, b], d) / h)\n"
                 "    return out\n"},
    {"special_i1", "def special_i1(self):\n"
                   "    x = torch.abs(self)\n"
                   "    t = x * x * 0.25\n"
                   "    y = torch.ones_like(x)\n"
                   "    term = torch.ones_like(x)\n"
                   "    for k in range(1, 40):\n"
                   "        term = term * t / (k * (k + 1.0))\n"
                   "        y = y + term\n"
                   "    u = 1.0 / torch.clamp_min(x, 8.0)\n"
                   "    big = torch.exp(x) * torch.sqrt(u * 0.15915494309189535) * (1.0 - u * (0.375 + u * "
                   "(0.1171875 + u * (0.1025390625 + u * (0.144195556640625 + u * (0.27757644653320312 + u * "
                   "(0.6765925884246826 + u * 1.9935317337512970)))))))\n"
                   "    y = torch.where(x <= 12.0, y * x * 0.5, big)\n"
                   "    return torch.where(self < 0.0, 0.0 - y, y)\n"},
    {"special_i1e", "def special_i1e(self):\n"
                    "    return special_i1(self) * torch.exp(0.0 - torch.abs(self))\n"},
    {"special_modified_bessel_i0", "def special_modified_bessel_i0(self):\n"
                                   "    return torch.i0(self)\n"},
    {"special_modified_bessel_i1", "def special_modified_bessel_i1(self):\n"
                                   "    return special_i1(self)\n"},
    {"special_spherical_bessel_j0", "def special_spherical_bessel_j0(x):\n"
                                    "    return torch.where(torch.abs(x) < 0.0001, 1.0 - x * x / 6.0, torch.sin(x) / "
                                    "torch.where(torch.eq(x, 0), 1.0, x))\n"},
    {"special_erfcx", "def special_erfcx(self):\n"
                      "    x = torch.clamp(self, -9.0, 4.0)\n"
                      "    small = torch.exp(x * x) * torch.erfc(x)\n"
                      "    z = torch.clamp_min(self, 4.0)\n"
                      "    q = z\n"
                      "    for k in range(24):\n"
                      "        q = z + (24 - k) * 0.5 / q\n"
                      "    return torch.where(self > 4.0, 0.5641895835477563 / q, small)\n"},
    {"multilabel_margin_loss",
     "def multilabel_margin_loss(self, target, reduction: int=1):\n"
     "    x = torch.reshape(self, [1, -1]) if torch.dim(self) < 2 else self\n"
     "    t = torch.reshape(target, torch.size(x))\n"
     "    n = torch.size(x, 1)\n"
     "    kept = torch.eq(torch.cumsum(torch.lt(t, 0), 1), 0)\n"
     "    place = torch.where(kept, t, 0)\n"
     "    is_target = torch.gt(torch.sum(torch.logical_and(torch.eq(torch.unsqueeze(place, 2), "
     "torch.arange(n)), torch.unsqueeze(kept, 2)), [1]), 0)\n"
     "    own = torch.gather(x, 1, place)\n"
     "    loss = torch.clamp_min(1.0 - torch.unsqueeze(own, 2) + torch.unsqueeze(x, 1), 0.0)\n"
     "    use = torch.logical_and(torch.unsqueeze(kept, 2), "
     "torch.unsqueeze(torch.logical_not(is_target), 1))\n"
     "    y = torch.sum(torch.where(use, loss, 0.0), [1, 2]) / n\n"
     "    y = torch.squeeze(y, 0) if torch.dim(self) < 2 else y\n"
     "    return torch.mean(y) if reduction == 1 else torch.sum(y) if reduction == 2 else y\n"},
    {"max_unpool3d", "def max_unpool3d(self, indices, output_size: List[int], stride: List[int], padding: List[int]):\n"
                     "    r = torch.dim(self)\n"
                     "    lead = [torch.size(self, i) for i in range(r - 3)]\n"
                     "    zero = torch.zeros(lead + [output_size[0] * output_size[1] * output_size[2]])\n"
                     "    y = torch.scatter(zero, -1, torch.flatten(indices, -3), torch.flatten(self, -3))\n"
                     "    return torch.reshape(y, lead + output_size)\n"},
    {"fractional_max_pool2d",
     "def fractional_max_pool2d(self, kernel_size: List[int], output_size: List[int], random_samples):\n"
     "    x = torch.unsqueeze(self, 0) if torch.dim(self) == 3 else self\n"
     "    h = torch.size(x, 2)\n"
     "    w = torch.size(x, 3)\n"
     "    rows = _fractions(torch.select(random_samples, 2, 1), h, output_size[0], kernel_size[0])\n"
     "    cols = _fractions(torch.select(random_samples, 2, 0), w, output_size[1], kernel_size[1])\n"
     "    b = torch.size(x, 0)\n"
     "    c = torch.size(x, 1)\n"
     "    m = output_size[0] * kernel_size[0]\n"
     "    n = output_size[1] * kernel_size[1]\n"
     "    at = torch.unsqueeze(torch.reshape(rows, [b, c, m]), 3) * w + "
     "torch.unsqueeze(torch.reshape(cols, [b, c, n]), 2)\n"
     "    y = torch.gather(torch.reshape(x, [b, c, h * w]), 2, torch.reshape(at, [b, c, m * n]))\n"
     "    y = torch.reshape(y, [b, c, output_size[0], kernel_size[0], output_size[1], kernel_size[1]])\n"
     "    at = torch.reshape(at, [b, c, output_size[0], kernel_size[0], output_size[1], "
     "kernel_size[1]])\n"
     "    y = torch.flatten(torch.transpose(y, 3, 4), 4)\n"
     "    at = torch.flatten(torch.transpose(at, 3, 4), 4)\n"
     "    best, place = torch.max(y, -1, True)\n"
     "    at = torch.squeeze(torch.gather(at, -1, place), -1)\n"
     "    best = torch.squeeze(best, -1)\n"
     "    return (best, at) if torch.dim(self) == 4 else (torch.squeeze(best, 0), torch.squeeze(at, "
     "0))\n"},
    {"_fractions", "def _fractions(samples, size: int, out: int, kernel: int):\n"
                   "    i = torch.arange(out)\n"
                   "    s = torch.unsqueeze(samples, -1)\n"
                   "    if out > 1:\n"
                   "        alpha = (size - kernel) / (out - 1)\n"
                   "        starts = torch.to(torch.trunc((i + s) * alpha), 4) - torch.to(torch.trunc(s * alpha), 4)\n"
                   "        starts = torch.where(torch.eq(i, out - 1), size - kernel, starts)\n"
                   "    else:\n"
                   "        starts = torch.zeros_like(s, dtype=4) + (size - kernel)\n"
                   "    return torch.unsqueeze(starts, -1) + torch.arange(kernel)\n"},
    {"histogram", "def histogram(self, bins, range: Optional[List[float]]=None, weight=None, density: bool=False):\n"
                  "    x = torch.flatten(self)\n"
                  "    if isinstance(bins, int):\n"
                  "        low = torch.min(x) if range is None else torch.tensor(range[0])\n"
                  "        high = torch.max(x) if range is None else torch.tensor(range[1])\n"
                  "        same = torch.eq(low, high)\n"
                  "        high = torch.where(same, high + 0.5, high)\n"
                  "        low = torch.where(same, low - 0.5, low)\n"
                  "        edges = low + (high - low) * torch.arange(bins + 1) / bins\n"
                  "    else:\n"
                  "        edges = bins\n"
                  "    n = torch.size(edges, 0) - 1\n"
                  "    place = torch.sum(torch.ge(torch.unsqueeze(x, 1), torch.unsqueeze(edges, 0)), [1]) - 1\n"
                  "    place = torch.where(torch.eq(x, torch.select(edges, 0, n)), n - 1, place)\n"
                  "    hits = torch.type_as(torch.eq(torch.unsqueeze(torch.arange(n), 1), torch.unsqueeze(place, "
                  "0)), x)\n"
                  "    y = torch.sum(hits if weight is None else hits * torch.flatten(weight), [1])\n"
                  "    return (y / torch.sum(y) / torch.diff(edges) if density else y, edges)\n"},
    {"ps_roi_align", "def ps_roi_align(input, rois, spatial_scale: float, pooled_height: int, pooled_width: int, "
                     "sampling_ratio: int):\n"
                     "    each = torch.roi_align(input, rois, spatial_scale, pooled_height, pooled_width, "
                     "sampling_ratio, True)\n"
                     "    return (_by_position(each, pooled_height, pooled_width), torch.zeros([0], dtype=3))\n"},
    {"_by_position", "def _by_position(x, h: int, w: int):\n"
                     "    c = torch.size(x, 1) // (h * w)\n"
                     "    x = torch.reshape(x, [-1, c, h * w, h * w])\n"
                     "    return torch.reshape(torch.diagonal(x, 0, 2, 3), [-1, c, h, w])\n"},
    {"igamma", "def igamma(self, other):\n"
               "    return _gamma_part(self, other, True)\n"},
    {"igammac", "def igammac(self, other):\n"
                "    return _gamma_part(self, other, False)\n"},
    {"special_gammainc", "def special_gammainc(self, other):\n"
                         "    return _gamma_part(self, other, True)\n"},
    {"special_gammaincc", "def special_gammaincc(self, other):\n"
                          "    return _gamma_part(self, other, False)\n"},
    {"_gamma_part", "def _gamma_part(a, x, lower: bool):\n"
                    "    z = torch.clamp_min(x, 1e-30)\n"
                    "    k = torch.exp(a * torch.log(z) - z - torch.lgamma(a))\n"
                    "    near = x < a + 1.0\n"
                    "    term = 1.0 / a\n"
                    "    s = term\n"
                    "    small = torch.where(near, z, 1.0)\n"
                    "    for i in range(1, 60):\n"
                    "        term = term * small / (a + i)\n"
                    "        s = s + term\n"
                    "    big = torch.where(near, a + 2.0, z)\n"
                    "    f = big + 81.0 - a\n"
                    "    for j in range(40):\n"
                    "        n = 40 - j\n"
                    "        f = big + (2.0 * n - 1.0) - a + n * (a - n) / f\n"
                    "    p = torch.where(near, k * s, 1.0 - k / f)\n"
                    "    p = torch.where(torch.eq(x, 0.0), 0.0, torch.where(torch.logical_or(x < 0.0, a < 0.0), nan, "
                    "p))\n"
                    "    p = torch.where(torch.logical_and(torch.eq(a, 0.0), x > 0.0), 1.0, p)\n"
                    "    return p if lower else 1.0 - p\n"},
    {"_windows", "def _windows(n: int, m: int):\n"
                 "    i = torch.unsqueeze(torch.arange(m), 1)\n"
                 "    first = torch.floor_divide(i * n, m)\n"
                 "    end = torch.floor_divide((i + 1) * n + m - 1, m)\n"
                 "    at = first + torch.arange((n + m - 1) // m + 1)\n"
                 "    return (torch.clamp_max(at, n - 1), at < end)\n"},
    {"_adaptive_max_places",
     "def _adaptive_max_places(x, oh: int, ow: int):\n"
     "    w = torch.size(x, -1)\n"
     "    r, is_row = _windows(torch.size(x, -2), oh)\n"
     "    c, is_col = _windows(w, ow)\n"
     "    at = torch.transpose(torch.unsqueeze(torch.unsqueeze(r, 2), 3) * w + c, 1, 2)\n"
     "    ok = torch.transpose(torch.logical_and(torch.unsqueeze(torch.unsqueeze(is_row, 2), 3), "
     "is_col), 1, 2)\n"
     "    lead = [torch.size(x, i) for i in range(torch.dim(x) - 2)]\n"
     "    y = torch.index_select(torch.flatten(x, -2), -1, torch.flatten(at))\n"
     "    y = torch.where(torch.flatten(ok), y, -inf)\n"
     "    y = torch.reshape(y, lead + [oh, ow, -1])\n"
     "    best, place = torch.max(y, -1, True)\n"
     "    at = torch.expand_as(torch.flatten(at, 2), y)\n"
     "    return torch.squeeze(torch.gather(at, -1, place), -1)\n"},
    {"hann_window", "def hann_window(window_length: int, periodic: bool=True, dtype=None, layout=None, device=None, "
                    "pin_memory=None):\n"
                    "    return hamming_window(window_length, periodic, 0.5, 0.5, dtype)\n"},
    {"hamming_window", "def hamming_window(window_length: int, periodic: bool=True, alpha: float=0.54, beta: "
                       "float=0.46, dtype=None, layout=None, device=None, pin_memory=None):\n"
                       "    n = window_length if periodic else window_length - 1\n"
                       "    if window_length == 1:\n"
                       "        return torch.ones([1])\n"
                       "    y = alpha - beta * torch.cos(torch.arange(window_length) * (6.283185307179586 / n))\n"
                       "    return y if dtype is None else torch.to(y, dtype)\n"},
    {"blackman_window", "def blackman_window(window_length: int, periodic: bool=True, dtype=None, layout=None, "
                        "device=None, pin_memory=None):\n"
                        "    n = window_length if periodic else window_length - 1\n"
                        "    if window_length == 1:\n"
                        "        return torch.ones([1])\n"
                        "    x = torch.arange(window_length) * (6.283185307179586 / n)\n"
                        "    y = 0.42 - 0.5 * torch.cos(x) + 0.08 * torch.cos(x * 2.0)\n"
                        "    return y if dtype is None else torch.to(y, dtype)\n"},
    {"bartlett_window", "def bartlett_window(window_length: int, periodic: bool=True, dtype=None, layout=None, "
                        "device=None, pin_memory=None):\n"
                        "    n = window_length if periodic else window_length - 1\n"
                        "    if window_length == 1:\n"
                        "        return torch.ones([1])\n"
                        "    y = 1.0 - torch.abs(torch.arange(window_length) * (2.0 / n) - 1.0)\n"
                        "    return y if dtype is None else torch.to(y, dtype)\n"},
    {"kaiser_window", "def kaiser_window(window_length: int, periodic: bool=True, beta: float=12.0, dtype=None, "
                      "layout=None, device=None, pin_memory=None):\n"
                      "    n = window_length if periodic else window_length - 1\n"
                      "    if window_length == 1:\n"
                      "        return torch.ones([1])\n"
                      "    x = torch.arange(window_length) * (2.0 / n) - 1.0\n"
                      "    y = torch.i0(torch.sqrt(torch.clamp_min(1.0 - x * x, 0.0)) * beta) / "
                      "torch.i0(torch.full([1], beta))\n"
                      "    return y if dtype is None else torch.to(y, dtype)\n"},
    {"_spans", "def _spans(low, high, size: int, parts: int):\n"
               "    start = torch.unsqueeze(low, 1)\n"
               "    each = torch.unsqueeze(torch.clamp_min(high - low, 1.0), 1) / parts\n"
               "    i = torch.arange(parts)\n"
               "    first = torch.unsqueeze(torch.clamp(torch.floor(i * each) + start, 0, size), 2)\n"
               "    end = torch.unsqueeze(torch.clamp(torch.ceil((i + 1) * each) + start, 0, size), 2)\n"
               "    at = torch.arange(size)\n"
               "    return torch.type_as(torch.logical_and(at >= first, at < end), low)\n"},
    {"ps_roi_pool", "def ps_roi_pool(input, rois, spatial_scale: float, pooled_height: int, pooled_width: int):\n"
                    "    x = torch.index_select(input, 0, torch.to(torch.select(rois, 1, 0), 4))\n"
                    "    box = torch.floor(torch.narrow(rois, 1, 1, 4) * spatial_scale + 0.5)\n"
                    "    rows = _spans(torch.select(box, 1, 1), torch.select(box, 1, 3), torch.size(input, 2), "
                    "pooled_height)\n"
                    "    cols = _spans(torch.select(box, 1, 0), torch.select(box, 1, 2), torch.size(input, 3), "
                    "pooled_width)\n"
                    "    y = torch.matmul(torch.matmul(torch.unsqueeze(rows, 1), x), "
                    "torch.unsqueeze(torch.transpose(cols, 1, 2), 1))\n"
                    "    count = torch.unsqueeze(torch.sum(rows, [2]), 2) * torch.unsqueeze(torch.sum(cols, [2]), 1)\n"
                    "    y = y / torch.clamp_min(torch.unsqueeze(count, 1), 1.0)\n"
                    "    return (_by_position(y, pooled_height, pooled_width), torch.zeros([0], dtype=3))\n"},
    {0},
};
