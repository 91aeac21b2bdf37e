#!/usr/bin/env python3
"""Runs operations of NNEF one by one, and compares with answers that follow from the specification.

usage: cases.py PROGRAM [NAME...]
       cases.py --write FOLDER       a model as a folder: FOLDER/graph.nnef and its tensors

A case is the graph's statements, the input x, the outputs y (and z), and variables. Answers are written by hand, or computed
here in plain Python.
"""
import array
import ast
import math
import pathlib
import struct
import subprocess
import sys
import tempfile


def dat(shape, values, kind=0, bits=32, letter="f"):
    body = struct.pack(f"<{len(values)}{letter}", *values)
    head = b"N\xef\x01\x00" + struct.pack("<II", len(body), len(shape)) + struct.pack("<8I", *shape, *[0] * (8 - len(shape)))
    return head + struct.pack("<II", bits, kind) + bytes(76) + body


def write(folder, statements, shape, outputs, variables):
    lines = [f"    x = external<scalar>(shape = {list(shape)});"]
    for name, (sizes, values) in variables.items():
        lines.append(f"    {name} = variable<scalar>(shape = {list(sizes)}, label = 'w/{name}');")
        (folder / "w").mkdir(exist_ok=True)
        (folder / "w" / f"{name}.dat").write_bytes(dat(sizes, values))
    lines += [f"    {s};" for s in statements]
    (folder / "graph.nnef").write_text("# made for a test\nversion 1.0;\n\ngraph net( x ) -> ( " + ", ".join(outputs) + " )\n{\n" + "\n".join(lines) + "\n}\n")


S = list(range(1, 9))  # eight numbers, often as [1, 2, 2, 2]
HALF = [-1.5, -0.5, 0.0, 0.4, 0.5, 1.5, 2.0, 3.0]
IMAGE = [float(v) for v in range(1, 17)]  # [1, 1, 4, 4]


def unary(op, f, values=HALF):
    return (op, [f"y = {op}(x)"], (8,), values, {"y": [f(v) for v in values]}, {})


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def softmax(values):
    e = [math.exp(v) for v in values]
    return [v / sum(e) for v in e]


def away(v):
    return math.copysign(math.floor(abs(v) + 0.5), v)


