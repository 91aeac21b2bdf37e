#!/bin/sh
# docs/adding-a-device.md, done as it says in a copy of the tree: a model is cut between the CPU and the new device, verified and run;
# a program without the device refuses it.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-a-device.md
guide_make 3 build/hologram

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
