#!/bin/sh
# docs/adding-an-importer.md, done as it says in a copy of the tree: the format is told, inspected, compiled, verified, run and
# refused where it is damaged. Only what changes is compiled: the objects of the build that is being tested are used for the rest.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
page=$root/docs/adding-an-importer.md
[ -d "$build"/obj ] || { echo "adding_importer: $build has no objects: run make" >&2; exit 1; }
command -v python3 >/dev/null || { echo "adding_importer: python3 is missing" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work"/tree "$work"/tree/build
cp -a "$root"/Makefile "$root"/include "$root"/src "$root"/cli "$root"/tools "$root"/kernels "$work"/tree/
cp -a "$build"/obj "$work"/tree/build/
cd "$work"/tree
find build/obj -name '*.d' -delete # they name the other build
find build/obj -name '*.o' -exec touch {} +

mkdir src/import/toynet
awk '/^<!-- file: src\/import\/toynet\/toynet.c -->/ { want = 1; next } want && /^```c/ { on = 1; next } /^```/ { if (on) exit } on' \
    "$page" > src/import/toynet/toynet.c
[ -s src/import/toynet/toynet.c ] || { echo "adding_importer: the page lacks its code" >&2; exit 1; }
make --no-print-directory BUILD=build build/hologram > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; exit 1; }
compiled=$(grep -c '^  cc ' "$work"/make.log)
[ "$compiled" -le 2 ] || { echo "adding_importer: $compiled files were compiled, not 1" >&2; cat "$work"/make.log >&2; exit 1; }

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
fail() { echo "adding_importer: $1" >&2; exit 1; }
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
