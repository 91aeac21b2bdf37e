"""Small TensorFlow Lite models, one for each operator and its variants: case name -> (graphs, input values).

Answers come from TensorFlow Lite where it can run them (answers.json, see run.py), else from `EXPECT` below.
"""
import math
import random
import struct

from writer import Graph, Op, Tensor

CASES = {}
EXPECT = {}  # by case: outputs, written by hand from the definition of the operator


def values(t, low=-2.0, high=2.0, seed=1):
    rng, count = random.Random(seed), 1
    for d in t.shape:
        count *= d
    if t.dtype in ("f32", "f64"):
        return [struct.unpack("f", struct.pack("f", rng.uniform(low, high)))[0] for _ in range(count)]
    if t.dtype == "bool":
        return [rng.randrange(2) for _ in range(count)]
    if t.dtype in ("i8", "u8", "i16") and t.scale:
        least, most = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767)}[t.dtype]
        return [rng.randint(least, most) for _ in range(count)]
    return [rng.randint(int(low), int(high)) for _ in range(count)]


def case(name, code, inputs, outputs, options=None, given=None, expect=None, graphs=(), version=1, low=-2.0, high=2.0, **more):
    """Inputs without data are inputs of the model."""
    free = [t for t in inputs if t is not None and t.data is None and not t.variable and t.dtype != "resource"]
    main = Graph([Op(code, inputs, outputs, options, version=version, **more)], free, outputs)
    given = given or {}
    CASES[name] = ([main, *graphs], [given.get(i, values(t, low, high, 1 + i)) for i, t in enumerate(free)])
    if expect is not None:
        EXPECT[name] = expect


def f(*shape, data=None, **more):
    return Tensor("f32", shape, data, **more)


def i(*shape, data=None, dtype="i32", **more):
    return Tensor(dtype, shape, data, **more)


def ints(*data, dtype="i32"):
    return Tensor(dtype, [len(data)], list(data))


def one(data, dtype="i32"):
    return Tensor(dtype, [], [data])


def q8(*shape, scale=0.02, zero=3, data=None, dtype="i8", **more):
    return Tensor(dtype, shape, data, scale=scale, zero=zero, **more)


def noise(*shape, seed=7, low=-1.0, high=1.0, dtype="f32", **more):
    t = Tensor(dtype, shape, **more)
    t.data = values(t, low, high, seed)
    return t


def act(number):
    return {0: ("i8", number)}


# ---- pointwise

for name, code, low, high in [("abs", 101, -2, 2), ("ceil", 104, -2, 2), ("cos", 108, -4, 4), ("exp", 47, -3, 3), ("floor", 8, -2, 2), ("log", 73, 0.1, 4),
                              ("neg", 59, -2, 2), ("round", 116, -4, 4), ("rsqrt", 76, 0.1, 4), ("sin", 66, -4, 4), ("sqrt", 75, 0, 4), ("square", 92, -2, 2),
                              ("tanh", 28, -3, 3), ("logistic", 14, -4, 4), ("elu", 111, -3, 3), ("relu", 19, -2, 2), ("relu_n1_to_1", 20, -2, 2),
                              ("relu6", 21, -3, 9), ("hard_swish", 117, -5, 5)]:
    case(name, code, [f(2, 3, 4)], [f(2, 3, 4)], low=low, high=high)
case("round_halves", 116, [f(6)], [f(6)], given={0: [0.5, 1.5, 2.5, -0.5, -1.5, -2.5]})
case("relu_0_to_1", 152, [f(5)], [f(5)], given={0: [-1.0, 0.25, 1.0, 2.0, 0.0]}, expect=[[0.0, 0.25, 1.0, 1.0, 0.0]])
case("sign", 158, [f(4)], [f(4)], given={0: [-2.5, 0.0, 3.0, -0.0]}, expect=[[-1.0, 0.0, 1.0, 0.0]])
case("leaky_relu", 98, [f(2, 5)], [f(2, 5)], (75, {0: ("f32", 0.1)}))
case("gelu", 150, [f(2, 5)], [f(2, 5)], (116, {0: ("u8", 0)}))
case("gelu_tanh", 150, [f(2, 5)], [f(2, 5)], (116, {0: ("u8", 1)}))
case("logical_not", 87, [i(2, 3, dtype="bool")], [i(2, 3, dtype="bool")])
case("zeros_like", 93, [f(2, 3)], [f(2, 3)])
case("prelu", 54, [f(1, 2, 3, 4), noise(1, 1, 4)], [f(1, 2, 3, 4)])
case("abs_int8", 101, [q8(2, 5)], [q8(2, 5, scale=0.03, zero=-128)])
case("tanh_int8", 28, [q8(2, 20)], [q8(2, 20, scale=1 / 128, zero=0)])
case("logistic_int8", 14, [q8(2, 20, scale=0.05)], [q8(2, 20, scale=1 / 256, zero=-128)])
case("logistic_uint8", 14, [q8(2, 20, scale=0.05, dtype="u8", zero=128)], [q8(2, 20, scale=1 / 256, zero=0, dtype="u8")])
case("relu_int8", 19, [q8(2, 20)], [q8(2, 20, scale=0.01, zero=-128)])
case("leaky_relu_int8", 98, [q8(2, 20)], [q8(2, 20, scale=0.015)], (75, {0: ("f32", 0.2)}))
case("hard_swish_int8", 117, [q8(2, 20, scale=0.05, zero=0)], [q8(2, 20, scale=0.03, zero=-116)])

for name, code, opt in [("add", 0, 11), ("sub", 41, 28), ("mul", 18, 21), ("div", 42, 29)]:
    case(name, code, [f(2, 3), f(2, 3)], [f(2, 3)], (opt, act(0)))
    case(name + "_relu", code, [f(2, 1, 4), f(3, 1)], [f(2, 3, 4)], (opt, act(1)))
    if name != "div":
        case(name + "_int8", code, [q8(2, 30), q8(2, 30, scale=0.03, zero=-5)], [q8(2, 30, scale=0.06, zero=1)], (opt, act(0)), version=2)
    case(name + "_i32", code, [i(2, 6), i(6, data=[1, 2, 3, -4, 5, 6])], [i(2, 6)], (opt, act(0)), low=-9, high=9)
case("add_int8_relu6", 0, [q8(2, 30, scale=0.05), q8(2, 30, scale=0.05)], [q8(2, 30, scale=0.06, zero=-20)], (11, act(3)), version=2)
case("add_uint8", 0, [q8(2, 30, dtype="u8", zero=120), q8(2, 30, dtype="u8", zero=130, scale=0.05)], [q8(2, 30, dtype="u8", scale=0.07, zero=128)], (11, act(0)))
case("add_int16", 0, [q8(2, 30, dtype="i16", zero=0, scale=1e-4), q8(2, 30, dtype="i16", zero=0, scale=2e-4)], [q8(2, 30, dtype="i16", scale=3e-4, zero=0)],
     (11, {0: ("i8", 0), 1: ("u8", 0)}), version=3)
