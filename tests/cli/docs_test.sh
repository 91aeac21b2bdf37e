# docs_test.sh - every command that the README and the pages of docs/ show can be typed as it stands there.
#
# Blocks of ```sh run, one after the other for each page, in a copy of what the repository holds, with the program in
# build/hologram and on the path. Commands that install something or need the network stand in blocks of ```console.
. "$CHECKS"

mkdir -p tree bin
for part in "$ROOT"/*; do
    case ${part##*/} in build* | .git) ;; *) ln -s "$part" "tree/${part##*/}" ;; esac
done
mkdir tree/build
ln -s "$HOLOGRAM" tree/build/hologram
ln -s "$HOLOGRAM" bin/hologram
PATH=$PWD/bin:$PATH

pages=0
for page in "$ROOT"/README.md "$ROOT"/docs/*.md; do
    [ -f "$page" ] || continue
    name=$(basename "$page" .md)
    pages=$((pages + 1))
    awk '/^ *```sh$/ { on = 1; print "set -e"; next } /^ *```/ { on = 0 } on' "$page" > "$name.sh"
    cp -R tree "in-$name" # links stay links
    [ ! -s "$name.sh" ] || check "the commands of $name.md" sh -c "cd in-$name && sh -x ../$name.sh"
done
check 'there are pages' test $pages -gt 0
