#!/bin/sh
# install.sh - installs into a temporary place and builds the examples against what is there alone: with pkg-config as C,
# a program as C++, a project with CMake where there is one. BUILD=build sh tests/install.sh
ROOT=$(cd "$(dirname "$0")/.." && pwd) || exit 1
BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
CC=${CC:-gcc} CXX=${CXX:-g++} MAKE=${MAKE:-make}
TEST=install
TALLY=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$TALLY"' EXIT
trap 'exit 1' INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL
. "$ROOT/tests/support/checks.sh"
cd "$work" || exit 1

# ---- what is installed

prefix=/opt/hologram
there=$work/root$prefix
check 'make install' "$MAKE" -C "$ROOT" --no-print-directory install BUILD="$BUILD" DESTDIR="$work/root" PREFIX=$prefix
for file in bin/hologram include/hologram.h include/hologram_executor.h include/hologram_compiler.h include/hologram_listing.h include/hologram_atlas.h include/hologram_text.h include/hologram_image.h include/hologram.json include/hologram.hpp include/hologram_base.hpp lib/libhologram.a lib/libhologram-compiler.a \
    lib/libhologram.so lib/libhologram.so.0 lib/libhologram-compiler.so lib/pkgconfig/hologram.pc \
    lib/pkgconfig/hologram-compiler.pc lib/cmake/Hologram/HologramConfig.cmake share/man/man1/hologram.1 \
    share/man/man1/hologram-compile.1 share/man/man1/hologram-memo.1 share/bash-completion/completions/hologram \
    share/zsh/site-functions/_hologram share/fish/vendor_completions.d/hologram.fish; do
    check "$file is installed" test -s "$there/$file"
done
check 'nothing is left to fill in' sh -c "! grep -rn '@[A-Z]*@' '$there'/lib/pkgconfig '$there'/lib/cmake"
check 'nothing names the temporary place' sh -c "! grep -rnF '$work' '$there'/lib/pkgconfig '$there'/lib/cmake '$there'/include"
export LD_LIBRARY_PATH="$there/lib"
export PKG_CONFIG_SYSROOT_DIR="$work/root" PKG_CONFIG_LIBDIR="$there/lib/pkgconfig"
version=$(sed -n 's/^#define HOLO_VERSION_[A-Z]* *//p' "$there/include/hologram.h" | paste -sd.)
check 'pkg-config knows the version' test "$(pkg-config --modversion hologram)" = "$version"
HOLOGRAM=$there/bin/hologram
gives 0 "$version" hologram version
gives 0 'verified' hologram compile "$MODEL" -o digits.holo

# It is installed without what debuggers read, and is small.
check 'the runtime has no symbols but its own' sh -c "! readelf -S '$there/lib/libhologram.so' | grep -qE '\\.(symtab|debug_info)'"
check 'the runtime takes 5 MB at most' sh "$ROOT/tools/size.sh" "$there/lib/libhologram.so.0"

# The runtime needs nothing but the C library, and shows nothing but its API.
readelf -d "$there/lib/libhologram.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' > needed
check 'the runtime needs libc alone' sh -c '! grep -vE "^(libc|libm|libpthread|ld-linux.*)\.so" needed'
for lib in libhologram.so libhologram-compiler.so; do
    check "$lib shows holo_* alone" sh -c "! nm -D --defined-only '$there/lib/$lib' | awk '{ print \$NF }' | grep -v '^holo_'"
    sed -n 's/^HOLO_API.*[ *]\(holo_[a-z0-9_]*\)(.*/\1/p' "$there"/include/hologram.h "$there"/include/hologram_executor.h "$there"/include/hologram_atlas.h > wanted
    nm -D --defined-only "$there/lib/libhologram.so" | awk '{ print $NF }' > shown
    check 'every function of hologram.h and hologram_atlas.h is there' sh -c '! grep -vxFf shown wanted'
done

# ---- C, by pkg-config

