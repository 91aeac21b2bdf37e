"""InferenceSession: a hologram.Model under ONNX Runtime's names."""

import collections
import os
import threading
import time
import warnings

import hologram
from .._hologram import capi
from . import _values
from ._options import RunOptions, SessionOptions
from ._values import OrtValue
from hologram.onnxruntime import _errors as errors

# What a status is there.
_ERRORS = {
    hologram.ArgumentError: errors.InvalidArgument, hologram.InputError: errors.InvalidArgument, hologram.ModelError: errors.InvalidGraph,
    hologram.ArchiveError: errors.InvalidProtobuf, hologram.UnsupportedError: errors.NotImplemented, hologram.FileError: errors.NoSuchFile,
    hologram.RefusedError: errors.NotImplemented, hologram.CancelledError: errors.Fail, hologram.TimeoutError: errors.Fail,
}


def _raise(error):
    """An error of Hologram as one of ONNX Runtime."""
    if isinstance(error, hologram.Error):
        made = _ERRORS.get(type(error), errors.RuntimeException)
        raise made(f"[ONNXRuntimeError] : {made.code} : {made.word} : {error}") from error
    if type(error) is TypeError and str(error).startswith("input "):
        raise errors.InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : {error}") from error
    raise error


class NodeArg:
    """An input or an output: name, type ('tensor(float)') and shape."""

    def __init__(self, port):
        self.name, self.type = port.name, _values.type_text(port.dtype, port.kind, port.inner)
        self.shape = list(port.shape) if port.shape is not None else []

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"

    __str__ = __repr__


class ModelMetadata:
    """What the model says of itself."""

    def __init__(self, meta):
        def get(key):
            return meta.get("source." + key, "")
        name, _, version = get("producer").rpartition(" ")  # an archive has both in one text
        self.producer_name = name if name and version[:1].isdigit() else get("producer")
        self.graph_name, self.domain = get("name"), get("domain")
        self.description, self.graph_description = get("description"), get("graph_description")
        self.version = int(get("version") or 0)
        self.custom_metadata_map = {key[len("model."):]: value for key, value in meta.items() if key.startswith("model.")}


class InferenceSession:
    """A model that runs. `path_or_bytes` is an ONNX model, or a .holo file that hologram.compile wrote."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        self._options = sess_options or SessionOptions()
        _note_providers(providers)
        unknown = set(kwargs) - {"disabled_optimizers", "enable_fallback", "read_config_from_model"}
        if unknown:
            raise TypeError(f"InferenceSession takes no argument {sorted(unknown)[0]!r}")
        if isinstance(path_or_bytes, (str, os.PathLike)) and not os.path.exists(path_or_bytes):
            raise errors.NoSuchFile(f"[ONNXRuntimeError] : 3 : NO_SUCHFILE : {os.fspath(path_or_bytes)}: there is no such file")
        if not isinstance(path_or_bytes, (str, bytes, os.PathLike)) and not hasattr(path_or_bytes, "SerializeToString"):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        try:
            self._model = _open(path_or_bytes, self._options)
        except hologram.Error as error:
            _raise(error)
        self._in, self._out = self._model.inputs, self._model.outputs
        self._names = [port.name for port in self._out]
        self._profile = self._model.session(self._options.intra_op_num_threads or None) if self._options.enable_profiling else None
        self._lock, self._begin = threading.Lock(), time.time_ns()
        if self._profile:
            capi.holo_session_profile(self._profile, True)

    # ---- what it says of itself

    def get_inputs(self):
        return [NodeArg(port) for port in self._in]

    def get_outputs(self):
        return [NodeArg(port) for port in self._out]

    def get_overridable_initializers(self):
        return []

    def get_modelmeta(self):
        return ModelMetadata(self._model.metadata)

    def get_providers(self):
        return ["CPUExecutionProvider"]

    def get_provider_options(self):
        return {"CPUExecutionProvider": {}}

    def set_providers(self, providers=None, provider_options=None):
        _note_providers(providers)

    def get_session_options(self):
        return self._options

    def enable_fallback(self):
        """Nothing: there is one provider."""

    def disable_fallback(self):
        """Nothing: there is one provider."""

    # ---- running

    def _check(self, feed):
        """Raises what is wrong with the names, as ONNX Runtime says it."""
        missing = [port.name for port in self._in if port.name not in feed and not port.optional]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
        known = {port.name for port in self._in}
        for name in feed:
            if name not in known:
                raise errors.InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid input name: {name}")

    def run(self, output_names, input_feed, run_options=None):
        """The outputs, a list in the order of `output_names`; None: all."""
        try:
            if self._profile:
                with self._lock:
                    found = self._profile.run(input_feed)
            elif run_options is None and not output_names:
                return list(self._model.run(input_feed).values())
            else:
                names = list(dict.fromkeys(output_names)) if output_names else None
                found = self._model.run(input_feed, names, cancel=run_options._cancel if isinstance(run_options, RunOptions) else None)
        except (hologram.Error, TypeError) as error:
            self._check(input_feed)
            _raise(error)
        return [found[name] for name in output_names or self._names]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in another thread; calls callback(outputs, user_data, error), where error is '' unless it failed."""
        def work():
            try:
                outputs, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # all of them are told
                outputs, error = [], str(failure)
            callback(outputs, user_data, error)
        threading.Thread(target=work, daemon=True).start()

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """The same on OrtValues."""
        feed = {name: value._value for name, value in input_dict_ort_values.items()}
        return [OrtValue(value) for value in self.run(output_names, feed, run_options)]

    def io_binding(self):
        """Inputs and outputs that stay where they are from run to run."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        iobinding._run(run_options)

    # ---- profiling

    def get_profiling_start_time_ns(self):
        return self._begin

    def end_profiling(self):
        """Writes a trace for chrome://tracing; the name of the file."""
        if not self._profile:
            return ""
        name = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        with self._lock:
            capi.holo_session_profile_write(self._profile, name)
            capi.holo_session_profile(self._profile, False)
        return name


