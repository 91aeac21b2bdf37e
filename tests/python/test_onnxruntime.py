"""hologram.onnxruntime: programs that were written for ONNX Runtime."""

import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

from support import DIGITS, FLOAT, STRING, adding, hologram, model, node, numpy, sequence_type, slow, square, tensor_type, unary

if numpy is None:
    raise unittest.SkipTest("ONNX Runtime needs NumPy")

try:
    import onnx
except ImportError:
    onnx = None

import hologram.onnxruntime as ort  # noqa: E402
from hologram.onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidProtobuf, NoSuchFile  # noqa: E402

ONES = numpy.ones((1, 3), "float32")


class Sessions(unittest.TestCase):
    def test_a_program(self):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3
        options.add_session_config_entry("session.load_model_format", "ONNX")
        session = ort.InferenceSession(DIGITS, options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        label = session.get_outputs()[0].name
        answer = session.run([label], {name: numpy.zeros((3, 1, 8, 8), numpy.float32)})[0]
        self.assertEqual(answer.shape, (3, 10))
        self.assertEqual([str(session.get_inputs()[0]), session.get_providers(), ort.get_device()],
                         ["NodeArg(name='image', type='tensor(float)', shape=['batch', 1, 8, 8])", ["CPUExecutionProvider"], "CPU"])
        self.assertEqual(session.get_session_options().intra_op_num_threads, 1)

    def test_bytes_and_archives(self):
        with open(DIGITS, "rb") as file:
            data = file.read()
        x = {"image": numpy.ones((1, 1, 8, 8), "float32")}
        want = ort.InferenceSession(data).run(None, x)[0]
        with tempfile.TemporaryDirectory() as folder:
            hologram.compile(DIGITS, folder + "/d.holo")
            self.assertTrue((ort.InferenceSession(folder + "/d.holo").run(None, x)[0] == want).all())

    def test_outputs_in_the_order_asked_for(self):
        kind = tensor_type(FLOAT, ("n", 3))
        session = ort.InferenceSession(model([node("Add", ["a", "b"], ["c"]), node("Sub", ["a", "b"], ["d"])], [("a", kind), ("b", kind)], [("c", kind), ("d", kind)]))
        feed = {"a": ONES, "b": ONES}
        self.assertEqual([o.sum() for o in session.run(["d", "c"], feed)], [0, 6])
        self.assertEqual([o.sum() for o in session.run(["c", "c"], feed)], [6, 6])
        self.assertEqual([o.sum() for o in session.run([], feed)], [6, 0])

    def test_kinds(self):
        session = ort.InferenceSession(unary("StringNormalizer", STRING, ("n",)))
        self.assertEqual(session.get_inputs()[0].type, "tensor(string)")
        self.assertEqual(session.run(None, {"x": numpy.array(["a", "b"])})[0].tolist(), ["a", "b"])
        session = ort.InferenceSession(model([node("SequenceAt", ["s", "i"], ["y"])], [("s", sequence_type(FLOAT, ("n",))), ("i", tensor_type(7, ()))],
                                             [("y", tensor_type(FLOAT, ("n",)))]))
        self.assertEqual(session.get_inputs()[0].type, "seq(tensor(float))")
        self.assertEqual(session.run(None, {"s": [ONES[0], ONES[0, :1]], "i": numpy.array(1)})[0].tolist(), [1])

    def test_errors(self):
        session = ort.InferenceSession(adding())
        with self.assertRaisesRegex(InvalidArgument, "INVALID_ARGUMENT.*float32, but has float64"):
            session.run(None, {"a": ONES, "b": ONES.astype("float64")})
        with self.assertRaisesRegex(InvalidArgument, "Invalid input name: z"):
            session.run(None, {"a": ONES, "b": ONES, "z": ONES})
        with self.assertRaisesRegex(ValueError, r"Required inputs \(\['b'\]\) are missing"):
            session.run(None, {"a": ONES})
        with self.assertRaisesRegex(InvalidArgument, "no output 'q'"):
            session.run(["q"], {"a": ONES, "b": ONES})
        with self.assertRaises(NoSuchFile):
            ort.InferenceSession("/no/such.onnx")
        for data in (b"", b"nothing", b"\x89HOLO"):
            with self.assertRaises(RuntimeError):
                ort.InferenceSession(data)
        with self.assertRaises(TypeError):
            ort.InferenceSession(5)
        self.assertTrue(issubclass(InvalidProtobuf, RuntimeError))

    def test_providers(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            session = ort.InferenceSession(adding(), providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])
        self.assertIn("CUDAExecutionProvider", str(seen[0].message))
        self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {}})
        self.assertEqual(ort.get_available_providers(), ["CPUExecutionProvider"])

    def test_what_is_not_there_says_so(self):
        options = ort.SessionOptions()
        for call in (lambda: options.register_custom_ops_library("x.so"), lambda: options.add_initializer("a", ONES), lambda: ort.set_seed(1),
                     lambda: setattr(options, "optimized_model_filepath", "x.onnx"), lambda: ort.OrtValue.ortvalue_from_numpy(ONES, "cuda", 0),
                     lambda: options.add_free_dimension_override_by_denotation("BATCH", 1)):
            with self.assertRaises(NotImplementedError):
                call()
        with self.assertRaises(AttributeError):
            options.no_such_option = 1

    def test_sizes_and_metadata(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("batch", 2)
        session = ort.InferenceSession(DIGITS, options)
        self.assertEqual(session.get_inputs()[0].shape, [2, 1, 8, 8])
        meta = session.get_modelmeta()
        self.assertEqual((meta.graph_name, meta.version, meta.custom_metadata_map), ("digits", 0, {}))
        self.assertEqual(meta.producer_name, "hologram-demo")

    @unittest.skipUnless(onnx, "needs onnx")
    def test_metadata_of_the_model(self):
        made = onnx.load_model_from_string(adding())
        made.producer_name, made.producer_version, made.doc_string = "py torch", "2.1.0", "adds"
        onnx.helper.set_model_props(made, {"names": "{0: 'cat'}", "a.b": ""})
        meta = ort.InferenceSession(made.SerializeToString()).get_modelmeta()
        self.assertEqual((meta.producer_name, meta.description), ("py torch", "adds"))
        self.assertEqual(meta.custom_metadata_map, {"names": "{0: 'cat'}", "a.b": ""})

    def test_in_place_of_onnxruntime(self):
        code = ("import sys, hologram.onnxruntime; sys.modules['onnxruntime'] = hologram.onnxruntime\n"
                "import onnxruntime\nfrom onnxruntime.capi.onnxruntime_pybind11_state import NoSuchFile\n"
                "try: onnxruntime.InferenceSession('/no/such.onnx')\nexcept NoSuchFile: print('caught')")
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code], text=True), "caught\n")

    def test_terminate(self):
        session = ort.InferenceSession(slow())
        options = ort.RunOptions()
        threading.Timer(0.1, setattr, (options, "terminate", True)).start()
        with self.assertRaises(Fail):
            session.run(None, {"x": square()}, options)
        options.terminate = False
        self.assertFalse(options.terminate)

    def test_async(self):
        done = threading.Event()
        found = []

        def ready(outputs, user, error):
            found.append((outputs, user, error))
            done.set()
        session = ort.InferenceSession(adding())
        session.run_async(None, {"a": ONES, "b": ONES}, ready, "mine")
        done.wait(20)
        self.assertEqual((found[0][0][0].sum(), found[0][1:]), (6, ("mine", "")))

    def test_profiling(self):
        options = ort.SessionOptions()
        options.enable_profiling = True
        with tempfile.TemporaryDirectory() as folder:
            options.profile_file_prefix = folder + "/profile"
            session = ort.InferenceSession(DIGITS, options)
            session.run(None, {"image": numpy.zeros((1, 1, 8, 8), "float32")})
            self.assertTrue(os.path.getsize(session.end_profiling()) > 0)


