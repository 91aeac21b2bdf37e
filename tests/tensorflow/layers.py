#!/usr/bin/env python3
"""Runs small models of Keras' layers and compares with their answers: layers.py PROGRAM [PATTERN...]

layers.json is from TensorFlow.js (make_layers.mjs). layers_by_hand.py has layers that it lacks; their answers follow from the
definitions.
Each case is written as a layers model of TensorFlow.js: model.json and a file of weights.
"""
import ast
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from layers_by_hand import BY_HAND

HERE = pathlib.Path(__file__).parent


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
    code, body = {"<f4": "f", "<i8": "q", "<i4": "i"}[header["descr"]], data[10 + size :]
    return list(header["shape"]), list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def write_npy(path, shape, values):
    if isinstance(values[0], str):
        width = max(map(len, values))
        code, body = f"<U{width}", b"".join(v.ljust(width, "\0").encode("utf-32-le") for v in values)
    else:
        code, body = "<f4", struct.pack(f"<{len(values)}f", *values)
    text = str({"descr": code, "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + body)


def check(program, case, folder):
    folder.mkdir()
    specs = [{"name": n, "shape": s, "dtype": "float32"} for n, s, _ in case["weights"]]
    (folder / "w.bin").write_bytes(b"".join(struct.pack(f"<{len(v)}f", *v) for _, _, v in case["weights"]))
    (folder / "model.json").write_text(json.dumps({"format": "layers-model", "modelTopology": case["topology"], "weightsManifest": [{"paths": ["w.bin"], "weights": specs}]}))
    given = []
    for name, shape, values in case["inputs"]:
        write_npy(folder / f"{name}.npy", shape, values)
        given.append(f"--input={name}={folder / name}.npy")
    done = subprocess.run([program, "run", folder / "model.json", *given, "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    if done.returncode:
        return " ".join((done.stderr or done.stdout).split())[:300]
    seen = {}
    for name, shape, want in case["outputs"]:
        seen[name] = seen.get(name, -1) + 1
        have_shape, have = read_npy(folder / "out" / (f"{name}_{seen[name]}.npy" if seen[name] else f"{name}.npy"))
        if have_shape != shape:
            return f"{name} has sizes {have_shape}, not {shape}"
        worst, largest = max((abs(a - b) for a, b in zip(want, have)), default=0), max((abs(a) for a in want), default=0) or 1
        if not worst <= 2e-5 * largest:
            return f"{name} is {worst:g} off: {have[:6]} instead of {want[:6]}"
    return None


def without_case(cases):
    """How many layers of the tables no case has."""
    used, count = set(re.findall(r'"class_name": ?"(\w+)"', json.dumps(cases))), 0
    for path in sorted((HERE.parents[1] / "src" / "import" / "keras").glob("*.c")):
        for table in re.findall(r"const HoloKerasLayer \w+\[\] = \{(.*?)\n\};", path.read_text(), re.S):
            for name in re.findall(r'\{"(\w+)"', table):
                if name not in used:
                    count += 1
                    print(f"FAILED {name} has no case")
    return count


def main():
    program, patterns = sys.argv[1], sys.argv[2:]
    cases = {**json.loads((HERE / "layers.json").read_text()), **BY_HAND}
    names = [n for n in cases if not patterns or any(p in n for p in patterns)]
    failed = 0 if patterns else without_case(cases)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            reason = check(program, cases[name], pathlib.Path(folder) / name)
            if reason:
                failed += 1
                print(f"FAILED {name}: {reason}", flush=True)
    print(f"{len(names) - failed} of {len(names)} models of layers agree with TensorFlow.js")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
