#!/bin/sh
# docs/adding-an-operator.md, done as it says in a copy of the tree: both operators are found, inferred, compiled, verified and run.
# Only what changes is compiled: the objects of the build that is being tested are used for the rest.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
page=$root/docs/adding-an-operator.md
[ -d "$build"/obj ] || { echo "adding_operator: $build has no objects: run make" >&2; exit 1; }
command -v python3 >/dev/null || { echo "adding_operator: python3 is missing" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work"/tree "$work"/tree/build
cp -a "$root"/Makefile "$root"/include "$root"/src "$root"/cli "$root"/tools "$root"/kernels "$work"/tree/
cp -a "$build"/obj "$work"/tree/build/
cd "$work"/tree
find build/obj -name '*.d' -delete # they name the other build
find build/obj -name '*.o' -exec touch {} +

# The code that follows a mark on the page.
block() { awk -v mark="<!-- $1" 'index($0, mark) == 1 { want = 1; next } want && /^```c/ { on = 1; next } /^```/ { if (on) exit } on' "$page"; }
block "row: src/ops/standard/unary.c" > "$work"/row
block "file: src/ops/standard/repeat_interleave.c" > src/ops/standard/repeat_interleave.c
[ -s "$work"/row ] && [ -s src/ops/standard/repeat_interleave.c ] || { echo "adding_operator: the page lacks its code" >&2; exit 1; }
line=$(grep -n '^    X(Softsign' src/ops/standard/unary.c | head -1 | cut -d: -f1)
sed -i "$((line - 1))r $work/row" src/ops/standard/unary.c
make --no-print-directory BUILD=build build/hologram > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; exit 1; }
compiled=$(grep -c '^  cc ' "$work"/make.log)
[ "$compiled" -le 3 ] || { echo "adding_operator: $compiled files were compiled, not 2" >&2; cat "$work"/make.log >&2; exit 1; }

# y = RepeatInterleave(Square(x), axis=1, repeats=3) of x: f32[n,2], as an ONNX file.
python3 - "$work" <<'PYTHON'
import struct, sys

def field(number, value):
    def varint(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value

def attr(name, value):
    return field(5, field(1, name) + field(3, value) + field(20, 2))

def io(name, *dims):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

square = field(1, "x") + field(2, "s") + field(4, "Square")
repeat = field(1, "s") + field(2, "y") + field(4, "RepeatInterleave") + attr("axis", 1) + attr("repeats", 3) + field(7, "com.example")
graph = field(1, square) + field(1, repeat) + field(2, "g") + field(11, io("x", "n", 2)) + field(12, io("y", "n", 6))
opsets = field(8, field(1, "") + field(2, 24)) + field(8, field(1, "com.example") + field(2, 1))
open(sys.argv[1] + "/model.onnx", "wb").write(field(1, 10) + field(7, graph) + opsets)
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }".ljust(117) + "\n"
open(sys.argv[1] + "/x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<4f", 1, -2, 3, 4))
PYTHON

build/hologram ops Square RepeatInterleave > "$work"/ops
grep -q RepeatInterleave "$work"/ops && grep -q Square "$work"/ops || { echo "adding_operator: hologram ops does not list them" >&2; exit 1; }
build/hologram compile "$work"/model.onnx -o "$work"/model.holo --json > "$work"/report
grep -q '"verified": true' "$work"/report || { echo "adding_operator: not verified" >&2; exit 1; }
build/hologram run "$work"/model.holo --input x="$work"/x.npy --output "$work"/answers --quiet
python3 - "$work"/answers/y.npy <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack_from("<H", data, 8)[0]
if b"(2, 6)" not in data[:10 + size]:
    sys.exit("adding_operator: the shape is not (2, 6)")
got, want = struct.unpack("<12f", data[10 + size:]), (1, 1, 1, 4, 4, 4, 9, 9, 9, 16, 16, 16)
if got != want:
    sys.exit(f"adding_operator: {got}, not {want}")
PYTHON
echo "adding_operator: the page's operators work"
