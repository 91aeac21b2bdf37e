"""More small models: operators that move or compare numbers of 8 and 16 bits, in all types that TensorFlow Lite has for them; sizes and
settings that are seldom; and what no other case has: tables, variables, complex and random numbers.
"""
import math

from cases import CASES, EXPECT, case, f, flex, i, ints, loop_graphs, noise, one
from typed_cases import STEP, ZERO, q
from writer import Graph, Op, Tensor


def act(number):
    return {0: ("i8", number)}


def same(code, name, types, shape=(2, 3, 4), options=None, version=1, out=None, zero=None, **more):
    """One operand, with steps of another size in the result if `out` says so."""
    for t in types.split():
        x = q(t, *shape)
        y = q(t, *shape, scale=STEP[t] * (out or 1), zero=ZERO[t] if zero is None else zero.get(t, 0))
        case(f"{name}_{t}", code, [x], [y], options, version=version, **more)


def in_steps(t, x, step):
    """A real number in the steps of a type."""
    least, most = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767)}[t]
    return min(max(round(x / step) + ZERO[t], least), most)


GIVEN = {"i8": [-128, -50, -7, 0, 30, 127], "u8": [0, 50, 121, 122, 200, 255], "i16": [-20000, -900, 0, 77, 9000, 18000]}

# ---- pointwise, quantized
UNIT = {"i8": -128, "u8": 0, "i16": 0}
for t in "i8 u8 i16".split():
    unit = q(t, 2, 3, 4, scale=1 / 256 if t != "i16" else 1 / 32768, zero=UNIT[t])
    wave = q(t, 2, 3, 4, scale=1 / 128 if t != "i16" else 1 / 32768, zero={"i8": 0, "u8": 128, "i16": 0}[t])
    case(f"logistic_{t}_more", 14, [q(t, 2, 3, 4, scale=STEP[t] * 3)], [unit], version=3 if t == "i16" else 2)
    case(f"tanh_{t}_more", 28, [q(t, 2, 3, 4, scale=STEP[t] * 2)], [wave], version=3 if t == "i16" else 2)
    case(f"softmax_{t}_more", 25, [q(t, 3, 7, scale=STEP[t] * 4)], [q(t, 3, 7, scale=1 / 256 if t != "i16" else 1 / 32768, zero=UNIT[t])], (9, {0: ("f32", 0.7)}), version=3 if t == "i16" else 2)
    for n, (a, b, shapes) in enumerate([(1, 2, ([2, 3, 4], [2, 3, 4])), (3, 0.5, ([2, 3, 4], [4])), (1, 1, ([2, 1, 4], [3, 1]))]):
        for name, code, kind, version in [("add", 0, 11, 2), ("sub", 41, 28, 2), ("mul", 18, 21, 2), ("maximum", 55, 39, 2), ("minimum", 57, 39, 2), ("squared_difference", 99, 76, 2)]:
            if name == "squared_difference" and t != "i8" or name in ("maximum", "minimum") and n:
                continue
            step = STEP[t] * (a if name not in ("maximum", "minimum") else 1)
            y = q(t, 2, 3, 4, scale=STEP[t] * (1 if name in ("maximum", "minimum") else 3))
            more = {0: ("i8", n % 3)} if name in ("add", "sub", "mul") else {}
            case(f"{name}_{t}_more_{n}", code, [q(t, *shapes[0], scale=step), q(t, *shapes[1], scale=STEP[t] * (b if name not in ("maximum", "minimum") else 1))], [y], (kind, more), version=version)
    for name, code, kind in [("less", 58, 41), ("less_equal", 63, 46), ("greater", 61, 44), ("greater_equal", 62, 45), ("equal", 71, 53), ("not_equal", 72, 55)]:
        if t != "i16":
            case(f"{name}_{t}_more", code, [q(t, 2, 3), q(t, 3, scale=STEP[t] * 2, zero=ZERO[t] + 5)], [Tensor("bool", [2, 3])], (kind, {}), version=2)
