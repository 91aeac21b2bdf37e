#!/usr/bin/env python3
"""Runs the small models of cases.py and typed_cases.py and compares with their answers.

usage: run.py PROGRAM [--converted] [PATTERN...]   --converted: runs the ONNX models that they are converted to
       run.py --write FOLDER [PATTERN...]      writes model.tflite and inputs of each case, to run them elsewhere
       run.py --keep FOLDER                    adds to answers.json what another program wrote there: CASE/ref/*.npy

Real numbers may differ by 1e-5 of the largest value (2e-3 where weights of 8 bits meet real numbers), integers that stand for
real numbers by one step (8 of the 65536 of a softmax of 16 bits, which TensorFlow Lite looks up in a table). `answers.json` is from the TensorFlow Lite 2.9 C library.
"""
import array
import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import cases
import more_cases  # noqa: F401  adds its own
import typed_cases  # noqa: F401
from writer import write, write_npy

HERE = pathlib.Path(__file__).parent
CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B"}


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
    if header["descr"][1] == "U":
        width, body = 4 * int(header["descr"][2:]), data[10 + size :]
        return list(header["shape"]), [body[k : k + width].decode("utf-32-le").rstrip("\0") for k in range(0, len(body), width)]
    return list(header["shape"]), list(array.array(CODES[header["descr"].lstrip("<|=")], data[10 + size :]))


def put(folder, name):
    graphs, given = cases.CASES[name]
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    for i, t in enumerate(graphs[0].tensors):
        t.name = t.name or f"t{i}"
    (folder / "model.tflite").write_bytes(write(graphs))
    paths = []
    for t, values in zip(graphs[0].inputs, given):
        paths.append((t.name, folder / "inputs" / f"{t.name}.npy"))
        write_npy(paths[-1][1], t.dtype, t.shape, values)
    return graphs, paths


def differs(name, want, have, t):
    if len(want) != len(have):
        return f"{len(have)} elements, not {len(want)}"
    if t.dtype == "string":
        return None if want == have else f"{have} instead of {want}"
    worst = max((abs(a - b) if a == a and b == b else 0 if a != a and b != b else float("inf") for a, b in zip(want, have)), default=0)
    largest = max((abs(x) for x in want), default=0) or 1
    limit = (2e-3 if "hybrid" in name or "shifted" in name else 1e-5) * largest if t.dtype in ("f32", "f64") else (8 if "softmax_i16" in name else 1) if t.scale else 0
    return None if worst <= limit else f"{worst:g} off: {have[:8]} instead of {want[:8]}"


def check(program, name, answers, folder, is_converted):
    graphs, paths = put(folder, name)
    model = folder / ("model.onnx" if is_converted else "model.tflite")
    if is_converted:
        done = subprocess.run([program, "convert", folder / "model.tflite", "-o", model], capture_output=True, text=True)
        if done.returncode:
            return " ".join(done.stderr.split())[:300]
    wanted = cases.EXPECT.get(name) or answers.get(name)
    if wanted is None:
        return "there is no answer"
    done = subprocess.run([program, "run", model, *(f"--input={n}={p}" for n, p in paths), "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    if done.returncode:
        return " ".join((done.stderr or done.stdout).split())[:300]
    for t, want in zip(graphs[0].outputs, wanted):
        _, have = read_npy(folder / "out" / f"{t.name}.npy")
        reason = differs(name, want, have, t)
        if reason:
            return f"{t.name}: {reason}"
    return None


def without_case():
    """Builtin and custom operators of the tables that no case has."""
    ops = [op for graphs, _ in cases.CASES.values() for graph in graphs for op in graph.ops]
    source = HERE.parents[1] / "src" / "import" / "tflite"
    rows = re.findall(r'\{(\d+), "(\w+)", -?\d+, holo', (source / "tflite_builtins.c").read_text())
    custom = re.search(r"HoloTfRow rows\[\] = \{(.*?)\n\};", (source / "tflite_custom.c").read_text(), re.S).group(1)
    names = [name for code, name in rows if int(code) not in {op.code for op in ops}]
    return names + [name for name in re.findall(r'\{-?\d+, "(\w+)"', custom) if name not in {op.custom for op in ops}]


def main():
    args = sys.argv[1:]
    answers = json.loads((HERE / "answers.json").read_text()) if (HERE / "answers.json").exists() else {}
    if args[0] == "--write":
        for name in cases.CASES:
            if not args[2:] or any(p in name for p in args[2:]):
                put(pathlib.Path(args[1]) / name, name)
        return 0
    if args[0] == "--keep":
        kept = {name: answer for name, answer in answers.items() if name in cases.CASES}
        for name in cases.CASES:
            folder = pathlib.Path(args[1]) / name / "ref"
            if (folder / "outputs.json").exists():
                kept[name] = [[float(f"{x:.8g}") if isinstance(x, float) else x for x in read_npy(folder / o["file"])[1]] for o in json.loads((folder / "outputs.json").read_text())]
        lines = (json.dumps(name) + ": " + json.dumps(answer) for name, answer in kept.items())
        (HERE / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    is_converted = args[1:2] == ["--converted"]
    if is_converted:
        del args[1]
    names = [n for n in cases.CASES if not args[1:] or any(p in n for p in args[1:])]
    failed = 0
    for name in without_case() if len(names) == len(cases.CASES) else ():
        failed += 1
        print(f"FAILED {name} has no case")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            reason = check(args[0], name, answers, pathlib.Path(folder) / name, is_converted)
            if reason:
                failed += 1
                print(f"FAILED {name}: {reason}", flush=True)
    print(f"{len(names) - failed} of {len(names)} operators agree with TensorFlow Lite")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
