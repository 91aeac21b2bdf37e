#!/usr/bin/env python3
"""Describes the C API for programs: reads the public headers and writes include/hologram.json, from which bindings are made.

usage: api.py [--check] [--output FILE]

Knows only as much of C as the headers use: what it does not understand is an error with the line, so that nothing is left out
in silence. --check writes nothing and fails when the file is not what the headers say.

The description has constants, enums (with the texts of their X-macros), objects (types that only the library can look into),
structs, callbacks and functions. `doc` is the comment in front of a declaration and the one behind it. A type is spelled as in
C, with one space before the stars. A function that frees what it is given, and does nothing else, is the `destroy` of that type.
"""

import argparse
import ast
import json
import operator
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
HEADERS = ["hologram.h", "hologram_executor.h", "hologram_compiler.h", "hologram_listing.h", "hologram_text.h", "hologram_image.h",
           "hologram_atlas.h"]
LIBRARY = {"hologram_compiler.h": "compiler", "hologram_listing.h": "compiler", "hologram_text.h": "compiler",
           "hologram_image.h": "compiler"}  # the others are the runtime's
OUTPUT = os.path.join(ROOT, "include", "hologram.json")
WIDTH = 120  # columns of a line of the file, where a text is not longer

TOKEN = re.compile(r"""
    (?P<space>[ \t\\]+) | (?P<line>\n) | (?P<comment>//[^\n]*|/\*.*?\*/) | (?P<directive>\#(?:[^\n\\/]|\\\n|\\.|/(?!/))*) |
    (?P<word>[A-Za-z_]\w*) | (?P<number>\d\w*) | (?P<string>"(?:[^"\\]|\\.)*") | (?P<mark><<|[-+*/%<>|&=(){}\[\];,.])
""", re.VERBOSE | re.DOTALL)
QUALIFIERS = {"const", "volatile", "struct", "enum", "unsigned", "signed", "long", "short"}


class NotUnderstood(Exception):
    """A line of a header that this tool cannot read."""


class Token:
    def __init__(self, kind, text, line, column):
        self.kind, self.text, self.line, self.column = kind, text, line, column


def tokens_of(text, name, line=1):
    """The tokens of a text; `line` is the number of its first line."""
    at, start = 0, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise NotUnderstood(f"{name}:{line}: {text[at:at + 20]!r} is no token of C that is known here")
        if match.lastgroup not in ("space", "line"):
            yield Token(match.lastgroup, match.group(), line, at - start)
        newlines = match.group().count("\n")
        if newlines:
            line, start = line + newlines, at + match.group().rindex("\n") + 1
        at = match.end()


# ---- comments

def plain(comment):
    """The words of a comment; "" for what is no text: lines between sections, switches of clang-format."""
    text = comment[2:].rstrip("*/") if comment.startswith("/*") else comment[2:]
    text = " ".join(text.split())
    return "" if text.startswith("----") or text.startswith("clang-format") else text


class Comments:
    """Which comments stand alone on their lines, and which behind code."""

    def __init__(self, tokens):
        code = {}
        for token in tokens:
            if token.kind != "comment":
                code[token.line] = max(code.get(token.line, -1), token.column)
        self.alone, self.behind, self.goes_on = {}, {}, {}
        for token in (t for t in tokens if t.kind == "comment"):
            if code.get(token.line, token.column) < token.column:
                self.behind[token.line] = token
            else:
                self.alone[token.line] = token
        for line in sorted(self.alone):  # a comment behind code goes on below, at the same column
            token, above = self.alone[line], self.behind.get(line - 1) or self.goes_on.get(line - 1)
            if above and above.column == token.column:
                self.goes_on[line] = token

    def front_of(self, line):
        words, line = [], line - 1
        while line in self.alone and line not in self.goes_on:
            words.insert(0, plain(self.alone[line].text))
            line -= 1
        return " ".join(filter(None, words))

    def back_of(self, token):
        comment = self.behind.get(token.line)
        if not comment or comment.column < token.column:
            return ""
        words, line = [plain(comment.text)], token.line + 1
        while line in self.goes_on:
            words.append(plain(self.goes_on[line].text))
            line += 1
        return " ".join(filter(None, words))


def joined(*texts):
    return " ".join(filter(None, texts))


# ---- numbers

