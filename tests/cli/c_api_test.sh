#!/bin/sh
# The code of docs/c-api.md, put together, compiles without a warning and runs.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$root"/docs/c-api.md > "$work"/page.c
[ -s "$work"/page.c ] || { echo "c_api: there is no code in docs/c-api.md" >&2; exit 1; }
${CC:-gcc} -std=c11 -Wall -Wextra -Werror ${SANITIZE:+-fsanitize=$SANITIZE} -I"$root"/include "$work"/page.c \
    "$build"/libhologram-compiler.a "$build"/libhologram.a -ljansson -lz -lm -pthread -o "$work"/page
"$work"/page "$root"/demo/digits.onnx "$work"/digits.holo > "$work"/out 2>&1 || { cat "$work"/out >&2; echo "c_api: the program failed" >&2; exit 1; }
grep -q 'verified: yes' "$work"/out && grep -q '^input ' "$work"/out || { cat "$work"/out >&2; exit 1; }
echo "c_api: the page's code works"
