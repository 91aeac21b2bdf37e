"""Kernels in real Python, and those of the standard library."""

import array
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import hologram
from hologram import DeviceArray, get_global_id, i32, i64, kernel
from support import ROOT

import kernel_file

SCALE = 3


@kernel
def scale(x: DeviceArray[hologram.f32], y: DeviceArray[hologram.f32], n: i64, factor: hologram.f32):
    """y = SCALE * factor * x"""
    i = hologram.get_global_id()
    if i < n:
        y[i] = hologram.sqrt(x[i] * x[i]) * factor * SCALE


@kernel
def wrong(x: DeviceArray[i32], n: i64):
    i = get_global_id()
    x[i] = "text"


@kernel
def outside(x: DeviceArray[i32], n: i64):
    i = get_global_id()
    x[i + 1] = 5


class Kernels(unittest.TestCase):
    def test_a_function_of_this_file(self):
        x, y = array.array("f", [1, 2, 3]), array.array("f", bytes(12))
        scale(x, y, 3, 2)
        self.assertEqual(y.tolist(), [6, 12, 18])
        scale(x=x, y=y, n=2, factor=-1.0, threads=1)
        self.assertEqual(y.tolist(), [-3, -6, 18])
        self.assertIn("SCALE", scale.__doc__)
        self.assertEqual(scale.variants[0]["name"], "scale")

    def test_types_and_helpers(self):
        for letter in "fd":
            a, b, c = array.array(letter, [1, 2]), array.array(letter, [3, 5]), array.array(letter, [0, 0])
            kernel_file.half_sum(a, b, c, 2)
            self.assertEqual(c.tolist(), [2, 3.5])
        with self.assertRaisesRegex(TypeError, "half_sum is there for float32, float64, but the arrays are int32"):
            kernel_file.half_sum(*[array.array("i", [1])] * 3, 1)

    def test_a_kernel_inside_of_a_function(self):
        @kernel(lanes="2 * n")
        def twice(x: DeviceArray[i32], n: i64):
            i = get_global_id()
            if i < 2 * n:
                x[i] = i32(i)
        x = array.array("i", [9] * 5)
        twice(x, 2)
        self.assertEqual(x.tolist(), [0, 1, 2, 3, 9])

    def test_the_same_file_compiles(self):
        path = os.path.join(ROOT, "tests", "python", "kernel_file.py")
        with tempfile.TemporaryDirectory() as folder:
            run = [sys.executable, "-m", "hologram"]
            subprocess.run(run + ["compile", path, "-q", "-o", folder + "/k.holo"], check=True)
            listed = subprocess.run(run + ["kernel", "list", folder + "/k.holo"], check=True, capture_output=True, text=True).stdout
            self.assertIn("half_sum_f64", listed)
            made = hologram.Kernel.of_file(path, "half_sum")
            c = array.array("f", [0])
            made(array.array("f", [1]), array.array("f", [2]), c, 1)
            self.assertEqual(c[0], 1.5)

    def test_mistakes_show_their_line(self):
        line = wrong.__wrapped__.__code__.co_firstlineno + 3
        with self.assertRaisesRegex(hologram.Error, rf"test_kernel\.py:{line}"):
            wrong(array.array("i", [1]), 1)
        with self.assertRaisesRegex(hologram.InputError, "outside|index"):
            outside(array.array("i", [1]), 1)

    def test_wrong_arguments(self):
        x, y = array.array("f", [1, 2, 3]), array.array("f", bytes(12))
        for call in (lambda: scale(), lambda: scale(x, y, 3), lambda: scale(x, y, 3, 2, 5), lambda: scale(x, y, 3, q=2), lambda: scale(x, y, 3.5, 1.0),
                     lambda: scale(x, x, x, x), lambda: scale(x, [1.0], 1, 1.0), lambda: scale(x, bytes(12), 3, 1.0), lambda: scale(array.array("d", [1]), y, 1, 1.0)):
            with self.assertRaises((TypeError, ValueError)):
                call()
        with self.assertRaisesRegex(TypeError, "inside of a kernel only"):
            hologram.exp(1)
        with self.assertRaises(AttributeError):
            hologram.no_such_word

    def test_threads(self):
        x = array.array("f", range(10000))
        wrong_ = []

        def work():
            y = array.array("f", bytes(40000))
            for _ in range(20):
                scale(x, y, 10000, 1)
                if y[9999] != 29997:
                    wrong_.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong_, [])


class StandardLibrary(unittest.TestCase):
    def test_all_are_there(self):
        from hologram import kernels
        self.assertGreater(len(dir(kernels)), 50)
        for name in dir(kernels):
            self.assertTrue(getattr(kernels, name).variants[0]["params"], name)
        self.assertIn("element by element", kernels.vector_add.__doc__)
        with self.assertRaisesRegex(AttributeError, "no kernel 'vector_nothing'"):
            kernels.vector_nothing

    def test_one(self):
        from hologram.kernels import reduction_sum
        x, y = array.array("d", range(100)), array.array("d", [0])
        reduction_sum(x, y, rows=1, n=100)
        self.assertEqual(y[0], 4950)


if __name__ == "__main__":
    unittest.main()
