#!/bin/sh
# asan.sh - the tests of the Python package in BUILD/python, which is built with sanitizers. Python itself is not: the library of
# the sanitizer is loaded before it, and of what is lost at the end only that counts which the package has taken.
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONPATH=$(realpath "${BUILD:-../../build/watched}")/python
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc HOLO_TEST_WATCHED=1
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1:exitcode=99:log_path=$work/log" LSAN_OPTIONS="exitcode=0:log_path=$work/log"
cc=${CC:-gcc}
# Everything but what is about wheels: they are not built with sanitizers.
for names in "test_arrays test_api" test_text test_batch test_pictures test_pairs test_run test_kernel test_compile test_onnxruntime test_lifetime test_docs test_torch test_onnx_backend; do
    echo "$names"
    LD_PRELOAD="$($cc -print-file-name=libasan.so) $($cc -print-file-name=libubsan.so)" "${PYTHON:-python3}" -m unittest -q $names || exit 1
done
sh ../support/asan_report.sh python '_hologram|holo_' "$work"/log*
