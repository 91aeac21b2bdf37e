#!/bin/sh
# stdlib.sh [FILE.holo] - the standard library of kernels as a C file: the bytes of the archive, or of none, packed. Packed
# bytes are turns of: a count and as many bytes as they are; a count of bytes that have been there before, and how far
# back, its low byte first. src/runtime/programs.c unpacks them.
if [ $# = 0 ]; then
    cat << 'END'
#include <stdint.h>
extern const uint8_t holo_stdlib_packed[];
extern const uint64_t holo_stdlib_packed_size, holo_stdlib_size;
const uint8_t holo_stdlib_packed[1] = {0};
const uint64_t holo_stdlib_packed_size = 0, holo_stdlib_size = 0;
END
    exit
fi
od -An -v -tu1 "$1" | awk '
    { for (i = 1; i <= NF; i++) byte[n++] = $i }
    function key_at(i) { return byte[i] "," byte[i + 1] "," byte[i + 2] "," byte[i + 3] "," byte[i + 4] }
    function learn(i,  key) {
        key = key_at(i)
        before[i] = key in last ? last[key] : -1
        last[key] = i
    }
    function turn(count, back,  i) {
        printf "%d,", plain
        for (i = at - plain; i < at; i++) printf "%d,", byte[i]
        printf "%d,%d,%d,\n", count, back % 256, int(back / 256)
        plain = 0
    }
    END {
        print "#include <stdint.h>"
        print "extern const uint8_t holo_stdlib_packed[];"
        print "extern const uint64_t holo_stdlib_packed_size, holo_stdlib_size;"
        print "const uint8_t holo_stdlib_packed[] = {"
        while (at < n) {
            key = key_at(at)
            count = 0
            tries = 40
            for (p = key in last ? last[key] : -1; p >= 0 && at - p < 65536 && tries-- && count < 255; p = before[p]) {
                same = 0
                while (at + same < n && same < 255 && byte[p + same] == byte[at + same]) same++
                if (same > count) { count = same; from = p }
            }
            if (count < 5) { learn(at); at++; if (++plain == 255) turn(0, 0); continue }
            turn(count, at - from)
            while (count--) learn(at++)
        }
        turn(0, 0)
        print "};"
        print "const uint64_t holo_stdlib_packed_size = sizeof holo_stdlib_packed;"
        print "const uint64_t holo_stdlib_size = " n ";"
    }'
