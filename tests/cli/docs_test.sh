# docs_test.sh - what the README and the pages of docs/ say is true: commands can be typed as they are shown, and options, linked files
# and paths exist.
#
# For each page these lines run, in a copy of the repository: blocks of ```sh, and indented lines that begin with `hologram` or
# `build/hologram`. Commands that need more than the program have a prompt ($) or are in a block of ```console.
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
    for link in $(awk '/^ *```/ { on = !on } !on' "$page" | grep -o '](\([^)#]*\)[^)]*)' | sed 's/^](//; s/[#)].*//'); do
        case $link in
        http*) ;;
        *) check "$title.md: $link is there" test -e "$(dirname "$page")/$link" ;;
        esac
    done
done
# A path that a page names is there, or the page itself makes it (`<!-- file: PATH -->`). Rooms are named without src/, too.
: > missing
for page in "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/SECURITY.md "$ROOT"/src/README.md "$ROOT"/*/README.md "$ROOT"/tests/*/README.md \
    "$ROOT"/docs/*.md "$ROOT"/docs/inside/*.md; do
    grep -oE '(^|[^A-Za-z0-9_./-])(src|tests|tools|fuzz|bench|cli|include|examples|kernels|demo|base|format|graph|passes|lower|plan|archive|runtime|devices|verify|ops|isa|import|models|materialize|quantize|tune|lang|api|atlas)/[A-Za-z0-9_./*-]+' "$page" |
        sed 's/^[^A-Za-z]//; s/[.-]*$//' | sort -u | while read -r path; do
        case $path in *NAME*) continue ;; esac # stands for any name
        ls -d "$ROOT"/$path > .printed 2>&1 || ls -d "$ROOT"/src/$path > .printed 2>&1 || grep -q "<!-- file: .*$path" "$page" || echo "${page#"$ROOT"/}: $path" >> missing
    done
done
check "paths of the documents that are not there: $(tr '\n' ' ' < missing)" test ! -s missing
check 'there are commands' test "$(grep -c hologram all.sh)" -ge 5

for command in compile run test bench inspect explain graph ops verify compare bisect memo kernel atlas tokenize template grammar generate chat embed classify transcribe serve pull config completion help; do hologram help $command; done > help.txt
for option in $(grep -ohE '(^|[ `])--[a-z][a-z-]+' "$ROOT"/README.md "$ROOT"/docs/cli.md | tr -d ' `' | sort -u); do
    check "the option $option of the documents exists" grep -qF -e "$option" help.txt
done
