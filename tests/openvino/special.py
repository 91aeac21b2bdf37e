#!/usr/bin/env python3
"""Networks of OpenVINO that are more than one layer: special.py FOLDER"""
import sys

from writer import Net


def mlp(folder):  # with an open batch, names of tensors, and old and new forms of constants
    n = Net("mlp", 10)
    x = n.input("x", "f32", ["?", 3])
    w = n.const("f32", [2, 3], [1, 2, 3, 4, 5, 6])
    m = n.add("MatMul", 1, {"transpose_a": "false", "transpose_b": "true"}, [x, w], name="fc & more")
    b = n.const("f32", [1, 2], [0.5, -100])
    s = n.add("Add", 1, {"auto_broadcast": "numpy"}, [m, b])
    n.result(n.add("ReLU", 1, {}, [s], name="y"))
    n.save(folder + "/mlp")


def branches(folder):
    n = Net("branches")
    x, c = n.input("x", "f32", [2]), n.input("c", "boolean", [])
    then, other = Net(), Net()
    p = then.input("p", "f32", [2])
    then.result(then.add("Exp", 1, {}, [p]))
    q = other.input("q", "f32", [2])
    other.result(other.add("Negative", 1, {}, [q]))
    more = (f"<then_body>{then.inside()}</then_body><else_body>{other.inside()}</else_body>"
            '<then_port_map><input external_port_id="1" internal_layer_id="0"/><output external_port_id="2" internal_layer_id="2"/></then_port_map>'
            '<else_port_map><input external_port_id="1" internal_layer_id="0"/><output external_port_id="2" internal_layer_id="2"/></else_port_map>')
    n.result(n.add("If", 8, {}, [c, x], 1, "y", more))
    n.save(folder + "/if")


def iterator(folder, name, step):  # running sums along axis 1
    n = Net(name)
    x, first = n.input("x", "f32", [1, 3, 2]), n.input("h", "f32", [1, 1, 2])
    inner = Net()
    p, h = inner.input("p", "f32", [1, 1, 2]), inner.input("h", "f32", [1, 1, 2])
    inner.result(inner.add("Add", 1, {}, [p, h]))
    cut = 'axis="1" part_size="1" ' + ('stride="1" start="0" end="-1"' if step > 0 else 'stride="-1" start="-1" end="0"')
    more = (f'<port_map><input external_port_id="0" internal_layer_id="0" {cut}/><input external_port_id="1" internal_layer_id="1"/>'
            f'<output external_port_id="2" internal_layer_id="3" {cut}/><output external_port_id="3" internal_layer_id="3"/></port_map>'
            f'<back_edges><edge from-layer="3" to-layer="1"/></back_edges><body>{inner.inside()}</body>')
    t = n.add("TensorIterator", 1, {}, [x, first], 2, "y", more)
    n.result((t, 0))
    n.result((t, 1))
    n.save(folder + "/" + name)


def loop(folder):  # doubles until it is above 100, at most 20 times
    n = Net("loop")
    most, begin, x = n.const("i64", [], [20]), n.const("boolean", [], [True]), n.input("x", "f32", [1])
    inner = Net()
    p = inner.input("p", "f32", [1])
    two, limit = inner.const("f32", [], [2]), inner.const("f32", [1], [100])
    inner.data = b""  # the constants of bodies are in the file of the network
    for row in inner.layers:
        if row["type"] == "Const":
            kept = [2.0] if row["attrs"]["shape"] == "" else [100.0]
            at = n.const("f32", [] if kept == [2.0] else [1], kept)
            row["attrs"]["offset"] = n.layers[at]["attrs"]["offset"]
    d = inner.add("Multiply", 1, {}, [p, two])
    inner.result(d)
    inner.result(inner.add("Less", 1, {}, [d, limit]))
    more = ('<port_map><input external_port_id="2" internal_layer_id="0"/><output external_port_id="3" internal_layer_id="4"/>'
            '<output external_port_id="-1" internal_layer_id="6" purpose="execution_condition"/></port_map>'
            f'<back_edges><edge from-layer="4" to-layer="0"/></back_edges><body>{inner.inside()}</body>')
    n.result(n.add("Loop", 5, {}, [most, begin, x], 1, "y", more))
    n.save(folder + "/loop")


def counter(folder):  # a variable that begins with 3, 4
    n = Net("counter")
    x, first = n.input("x", "f32", [2]), n.const("f32", [2], [3, 4])
    old = n.add("ReadValue", 6, {"variable_id": "sum", "variable_type": "f32", "variable_shape": "2"}, [first])
    new = n.add("Add", 1, {}, [old, x], name="y")
    n.add("Assign", 6, {"variable_id": "sum"}, [new], 0)
    n.result(new)
    n.save(folder + "/counter")


def unknown(folder):
    n = Net("unknown")
    x = n.input("x", "f32", [2])
    a = n.add("ReLU", 1, {}, [x])
    b = n.add("Mystery", 1, {}, [a])
    c = n.add("SoftPlus", 4, {}, [b])
    d = n.add("Mystery", 1, {}, [c])
    n.result(n.add("Proposal", 4, {}, [d], 2))
    n.save(folder + "/unknown")


def circle(folder):
    n = Net("circle")
    n.input("x", "f32", [2])
    n.add("Add", 1, {}, [0, 2])
    n.add("ReLU", 1, {}, [1])
    n.result(2)
    n.save(folder + "/circle")


def main():
    folder = sys.argv[1]
    mlp(folder)
    branches(folder)
    iterator(folder, "forwards", 1)
    iterator(folder, "backwards", -1)
    loop(folder)
    counter(folder)
    unknown(folder)
    circle(folder)


main()
