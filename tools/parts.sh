#!/bin/sh
# parts.sh AT_ONCE TARGET... - makes the targets, so many at once, and says how many seconds each took. CALL is the make to call, with its options.
#
# One at a time, a target prints as it goes; several at once, each prints all of it at its end. All are made, also if one of them
# fails; the last lines say which failed, and so does the exit status.
if [ "$1" = --one ]; then
    begin=$(date +%s) status=0
    if [ "$2" = 1 ]; then
        $CALL --no-print-directory "$3" || status=1
    else
        text=$(mktemp)
        $CALL --no-print-directory "$3" > "$text" 2>&1 || status=1
        cat "$text"
        rm -f "$text"
    fi
    [ $status = 0 ] && said= || said=' and failed'
    echo "-- $3 took $(($(date +%s) - begin)) s$said"
    [ $status = 0 ] || echo "$3" >> "$failed"
    exit 0
fi
at_once=$1
shift
failed=$(mktemp) && export failed CALL || exit 1
trap 'rm -f "$failed"' EXIT
trap 'exit 1' INT TERM
[ $# = 0 ] || printf '%s\n' "$@" | xargs -P "$at_once" -n 1 sh "$0" --one "$at_once"
[ ! -s "$failed" ] || { sed 's/^/failed: make /' "$failed"; exit 1; }
