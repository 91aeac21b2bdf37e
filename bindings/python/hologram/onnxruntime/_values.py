"""OrtValue: arrays with ONNX Runtime's names for things."""

from .. import _hologram
from .._hologram import Tensor

# NumPy's names, and those of ONNX.
TYPES = {"float32": "float", "float64": "double", "float16": "float16", "bfloat16": "bfloat16", "str": "string", "bool": "bool",
         "complex64": "complex64", "complex128": "complex128"}
TYPES.update({f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64, 4, 2)})
NUMBERS = {i: _hologram.dtype_name(i) for i in range(1, 29)}


def type_text(dtype, kind="tensor", inner="tensor"):
    """'tensor(float)', 'seq(tensor(float))'"""
    text = f"tensor({TYPES.get(dtype, dtype.replace('_', ''))})"
    if kind == "sequence":
        return f"seq({text})" if inner == "tensor" else f"seq(map(string,{text}))"
    if kind == "optional":
        return f"optional({text if inner == 'tensor' else f'seq({text})'})"
    return f"map(string,{text})" if kind == "map" else text


def dtype_of(value):
    """The name of an array's type: 'float32'; 'str' of one of strings."""
    dtype = getattr(value, "dtype", None)
    name = getattr(dtype, "name", None) or (str(dtype) if dtype is not None else type(value).__name__)
    return "str" if name == "object" or name.startswith(("str", "bytes")) else name


def check_device(device_type):
    if device_type not in ("cpu", "CPU"):
        raise NotImplementedError(f"there is no device {device_type!r}: everything is on the CPU")


def numpy():
    import numpy as module
    return module


class OrtDevice:
    """The CPU."""

    def __init__(self, device_type="cpu", device_id=0):
        check_device(device_type)

    @staticmethod
    def make(name, device_id=0):
        return OrtDevice(name, device_id)

    def device_type(self):
        return "cpu"

    def device_id(self):
        return 0


class OrtValue:
    """An array, a sequence of arrays, or nothing. The memory is the array's: no copy is made."""

    def __init__(self, value):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        check_device(device_type)
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array, onnx_element_type):
        return OrtValue(Tensor(array).view(NUMBERS[onnx_element_type]))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        check_device(device_type)
        if isinstance(element_type, int):
            element_type = NUMBERS[element_type]
        return OrtValue(numpy().empty(tuple(shape), element_type))

    @staticmethod
    def from_dlpack(data, is_bool_tensor=False):
        return OrtValue(numpy().asarray(Tensor(data)))

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor):
        raise NotImplementedError("sparse tensors are not there: give a dense array")

    def has_value(self):
        return self._value is not None

    def is_tensor(self):
        return self._value is not None and not isinstance(self._value, list)

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return isinstance(self._value, list)

    def numpy(self):
        if not self.is_tensor():
            raise RuntimeError("only a value that is a tensor has an array")
        return numpy().asarray(self._value)

    def shape(self):
        return list(self._value.shape)

    def element_type(self):
        name = dtype_of(self._value)
        return next(number for number, one in NUMBERS.items() if one == name)

    def data_type(self):
        first = self._value[0] if self.is_tensor_sequence() and self._value else self._value
        return type_text(dtype_of(first), "sequence" if self.is_tensor_sequence() else "tensor")

    def tensor_size_in_bytes(self):
        return self._value.nbytes

    def data_ptr(self):
        return Tensor(self._value).__array_interface__["data"][0]

    def device_name(self):
        return "cpu"

    def update_inplace(self, array):
        numpy().copyto(self._value, array)

    def __dlpack__(self, **options):
        return Tensor(self._value).__dlpack__(**options)

    def __dlpack_device__(self):
        return 1, 0

    def to_dlpack(self):
        return self.__dlpack__()

    @property
    def _ortvalue(self):
        return self
