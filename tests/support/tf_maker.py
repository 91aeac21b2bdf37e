#!/usr/bin/env python3
"""Makes one small network in all the forms that TensorFlow and Keras store models in, without either of them.

usage: tf_maker.py FOLDER

Writes FOLDER/net.h5, net.keras, frozen.pb, frozen.pbtxt, saved/ (a SavedModel), tfjs_graph/, tfjs_layers/, tfjs_small/ (weights
in 16 and 8 bits) and input.npy. The network: a convolution with padding, a pool, a product, softmax.
"""
import json
import math
import pathlib
import random
import struct
import sys
import zipfile

# ---- protobuf


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


# ---- TensorFlow's messages

FLOAT, INT32, STRING, RESOURCE = 1, 3, 7, 20


def shape(sizes):
    return message(*[(2, message((1, size))) for size in sizes])


def tensor(dtype, sizes, content):
    if dtype == STRING:
        return message((1, dtype), (2, shape(sizes)), *[(8, text) for text in content])
    return message((1, dtype), (2, shape(sizes)), (4, content))


def attr_type(dtype):
    return message((6, dtype))


def attr_ints(*numbers):
    return message((1, message(*[(3, n) for n in numbers])))


def attr_func(name):
    return message((10, message((1, name))))


def node(name, op, inputs=(), **attrs):
    return message((1, name), (2, op), *[(3, i) for i in inputs], *[(5, message((1, k), (2, v))) for k, v in attrs.items()])


def const(name, dtype, sizes, content):
    return node(name, "Const", value=message((8, tensor(dtype, sizes, content))), dtype=attr_type(dtype))


def layers(source, weight, suffix=""):
    """The nodes of the network behind `source`; weight(name) is where a weight comes from."""
    window = dict(strides=attr_ints(1, 1, 1, 1), padding=message((2, "SAME")), data_format=message((2, "NHWC")))
    pool = dict(strides=attr_ints(1, 2, 2, 1), ksize=attr_ints(1, 2, 2, 1), padding=message((2, "VALID")))
    s = suffix
    return [
        node("conv", "Conv2D", [source, weight("conv/kernel")], T=attr_type(FLOAT), **window),
        node("conv_bias", "BiasAdd", ["conv" + s.format("output"), weight("conv/bias")], T=attr_type(FLOAT)),
        node("relu", "Relu", ["conv_bias" + s.format("output")], T=attr_type(FLOAT)),
        node("pool", "MaxPool", ["relu" + s.format("activations")], T=attr_type(FLOAT), **pool),
        const("flat_shape", INT32, [2], struct.pack("<2i", -1, 27)),
        node("flat", "Reshape", ["pool" + s.format("output"), "flat_shape" + s.format("output")], T=attr_type(FLOAT)),
        node("product", "MatMul", ["flat" + s.format("output"), weight("dense/kernel")], T=attr_type(FLOAT)),
        node("dense_bias", "BiasAdd", ["product" + s.format("product"), weight("dense/bias")], T=attr_type(FLOAT)),
        node("probs", "Softmax", ["dense_bias" + s.format("output")], T=attr_type(FLOAT)),
    ]


# ---- weights

SIZES = {"conv/kernel": [3, 3, 2, 3], "conv/bias": [3], "dense/kernel": [27, 4], "dense/bias": [4]}


def make_weights():
    chance = random.Random(7)
    return {name: [round(chance.uniform(-0.5, 0.5), 3) for _ in range(math.prod(sizes))] for name, sizes in SIZES.items()}


