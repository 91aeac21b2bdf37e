"""checkpoint_files.py OUT - HuggingFace folders of one tiny BERT, with the weights in every form that torch.save has.

Written with Python's own pickle and zipfile: modules of the names that PyTorch has stand in for it. OUT/safetensors is what
all the others must agree with; OUT/bad has one folder for each thing that is refused.
"""
import collections
import io
import json
import os
import pickle
import random
import struct
import sys
import types
import zipfile

VOCAB, HIDDEN, INNER, PLACES, KINDS, LAYERS = 11, 8, 12, 6, 2, 2

# ---- names of PyTorch


def module(name):
    made = types.ModuleType(name)
    sys.modules[name] = made
    return made


def stand_in(name, what=None):
    """A function (or `what`) that pickles refer to as this name."""
    where, own = name.rsplit(".", 1)
    if what is None:
        def what(*args):
            raise RuntimeError("nothing is called here")
    what.__module__, what.__qualname__, what.__name__ = where, own, own
    setattr(sys.modules.get(where) or module(where), own, what)
    return what


for name in ("torch", "torch._utils", "torch._tensor", "torch.nn", "torch.nn.parameter", "torch.storage", "somewhere"):
    module(name)
REBUILD = stand_in("torch._utils._rebuild_tensor")
REBUILD_2 = stand_in("torch._utils._rebuild_tensor_v2")
REBUILD_3 = stand_in("torch._utils._rebuild_tensor_v3")
PARAMETER = stand_in("torch._utils._rebuild_parameter")
FROM_TYPE = stand_in("torch._tensor._rebuild_from_type_v2")
DANGER = stand_in("somewhere.danger")
FLOATS = stand_in("torch.FloatStorage", type("FloatStorage", (), {}))
HALVES = stand_in("torch.HalfStorage", type("HalfStorage", (), {}))
UNTYPED = stand_in("torch.storage.UntypedStorage", type("UntypedStorage", (), {}))
SIZE = stand_in("torch.Size", type("Size", (tuple,), {}))
TENSOR = stand_in("torch.Tensor", type("Tensor", (), {}))
FLOAT32 = stand_in("torch.float32", type("float32", (), {}))


class Storage:
    def __init__(self, data, kind=FLOATS, unit=4, view=None):
        self.data, self.kind, self.count, self.view, self.key = data, kind, len(data) // unit, view, None


class Call:
    """A value that a pickle has as a call of a function."""

    def __init__(self, function, *args):
        self.reduced = (function, args)

    def __reduce__(self):
        return self.reduced


# ---- the two containers


class Pickler(pickle.Pickler):
    def __init__(self, file, protocol, storages, is_old):
        super().__init__(file, protocol)
        self.storages, self.is_old = storages, is_old

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        if value.key is None:
            value.key = str(len(self.storages))
        if value not in self.storages:
            self.storages.append(value)
        return ("storage", value.kind, value.key, "cpu", value.count) + ((value.view,) if self.is_old else ())


def pickled(value, protocol, storages, is_old=False):
    for s in storages:
        s.key = None
    file = io.BytesIO()
    Pickler(file, protocol, storages, is_old).dump(value)
    return file.getvalue()


def save_zip(path, value, protocol=2, root="archive", order="little", method=zipfile.ZIP_STORED, change=None):
    storages = []
    entries = {"data.pkl": pickled(value, protocol, storages), "byteorder": order.encode(), "version": b"3\n"}
    for s in storages:
        entries["data/" + s.key] = s.data
        s.key = None
    if change:
        change(entries)
    with zipfile.ZipFile(path, "w") as out:
        for name, data in entries.items():
            info = zipfile.ZipInfo("%s/%s" % (root, name))
            info.compress_type = method
            here = out.fp.tell() + 30 + len(info.filename) + 4  # bytes begin at a multiple of 64, as PyTorch has them
            info.extra = struct.pack("<HH", 0x4246, -here % 64) + bytes(-here % 64)
            out.writestr(info, data)


def save_old(path, value, protocol=2, change=lambda data: data):
    storages = []
    root = pickled(value, protocol, storages, True)
    info = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    data = b"".join(pickle.dumps(v, protocol) for v in (0x1950a86a20f9469cfc6c, 1001, info)) + root
    data += pickle.dumps([s.key for s in storages], protocol)
    for s in storages:
        data += struct.pack("<q", s.count) + s.data
        s.key = None
    with open(path, "wb") as out:
        out.write(change(data))


# ---- tensors


def strides_of(shape):
    strides, next = [], 1
    for n in reversed(shape):
        strides.insert(0, next)
        next *= n
    return tuple(strides)