class Values(unittest.TestCase):
    def test_ortvalue(self):
        value = ort.OrtValue.ortvalue_from_numpy(ONES)
        self.assertEqual((value.shape(), value.data_type(), value.element_type(), value.device_name(), value.is_tensor(), value.has_value()),
                         ([1, 3], "tensor(float)", 1, "cpu", True, True))
        self.assertEqual(value.data_ptr(), ONES.ctypes.data)
        self.assertIs(value.numpy(), ONES)
        made = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], numpy.float32)
        made.update_inplace(numpy.ones((2, 3), "float32"))
        self.assertEqual(made.numpy().sum(), 6)
        self.assertEqual(ort.OrtValue.ortvalue_from_shape_and_type([2], 7).data_type(), "tensor(int64)")
        session = ort.InferenceSession(adding())
        self.assertEqual(session.run_with_ort_values(None, {"a": value, "b": value})[0].numpy().sum(), 6)

    def test_io_binding(self):
        session = ort.InferenceSession(adding())
        binding = session.io_binding()
        out = ort.OrtValue.ortvalue_from_shape_and_type([1, 3], numpy.float32)
        binding.bind_cpu_input("a", ONES)
        binding.bind_input("b", "cpu", 0, numpy.float32, [1, 3], ONES.ctypes.data)
        binding.bind_ortvalue_output("c", out)
        session.run_with_iobinding(binding)
        self.assertEqual(out.numpy().sum(), 6)
        self.assertEqual(binding.get_outputs()[0].data_ptr(), out.data_ptr())
        binding.clear_binding_outputs()
        binding.bind_output("c")
        session.run_with_iobinding(binding)
        self.assertEqual(binding.copy_outputs_to_cpu()[0].sum(), 6)
        room = numpy.zeros((1, 3), "float32")
        binding.bind_output("c", "cpu", 0, numpy.float32, (1, 3), room.ctypes.data)
        session.run_with_iobinding(binding)
        self.assertEqual(room.sum(), 6)
        binding.clear_binding_inputs()
        with self.assertRaises(ValueError):
            session.run_with_iobinding(binding)


if __name__ == "__main__":
    unittest.main()
