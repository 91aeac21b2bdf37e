"""A writer of small TensorFlow Lite files: tables, lists and tensors, without FlatBuffers' own tools."""
import struct

TYPES = {"f32": 0, "f16": 1, "i32": 2, "u8": 3, "i64": 4, "string": 5, "bool": 6, "i16": 7, "c64": 8, "i8": 9, "f64": 10, "u64": 12,
         "resource": 13, "u32": 15, "u16": 16, "i4": 17}
CODES = {"f32": "f", "i32": "i", "u8": "B", "i64": "q", "bool": "B", "i16": "h", "i8": "b", "f64": "d", "u64": "Q", "u32": "I", "u16": "H"}
SCALARS = {"i8": ("b", 1), "u8": ("B", 1), "i32": ("i", 4), "u32": ("I", 4), "i64": ("q", 8), "u64": ("Q", 8), "f32": ("f", 4)}


class Buffer:
    """Objects lie behind those that refer to them, so that all offsets lead forward."""

    def __init__(self):
        self.bytes = bytearray()

    def align(self, size):
        while len(self.bytes) % size:
            self.bytes.append(0)

    def patch(self, at, target):
        self.bytes[at : at + 4] = struct.pack("<I", target - at)

    def put(self, kind, value):
        """Writes an object, and returns where it lies."""
        if kind == "table":
            return self.table(value)
        if kind == "text":
            self.align(4)
            at, raw = len(self.bytes), value if isinstance(value, bytes) else value.encode()
            self.bytes += struct.pack("<I", len(raw)) + raw + b"\0"
            return at
        if kind == "tables":
            return self.refs("table", value)
        return self.numbers(kind, value)

    def refs(self, kind, values):
        self.align(4)
        at = len(self.bytes)
        self.bytes += struct.pack("<I", len(values)) + bytes(4 * len(values))
        for i, value in enumerate(values):
            self.patch(at + 4 + 4 * i, self.put(kind, value))
        return at

    def numbers(self, kind, values):
        code, size = {"ints": ("i", 4), "longs": ("q", 8), "floats": ("f", 4), "bytes": ("B", 1)}[kind]
        wide = 16 if kind == "bytes" else 8
        while (len(self.bytes) + 4) % wide:
            self.bytes.append(0)
        at = len(self.bytes)
        self.bytes += struct.pack("<I", len(values))
        self.bytes += bytes(values) if kind == "bytes" else struct.pack(f"<{len(values)}{code}", *values)
        return at

    def table(self, fields):
        """fields: number -> (kind, value); None values are left out."""
        fields = {n: f for n, f in fields.items() if f is not None and f[1] is not None}
        count = max(fields, default=-1) + 1
        offsets, size = [0] * count, 4
        for n, (kind, _) in sorted(fields.items()):
            width = SCALARS[kind][1] if kind in SCALARS else 4
            size = (size + width - 1) // width * width
            offsets[n] = size
            size += width
        self.align(8)
        vtable = len(self.bytes)
        self.bytes += struct.pack(f"<HH{count}H", 4 + 2 * count, size, *offsets)
        self.align(8)
        at = len(self.bytes)
        self.bytes += struct.pack("<i", at - vtable) + bytes(size - 4)
        for n, (kind, value) in sorted(fields.items()):
            if kind in SCALARS:
                code, width = SCALARS[kind]
                self.bytes[at + offsets[n] : at + offsets[n] + width] = struct.pack("<" + code, value)
        for n, (kind, value) in sorted(fields.items()):
            if kind not in SCALARS:
                self.patch(at + offsets[n], self.put(kind, value))
        return at


class Tensor:
    """A tensor of a subgraph; one with `data` is a constant. `scale` may be a list, along `axis`."""

    def __init__(self, dtype, shape, data=None, name=None, scale=None, zero=0, axis=0, variable=False, signature=None, sparsity=None):
        self.dtype, self.shape, self.data, self.name = dtype, list(shape), data, name
        self.scale = None if scale is None else list(scale) if isinstance(scale, (list, tuple)) else [scale]
        self.zero = list(zero) if isinstance(zero, (list, tuple)) else [zero] * len(self.scale or [0])
        self.axis, self.variable, self.signature, self.sparsity = axis, variable, signature, sparsity

    def raw(self):
        if isinstance(self.data, bytes):
            return self.data
        if self.dtype == "string":
            texts = [t.encode() for t in self.data]
            at, out = 8 + 4 * len(texts), struct.pack("<i", len(texts))
            for t in texts:
                out += struct.pack("<i", at)
                at += len(t)
            return out + struct.pack("<i", at) + b"".join(texts)
        if self.dtype == "f16":
            return struct.pack(f"<{len(self.data)}e", *self.data)
        if self.dtype == "i4":
            q = [x & 15 for x in self.data] + [0]
            return bytes(q[i] | q[i + 1] << 4 for i in range(0, len(self.data), 2))
        return struct.pack(f"<{len(self.data)}{CODES[self.dtype]}", *self.data)

    def fields(self, index, buffers):
        buffer = 0
        if self.data is not None:
            buffers.append({0: ("bytes", self.raw())})
            buffer = len(buffers) - 1
        quant = None
        if self.scale:
            quant = ("table", {2: ("floats", self.scale), 3: ("longs", self.zero), 6: ("i32", self.axis)})
        return {0: ("ints", self.shape), 1: ("i8", TYPES[self.dtype]), 2: ("u32", buffer), 3: ("text", self.name or f"t{index}"), 4: quant,
                5: ("u8", 1) if self.variable else None, 6: ("table", self.sparsity) if self.sparsity else None,
                7: ("ints", self.signature) if self.signature else None}


