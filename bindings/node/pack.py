#!/usr/bin/env python3
"""Makes the JavaScript of the package from its sources.

usage: pack.py FOLDER MODULE.mjs...

The sources are ES modules, as browsers run them. In Node there must be one instance of each class, whether a program imports or
requires the package; so each module becomes a CommonJS module, FOLDER/lib/NAME.cjs, line by line, and the modules of FOLDER
that are imported (index, onnxruntime, c) only name what those have. The sources keep to what this can read: one import or export a
line, and no circles.
"""

import os
import re
import sys

ENTRIES = ["index", "onnxruntime", "c"]


def required(match):
    names, module = match.group(1).strip(), match.group(2)
    module = re.sub(r"\.mjs$", ".cjs", module)
    if names.startswith("*"):
        return f'const {names.split()[-1]} = require("{module}");'
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
    return f'const {names} = require("{module}");'


def convert(text, where):
    """A module as CommonJS, and the names that it exports."""
    exported, lines = [], ['"use strict";']
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r'^import (.+) from "(.+)";$', required, line)
        listed = re.match(r"^export \{(.+)\};$", line)
        several = re.match(r"^export (const \{(.+)\} = .+)$", line)
        one = re.match(r"^export ((?:async )?(?:function\*?|class|const|let) (\w+).*)$", line)
        if listed:
            exported += [name.strip() for name in listed.group(1).split(",")]
            line = ""
        elif several:
            exported += [name.strip().split(":")[-1].strip() for name in several.group(2).split(",")]
            line = several.group(1)
        elif one:
            exported.append(one.group(2))
            line = one.group(1)
        elif re.match(r"^(import|export)\b", line):
            sys.exit(f"{where}:{number}: pack.py cannot read this line: {line}")
        lines.append(line)
    lines.append(f"module.exports = {{ {', '.join(exported)} }};")
    return "\n".join(lines) + "\n", exported


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    folder, names = sys.argv[1], {}
    for source in sys.argv[2:]:
        name = os.path.basename(source)
        if name.endswith(".cjs"):
            write(os.path.join(folder, "lib", name), open(source, encoding="utf-8").read())
            continue
        with open(source, encoding="utf-8") as file:
            text, exported = convert(file.read(), source)
        name = name[:-len(".mjs")]
        if name in names:
            sys.exit(f"{source}: there are two modules of this name")
        names[name] = exported
        write(os.path.join(folder, "lib", name + ".cjs"), text)
    for entry in ENTRIES:
        if entry in names:
            write(os.path.join(folder, entry + ".mjs"), f'import all from "./lib/{entry}.cjs";\n\nexport const {{ {", ".join(names[entry])} }} = all;\n'
                  "export default all;\n")


if __name__ == "__main__":
    main()
