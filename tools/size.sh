#!/bin/sh
# size.sh FILE.so - fails where the runtime, as it is installed, is larger than it may be; -v: tells what takes how much.
# What is compiled once for each CPU level costs three times its size: see src/kernels/levels/level.h before the limit is raised.
limit=5000000
verbose=
[ "$1" = -v ] && { verbose=1; shift; }
lean=$(mktemp) && trap 'rm -f "$lean"' EXIT
"${STRIP:-strip}" --strip-unneeded -o "$lean" "$1" || exit 1
size=$(wc -c < "$lean")
if [ -n "$verbose" ]; then
    nm -S --size-sort -t d "$1" | awk 'NF == 4 { print $2 + 0, $4 }' | sort -rn | head -40
    size "$(dirname "$1")"/obj/level_*.o
fi
if [ "$size" -gt $limit ]; then
    echo "size: $1 is $size bytes without symbols, and may be $limit (tools/size.sh -v $1)"
    exit 1
fi
echo "size: $size bytes of $limit"