def tensor(shape, floats, function=REBUILD_2):
    data = struct.pack("<%df" % len(floats), *floats)
    if function is REBUILD:
        return Call(REBUILD, Storage(data), 0, SIZE(shape), strides_of(shape))
    if function is REBUILD_3:
        return Call(REBUILD_3, Storage(data, UNTYPED, 1), 0, shape, strides_of(shape), False, collections.OrderedDict(), FLOAT32)
    return Call(REBUILD_2, Storage(data), 0, shape, strides_of(shape), False, collections.OrderedDict())


def transposed(shape, floats):
    """A matrix that is stored column by column, behind three elements of something else."""
    rows, columns = shape
    stored = [9.0] * 3 + [floats[r * columns + c] for c in range(columns) for r in range(rows)]
    data = struct.pack("<%df" % len(stored), *stored)
    return Call(REBUILD_2, Storage(data), 3, shape, (1, rows), False, collections.OrderedDict())


def weights():
    dice = random.Random(7)
    made = {}

    def add(name, *shape):
        count = 1
        for n in shape:
            count *= n
        made[name] = (shape, [struct.unpack("<f", struct.pack("<f", dice.uniform(-1, 1)))[0] for _ in range(count)])

    def linear(name, inner, outer):
        add(name + ".weight", outer, inner)
        add(name + ".bias", outer)

    for name, rows in (("word", VOCAB), ("position", PLACES), ("token_type", KINDS)):
        add("embeddings.%s_embeddings.weight" % name, rows, HIDDEN)
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        at = "encoder.layer.%d." % layer
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            linear(at + "attention." + name, HIDDEN, HIDDEN)
        linear(at + "intermediate.dense", HIDDEN, INNER)
        linear(at + "output.dense", INNER, HIDDEN)
        norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
    for name in norms:
        add(name + ".weight", HIDDEN)
        add(name + ".bias", HIDDEN)
    linear("pooler.dense", HIDDEN, HIDDEN)
    return made


# ---- folders


def folder(top, name):
    path = os.path.join(top, name)
    os.makedirs(path)
    config = {"architectures": ["BertModel"], "model_type": "bert", "vocab_size": VOCAB, "hidden_size": HIDDEN,
              "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": INNER,
              "max_position_embeddings": PLACES, "type_vocab_size": KINDS, "hidden_act": "gelu"}
    with open(os.path.join(path, "config.json"), "w") as out:
        json.dump(config, out)
    return os.path.join(path, "pytorch_model.bin")


def save_safetensors(path, all):
    header, data = {}, b""
    for name, (shape, floats) in all.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(floats)]}
        data += struct.pack("<%df" % len(floats), *floats)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def save_shards(top, all):
    path, names, map = folder(top, "shards"), sorted(all), {}
    for i in range(2):
        file = "pytorch_model-0000%d-of-00002.bin" % (i + 1)
        save_zip(os.path.join(os.path.dirname(path), file), {n: tensor(*all[n]) for n in names[i::2]}, root=file[:-4])
        map.update((n, file) for n in names[i::2])
    with open(path + ".index.json", "w") as out:
        json.dump({"metadata": {"total_size": 1}, "weight_map": map}, out)


def save_good(top, all):
    save_safetensors(folder(top, "safetensors").replace("pytorch_model.bin", "model.safetensors"), all)
    plain = collections.OrderedDict((n, tensor(*w)) for n, w in all.items())
    plain._metadata = collections.OrderedDict([("", {"version": 1})])
    for protocol in range(1, 6):  # 0 has ids as text alone
        save_zip(folder(top, "zip%d" % protocol), plain, protocol)
    for protocol in range(2, 6):
        save_old(folder(top, "old%d" % protocol), plain, protocol)
    save_zip(folder(top, "strided"), {n: transposed(*w) if len(w[0]) == 2 else tensor(*w) for n, w in all.items()})
    save_zip(folder(top, "nested"), {"epoch": 3, "loss": 0.25, "done": True, "big": 1 << 70, "tags": {"a", "b"}, "raw": b"\0\1",
                                     "optimizer": {"state": {0: {"step": tensor((1,), [1.0])}}}, "none": None,
                                     "state_dict": {"module._orig_mod." + n: tensor(*w) for n, w in all.items()}})
    save_zip(folder(top, "parameters"), {n: Call(PARAMETER, tensor(*w, function=REBUILD), True, collections.OrderedDict())
                                         for n, w in all.items()})
    save_zip(folder(top, "untyped"), {n: tensor(*w, function=REBUILD_3) for n, w in all.items()})
    typed = {n: Call(FROM_TYPE, REBUILD_2, TENSOR, tensor(*w).reduced[1], {}) for n, w in all.items()}
    save_zip(folder(top, "typed"), typed)
    save_zip(folder(top, "deflated"), plain, method=zipfile.ZIP_DEFLATED)
    pad = b"".join(struct.pack("<%df" % len(f), *f) for _, f in all.values())
    views, at = {}, 0
    for n, (shape, floats) in all.items():
        s = Storage(pad, view=("view" + n, at, len(floats)))
        s.key, at = "all", at + len(floats)
        views[n] = (shape, s)
    save_views(folder(top, "views"), views, pad)
    save_shards(top, all)