OPERATIONS = {ast.LShift: operator.lshift, ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitOr: operator.or_}


def number(text, known):
    """The value of a constant expression; None when it is none."""
    text = re.sub(r"\bU?INT\d+_C\b", "", text)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", text)

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return known[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            return OPERATIONS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(text)

    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, KeyError):
        return None


# ---- X-macros: a list of rows, each of which is a value

class Macro:
    """#define NAME(X) X(ID, 0, "text") ...: its rows, with the comment behind each."""

    def __init__(self, body, name, line):
        self.rows, cells, depth = [], None, 0
        for token in tokens_of(body, name, line):
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.kind == "comment":
                self.rows[-1] = (self.rows[-1][0], plain(token.text))
            elif token.text == "(" and depth == 1:
                cells = [""]
            elif token.text == ")" and depth == 0:
                self.rows.append((cells, ""))
                cells = None
            elif cells is not None:
                cells = cells + [""] if token.text == "," else cells[:-1] + [joined(cells[-1], token.text)]
            elif token.text != "X":
                raise NotUnderstood(f"{name}:{token.line}: {token.text!r} between rows of a macro")


def cell_value(text, known):
    return json.loads(text) if text.startswith('"') else number(text, known)


def macro_values(macro, params, body, known):
    """Each row as a value of an enum, by a macro as `#define X(id, value, text) HOLO_##id = value,`."""
    match = re.fullmatch(r"(\w*)##(\w+) = (\w+),", body)
    if not match:
        raise NotUnderstood(f"{body!r} is not of the form NAME_##id = value,")
    for cells, doc in macro.rows:
        cell = dict(zip(params, cells))
        value = {"name": match.group(1) + cell.pop(match.group(2)), "value": number(cell.pop(match.group(3)), known)}
        value.update((key, cell_value(text, known)) for key, text in cell.items())
        yield {**value, "doc": doc}


# ---- declarations

def spelled(words):
    """A type with one space between words and none between stars: `const char *const *`."""
    text = " ".join(words)
    return re.sub(r"\* (?=\*)", "*", text).replace("* const", "*const")


