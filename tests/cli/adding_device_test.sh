#!/bin/sh
# docs/adding-a-device.md, done as it says in a copy of the tree: a model is cut between the CPU and the new device, verified and run;
# a program without the device refuses it. Only what is new is compiled: the objects of the build that is being tested are used for the rest.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
HOLOGRAM=$build/$(basename "$HOLOGRAM")
page=$root/docs/adding-a-device.md
fail() { echo "adding_device: $1" >&2; exit 1; }
[ -d "$build"/obj ] || fail "$build has no objects: run make"
command -v python3 >/dev/null || fail "python3 is missing"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work"/tree "$work"/tree/build
cp -a "$root"/Makefile "$root"/include "$root"/src "$root"/cli "$root"/tools "$root"/kernels "$work"/tree/
cp -a "$build"/obj "$work"/tree/build/
cd "$work"/tree
find build/obj -name '*.d' -delete # they name the other build
find build/obj -name '*.o' -exec touch {} +

# The code that follows a mark on the page.
for file in src/devices/shelf/shelf_device.c src/lower/shelf/shelf_target.c; do
    mkdir -p "$(dirname "$file")"
    awk -v mark="<!-- file: $file" 'index($0, mark) == 1 { want = 1; next } want && /^```c/ { on = 1; next } /^```/ { if (on) exit } on' "$page" > "$file"
    [ -s "$file" ] || fail "the page lacks $file"
done
make --no-print-directory BUILD=build build/hologram > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; exit 1; }
compiled=$(grep -c '^  cc ' "$work"/make.log)
[ "$compiled" -le 3 ] || { cat "$work"/make.log >&2; fail "$compiled files were compiled, not 2"; }

# y = Softmax(x + w) + w, of x: f32[2,2] and constant w, as an ONNX file: Add can be run by the device, Softmax cannot.
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

def node(op, inputs, output):
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op))

def io(name):
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 2)) * 2)))

w = field(1, 2) + field(2, 1) + field(8, "w") + field(9, struct.pack("<2f", 0.5, -1))
graph = (node("Add", ["x", "w"], "a") + node("Softmax", ["a"], "b") + node("Add", ["b", "w"], "y") + field(2, "g") + field(5, w)
         + field(11, io("x")) + field(12, io("y")))
open(sys.argv[1] + "/model.onnx", "wb").write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }".ljust(117) + "\n"
open(sys.argv[1] + "/x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<4f", 1, -2, 3, 4))
PYTHON

build/hologram compile --target shelf "$work"/model.onnx -o "$work"/model.holo --json > "$work"/report
grep -q '"verified": true' "$work"/report || fail "not verified"
build/hologram run "$work"/model.holo --input x="$work"/x.npy --output "$work"/answers --quiet
python3 - "$work"/answers/y.npy <<'PYTHON'
import math, struct, sys
data = open(sys.argv[1], "rb").read()
got, want = struct.unpack("<4f", data[10 + struct.unpack_from("<H", data, 8)[0]:]), []
for a, b in ((1, -2), (3, 4)):
    p, q = math.exp(a + 0.5), math.exp(b - 1)
    want += [p / (p + q) + 0.5, q / (p + q) - 1]
if any(abs(g - w) > 1e-6 for g, w in zip(got, want)):
    sys.exit(f"adding_device: {got}, not {want}")
PYTHON
if "$HOLOGRAM" run "$work"/model.holo --input x="$work"/x.npy > "$work"/refused 2>&1; then fail "a program without the device runs it"; fi
grep -q "compiled for the target 'shelf', which this program does not have" "$work"/refused || { cat "$work"/refused >&2; fail "another error"; }
echo "adding_device: the page's device works"
