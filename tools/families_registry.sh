#!/bin/sh
# Writes the texts of src/models/ as a C file: blocks.family, which all share, then those of the families.
cd "$(dirname "$0")/.." || exit 1
echo '#include "models/families.h"'
echo 'const HoloFamilyText holo_family_texts[] = {'
for f in src/models/blocks.family $(ls src/models/*.family | grep -v '/blocks\.family$'); do
    echo "    {\"$(basename "$f")\","
    sed 's/\\/\\\\/g; s/"/\\"/g; s/^/     "/; s/$/\\n"/' "$f"
    echo '    },'
done
echo '    {0},'
echo '};'
