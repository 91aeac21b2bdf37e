#!/bin/sh
# unit.sh TEST - runs a unit test: one line when it passes, and what it left out; all that it printed when it fails.
# Files of tests need no disk.
[ ! -w /dev/shm ] || export TMPDIR="${TMPDIR:-/dev/shm}"
name=$(basename "$1") begin=$(date +%s)
case $1 in */watched/*) name="$name, watched" ;; esac
if "$1" > "$1.log" 2>&1; then
    grep '^under sanitizers' "$1.log" | sed "s|^|  $name: |"
    seconds=$(($(date +%s) - begin))
    [ $seconds -lt 3 ] && seconds='' || seconds=", $seconds s" # the slow ones are worth knowing
    grep -E 'PASSED|passed' "$1.log" | tail -1 | sed "s|\[  PASSED  \] |$name: |; s|test(s)\.|passed|; s|\$|$seconds|"
else
    cat "$1.log"
    echo "$1 failed"
    exit 255 # ends xargs
fi
