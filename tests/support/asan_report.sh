#!/bin/sh
# asan_report.sh NAME PATTERN LOG... - what sanitizers have written to logs: fails if there is a mistake, or memory was lost that a
# function took whose line of the report matches PATTERN. The program that loads the binding loses memory of its own.
name=$1 pattern=$2
shift 2
all=$(mktemp)
trap 'rm -f "$all"' EXIT
cat "$@" > "$all" 2> /dev/null
# A report is of paragraphs; one of memory that was lost tells who took it, first the function that did.
if grep -q 'ERROR: AddressSanitizer\|runtime error:' "$all" || awk -v RS= -v p="#[0-9]+ [^\n]*($pattern)" '/leak of/ && $0 ~ p' "$all" | grep -q .; then
    awk -v RS= -v ORS='\n\n' -v p="$pattern" '/ERROR: AddressSanitizer|runtime error:/ || $0 ~ p' "$all" | head -100
    exit 1
fi
echo "$name: no mistake, and nothing lost"
