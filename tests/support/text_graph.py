#!/usr/bin/env python3
"""Writes graphs of TensorFlow (.pbtxt) with operators on texts, and checks answers that TensorFlow.js gave for them.

usage: text_graph.py make FOLDER
       text_graph.py check FOLDER     FOLDER/NAME/*.npy are the outputs of FOLDER/NAME.pbtxt
"""
import ast
import pathlib
import struct
import sys

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 ,." * 5
HASHED = {  # the length of a text, which begins at that modulo 7 of the alphabet, and its bucket of 100003
    0: 61252,
    1: 68501,
    3: 87854,
    5: 64637,
    8: 40464,
    12: 9925,
    16: 68052,
    20: 70392,
    28: 31952,
    38: 22413,
    44: 10479,
    50: 14973,
    58: 21719,
    138: 49403,
}
SPLIT = ["a b  c", "", " x,y;z"]


def attr(name, value):
    return f'  attr {{ key: "{name}" value {{ {value} }} }}\n'


def node(name, op, inputs=(), *attrs):
    return f'node {{ name: "{name}" op: "{op}"\n' + "".join(f'  input: "{i}"\n' for i in inputs) + "".join(attrs) + "}\n"


def place(name, dtype, *sizes):
    dims = " ".join(f"dim {{ size: {n} }}" for n in sizes)
    return node(name, "Placeholder", (), attr("dtype", f"type: {dtype}"), attr("shape", f"shape {{ {dims} }}"))


def const(name, dtype, field, values, *sizes):
    dims = " ".join(f"dim {{ size: {n} }}" for n in sizes)
    body = " ".join(f"{field}: {v}" for v in values)
    return node(name, "Const", (), attr("dtype", f"type: {dtype}"), attr("value", f"tensor {{ dtype: {dtype} tensor_shape {{ {dims} }} {body} }}"))


def split(delimiter, skip):
    return (place("x", "DT_STRING", 3) + const("d", "DT_STRING", "string_val", [f'"{delimiter}"'])
            + node("s", "StringSplit", ("x", "d"), attr("skip_empty", f"b: {str(skip).lower()}"))
            + node("places", "Identity", ("s",)) + node("parts", "Identity", ("s:1",)) + node("shape", "Identity", ("s:2",)))


def grams(widths, pad, short, separator):
    return (place("x", "DT_STRING", 6) + const("rows", "DT_INT32", "int_val", [0, 4, 4, 6], 4)
            + node("g", "StringNGrams", ("x", "rows"), attr("separator", f's: "{separator}"'), attr("left_pad", 's: "L"'),
                   attr("right_pad", 's: "R"'), attr("pad_width", f"i: {pad}"), attr("preserve_short_sequences", f"b: {str(short).lower()}"),
                   attr("ngram_widths", "list { " + " ".join(f"i: {w}" for w in widths) + " }"))
            + node("joined", "Identity", ("g",)) + node("ends", "Identity", ("g:1",)))


def numbers():
    return (place("x", "DT_FLOAT", 4) + const("n", "DT_INT32", "int_val", [4], 1) + node("f", "RFFT", ("x", "n"))
            + node("sizes", "ComplexAbs", ("f",)) + node("re", "Real", ("f",)) + node("im", "Imag", ("f",)) + node("back", "IRFFT", ("f", "n"))
            + node("c", "Complex", ("re", "im")) + node("again", "IRFFT", ("c", "n")))


def pictures():
    """A transform in two dimensions and back; the conjugate has the same size."""
    return (place("x", "DT_FLOAT", 6) + const("s", "DT_INT32", "int_val", [2, 3], 2) + node("i", "Reshape", ("x", "s"))
            + const("n", "DT_INT32", "int_val", [2, 3], 2) + node("f", "RFFT2D", ("i", "n")) + node("re", "Real", ("f",)) + node("im", "Imag", ("f",))
            + node("back", "IRFFT2D", ("f", "n")) + node("z", "Imag", ("c",)) + node("c", "Conj", ("f",))
            + node("w", "FFT2D", ("c",)) + node("v", "IFFT2D", ("w",)) + node("again", "Imag", ("v",)))


