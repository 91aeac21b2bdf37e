"""Small models, written byte by byte, so that tests need neither onnx nor NumPy."""

import os
import signal
import struct
import sys
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DIGITS = os.path.join(ROOT, "demo", "digits.onnx")
sys.path.append(os.path.join(ROOT, "tests", "support"))  # for tiny_language

if os.environ.get("HOLO_TEST_WITHOUT_NUMPY"):
    sys.modules["numpy"] = None  # as if it were not installed
try:
    import numpy
except ImportError:
    numpy = None
needs_numpy = unittest.skipIf(numpy is None, "needs NumPy")

import hologram  # noqa: E402

# Tests interrupt themselves, also where whoever started them ignores that: a shell, for what runs in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, BFLOAT16 = 1, 2, 3, 6, 7, 8, 9, 10, 11, 16


# ---- protobuf, as much as a model needs

def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor_type(dtype, shape):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, field(1, dtype) + field(2, dims))


def sequence_type(dtype, shape):
    return field(4, field(1, tensor_type(dtype, shape)))


def optional_type(dtype, shape):
    return field(9, field(1, tensor_type(dtype, shape)))


def port(name, kind):
    return field(1, name) + field(2, kind)


def node(op, inputs, outputs, **attributes):
    body = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, op)
    for name, value in attributes.items():
        kind = {int: (3, 2), float: (2, 1), str: (4, 3)}[type(value)]
        body += field(5, field(1, name) + field(kind[0], value) + field(20, kind[1]))
    return body


def constant(name, shape, floats):
    return b"".join(field(1, d) for d in shape) + field(2, FLOAT) + field(8, name) + field(9, struct.pack(f"<{len(floats)}f", *floats))


def model(nodes, inputs, outputs, constants=(), opset=17):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "test") + b"".join(field(5, c) for c in constants)
    graph += b"".join(field(11, port(*i)) for i in inputs) + b"".join(field(12, port(*o)) for o in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))


def unary(op="Identity", dtype=FLOAT, shape=(2, 3)):
    """y = op(x)"""
    kind = tensor_type(dtype, shape)
    return model([node(op, ["x"], ["y"])], [("x", kind)], [("y", kind)])


def adding(shape=("n", 3), dtype=FLOAT):
    """c = a + b"""
    kind = tensor_type(dtype, shape)
    return model([node("Add", ["a", "b"], ["c"])], [("a", kind), ("b", kind)], [("c", kind)])


WATCHED = bool(os.environ.get("HOLO_TEST_WATCHED"))  # by sanitizers: everything takes many times as long
SLOW = 300 if WATCHED else 1500


def square(size=SLOW):
    """An input of such a model."""
    return hologram.Tensor(memoryview(bytes(4 * size * size)).cast("f", [size, size]))


def slow(size=SLOW):
    """About a second of products: for runs that are stopped."""
    kind = tensor_type(FLOAT, (size, size))
    nodes = [node("MatMul", ["x" if i == 0 else f"y{i - 1}", "x"], [f"y{i}"]) for i in range(60)]
    return model(nodes, [("x", kind)], [("y59", kind)])


def opened(data, **options):
    return hologram.open(data, **options)


def rss():
    """Bytes that the process holds."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
