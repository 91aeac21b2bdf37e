#!/bin/sh
# cuda_test.sh BUILD FOLDERS - what needs a GPU: runs that are recorded and replayed (tests/cuda/replay.c), the unit tests of kernels, ONNX's
# operator tests with --target cuda, and some of these under compute-sanitizer.
build=$1 hologram=$1/hologram
shift
if ! command -v nvidia-smi > /dev/null || ! nvidia-smi -L > /dev/null 2>&1; then
    echo "cuda: there is no GPU here: neither kernels nor ONNX's tests were run on one, and compute-sanitizer was not run"
    exit 0
fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
status=0
"$hologram" compile -q demo/digits.onnx --target cuda --input-shape image:1,1,8,8 -o "$work/digits.holo" && "$build/cuda/replay" "$work/digits.holo" || status=1
for name in cuda_kernels cuda_merge cuda_blocks cuda_winograd; do HOLO_TEST_GPU=1 "$build/tests/${name}_test" || status=1; done
folders=$(for f in "$@"; do [ -d "$f" ] && echo "$f"; done)
[ -n "$folders" ] || { echo "cuda: no folder of ONNX's tests is here: they were not run"; exit $status; }
"$hologram" test $folders --target cuda --known tests/onnx/known-newest.txt || status=1
check=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
[ -n "$check" ] || { echo "cuda: compute-sanitizer is not here: it was not run"; exit $status; }
for name in test_add_bcast test_and_bcast4v4d test_basic_conv_with_padding test_concat_3d_axis_1 test_gather_0 test_gemm_all_attributes \
    test_layer_normalization_4d_axis1_epsilon test_matmul_4d test_maxpool_2d_default test_reduce_mean_keepdims_example test_softmax_axis_1 \
    test_split_equal_parts_2d_opset13 test_transpose_default test_attention_4d; do
    for f in $folders; do
        [ -d "$f/$name" ] || continue
        for tool in memcheck racecheck; do
            "$check" --tool $tool --target-processes all --error-exitcode 9 "$hologram" test "$f/$name" --target cuda -j 1 > "$work/log" 2>&1 ||
                { echo "FAIL $name under $tool:"; tail -20 "$work/log"; status=1; }
        done
        break
    done
done
[ $status = 0 ] && echo "cuda: compute-sanitizer is content"
exit $status
