#!/usr/bin/env python3
"""Writes a C file that says again all that include/hologram.json says of the headers, so that a compiler compares the two: values of
enums and constants, size, place and type of every field, and the types of callbacks and functions.

usage: mirror.py DESCRIPTION > FILE.c
"""

import json
import sys


def declared(kind, name, array):
    """`kind name[array];`, and of a pointer to a function the name inside."""
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{name})")
    return f"{kind} {name}" + (f"[{array}]" if array is not None else "")


def listed(params):
    """The types of parameters; one that is declared as an array is so again."""
    return ", ".join(f'{one["type"][:-2]}[{one["array"]}]' if "array" in one else one["type"] for one in params) or "void"


def numbers(api):
    for one in api["constants"] + [value for enum in api["enums"] for value in enum["values"]]:
        yield f'_Static_assert({one["name"]} == {one["value"]}, "{one["name"]}");'


def mirrors(struct):
    """The struct once more from its fields; each has the place, size and type of the one in the header."""
    name = struct["name"]
    yield f"typedef struct Mirror{name} {{"
    for field in struct["fields"]:
        yield f'    {declared(field["type"], field["name"], field["array"])};'
    yield f"}} Mirror{name};"
    yield f'_Static_assert(sizeof(Mirror{name}) == sizeof({name}), "{name}");'
    for field in struct["fields"]:
        one = field["name"]
        yield (f"_Static_assert(offsetof(Mirror{name}, {one}) == offsetof({name}, {one}) && "
               f"__builtin_types_compatible_p(__typeof__(((Mirror{name} *)0)->{one}), __typeof__((({name} *)0)->{one})), "
               f'"{name}.{one}");')


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    lines = [f'#include "{header}"' for header in api["headers"]]
    lines += numbers(api)
    lines += [f'typedef struct {one["name"]} {one["name"]};' for one in api["objects"]]
    for struct in api["structs"]:
        lines += mirrors(struct)
    lines += [f'typedef {one["returns"]} (*{one["name"]})({listed(one["params"])});' for one in api["callbacks"]]
    lines += [f'{one["returns"]} {one["name"]}({listed(one["params"])});' for one in api["functions"]]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
