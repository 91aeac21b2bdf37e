"""The exceptions of ONNX Runtime, by its names. Each is a hologram.Error's counterpart, and its cause."""


class Fail(RuntimeError):
    """A failure of another kind."""
    code, word = 1, "FAIL"


class InvalidArgument(RuntimeError):
    """A name, a type or a shape is wrong."""
    code, word = 2, "INVALID_ARGUMENT"


class NoSuchFile(RuntimeError):
    """There is no such file."""
    code, word = 3, "NO_SUCHFILE"


class NoModel(RuntimeError):
    """There is no model."""
    code, word = 4, "NO_MODEL"


class EngineError(RuntimeError):
    """The engine failed."""
    code, word = 5, "ENGINE_ERROR"


class RuntimeException(RuntimeError):
    """A run failed."""
    code, word = 6, "RUNTIME_EXCEPTION"


class InvalidProtobuf(RuntimeError):
    """The bytes are no model."""
    code, word = 7, "INVALID_PROTOBUF"


class ModelLoaded(RuntimeError):
    """The model is loaded already."""
    code, word = 8, "MODEL_LOADED"


class NotImplemented(RuntimeError):
    """It is valid, and not supported."""
    code, word = 9, "NOT_IMPLEMENTED"


class InvalidGraph(RuntimeError):
    """The model is not valid."""
    code, word = 10, "INVALID_GRAPH"


class EPFail(RuntimeError):
    """An execution provider failed."""
    code, word = 11, "EP_FAIL"