same(19, "relu_more", "i8 u8 i16", version=2, out=1.5)
same(20, "relu_n1_to_1_more", "i8 u8", out=0.7, version=1)
same(21, "relu6_more", "i8 u8", out=2, version=2)
same(117, "hard_swish_more", "i8 u8", out=1.2)
same(98, "leaky_relu_more", "i8 u8 i16", options=(75, {0: ("f32", 0.3)}), version=2, out=0.8)
same(111, "elu_more", "i8", out=0.8)
for t in ("i8", "i16"):
    given = [-100, -50, -7, 0, 30, 60] if t == "i8" else [-20000, -900, 0, 77, 9000, 18000]
    case(f"exp_{t}", 47, [q(t, 6)], [q(t, 6, scale=STEP[t] * 4)], version=2, given={0: given}, expect=[[in_steps(t, math.exp((v - ZERO[t]) * STEP[t]), STEP[t] * 4) for v in given]])
same(101, "abs_more", "i8 i16", version=2, out=0.9)
same(76, "rsqrt_more", "i8", version=2, zero={"i8": -128}, given={0: list(range(3, 27))})
for t in "i8 u8".split():
    case(f"log_softmax_{t}", 50, [q(t, 3, 7, scale=0.1)], [q(t, 3, 7, scale=16 / 256, zero=127 if t == "i8" else 255)], version=2)
    case(f"l2_normalization_{t}_unit", 11, [q(t, 3, 8)], [q(t, 3, 8, scale=1 / 128, zero=0 if t == "i8" else 128)], (12, {}), version=2)
    case(f"prelu_{t}_more", 54, [q(t, 2, 3, 4), noise(4, dtype=t, low=0 if t == "u8" else -100, high=100, scale=0.011, zero=60 if t == "u8" else 4)], [q(t, 2, 3, 4, scale=STEP[t] * 1.3)])
case("div_u8", 42, [q("u8", 2, 3, scale=0.02, zero=0), q("u8", 2, 3, scale=0.03, zero=0)], [q("u8", 2, 3, scale=0.05, zero=0)], (29, act(0)), version=2, given={1: [20, 30, 40, 90, 200, 255]})

# ---- what moves elements
for t in "i8 u8 i16".split():
    x = lambda *s: q(t, *s)
    case(f"concat_{t}_more", 2, [q(t, 2, 2), q(t, 2, 1, scale=STEP[t] * (2 if t == "u8" else 1), zero=ZERO[t]), q(t, 2, 3)], [q(t, 2, 6)], (10, {0: ("i32", -1)}), version=3 if t == "i16" else 2)
    case(f"transpose_{t}", 39, [x(2, 3, 4), ints(2, 0, 1)], [x(4, 2, 3)], (26, {}), version=2)
    case(f"slice_{t}", 65, [x(3, 4), ints(1, 0), ints(2, -1)], [x(2, 4)], (48, {}), version=2)
    case(f"strided_slice_{t}", 45, [x(3, 5), ints(0, 4), ints(3, 0), ints(2, -2)], [x(2, 2)], (32, {}), version=2)
    case(f"split_{t}", 49, [one(1), x(2, 4)], [x(2, 2), x(2, 2)], (35, {0: ("i32", 2)}), version=2)
    case(f"split_v_{t}", 102, [x(4, 2), ints(1, 3), one(0)], [x(1, 2), x(3, 2)], (79, {0: ("i32", 2)}), version=2)
    case(f"pack_{t}", 83, [x(2, 3), x(2, 3)], [x(2, 2, 3)], (59, {0: ("i32", 2), 1: ("i32", 1)}), version=2)
    case(f"unpack_{t}", 88, [x(2, 3)], [x(2), x(2), x(2)], (64, {0: ("i32", 3), 1: ("i32", 1)}), version=2)
    case(f"pad_{t}_more", 34, [x(2, 3), i(2, 2, data=[1, 0, 2, 1])], [x(3, 6)], (22, {}), version=2)
    case(f"pad_v2_{t}", 60, [x(2, 3), i(2, 2, data=[1, 0, 2, 1]), Tensor(t, [1], [7], scale=STEP[t], zero=ZERO[t])], [x(3, 6)], (43, {}), version=2)
    case(f"reverse_{t}", 105, [x(2, 3), ints(1)], [x(2, 3)], (81, {}), version=3 if t != "u8" else 2)
    case(f"gather_{t}_more", 36, [x(3, 4), ints(2, 0)], [x(3, 2)], (23, {0: ("i32", 1)}), version=2)
    case(f"gather_nd_{t}", 107, [x(3, 4), i(2, 1, data=[2, 0])], [x(2, 4)], (83, {}), version=2)
    case(f"expand_dims_{t}", 70, [x(2, 2), one(1)], [x(2, 1, 2)], (52, {}))
    case(f"squeeze_{t}", 43, [x(1, 2, 1, 2)], [x(2, 2)], (30, {}), version=2)
    case(f"broadcast_to_{t}", 130, [x(1, 3), ints(2, 3)], [x(2, 3)], (99, {}), version=3)
    case(f"select_v2_{t}", 123, [Tensor("bool", [3]), x(2, 3), x(2, 3)], [x(2, 3)], (98, {}))
    case(f"resize_nearest_{t}_more", 97, [x(1, 3, 4, 2), ints(5, 7)], [x(1, 5, 7, 2)], (74, {0: ("i8", 1)}), version=3)
    case(f"reduce_max_{t}_more", 82, [x(2, 3, 4), ints(0, 2)], [x(3)], (27, {}), version=2)
    case(f"reduce_min_{t}_more", 89, [x(2, 3, 4), ints(1)], [x(2, 1, 4)], (27, {0: ("i8", 1)}), version=2)
    case(f"mean_{t}_more", 40, [x(2, 3, 4), ints(0)], [q(t, 3, 4, scale=STEP[t] * 0.7, zero=ZERO[t])], (27, {}), version=2)
    case(f"mean_image_{t}_more", 40, [x(1, 3, 5, 2), ints(1, 2)], [q(t, 1, 1, 1, 2, scale=STEP[t] * 0.5, zero=ZERO[t])], (27, {0: ("i8", 1)}), version=2)
    case(f"quantize_{t}_more", 114, [f(2, 5)], [q(t, 2, 5)], version=2)
    case(f"dequantize_{t}_more", 6, [q(t, 2, 5)], [f(2, 5)], version=3)
