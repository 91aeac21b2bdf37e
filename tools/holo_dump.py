#!/usr/bin/env python3
"""Reads a .holo file without any code of Hologram: written from src/format/holo.h alone, to keep that page honest. The table of
sections is read from that file.

usage: holo_dump.py FILE [--json | --check]

Prints header, sections, metadata, constants, and each plan with its values and steps. Every offset and index is checked
first; a broken file gets a list of what is wrong and exit status 1. --check prints nothing else. Hashes are not checked:
the standard library has no XXH3 (`hologram verify` does that).
"""

import argparse
import json
import mmap
import os
import re
import struct
import sys

MAGIC = b"\x89HOLO\r\n\x1a"
MAJOR, FLAGS_KNOWN, FLAG_EXACT, PLAN_STATIC, NO_VALUE = 2, 7, 1, 1, 0xFFFFFFFF
SECTION_MUST, SECTION_FLAGS_KNOWN, TARGETS_MAX, ENTRIES_MAX = 1, 1, 64, 256
INPUT_FILL, INPUT_STATE, INPUT_LEAST, INPUT_KNOWN = 0xFFFFFFFF, 1 << 33, 1 << 34, (1 << 35) - 1
DIM_BASE = 0xA5E51B0100000000 - (1 << 64)  # a size of DIM_BASE + n is expression n
DIM_UNKNOWN = DIM_BASE + 0xFFFFFFFF
MAX_RANK, MAX_FAULTS = 16, 20

# The records, field by field; "_" is reserved.
RECORDS = {
    "header": ("<8s2H3IQ2I2Q", "magic major minor header_size flags_must flags_may file_size section_count _ hash0 hash1"),
    "section": ("<2I2Q2Q", "id flags offset size hash0 hash1"),
    "dim": ("<2i2q", "op _ a b"),
    "op": ("<4I", "domain name version _"),
    "plan": ("<10I2Q", "name value_first value_count step_first step_count input_first input_count output_first output_count "
                       "flags arena_bytes naive_bytes"),
    "value": ("<I3Bb2H3IQ", "name dtype kind inner rank storage space size_first step_from step_to at"),
    "step": ("<I2H2I4H4I", "op kernel target name operand_first in_count out_count capture_count attr_count attr_first params "
                        "params_size program"),
    "attr": ("<I2H2IQ", "name kind _ count _ value"),
    "span": ("<2I", "offset size"),
    "tensor": ("<3BbI16q", "dtype kind inner rank constant " + " ".join(f"dim{i}" for i in range(MAX_RANK))),
    "meta": ("<2I", "key value"),
    "constant": ("<3Q2I2Q", "offset size count dtype packed hash0 hash1"),
    "memo": ("<2Q2I", "key0 key1 tensor_first _"),
    "memo_tensor": ("<2BHI2Q2Q16q", "dtype rank _ _ offset size hash0 hash1 " + " ".join(f"dim{i}" for i in range(MAX_RANK))),
    "program": ("<10I", "name doc program program_size lanes lanes_size block_x block_y block_z _"),
    "asset": ("<2I2Q", "name _ offset size"),
    "code": ("<4I4Q", "target module kind _ offset size hash0 hash1"),
    "target": ("<2I", "name _"),
    "entry": ("<2I", "name plan"),
    "note": ("<6I2Q", "pass_ place what why verdict _ count bytes"),
    "u32": ("<I", "value"),
    "i64": ("<q", "value"),
    "byte": ("<B", "value"),
}
RECORD_OF = {  # by the C type of the records
    "char": "byte", "uint8_t": "byte", "uint32_t": "u32", "int64_t": "i64", "HoloDimRecord": "dim", "HoloOpRecord": "op",
    "HoloPlanRecord": "plan", "HoloValueRecord": "value", "HoloStepRecord": "step", "HoloAttrRecord": "attr", "HoloMetaRecord": "meta",
    "HoloConstantRecord": "constant", "HoloNoteRecord": "note", "HoloProgramRecord": "program", "HoloTargetRecord": "target", "HoloAssetRecord": "asset",
    "HoloEntryRecord": "entry", "HoloCodeRecord": "code", "HoloMemoRecord": "memo", "HoloMemoTensor": "memo_tensor",
}
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "format", "holo.h")


class Section:
    """A row of the table of sections."""

    def __init__(self, name, number, kind, need, align):
        self.name, self.number, self.record, self.need, self.align = name, int(number), RECORD_OF[kind], need, int(align)


def section_table(path=HEADER):
    with open(path, encoding="utf-8") as file:
        rows = re.findall(r"^    X\((\w+), *(\d+), *(\w+), *(\w+), *(\d+), *\w+\)", file.read(), re.MULTILINE)
    return [Section(*row) for row in rows]


