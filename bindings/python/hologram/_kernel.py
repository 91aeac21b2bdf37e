"""@hologram.kernel: a function of the kernel language, compiled, and run on arrays."""

import ast
import glob
import inspect
import numbers
import os
import tempfile
import textwrap
import threading

from . import _hologram
from ._hologram import Tensor, capi
from ._language import TypeVariable

_pool = []  # threads that all kernels share; made when the first one runs


class Inline:
    """A helper, which is put in the place of its calls."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        raise TypeError(f"{self.function.__name__} has a meaning inside of a kernel only")


def inline(function):
    """Marks a helper of kernels.

    >>> import hologram
    >>> from hologram import inline, kernel, DeviceArray, f32, i64, get_global_id
    """
    return Inline(function)


# ---- the source of a function, as a file of the language

def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _without_module(lines, tree, modules):
    """hologram.exp(x) becomes exp(x); columns stay."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            line, begin, end = node.lineno - 1, node.value.col_offset, node.value.end_col_offset + 1
            lines[line] = lines[line][:begin] + " " * (end - begin) + lines[line][end:]


class _Source:
    """Collects what a function needs: constants, the type variable, helpers; and itself, on the line where it is."""

    def __init__(self, function):
        self.header, self.helpers, self.seen = [], [], set()
        self.body, self.line = self.text(function)

    def text(self, function):
        lines, first = inspect.getsourcelines(function)
        lines = textwrap.dedent("".join(lines)).splitlines()
        tree = ast.parse("\n".join(lines)).body[0]
        known = dict(function.__globals__)
        known.update(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ())))
        modules = {name for name, value in known.items() if inspect.ismodule(value) and value.__name__ == "hologram"}
        _without_module(lines, tree, modules)
        for name in sorted(_names(tree) - modules):
            if name in known and name not in self.seen:
                self.seen.add(name)
                self.add(name, known[name])
        return lines[tree.lineno - 1:], first + tree.lineno - 1

    def add(self, name, value):
        if isinstance(value, TypeVariable):
            self.header.append(f"{name} = {value!r}")
        elif isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value and abs(value) != float("inf"):
            self.header.append(f"{name} = {value!r}")
        elif isinstance(value, Inline):
            lines, _ = self.text(value.function)
            self.helpers += ["@inline"] + lines

    def whole(self, mark):
        lines = self.header + self.helpers
        return "\n".join(lines + [""] * (self.line - 2 - len(lines)) + [mark] + self.body) + "\n"


def _mark(options):
    given = [f"{name}={value}" for name, value in options.items() if value is not None and name != "operator"]
    if options.get("operator"):
        given.append(f'operator="{options["operator"]}"')
    return f"@kernel({', '.join(given)})" if given else "@kernel"


# ---- kernels

class Kernel:
    """A kernel that can be called: it reads and writes the arrays that it is given.

    `variants` are its programs, a dict each: one for each type that its type variable stands for.
    """

    def __init__(self, name, open_file, doc=None, numeric="fused"):
        self.__name__, self.__doc__, self._open_file = name, doc, open_file
        self._numeric = {"fused": capi.HOLO_FUSED, "exact": capi.HOLO_EXACT}[numeric]
        self._handle, self._variants, self._lock = None, [], threading.Lock()

    @classmethod
    def of_file(cls, path, name, numeric="fused"):
        """The kernel `name` of a file of kernels: .py, .c, .json or .holo."""
        return cls(name, lambda open_path: open_path(os.fspath(path)), numeric=numeric)

    def _open(self):
        with self._lock:
            if self._handle is None:
                handle = self._open_file(lambda path: capi.holo_kernels_open(path, self._numeric))
                found = [(i, capi.holo_kernels_info(handle, i)) for i in range(capi.holo_kernels_count(handle))]
                self._variants = [(i, info) for i, info in found if info["function"] == self.__name__]
                if not self._variants:
                    raise ValueError(f"there is no kernel {self.__name__}; there are {', '.join(sorted({v['function'] for _, v in found}))}")
                self._handle = handle
        return self._handle

    @property
    def variants(self):
        """The programs, a dict each: name, params, assembly ..."""
        self._open()
        return [info for _, info in self._variants]

    def _choose(self, args):
        """The variant whose types are those of the arrays."""
        if len(self._variants) == 1:
            return self._variants[0][0]
        have = [Tensor(arg).dtype if param["is_array"] else None for arg, param in zip(args, self._variants[0][1]["params"])]
        for index, info in self._variants:
            if all(dtype is None or dtype == _hologram.dtype_name(param["type"]) for dtype, param in zip(have, info["params"])):
                return index
        types = ", ".join(_hologram.dtype_name(info["type"]) for _, info in self._variants)
        raise TypeError(f"{self.__name__} is there for {types}, but the arrays are {', '.join(d for d in have if d)}")

    def _arguments(self, args, kwargs):
        names = [param["name"] for param in self._variants[0][1]["params"]]
        values = dict(zip(names, args))
        if len(args) > len(names) or set(kwargs) - set(names) or set(kwargs) & set(values):
            raise TypeError(f"{self.__name__} takes {', '.join(names)}")
        values.update(kwargs)
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{self.__name__} needs {', '.join(missing)}, too")
        return tuple(values[name] for name in names)

    def __call__(self, *args, lanes=0, threads=None, **kwargs):
        """Runs it. `lanes` is how many there are, else as the kernel says; threads=1: the caller's thread alone."""
        handle = self._open()
        args = self._arguments(args, kwargs)
        if threads != 1 and not _pool:
            _pool.append(capi.holo_pool_create(0))
        with self._lock:
            _hologram.kernels_run(handle, self._choose(args), args, lanes, None if threads == 1 else _pool[0])

    def __repr__(self):
        return f"<hologram kernel {self.__name__}>"


def kernel(function=None, *, lanes=None, block=None, operator=None, numeric="fused"):
    """Compiles a function of the kernel language (docs/kernel-language.md), which then runs on arrays.

    `lanes` is how many lanes there are: a number, or an expression of the parameters as text; `block` how many work together;
    `operator` the operator of models that it computes, for compile(kernels=...).

    >>> import array, hologram
    >>> from hologram.kernels import vector_add
    >>> a, c = array.array("f", [1, 2, 3]), array.array("f", bytes(12))
    >>> vector_add(a, a, c, 3)
    >>> c.tolist()
    [2.0, 4.0, 6.0]
    """
    if function is None:
        return lambda f: kernel(f, lanes=lanes, block=block, operator=operator, numeric=numeric)

    def open_file(open_path):
        text = _Source(function).whole(_mark({"lanes": lanes, "block": block, "operator": operator}))
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.basename(function.__code__.co_filename)
            path = os.path.join(folder, name if name.endswith(".py") else "kernel.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return open_path(path)

    made = Kernel(function.__name__, open_file, function.__doc__, numeric)
    made.__wrapped__ = function
    return made


def library(folder):
    """The files of kernels below a folder: {name: path}."""
    files = glob.glob(os.path.join(folder, "**", "*.py"), recursive=True)
    return {os.path.splitext(os.path.basename(path))[0]: path for path in sorted(files)}
