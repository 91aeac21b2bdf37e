#!/usr/bin/env python3
"""Packs a folder as `npm pack` does, without npm: what package.json lists, below package/, and the same bytes each time.

usage: tgz.py FOLDER PACKAGE.tgz
"""

import glob
import gzip
import json
import os
import sys
import tarfile

TIME = 499162500  # 1985-10-26, npm's own: the date says nothing
ALWAYS = ["package.json", "README.md"]


def listed(folder):
    """Files that the package has, by the patterns of its package.json."""
    with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
        patterns = json.load(file)["files"]
    names = set(ALWAYS)
    for pattern in patterns:
        for path in glob.glob(os.path.join(folder, pattern)):
            inside = [os.path.join(top, name) for top, _, files in os.walk(path) for name in files] if os.path.isdir(path) else [path]
            names.update(os.path.relpath(one, folder) for one in inside)
    return sorted(names)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    folder, target = sys.argv[1:]
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, TIME) as packed, tarfile.open(None, "w", packed, format=tarfile.USTAR_FORMAT) as tar:
        for name in listed(folder):
            entry = tarfile.TarInfo("package/" + name)
            path = os.path.join(folder, name)
            entry.size, entry.mtime, entry.mode = os.path.getsize(path), TIME, 0o755 if name.endswith(".node") else 0o644
            with open(path, "rb") as file:
                tar.addfile(entry, file)


if __name__ == "__main__":
    main()
