#!/bin/sh
# docs/adding-an-importer.md, done as it says in a copy of the tree: the format is recognized, inspected, compiled, verified and run;
# a damaged file is refused.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-an-importer.md
guide_make 2 build/hologram

# y = relu(relu(x W0') W1') of x: f32[batch,3], as a file with the name of another format.
python3 - "$work" <<'PYTHON'
import struct, sys
work = sys.argv[1]
first = [1.0, 0.0, 2.0, 0.0, -1.0, 0.5]  # [2, 3]
second = [1.0, 1.0]                      # [1, 2]
whole = b"TOYNET1\n" + struct.pack("<5I", 2, 3, 2, 2, 1) + struct.pack("<8f", *first, *second)
open(work + "/net.onnx", "wb").write(whole)
open(work + "/cut.onnx", "wb").write(whole[:-1])
open(work + "/large.onnx", "wb").write(b"TOYNET1\n" + struct.pack("<3I", 1, 0xFFFFFFFF, 0xFFFFFFFF))
PYTHON
build/hologram inspect "$work"/net.onnx > "$work"/inspect.txt
grep -q 'ToyNet' "$work"/inspect.txt || { cat "$work"/inspect.txt >&2; fail 'inspect does not name the format'; }
build/hologram compile "$work"/net.onnx -o "$work"/net.holo > /dev/null
build/hologram inspect "$work"/net.holo | grep -q 'source.version' || fail 'the archive has no source.version'
build/hologram run "$work"/net.holo --input x=1,2,3 --output "$work"/answers > /dev/null
python3 - "$work" <<'PYTHON'
import glob, struct, sys
bytes = open(glob.glob(sys.argv[1] + "/answers/*.npy")[0], "rb").read()
got = struct.unpack("<f", bytes[-4:])[0]
assert got == 7.0, got  # 1 + 2*3 = 7; -2 + 1.5 is below 0
PYTHON
for bad in cut large; do
    if build/hologram compile "$work"/$bad.onnx -o "$work"/no.holo > "$work"/bad.txt 2>&1; then fail "$bad.onnx is not refused"; fi
done
grep -q 'too large' "$work"/bad.txt || { cat "$work"/bad.txt >&2; fail 'the message does not say that the sizes are too large'; }