TABLE = section_table()  # in the order of the file
SECTIONS = {row.number: row for row in TABLE}
NUMBERS = {row.name: row.number for row in TABLE}
VERDICTS = ["made", "not faster", "over budget", "not finite", "not alone", "fails", "turned off", "too long"]
MEMO_PROBES = 16
DTYPES = [  # name, bytes an element
    ("none", 0), ("f32", 4), ("u8", 1), ("i8", 1), ("u16", 2), ("i16", 2), ("i32", 4), ("i64", 8), ("string", 16), ("bool", 1),
    ("f16", 2), ("f64", 8), ("u32", 4), ("u64", 8), ("c64", 8), ("c128", 16), ("bf16", 2), ("f8e4m3fn", 1), ("f8e4m3fnuz", 1),
    ("f8e5m2", 1), ("f8e5m2fnuz", 1), ("u4", 1), ("i4", 1), ("f4e2m1", 1), ("f8e8m0", 1), ("u2", 1), ("i2", 1), ("f6e2m3", 1),
    ("f6e3m2", 1),
]
STRING, I32, I64 = 8, 6, 7
KINDS = ["tensor", "sequence", "optional", "map"]
INPUT, CONSTANT, ARENA, ALIAS, EXPRESSION, HEAP, PART = range(7)
STORAGES = ["input", "constant", "arena", "alias", "expression", "heap", "part"]
DIM_OPS = ["symbol", "+", "*", "//", "min", "max"]
A_INT, A_FLOAT, A_STRING, A_TENSOR, A_GRAPH, A_INTS, A_FLOATS, A_STRINGS, A_TYPE = 1, 2, 3, 4, 5, 6, 7, 8, 11


class Broken(Exception):
    """The file cannot even be cut into sections."""


class Record:
    def __init__(self, names, values):
        self.__dict__.update(zip(names, values))


def size_of(kind):
    return struct.calcsize(RECORDS[kind][0])


def is_symbolic(d):
    return (d & 0xFFFFFFFFFFFFFFFF) >> 32 == (DIM_BASE & 0xFFFFFFFFFFFFFFFF) >> 32


class Archive:
    """A file cut into sections; `records` and `one` read what lies in them."""

    def __init__(self, data):
        self.data = data
        if len(data) < size_of("header") or data[:8] != MAGIC:
            raise Broken("not a .holo file: it does not start with its magic bytes")
        self.header = self.read("header", 0)
        self.check_header()
        self.section = {}
        for i in range(self.header.section_count):
            self.add_section(self.read("section", self.header.header_size + i * size_of("section")))
        for row in TABLE:
            if not self.has(row.name) and (row.need == "REQUIRED" or (row.name.startswith("MEMO_") and self.has_memo())):
                raise Broken(f"section {row.name} is missing")
        strings = self.section[NUMBERS["STRINGS"]]
        if not strings.size or data[strings.offset + strings.size - 1] != 0:
            raise Broken("the texts do not end with a 0 byte")

    def has(self, name):
        return NUMBERS[name] in self.section

    def has_memo(self):
        return any(self.has(row.name) for row in TABLE if row.name.startswith("MEMO_"))

    def check_header(self):
        h = self.header
        if h.major != MAJOR:
            raise Broken(f"format {h.major}.{h.minor}: this program reads {MAJOR}.x")
        if h.flags_must & ~FLAGS_KNOWN:
            raise Broken(f"unknown flags that must be known: {h.flags_must & ~FLAGS_KNOWN:#x}")
        if h.file_size != len(self.data):
            raise Broken(f"the file has {len(self.data)} bytes, its header says {h.file_size}")
        if h.header_size < size_of("header") or h.header_size % 8:
            raise Broken(f"a header of {h.header_size} bytes")
        if h.header_size + h.section_count * size_of("section") > len(self.data):
            raise Broken("the section table lies outside the file")

    def add_section(self, s):
        if s.flags & ~SECTION_FLAGS_KNOWN:
            raise Broken(f"section {s.id} has unknown flags: {s.flags & ~SECTION_FLAGS_KNOWN:#x}")
        row = SECTIONS.get(s.id)
        if row is None and s.flags & SECTION_MUST:
            raise Broken(f"the file needs its section {s.id}, which this program does not know")
        if row is None:
            return  # of a later version: ignored
        if s.id in self.section:
            raise Broken(f"section {row.name} is there twice")
        if s.offset + s.size > len(self.data) or s.offset % row.align:
            raise Broken(f"section {row.name} lies outside the file or is not aligned")
        if s.size % size_of(row.record):
            raise Broken(f"section {row.name} has {s.size} bytes, which is not a number of records")
        self.section[s.id] = s

    def read(self, kind, offset):
        layout, names = RECORDS[kind]
        return Record(names.split(), struct.unpack_from(layout, self.data, offset))

    def count(self, name):
        row = SECTIONS[NUMBERS[name]]
        return self.section[row.number].size // size_of(row.record) if self.has(name) else 0

    def one(self, name, index):
        row = SECTIONS[NUMBERS[name]]
        record = self.read(row.record, self.section[row.number].offset + index * size_of(row.record))
        return record.value if row.record in ("u32", "i64", "byte") else record

    def records(self, name, first=0, count=None):
        return [self.one(name, first + i) for i in range(self.count(name) - first if count is None else count)]

    def text(self, offset):
        start = self.section[NUMBERS["STRINGS"]].offset + offset
        return self.data[start:self.data.find(b"\0", start)].decode("utf-8", "backslashreplace")

    def bytes_start(self):
        return self.section[NUMBERS["BYTES"]].offset

    def bytes_at(self, offset, size):
        start = self.bytes_start() + offset
        return self.data[start:start + size]

    def target(self, number):
        return self.text(self.one("TARGETS", number).name) if number else "cpu"


