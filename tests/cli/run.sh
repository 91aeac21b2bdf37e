#!/bin/sh
# run.sh [NAME...] - every *_test.sh of this folder, or those named: HOLOGRAM=build/hologram sh tests/cli/run.sh
#
# Each test runs in a shell and a folder of its own, with the checks of tests/support/checks.sh. Ends with 'N passed,
# N failed'; fails when a check did, or when a test ended before its end.
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
for setting in THREADS NUMERIC VERIFY SECONDS RTOL ATOL JOBS TIMEOUT COLOR; do unset "HOLOGRAM_$setting"; done
unset HOLO_CPU
[ -x "$HOLOGRAM" ] || { echo "$HOLOGRAM is not there: make"; exit 1; }

[ $# -gt 0 ] || set -- "$here"/*_test.sh
for file; do
    [ -f "$file" ] || file=$here/${file}_test.sh
    TEST=$(basename "$file" _test.sh)
    export TEST
    mkdir "$top/$TEST" && cd "$top/$TEST" || exit 1
    sh -c '. "$CHECKS"; . "$1"' sh "$file" || { echo "$TEST: ended early, with status $?"; echo failed >> "$TALLY"; }
    cd "$top" && chmod -R u+w "$TEST" && rm -rf "$TEST"
done
passed=$(grep -c '^passed$' "$TALLY")
failed=$(grep -c '^failed$' "$TALLY")
echo "cli: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
