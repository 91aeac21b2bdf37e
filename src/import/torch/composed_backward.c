// composed_backward.c - ATen operators that are written in others: the gradients of core ATen.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_backward[] = {
    {"embedding_dense_backward",
     "def embedding_dense_backward(grad_output, indices, num_weights: int, padding_idx: int, "
     "scale_grad_by_freq: bool):\n"
     "    i = torch.flatten(indices)\n"
     "    g = torch.reshape(grad_output, [-1, torch.size(grad_output, -1)])\n"
     "    g = torch.where(torch.unsqueeze(torch.eq(i, padding_idx), 1), 0.0, g)\n"
     "    if scale_grad_by_freq:\n"
     "        n = torch.index_add(torch.zeros([num_weights]), 0, i, torch.ones_like(i, dtype=6))\n"
     "        g = g / torch.unsqueeze(torch.index_select(n, 0, i), 1)\n"
     "    return torch.index_add(torch.zeros([num_weights, torch.size(g, 1)]), 0, i, g)\n"},
    {"max_pool2d_with_indices_backward",
     "def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, "
     "ceil_mode: bool, indices):\n"
     "    zero = torch.flatten(torch.zeros_like(self), -2)\n"
     "    y = torch.scatter_add(zero, -1, torch.flatten(indices, -2), torch.flatten(grad_output, -2))\n"
     "    return torch.reshape(y, torch.size(self))\n"},
    {"avg_pool2d_backward",
     "def avg_pool2d_backward(grad_output, self, kernel_size: List[int], stride: List[int], padding: "
     "List[int], ceil_mode: bool, count_include_pad: bool, divisor_override: Optional[int]):\n"
     "    kh = kernel_size[0]\n"
     "    kw = kernel_size[-1]\n"
     "    s = kernel_size if len(stride) == 0 else stride\n"
     "    h = torch.size(self, -2)\n"
     "    w = torch.size(self, -1)\n"
     "    oh = torch.size(grad_output, -2)\n"
     "    ow = torch.size(grad_output, -1)\n"
     "    y = torch.arange(oh) * s[0] - padding[0]\n"
     "    x = torch.arange(ow) * s[-1] - padding[-1]\n"
     "    rows = torch.unsqueeze(torch.arange(h), 0)\n"
     "    cols = torch.unsqueeze(torch.arange(w), 0)\n"
     "    a = torch.logical_and(rows >= torch.unsqueeze(y, 1), rows < torch.unsqueeze(y + kh, 1))\n"
     "    b = torch.logical_and(cols >= torch.unsqueeze(x, 1), cols < torch.unsqueeze(x + kw, 1))\n"
     "    a = torch.type_as(a, grad_output)\n"
     "    b = torch.type_as(b, grad_output)\n"
     "    if divisor_override is not None:\n"
     "        g = grad_output / divisor_override\n"
     "    elif count_include_pad:\n"
     "        ny = torch.clamp_max(y + kh, h + padding[0]) - y\n"
     "        nx = torch.clamp_max(x + kw, w + padding[-1]) - x\n"
     "        g = grad_output / (torch.unsqueeze(ny, 1) * torch.unsqueeze(nx, 0))\n"
     "    else:\n"
     "        g = grad_output / (torch.sum(a, [1], True) * torch.unsqueeze(torch.sum(b, [1]), 0))\n"
     "    return torch.matmul(torch.matmul(torch.transpose(a, 0, 1), g), b)\n"},
    {"_average_rows", "def _average_rows(n: int, m: int):\n"
                      "    i = torch.unsqueeze(torch.arange(m), 1)\n"
                      "    at = torch.unsqueeze(torch.arange(n), 0)\n"
                      "    first = torch.floor_divide(i * n, m)\n"
                      "    end = torch.floor_divide((i + 1) * n + m - 1, m)\n"
                      "    return torch.logical_and(at >= first, at < end) / (end - first)\n"},
    {"_adaptive_avg_pool2d_backward",
     "def _adaptive_avg_pool2d_backward(grad_output, self):\n"
     "    a = _average_rows(torch.size(self, -2), torch.size(grad_output, -2))\n"
     "    b = _average_rows(torch.size(self, -1), torch.size(grad_output, -1))\n"
     "    return torch.matmul(torch.matmul(torch.transpose(a, 0, 1), grad_output), b)\n"},
    {"native_layer_norm_backward",
     "def native_layer_norm_backward(grad_out, input, normalized_shape: List[int], mean, rstd, "
     "weight, bias, output_mask: List[bool]):\n"
     "    n = len(normalized_shape)\n"
     "    r = torch.dim(input)\n"
     "    inner = [i + r - n for i in range(n)]\n"
     "    outer = [i for i in range(r - n)]\n"
     "    x = (input - mean) * rstd\n"
     "    g = grad_out if weight is None else grad_out * weight\n"
     "    dx = rstd * (g - torch.mean(g, inner, True) - x * torch.mean(g * x, inner, True))\n"
     "    dw = grad_out * x\n"
     "    dw = torch.sum(dw, outer) if len(outer) > 0 else dw\n"
     "    db = torch.sum(grad_out, outer) if len(outer) > 0 else grad_out\n"
     "    return (dx if output_mask[0] else None, dw if output_mask[1] else None, db if "
     "output_mask[2] else None)\n"},
    {"native_group_norm_backward",
     "def native_group_norm_backward(grad_out, input, mean, rstd, weight, N: int, C: int, HxW: int, "
     "group: int, output_mask: List[bool]):\n"
     "    x = torch.reshape(input, [N, group, C // group, HxW])\n"
     "    g = torch.reshape(grad_out, [N, group, C // group, HxW])\n"
     "    m = torch.reshape(mean, [N, group, 1, 1])\n"
     "    s = torch.reshape(rstd, [N, group, 1, 1])\n"
     "    x = (x - m) * s\n"
     "    k = g if weight is None else g * torch.reshape(weight, [1, group, C // group, 1])\n"
     "    dx = s * (k - torch.mean(k, [2, 3], True) - x * torch.mean(k * x, [2, 3], True))\n"
     "    dw = torch.reshape(torch.sum(g * x, [0, 3]), [C])\n"
     "    db = torch.reshape(torch.sum(g, [0, 3]), [C])\n"
     "    return (torch.reshape(dx, torch.size(input)) if output_mask[0] else None, dw if "
     "output_mask[1] else None, db if output_mask[2] else None)\n"},
    {"convolution_backward",
     "def convolution_backward(grad_output, input, weight, bias_sizes, stride: List[int], padding: "
     "List[int], dilation: List[int], transposed: bool, output_padding: List[int], groups: int, "
     "output_mask: List[bool]):\n"
     "    assert not transposed, \"convolution_backward of a transposed convolution\"\n"
     "    n = torch.dim(input) - 2\n"
     "    dx = None\n"
     "    dw = None\n"
     "    if output_mask[0]:\n"
     "        more = [torch.size(input, i + 2) - ((torch.size(grad_output, i + 2) - 1) * stride[i] - "
     "2 * padding[i] + dilation[i] * (torch.size(weight, i + 2) - 1) + 1) for i in range(n)]\n"
     "        dx = torch.convolution(grad_output, weight, None, stride, padding, dilation, True, "
     "more, groups)\n"
     "    if output_mask[1]:\n"
     "        b = torch.size(input, 0)\n"
     "        x = torch.transpose(input, 0, 1)\n"
     "        x = torch.reshape(x, [groups, torch.size(x, 0) // groups, b] + [torch.size(input, i + "
     "2) for i in range(n)])\n"
     "        x = torch.reshape(torch.transpose(x, 0, 1), [-1, groups * b] + [torch.size(input, i + "
     "2) for i in range(n)])\n"
     "        g = torch.transpose(grad_output, 0, 1)\n"
     "        y = torch.convolution(x, g, None, dilation, padding, stride, False, [0 for i in "
     "range(n)], groups)\n"
     "        for i in range(n):\n"
     "            y = torch.narrow(y, i + 2, 0, torch.size(weight, i + 2))\n"
     "        dw = torch.transpose(y, 0, 1)\n"
     "    return (dx, dw, torch.sum(grad_output, [0] + [i + 2 for i in range(n)]) if output_mask[2] "
     "else None)\n"},
    {"_softmax_backward_data", "def _softmax_backward_data(grad_output, output, dim: int, input_dtype: int):\n"
                               "    g = grad_output * output\n"
                               "    return torch.to(g - output * torch.sum(g, [dim], True), input_dtype)\n"},
    {"_log_softmax_backward_data",
     "def _log_softmax_backward_data(grad_output, output, dim: int, input_dtype: int):\n"
     "    return torch.to(grad_output - torch.exp(output) * torch.sum(grad_output, [dim], True), "
     "input_dtype)\n"},
    {"threshold_backward", "def threshold_backward(grad_output, self, threshold: float):\n"
                           "    return torch.where(self <= threshold, 0.0, grad_output)\n"},
    {"sigmoid_backward", "def sigmoid_backward(grad_output, output):\n"
                         "    return grad_output * (1.0 - output) * output\n"},
    {"tanh_backward", "def tanh_backward(grad_output, output):\n"
                      "    return grad_output * (1.0 - output * output)\n"},
    {"gelu_backward", "def gelu_backward(grad_output, self, approximate: str=\"none\"):\n"
                      "    if approximate == \"none\":\n"
                      "        return grad_output * (0.5 * torch.erfc(self * -0.7071067811865476) + self * "
                      "torch.exp(self * self * -0.5) * 0.3989422804014327)\n"
                      "    u = (self + 0.044715 * self * self * self) * 0.7978845608028654\n"
                      "    t = torch.tanh(u)\n"
                      "    return grad_output * (0.5 * (1.0 + t) + 0.5 * self * (1.0 - t * t) * 0.7978845608028654 * "
                      "(1.0 + 0.134145 * self * self))\n"},
    {0},
};
