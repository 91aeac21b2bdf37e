"""What is written is true: docstrings and the guide run, stubs fit, examples work."""

import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, hologram, numpy
import tiny_language

PACKAGE = os.path.dirname(hologram.__file__)
MODULES = ["hologram", "hologram._compile", "hologram._model", "hologram._kernel", "hologram._text", "hologram.kernels"] + (["hologram.onnxruntime"] if numpy else [])


class Docstrings(unittest.TestCase):
    def test_examples_run(self):
        before, count = os.getcwd(), 0
        os.chdir(ROOT)
        try:
            for name in MODULES:
                module = importlib.import_module(name)
                found = doctest.DocTestFinder().find(module, name)
                for test in found + (doctest.DocTestFinder().find(hologram.Tensor, "Tensor") if name == "hologram" else []):
                    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
                    self.assertEqual(result.failed, 0, test.name)
                    count += result.attempted
        finally:
            os.chdir(before)
        self.assertGreater(count, 20)

    def test_everything_public_says_what_it_does(self):
        for name in hologram.__all__:
            value = getattr(hologram, name)
            self.assertTrue(inspect.getdoc(value), name)
            for member, function in inspect.getmembers(value, callable) if inspect.isclass(value) else ():
                if not member.startswith("_") and getattr(function, "__module__", "hologram").startswith("hologram"):
                    self.assertTrue(inspect.getdoc(function), f"{name}.{member}")


class Guide(unittest.TestCase):
    @unittest.skipIf(numpy is None, "needs NumPy")
    def test_its_code_runs(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"(<!-- file: (\S+) -->\n)?```python\n(.*?)```", text, re.S)
        self.assertGreater(len(blocks), 10)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "demo"), os.path.join(folder, "demo"))
            tiny_language.write(os.path.join(folder, "SmolLM2"))
            program, expected = "", []
            for _, name, block in blocks:
                if name:
                    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                        file.write(block)
                else:
                    program += block + "\n"
                    expected += re.findall(r"^print\(.*\)  # (.*)$", block, re.M)
            program = program.replace("threading.Timer(10,", "threading.Timer(0.5,")
            result = subprocess.run([sys.executable, "-c", program], cwd=folder, env={**os.environ, "PYTHONPATH": os.path.dirname(PACKAGE)}, capture_output=True, text=True, timeout=100)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreater(len(expected), 4)
            for line in expected:
                self.assertIn(line, result.stdout)


class Examples(unittest.TestCase):
    def run_example(self, name, *args):
        result = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "python", name), *args], capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_each(self):
        demo = os.path.join(ROOT, "demo")
        self.assertIn("it is a 7", self.run_example("first_run.py", demo + "/digits.onnx", demo + "/digits/01_is_7.npy"))
        self.assertIn("100 of 100", self.run_example("threads.py", demo + "/digits.onnx"))
        self.assertIn("@@@@", self.run_example("own_kernel.py"))
        if numpy:
            self.assertIn("[(1, 10)]", self.run_example("from_onnxruntime.py", demo + "/digits.onnx"))
        self.assertEqual(len(os.listdir(os.path.join(ROOT, "examples", "python"))), 4)


class Stubs(unittest.TestCase):
    """Files .pyi name what is there, with the parameters that are there."""

    def stub(self, *path):
        with open(os.path.join(PACKAGE, *path), encoding="utf-8") as file:
            return ast.parse(file.read()).body

    def compare(self, node, value, name):
        if not hasattr(value, "__code__"):
            return  # of C
        given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        real = inspect.signature(value).parameters.values()
        want = [p.name for p in real if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.assertEqual([a.arg for a in given if a.arg not in ("self", "cls")], [n for n in want if n not in ("self", "cls")], name)

    def compare_module(self, body, module):
        names = {n.name for n in body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(set(module.__all__) - names - {"capi", "__version__"}, set())
        for node in body:
            value = getattr(module, getattr(node, "name", "?"), None)
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                self.compare(node, value, node.name)
            for member in node.body if isinstance(node, ast.ClassDef) and value else ():
                if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    real = getattr(value, member.name)
                    if not isinstance(real, property) and not member.name.startswith("__"):
                        self.compare(member, real, f"{node.name}.{member.name}")

    def members(self, body):
        return {n.name: {m.name for m in n.body if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))} |
                {m.target.id for m in n.body if isinstance(m, ast.AnnAssign)} for n in body if isinstance(n, ast.ClassDef)}

    def test_the_package(self):
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "py.typed")))
        body = self.stub("__init__.pyi")
        self.compare_module(body, hologram)
        stubs = self.members(body)
        for name in ("Model", "Session", "Tensor", "Cancel", "Kernel", "Tokenizer", "Token", "Answer", "Language"):
            real = {m for m in dir(getattr(hologram, name)) if not m.startswith("_")}
            self.assertEqual(real - stubs[name] - stubs["_Runs"], set(), name)

    @unittest.skipIf(numpy is None, "needs NumPy")
    def test_onnxruntime(self):
        import hologram.onnxruntime as ort
        body = self.stub("onnxruntime", "__init__.pyi")
        self.compare_module(body, ort)
        stubs = self.members(body)
        for name in ("InferenceSession", "IOBinding", "OrtValue", "SessionOptions", "RunOptions"):
            real = {m for m in dir(getattr(ort, name)) if not m.startswith("_")}
            self.assertEqual(real - stubs[name], set(), name)
        for name in ("SessionOptions", "RunOptions"):
            self.assertEqual(set(getattr(ort, name)._defaults) - stubs[name], set(), name)


if __name__ == "__main__":
    unittest.main()
