#!/usr/bin/env python3
"""Compares `hologram generate --beams` with a plain beam search over whole runs of the texts.

usage: beam_search.py PROGRAM ARCHIVE...

No text ends before the last token here, so the search is: keep the best WIDTH texts, COUNT times.
"""
import json
import math
import pathlib
import sys
import tempfile

import greedy

WIDTH, COUNT = 3, 5


def logprobs(program, archive, inputs, count):
    """Of the next token of each text, all texts in one run."""
    with tempfile.TemporaryDirectory() as folder:
        greedy.call(program, "run", archive, *[f"-i{name}={json.dumps(rows)}" for name, rows in inputs.items()], "--quiet", "-o", folder)
        data = (pathlib.Path(folder) / "logits.npy").read_bytes()
    numbers = greedy.array.array("f", data[10 + int.from_bytes(data[8:10], "little") :])
    length = len(numbers) // len(next(iter(inputs.values())))  # of all rows of a text
    for i in range(len(next(iter(inputs.values())))):
        row = numbers[(i + 1) * length - length // count : (i + 1) * length]
        top = max(row)
        total = top + math.log(sum(math.exp(x - top) for x in row))
        yield [x - total for x in row]


def search(program, archive, is_pair, begin):
    beams = [(0.0, begin)]
    for _ in range(COUNT):
        texts = [tokens for _, tokens in beams]
        inputs = {"input_ids": [greedy.PROMPT] * len(texts), "decoder_input_ids": texts} if is_pair else {"input_ids": texts}
        rows = logprobs(program, archive, inputs, len(texts[0]))
        ways = [(score + x, tokens + [t]) for (score, tokens), row in zip(beams, rows) for t, x in enumerate(row)]
        beams = sorted(ways, key=lambda way: -way[0])[:WIDTH]
    return beams[0][1][len(begin) :]


def main():
    program, archives = sys.argv[1], sys.argv[2:]
    for archive in archives:
        about = json.loads(greedy.call(program, "inspect", archive, "--json"))
        is_pair = any(entry["name"] == "encoder" for entry in about["entries"])
        want = search(program, archive, is_pair, [int(about["metadata"]["text.start"])] if is_pair else list(greedy.PROMPT))
        have = json.loads(greedy.call(program, "generate", archive, "--tokens", ",".join(map(str, greedy.PROMPT)), "--max-tokens", COUNT,
                                      "--beams", WIDTH, "--json"))["tokens"]
        if have != want:
            sys.exit(f"{archive}: {WIDTH} beams give {have}; whole runs give {want}")
    print(f"{len(archives)} models search as whole runs do")


if __name__ == "__main__":
    main()