class Header:
    """Reads one header and adds what it declares to `api`."""

    def __init__(self, name, text, api):
        self.name, self.api = name, api
        # What only C++ sees declares nothing.
        text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
        every = list(tokens_of(text, name))
        self.comments = Comments(every)
        self.tokens = [t for t in every if t.kind != "comment"]
        self.macros, self.row_macro, self.at = {}, None, 0
        while self.at < len(self.tokens):
            self.declaration()

    def fail(self, why):
        at = min(self.at, len(self.tokens) - 1)
        raise NotUnderstood(f"{self.name}:{self.tokens[at].line}: {why}")

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead].text if self.at + ahead < len(self.tokens) else ""

    def take(self, *texts):
        if texts and self.peek() not in texts:
            self.fail(f"{' or '.join(texts)} expected, and not {self.peek()!r}")
        self.at += 1
        return self.tokens[self.at - 1]

    def word(self):
        if self.tokens[self.at].kind != "word":
            self.fail(f"a name expected, and not {self.peek()!r}")
        return self.take().text

    def declaration(self):
        token = self.tokens[self.at]
        ahead = [self.peek(i) for i in range(4)]
        if token.kind == "directive":
            self.directive(self.take())
        elif ahead[0] == "HOLO_API":
            self.function()
        elif ahead[:2] == ["typedef", "struct"]:
            self.struct() if ahead[3] == "{" else self.object()
        elif ahead[:2] == ["typedef", "enum"]:
            self.enum()
        elif ahead[:2] == ["enum", "{"]:
            self.loose_enum()
        elif ahead[0] == "typedef":
            self.callback()
        else:
            self.fail(f"a declaration cannot begin with {token.text!r}")

    def directive(self, token):
        text = token.text.replace("\\\n", "\n")
        match = re.match(r"#define (\w+_MAP)\(X\)(.*)", text, re.DOTALL)
        if match:
            self.macros[match.group(1)] = Macro(match.group(2), self.name, token.line)
            return
        match = re.match(r"#define X\(([^)]*)\) (.*)", text)
        if match:
            self.row_macro = (match.group(1).replace(" ", "").split(","), match.group(2).strip())
            return
        match = re.match(r"#define (HOLO_\w+) +(.*)", text)
        value = number(match.group(2), self.api.known) if match else None
        if value is not None:
            doc = joined(self.comments.front_of(token.line), self.comments.back_of(token))
            self.api.constant(match.group(1), value, self.name, doc)

    # A type, a name and what is behind it, as of a field or a parameter.
    def base(self):
        words = [self.word()]
        while words[-1] in QUALIFIERS:
            words.append(self.word())
        while self.peek() == "const":
            words.insert(0, self.take().text)
        return words

    def declarator(self, base):
        words = list(base)
        while self.peek() in ("*", "const"):
            words.append(self.take().text)
        if self.peek() == "(":
            return self.pointer_to_function(words)
        one, sizes = {"name": self.word(), "type": spelled(words)}, []
        while self.peek() == "[":
            self.take()
            text = ""
            while self.peek() != "]":
                text += self.take().text
            self.take("]")
            sizes.append(number(text, self.api.known))
        if len(sizes) > 1 or None in sizes:
            self.fail(f"the size of the array {one['name']} is no number, or it has several")
        return {**one, "array": sizes[0] if sizes else None}

    def pointer_to_function(self, words):
        self.take("(")
        self.take("*")
        name = self.word()
        self.take(")")
        params = self.params()
        kind = f"{spelled(words)} (*)({', '.join(p['type'] for p in params)})".replace("* (*)", "*(*)")
        return {"name": name, "type": kind, "array": None, "returns": spelled(words), "params": params}

    def params(self):
        self.take("(")
        if self.peek() == "void" and self.peek(1) == ")":
            self.at += 2
            return []
        params = []
        while not params or self.take(",", ")").text == ",":
            param = self.declarator(self.base())
            if param["array"] is not None:  # to a function an array is where it begins
                param["type"] += " *"
            else:
                del param["array"]
            params.append(param)
        return params

    def docs(self, first, last):
        return joined(self.comments.front_of(first.line), self.comments.back_of(last))

    def function(self):
        first = self.take("HOLO_API")
        must = self.peek() == "HOLO_MUST" and bool(self.take())
        words = self.base()
        while self.peek() in ("*", "const"):
            words.append(self.take().text)
        name, params = self.word(), self.params()
        doc = self.docs(first, self.take(";"))
        self.api.functions.append({"name": name, "header": self.name, "library": LIBRARY.get(self.name, "runtime"), "doc": doc,
                                   "must_check": must, "returns": spelled(words), "params": params})

    def callback(self):
        first = self.take("typedef")
        words = self.base()
        while self.peek() == "*":
            words.append(self.take().text)
        one = self.pointer_to_function(words)
        doc = self.docs(first, self.take(";"))
        self.api.callbacks.append({"name": one["name"], "header": self.name, "doc": doc, "returns": one["returns"],
                                   "params": one["params"]})

    def object(self):
        first = self.take("typedef")
        self.take("struct")
        name = self.word()
        self.take(name)
        self.api.objects.append({"name": name, "header": self.name, "doc": self.docs(first, self.take(";"))})

    def struct(self):
        first = self.take("typedef")
        self.take("struct")
        name, opening, fields = self.word(), self.take("{"), []
        while self.peek() != "}":
            begin, base, some = self.tokens[self.at], self.base(), []
            while not some or self.take(",", ";").text == ",":
                some.append(self.declarator(base))
            doc = self.docs(begin, self.tokens[self.at - 1])
            fields += [{**field, "doc": doc} for field in some]
        self.take("}")
        self.take(name)
        doc = joined(self.comments.front_of(first.line), self.comments.back_of(opening), self.comments.back_of(self.take(";")))
        self.api.structs.append({"name": name, "header": self.name, "doc": doc, "fields": fields})

    def values(self):
        """What is between the braces of an enum."""
        opening, values = self.take("{"), []
        while self.peek() != "}":
            if self.tokens[self.at].kind == "directive":
                self.directive(self.take())
            elif self.peek() in self.macros:
                macro = self.macros[self.take().text]
                for text in "(X)":
                    self.take(text)
                values += macro_values(macro, *self.row_macro, self.api.known)
            else:
                values.append(self.value(opening, values))
            self.api.known.update((v["name"], v["value"]) for v in values)
        self.take("}")
        return opening, values

    def value(self, opening, values):
        first, text = self.tokens[self.at], ""
        name = self.word()
        if self.peek() == "=":
            self.take()
            while self.peek() not in (",", "}"):
                text = joined(text, self.take().text)
        value = number(text, self.api.known) if text else values[-1]["value"] + 1 if values else 0
        if value is None:
            self.fail(f"the value of {name} is no number")
        last = self.take() if self.peek() == "," else self.tokens[self.at - 1]
        return {"name": name, "value": value, "doc": "" if first.line == opening.line else self.docs(first, last)}

    def enum(self):
        first = self.take("typedef")
        self.take("enum")
        name = self.word()
        opening, values = self.values()
        self.take(name)
        last = self.take(";")
        behind = self.comments.back_of(opening) if last.line != opening.line else ""
        doc = joined(self.comments.front_of(first.line), behind, self.comments.back_of(last))
        self.api.enums.append({"name": name, "header": self.name, "doc": doc, "values": values})

    def loose_enum(self):
        first = self.take("enum")
        values = self.values()[1]
        doc = self.docs(first, self.take(";"))
        for value in values:
            self.api.constant(value["name"], value["value"], self.name, joined(doc, value["doc"]))


