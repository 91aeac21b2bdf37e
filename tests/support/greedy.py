#!/usr/bin/env python3
"""Compares tokens that `hologram generate` gives, which reads only new tokens, with those that whole runs of the text give.

usage: greedy.py PROGRAM ARCHIVE... [-- options of generate]
"""
import array
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

PROMPT, COUNT = [3, 17, 5, 40, 8], 14


def call(*command):
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode:
        sys.exit(" ".join((run.stderr or run.stdout).split())[:500])
    return run.stdout


def last_best(program, archive, inputs, tokens):
    """The most likely token behind the text, which is run as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        given = [f"-i{name}=[[{','.join(map(str, ids))}]]" for name, ids in inputs.items()]
        call(program, "run", archive, *given, "--quiet", "-o", folder)
        data = (pathlib.Path(folder) / "logits.npy").read_bytes()
        start = 10 + int.from_bytes(data[8:10], "little")
        is_half = b"'<f2'" in data[:start]
        numbers = [x for x, in struct.iter_unpack("<e", data[start:])] if is_half else array.array("f", data[start:])
        row = numbers[len(numbers) - len(numbers) // len(tokens) :]
        return max(range(len(row)), key=lambda i: row[i])


def check(program, archive, options):
    """With an encoder the prompt is its text, and the decoder's begins with a token for that."""
    about = json.loads(call(program, "inspect", archive, "--json"))
    is_pair = any(entry["name"] == "encoder" for entry in about["entries"])
    tokens = [int(about["metadata"]["text.start"])] if is_pair else list(PROMPT)
    begin = len(tokens)
    for _ in range(COUNT):
        inputs = {"input_ids": PROMPT, "decoder_input_ids": tokens} if is_pair else {"input_ids": tokens}
        tokens.append(last_best(program, archive, inputs, tokens))
    have = json.loads(call(program, "generate", archive, "--tokens", ",".join(map(str, PROMPT)), "--max-tokens", COUNT,
                           "--temperature", 0, "--json", *options))["tokens"]
    if have != tokens[begin:]:
        sys.exit(f"{archive}: generates {have}; whole runs give {tokens[begin:]}")


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1 :] if "--" in words else []
    archives = words[1 : words.index("--")] if "--" in words else words[1:]
    for archive in archives:
        check(words[0], archive, options)
    print(f"{len(archives)} models generate what whole runs give")


if __name__ == "__main__":
    main()
