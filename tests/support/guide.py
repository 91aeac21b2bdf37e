#!/usr/bin/env python3
"""Does what a page of docs/adding-*.md says: puts its blocks of code into a copy of the tree.

usage: guide.py PAGE TREE

A mark in front of a block says where it goes:

    <!-- file: PATH -->           the block is this file
    <!-- before TEXT: PATH -->    before the first line of the file that has TEXT
    <!-- behind TEXT: PATH -->    behind that line
"""

import os
import re
import sys


def blocks(page):
    """(how, text, path, lines) of each block with a mark."""
    mark, lines = None, None
    for line in page.splitlines(keepends=True):
        if lines is not None:
            if line.startswith("```"):
                yield (*mark, lines)
                mark, lines = None, None
            else:
                lines.append(line)
        elif line.startswith("<!--"):
            found = re.match(r"<!-- (file|before|behind) ?(.*): (\S+) -->$", line.strip().replace("<!-- file:", "<!-- file :"))
            if not found:
                sys.exit(f"this mark says nothing: {line.strip()}")
            mark = found.groups()
        elif mark and line.startswith("```"):
            lines = []


def put(tree, how, text, path, lines):
    path = os.path.join(tree, path)
    if how == "file":
        if os.path.exists(path):
            sys.exit(f"{path} is there already")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old, at = [], 0
    else:
        with open(path, encoding="utf-8") as file:
            old = file.readlines()
        at = next((i for i, line in enumerate(old) if text in line), None)
        if at is None:
            sys.exit(f"{path} has no line with '{text}'")
        at += how == "behind"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(old[:at] + lines + old[at:])


def main(page, tree):
    with open(page, encoding="utf-8") as file:
        found = list(blocks(file.read()))
    if not found:
        sys.exit(f"{page} has no code")
    for block in found:
        put(tree, *block)


if __name__ == "__main__":
    main(*sys.argv[1:])
