#!/usr/bin/env python3
"""Writes small .pt2 and .pt files into a folder, without PyTorch: programs as JSON, scripts as text.

usage: torch_files.py FOLDER
"""
import json
import os
import struct
import sys
import zipfile

import checkpoint_files as checkpoints

F32, I64, BOOL = 7, 5, 12


def size(n):
    return {"as_int": n} if isinstance(n, int) else {"as_expr": {"expr_str": n, "hint": {"as_int": 4}}}


def meta(dtype, shape):
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * (shape[i + 1] if isinstance(shape[i + 1], int) else 1)
    return {"dtype": dtype, "sizes": [size(n) for n in shape], "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [size(n) for n in strides], "storage_offset": size(0), "layout": 7}


def ref(name):
    return {"as_tensor": {"name": name}}


def arg(value):
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return ref(value)
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int):
        return {"as_int": value}
    if isinstance(value, float):
        return {"as_float": value}
    if value and isinstance(value[0], str):
        return {"as_tensors": [{"name": name} for name in value]}
    return {"as_ints": list(value)}


def node(target, outputs, *args, **named):
    """A node of the graph: arguments without names are given by their places."""
    inputs = [{"name": "", "arg": arg(a), "kind": 1} for a in args] + [{"name": n, "arg": arg(a), "kind": 1} for n, a in named.items()]
    return {"target": target if "." in target and target.startswith(("torch", "_")) else f"torch.ops.aten.{target}", "inputs": inputs,
            "outputs": [o if isinstance(o, dict) else ref(o) for o in outputs], "metadata": {}, "name": "node_" + str(outputs[0])[:20]}


