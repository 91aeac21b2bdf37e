"""More small models: the operators that compute, in every type of numbers that TensorFlow Lite has for them, and in their variants.

Kinds of products: real numbers (f32), 8 bits with a scale for each channel (channels) or one (whole), unsigned 8 bits (u8), 16 bits with
weights of 8 (i16), and weights of 8 bits beside real numbers (hybrid), which are quantized while running.
"""
import random

from cases import ANCHORS, DETECT, case, f, flex, i, ints, lstm_inputs, noise, one
from writer import Tensor

RNG = random.Random(11)
ZERO = {"i8": -7, "u8": 121, "i16": 0}
STEP = {"i8": 0.02, "u8": 0.013, "i16": 1e-4}


def q(dtype, *shape, scale=None, zero=None, **more):
    return Tensor(dtype, shape, scale=scale or STEP[dtype], zero=ZERO[dtype] if zero is None else zero, **more)


def weights(kind, axis, *shape, seed=3):
    if kind == "f32":
        return noise(*shape, seed=seed)
    if kind == "u8":
        return noise(*shape, dtype="u8", low=0, high=255, scale=0.012, zero=117, seed=seed)
    many = shape[axis] if kind in ("channels", "i16", "hybrid") else 1
    return noise(*shape, dtype="i8", low=-127, high=127, scale=[0.004 + 0.003 * k for k in range(many)], zero=[0] * many, axis=axis, seed=seed)


def ports(kind, shape, out, scale=0.15):
    """The input, the output, and the type of the bias."""
    if kind in ("f32", "hybrid", "hybrid_whole"):
        return f(*shape), f(*out), "f32"
    dtype = {"u8": "u8", "i16": "i16"}.get(kind, "i8")
    return q(dtype, *shape), q(dtype, *out, scale=scale if dtype != "i16" else scale / 100), "i64" if dtype == "i16" else "i32"


def bias(dtype, x, w, count):
    if dtype == "f32":
        return noise(count, seed=5)
    scales = [x.scale[0] * s for s in w.scale]
    return Tensor(dtype, [count], [RNG.randint(-900, 900) for _ in range(count)], scale=scales, zero=[0] * len(scales))


def extent(size, kernel, stride, dilation, padding):
    return -(-size // stride) if padding == 0 else (size - (kernel - 1) * dilation - 1) // stride + 1


# padding, strides, dilations, kernel, activation
WINDOWS = [(0, (2, 1), (1, 1), (3, 2), 1), (0, (1, 1), (2, 3), (3, 3), 0), (1, (3, 2), (1, 1), (2, 5), 3), (0, (2, 2), (1, 1), (4, 3), 2)]
VERSION = {"f32": 2, "channels": 3, "whole": 3, "u8": 2, "i16": 4, "hybrid": 5, "hybrid_whole": 2}
for kind in ("f32", "channels", "whole", "u8", "i16", "hybrid", "hybrid_whole"):
    for n, (padding, s, d, k, act) in enumerate(WINDOWS):
        out = [extent(9, k[0], s[0], d[0], padding), extent(8, k[1], s[1], d[1], padding)]
        if kind in ("f32", "whole") and n > 1:
            continue
        batch = 2 if kind.startswith("hybrid") and n == 0 else 1
        x, y, b = ports(kind, [batch, 9, 8, 3], [batch, *out, 4])
        w = weights(kind, 0, 4, *k, 3)
        case(f"conv_{kind}_{n}", 3, [x, w, bias(b, x, w, 4)], [y], (1, {0: ("i8", padding), 1: ("i32", s[1]), 2: ("i32", s[0]), 3: ("i8", act), 4: ("i32", d[1]), 5: ("i32", d[0])}),
             version=VERSION[kind])
        if kind == "hybrid_whole" or (n == 1 and kind == "hybrid"):
            continue
        x, y, b = ports(kind, [1, 9, 8, 3], [1, *out, 6], 0.05)
        w = weights(kind, 3, 1, *k, 6)
        case(f"depthwise_{kind}_{n}", 4, [x, w, bias(b, x, w, 6)], [y],
             (2, {0: ("i8", padding), 1: ("i32", s[1]), 2: ("i32", s[0]), 3: ("i32", 2), 4: ("i8", act), 5: ("i32", d[1]), 6: ("i32", d[0])}), version=VERSION[kind] + (kind in ("i16", "hybrid")))

# padding, strides, kernel, output
TURNED = [(0, (2, 2), (3, 3), (8, 6)), (0, (2, 3), (4, 2), (7, 9)), (1, (1, 2), (2, 3), (5, 7)), (1, (3, 2), (2, 2), (11, 6))]
for kind in ("channels", "whole", "u8", "i16"):
    for n, (padding, s, k, out) in enumerate(TURNED):
        x, y, b = ports(kind, [1, 4, 3, 2], [1, *out, 3], 0.05)
        w = weights(kind, 0, 3, *k, 2)
        case(f"transpose_conv_{kind}_{n}", 67, [ints(1, *out, 3), w, x] + ([bias(b, x, w, 3)] if n % 2 else []), [y], (49, {0: ("i8", padding), 1: ("i32", s[1]), 2: ("i32", s[0])}),
             version=3)

for kind in ("i16", "u8", "whole"):
    x, y, b = ports(kind, [3, 33], [3, 5])
    w = weights("whole" if kind == "i16" else kind, 0, 5, 33)
    case(f"fully_connected_{kind}_relu", 9, [x, w, bias(b, x, w, 5)], [y], (8, {0: ("i8", 1)}), version=7 if kind == "i16" else 4)
OLD = weights("u8", 0, 4, 10)  # old converters wrote signed weights as unsigned bytes
case("fully_connected_hybrid_old", 9, [f(3, 10), OLD, noise(4)], [f(3, 4)], (8, {0: ("i8", 0)}), version=3)

# ---- other operators on integers

for dtype in ("i8", "u8", "i16"):
    image = q(dtype, 1, 7, 6, 3)
    for name, code in [("average_pool", 1), ("max_pool", 17)]:
        case(f"{name}_{dtype}_relu6", code, [image], [q(dtype, 1, 4, 6, 3)], (5, {0: ("i8", 0), 1: ("i32", 1), 2: ("i32", 2), 3: ("i32", 3), 4: ("i32", 2), 5: ("i8", 3)}),
             version={"i8": 2, "u8": 1, "i16": 3}[dtype])
    for name, code, option in [("add", 0, 11), ("mul", 18, 21), ("sub", 41, 28)]:
        options = {0: ("i8", 1), 1: ("u8", 0)} if dtype == "i16" and code != 18 else {0: ("i8", 1)}
        case(f"{name}_{dtype}_rows", code, [q(dtype, 2, 3, 4), q(dtype, 4, scale=STEP[dtype] * 1.7)], [q(dtype, 2, 3, 4, scale=STEP[dtype] * 3)], (option, options),
             version={"i8": 2, "u8": 1, "i16": 3}[dtype])
    case(f"mean_{dtype}_rows", 40, [q(dtype, 3, 5, 4), ints(1)], [q(dtype, 3, 4, scale=STEP[dtype] / 2)], (27, {0: ("u8", 0)}), version=2)
    if dtype != "i16":
        case(f"prelu_{dtype}", 54, [q(dtype, 1, 3, 2, 4), q(dtype, 1, 1, 4, data=[40, 90, 3, 100])], [q(dtype, 1, 3, 2, 4)])
case("mean_twice", 40, [f(4, 6), ints(0, 0)], [f(6)], (27, {0: ("u8", 0)}))
case("quantize_i32", 114, [Tensor("i32", [6], scale=0.001, zero=0)], [q("i8", 6)], low=-2000, high=2000, version=3)

# ---- recurrent


def narrow(tensors, places):
    """Some matrices in 8 bits."""
    for k in places:
        if tensors[k] is not None:
            step = max(abs(v) for v in tensors[k].data) / 127
            tensors[k] = Tensor("i8", tensors[k].shape, [round(v / step) for v in tensors[k].data], scale=step, zero=0)
    return tensors


GATES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16]
for name, how in [("plain", {}), ("coupled", dict(cifg=True, peephole=True)), ("projected", dict(peephole=True, project=5)), ("normal", dict(norm=True, project=5, cifg=True))]:
    for shifted in (0, 1):
        given = narrow(lstm_inputs(f(2, 5, 3), 4, 3, **how), GATES)
        case(f"sequence_lstm_hybrid_{name}_{shifted}", 44, given, [f(2, 5, how.get("project", 4))],
             (71, {0: ("i8", 4), 1: ("f32", 0.8), 2: ("f32", 0.5), 3: ("u8", 0), 4: ("u8", shifted)}), version=3)
