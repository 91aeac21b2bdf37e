#!/usr/bin/env python3
"""Says what a page loads before its first answer, packed by gzip, and fails where that is more than it may be.

usage: size.py FOLDER     the package: index.mjs with what it imports at once, and the modules
"""

import glob
import gzip
import os
import re
import sys

LIMITS = {"js": 20 * 1024, "core": 600 * 1024, "compiler": 1536 * 1024}


def packed(path):
    with open(path, "rb") as file:
        return len(gzip.compress(file.read(), 9))


def reached(folder, name, found):
    """The modules that a module imports at once, itself among them."""
    if name not in found:
        found.append(name)
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for other in re.findall(r'(?:from|import)"\./([^"]+)"', file.read()):
                reached(folder, other, found)
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    folder, failed = sys.argv[1], False
    rows = [("js", "index.mjs and what it imports", sum(packed(os.path.join(folder, name)) for name in reached(folder, "index.mjs", [])))]
    for path in sorted(glob.glob(os.path.join(folder, "*.wasm"))):
        name = os.path.basename(path)
        rows.append((name.split("-")[1], name, packed(path)))
    for kind, name, size in rows:
        limit = LIMITS.get(kind)
        print(f"  size  {name}: {size} bytes packed" + (f", at most {limit}" if limit else ""))
        failed |= limit is not None and size > limit
    sys.exit("size.py: too large" if failed else 0)


if __name__ == "__main__":
    main()
