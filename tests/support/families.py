#!/usr/bin/env python3
"""Runs tiny models with the answers that HuggingFace's transformers (5.17) gave, and compares.

usage: families.py PROGRAM FOLDER FILE...

A FILE of tests/families has cases: a config, the names and sizes of the weights, inputs, and numbers of the outputs. Weights are made
from their names (see weight), so that no file has to hold them; `layers.{2}.x` stands for layers.0.x and layers.1.x. An input without
numbers is made from its name, too. Of a long output, `every N` numbers are kept. `generated` are the tokens that greedy decoding gives
behind the first row of input_ids, all with a distance to the second best that is far above rounding.
"""
import array
import json
import pathlib
import re
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import hf

LIMIT = 1e-4


def numbers(name, count):
    """Numbers from -0.5 to 0.5 that depend on the name alone, exact in f32."""
    mask, start = 0xFFFFFFFF, zlib.crc32(name.encode())
    for i in range(count):
        x = (i * 0x9E3779B1 + start) & mask
        x = ((x ^ x >> 15) * 0x85EBCA6B) & mask
        x = ((x ^ x >> 13) * 0xC2B2AE35) & mask
        yield (((x ^ x >> 16) >> 22) - 512) / 1024


def size_of(shape):
    count = 1
    for n in shape:
        count *= n
    return count


def weight(name, shape):
    """Scales and variances are around 1, everything else around 0."""
    is_scale = "norm" in name.lower() or ".ln" in name or (len(shape) < 2 and "layer_weights" not in name)
    around = 1 if name.endswith("running_var") or (name.endswith("weight") and is_scale) else 0
    return array.array("f", (around + x / 2 if around else x for x in numbers(name, size_of(shape))))


def shape_of(text):
    return [int(n) for n in text.split("x")] if text else []


def names_of(name):
    found = re.search(r"\{(\d+)\}", name)
    return [name[: found.start()] + str(i) + name[found.end() :] for i in range(int(found.group(1)))] if found else [name]


def read_cases(path):
    cases = []
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "case":
            cases.append({"name": rest, "weights": {}, "inputs": {}, "outputs": {}, "generated": []})
        elif word == "config":
            cases[-1]["config"] = json.loads(rest)
        elif word == "weight":
            name, _, shape = rest.partition(" ")
            cases[-1]["weights"].update((each, shape_of(shape)) for each in names_of(name))
        elif word == "input":
            name, kind, shape, *given = rest.split()
            cases[-1]["inputs"][name] = (kind, shape_of(shape), given)
        elif word == "output":
            name, shape, _, step, *given = rest.split()
            cases[-1]["outputs"][name] = (shape_of(shape), int(step), [float(x) for x in given[:-2]], float(given[-1]))
        elif word == "generated":
            cases[-1]["generated"] = [int(x) for x in rest.split()]
    return cases


def write_npy(path, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data.tobytes())


def write_model(folder, config, weights):
    """`weights`: names, and sizes or (sizes, numbers)."""
    header, data = {}, b""
    for name, shape in weights.items():
        shape, values = shape if isinstance(shape, tuple) else (shape, weight(name, shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_inputs(folder, inputs):
    (folder / "inputs").mkdir()
    for name, (kind, shape, given) in inputs.items():
        if kind == "i64":
            write_npy(folder / "inputs" / f"{name}.npy", "<i8", shape, array.array("q", map(int, given)))
        else:
            made = array.array("f", (2 * x for x in numbers("input." + name, size_of(shape))))
            write_npy(folder / "inputs" / f"{name}.npy", "<f4", shape, made)


def run(program, folder, inputs):
    given = [f"--input={name}={folder / 'inputs' / (name + '.npy')}" for name in inputs]
    done = subprocess.run([program, "run", folder, *given, "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    return " ".join((done.stderr or done.stdout).split()) if done.returncode else ""


def compare(folder, outputs):
    for name, (shape, step, wanted, largest) in outputs.items():
        path = folder / "out" / f"{name}.npy"
        if not path.exists():
            return f"there is no output {name}"
        have_shape, have = hf.read_npy(path)
        if list(have_shape) != shape:
            return f"{name} has sizes {list(have_shape)}, not {shape}"
        worst = max(abs(a - b) if a == a else 1e30 for a, b in zip(have[::step], wanted))
        if not worst <= LIMIT * largest:
            return f"{name} differs by {worst / largest:.1e}"
    return ""


def generated(program, folder, case):
    if not case["generated"]:
        return ""
    _, shape, ids = case["inputs"]["input_ids"]
    done = subprocess.run([program, "generate", folder, "--tokens", ",".join(ids[: shape[-1]]), "--max-tokens", str(len(case["generated"])),
                           "--temperature", "0", "--json"], capture_output=True, text=True)
    if done.returncode:
        return " ".join(done.stderr.split())
    have = json.loads(done.stdout)["tokens"]
    return "" if have == case["generated"] else f"generates {have}, not {case['generated']}"


def check(program, top, case):
    folder = top / case["name"]
    write_model(folder, case["config"], case["weights"])
    write_inputs(folder, case["inputs"])
    return run(program, folder, case["inputs"]) or compare(folder, case["outputs"]) or generated(program, folder, case)


def main():
    program, top, failed, count = sys.argv[1], pathlib.Path(sys.argv[2]), 0, 0
    for path in map(pathlib.Path, sys.argv[3:]):
        for case in read_cases(path):
            count += 1
            wrong = check(program, top, case)
            if wrong:
                failed += 1
                print(f"{path.name}: {case['name']}: {wrong}")
    print(f"{count - failed} of {count} models agree")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