both = [f(2, 5, 3), noise(4, 3), noise(4, 4, seed=8), noise(4, seed=9), f(2, 4, variable=True, name="a"), noise(6, 3, seed=10), noise(6, 6, seed=11), noise(6, seed=12),
        f(2, 6, variable=True, name="b"), f(2, 5, 3), noise(4, 3, seed=13), noise(6, 3, seed=14)]
case("bidirectional_rnn_second", 46, both, [f(2, 5, 10)], (70, {0: ("u8", 0), 1: ("i8", 4), 2: ("u8", 1)}))
forth, back = lstm_inputs(f(1, 5, 3), 4, 3), lstm_inputs(f(1, 5, 3), 4, 3, seed=60)
back[18].name, back[19].name = "back_h", "back_c"
second = [f(1, 5, 3), *(noise(4, 3, seed=90 + k) for k in range(8))]
case("bidirectional_lstm_second", 52, [*forth[:18], *back[1:18], forth[18], forth[19], back[18], back[19], *second], [f(1, 5, 8)],
     (69, {0: ("i8", 4), 1: ("f32", 0.0), 2: ("f32", 0.0), 3: ("u8", 1), 4: ("u8", 0)}))

# ---- boxes

BOXES = [0.0, 0.0, 1.0, 1.0, 0.0, 0.2, 1.0, 1.2, 0.1, 0.4, 1.0, 1.3, 2.0, 2.0, 3.0, 3.0, 2.1, 2.1, 3.0, 3.0]
for name, sigma in [("soft", 0.5), ("hard", 0.0)]:
    case(f"non_max_suppression_v5_{name}", 121, [f(5, 4), f(5), one(4), one(0.75, "f32"), one(0.1, "f32"), one(sigma, "f32")], [i(4), f(4), Tensor("i32", [])],
         given={0: BOXES, 1: [0.9, 0.85, 0.6, 0.5, 0.45]})
for name, regular in [("fast", 0), ("regular", 1)]:
    options = flex(use_regular_nms=regular, **{**DETECT, "max_classes_per_detection": 2})
    case(f"detection_{name}_of_two", 32, [f(1, 3, 4), f(1, 3, 3), ANCHORS], [f(1, 4, 4), f(1, 4), f(1, 4), f(1)],
         custom="TFLite_Detection_PostProcess", custom_options=options, given={0: [0.0] * 12, 1: [0.0, 0.9, 0.2, 0.0, 0.8, 0.05, 0.0, 0.3, 0.6]})
