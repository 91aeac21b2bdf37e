"""compile and open: models in, archives or open models out."""

import os
import sys
import tempfile

from ._hologram import Compiler, capi
from ._model import Model, _Record

_KINDS = {None: capi.HOLO_QUANTIZE_NONE, "f32": capi.HOLO_QUANTIZE_NONE, "int8": capi.HOLO_QUANTIZE_INT8, "int4": capi.HOLO_QUANTIZE_INT4,
          "f16": capi.HOLO_QUANTIZE_F16, "bf16": capi.HOLO_QUANTIZE_BF16, "w8": capi.HOLO_QUANTIZE_W8, "centroids": capi.HOLO_QUANTIZE_CENTROIDS,
          "q8_0": capi.HOLO_QUANTIZE_Q8_0, "q4_0": capi.HOLO_QUANTIZE_Q4_0, "q4_1": capi.HOLO_QUANTIZE_Q4_1,
          "q5_0": capi.HOLO_QUANTIZE_Q5_0, "q5_1": capi.HOLO_QUANTIZE_Q5_1, "q4_k": capi.HOLO_QUANTIZE_Q4_K,
          "q5_k": capi.HOLO_QUANTIZE_Q5_K, "q6_k": capi.HOLO_QUANTIZE_Q6_K}
_ACTIVATIONS = {None: capi.HOLO_ACTIVATIONS_DEFAULT, "static": capi.HOLO_ACTIVATIONS_STATIC, "dynamic": capi.HOLO_ACTIVATIONS_DYNAMIC}
_RANGES = {None: capi.HOLO_RANGES_MSE, "mse": capi.HOLO_RANGES_MSE, "minmax": capi.HOLO_RANGES_MINMAX, "percentile": capi.HOLO_RANGES_PERCENTILE,
           "entropy": capi.HOLO_RANGES_ENTROPY}
_NUMERIC = {"fused": capi.HOLO_FUSED, "exact": capi.HOLO_EXACT, "bf16": capi.HOLO_NUMERIC_BF16,
            "tf32": capi.HOLO_NUMERIC_TF32, "f16": capi.HOLO_NUMERIC_F16}
_SIZES = {"balanced": capi.HOLO_SIZE_BALANCED, "small": capi.HOLO_SIZE_SMALL, "fast": capi.HOLO_SIZE_FAST}


def _choice(table, value, option):
    if value not in table:
        raise ValueError(f"{option}={value!r}: expected one of {', '.join(repr(k) for k in table)}")
    return table[value]


def _paths(value):
    return [os.fspath(value)] if isinstance(value, (str, os.PathLike)) else [os.fspath(one) for one in value]


class Report(_Record):
    """What a compile did: the fields of HoloReport in hologram_compiler.h.

    >>> import hologram
    >>> report = hologram.compile("demo/digits.onnx", "/tmp/digits.holo")
    >>> report.verified, report.nodes_before >= report.nodes_after
    (True, True)
    """


class _Bar:
    """progress=True: one line on the standard error."""

    def __call__(self, stage, fraction):
        sys.stderr.write(f"\r{stage[:40]:40} {100 * fraction:3.0f} %")
        sys.stderr.flush()

    def end(self):
        sys.stderr.write("\r" + " " * 48 + "\r")


# ---- choices

def _set_input_shapes(compiler, shapes):
    for name, shape in shapes.items():
        capi.holo_compiler_set_shape(compiler, name, [d if isinstance(d, int) else -1 for d in shape])


def _set_constants(compiler, constants):
    for name, value in constants.items():
        capi.holo_compiler_set_constant(compiler, name, value)


def _set_domains(compiler, domains):
    for name, values in domains.items():
        capi.holo_compiler_set_domain(compiler, name, values)


def _set_quantize(compiler, text):
    """'int8', or 'int8,Gather=f16,/head/*=f32': a type for all layers, and others for those that fit a pattern."""
    kind = None
    for part in text.split(","):
        pattern, equals, word = part.rpartition("=")
        if equals:
            capi.holo_compiler_add_quantize(compiler, pattern, _choice(_KINDS, word, "quantize"))
        elif kind is not None:
            raise ValueError(f"quantize={text!r} names two types for all layers")
        else:
            kind = part
    capi.holo_compiler_set_quantize(compiler, _choice(_KINDS, kind, "quantize"))


def _set_calibration(compiler, samples):
    if isinstance(samples, (str, os.PathLike)):
        capi.holo_compiler_set_calibration(compiler, os.fspath(samples))
        return
    count = 0
    for sample in samples:
        if isinstance(sample, (tuple, list)):
            sample = dict(enumerate(sample))
        compiler.add_sample(sample if isinstance(sample, dict) else {0: sample})
        count += 1
    if not count:
        raise ValueError("calibration has no samples: give some, or leave it out to calibrate with made-up ones")


