#!/usr/bin/env python3
"""Makes index.mjs of the package one file, so that a page waits for one file before it asks for a module and a model.

usage: merge.py FOLDER     what esbuild wrote: index.mjs exports what a file beside it has, which the other files share

That file becomes index.mjs. It exports the names that the public knows, and for the other files what they share, as $NAME.
"""

import glob
import os
import re
import sys


def names(text):
    """[(one name, its other name)] of "a as b, c"."""
    pairs = [part.split(" as ") for part in text.split(",")]
    return [(pair[0].strip(), pair[-1].strip()) for pair in pairs]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    folder = sys.argv[1]
    index = os.path.join(folder, "index.mjs")
    found = re.fullmatch(r'import\{([^}]*)\}from"\./([^"]+)";export\{([^}]*)\};\s*', read(index))
    if not found:
        sys.exit(f"merge.py: {index} is not as esbuild has written it until now")
    imported, shared, exported = {own: there for there, own in names(found[1])}, found[2], names(found[3])
    text = read(os.path.join(folder, shared))
    ends = list(re.finditer(r"export\{([^}]*)\};\s*$", text))
    if len(ends) != 1:
        sys.exit(f"merge.py: {shared} does not end with what it exports")
    places = {there: own for own, there in names(ends[0][1])}
    lists = [f"{own} as ${there}" for there, own in places.items()] + [f"{places[imported[own]]} as {public}" for own, public in exported]
    with open(index, "w", encoding="utf-8") as file:
        file.write(text[: ends[0].start()] + "export{" + ",".join(lists) + "};\n")
    os.remove(os.path.join(folder, shared))
    pattern = re.compile(r'import\{([^}]*)\}from"\./' + re.escape(shared) + '"')
    for path in glob.glob(os.path.join(folder, "*.mjs")):
        text = read(path)
        text = pattern.sub(lambda found: "import{" + ",".join(f"${there} as {own}" for there, own in names(found[1])) + '}from"./index.mjs"', text)
        text = text.replace(f'"./{shared}"', '"./index.mjs"')
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
