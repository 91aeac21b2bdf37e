#!/bin/sh
# unit.sh TEST - runs a unit test: one line when it passes, and what it left out; all that it printed when it fails.
# Files of tests need no disk.
[ ! -w /dev/shm ] || export TMPDIR="${TMPDIR:-/dev/shm}"
if "$1" > "$1.log" 2>&1; then
    grep '^under sanitizers' "$1.log" | sed "s|^|  $(basename "$1"): |"
    grep -E 'PASSED|passed' "$1.log" | tail -1
else
    cat "$1.log"
    echo "$1 failed"
    exit 255 # ends xargs
fi
