#!/bin/sh
# Writes the list of tables of importers: every `holo_importers_NAME` that a source in src/import/ or its folders defines.
# IMPORT_WITHOUT names folders that are left out.
cd "$(dirname "$0")/.." || exit 1
without=
for folder in $IMPORT_WITHOUT; do without="$without -path src/import/$folder -prune -o"; done
# shellcheck disable=SC2086
names=$(find src/import $without -name '*.c' -exec sed -n 's/^const HoloImporter holo_importers_\([a-z0-9_]*\)\[\].*/\1/p' {} + | sort)
echo '#include "import/importer.h"'
for n in $names; do echo "extern const HoloImporter holo_importers_$n[];"; done
echo 'const HoloImporter *const holo_importer_tables[] = {'
for n in $names; do echo "    holo_importers_$n,"; done
echo '    NULL,'
echo '};'
