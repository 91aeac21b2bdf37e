#!/usr/bin/env python3
"""Kernels by Python itself: the kernel language is a part of Python, and must mean the same.

usage: kernel_python.py run FILE      runs the kernel `k` of the file in one lane and prints y as `hologram kernel run` does
       kernel_python.py random SEED   prints a kernel made up of loops, branches and whole numbers
"""

import random
import sys

NAMES = ["a", "b", "c", "d"]


def run(path):
    language = {"DeviceArray": {int: None}, "i64": int, "kernel": lambda f: f, "inline": lambda f: f,
                "get_global_id": lambda: 0, "abs": abs, "min": min, "max": max, "len": len}
    exec(open(path).read(), language)
    y = [0] * 8
    language["k"](y, 5)
    print("y: i64[8] = " + ", ".join(map(str, y)))


class Maker:
    """Every value is kept below a thousand, so that nothing wraps."""

    def __init__(self, seed):
        self.random, self.lines, self.loops = random.Random(seed), [], 0

    def value(self, depth=0):
        r = self.random
        kind = r.randrange(9 if depth < 3 else 2)
        if kind == 0:
            return str(r.randrange(-9, 10)) if r.randrange(2) else f"({r.randrange(-9, 0)})"
        if kind == 1:
            return r.choice(NAMES + ["n"])
        a, b = self.value(depth + 1), self.value(depth + 1)
        return [f"({a} + {b})", f"({a} - {b})", f"({a} * {b} % 1000)", f"({a} // {r.choice([-7, -4, -1, 2, 3, 8, 10])})",
                f"({a} % {r.choice([-8, -5, 1, 4, 16, 11])})", f"y[({a}) % 8]",
                f"({a} if {self.condition(depth + 1)} else {b})"][kind - 2]

    def condition(self, depth=0):
        r = self.random
        compare = lambda: f"{self.value(depth + 1)} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.value(depth + 1)}"
        kind = r.randrange(6)
        if kind == 0 and depth < 2:
            return f"({self.condition(depth + 1)} and {self.condition(depth + 1)})"
        if kind == 1 and depth < 2:
            return f"({self.condition(depth + 1)} or {self.condition(depth + 1)})"
        if kind == 2 and depth < 2:
            return f"(not {self.condition(depth + 1)})"
        return f"({r.choice(NAMES)} < {r.choice(NAMES)} <= {r.randrange(20)})" if kind == 3 else f"({compare()})"

    def add(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent, depth, in_loop):
        for _ in range(self.random.randrange(1, 4)):
            if self.statement(indent, depth, in_loop):
                return

    def statement(self, indent, depth, in_loop):
        """True where nothing may follow."""
        r = self.random
        kind = r.randrange(10)
        if kind < 4 or depth > 3:
            self.add(indent, f"{r.choice(NAMES)} = ({self.value()}) % 1000")
        elif kind == 4:
            self.add(indent, f"y[({self.value()}) % 8] = ({self.value()}) % 1000")
        elif kind == 5:
            a, b = r.sample(NAMES, 2)
            self.add(indent, f"t = {a}")
            self.add(indent, f"{a} = {b}")
            self.add(indent, f"{b} = t")
        elif kind == 6:
            self.add(indent, f"if {self.condition()}:")
            self.block(indent + 1, depth + 1, in_loop)
            if r.randrange(2):
                self.add(indent, "else:")
                self.block(indent + 1, depth + 1, in_loop)
        elif kind == 7:
            self.loops += 1
            bounds = r.choice(["4", "n", f"{r.randrange(-3, 3)}, {r.randrange(0, 9)}, {r.randrange(1, 4)}",
                               f"{r.randrange(0, 9)}, {r.randrange(-3, 3)}, -{r.randrange(1, 4)}"])
            self.add(indent, f"for i{self.loops} in range({bounds}):")
            self.add(indent + 1, f"{r.choice(NAMES)} += i{self.loops}")
            self.block(indent + 1, depth + 1, True)
        elif kind == 8:
            self.loops += 1
            count = f"w{self.loops}"
            self.add(indent, f"{count} = 0")
            self.add(indent, f"while {count} < {r.randrange(1, 6)} and {self.condition()}:")
            self.add(indent + 1, f"{count} += 1")
            self.block(indent + 1, depth + 1, True)
        elif in_loop:
            self.add(indent, f"if {self.condition()}:")
            self.add(indent + 1, f"{r.choice(NAMES)} = ({self.value()}) % 1000")
            self.add(indent + 1, r.choice(["break", "continue"]))
        else:
            self.add(indent, f"y[0] += ({self.value()}) % 1000")
        return False


def make(seed):
    m = Maker(seed)
    m.add(0, "def k(y: DeviceArray['i64'], n: i64):")
    for i, name in enumerate(NAMES):
        m.add(1, f"{name}: i64 = {i + 1}")
    m.add(1, "t: i64 = 0")
    for _ in range(8):
        m.statement(1, 0, False)
    for i, name in enumerate(NAMES):
        m.add(1, f"y[{i + 4}] += {name}")
    print("\n".join(m.lines).replace("'i64'", "i64"))


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2])
    else:
        make(int(sys.argv[2]))
