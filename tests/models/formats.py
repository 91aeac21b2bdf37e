#!/usr/bin/env python3
"""Runs models of other frameworks that have inputs/*.npy, ref/*.npy and info.json, and compares the outputs.

usage: formats.py PROGRAM FOLDER [PATTERN...]

FOLDER has a folder for each model: model.tflite or model.json, inputs, the answers of the framework's own runtime (ref), and
info.json, which says how far a second runtime of the framework is from them. A pattern is a part of a folder's name.

Prints a line for each model: the worst difference of its outputs. Real numbers may differ by 2e-4 of the largest value, or by
what the framework's own runtimes differ by; quantized ones by two steps. Scores of detections are compared sorted, to two steps
of 1/256, since ties change their rows. Models with variables are run several times, in one session.
"""
import array
import ast
import json
import pathlib
import subprocess
import sys
import tempfile

CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B"}
LIMIT = 2e-4
STEPS = 2


def read_npy(path):
    data = path.read_bytes()
    size, start = (int.from_bytes(data[8:10], "little"), 10) if data[6] == 1 else (int.from_bytes(data[8:12], "little"), 12)
    header = ast.literal_eval(data[start : start + size].decode("latin1"))
    code = header["descr"].lstrip("<|=")
    if code[0] == "S":
        width, body = int(code[1:]), data[start + size :]
        return header["shape"], [body[i : i + width].rstrip(b"\0") for i in range(0, len(body), width or 1)], code
    if code[0] == "U":
        width, body = 4 * int(code[1:]), data[start + size :]
        return header["shape"], [body[i : i + width].decode("utf-32-le").rstrip("\0").encode() for i in range(0, len(body), width or 1)], code
    return header["shape"], array.array(CODES[code], data[start + size :]), code


def file_name(name):
    return "".join("_" if c in "/:;" else c for c in name)


def worst_of(want, have):
    return max((abs(a - b) if a == a and b == b else float("inf") for a, b in zip(want, have)), default=0)


def read_stacked(paths):
    """The arrays of several runs, one behind the other."""
    if len(paths) == 1:
        return read_npy(paths[0])
    runs = [read_npy(path) for path in paths]
    return (len(runs), *runs[0][0]), [x for run in runs for x in run[1]], runs[0][2]


def compare(name, want_path, have_paths, info, is_detection, index):
    """The difference of an output in units of what is allowed, and words for it."""
    shape, want, code = read_npy(want_path)
    have_shape, have, _ = read_stacked(have_paths)
    if tuple(shape) != tuple(have_shape) and not (len(want) == len(have) and 1 in (len(shape), len(have_shape))):
        raise ValueError(f"{name} has sizes {have_shape}, not {shape}")
    if code[0] == "S":
        return (0.0 if want == have else float("inf")), "texts"
    second = info.get("second") or {}
    spread = second.get("relative") or 0
    largest = max((abs(x) for x in want), default=0) or 1
    if is_detection:
        if index != 2:
            return 0.0, "not compared"
        return worst_of(sorted(want), sorted(have)) / (STEPS / 256), "sorted scores"
    worst = worst_of(want, have)
    if code[0] in "iu" and any("int8" in q or "uint8" in q or "int16" in q for q in info.get("quantisation", [])):
        return worst / max(STEPS, spread * largest), f"{worst:g} steps"
    limit = max(LIMIT, 1.5 * spread)
    return worst / largest / limit, f"{worst / largest:.1e}"


def run(program, model, inputs, out):
    done = subprocess.run([program, "run", model, *inputs, "--quiet", "--output", out], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(" ".join((done.stderr or done.stdout).split())[:400])


def check(program, folder):
    info = json.loads((folder / "info.json").read_text())
    model = folder / ("model.tflite" if (folder / "model.tflite").exists() else "model.json")
    names = json.loads((folder / "ref" / "outputs.json").read_text())
    names = [n["name"] if isinstance(n, dict) else n for n in names]
    inputs = [f"--input={name}={folder / 'inputs' / (file_name(name) + '.npy')}" for name in info["inputs"]]
    is_detection = any("Detection_PostProcess" in op for op in info["ops"])
    with tempfile.TemporaryDirectory() as out:
        if info.get("steps"):
            inputs.append(f"--times={info['steps']}")
        run(program, model, inputs, out)
        worst = (-1.0, "nothing to compare", "")
        for index, name in enumerate(names):
            if name in info.get("untrusted", []):
                continue
            folders = [pathlib.Path(out) / str(1 + i) for i in range(info["steps"])] if info.get("steps") else [pathlib.Path(out)]
            have = [f / (name.replace("/", "_") + ".npy") for f in folders]
            if not have[0].exists():
                raise ValueError(f"there is no output {name}")
            value, words = compare(name, folder / "ref" / (file_name(name) + ".npy"), have, info, is_detection, index)
            worst = max(worst, (value, words, name))
    return worst


def main():
    program, root, patterns = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folders = [f for f in sorted(root.iterdir()) if (f / "ref").is_dir() and (not patterns or any(p in f.name for p in patterns))]
    failed = []
    for folder in folders:
        try:
            value, words, name = check(program, folder)
        except (ValueError, KeyError) as error:
            value, words, name = float("inf"), str(error), ""
        print(f"{'ok    ' if value <= 1 else 'FAILED'} {folder.name:44} {words} {name}", flush=True)
        if not value <= 1:
            failed.append(folder.name)
    print(f"{len(folders) - len(failed)} of {len(folders)} models agree")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
