#!/bin/sh
# Compiles a small model that the project itself has trained (demo/train.py), and has it read handwritten
# digits that it never saw in training. Needs nothing but the program: HOLOGRAM=build/hologram sh demo/run.sh
set -eu

here=$(cd "$(dirname "$0")" && pwd)
hologram=$(realpath "${HOLOGRAM:-build/hologram}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$here" demo

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then color=1 bold=$(printf '\033[1m') reset=$(printf '\033[0m')
else color=0 bold= reset=; fi

# Says a command, and does it.
step() {
    printf '\n%s$ hologram %s%s\n' "$bold" "$*" "$reset"
    "$hologram" "$@"
}

# The numbers of a .npy file of f32, which begin behind a header that says its own length.
numbers() {
    header=$(od -An -t u2 -j 8 -N 2 "$1")
    od -An -v -t f4 -j $((10 + header)) "$1"
}

echo "${bold}A network of two convolutions reads handwritten digits.${reset}"

step compile demo/digits.onnx -o digits.holo
step inspect digits.holo | sed '/^metadata/,$d'

printf '\n%s$ hologram run digits.holo --quiet --input image=demo/digits/NN.npy --output NN%s   (for each image)\n' "$bold" "$reset"
start=$(date +%s%N)
for image in demo/digits/*.npy; do
    "$hologram" run digits.holo --quiet --input image="$image" --output "$(basename "$image" .npy)"
done
end=$(date +%s%N)

# One line an image: its label, 64 pixels, 10 probabilities.
for image in demo/digits/*.npy; do
    name=$(basename "$image" .npy)
    echo "${name##*_}" $(numbers "$image") $(numbers "$name/probabilities.npy")
done > answers

awk -v color="$color" -v each=$(((end - start) / 1000)) '
function pixel(v,   shade) {
    if (color) return sprintf("\033[48;5;%dm  ", 232 + int(v * 23 / 16 + 0.5))
    shade = substr(" .:-=+*#%@", int(v * 9 / 16 + 0.5) + 1, 1)
    return shade shade
}
function flush(   r, k) {
    print ""
    for (r = 0; r < 8; r++) {
        for (k = 1; k <= held; k++) printf "  %s%s", picture[k, r], color ? "\033[0m" : ""
        print ""
    }
    for (k = 1; k <= held; k++) printf "  %s", caption[k]
    print ""
    held = 0
}
{
    held++
    for (r = 0; r < 8; r++) {
        picture[held, r] = ""
        for (c = 0; c < 8; c++) picture[held, r] = picture[held, r] pixel($(2 + 8 * r + c))
    }
    best = 0
    for (d = 1; d < 10; d++) if ($(66 + d) > $(66 + best)) best = d
    good = best == $1; right += good; all++
    text = sprintf("%-16s", sprintf("%d (%.1f%%) %s", best, 100 * $(66 + best), good ? "right" : "is a " $1))
    caption[held] = color ? sprintf("\033[%dm%s\033[0m", good ? 32 : 31, text) : text
    if (held == 5) flush()
}
END {
    if (held) flush()
    printf "\n%d of %d are read right, %.1f ms each with starting the program and opening the model.\n", \
        right, all, each / all / 1000
    exit right < 0.9 * all
}' answers