def floats(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


# ---- frozen graphs, and SavedModel


def graph_def(nodes, library=b""):
    return b"".join(field(1, n) for n in nodes) + (field(2, library) if library else b"")


def frozen(weights):
    placeholder = node("x", "Placeholder", dtype=attr_type(FLOAT), shape=message((7, shape([-1, 6, 6, 2]))))
    consts = [const(name, FLOAT, SIZES[name], floats(numbers)) for name, numbers in weights.items()]
    return graph_def([placeholder] + consts + layers("x", lambda name: name))


def function(name, inputs, outputs, nodes, returns):
    arg = lambda pair: message((1, pair[0]), (3, pair[1]))
    signature = message((1, name), *[(2, arg(i)) for i in inputs], *[(3, arg(o)) for o in outputs])
    return message((1, signature), *[(3, n) for n in nodes], *[(4, message((1, k), (2, v))) for k, v in returns.items()])


def saved_model(weights):
    names = list(weights)
    keys = [f"layer_with_weights-{i}/{name.split('/')[1]}/.ATTRIBUTES/VARIABLE_VALUE" for name, i in zip(names, (0, 0, 1, 1))]
    var = lambda name: "var_" + name.replace("/", "_")
    reads = [node("read_" + var(n), "ReadVariableOp", [var(n)], dtype=attr_type(FLOAT)) for n in names]
    body = reads + layers("x", lambda n: f"read_{var(n)}:value:0", ":{}:0")
    call = function("forward", [("x", FLOAT)] + [(var(n), RESOURCE) for n in names], [("y", FLOAT)], body, {"y": "probs:softmax:0"})
    restore = [const("names", STRING, [4], keys), const("slices", STRING, [4], [""] * 4)]
    restore.append(node("restore", "RestoreV2", ["prefix", "names:output:0", "slices:output:0"]))
    for i, n in enumerate(names):
        restore.append(node(f"id_{i}", "Identity", [f"restore:tensors:{i}"], T=attr_type(FLOAT)))
        restore.append(node(f"assign_{i}", "AssignVariableOp", [var(n), f"id_{i}:output:0"], dtype=attr_type(FLOAT)))
    restoring = function("restoring", [("prefix", STRING)] + [(var(n), RESOURCE) for n in names], [("y", STRING)], restore, {"y": "prefix"})
    main = [node("serving_default_x", "Placeholder", dtype=attr_type(FLOAT), shape=message((7, shape([-1, 6, 6, 2]))))]
    main += [node(var(n), "VarHandleOp", dtype=attr_type(FLOAT), shared_name=message((2, n))) for n in names]
    main.append(node("forward_call", "StatefulPartitionedCall", ["serving_default_x"] + [var(n) for n in names], f=attr_func("forward")))
    main.append(node("prefix", "Placeholder", dtype=attr_type(STRING), shape=message((7, shape([])))))
    main.append(node("restore_call", "StatefulPartitionedCall", ["prefix"] + [var(n) for n in names], f=attr_func("restoring")))
    info = lambda name, sizes: message((1, name), (2, FLOAT), (3, shape(sizes)))
    entry = lambda key, value: message((1, key), (2, value))
    signature = message((1, entry("x", info("serving_default_x:0", [-1, 6, 6, 2]))), (2, entry("probs", info("forward_call:0", [-1, 4]))))
    library = message((1, call), (1, restoring))
    meta = message((1, message((4, "serve"), (5, "2.15.0"))), (2, graph_def(main, library)), (5, entry("serving_default", signature)))
    return message((1, 1), (2, meta)), dict(zip(keys, names))


def block(entries):
    """A block of a sorted table: keys that share their beginnings, one restart."""
    out, last = b"", b""
    for key, value in entries:
        same = 0
        while same < min(len(key), len(last)) and key[same] == last[same]:
            same += 1
        out += varint(same) + varint(len(key) - same) + varint(len(value)) + key[same:] + value
        last = key
    return out + struct.pack("<II", 0, 1)


def snappy(data):
    """Google's Snappy, without looking for repetitions but for one of a single byte."""
    out = varint(len(data))
    for at in range(0, len(data), 60):
        piece = data[at : at + 60]
        out += bytes([(len(piece) - 1) << 2]) + piece
    return out


def bundle(folder, weights, keys):
    data, entries = b"", [(b"", message((1, 1), (3, message((1, 1)))))]
    for key in sorted(keys):
        content = floats(weights[keys[key]])
        entry = [(1, FLOAT), (2, shape(SIZES[keys[key]])), (5, len(content))] + ([(4, len(data))] if data else [])
        entries.append((key.encode(), message(*entry)))
        data += content
    body = snappy(block(entries))
    index = block([(b"\xff", varint(0) + varint(len(body)))])
    empty = block([])
    out = body + b"\1" + b"\0" * 4
    places = []
    for part in (empty, index):
        places.append((len(out), len(part)))
        out += part + b"\0" * 5
    footer = b"".join(varint(n) for place in places for n in place)
    out += footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "variables.index").write_bytes(out)
    (folder / "variables.data-00000-of-00001").write_bytes(data)


# ---- the text form of a message with field names


