#!/bin/sh
# Writes the list of tables of importers: every `holo_importers_NAME` that a source in src/import/ or its folders defines.
cd "$(dirname "$0")/.." || exit 1
names=$(find src/import -name '*.c' -exec sed -n 's/^const HoloImporter holo_importers_\([a-z0-9_]*\)\[\].*/\1/p' {} + | sort)
echo '#include "import/importer.h"'
for n in $names; do echo "extern const HoloImporter holo_importers_$n[];"; done
echo 'const HoloImporter *const holo_importer_tables[] = {'
for n in $names; do echo "    holo_importers_$n,"; done
echo '    NULL,'
echo '};'