def save_views(path, views, pad):
    """The older form, with one storage that all tensors have parts of."""
    file = io.BytesIO()
    value = {n: Call(REBUILD_2, s, 0, shape, strides_of(shape), False, collections.OrderedDict()) for n, (shape, s) in views.items()}
    Pickler(file, 2, [], True).dump(value)
    head = b"".join(pickle.dumps(v, 2) for v in (0x1950a86a20f9469cfc6c, 1001, {"little_endian": True}))
    with open(path, "wb") as out:
        out.write(head + file.getvalue() + pickle.dumps(["all"], 2) + struct.pack("<q", len(pad) // 4) + pad)


def save_bad(top, all):
    plain = {n: tensor(*w) for n, w in all.items()}
    one = next(iter(all))

    def spoilt(name, value, **how):
        save_zip(folder(top, name), dict(plain, **{one: value}), **how)

    def view(shape, strides, offset=0, count=64):
        return Call(REBUILD_2, Storage(bytes(4 * count)), offset, shape, strides, False, None)

    spoilt("code", Call(DANGER, "rm"))
    spoilt("outside", view((11, 8), (8, 1)))
    spoilt("offset", view((4, 4), (4, 1), offset=60))
    spoilt("negative", view((4, 4), (-4, 1)))
    spoilt("ranks", view((4, 4), (4,)))
    spoilt("overflow", view((1 << 40, 1 << 40), (0, 0)))
    spoilt("expanded", view((1 << 40,), (0,)))
    spoilt("strides", view((3, 3), (1 << 62, 1 << 62)))
    spoilt("big_endian", tensor(*all[one]), order="big")
    spoilt("no_storage", tensor(*all[one]), change=lambda entries: entries.pop("data/0"))
    spoilt("small_storage", tensor(*all[one]), change=lambda entries: entries.update({"data/0": b"1234"}))
    spoilt("no_pickle", tensor(*all[one]), change=lambda entries: entries.pop("data.pkl"))
    save_zip(folder(top, "list"), [tensor(*all[one])])
    save_zip(folder(top, "nothing"), {"epoch": 1})
    save_old(folder(top, "cut"), plain, change=lambda data: data[:-5])
    save_old(folder(top, "not_torch"), plain, change=lambda data: pickle.dumps({"a": 1}, 2))
    path = folder(top, "leads_out")
    with open(path + ".index.json", "w") as out:
        json.dump({"weight_map": {one: "../zip2/pytorch_model.bin"}}, out)
    path = folder(top, "no_shard")
    with open(path + ".index.json", "w") as out:
        json.dump({"weight_map": {one: "pytorch_model-00001-of-00001.bin"}}, out)


def save_seeds(top, all):
    """Small files for fuzzing."""
    some = {n: all[n] for n in list(all)[-2:]}
    value = {"state_dict": collections.OrderedDict((n, tensor(*w)) for n, w in some.items()), "epoch": 3, "lr": 0.5, "s": {1},
             "view": transposed((2, 3), [1.0] * 6), "p": Call(PARAMETER, tensor((2,), [1.0, 2.0], REBUILD_3), True, None)}
    os.makedirs(os.path.join(top, "pickle"))
    os.makedirs(os.path.join(top, "checkpoint"))
    for protocol in range(6):
        with open(os.path.join(top, "pickle", "protocol%d" % protocol), "wb") as out:
            out.write(pickled(value, protocol, []))
        if protocol:
            save_zip(os.path.join(top, "checkpoint", "zip%d" % protocol), value, protocol)
    save_old(os.path.join(top, "checkpoint", "old"), value)


def main(top):
    all = weights()
    save_good(top, all)
    save_bad(os.path.join(top, "bad"), all)
    save_seeds(os.path.join(top, "seeds"), all)


if __name__ == "__main__":
    main(sys.argv[1])
