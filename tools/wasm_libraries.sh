#!/bin/sh
# wasm_libraries.sh BUILD - objects of zlib and Jansson for WebAssembly, in BUILD/others, from Debian's sources. CC says how to compile.
build=$(cd "$1" && pwd) && cd "$(dirname "$0")/.." || exit 1
root=$build/root/usr
sh tools/sources.sh "$build/source" zlib jansson || {
    echo "apt-get could not fetch the sources of zlib and Jansson (apt-get source)" >&2
    exit 1
}
zlib=$(echo "$build"/source/zlib-*) jansson=$(echo "$build"/source/jansson-*)
mkdir -p "$root/include" "$build/others"
cp /usr/include/jansson.h "$zlib/zlib.h" "$zlib/zconf.h" "$root/include/" &&
    cp "$(find /usr/include -name jansson_config.h | head -n 1)" "$root/include/" || exit 1
printf '#define HAVE_%s 1\n' STDINT_H INTTYPES_H STRTOLL > "$root/include/jansson_private_config.h"

# library NAME FLAGS FILES...
library() {
    name=$1 flags=$2
    shift 2
    mkdir -p "$build/others/$name"
    for file; do
        # shellcheck disable=SC2086
        $CC -Os -w -ffunction-sections $flags -c "$file" -o "$build/others/$name/$(basename "$file" .c).o" || exit 1
    done
}
library z "-I$zlib" "$zlib"/adler32.c "$zlib"/crc32.c "$zlib"/inf[flt]*.c "$zlib"/zutil.c "$zlib"/deflate.c "$zlib"/trees.c "$zlib"/compress.c "$zlib"/uncompr.c
library jansson "-DHAVE_CONFIG_H -I$root/include -I$jansson/src" "$jansson"/src/*.c
touch "$build/others/whole"
