#!/bin/sh
# first_run.sh HOLOGRAM > docs/first-run.svg - a picture of a terminal: the first commands of the README, and what they print.
set -eu
hologram=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$root/demo" demo

say() {
    echo "\$ $*"
    shift
    "$hologram" "$@"
}
{
    say hologram compile demo/digits.onnx -o digits.holo
    say hologram run digits.holo --input image=demo/digits/01_is_7.npy
    say hologram bench digits.holo --seconds 1 --threads 1
} 2>&1 | fold -s -w 108 | awk '
    { gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); gsub(/>/, "\\&gt;"); gsub(/ /, "\302\240"); line[NR] = $0 }
    END {
        high = 18 * NR + 46
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"%d\" role=\"img\" aria-label=\"A first run in a terminal\">\n", high
        printf "<rect width=\"900\" height=\"%d\" rx=\"8\" fill=\"#1b1f27\"/>\n", high
        print "<g fill=\"#5a6270\"><circle cx=\"20\" cy=\"18\" r=\"6\"/><circle cx=\"40\" cy=\"18\" r=\"6\"/><circle cx=\"60\" cy=\"18\" r=\"6\"/></g>"
        print "<g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">"
        for (i = 1; i <= NR; i++) {
            style = line[i] ~ /^\$/ ? "fill=\"#7ee787\" font-weight=\"bold\"" : "fill=\"#c9d1d9\""
            printf "<text xml:space=\"preserve\" x=\"16\" y=\"%d\" %s>%s</text>\n", 36 + 18 * i, style, line[i]
        }
        print "</g>\n</svg>"
    }'