POSITIVE = [0.1, 0.5, 0.9, 1.0, 2.0, 3.0, 4.0, 9.0]
CASES = [
    unary("exp", math.exp), unary("sin", math.sin), unary("cos", math.cos), unary("tanh", math.tanh), unary("abs", abs), unary("neg", lambda v: -v),
    unary("floor", math.floor), unary("ceil", math.ceil), unary("round", away), unary("relu", lambda v: max(v, 0)), unary("sigmoid", sigmoid),
    unary("sqr", lambda v: v * v), unary("copy", lambda v: v), unary("silu", lambda v: v * sigmoid(v)), unary("gelu", lambda v: v * sigmoid(1.702 * v)),
    unary("softplus", lambda v: math.log1p(math.exp(v))), unary("atan", math.atan), unary("asinh", math.asinh), unary("sinh", math.sinh), unary("cosh", math.cosh),
    unary("tan", math.tan), unary("sign", lambda v: (v > 0) - (v < 0)),
    unary("log", math.log, POSITIVE), unary("sqrt", math.sqrt, POSITIVE), unary("rsqrt", lambda v: v**-0.5, POSITIVE), unary("rcp", lambda v: 1 / v, POSITIVE),
    unary("log2", math.log2, POSITIVE), unary("rsqr", lambda v: v**-2, POSITIVE),
    ("broadcast", ["y = add(x, b)"], (1, 2, 2, 2), S, {"y": [11, 12, 13, 14, 25, 26, 27, 28]}, {"b": ((1, 2), [10.0, 20.0])}),
    ("sub", ["y = sub(10.0, x)"], (8,), S, {"y": [10 - v for v in S]}, {}),
    ("div_pow", ["a = div(x, 2.0)", "y = pow(a, 2.0)"], (8,), S, {"y": [(v / 2) ** 2 for v in S]}, {}),
    ("min_max", ["a = min(x, 6.0)", "y = max(a, 2.5)"], (8,), S, {"y": [max(min(v, 6), 2.5) for v in S]}, {}),
    ("clamp", ["y = clamp(x, 2.0, 5.0)"], (8,), S, {"y": [min(max(v, 2), 5) for v in S]}, {}),
    ("select", ["a = lt(x, 3.0)", "b = ge(x, 7.0)", "c = or(a, b)", "d = not(c)", "y = select(d, x, 0.5)"], (8,), S, {"y": [0.5, 0.5, 3, 4, 5, 6, 0.5, 0.5]}, {}),
    ("compare", ["a = eq(x, 3.0)", "b = ne(x, 4.0)", "c = and(b, b)", "y = select(a, 1.0, 2.0)", "z = select(c, 3.0, 4.0)"], (8,), S,
     {"y": [2, 2, 1, 2, 2, 2, 2, 2], "z": [3, 3, 3, 4, 3, 3, 3, 3]}, {}),
    ("compare_more", ["a = gt(x, 3.0)", "b = le(x, 3.0)", "y = select(a, 1.0, 0.0)", "z = select(b, 1.0, 0.0)"], (4,), [1.0, 3.0, 4.0, 5.0], {"y": [0, 0, 1, 1], "z": [1, 1, 0, 0]}, {}),
    ("matmul", ["y = matmul(x, w, transposeA = false, transposeB = true)"], (2, 2), [1.0, 2.0, 3.0, 4.0], {"y": [5, 11, 11, 25]}, {"w": ((2, 2), [1.0, 2.0, 3.0, 4.0])}),
    ("linear", ["y = linear(x, w, b)"], (1, 2), [1.0, 2.0], {"y": [15, 31]}, {"w": ((2, 2), [1.0, 2.0, 3.0, 4.0]), "b": ((1, 2), [10.0, 20.0])}),
    ("add_n", ["y = add_n([x, x, x])"], (2,), [1.0, 2.0], {"y": [3, 6]}, {}),
    ("copy_n", ["[a, y] = copy_n(x, times = 2)"], (2,), [1.0, 2.0], {"y": [1, 2]}, {}),
    ("reshape", ["y = reshape(x, shape = [0, -1])"], (2, 2, 2), S, {"y": S}, {}),
    ("reshape_part", ["a = reshape(x, shape = [4], axis_start = 1, axis_count = 2)", "y = transpose(a, axes = [1, 0])"], (2, 2, 2), S, {"y": [1, 5, 2, 6, 3, 7, 4, 8]}, {}),
    ("concat", ["y = concat([x, x], axis = 0)"], (2,), [1.0, 2.0], {"y": [1, 2, 1, 2]}, {}),
    ("stack", ["y = stack([x, x], axis = 1)"], (2,), [1.0, 2.0], {"y": [1, 1, 2, 2]}, {}),
    ("unstack", ["[a, y] = unstack(x, axis = 1)"], (2, 2), [1.0, 2.0, 3.0, 4.0], {"y": [2, 4]}, {}),
    ("split", ["[y, z] = split(x, axis = 0, ratios = [1, 3])"], (8,), S, {"y": [1, 2], "z": [3, 4, 5, 6, 7, 8]}, {}),
    ("slice", ["y = slice(x, axes = [1], begin = [1], end = [0])"], (2, 4), S, {"y": [2, 3, 4, 6, 7, 8]}, {}),
    ("slice_steps", ["y = slice(x, axes = [0], begin = [1], end = [6], stride = [2])"], (8,), S, {"y": [2, 4, 6]}, {}),
    ("squeeze", ["a = unsqueeze(x, axes = [0, 2])", "y = squeeze(a, axes = [2])"], (2,), [1.0, 2.0], {"y": [1, 2]}, {}),
    ("tile", ["y = tile(x, repeats = [2, 1])"], (1, 2), [1.0, 2.0], {"y": [1, 2, 1, 2]}, {}),
    ("gather", ["i = argmax_reduce(x, axes = [1])", "s = squeeze(i, axes = [1])", "y = gather(w, s, axis = 0)"], (2, 2), [1.0, 2.0, 4.0, 3.0], {"y": [8, 7]}, {"w": ((2,), [7.0, 8.0])}),
    ("cast", ["a = gt(x, 2.0)", "y = cast<scalar>(a)"], (3,), [1.0, 2.0, 3.0], {"y": [0, 0, 1]}, {}),
    ("sum_reduce", ["y = sum_reduce(x, axes = [1])", "z = sum_reduce(x, axes = [0], normalize = true)"], (2, 2), [1.0, 2.0, 3.0, 4.0], {"y": [3, 7], "z": [2, 3]}, {}),
    ("max_reduce", ["y = max_reduce(x, axes = [1])", "z = min_reduce(x, axes = [0, 1])"], (2, 2), [1.0, 2.0, 3.0, 4.0], {"y": [2, 4], "z": [1]}, {}),
    ("moments", ["(y, z) = moments(x, axes = [1])"], (2, 2), [1.0, 3.0, 3.0, 7.0], {"y": [2, 5], "z": [1, 4]}, {}),
    ("logical_reduce", ["a = gt(x, 2.0)", "b = any_reduce(a, axes = [1])", "c = all_reduce(a, axes = [1])", "y = cast<scalar>(b)", "z = cast<scalar>(c)"],
     (3, 2), [1.0, 2.0, 1.0, 3.0, 3.0, 4.0], {"y": [0, 1, 1], "z": [0, 0, 1]}, {}),
    ("argmin", ["a = argmin_reduce(x, axes = [1])", "y = cast<scalar>(a)"], (2, 2), [1.0, 2.0, 4.0, 3.0], {"y": [0, 1]}, {}),
    ("softmax", ["y = softmax(x)"], (2, 3), [1.0, 2.0, 3.0, 1.0, 1.0, 1.0], {"y": softmax([1, 2, 3]) + [1 / 3] * 3}, {}),
    ("softmax_axes", ["y = softmax(x, axes = [0, 1])"], (2, 2), [1.0, 2.0, 3.0, 1.0], {"y": softmax([1, 2, 3, 1])}, {}),
    ("softabs", ["y = softabs(x, epsilon = 0.5)"], (2,), [1.0, -2.0], {"y": [1.5**0.5, 4.5**0.5]}, {}),
    ("elu", ["y = elu(x, alpha = 2.0)", "z = selu(x)"], (2,), [1.0, -2.0], {"y": [1, 2 * (math.exp(-2) - 1)], "z": [1.05070102, 1.05070102 * 1.67326319 * (math.exp(-2) - 1)]}, {}),
    ("prelu", ["y = prelu(x, a)", "z = leaky_relu(x, alpha = 0.1)"], (1, 2, 2), [1.0, -2.0, -3.0, 4.0], {"y": [1, -1, -6, 4], "z": [1, -0.2, -0.3, 4]}, {"a": ((1, 2), [0.5, 2.0])}),
    ("batch_normalization", ["y = batch_normalization(x, m, v, o, s, epsilon = 1.0)"], (1, 2, 1, 2), [1.0, 2.0, 3.0, 4.0], {"y": [10, 11, 21, 22]},
     {"m": ((1, 2), [1.0, 2.0]), "v": ((1, 2), [3.0, 8.0]), "o": ((1, 2), [10.0, 20.0]), "s": ((1, 2), [2.0, 3.0])}),
    ("l2_normalization", ["y = l2_normalization(x, axes = [1])", "z = l1_normalization(x, axes = [1], bias = 1.0)"], (1, 2), [3.0, 4.0], {"y": [0.6, 0.8], "z": [3 / 8, 4 / 8]}, {}),
    ("linear_quantize", ["y = linear_quantize(x, -1.0, 2.0, bits = 2)"], (5,), [-2.0, -0.6, 0.4, 0.6, 3.0], {"y": [-1, -1, 0, 1, 2]}, {}),
    ("zero_point", ["y = zero_point_linear_quantize(x, 0, 0.5, bits = 3, signed = true, symmetric = true)"], (3,), [-9.0, 0.6, 9.0], {"y": [-1.5, 0.5, 1.5]}, {}),
    ("conv", ["y = conv(x, w, b, padding = [(0, 0), (0, 1)], stride = [1, 2])"], (1, 1, 2, 3), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], {"y": [13, 13, 19, 16]},
     {"w": ((1, 1, 1, 2), [1.0, 1.0]), "b": ((1, 1), [10.0])}),
    ("conv_same", ["y = conv(x, w, 0.5)"], (1, 1, 1, 3), [1.0, 2.0, 3.0], {"y": [0.5 + 1 + 20, 0.5 + 2 + 30, 0.5 + 3]}, {"w": ((1, 1, 1, 2), [1.0, 10.0])}),
    ("conv_depthwise", ["y = conv(x, w, border = 'replicate', padding = [(0, 0), (1, 0)], groups = 0)"], (1, 2, 1, 2), [1.0, 2.0, 3.0, 4.0], {"y": [11, 21, 66, 86]},
     {"w": ((2, 1, 1, 2), [1.0, 10.0, 2.0, 20.0])}),
    ("separable_conv", ["y = separable_conv(x, p, q, b)"], (1, 2, 1, 1), [1.0, 2.0], {"y": [3 + 2 * 10 + 1]}, {"p": ((2, 1, 1, 1), [3.0, 5.0]), "q": ((1, 2, 1, 1), [1.0, 2.0]), "b": ((1, 1), [1.0])}),
    ("deconv", ["y = deconv(x, w, 1.0, stride = [1, 2], padding = [(0, 0), (0, 0)])"], (1, 1, 1, 2), [1.0, 2.0], {"y": [2, 11, 3, 21]}, {"w": ((1, 1, 1, 2), [1.0, 10.0])}),
    ("deconv_same", ["y = deconv(x, w, stride = [1, 2])"], (1, 1, 1, 2), [1.0, 2.0], {"y": [1, 10, 102, 20]}, {"w": ((1, 1, 1, 3), [1.0, 10.0, 100.0])}),
    ("max_pool", ["y = max_pool(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])"], (1, 1, 4, 4), IMAGE, {"y": [6, 8, 14, 16]}, {}),
    ("max_pool_borders", ["y = max_pool(x, size = [1, 1, 1, 2], border = 'ignore', padding = [(0, 0), (0, 0), (0, 0), (1, 0)])",
                          "z = max_pool(x, size = [1, 1, 1, 2], padding = [(0, 0), (0, 0), (0, 0), (1, 0)])"], (1, 1, 1, 2), [-1.0, -2.0], {"y": [-1, -1], "z": [0, -1]}, {}),
    ("avg_pool_borders", ["y = avg_pool(x, size = [1, 1, 1, 2], border = 'ignore', padding = [(0, 0), (0, 0), (0, 0), (1, 0)])",
                          "z = avg_pool(x, size = [1, 1, 1, 2], padding = [(0, 0), (0, 0), (0, 0), (1, 0)])"], (1, 1, 1, 2), [2.0, 4.0], {"y": [2, 3], "z": [1, 3]}, {}),
    ("box", ["y = box(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])", "z = rms_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)])"],
     (1, 1, 2, 2), [1.0, 1.0, 3.0, 5.0], {"y": [10], "z": [3]}, {}),
    ("lrn", ["y = local_response_normalization(x, size = [1, 3, 1, 1], alpha = 3.0, beta = 1.0, bias = 2.0)"], (1, 3, 1, 1), [1.0, 2.0, 3.0], {"y": [1 / 7, 2 / 16, 3 / 15]}, {}),
    ("pad", ["y = pad(x, padding = [(0, 0), (1, 2)], value = 9.0)", "z = pad(x, padding = [(0, 0), (1, 1)], border = 'reflect')"], (1, 2), [1.0, 2.0], {"y": [9, 1, 2, 9, 9], "z": [2, 1, 2, 1]}, {}),
    ("upsample", ["y = nearest_upsample(x, factor = [1, 2])", "z = multilinear_upsample(x, factor = [1, 2], method = 'symmetric', border = 'replicate')"],
     (1, 1, 1, 2), [1.0, 3.0], {"y": [1, 1, 3, 3], "z": [1, 1.5, 2.5, 3]}, {}),
    ("downsample", ["y = nearest_downsample(x, factor = [2, 2])", "z = area_downsample(x, factor = [2, 2])"], (1, 1, 2, 4), S, {"y": [1, 3], "z": [3.5, 5.5]}, {}),
    ("constant", ["c = constant(shape = [2, 1], value = [3.0, 4.0])", "y = mul(x, c)"], (2, 2), [1.0, 2.0, 3.0, 4.0], {"y": [3, 6, 12, 16]}, {}),
]


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
    return array.array({"f4": "f", "i8": "q"}[header["descr"].lstrip("<|=")], data[10 + size :])


