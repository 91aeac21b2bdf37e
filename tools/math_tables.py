#!/usr/bin/env python3
"""Writes src/base/math/math_tables.c: the tables and polynomials of the elementary functions.

    python3 tools/math_tables.py > src/base/math/math_tables.c

Everything is computed here to 100 decimal digits from series, by the standard library alone. A polynomial is the one
that meets its function at the Chebyshev nodes of its interval, which is within a small factor of the best one of its
degree; the error that each comment states was measured after its coefficients were rounded to doubles.
"""
import re
from decimal import Decimal as D, getcontext

getcontext().prec = 100
TINY = D(10) ** -95


# ---- functions, to about 95 digits

def series(term, following):
    """The sum of term, following(term, 1), following(that, 2), ..."""
    total, n = D(0), 0
    while abs(term) > TINY:
        total, n = total + term, n + 1
        term = following(term, n)
    return total


def sin(x): return series(x, lambda t, n: -t * x * x / ((2 * n) * (2 * n + 1)))
def cos(x): return series(D(1), lambda t, n: -t * x * x / ((2 * n - 1) * (2 * n)))
def asin(x): return series(x, lambda t, n: t * x * x * (2 * n - 1) ** 2 / ((2 * n) * (2 * n + 1)))


def tanh(x): return ((2 * x).exp() - 1) / ((2 * x).exp() + 1)


def atan(x):
    for _ in range(3): x = x / (1 + (1 + x * x).sqrt())  # half the angle, three times
    return 8 * series(x, lambda t, n: -t * x * x * (2 * n - 1) / (2 * n + 1))


def erf(x): # all terms are positive
    return 2 / PI.sqrt() * (-x * x).exp() * series(x, lambda t, n: t * 2 * x * x / (2 * n + 1))


def pi_bits(bits):
    """pi * 2^bits as an integer, by Machin's formula in integers."""
    def atan_inverse(n):
        term = total = (1 << bits + 32) // n
        for k in range(3, 2 * bits, 2):
            term //= -n * n
            total += term // k
        return total
    return 16 * atan_inverse(5) - 4 * atan_inverse(239) >> 32


PI = D(pi_bits(400)) / D(2) ** 400
LN2 = D(2).ln()


# ---- rounding

def on_grid(x, bits):
    """x rounded to a multiple of 2^-bits."""
    return D(int((x * D(2) ** bits).to_integral_value())) / D(2) ** bits


def pair(x, bits=None):
    """x as a sum of two doubles, the first on a grid of 2^-bits."""
    hi = on_grid(x, bits) if bits else D(float(x))
    return [hi, x - hi]


def at_zero(f):
    """f, which is not defined at 0, with its value nearby there."""
    return lambda x: f(x if abs(x) > D(10) ** -30 else D(10) ** -30)


# ---- polynomials

def interpolate(f, low, high, count):
    """The coefficients, lowest first, of the polynomial that meets f at `count` Chebyshev nodes."""
    node = [(low + high) / 2 + (high - low) / 2 * cos(PI * (2 * i + 1) / (2 * count)) for i in range(count)]
    slope = [f(x) for x in node] # Newton's divided differences
    for k in range(1, count):
        for i in range(count - 1, k - 1, -1):
            slope[i] = (slope[i] - slope[i - 1]) / (node[i] - node[i - k])
    c = [D(0)]
    for i in range(count - 1, -1, -1): # c = c * (x - node) + slope
        c = [(c[k - 1] if k else slope[i]) - (node[i] * c[k] if k < len(c) else 0) for k in range(len(c) + 1)]
    return [x if abs(x) > D(10) ** -25 else D(0) for x in c[:count]]


def worst(f, c, low, high, scale):
    """The largest |scale(x) (polynomial - f)| on the interval, as a power of two."""
    error = D(10) ** -40
    for i in range(201):
        x = low + (high - low) * i / 200
        value = D(0)
        for a in reversed(c): value = value * x + D(float(a))
        error = max(error, abs(scale(x) * (value - f(x))))
    return "2^%.1f" % float(error.ln() / LN2)


