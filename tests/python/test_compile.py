"""compile and open: options, quantizing, progress, stopping."""

import os
import signal
import tempfile
import threading
import time
import unittest

from support import DIGITS, FLOAT, ROOT, adding, constant, hologram, model, needs_numpy, node, numpy, opened, slow, tensor_type, unary

IMAGE = [[[[0.5] * 8] * 8]]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name + "/m.holo"


class Options(Files):
    def test_a_report(self):
        stages = []
        report = hologram.compile(DIGITS, self.out, progress=lambda stage, part: stages.append((stage, part)))
        self.assertTrue(report.verified and report.checked > 0 and os.path.exists(self.out))
        self.assertTrue(any(p.name == "fuse" for p in report.passes))
        self.assertGreater(len(stages), 3)
        self.assertEqual(report.to_dict()["quantization"]["layers"], [])

    def test_the_name_of_the_output(self):
        before = os.getcwd()
        os.chdir(os.path.dirname(self.out))
        try:
            hologram.compile(DIGITS)
            self.assertTrue(os.path.exists("digits.holo"))
        finally:
            os.chdir(before)
        with self.assertRaises(TypeError):
            hologram.compile(adding())
        hologram.compile(adding(), self.out)
        self.assertEqual(hologram.open(self.out)([[1.0] * 3], [[2.0] * 3]).tolist(), [[3, 3, 3]])

    def test_shapes_and_constants(self):
        hologram.compile(DIGITS, self.out, input_shapes={"image": (4, None, None, None)}, numeric="exact", verify=False, size="small", tables=False, threads=1)
        m = hologram.open(self.out)
        self.assertEqual((m.inputs[0].shape, m.outputs[0].shape, m.info.exact, m.info.is_static), ((4, 1, 8, 8), (4, 10), 1, 1))
        fixed = opened(adding(), constants={"b": [[1.0, 2.0, 3.0]]})
        self.assertEqual([p.name for p in fixed.inputs], ["a"])
        self.assertEqual(fixed([[1.0] * 3]).tolist(), [[2, 3, 4]])
        self.assertEqual(opened(unary("Neg", 2 + 1, (3,)), domains={"x": [0, 1, 2]}, symbolic=False)([0, 1, 2]).tolist(), [0, -1, -2])
        self.assertEqual(opened(adding((2, 3)), symbolic=True).inputs[0].shape[1].__class__, str)

    def test_wrong_options(self):
        for wrong, words in (({"numeric": "odd"}, "numeric='odd': expected one of"), ({"quantize": "int3"}, "quantize='int3'"), ({"quantize": "int8,int4"}, "two types"),
                             ({"size": 5}, "size=5"), ({"disable": "nothing"}, "nothing"), ({"targets": "moon"}, "moon"), ({"accuracy": 7}, "from 0 to 1"),
                             ({"input_shapes": {"x": (1,)}}, "x"), ({"kernels": "/no/file.py"}, "file"), ({"patterns": "/no/such"}, "such"),
                             ({"activations": "odd"}, "activations"), ({"activations": "static"}, "only int8 quantizes"),
                             ({"calibration": [IMAGE]}, "nothing is quantized"), ({"calibration": [], "quantize": "int8"}, "no samples"),
                             ({"accuracy": 0.5}, "nothing is quantized"), ({"max_drop": 0.5}, "judge"), ({"strict": True, "verify": False}, "turned off"),
                             ({"threads": -1}, "threads must be from 1 to 256"), ({"threads": 1 << 20}, "threads must be"), ({"memory_limit": -1}, "from 0 to")):
            with self.assertRaisesRegex((hologram.Error, ValueError), words):
                hologram.compile(DIGITS, self.out, **wrong)
        for wrong in ({"nonsense": 1}, {"input_shapes": 5}, {"constants": {"x": object()}}, {"threads": "many"}):
            with self.assertRaises((TypeError, AttributeError)):
                hologram.compile(DIGITS, self.out, **wrong)
        self.assertFalse(os.path.exists(self.out))
        for threads in (-1, 1 << 20, (1 << 32) + 1):
            with self.assertRaisesRegex(hologram.ArgumentError, "threads must be"):
                opened(adding()).session(threads=threads)
            with self.assertRaisesRegex(hologram.ArgumentError, "threads must be"):
                opened(adding(), threads=threads)
        for wrong in ({"memo": -1}, {"memory_limit": -1}, {"memo": 1 << 70}):
            with self.assertRaisesRegex(ValueError, "from 0 to"):
                opened(adding()).session(**wrong)
        with self.assertRaises(TypeError):
            hologram.compile(DIGITS, self.out) and hologram.open(self.out, numeric="exact")

    def test_dump_and_disable(self):
        texts = {}
        hologram.compile(DIGITS, self.out, dump=lambda name, text: texts.setdefault(name, text), disable=["fuse"])
        self.assertIn("Gemm", texts["import"])
        self.assertNotIn("fuse", texts)

    def test_kernels(self):
        folder = os.path.join(ROOT, "examples", "custom_operator")
        m = hologram.open(folder + "/nearest.onnx", kernels=folder + "/row_distance.py")
        self.assertTrue(m.run(m.make_inputs()))
        with self.assertRaises(hologram.Error):
            hologram.open(folder + "/nearest.onnx")


