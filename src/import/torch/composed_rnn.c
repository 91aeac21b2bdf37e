// composed_rnn.c - ATen operators that are written in others: sequences of different lengths, LSTMs with projections, quantized layers.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_rnn[] = {
    {"_pack_padded_sequence", "def _pack_padded_sequence(input, lengths, batch_first: bool):\n"
                              "    x = torch.transpose(input, 0, 1) if batch_first else input\n"
                              "    steps = torch.unsqueeze(torch.arange(torch.size(x, 0)), 1)\n"
                              "    inside = torch.lt(steps, torch.unsqueeze(torch._whole(lengths), 0))\n"
                              "    data = torch.index_select(torch.flatten(x, 0, 1), 0, "
                              "torch.flatten(torch.nonzero(torch.flatten(inside))))\n"
                              "    sizes = torch.sum(inside, [1])\n"
                              "    return (data, torch.index_select(sizes, 0, torch.flatten(torch.nonzero(sizes))))\n"},
    {"_pad_packed_sequence",
     "def _pad_packed_sequence(data, batch_sizes, batch_first: bool, padding_value: float, "
     "total_length: int):\n"
     "    batch = torch.Int(torch.select(batch_sizes, 0, 0))\n"
     "    steps = torch.size(batch_sizes, 0)\n"
     "    inside = torch.lt(torch.unsqueeze(torch.arange(batch), 0), torch.unsqueeze(batch_sizes, 1))\n"
     "    place = torch.clamp_min(torch.cumsum(torch.flatten(inside), 0) - 1, 0)\n"
     "    x = torch.index_select(data, 0, place)\n"
     "    rest = torch.dim(data) - 1\n"
     "    x = torch.reshape(x, [steps, batch] + [torch.size(data, i + 1) for i in range(rest)])\n"
     "    mask = torch.reshape(inside, [steps, batch] + [1 for i in range(rest)])\n"
     "    x = torch.where(mask, x, padding_value)\n"
     "    if total_length > 0:\n"
     "        x = torch.constant_pad_nd(x, [0 for i in range(2 * rest + 3)] + [total_length - steps], "
     "padding_value)\n"
     "    return (torch.transpose(x, 0, 1) if batch_first else x, torch.sum(inside, [0]))\n"},
    {"_projected_lstm", "def _projected_lstm(x, h, c, w_ih, w_hh, b, w_hr, reverse: bool):\n"
                        "    gates = torch.linear(torch.flip(x, [0]) if reverse else x, w_ih, b)\n"
                        "    ys = annotate(List[Tensor], [])\n"
                        "    for i in range(torch._turns(torch.size(x, 0))):\n"
                        "        g = torch.select(gates, 0, i) + torch.linear(h, w_hh)\n"
                        "        p = torch.chunk(g, 4, -1)\n"
                        "        c = torch.sigmoid(p[1]) * c + torch.sigmoid(p[0]) * torch.tanh(p[2])\n"
                        "        h = torch.linear(torch.sigmoid(p[3]) * torch.tanh(c), w_hr)\n"
                        "        torch.append(ys, h)\n"
                        "    y = torch.reshape(torch.stack(ys), [torch.size(x, 0), torch.size(x, 1), torch.size(w_hr, "
                        "0)])\n"
                        "    return (torch.flip(y, [0]) if reverse else y, h, c)\n"},
    {"_quantized_cells", "def _quantized_cells(params, at: int):\n"
                         "    p = params[at]\n"
                         "    return (p[4][0], p[4][1], p[3][0] == 1)\n"},
    {"_quantized_lstm_layer",
     "def _quantized_lstm_layer(x, h, c, params, at: int, reverse: bool):\n"
     "    w_ih, w_hh, reduce = _quantized_cells(params, at)\n"
     "    gates = ops.quantized.linear_dynamic(torch.flip(x, [0]) if reverse else x, w_ih, reduce)\n"
     "    ys = annotate(List[Tensor], [])\n"
     "    for i in range(torch._turns(torch.size(x, 0))):\n"
     "        p = torch.chunk(torch.select(gates, 0, i) + ops.quantized.linear_dynamic(h, w_hh, "
     "reduce), 4, -1)\n"
     "        c = torch.sigmoid(p[1]) * c + torch.sigmoid(p[0]) * torch.tanh(p[2])\n"
     "        h = torch.sigmoid(p[3]) * torch.tanh(c)\n"
     "        torch.append(ys, h)\n"
     "    y = torch.reshape(torch.stack(ys), [torch.size(x, 0), torch.size(x, 1), -1])\n"
     "    return (torch.flip(y, [0]) if reverse else y, h, c)\n"},
    {"_quantized_gru_layer",
     "def _quantized_gru_layer(x, h, c, params, at: int, reverse: bool):\n"
     "    w_ih, w_hh, reduce = _quantized_cells(params, at)\n"
     "    gates = ops.quantized.linear_dynamic(torch.flip(x, [0]) if reverse else x, w_ih, reduce)\n"
     "    ys = annotate(List[Tensor], [])\n"
     "    for i in range(torch._turns(torch.size(x, 0))):\n"
     "        p = torch.chunk(torch.select(gates, 0, i), 3, -1)\n"
     "        q = torch.chunk(ops.quantized.linear_dynamic(h, w_hh, reduce), 3, -1)\n"
     "        z = torch.sigmoid(p[1] + q[1])\n"
     "        n = torch.tanh(p[2] + torch.sigmoid(p[0] + q[0]) * q[2])\n"
     "        h = n + z * (h - n)\n"
     "        torch.append(ys, h)\n"
     "    y = torch.reshape(torch.stack(ys), [torch.size(x, 0), torch.size(x, 1), -1])\n"
     "    return (torch.flip(y, [0]) if reverse else y, h, h)\n"},
    {"_quantized_layers",
     "def _quantized_layers(x, h, c, params, layers: int, two: bool, first: bool, is_lstm: bool):\n"
     "    x = torch.transpose(x, 0, 1) if first else x\n"
     "    hs = []\n"
     "    cs = []\n"
     "    for l in range(layers):\n"
     "        ys = []\n"
     "        for d in range(2 if two else 1):\n"
     "            at = l * (2 if two else 1) + d\n"
     "            if is_lstm:\n"
     "                y, a, b = _quantized_lstm_layer(x, torch.select(h, 0, at), torch.select(c, 0, "
     "at), params, at, d == 1)\n"
     "            else:\n"
     "                y, a, b = _quantized_gru_layer(x, torch.select(h, 0, at), c, params, at, d == 1)\n"
     "            torch.append(ys, y)\n"
     "            torch.append(hs, a)\n"
     "            torch.append(cs, b)\n"
     "        x = torch.cat(ys, 2)\n"
     "    return (torch.transpose(x, 0, 1) if first else x, torch.stack(hs), torch.stack(cs))\n"},
    {"_quantized_lstm",
     "def _quantized_lstm(input, hx, params, num_layers: int, bidirectional: bool, batch_first: bool):\n"
     "    return _quantized_layers(input, hx[0], hx[1], params, num_layers, bidirectional, "
     "batch_first, True)\n"},
    {"_quantized_gru",
     "def _quantized_gru(input, hx, params, num_layers: int, bidirectional: bool, batch_first: bool):\n"
     "    y, h, c = _quantized_layers(input, hx, hx, params, num_layers, bidirectional, batch_first, "
     "False)\n"
     "    return (y, h)\n"},
    {0},
};
