#!/bin/sh
# get.sh FOLDER - what bench-serve measures with, as far as it can be had: MobileNetV2 and MiniLM (by the scripts in ../shared/models), and
# onnxruntime-node (by npm) for the peer. What is there already stays.
set -e
folder=$(cd "$1" && pwd)
shared=../shared/models
if command -v node > /dev/null && [ -d $shared ]; then
    [ -f "$folder/mobilenet_v2.onnx" ] || node $shared/corpus/make-corpus.mjs "$folder" mobilenet_v2 > /dev/null || true
    if [ ! -f "$folder/minilm.onnx" ]; then
        node $shared/real/get.mjs "$folder/real" MiniLM > /dev/null || true
        found=$(find "$folder/real" -name model.onnx | head -n 1)
        [ -z "$found" ] || mv "$found" "$folder/minilm.onnx"
    fi
else
    echo "node or $shared is not there: only the digits model is measured"
fi
if command -v npm > /dev/null && [ ! -d "$folder/peer/node_modules/onnxruntime-node" ]; then
    mkdir -p "$folder/peer"
    cd "$folder/peer"
    { npm init -y && npm install --silent --no-audit --no-fund --ignore-scripts onnxruntime-node; } > npm.log 2>&1 || { rm -rf "$folder/peer"; echo "onnxruntime-node cannot be had: no peer is measured"; }
fi
