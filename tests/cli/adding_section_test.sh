#!/bin/sh
# docs/adding-an-archive-section.md, done as it says in a copy of the tree: the section is written and read, a program without it skips
# it, a damaged one is refused, and the second reader knows it. What sees the table of sections is compiled again, without optimization.
. "$(dirname "$0")/../support/guide.sh"
guide_begin docs/adding-an-archive-section.md
guide_depends src/format/holo.h
guide_make 150 OPT=-O0 DEBUG= build/hologram
${CC:-gcc} -std=c11 -Wall -Wextra -Werror ${SANITIZE:+-fsanitize=$SANITIZE} -Iinclude -Isrc remarks.c build/libhologram.a -lm -pthread -o "$work"/remarks

python3 tests/support/onnx_model.py "$work"/model.onnx in x f32 2,3 out y f32 2,3 node Softmax x s node ReverseSequence s,n y in n i64 3
build/hologram compile "$work"/model.onnx -o "$work"/model.holo --quiet
"$work"/remarks "$work"/model.holo > "$work"/said || fail "the archive cannot be read"
[ "$(cat "$work"/said)" = "step 1 runs without a fast kernel" ] || { cat "$work"/said >&2; fail "another remark"; }
build/hologram verify "$work"/model.holo > /dev/null
"$HOLOGRAM" verify "$work"/model.holo > /dev/null || fail "a program that does not know the section does not skip it"
python3 tools/holo_dump.py --check "$work"/model.holo
python3 tools/holo_dump.py "$work"/model.holo | grep -q REMARKS || fail "the second reader does not list the section"

# The step of the remark becomes one that is not there, with all hashes right.
cat > "$work"/damage.c <<'C'
#include "format/holo.h"

#include <stdio.h>
#include <string.h>

static _Alignas(64) char bytes[1 << 20];

int main(int argc, char **argv)
{
    FILE  *file = fopen(argv[argc - 1], "r+b");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    HoloHeader        *header = (void *)bytes;
    HoloSectionRecord *s      = (void *)(bytes + header->header_size);
    while (s->id != HOLO_SECTION_REMARKS) s++;
    ((HoloRemarkRecord *)(void *)(bytes + s->offset))->step = 1000;
    HoloHash hash = holo_hash(bytes + s->offset, s->size);
    memcpy(s->hash, hash.word, sizeof hash.word);
    hash = holo_archive_front_hash(bytes);
    memcpy(header->hash, hash.word, sizeof hash.word);
    rewind(file);
    return fwrite(bytes, 1, size, file) != size || fclose(file);
}
C
${CC:-gcc} -std=c11 -Wall -Wextra -Werror ${SANITIZE:+-fsanitize=$SANITIZE} -Iinclude -Isrc "$work"/damage.c build/libhologram.a -lm -pthread -o "$work"/damage
"$work"/damage "$work"/model.holo
if build/hologram verify "$work"/model.holo > "$work"/said 2>&1; then fail "a remark about a step that is not there is not refused"; fi
grep -q 'remark 0 is broken' "$work"/said || { cat "$work"/said >&2; fail "another error"; }
echo "adding_section: the page's section works"