def _set_tolerance(compiler, tolerance):
    relative, absolute = tolerance if isinstance(tolerance, (tuple, list)) else (tolerance, -1.0)
    capi.holo_compiler_set_tolerance(compiler, relative, absolute)


def _set_tables(compiler, tables):
    """False, True, or how many bytes they may take."""
    capi.holo_compiler_set_tables(compiler, bool(tables), 0 if tables is True else int(tables))


def _each(function):
    return lambda compiler, values: [function(compiler, one) for one in _paths(values)]


# What an option calls. Those of several words are in _compiler.
_OPTIONS = {
    "input_shapes": _set_input_shapes,
    "constants": _set_constants,
    "domains": _set_domains,
    "symbolic": capi.holo_compiler_set_symbolic,
    "numeric": lambda c, v: capi.holo_compiler_set_numeric(c, _choice(_NUMERIC, v, "numeric")),
    "verify": capi.holo_compiler_set_verify,
    "verify_inputs": _each(capi.holo_compiler_add_verify_inputs),
    "strict": capi.holo_compiler_set_strict,
    "tolerance": _set_tolerance,
    "size": lambda c, v: capi.holo_compiler_set_size(c, _choice(_SIZES, v, "size")),
    "targets": lambda c, v: capi.holo_compiler_set_targets(c, v if isinstance(v, str) else ",".join(v)),
    "tune": capi.holo_compiler_set_tune,
    "tables": _set_tables,
    "quantize": _set_quantize,
    "percentile": capi.holo_compiler_set_percentile,
    "centroids": capi.holo_compiler_set_centroids,
    "calibration": _set_calibration,
    "accuracy": capi.holo_compiler_set_accuracy,
    "only_if_faster": capi.holo_compiler_set_only_if_faster,
    "patterns": _each(capi.holo_compiler_add_patterns),
    "kernels": _each(capi.holo_compiler_add_kernel),
    "threads": capi.holo_compiler_set_threads,
    "memory_limit": capi.holo_compiler_set_memory_limit,
    "disable": lambda c, v: [capi.holo_compiler_disable_pass(c, one) for one in ([v] if isinstance(v, str) else v)],
}


def _compiler(options):
    compiler = Compiler()
    activations, ranges = options.pop("activations", None), options.pop("ranges", None)
    judge, max_drop = options.pop("judge", None), options.pop("max_drop", None)
    if max_drop is not None and judge is None:
        raise ValueError("max_drop says how far the score of a judge may drop: give judge=function, too")
    dump = options.pop("dump", None)
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}; there are {', '.join(sorted(_OPTIONS))}, activations, ranges, judge, max_drop, dump, progress")
    order = list(_OPTIONS)
    for name in sorted(options, key=order.index):
        if options[name] is not None:
            _OPTIONS[name](compiler, options[name])
    if activations or ranges:
        capi.holo_compiler_set_activations(compiler, _choice(_ACTIVATIONS, activations, "activations"), _choice(_RANGES, ranges, "ranges"))
    if judge is not None:
        compiler.set_judge(judge, 0.01 if max_drop is None else max_drop)
    if dump is not None:
        compiler.set_dump(*(dump if isinstance(dump, tuple) else ("all", dump)))
    return compiler


def _run(progress, compiler, function, *args):
    bar = _Bar() if progress is True else None
    if bar or progress:
        compiler.set_progress(bar or progress)
    try:
        return function(*args)
    finally:
        if bar:
            bar.end()


