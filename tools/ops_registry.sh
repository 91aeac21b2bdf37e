#!/bin/sh
# ops_registry.sh [FOLDER...] - writes the list of operator tables: one for each source in src/ops, or in the folders named
# alone, that defines `holo_ops_<file>`.
cd "$(dirname "$0")/.." || exit 1
[ $# = 0 ] && set -- src/ops
names=$(for f in $(find "$@" -name '*.c' | sort); do b=$(basename "$f" .c); grep -q "^const HoloOp holo_ops_$b\[\]" "$f" && echo "$b"; done)
echo '#include "ops/op.h"'
for n in $names; do echo "extern const HoloOp holo_ops_$n[];"; done
echo 'const HoloOp *const holo_op_families[] = {'
for n in $names; do echo "    holo_ops_$n,"; done
echo '    NULL,'
echo '};'
