# Every public function is in docs/c-api.md, and every function that it names is public.
. "$CHECKS"
functions() { cat "$@" | grep -oE '\bholo_[a-z0-9_]+\(' | tr -d '(' | sort -u; }
cat "$ROOT"/include/*.h |
    tr '\n' ' ' | grep -oE 'HOLO_API [^;]*;' | grep -oE '\bholo_[a-z0-9_]+ ?\(' | tr -d '( ' | sort -u > public
check "the headers have functions" test "$(wc -l < public)" -gt 150
grep -oE '\bholo_[a-z0-9_]+' "$ROOT/docs/c-api.md" | grep -v '_$' | sort -u > named
comm -23 public named > missing
comm -13 public named > gone
check "functions that docs/c-api.md leaves out: $(tr '\n' ' ' < missing)" test ! -s missing
check "functions of docs/c-api.md that are not there: $(tr '\n' ' ' < gone)" test ! -s gone