# ---- checking


class Check:
    """Every index of every record; faults() are in words."""

    def __init__(self, archive):
        self.a = archive
        self.found = []

    def fault(self, text):
        self.found.append(text)

    def range_ok(self, name, first, count):
        return first + count <= self.a.count(name)

    def text_ok(self, offset):
        return offset < self.a.count("STRINGS")

    def bytes_ok(self, offset, size, align):
        return self.range_ok("BYTES", offset, size) and offset % align == 0

    def size_ok(self, d, limit, may_be_unknown):
        return not is_symbolic(d) or d - DIM_BASE < limit or (d == DIM_UNKNOWN and may_be_unknown)

    def faults(self):
        self.sections()
        self.tables()
        self.constants()
        plans = self.a.count("PLANS")
        if not plans:
            self.fault("there is no plan")
        for i in range(plans):
            self.plan(i, self.a.one("PLANS", i))
        if not self.found:
            self.ports()
        if self.a.has_memo() and not self.found:
            self.memo(self.a.one("PLANS", 0))
        return self.found

    def sections(self):
        h = self.a.header
        taken = [(0, h.header_size + h.section_count * size_of("section"), "the header")]
        taken += [(s.offset, s.offset + s.size, SECTIONS[s.id].name) for s in self.a.section.values() if s.size]
        taken.sort()
        for (_, end, before), (start, _, name) in zip(taken, taken[1:]):
            if start < end:
                self.fault(f"{before} and {name} overlap")

    def tables(self):
        a = self.a
        for i, d in enumerate(a.records("DIMS")):
            if d.op == 0:
                ok = 0 <= d.a < a.count("SYMBOLS")
            else:
                ok = 0 < d.op < len(DIM_OPS) and self.size_ok(d.a, i, False) and self.size_ok(d.b, i, False)
            if not ok:
                self.fault(f"expression {i} is broken")
        for i, symbol in enumerate(a.records("SYMBOLS")):
            if not self.text_ok(symbol):
                self.fault(f"symbol {i} has no name")
        for i, size in enumerate(a.records("SIZES")):
            if not self.size_ok(size, a.count("DIMS"), True):
                self.fault(f"size {i} names no expression")
        for i, op in enumerate(a.records("OPS")):
            if not self.text_ok(op.domain) or not self.text_ok(op.name):
                self.fault(f"operator {i} has no name")
        for i, meta in enumerate(a.records("META")):
            if not self.text_ok(meta.key) or not self.text_ok(meta.value):
                self.fault(f"metadata {i} is broken")
        for i, p in enumerate(a.records("PROGRAMS")):
            if not (self.text_ok(p.name) and self.text_ok(p.doc) and self.bytes_ok(p.program, p.program_size, 8)
                    and self.bytes_ok(p.lanes, p.lanes_size, 8)):
                self.fault(f"program {i} is broken")
        names = [a.text(t.name) if self.text_ok(t.name) else "" for t in a.records("TARGETS")]
        if a.has("TARGETS") and (not 0 < len(names) <= TARGETS_MAX or names[0] != "cpu" or "" in names or len(set(names)) != len(names)):
            self.fault("the targets are broken")
        self.entries()
        for i, note in enumerate(a.records("NOTES")):
            if not all(map(self.text_ok, (note.pass_, note.place, note.what, note.why))):
                self.fault(f"note {i} is broken")

    def entries(self):
        """Plans that callers run: the first is plan 0, the others follow in order, and none is a subgraph."""
        a = self.a
        plans = [e.plan for e in a.records("ENTRIES")]
        names = [a.text(e.name) for e in a.records("ENTRIES") if self.text_ok(e.name)]
        held = {r.value for r in a.records("ATTRS") if r.kind == A_GRAPH}
        if a.has("ENTRIES") and (not 0 < len(plans) <= ENTRIES_MAX or plans[0] or plans != sorted(set(plans)) or
                                 plans[-1] >= a.count("PLANS") or held & set(plans) or
                                 len(set(names)) != len(plans)):
            self.fault("the entries are broken")
        second, last = a.records("DEVICE_PLANS"), plans[-1] if plans else 0
        if a.has("DEVICE_PLANS") and (len(second) != max(len(plans), 1) or second != sorted(set(second)) or second[0] <= last or
                                      second[-1] >= a.count("PLANS") or held & set(second) or self.targets(second[0]) < 2):
            self.fault("the plans for devices are broken")

    def ports(self):
        """The two plans of an entry have the same inputs and outputs."""
        a = self.a
        for i, second in enumerate(a.records("DEVICE_PLANS")):
            seen = [[(v.name, v.dtype, v.kind, v.inner, v.rank, is_state(v))
                     for first, count in ((p.input_first, p.input_count), (p.output_first, p.output_count))
                     for v in (a.one("VALUES", p.value_first + o) for o in a.records("OPERANDS", first, count))] + [p.input_count]
                    for p in (a.one("PLANS", second), a.one("PLANS", a.one("ENTRIES", i).plan if a.has("ENTRIES") else 0))]
            if seen[0] != seen[1]:
                self.fault(f"the two plans of entry {i} differ in their inputs or outputs")

    def constants(self):
        end = 0
        for i, k in enumerate(self.a.records("CONSTANTS")):
            if not 0 < k.dtype < len(DTYPES) or k.offset % 64 or not self.range_ok("WEIGHTS", k.offset, k.size):
                self.fault(f"constant {i} lies outside the weights, is not aligned or has no type")
            elif k.dtype == STRING and k.count * 8 > k.size:
                self.fault(f"constant {i} has {k.size} bytes for {k.count} strings")
            elif k.dtype != STRING and not k.packed and k.count * DTYPES[k.dtype][1] != k.size:
                self.fault(f"constant {i} has {k.size} bytes for {k.count} elements")
            if k.size and k.offset < end:
                self.fault(f"constant {i} overlaps the one before")
            end = k.offset + k.size

    def plan(self, number, p):
        if not (self.text_ok(p.name) and self.range_ok("VALUES", p.value_first, p.value_count) and
                self.range_ok("STEPS", p.step_first, p.step_count) and
                self.range_ok("OPERANDS", p.input_first, p.input_count) and
                self.range_ok("OPERANDS", p.output_first, p.output_count)):
            self.fault(f"plan {number} lies outside its sections")
            return
        values = self.a.records("VALUES", p.value_first, p.value_count)
        before = len(self.found)
        for i, v in enumerate(values):
            if not self.value_ok(i, v) or not self.space_ok(v, values, number):
                self.fault(f"plan {number}: value {i} is broken")
        if len(self.found) > before:
            return  # what follows relies on values
        for what, first, count in (("input", p.input_first, p.input_count), ("output", p.output_first, p.output_count)):
            for i, v in enumerate(self.a.records("OPERANDS", first, count)):
                if v >= len(values) or (what == "input" and values[v].storage != INPUT) or (
                        values[v].space and (what == "output" or not is_state(values[v]))):
                    self.fault(f"plan {number}: {what} {i} is broken")
        for i, s in enumerate(self.a.records("STEPS", p.step_first, p.step_count)):
            if not self.step_ok(s, values, number):
                self.fault(f"plan {number}: step {i} is broken")
        if len(self.found) == before:
            self.order(number, p, values)
            self.memory(number, p, values)

    def value_ok(self, i, v):
        a = self.a
        ok = (self.text_ok(v.name) and v.dtype < len(DTYPES) and v.kind < len(KINDS) and v.inner < len(KINDS) and
              -1 <= v.rank <= MAX_RANK and v.storage < len(STORAGES) and
              self.range_ok("SIZES", v.size_first, max(v.rank, 0) * (1 + has_least(v)) + (v.storage == PART)))
        if not ok:
            return False
        if v.storage not in (INPUT, HEAP) and (v.rank < 0 or not v.dtype or v.kind != 0):
            return False
        return {
            INPUT: lambda: not v.at or (v.at <= INPUT_KNOWN and v.at & INPUT_FILL and v.rank >= 0 and v.dtype not in (0, STRING)),
            CONSTANT: lambda: v.at < a.count("CONSTANTS") and a.one("CONSTANTS", v.at).dtype == v.dtype,
            ALIAS: lambda: v.at < i,
            PART: lambda: v.at < i,
            ARENA: lambda: v.step_from <= v.step_to and v.dtype != STRING,
            EXPRESSION: lambda: v.at < a.count("SIZES") and v.dtype in (I32, I64),
        }.get(v.storage, lambda: True)()

    def hosts(self):
        """So many plans run on the CPU alone, if there are second ones for devices."""
        return self.a.one("DEVICE_PLANS", 0) if self.a.count("DEVICE_PLANS") else 0

    def targets(self, plan):
        """How many targets a plan may use."""
        return 1 if plan < self.hosts() else max(self.a.count("TARGETS"), 1)

    def space_ok(self, v, values, plan):
        """Only arena values, states, and views of both, are in the memory of another target than the CPU."""
        space = {ALIAS: lambda: values[v.at].space, PART: lambda: values[v.at].space, ARENA: lambda: v.space,
                 INPUT: lambda: v.space if is_state(v) else 0}.get(v.storage, lambda: 0)()
        return v.space == space and v.space < self.targets(plan)

    def target_ok(self, s, values, plan):
        """A transfer copies between the host's memory and its target's; all operands of another step are in its target's."""
        op, operands = self.a.one("OPS", s.op), self.a.records("OPERANDS", s.operand_first, s.in_count + s.out_count)
        spaces = [values[v].space for v in operands if v != NO_VALUE]
        if s.target >= self.targets(plan):
            return False
        if (self.a.text(op.domain), self.a.text(op.name)) == ("hologram", "Transfer"):
            return (s.in_count, s.out_count, len(spaces)) == (1, 1, 2) and 0 in spaces and sum(spaces) == s.target
        return all(space == s.target for space in spaces)

    def step_ok(self, s, values, plan):
        a = self.a
        operands = s.in_count + s.out_count
        if not (s.op < a.count("OPS") and self.text_ok(s.name) and self.range_ok("OPERANDS", s.operand_first, operands) and
                self.range_ok("ATTRS", s.attr_first, s.attr_count) and s.capture_count <= s.in_count and
                self.bytes_ok(s.params, s.params_size, 8) and s.program <= a.count("PROGRAMS")):
            return False
        for k, v in enumerate(a.records("OPERANDS", s.operand_first, operands)):
            if v == NO_VALUE:
                continue
            if v >= len(values) or (k >= s.in_count and not is_writable(values[root(values, v)])):
                return False
        return self.target_ok(s, values, plan) and all(self.attr_ok(r, plan) for r in a.records("ATTRS", s.attr_first, s.attr_count))

    def attr_ok(self, r, plan):
        if not self.text_ok(r.name):
            return False
        if r.kind in (A_INT, A_FLOAT):
            return True
        if r.kind == A_GRAPH:  # a subgraph comes later: no plan holds itself
            return plan < r.value < (self.hosts() if plan < self.hosts() else self.a.count("PLANS"))
        if r.kind in (A_TENSOR, A_TYPE):
            return self.tensor_ok(r.value)
        if r.kind == A_STRINGS:
            return self.bytes_ok(r.value, r.count * 8, 4) and all(
                self.range_ok("BYTES", s.offset, s.size) for s in spans(self.a, r))
        element, align = {A_STRING: (1, 1), A_INTS: (8, 8), A_FLOATS: (4, 4)}.get(r.kind, (0, 0))
        return element > 0 and self.bytes_ok(r.value, r.count * element, align)

    def tensor_ok(self, at):
        if not self.bytes_ok(at, size_of("tensor"), 8):
            return False
        t = self.a.read("tensor", self.a.bytes_start() + at)
        if t.dtype >= len(DTYPES) or not -1 <= t.rank <= MAX_RANK:
            return False
        if t.constant == NO_VALUE:
            return True
        if t.constant >= self.a.count("CONSTANTS") or t.rank < 0:
            return False
        k, count = self.a.one("CONSTANTS", t.constant), 1
        for d in tensor_dims(t):
            if d < 0:
                return False
            count *= d
        return not k.packed and count == k.count and t.dtype == k.dtype

    def memo(self, p):
        """Slots name entries, entries have tensors, tensors lie in the data; outputs are as the plan says."""
        a, entries, slots = self.a, self.a.records("MEMO_ENTRIES"), self.a.records("MEMO_SLOTS")
        if len(slots) & (len(slots) - 1) or any(s > len(entries) for s in slots):
            self.fault("the slots of the memo are broken")
            return
        for i, t in enumerate(a.records("MEMO_TENSORS")):
            if not self.memo_tensor_ok(t):
                self.fault(f"tensor {i} of the memo is broken")
        for i, e in enumerate(entries):
            if not self.range_ok("MEMO_TENSORS", e.tensor_first, p.input_count + p.output_count):
                self.fault(f"entry {i} of the memo is broken")
                continue
            outputs = a.records("MEMO_TENSORS", e.tensor_first + p.input_count, p.output_count)
            for t, number in zip(outputs, a.records("OPERANDS", p.output_first, p.output_count)):
                v = a.one("VALUES", p.value_first + number)
                sizes = a.records("SIZES", v.size_first, max(v.rank, 0))
                if v.kind != 0 or v.dtype not in (0, t.dtype) or v.rank not in (-1, t.rank) or any(
                        not is_symbolic(want) and want != have for want, have in zip(sizes, tensor_dims(t))):
                    self.fault(f"entry {i} of the memo has an output that the model cannot give")
            places = [slots[(e.key0 + k) % len(slots)] for k in range(min(MEMO_PROBES, len(slots)))]
            if i + 1 not in places or 0 in places[:places.index(i + 1)]:
                self.fault(f"entry {i} of the memo is not found by its key")

    def memo_tensor_ok(self, t):
        if not 0 < t.dtype < len(DTYPES) or t.dtype == STRING or t.rank > MAX_RANK or min(tensor_dims(t), default=0) < 0:
            return False
        size = DTYPES[t.dtype][1]
        for d in tensor_dims(t):
            size *= d
        return size == t.size and t.offset % 64 == 0 and self.range_ok("MEMO_DATA", t.offset, t.size)

    def order(self, number, p, values):
        """What a step reads of the plan's own memory, an earlier one has written; what an output reads, any has."""
        def is_unwritten(v):
            return v != NO_VALUE and values[root(values, v)].storage in (ARENA, HEAP) and root(values, v) not in written

        written = set()
        for i, s in enumerate(self.a.records("STEPS", p.step_first, p.step_count)):
            operands = self.a.records("OPERANDS", s.operand_first, s.in_count + s.out_count)
            for v in operands[:s.in_count]:
                if is_unwritten(v):
                    self.fault(f"plan {number}: step {i} reads value {v} before it is written")
            written.update(root(values, v) for v in operands[s.in_count:] if v != NO_VALUE)
        for i, v in enumerate(self.a.records("OPERANDS", p.output_first, p.output_count)):
            if is_unwritten(v):
                self.fault(f"plan {number}: no step writes output {i}")

    def bytes(self, v):
        """Of a value of a static plan; -1: not a number."""
        size = DTYPES[v.dtype][1]
        for d in self.a.records("SIZES", v.size_first, v.rank):
            size = size * d if d >= 0 and size >= 0 else -1
        return size

    def memory(self, number, p, values):
        """In a static plan, values that are alive together lie apart, inside the arena; parts lie inside of their values."""
        if not p.flags & PLAN_STATIC:
            return
        blocks = []
        for i, v in enumerate(values):
            if v.storage == PART:
                start = self.a.one("SIZES", v.size_first + v.rank) * DTYPES[v.dtype][1]
                if not 0 <= start <= self.bytes(values[v.at]) - self.bytes(v):
                    self.fault(f"plan {number}: value {i} is no part of value {v.at}")
            if v.storage != ARENA:
                continue
            size = self.bytes(v)
            if size < 0 or v.at % 64 or (v.space == 0 and v.at + size > p.arena_bytes):
                self.fault(f"plan {number}: value {i} lies outside the arena")
            elif size:
                blocks.append((v.at, v.at + size, v.step_from, v.step_to, i, v.space))
        blocks.sort()
        open_blocks = []
        for block in blocks:
            open_blocks = [b for b in open_blocks if b[1] > block[0]]
            for b in open_blocks:
                if b[2] <= block[3] and block[2] <= b[3] and b[5] == block[5]:
                    self.fault(f"plan {number}: values {b[4]} and {block[4]} share memory while both are alive")
            open_blocks.append(block)