case("pow", 78, [f(5), f(5)], [f(5)], low=0.2)
case("maximum", 55, [f(2, 3), f(3)], [f(2, 3)])
case("minimum", 57, [f(2, 3), f(3)], [f(2, 3)])
case("maximum_int8", 55, [q8(2, 9), q8(2, 9)], [q8(2, 9)], version=2)
case("floor_div", 90, [f(8), f(8)], [f(8)], low=0.5, high=9)
case("floor_div_i32", 90, [i(6), ints(2, -3, 4, 5, -2, 3)], [i(6)], low=-9, high=9)
case("floor_mod", 95, [f(6), f(6)], [f(6)], given={0: [5.5, -5.5, 5.5, -5.5, 4.0, 0.0], 1: [2.0, 2.0, -2.0, -2.0, 2.0, 3.0]})
case("floor_mod_i32", 95, [i(6), ints(2, -3, 4, 5, -2, 3)], [i(6)], low=-9, high=9)
case("squared_difference", 99, [f(2, 3), f(3)], [f(2, 3)])
case("squared_difference_i32", 99, [i(2, 3), i(2, 3)], [i(2, 3)], low=-9, high=9)
case("atan2", 156, [f(6), f(6)], [f(6)], given={0: [1.0, 1.0, -1.0, -1.0, 2.0, 0.0], 1: [1.0, -1.0, 1.0, -1.0, 0.0, -3.0]},
     expect=[[0.7853982, 2.3561945, -0.7853982, -2.3561945, 1.5707964, 3.1415927]])
case("bitwise_xor", 160, [i(4), i(4)], [i(4)], given={0: [1, 6, -1, 12], 1: [3, 5, 7, 10]}, expect=[[2, 3, -8, 6]])
case("right_shift", 161, [i(4), i(4)], [i(4)], given={0: [16, -5, 7, -1], 1: [2, 1, 0, 31]}, expect=[[4, -3, 7, -1]])
for name, code, opt in [("less", 58, 41), ("greater", 61, 44), ("greater_equal", 62, 45), ("less_equal", 63, 46), ("equal", 71, 53), ("not_equal", 72, 54)]:
    case(name, code, [i(2, 6), i(6)], [i(2, 6, dtype="bool")], low=-2, high=2)
case("less_int8", 58, [q8(2, 9), q8(2, 9, scale=0.05)], [i(2, 9, dtype="bool")], version=2)
case("logical_and", 86, [i(6, dtype="bool"), i(6, dtype="bool")], [i(6, dtype="bool")])
case("logical_or", 84, [i(6, dtype="bool"), i(6, dtype="bool")], [i(6, dtype="bool")])
case("add_n", 106, [f(2, 3), f(2, 3), f(2, 3)], [f(2, 3)])
case("select", 64, [i(2, 3, dtype="bool"), f(2, 3), f(2, 3)], [f(2, 3)])
case("select_rows", 64, [i(2, dtype="bool"), f(2, 3), f(2, 3)], [f(2, 3)])
case("select_v2", 123, [i(2, 1, dtype="bool"), f(3), f(2, 3)], [f(2, 3)])
case("fake_quant", 80, [f(3, 7)], [f(3, 7)], (58, {0: ("f32", -1.3), 1: ("f32", 1.7), 2: ("i32", 8)}))
for name, to in [("i32", "i32"), ("bool", "bool"), ("u8", "u8"), ("i64", "i64")]:
    case("cast_" + name, 53, [f(6)], [Tensor(to, [6])], given={0: [0.0, 1.5, 2.9, 3.0, 100.0, 0.4]})
case("cast_f32", 53, [i(6)], [f(6)])
case("bitcast", 159, [f(3)], [i(3)], given={0: [1.0, -2.0, 0.0]}, expect=[[1065353216, -1073741824, 0]])

# ---- types

case("dequantize_int8", 6, [q8(2, 30)], [f(2, 30)], version=2)
case("dequantize_uint8", 6, [q8(2, 30, dtype="u8", zero=100)], [f(2, 30)])
case("dequantize_f16", 6, [Tensor("f16", [4], [1.0, -2.5, 0.125, 3.0])], [f(4)], version=3)
case("quantize_int8", 114, [f(2, 30)], [q8(2, 30)])
case("quantize_uint8", 114, [f(2, 30)], [q8(2, 30, dtype="u8", zero=128)])
case("quantize_again", 114, [q8(2, 30)], [q8(2, 30, scale=0.04, zero=-7)])
case("quantize_u8_from_i8", 114, [q8(2, 30)], [q8(2, 30, zero=131, dtype="u8")])

# ---- convolutions


def conv(padding=0, stride=1, activation=0, dilation=1):
    return (1, {0: ("i8", padding), 1: ("i32", stride), 2: ("i32", stride), 3: ("i8", activation), 4: ("i32", dilation), 5: ("i32", dilation)})


def depth(padding=0, stride=1, activation=0, multiplier=1, dilation=1):
    return (2, {0: ("i8", padding), 1: ("i32", stride), 2: ("i32", stride), 3: ("i32", multiplier), 4: ("i8", activation), 5: ("i32", dilation), 6: ("i32", dilation)})


case("conv_same", 3, [f(1, 6, 7, 3), noise(4, 3, 3, 3), noise(4)], [f(1, 6, 7, 4)], conv(0, 2, 1))
case("conv_valid", 3, [f(2, 6, 7, 3), noise(4, 3, 2, 3), noise(4)], [f(2, 4, 6, 4)], conv(1, 1, 3))
case("conv_dilated", 3, [f(1, 9, 9, 2), noise(3, 3, 3, 2), noise(3)], [f(1, 9, 9, 3)], conv(0, 1, 0, 2), version=2)
case("conv_no_bias", 3, [f(1, 1, 1, 2), f(1, 1, 1, 2, data=[3.0, 4.0])], [f(1, 1, 1, 1)], conv(), given={0: [1.0, 2.0]}, expect=[[11.0]])
case("conv_grouped", 3, [f(1, 1, 1, 4), f(2, 1, 1, 2, data=[1.0] * 4), f(2, data=[0.0, 0.5])], [f(1, 1, 1, 2)], conv(), version=6,
     given={0: [1.0, 2.0, 3.0, 4.0]}, expect=[[3.0, 7.5]])
I8W = dict(dtype="i8", low=-127, high=127)
case("conv_int8", 3, [q8(1, 5, 5, 3), noise(4, 3, 3, 3, scale=[0.01, 0.02, 0.005, 0.03], zero=[0] * 4, **I8W),
                      Tensor("i32", [4], [100, -50, 20, 0], scale=[0.0002, 0.0004, 0.0001, 0.0006], zero=[0] * 4)], [q8(1, 5, 5, 4, scale=0.1, zero=-4)], conv(), version=3)
case("conv_int8_relu", 3, [q8(1, 5, 5, 3), noise(4, 3, 3, 3, scale=[0.01, 0.02, 0.005, 0.03], zero=[0] * 4, **I8W),
                           Tensor("i32", [4], [100, -50, 20, 0], scale=[0.0002, 0.0004, 0.0001, 0.0006], zero=[0] * 4)], [q8(1, 3, 3, 4, scale=0.1, zero=-100)], conv(1, 1, 1), version=3)
case("conv_uint8", 3, [q8(1, 5, 5, 3, dtype="u8", zero=120), noise(4, 3, 3, 3, dtype="u8", low=0, high=255, scale=0.01, zero=110),
                       Tensor("i32", [4], [100, -50, 20, 0], scale=0.0002, zero=0)], [q8(1, 5, 5, 4, dtype="u8", scale=0.1, zero=128)], conv())
case("conv_hybrid", 3, [f(1, 5, 5, 3), noise(4, 3, 3, 3, scale=[0.01, 0.02, 0.005, 0.03], zero=[0] * 4, **I8W), noise(4)], [f(1, 5, 5, 4)], conv(), version=5)
case("depthwise", 4, [f(1, 6, 7, 3), noise(1, 3, 3, 3), noise(3)], [f(1, 6, 7, 3)], depth(0, 1, 3))
case("depthwise_many", 4, [f(1, 6, 7, 3), noise(1, 3, 3, 6), noise(6)], [f(1, 3, 4, 6)], depth(0, 2, 0, 2))
case("depthwise_dilated", 4, [f(1, 9, 9, 3), noise(1, 3, 3, 3), noise(3)], [f(1, 9, 9, 3)], depth(0, 1, 0, 1, 2), version=2)
case("depthwise_int8", 4, [q8(1, 6, 6, 4), noise(1, 3, 3, 4, scale=[0.01, 0.02, 0.005, 0.03], zero=[0] * 4, axis=3, **I8W),
                           Tensor("i32", [4], [100, -50, 20, 0], scale=[0.0002, 0.0004, 0.0001, 0.0006], zero=[0] * 4)], [q8(1, 6, 6, 4, scale=0.05, zero=-4)], depth(), version=3)