for t in "i8 u8".split():
    x = lambda *s: q(t, *s)
    case(f"mirror_pad_{t}", 100, [x(3, 3), i(2, 2, data=[1, 1, 2, 0])], [x(5, 5)], (77, {0: ("i8", 0)}), version=2)
    case(f"tile_{t}", 69, [x(2, 2), ints(1, 2)], [x(2, 4)], (51, {}), version=2)
    case(f"space_to_depth_{t}", 26, [x(1, 4, 2, 3)], [x(1, 2, 1, 12)], (19, {0: ("i32", 2)}), version=2)
    case(f"depth_to_space_{t}", 5, [x(1, 2, 1, 8)], [x(1, 4, 2, 2)], (94, {0: ("i32", 2)}), version=2)
    case(f"space_to_batch_{t}", 38, [x(1, 3, 4, 2), ints(2, 2), i(2, 2, data=[1, 0, 0, 0])], [x(4, 2, 2, 2)], (25, {}), version=2)
    case(f"batch_to_space_{t}", 37, [x(4, 2, 2, 2), ints(2, 2), i(2, 2, data=[1, 0, 0, 0])], [x(1, 3, 4, 2)], (24, {}), version=2)
    case(f"arg_max_{t}", 56, [x(3, 5), one(1)], [i(3)], (40, {0: ("i8", 2)}), version=2)
    case(f"arg_min_{t}", 79, [x(3, 5), one(-1)], [i(3)], (57, {0: ("i8", 2)}), version=2)
    case(f"top_k_{t}", 48, [x(2, 6), one(3)], [x(2, 3), i(2, 3)], (34, {}), version=2)
    case(f"sum_{t}_more", 74, [x(2, 3, 4), ints(1)], [q(t, 2, 4, scale=STEP[t] * 3)], (27, {}), version=2)
    case(f"resize_bilinear_{t}_more", 23, [x(1, 3, 4, 2), ints(5, 7)], [x(1, 5, 7, 2)], (15, {3: ("i8", 1)}), version=3)
for a in "i8 u8 i16".split():
    for b in "i8 u8 i16".split():
        if a != b:
            by_hand = {} if (a, b) not in (("i8", "i16"), ("u8", "i16"), ("i16", "u8")) else {"given": {0: GIVEN[a]}, "expect": [[in_steps(b, (v - ZERO[a]) * STEP[a], STEP[b] * 1.3) for v in GIVEN[a]]]}
            case(f"quantize_{a}_{b}", 114, [q(a, 6)], [q(b, 6, scale=STEP[b] * 1.3)], version=2, **by_hand)
