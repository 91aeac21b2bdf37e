"""vectors.py FILE.npy HIDDEN.npy MODES [normalize] - whether the first row of FILE is what HIDDEN, [1, tokens, size], gives by
these modes of pooling (mean,cls ...)."""
import ast
import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:at].decode())
    assert header["descr"] == "<f4", header
    return header["shape"], struct.unpack("<%df" % ((len(data) - at) // 4), data[at:])


def weighted(column):
    return sum((i + 1) * x for i, x in enumerate(column)) / sum(range(1, len(column) + 1))


POOL = {"cls": lambda c: c[0], "last": lambda c: c[-1], "max": max, "mean": lambda c: sum(c) / len(c),
        "mean_sqrt": lambda c: sum(c) / math.sqrt(len(c)), "weighted": weighted}

shape, got = read(sys.argv[1])
(one, tokens, size), hidden = read(sys.argv[2])
columns = [[hidden[t * size + k] for t in range(tokens)] for k in range(size)]
wanted = [POOL[mode](column) for mode in sys.argv[3].split(",") for column in columns]
if len(sys.argv) > 4:
    length = math.sqrt(sum(x * x for x in wanted))
    wanted = [x / length for x in wanted]
assert shape[1] == len(wanted), (shape, len(wanted))
worst = max(abs(a - b) for a, b in zip(got, wanted))
print("worst difference", worst)
sys.exit(worst > 1e-5)
