#!/usr/bin/env python3
"""Runs the layers of cases.json, one by one, and compares with their answers.

usage: run.py PROGRAM [NAME...]

make_cases.py made the answers, by the documentation of OpenVINO's operators. Real numbers may differ by 1e-5 of the largest one.
"""
import ast
import array
import json
import pathlib
import subprocess
import sys
import tempfile

from writer import Net

HERE = pathlib.Path(__file__).parent
CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B"}


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
    return list(header["shape"]), list(array.array(CODES[header["descr"].lstrip("<|=")], data[10 + size :]))


def build(case, folder):
    """Writes the network, and returns the values of its inputs by name."""
    net, ins, given = Net(case["name"]), [], []
    for i, t in enumerate(case["ins"]):
        if t is None:
            continue
        numbers = [float(v) if isinstance(v, str) else v for v in t["data"]]
        if t["const"]:
            ins.append(net.const(t["type"], t["shape"], numbers))
        else:
            ins.append(net.input(f"x{i}", t["type"], t["shape"]))
            given.append((f"x{i}", numbers))
    layer = net.add(case["type"], case["opset"], case["attrs"], ins, len(case["outs"]), "y")
    for k in range(len(case["outs"])):
        net.result((layer, k))
    net.save(str(folder / "m"))
    return given


def text(numbers):
    return ",".join(str(int(n)) if isinstance(n, bool) else repr(n) for n in numbers)


def check(program, case, folder):
    given = build(case, folder)
    args = [f"--input={name}={text(numbers)}" for name, numbers in given]
    done = subprocess.run([program, "run", folder / "m.xml", *args, "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    if done.returncode:
        return " ".join((done.stderr or done.stdout).split())[:300]
    for k, want in enumerate(case["outs"]):
        shape, have = read_npy(folder / "out" / ("y.npy" if len(case["outs"]) == 1 else f"y.{k}.npy"))
        wanted = [float(v) if isinstance(v, str) else v for v in want["data"]]
        if shape != want["shape"]:
            return f"output {k} has the sizes {shape}, not {want['shape']}"
        largest = max((abs(v) for v in wanted if abs(v) < float("inf")), default=0) or 1
        worst = max((0 if a == b or (a != a and b != b) else abs(a - b) for a, b in zip(wanted, have)), default=0)
        if not worst <= 1e-5 * largest:
            return f"output {k}: {worst:g} off: {have[:8]} instead of {wanted[:8]}"
    return None


def main():
    program, names = sys.argv[1], sys.argv[2:]
    failed, types, count = 0, set(), 0
    for case in json.loads((HERE / "cases.json").read_text()):
        if names and not any(n in case["name"] for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            reason = check(program, case, pathlib.Path(folder))
        types.add(case["type"])
        count += 1
        if reason:
            failed += 1
            print(f"{case['name']}: {reason}")
    print(f"{count - failed} of {count} cases of {len(types)} layers agree")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
