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
for names in "test_arrays test_api" test_text test_run test_kernel test_compile test_onnxruntime test_lifetime test_onnx_backend; do
    echo "$names"
    LD_PRELOAD="$($cc -print-file-name=libasan.so) $($cc -print-file-name=libubsan.so)" "${PYTHON:-python3}" -m unittest -q $names || exit 1
done
# A report is of paragraphs; one of memory that was lost tells who took it, first the function that did.
cat "$work"/log* > "$work/all" 2> /dev/null
if grep -q 'ERROR: AddressSanitizer\|runtime error:' "$work/all" || awk -v RS= '/leak of/ && /#[0-9]+ [^\n]*(_hologram|holo_)/' "$work/all" | grep -q .; then
    awk -v RS= -v ORS='\n\n' '/ERROR: AddressSanitizer/ || /_hologram|holo_/' "$work/all" | head -100
    exit 1
fi
echo 'python: no mistake, and nothing lost'