def is_state(v):
    return v.storage == INPUT and bool(v.at & INPUT_STATE)


def has_least(v):
    return v.storage == INPUT and bool(v.at & INPUT_LEAST)


def is_writable(v):
    """The plan's own memory, and states."""
    return v.storage in (ARENA, HEAP) or is_state(v)


def root(values, v):
    while values[v].storage in (ALIAS, PART):
        v = values[v].at
    return v


# ---- reading what has been checked


def tensor_dims(t):
    return [getattr(t, f"dim{i}") for i in range(max(t.rank, 0))]


def spans(a, r):
    return [a.read("span", a.bytes_start() + r.value + 8 * i) for i in range(r.count)]


def expression_texts(a):
    """How each expression is written; one that gets long is named by its number where others use it."""
    texts = []
    for i, r in enumerate(a.records("DIMS")):
        if r.op == 0:
            texts.append(a.text(a.one("SYMBOLS", r.a)))
            continue
        x, y = (texts[d - DIM_BASE] if is_symbolic(d) else d for d in (r.a, r.b))
        op = DIM_OPS[r.op]
        text = f"{op}({x}, {y})" if op in ("min", "max") else f"({x} {op} {y})"
        texts.append(text if len(text) < 200 else f"#{i}")
    return texts


def size_text(a, d):
    """A number, or how an open size is written."""
    if not is_symbolic(d):
        return d
    return "?" if d == DIM_UNKNOWN else a.expressions[d - DIM_BASE]


