#!/bin/sh
# The independent reader of .holo files (tools/holo_dump.py) and the program agree on what is in an archive, and the reader
# finds broken files without falling over.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
dump=$root/tools/holo_dump.py
command -v python3 >/dev/null || { echo "holo_dump: python3 is missing, the independent reader was not tested" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A real model, one with dynamic sizes (its weights are zeros), one with values that are parts of others, and one of each kind
# of control flow.
cp "$root"/bench/corpus/mobilenet_v2_dyn.onnx "$work"/
truncate -s "$(sed -n 's/.*"size": *\([0-9]*\).*/\1/p' "$root"/bench/corpus/mobilenet_v2_dyn.weights.json | head -1)" "$work"/mobilenet_v2_dyn.weights.bin
cp "$root"/demo/digits.onnx "$root"/fuzz/corpus/onnx/if11.onnx "$root"/fuzz/corpus/onnx/loop.onnx "$root"/fuzz/corpus/onnx/types.onnx "$root"/fuzz/corpus/onnx/parts.onnx "$work"/
for model in "$work"/*.onnx; do
    archive=${model%.onnx}.holo
    "$HOLOGRAM" compile "$model" -o "$archive" --no-verify --quiet
    python3 "$dump" --check "$archive"
    python3 "$dump" --json "$archive" > "$archive.dump"
    python3 "$dump" "$archive" > "$archive.text"
    "$HOLOGRAM" inspect "$archive" --json > "$archive.inspect"
    "$HOLOGRAM" explain "$archive" --json > "$archive.explain"
done

# And one with a memo.
"$HOLOGRAM" memo "$work"/digits.holo --patterns "$root"/demo/digits/01_is_7.npy --patterns "$root"/demo/digits/02_is_0.npy -o "$work"/memo.holo --quiet
python3 "$dump" --check "$work"/memo.holo
python3 "$dump" --json "$work"/memo.holo > "$work"/memo.holo.dump
python3 "$dump" "$work"/memo.holo | grep -q ': f32\[1, 1, 8, 8\] -> f32\[1, 10\]'
"$HOLOGRAM" inspect "$work"/memo.holo --json > "$work"/memo.holo.inspect
"$HOLOGRAM" explain "$work"/memo.holo --json > "$work"/memo.holo.explain

python3 - "$dump" "$work" <<'PYTHON'
import glob, importlib.util, json, os, random, sys

def expect(ok, *what):
    if not ok:
        sys.exit("holo_dump: " + " ".join(map(str, what)))

def same_size(dumped, said):  # expressions are written differently: only numbers and names can be compared
    return dumped == said or (isinstance(dumped, str) and isinstance(said, str) and not dumped.isidentifier())

archives = sorted(glob.glob(os.path.join(sys.argv[2], "*.holo")))
expect(len(archives) == 7, "archives are missing:", archives)
for path in archives:
    dump, said = json.load(open(path + ".dump")), json.load(open(path + ".inspect"))
    plan = dump["plans"][0]
    expect(dump["notes"] == json.load(open(path + ".explain"))["notes"], path, "notes")
    expect(len(plan["steps"]) == said["steps"] or sum(len(p["steps"]) for p in dump["plans"]) == said["steps"], path, "steps", said["steps"])
    for key, have in (("file_bytes", dump["file_bytes"]), ("constants", len(dump["constants"])), ("plans", len(dump["plans"])),
                      ("memo", len(dump["memo"])), ("metadata", dump["metadata"]), ("numeric", dump["numeric"]), ("arena_bytes", plan["arena_bytes"])):
        expect(have == said[key], path, key, have, "is not", said[key])
    for side in ("inputs", "outputs"):
        expect(len(plan[side]) == len(said[side]), path, side)
        for number, port in zip(plan[side], said[side]):
            value = plan["values"][number]
            for key in ("name", "dtype", "kind"):
                expect(value[key] == port[key], path, side, key, value[key], "is not", port[key])
            expect(len(value["shape"]) == len(port["shape"]) and all(map(same_size, value["shape"], port["shape"])),
                   path, port["name"], value["shape"], "is not", port["shape"])

memo = json.load(open(os.path.join(sys.argv[2], "memo.holo.dump")))["memo"]
expect(len(memo) == 2 and memo[0]["key"] != memo[1]["key"], "memo:", memo)

parts = [v for v in json.load(open(os.path.join(sys.argv[2], "parts.holo.dump")))["plans"][0]["values"] if v["storage"] == "part"]
expect(len(parts) == 4, "parts:", parts)

# Broken files: cut, and with bytes changed anywhere before the weights. Never an exception; what is accepted can be shown.
spec = importlib.util.spec_from_file_location("holo_dump", sys.argv[1])
holo_dump = importlib.util.module_from_spec(spec)
spec.loader.exec_module(holo_dump)

def faults(data):
    try:
        archive = holo_dump.Archive(data)
    except holo_dump.Broken as error:
        return [str(error)]
    found = holo_dump.Check(archive).faults()
    if not found:
        holo_dump.archive_dict(archive)
    return found

random.seed(1)
for path in (p for p in archives if os.path.getsize(p) < 100000):
    data = open(path, "rb").read()
    expect(not faults(data), path, "should be whole")
    for size in (0, 7, 55, 56, 600, 700, len(data) // 2, len(data) - 1):
        expect(faults(data[:size]), path, "cut to", size, "bytes should be broken")
    found = 0
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(random.randint(1, 3)):
            broken[random.randrange(min(len(data), 4096))] = random.choice((0, 1, 255, random.randrange(256)))
        found += bool(faults(bytes(broken)))
    expect(found > 20, path, "only", found, "of 400 broken files were found")
PYTHON

# The bytes in docs/format.md are those of the file that it explains, which is still read.
awk '/^```hex$/ { on = 1; next } /^```/ { on = 0 } on' "$root"/docs/format.md > "$work"/hex
python3 - "$work"/hex "$root"/tests/golden/add.holo <<'PYTHON'
import sys
data, lines = open(sys.argv[2], "rb").read(), open(sys.argv[1]).read().splitlines()
for line in lines:
    at, text = line.split(": ")
    want = bytes.fromhex(text)
    if data[int(at, 16):int(at, 16) + len(want)] != want:
        sys.exit(f"holo_dump: docs/format.md is wrong at {at}")
if not lines:
    sys.exit("holo_dump: docs/format.md has no bytes")
PYTHON
python3 "$dump" "$root"/tests/golden/add.holo | grep -q '  0: %2 = Add.21(%0, %1)  eval  y'
"$HOLOGRAM" verify "$root"/tests/golden/add.holo > /dev/null

# Archives of every kind are whole; damaged ones are refused, but for what the reader does not look at: hashes, portable
# programs, parameters of kernels, and what a runtime has.
# One Python reads them all, as `--check` would.
python3 - "$dump" "$root"/tests/golden <<'PYTHON'
import contextlib, glob, importlib.util, io, os, re, sys
spec = importlib.util.spec_from_file_location("holo_dump", sys.argv[1])
holo_dump = importlib.util.module_from_spec(spec)
spec.loader.exec_module(holo_dump)
good, bad = (sorted(glob.glob(os.path.join(sys.argv[2], name))) for name in ("*.holo", "bad/*.holo"))
if not good or not bad:
    sys.exit("holo_dump: tests/golden has no archives")
for path in good + bad:
    whole = path in good or re.match("damaged_|(program_of_kernel|step_kernel|step_params|operator_unknown|target_toy).holo$", os.path.basename(path))
    said, sys.argv = io.StringIO(), ["holo_dump", "--check", path]
    with contextlib.redirect_stderr(said):
        status = holo_dump.main()
    if status != (0 if whole else 1):
        sys.exit(f"holo_dump: {path}: status {status}\n{said.getvalue()}")
PYTHON

# The program itself says so by its exit status.
head -c 1000 "$work"/digits.holo > "$work"/cut.holo
if python3 "$dump" --check "$work"/cut.holo 2>/dev/null; then echo "holo_dump: a cut file passed" >&2; exit 1; fi
if python3 "$dump" "$work"/digits.onnx 2>/dev/null; then echo "holo_dump: a model passed for an archive" >&2; exit 1; fi
echo "holo_dump: agrees with hologram inspect"