def check(program, case, folder):
    _, statements, shape, values, wanted, variables = case
    folder.mkdir()
    write(folder, statements, shape, list(wanted), variables)
    done = subprocess.run([program, "run", folder, "--input=x=" + ",".join(map(str, values)), "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    if done.returncode:
        return " ".join((done.stderr or done.stdout).split())[:300]
    for name, want in wanted.items():
        have = read_npy(folder / "out" / f"{name}.npy")
        if len(have) != len(want) or any(abs(a - b) > 1e-5 * max(1, abs(b)) for a, b in zip(have, want)):
            return f"{name} is {list(have)}, not {want}"
    return None


def main():
    if sys.argv[1] == "--write":
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(exist_ok=True)
        write(folder, ["a = linear(x, w, b)", "y = relu(a)"], (1, 2), ["y"], {"w": ((2, 2), [1.0, 2.0, -3.0, 4.0]), "b": ((1, 2), [10.0, -20.0])})
        return 0
    program, names, failed, done = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:], 0, 0
    with tempfile.TemporaryDirectory() as root:
        for case in CASES:
            if names and case[0] not in names:
                continue
            done += 1
            reason = check(program, case, pathlib.Path(root) / case[0])
            if reason:
                failed += 1
                print(f"FAILED {case[0]}: {reason}")
    print(f"{done - failed} of {done} operations agree with the specification")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
