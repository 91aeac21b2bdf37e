"""Model and Session: what runs, and what it says of itself."""

import asyncio
import collections
import functools
import os
import time

from . import _hologram
from ._hologram import ArgumentError, Cancel, CancelledError, capi
from ._texts import Texts

Port = collections.namedtuple("Port", "name dtype shape kind inner optional")
Port.__doc__ = """An input or an output.

name, dtype ('float32'), shape (a tuple: numbers, and names of sizes that are open), kind ('tensor', 'sequence', 'optional', 'map'),
inner (the kind of the elements of a sequence or optional), optional (whether an input may be left out)."""


class _Record:
    """Fields of a struct of C, as attributes."""

    def __init__(self, fields):
        for name, value in fields.items():
            setattr(self, name, _record(value))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    def to_dict(self):
        """The same as dicts and lists."""
        return {k: _plain(v) for k, v in self.__dict__.items()}


def _record(value):
    if isinstance(value, dict):
        return _Record(value)
    return [_record(one) for one in value] if isinstance(value, list) else value


def _plain(value):
    if isinstance(value, _Record):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, list) else value


class Graph:
    """A picture of a model; a notebook shows it. `svg`, `html` and `dot` are texts."""

    def __init__(self, model, title):
        self._model, self._title = model, title

    svg = property(lambda self: _hologram.picture(self._model, "svg", self._title))
    html = property(lambda self: _hologram.picture(self._model, "html", self._title))
    dot = property(lambda self: _hologram.picture(self._model, "dot", self._title))

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        """Writes a file that ends with .svg, .html or .dot."""
        ending = os.path.splitext(path)[1]
        with open(path, "w", encoding="utf-8") as file:
            file.write(_hologram.picture(self._model, ending[1:], self._title))


def _type_text(port):
    sizes = "..." if port.shape is None else ", ".join("?" if d is None else str(d) for d in port.shape)
    kind = "" if port.kind == "tensor" else f"{port.kind} of "
    return f"{kind}{port.dtype}[{sizes}]"


class _Runs:
    """What models and sessions share."""

    def run_async(self, inputs, outputs=None, **options):
        """As run, to be awaited: it runs in another thread, and stops where the task is cancelled."""
        return _run_async(self, inputs, outputs, options)


