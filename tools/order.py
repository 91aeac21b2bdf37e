#!/usr/bin/env python3
"""Finds calls of which two arguments add to the same graph or program.

usage: order.py src [FOLDER...]     the folders are not looked at, only what their functions do

C does not say which argument is evaluated first, and compilers differ: gcc begins with the last one on x86-64 and with the first one
on ARM64. Nodes, names and registers then come in another order, and the archive has other bytes. Lists in braces, such as HOLO_IN,
are evaluated from the first to the last by gcc and clang. Who adds something is found by who calls whom.
"""
import pathlib
import re
import sys

# What adds: all other functions add if they call one that does.
ADDS = {"holo_graph_node", "holo_graph_value", "holo_graph_constant", "holo_graph_input", "holo_dims_fresh"}
ADDS |= {"holo_isa_register", "holo_isa_emit"}
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
LISTS = {"HOLO_IN", "HOLO_ATTRS"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof"}


def plain(text):
    """The text without comments and literals, line by line as it was."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"'(?:\\.|[^'\\\n])+'", "0", text)


def arguments(text, at):
    """The arguments of the call whose bracket is at `at`."""
    depth, begin, found = 0, at + 1, []
    for i in range(at, len(text)):
        letter = text[i]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if not depth:
                return found + [text[begin:i]]
        elif letter == "," and depth == 1:
            found.append(text[begin:i])
            begin = i + 1
    return found


def functions(text):
    """Names and bodies: name -> text. Macros count as functions."""
    found = {}
    for m in re.finditer(r"^[A-Za-z][^;={}#]*?\b([A-Za-z_]\w*)\([^;{}]*\)\s*\{\n(.*?)^\}", text, re.M | re.S):
        found[m[1]] = m[2]
    for m in re.finditer(r"^#define (\w+)\(.*?\)((?:.*\\\n)*.*)", text, re.M):
        found[m[1]] = m[2]
    return found


def main():
    left_out = tuple(sys.argv[2:])
    texts = {str(path): plain(path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.[ch]"))}
    own = {path: functions(text) for path, text in texts.items()}
    calls, known = {}, {}
    for path, bodies in own.items():
        for name, body in bodies.items():
            calls[path, name] = {m[1] for m in CALL.finditer(body)} - KEYWORDS
            if name.startswith("holo_") or path.endswith(".h"):
                known[name] = (path, name)

    def meant(path, name):
        return (path, name) if (path, name) in calls else known.get(name)

    adds = {key for key in calls if key[1] in ADDS}
    while True:
        more = {key for key, names in calls.items() if key not in adds and any(meant(key[0], n) in adds for n in names)}
        if not more:
            break
        adds |= more

    def writes(path, text):
        return any(meant(path, m[1]) in adds for m in CALL.finditer(text))

    def is_list(path, name):
        return name in LISTS or any(n in LISTS for n in calls.get(meant(path, name), ())) and name.isupper()

    found = []
    for path, text in texts.items():
        for m in [] if path.startswith(left_out) else CALL.finditer(text):
            if m[1] in KEYWORDS or is_list(path, m[1]) or sum(writes(path, a) for a in arguments(text, m.end() - 1)) < 2:
                continue
            at = text.count("\n", 0, m.start()) + 1
            found.append(f"{path}:{at}: two arguments of {m[1]} add nodes or instructions: C does not say which comes first")
    for line in found:
        print(line)
    return bool(found)


sys.exit(main())
