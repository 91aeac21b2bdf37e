#!/bin/sh
# run.sh [NAME...] - every *_test.sh of this folder, or those named: HOLOGRAM=build/hologram sh tests/cli/run.sh
#
# Each test runs in an empty folder of its own. One that sources $CHECKS (tests/support/checks.sh) counts each of its
# checks, any other counts as one, by its exit status. Failures come with what was printed; the last line is 'N passed,
# N failed'.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
ROOT=$(cd "$here/../.." && pwd)
HOLOGRAM=$(realpath "${HOLOGRAM:-$ROOT/build/hologram}") || exit 1
CHECKS=$ROOT/tests/support/checks.sh
TALLY=$(mktemp)
top=$(mktemp -d)
trap 'rm -rf "$top" "$TALLY"' EXIT
trap 'exit 1' INT TERM
export ROOT HOLOGRAM CHECKS TALLY
export LC_ALL=C NO_COLOR=1
for setting in THREADS NUMERIC VERIFY STRICT SECONDS RTOL ATOL JOBS TIMEOUT COLOR MEMORY_LIMIT; do unset "HOLOGRAM_$setting"; done
unset HOLO_CPU
[ -x "$HOLOGRAM" ] || { echo "$HOLOGRAM is not there: make"; exit 1; }

[ $# -gt 0 ] || set -- "$here"/*_test.sh
for file; do
    [ -f "$file" ] || file=$here/${file}_test.sh
    TEST=$(basename "$file" _test.sh)
    export TEST
    counted=$(wc -l < "$TALLY")
    mkdir "$top/$TEST" && cd "$top/$TEST" || exit 1
    if sh "$file" > "$top/log" 2>&1; then
        [ "$(wc -l < "$TALLY")" != "$counted" ] || echo passed >> "$TALLY"
    else
        echo failed >> "$TALLY"
        echo "$TEST: ended with a failure"
    fi
    tail -n +"$((counted + 1))" "$TALLY" | grep -q '^failed$' && cat "$top/log"
    cd "$top" && chmod -R u+w "$TEST" && rm -rf "$TEST"
done
passed=$(grep -c '^passed$' "$TALLY")
failed=$(grep -c '^failed$' "$TALLY")
echo "cli: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
