"""As onnxruntime.capi: for programs that catch onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument."""