def _note_providers(providers):
    names = [one[0] if isinstance(one, (tuple, list)) else one for one in providers or ()]
    others = [name for name in names if name not in ("CPUExecutionProvider", "AzureExecutionProvider")]
    if others:
        warnings.warn(f"{', '.join(others)}: Hologram runs on the CPU, with the same results", UserWarning, stacklevel=3)


def _open(model, options):
    threads = options.intra_op_num_threads or None
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    opened = hologram.open(model, threads=threads)
    shapes = {port.name: tuple(options._sizes.get(size, size) for size in port.shape) for port in opened.inputs
              if port.shape and any(size in options._sizes for size in port.shape)}
    return hologram.open(model, threads=threads, input_shapes=shapes) if shapes else opened


class IOBinding:
    """Arrays that a session reads and writes where they are."""

    def __init__(self, session):
        self._session, self._inputs, self._outputs, self._found = session, {}, collections.OrderedDict(), {}

    def bind_cpu_input(self, name, array):
        self._inputs[name] = array

    def bind_ortvalue_input(self, name, value):
        self._inputs[name] = value._value

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _values.check_device(device_type)
        self._inputs[name] = _array_at(element_type, shape, buffer_ptr)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        _values.check_device(device_type)
        self._outputs[name] = _array_at(element_type, shape, buffer_ptr) if buffer_ptr else None

    def bind_ortvalue_output(self, name, value):
        self._outputs[name] = value._value

    def clear_binding_inputs(self):
        self._inputs.clear()

    def clear_binding_outputs(self):
        self._outputs.clear()
        self._found.clear()

    def synchronize_inputs(self):
        """Nothing: everything is there."""

    def synchronize_outputs(self):
        """Nothing: everything is there."""

    def _run(self, run_options):
        session = self._session
        given = {name: array for name, array in self._outputs.items() if array is not None}
        cancel = run_options._cancel if isinstance(run_options, RunOptions) else None
        try:
            self._found = session._model.run(self._inputs, list(self._outputs), out=given, cancel=cancel)
        except (hologram.Error, TypeError) as error:
            session._check(self._inputs)
            _raise(error)

    def get_outputs(self):
        return [OrtValue(self._found[name]) for name in self._outputs]

    def get_outputs_as_ortvaluevector(self):
        return self.get_outputs()

    def copy_outputs_to_cpu(self):
        return [self._found[name] for name in self._outputs]


def _array_at(element_type, shape, address):
    """An array over memory of the caller's, at an address."""
    import ctypes
    numpy = _values.numpy()
    if isinstance(element_type, int):
        element_type = _values.NUMBERS[element_type]
    dtype = numpy.dtype(element_type)
    size = int(numpy.prod(shape)) * dtype.itemsize
    return numpy.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)
