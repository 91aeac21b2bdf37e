"""Numbers, lists and strings, to arrays and back. The extension calls these, with NumPy where that is installed and without."""

import struct

from ._hologram import tensor_empty

_FORMATS = {"float32": "f", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "int32": "i", "int64": "q", "bool": "?",
            "float16": "e", "float64": "d", "uint32": "I", "uint64": "Q", "uint4": "B", "int4": "b", "uint2": "B", "int2": "b"}


def _numpy():
    try:
        import numpy
        return numpy
    except ImportError:
        return None


_RANK_MAX = 16  # HOLO_MAX_RANK


def _shape(value, what):
    shape = []
    while isinstance(value, (list, tuple)):
        if len(shape) == _RANK_MAX:  # a list may contain itself
            raise ValueError(f"{what} has more than {_RANK_MAX} dimensions")
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return shape


def _flat(value, shape, what):
    if not shape:
        if isinstance(value, (list, tuple)):
            raise ValueError(f"{what} has lists of different depths")
        yield value
        return
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise ValueError(f"{what} has lists of different lengths")
    for each in value:
        yield from _flat(each, shape[1:], what)


def array(value, dtype, what):
    """An array of numbers, or of lists of them, for an input that wants this type."""
    shape = _shape(value, what)
    flat = list(_flat(value, shape, what))
    kind = _FORMATS.get(dtype)
    if kind is None:
        raise TypeError(f"{what} wants elements of type {dtype}, which no list has: give an array")
    if kind not in "fde?" and not all(hasattr(x, "__index__") for x in flat):
        raise TypeError(f"{what} wants whole numbers ({dtype})")
    try:
        data = struct.pack(f"={len(flat)}{kind}", *flat)
    except (struct.error, TypeError, OverflowError) as error:
        raise TypeError(f"{what} wants numbers of type {dtype}: {error}") from None
    made = tensor_empty(dtype, shape)
    if data:
        same = made.view({1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}[made.nbytes // made.size])
        memoryview(same).cast("B")[:] = data
    return made


def nest(flat, shape):
    """A flat list as lists in lists."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = 1
    for size in shape[1:]:
        step *= size
    return [nest(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def strings(flat, shape):
    """Strings: an array of objects where there is NumPy, else lists."""
    numpy = _numpy()
    if numpy is None:
        return nest(flat, shape)
    made = numpy.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(shape)


def pairs(keys, values):
    """A dict of what arrays or lists of keys and values hold."""
    listed = [x.tolist() if hasattr(x, "tolist") else x for x in (keys, values)]
    return dict(zip(*listed))