def attr_value(a, r):
    if r.kind == A_INT:
        return struct.unpack("<q", struct.pack("<Q", r.value))[0]
    if r.kind == A_FLOAT:
        return struct.unpack("<d", struct.pack("<Q", r.value))[0]
    if r.kind == A_STRING:
        return a.bytes_at(r.value, r.count).decode("utf-8", "backslashreplace")
    if r.kind == A_GRAPH:
        return {"plan": r.value}
    if r.kind == A_INTS:
        return list(struct.unpack(f"<{r.count}q", a.bytes_at(r.value, 8 * r.count)))
    if r.kind == A_FLOATS:
        return list(struct.unpack(f"<{r.count}f", a.bytes_at(r.value, 4 * r.count)))
    if r.kind == A_STRINGS:
        return [a.bytes_at(s.offset, s.size).decode("utf-8", "backslashreplace") for s in spans(a, r)]
    t = a.read("tensor", a.bytes_start() + r.value)
    return {"dtype": DTYPES[t.dtype][0], "kind": KINDS[t.kind], "shape": tensor_dims(t) if t.rank >= 0 else None,
            "constant": None if t.constant == NO_VALUE else t.constant}


def value_dict(a, v):
    shape = None if v.rank < 0 else [size_text(a, d) for d in a.records("SIZES", v.size_first, v.rank)]
    out = {"name": a.text(v.name), "kind": KINDS[v.kind], "dtype": DTYPES[v.dtype][0], "shape": shape, "storage": STORAGES[v.storage]}
    if v.storage in (CONSTANT, ALIAS, ARENA, PART):
        out["at"] = v.at
    if v.storage == PART:
        out["from"] = size_text(a, a.one("SIZES", v.size_first + v.rank))
    if v.space:
        out["space"] = a.target(v.space)
    if v.storage == ARENA:
        out["alive"] = [v.step_from, v.step_to]
    if v.storage == EXPRESSION and shape is not None and all(isinstance(d, int) for d in shape):
        count = 1
        for d in shape:
            count *= d
        out["contents"] = [size_text(a, d) for d in a.records("SIZES", v.at, min(count, a.count("SIZES") - v.at))]
    return out


