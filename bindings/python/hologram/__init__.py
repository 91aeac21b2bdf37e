"""Hologram: a compiler and runtime for trained models.

    >>> import hologram
    >>> model = hologram.open("demo/digits.onnx")      # a model is compiled in memory; a .holo file is opened at once
    >>> [i.name for i in model.inputs], model.inputs[0].dtype, model.inputs[0].shape
    (['image'], 'float32', ('batch', 1, 8, 8))

`hologram.compile` writes a .holo file, `hologram.open` opens one, `model(x)` runs it. docs/python.md is the guide.
"""

from . import _hologram
from ._hologram import (ArchiveError, ArgumentError, BusyError, Cancel, CancelledError, Error, FileError, InputError,
                        InternalError, ModelError, NoMemoryError, RefusedError, Tensor, TimeoutError, UnsupportedError,
                        VerifyError, capi)
from ._compile import Report, compile, open, read, reference
from ._kernel import Inline, Kernel, inline, kernel
from ._language import WORDS as _WORDS
from ._model import Graph, Model, Port, Session
from ._batch import Batch, BatchAnswer
from ._pictures import Picture
from ._reader import Label
from ._text import Answer, Language, Spoken, Token, Tokenizer, Transcript

__version__ = _hologram.version()
__all__ = ["Answer", "ArchiveError", "ArgumentError", "Batch", "BatchAnswer", "BusyError", "Cancel", "CancelledError", "Error", "FileError", "Graph", "InputError",
           "Inline", "InternalError", "Kernel", "Label", "Language", "Model", "ModelError", "NoMemoryError", "Picture", "Port", "RefusedError", "Report", "Session", "Spoken", "Tensor",
           "TimeoutError", "Token", "Tokenizer", "Transcript", "UnsupportedError", "VerifyError", "capi", "compile", "cpu_level", "inline", "kernel", "memory_held",
           "memory_limit", "memory_set_limit", "open", "operators", "read", "reference"]


def __getattr__(name):
    """Words of the kernel language: from hologram import DeviceArray, f32, get_global_id."""
    if name in _WORDS:
        return _WORDS[name]
    raise AttributeError(f"module 'hologram' has no attribute {name!r}")


def cpu_level():
    """The CPU's instructions that are in use: 'avx2', 'neon' ..."""
    return capi.holo_cpu_level()


def memory_set_limit(bytes):
    """How many bytes the library may hold at once; 0: nine tenths of what the machine has left."""
    capi.holo_memory_set_limit(bytes)


def memory_limit():
    """How many bytes the library may hold at once."""
    return capi.holo_memory_limit()


def memory_held():
    """How many bytes the library holds now."""
    return capi.holo_memory_held()


def operators():
    """The operators that it knows, a dict each: domain, name, since ..."""
    return [capi.holo_op_info(i) for i in range(capi.holo_op_count())]