for padding, size, name in [(0, 8, "same"), (1, 9, "valid")]:
    case("transpose_conv_" + name, 67, [ints(1, size, size, 3), noise(3, 3, 3, 2), f(1, 4, 4, 2)], [f(1, size, size, 3)], (49, {0: ("i8", padding), 1: ("i32", 2), 2: ("i32", 2)}))
case("transpose_conv_bias", 67, [ints(1, 8, 8, 3), noise(3, 4, 4, 2), f(1, 4, 4, 2), noise(3)], [f(1, 8, 8, 3)], (49, {0: ("i8", 0), 1: ("i32", 2), 2: ("i32", 2)}), version=3)
case("transpose_conv_int8", 67, [ints(1, 8, 8, 3), noise(3, 3, 3, 2, scale=[0.01, 0.02, 0.03], zero=[0] * 3, **I8W), q8(1, 4, 4, 2)], [q8(1, 8, 8, 3, scale=0.1, zero=2)],
     (49, {0: ("i8", 0), 1: ("i32", 2), 2: ("i32", 2)}))
CONV3 = {0: ("i8", 0), 1: ("i32", 1), 2: ("i32", 2), 3: ("i32", 1), 4: ("i8", 0), 5: ("i32", 1), 6: ("i32", 1), 7: ("i32", 1)}
case("conv_3d", 132, [f(1, 4, 5, 6, 2), noise(2, 3, 3, 2, 4), noise(4)], [f(1, 4, 5, 3, 4)], (106, CONV3))
case("conv_3d_transpose", 141, [ints(1, 4, 5, 6, 3), noise(2, 3, 3, 3, 2), f(1, 4, 5, 3, 2)], [f(1, 4, 5, 6, 3)], (106, CONV3))


def pool(padding=0, stride=2, size=3, activation=0):
    return (5, {0: ("i8", padding), 1: ("i32", stride), 2: ("i32", stride), 3: ("i32", size), 4: ("i32", size), 5: ("i8", activation)})


for name, code in [("average_pool", 1), ("max_pool", 17), ("l2_pool", 12)]:
    case(name, code, [f(1, 7, 6, 3)], [f(1, 4, 3, 3)], pool())
    case(name + "_valid", code, [f(1, 7, 6, 3)], [f(1, 3, 2, 3)], pool(1, 2, 3, 1))
    if code != 12:
        case(name + "_int8", code, [q8(1, 7, 6, 3)], [q8(1, 4, 3, 3)], pool(), version=2)
        case(name + "_uint8", code, [q8(1, 7, 6, 3, dtype="u8", zero=90)], [q8(1, 4, 3, 3, dtype="u8", zero=90)], pool(0, 2, 3, 1))

# ---- products

FC = (8, {0: ("i8", 0)})
case("fully_connected", 9, [f(3, 5), noise(4, 5), noise(4)], [f(3, 4)], (8, act(1)))
case("fully_connected_flat", 9, [f(3, 2, 5), noise(4, 10), None], [f(3, 4)], FC)
case("fully_connected_keep", 9, [f(3, 2, 5), noise(4, 5), noise(4)], [f(3, 2, 4)], (8, {0: ("i8", 0), 2: ("u8", 1)}), version=5)
case("fully_connected_int8", 9, [q8(3, 8), noise(4, 8, scale=0.02, zero=0, **I8W), Tensor("i32", [4], [500, -50, 20, 0], scale=0.0004, zero=0)], [q8(3, 4, scale=0.1, zero=1)], FC, version=4)
case("fully_connected_uint8", 9, [q8(3, 8, dtype="u8", zero=110), noise(4, 8, dtype="u8", low=0, high=255, scale=0.02, zero=120),
                                  Tensor("i32", [4], [500, -50, 20, 0], scale=0.0004, zero=0)], [q8(3, 4, scale=0.1, zero=128, dtype="u8")], FC)
case("fully_connected_hybrid", 9, [f(3, 40), noise(4, 40, scale=0.02, zero=0, **I8W), noise(4)], [f(3, 4)], FC, version=3)
case("fully_connected_shifted", 9, [f(3, 40), noise(4, 40, scale=0.02, zero=0, **I8W), noise(4)], [f(3, 4)], (8, {0: ("i8", 0), 3: ("u8", 1)}), version=9)
case("batch_matmul", 126, [f(2, 3, 4), f(2, 4, 5)], [f(2, 3, 5)], (101, {0: ("u8", 0)}))
case("batch_matmul_adj", 126, [f(2, 4, 3), f(5, 4)], [f(2, 3, 5)], (101, {0: ("u8", 1), 1: ("u8", 1)}))
case("batch_matmul_int8", 126, [q8(2, 3, 8), q8(2, 8, 5, scale=0.03)], [q8(2, 3, 5, scale=0.2, zero=0)], (101, {0: ("u8", 0)}), version=2)
case("embedding_lookup", 7, [i(3), noise(6, 4)], [f(3, 4)], given={0: [5, 0, 2]})
case("embedding_lookup_sparse", 33, [ints(1, 3, 0), i(3, 2, data=[0, 0, 2, 0, 2, 1]), ints(3, 2), Tensor("f32", [3], [1.0, 2.0, 4.0]), f(4, 3, 2)], [f(3, 3, 2)], (20, {0: ("i8", 1)}))

# ---- shapes

case("reshape", 22, [f(2, 6), ints(3, -1)], [f(3, 4)], (17, {0: ("ints", [3, -1])}))
case("reshape_option", 22, [f(2, 6)], [f(4, 3)], (17, {0: ("ints", [4, 3])}))
case("reshape_int8", 22, [q8(2, 6), ints(3, 4)], [q8(3, 4)])
case("squeeze", 43, [f(1, 3, 1, 2)], [f(3, 2)])
case("squeeze_one", 43, [f(1, 3, 1, 2)], [f(1, 3, 2)], (30, {0: ("ints", [-2])}))
case("expand_dims", 70, [f(2, 3), one(-1)], [f(2, 3, 1)])
case("transpose", 39, [f(2, 3, 4), ints(2, 0, 1)], [f(4, 2, 3)])
case("shape", 77, [f(2, 3, 4)], [i(3)], (55, {0: ("i8", 2)}))
case("rank", 110, [f(2, 3, 4)], [Tensor("i32", [])])
case("concatenation", 2, [f(2, 3), f(2, 2)], [f(2, 5)], (10, {0: ("i32", -1), 1: ("i8", 0)}))
case("concatenation_int8", 2, [q8(2, 3), q8(2, 2)], [q8(2, 5)], (10, {0: ("i32", 1), 1: ("i8", 0)}), version=2)
case("concatenation_uint8", 2, [q8(2, 3, dtype="u8", zero=100), q8(2, 2, scale=0.015, zero=120, dtype="u8")], [q8(2, 5, dtype="u8", zero=100)], (10, {0: ("i32", 1), 1: ("i8", 0)}))
case("pack", 83, [f(2, 3), f(2, 3)], [f(2, 2, 3)], (59, {0: ("i32", 2), 1: ("i32", 1)}))
case("unpack", 88, [f(2, 3)], [f(2), f(2), f(2)], (64, {0: ("i32", 3), 1: ("i32", 1)}))
case("split", 49, [one(1), f(2, 6)], [f(2, 3), f(2, 3)], (35, {0: ("i32", 2)}))
case("split_v", 102, [f(2, 6), ints(1, -1, 2), one(1)], [f(2, 1), f(2, 3), f(2, 2)], (79, {0: ("i32", 3)}))
case("slice", 65, [f(4, 5), ints(1, 2), ints(2, -1)], [f(2, 3)])