def step_dict(a, s):
    op, operands = a.one("OPS", s.op), a.records("OPERANDS", s.operand_first, s.in_count + s.out_count)
    operands = [None if v == NO_VALUE else v for v in operands]
    return {"name": a.text(s.name), "op": a.text(op.name), "domain": a.text(op.domain), "version": op.version, "kernel": s.kernel,
            "target": a.target(s.target),
            "inputs": operands[:s.in_count], "outputs": operands[s.in_count:], "captures": s.capture_count,
            "attributes": {a.text(r.name): attr_value(a, r) for r in a.records("ATTRS", s.attr_first, s.attr_count)},
            "params": a.bytes_at(s.params, s.params_size).hex(), "program": s.program - 1 if s.program else None}


def plan_dict(a, p):
    return {"name": a.text(p.name), "static": bool(p.flags & PLAN_STATIC), "arena_bytes": p.arena_bytes, "naive_bytes": p.naive_bytes,
            "inputs": a.records("OPERANDS", p.input_first, p.input_count),
            "outputs": a.records("OPERANDS", p.output_first, p.output_count),
            "values": [value_dict(a, v) for v in a.records("VALUES", p.value_first, p.value_count)],
            "steps": [step_dict(a, s) for s in a.records("STEPS", p.step_first, p.step_count)]}