warnings='-std=c11 -O1 -Wall -Wextra -Werror -pedantic'
for example in "$ROOT"/examples/*.c; do
    name=$(basename "$example" .c)
    cp "$example" . # so that nothing beside it is found
    check "$name.c builds" sh -c "$CC $warnings $name.c \$(pkg-config --cflags --libs hologram) -pthread -o $name"
    check "$name runs" ./"$name" digits.holo
    check "$name.c builds with the static library" sh -c \
        "$CC $warnings $name.c \$(pkg-config --cflags hologram) $there/lib/libhologram.a -lm -pthread -o static_$name"
    check "$name runs without the shared one" env -u LD_LIBRARY_PATH ./"static_$name" digits.holo
done
gives 0 'probabilities (f32, 10 elements): ' ./first_run digits.holo
gives 0 'the same answer, bit for bit' ./threads digits.holo 3
gives 0 'probabilities is [16, 10]' ./dynamic digits.holo
gives 1 'no-such.holo' ./first_run no-such.holo

# ---- C++, with the compiler's library too

cat > program.cpp <<'CPP'
#include <hologram_compiler.h>

#include <cstdio>
#include <vector>

int main(int, char **argv)
{
    HoloError  error = {};
    HoloModel *model = nullptr;
    if (holo_compile_model(nullptr, argv[1], &model, nullptr, &error)) return std::puts(error.text), 1;
    HoloSession *session = nullptr;
    if (holo_session_create(model, nullptr, &session, &error)) return std::puts(error.text), 1;
    std::vector<float> image(64, 1.0f);
    HoloTensor         x = holo_model_input(model, 0)->type, y;
    x.dim[0] = 1;
    x.data   = image.data();
    if (holo_session_set_input(session, 0, &x, &error) || holo_session_run(session, &error) ||
        holo_session_output(session, 0, &y, &error))
        return std::puts(error.text), 1;
    std::printf("%lld numbers of type %s\n", (long long)holo_tensor_count(&y), holo_dtype_name(HoloDtype(y.dtype)));
    holo_session_destroy(session);
    holo_model_close(model);
}
CPP
if command -v "$CXX" > /dev/null; then
    check 'a program in C++ builds' sh -c \
        "$CXX -std=c++11 -Wall -Wextra -Werror -pedantic program.cpp \$(pkg-config --cflags --libs hologram-compiler) -o program"
    gives 0 '10 numbers of type f32' ./program "$MODEL"
fi

# ---- CMake

if command -v cmake > /dev/null; then
    mkdir project
    cp first_run.c program.cpp project
    cat > project/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.10)
project(example C CXX)
find_package(Hologram $version REQUIRED)
add_executable(first_run first_run.c)
target_link_libraries(first_run Hologram::hologram)
add_executable(program program.cpp)
target_link_libraries(program Hologram::compiler)
CMAKE
    check 'CMake finds the package' cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$there"
    check 'and builds with it' cmake --build project/build
    gives 0 'probabilities (f32, 10 elements): ' project/build/first_run digits.holo
    gives 0 '10 numbers of type f32' project/build/program "$MODEL"

    # The examples in C++, by the project that is beside them.
    cp -R "$ROOT/examples/cpp" examples
    check 'CMake finds the package for C++' cmake -S examples -B examples/build -DCMAKE_PREFIX_PATH="$there"
    check 'and builds the examples' cmake --build examples/build
    gives 0 '7' examples/build/first_run "$MODEL" "$SEVEN"
    gives 1 'no-such.onnx' examples/build/first_run no-such.onnx "$SEVEN"
    gives 0 '4 images: 40 numbers' examples/build/batches digits.holo
    gives 1 'no-such.holo' examples/build/batches no-such.holo
else
    echo "install: cmake is not installed: the package for it is not tested"
fi

# ---- and taken away again: what was put there, and nothing else

for command in $(HOLOGRAM=$BUILD/hologram; "$HOLOGRAM" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    check "$command has a manual page" test -s "$there/share/man/man1/hologram-$command.1"
done
echo theirs > "$there/bin/theirs"
echo theirs > "$there/share/man/man1/theirs.1"
check 'make uninstall' "$MAKE" -C "$ROOT" --no-print-directory uninstall BUILD="$BUILD" DESTDIR="$work/root" PREFIX=$prefix
(cd "$there" && find . -type f -o -type l) | sort > left
printf './bin/theirs\n./share/man/man1/theirs.1\n' > wanted
check 'what others put there is left, and nothing else' cmp left wanted
check 'twice does no harm' "$MAKE" -C "$ROOT" --no-print-directory uninstall BUILD="$BUILD" DESTDIR="$work/root" PREFIX=$prefix

passed=$(grep -c '^passed$' "$TALLY")
failed=$(grep -c '^failed$' "$TALLY")
echo "install: $passed passed, $failed failed"
[ "$failed" = 0 ]