async def _run_async(runner, inputs, outputs, options):
    cancel = Cancel() if isinstance(runner, Model) else None
    call = functools.partial(runner.run, inputs, outputs, **options, **({"cancel": cancel} if cancel else {}))
    future = asyncio.get_running_loop().run_in_executor(None, call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        (cancel or runner).cancel()
        try:
            await future  # the arrays are in use until then
        except CancelledError:
            pass
        raise


class Model(_hologram.Model, _Runs, Texts):
    """A model that is open: made by hologram.open. All threads may run it at once.

    model(x, y)          runs it on arrays in the order of its inputs, or by name: one output as it is, several as a tuple
    model.run({"x": x})  by name: a dict of outputs
    model.generate(text) continues a text, if it is a language model

    >>> import hologram
    >>> model = hologram.open("demo/digits.onnx")
    >>> image = [[[[0.0] * 8] * 8]]
    >>> model(image).shape
    (1, 10)
    >>> list(model.run({"image": image}))
    ['probabilities']
    """

    path = None
    report = None  # of the compile, where there was one

    @property
    def inputs(self):
        """A tuple of Ports."""
        return tuple(Port(*row) for row in self._inputs)

    @property
    def outputs(self):
        """A tuple of Ports."""
        return tuple(Port(*row) for row in self._outputs)

    @property
    def devices(self):
        """What it has plans for, in the order in which they are tried: ("cuda", "cpu")."""
        names = []
        while (name := capi.holo_model_device(self, len(names))) is not None:
            names.append(name)
        return tuple(names)

    @property
    def entries(self):
        """The names of its entries: parts that run by themselves and share weights. Most models have one, called ""."""
        return tuple(capi.holo_model_entry_name(self, i) for i in range(capi.holo_model_entry_count(self)))

    def entry(self, name):
        """An entry by name, as a Model: such as the encoder of a translator. The model itself is its first."""
        return self._entry(name)

    def session(self, threads=None, *, memo=0, memory_limit=0):
        """One place where the model runs, for one thread at a time. `threads` None: one a core; 1: the caller's alone. `memo`: bytes
        to keep answers in, so that inputs that come again are not computed. `memory_limit`: bytes that it may hold.

        >>> import hologram
        >>> with hologram.open("demo/digits.onnx").session(threads=2, memo=1 << 20) as session:
        ...     first, again = session([[[[0.0] * 8] * 8]]), session([[[[0.0] * 8] * 8]])
        ...     session.memo_counts
        (1, 1)
        """
        try:
            pool = None if threads == 1 else capi.holo_pool_create(threads or 0)
        except (ArgumentError, OverflowError):
            raise ArgumentError(f"the number of threads must be from 1 to 256, or 0 for one per core, not {threads}") from None
        session = Session._create(self, pool)
        if memory_limit:
            capi.holo_session_set_memory_limit(session, memory_limit)
        if memo:
            capi.holo_session_set_memo(session, memo)
        return session

    @property
    def metadata(self):
        """What the compiler wrote about the model, a dict of texts."""
        pairs = (capi.holo_model_meta(self, i) for i in range(capi.holo_model_meta_count(self)))
        return {key: value for value, key in pairs}

    @property
    def info(self):
        """Sizes and numbers of the archive: file_bytes, steps, arena_bytes ..."""
        return _Record(capi.holo_model_info(self))

    def verify(self):
        """Reads every byte and compares every checksum, which opening does not."""
        capi.holo_model_verify(self)

    def constants(self):
        """The constants of the archive, with their values: a list."""
        return [_Record(capi.holo_model_constant(self, i)) for i in range(self.info.constants)]

    def listing(self):
        """The planned graph: nodes and values, in the order in which they run."""
        return _Record(capi.holo_listing_model(self))

    def programs(self):
        """What steps do as portable programs, where it can be said so: a list."""
        return _record(capi.holo_step_programs_open(self)["programs"])

    def explain(self):
        """What was computed before the first input, what was not, and why."""
        return Explanation(self)

    def inspect(self):
        """Inputs, outputs, sizes and metadata, as a dict."""
        return {**self.info.to_dict(), "memo": capi.holo_model_memo_count(self), "inputs": [p._asdict() for p in self.inputs],
                "outputs": [p._asdict() for p in self.outputs], "metadata": self.metadata}

    def graph(self):
        """A picture of the planned graph, which a notebook shows."""
        return Graph(self, os.path.basename(self.path) if self.path else "model")

    def make_inputs(self, sizes=None, seed=0):
        """Inputs that fit: floats normal, integers 1. `sizes` has numbers for sizes that are open, else 1.

        >>> import hologram
        >>> hologram.open("demo/digits.onnx").make_inputs()["image"].shape
        (1, 1, 8, 8)
        """
        made = {}
        for index, port in enumerate(self.inputs):
            if port.optional or port.kind != "tensor":
                continue
            shape = [d if isinstance(d, int) else (sizes or {}).get(d, 1) for d in port.shape or ()]
            made[port.name] = capi.holo_tensors_get(capi.holo_tensors_seeded({"dtype": port.dtype, "shape": shape}, seed + index), 0)[0]
        return made

    def bench(self, inputs=None, *, seconds=1.0, threads=None):
        """Runs it for so long, and gives times in seconds: min, median, p99, runs."""
        inputs = self.make_inputs() if inputs is None else inputs
        with self.session(threads) as session:
            times, end = [], time.perf_counter() + seconds
            while len(times) < 3 or time.perf_counter() < end:
                before = time.perf_counter()
                session.run(inputs)
                times.append(time.perf_counter() - before)
        times.sort()
        return _Record({"min": times[0], "median": times[len(times) // 2], "p99": times[int(0.99 * (len(times) - 1))], "runs": len(times)})

    def profile(self, inputs=None, *, seconds=1.0, threads=None, trace=None):
        """Times each step; gives a list, the longest first. `trace` is a file to write for chrome://tracing."""
        with self.session(threads) as session:
            return session.profile(self.make_inputs() if inputs is None else inputs, seconds=seconds, trace=trace)

    def __repr__(self):
        if self.closed:
            return "<hologram.Model, closed>"
        ports = ", ".join(f"{p.name}: {_type_text(p)}" for p in self.inputs), ", ".join(f"{p.name}: {_type_text(p)}" for p in self.outputs)
        return f"<hologram.Model {self.path or ''}({ports[0]}) -> ({ports[1]})>"

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{kind}</td><td>{_html(p.name)}</td><td>{_html(_type_text(p))}</td></tr>"
                       for kind, ports in (("input", self.inputs), ("output", self.outputs)) for p in ports)
        picture = self.graph().svg if self.info.steps <= 200 else f"<p>{self.info.steps} steps: model.graph() draws them</p>"
        return f"<table>{rows}</table>{picture}"

    def _repr_svg_(self):
        return self.graph().svg


def _html(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


class Explanation:
    """What the compiler decided about parts of a model: `notes`, and as text."""

    def __init__(self, model):
        self.notes = [_Record(capi.holo_model_note(model, i)) for i in range(capi.holo_model_note_count(model))]
        for note in self.notes:
            note.verdict_text = capi.holo_verdict_text(note.verdict)
        nodes = model.listing().nodes
        self.steps = collections.Counter((node.op, node.runs) for node in nodes)

    def __repr__(self):
        lines = []
        for note in self.notes:
            more = f" and {note.count - 1} more" if note.count > 1 else ""
            lines.append(f"{note.verdict_text}: {note.place or getattr(note, 'pass')}{more}: {note.what}: {note.why}")
        lines += [f"computed in every run: {count} {op} ({runs})" for (op, runs), count in self.steps.most_common()]
        return "\n".join(lines)


class Session(_hologram.Session, _Runs):
    """One place where a model runs: made by Model.session. For one thread at a time; it is called as the model is."""

    @property
    def memo_counts(self):
        """(hits, misses): runs so far that found their inputs in the memo, and that did not."""
        return capi.holo_session_memo_counts(self)

    @property
    def device(self):
        """What runs it: "cpu", "cuda:0"."""
        return capi.holo_session_device(self)

    @property
    def memory(self):
        """Bytes of working memory that it holds."""
        return capi.holo_session_memory(self)

    def save_memo(self, path):
        """Writes the archive once more, with the answers that the memo keeps."""
        capi.holo_session_save_memo(self, os.fspath(path))

    def profile(self, inputs, *, seconds=1.0, trace=None):
        """Times each step of runs on these inputs; gives a list, the longest first. `trace` is a file to write for chrome://tracing."""
        capi.holo_session_profile(self, True)
        runs, end = 0, time.perf_counter() + seconds
        while runs < 3 or time.perf_counter() < end:
            self.run(inputs)
            runs += 1
        capi.holo_session_profile(self, False)
        if trace:
            capi.holo_session_profile_write(self, os.fspath(trace))
        steps = [_Record(capi.holo_session_profile_step(self, i)) for i in range(capi.holo_session_profile_steps(self))]
        return sorted(steps, key=lambda step: -step.seconds)

    def __repr__(self):
        return "<hologram.Session, closed>" if self.closed else f"<hologram.Session of {self.model!r}>"
