#!/bin/sh
# run.sh BUILD MODEL.onnx... - requests a second and latency of hologram-serve on loopback, beside `hologram bench` and, if
# PEER names a folder with node_modules/onnxruntime-node, beside a minimal server on that. Needs wrk and h2load (Debian: wrk, nghttp2-client).
#
#   SECONDS_EACH=5   how long each is measured
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
seconds=${SECONDS_EACH:-5}
work=$(mktemp -d)
server= peer=
trap 'kill $server $peer 2> /dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
for model; do
    name=$(basename "$model" .onnx)
    "$build/hologram-serve" --port 8790 "$model" 2> "$work/log" & server=$!
    until grep -q '"ready"' "$work/log"; do sleep 0.1; kill -0 $server 2> /dev/null || { cat "$work/log"; exit 1; }; done
    python3 "$here/body.py" 8790 "$name" "$work" || exit 1
    echo "$name: $(stat -c %s "$work/body") bytes a request"
    "$build/hologram" bench "$model" --seconds "$seconds" | sed 's/^/    bench: /' | grep -iE 'run|second|median|ms' | head -n 4
    for clients in 1 8; do
        echo "  wrk, $clients clients"
        wrk -t1 -c$clients -d"$seconds"s --latency -s "$work/wrk.lua" "http://localhost:8790/v2/models/$name/infer" | grep -E 'Requests/sec|50%|99%|Non-2xx' | sed 's/^/    /'
    done
    h2load -t1 -c2 -m4 -D "$seconds" -d "$work/body" -H "inference-header-content-length: $(sed -n 's/.*content-length"\] = "\([0-9]*\)".*/\1/p' "$work/wrk.lua")" \
        "http://localhost:8790/v2/models/$name/infer" | grep -E 'req/s|failed' | head -n 2 | sed 's/^/    h2load: /'
    kill $server; wait $server
    if [ -n "$PEER" ]; then
        cp "$here/peer.mjs" "$PEER/peer.mjs"
        node "$PEER/peer.mjs" "$model" 8791 > "$work/peer.log" 2>&1 & peer=$!
        until grep -q listening "$work/peer.log"; do sleep 0.1; kill -0 $peer 2> /dev/null || { cat "$work/peer.log"; exit 1; }; done
        for clients in 1 8; do
            echo "  the peer by wrk, $clients clients"
            wrk -t1 -c$clients -d"$seconds"s --latency -s "$work/wrk.lua" "http://localhost:8791/" | grep -E 'Requests/sec|50%|99%' | sed 's/^/    /'
        done
        kill $peer; wait $peer 2> /dev/null; peer=
    fi
done
