"""ONNX's own backend tests on hologram.onnx_backend, and what a backend does besides."""

import glob
import os
import re
import unittest

from support import DIGITS, ROOT, hologram, numpy

try:
    import onnx
    from onnx.backend.test import BackendTest
    from onnx.backend.test.loader import DATA_DIR
except ImportError:
    raise unittest.SkipTest("onnx is not installed") from None
if numpy is None:
    raise unittest.SkipTest("onnx needs NumPy")

import hologram.onnx_backend as backend  # noqa: E402

numpy.object = object  # onnx 1.12 asks for it, and NumPy 1.24 has it no more


def known():
    """Cases that expect what is not so, with the reason: those that the program leaves out, too."""
    with open(os.path.join(ROOT, "tests", "onnx", "known-1.12.txt"), encoding="utf-8") as file:
        return [line.split(":")[0] for line in file if ":" in line and not line.startswith("#")]


class Suite(BackendTest):
    """With comparisons that know elements of sequences without dimensions, and bf16, which some files have as its bits."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol):
        numpy.testing.assert_equal(len(outputs), len(ref_outputs))
        for want, have in zip(ref_outputs, outputs):
            if isinstance(have, (list, tuple)):
                cls.assert_similar_outputs(want, have, rtol, atol)
                continue
            if want.dtype == numpy.uint16 and have.dtype == numpy.float32:
                want = (want.astype("uint32") << 16).view("float32")
                rtol = 2.0 ** -7  # onnx 1.12 cuts the digits off that others round by
            numpy.testing.assert_equal(have.dtype, want.dtype)
            if want.dtype == object:
                numpy.testing.assert_array_equal(have, want)
            else:
                numpy.testing.assert_allclose(have, want, rtol=rtol, atol=atol)


class Strict:
    """The backend without is_compatible: a model that does not compile is a failure."""

    prepare, run_model, run_node, supports_device = backend.prepare, backend.run_model, backend.run_node, backend.supports_device


# Random ones give other numbers by the same seeds: see Random.
suite = Suite(Strict, __name__)
suite.exclude("^test_gradient_of_add")  # Hologram does not train models
suite.exclude("^test_bernoulli")
suite.exclude("^test_training_dropout(_default|_mask|_default_mask)?_cpu$")
for name in known():
    suite.exclude(f"^{re.escape(name)}_cpu$")
suite.exclude("_cuda$")
suite.exclude("^test_(resnet50|inception|densenet121|shufflenet|squeezenet|vgg19|zfnet512|bvlc_alexnet)")  # they are fetched from elsewhere
globals().update(suite.test_cases)


class Random(unittest.TestCase):
    """Operators that are random by definition: types, shapes and what the numbers can be."""

    def test_each(self):
        folders = sorted(glob.glob(os.path.join(DATA_DIR, "node", "test_bernoulli*")))
        folders += [os.path.join(DATA_DIR, "node", "test_training_dropout" + end) for end in ("", "_default", "_mask", "_default_mask")]
        self.assertEqual(len(folders), 10)
        for folder in folders:
            data = [[onnx.numpy_helper.to_array(onnx.load_tensor(path)) for path in sorted(glob.glob(f"{folder}/test_data_set_0/{kind}_*.pb"))]
                    for kind in ("input", "output")]
            for have, want in zip(backend.run_model(onnx.load(folder + "/model.onnx"), data[0]), data[1]):
                self.assertEqual((have.dtype, have.shape), (want.dtype, want.shape))
                self.assertTrue(numpy.isin(have, (0, 1)).all() if "bernoulli" in folder or have.dtype == bool else (have == 0).any())


class Backend(unittest.TestCase):
    def test_a_model(self):
        model = onnx.load(DIGITS)
        x = numpy.zeros((2, 1, 8, 8), "float32")
        for outputs in (backend.run_model(model, [x]), backend.prepare(model).run({"image": x}), backend.prepare(model).run(x)):
            self.assertEqual(outputs.probabilities.shape, (2, 10))
            self.assertEqual(outputs[0].shape, (2, 10))
        self.assertTrue(backend.is_compatible(model))

    def test_a_node(self):
        node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
        one = numpy.ones((2, 2), "float32")
        self.assertEqual(backend.run_node(node, [one, one])[0].sum(), 8)

    def test_devices(self):
        self.assertTrue(backend.supports_device("CPU"))
        self.assertFalse(backend.supports_device("CUDA"))
        with self.assertRaisesRegex(ValueError, "CUDA"):
            backend.prepare(onnx.load(DIGITS), "CUDA")

    def test_what_cannot_be_compiled(self):
        node = onnx.helper.make_node("NoSuchOperator", ["a"], ["c"])
        with self.assertRaises(hologram.Error):
            backend.run_node(node, [numpy.ones(1, "float32")])


if __name__ == "__main__":
    unittest.main()