def to_text(data, fields, indent=0):
    out, at = "", 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
            value = value - (1 << 64) if value >> 63 else value
        elif wire == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        name, inner = fields[number]
        pad = "  " * indent
        if inner is not None:
            out += f"{pad}{name} {{\n{to_text(value, inner, indent + 1)}{pad}}}\n"
        elif isinstance(value, bytes):
            out += f'{pad}{name}: "' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:03o}" for b in value) + '"\n'
        else:
            out += f"{pad}{name}: {value}\n"
    return out


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


SHAPE = {2: ("dim", {1: ("size", None)})}
TENSOR = {1: ("dtype", None), 2: ("tensor_shape", SHAPE), 4: ("tensor_content", None)}
ATTR = {1: ("list", {3: ("i", None)}), 2: ("s", None), 6: ("type", None), 7: ("shape", SHAPE), 8: ("tensor", TENSOR)}
NODE = {1: ("name", None), 2: ("op", None), 3: ("input", None), 5: ("attr", {1: ("key", None), 2: ("value", ATTR)})}

# ---- HDF5, as h5py writes it by default: version 0, symbol tables, headers of version 1


class Hdf5:
    def __init__(self):
        self.data = bytearray(96)

    def add(self, piece):
        while len(self.data) % 8:
            self.data += b"\0"
        self.data += piece
        return len(self.data) - len(piece)

    def text_type(self, size):
        return struct.pack("<BBBBI", 0x13, 0, 0, 0, size)

    def attr(self, name, values):
        """An attribute: one string of any length in the global heap, or a list of strings of one size."""
        name = name.encode() + b"\0"
        pad = lambda b: b + b"\0" * (-len(b) % 8)
        if isinstance(values, str):
            text = values.encode()
            item = struct.pack("<HHIQ", 1, 1, 0, len(text)) + text + b"\0" * (-len(text) % 8)
            size = 16 + len(item) + 16
            heap = self.add(b"GCOL\1\0\0\0" + struct.pack("<Q", size) + item + b"\0" * 16)
            kind = struct.pack("<BBBBI", 0x19, 1, 0, 0, 16) + self.text_type(1)
            space, content = struct.pack("<BBBBI", 1, 0, 0, 0, 0), struct.pack("<IQI", len(text), heap, 1)
        else:
            width = max([len(v) for v in values] + [1])
            kind = self.text_type(width)
            space = struct.pack("<BBBBIQ", 1, 1, 0, 0, 0, len(values))
            content = b"".join(v.encode().ljust(width, b"\0") for v in values)
        body = struct.pack("<BBHHH", 1, 0, len(name), len(kind), len(space)) + pad(name) + pad(kind) + pad(space) + content
        return 0x0C, body

    def header(self, messages):
        body = b""
        for kind, content in messages:
            content += b"\0" * (-len(content) % 8)
            body += struct.pack("<HHBBBB", kind, len(content), 0, 0, 0, 0) + content
        return self.add(struct.pack("<BBHIII", 1, 0, len(messages), 1, len(body), 0) + body)

    def dataset(self, sizes, numbers, chunk=None):
        content = floats(numbers)
        space = struct.pack("<BBBBI", 1, len(sizes), 0, 0, 0) + b"".join(struct.pack("<Q", s) for s in sizes)
        kind = struct.pack("<BBBBIHHBBBBI", 0x11, 0x20, 31, 0, 4, 0, 32, 23, 8, 0, 23, 127)
        messages = [(0x01, space), (0x03, kind)]
        if chunk:
            messages += self.chunked(sizes, numbers, chunk)
        else:
            place = self.add(content)
            messages.append((0x08, struct.pack("<BBQQ", 3, 1, place, len(content))))
        return self.header(messages)

    def chunked(self, sizes, numbers, chunk):
        """One dimension in chunks, each shuffled and deflated."""
        import zlib

        keys = b""
        for at in range(0, sizes[0], chunk):
            part = numbers[at : at + chunk]
            raw = floats(part + [0.0] * (chunk - len(part)))
            mixed = b"".join(raw[b::4] for b in range(4))
            packed = zlib.compress(mixed)
            place = self.add(packed)
            keys += struct.pack("<IIQQQ", len(packed), 0, at, 0, place)
        count = -(-sizes[0] // chunk)
        tree = self.add(b"TREE" + struct.pack("<BBHQQ", 1, 0, count, 2**64 - 1, 2**64 - 1) + keys + struct.pack("<IIQQ", 0, 0, count * chunk, 0))
        filters = struct.pack("<BBHI", 1, 2, 0, 0)
        filters += struct.pack("<HHHHI", 2, 0, 0, 1, 4) + b"\0" * 4 + struct.pack("<HHHHI", 1, 0, 0, 1, 6) + b"\0" * 4
        return [(0x0B, filters), (0x08, struct.pack("<BBBQII", 3, 2, 2, tree, chunk, 4))]

    def group(self, children, attrs=()):
        names, offsets = b"\0" * 8, {}
        for name in sorted(children):
            offsets[name] = len(names)
            names += name.encode() + b"\0"
            names += b"\0" * (-len(names) % 8)
        heap_data = self.add(names)
        heap = self.add(b"HEAP\0\0\0\0" + struct.pack("<QQQ", len(names), 2**64 - 1, heap_data))
        symbols = b"SNOD" + struct.pack("<BBH", 1, 0, len(children))
        for name in sorted(children):
            symbols += struct.pack("<QQII", offsets[name], children[name], 0, 0) + b"\0" * 16
        leaf = self.add(symbols)
        last = offsets[sorted(children)[-1]] if children else 0
        tree = self.add(b"TREE" + struct.pack("<BBHQQQQQ", 0, 0, 1 if children else 0, 2**64 - 1, 2**64 - 1, 0, leaf, last))
        return self.header([(0x11, struct.pack("<QQ", tree, heap))] + [self.attr(k, v) for k, v in attrs])

    def finish(self, root):
        while len(self.data) % 8:
            self.data += b"\0"
        head = b"\x89HDF\r\n\x1a\n" + struct.pack("<BBBBBBBBHHI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
        head += struct.pack("<QQQQ", 0, 2**64 - 1, len(self.data), 2**64 - 1) + struct.pack("<QQII", 0, root, 0, 0) + b"\0" * 16
        self.data[:96] = head
        return bytes(self.data)


# ---- Keras


def keras_config(version):
    key = "batch_shape" if version == 3 else "batch_input_shape"
    config = lambda name, **more: {"name": name, "trainable": True, "dtype": "float32", **more}
    conv = dict(filters=3, kernel_size=[3, 3], strides=[1, 1], padding="same", data_format="channels_last", dilation_rate=[1, 1], activation="relu", use_bias=True)
    return {
        "class_name": "Sequential",
        "config": {
            "name": "net",
            "layers": [
                {"class_name": "InputLayer", "config": {key: [None, 6, 6, 2], "dtype": "float32", "name": "x"}},
                {"class_name": "Conv2D", "config": config("conv", **conv)},
                {"class_name": "MaxPooling2D", "config": config("pool", pool_size=[2, 2], strides=[2, 2], padding="valid", data_format="channels_last")},
                {"class_name": "Flatten", "config": config("flat", data_format="channels_last")},
                {"class_name": "Dense", "config": config("dense", units=4, activation="softmax", use_bias=True)},
            ],
        },
    }


def keras_h5(weights):
    file, groups = Hdf5(), {}
    for layer in ("conv", "pool", "flat", "dense"):
        own = [name for name in weights if name.startswith(layer + "/")]
        sets = {name.split("/")[1] + ":0": file.dataset(SIZES[name], weights[name]) for name in own}
        inner = {layer: file.group(sets)} if own else {}
        groups[layer] = file.group(inner, [("weight_names", [name + ":0" for name in own])])
    top = {"model_weights": file.group(groups, [("layer_names", list(groups))])}
    return file.finish(file.group(top, [("keras_version", "2.15.0"), ("model_config", json.dumps(keras_config(2)))]))


def keras_zip(path, weights):
    file, sets = Hdf5(), {}
    for layer, group in (("conv", "conv2d"), ("dense", "dense")):
        own = [name for name in weights if name.startswith(layer + "/")]
        parts = {str(i): file.dataset(SIZES[name], weights[name], 2 if len(SIZES[name]) == 1 else None) for i, name in enumerate(own)}
        sets[group] = file.group({"vars": file.group(parts)})
    root = file.group({"layers": file.group(sets)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(keras_config(3)))
        archive.writestr("model.weights.h5", file.finish(root), zipfile.ZIP_DEFLATED)


# ---- TensorFlow.js


def tfjs(folder, topology, weights, small=False):
    folder.mkdir(parents=True, exist_ok=True)
    specs, data = [], b""
    for name, numbers in weights.items():
        spec = {"name": name, "shape": SIZES[name], "dtype": "float32"}
        if small and name.endswith("kernel"):
            low, high = min(numbers), max(numbers)
            wide = name.startswith("conv")
            scale = (high - low) / (65535 if wide else 255)
            spec["quantization"] = {"dtype": "uint16" if wide else "uint8", "scale": scale, "min": low}
            data += b"".join(struct.pack("<H" if wide else "<B", round((n - low) / scale)) for n in numbers)
        elif small:
            spec["quantization"] = {"dtype": "float16"}
            data += struct.pack(f"<{len(numbers)}e", *numbers)
        else:
            data += floats(numbers)
        specs.append(spec)
    half = len(data) // 2 + 1
    (folder / "group1-shard1of2.bin").write_bytes(data[:half])
    (folder / "group1-shard2of2.bin").write_bytes(data[half:])
    manifest = [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"], "weights": specs}]
    (folder / "model.json").write_text(json.dumps({**topology, "weightsManifest": manifest}))


def graph_json():
    dims = lambda *sizes: {"dim": [{"size": str(s)} for s in sizes]}
    ints = lambda *numbers: {"list": {"i": [str(n) for n in numbers]}}
    import base64

    text = lambda s: {"s": base64.b64encode(s.encode()).decode()}
    weight = lambda name: {"name": name, "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": dims(*SIZES[name])}}}}
    flat = base64.b64encode(struct.pack("<2i", -1, 27)).decode()
    fused = lambda *ops: {"list": {"s": [base64.b64encode(s.encode()).decode() for s in ops]}}
    nodes = [{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": dims(-1, 6, 6, 2)}}}]
    nodes += [weight(name) for name in SIZES]
    nodes += [
        {"name": "conv", "op": "_FusedConv2D", "input": ["x", "conv/kernel", "conv/bias"], "attr": {"strides": ints(1, 1, 1, 1), "padding": text("SAME"), "data_format": text("NHWC"), "fused_ops": fused("BiasAdd", "Relu"), "num_args": {"i": "1"}}},
        {"name": "pool", "op": "MaxPool", "input": ["conv"], "attr": {"strides": ints(1, 2, 2, 1), "ksize": ints(1, 2, 2, 1), "padding": text("VALID")}},
        {"name": "to", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": {"tensor": {"dtype": "DT_INT32", "tensorShape": dims(2), "tensorContent": flat}}}},
        {"name": "flat", "op": "Reshape", "input": ["pool", "to"]},
        {"name": "dense", "op": "_FusedMatMul", "input": ["flat", "dense/kernel", "dense/bias"], "attr": {"fused_ops": fused("BiasAdd"), "transpose_a": {"b": False}}},
        {"name": "probs", "op": "Softmax", "input": ["dense"]},
    ]
    return {"format": "graph-model", "generatedBy": "2.15.0", "modelTopology": {"node": nodes, "library": {}, "versions": {"producer": 1645}}}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    weights = make_weights()
    chance = random.Random(11)
    numbers = [chance.uniform(-1, 1) for _ in range(2 * 6 * 6 * 2)]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 6, 6, 2), }"
    header = header.ljust(117) + "\n"
    (folder / "input.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + floats(numbers))
    (folder / "net.h5").write_bytes(keras_h5(weights))
    keras_zip(folder / "net.keras", weights)
    graph = frozen(weights)
    (folder / "frozen.pb").write_bytes(graph)
    (folder / "frozen.pbtxt").write_text(to_text(graph, {1: ("node", NODE)}))
    saved, keys = saved_model(weights)
    bundle(folder / "saved" / "variables", weights, keys)
    (folder / "saved" / "saved_model.pb").write_bytes(saved)
    few = {name: [10.0 * k + n for n in range(4)] for k, name in enumerate("uvh", 1)}  # three variables of a graph that is not frozen
    SIZES.update({name: [2, 2] for name in few})
    bundle(folder / "restored", few, {name: name for name in few})
    (folder / "restored" / "checkpoint").write_text('model_checkpoint_path: "variables"\n')
    tfjs(folder / "tfjs_graph", graph_json(), weights)
    tfjs(folder / "tfjs_layers", {"format": "layers-model", "modelTopology": {"model_config": keras_config(2)}}, weights)
    tfjs(folder / "tfjs_small", graph_json(), weights, True)
    old = folder / "tfjs_old"  # before model.json
    tfjs(old, graph_json(), weights)
    manifest = json.loads((old / "model.json").read_text())["weightsManifest"]
    (old / "model.json").unlink()
    (old / "weights_manifest.json").write_text(json.dumps(manifest))
    (old / "tensorflowjs_model.pb").write_bytes(frozen({name: [] for name in weights}))


main()
