"""A backend of torch.compile: graphs of PyTorch are compiled by Hologram, and run on the CPU.

    model = torch.compile(model.eval(), backend="hologram")
    with torch.no_grad():
        y = model(x)

An installed wheel makes the name known to PyTorch; otherwise `import hologram.torch_backend` does. Operators that Hologram does not
know stay with PyTorch: the graph is cut around them. Weights become constants; if one is changed, the graph is compiled again. What
needs gradients, runs on another device, or changes its inputs is computed by PyTorch. `torch.compile(..., options={...})` takes
the options of `hologram.open`.
"""

import io
import re
import warnings

try:
    import torch
except ImportError as error:  # pragma: no cover
    raise ImportError("hologram.torch_backend needs PyTorch 2.5 or newer, which is not installed") from error

from ._compile import open as _open
from ._hologram import Error, Tensor

_TRIES = 8  # how often a graph is cut again where a part of it is refused


def _say(reason):
    warnings.warn(f"hologram: PyTorch computes this graph itself: {reason}", stacklevel=3)


def _given(tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return Tensor(tensor.view(torch.uint16).numpy()).view("bfloat16")
    return tensor.numpy()


def _taken(value):
    is_bf16 = str(value.dtype) == "bfloat16"  # NumPy has it by a package that PyTorch does not know
    if is_bf16:
        value = value.view("uint16")
    tensor = torch.from_dlpack(value) if isinstance(value, Tensor) else torch.as_tensor(value)
    return tensor.view(torch.bfloat16) if is_bf16 else tensor


class Part(torch.nn.Module):
    """A program of torch.export that Hologram runs."""

    def __init__(self, program, options):
        super().__init__()
        signature, data = program.graph_signature, io.BytesIO()
        if signature.user_inputs_to_mutate or signature.buffers_to_mutate:
            raise NotImplementedError("it changes its inputs or buffers")
        torch.export.save(program, data)
        self.names = [name for name in signature.user_inputs]
        self.wanted = list(signature.user_outputs)
        self.model = _open(data.getvalue(), **options)
        self.known = {port.name for port in self.model.inputs}

    def forward(self, *args):
        flat = torch.utils._pytree.tree_leaves(args)
        inputs = {n: _given(a) for n, a in zip(self.names, flat) if isinstance(a, torch.Tensor) and n in self.known}
        outputs = iter(self.model.run(inputs).values())
        return tuple(None if name is None else _taken(next(outputs)) for name in self.wanted)


def _exported(module, args):
    return torch.export.export(module, args, strict=False)


class _Seen(torch.fx.Interpreter):
    """Runs a graph, and notes what its modules are given."""

    def __init__(self, module):
        super().__init__(module)
        self.args = {}

    def call_module(self, target, args, kwargs):
        self.args[target] = args
        return super().call_module(target, args, kwargs)


def _refused(error):
    """Operators and nodes that an error names."""
    text = str(error)
    return set(re.findall(r"\w+::(\w+) version", text)), set(re.findall(r"node '([\w.]+)'", text)) | set(re.findall(r"node (\w+) \(", text))


class _Known:
    """What Hologram is asked to run: all operators but those that it refused."""

    def __init__(self, operators, nodes):
        self.operators, self.nodes = operators, nodes

    def is_node_supported(self, modules, node):
        if node.op != "call_function":
            return False
        name = getattr(node.target, "_schema", None)
        name = name.name.split("::")[-1] if name else getattr(node.target, "__name__", "")
        return name not in self.operators and node.name not in self.nodes


def _cut(program, args, error, options):
    """The graph with parts that Hologram runs, around what it refused."""
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    operators, nodes = _refused(error)
    for _ in range(_TRIES):
        if not operators and not nodes:
            raise error
        whole = program.module()
        known = _Known(operators, nodes)
        whole = CapabilityBasedPartitioner(whole, known, allows_single_node_partition=False).partition_and_fuse()
        seen, more = _Seen(whole), set()
        seen.run(*args)
        for node in [n for n in whole.graph.nodes if n.op == "call_module" and str(n.target).startswith("fused_")]:
            part, given = whole.get_submodule(node.target), seen.args[node.target]
            fixed = {i: given[i] for i, a in enumerate(node.args) if a.op == "get_attr" and isinstance(given[i], torch.Tensor)}
            places = [i for i in range(len(given)) if i not in fixed]
            try:
                inner = Part(_exported(_Bound(part, fixed, len(given)), tuple(given[i] for i in places)), options)
            except (Error, NotImplementedError) as why:
                names, places = _refused(why)
                fresh = (names - operators) | (places - nodes)
                operators, nodes, more = operators | names, nodes | places, more | fresh
                continue
            is_one = not isinstance(next(n for n in part.graph.nodes if n.op == "output").args[0], (tuple, list))
            setattr(whole, node.target, _Placed(inner, places, is_one))
        if not more:
            whole.recompile()
            return whole
    return program.module()


class _Placed(torch.nn.Module):
    """A part in a graph that was cut: it is given more than it takes."""

    def __init__(self, part, places, is_one):
        super().__init__()
        self.part, self.places, self.is_one = part, places, is_one

    def forward(self, *args):
        answers = self.part(*(args[i] for i in self.places))
        return answers[0] if self.is_one else answers


class _Bound(torch.nn.Module):
    """A graph with some of its inputs fixed."""

    def __init__(self, graph, fixed, count):
        super().__init__()
        self.graph, self.count, self.places = graph, count, sorted(fixed)
        for place, tensor in fixed.items():
            self.register_buffer(f"fixed_{place}", tensor.detach())

    def forward(self, *args):
        rest, fixed = iter(args), set(self.places)
        return self.graph(*(getattr(self, f"fixed_{i}") if i in fixed else next(rest) for i in range(self.count)))


def _is_weight(value):
    return isinstance(value, torch.nn.Parameter) or getattr(value, "_dynamo_static_input_type", None) is not None


class Compiled:
    """A graph of torch.compile: compiled for each shape of its inputs when that is first met."""

    def __init__(self, graph, options):
        self.graph, self.options, self.made = graph, options, {}

    def key(self, args):
        return tuple((a.data_ptr(), 0 if a.is_inference() else a._version) if _is_weight(a) else (tuple(a.shape), a.dtype) if isinstance(a, torch.Tensor) else a
                     for a in args)

    def make(self, args):
        fixed = {i: a for i, a in enumerate(args) if _is_weight(a) or not isinstance(a, torch.Tensor)}
        tensors = {i: a for i, a in fixed.items() if isinstance(a, torch.Tensor)}
        rest = tuple(a for i, a in enumerate(args) if i not in tensors)
        if any(a.device.type != "cpu" for a in args if isinstance(a, torch.Tensor)):
            _say("its tensors are not on the CPU")
            return None
        try:
            program = _exported(_Bound(self.graph, tensors, len(args)), rest)
        except Exception as error:  # whatever torch.export says
            _say(f"torch.export does not take it ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})")
            return None
        try:
            return Part(program, self.options), tensors
        except (Error, NotImplementedError) as error:
            try:
                return _cut(program, rest, error, self.options), tensors
            except (Error, NotImplementedError) as why:
                _say(str(why).splitlines()[0])
                return None

    def __call__(self, *args):
        if torch.is_grad_enabled() and any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            if "grad" not in self.made:
                self.made["grad"] = True
                _say("it needs gradients; run it under torch.no_grad()")
            return self.graph(*args)
        key = self.key(args)
        if key not in self.made:
            with torch.no_grad():
                self.made[key] = self.make(args)
        made = self.made[key]
        if made is None:
            return self.graph(*args)
        module, tensors = made
        return module(*(a for i, a in enumerate(args) if i not in tensors))


def backend(graph, example_inputs, *, options=None, mode=None):
    """What torch.compile calls for each graph that it finds."""
    compiled = Compiled(graph, dict(options or {}))
    return torch._dynamo.disable(compiled.__call__)


if not hasattr(torch, "compile"):
    raise ImportError(f"hologram.torch_backend needs torch.compile, of PyTorch 2.5 or newer; this is {torch.__version__}")
if "hologram" not in torch._dynamo.list_backends(exclude_tags=()):
    torch._dynamo.register_backend(name="hologram", compiler_fn=backend)