def memo_dict(a):
    """What each entry answers, as types: the bytes are in MEMO_DATA."""
    if not a.has_memo():
        return []
    p = a.one("PLANS", 0)
    tensor = lambda t: {"dtype": DTYPES[t.dtype][0], "kind": "tensor", "shape": tensor_dims(t), "offset": t.offset,
                        "size": t.size, "hash": f"{t.hash1:016x}{t.hash0:016x}"}
    out = []
    for e in a.records("MEMO_ENTRIES"):
        tensors = [tensor(t) for t in a.records("MEMO_TENSORS", e.tensor_first, p.input_count + p.output_count)]
        out.append({"key": f"{e.key1:016x}{e.key0:016x}", "inputs": tensors[:p.input_count], "outputs": tensors[p.input_count:]})
    return out


def archive_dict(a):
    a.expressions = expression_texts(a)
    h = a.header
    return {
        "format": f"{h.major}.{h.minor}", "file_bytes": h.file_size, "numeric": "exact" if h.flags_must & FLAG_EXACT else "fused",
        "sections": [{"name": SECTIONS[i].name, "offset": s.offset, "size": s.size, "records": a.count(SECTIONS[i].name)}
                     for i, s in sorted(a.section.items())],
        "metadata": {a.text(m.key): a.text(m.value) for m in a.records("META")},
        "constants": [{"dtype": DTYPES[k.dtype][0], "count": k.count, "offset": k.offset, "size": k.size, "packed": k.packed,
                       "hash": f"{k.hash1:016x}{k.hash0:016x}"} for k in a.records("CONSTANTS")],
        "device_plans": a.records("DEVICE_PLANS"),
        "targets": [a.target(i) for i in range(max(a.count("TARGETS"), 1))],
        "plans": [plan_dict(a, p) for p in a.records("PLANS")],
        "memo": memo_dict(a),
        "programs": [{"name": a.text(p.name), "doc": a.text(p.doc), "bytes": p.program_size, "lanes_bytes": p.lanes_size,
                      "block": [p.block_x, p.block_y, p.block_z]} for p in a.records("PROGRAMS")],
        "notes": [{"pass": a.text(n.pass_), "verdict": VERDICTS[n.verdict] if n.verdict < len(VERDICTS) else "not made",
                   "place": a.text(n.place), "what": a.text(n.what), "why": a.text(n.why), "count": n.count, "bytes": n.bytes}
                  for n in a.records("NOTES")],
    }


