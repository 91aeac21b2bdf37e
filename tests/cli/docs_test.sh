# docs_test.sh - what the README and the pages of docs/ show is so: commands can be typed as they stand there, options and
# linked files exist.
#
# What runs, for each page in a copy of what the repository holds: blocks of ```sh, and indented lines that begin with
# `hologram` or `build/hologram`. Behind a prompt ($), or in a block of ```console, stands what needs more than the program.
. "$CHECKS"

mkdir tree bin
for part in "$ROOT"/*; do
    case ${part##*/} in build*) ;; *) ln -s "$part" "tree/${part##*/}" ;; esac
done
mkdir tree/build
ln -s "$HOLOGRAM" tree/build/hologram
ln -s "$HOLOGRAM" bin/hologram
PATH=$PWD/bin:$PATH

commands() {
    awk '/^ *```/ { on = !on && /^ *```sh$/; next } on || /^    (build\/)?hologram [a-z]/' "$1"
}
: > all.sh
for page in "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/SECURITY.md "$ROOT"/src/README.md "$ROOT"/docs/*.md "$ROOT"/docs/inside/*.md; do
    title=$(echo "${page#"$ROOT"/}" | tr / -) title=${title%.md}
    commands "$page" > "$title.sh"
    cat "$title.sh" >> all.sh
    cp -R tree "in-$title" # links stay links
    [ ! -s "$title.sh" ] || check "the commands of $title.md" sh -c "cd in-$title && sh -ex ../$title.sh"
    for link in $(grep -o '](\([^)#]*\)[^)]*)' "$page" | sed 's/^](//; s/[#)].*//'); do
        case $link in
        http*) ;;
        *) check "$title.md: $link is there" test -e "$(dirname "$page")/$link" ;;
        esac
    done
done
check 'there are commands' test "$(grep -c hologram all.sh)" -ge 5

for command in compile run test bench inspect explain graph ops verify compare bisect memo kernel atlas config completion help; do hologram help $command; done > help.txt
for option in $(grep -ohE '(^|[ `])--[a-z][a-z-]+' "$ROOT"/README.md "$ROOT"/docs/cli.md | tr -d ' `' | sort -u); do
    check "the option $option of the documents exists" grep -qF -e "$option" help.txt
done
