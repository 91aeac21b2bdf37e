#!/usr/bin/env python3
"""Writes the Unicode tables of src/text/unicode.h as C, from the files of Debian's package unicode-data
and from unicode_newer.txt, which has what came later.

    python3 tools/unicode_tables.py [/usr/share/unicode] > build/unicode_tables.c

Properties are in two stages: a page of 128 code points, then an index into the distinct records. Mappings are sorted runs.
"""
import os
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co").split()
BREAKS = "Other CR LF Control Extend ZWJ Regional_Indicator Prepend SpacingMark L V T LV LVT".split()
FLAGS = ["White_Space", "Alphabetic", "Join_Control", "Extended_Pictographic", "Uppercase", "Lowercase"]
HAS_LOWER, HAS_CANONICAL, HAS_COMPAT, SINCE_9, SINCE_10, SINCE_17 = 64, 128, 256, 512, 1024, 2048
SIZE = 0x110000


def rows(name, root=ROOT):
    """The fields of each line, with the range of code points that the first is."""
    path = os.path.join(root, name)
    try:
        lines = open(path, encoding="utf-8").read().splitlines()
    except OSError:
        sys.exit(f"{path} is not there: install Debian's package unicode-data (make deps)")
    for line in lines:
        fields = [f.strip() for f in line.split("#")[0].split(";")]
        if len(fields) < 2:
            continue
        codes = fields[0].split("..")
        try:
            yield range(int(codes[0], 16), int(codes[-1], 16) + 1), fields[1:]
        except ValueError:
            continue  # a line of a test or of an alias


def numbers(text):
    return [int(x, 16) for x in text.split()]


category, combining, flags = bytearray(SIZE), bytearray(SIZE), [0] * SIZE
lower, upper, title, canonical, compat = {}, {}, {}, {}, {}


def read_characters():
    first = 0
    for codes, f in rows("UnicodeData.txt"):
        code = codes[0]
        if f[0].endswith(", First>"):
            first = code
            continue
        begin = first if f[0].endswith(", Last>") else code
        for c in range(begin, code + 1):
            category[c] = CATEGORIES.index(f[1])
            combining[c] = int(f[2])
        if f[4].startswith("<"):
            compat[code] = numbers(f[4].split(">")[1])
        elif f[4]:
            canonical[code] = numbers(f[4])
        for table, column in ((lower, 12), (upper, 11), (title, 13)):
            if f[column]:
                table[code] = numbers(f[column])
    for codes, f in rows("SpecialCasing.txt"):
        if len(f) == 4 and not f[3]:  # without a condition
            for table, column in ((lower, 0), (upper, 2), (title, 1)):
                if numbers(f[column]) != table.get(codes[0], list(codes)):
                    table[codes[0]] = numbers(f[column])


def expand(code, tables):
    """The full decomposition of a code point."""
    for table in tables:
        if code in table:
            return [x for c in table[code] for x in expand(c, tables)]
    return [code]


def read_property(name, column, names, out):
    for codes, f in rows(name):
        if f[column] in names:
            for c in codes:
                out[c] |= 1 << FLAGS.index(f[column])


def read_values(name, names, out):
    for codes, f in rows(name):
        if f[0] not in names:
            names.append(f[0])
        for c in codes:
            out[c] = names.index(f[0])


def listed(name, values, kind="uint32_t", per=16, static=""):
    print(f"{static}const {kind} {name}[] = {{")
    for i in range(0, len(values), per):
        print("    " + ", ".join(str(v) for v in values[i:i + per]) + ",")
    print("};")


def chain(table, codes, at, step):
    """How many code points from codes[at] on, each a step behind the last, differ from what they become by one number."""
    end = at
    while (end < len(codes) and codes[end] == codes[at] + (end - at) * step and len(table[codes[end]]) == 1
           and table[codes[end]][0] - codes[end] == table[codes[at]][0] - codes[at]):
        end += 1
    return end - at


def mapping(name, table):
    """Runs of code points that become others by adding one number, and runs whose numbers are in the pool."""
    codes, pool, runs, at = sorted(table), [], [], 0
    while at < len(codes):
        step = max((1, 2), key=lambda s: chain(table, codes, at, s))
        count, size = chain(table, codes, at, step), len(table[codes[at]])
        end = at + 1
        while end < len(codes) and codes[end] == codes[end - 1] + 1 and len(table[codes[end]]) == size and chain(table, codes, end, 1) < 3:
            end += 1
        if count > 2 or (count and end == at + 1):
            runs.append("{%d, %d, %d, %d, 0}" % (codes[at], table[codes[at]][0] - codes[at], count, step))
            at += count
            continue
        runs.append("{%d, %d, %d, 1, %d}" % (codes[at], len(pool), end - at, size))
        pool += [x for code in codes[at:end] for x in table[code]]
        at = end
    listed(f"{name}_pool", pool or [0], "uint32_t", static="static ")
    listed(f"{name}_runs", runs, "HoloUnicodeRun", 8, static="static ")
    print(f"const HoloUnicodeMap holo_unicode_{name} = {{{name}_runs, {name}_pool, {len(runs)}}};")


