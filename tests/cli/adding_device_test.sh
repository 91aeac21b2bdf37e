#!/bin/sh
# docs/adding-a-device.md, done as it says in a copy of the tree: a model is cut between the CPU and the new device, verified and run;
# a program without the device refuses it.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-a-device.md
guide_make 3 build/hologram

# y = Softmax(x + w) + w, of x: f32[2,2] and constant w, as an ONNX file: Add can be run by the device, Softmax cannot.
python3 tests/support/onnx_model.py "$work"/model.onnx in x f32 2,2 const w 0.5,-1 out y f32 2,2 node Add x,w a node Softmax a b node Add b,w y

build/hologram compile --target shelf "$work"/model.onnx -o "$work"/model.holo --json > "$work"/report
grep -q '"verified": true' "$work"/report || fail "not verified"
build/hologram run "$work"/model.holo --input x=[[1,-2],[3,4]] --output "$work"/answers --quiet
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
if "$HOLOGRAM" run "$work"/model.holo --input x=[[1,-2],[3,4]] > "$work"/refused 2>&1; then fail "a program without the device runs it"; fi
grep -q "compiled for the target 'shelf', which this program does not have" "$work"/refused || { cat "$work"/refused >&2; fail "another error"; }
echo "adding_device: the page's device works"
