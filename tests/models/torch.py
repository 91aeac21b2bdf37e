#!/usr/bin/env python3
"""Compiles and runs models of PyTorch that have inputs/0.npy ... and outputs/0.npy ..., and compares the outputs.

usage: torch.py PROGRAM FOLDER...

A FOLDER has model.pt2 or model.pt, or it is a folder of such folders. Inputs and outputs are numbered in the model's order.
Prints a line for each model: the worst difference of its outputs, relative to the largest value of the output, and fails if one
is above 1e-4.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from hf import difference  # noqa: E402

LIMIT = 1e-4


def call(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise ValueError(" ".join((run.stderr or run.stdout).split())[:600])
    return run.stdout


def numbered(folder):
    return sorted(folder.glob("*.npy"), key=lambda path: int(path.stem))


def check(program, folder, out):
    """The worst difference of the folder's outputs, and the number of that output."""
    model = next(path for path in (folder / "model.pt2", folder / "model.pt") if path.exists())
    archive = out / "model.holo"
    call(program, "compile", model, "-o", archive, "--quiet")
    about = json.loads(call(program, "inspect", archive, "--json"))
    inputs = [f"--input={port['name']}={path}" for port, path in zip(about["inputs"], numbered(folder / "inputs"))]
    call(program, "run", archive, *inputs, "--quiet", "--output", out)
    wanted = numbered(folder / "outputs")
    if len(about["outputs"]) != len(wanted):
        raise ValueError(f"there are {len(about['outputs'])} outputs, not {len(wanted)}")
    pairs = [(path, out / f"{port['name'].replace('/', '_')}.npy") for port, path in zip(about["outputs"], wanted)]
    return max(((difference(want, have), want.stem) for want, have in pairs), default=(0.0, "nothing"))


def main():
    program, folders = sys.argv[1], [pathlib.Path(path) for path in sys.argv[2:]]
    models = []
    for folder in folders:
        models += [folder] if (folder / "inputs").exists() else sorted(path.parent for path in folder.glob("*/inputs"))
    failed = 0
    for folder in models:
        try:
            with tempfile.TemporaryDirectory() as out:
                worst, output = check(program, folder, pathlib.Path(out))
            wrong = not worst <= LIMIT
            print(f"{'FAILED' if wrong else 'ok    '} {folder.parent.name}/{folder.name}: {worst:.1e} in output {output}")
        except (ValueError, StopIteration) as error:
            wrong = True
            print(f"FAILED {folder.parent.name}/{folder.name}: {error}")
        failed += wrong
    print(f"{len(models) - failed} of {len(models)} models agree")
    sys.exit(failed > 0 or not models)


if __name__ == "__main__":
    main()
