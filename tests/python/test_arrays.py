"""Arrays in and out: every type, every way to give them, and those that cannot be taken."""

import array
import ctypes
import unittest

from support import (BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, STRING, UINT8, adding, hologram, model, needs_numpy, node, numpy,
                     opened, optional_type, sequence_type, tensor_type, unary)


class Plain(unittest.TestCase):
    """Without NumPy, too."""

    def test_buffers_and_lists(self):
        m = opened(unary("Neg", FLOAT, ("n",)))
        data = array.array("f", [1, 2, 3])
        for x in (data, memoryview(data), hologram.Tensor(data), [1, 2.0, 3], (1, 2, 3)):
            self.assertEqual(m(x).tolist(), [-1, -2, -3])
        self.assertEqual(m(bytes(0)[:0] and [] or array.array("f")).tolist(), [])

    def test_lists_have_the_type_that_is_wanted(self):
        for dtype, word in ((INT64, "int64"), (INT32, "int32"), (FLOAT16, "float16"), (DOUBLE, "float64")):
            m = opened(unary("Neg", dtype, (2, 2)))
            y = m([[1, 2], [3, 4]])
            self.assertEqual(str(y.dtype), word)
            self.assertEqual(y.tolist(), [[-1, -2], [-3, -4]])
        with self.assertRaisesRegex(TypeError, "input x wants whole numbers"):
            opened(unary("Neg", INT64, (1,)))([1.5])
        with self.assertRaisesRegex(TypeError, "input x wants numbers of type int8"):
            opened(unary("Neg", INT8, (1,)))([1000])
        with self.assertRaisesRegex(ValueError, "different lengths"):
            opened(unary("Neg", FLOAT, (2, 2)))([[1, 2], [3]])
        with self.assertRaisesRegex(ValueError, "different depths"):
            opened(unary("Neg", FLOAT, (2,)))([1, [2]])

    def test_a_list_that_contains_itself(self):
        endless = []
        endless.append(endless)
        for model in (opened(unary("Neg", FLOAT, ("n",))), opened(unary("Identity", 8, ("n",)))):
            with self.assertRaisesRegex(ValueError, "more than 16 dimensions"):
                model(endless)

    def test_scalars(self):
        m = opened(unary("Neg", FLOAT, ()))
        self.assertEqual(m(2).tolist(), -2)
        self.assertEqual(m(2.5).shape, ())

    def test_what_is_no_array(self):
        m = opened(unary())
        for x in (None, object(), "text", {}, {1}, lambda: 0, 3 + 4j):
            with self.assertRaises(TypeError) as caught:
                m(x)
            self.assertIn("input x", str(caught.exception))

    def test_messages_name_the_input(self):
        m = opened(adding((2, 3)))
        good, bad = hologram.Tensor(memoryview(bytes(24)).cast("f", [2, 3])), hologram.Tensor(memoryview(bytes(24)).cast("f", [3, 2]))
        with self.assertRaisesRegex(hologram.InputError, "input b should be .*2,3.*3,2"):
            m(good, bad)
        with self.assertRaisesRegex(hologram.InputError, "input b should have elements of type float32, but has float64"):
            m(good, memoryview(bytes(48)).cast("d", [2, 3]))
        with self.assertRaisesRegex(hologram.InputError, "input b is missing"):
            m(good)
        with self.assertRaisesRegex(hologram.ArgumentError, "no input 'z'; it has a, b"):
            m(good, z=good)
        with self.assertRaisesRegex(hologram.ArgumentError, "input a is given twice"):
            m(good, a=good)
        with self.assertRaisesRegex(TypeError, "2 inputs, but 3 are given"):
            m(good, good, good)

    def test_strings(self):
        m = opened(unary("StringNormalizer", STRING, ("n",)))
        self.assertEqual(list(m(["a", "ü", ""])), ["a", "ü", ""])
        self.assertEqual(list(m((b"raw",))), ["raw"])
        with self.assertRaisesRegex(TypeError, "no strings: 1"):
            m(["a", 1])
        with self.assertRaises(TypeError):
            m(5)

    def test_sequences(self):
        both = [("s", sequence_type(FLOAT, ("n",)))]
        m = opened(model([node("SequenceAt", ["s", "i"], ["y"])], both + [("i", tensor_type(INT64, ()))], [("y", tensor_type(FLOAT, ("n",)))]))
        self.assertEqual(m([[1.0], [2.0, 3.0]], 1).tolist(), [2, 3])
        insert = opened(model([node("SequenceInsert", ["s", "x"], ["t"])], both + [("x", tensor_type(FLOAT, ("k",)))], [("t", sequence_type(FLOAT, ("m",)))]))
        for run in (insert, insert.session()):
            out = run([array.array("f", [1])], array.array("f", [5, 6]))
            self.assertEqual([t.tolist() for t in out], [[1], [5, 6]])
        with self.assertRaisesRegex(TypeError, "input s is a sequence"):
            m("text", 1)

    def test_optionals(self):
        kind = optional_type(FLOAT, (2,))
        m = opened(model([node("OptionalHasElement", ["o"], ["y"])], [("o", kind)], [("y", tensor_type(BOOL, ()))], opset=18))
        session = m.session()
        for run in (m, session):
            self.assertEqual([run(None).tolist(), run([1.0, 2.0]).tolist(), run().tolist()], [False, True, False])

    def test_tensor(self):
        t = hologram.Tensor(memoryview(bytearray(24)).cast("i", [2, 3]))
        self.assertEqual((t.dtype, t.shape, t.ndim, t.size, t.nbytes, len(t)), ("int32", (2, 3), 2, 6, 24, 2))
        self.assertEqual(t.tolist(), [[0, 0, 0], [0, 0, 0]])
        self.assertEqual((t[1, 2], t[0], t[1][0]), (0, [0, 0, 0], 0))
        with self.assertRaises(IndexError):
            t[2]
        self.assertEqual(t.view("float32").tolist(), [[0.0] * 3] * 2)
        with self.assertRaisesRegex(ValueError, "same size"):
            t.view("int64")
        with self.assertRaisesRegex(TypeError, "no element type"):
            t.view("float99")
        memoryview(t)[0, 1] = 7
        self.assertEqual(t[0, 1], 7)
        self.assertIn("int32", repr(t))
        with self.assertRaises(TypeError):
            len(hologram.Tensor(5.0))

    def test_read_only_stays_so(self):
        t = hologram.Tensor(b"abc")
        self.assertTrue(memoryview(t).readonly)
        with self.assertRaises(TypeError):
            memoryview(t)[0] = 1
        with self.assertRaises(BufferError):
            t.__dlpack__()
        self.assertEqual(type(t.__dlpack__(max_version=(1, 0))).__name__, "PyCapsule")

    def test_narrow_types_without_ml_dtypes(self):
        m = opened(model([node("Cast", ["x"], ["y"], to=BFLOAT16)], [("x", tensor_type(FLOAT, (3,)))], [("y", tensor_type(BFLOAT16, (3,)))]))
        y = m([1.0, 2.0, -0.5])
        self.assertEqual(str(y.dtype), "bfloat16")
        self.assertEqual([float(v) for v in y.tolist()], [1.0, 2.0, -0.5])
        back = opened(model([node("Cast", ["x"], ["y"], to=FLOAT)], [("x", tensor_type(BFLOAT16, (3,)))], [("y", tensor_type(FLOAT, (3,)))]))
        self.assertEqual(back(y).tolist(), [1.0, 2.0, -0.5])
        raw = hologram.Tensor(array.array("H", [0x3f80, 0x4000, 0xbf00]))
        self.assertEqual(back(raw.view("bfloat16")).tolist(), [1.0, 2.0, -0.5])

    def test_dlpack_both_ways(self):
        class Other:  # an array of another library, which knows DLPack alone
            def __init__(self, tensor, device=(1, 0)):
                self.tensor, self.device = tensor, device

            def __dlpack__(self, **options):
                return self.tensor.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.device

        m = opened(unary("Neg", FLOAT, (2,)))
        t = hologram.Tensor(array.array("f", [1, 2]))
        self.assertEqual(m(Other(t)).tolist(), [-1, -2])
        with self.assertRaisesRegex(hologram.InputError, r"input x is on another device .*\.cpu\(\)"):
            m(Other(t, (2, 0)))
        with self.assertRaises(TypeError):
            m(Other(t, None))
        # a session takes it where it is, if its model was compiled for a GPU
        with m.session() as session, self.assertRaisesRegex(hologram.ArgumentError, "compiled for the CPU alone"):
            session(Other(t, (2, 0)))
        with m.session() as session, self.assertRaisesRegex(hologram.InputError, "is on another device"):
            session(Other(t, (4, 0)))
        for _ in range(3):
            t.__dlpack__()  # one that nobody takes is freed

    def test_arrow_both_ways(self):
        class Other:
            def __init__(self, tensor):
                self.tensor = tensor

            def __arrow_c_array__(self, requested_schema=None):
                return self.tensor.__arrow_c_array__()

        m = opened(unary("Neg", DOUBLE, (3,)))
        t = hologram.Tensor(array.array("d", [1, 2, 3]))
        self.assertEqual(m(Other(t)).tolist(), [-1, -2, -3])
        with self.assertRaisesRegex(TypeError, "one dimension"):
            hologram.Tensor(memoryview(bytes(16)).cast("d", [1, 2])).__arrow_c_array__()