def graph(inputs, outputs, nodes, values=None):
    return {"inputs": [ref(n) for n in inputs], "outputs": [ref(n) for n in outputs], "nodes": nodes, "tensor_values": values or {},
            "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False}


def subgraph(name, *args):
    return {"as_graph": {"name": name, "graph": graph(*args)}}


def program(inputs, outputs, nodes, weights=(), mutations=(), ranges=None):
    """inputs: name to (dtype, shape). weights: (name, dtype, shape, numbers, is_buffer)."""
    specs = [{"buffer" if w[4] else "parameter": {"arg": {"name": w[0]}, "buffer_name" if w[4] else "parameter_name": w[0] + ".own",
                                                   **({"persistent": True} if w[4] else {})}} for w in weights]
    specs += [{"user_input": {"arg": ref(n)}} for n in inputs]
    outs = [{"buffer_mutation": {"arg": {"name": new}, "buffer_name": old + ".own"}} for old, new in mutations]
    outs += [{"user_output": {"arg": ref(n)}} for n in outputs]
    values = {n: meta(*t) for n, t in inputs.items()}
    names = [w[0] for w in weights] + list(inputs)
    return {"graph_module": {"graph": graph(names, [m[1] for m in mutations] + list(outputs), nodes, values),
                             "signature": {"input_specs": specs, "output_specs": outs}, "module_call_graph": [], "metadata": {}},
            "opset_version": {"aten": 10}, "range_constraints": ranges or {}, "schema_version": {"major": 8, "minor": 17},
            "torch_version": "2.11.0"}


def save(path, made, weights=()):
    """The layout of today."""
    config = {}
    with zipfile.ZipFile(path, "w") as file:
        for i, (name, dtype, shape, numbers, _) in enumerate(weights):
            code = {F32: "f", I64: "q"}[dtype]
            file.writestr(f"m/data/weights/weight_{i}", struct.pack(f"<{len(numbers)}{code}", *numbers))
            config[name + ".own"] = {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": meta(dtype, shape)}
        file.writestr("m/data/weights/model_weights_config.json", json.dumps({"config": config}))
        file.writestr("m/data/constants/model_constants_config.json", json.dumps({"config": {}}))
        file.writestr("m/models/model.json", json.dumps(made))
        file.writestr("m/archive_format", "pt2")
        file.writestr("m/byteorder", "little")


def save_old(path, made, weights, folder):
    """The layout of PyTorch 2.1 to 2.6."""
    state = {name + ".own": checkpoints.tensor(shape, list(numbers)) for name, _, shape, numbers, _ in weights}
    checkpoints.save_zip(os.path.join(folder, "state.bin"), state)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("serialized_exported_program.json", json.dumps(made))
        file.write(os.path.join(folder, "state.bin"), "serialized_state_dict.pt")
        file.writestr("version", "5.1")


def script(path, code, state=b"", constants=b"\x80\x02)."):
    """A script of one class, Net, with attributes as a pickle's items."""
    data = b"\x80\x02c__torch__\nNet\n)\x81}(" + state + b"ub."
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("m/data.pkl", data)
        file.writestr("m/code/__torch__.py", code)
        file.writestr("m/constants.pkl", constants)
        file.writestr("m/version", "3")


def text(t):
    return b"X" + struct.pack("<I", len(t)) + t.encode()


CLASS = "class Net(Module):\n  __parameters__ = []\n  training : bool\n"


def scripts(folder):
    script(folder + "/loop.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor,\n    n: int) -> Tensor:\n    h = x\n"
           "    for k in range(n):\n      if bool(torch.gt(torch.sum(h), 10)):\n        h0 = torch.sub(h, 1)\n      else:\n"
           "        h0 = torch.mul(h, 2.)\n      h = h0\n    return h\n", text("training") + b"\x89")
    script(folder + "/default.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor,\n    n: int=3) -> Tensor:\n"
           "    return torch.mul(x, n)\n", text("training") + b"\x89")
    script(folder + "/told.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor,\n    i: Tensor,\n    mode: str=\"a\") -> Tensor:\n"
           "    y = torch.index_select(x, 0, i)\n    n = torch.__range_length(1, torch.add(torch.len(torch.size(x)), 2), 1)\n    h = y\n"
           "    for k in range(n):\n      h0 = torch.add(h, torch.__derive_index(k, 1, 1))\n      h = h0\n"
           "    if isinstance(mode, str):\n      z = torch.mul(h, 2)\n    else:\n      z = h\n    if isinstance(n, str):\n      w = h\n    else:\n      w = z\n"
           "    return w\n", text("training") + b"\x89")
    script(folder + "/fourier.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
           "    f = torch.fft_rfft(x)\n    return torch.add(torch.abs(f), torch.mean(torch.fft_irfft(torch.mul(f, 2))))\n", text("training") + b"\x89")
    script(folder + "/complex.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
           "    c = torch.view_as_complex(x)\n    return torch.mul(c, torch.conj(c))\n", text("training") + b"\x89")
    script(folder + "/counter.pt", CLASS + "  count : int\n  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
           "    count = self.count\n    self.count = torch.add(count, 1)\n    return torch.add(x, count)\n",
           text("training") + b"\x89" + text("count") + b"K\x05")
    script(folder + "/forever.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    i = 1\n"
           "    while True:\n      i = torch.add(i, 1)\n    return x\n")
    script(folder + "/deep.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    return (self).forward(x, )\n")
    script(folder + "/unknown.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
           "    a = torch.not_there(x)\n    b = torch.not_there(a)\n    c = ops.mylib.other(torch.add(b, x))\n    return torch.add(c, 1)\n")
    script(folder + "/wrong.pt", CLASS + "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    return torch.add(x, \n")


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    w = ("w", F32, [4, 3], [i / 4 for i in range(12)], False)
    linear = program({"x": (F32, ["Symbol('s77', positive=True, integer=True)", 3])}, ["y", "n"],
                     [node("linear.default", ["z"], input="x", weight="w"),
                      node("sym_size.int", [{"as_sym_int": {"as_name": "s"}}], self="x", dim=0),
                      node("_operator.mul", [{"as_sym_int": {"as_name": "k"}}], {"as_sym_int": {"as_name": "s"}}, {"as_sym_int": {"as_int": 2}}),
                      node("view.default", ["y"], self="z", size={"as_sym_ints": [{"as_name": "k"}, {"as_int": 2}]}),
                      node("sum.default", ["n"], self="x")], [w], ranges={"s77": {"min_val": 2, "max_val": 16}})
    save(folder + "/linear.pt2", linear, [w])
    save_old(folder + "/linear_old.pt2", linear, [w], folder)
    cond = program({"x": (F32, [3])}, ["y"], [
        node("sum.default", ["s"], self="x"), node("gt.Scalar", ["p"], self="s", other=0),
        node("torch.ops.higher_order.cond", ["y"], "p", subgraph("yes", ["a"], ["b"], [node("mul.Tensor", ["b"], self="a", other=2.0)]),
             subgraph("no", ["a"], ["b"], [node("neg.default", ["b"], self="a")]), ["x"])])
    save(folder + "/cond.pt2", cond)
    loop = program({"x": (F32, [3]), "i": (I64, [])}, ["j", "y"], [
        node("torch.ops.higher_order.while_loop", ["j", "y"], subgraph("test", ["i", "a"], ["c"], [node("lt.Scalar", ["c"], self="i", other=4)]),
             subgraph("body", ["i", "a"], ["k", "b"], [node("add.Tensor", ["k"], self="i", other=1), node("mul.Tensor", ["b"], self="a", other=2.0)]),
             ["i", "x"], {"as_tensors": []})])
    save(folder + "/while.pt2", loop)
    rows = program({"x": (F32, [2, 3])}, ["y"], [
        node("torch.ops.higher_order.map_impl", ["y"], subgraph("body", ["a"], ["b"], [node("cumsum.default", ["b"], self="a", dim=0)]),
             ["x"], {"as_tensors": []})])
    save(folder + "/map.pt2", rows)
    for name, flags in (("scan", []), ("scan_old", [0, False]), ("scan_back", [0, True])):  # flags of PyTorch 2.6: dimension, backwards
        save(f"{folder}/{name}.pt2", program({"x": (F32, [3, 2])}, ["last", "y"], [
            node("sum.dim_IntList", ["first"], self="x", dim=[0]),
            node("torch.ops.higher_order.scan", ["last", "y"], subgraph("body", ["c", "a"], ["n", "b"], [
                node("add.Tensor", ["n"], self="c", other="a"), node("mul.Tensor", ["b"], self="n", other=2.0)]),
                 ["first"], ["x"], *flags, {"as_tensors": []})]))
    b = ("b", F32, [2], [5.0, 7.0], True)
    save(folder + "/state.pt2", program({"x": (F32, [2])}, ["y"], [
        node("add.Tensor", ["next"], self="b", other="x"), node("mul.Tensor", ["y"], self="b", other=1.0)], [b], [("b", "next")]), [b])
    save(folder + "/inplace.pt2", program({"x": (F32, [2])}, ["y"], [
        node("mul.Tensor", ["y"], self="b", other=1.0), node("add_.Tensor", ["same"], self="b", other="x")], [b]), [b])
    save(folder + "/unknown.pt2", program({"x": (F32, [2])}, ["y"], [
        node("not_there.default", ["a"], self="x"), node("not_there.default", ["c"], self="a"),
        node("torch.ops.mylib.other.default", ["d"], self="c"), node("add.Tensor", ["y"], self="d", other="x")]))
    with zipfile.ZipFile(folder + "/aoti.pt2", "w") as file:
        file.writestr("m/data/aotinductor/model/model.so", b"\x7fELF")
        file.writestr("m/archive_format", "pt2")
    checkpoints.save_zip(folder + "/state_dict.pth", {"fc.weight": checkpoints.tensor([2, 2], [1.0, 2.0, 3.0, 4.0])})
    scripts(folder)


if __name__ == "__main__":
    main()
