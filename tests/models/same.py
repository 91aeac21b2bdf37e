#!/usr/bin/env python3
"""Does the same network give the same answers in two formats?

usage: same.py [--open N] PROGRAM FILE FILE...      pairs of models: the first with the second, the third with the fourth ...

Inputs are matched by their order, and are random numbers; sizes that a model leaves open are those of the other, or 1 for the batch and
N (32) for what follows. Outputs are compared in their order, as rows of numbers: a dimension of 1 more or less does not matter. They may
differ by 2e-4 of the largest value.
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from formats import read_npy, worst_of

LIMIT = 2e-4


def about(program, model):
    done = subprocess.run([program, "inspect", model, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(" ".join(done.stderr.split())[:300])
    return json.loads(done.stdout)


def sizes(ports, open_size):
    """The sizes of one input in both models; -1: left open."""
    shapes = [[d if isinstance(d, int) else -1 for d in p["shape"]] for p in ports]
    if len(shapes[0]) != len(shapes[1]):
        raise ValueError(f"inputs of {shapes[0]} and {shapes[1]}")
    return [max(a, b) if max(a, b) > 0 else 1 if i == 0 else open_size for i, (a, b) in enumerate(zip(*shapes))]


def write(path, shape, values):
    text = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}f", *values))


def answers(program, model, shown, inputs, folder):
    given = [f"--input={p['name']}={path}" for p, path in zip(shown["inputs"], inputs)]
    done = subprocess.run([program, "run", model, *given, "--quiet", "--output", folder], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(" ".join((done.stderr or done.stdout).split())[:300])
    return [read_npy(folder / (p["name"].replace("/", "_") + ".npy"))[1] for p in shown["outputs"]]


def compare(program, pair, folder, open_size):
    shown = [about(program, model) for model in pair]
    if len(shown[0]["inputs"]) != len(shown[1]["inputs"]) or len(shown[0]["outputs"]) != len(shown[1]["outputs"]):
        raise ValueError("they have other inputs or outputs")
    chance, inputs = random.Random(9), []
    for i, ports in enumerate(zip(shown[0]["inputs"], shown[1]["inputs"])):
        shape, count = sizes(ports, open_size), 1
        for d in shape:
            count *= d
        inputs.append(folder / f"{i}.npy")
        write(inputs[-1], shape, [chance.uniform(-1, 1) for _ in range(count)])
    first, second = (answers(program, model, s, inputs, folder / str(k)) for k, (model, s) in enumerate(zip(pair, shown)))
    worst = 0.0
    for a, b in zip(first, second):
        if len(a) != len(b):
            raise ValueError(f"{len(a)} numbers, and {len(b)}")
        worst = max(worst, worst_of(a, b) / (max(abs(x) for x in a) or 1))
    return worst


def main():
    args = sys.argv[1:]
    open_size = int(args.pop(1)) if args[0] == "--open" else 32
    args = args[1:] if args[0] == "--open" else args
    program, files = args[0], [pathlib.Path(f) for f in args[1:]]
    pairs, failed = list(zip(files[::2], files[1::2])), 0
    for pair in pairs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst = compare(program, pair, pathlib.Path(folder), open_size)
                words = f"{worst:.1e}"
            except ValueError as error:
                worst, words = float("inf"), str(error)
        failed += not worst <= LIMIT
        print(f"{'ok    ' if worst <= LIMIT else 'FAILED'} {pair[0].name} and {pair[1].name}: {words}", flush=True)
    print(f"{len(pairs) - failed} of {len(pairs)} pairs agree")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
