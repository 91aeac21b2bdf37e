#!/bin/sh
# run.sh [NODE] - the tests of the package for browsers in Node: package.test.mjs, and ONNX's suite in the folders of $ONNX.
node=${1:-node}
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp) && trap 'rm -f "$log"' EXIT
# Of WebAssembly, what this Node has only when asked.
flags=
for flag in --experimental-wasm-relaxed-simd --experimental-wasm-memory64; do
    "$node" "$flag" -e 0 2> /dev/null && flags="$flags $flag"
done
# shellcheck disable=SC2086
"$node" $flags --test --test-reporter=tap "$here"/*.test.mjs > "$log" 2>&1
status=$?
[ $status = 0 ] || { grep -A 20 '^ *not ok' "$log"; tail -n 3 "$log"; }
echo "web: $(sed -n 's/^# pass //p' "$log") passed, $(sed -n 's/^# fail //p' "$log") failed"
if [ -n "$ONNX" ]; then
    # Both levels: class fused as most browsers run it, class exact without relaxed SIMD.
    # shellcheck disable=SC2086
    "$node" $flags "$here/onnx.mjs" $ONNX || status=1
    # shellcheck disable=SC2086
    "$node" "$here/onnx.mjs" --exact $ONNX || status=1
else
    echo "web: ONNX's suite is not here, and was not run: install libonnx-testdata"
fi
exit $status
