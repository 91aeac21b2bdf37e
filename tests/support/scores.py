"""scores.py OUT.json LOGITS.npy HOW LABEL... - whether the scores in what `hologram classify --json` printed for its first input are
those of these logits, by HOW: softmax, sigmoid or none. The labels are those of each id."""
import ast
import json
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


def softmax(row):
    all = [math.exp(x) for x in row]
    return [x / sum(all) for x in all]


HOW = {"softmax": softmax, "sigmoid": lambda row: [1 / (1 + math.exp(-x)) for x in row], "none": list}

with open(sys.argv[1]) as file:
    given = json.load(file)["inputs"][0]
shape, logits = read(sys.argv[2])
how, labels = HOW[sys.argv[3]], sys.argv[4:]
rows = [how(logits[at:at + shape[-1]]) for at in range(0, len(logits), shape[-1])]
if len(shape) == 3:
    rows = rows[1:-1]  # without the special tokens
    pairs = [(got, max(zip(row, labels))) for got, row in zip(given["tokens"], rows, strict=True)]
else:
    pairs = list(zip(given["labels"], sorted(zip(rows[0], labels), reverse=True)))
assert pairs
for got, (score, label) in pairs:
    assert abs(got["score"] - score) < 1e-5 and got["label"] == label and labels[got["id"]] == label, (got, score, label)
