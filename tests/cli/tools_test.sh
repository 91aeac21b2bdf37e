# tools_test.sh - graph, ops, bench, config, help: each does what it says.
. "$CHECKS"

quiet hologram compile "$MODEL" -o digits.holo -q

for stage in "$MODEL" digits.holo; do
    for form in svg dot html; do
        gives 0 "picture.$form" hologram graph "$stage" -o picture.$form
        check "there is a Conv in it" grep -q Conv picture.$form
    done
done
check 'an SVG' grep -q '^<svg ' picture.svg
check 'a graph' grep -q '^digraph' picture.dot
check 'a page that needs nothing from elsewhere' sh -c '! grep -qE "(src|href)=.?https?:" picture.html'
if command -v python3 > /dev/null; then
    check 'well-formed XML' python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' picture.svg
fi
gives 1 'no/such.svg' hologram graph "$MODEL" -o no/such.svg
gives 2 '' hologram graph "$MODEL" -o picture.bmp
gives 1 'no-such' hologram graph no-such -o p.svg

gives 0 'Conv' hologram ops
gives 0 'Relu' hologram ops Relu
gives 1 'NoSuchOperator' hologram ops NoSuchOperator
hologram ops --json > ops.json
json ops.json domain name since types runs

hologram bench digits.holo --seconds 0.05 --json > bench.json
json bench.json open_us first_us min_us median_us p99_us rss_mb arena_mb threads
hologram bench digits.holo --seconds 0.2 --threads 2 --input-shape image:512,1,8,8 --profile trace.json --json > bench.json
json bench.json profile operators steps share gflops gbytes shapes fused kernel
json trace.json traceEvents thread_name tid
check 'each thread has its track' grep -q '"tid": 2, "ts"' trace.json
gives 0 'by operator' hologram bench digits.holo --seconds 0.05 --profile trace.json
gives 0 'f32[1,4,4,12], f32[24,12,3,3] -> f32[1,4,4,24]' hologram bench digits.holo --seconds 0.05 --profile trace.json
gives 0 'f32[12,1,3,3] -> f32[1,8,8,12]; then relu' hologram bench digits.holo --seconds 0.05 --profile trace.json
check 'a node alone has nothing fused' sh -c '! "$0" bench digits.holo --seconds 0.05 --profile trace.json 2>&1 | grep "then mul"' "$HOLOGRAM"
# Products of integers: their weights are between scales. Attention is counted, and of a table only the rows that are read.
quiet hologram compile "$MODEL" -o int8.holo -q --quantize int8 --activations static --input-shape image:1,1,8,8
gives 0 'u8[1,4,4,12], i8[24,12,3,3] -> u8[1,4,4,24]' hologram bench int8.holo --seconds 0.05 --profile trace.json
check 'all products are counted' sh -c '"$0" inspect int8.holo | grep -q "flops  *1[0-9]\{5\}$"' "$HOLOGRAM"
check 'a model' python3 "$ROOT/tests/support/onnx_model.py" table.onnx in t f32 1000,64 in i i64 2 out y f32 2,64 node Gather t,i y
hologram bench table.onnx --seconds 0.05 --profile trace.json --json > bench.json
check 'the rows that are read' grep -q '"bytes": 1040,' bench.json
gives 1 'no/such.json' hologram bench digits.holo --seconds 0.05 --profile no/such.json
gives 0 'median' hologram bench "$MODEL" --seconds 0.05 --threads 1 --input image="$SEVEN"
gives 0 'dynamic sizes were set to 1, as with --input-shape image:1,1,8,8' hologram bench digits.holo --seconds 0.05
check "nothing is said of sizes that were given" sh -c \
    '! "$0" bench digits.holo --seconds 0.05 --input-shape image:2,1,8,8 2>&1 | grep "taken as 1"' "$HOLOGRAM"

# Settings: the flag, then the environment, then .env, then hologram.toml, then the default.
gives 0 'threads      0        default' hologram config
echo 'threads = 5' > hologram.toml
gives 0 'threads      5        hologram.toml' hologram config
echo 'HOLOGRAM_THREADS=6' > .env
gives 0 'threads      6        .env' hologram config
export HOLOGRAM_THREADS=7
gives 0 'threads      7        HOLOGRAM_THREADS' hologram config
gives 0 '"threads": 1,' hologram bench digits.holo --seconds 0.05 --json --threads 1
gives 0 '"threads": 7,' hologram bench digits.holo --seconds 0.05 --json
unset HOLOGRAM_THREADS
hologram config --json > config.json
json config.json threads numeric verify
echo 'thread = 5' > hologram.toml
gives 2 "did you mean 'threads'" hologram config
echo 'threads = many' > hologram.toml
gives 2 'hologram.toml:1' hologram config
rm hologram.toml .env

gives 0 'usage: hologram' hologram help
gives 0 'usage: hologram' hologram --help
for command in compile run test bench inspect explain graph ops verify bisect atlas config; do
    gives 0 "hologram $command" hologram help $command
    gives 0 "hologram $command" hologram $command --help
done
gives 0 '.' hologram version
gives 2 "compile" hologram compil
gives 0 'usage: hologram' hologram
gives 2 '' hologram help no-such-command
check 'a full disk is an error' sh -c '! "$HOLOGRAM" help > /dev/full'
