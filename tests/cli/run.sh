#!/bin/sh
# run.sh [NAME...] - every *_test.sh of this folder, or those named: HOLOGRAM=build/hologram sh tests/cli/run.sh
#
# Each test runs in an empty folder of its own, as many at once as there are cores. One that sources $CHECKS (tests/support/checks.sh) counts each of its
# checks, any other counts as one, by its exit status. Failures come with what was printed; the last line is 'N passed,
# N failed'.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
ROOT=$(cd "$here/../.." && pwd)
HOLOGRAM=$(realpath "${HOLOGRAM:-$ROOT/build/hologram}") || exit 1
CHECKS=$ROOT/tests/support/checks.sh

# One test, called by the loop below: what it counted goes to $top/NAME.tally.
if [ "$1" = --one ]; then
    TEST=$(basename "$2" _test.sh)
    TALLY=$top/$TEST.tally begin=$(date +%s)
    export TEST TALLY
    : > "$TALLY"
    mkdir "$top/$TEST" && cd "$top/$TEST" || exit 1
    if sh "$2" > "$top/$TEST.log" 2>&1; then
        [ -s "$TALLY" ] || echo passed >> "$TALLY"
    else
        echo failed >> "$TALLY"
        echo "$TEST: ended with a failure" >> "$top/$TEST.log"
    fi
    ! grep -q '^failed$' "$TALLY" || cat "$top/$TEST.log"
    echo "$(($(date +%s) - begin)) $TEST" > "$top/$TEST.seconds"
    cd "$top" && chmod -R u+w "$TEST" && rm -rf "$TEST"
    exit 0
fi

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
export ROOT HOLOGRAM CHECKS top
export LC_ALL=C NO_COLOR=1
for setting in THREADS NUMERIC SIZE VERIFY STRICT SECONDS RTOL ATOL JOBS TIMEOUT COLOR MEMORY_LIMIT; do unset "HOLOGRAM_$setting"; done
unset HOLO_CPU
[ -x "$HOLOGRAM" ] || { echo "$HOLOGRAM is not there: make"; exit 1; }

[ $# -gt 0 ] || set -- "$here"/*_test.sh
for file; do
    [ -f "$file" ] || file=$here/${file}_test.sh
    echo "$file"
done | xargs -P "$(nproc)" -n 1 sh "$here/run.sh" --one
passed=$(cat "$top"/*.tally | grep -c '^passed$')
failed=$(cat "$top"/*.tally | grep -c '^failed$')
[ $# = 1 ] || echo "cli: the slowest took, in seconds: $(cat "$top"/*.seconds | sort -nr | head -n 8 | awk '{ printf "%s %s  ", $2, $1 }')"
echo "cli: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
