#!/bin/sh
# Writes the texts of src/models/ as a C file: those that all share, which have no line "family NAME", then the families.
cd "$(dirname "$0")/.." || exit 1
echo '#include "models/families.h"'
echo 'const HoloFamilyText holo_family_texts[] = {'
for f in $(grep -L '^family ' src/models/*.family) $(grep -l '^family ' src/models/*.family); do
    echo "    {\"$(basename "$f")\","
    sed 's/\\/\\\\/g; s/"/\\"/g; s/^/     "/; s/$/\\n"/' "$f"
    echo '    },'
done
echo '    {0},'
echo '};'
