#!/usr/bin/env bash
# tflite.sh FORMATS [NAME...] - TFLite models beside the TensorFlow Lite 2.9 library with XNNPACK, as a table for bench/TFLITE.md.
#
# FORMATS is a copy of ../shared/models/formats in which npm has installed and get.mjs has fetched `models` (its README says how). Both
# sides run in turns, three times, with one thread and nothing else running; the best of the medians counts. NAME chooses models. Times
# do not depend on values, so that Hologram makes up its inputs.
set -e
[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
formats=$(cd "$1" && pwd)
shift
hologram=$(realpath "${HOLOGRAM:-build/hologram}")
work=$(mktemp -d)
mkdir "$work/out"
trap 'rm -rf "$work"' EXIT
peer() { node "$formats/oracle_tflite.mjs" "$1/model.tflite" "$1/inputs" "$work/out" --xnnpack --threads 1 --time "$2" 2> /dev/null | sed -n 's/^median \(.*\) ms$/\1/p'; }
ours() { "$hologram" bench "$work/m.holo" -t 1 --seconds 1 --json | sed -n 's/.*"median_us": \([0-9.e+-]*\).*/\1/p'; }
echo "| model | XNNPACK, ms | Hologram, ms | ratio |"
echo "|---|---:|---:|---:|"
for model in "$formats"/models/*/; do
    name=$(basename "$model")
    [ -f "$model/model.tflite" ] || continue
    [ $# = 0 ] || printf '%s' "$name" | grep -qF "$(printf '%s\n' "$@")" || continue
    (cd "$model" && "$hologram" compile model.tflite -o "$work/m.holo" --no-verify -q) || continue
    runs=$(peer "$model" 3 | awk '{ n = int(1000 / ($1 + 0.001)); print (n < 10 ? 10 : n > 5000 ? 5000 : n) }')
    for turn in 1 2 3; do
        echo "$(peer "$model" "$runs") $(ours)"
    done | awk -v name="${name#*-}" 'NF == 2 && $1 > 0 { if (!p || $1 < p) p = $1; if (!h || $2 < h) h = $2 } END { h /= 1000
        if (!p) { printf "| %s | not measured | | |\n", name; exit }
        printf "| %s | %.3g | %.3g | %.2fx |\n", name, p, h, p / h; print p / h > "/dev/stderr" }' 2>> "$work/ratios"
done
awk '{ s += log($1); n++; if (!m || $1 < m) m = $1 } END { if (n) printf "| geometric mean of %d | | | **%.2fx** |\n", n, exp(s / n) }' "$work/ratios"