def strided(begin=0, end=0, ellipsis=0, new=0, shrink=0):
    return (32, {0: ("i32", begin), 1: ("i32", end), 2: ("i32", ellipsis), 3: ("i32", new), 4: ("i32", shrink)})


case("strided_slice", 45, [f(4, 5, 6), ints(1, 0, -1), ints(3, 5, 0), ints(1, 2, -2)], [f(2, 3, 3)], strided())
case("strided_slice_masks", 45, [f(4, 5, 6), ints(9, 1, 2), ints(0, 4, 9), ints(1, 1, 1)], [f(4, 3, 4)], strided(begin=1, end=5))
case("strided_slice_shrink", 45, [f(4, 5, 6), ints(-1, 0, 2), ints(0, 5, 3), ints(1, 1, 1)], [f(5)], strided(shrink=5))
case("strided_slice_new", 45, [f(4, 5), ints(0, 0, 1), ints(0, 2, 4), ints(1, 1, 1)], [f(1, 2, 3)], strided(new=1), version=1)
case("strided_slice_ellipsis", 45, [f(2, 3, 4), ints(0, 1), ints(0, 3), ints(1, 1)], [f(2, 3, 2)], strided(ellipsis=1))
case("strided_slice_reverse", 45, [f(5), ints(0), ints(0), ints(-1)], [f(5)], strided(begin=1, end=1))
case("pad", 34, [f(1, 3, 4, 2), i(4, 2, data=[0, 0, 1, 2, 0, 1, 0, 0])], [f(1, 6, 5, 2)])
case("pad_int8", 34, [q8(2, 3), i(2, 2, data=[1, 0, 0, 2])], [q8(3, 5)], version=2)
case("pad_v2", 60, [f(2, 3), i(2, 2, data=[1, 0, 0, 2]), Tensor("f32", [], [7.5])], [f(3, 5)])
case("mirror_pad", 100, [f(3, 4), i(2, 2, data=[1, 2, 2, 1])], [f(6, 7)], (77, {0: ("i8", 0)}))
case("mirror_pad_symmetric", 100, [f(3, 4), i(2, 2, data=[1, 2, 2, 1])], [f(6, 7)], (77, {0: ("i8", 1)}))
case("tile", 69, [f(2, 3), ints(2, 1)], [f(4, 3)])
case("broadcast_to", 130, [f(2, 1), ints(3, 2, 4)], [f(3, 2, 4)], version=2)
case("broadcast_args", 145, [ints(3, 1, 4), i(2)], [i(3)], given={0: [5, 1]})
case("fill", 94, [ints(2, 3), one(2.5, "f32")], [f(2, 3)])
case("range", 96, [one(1), one(11), Tensor("i32", [])], [i(4)], given={0: [3]})
case("reverse_v2", 105, [f(2, 3, 4), ints(1)], [f(2, 3, 4)])
case("reverse_sequence", 112, [f(3, 4, 2), ints(2, 4, 1)], [f(3, 4, 2)], (87, {0: ("i32", 1), 1: ("i32", 0)}))
case("gather", 36, [f(4, 3), i(2, 2, data=[3, 0, 1, 1])], [f(2, 2, 3)], (23, {0: ("i32", 0)}))
case("gather_axis", 36, [f(2, 5, 3), ints(4, 0)], [f(2, 2, 3)], (23, {0: ("i32", 1)}))
case("gather_batch", 36, [f(2, 5, 3), i(2, 2, data=[4, 0, 1, 1])], [f(2, 2, 3)], (23, {0: ("i32", 1), 1: ("i32", 1)}), version=5)
case("gather_int8", 36, [q8(4, 3), ints(3, 1)], [q8(2, 3)], (23, {0: ("i32", 0)}), version=2)
case("gather_nd", 107, [f(3, 4, 2), i(2, 2, data=[2, 1, 0, 3])], [f(2, 2)])
case("scatter_nd", 122, [i(3, 1, data=[4, 1, 4]), f(3, 2), ints(6, 2)], [f(6, 2)])
case("sparse_to_dense", 68, [i(3, 2, data=[0, 1, 2, 0, 2, 3]), ints(3, 4), f(3), one(-1.0, "f32")], [f(3, 4)], (50, {}))
case("dynamic_update_slice", 151, [f(4, 5), f(2, 5), i(2)], [f(4, 5)], given={2: [1, 0]})
case("dynamic_update_slice_far", 151, [f(4, 5), f(2, 2), i(2)], [f(4, 5)], given={2: [3, 1]})
case("segment_sum", 125, [f(4, 2), ints(0, 0, 1, 2)], [f(3, 2)])
for name, code, expect in [("sum", 155, [4.0, 6.0, 5.0, 6.0]), ("prod", 153, [3.0, 8.0, 5.0, 6.0]), ("max", 154, [3.0, 4.0, 5.0, 6.0]), ("min", 157, [1.0, 2.0, 5.0, 6.0])]:
    case("unsorted_segment_" + name, code, [f(3, 2), ints(1, 1, 0), one(2)], [f(2, 2)], given={0: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, expect=[expect[2:] + expect[:2]])
case("depth_to_space", 5, [f(1, 2, 3, 8)], [f(1, 4, 6, 2)], (94, {0: ("i32", 2)}))
case("space_to_depth", 26, [f(1, 4, 6, 2)], [f(1, 2, 3, 8)], (19, {0: ("i32", 2)}))
case("space_to_batch", 38, [f(1, 4, 5, 2), ints(2, 2), i(2, 2, data=[0, 0, 0, 1])], [f(4, 2, 3, 2)])
case("batch_to_space", 37, [f(4, 2, 3, 2), ints(2, 2), i(2, 2, data=[0, 0, 0, 1])], [f(1, 4, 5, 2)])
case("hashtable_lookup", 10, [i(3), ints(1, 4, 7), f(3, 2)], [f(3, 2), i(3, dtype="u8")], given={0: [4, 5, 7]})
case("densify", 124, [Tensor("f32", [2, 3], [1.0, 2.0, 3.0], sparsity={0: ("ints", [0, 1]), 2: ("tables", [
    {0: ("i8", 0), 1: ("i32", 2)}, {0: ("i8", 1), 2: ("u8", 1), 3: ("table", {0: ("ints", [0, 1, 3])}), 4: ("u8", 1), 5: ("table", {0: ("ints", [2, 0, 1])})}])})], [f(2, 3)])

# ---- reductions

for name, code in [("mean", 40), ("sum", 74), ("reduce_prod", 81), ("reduce_max", 82), ("reduce_min", 89)]:
    case(name, code, [f(2, 3, 4), ints(1)], [f(2, 4)], (27, {0: ("u8", 0)}))
    case(name + "_keep", code, [f(2, 3, 4), ints(0, -1)], [f(1, 3, 1)], (27, {0: ("u8", 1)}))
case("mean_image", 40, [f(1, 5, 4, 3), ints(1, 2)], [f(1, 3)], (27, {0: ("u8", 0)}))
case("mean_image_int8", 40, [q8(1, 5, 4, 3), ints(1, 2)], [q8(1, 3, scale=0.015, zero=0)], (27, {0: ("u8", 0)}), version=2)
case("reduce_max_int8", 82, [q8(2, 9), ints(1)], [q8(2)], (27, {0: ("u8", 0)}), version=2)
case("sum_int8", 74, [q8(2, 9), ints(1)], [q8(2, scale=0.1, zero=0)], (27, {0: ("u8", 0)}), version=2)
case("reduce_any", 91, [i(3, 4, dtype="bool"), ints(1)], [i(3, dtype="bool")], (27, {0: ("u8", 0)}))
case("reduce_all", 140, [i(3, 2, dtype="bool"), ints(1)], [i(3, dtype="bool")], (27, {0: ("u8", 0)}))
case("softmax", 25, [f(3, 7)], [f(3, 7)], (9, {0: ("f32", 1.0)}))
case("softmax_beta", 25, [f(1, 2, 3, 5)], [f(1, 2, 3, 5)], (9, {0: ("f32", 0.5)}))
case("softmax_int8", 25, [q8(3, 30, scale=0.1)], [q8(3, 30, scale=1 / 256, zero=-128)], (9, {0: ("f32", 1.0)}), version=2)
case("log_softmax", 50, [f(3, 7)], [f(3, 7)])
case("l2_normalization", 11, [f(2, 3, 4)], [f(2, 3, 4)], (12, act(0)))
case("local_response_normalization", 13, [f(1, 2, 3, 8)], [f(1, 2, 3, 8)], (13, {0: ("i32", 2), 1: ("f32", 1.0), 2: ("f32", 0.5), 3: ("f32", 0.75)}))
case("arg_max", 56, [f(3, 7), one(1)], [i(3)], (40, {0: ("i8", 2)}))
case("arg_min", 79, [f(3, 7), one(-1)], [i(3, dtype="i64")], (57, {0: ("i8", 4)}))
case("topk_v2", 48, [f(2, 9), one(3)], [f(2, 3), i(2, 3)])
case("where", 109, [i(3, 4, dtype="bool")], [i(4, 2, dtype="i64")])
case("unique", 103, [i(6)], [i(4), i(6)], (80, {0: ("i8", 2)}), given={0: [5, 2, 5, 7, 2, 1]})
case("cumsum", 128, [f(3, 4), one(1)], [f(3, 4)], (102, {0: ("u8", 0), 1: ("u8", 0)}))
case("cumsum_exclusive", 128, [f(3, 4), one(1)], [f(3, 4)], (102, {0: ("u8", 1), 1: ("u8", 1)}))
case("one_hot", 85, [i(4), one(3), one(2.0, "f32"), one(-1.0, "f32")], [f(4, 3)], (61, {0: ("i32", -1)}), given={0: [0, 2, -1, 5]})
case("matrix_diag", 113, [f(2, 3)], [f(2, 3, 3)])
case("matrix_set_diag", 115, [f(2, 3, 4), f(2, 3)], [f(2, 3, 4)])
case("bucketize", 147, [f(6)], [i(6)], (115, {0: ("floats", [-1.0, 0.5, 1.0])}), given={0: [-2.0, -1.0, 0.0, 0.5, 0.9, 3.0]})

# ---- images

for name, align, half in [("", 0, 0), ("_align", 1, 0), ("_half", 0, 1)]:
    case("resize_bilinear" + name, 23, [f(1, 4, 5, 2), ints(7, 8)], [f(1, 7, 8, 2)], (15, {2: ("u8", align), 3: ("u8", half)}), version=3)
    case("resize_nearest" + name, 97, [f(1, 4, 5, 2), ints(7, 8)], [f(1, 7, 8, 2)], (74, {0: ("u8", align), 1: ("u8", half)}), version=3)
case("resize_bilinear_int8", 23, [q8(1, 4, 5, 2), ints(8, 10)], [q8(1, 8, 10, 2)], (15, {2: ("u8", 0), 3: ("u8", 1)}), version=3)
case("resize_nearest_int8", 97, [q8(1, 4, 5, 2), ints(8, 10)], [q8(1, 8, 10, 2)], (74, {0: ("u8", 0), 1: ("u8", 0)}), version=2)
case("non_max_suppression_v4", 120, [f(4, 4), f(4), one(3), one(0.5, "f32"), one(0.1, "f32")], [i(3), Tensor("i32", [])],
     given={0: [0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 2.0, 2.0, 3.0, 3.0, 5.0, 5.0, 6.0, 6.0], 1: [0.9, 0.8, 0.7, 0.05]})
case("non_max_suppression_v5", 121, [f(4, 4), f(4), one(3), one(0.5, "f32"), one(0.1, "f32"), one(0.0, "f32")], [i(3), f(3), Tensor("i32", [])],
     given={0: [0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 2.0, 2.0, 3.0, 3.0, 5.0, 5.0, 6.0, 6.0], 1: [0.9, 0.8, 0.7, 0.05]})

# ---- recurrent


def lstm_inputs(x, units, size, cifg=False, peephole=False, project=0, norm=False, seed=30):
    ws = [None if cifg and k == 0 else noise(units, size, seed=seed + k) for k in range(4)]
    rs = [None if cifg and k == 0 else noise(units, project or units, seed=seed + 4 + k) for k in range(4)]
    peep = [noise(units, seed=seed + 8 + k) if peephole and not (cifg and k == 0) else None for k in range(3)]
    bias = [None if cifg and k == 0 else noise(units, seed=seed + 12 + k) for k in range(4)]
    proj = [noise(project, units, seed=seed + 16), noise(project, seed=seed + 17)] if project else [None, None]
    batch = x.shape[0]
    states = [f(batch, project or units, variable=True, name="h"), f(batch, units, variable=True, name="c")]
    norms = [None if cifg and k == 0 else noise(units, seed=seed + 20 + k) for k in range(4)] if norm else []
    return [x, *ws, *rs, *peep, *bias, *proj, *states, *norms]


LSTM = {0: ("i8", 4), 1: ("f32", 0.0), 2: ("f32", 0.0)}
case("lstm", 16, lstm_inputs(f(2, 3), 4, 3), [f(2, 4)], (14, LSTM))
case("lstm_full", 16, lstm_inputs(f(2, 3), 4, 3, cifg=True, peephole=True, project=5, norm=True), [f(2, 5)], (14, {0: ("i8", 4), 1: ("f32", 1.5), 2: ("f32", 1.0)}))
case("sequence_lstm", 44, lstm_inputs(f(2, 5, 3), 4, 3), [f(2, 5, 4)], (71, {**LSTM, 3: ("u8", 0)}))
case("sequence_lstm_full", 44, lstm_inputs(f(2, 5, 3), 4, 3, peephole=True, project=6), [f(2, 5, 6)], (71, {0: ("i8", 4), 1: ("f32", 1.5), 2: ("f32", 1.0), 3: ("u8", 0)}))
case("rnn", 24, [f(2, 3), noise(4, 3), noise(4, 4, seed=8), noise(4, seed=9), f(2, 4, variable=True)], [f(2, 4)], (7, act(1)))
case("sequence_rnn", 35, [f(2, 5, 3), noise(4, 3), noise(4, 4, seed=8), noise(4, seed=9), f(2, 4, variable=True)], [f(2, 5, 4)], (31, {0: ("u8", 0), 1: ("i8", 4)}))
case("bidirectional_rnn", 46, [f(2, 5, 3), noise(4, 3), noise(4, 4, seed=8), noise(4, seed=9), f(2, 4, variable=True, name="a"), noise(4, 3, seed=10), noise(4, 4, seed=11),
                               noise(4, seed=12), f(2, 4, variable=True, name="b"), None, None, None], [f(2, 5, 8)], (70, {0: ("u8", 0), 1: ("i8", 4), 2: ("u8", 1)}))
BI = lstm_inputs(f(1, 5, 3), 4, 3)  # of two texts, TensorFlow Lite 2.9 mixes up what it keeps of the second
BACK = lstm_inputs(f(1, 5, 3), 4, 3, seed=60)
BACK[18].name, BACK[19].name = "back_h", "back_c"
case("bidirectional_lstm", 52, [*BI[:18], *BACK[1:18], BI[18], BI[19], BACK[18], BACK[19]] + [None] * 9, [f(1, 5, 8)], (69, {**LSTM, 3: ("u8", 1), 4: ("u8", 0)}))
case("svdf", 27, [f(2, 3), noise(8, 3), noise(8, 4, seed=8), noise(4, seed=9), f(2, 32, variable=True)], [f(2, 4)], (6, {0: ("i32", 2), 1: ("i8", 1)}))

# ---- flow


def branch(code, option):
    a, b, y = f(3), f(3), f(3)
    return Graph([Op(code, [a, b], [y], (option, act(0)))], [a, b], [y])


COND = Tensor("bool", [])
case("if_then", 118, [COND, f(3), f(3)], [f(3)], (92, {0: ("i32", 1), 1: ("i32", 2)}), given={0: [1]}, graphs=[branch(0, 11), branch(18, 21)])
COND = Tensor("bool", [])
case("if_else", 118, [COND, f(3), f(3)], [f(3)], (92, {0: ("i32", 1), 1: ("i32", 2)}), given={0: [0]}, graphs=[branch(0, 11), branch(18, 21)])


def loop_graphs():
    n, x, less = Tensor("i32", []), f(3), Tensor("bool", [])
    condition = Graph([Op(58, [n, one(4)], [less])], [n, x], [less])
    m, z, m2, z2 = Tensor("i32", []), f(3), Tensor("i32", []), f(3)
    body = Graph([Op(0, [m, one(1)], [m2], (11, act(0))), Op(18, [z, Tensor("f32", [], [1.5])], [z2], (21, act(0)))], [m, z], [m2, z2])
    return [condition, body]


case("while", 119, [Tensor("i32", []), f(3)], [Tensor("i32", []), f(3)], (93, {0: ("i32", 1), 1: ("i32", 2)}), given={0: [0]}, graphs=loop_graphs())

# ---- StableHLO: answers by hand

L = "longs"
case("hlo_add", 163, [f(3), f(3)], [f(3)], given={0: [1.0, 2.0, 3.0], 1: [0.5, 0.5, -1.0]}, expect=[[1.5, 2.5, 2.0]])
case("hlo_clamp", 168, [one(-1.0, "f32"), f(3), one(1.0, "f32")], [f(3)], given={0: [-5.0, 0.5, 3.0]}, expect=[[-1.0, 0.5, 1.0]])
case("hlo_remainder", 185, [i(4), i(4)], [i(4)], given={0: [7, -7, 7, -7], 1: [3, 3, -3, -3]}, expect=[[1, -1, 1, -1]])
case("hlo_cbrt", 208, [f(3)], [f(3)], given={0: [8.0, -27.0, 1.0]}, expect=[[2.0, -3.0, 1.0]])
case("hlo_shift_left", 207, [i(3), i(3)], [i(3)], given={0: [1, -3, 5], 1: [4, 1, 0]}, expect=[[16, -6, 5]])
case("hlo_reshape", 167, [f(2, 3)], [f(3, 2)], given={0: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, expect=[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
case("hlo_transpose", 202, [f(2, 3)], [f(3, 2)], (-17, {0: (L, [1, 0])}), given={0: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, expect=[[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]])
case("hlo_concatenate", 169, [f(1, 2), f(1, 1)], [f(1, 3)], (-1, {0: ("i64", 1)}), given={0: [1.0, 2.0], 1: [3.0]}, expect=[[1.0, 2.0, 3.0]])
case("hlo_broadcast_in_dim", 170, [f(2)], [f(2, 3)], (-2, {0: (L, [0])}), given={0: [1.0, 2.0]}, expect=[[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]])
case("hlo_slice", 172, [f(5)], [f(2)], (-3, {0: (L, [1]), 1: (L, [5]), 2: (L, [2])}), given={0: [0.0, 1.0, 2.0, 3.0, 4.0]}, expect=[[1.0, 3.0]])
case("hlo_pad", 195, [f(2), one(9.0, "f32")], [f(5)], (-10, {0: (L, [1]), 1: (L, [1]), 2: (L, [1])}), given={0: [1.0, 2.0]}, expect=[[9.0, 1.0, 9.0, 2.0, 9.0]])
case("hlo_iota", 196, [], [i(2, 3)], (-11, {0: ("i64", 1)}), expect=[[0, 1, 2, 0, 1, 2]])
case("hlo_compare", 191, [f(3), f(3)], [i(3, dtype="bool")], (-8, {0: ("u32", 3)}), given={0: [1.0, 2.0, 3.0], 1: [2.0, 2.0, 2.0]}, expect=[[0, 0, 1]])
case("hlo_dynamic_slice", 193, [f(4), Tensor("i32", [])], [f(2)], (-9, {0: (L, [2])}), given={0: [0.0, 1.0, 2.0, 3.0], 1: [3]}, expect=[[2.0, 3.0]])
case("hlo_dot_general", 197, [f(2, 2), f(2, 2)], [f(2, 2)], (-12, {2: (L, [1]), 3: (L, [1])}), given={0: [1.0, 2.0, 3.0, 4.0], 1: [1.0, 0.0, 1.0, 1.0]}, expect=[[1.0, 3.0, 3.0, 7.0]])
case("hlo_reduce", 174, [f(2, 2), one(10.0, "f32")], [f(2)], (-6, {0: (L, [1]), 1: ("i32", 1)}), given={0: [1.0, 2.0, 3.0, 4.0]}, graphs=[branch(0, 11)], expect=[[13.0, 17.0]])
case("hlo_gather", 201, [f(3, 2), i(2, 1, data=[2, 0])], [f(2, 2)], (-16, {0: (L, [1]), 1: (L, [0]), 2: (L, [0]), 3: ("i64", 1), 4: (L, [1, 2])}),
     given={0: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, expect=[[5.0, 6.0, 1.0, 2.0]])
case("hlo_scatter", 190, [f(3, 2), i(2, 1, data=[2, 2]), f(2, 2)], [f(3, 2)], (-7, {1: (L, [1]), 2: (L, [0]), 3: (L, [0]), 4: ("i64", 1), 6: ("i32", 1)}),
     given={0: [0.0] * 6, 1: [1.0, 2.0, 3.0, 4.0]}, graphs=[branch(0, 11)], expect=[[0.0, 0.0, 0.0, 0.0, 4.0, 6.0]])
case("dilate", 203, [f(2, 2), ints(1, 2), one(9.0, "f32")], [f(2, 3)], (-18, {}), given={0: [1.0, 2.0, 3.0, 4.0]}, expect=[[1.0, 9.0, 2.0, 3.0, 9.0, 4.0]])
case("hlo_composite", 206, [f(3), f(3)], [f(3)], (-21, {0: ("text", "a.sum"), 1: ("i32", 1)}), given={0: [1.0, 2.0, 3.0], 1: [1.0, 1.0, 1.0]}, graphs=[branch(0, 11)], expect=[[2.0, 3.0, 4.0]])
case("hlo_case", 209, [Tensor("i32", []), f(3), f(3)], [f(3)], (-23, {0: ("ints", [1, 2])}), given={0: [1], 1: [1.0, 2.0, 3.0], 2: [4.0, 4.0, 4.0]},
     graphs=[branch(0, 11), branch(18, 21)], expect=[[4.0, 8.0, 12.0]])

case("hlo_case_of_three", 209, [Tensor("i32", []), f(3), f(3)], [f(3)], (-23, {0: ("ints", [1, 2, 3])}), given={0: [1], 1: [1.0, 2.0, 3.0], 2: [4.0, 4.0, 4.0]},
     graphs=[branch(0, 11), branch(18, 21), branch(41, 28)], expect=[[4.0, 8.0, 12.0]])
case("hlo_case_of_none", 209, [Tensor("i32", []), f(3), f(3)], [f(3)], (-23, {0: ("ints", [1, 2, 3])}), given={0: [-1], 1: [1.0, 2.0, 3.0], 2: [4.0, 4.0, 4.0]},
     graphs=[branch(0, 11), branch(18, 21), branch(41, 28)], expect=[[-3.0, -2.0, -1.0]])
case("hlo_dynamic_update", 194, [f(2, 3), f(1, 2), Tensor("i32", []), Tensor("i32", [])], [f(2, 3)], given={0: [0.0] * 6, 1: [1.0, 2.0], 2: [1], 3: [5]},
     expect=[[0.0, 0.0, 0.0, 0.0, 1.0, 2.0]])
case("hlo_reduce_window", 198, [f(5), one(0.0, "f32")], [f(3)], (-13, {0: (L, [3]), 1: (L, [2]), 4: (L, [1, 1]), 5: ("i32", 1)}), given={0: [1.0, 2.0, 3.0, 4.0, 5.0]},
     graphs=[branch(0, 11)], expect=[[3.0, 9.0, 9.0]])
case("hlo_reduce_window_apart", 198, [f(1, 3), one(-9.0, "f32")], [f(1, 3)], (-13, {0: (L, [1, 2]), 2: (L, [1, 2]), 3: (L, [1, 2]), 5: ("i32", 1)}),
     given={0: [1.0, 3.0, 2.0]}, graphs=[branch(55, 39)], expect=[[3.0, -9.0, 3.0]])
case("reduce_window", 205, [f(7), one(1.0, "f32"), ints(5), ints(2), ints(1)], [f(2)], (-20, {0: ("i32", 2)}), given={0: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]},
     expect=[[120.0, 2520.0]])
case("reduce_window_any", 205, [i(4, dtype="bool"), one(0, "bool"), ints(2), ints(1), ints(1)], [i(3, dtype="bool")], (-20, {0: ("i32", 6)}), given={0: [0, 0, 1, 0]},
     expect=[[0, 1, 1]])
CONV_ORDER = {5: ("i64", 0), 6: ("i64", 2), 7: (L, [1]), 8: ("i64", 1), 9: ("i64", 2), 10: (L, [0]), 11: ("i64", 0), 12: ("i64", 2), 13: (L, [1]), 14: ("i64", 1), 15: ("i64", 1)}
case("hlo_convolution", 171, [f(1, 4, 1), f(2, 1, 1, data=[1.0, 10.0])], [f(1, 2, 1)], (-4, {0: (L, [2]), 1: (L, [1, 0]), **CONV_ORDER}), given={0: [1.0, 2.0, 3.0, 4.0]},
     expect=[[10.0, 32.0]])
case("hlo_convolution_transposed", 171, [f(1, 2, 1), f(2, 1, 1, data=[1.0, 10.0])], [f(1, 4, 1)],
     (-4, {1: (L, [1, 1]), 2: (L, [2]), 4: ("bytes", [1]), **CONV_ORDER}), given={0: [1.0, 2.0]}, expect=[[1.0, 10.0, 2.0, 20.0]])


def comparison(code, types, left, right, options):
    """A subgraph that compares two of its inputs."""
    ins, out = [Tensor(t, []) for t in types for _ in range(2)], Tensor("bool", [])
    return Graph([Op(code, [ins[left], ins[right]], [out], options)], ins, [out])


case("hlo_sort", 199, [f(2, 3), i(2, 3)], [f(2, 3), i(2, 3)], (-14, {0: ("i64", 1), 2: ("i32", 1)}), given={0: [2.0, 1.0, 3.0, 5.0, 6.0, 4.0], 1: [0, 1, 2, 3, 4, 5]},
     graphs=[comparison(191, ["f32", "i32"], 0, 1, (-8, {0: ("u32", 5)}))], expect=[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 0, 2, 5, 3, 4]])
case("hlo_sort_down", 199, [f(3), i(3)], [f(3), i(3)], (-14, {0: ("i64", 0), 2: ("i32", 1)}), given={0: [2.0, 1.0, 3.0], 1: [7, 9, 8]},
     graphs=[comparison(58, ["f32", "i32"], 3, 2, (41, {}))], expect=[[1.0, 3.0, 2.0], [9, 8, 7]])
PHILOX = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
case("hlo_random_philox", 204, [Tensor("u64", [2], [0, 0])], [Tensor("u64", [2]), Tensor("u32", [4])], (-19, {0: ("i8", 1)}), expect=[[0, 1], PHILOX])
case("hlo_random_threefry", 204, [Tensor("u64", [2], [0, 0])], [Tensor("u64", [2]), Tensor("u32", [2])], (-19, {0: ("i8", 2)}), expect=[[0, 1], [0x6B200159, 0x99BA4EFE]])
for name, kind, size in [("lsh_sparse", 1, 3), ("lsh_dense", 2, 6)]:
    case(name, 15, [f(3, 2, data=[0.123, 0.456, -0.321, 1.234, 5.678, -4.321]), i(5, 2), f(5, data=[0.12, 0.34, 0.56, 0.67, 0.78])], [i(size)], (4, {0: ("i8", kind)}),
         given={0: [12345, 54321, 67890, 9876, -12345678, 1, 2, 3, 4, 5]})
case("lsh_without_weights", 15, [f(3, 2, data=[0.123, 0.456, -0.321, 1.234, 5.678, -4.321]), f(4)], [i(3)], (4, {0: ("i8", 1)}))

# ---- custom operators

POOL2 = struct.pack("<6i", 1, 2, 2, 2, 2, 0)
case("max_pool_argmax", 32, [f(1, 2, 4, 1)], [f(1, 1, 2, 1), f(1, 1, 2, 1)], custom="MaxPoolingWithArgmax2D", custom_options=POOL2,
     given={0: [1.0, 2.0, 8.0, 3.0, 4.0, 0.0, 5.0, 6.0]}, expect=[[4.0, 8.0], [2.1, 0.1]])
case("max_unpool", 32, [f(1, 1, 2, 1), f(1, 1, 2, 1)], [f(1, 2, 4, 1)], custom="MaxUnpooling2D", custom_options=POOL2,
     given={0: [4.0, 8.0], 1: [2.1, 0.1]}, expect=[[0.0, 0.0, 8.0, 0.0, 4.0, 0.0, 0.0, 0.0]])
case("deconv_bias", 32, [f(1, 1, 1, 1), f(1, 2, 2, 1, data=[1.0, 2.0, 3.0, 4.0]), f(1, data=[0.5])], [f(1, 2, 2, 1)], custom="Convolution2DTransposeBias",
     custom_options=struct.pack("<3i", 2, 2, 2), given={0: [2.0]}, expect=[[2.5, 4.5, 6.5, 8.5]])


def flex(**numbers):
    """A map of FlexBuffers with 4-byte elements: keys, lists, then values and their types, then the root."""
    keys, out, places, lists = sorted(numbers), b"", {}, {}
    for key in keys:
        places[key] = len(out)
        out += key.encode() + b"\0"
    for key in keys:
        if isinstance(numbers[key], list):
            out += bytes(-len(out) % 4) + struct.pack("<I", len(numbers[key]))
            lists[key] = len(out)
            out += b"".join(struct.pack("<i", n) for n in numbers[key])
    out += bytes(-len(out) % 4) + struct.pack("<I", len(keys))
    start = len(out)
    for n, key in enumerate(keys):
        out += struct.pack("<I", start + 4 * n - places[key])
    out += struct.pack("<I", len(out) - start) + struct.pack("<I", 4) + struct.pack("<I", len(keys))
    values_at = len(out)
    for key in keys:
        if key in lists:
            out += struct.pack("<I", len(out) - lists[key])
        else:
            out += struct.pack("<f", numbers[key]) if isinstance(numbers[key], float) else struct.pack("<i", numbers[key])
    out += bytes((11 if key in lists else 3 if isinstance(numbers[key], float) else 1) << 2 | 2 for key in keys)
    return out + bytes([len(out) - values_at, 9 << 2 | 2, 1])



def landmarks_matrix(marks, left, right, target, subset, width, height, scale_x, scale_y):
    """What MediaPipe documents: the set is turned until the line between two landmarks has the wanted angle; the box around it is cut out."""
    x, y = marks[0::3], marks[1::3]
    r = target - math.atan2(y[right] - y[left], x[right] - x[left])
    c, s = math.cos(r), math.sin(r)
    xs, ys = [x[i] * c - y[i] * s for i in subset], [x[i] * s + y[i] * c for i in subset]
    mx, my = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    sx, sy = scale_x * (max(xs) - min(xs)) / width, scale_y * (max(ys) - min(ys)) / height
    m = [[c * sx, s * sy], [-s * sx, c * sy]]
    mid = [mx * c + my * s, my * c - mx * s]
    rows = [[*m[k], 0.0, mid[k] - m[k][0] * width / 2 - m[k][1] * height / 2] for k in range(2)]
    return [*rows[0], *rows[1], 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]


MARKS = [10.0, 20.0, 0.5, 40.0, 35.0, 1.0, 22.0, 60.0, -1.0, 55.0, 12.0, 2.0]
case("landmarks_matrix", 32, [f(1, 4, 3)], [f(1, 4, 4)], custom="Landmarks2TransformMatrix", version=2, given={0: MARKS},
     custom_options=flex(left_rotation_idx=0, right_rotation_idx=1, target_rotation_radians=0.25, subset_idxs=[0, 1, 2, 3, 3, 2], output_width=48, output_height=32,
                         scale_x=1.5, scale_y=1.25),
     expect=[landmarks_matrix(MARKS, 0, 1, 0.25, [0, 1, 2, 3, 3, 2], 48, 32, 1.5, 1.25)])
case("landmarks_matrix_backwards", 32, [f(1, 4, 3)], [f(1, 4, 4)], custom="Landmarks2TransformMatrix", version=2, given={0: MARKS},
     custom_options=flex(left_rotation_idx=3, right_rotation_idx=2, target_rotation_radians=0.0, subset_idxs=[0, 2], output_width=16, output_height=16, scale_x=1.0,
                         scale_y=2.0),
     expect=[landmarks_matrix(MARKS, 3, 2, 0.0, [0, 2], 16, 16, 1.0, 2.0)])
case("transform_landmarks", 32, [f(1, 2, 3), f(1, 4, 4)], [f(1, 2, 3)], custom="TransformLandmarks", custom_options=flex(dimensions=3), version=2,
     given={0: [1.0, 2.0, 7.0, 3.0, 4.0, 8.0], 1: [2.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
     expect=[[3.0, 5.0, 7.0, 7.0, 11.0, 8.0]])
case("transform_landmarks_flat", 32, [f(1, 3, 2), f(1, 4, 4)], [f(1, 3, 2)], custom="TransformLandmarks", version=2,
     given={0: [1.0, 2.0, 3.0, 4.0, 0.0, -1.0], 1: [2.0, 1.0, 0.0, 1.0, 0.0, 3.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
     expect=[[5.0, 5.0, 11.0, 11.0, 0.0, -4.0]])
case("transform_tensor", 32, [f(1, 2, 2, 1), f(1, 4, 4)], [f(1, 1, 2, 1)], custom="TransformTensor", custom_options=flex(output_height=1, output_width=2),
     given={0: [1.0, 3.0, 5.0, 7.0], 1: [1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]}, expect=[[4.0, 0.0]])
case("resampler", 32, [f(1, 2, 2, 1), f(1, 1, 2, 2)], [f(1, 1, 2, 1)], custom="Resampler", given={0: [1.0, 3.0, 5.0, 7.0], 1: [0.5, 0.0, 1.0, 0.5]}, expect=[[2.0, 5.0]])


def pb(number, value):
    """A field of protobuf: bytes, a text or a real number."""
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def flex_node(op, **attrs):
    """What TensorFlow's own operators have as options: FlexBuffers with two texts, the name and a NodeDef."""
    node = pb(1, "node") + pb(2, op) + b"".join(pb(5, pb(1, key) + pb(2, value)) for key, value in attrs.items())
    out, places = b"", []
    for text in (op.encode(), node):
        out += bytes(-len(out) % 4) + struct.pack("<I", len(text))
        places.append(len(out))
        out += text + b"\0"
    out += bytes(-len(out) % 4) + struct.pack("<I", 2)
    start = len(out)
    for place in places:
        out += struct.pack("<I", len(out) - place)
    out += bytes([5 << 2 | 2] * 2)
    return out + bytes([len(out) - start, 10 << 2 | 2, 1])


case("flex_leaky", 32, [f(4)], [f(4)], custom="FlexLeakyRelu", custom_options=flex_node("LeakyRelu", alpha=pb(4, 0.5)), given={0: [-2.0, 1.0, 0.0, -4.0]}, expect=[[-1.0, 1.0, 0.0, -2.0]])
case("flex_erf", 32, [f(2)], [f(2)], custom="FlexErf", custom_options=flex_node("Erf"), given={0: [0.5, -1.0]}, expect=[[math.erf(0.5), math.erf(-1.0)]])
case("flex_inverse", 32, [f(2, 2)], [f(2, 2)], custom="FlexMatrixInverse", custom_options=flex_node("MatrixInverse"), given={0: [1.0, 2.0, 3.0, 5.0]}, expect=[[-5.0, 2.0, 3.0, -1.0]])
for squared in (0, 1):
    case(f"spectrogram_{squared}", 32, [f(300, 1)], [f(1, 4, 65)], custom="AudioSpectrogram", custom_options=flex(window_size=100, stride=60, magnitude_squared=squared))
for name, low, high, bands, count in [("mfcc", 20.0, 4000.0, 40, 13), ("mfcc_few", 500.0, 7000.0, 10, 10)]:
    case(name, 32, [f(1, 3, 129), i(1)], [f(1, 3, count)], custom="Mfcc", low=0.0, high=4.0, given={1: [16000]},
         custom_options=flex(upper_frequency_limit=high, lower_frequency_limit=low, filterbank_channel_count=bands, dct_coefficient_count=count))
DETECT = dict(max_detections=2, max_classes_per_detection=1, detections_per_class=3, num_classes=2, nms_score_threshold=0.1, nms_iou_threshold=0.5,
              y_scale=1.0, x_scale=1.0, h_scale=1.0, w_scale=1.0)
ANCHORS = f(3, 4, data=[0.5, 0.5, 1.0, 1.0, 0.5, 0.6, 1.0, 1.0, 2.5, 2.5, 1.0, 1.0])
for name, regular in [("detection", 0), ("detection_regular", 1)]:
    case(name, 32, [f(1, 3, 4), f(1, 3, 3), ANCHORS], [f(1, 2, 4), f(1, 2), f(1, 2), f(1)], custom="TFLite_Detection_PostProcess", custom_options=flex(use_regular_nms=regular, **DETECT),
         given={0: [0.0] * 12, 1: [0.0, 0.9, 0.2, 0.0, 0.8, 0.05, 0.0, 0.3, 0.6]})
