# format_test.sh - the three that describe the format agree: src/format (the table of sections, the layout of records), the
# independent reader in tools/, and the table of docs/format.md.
. "$CHECKS"

cat > layout.py <<'END'
import re, struct, sys
sys.path.insert(0, sys.argv[1] + "/tools")
import holo_dump
source = open(sys.argv[1] + "/src/format/record_layout.c").read()
sizes = {name: int(size) for name, size in re.findall(r"^SIZE\((\w+), (\d+)\);", source, re.M)}
fields = {}
for record, field, offset in re.findall(r"^AT\((\w+), (\w+), (\d+)\);", source, re.M):
    fields.setdefault(record, []).append((int(offset), "_" if field.startswith("reserved") else field))
of = {kind: record for record, kind in holo_dump.RECORD_OF.items() if record.startswith("Holo")}
of.update(header="HoloHeader", section="HoloSectionRecord", span="HoloSpan", tensor="HoloTensorRecord")
if set(of.values()) != set(sizes):
    sys.exit(f"not in both: {set(of.values()) ^ set(sizes)}")
for kind, (layout, names) in holo_dump.RECORDS.items():
    if kind not in of:
        continue
    have, at = [], 0
    for code, name in zip(re.findall(r"\d*s|[A-Za-z]", re.sub(r"(\d+)([A-Zbhiq])", lambda m: m[2] * int(m[1]), layout)), names.split()):
        name = re.sub(r"^(hash|key|dim)0$|^(block)_x$|^(pass)_$", lambda m: m[1] or m[2] or m[3], name)
        if not re.match(r"^(hash1|key1|dim\d+|block_[yz])$", name):
            have.append((at, name))
        at += struct.calcsize("<" + code)
    if (at, have) != (sizes[of[kind]], fields[of[kind]]):
        sys.exit(f"{of[kind]}: the reader has {have}, {at} bytes; the program {fields[of[kind]]}, {sizes[of[kind]]} bytes")
END
check 'the reader has every record as the program has it' python3 layout.py "$ROOT"

cat > table.py <<'END'
import re, sys
sys.path.insert(0, sys.argv[1] + "/tools")
import holo_dump
words = {"byte": "bytes", "u32": "u32", "i64": "i64"}
want = [(str(s.number), s.name, words.get(s.record, f"{holo_dump.size_of(s.record)} bytes"), s.need.lower(), str(s.align)) for s in holo_dump.TABLE]
rows = re.findall(r"^\| (\d+) (\w+) \| ([\w ]+) \| (\w+) \| (\d+) \| \S", open(sys.argv[1] + "/docs/format.md").read(), re.M)
if rows != want:
    sys.exit("\n".join(f"{row} is {'not in the page' if row in want else 'in the page alone'}" for row in sorted(set(rows) ^ set(want))) or "another order")
END
check 'docs/format.md has the table of sections' python3 table.py "$ROOT"
