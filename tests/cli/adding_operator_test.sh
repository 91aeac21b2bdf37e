#!/bin/sh
# docs/adding-an-operator.md, done as it says in a copy of the tree: both operators are found, inferred, compiled, verified and run.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-an-operator.md
guide_make 3 build/hologram

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
grep -q RepeatInterleave "$work"/ops && grep -q Square "$work"/ops || fail "hologram ops does not list them"
build/hologram compile "$work"/model.onnx -o "$work"/model.holo --json > "$work"/report
grep -q '"verified": true' "$work"/report || fail "not verified"
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