class Op:
    """options: (number in the union, {field: (kind, value)}); a number below 0 is of the second union."""

    def __init__(self, code, inputs, outputs, options=None, custom=None, custom_options=None, version=1):
        self.code, self.inputs, self.outputs, self.options = code, inputs, outputs, options
        self.custom, self.custom_options, self.version = custom, custom_options, version


class Graph:
    def __init__(self, ops, inputs, outputs, extra=()):
        self.ops, self.inputs, self.outputs = ops, inputs, outputs
        self.tensors = list(dict.fromkeys([*inputs, *outputs, *(t for o in ops for t in [*o.inputs, *o.outputs] if t is not None), *extra]))


def write(graphs, description="made by writer.py", signatures=(), metadata=()):
    """The bytes of a model with these subgraphs; the first is the model's own."""
    buffers, codes, subgraphs = [{}], [], []
    for graph in graphs:
        place = {t: i for i, t in enumerate(graph.tensors)}
        ops = []
        for op in graph.ops:
            key = (op.code, op.custom, op.version)
            if key not in codes:
                codes.append(key)
            fields = {0: ("u32", codes.index(key)), 1: ("ints", [-1 if t is None else place[t] for t in op.inputs]),
                      2: ("ints", [place[t] for t in op.outputs])}
            if op.options:
                at = 3 if op.options[0] > 0 else 11
                fields[at], fields[at + 1] = ("u8", abs(op.options[0])), ("table", op.options[1])
            if op.custom_options is not None:
                fields[5] = ("bytes", op.custom_options)
            ops.append(fields)
        subgraphs.append({0: ("tables", [t.fields(i, buffers) for i, t in enumerate(graph.tensors)]),
                          1: ("ints", [place[t] for t in graph.inputs]), 2: ("ints", [place[t] for t in graph.outputs]),
                          3: ("tables", ops), 4: ("text", "main")})
    entries = []
    for name, raw in metadata:
        buffers.append({0: ("bytes", raw)})
        entries.append({0: ("text", name), 1: ("u32", len(buffers) - 1)})
    maps = [{0: ("tables", [{0: ("text", n), 1: ("u32", i)} for n, i in ins]), 1: ("tables", [{0: ("text", n), 1: ("u32", i)} for n, i in outs]),
             2: ("text", key), 4: ("u32", graph)} for key, ins, outs, graph in signatures]
    out = Buffer()
    out.bytes += bytes(4) + b"TFL3"
    root = out.table({0: ("u32", 3), 1: ("tables", [{0: ("i8", min(c, 127)), 1: ("text", n) if n else None, 2: ("i32", v), 3: ("i32", c)} for c, n, v in codes]),
                      2: ("tables", subgraphs), 3: ("text", description), 4: ("tables", buffers),
                      6: ("tables", entries) if entries else None, 7: ("tables", maps) if maps else None})
    out.bytes[0:4] = struct.pack("<I", root)
    return bytes(out.bytes)


def write_npy(path, dtype, shape, data):
    text = {"f32": "<f4", "i32": "<i4", "u8": "|u1", "i64": "<i8", "bool": "|b1", "i16": "<i2", "i8": "|i1", "f64": "<f8", "u32": "<u4", "u16": "<u2"}
    shape = "(" + "".join(f"{d}," for d in shape) + ")"
    if dtype == "string":
        raw = [t.encode() for t in data]
        width = max(map(len, raw), default=1) or 1
        text, body = {"string": f"|S{width}"}, b"".join(t.ljust(width, b"\0") for t in raw)
    else:
        body = struct.pack(f"<{len(data)}{CODES[dtype]}", *data)
    head = f"{{'descr': '{text[dtype]}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + body)
