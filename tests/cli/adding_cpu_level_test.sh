#!/bin/sh
# docs/adding-a-cpu-level.md, done as it says in a copy of the tree: the level is chosen by its name, and in class exact it gives the bits
# of another level. The new level is compiled without optimization, which takes less time.
. "$(dirname "$0")/../support/guide.sh"
machine=$(${CC:-gcc} -dumpmachine | cut -d- -f1)
[ "$machine" = x86_64 ] || { echo "adding_cpu_level: skipped: the page's level is for x86_64, and this is $machine"; exit 0; }
guide_begin docs/adding-a-cpu-level.md
sed -i 's/-O2 -msse4.2/-O0 -Wno-error -msse4.2/' src/kernels/LEVELS
touch build/obj/level_*.o
guide_make 5 SMALL="-O0 -Wno-error" build/hologram

for level in sse42 sse2; do
    HOLO_CPU=$level build/hologram --version | grep -q "($level)" || fail "HOLO_CPU=$level does not choose the level"
    HOLO_CPU=$level build/hologram compile "$root"/demo/digits.onnx --numeric exact -o "$work"/$level.holo --json > "$work"/report
    grep -q '"verified": true' "$work"/report || fail "$level: not verified"
    HOLO_CPU=$level build/hologram run "$work"/$level.holo --input "$root"/demo/digits/01_is_7.npy --output "$work"/$level --quiet
done
for answer in "$work"/sse2/*.npy; do
    cmp "$answer" "$work"/sse42/"$(basename "$answer")" >&2 || fail "the levels have other bits"
done
[ "$(build/hologram --version)" = "$("$HOLOGRAM" --version)" ] || fail "the best level is another one"
echo "adding_cpu_level: the page's level works"
