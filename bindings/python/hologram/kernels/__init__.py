"""The standard library of kernels: each is a hologram.Kernel, compiled when it is first called.

    >>> from hologram import kernels
    >>> import array
    >>> y = array.array("f", bytes(12))
    >>> kernels.activation_relu(array.array("f", [-1, 0, 2]), y, 3)
    >>> y.tolist()
    [0.0, 0.0, 2.0]

`dir(hologram.kernels)` lists them, and help(kernels.vector_add) says what one does.
"""

import os

from .._kernel import Kernel, library

_files = library(os.path.join(os.path.dirname(__file__), "stdlib"))


def __getattr__(name):
    if name not in _files:
        raise AttributeError(f"there is no kernel {name!r} in the standard library; dir(hologram.kernels) lists all")
    globals()[name] = made = Kernel.of_file(_files[name], name)
    made.__doc__ = _doc(_files[name])
    return made


def _doc(path):
    with open(path, encoding="utf-8") as file:
        parts = file.read().split('"""')
    return parts[1] if len(parts) > 2 else None


def __dir__():
    return sorted(_files)