class Quantizing(Files):
    @classmethod
    def setUpClass(cls):
        kind, out = tensor_type(FLOAT, ("n", 64)), tensor_type(FLOAT, ("n", 32))
        weights = [((i * 37) % 101 - 50) / 200 for i in range(64 * 32)]
        cls.model = model([node("MatMul", ["x", "w"], ["y"])], [("x", kind)], [("y", out)], [constant("w", (64, 32), weights)])
        cls.rows = [[((i * k) % 7 - 3) / 3 for i in range(64)] for k in range(1, 9)]

    def test_with_an_iterator(self):
        seen = []

        def samples():
            for row in self.rows:
                seen.append(1)
                yield {"x": [row]}
        report = hologram.compile(self.model, self.out, quantize="int8", calibration=samples(), activations="static", ranges="minmax")
        self.assertEqual(len(seen), 8)
        self.assertEqual((report.quantization.kind, report.quantization.samples, report.quantization.is_seeded), ("int8", 8, False))
        self.assertEqual(report.quantization.layers[0].type, "int8")
        self.assertGreater(report.quantization.accuracy, 0.99)

    def test_samples_by_place(self):
        arrays = [hologram.Tensor([row]) for row in self.rows]
        for samples in (arrays, [(one,) for one in arrays], [{"x": one} for one in arrays]):
            report = hologram.compile(self.model, self.out, quantize="int8", calibration=samples)
            self.assertEqual(report.quantization.samples, 8)
        with self.assertRaises((ValueError, TypeError)):
            hologram.compile(self.model, self.out, quantize="int8", calibration=[{"z": [self.rows[0]]}])
        with self.assertRaises(ZeroDivisionError):
            hologram.compile(self.model, self.out, quantize="int8", calibration=(1 / 0 for _ in range(3)))

    def test_judge(self):
        seen = []

        def judge(samples):
            seen.append(len(samples))
            return 1.0
        report = hologram.compile(self.model, self.out, quantize="int8", calibration=[{"x": [row]} for row in self.rows], judge=judge)
        self.assertEqual((report.quantization.score_after, seen[0]), (1.0, 8))

        def fails(samples):
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            hologram.compile(self.model, self.out, quantize="int8", judge=fails)


class Stopping(Files):
    def test_progress_that_raises(self):
        def fails(stage, part):
            raise LookupError("enough")
        with self.assertRaisesRegex(LookupError, "enough"):
            hologram.compile(DIGITS, self.out, progress=fails)
        self.assertFalse(os.path.exists(self.out))

    def test_keyboard_interrupt(self):
        data = slow()
        for _ in range(2):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            begin = time.process_time()
            with self.assertRaises(KeyboardInterrupt):
                while True:  # verifying it takes a while
                    hologram.compile(data, self.out)
            self.assertLess(time.process_time() - begin, 3)

    def test_several_threads(self):
        done = []

        def work():
            done.append(hologram.open(DIGITS)(IMAGE).tolist())
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertTrue(len(done) == 4 and all(d == done[0] for d in done))


class Reports(Files):
    def test_what_a_model_says(self):
        m = hologram.open(DIGITS)
        self.assertIn("Conv", str(m.explain()))
        self.assertIn("image", m.graph().svg)
        self.assertTrue(m._repr_html_().startswith("<table>") and m._repr_svg_().startswith("<"))
        m.graph().save(os.path.dirname(self.out) + "/g.html")
        with self.assertRaises(ValueError):
            m.graph().save(os.path.dirname(self.out) + "/g.pdf")
        self.assertEqual(m.inspect()["inputs"][0]["name"], "image")
        self.assertEqual(m.metadata["source.format"], "ONNX")
        self.assertTrue(any(c.is_packed for c in m.constants()))
        self.assertTrue(m.listing().nodes)
        m.programs()
        m.verify()
        self.assertTrue(hologram.operators() and hologram.cpu_level() and hologram.memory_limit() >= hologram.memory_held())

    @needs_numpy
    def test_an_onnx_model_proto(self):
        try:
            import onnx
        except ImportError:
            self.skipTest("onnx is not installed")
        self.assertEqual(hologram.open(onnx.load(DIGITS))(numpy.zeros((2, 1, 8, 8), "float32")).shape, (2, 10))


if __name__ == "__main__":
    unittest.main()