case("batch_matmul_i8_more", 126, [q("i8", 2, 3, 4), q("i8", 2, 5, 4, scale=0.03, zero=0)], [q("i8", 2, 3, 5, scale=0.2)], (101, {1: ("i8", 1)}), version=2)
case("batch_matmul_i16", 126, [q("i16", 2, 3, 4), q("i16", 2, 4, 5)], [q("i16", 2, 3, 5, scale=3e-4)], (101, {}), version=3)
case("batch_matmul_broadcast", 126, [f(2, 3, 4), f(4, 5)], [f(2, 3, 5)], (101, {}), version=2)
case("conv_1x1_strided_i8", 3, [q("i8", 1, 5, 5, 4), noise(3, 1, 1, 4, dtype="i8", low=-127, high=127, scale=[0.01, 0.02, 0.005], zero=[0, 0, 0], axis=0), Tensor("i32", [3], [10, -20, 300], scale=[2e-4, 4e-4, 1e-4], zero=[0, 0, 0])], [q("i8", 1, 3, 3, 3, scale=0.1)],
     (1, {0: ("i8", 0), 1: ("i32", 2), 2: ("i32", 2), 3: ("i8", 3), 4: ("i32", 1), 5: ("i32", 1)}), version=3)
case("fully_connected_keeps", 9, [f(2, 3, 4), noise(5, 4), None], [f(2, 3, 5)], (8, {0: ("i8", 1), 2: ("i8", 1)}), version=5)
case("fully_connected_flat_too", 9, [f(2, 2, 3), noise(5, 6), noise(5)], [f(2, 5)], (8, {0: ("i8", 3)}), version=1)
case("strided_slice_ellipsis_too", 45, [f(2, 3, 4), ints(0, 1), ints(0, 3), ints(1, 2)], [f(2, 3, 1)], (32, {2: ("i32", 1)}), version=1)
case("cumsum_i32", 128, [i(2, 4), one(0)], [i(2, 4)], (102, {0: ("i8", 1)}))
case("one_hot_axis", 85, [i(3, data=None), one(4), one(2.0, "f32"), one(-1.0, "f32")], [f(4, 3)], (61, {0: ("i32", 0)}), given={0: [1, 3, 9]})
case("gather_batch_too", 36, [f(2, 3, 4), i(2, 2, data=[2, 0, 1, 1])], [f(2, 2, 4)], (23, {0: ("i32", 1), 1: ("i32", 1)}), version=5)
case("resize_bilinear_odd", 23, [f(1, 5, 3, 1), ints(2, 8)], [f(1, 2, 8, 1)], (15, {2: ("i8", 1)}), version=3)
case("softmax_4d", 25, [f(1, 2, 3, 5)], [f(1, 2, 3, 5)], (9, {0: ("f32", 2.0)}))
case("range_f32", 96, [one(1.0, "f32"), one(3.0, "f32"), one(0.5, "f32")], [f(4)], (80, {}))
case("reduce_prod_i32", 81, [i(2, 3), ints(1)], [i(2)], (27, {}))
case("mean_i32", 40, [i(2, 3), ints(1)], [i(2)], (27, {}), low=-9, high=9)
case("div_floor_i32", 42, [i(4), i(4)], [i(4)], (29, act(0)), given={0: [7, -7, 7, -7], 1: [2, 2, -2, -2]})
case("floor_mod_f32_signs", 95, [f(4), f(4)], [f(4)], (72, {}), given={0: [5.5, -5.5, 5.5, -5.5], 1: [2.0, 2.0, -2.0, -2.0]})
case("pow_i32", 78, [i(3), i(3)], [i(3)], (56, {}), given={0: [2, -3, 5], 1: [3, 2, 0]})
case("cast_f32_u8", 53, [f(4)], [Tensor("u8", [4])], (37, {0: ("i8", 0), 1: ("i8", 3)}), given={0: [0.9, 1.5, 200.2, 77.7]})
case("cast_bool_f32", 53, [Tensor("bool", [4])], [f(4)], (37, {0: ("i8", 6), 1: ("i8", 0)}))
case("cast_i64_i32", 53, [Tensor("i64", [3])], [i(3)], (37, {0: ("i8", 4), 1: ("i8", 2)}), given={0: [5, -7, 2**33 + 3]})

