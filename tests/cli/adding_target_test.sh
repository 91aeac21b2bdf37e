#!/bin/sh
# docs/adding-a-target.md, done as it says in a copy of the tree: the target is listed, gets its nodes, and the archive names it.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-a-target.md
guide_make 2 build/hologram

! build/hologram compile "$root"/demo/digits.onnx --target sliderule -o "$work"/no.holo 2> "$work"/why || fail "there is no sliderule"
grep -q "there is no target 'sliderule'; there are: cpu, abacus" "$work"/why || fail "the targets are not listed: $(cat "$work"/why)"
build/hologram compile "$root"/demo/digits.onnx --target abacus --dump lower --no-verify -o "$work"/digits.holo > "$work"/graph 2> "$work"/report
[ "$(grep -c 'hologram::Transfer' "$work"/graph)" = 3 ] || fail "there are not 3 transfers: $(cat "$work"/graph)"
python3 "$root"/tools/holo_dump.py "$work"/digits.holo > "$work"/dump
grep -q abacus "$work"/dump || fail "the archive does not name the target"
! build/hologram run "$work"/digits.holo --input "$root"/demo/digits/01_is_7.npy 2> "$work"/why || fail "it runs without a device"
grep -q abacus "$work"/why || fail "who cannot run it does not say why: $(cat "$work"/why)"
echo "adding_target: the page's target works"
