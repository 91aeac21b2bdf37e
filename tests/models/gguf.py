#!/usr/bin/env python3
"""Makes GGUF files of HuggingFace folders, runs both, and compares the outputs.

usage: gguf.py PROGRAM random [NAME...]    folders with random weights, of all architectures that the maker knows or those named
       gguf.py PROGRAM types [NAME...]     the same in narrow types, compared with files of f32 that hold the same numbers
       gguf.py PROGRAM FOLDER...           folders with inputs/*.npy and outputs/*.npy, as for hf.py

Prints a line for each that does not agree, and how many do. The files are made by tests/support/gguf_maker.py, which shares
nothing with the importer.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gguf_maker
import hf

LIMIT = 1e-4
IDS = "input_ids=[[3,1,40,7,9,12,22,5,6,17]]"
UNUSED = "pooler_output"  # files of encoders have no pooler


def run(program, model, inputs, out):
    # Class exact: others round what they multiply with blocks to 8 bits.
    command = [program, "run", model, *inputs, "--numeric", "exact", "--quiet", "--output", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(" ".join((done.stderr or done.stdout).split())[:400])


def worst_of(wanted, have):
    return max(hf.difference(path, have / path.name) for path in wanted)


def check_random(program, name, work):
    gguf_maker.make_random(name, work / "folder")
    gguf_maker.convert(work / "folder", work / "model.gguf")
    run(program, work / "folder", ["-i", IDS], work / "a")
    run(program, work / "model.gguf", ["-i", IDS], work / "b")
    return worst_of((work / "a").glob("*.npy"), work / "b")


def check_types(program, name, work):
    gguf_maker.make_random(name, work / "folder")
    worst = 0.0
    for kind in "f16", "bf16", "q8_0":
        for end in "", "=f32":
            gguf_maker.convert(work / "folder", work / "model.gguf", kind + end)
            run(program, work / "model.gguf", ["-i", IDS], work / f"{kind}{end}")
        worst = max(worst, worst_of((work / f"{kind}=f32").glob("*.npy"), work / kind))
    return worst


def check_folder(program, folder, work):
    gguf_maker.convert(folder, work / "model.gguf")
    inputs = [f"--input={path.stem}={path}" for path in sorted((folder / "inputs").glob("*.npy"))]
    run(program, work / "model.gguf", inputs, work / "out")
    wanted = [path for path in (folder / "outputs").glob("*.npy") if path.stem not in ("generated", UNUSED)]
    return worst_of(wanted, work / "out")


def folders_in(names):
    roots = [pathlib.Path(name) for name in names]
    folders = [f for root in roots for f in ([root] if (root / "config.json").exists() else sorted(root.iterdir()))]
    for folder in folders:
        try:
            config, _ = gguf_maker.read_folder(folder)
        except (OSError, ValueError):
            continue
        if config["model_type"] in gguf_maker.ARCHITECTURES and config["architectures"][0] != "BertForSequenceClassification":
            yield folder


def main():
    program, what, *names = sys.argv[1:]
    checks = {"random": check_random, "types": check_types}
    check = checks.get(what, check_folder)
    subjects = (names or list(gguf_maker.RANDOM)) if what in checks else list(folders_in([what, *names]))
    failed = 0
    for subject in subjects:
        with tempfile.TemporaryDirectory() as work:
            try:
                worst = check(program, subject, pathlib.Path(work))
                fault = "" if worst <= LIMIT else f"{worst:.1e}"
            except (ValueError, KeyError) as error:
                fault = str(error)
        if fault:
            print(f"FAILED {subject}: {fault}", flush=True)
        failed += bool(fault)
    print(f"{len(subjects) - failed} of {len(subjects)} models agree")
    return bool(failed) or not subjects


if __name__ == "__main__":
    sys.exit(main())
