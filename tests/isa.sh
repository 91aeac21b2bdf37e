#!/bin/sh
# isa.sh BUILD ARM NAMES... - the tests of numbers at every CPU level: by mask where this machine has it, by emulation for
# ARM, with the programs in ARM (empty: this machine is one). What is computed in class exact must have the same bits on
# all. A level that cannot be tested here is named.
build=$1 arm=$2
shift 2
names=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export work
unset HOLO_CPU
failed=0 missing=

# One test at a level: LEVEL NAME COMMAND... Its notes are of that name; its words come if it fails.
cat > "$work/one" << 'END'
level=$1 name=$2
shift 2
HOLO_CPU=$level HOLO_TEST_BITS=$work/bits.$level.$name "$@" > "$work/log.$level.$name" 2>&1 && exit 0
cat "$work/log.$level.$name"
echo "isa: ${name}_test fails at level $level"
exit 1
END

# at LEVEL FOLDER EMULATOR NAMES...: tests at a level, as many at a time as there are cores.
at() {
    level=$1 folder=$2 emulator=$3
    shift 3
    if [ "$(HOLO_CPU=$level $emulator "$folder/hologram" --version 2>/dev/null | sed 's/.*(\(.*\))/\1/')" != "$level" ]; then
        missing="$missing $level"
        return
    fi
    echo "  isa   $level"
    for name; do echo "$level $name $emulator $folder/tests/${name}_test"; done |
        xargs -P "$(nproc)" -L 1 sh "$work/one" || failed=1
}

# These go over all the tables of the machine up to the level that is chosen: once, at the best level, is enough.
tables="blocks_kernel codes conv_i8 kernels map_kernel rows_kernel int8 conv_nhwc attention_kernel fused_bits"
rest=
for name in $names; do case " $tables " in *" $name "*) ;; *) rest="$rest $name" ;; esac; done

# shellcheck disable=SC2086 # lists of words
if [ "$arm" ]; then
    best=$("$build/hologram" --version | sed 's/.*(\(.*\))/\1/')
    for level in sse2 avx2 avx512 avx512vnni avx512vbmi; do
        if [ "$level" = "$best" ]; then at $level "$build" "" $names; else at $level "$build" "" $rest; fi
    done
    at neon "$arm" "qemu-aarch64 -cpu cortex-a57 -L /usr/aarch64-linux-gnu" $names
    at neondot "$arm" "qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu" blocks_kernel conv_i8 int8 session
else
    missing=" sse2 avx2 avx512 avx512vnni avx512vbmi"
    at neon "$build" "" $names
    at neondot "$build" "" $names
fi

# The notes of each test, against those of the first level that has it.
for name in $names; do
    first=
    for notes in "$work"/bits.*."$name"; do
        [ -f "$notes" ] || continue
        if [ -z "$first" ]; then
            first=$notes
        elif ! cmp -s "$first" "$notes"; then
            echo "isa: ${name}_test: class exact gives other bits at ${notes##*/bits.} than at ${first##*/bits.}"
            diff "$first" "$notes" | head -20
            failed=1
        fi
    done
    [ -z "$first" ] || echo "  same  $name: $(wc -l < "$first") results at $(ls "$work"/bits.*."$name" | wc -l) levels"
done
[ -z "$missing" ] || echo "isa: not tested, this machine cannot run them:$missing"
[ $failed = 0 ] && echo "isa: passed"
exit $failed
