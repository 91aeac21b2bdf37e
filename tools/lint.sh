#!/bin/sh
# lint.sh BUILD - the rules of the house that a machine can check. Prints each breach; fails if there is any.
build=${1:-build}
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp) && trap 'rm -f "$out"' EXIT

# Layering: src/DEPS says which room may see which, by its own includes and through other headers, as the compiler lists them.
# A source beside the rooms, as compile.c, has a row of its own name.
# One awk reads it all: src/DEPS, then the sources, then those lists of the compiler that are newer than their source.
sources=$(find src -name '*.[ch]')
lists=$(for f in $sources; do [ ! "$build/obj/${f%.c}.d" -nt "$f" ] || echo "$build/obj/${f%.c}.d"; done)
awk -v lists="$build/obj/" '
    function sees(room) { if (room != from && !((from, room) in ok) && !((FILENAME, room) in told)) { told[FILENAME, room]; print file ": " from " may not see " room "/" } }
    FNR == 1 { file = FILENAME; if (index(file, lists) == 1) { file = substr(file, length(lists) + 1); sub(/\.d$/, ".c", file) }
               from = file; sub(/^src\//, "", from); sub(/\/.*/, "", from); sub(/\.c$/, "", from) }
    FILENAME == "src/DEPS" { sub(/#.*/, ""); if (match($0, /^[a-z]+:/)) { room = substr($0, 1, RLENGTH - 1); for (i = 2; i <= NF; i++) ok[room, $i] }; next }
    FILENAME ~ /\.d$/ { while (match($0, /src\/[a-z]*\//)) { sees(substr($0, RSTART + 4, RLENGTH - 5)); $0 = substr($0, RSTART + RLENGTH) }; next }
    match($0, /^#include "[a-z]*\//) { sees(substr($0, 11, RLENGTH - 11)) }' src/DEPS $sources $lists | sort -u >> "$out"
for f in cli/*.[ch] serve/*.[ch] examples/*.c; do
    [ -f "$f" ] && grep -nE '^#include "[a-z_]+/' "$f" | grep -v ':#include "base/system.h"' | sed "s|^|$f: sees more than include/: |"
done >> "$out"

# Every header compiles alone; the public ones as C++ too.
for h in include/*.h $(find src -name '*.h') cli/*.h; do
    [ -f "$h" ] || continue
    case $h in src/kernels/vec/vec.h) std=gnu11 ;; *) std=c11 ;; esac
    echo "#include \"$h\"" | ${CC:-gcc} -std=$std -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Iinclude -Isrc -Icli -x c -fsyntax-only - \
        2>/dev/null || echo "$h: does not compile alone"
done >> "$out"
for h in include/*.hpp; do
    echo "#include \"$h\"" | g++ -std=c++17 -Wall -Wextra -Wshadow -Werror -pedantic -I. -Iinclude -x c++ -fsyntax-only - 2>/dev/null \
        || echo "$h: does not compile alone"
done >> "$out"
for h in include/*.h; do
    echo "#include \"$h\"" | g++ -std=c++11 -Wall -Wextra -Werror -pedantic -I. -Iinclude -x c++ -fsyntax-only - 2>/dev/null \
        || echo "$h: does not compile as C++"
done >> "$out"

# One prefix for all that is not static; nothing but tables from an object of a CPU level.
for lib in "$build"/libhologram.a "$build"/libhologram-compiler.a; do
    [ -f "$lib" ] && nm -g --defined-only "$lib" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(holo_|__|_?asan|_?ubsan)/ { print $3 }' |
        sed "s|^|$(basename "$lib"): a symbol without holo_: |"
done >> "$out"
for o in "$build"/obj/level_*.o; do
    [ -f "$o" ] && nm -g --defined-only "$o" | awk -v o="$o" '$3 ~ /^holo_/ && $3 !~ /^holo_kernels_/ { print o ": " $3 " is no table" }
        $3 ~ /^holo_kernels_/ { tables++ } END { if (!tables) print o ": no table" }'
done >> "$out"

# Budgets and habits.
files=$(find src cli serve include bindings fuzz/*.[ch] tests tools bench examples -name '*.[ch]')
grep -L 'Written by tools/' $files include/*.hpp src/devices/*/code/*.cu* | xargs wc -l | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines: a room wants a wall" }' >> "$out"
awk 'FNR == 1 { from = 0 } /^{$/ { from = FNR } /^}$/ { if (from && FNR - from - 1 > 60) print FILENAME ":" from ": a function of " FNR - from - 1 " lines: it does two things"; from = 0 }' \
    $files >> "$out"
# The same for JavaScript: a function begins with a line that ends with {, and ends with the } below its first letter.
scripts=$(find bindings tests bench tools \( -name '*.mjs' -o -name '*.cjs' -o -name '*.ts' \))
[ -z "$scripts" ] || wc -l $scripts | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines: a room wants a wall" }' >> "$out"
[ -z "$scripts" ] || awk 'FNR == 1 { from = 0 }
    !from && /^ *((export )?(async )?function|(static |async |get )*#?[a-zA-Z]+\(.*\) \{$|(export )?const [a-zA-Z]+ = .*=> \{$)/ && /\{$/ { from = FNR; match($0, /^ */); ends = substr($0, 1, RLENGTH) "}" }
    from && index($0, ends) == 1 { if (FNR - from - 1 > 60) print FILENAME ":" from ": a function of " FNR - from - 1 " lines: it does two things"; from = 0 }' $scripts >> "$out"
grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' src cli serve include bindings fuzz tests --include='*.[ch]' --include='*.cu*' --include='*.mjs' | sed 's|$|: finish it|' >> "$out"
grep -rnE '^#[[:space:]]*if' src --include='*.[ch]' | grep -vE '^src/(kernels/(vec/vec(_bytes|_double|_gather|_lanes|_level|_narrow)?\.h|cpu\.c)|base/os/os_|[a-z_/0-9]+\.h:[0-9]+:#ifndef HOLO_)' |
    sed 's|$|: conditionals belong into vec.h, vec_bytes.h, vec_double.h, vec_gather.h, vec_lanes.h, vec_level.h, vec_narrow.h, cpu.c and os_*.c|' >> "$out"
grep -rnE '\b(memmem|strptime|vasprintf|asprintf)\(' src cli --include='*.[ch]' --exclude-dir=os | sed 's|$|: Windows has no such function: base/bytes.h, base/system.h|' >> "$out"
find src -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d | sed 's|$|: the name is there twice|' >> "$out"
find src include cli serve -name '*.[ch]' -not -path 'src/base/os/*' | xargs sed -nE 's/^(typedef )?(struct|enum|union) (Holo[A-Za-z0-9]+) \{.*/\3/p' | sort | uniq -d |
    sed 's|$|: the type is defined twice: give one of them another name|' >> "$out"
# Operators are named by ids and asked for traits (docs/adding-an-operator.md): their names stand in ops/ alone, in what importers
# read, in graph text (patterns, and bodies of operators that are taken apart), and where the format itself knows one (Transfer).
if [ -x "$build"/hologram ]; then
    "$build"/hologram ops | sed -n 's/^  \([A-Za-z0-9_]*\).*/\1/p' > "$out".names
    find src -name '*.[ch]' | grep -vE '^src/(ops|import|vocabulary)/|^src/passes/fuse/(recognize_patterns|unfuse)\.c$|^src/format/archive_check\.c$' | sort |
        xargs awk 'FILENAME == ARGV[1] { is[$1]; next } { sub(/\/\/.*/, ""); while (match($0, /"[A-Za-z0-9_]+"/)) {
            name = substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH)
            if (name in is) print FILENAME ":" FNR ": names the operator " name ": ask for its id or for a trait of its row" } }' "$out".names
    rm -f "$out".names
fi >> "$out"
if command -v clang-format >/dev/null; then
    clang-format --dry-run -Werror include/*.h include/*.hpp examples/*.c examples/cpp/*.cpp tests/cpp/*.cpp $(find src cli serve bindings tests fuzz/*.[ch] bench -name '*.[ch]') 2>&1 |
        sed -n 's|^\([^:]*:[0-9]*\):.*error.*|\1: not as clang-format has it (make format)|p' | awk -F: '!seen[$1]++' >> "$out"
fi

# Arguments that add to a graph or a program: in one order with every compiler. Importers are not held to it yet.
python3 tools/order.py src src/import >> "$out"

# The description of the C API is what the headers say.
python3 tools/api.py --check 2>> "$out"

if [ -s "$out" ]; then cat "$out"; echo "lint: $(wc -l < "$out") to mend"; exit 1; fi
echo "lint: clean"
