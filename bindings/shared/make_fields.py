#!/usr/bin/env python3
"""Writes tables of the fields of structs that bindings read from values of their language, or turn into such, from include/hologram.json.

usage: make_fields.py snake|camel FILE.c     the tables of fields.h, with names such as max_tokens or maxTokens
       make_fields.py mjs FILE.mjs           the options for JavaScript: their names, in the order of the tables, and their choices

So a number that the C library adds to a struct appears in all languages.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import bindings  # noqa: E402

# The tables, and their structs.
TABLES = {"generate_options": "HoloGenerateOptions", "generate_result": "HoloGenerateResult", "batch_options": "HoloTextBatchOptions",
          "batch_state": "HoloTextBatchState", "imagine_options": "HoloImagineOptions"}
# Numbers that are for C alone.
LEFT_OUT = {
    "size": "bindings are compiled with the struct",
    "best": "tokens have one log-probability, their own",
}
KINDS = {"float": "F32", "double": "F64", "bool": "BOOL", "int": "I32", "uint32_t": "U32", "int64_t": "I64", "uint64_t": "U64", "size_t": "SIZE"}


def camel(name):
    return re.sub(r"_([a-z0-9])", lambda m: m.group(1).upper(), name)


def choices(api, enum):
    """HOLO_BEAMS_LIKELY ... -> likely ..."""
    names = [one["name"] for one in api.enums[enum]["values"]]
    if [one["value"] for one in api.enums[enum]["values"]] != list(range(len(names))):
        sys.exit(f"make_fields.py: the values of {enum} are not 0, 1, 2 ...")
    prefix = os.path.commonprefix(names)
    return [name[prefix.rfind("_") + 1:].lower() for name in names]


def numbers(api, struct, path=""):
    """(name, where it is in the struct, its type, its choices or None) of each number, those of structs inside as well."""
    for field in api.fields(struct):
        where = path + field.name
        if field.kind == "struct":
            yield from numbers(api, field.base, where + ".")
        elif field.name in LEFT_OUT or field.name.endswith("_count"):
            continue
        elif field.kind == "enum":
            yield field.name, where, "CHOICE", choices(api, field.base)
        elif field.kind == "number":
            yield field.name, where, KINDS[field.type.base], None


def c_text(api, spell):
    parts = ["// Made by bindings/shared/make_fields.py.\n#include \"fields.h\"\n", "#include <stddef.h>\n"]
    for table, struct in TABLES.items():
        rows = []
        for name, where, kind, words in numbers(api, struct):
            listed = "NULL"
            if words:
                listed = f"{table}_{name}"
                texts = ", ".join('"' + word + '"' for word in words)
                parts.append(f"static const char *const {listed}[] = {{{texts}, NULL}};\n")
            rows.append(f'    {{"{spell(name)}", BIND_{kind}, offsetof({struct}, {where}), {listed}}},')
        parts.append(f"const BindField bind_{table}[] = {{\n" + "\n".join(rows) + "\n    {NULL, BIND_BOOL, 0, NULL},\n};\n")
    return "\n".join(parts)


def mjs_text(api):
    parts = ["// Options of the C library, in its order. Made by bindings/shared/make_fields.py.\n"]
    for table, struct in TABLES.items():
        if not table.endswith("_options"):
            continue
        rows = list(numbers(api, struct))
        names = ", ".join(f'"{camel(row[0])}"' for row in rows)
        listed = ", ".join(f"{camel(row[0])}: {row[3]!r}".replace("'", '"') for row in rows if row[3])
        parts.append(f"export const {camel(table)} = [{names}];\nexport const {camel(table)}Choices = {{ {listed} }};")
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("snake", "camel", "mjs"):
        sys.exit(__doc__.split("\n\n")[1])
    api = bindings.load()
    text = mjs_text(api) if sys.argv[1] == "mjs" else c_text(api, camel if sys.argv[1] == "camel" else str)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
