#!/bin/sh
# devices_registry.sh [FOLDER...] - writes the table of devices: of each NAME_device.c in a folder of src/devices/ or in FOLDER
# the row holo_device_NAME, the CPU's first.
# WITHOUT names one that is left out.
cd "$(dirname "$0")/.." || exit 1
names=$(for f in $(find src/devices "$@" -name '*_device.c' | sort); do basename "$f" _device.c; done | grep -vxF "${WITHOUT:-none}" | sort -u)
echo '#include "devices/device.h"'
for n in $names; do echo "extern const HoloDevice holo_device_$n;"; done
echo 'const HoloDevice *const holo_devices[] = {'
echo '    &holo_device_cpu,'
for n in $names; do [ "$n" = cpu ] || echo "    &holo_device_$n,"; done
echo '    NULL,'
echo '};'