# ---- several nodes
def several(name, ops, inputs, outputs, given, expect=None, graphs=()):
    CASES[name] = ([Graph(ops, inputs, outputs), *graphs], given)
    if expect is not None:
        EXPECT[name] = expect


for size in ((4, 8), (2, 4)):
    x, z, re, im, size_of = f(1, *size), Tensor("c64", [1, size[0], size[1] // 2 + 1]), *(f(1, size[0], size[1] // 2 + 1) for _ in range(3))
    several(f"fourier_{size[1]}", [Op(131, [x, ints(*size)], [z], (90, {})), Op(134, [z], [re], (95, {})), Op(133, [z], [im], (96, {})), Op(135, [z], [size_of], (97, {}))], [x], [re, im, size_of], [[(7 * n % 11) / 4 - 1 for n in range(size[0] * size[1])]])
words, found, handle, count = Tensor("string", [3]), Tensor("i64", [3]), Tensor("resource", [1]), Tensor("i64", [1])
table = (105, {0: ("i32", 7), 1: ("i8", 5), 2: ("i8", 4)})
inner = Tensor("resource", [1])
several("hash_table", [Op(129, [], [], (103, {0: ("i32", 1)})), Op(136, [], [handle], table), Op(137, [handle, words, Tensor("i64", [1], [-1])], [found], (106, {})), Op(139, [handle], [count], (108, {}))], [words], [found, count], [["dog", "hen", "cat"]], [[9, -1, 5], [2]],
        [Graph([Op(136, [], [inner], table), Op(138, [inner, Tensor("string", [2], ["cat", "dog"]), Tensor("i64", [2], [5, 9])], [], (107, {}))], [], [])])
x, y, was, handle, inner = f(2), f(2), f(2), Tensor("resource", [1]), Tensor("resource", [1])
options = (111, {0: ("text", ""), 1: ("text", "v")})
several("variable", [Op(129, [], [], (103, {0: ("i32", 1)})), Op(142, [], [handle], options), Op(143, [handle], [was], (112, {})), Op(0, [was, x], [y], (11, act(0))), Op(144, [handle, y], [], (113, {}))], [x], [y], [[1.0, 2.0]], [[6.0, 7.0]],
        [Graph([Op(142, [], [inner], options), Op(144, [inner, Tensor("f32", [2], [5.0, 5.0])], [], (113, {}))], [], [])])
x, y, a, b = f(2), f(2), f(2), f(2)
several("call", [Op(31, [x], [y], (16, {0: ("u32", 1)}))], [x], [y], [[3.0, -4.0]], [[9.0, 16.0]], [Graph([Op(92, [a], [b])], [a], [b])])
x, y = Tensor("string", [1]), Tensor("string", [3])
several("skip_gram", [Op(30, [x], [y], (18, {0: ("i32", 2), 1: ("i32", 0), 2: ("i8", 0)}))], [x], [y], [["a bb c d"]], [["a bb", "bb c", "c d"]])
# Random numbers: what is true of all of them.
r, m = f(500), f(500)
several("random_uniform", [Op(148, [ints(500)], [r], (114, {0: ("i64", 1), 1: ("i64", 2)})), Op(8, [r], [m])], [], [m], [], [[0.0] * 500])
r, s, total, mean, y = f(2000), f(2000), f(), f(), f()
several("random_normal", [Op(146, [ints(2000)], [r], (114, {})), Op(92, [r], [s]), Op(74, [s, ints(0)], [total], (27, {})), Op(42, [total, one(2000.0, "f32")], [mean], (29, act(0))), Op(116, [mean], [y])], [], [y], [], [[1.0]])
x, y = f(2, 3), i(2, 4)
several("multinomial", [Op(149, [x, one(4)], [y], (114, {}))], [x], [y], [[-1000.0, 1000.0, -1000.0, 0.0, -1000.0, -1000.0]], [[1, 1, 1, 1, 0, 0, 0, 0]])

# ---- StableHLO's names of other operators
for name, code, left, right, want in [("divide", 164, [1.0, 3.0], [2.0, -4.0], [0.5, -0.75]), ("multiply", 165, [1.0, 3.0], [2.0, -4.0], [2.0, -12.0]), ("maximum", 166, [1.0, 3.0], [2.0, -4.0], [2.0, 3.0]),
                                      ("minimum", 181, [1.0, 3.0], [2.0, -4.0], [1.0, -4.0]), ("power", 184, [2.0, 3.0], [3.0, -1.0], [8.0, 1 / 3]), ("subtract", 188, [1.0, 3.0], [2.0, -4.0], [-1.0, 7.0])]:
    case(f"hlo_{name}", code, [f(2), f(2)], [f(2)], given={0: left, 1: right}, expect=[want])
case("hlo_divide_i32", 164, [i(4), i(4)], [i(4)], given={0: [7, -7, 7, -7], 1: [2, 2, -2, -2]}, expect=[[3, -3, -3, 3]])
for name, code, given, want in [("logistic", 162, [0.0, 2.0], [0.5, 0.8807970779778823]), ("abs", 175, [-2.0, 3.0], [2.0, 3.0]), ("cosine", 177, [0.0, 1.0], [1.0, 0.5403023058681398]), ("exponential", 178, [0.0, 1.0], [1.0, 2.718281828459045]),
                                ("floor", 179, [-1.5, 2.5], [-2.0, 2.0]), ("log", 180, [1.0, 2.0], [0.0, 0.6931471805599453]), ("negate", 182, [1.0, -2.0], [-1.0, 2.0]), ("rsqrt", 186, [4.0, 16.0], [0.5, 0.25]), ("tanh", 189, [0.0, 1.0], [0.0, 0.7615941559557649])]:
    case(f"hlo_{name}", code, [f(2)], [f(2)], given={0: given}, expect=[want])
case("hlo_and", 176, [Tensor("bool", [4]), Tensor("bool", [4])], [Tensor("bool", [4])], given={0: [0, 0, 1, 1], 1: [0, 1, 0, 1]}, expect=[[0, 0, 0, 1]])
case("hlo_and_i32", 176, [i(2), i(2)], [i(2)], given={0: [12, -8], 1: [10, -1]}, expect=[[8, -8]])
case("hlo_or", 183, [Tensor("bool", [4]), Tensor("bool", [4])], [Tensor("bool", [4])], given={0: [0, 0, 1, 1], 1: [0, 1, 0, 1]}, expect=[[0, 1, 1, 1]])
case("hlo_or_i32", 183, [i(2), i(2)], [i(2)], given={0: [12, -8], 1: [10, 1]}, expect=[[14, -7]])
case("hlo_select", 187, [Tensor("bool", [2]), f(2), f(2)], [f(2)], given={0: [1, 0], 1: [1.0, 2.0], 2: [3.0, 4.0]}, expect=[[1.0, 4.0]])
case("hlo_while", 200, [Tensor("i32", []), f(3)], [Tensor("i32", []), f(3)], (-15, {0: ("i32", 1), 1: ("i32", 2)}), given={0: [2], 1: [1.0, 2.0, 4.0]}, graphs=loop_graphs(), expect=[[4], [2.25, 4.5, 9.0]])
case("hlo_convert", 192, [f(3)], [i(3)], given={0: [1.7, -1.7, 3.0]}, expect=[[1, -1, 3]])

# ---- custom operators under other names
case("custom_erf", 32, [f(3)], [f(3)], given={0: [0.0, 0.5, -1.0]}, expect=[[0.0, math.erf(0.5), math.erf(-1)]], custom="Erf")
case("custom_mish", 32, [f(3)], [f(3)], given={0: [0.0, 2.0, -1.0]}, expect=[[x * math.tanh(math.log1p(math.exp(x))) for x in (0.0, 2.0, -1.0)]], custom="Mish")
x, z, y = f(1, 2, 4), Tensor("c64", [1, 2, 3]), f(1, 2, 3)
several("custom_fourier", [Op(32, [x, ints(2, 4)], [z], custom="RFFT2D"), Op(32, [z], [y], custom="ComplexAbs")], [x], [y], [[1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 0.0, 2.0]], [[13.0, math.sqrt(13), 5.0, 7.0, math.sqrt(5), 1.0]])
case("transform_tensor_bilinear", 32, [f(1, 2, 2, 1), f(1, 4, 4)], [f(1, 1, 2, 1)], custom="TransformTensorBilinear", custom_options=flex(output_height=1, output_width=2),
     given={0: [1.0, 3.0, 5.0, 7.0], 1: [1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]}, expect=[[4.0, 0.0]])
