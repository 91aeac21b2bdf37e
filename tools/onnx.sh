#!/bin/sh
# onnx.sh HOLOGRAM DEBIAN_FOLDER NEWER_FOLDER [MODE...] - ONNX's own operator tests; a suite that is not there is named.
# A MODE is a set of options to `hologram test`, one argument each; without any the cases are run as they are, once.
hologram=$1 debian=$2 newer=$3 status=0
shift 3
[ $# -gt 0 ] || set -- ""

# run NAME KNOWN FOLDERS MODE...: folders in one word, options in one word each
run() {
    name=$1 known=$2 folders=$3
    shift 3
    for mode; do
        echo "$name${mode:+, $mode}:"
        "$hologram" test $folders --known "$known" $mode || status=1
    done
}

if [ -d "$debian" ]; then
    run "ONNX 1.12 (libonnx-testdata)" tests/onnx/known-1.12.txt \
        "$debian/node $debian/simple $debian/pytorch-operator $debian/pytorch-converted" "$@"
else
    echo "ONNX 1.12: not present (install libonnx-testdata)"
fi
if [ -n "$newer" ] && [ -d "$newer" ]; then
    run "ONNX, newest" tests/onnx/known-newest.txt "$newer" "$@"
else
    echo "ONNX, newest: not present (set HOLO_ONNX_TESTS to a folder of cases)"
fi
exit $status