@needs_numpy
class WithNumpy(unittest.TestCase):
    def test_every_type(self):
        for dtype, word in ((FLOAT, "float32"), (UINT8, "uint8"), (INT8, "int8"), (4, "uint16"), (5, "int16"), (INT32, "int32"), (INT64, "int64"),
                            (BOOL, "bool"), (FLOAT16, "float16"), (DOUBLE, "float64"), (12, "uint32"), (13, "uint64"), (14, "complex64"), (15, "complex128")):
            m = opened(unary("Identity", dtype, ("n", 2)))
            x = numpy.arange(6).reshape(3, 2).astype(word)
            y = m(x)
            self.assertEqual(y.dtype, x.dtype)
            self.assertTrue((x == y).all())

    def test_wrong_types(self):
        m = opened(unary())
        for word in ("float64", "int32", "uint8", "complex64", "bool", "float16"):
            with self.assertRaisesRegex(hologram.InputError, f"should have elements of type float32, but has {word}"):
                m(numpy.zeros((2, 3), word))
        for x in (numpy.zeros((2, 3), "M8[s]"), numpy.zeros((2, 3), object), numpy.zeros((2, 3), "U3"), numpy.zeros((2, 3), "V4"),
                  numpy.zeros((2, 3), [("a", "f4")]), numpy.zeros((2, 3), "g"), numpy.zeros((2, 3), ">f4")):
            with self.assertRaises((TypeError, ValueError)) as caught:
                m(x)
            self.assertIn("input x", str(caught.exception))

    def test_strides(self):
        m = opened(unary("Identity", FLOAT, ("n", "m")))
        x = numpy.arange(24, dtype="float32").reshape(4, 6)
        odd = numpy.frombuffer(bytes(1) + x.tobytes(), "u1")[1:].view("f4").reshape(4, 6)  # not aligned
        for view in (x.T, x[::2], x[:, ::-1], x[::-1, 1:5:2], numpy.asfortranarray(x), x[:, None, 0], numpy.broadcast_to(x[0], (3, 6)), odd, x[0:0], x[:, 0:0]):
            self.assertTrue(numpy.array_equal(m(view), view), view.strides)

    def test_read_only_and_empty(self):
        m = opened(unary("Neg", FLOAT, ("n", "m")))
        x = numpy.ones((2, 2), "float32")
        x.flags.writeable = False
        self.assertEqual(m(x).sum(), -4)
        for shape in ((0, 3), (3, 0), (0, 0)):
            self.assertEqual(m(numpy.zeros(shape, "float32")).shape, shape)
        with self.assertRaises(hologram.InputError):
            m(numpy.zeros((1,) * 17, "float32"))

    def test_out(self):
        m = opened(adding())
        a, c = numpy.ones((2, 3), "float32"), numpy.zeros((2, 3), "float32")
        for run in (m, m.session()):
            c[:] = 0
            self.assertIs(run.run({"a": a, "b": a}, out={"c": c})["c"], c)
            self.assertEqual(c.sum(), 12)
        c.flags.writeable = False
        wrong = ((c, "may only be read"), (numpy.zeros((2, 3)), "float32, but has float64"), (numpy.zeros((3, 2), "float32").T, "not dense"),
                 (numpy.zeros(6, "float32"), "shape"), (numpy.zeros((1, 3), "float32"), "output c"), ([1], "dense"))
        for array_, words in wrong:
            with self.assertRaisesRegex((ValueError, TypeError), words):
                m.run({"a": a, "b": a}, out={"c": array_})
        with self.assertRaisesRegex(ValueError, "no output 'z'"):
            m.run({"a": a, "b": a}, out={"z": a})

    def test_no_copy(self):
        m = opened(unary("Identity", FLOAT, ("n",)))
        x = numpy.arange(10, dtype="float32")
        t = hologram.Tensor(x)
        self.assertEqual(t.__array_interface__["data"][0], x.ctypes.data)
        self.assertEqual(numpy.asarray(t).ctypes.data, x.ctypes.data)
        self.assertEqual(numpy.from_dlpack(t).ctypes.data, x.ctypes.data)
        y = m(x)
        self.assertTrue(y.flags.owndata and y.flags.c_contiguous and y.flags.writeable)
        address = (ctypes.c_float * 10).from_buffer(x)
        self.assertEqual(ctypes.addressof(address), hologram.Tensor(address).__array_interface__["data"][0])

    def test_array_method(self):
        class Wrapped:
            def __array__(self, dtype=None, copy=None):
                return numpy.ones((2, 3), "float32")

        self.assertEqual(opened(unary("Neg"))(Wrapped()).sum(), -6)
        t = hologram.Tensor(numpy.ones(3, "float32"))
        self.assertEqual(numpy.asarray(t, dtype="float64").dtype, numpy.float64)
        self.assertEqual((numpy.asarray(t) * 2).sum(), 6)

    def test_string_arrays(self):
        m = opened(unary("StringNormalizer", STRING, ("n",)))
        for x in (numpy.array(["a", "b"], object), numpy.array(["a", "b"]), numpy.array([b"a", b"b"])):
            y = m(x)
            self.assertEqual((y.dtype, y.tolist()), (numpy.dtype(object), ["a", "b"]))
        self.assertEqual(opened(unary("Identity", STRING, ("n", "m")))(numpy.zeros((0, 4), object)).shape, (0, 4))

    def test_types_as_ml_dtypes_has_them(self):
        """Such arrays have no buffer; bits above those of an int4 mean nothing."""
        class Dtype:
            def __init__(self, name):
                self.name = name

        class Array:
            def __init__(self, name, raw):
                self.dtype, self.raw = Dtype(name), raw

            def view(self, name):
                return self.raw.view(name)

        m = opened(model([node("Cast", ["x"], ["y"], to=INT32)], [("x", tensor_type(22, ("n",)))], [("y", tensor_type(INT32, ("n",)))], opset=21))
        self.assertEqual(m(Array("int4", numpy.array([0xf1, 0x0f, 0x08, 0x77], "uint8"))).tolist(), [1, -1, -8, 7])
        m = opened(model([node("Cast", ["x"], ["y"], to=FLOAT)], [("x", tensor_type(BFLOAT16, ("n",)))], [("y", tensor_type(FLOAT, ("n",)))]))
        self.assertEqual(m(Array("bfloat16", numpy.array([0x3f80, 0xbf00], "uint16"))).tolist(), [1, -0.5])

    def test_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        for number, kind in ((16, ml_dtypes.bfloat16), (17, ml_dtypes.float8_e4m3fn), (19, ml_dtypes.float8_e5m2), (21, ml_dtypes.uint4), (22, ml_dtypes.int4)):
            m = opened(unary("Identity", number, ("n",)))
            x = numpy.array([1, 2, 0 if number == 21 else -3], dtype=kind)
            y = m(x)
            self.assertEqual(y.dtype, x.dtype)
            self.assertTrue((x == y).all())


if __name__ == "__main__":
    unittest.main()