# ---- the whole

class Api:
    def __init__(self):
        self.known = {}  # names of numbers
        self.constants, self.enums, self.objects, self.structs, self.callbacks, self.functions = [], [], [], [], [], []

    def constant(self, name, value, header, doc):
        self.known[name] = value
        self.constants.append({"name": name, "value": value, "header": header, "doc": doc})

    def roles(self):
        """Says of each parameter whether it takes something in, gives something out, or is for the error."""
        objects = {one["name"] for one in self.objects}
        for function in self.functions + self.callbacks:
            for param in function["params"]:
                gives = re.match(r"out(_|$)", param["name"]) and param["type"].endswith("*")
                fixed = param["type"].startswith("const ") and param["type"].count("*") == 1
                is_object = param["type"].replace("*", "").strip() in objects and param["type"].count("*") == 1
                param["role"] = ("error" if param["type"] == "HoloError *" else
                                 "out" if gives and not fixed and not is_object else "in")

    def destroyers(self):
        for one in self.objects + self.structs:
            names = [f["name"] for f in self.functions if re.search("_(destroy|close)$", f["name"]) and f["returns"] == "void" and
                     [p["type"] for p in f["params"]] == [one["name"] + " *"]]
            if names:
                one["destroy"] = names[0]
            elif one in self.objects:
                raise NotUnderstood(f"{one['header']}: nothing destroys a {one['name']}")

    def described(self):
        self.roles()
        self.destroyers()
        version = ".".join(str(self.known[f"HOLO_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
        return {"version": version, "headers": HEADERS, "constants": self.constants, "enums": self.enums, "objects": self.objects,
                "structs": self.structs, "callbacks": self.callbacks, "functions": self.functions}


def described(texts):
    """The description of headers: (name, text) of each."""
    api = Api()
    for name, text in texts:
        Header(name, text, api)
        if len(re.findall(r"^HOLO_API ", text, re.MULTILINE)) != len([f for f in api.functions if f["header"] == name]):
            raise NotUnderstood(f"{name}: not every function was seen")
    return api.described()


def written(value, indent=0):
    """JSON in lines of at most WIDTH, where that is possible."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + indent <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return text
    rows = ([json.dumps(key) + ": " + written(one, indent + 2) for key, one in value.items()] if isinstance(value, dict) else
            [written(one, indent + 2) for one in value])
    left, right = "{}" if isinstance(value, dict) else "[]"
    inside = (",\n" + " " * (indent + 2)).join(rows)
    return f"{left}\n{' ' * (indent + 2)}{inside}\n{' ' * indent}{right}"


def read_headers():
    for name in HEADERS:
        with open(os.path.join(ROOT, "include", name), encoding="utf-8") as file:
            yield name, file.read()


def main():
    parser = argparse.ArgumentParser(description="Describes the C API: include/hologram.json, from the public headers.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file is not what the headers say")
    parser.add_argument("--output", default=OUTPUT, metavar="FILE")
    args = parser.parse_args()
    try:
        text = written(described(read_headers())) + "\n"
    except NotUnderstood as problem:
        sys.exit(f"api.py: {problem}")
    if args.check:
        with open(args.output, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("include/hologram.json: not what the headers say (make api)")
        return
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
