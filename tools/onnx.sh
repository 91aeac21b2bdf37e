#!/bin/sh
# onnx.sh HOLOGRAM DEBIAN_FOLDER NEWER_FOLDER - ONNX's own operator tests; a suite that is not there is named.
hologram=$1 debian=$2 newer=$3 status=0
if [ -d "$debian" ]; then
    echo "ONNX 1.12 (libonnx-testdata):"
    "$hologram" test "$debian/node" "$debian/simple" "$debian/pytorch-operator" "$debian/pytorch-converted" \
        --known tests/onnx/known-1.12.txt || status=1
else
    echo "ONNX 1.12: not present (install libonnx-testdata)"
fi
if [ -n "$newer" ] && [ -d "$newer" ]; then
    echo "ONNX, newest:"
    "$hologram" test "$newer" --known tests/onnx/known-newest.txt || status=1
else
    echo "ONNX, newest: not present (set HOLO_ONNX_TESTS to a folder of cases)"
fi
exit $status
