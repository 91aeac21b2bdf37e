#!/bin/sh
# docs/adding-a-pass.md, done as it says in a copy of the tree: the pass is built, its case passes, and the program lists it.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-a-pass.md
guide_make 3 build/hologram build/tests/passes_test

sed '1,/^out:$/d' tests/passes/negations.txt > "$work"/want
build/tests/passes_test tests/passes/negations.txt > "$work"/got || { cat "$work"/got >&2; exit 1; }
diff "$work"/want "$work"/got >&2 || fail "another graph came out"
build/hologram help compile | grep -q 'negations .*two negations in a row' || fail "help does not list it"
echo "adding_pass: the page's pass works"