def _bytes_of(model):
    """The bytes of a model in memory; None: it is a path."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return model
    if hasattr(model, "SerializeToString"):  # onnx.ModelProto
        return model.SerializeToString()
    return None


def compile(model, output=None, *, progress=None, **options):
    """Compiles a model into a .holo file, and gives a Report.

    `model` is a path, the bytes of a model's file, or an onnx.ModelProto. `output` is the file to write; without it, the model's
    name with .holo behind, in the working folder. `progress` is True, or a function of a text and a number from 0 to 1.

    Options, all of them optional:

    input_shapes    {"x": (1, 3, 224, 224)}: shapes to fix; None leaves a size as it is
    constants       {"x": array}: inputs that have this value for good
    domains         {"x": [0, 1, 2]}: all that elements of an input can be
    symbolic        True: every size of every input is left open
    numeric         "fused", "exact" (the same bits on every CPU) or "bf16" (products of bf16); for GPUs also "tf32" and "f16"
    verify          False: the plan is not compared with the model
    verify_inputs   files of inputs to compare with; tolerance: how far it may be off, relative or (relative, absolute)
    strict          True: a plan that cannot be compared is an error
    size            "balanced", "small" or "fast"
    targets, tune   where steps run; True: measure how they run fastest on this machine
    tables          False: no lookup tables; or how many bytes they may take
    quantize        "int8", "int4", "w8", "f16", "bf16", "q4_k", "q8_0" ..., "int8,Gather=f16,/head/*=f32"
    activations     "static" or "dynamic"; ranges: "mse", "minmax", "percentile", "entropy"; percentile
    calibration     a path, or an iterable of samples: dicts of arrays by name, tuples of arrays, or arrays
    accuracy        how much must be right, 0 to 1; or judge=function(samples) and max_drop
    only_if_faster  True: the model stays as it is where that is no slower
    patterns        files of inputs whose answers are stored
    kernels         files of kernels for operators of your own
    threads, memory_limit, disable (passes to leave out), dump (a function of a pass and a graph as text)

    >>> import hologram
    >>> report = hologram.compile("demo/digits.onnx", "/tmp/digits.holo", numeric="exact")
    >>> report.archive_bytes > 0
    True
    """
    data = _bytes_of(model)
    compiler = _compiler(options)
    if data is None:
        path = os.fspath(model)
        if output is None:
            name = os.path.basename(path.rstrip("/"))
            output = (name if os.path.isdir(path) else os.path.splitext(name)[0]) + ".holo"
        return Report(_run(progress, compiler, compiler.compile_file, path, os.fspath(output)))
    if output is None:
        raise TypeError("a model in memory has no name: say where to write, as compile(model, 'model.holo')")
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(data)
        file.flush()
        return Report(_run(progress, compiler, compiler.compile_file, file.name, os.fspath(output)))


def open(model, *, threads=None, device=None, prefault=False, huge_pages=False, progress=None, **options):
    """Opens a .holo file, or compiles a model in memory; gives a Model.

    `model` is a path, bytes of either, or an onnx.ModelProto. `threads` is how many a run uses: None, one a core, shared by all
    models; 1, the caller's alone. `device` is "cpu", "cuda" or "cuda:1", for an archive that has a plan for it; None, the first
    of its devices that is there. `prefault` and `huge_pages` pay for memory when opening instead of in the first runs. All other
    options are those of `compile`, for models; these are not verified unless you say verify=True, or
    give an option of verification.

    >>> import hologram
    >>> model = hologram.open("demo/digits.onnx", threads=1)
    >>> model.outputs[0].shape
    ('batch', 10)
    """
    data = _bytes_of(model)
    flags = (capi.HOLO_OPEN_PREFAULT if prefault else 0) | (capi.HOLO_OPEN_HUGE if huge_pages else 0)
    is_archive = bytes(data[:5]) == b"\x89HOLO" if data is not None else _is_archive(os.fspath(model))
    if is_archive:
        if options:
            raise TypeError(f"{sorted(options)[0]!r} is an option of compiling: an archive is compiled already")
        opened = Model._open(model, threads, flags) if data is None else Model._open_memory(data, threads)
        report = None
    else:
        if not any(options.get(name) for name in ("strict", "verify_inputs", "tolerance")):
            options.setdefault("verify", False)
        compiler = _compiler(options)
        function = compiler.compile_model if data is None else compiler.compile_memory
        opened, report = _run(progress, compiler, function, os.fspath(model) if data is None else data, Model, threads)
    opened.path = None if data is not None else os.fspath(model)
    opened.report = Report(report) if report else None
    if device is not None:
        capi.holo_model_set_device(opened, device)
    return opened


def _is_archive(path):
    return capi.holo_file_kind(os.fsdecode(path)) == capi.HOLO_FILE_ARCHIVE


def read(path):
    """Arrays of a file: of a .npy, an ONNX .pb or a .csv the one that it has; of a .npz a dict.

    >>> import hologram
    >>> hologram.read("demo/digits/01_is_7.npy").shape
    (1, 1, 8, 8)
    """
    tensors = capi.holo_tensors_read(os.fspath(path), None)
    pairs = [capi.holo_tensors_get(tensors, i) for i in range(capi.holo_tensors_count(tensors))]
    return pairs[0][0] if len(pairs) == 1 and not pairs[0][1] else {name: value for value, name in pairs}


def reference(model, inputs):
    """Computes a model plainly, operator by operator, without any optimization: {name: array}.

    `model` is a path; `inputs` a dict of arrays by name.

    >>> import hologram
    >>> answer = hologram.reference("demo/digits.onnx", {"image": [[[[0.5] * 8] * 8]]})
    >>> list(answer)
    ['probabilities']
    """
    source = capi.holo_source_open(os.fspath(model))
    names = [capi.holo_source_input(source, i)["name"] for i in range(capi.holo_source_input_count(source))]
    unknown = sorted(set(inputs) - set(names))
    if unknown:
        raise ValueError(f"the model has no input {unknown[0]!r}; it has {', '.join(names)}")
    outputs = capi.holo_reference_run(source, [inputs.get(name) for name in names])
    pairs = [capi.holo_tensors_get(outputs, i) for i in range(capi.holo_tensors_count(outputs))]
    return {name: value for value, name in pairs}