# ---- printing

def number(x): return re.sub(r"\.?0*p", "p", float(x).hex()).replace("p+0", "p0") if x else "0"


def array(comment, name, values, type="double"):
    print(f"\n// {comment}\nconst {type} {name}[] = {{")
    text = [f"0x{x:08x}" for x in values] if type == "uint32_t" else [number(x) for x in values]
    per_line = 8 if type == "uint32_t" else 4
    for i in range(0, len(text), per_line): print("    " + ", ".join(text[i:i + per_line]) + ",")
    print("};")


def rows(comment, name, type, values):
    print(f"\n// {comment}\nconst {type} {name}[] = {{")
    line = ""
    for row in values:
        text = "{" + ", ".join(number(x) for x in row) + "},"
        if line and len(line) + len(text) > 114: line = print("    " + line) or ""
        line += (" " if line else "") + text
        while len(line) > 114: # one long row
            cut = line.rindex(" ", 0, 114)
            line = print("    " + line[:cut]) or "    " + line[cut + 1:]
    print("    " + line + "\n};")


def polynomial(comment, name, f, low, high, count, scale):
    c = interpolate(f, low, high, count)
    array(f"{comment}: off by at most {worst(f, c, low, high, scale)}.", name, c)


# ---- the tables

def exponential():
    step = LN2 / 128
    array("128 / ln 2; ln 2 / 128 in two parts, the first short.", "holo_exp_step", [1 / step] + pair(step, 42))
    polynomial("(e^r - 1 - r) / r^2, |r| <= ln 2 / 256, times r^2", "holo_exp_poly",
               at_zero(lambda r: (r.exp() - 1 - r) / r ** 2), -step / 2, step / 2, 4, lambda r: r * r)
    rows("2^(j / 128), the first part of 27 bits.", "holo_exp_table", "HoloPair",
         [pair((step * j).exp(), 26) for j in range(128)])

    cells = [[0, 0, 0, 1]]
    for i in range(134): # sixteen cells in each binade from 2^-4 on, to 20
        c = (D(i % 16 + 16) + D("0.5")) / 16 * D(2) ** (i // 16 - 4)
        cells.append([c] + pair(tanh(c)) + [1 - tanh(c) ** 2])
    polynomial("(tanh r - r) / r^3 as a polynomial of r^2, |r| <= 1 / 16, times r^2", "holo_tanh_poly",
               at_zero(lambda s: (tanh(s.sqrt()) / s.sqrt() - 1) / s), D(0), D(1) / 256, 5, lambda s: s)
    rows("The middle of the cell, and there tanh in two parts and its slope.", "holo_tanh_table", "HoloTanhCell", cells)


def logarithm():
    cells, reach = [], [D(0), D(0)]
    for i in range(128): # a cell of 7 bits of the fraction; z from 0.6875 to 1.375
        low = D(11) / 16 + D(i) / 256 if i < 80 else 1 + D(i - 80) / 128
        width = D(1) / (256 if i < 80 else 128)
        c = D(1) if i in (79, 80) else low + width / 2
        reach = [min(reach[0], low / c - 1), max(reach[1], (low + width) / c - 1)]
        cells.append([c, 1 / c] + pair(c.ln(), 42))
    f = at_zero(lambda r: ((1 + r).ln() - r + r * r / 2) / r ** 3)
    what = f"(log(1 + r) - r + r^2 / 2) / r^3, {reach[0]:.4f} <= r <= {reach[1]:.4f}, times r"
    array("ln 2 in two parts, the first short.", "holo_log_ln2", pair(LN2, 42))
    array("1 / ln 10 in two parts.", "holo_log10_e", pair(1 / D(10).ln()))
    polynomial(what + "^2", "holo_log_poly", f, reach[0], reach[1], 5, lambda r: r ** 2)
    polynomial(what + "^3", "holo_log_long_poly", f, reach[0], reach[1], 7, lambda r: r ** 3)
    rows("The middle c of the cell, of 9 bits; 1 / c; log c, the first part a multiple of 2^-42.", "holo_log_table",
         "HoloLogCell", cells)


def trigonometry():
    step = PI / 64
    first, rest = pair(step, 35)
    array("64 / pi; pi / 64 in three parts, the first two short.", "holo_trig_step", [1 / step, first] + pair(rest, 66))
    array("2 pi in two parts.", "holo_trig_turn", pair(2 * PI))
    array("pi / 2 in two parts.", "holo_half_pi", pair(PI / 2))
    bits = (1 << 1216 + 1299) // pi_bits(1300) # the largest double needs them all
    array("1 / (2 pi), as words of 32 bits behind the point, after two words before it.", "holo_trig_bits",
          [0, 0] + [bits >> (1216 - 32 * (i + 1)) & 0xFFFFFFFF for i in range(38)], "uint32_t")
    polynomial("(sin r - r) / r^3 as a polynomial of r^2, |r| <= pi / 128, times r^2", "holo_sin_poly",
               at_zero(lambda s: (sin(s.sqrt()) / s.sqrt() - 1) / s), D(0), step * step / 4, 3, lambda s: s)
    polynomial("(cos r - 1) / r^2 as a polynomial of r^2, |r| <= pi / 128, times r^2", "holo_cos_poly",
               at_zero(lambda s: (cos(s.sqrt()) - 1) / s), D(0), step * step / 4, 3, lambda s: s)
    rows("sin(2 pi j / 128), the first part a multiple of 2^-26.", "holo_trig_table", "HoloPair",
         [pair(sin(step * j) if j % 64 else D(0), 26) for j in range(128)])


def inverse_trigonometry():
    cells = [[1, 0, 0, 0]]
    for i in range(80): # eight cells in each binade from 2^-5 to 2^5
        c = (D(i % 8 + 8) + D("0.5")) / 8 * D(2) ** (i // 8 - 5)
        cells.append([1, c] + pair(atan(c)))
    cells.append([0, 1] + pair(PI / 2))
    polynomial("(atan r - r) / r^3 as a polynomial of r^2, |r| <= 1 / 32, times r^2", "holo_atan_poly",
               at_zero(lambda s: (atan(s.sqrt()) / s.sqrt() - 1) / s), D(0), D(1) / 1024, 5, lambda s: s)
    rows("a, b, and in two parts atan(b / a): the middle of the cell.", "holo_atan_table", "HoloAtanCell", cells)
    polynomial("(asin r - r) / r^3 as a polynomial of r^2, |r| <= 1 / 2, times r^2", "holo_asin_poly",
               at_zero(lambda s: (asin(s.sqrt()) / s.sqrt() - 1) / s), D(0), D("0.25"), 14, lambda s: s)


def error_function():
    cells, error = [], D(0)
    for j in range(49):
        center = D(j) / 8
        slope = lambda r: (erf(center + r) - erf(center)) / r
        c = interpolate(slope, D(-1) / 16, D(1) / 16, 10)
        error = max(error, max(abs(r * (sum(D(float(a)) * r ** k for k, a in enumerate(c)) - slope(r)))
                               for r in [D(2 * i - 39) / 640 for i in range(40)]))
        cells.append(pair(erf(center)) + pair(c[0], 25) + c[1:])
    comment = "erf(j / 8 + r), |r| <= 1 / 16: the value at j / 8 in two parts, the slope in two parts, the first a multiple of"
    rows(f"{comment}\n// 2^-25, and the coefficients of r^2 to r^10: off by at most 2^{float(error.ln() / LN2):.1f}.",
         "holo_erf_table", "HoloErfCell", cells)


print("""// math_tables.c - the tables and polynomials of the elementary functions. Written by tools/math_tables.py.
#include "base/math/math_core.h"

// clang-format off""")
exponential()
logarithm()
trigonometry()
inverse_trigonometry()
error_function()