# ---- printing


def type_text(v):
    shape = "..." if v["shape"] is None else ", ".join(str(d) for d in v["shape"])
    return f"{'' if v['kind'] == 'tensor' else v['kind'] + ' of '}{v['dtype']}[{shape}]"


def place_text(v):
    text = v["storage"] + (f" {v['at']}" if "at" in v else "")
    if "from" in v:
        text += f" from {v['from']}"
    if "alive" in v:
        text += f", alive {v['alive'][0]} to {v['alive'][1]}"
    if "space" in v:
        text += f", in the memory of {v['space']}"
    return text + (f" {v['contents']}" if "contents" in v else "")


def print_plan(number, p):
    print(f"\nplan {number} {p['name']}: {len(p['steps'])} steps, {len(p['values'])} values, "
          + (f"arena {p['arena_bytes']} bytes of {p['naive_bytes']}" if p["static"] else "sizes open"))
    for what in ("inputs", "outputs"):
        print(f"  {what}: " + ", ".join(f"%{v} {p['values'][v]['name']}" for v in p[what]))
    for i, v in enumerate(p["values"]):
        print(f"  %{i} {v['name']}: {type_text(v)}, {place_text(v)}")
    for i, s in enumerate(p["steps"]):
        name = lambda v: "-" if v is None else f"%{v}"
        op = (s["domain"] + "::" if s["domain"] else "") + s["op"]
        attrs = "".join(f" {k}={v}" for k, v in s["attributes"].items())
        print(f"  {i}: {', '.join(map(name, s['outputs']))} = {op}.{s['version']}({', '.join(map(name, s['inputs']))})"
              f"{attrs}  {'kernel ' + str(s['kernel']) if s['kernel'] else 'eval'}"
              f"{' on ' + s['target'] if s['target'] != 'cpu' else ''}  {s['name']}")


def print_text(d):
    print(f"format {d['format']}, {d['file_bytes']} bytes, numeric class {d['numeric']}")
    for s in d["sections"]:
        print(f"  {s['name']:<12} at {s['offset']:>12}  {s['size']:>12} bytes  {s['records']:>9} records")
    print("\nmetadata")
    for key, value in d["metadata"].items():
        print(f"  {key}: {value}")
    print("\nconstants")
    for i, k in enumerate(d["constants"]):
        packed = f", packed for kernel {k['packed']}" if k["packed"] else ""
        print(f"  {i}: {k['count']} of {k['dtype']}, {k['size']} bytes at {k['offset']}{packed}")
    for i, p in enumerate(d["plans"]):
        print_plan(i, p)
    if d["programs"]:
        print("\nprograms")
    for p in d["programs"]:
        print(f"  {p['name']}: {p['bytes']} bytes  {p['doc']}")
    if d["notes"]:
        print("\nnotes")
    for n in d["notes"]:
        print(f"  {n['pass']}, {n['verdict']}: {n['count']} x {n['what'] or '-'} at {n['place'] or '-'}, {n['bytes']} bytes: {n['why']}")
    if d["memo"]:
        print("\nmemo")
    for e in d["memo"]:
        print(f"  {e['key']}: {', '.join(map(type_text, e['inputs']))} -> {', '.join(map(type_text, e['outputs']))}")


def open_bytes(path):
    with open(path, "rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return b""


def main():
    parser = argparse.ArgumentParser(description="Shows what is in a .holo file, after checking every offset and index.")
    parser.add_argument("file")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="as JSON")
    how.add_argument("--check", action="store_true", help="only check; exit status 1 when broken")
    options = parser.parse_args()
    try:
        archive = Archive(open_bytes(options.file))
        faults = Check(archive).faults()
    except (Broken, OSError) as error:
        faults = [str(error)]
    for fault in faults[:MAX_FAULTS]:
        print(f"{options.file}: {fault}", file=sys.stderr)
    if len(faults) > MAX_FAULTS:
        print(f"{options.file}: and {len(faults) - MAX_FAULTS} more", file=sys.stderr)
    if faults:
        return 1
    if options.json:
        json.dump(archive_dict(archive), sys.stdout, indent=1)
        print()
    elif not options.check:
        print_text(archive_dict(archive))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
