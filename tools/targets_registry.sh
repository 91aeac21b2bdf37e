#!/bin/sh
# targets_registry.sh [FOLDER...] - writes the table of targets: of each NAME_target.c in a folder of src/lower/ or in FOLDER the
# row holo_target_NAME, the CPU's first.
# WITHOUT names one that is left out.
cd "$(dirname "$0")/.." || exit 1
names=$(for f in $(find src/lower "$@" -name '*_target.c' | sort); do basename "$f" _target.c; done | grep -vxF "${WITHOUT:-none}" | sort -u)
echo '#include "lower/target.h"'
for n in $names; do echo "extern const HoloTarget holo_target_$n;"; done
echo 'const HoloTarget *const holo_targets[] = {'
echo '    &holo_target_cpu,'
for n in $names; do [ "$n" = cpu ] || echo "    &holo_target_$n,"; done
echo '    NULL,'
echo '};'