WORDS = ["a", "bb", "c", "d", "e", "f"]
CASES = {  # a graph, its input, and its outputs
    "hash": (place("x", "DT_STRING", len(HASHED)) + node("y", "StringToHashBucketFast", ("x",), attr("num_buckets", "i: 100003")),
             [ALPHABET[n % 7 : n % 7 + n] for n in HASHED], {"y": list(HASHED.values())}),
    "split": (split(" ", True), SPLIT, {"places": [0, 0, 0, 1, 0, 2, 2, 0], "parts": ["a", "b", "c", "x,y;z"], "shape": [3, 3]}),
    "split_all": (split(" ", False), SPLIT, {"places": [0, 0, 0, 1, 0, 2, 0, 3, 2, 0, 2, 1], "parts": ["a", "b", "", "c", "", "x,y;z"], "shape": [3, 4]}),
    "split_bytes": (split("", True), SPLIT, {"parts": ["a", " ", "b", " ", " ", "c", " ", "x", ",", "y", ";", "z"], "shape": [3, 6]}),
    "split_set": (split(",;", True), SPLIT, {"places": [0, 0, 2, 0, 2, 1, 2, 2], "parts": ["a b  c", " x", "y", "z"], "shape": [3, 3]}),
    "grams": (grams([1, 2], -1, False, "|"), WORDS, {"joined": ["a", "bb", "c", "d", "L|a", "a|bb", "bb|c", "c|d", "d|R", "L|R", "e", "f", "L|e", "e|f", "f|R"], "ends": [0, 9, 10, 15]}),
    "grams_short": (grams([4], 0, True, "-"), WORDS, {"joined": ["a-bb-c-d", "e-f"], "ends": [0, 1, 1, 2]}),
    "grams_padded": (grams([2, 3], 1, False, ""), WORDS, {"joined": ["La", "abb", "bbc", "cd", "dR", "Labb", "abbc", "bbcd", "cdR", "LR", "Le", "ef", "fR", "Lef", "efR"], "ends": [0, 9, 10, 15]}),
    "replace": (place("x", "DT_STRING", 3) + node("r", "StaticRegexReplace", ("x",), attr("pattern", 's: "[,;]+"'), attr("rewrite", 's: "-"'))
                + node("u", "StringUpper", ("r",)) + const("e", "DT_STRING", "string_val", ['"!"']) + node("y", "StringJoin", ("u", "e"), attr("separator", 's: "+"'), attr("N", "i: 2")),
                ["a,;b", "", ";x"], {"y": ["A-B+!", "+!", "-X+!"]}),
    "join": (place("x", "DT_STRING", 3) + const("d", "DT_INT32", "int_val", [0], 1) + node("y", "ReduceJoin", ("x", "d"), attr("separator", 's: "+"'))
             + node("z", "Identity", ("y",)), ["a", "", "c"], {"z": ["a++c"]}),
    "pictures": (pictures(), [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], {"re": [22, -3.5, -10, 0.5], "im": [0, 2.598076, 0, -0.866025],
                 "back": [1, 2, 3, 4, 5, 7], "z": [0, -2.598076, 0, 0.866025], "again": [0, -2.598076, 0, 0.866025]}),
    "fourier": (numbers(), [1.0, 2.0, 3.0, 4.0], {"sizes": [10, 8**0.5, 2], "back": [1, 2, 3, 4], "again": [1, 2, 3, 4]}),
}


def write_npy(path, values):
    texts = isinstance(values[0], str)
    width = max(map(len, values)) or 1 if texts else 0
    body = b"".join(v.ljust(width, "\0").encode("utf-32-le") for v in values) if texts else struct.pack(f"<{len(values)}f", *values)
    header = repr({"descr": f"<U{width}" if texts else "<f4", "fortran_order": False, "shape": (len(values),)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body)


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    code, body = ast.literal_eval(data[10 : 10 + size].decode())["descr"].lstrip("<|"), data[10 + size :]
    if code[0] == "U":
        width = 4 * int(code[1:])
        return [body[i : i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(body), width)]
    letter = {"f4": "f", "i8": "q", "i4": "i"}[code]
    return list(struct.unpack(f"<{len(body) // int(code[1])}{letter}", body))


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for name, (graph, given, wanted) in CASES.items():
        if what == "make":
            (folder / f"{name}.pbtxt").write_text(graph)
            write_npy(folder / f"{name}.npy", given)
            continue
        for output, want in wanted.items():
            have = read_npy(folder / name / f"{output}.npy")
            same = len(have) == len(want) and all(a == b if isinstance(a, str) else abs(a - b) < 1e-5 for a, b in zip(have, want))
            if not same:
                sys.exit(f"{name}: {output} is {have}, not {want}")
        print(f"{name} agrees")


if __name__ == "__main__":
    main()
