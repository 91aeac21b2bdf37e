#!/bin/sh
# docs/adding-an-operator.md, done as it says in a copy of the tree: both operators are found, inferred, compiled, verified and run.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-an-operator.md
guide_make 3 build/hologram

# y = RepeatInterleave(Square(x), axis=1, repeats=3) of x: f32[n,2], as an ONNX file.
python3 tests/support/onnx_model.py "$work"/model.onnx opset 24 in x f32 n,2 out y f32 n,6 node Square x s node com.example::RepeatInterleave s y axis=1 repeats=3

build/hologram ops Square RepeatInterleave > "$work"/ops
grep -q RepeatInterleave "$work"/ops && grep -q Square "$work"/ops || fail "hologram ops does not list them"
build/hologram compile "$work"/model.onnx -o "$work"/model.holo --json > "$work"/report
grep -q '"verified": true' "$work"/report || fail "not verified"
build/hologram run "$work"/model.holo --input x=[[1,-2],[3,4]] --output "$work"/answers --quiet
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
