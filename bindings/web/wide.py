#!/usr/bin/env python3
"""Writes which arguments of a module's functions have 64 bits, for JavaScript, which passes those as BigInts.

usage: wide.py MODULE.wasm OUT.mjs      {name: "01"}: the second argument of the function has
"""

import json
import os
import sys

TYPES, IMPORTS, FUNCTIONS, EXPORTS, I64 = 1, 2, 3, 7, 0x7E


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            one = self.byte()
            value |= (one & 127) << shift
            shift += 7
            if one < 128:
                return value

    def part(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at]


def sections(data):
    reader, found = Reader(data), {}
    reader.at = 8
    while reader.at < len(data):
        kind = reader.byte()
        found[kind] = reader.part()
    return found


def types(data):
    reader = Reader(data)
    for _ in range(reader.number()):
        reader.byte()
        params, _results = reader.part(), reader.part()
        yield params


def imported(data):
    """The types of functions that are imported."""
    reader = Reader(data)
    for _ in range(reader.number()):
        reader.part(), reader.part()
        if reader.byte() == 0:
            yield reader.number()
        else:  # the memory: its flags, and one or two sizes
            flags = reader.byte()
            reader.number()
            if flags & 1:
                reader.number()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[1], "rb") as file:
        found = sections(file.read())
    kinds, functions, reader = list(types(found[TYPES])), list(imported(found[IMPORTS])), Reader(found[FUNCTIONS])
    functions += [reader.number() for _ in range(reader.number())]
    reader, wide = Reader(found[EXPORTS]), {}
    for _ in range(reader.number()):
        name, kind, index = reader.part().decode(), reader.byte(), reader.number()
        if kind == 0 and name.startswith("web_"):
            wide[name] = "".join("1" if one == I64 else "0" for one in kinds[functions[index]])
    text = "// Made by wide.py: which arguments have 64 bits.\nexport default " + json.dumps(wide) + ";\n"
    with open(sys.argv[2] + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(sys.argv[2] + ".part", sys.argv[2])


if __name__ == "__main__":
    main()
