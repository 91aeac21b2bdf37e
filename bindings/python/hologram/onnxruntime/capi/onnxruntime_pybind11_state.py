"""The exceptions, where ONNX Runtime has them. They are the same under any name of this package, as sys.modules may give it."""

from hologram.onnxruntime._errors import (EPFail, EngineError, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoaded, NoModel,  # noqa: F401
                                          NoSuchFile, NotImplemented, RuntimeException)
