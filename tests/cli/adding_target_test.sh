#!/bin/sh
# docs/adding-a-target.md, done as it says in a copy of the tree: the target is listed, gets its nodes, and stands in the archive.
# Only what changes is compiled: the objects of the build that is being tested are used for the rest.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
page=$root/docs/adding-a-target.md
fail() { echo "adding_target: $1" >&2; exit 1; }
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

mkdir src/lower/abacus
awk '/^<!-- file: src\/lower\/abacus/ { want = 1; next } want && /^```c/ { on = 1; next } /^```/ { if (on) exit } on' "$page" \
    > src/lower/abacus/abacus_target.c
[ -s src/lower/abacus/abacus_target.c ] || fail "the page lacks its code"
make --no-print-directory BUILD=build build/hologram > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; exit 1; }
compiled=$(grep -c '^  cc ' "$work"/make.log)
[ "$compiled" -le 2 ] || { cat "$work"/make.log >&2; fail "$compiled files were compiled, not 1"; }

! build/hologram compile "$root"/demo/digits.onnx --target sliderule -o "$work"/no.holo 2> "$work"/why || fail "there is no sliderule"
grep -q "there is no target 'sliderule'; there are: cpu, abacus" "$work"/why || fail "the targets are not listed: $(cat "$work"/why)"
build/hologram compile "$root"/demo/digits.onnx --target abacus --dump lower --no-verify -o "$work"/digits.holo > "$work"/graph 2> "$work"/report
[ "$(grep -c 'hologram::Transfer' "$work"/graph)" = 3 ] || fail "there are not 3 transfers: $(cat "$work"/graph)"
python3 "$root"/tools/holo_dump.py "$work"/digits.holo > "$work"/dump
grep -q abacus "$work"/dump || fail "the archive does not name the target"
! build/hologram run "$work"/digits.holo --input "$root"/demo/digits/01_is_7.npy 2> "$work"/why || fail "it runs without a device"
grep -q abacus "$work"/why || fail "who cannot run it does not say why: $(cat "$work"/why)"
echo "adding_target: the page's target works"
