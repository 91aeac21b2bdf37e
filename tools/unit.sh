#!/bin/sh
# unit.sh TEST - runs a unit test: one line when it passes, all that it printed when it fails.
# Files of tests need no disk.
[ ! -w /dev/shm ] || export TMPDIR="${TMPDIR:-/dev/shm}"
if "$1" > "$1.log" 2>&1; then
    grep -E 'PASSED|passed' "$1.log" | tail -1
else
    cat "$1.log"
    echo "$1 failed"
    exit 255 # ends xargs
fi
