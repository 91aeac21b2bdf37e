#!/bin/sh
# stdlib.sh [FILE.holo] - the standard library of kernels as a C file: the bytes of the archive, or of none.
echo '#include <stdint.h>'
echo 'extern const uint8_t holo_stdlib_bytes[];'
echo 'extern const uint64_t holo_stdlib_size;'
if [ $# = 0 ]; then
    echo '_Alignas(64) const uint8_t holo_stdlib_bytes[1] = {0};'
    echo 'const uint64_t holo_stdlib_size = 0;'
else
    echo '_Alignas(64) const uint8_t holo_stdlib_bytes[] = {'
    od -An -v -tu1 "$1" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo '};'
    echo 'const uint64_t holo_stdlib_size = sizeof holo_stdlib_bytes;'
fi
