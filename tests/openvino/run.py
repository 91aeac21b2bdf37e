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


def add(net, case, number):
    """Adds a case to the network, and returns the values of its inputs by name."""
    ins, given = [], []
    for i, t in enumerate(case["ins"]):
        numbers = [float(v) if isinstance(v, str) else v for v in t["data"]]
        if t["const"]:
            ins.append(net.const(t["type"], t["shape"], numbers))
        else:
            ins.append(net.input(f"c{number}x{i}", t["type"], t["shape"]))
            given.append((f"c{number}x{i}", numbers))
    layer = net.add(case["type"], case["opset"], case["attrs"], ins, len(case["outs"]), f"y{number}")
    for k in range(len(case["outs"])):
        net.result((layer, k))
    return given


def text(numbers):
    return ",".join(str(int(n)) if isinstance(n, bool) else repr(n) for n in numbers)


def differs(case, number, folder):
    for k, want in enumerate(case["outs"]):
        shape, have = read_npy(folder / (f"y{number}.npy" if len(case["outs"]) == 1 else f"y{number}.{k}.npy"))
        wanted = [float(v) if isinstance(v, str) else v for v in want["data"]]
        if shape != want["shape"]:
            return f"output {k} has the sizes {shape}, not {want['shape']}"
        largest = max((abs(v) for v in wanted if abs(v) < float("inf")), default=0) or 1
        worst = max((0 if a == b or (a != a and b != b) else abs(a - b) for a, b in zip(wanted, have)), default=0)
        if not worst <= 1e-5 * largest:
            return f"output {k}: {worst:g} off: {have[:8]} instead of {wanted[:8]}"
    return None


def check(program, cases):
    """Runs the cases in one network; what fails is printed, and counted. If the network cannot be run, each case is by itself."""
    with tempfile.TemporaryDirectory() as name:
        folder, net, given = pathlib.Path(name), Net("cases"), []
        for number, case in enumerate(cases):
            given += add(net, case, number)
        net.save(str(folder / "m"))
        args = [f"--input={n}={text(numbers)}" for n, numbers in given]
        done = subprocess.run([program, "run", folder / "m.xml", *args, "--quiet", "--output", folder / "out"], capture_output=True, text=True)
        if done.returncode and len(cases) > 1:
            return sum(check(program, [case]) for case in cases)
        failed = 0
        for number, case in enumerate(cases):
            reason = " ".join((done.stderr or done.stdout).split())[:300] if done.returncode else differs(case, number, folder / "out")
            if reason:
                failed += 1
                print(f"{case['name']}: {reason}")
        return failed


def main():
    program, names = sys.argv[1], sys.argv[2:]
    cases = [c for c in json.loads((HERE / "cases.json").read_text()) if not names or any(n in c["name"] for n in names)]
    failed = sum(check(program, cases[i : i + 32]) for i in range(0, len(cases), 32))
    print(f"{len(cases) - failed} of {len(cases)} cases of {len({c['type'] for c in cases})} layers agree")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
