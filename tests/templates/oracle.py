#!/usr/bin/env python3
"""Renders templates with Jinja2, set up as HuggingFace's transformers sets it up: the oracle of tests/unit/text/template_test.c.

    python3 tests/templates/oracle.py            # writes golden.jsonl anew (needs Debian's python3-jinja2)
    python3 tests/templates/oracle.py --check    # fails if it would change

The first line of golden.jsonl is the list of contexts. Every other line is one case: a template, the number of a context, and either
`text`, or `error`: the message of raise_exception, or "".
Cases come from the *.jinja files here, each with every context of contexts.json, and from the lines of snippets.txt. Those of
mutable.txt change lists and dicts, which transformers forbids and Hologram allows.
"""
import datetime
import json
import os
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

HERE = os.path.dirname(os.path.abspath(__file__))
NOW = datetime.datetime(2024, 7, 4, 15, 7, 9)


class Raised(Exception):
    """What raise_exception of a template says."""


class Generation(jinja2.ext.Extension):
    """{% generation %} marks what the assistant says, and changes nothing else."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_inside"), [], [], body).set_lineno(line)

    def _inside(self, caller):
        return caller()


def raise_exception(message):
    raise Raised(str(message))


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment(kind=ImmutableSandboxedEnvironment):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


def render(template, context, kind=ImmutableSandboxedEnvironment):
    """What the case gives: {"text": ...} or {"error": ...}."""
    try:
        return {"text": environment(kind).from_string(template).render(**context)}
    except Raised as e:
        return {"error": str(e)}
    except Exception:
        return {"error": ""}


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8", newline="") as f:
        return f.read()


def snippets(name):
    """The templates of a file: one a line, as JSON strings or plain."""
    for line in read(name).split("\n"):
        if line and not line.startswith("##"):
            yield json.loads(line) if line.startswith('"') else line


def cases(chats):
    """Templates, each with the number of its context and its environment. Context 0 is that of the snippets."""
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".jinja"):
            for number in range(1, chats + 1):
                yield read(name), number, ImmutableSandboxedEnvironment
    for template in snippets("snippets.txt"):
        yield template, 0, ImmutableSandboxedEnvironment
    for template in snippets("mutable.txt"):
        yield template, 0, SandboxedEnvironment


def main():
    given = json.loads(read("contexts.json"))
    contexts = [given["snippets"]] + given["chats"]
    lines = [json.dumps(contexts) + "\n"]
    for template, number, kind in cases(len(given["chats"])):
        case = {"template": template, "context": number, **render(template, contexts[number], kind)}
        lines.append(json.dumps(case) + "\n")
    path = os.path.join(HERE, "golden.jsonl")
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="utf-8") as f:
            sys.exit("golden.jsonl is not what Jinja2 gives" if f.readlines() != lines else 0)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(lines)


if __name__ == "__main__":
    main()
