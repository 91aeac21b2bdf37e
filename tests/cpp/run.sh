#!/bin/sh
# run.sh - hologram.hpp with every compiler that is there, as C++17 and C++20, with exceptions and with results (two of the four run, all are
# read); one of each under the address sanitizer; and the code of docs/cpp.md. BUILD=build sh tests/cpp/run.sh
ROOT=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
TEST=cpp
TALLY=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$TALLY"' EXIT
trap 'exit 1' INT TERM
. "$ROOT/tests/support/checks.sh"
cd "$work" || exit 1
export LD_LIBRARY_PATH="$BUILD"
warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror'
libraries="-I$ROOT/include -L$BUILD -lhologram-compiler -lhologram -pthread"
kernels=$ROOT/kernels/stdlib/vector/vector_add.py

compilers=
for cxx in g++ clang++; do
    if command -v $cxx > /dev/null; then compilers="$compilers $cxx"; else echo "cpp: $cxx is not installed: not tested with it"; fi
done
check 'there is a compiler' test -n "$compilers"

tries() { # CXX FLAGS...: the test builds without a warning, and passes
    mkdir -p files
    check "$* builds" "$@" $warnings "$ROOT/tests/cpp/api_test.cpp" $libraries -o api_test
    gives 0 ' checks' ./api_test "$MODEL" "$kernels" files
    rm -rf api_test files
}
reads() { # CXX FLAGS...: the compiler has nothing to say of it
    check "$* reads it" "$@" $warnings -fsyntax-only -I"$ROOT/include" "$ROOT/tests/cpp/api_test.cpp"
}
for cxx in $compilers; do
    tries $cxx -std=c++17
    tries $cxx -std=c++20 -DHOLOGRAM_NO_EXCEPTIONS
    reads $cxx -std=c++20
    reads $cxx -std=c++17 -DHOLOGRAM_NO_EXCEPTIONS
    reads $cxx -std=c++17 -fno-exceptions
done
cxx=${compilers##* }
tries $cxx -std=c++17 -g -fsanitize=address,undefined -fno-sanitize-recover=all
tries $cxx -std=c++20 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DHOLOGRAM_NO_EXCEPTIONS

# Sources of both kinds in one program; and one that only runs archives needs the runtime alone.
cat > both.cpp <<'CPP'
#include <hologram.hpp>
bool results_open(const char *path);
int  main(int, char **argv) { return hologram::Model::open(argv[1]).outputs().size() == 1 && results_open(argv[1]) ? 0 : 1; }
CPP
check 'an archive to open' "$BUILD/hologram" compile "$MODEL" -o digits.holo -q
check 'both kinds build, without the compiler library' $cxx -std=c++17 $warnings -I"$ROOT/include" both.cpp "$ROOT/tests/cpp/results.cpp" \
    -L"$BUILD" -lhologram -o both
check 'both kinds run' ./both digits.holo

# The code of docs/cpp.md: its first block is a program, and all that follow are another one.
ln -s "$ROOT/demo" demo
awk '/^```cpp$/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (n == 1 ? "first.cpp" : "rest.cpp") }' "$ROOT/docs/cpp.md"
check 'the first program of docs/cpp.md has ten lines at most' test "$(grep -c . first.cpp)" -le 12
check 'the first program of docs/cpp.md builds' $cxx -std=c++17 $warnings first.cpp $libraries -o first
gives 0 '7' ./first
check 'the rest of docs/cpp.md builds' $cxx -std=c++17 $warnings rest.cpp $libraries -o rest
check 'the rest of docs/cpp.md runs' ./rest

passed=$(grep -c '^passed$' "$TALLY")
failed=$(grep -c '^failed$' "$TALLY")
echo "cpp: $passed passed, $failed failed"
[ "$failed" = 0 ]
