#!/bin/sh
# lookup.sh PROGRAM FOLDER - what is known before the run, and how fast it is found: see bench/README.md.
#
# The network beside it is MobileNetV2 of the corpus; its weights are zeros, which changes no time.
set -e
[ $# = 2 ] || { echo "usage: lookup.sh PROGRAM FOLDER" >&2; exit 2; }
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
mkdir -p "$2"
cp "$corpus"/mobilenet_v2.onnx "$2"/
truncate -s "$(sed -n 's/.*"size": *\([0-9]*\).*/\1/p' "$corpus"/mobilenet_v2.weights.json | head -1)" "$2"/mobilenet_v2.weights.bin
"$1" "$2"/mobilenet_v2.onnx "$2"
