// composed_losses.c - ATen operators that are written in others: losses.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_losses[] = {
    {"_reduced", "def _reduced(x, reduction: int):\n"
                 "    return torch.mean(x) if reduction == 1 else torch.sum(x) if reduction == 2 else x\n"},
    {"mse_loss", "def mse_loss(self, target, reduction: int=1):\n"
                 "    d = self - target\n"
                 "    return _reduced(d * d, reduction)\n"},
    {"l1_loss", "def l1_loss(self, target, reduction: int=1):\n"
                "    return _reduced(torch.abs(self - target), reduction)\n"},
    {"smooth_l1_loss",
     "def smooth_l1_loss(self, target, reduction: int=1, beta: float=1.0):\n"
     "    d = torch.abs(self - target)\n"
     "    return _reduced(d if beta == 0.0 else torch.where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), "
     "reduction)\n"},
    {"huber_loss", "def huber_loss(self, target, reduction: int=1, delta: float=1.0):\n"
                   "    d = torch.abs(self - target)\n"
                   "    return _reduced(torch.where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta), reduction)\n"},
    {"binary_cross_entropy", "def binary_cross_entropy(self, target, weight=None, reduction: int=1):\n"
                             "    y = 0.0 - target * torch.clamp_min(torch.log(self), -100.0) - (1.0 - target) * "
                             "torch.clamp_min(torch.log(1.0 - self), -100.0)\n"
                             "    return _reduced(y if weight is None else y * weight, reduction)\n"},
    {"binary_cross_entropy_with_logits",
     "def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction: int=1):\n"
     "    y = (1.0 - target) * self - torch.log_sigmoid(self) * (1.0 if pos_weight is None else (pos_weight - "
     "1.0) * target + 1.0)\n"
     "    return _reduced(y if weight is None else y * weight, reduction)\n"},
    {"kl_div", "def kl_div(self, target, reduction: int=1, log_target: bool=False):\n"
               "    return _reduced(torch.exp(target) * (target - self) if log_target else torch.xlogy(target, target) "
               "- target * self, reduction)\n"},
    {"poisson_nll_loss",
     "def poisson_nll_loss(input, target, log_input: bool, full: bool, eps: float, reduction: int):\n"
     "    y = torch.exp(input) - target * input if log_input else input - target * torch.log(input + eps)\n"
     "    if full:\n"
     "        y = y + torch.where(target > 1, target * torch.log(target) - target + 0.5 * torch.log(target * "
     "6.283185307179586), 0.0)\n"
     "    return _reduced(y, reduction)\n"},
    {"soft_margin_loss", "def soft_margin_loss(self, target, reduction: int=1):\n"
                         "    return _reduced(torch.log1p(torch.exp(0.0 - target * self)), reduction)\n"},
    {"hinge_embedding_loss",
     "def hinge_embedding_loss(self, target, margin: float=1.0, reduction: int=1):\n"
     "    zero = torch.zeros_like(self)\n"
     "    return _reduced(torch.where(target != 1, torch.clamp_min(margin - self, 0.0), zero) + "
     "torch.where(target != -1, self, zero), reduction)\n"},
    {"margin_ranking_loss",
     "def margin_ranking_loss(input1, input2, target, margin: float=0.0, reduction: int=1):\n"
     "    return _reduced(torch.clamp_min(margin - target * (input1 - input2), 0.0), reduction)\n"},
    {"cosine_embedding_loss",
     "def cosine_embedding_loss(input1, input2, target, margin: float=0.0, reduction: int=1):\n"
     "    a = torch.sum(input1 * input1, [-1]) + 1e-12\n"
     "    b = torch.sum(input2 * input2, [-1]) + 1e-12\n"
     "    c = torch.sum(input1 * input2, [-1]) / torch.sqrt(a * b)\n"
     "    zero = torch.zeros_like(c)\n"
     "    return _reduced(torch.where(target == 1, 1.0 - c, zero) + torch.where(target == -1, "
     "torch.clamp_min(c - margin, 0.0), zero), reduction)\n"},
    {"triplet_margin_loss",
     "def triplet_margin_loss(anchor, positive, negative, margin: float=1.0, p: float=2.0, eps: float=1e-6, "
     "swap: bool=False, reduction: int=1):\n"
     "    near = torch.pairwise_distance(anchor, positive, p, eps)\n"
     "    far = torch.pairwise_distance(anchor, negative, p, eps)\n"
     "    if swap:\n"
     "        far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))\n"
     "    return _reduced(torch.clamp_min(margin + near - far, 0.0), reduction)\n"},
    {"nll_loss_nd",
     "def nll_loss_nd(self, target, weight=None, reduction: int=1, ignore_index: int=-100):\n"
     "    axis = 1 if torch.dim(self) > 1 else 0\n"
     "    kept = target != ignore_index\n"
     "    place = torch.where(kept, target, 0)\n"
     "    w = torch.ones_like(self) if weight is None else torch.expand_as(torch.reshape(weight, [1, -1] + [1 "
     "for i in range(torch.dim(self) - 2)]) if axis == 1 else weight, self)\n"
     "    w = torch.squeeze(torch.gather(w, axis, torch.unsqueeze(place, axis)), axis) * kept\n"
     "    y = torch.squeeze(torch.gather(self, axis, torch.unsqueeze(place, axis)), axis) * w * -1.0\n"
     "    return torch.sum(y) / torch.sum(w) if reduction == 1 else torch.sum(y) if reduction == 2 else y\n"},
    {"nll_loss", "def nll_loss(self, target, weight=None, reduction: int=1, ignore_index: int=-100):\n"
                 "    return nll_loss_nd(self, target, weight, reduction, ignore_index)\n"},
    {"cross_entropy_loss",
     "def cross_entropy_loss(self, target, weight=None, reduction: int=1, ignore_index: int=-100, "
     "label_smoothing: float=0.0):\n"
     "    axis = 1 if torch.dim(self) > 1 else 0\n"
     "    x = torch.log_softmax(self, axis)\n"
     "    if torch.dim(target) == torch.dim(self):\n"
     "        classes = torch.size(self, axis)\n"
     "        y = torch.sum(x * (target * (1.0 - label_smoothing) + label_smoothing / classes), [axis]) * -1.0\n"
     "        return torch.sum(y) / (torch.numel(y)) if reduction == 1 else torch.sum(y) if reduction == 2 "
     "else y\n"
     "    hard = nll_loss_nd(x, target, weight, reduction, ignore_index)\n"
     "    if label_smoothing == 0.0:\n"
     "        return hard\n"
     "    soft = torch.sum(x, [axis]) * -1.0 * (target != ignore_index)\n"
     "    soft = torch.sum(soft) / torch.sum(target != ignore_index) if reduction == 1 else torch.sum(soft) "
     "if reduction == 2 else soft\n"
     "    return hard * (1.0 - label_smoothing) + soft * (label_smoothing / torch.size(self, axis))\n"},
    {"multi_margin_loss",
     "def multi_margin_loss(self, target, p: int=1, margin: float=1.0, weight=None, reduction: int=1):\n"
     "    x = torch.reshape(self, [1, -1]) if torch.dim(self) < 2 else self\n"
     "    index = torch.reshape(target, [-1, 1])\n"
     "    y = torch.pow(torch.clamp_min(margin - torch.gather(x, 1, index) + x, 0.0), p)\n"
     "    if weight is not None:\n"
     "        y = y * torch.reshape(torch.index_select(weight, 0, torch.reshape(target, [-1])), [-1, 1])\n"
     "    y = torch.sum(torch.scatter(y, 1, index, 0.0), [1]) / torch.size(x, 1)\n"
     "    return _reduced(torch.squeeze(y, 0) if torch.dim(self) < 2 else y, reduction)\n"},
    {0},
};
