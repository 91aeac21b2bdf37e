# operators_doc_test.sh - docs/operators.md is what the program writes; `make operators` writes it again.
. "$CHECKS"

(cd "$ROOT" && "$HOLOGRAM" ops --markdown) > operators.md
check 'the page is written' grep -q '^| Conv | ' operators.md
check 'it names what does not agree' grep -q '^- `test_' operators.md
check 'docs/operators.md is up to date: make operators' cmp operators.md "$ROOT/docs/operators.md"
