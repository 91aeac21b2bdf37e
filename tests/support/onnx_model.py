"""onnx_model.py OUT.onnx WORDS... - writes a small ONNX model, for tests of the program.

  in NAME TYPE DIMS      an input: in x f32 batch,3,8,8
  out NAME TYPE DIMS     an output
  weight NAME DIMS SEED  f32 numbers between -1 and 1 that follow from the seed
  const NAME A,B,...     a list of f32 numbers
  outside NAME A,B,... FILE   the same, in a file beside the model
  opset N                of ONNX; 17 if it is not there
  node OP IN,... OUT,... [KEY=INT, KEY=I,I,... or KEY=[I]]; OP may be DOMAIN::OP; IN is - for a node without inputs
"""

import os
import struct
import sys

TYPES = {"f32": 1, "u8": 2, "i8": 3, "i64": 7, "bool": 9, "f16": 10}


def varint(number):
    out = b""
    number &= (1 << 64) - 1
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def port(name, dtype, dims):
    shape = b"".join(part(1, number(1, int(d)) if d.isdigit() else part(2, d)) for d in dims.split(",") if d)
    return part(1, name) + part(2, part(1, number(1, TYPES[dtype]) + part(2, shape)))


def weight(name, dims, seed):
    sizes = [int(d) for d in dims.split(",")]
    count, state, data = 1, int(seed), b""
    for size in sizes:
        count *= size
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        data += struct.pack("<f", (state >> 8) / (1 << 23) - 1)
    return b"".join(number(1, s) for s in sizes) + number(2, 1) + part(8, name) + part(9, data)


def const(name, numbers):
    data = [float(n) for n in numbers.split(",")]
    return number(1, len(data)) + number(2, 1) + part(8, name) + part(9, struct.pack("<%df" % len(data), *data))


def outside(name, numbers, file):
    data = [float(n) for n in numbers.split(",")]
    with open(os.path.join(os.path.dirname(sys.argv[1]), file), "wb") as out:
        out.write(struct.pack("<%df" % len(data), *data))
    return number(1, len(data)) + number(2, 1) + part(8, name) + part(13, part(1, "location") + part(2, file)) + number(14, 1)


def attribute(text):
    key, value = text.split("=")
    numbers = [int(v) for v in value.strip("[]").split(",")]
    if "," not in value and value[0] != "[":
        return part(1, key) + number(3, numbers[0]) + number(20, 2)
    return part(1, key) + b"".join(number(8, n) for n in numbers) + number(20, 7)


def main():
    words = sys.argv[2:]
    graph = b""
    nodes, opset, opsets = 0, 17, {}
    while words:
        kind = words.pop(0)
        if kind in ("in", "out"):
            graph += part(11 if kind == "in" else 12, port(*words[:3]))
            words = words[3:]
        elif kind == "weight":
            graph += part(5, weight(*words[:3]))
            words = words[3:]
        elif kind == "opset":
            opset = int(words.pop(0))
        elif kind == "const":
            graph += part(5, const(*words[:2]))
            words = words[2:]
        elif kind == "outside":
            graph += part(5, outside(*words[:3]))
            words = words[3:]
        else:
            op, ins, outs = words[:3]
            words = words[3:]
            nodes += 1
            node = b"".join(part(1, n) for n in ins.split(",") if ins != "-") + b"".join(part(2, n) for n in outs.split(","))
            domain, _, op = op.rpartition("::")
            node += part(3, "node%d" % nodes) + part(4, op) + (part(7, domain) if domain else b"")
            if domain:
                opsets.setdefault(domain, part(8, part(1, domain) + number(2, 1)))
            while words and "=" in words[0]:
                node += part(5, attribute(words.pop(0)))
            graph += part(1, node)
    with open(sys.argv[1], "wb") as out:
        out.write(number(1, 8) + part(7, graph + part(2, "test")) + part(8, number(2, opset)) + b"".join(opsets.values()))


main()
