#!/usr/bin/env python3
"""Writes TensorFlow Lite files that show more than one operator: special.py FOLDER"""
import pathlib
import struct
import sys
import zipfile

from writer import Buffer, Graph, Op, Tensor, write

ACT = {0: ("i8", 0)}


def counter():
    """A variable that begins with 5 and grows by the input in each run."""
    x, y, handle, was, now = Tensor("f32", [2], name="x"), Tensor("f32", [2], name="y"), Tensor("resource", []), Tensor("f32", [2]), None
    now = y
    inner, first = Tensor("resource", []), Tensor("f32", [2], [5.0, 5.0])
    options = (111, {0: ("text", ""), 1: ("text", "sum")})
    main = Graph([Op(129, [], [], (103, {0: ("i32", 1)})), Op(142, [], [handle], options), Op(143, [handle], [was]),
                  Op(0, [was, x], [now], (11, ACT)), Op(144, [handle, now], [])], [x], [y])
    once = Graph([Op(142, [], [inner], options), Op(144, [inner, first], [])], [], [])
    return write([main, once])


def open_sizes(pinned=False):
    """The batch and the width are open; `pinned`: a Reshape needs them to be what the file says."""
    x = Tensor("f32", [1, 4], name="x", signature=[-1, -1])
    y = Tensor("f32", [4] if pinned else [1, 4], name="y")
    op = Op(22, [x, Tensor("i32", [1], [4])], [y], (17, {0: ("ints", [4])})) if pinned else Op(0, [x, Tensor("f32", [], [1.0])], [y], (11, ACT))
    return write([Graph([op], [x], [y])])


def unknown():
    """Operators that nothing knows, one of them twice; all are listed."""
    x, a, b, y = (Tensor("f32", [3], name=n) for n in "xaby")
    return write([Graph([Op(32, [x], [a], custom="Sing"), Op(32, [a], [b], custom="Sing"), Op(29, [b], [y])], [x], [y])])


def described():
    """A signature, and metadata with a description and how to normalize the input."""
    x, y = Tensor("f32", [3], name="serving_default_x:0"), Tensor("f32", [3], name="PartitionedCall:0")
    meta = Buffer()
    meta.bytes += bytes(4) + b"M001"
    unit = {0: ("u8", 1), 1: ("table", {0: ("floats", [127.5]), 1: ("floats", [128.0])})}
    tensors = [{0: ("text", "image"), 1: ("text", "A picture"), 4: ("tables", [unit])}]
    root = meta.table({0: ("text", "Shapes"), 1: ("text", "Tells shapes"), 3: ("tables", [{2: ("tables", tensors)}]), 4: ("text", "Somebody")})
    meta.bytes[0:4] = struct.pack("<I", root)
    return write([Graph([Op(101, [x], [y])], [x], [y])], "a test", [("serving_default", [("x", 0)], [("y", 1)], 0)], [("TFLITE_METADATA", bytes(meta.bytes))])


def texts():
    """Texts as a constant and as an input."""
    x, table, y = Tensor("string", [2], name="x"), Tensor("string", [2], ["yes", "no"]), Tensor("bool", [2], name="y")
    return write([Graph([Op(71, [x, table], [y])], [x], [y])])


def main():
    folder = pathlib.Path(sys.argv[1])
    files = {"counter": counter(), "open": open_sizes(), "pinned": open_sizes(True), "unknown": unknown(), "described": described(), "texts": texts()}
    for name, raw in files.items():
        (folder / f"{name}.tflite").write_bytes(raw)
    with zipfile.ZipFile(folder / "one.task", "w") as task:
        task.writestr("model.tflite", files["open"])
        task.writestr("labels.txt", "cat\ndog\n")
    with open(folder / "two.task", "wb") as file:
        file.write(b"\0\0")  # as MediaPipe aligns what is inside
    with zipfile.ZipFile(folder / "two.task", "a") as task:
        task.writestr("detector.tflite", files["open"])
        task.writestr("landmarks.tflite", files["texts"])
    (folder / "two.data").write_bytes(b"DATA" + files["open"] + files["counter"])
    (folder / "labeled.tflite").write_bytes(files["open"])
    with zipfile.ZipFile(folder / "labeled.tflite", "a") as more:
        more.writestr("labels.txt", "cat\ndog\n")


if __name__ == "__main__":
    main()
