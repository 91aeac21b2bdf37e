#!/bin/sh
# docs/adding-a-pass.md, done as it says in a copy of the tree: the pass is built, its case comes out, and the program lists it.
# Only what changes is compiled: the objects of the build that is being tested are used for the rest.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
page=$root/docs/adding-a-pass.md
[ -d "$build"/obj ] || { echo "adding_pass: $build has no objects: run make" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work"/tree "$work"/tree/build
cp -a "$root"/Makefile "$root"/include "$root"/src "$root"/cli "$root"/tools "$root"/kernels "$root"/tests "$work"/tree/
cp -a "$build"/obj "$build"/stdlib.holo "$build"/stdlib.c "$work"/tree/build/
cd "$work"/tree
find build/obj -name '*.d' -delete # they name the other build
touch build/stdlib.holo build/stdlib.c
find build/obj -name '*.o' -exec touch {} +

# The code that follows a mark on the page.
block() { awk -v mark="<!-- $1" 'index($0, mark) == 1 { want = 1; next } want && /^```/ { if (on) exit; on = 1; next } on' "$page"; }
put() { # FILE TEXT: the block behind the line of FILE that has TEXT
    block "behind $2" > "$work"/block
    line=$(grep -nF "$2" "$1" | head -1 | cut -d: -f1)
    [ -s "$work"/block ] && [ -n "$line" ] || { echo "adding_pass: the page or $1 lacks $2" >&2; exit 1; }
    sed -i "${line}r $work/block" "$1"
}
for file in tests/passes/negations.txt src/passes/simplify/negations.c; do
    block "file: $file" > "$file"
    [ -s "$file" ] || { echo "adding_pass: the page lacks $file" >&2; exit 1; }
done
put src/passes/passes.h 'holo_pass_widen;'
put src/passes/passes.c '{"simplify"'
make --no-print-directory build/hologram build/tests/passes_test > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; exit 1; }
compiled=$(grep -c '^  cc ' "$work"/make.log)
[ "$compiled" -le 3 ] || { echo "adding_pass: $compiled files were compiled, not 2" >&2; cat "$work"/make.log >&2; exit 1; }

sed '1,/^out:$/d' tests/passes/negations.txt > "$work"/want
build/tests/passes_test tests/passes/negations.txt > "$work"/got || { cat "$work"/got >&2; exit 1; }
diff "$work"/want "$work"/got >&2 || { echo "adding_pass: another graph came out" >&2; exit 1; }
build/hologram help compile | grep -q 'negations .*what is negated twice' || { echo "adding_pass: help does not list it" >&2; exit 1; }
echo "adding_pass: the page's pass works"
