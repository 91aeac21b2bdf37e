"""The wheel: installed into an empty environment, and used there."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import ROOT

WHEELS = sorted(glob.glob(os.path.join(os.environ.get("HOLO_WHEELS", os.path.join(ROOT, "build", "wheel")), "*.whl")))


@unittest.skipUnless(WHEELS, "there is no wheel: make wheel")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = {"PATH": "/usr/bin:/bin", "HOME": cls.folder}
        cls.python = os.path.join(cls.folder, "venv", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", os.path.join(cls.folder, "venv")], check=True, env=cls.env)
        run = [sys.executable, "-m", "pip", "--python", cls.python, "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", WHEELS[-1]]
        subprocess.run(run, check=True, env=cls.env, stdout=subprocess.DEVNULL)

    def run_there(self, *command):
        return subprocess.run(command, check=True, env=self.env, cwd=self.folder, capture_output=True, text=True).stdout

    def test_a_first_run(self):
        demo = os.path.join(ROOT, "demo")
        self.assertEqual(self.run_there(self.python, "-I", "-c", f"""
import hologram, sys
assert hologram.__file__.startswith({self.folder!r})
hologram.compile({demo!r} + "/digits.onnx", "digits.holo")
model = hologram.open("digits.holo")
scores = model.run({{"image": hologram.read({demo!r} + "/digits/01_is_7.npy")}})["probabilities"].tolist()[0]
print(scores.index(max(scores)), "numpy" in sys.modules)
"""), "7 False\n")

    def test_the_program(self):
        program = os.path.join(self.folder, "venv", "bin", "hologram")
        self.assertEqual(self.run_there(program, "version"), self.run_there(self.python, "-m", "hologram", "version"))
        self.assertIn("vector_add", self.run_there(self.python, "-c", "from hologram import kernels; print(dir(kernels))"))

    def test_what_is_in_it(self):
        with zipfile.ZipFile(WHEELS[-1]) as wheel:
            names = wheel.namelist()
            self.assertIsNone(wheel.testzip())
        self.assertIn("cp39-abi3-manylinux_2_28", WHEELS[-1])
        for name in ("hologram/py.typed", "hologram/__init__.pyi", "hologram/onnxruntime/__init__.py", "hologram/kernels/stdlib/vector/vector_add.py"):
            self.assertIn(name, names)
        self.assertFalse([n for n in names if n.endswith(".pyc") or "/." in n])


if __name__ == "__main__":
    unittest.main()
