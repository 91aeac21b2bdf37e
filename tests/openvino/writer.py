"""Writes networks of OpenVINO: model.xml and model.bin.

A layer is a dict: type, opset, attrs, ins (numbers of layers, or pairs of a layer and its port), outs (how many), name. A constant
has a type, sizes and numbers, an input a type and sizes. A body of If, Loop or TensorIterator is a list of layers again, in "more" as
finished XML.
"""
import struct
from xml.sax.saxutils import quoteattr

CODES = {"f32": "f", "f64": "d", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B", "boolean": "?", "u64": "Q", "f16": "e"}


class Net:
    def __init__(self, name="net", version=11):
        self.name, self.version, self.layers, self.data = name, version, [], b""

    def add(self, type, opset=1, attrs=None, ins=(), outs=1, name=None, more=""):
        ins = [pair if isinstance(pair, tuple) else (pair, 0) for pair in ins]
        self.layers.append({"type": type, "opset": opset, "attrs": attrs or {}, "ins": ins, "outs": outs,
                            "name": name or f"{type}_{len(self.layers)}", "more": more})
        return len(self.layers) - 1

    def input(self, name, dtype, shape):
        return self.add("Parameter", 1, {"shape": ",".join(map(str, shape)), "element_type": dtype}, name=name)

    def const(self, dtype, shape, numbers):
        bytes_ = struct.pack(f"<{len(numbers)}{CODES[dtype]}", *numbers)
        self.data += b"\0" * (-len(self.data) % 8)
        self.data += bytes_
        return self.add("Const", 1, {"element_type": dtype, "shape": ",".join(map(str, shape)),
                                     "offset": len(self.data) - len(bytes_), "size": len(bytes_)})

    def result(self, layer, name=None):
        return self.add("Result", 1, ins=[layer], outs=0, name=name)

    def inside(self):
        """<layers> and <edges>"""
        layers, edges = "", ""
        for i, l in enumerate(self.layers):
            attrs = "".join(f" {k}={quoteattr(str(v))}" for k, v in l["attrs"].items())
            layers += f'<layer id="{i}" name={quoteattr(l["name"])} type="{l["type"]}" version="opset{l["opset"]}">'
            layers += f"<data{attrs}/>" if attrs else ""
            layers += "<input>" + "".join(f'<port id="{k}"/>' for k in range(len(l["ins"]))) + "</input>" if l["ins"] else ""
            if l["outs"]:
                names = f' names={quoteattr(l["name"])}' if l["type"] == "Parameter" else ""
                layers += "<output>" + "".join(f'<port id="{len(l["ins"]) + k}"{names}/>' for k in range(l["outs"])) + "</output>"
            layers += l["more"] + "</layer>\n"
            for k, (source, port) in enumerate(l["ins"]):
                edges += f'<edge from-layer="{source}" from-port="{len(self.layers[source]["ins"]) + port}" to-layer="{i}" to-port="{k}"/>\n'
        return f"<layers>\n{layers}</layers>\n<edges>\n{edges}</edges>\n"

    def save(self, path):
        """path: without .xml"""
        with open(path + ".xml", "w") as file:
            file.write(f'<?xml version="1.0"?>\n<net name={quoteattr(self.name)} version="{self.version}">\n{self.inside()}'
                       '<rt_info><Runtime_version value="2024.1.0"/></rt_info>\n</net>\n')
        with open(path + ".bin", "wb") as file:
            file.write(self.data)
