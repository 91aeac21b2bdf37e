"""ONNX Runtime's Python API on Hologram: `import hologram.onnxruntime as ort` runs programs that were written for it.

    >>> import hologram.onnxruntime as ort
    >>> session = ort.InferenceSession("demo/digits.onnx", providers=["CPUExecutionProvider"])
    >>> session.get_inputs()[0].name, session.get_inputs()[0].type, session.get_inputs()[0].shape
    ('image', 'tensor(float)', ['batch', 1, 8, 8])

Everything runs on the CPU: other providers are left out with a warning. What has no counterpart raises NotImplementedError and says
what to do. docs/from-onnxruntime.md has the list.
"""

from .. import __version__
from ._options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions)
from ._session import InferenceSession, IOBinding, ModelMetadata, NodeArg
from ._values import OrtDevice, OrtValue
from . import capi

__all__ = ["ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg",
           "OrtDevice", "OrtValue", "RunOptions", "SessionOptions", "__version__", "capi", "disable_telemetry_events",
           "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
           "get_version_string", "preload_dlls", "set_default_logger_severity", "set_default_logger_verbosity", "set_seed"]


def get_available_providers():
    """['CPUExecutionProvider']"""
    return ["CPUExecutionProvider"]


def get_all_providers():
    """['CPUExecutionProvider']"""
    return ["CPUExecutionProvider"]


def get_device():
    """'CPU'"""
    return "CPU"


def get_version_string():
    """The version of Hologram."""
    return __version__


def get_build_info():
    """What runs here."""
    return f"Hologram {__version__}"


def set_default_logger_severity(severity):
    """Nothing: Hologram prints nothing."""


def set_default_logger_verbosity(verbosity):
    """Nothing: Hologram prints nothing."""


def set_seed(seed):
    """Not there: random operators take their seeds from the model."""
    raise NotImplementedError("set_seed: random operators have their seeds in the model (attribute `seed`)")


def enable_telemetry_events():
    """Nothing: there is no telemetry."""


def disable_telemetry_events():
    """Nothing: there is no telemetry."""


def preload_dlls(*args, **kwargs):
    """Nothing: there is nothing to load."""
