"""An ONNX backend: prepare, run_model, run_node, supports_device. onnx.backend.test.BackendTest runs on it.

    import onnx, hologram.onnx_backend as backend
    outputs = backend.prepare(onnx.load("model.onnx")).run([x])
"""

import numpy
import onnx
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from ._compile import open as _open
from ._hologram import Tensor


def _narrowed(array):
    """f32 as bf16, to the nearest, ties to even: onnx gives and takes bf16 as f32, and sometimes as its bits."""
    if array.dtype == numpy.uint16:
        return Tensor(array).view("bfloat16")
    bits = numpy.ascontiguousarray(array, "float32").view("uint32")
    return Tensor(((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype("uint16")).view("bfloat16")


def _widened(value):
    raw = numpy.asarray(value.view("uint16")).astype("uint32") << 16
    return raw.view("float32")


class HologramRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model):
        self.model = model

    def run(self, inputs, **kwargs):
        """The outputs, for a list of inputs in the order of the model's, or a dict."""
        if isinstance(inputs, dict):
            feed = dict(inputs)
        else:
            values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            feed = dict(zip((port.name for port in self.model.inputs), values))
        for port in self.model.inputs:
            if port.dtype == "bfloat16" and isinstance(feed.get(port.name), numpy.ndarray):
                feed[port.name] = _narrowed(feed[port.name])
        found = self.model.run(feed)
        names = [port.name for port in self.model.outputs]
        values = [_widened(found[name]) if str(getattr(found[name], "dtype", "")) == "bfloat16" else found[name] for name in names]
        return namedtupledict("Outputs", names)(*values)


class HologramBackend(Backend):
    """Hologram as a backend of ONNX."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether it can be compiled."""
        try:
            cls.prepare(model, device, **kwargs).model.close()
            return True
        except Exception:  # whatever is wrong with it
            return False

    @classmethod
    def supports_device(cls, device):
        """Only the CPU."""
        return Device(device).type == DeviceType.CPU

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """A HologramRep, which has run(). Options are those of hologram.open."""
        if not cls.supports_device(device):
            raise ValueError(f"there is no device {device}: Hologram runs on the CPU")
        return HologramRep(_open(model, **kwargs))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """prepare, and run once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Runs one node on arrays, in the order of its inputs that are not left out."""
        names = [name for name in node.input if name]
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        arrays = [numpy.asarray(one) for one in inputs]
        ports = [onnx.helper.make_tensor_value_info(name, onnx.numpy_helper.from_array(array).data_type, array.shape) for name, array in zip(names, arrays)]
        graph = onnx.helper.make_graph([node], "node", ports, [onnx.ValueInfoProto(name=name) for name in node.output if name])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.run_model(model, arrays, device, **kwargs)


prepare = HologramBackend.prepare
run_model = HologramBackend.run_model
run_node = HologramBackend.run_node
supports_device = HologramBackend.supports_device
is_compatible = HologramBackend.is_compatible
