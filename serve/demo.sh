#!/bin/sh
# demo.sh BUILD - serves the digits model and a small language model with random weights, and prints commands to try. Ctrl-C ends it.
#
#   PORT=8000        where
#   DEMO_ONCE=1      asks each once, shows the answers, and ends
build=$1 port=${PORT:-8000} here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server= tail=
trap 'kill $server $tail 2> /dev/null; wait $server 2> /dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/models" && cp "$here/demo/digits.onnx" "$work/models/" || exit 1
BUILD=$build python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import models; models.language(sys.argv[2])' "$here/tests/serve" "$work" || exit 1
cp "$work/talker.holo" "$work/models/"
"$build/hologram" serve "$work/models" --port "$port" 2> "$work/log" & server=$!
until grep -q '"ready"' "$work/log"; do kill -0 $server 2> /dev/null || { cat "$work/log"; exit 1; }; sleep 0.1; done
url=http://localhost:$port
# A one, drawn in 8 rows: 0 is white, 16 is black.
top=0,0,0,16,16,0,0,0, row=0,0,0,16,16,0,0,0,
picture="[$top$top$row$row$row$row${row}0,0,0,16,16,0,0,0]"
digits="{\"inputs\": [{\"name\": \"image\", \"shape\": [1, 1, 8, 8], \"datatype\": \"FP32\", \"data\": $picture}]}"
chat='{"model": "talker", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 16, "stream": true}'
cat << END
$url/ is a page to look at. In another terminal:

  curl $url/v2/models/digits
  curl $url/v2/models/digits/infer -d '$digits'
  curl $url/v1/chat/completions -d '$chat'
  curl $url/metrics

Copy models into $work/models: they appear. The language model has random weights, so it says nothing sensible.
END
if [ -n "$DEMO_ONCE" ]; then
    curl -sf "$url/v2/models/digits/infer" -d "$digits" && echo && curl -sf "$url/v1/chat/completions" -d "$chat" && curl -sf "$url/metrics" | head -n 3
    exit
fi
tail -f "$work/log" & tail=$!
wait $server