def stages(script, breaks):
    records, index, pages, first, second = {}, [], {}, [], []
    for c in range(SIZE):
        key = (category[c], combining[c], script[c], breaks[c], flags[c])
        index.append(records.setdefault(key, len(records)))
    for at in range(0, SIZE, 128):
        page = tuple(index[at:at + 128])
        if page not in pages:
            pages[page] = len(second) // 128
            second += page
        first.append(pages[page])
    listed("holo_unicode_first", first, "uint16_t", 24)
    listed("holo_unicode_second", second, "uint16_t", 24)
    listed("holo_unicode_records", ["{%d, %d, %d, %d, %d}" % r for r in records], "HoloUnicodeRecord", 8)


def read_newer(script, script_names, breaks):
    """What the files are too old for. Letters are alphabetic; marks extend what is before them."""
    known = bytes(category)
    for codes, f in rows("unicode_newer.txt", os.path.dirname(os.path.abspath(__file__))):
        for c in codes:
            if known[c]:
                continue
            if f[0] == "lower":
                lower[c] = [int(f[1], 16) + c - codes[0]]
                continue
            category[c] = CATEGORIES.index(f[0])
            if f[2] not in script_names:
                script_names.append(f[2])
            script[c] = script_names.index(f[2])
            flags[c] |= SINCE_9 | SINCE_10 | (SINCE_17 if f[1] == "17" else 0)
            if f[0][0] == "L" or f[0] == "Nl":
                flags[c] |= 1 << FLAGS.index("Alphabetic")
            if f[0] in ("Lu", "Ll"):
                flags[c] |= 1 << FLAGS.index("Uppercase" if f[0] == "Lu" else "Lowercase")
            if f[0] in ("Mn", "Mc"):
                breaks[c] = BREAKS.index("Extend" if f[0] == "Mn" else "SpacingMark")


def names_of(property_name, names):
    """Pairs of a name, as people write it, and its number."""
    found = []
    for line in open(os.path.join(ROOT, "PropertyValueAliases.txt"), encoding="utf-8"):
        fields = [f.strip() for f in line.split("#")[0].split(";")]
        if fields[0] == property_name:
            for name in fields[1:]:
                for known in fields[1:]:
                    if known in names:
                        found.append((name, names.index(known)))
    return sorted(set(found))


def main():
    read_characters()
    script, breaks, script_names = bytearray(SIZE), bytearray(SIZE), ["Unknown"]
    read_values("Scripts.txt", script_names, script)
    read_values("auxiliary/GraphemeBreakProperty.txt", list(BREAKS), breaks)
    read_property("PropList.txt", 0, FLAGS[:1] + FLAGS[2:3], flags)
    read_property("DerivedCoreProperties.txt", 0, ["Alphabetic", "Uppercase", "Lowercase"], flags)
    read_property("emoji/emoji-data.txt", 0, ["Extended_Pictographic"], flags)
    for codes, f in rows("DerivedAge.txt"):
        for c in codes:
            age = float(f[0])
            flags[c] |= (SINCE_9 if age > 8 else 0) | (SINCE_10 if age > 9 else 0) | (SINCE_17 if age > 16 else 0)
    read_newer(script, script_names, breaks)
    full_canonical = {c: expand(c, [canonical]) for c in canonical}
    full_compat = {c: expand(c, [canonical, compat]) for c in set(canonical) | set(compat)}
    full_compat = {c: d for c, d in full_compat.items() if d != full_canonical.get(c)}
    for table, flag in ((lower, HAS_LOWER), (full_canonical, HAS_CANONICAL), (full_compat, HAS_COMPAT)):
        for c in table:
            flags[c] |= flag
    excluded = {c for codes, f in rows("DerivedNormalizationProps.txt") if f[0] == "Full_Composition_Exclusion" for c in codes}
    pairs = sorted((d[0], d[1], c) for c, d in canonical.items() if len(d) == 2 and c not in excluded)
    folds = {c[0]: [int(f[1], 16)] for c, f in rows("CaseFolding.txt") if f[0] in "CS"}
    print("// Written by tools/unicode_tables.py.\n#include \"text/unicode.h\"\n")
    stages(script, breaks)
    for name, table in (("lower", lower), ("upper", upper), ("title", title), ("canonical", full_canonical), ("compat", full_compat), ("folds", folds)):
        mapping(name, table)
    listed("holo_unicode_pairs", ["{%d, %d, %d}" % p for p in pairs], "HoloUnicodePair", 8)
    print(f"const int holo_unicode_pair_count = {len(pairs)};")
    named = names_of("sc", script_names)
    listed("holo_unicode_scripts", ['{"%s", %d}' % n for n in named], "HoloUnicodeName", 6)
    print(f"const int holo_unicode_script_count = {len(named)};")


main()
