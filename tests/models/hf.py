#!/usr/bin/env python3
"""Runs HuggingFace folders that have inputs/*.npy and outputs/*.npy, and compares the outputs.

usage: hf.py PROGRAM FOLDER...

A FOLDER is a model, or a folder of models. Prints a line for each model: the worst difference of its outputs, relative to the
largest value of the output, and fails if one is above 1e-4 (2e-2 for models in 16 bits). If there is outputs/generated.npy,
the tokens that are generated behind the first row of input_ids must be the same.
"""
import array
import ast
import json
import pathlib
import subprocess
import sys
import tempfile

# Answers that nobody can compute from the folder, and why. They are run, and what they differ by is printed.
WRONG_ANSWERS = {
    "marian": "the answer was made with random positions that the folder does not hold; transformers, run on the folder, agrees with us",
}
CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "u1": "B", "b1": "B"}


def read_npy(path):
    data = path.read_bytes()
    size, start = (int.from_bytes(data[8:10], "little"), 10) if data[6] == 1 else (int.from_bytes(data[8:12], "little"), 12)
    header = ast.literal_eval(data[start : start + size].decode("latin1"))
    shape = header["shape"]
    numbers = array.array(CODES[header["descr"].lstrip("<|")], data[start + size :])
    if header["fortran_order"] and len(shape) > 1:  # columns come first
        if len(shape) > 2:
            raise ValueError(f"{path}: columns come first")
        numbers = [numbers[row + column * shape[0]] for row in range(shape[0]) for column in range(shape[1])]
    return shape, numbers


def is_narrow(folder):
    config = json.loads((folder / "config.json").read_text())
    return (config.get("dtype") or config.get("torch_dtype")) in ("bfloat16", "float16")


def difference(want_path, have_path):
    want_shape, want = read_npy(want_path)
    if not have_path.exists():
        raise ValueError(f"there is no output {have_path.stem}")
    have_shape, have = read_npy(have_path)
    if want_shape != have_shape:
        raise ValueError(f"{want_path.stem} has sizes {have_shape}, not {want_shape}")
    largest = max((abs(x) for x in want), default=0) or 1
    worst = max((abs(a - b) if a == a and b == b else float("inf") for a, b in zip(want, have)), default=0)
    return worst / largest


def check(program, folder):
    """The worst difference of the folder's outputs, and the name of that output."""
    inputs = [f"--input={path.stem}={path}" for path in sorted((folder / "inputs").glob("*.npy"))]
    wanted = [path for path in sorted((folder / "outputs").glob("*.npy")) if path.stem != "generated"]
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([program, "run", folder, *inputs, "--quiet", "--output", out], capture_output=True, text=True)
        if run.returncode:
            raise ValueError(" ".join((run.stderr or run.stdout).split())[:400])
        return max(((difference(path, pathlib.Path(out) / path.name), path.stem) for path in wanted), default=(0.0, "nothing"))


def check_generated(program, folder):
    """Fails unless the tokens that follow the first row of input_ids are those of outputs/generated.npy."""
    path = folder / "outputs" / "generated.npy"
    if not path.exists():
        return ""
    _, wanted = read_npy(path)
    shape, ids = read_npy(folder / "inputs" / "input_ids.npy")
    prompt, wanted = list(ids[: shape[-1]]), list(wanted)[shape[-1] :]
    run = subprocess.run([program, "generate", folder, "--tokens", ",".join(map(str, prompt)), "--max-tokens", str(len(wanted)),
                          "--temperature", "0", "--json"], capture_output=True, text=True)
    if run.returncode:
        raise ValueError(" ".join((run.stderr or run.stdout).split())[:400])
    have = json.loads(run.stdout)["tokens"]
    if have != wanted:
        raise ValueError(f"generates {have}, not {wanted}")
    return f", and {len(wanted)} tokens"


def main():
    program = sys.argv[1]
    roots = [pathlib.Path(name) for name in sys.argv[2:]]
    folders = [f for root in roots for f in ([root] if (root / "config.json").exists() else sorted(root.iterdir()))]
    folders = [f for f in folders if (f / "config.json").exists() and (f / "outputs").is_dir()]
    failed, others = [], 0
    for folder in folders:
        limit = 2e-2 if is_narrow(folder) else 1e-4
        try:
            worst, name = check(program, folder)
            name += check_generated(program, folder)
            is_fine = worst <= limit
            reason = "" if is_fine else WRONG_ANSWERS.get(folder.name, "")
            word = "ok    " if is_fine else "other " if reason else "FAILED"
            print(f"{word} {folder.name:24} {worst:.1e} {name}{reason and ': ' + reason}", flush=True)
            others += bool(reason)
            is_fine = is_fine or bool(reason)
        except (ValueError, KeyError) as error:
            is_fine = False
            print(f"FAILED {folder.name:24} {error}", flush=True)
        if not is_fine:
            failed.append(folder.name)
    print(f"{len(folders) - len(failed) - others} of {len(folders)} models agree with PyTorch")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
