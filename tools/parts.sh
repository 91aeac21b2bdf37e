#!/bin/sh
# parts.sh AT_ONCE PART... - runs the parts, so many at once, in their order, and says how many seconds each took.
#
# A part is a target, which CALL makes (a make with its options), or 'GROUP: COMMAND': the seconds of a group are told as one sum.
# One at a time, a part prints as it goes; several at once, each prints all of it at its end. All are run, also if one of them
# fails; the last lines say which failed, and so does the exit status.
if [ "$1" = --one ]; then
    begin=$(date +%s) status=0
    case $3 in
    *': '*) group=${3%%: *} command=${3#*: } ;;
    *) group='' command="$CALL --no-print-directory $3" ;;
    esac
    if [ "$2" = 1 ]; then
        sh -c "$command" || status=1
    else
        text=$(mktemp)
        sh -c "$command" > "$text" 2>&1 || status=1
        cat "$text"
        rm -f "$text"
    fi
    seconds=$(($(date +%s) - begin))
    [ $status = 0 ] && said= || said=' and failed'
    if [ -n "$group" ]; then
        echo "$group $seconds" >> "$sums"
    else
        echo "-- $3 took $seconds s$said"
    fi
    [ $status = 0 ] || echo "${group:-make} ${command##* }" >> "$failed"
    exit 0
fi
at_once=$1
shift
failed=$(mktemp) sums=$(mktemp) && export failed sums CALL || exit 1
trap 'rm -f "$failed" "$sums"' EXIT
trap 'exit 1' INT TERM
[ $# = 0 ] || printf '%s\n' "$@" | xargs -d '\n' -P "$at_once" -n 1 sh "$0" --one "$at_once"
awk '{ n[$1]++; s[$1] += $2 } END { for (g in n) print "-- " n[g] " of " g " took " s[g] " s one after the other" }' "$sums"
[ ! -s "$failed" ] || { sed 's/^/failed: /' "$failed"; exit 1; }
